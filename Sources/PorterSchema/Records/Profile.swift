import PorterJSON

/// The information a person shows to a contact.
package struct Profile: Hashable, Sendable {
  package var displayName: String
  package var fullName: String
  package var shortDescription: String?
  /// A `data:` URL.
  package var image: String?
  package var preferences: Preferences?
  package var peerType: PeerType?
  /// The link of the person's address.
  package var contactLink: String?
  /// Members unknown to this library, exactly as received: they are kept, and passed on.
  package var others: JSONObject

  package enum PeerType: String, Hashable, Sendable, CaseIterable {
    case human, bot
  }

  package init(
    displayName: String, fullName: String = "", shortDescription: String? = nil, image: String? = nil,
    preferences: Preferences? = nil, peerType: PeerType? = nil, contactLink: String? = nil,
    others: JSONObject = JSONObject()
  ) {
    self.displayName = displayName
    self.fullName = fullName
    self.shortDescription = shortDescription
    self.image = image
    self.preferences = preferences
    self.peerType = peerType
    self.contactLink = contactLink
    self.others = others
  }

  /// Leaves out known members of another shape, so a newer contact's profile still parses. Nil without a display name.
  package init?(json: JSONValue) {
    guard case .object(let members) = json, let displayName = json["displayName"]?.stringValue else { return nil }
    self.init(
      displayName: displayName,
      fullName: json["fullName"]?.stringValue ?? "",
      shortDescription: json["shortDescr"]?.stringValue,
      image: json["image"]?.stringValue,
      preferences: json["preferences"].flatMap(Preferences.init(json:)),
      peerType: (json["peerType"]?.stringValue).flatMap(PeerType.init),
      contactLink: json["contactLink"]?.stringValue,
      others: JSONObject(members.members.filter { !Self.known.contains($0.name) }.map { ($0.name, $0.value) }))
  }

  /// Also nil if a known member has another shape, which would be left out.
  package init?(strict json: JSONValue) {
    self.init(json: json)
    guard case .object(let members) = json else { return nil }
    for (name, value) in members.members where value != .null && Self.known.contains(name) {
      // `fullName` is never absent; a value of another shape differs from the one that was kept.
      guard name == "preferences" ? preferences != nil : self.json[name] == value else { return nil }
    }
    if let preferences = json["preferences"], preferences != .null {
      guard Preferences(strict: preferences) != nil else { return nil }
    }
  }

  private static let known: Set<String> = [
    "displayName", "fullName", "shortDescr", "image", "preferences", "peerType", "contactLink",
    // Additional members of a stored profile.
    "profileId", "localAlias",
  ]

  package var json: JSONValue { .object(JSONObject(members)) }

  fileprivate var members: [(String, JSONValue)] {
    var members: [(String, JSONValue)] = [("displayName", .string(displayName)), ("fullName", .string(fullName))]
    if let shortDescription { members.append(("shortDescr", .string(shortDescription))) }
    if let image { members.append(("image", .string(image))) }
    if let contactLink { members.append(("contactLink", .string(contactLink))) }
    if let preferences { members.append(("preferences", preferences.json)) }
    if let peerType { members.append(("peerType", .string(peerType.rawValue))) }
    members += others.members.map { ($0.name, $0.value) }
    return members
  }
}

/// A stored profile, the owner's or a contact's.
package struct ProfileRecord: Hashable, Sendable {
  package var id: Int64
  package var profile: Profile
  /// The name given on this side; empty if there is none.
  package var localAlias: String

  package init(id: Int64, profile: Profile, localAlias: String = "") {
    self.id = id
    self.profile = profile
    self.localAlias = localAlias
  }

  /// The `LocalProfile` shape.
  package var json: JSONValue {
    var object = JSONObject([("profileId", .integer(id))] + profile.members)
    object["localAlias"] = .string(localAlias)
    return .object(object)
  }
}
