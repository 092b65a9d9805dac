import PorterCrypto

/// A command, the entity it concerns, and the proof that the sender may issue it.
package struct RelayRequest: Hashable, Sendable {
  /// Random for each request; the answer repeats it.
  package var correlation: RelayIdentifier
  /// Nil for commands that concern no entity, or several.
  package var entity: RelayIdentifier?
  /// Nil for `subscribe`, `check` and its kin, whose entries are proven individually, and for a send to an unsecured
  /// mailbox.
  package var signature: [UInt8]?
  package var command: RelayCommand

  package init(
    correlation: RelayIdentifier, entity: RelayIdentifier?, signature: [UInt8]? = nil, command: RelayCommand
  ) {
    self.correlation = correlation
    self.entity = entity
    self.signature = signature
    self.command = command
  }

  /// Version, correlation, signature, entity, command.
  package func encoded() -> [UInt8] {
    var bytes = [RelayLimits.version]
    bytes += correlation.bytes
    bytes.append(optional: signature)
    bytes.append(optional: entity?.bytes)
    bytes += command.encoded()
    return bytes
  }

  /// Throws `version`, `size` or `syntax`.
  package init(decoding bytes: [UInt8]) throws(RelayError) {
    guard bytes.first == RelayLimits.version else { throw bytes.isEmpty ? .syntax : .version }
    guard bytes.count <= RelayLimits.exchange else { throw .size }
    var reader = RelayReader(bytes.dropFirst())
    correlation = try reader.identifier()
    signature = try reader.optional { (reader) throws(RelayError) in try reader.signature() }
    entity = try reader.optional { (reader) throws(RelayError) in try reader.identifier() }
    command = try RelayCommand(reading: &reader)
    try reader.end()
  }

  /// The correlation of a request that may otherwise be unreadable, so that its sender can match the refusal.
  package static func correlation(of bytes: [UInt8]) -> RelayIdentifier {
    RelayIdentifier(bytes: bytes.dropFirst().prefix(RelayIdentifier.count)) ?? .zero
  }
}

// MARK: Signatures

extension RelayRequest {
  /// Keeps a signature made for a relay from being valid for anything else.
  private static let domain = Array("nightporter relay request 1".utf8) + [0]

  /// The bytes that the entity's key signs.
  package var signedBytes: [UInt8] {
    Self.signedBytes(correlation: correlation, entity: entity, fields: command.encoded())
  }

  /// The bytes that the key of one batch entry signs: the command with this one entity and no list, so that an entry
  /// cannot be moved into another request or used for another service.
  package static func signedBytes(
    correlation: RelayIdentifier, entry: RelayIdentifier, of command: RelayCommand
  ) -> [UInt8] {
    var fields = [command.tag.rawValue]
    switch command {
    case .subscribeNotifiers(let key, _), .listen(let key, _), .acknowledgeAndGetNotifications(let key, _, _, _):
      fields += key.bytes
    default: break
    }
    return signedBytes(correlation: correlation, entity: entry, fields: fields)
  }

  /// Likewise for a key to share, which belongs to the entry alone.
  package static func signedBytes(
    correlation: RelayIdentifier, sharing key: RelayCheckKey, of entry: RelayIdentifier
  ) -> [UInt8] {
    signedBytes(
      correlation: correlation, entity: entry, fields: [RelayCommand.Tag.shareCheckKeys.rawValue] + key.bytes)
  }

  private static func signedBytes(
    correlation: RelayIdentifier, entity: RelayIdentifier?, fields: [UInt8]
  ) -> [UInt8] {
    var bytes = domain
    bytes.reserveCapacity(domain.count + 2 * RelayIdentifier.count + 1 + fields.count)
    bytes += correlation.bytes
    bytes.append(optional: entity?.bytes)
    bytes += fields
    return bytes
  }
}
