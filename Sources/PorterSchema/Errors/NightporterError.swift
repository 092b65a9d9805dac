import PorterJSON

/// Failures that the interface we follow has no word for. Each is written as the nearest shape that interface has, so
/// that programs written for it understand it, with an additional member `np`: `{code, advice, …}`. `code` is stable;
/// `advice` suggests a remedy.
package enum NightporterError: Hashable, Sendable {
  /// `position` is a byte offset in the command; the command itself is never quoted, because it may contain a password
  /// or a link.
  case commandSyntax(position: Int, expected: String)
  case commandTooLarge(bytes: Int, limit: Int)
  case textNotUTF8
  /// A part of the interface that this library does not support.
  case notSupported(StaticText)
  /// NULL, or a freed controller.
  case controllerInvalid
  case storeClosed
  case storeReadOnly
  case storeFull
  case storeDamaged
  /// There is no file, or no directory for it, or the path's links form a loop.
  case storeMissing
  case storeNotADatabase
  /// The store is sealed, and no key was given.
  case storeKeyMissing
  case storeKeyWrong
  /// The text is not a key.
  case storeKeyInvalid
  /// The key was not to be kept, and the store has been closed since.
  case storeKeyForgotten
  /// An extension lacks the memory to derive a key from a passphrase.
  case storeKeyNotRaw
  case storeKeyNoMemory
  /// A key was given, but the store is plain.
  case storeNotSealed
  case storeFormatNewer
  case storeCipherUnavailable
  /// `page` is 0 if it is unknown.
  case storePageDamaged(file: StaticText, page: Int64)
  case storeCutOff(file: StaticText, page: Int64)
  /// Another owner took over while this one was working; this one's work is discarded, and nothing is lost (INC-04,
  /// INC-05). `holder` names the role and instance of the current owner.
  case ownershipLost(holder: String)
  /// `holder` names the instance that has the store (INC-16, INC-18).
  case ownedElsewhere(holder: String)
  /// Allowed for an app only, not for an extension (INC-23, INC-42).
  case roleNotAllowed(StaticText)
  case relayMissing
  case relayUnavailable(StaticText)
  /// The app is in the background: the store is read and written, but no relay is contacted.
  case networkStopped
  case notificationServerMissing
  case messageTooLarge(bytes: Int, limit: Int)
  /// Another user accepted the invitation, or its creator has deleted it.
  case invitationUsed
  /// The invitation is the user's own.
  case invitationOwn
  /// Connecting incognito with a person to whom the user's own profile was sent.
  case profileShown
  /// A string table was rejected. `key` is the member with the mistake; nil for the table as a whole.
  case stringsInvalid(key: String?, StaticText)
  /// A host's report about a notification does not identify the notification and the action.
  case responseInvalid(StaticText)
  /// So many responses are waiting for the app that no more are accepted.
  case responsesTooMany(limit: Int)
  /// The profile has no scope of this name.
  case scopeNotFound
  case scopesTooMany(limit: Int)

  /// A literal of ours: no outside text can slip into a message through it.
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
    case .storeMissing: "storeMissing"
    case .storeNotADatabase: "storeNotADatabase"
    case .storeKeyMissing: "storeKeyMissing"
    case .storeKeyWrong: "storeKeyWrong"
    case .storeKeyInvalid: "storeKeyInvalid"
    case .storeKeyForgotten: "storeKeyForgotten"
    case .storeKeyNotRaw: "storeKeyNotRaw"
    case .storeKeyNoMemory: "storeKeyNoMemory"
    case .storeNotSealed: "storeNotSealed"
    case .storeFormatNewer: "storeFormatNewer"
    case .storeCipherUnavailable: "storeCipherUnavailable"
    case .storePageDamaged: "storePageDamaged"
    case .storeCutOff: "storeCutOff"
    case .ownershipLost: "ownershipLost"
    case .ownedElsewhere: "ownedElsewhere"
    case .roleNotAllowed: "roleNotAllowed"
    case .relayMissing: "relayMissing"
    case .relayUnavailable: "relayUnavailable"
    case .networkStopped: "networkStopped"
    case .notificationServerMissing: "notificationServerMissing"
    case .messageTooLarge: "messageTooLarge"
    case .invitationUsed: "invitationUsed"
    case .invitationOwn: "invitationOwn"
    case .profileShown: "profileShown"
    case .stringsInvalid: "stringsInvalid"
    case .responseInvalid: "responseInvalid"
    case .responsesTooMany: "responsesTooMany"
    case .scopeNotFound: "scopeNotFound"
    case .scopesTooMany: "scopesTooMany"
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
    case .responseInvalid(let expected): [("expected", .string(expected.description))]
    case .responsesTooMany(let limit), .scopesTooMany(let limit): [("limit", JSONValue(limit))]
    case .ownedElsewhere(let holder), .ownershipLost(let holder): [("holder", .string(holder))]
    case .storePageDamaged(let file, let page), .storeCutOff(let file, let page):
      [("file", .string(file.description))] + (page > 0 ? [("page", .integer(page))] : [])
    case .stringsInvalid(let key, let what):
      [("what", .string(what.description))] + (key.map { [("key", .string($0))] } ?? [])
    case .textNotUTF8, .controllerInvalid, .storeClosed, .storeReadOnly, .storeFull, .storeDamaged, .storeMissing,
      .storeNotADatabase, .storeKeyMissing, .storeKeyWrong, .storeKeyInvalid, .storeKeyForgotten, .storeKeyNotRaw,
      .storeKeyNoMemory, .storeNotSealed, .storeFormatNewer, .storeCipherUnavailable, .relayMissing,
      .networkStopped,
      .notificationServerMissing, .invitationUsed, .invitationOwn, .profileShown, .scopeNotFound:
      []
    }
  }
}

