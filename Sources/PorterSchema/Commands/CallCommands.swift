import PorterJSON

/// A host's actions on a call: `/_call …` other than `get`.
package enum CallCommand: Hashable, Sendable {
  case invite(CallType)
  case reject
  case offer(CallOffer)
  case answer(MediaSession)
  /// ICE candidates found later.
  case extra(String)
  case end
  case status(CallStatus)
}

extension Command {
  static let callRules: [Rule] = [
    Rule("/_call get", .getCalls),
    Rule("/_call invite") { (cursor) throws(ChatError) in
      try call(&cursor, "callType: media and capabilities.encryption") {
        CallType(json: $0).map { (.invite($0), $0.json) }
      }
    },
    Rule("/_call reject") { (cursor) throws(ChatError) in .call(try contact(&cursor), .reject) },
    Rule("/_call offer") { (cursor) throws(ChatError) in
      try call(&cursor, "a call offer: callType and rtcSession") { CallOffer(json: $0).map { (.offer($0), $0.json) } }
    },
    Rule("/_call answer") { (cursor) throws(ChatError) in
      try call(&cursor, "a session: rtcSession and rtcIceCandidates") {
        MediaSession(json: $0).map { (.answer($0), $0.json) }
      }
    },
    Rule("/_call extra") { (cursor) throws(ChatError) in
      try call(&cursor, "extra information: rtcIceCandidates") {
        $0["rtcIceCandidates"]?.stringValue.map { (.extra($0), ["rtcIceCandidates": .string($0)]) }
      }
    },
    Rule("/_call end") { (cursor) throws(ChatError) in .call(try contact(&cursor), .end) },
    Rule("/_call status") { (cursor) throws(ChatError) in
      let contact = try contact(&cursor)
      let words = CallStatus.allCases.map(\.rawValue).joined(separator: ", ")
      return .call(contact, .status(try cursor.word("a status (\(words))", CallStatus.init(rawValue:))))
    },
  ]

  private static func contact(_ cursor: inout CommandCursor) throws(ChatError) -> Int64 {
    try cursor.expectSpace(before: "@ and a contact's id")
    guard cursor.skip("@") else { throw cursor.failure("@ and a contact's id") }
    return try cursor.number("a contact's id")
  }

  /// `read` also returns what it read as JSON: a member missing from that would be lost.
  private static func call(
    _ cursor: inout CommandCursor, _ expected: String, _ read: (JSONValue) -> (CallCommand, JSONValue)?
  ) throws(ChatError) -> Command {
    let contact = try contact(&cursor)
    let start = cursor
    let json = try cursor.spaceAndJSON(expected)
    guard let (command, known) = read(json), json.hasNoMembers(but: known) else { throw start.failure(expected) }
    return .call(contact, command)
  }
}
