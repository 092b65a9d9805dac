import PorterCrypto
import PorterPlatform

/// The channel's key: made with the store, and readable by whoever can open the store, and nobody else. It is a row and
/// not derived from the store's own key, so that re-keying the store disturbs nobody who is at work.
extension Store {
  package func channelKey() throws(StoreError) -> AuthenticationKey {
    guard let bytes = try first("SELECT key FROM channel", [], { $0.blob(0) }),
      let key = AuthenticationKey(stored: bytes)
    else { throw .damaged(.channelKey) }
    return key
  }

  /// Part of the migration's transaction.
  func makeChannelKey() throws(StoreError) {
    let key = database.ports.randomness.bytes(AuthenticationKey.count)
    guard key.count == AuthenticationKey.count else { throw .damaged(.channelKey) }
    try run("INSERT INTO channel (channel_id, key) VALUES (1, ?)", [.blob(key)])
  }
}
