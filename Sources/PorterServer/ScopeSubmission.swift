import PorterCrypto
import PorterPlatform
import PorterPush
import PorterRelay

/// Leaves a message that a service has sealed for a host's scope in the scope's mailbox, with a notification. The relay
/// reports it to the notification server, whose push wakes the device. Nothing of it is read here: it is sealed for the
/// host alone.
package enum ScopeSubmission {
  /// Size of a sealed envelope, in bytes.
  package static let size = ApplicationEnvelope.sealedCount

  /// Repeating the same message, such as after a crash, keeps one copy. Throws `.push(.malformed)` for a malformed
  /// address or sealed envelope, and `.relay(.auth)` when the scope is gone.
  package static func submit(
    _ message: [UInt8], to address: String, relay port: any RelayPort, ports: Ports = .system
  ) throws(ServerError) {
    guard let scope = ScopeAddress(parsing: address), let mailbox = RelayIdentifier(bytes: scope.mailbox) else {
      throw .push(.malformed(.link))
    }
    guard message.count == size, message.first == ApplicationEnvelope.tag else { throw .push(.malformed(.envelope)) }
    let digest = Digest.sha256(message)
    guard let attempt = RelayIdentifier(bytes: digest.prefix(RelayIdentifier.count)) else {
      throw .push(.malformed(.envelope))
    }
    try ServerError.mappingErrors(from: RelayError.self) { () throws(RelayError) in
      try RelayClient(port: port, randomness: ports.randomness).send(
        message, to: mailbox, key: nil, attempt: attempt, notify: true)
    }
  }
}
