import PorterJSON

extension Command {
  static let contactRules: [Rule] = [
    Rule("/_connect plan") { (cursor) throws(ChatError) in
      let user = try cursor.spaceAndNumber("a profile's id")
      return .connectionPlan(user: user, link: SecretText(try cursor.spaceAndWord("a link")))
    },
    Rule("/_connect") { (cursor) throws(ChatError) in
      try invitation(&cursor, .id(try cursor.spaceAndNumber("a profile's id")))
    },
    Rule("/connect") { (cursor) throws(ChatError) in try invitation(&cursor, .active) },
    Rule("/c") { (cursor) throws(ChatError) in try invitation(&cursor, .active) },
    Rule("/_contacts") { (cursor) throws(ChatError) in
      .listContacts(.id(try cursor.spaceAndNumber("a profile's id")))
    },
    Rule("/contacts", .listContacts(.active)),
    Rule("/_groups") { (cursor) throws(ChatError) in
      let user = try cursor.spaceAndNumber("a profile's id")
      // A contact and search words: without groups there is nothing to find.
      if cursor.skipSpace() { _ = cursor.rest() }
      return .listGroups(user)
    },
    Rule("/_set custom") { (cursor) throws(ChatError) in
      let contact = try contactID(&cursor)
      guard !cursor.isAtEnd else { return .setCustomData(contact, nil) }
      guard let data = try cursor.spaceAndJSON("custom data").objectValue else {
        throw cursor.failure("custom data as a JSON object")
      }
      return .setCustomData(contact, data)
    },
    Rule("/_set prefs") { (cursor) throws(ChatError) in
      let contact = try contactID(&cursor)
      guard let preferences = Preferences(strict: try cursor.spaceAndJSON("preferences")) else {
        throw cursor.failure("preferences, each with allow (always, yes or no)")
      }
      return .setContactPreferences(contact, preferences)
    },
    Rule("/_set alias") { (cursor) throws(ChatError) in
      try cursor.expectSpace(before: "@id or :id")
      if cursor.skip("@") { return .setContactAlias(try cursor.number("a contact's id"), alias(&cursor)) }
      guard cursor.skip(":") else { throw cursor.failure("@id or :id") }
      return .setConnectionAlias(try cursor.number("a connection's id"), alias(&cursor))
    },
  ]

  private static func contactID(_ cursor: inout CommandCursor) throws(ChatError) -> Int64 {
    switch try cursor.chatReference() {
    case .contact(let id): return id
    case .group: throw .nightporter(.notSupported("groups"))
    case .pendingConnection, .noteFolder: throw cursor.failure("@id")
    }
  }

  private static func alias(_ cursor: inout CommandCursor) -> String { cursor.skipSpace() ? cursor.rest() : "" }

  /// With a link, accepts the invitation or sends a request through the address; without one, creates an invitation.
  private static func invitation(
    _ cursor: inout CommandCursor, _ user: UserSelection
  ) throws(ChatError) -> Command {
    let incognito = try cursor.onOffOption("incognito") ?? false
    guard !cursor.isAtEnd else { return .addContact(user: user, incognito: incognito) }
    let link = SecretText(try cursor.spaceAndWord("a link"))
    // A short form of the same link may follow; the full one is enough.
    if cursor.skipSpace() { _ = cursor.rest() }
    return .connect(user: user, link: link, incognito: incognito)
  }
}
