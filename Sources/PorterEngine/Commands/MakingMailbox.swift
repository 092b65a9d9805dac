import PorterCrypto
import PorterMachines
import PorterPlatform
import PorterRelay
import PorterSchema
import PorterStore

extension Engine {
  /// Creates a mailbox at the relay for a new connection, which keeps `secret`. `then` stores the connection and
  /// replies; a relay failure is reported here.
  func makeMailbox(
    for user: StoredUser, secret: SecretBytes, reply: @escaping Reply, then: @escaping (Engine, NewConnection) -> Void
  ) throws(ChatError) {
    try requireRelay()
    let recipientKey = try context.newSigningKey()
    let peerKey = try context.newSigningKey()
    relayLink.perform(.sending) { (client) throws(RelayError) in
      try client.createMailbox(recipientKey: recipientKey, senderKey: nil)
    } then: { [weak self] result in
      guard let self else { return }
      switch result {
      case .failure(let error): reply(.error(ChatError(error, relay: self.relayLink.name)))
      case .success(let mailbox):
        let new = NewConnection(
          userID: user.id, contactID: nil, agentID: self.configuration.randomness.bytes(24),
          status: PorterMachines.Connection.initial.name, isInitiated: false, recipientID: mailbox.recipient.bytes,
          recipientKey: recipientKey, senderID: mailbox.sender.bytes, isSecured: false, peerSenderID: nil,
          peerKey: peerKey, invitation: secret, link: nil)
        then(self, new)
      }
    }
  }
}
