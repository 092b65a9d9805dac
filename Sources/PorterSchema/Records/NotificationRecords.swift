import PorterJSON
import PorterPlatform

/// How a push reaches the device.
package enum PushProvider: String, Hashable, Sendable, CaseIterable {
  case development = "apns_dev"
  case production = "apns_prod"
  case test = "apns_test"
  /// A `WebPushAddress`.
  case webPush = "webpush"
  /// Reaches nothing; its one token is the literal `test_ntf_token`.
  case null = "apns_null"
}

/// A push address of this device. Anyone who knows it can send pushes, so it is printed only in the answer that shows
/// it.
package struct DeviceToken: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible,
  CustomReflectable
{
  package var provider: PushProvider
  /// Lower-case hexadecimal.
  package var token: String

  package init(provider: PushProvider, token: String) {
    self.provider = provider
    self.token = token
  }

  package var json: JSONValue {
    .compact(["pushProvider": .string(provider.rawValue), "token": .string(token)])
  }

  package var description: String { "DeviceToken(\(provider.rawValue))" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: ["provider": provider.rawValue]) }
}

/// The state of a token at the notification server, in the interface's words.
package enum TokenStatus: String, Hashable, Sendable, CaseIterable {
  case new = "NEW"
  case registered = "REGISTERED"
  case invalid = "INVALID"
  case invalidBad = "INVALID,BAD"
  case invalidTopic = "INVALID,TOPIC"
  case invalidExpired = "INVALID,EXPIRED"
  case invalidUnregistered = "INVALID,UNREGISTERED"
  case confirmed = "CONFIRMED"
  case active = "ACTIVE"
  case expired = "EXPIRED"
}

package enum NotificationMode: String, Hashable, Sendable, CaseIterable {
  case instant = "INSTANT"
  case periodic = "PERIODIC"
}

/// Names one message at the relay, without its content.
package struct NotificationMessage: Hashable, Sendable {
  /// base64url.
  package var id: String
  package var timestamp: WallTime
  /// Only for a fetched message.
  package var flags: Flags?

  package struct Flags: Hashable, Sendable {
    /// Whether the sender asked for a notification.
    package var notification: Bool
    /// Whether another message waits in the mailbox; nil if the relay did not report it.
    package var more: Bool?

    package init(notification: Bool, more: Bool?) {
      self.notification = notification
      self.more = more
    }
  }

  package init(id: String, timestamp: WallTime, flags: Flags? = nil) {
    self.id = id
    self.timestamp = timestamp
    self.flags = flags
  }

  /// The `NtfMsgInfo` shape, with flags of ours.
  package var json: JSONValue {
    .compact([
      "msgId": .string(id), "msgTs": .string(timestamp.iso8601),
      "flags": flags.map {
        .compact(["notification": .bool($0.notification), "more": $0.more.map(JSONValue.bool)])
      },
    ])
  }

  /// The `NtfMsgAckInfo` shape.
  package var acknowledgementJSON: JSONValue {
    .compact(["msgId": .string(id), "msgTs_": .string(timestamp.iso8601)])
  }
}

/// The subject of a connection.
package struct ConnectionEntity: Hashable, Sendable {
  package var connection: ConnectionRecord
  package var contact: ContactRecord?
  /// Set instead of a contact if the connection is the user's address.
  package var address: AddressRecord?

  package init(connection: ConnectionRecord, contact: ContactRecord?, address: AddressRecord? = nil) {
    self.connection = connection
    self.contact = contact
    self.address = address
  }

  package var json: JSONValue {
    guard let address else {
      return .tagged("rcvDirectMsgConnection", ["entityConnection": connection.json, "contact": contact?.json])
    }
    return .tagged(
      "userContactConnection",
      [
        "entityConnection": connection.json,
        "userContact": .compact([
          "userContactLinkId": .integer(address.id), "connReqContact": .string(address.link),
        ]),
      ])
  }
}

/// A connection in which something arrived, according to a push.
package struct NotifiedConnection: Hashable, Sendable {
  package var user: UserRecord
  package var agentConnectionID: String
  package var queueID: Int64
  package var entity: ConnectionEntity
  /// Absent if its sealed metadata did not open.
  package var expected: NotificationMessage?

  package init(
    user: UserRecord, agentConnectionID: String, queueID: Int64, entity: ConnectionEntity,
    expected: NotificationMessage?
  ) {
    self.user = user
    self.agentConnectionID = agentConnectionID
    self.queueID = queueID
    self.entity = entity
    self.expected = expected
  }

  /// The `NtfConn` shape.
  package var json: JSONValue {
    .compact([
      "user": user.json,
      "agentConnId": .string(agentConnectionID),
      "agentDbQueueId": .integer(queueID),
      "connEntity": entity.json,
      "expectedMsg_": expected?.json,
    ])
  }
}

/// The relay's answer for one connection's message. Each in a batch has its own (INC-44).
package enum ReceivedNotification: Hashable, Sendable {
  /// Nil if the mailbox was empty.
  case information(NotificationMessage?)
  case error(AgentError)

  /// The `RcvNtfMsgInfo` shape.
  package var json: JSONValue {
    switch self {
    case .information(let message): .tagged("info", ["ntfMsgInfo": message?.json])
    case .error(let error): .tagged("error", ["ntfMsgError": error.json])
    }
  }
}
