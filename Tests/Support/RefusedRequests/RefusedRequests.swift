package import PorterCrypto
import PorterPlatform
package import PorterRelay

/// A request that names a mailbox, or a mailbox's notifier, and proves nothing about it.
package struct RefusedRequest: Sendable {
  /// Which of a mailbox's names the request has.
  package enum Name: Sendable {
    case recipient
    case sender
    case notifier
  }

  /// The command's.
  package let name: String
  package let names: Name
  package let isSigned: Bool
  /// Signed with a key, where the command has a signature.
  package let make: @Sendable (RelayIdentifier, SigningKeyPair) throws -> RelayRequest

  /// Everything that a relay answers with `auth` if there is no such mailbox, or for that entry.
  package static let all: [RefusedRequest] = [
    ofRecipient { .secureMailbox(senderKey: $0) },
    ofRecipient { _ in .getMessage },
    ofRecipient { _ in .getMessageWithAge },
    ofRecipient { _ in .acknowledge(message: .zero) },
    ofRecipient { _ in .acknowledgeAndGet(message: .zero) },
    ofRecipient { .enableNotifier(notifierKey: $0, boxKey: anyBoxKey) },
    ofRecipient { _ in .disableNotifier },
    ofRecipient { _ in .deleteMailbox },
    ofSender(isSigned: true), ofSender(isSigned: false),
    listing(.recipient, "subscribe", isSigned: false) { _, entries in .subscribe(entries) },
    listing(.recipient, "check", isSigned: false) { _, entries in .check(entries) },
    listing(.recipient, "listen") { key, entries in .listen(key: key, entries) },
    listing(.notifier, "subscribeNotifiers") { key, entries in .subscribeNotifiers(service: key, entries) },
    listing(.recipient, "acknowledgeAndGetNotifications") { key, entries in
      .acknowledgeAndGetNotifications(service: key, limit: 1, acknowledged: [], mailboxes: entries)
    },
    byKey, sharingKey,
  ]

  private static let anyBoxKey: BoxPublicKey = {
    guard let pair = try? BoxKeyPair.generate(randomness: SystemRandomness()) else { preconditionFailure("no key") }
    return pair.publicKey
  }()

  private static func correlation() throws -> RelayIdentifier { try .generate(randomness: SystemRandomness()) }

  private static func ofRecipient(_ command: @escaping @Sendable (SigningPublicKey) -> RelayCommand) -> RefusedRequest {
    RefusedRequest(name: command(anySigningKey).name, names: .recipient, isSigned: true) { entity, key in
      var request = RelayRequest(correlation: try correlation(), entity: entity, command: command(key.publicKey))
      request.signature = key.sign(request.signedBytes)
      return request
    }
  }

  private static let anySigningKey: SigningPublicKey = {
    guard let pair = try? SigningKeyPair.generate(randomness: SystemRandomness()) else { preconditionFailure("no key") }
    return pair.publicKey
  }()

  private static func ofSender(isSigned: Bool) -> RefusedRequest {
    RefusedRequest(name: "send", names: .sender, isSigned: isSigned) { entity, key in
      let command = RelayCommand.send(attempt: try correlation(), notify: true, body: [1])
      var request = RelayRequest(correlation: try correlation(), entity: entity, command: command)
      if isSigned { request.signature = key.sign(request.signedBytes) }
      return request
    }
  }

  private static func listing(
    _ names: Name, _ name: String, isSigned: Bool = true,
    _ command: @escaping @Sendable (SigningPublicKey, [RelayCommand.Entry]) -> RelayCommand
  ) -> RefusedRequest {
    RefusedRequest(name: name, names: names, isSigned: true) { entity, key in
      let correlation = try correlation()
      let signed = RelayRequest.signedBytes(
        correlation: correlation, entry: entity, of: command(key.publicKey, []))
      let entry = RelayCommand.Entry(entity: entity, signature: key.sign(signed))
      var request = RelayRequest(correlation: correlation, entity: nil, command: command(key.publicKey, [entry]))
      if isSigned { request.signature = key.sign(request.signedBytes) }
      return request
    }
  }

  /// A tag by no key of the mailbox's.
  private static let byKey = RefusedRequest(name: "checkByKeys", names: .recipient, isSigned: false) { entity, _ in
    let tag = SystemRandomness().bytes(32)
    return try unsigned(try correlation(), command: RelayCommand(decoding: [19, 0, 1] + entity.bytes + tag))
  }

  private static let sharingKey = RefusedRequest(name: "shareCheckKeys", names: .recipient, isSigned: true) {
    entity, key in
    let (correlation, shared) = (try correlation(), RelayCheckKey(of: key))
    let signature = key.sign(RelayRequest.signedBytes(correlation: correlation, sharing: shared, of: entity))
    return try unsigned(
      correlation, command: RelayCommand(decoding: [20, 0, 1] + entity.bytes + shared.bytes + signature))
  }

  private static func unsigned(_ correlation: RelayIdentifier, command: RelayCommand) throws -> RelayRequest {
    RelayRequest(correlation: correlation, entity: nil, command: command)
  }
}
