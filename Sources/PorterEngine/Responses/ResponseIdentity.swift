import PorterCrypto
import PorterNotifications
import PorterSchema

/// Identifies a repeated response, together with its action.
struct ResponseIdentity: Equatable {
  /// The notification's identifier; nil when no repeat can be recognised.
  let identifier: String?
  let digest: [UInt8]

  init(_ response: UserResponse) {
    // All notices share an identifier, and a notice may be about a store that cannot record that it was shown.
    let isNotice = response.action == .open && response.identifier == NotificationNotice.identifier
    identifier = isNotice ? nil : response.identifier
    var bytes = Array((response.text ?? "").utf8)
    // Identifiers contain the store's numbers, which are reused after a restore; a connection's name never is.
    if let connection = response.connection { bytes += [0] + Array(connection.utf8) }
    digest = Digest.sha256(bytes)
  }
}
