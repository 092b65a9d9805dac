import PorterJSON

/// Failures that the interface we follow has no word for. Each is written as the nearest shape it does have, so that a
/// program made for that interface understands it, with a member `np` beside it: `{code, advice, …}`. `code` is stable;
/// `advice` says what to do.
package enum NightporterError: Hashable, Sendable {
  /// `position` is a byte offset in the command; the command itself is never quoted, for it may hold a password or a
  /// link.
  case commandSyntax(position: Int, expected: String)
  case commandTooLarge(bytes: Int, limit: Int)
  case textNotUTF8
  /// A part of the interface that this library does not have.
  case notSupported(StaticText)
  /// NULL, or a controller that was freed.
  case controllerInvalid
  case storeClosed
  case storeReadOnly
  case storeFull
  case storeDamaged
  /// Sealing by a key is not there in this build, and a plain file in its place would betray the user.
  case storeSealingUnavailable
  /// Another owner took over while this one worked; what it did is discarded, nothing is lost (INC-04, INC-05).
  /// `holder` names the role and instance that has it now.
  case ownershipLost(holder: String)
  /// `holder` names the instance that has the store (INC-16, INC-18).
  case ownedElsewhere(holder: String)
  /// Only an app may do it, not an extension (INC-23, INC-42).
  case roleNotAllowed(StaticText)
  case relayMissing
  case relayUnavailable(StaticText)
  case notificationServerMissing
  case messageTooLarge(bytes: Int, limit: Int)
  case deadlinePassed

  /// A literal of ours: nothing from outside can slip into a message through it.
  package struct StaticText: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    package let description: String
    package init(stringLiteral value: StaticString) { description = "\(value)" }
  }

  package var json: JSONValue {
    var object = JSONObject()
    if case .object(let nearest) = nearest.json { object = nearest }
    var detail = JSONObject([("code", .string(code)), ("advice", .string(advice))])
    for (name, value) in members { detail[name] = value }
    object["np"] = .object(detail)
    return .object(object)
  }

  /// Stable; for programs.
  package var code: String {
    switch self {
    case .commandSyntax: "commandSyntax"
    case .commandTooLarge: "commandTooLarge"
    case .textNotUTF8: "textNotUTF8"
    case .notSupported: "notSupported"
    case .controllerInvalid: "controllerInvalid"
    case .storeClosed: "storeClosed"
    case .storeReadOnly: "storeReadOnly"
    case .storeFull: "storeFull"
    case .storeDamaged: "storeDamaged"
    case .storeSealingUnavailable: "storeSealingUnavailable"
    case .ownershipLost: "ownershipLost"
    case .ownedElsewhere: "ownedElsewhere"
    case .roleNotAllowed: "roleNotAllowed"
    case .relayMissing: "relayMissing"
    case .relayUnavailable: "relayUnavailable"
    case .notificationServerMissing: "notificationServerMissing"
    case .messageTooLarge: "messageTooLarge"
    case .deadlinePassed: "deadlinePassed"
    }
  }

  private var members: [(String, JSONValue)] {
    switch self {
    case .commandSyntax(let position, let expected):
      [("position", JSONValue(position)), ("expected", .string(expected))]
    case .commandTooLarge(let bytes, let limit), .messageTooLarge(let bytes, let limit):
      [("bytes", JSONValue(bytes)), ("limit", JSONValue(limit))]
    case .notSupported(let what), .roleNotAllowed(let what), .relayUnavailable(let what):
      [("what", .string(what.description))]
    case .ownedElsewhere(let holder), .ownershipLost(let holder): [("holder", .string(holder))]
    case .textNotUTF8, .controllerInvalid, .storeClosed, .storeReadOnly, .storeFull, .storeDamaged,
      .storeSealingUnavailable, .relayMissing, .notificationServerMissing, .deadlinePassed:
      []
    }
  }
}

extension NightporterError {
  /// What happened, for people who read logs.
  package var message: String {
    switch self {
    case .commandSyntax(let position, let expected): "at byte \(position): expected \(expected)"
    case .commandTooLarge(let bytes, let limit): "command of \(bytes) bytes; at most \(limit) are taken"
    case .textNotUTF8: "text is not UTF-8"
    case .notSupported(let what): "not supported: \(what)"
    case .controllerInvalid: "no such controller"
    case .storeClosed: "store is closed"
    case .storeReadOnly: "store cannot be written"
    case .storeFull: "no space left for the store"
    case .storeDamaged: "store is damaged"
    case .storeSealingUnavailable: "a store with a key is not available in this build"
    case .ownershipLost(let holder): "\(holder) took over"
    case .ownedElsewhere(let holder): "in use by \(holder)"
    case .roleNotAllowed(let what): "only the app may do this: \(what)"
    case .relayMissing: "no relay is set"
    case .relayUnavailable(let why): "relay cannot be reached: \(why)"
    case .notificationServerMissing: "no notification server is set"
    case .messageTooLarge(let bytes, let limit): "message of \(bytes) bytes; at most \(limit) fit"
    case .deadlinePassed: "deadline has passed"
    }
  }

  package var advice: String {
    switch self {
    case .commandSyntax: "correct the command; spec/protocol/commands.md has the grammar"
    case .commandTooLarge: "send a shorter command"
    case .textNotUTF8: "pass UTF-8"
    case .notSupported: "do without it"
    case .controllerInvalid: "use a controller that chat_migrate_init gave and np_ctrl_free has not freed"
    case .storeClosed: "call chat_reopen_store first"
    case .storeReadOnly: "make the store's file and its directory writable"
    case .storeFull: "free some space, then repeat; nothing was half-written"
    case .storeDamaged: "restore the store from a backup; nothing more is written to it"
    case .storeSealingUnavailable: "open the store with an empty key"
    case .ownershipLost: "nothing was lost; repeat the command"
    case .ownedElsewhere: "wait until it suspends, then repeat"
    case .roleNotAllowed: "start the app"
    case .relayMissing: "send /_network with a relay first"
    case .relayUnavailable: "repeat later; what was to be sent is kept"
    case .notificationServerMissing: "send /_network with an ntfServer first"
    case .messageTooLarge: "send a shorter message"
    case .deadlinePassed: "what is not shown now is shown with the next push or in the app"
    }
  }

  private var nearest: ChatError {
    switch self {
    case .commandSyntax, .commandTooLarge, .textNotUTF8, .notSupported: .error(.commandError(message: message))
    case .storeDamaged: .database(.open(.notADatabase))
    case .storeReadOnly, .storeFull: .store(.databaseException(message))
    case .ownedElsewhere: .store(.databaseBusy(message))
    case .relayUnavailable: .agent(.broker(server: "", .network(reason: message)))
    case .messageTooLarge: .agent(.command(.large, context: message))
    case .relayMissing, .notificationServerMissing: .agent(.command(.prohibited, context: message))
    case .controllerInvalid, .storeClosed, .storeSealingUnavailable, .ownershipLost, .roleNotAllowed, .deadlinePassed:
      .error(.internalError(message: message))
    }
  }
}
