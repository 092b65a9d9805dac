import PorterCrypto
import PorterNotifications
import PorterSchema

/// By what a repeat of a response is recognised, together with its action.
struct ResponseIdentity: Equatable {
  /// Of the notification; nil when no repeat can be recognised.
  let identifier: String?
  let digest: [UInt8]

  init(_ response: UserResponse) {
    // All notices share an identifier, and a notice may be about a store that cannot note that it was shown.
    let isNotice = response.action == .open && response.identifier == NotificationNotice.identifier
    identifier = isNotice ? nil : response.identifier
    var bytes = Array((response.text ?? "").utf8)
    // Identifiers have the store's numbers, which are given again after a restore; the name of a connection never is.
    if let connection = response.connection { bytes += [0] + Array(connection.utf8) }
    digest = Digest.sha256(bytes)
  }
}
