import PorterJSON

extension Command {
  static let userRules: [Rule] = [
    Rule("/u", .showActiveUser),
    Rule("/user", .showActiveUser),
    Rule("/users", .listUsers),
    Rule("/_create user") { (cursor) throws(ChatError) in
      let object = try cursor.spaceAndJSON("a new user")
      guard case .object(let members) = object else { throw cursor.failure("a new user as a JSON object") }
      try checkTraits(members, at: cursor)
      guard let profile = object["profile"], profile != .null else { return .createUser(nil) }
      return .createUser(try Profile(checking: profile, at: cursor))
    },
    Rule("/create user") { (cursor) throws(ChatError) in .createUser(try namedProfile(&cursor, .none)) },
    Rule("/create bot") { (cursor) throws(ChatError) in
      let takesFiles = try cursor.onOffOption("files") ?? false
      var profile = try namedProfile(&cursor, .bot)
      // As in SimpleX, a bot's contacts send it no files unless it is created with `files=on`.
      if !takesFiles { profile.preferences = Preferences(allowed: [.files: .no]) }
      return .createUser(profile)
    },
    Rule("/_user") { (cursor) throws(ChatError) in
      let id = try cursor.spaceAndNumber("a profile's id")
      return .setActiveUser(id, password: try optionalPassword(&cursor))
    },
    Rule("/_hide user") { (cursor) throws(ChatError) in
      .hideUser(try cursor.spaceAndNumber("a profile's id"), password: try cursor.jsonText("a password"))
    },
    Rule("/_unhide user") { (cursor) throws(ChatError) in
      .unhideUser(try cursor.spaceAndNumber("a profile's id"), password: try cursor.jsonText("a password"))
    },
    Rule("/_mute user") { (cursor) throws(ChatError) in .muteUser(try cursor.spaceAndNumber("a profile's id")) },
    Rule("/_unmute user") { (cursor) throws(ChatError) in .unmuteUser(try cursor.spaceAndNumber("a profile's id")) },
    Rule("/_delete user") { (cursor) throws(ChatError) in
      let id = try cursor.spaceAndNumber("a profile's id")
      guard let deletes = try cursor.onOffOption("del_smp") else { throw cursor.failure("a space and del_smp=on|off") }
      return .deleteUser(id, deletesMailboxes: deletes, password: try optionalPassword(&cursor))
    },
    Rule("/_profile") { (cursor) throws(ChatError) in
      let id = try cursor.spaceAndNumber("a profile's id")
      return .updateProfile(id, try Profile(checking: try cursor.spaceAndJSON("a profile"), at: cursor))
    },
  ]

  /// Checks the members other than the profile. Refuses unknown ones, and those this library would answer `false` for.
  private static func checkTraits(_ members: JSONObject, at cursor: CommandCursor) throws(ChatError) {
    for (name, value) in members.members where name != "profile" && value != .null {
      guard let isSet = value.boolValue, ["pastTimestamp", "userChatRelay", "clientService"].contains(name) else {
        throw cursor.failure(
          "a new user with profile, and pastTimestamp, userChatRelay, clientService as true or false")
      }
      switch name {
      case "userChatRelay" where isSet: throw .nightporter(.notSupported("chat relays"))
      case "clientService" where isSet: throw .nightporter(.notSupported("client services"))
      // `pastTimestamp` dates the chats that SimpleX creates with a new user; there are none here.
      default: break
      }
    }
  }

  private static func optionalPassword(_ cursor: inout CommandCursor) throws(ChatError) -> SecretText? {
    cursor.isAtEnd ? nil : try cursor.jsonText("a password")
  }

  private static func namedProfile(
    _ cursor: inout CommandCursor, _ peerType: Profile.PeerType?
  ) throws(ChatError) -> Profile {
    try cursor.expectSpace(before: "a name")
    let name = try cursor.name("a name")
    let description = cursor.skipSpace() ? cursor.rest() : ""
    let profile = Profile(
      displayName: name, shortDescription: description.isEmpty ? nil : description, peerType: peerType)
    return try profile.checked()
  }
}

extension Profile {
  fileprivate init(checking json: JSONValue, at cursor: CommandCursor) throws(ChatError) {
    // Unknown input is refused, never left out.
    guard let profile = Profile(strict: json) else { throw cursor.failure("a profile with a displayName") }
    self = try profile.checked()
  }

  /// The profile, if its name may be shown to others.
  package func checked() throws(ChatError) -> Profile {
    let valid = DisplayName.sanitized(displayName)
    guard !valid.isEmpty, valid == displayName else {
      throw .error(.invalidDisplayName(given: displayName, valid: valid))
    }
    return self
  }
}
