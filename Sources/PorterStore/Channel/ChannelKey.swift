import PorterCrypto
import PorterPlatform

/// The channel's key, created with the store and readable only by processes that can open the store. It is a row, not
/// derived from the store's own key, so that re-keying the store does not disturb running processes.
extension Store {
  package func channelKey() throws(StoreError) -> AuthenticationKey {
    if let known = knownChannelKey { return known }
    guard let bytes = try first("SELECT channel_key FROM store", [], { $0.blob(0) }),
      let key = AuthenticationKey(stored: bytes)
    else { throw .damaged(.channelKey) }
    return key
  }

  /// Part of the migration's transaction.
  func makeChannelKey() throws(StoreError) {
    try run("INSERT INTO channel (channel_id, key) VALUES (1, ?)", [.blob(try newChannelKey())])
  }

  func newChannelKey() throws(StoreError) -> [UInt8] {
    let key = database.ports.randomness.bytes(AuthenticationKey.count)
    guard key.count == AuthenticationKey.count else { throw .damaged(.channelKey) }
    return key
  }
}
