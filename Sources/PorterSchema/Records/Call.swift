import PorterJSON
import PorterPlatform

package enum CallMedia: String, Hashable, Sendable, CaseIterable {
  case audio, video
}

/// The capabilities of one side of a call: the `CallType` shape.
package struct CallType: Hashable, Sendable {
  package var media: CallMedia
  /// Whether its host encrypts the media with a key agreed between the two sides.
  package var encrypts: Bool

  package init(media: CallMedia, encrypts: Bool) {
    self.media = media
    self.encrypts = encrypts
  }

  package init?(json: JSONValue) {
    guard let media = json["media"]?.stringValue.flatMap(CallMedia.init),
      let encrypts = json["capabilities"]?["encryption"]?.boolValue
    else { return nil }
    self.init(media: media, encrypts: encrypts)
  }

  package var json: JSONValue {
    ["media": .string(media.rawValue), "capabilities": ["encryption": .bool(encrypts)]]
  }
}

/// The `WebRTCSession` shape; opaque to everything but the two hosts.
package struct MediaSession: Hashable, Sendable {
  package var session: String
  package var candidates: String

  package init(session: String, candidates: String) {
    self.session = session
    self.candidates = candidates
  }

  package init?(json: JSONValue) {
    guard let session = json["rtcSession"]?.stringValue, let candidates = json["rtcIceCandidates"]?.stringValue else {
      return nil
    }
    self.init(session: session, candidates: candidates)
  }

  package var json: JSONValue { ["rtcSession": .string(session), "rtcIceCandidates": .string(candidates)] }
}

/// The `WebRTCCallOffer` shape.
package struct CallOffer: Hashable, Sendable {
  package var type: CallType
  package var session: MediaSession

  package init(type: CallType, session: MediaSession) {
    self.type = type
    self.session = session
  }

  package init?(json: JSONValue) {
    guard let type = json["callType"].flatMap({ CallType(json: $0) }),
      let session = json["rtcSession"].flatMap({ MediaSession(json: $0) })
    else { return nil }
    self.init(type: type, session: session)
  }

  package var json: JSONValue { ["callType": type.json, "rtcSession": session.json] }
}

/// A host's report about its media session, in the words of `WebRTCCallStatus`.
package enum CallStatus: String, Hashable, Sendable, CaseIterable {
  case connecting, connected, disconnected, failed
}

/// An incoming call from a contact: the `RcvCallInvitation` shape.
package struct CallInvitation: Hashable, Sendable {
  package var user: UserRecord
  package var contact: ContactRecord
  package var type: CallType
  /// base64url.
  package var sharedKey: String?
  package var uuid: String
  package var calledAt: WallTime

  package init(
    user: UserRecord, contact: ContactRecord, type: CallType, sharedKey: String?, uuid: String, calledAt: WallTime
  ) {
    self.user = user
    self.contact = contact
    self.type = type
    self.sharedKey = sharedKey
    self.uuid = uuid
    self.calledAt = calledAt
  }

  package var json: JSONValue {
    .compact([
      "user": user.json, "contact": contact.json, "callType": type.json, "sharedKey": sharedKey.map { .string($0) },
      "callUUID": .string(uuid), "callTs": .string(calledAt.iso8601),
    ])
  }
}

/// A call in a chat: the content `sndCall` or `rcvCall` of an item.
package struct CallItem: Hashable, Sendable {
  /// The words of `CICallStatus`.
  package enum Status: String, Hashable, Sendable, CaseIterable {
    case pending, missed, rejected, accepted, negotiated, progress, ended, error
  }

  package var status: Status
  /// In seconds.
  package var duration: Int64

  package init(status: Status, duration: Int64 = 0) {
    self.status = status
    self.duration = duration
  }

  /// Parses the form stored instead of a message's content.
  package init?(stored json: JSONValue) {
    guard json["type"] == "call", let status = json["status"]?.stringValue.flatMap(Status.init) else { return nil }
    self.init(status: status, duration: json["duration"]?.integerValue ?? 0)
  }

  package var stored: JSONValue {
    ["type": "call", "status": .string(status.rawValue), "duration": .integer(duration)]
  }

  func json(_ direction: MessageDirection) -> JSONValue {
    .tagged(
      direction == .sent ? "sndCall" : "rcvCall",
      ["status": .string(status.rawValue), "duration": .integer(duration)])
  }

  /// For lists and searches.
  package func text(_ direction: MessageDirection) -> String {
    "\(direction == .sent ? "outgoing" : "incoming") call: \(status.rawValue)"
  }
}
