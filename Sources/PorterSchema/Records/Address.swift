import PorterJSON

/// How a user's address handles requests.
package struct AddressSettings: Hashable, Sendable {
  /// Exactly as it was set, so that a host comparing it with the wanted settings finds no difference. Members unknown
  /// to this library are kept.
  package let json: JSONValue

  /// The settings of a new address.
  package static let initial = AddressSettings(unchecked: ["businessAddress": false])

  private init(unchecked json: JSONValue) { self.json = json }

  /// The problem with settings given by a host.
  package enum Failure: Error, Hashable {
    case isMalformed
    /// A business address creates a group for each person who writes to it.
    case isBusiness
  }

  package init(checking json: JSONValue) throws(Failure) {
    guard case .object(let members) = json else { throw .isMalformed }
    switch members["businessAddress"] {
    case nil, .null?, .bool(false)?: break
    case .bool(true)?: throw .isBusiness
    default: throw .isMalformed
    }
    if let accept = members["autoAccept"], accept != .null {
      guard accept["acceptIncognito"]?.boolValue != nil else { throw .isMalformed }
    }
    if let reply = members["autoReply"], reply != .null {
      guard MessageContent(json: reply) != nil else { throw .isMalformed }
    }
    self.init(unchecked: json)
  }

  /// Nil for text that is not in the stored form.
  package init?(stored: String) {
    guard let json = try? JSONValue(parsing: stored), case .object = json else { return nil }
    self.init(unchecked: json)
  }

  /// Whether requests are accepted automatically; nil if not. True: with an incognito profile.
  package var acceptsIncognito: Bool? { json["autoAccept"]?["acceptIncognito"]?.boolValue }

  /// The first message sent to a person whose request was accepted.
  package var reply: MessageContent? { json["autoReply"].flatMap { MessageContent(json: $0) } }
}

package struct AddressRecord: Hashable, Sendable {
  package var id: Int64
  package var link: String
  package var settings: AddressSettings

  package init(id: Int64, link: String, settings: AddressSettings) {
    self.id = id
    self.link = link
    self.settings = settings
  }

  /// The `UserContactLink` shape.
  package var json: JSONValue {
    .compact([
      "userContactLinkId": .integer(id),
      "connLinkContact": .compact(["connFullLink": .string(link)]),
      "shortLinkDataSet": false,
      "shortLinkLargeDataSet": false,
      "addressSettings": settings.json,
    ])
  }
}