extension NightporterError {
  /// A description for people who read logs.
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
    case .storeMissing: "there is no store, or no directory for it"
    case .storeNotADatabase: "the file is not a database"
    case .storeKeyMissing: "store is sealed, and no key was given"
    case .storeKeyWrong: "store is sealed with another key"
    case .storeKeyInvalid:
      "the key is neither x'64 hexadecimal digits' nor a passphrase of at most 4096 bytes; a database's address is not a key"
    case .storeKeyForgotten: "the key was not kept"
    case .storeKeyNotRaw: "an extension was given a passphrase"
    case .storeKeyNoMemory: "no memory for the key"
    case .storeNotSealed: "a key was given, and store is not sealed"
    case .storeFormatNewer: "store was sealed by a newer version"
    case .storeCipherUnavailable: "store is sealed with a cipher that this libsodium does not have"
    case .storePageDamaged(let file, let page): "sealed store is damaged: \(Self.place(file, page))"
    case .storeCutOff(let file, let page): "sealed store is cut off: \(Self.place(file, page))"
    case .ownershipLost(let holder): "\(holder) took over"
    case .ownedElsewhere(let holder): "in use by \(holder)"
    case .roleNotAllowed(let what): "only the app may do this: \(what)"
    case .relayMissing: "no relay is set"
    case .relayUnavailable(let why): "relay cannot be reached: \(why)"
    case .networkStopped: "the app is in the background"
    case .notificationServerMissing: "no notification server is set"
    case .messageTooLarge(let bytes, let limit): "message of \(bytes) bytes; at most \(limit) fit"
    case .invitationUsed: "the invitation was used or deleted"
    case .invitationOwn: "the invitation is the user's own"
    case .profileShown: "the user's own profile was sent already"
    case .stringsInvalid(_, let what): "in the string table: expected \(what)"
    case .responseInvalid(let expected): "not a response to a notification: expected \(expected)"
    case .responsesTooMany(let limit): "\(limit) responses wait for the app"
    case .scopeNotFound: "the profile has no such scope"
    case .scopesTooMany(let limit): "the profile has \(limit) scopes"
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
    case .storeMissing: "check the path; the app makes the store, in a directory that is there"
    case .storeNotADatabase: "check the path; the file is left as it is"
    case .storeKeyMissing: "open the store with its key"
    case .storeKeyWrong: "open the store with its present key; a raw key of a passphrase is made anew by np_derive_key"
    case .storeKeyInvalid: "write a raw key as x'…' with 64 hexadecimal digits; a passphrase must not begin with x'"
    case .storeKeyForgotten: "give the key with np_set_key, or open the store with keep_key"
    case .storeKeyNotRaw: "have the app call np_derive_key, and give the extension what it answers"
    case .storeKeyNoMemory: "free some memory, then repeat; a passphrase takes 64 MB"
    case .storeNotSealed: "open the store with an empty key, then seal it with /_db encryption"
    case .storeFormatNewer: "update the app"
    case .storeCipherUnavailable:
      "link libsodium 1.0.19 or newer; or choose another with np_set_cipher, then change the key, where there is one"
    case .storePageDamaged, .storeCutOff: "restore the store from a backup; nothing of the damaged part was used"
    case .ownershipLost: "nothing was lost; repeat the command"
    case .ownedElsewhere: "wait until it suspends, then repeat"
    case .roleNotAllowed: "start the app"
    case .relayMissing: "send /_network with a relay first"
    case .relayUnavailable: "repeat later; what was to be sent is kept"
    case .networkStopped: "send /_app activate first"
    case .notificationServerMissing: "send /_network with an ntfServer first"
    case .messageTooLarge: "send a shorter message"
    case .invitationUsed: "ask for a new invitation; each is good for one contact"
    case .stringsInvalid: "correct the string table; nothing of it was taken"
    case .invitationOwn: "give the invitation to the person to be connected with"
    case .profileShown: "delete the connection, then connect anew; what was sent may have been seen"
    case .responseInvalid: "pass what the platform reported; nightporter.h has the form"
    case .responsesTooMany: "start the app, which carries them out, then repeat"
    case .scopeNotFound: "subscribe the scope first; /_ntf scopes lists those of the active profile"
    case .scopesTooMany: "delete a scope that is not needed"
    }
  }

  private var nearest: ChatError {
    switch self {
    case .commandSyntax, .commandTooLarge, .textNotUTF8, .notSupported, .stringsInvalid, .responseInvalid:
      .error(.commandError(message: message))
    case .storeDamaged: .database(.open(.notADatabase))
    case .storeNotADatabase, .storeKeyWrong, .storeFormatNewer, .storeCipherUnavailable: .database(.open(.notADatabase))
    case .storeKeyMissing: .database(.encrypted)
    case .storeNotSealed: .database(.plaintext)
    case .storeMissing: .database(.noFile(""))
    case .storePageDamaged, .storeCutOff: .database(.open(.other(message)))
    case .storeKeyInvalid: .error(.commandError(message: message))
    case .storeReadOnly, .storeFull, .storeKeyNoMemory: .store(.databaseException(message))
    case .ownedElsewhere: .store(.databaseBusy(message))
    case .relayUnavailable: .agent(.broker(server: "", .network(reason: message)))
    case .networkStopped: .agent(.inactive)
    case .messageTooLarge: .agent(.command(.large, context: message))
    // A relay's answer if it no longer knows the mailbox, or has secured it.
    case .invitationUsed: .agent(.relay(server: "", .authentication))
    case .invitationOwn: .error(.invalidConnReq)
    case .relayMissing, .notificationServerMissing, .scopeNotFound, .scopesTooMany, .profileShown:
      .agent(.command(.prohibited, context: message))
    case .controllerInvalid, .storeClosed, .storeKeyForgotten, .storeKeyNotRaw, .ownershipLost, .roleNotAllowed,
      .responsesTooMany:
      .error(.internalError(message: message))
    }
  }

  private static func place(_ file: StaticText, _ page: Int64) -> String {
    page > 0 ? "\(file), page \(page)" : "\(file), page unknown"
  }

  /// Whether `chat_migrate_init` reports it as `errorNotADatabase`: a file that cannot be read with this key, in
  /// SQLCipher's words.
  var isNotADatabase: Bool {
    switch self {
    case .storeNotADatabase, .storeKeyMissing, .storeKeyWrong, .storeNotSealed, .storeFormatNewer,
      .storeCipherUnavailable:
      true
    case .storePageDamaged(_, let page), .storeCutOff(_, let page): page == 1
    default: false
    }
  }
}
