import PorterJSON
import PorterPlatform

/// The progress of a connection's handshake.
package enum ConnectionStatus: Hashable, Sendable {
  case new, prepared, joined, requested, accepted, sndReady, ready, deleted
  case failed(reason: String)

  package var tag: String {
    switch self {
    case .new: "new"
    case .prepared: "prepared"
    case .joined: "joined"
    case .requested: "requested"
    case .accepted: "accepted"
    case .sndReady: "sndReady"
    case .ready: "ready"
    case .deleted: "deleted"
    case .failed: "failed"
    }
  }

  package var json: JSONValue {
    switch self {
    case .new, .prepared, .joined, .requested, .accepted, .sndReady, .ready, .deleted: .tagged(tag)
    case .failed(let reason): .tagged(tag, ["connError": .string(reason)])
    }
  }
}

/// A two-way connection: a mailbox of ours and one of the contact's.
package struct ConnectionRecord: Hashable, Sendable {
  package var id: Int64
  /// base64url; the name of the connection in hints and commands.
  package var agentID: String
  package var status: ConnectionStatus
  /// True on the side that created the invitation.
  package var isInitiator: Bool
  package var localAlias: String
  /// How often the relay rejected our signature; a connection with too many rejections is shown as disabled.
  package var authenticationErrors: Int64
  /// How often the contact's mailbox was full.
  package var quotaErrors: Int64
  /// The contact, once there is one.
  package var entityID: Int64?
  package var kind: Kind
  /// The incognito profile that the other side sees; it has the connection's id.
  package var incognitoProfileID: Int64?
  package var created: WallTime

  /// The target of a connection.
  package enum Kind: String, Hashable, Sendable, CaseIterable {
    case contact
    /// The user's address.
    case address = "user_contact"
  }

  package init(
    id: Int64, agentID: String, status: ConnectionStatus, isInitiator: Bool, localAlias: String = "",
    authenticationErrors: Int64 = 0, quotaErrors: Int64 = 0, entityID: Int64? = nil, kind: Kind = .contact,
    incognitoProfileID: Int64? = nil, created: WallTime
  ) {
    self.id = id
    self.agentID = agentID
    self.status = status
    self.isInitiator = isInitiator
    self.localAlias = localAlias
    self.authenticationErrors = authenticationErrors
    self.quotaErrors = quotaErrors
    self.entityID = entityID
    self.kind = kind
    self.incognitoProfileID = incognitoProfileID
    self.created = created
  }

  /// The version of the conversation's protocol that this library speaks.
  package static let chatVersion: Int64 = 1

  /// The `Connection` shape.
  package var json: JSONValue {
    .compact([
      "connId": .integer(id),
      "agentConnId": .string(agentID),
      "connChatVersion": .integer(Self.chatVersion),
      "peerChatVRange": .compact([
        "minVersion": .integer(Self.chatVersion), "maxVersion": .integer(Self.chatVersion),
      ]),
      "connLevel": .integer(0),
      "viaGroupLink": .bool(false),
      "customUserProfileId": incognitoProfileID.map(JSONValue.integer),
      "connType": .string(kind.rawValue),
      "connStatus": status.json,
      "contactConnInitiated": .bool(isInitiator),
      "localAlias": .string(localAlias),
      "entityId": entityID.map(JSONValue.integer),
      "pqSupport": .bool(false),
      "pqEncryption": .bool(false),
      "authErrCounter": .integer(authenticationErrors),
      "quotaErrCounter": .integer(quotaErrors),
      "createdAt": .string(created.iso8601),
    ])
  }
}

/// A connection without a contact yet: an unused invitation, or our connection to a contact who has not answered.
package struct PendingConnectionRecord: Hashable, Sendable {
  package var id: Int64
  package var agentID: String
  package var status: ConnectionStatus
  /// The invitation, on the side that created it. It contains keys: it is for the user's eyes, never for a log.
  package var invitationLink: String?
  /// Whether it was requested through another person's address.
  package var isRequest: Bool
  package var incognitoProfileID: Int64?
  package var localAlias: String
  package var created: WallTime
  package var updated: WallTime

  package init(
    id: Int64, agentID: String, status: ConnectionStatus, invitationLink: String? = nil, isRequest: Bool = false,
    incognitoProfileID: Int64? = nil, localAlias: String = "", created: WallTime,
    updated: WallTime
  ) {
    self.id = id
    self.agentID = agentID
    self.status = status
    self.invitationLink = invitationLink
    self.isRequest = isRequest
    self.incognitoProfileID = incognitoProfileID
    self.localAlias = localAlias
    self.created = created
    self.updated = updated
  }

  /// The `PendingContactConnection` shape.
  package var json: JSONValue {
    .compact([
      "pccConnId": .integer(id),
      "pccAgentConnId": .string(agentID),
      "pccConnStatus": status.json,
      "viaContactUri": .bool(isRequest),
      "customUserProfileId": incognitoProfileID.map(JSONValue.integer),
      "connLinkInv": invitationLink.map { .compact(["connFullLink": .string($0)]) },
      "localAlias": .string(localAlias),
      "createdAt": .string(created.iso8601),
      "updatedAt": .string(updated.iso8601),
    ])
  }
}

extension JSONValue {
  /// A value of a sum type in the interface's form: the tag as member `type`, with the payload alongside.
  static func tagged(_ tag: String, _ members: KeyValuePairs<String, JSONValue?> = [:]) -> JSONValue {
    var object = JSONObject([("type", .string(tag))])
    for case (let name, let value?) in members { object[name] = value }
    return .object(object)
  }
}
