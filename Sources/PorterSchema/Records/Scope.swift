import PorterJSON
import PorterPlatform

/// A mailbox through which one of the host's services sends its own pushes.
package struct ScopeRecord: Hashable, Sendable {
  package var userID: Int64
  package var name: String
  /// Where the service delivers them.
  package var address: String
  /// The key the service seals them with, base64url.
  package var publicKey: String
  /// The key the service signs them with, base64url.
  package var serviceKey: String
  /// The newest version known to the host.
  package var version: Int64
  /// The commands known to the host; nil for all.
  package var commands: [String]?
  /// The number of pushes that the host has not settled.
  package var unsettled: Int64
  package var created: WallTime

  package init(
    userID: Int64, name: String, address: String, publicKey: String, serviceKey: String, version: Int64,
    commands: [String]?, unsettled: Int64, created: WallTime
  ) {
    self.userID = userID
    self.name = name
    self.address = address
    self.publicKey = publicKey
    self.serviceKey = serviceKey
    self.version = version
    self.commands = commands
    self.unsettled = unsettled
    self.created = created
  }

  package var json: JSONValue {
    .compact([
      "userId": .integer(userID), "name": .string(name), "address": .string(address), "publicKey": .string(publicKey),
      "serviceKey": .string(serviceKey), "version": .integer(version),
      "commands": commands.map { .array($0.map(JSONValue.string)) }, "unsettled": .integer(unsettled),
      "createdAt": .string(created.iso8601),
    ])
  }
}

/// One of the host's own pushes, as handed over.
package struct HandedPush: Hashable, Sendable {
  /// How the host must treat it. The content is always included.
  package enum Outcome: String, Hashable, Sendable, CaseIterable {
    /// Of a version and a command known to the host, and in time.
    case current
    /// Its time has passed.
    case expired
    case unknownVersion
    case unknownCommand
  }

  /// For `/_ntf scope settle`.
  package var id: Int64
  package var userID: Int64
  package var scope: String
  package var outcome: Outcome
  package var envelope: JSONValue
  /// When it reached the relay.
  package var arrived: WallTime

  package init(
    id: Int64, userID: Int64, scope: String, outcome: Outcome, envelope: JSONValue, arrived: WallTime
  ) {
    self.id = id
    self.userID = userID
    self.scope = scope
    self.outcome = outcome
    self.envelope = envelope
    self.arrived = arrived
  }

  package var json: JSONValue {
    .compact([
      "pushId": .integer(id), "userId": .integer(userID), "scope": .string(scope),
      "outcome": .string(outcome.rawValue), "envelope": envelope, "arrivedAt": .string(arrived.iso8601),
    ])
  }
}

/// The contents of `/_ntf scope subscribe`.
package struct ScopeRequest: Hashable, Sendable {
  package static let form =
    "name, serviceKey (32 bytes, base64url), and perhaps version (from 1) and commands (at most 256)"
  package static let maximumName = 128
  package static let maximumCommands = 256
  package static let maximumCommand = 256

  package var name: String
  package var serviceKey: [UInt8]
  package var version: Int64
  package var commands: [String]?

  /// Nil for anything else. Unknown members are refused: something the host considers a limit must not be ignored.
  package init?(json: JSONValue) {
    let known: Set<String> = ["name", "serviceKey", "version", "commands"]
    guard let object = json.objectValue, object.members.allSatisfy({ known.contains($0.name) }),
      let name = json["name"]?.stringValue, Self.isName(name),
      let key = json["serviceKey"]?.stringValue.flatMap(TextEncoding.base64URLDecoded), key.count == 32
    else { return nil }
    self.name = name
    serviceKey = key
    version = 1
    if let value = json["version"] {
      guard let number = value.integerValue, number >= 1 else { return nil }
      version = number
    }
    if let value = json["commands"] {
      guard let items = value.arrayValue, items.count <= Self.maximumCommands else { return nil }
      let names = items.compactMap(\.stringValue)
      guard names.count == items.count, names.allSatisfy({ 1...Self.maximumCommand ~= $0.utf8.count }) else {
        return nil
      }
      commands = names
    }
  }

  /// A word in the sense of commands.
  package static func isName(_ text: String) -> Bool {
    1...maximumName ~= text.utf8.count && text.utf8.allSatisfy { 0x21...0x7e ~= $0 }
  }
}
