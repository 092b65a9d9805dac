import PorterJSON
import PorterPlatform
import PorterSchema
import PythonPeer
import XCTest

/// The public package declares no types for calls. Their events and the one answer are checked here against SimpleX's
/// shapes, member by member, and the user and the contact in them against the package's types.
final class CallShapeTests: XCTestCase {
  private static let profile = ProfileRecord(id: 1, profile: Profile(displayName: "alice"))
  private let user = UserRecord(
    id: 1, contactID: 1, localDisplayName: "alice", profile: profile, isActive: true, activeOrder: 1)
  private let contact = ContactRecord(
    id: 2, localDisplayName: "alice", profile: profile, connection: nil, created: WallTime(milliseconds: 0),
    updated: WallTime(milliseconds: 0))
  private let type = #"{"media":"video","capabilities":{"encryption":true}}"#
  private let session = #"{"rtcSession":"s","rtcIceCandidates":"c"}"#

  private func invitation(sharedKey: String?) -> CallInvitation {
    CallInvitation(
      user: user, contact: contact, type: CallType(media: .video, encrypts: true), sharedKey: sharedKey,
      uuid: "u", calledAt: WallTime(milliseconds: 0))
  }

  private func invitationText(sharedKey: String) -> String {
    #"{\#(people),"callType":\#(type)\#(sharedKey),"callUUID":"u","callTs":"1970-01-01T00:00:00.000Z"}"#
  }

  private var people: String { #""user":\#(user.json.text),"contact":\#(contact.json.text)"# }

  private func assertShape(_ json: JSONValue, _ text: String, file: StaticString = #filePath, line: UInt = #line) throws
  {
    XCTAssertEqual(json, try JSONValue(parsing: text), file: file, line: line)
  }

  func testInvitations() throws {
    for (key, text) in [(nil, ""), ("k", #","sharedKey":"k""#)] as [(String?, String)] {
      let (call, expected) = (invitation(sharedKey: key), invitationText(sharedKey: text))
      try assertShape(Event.callInvitation(call).json, #"{"type":"callInvitation","callInvitation":\#(expected)}"#)
      try assertShape(
        Response.callInvitations([call]).json, #"{"type":"callInvitations","callInvitations":[\#(expected)]}"#)
    }
  }

  func testSignals() throws {
    let media = MediaSession(session: "s", candidates: "c")
    let offer = CallOffer(type: CallType(media: .video, encrypts: true), session: media)
    try assertShape(
      Event.callOffer(user, contact, offer, sharedKey: "k", asksConfirmation: true).json,
      #"{"type":"callOffer",\#(people),"callType":\#(type),"offer":\#(session),"sharedKey":"k","askConfirmation":true}"#
    )
    try assertShape(
      Event.callOffer(user, contact, offer, sharedKey: nil, asksConfirmation: false).json,
      #"{"type":"callOffer",\#(people),"callType":\#(type),"offer":\#(session),"askConfirmation":false}"#)
    try assertShape(
      Event.callAnswer(user, contact, media).json, #"{"type":"callAnswer",\#(people),"answer":\#(session)}"#)
    try assertShape(
      Event.callExtraInfo(user, contact, candidates: "c").json,
      #"{"type":"callExtraInfo",\#(people),"extraInfo":{"rtcIceCandidates":"c"}}"#)
    try assertShape(Event.callEnded(user, contact).json, #"{"type":"callEnded",\#(people)}"#)
  }

  func testWhoCallsFitsThePublicTypes() throws {
    let lines = [("T.User", user.json), ("T.Contact", contact.json)].map { type, value in
      JSONValue([.string(type), value]).text
    }
    XCTAssertEqual(try runPeer("shapes.py", input: lines.joined(separator: "\n") + "\n"), "checked 2\n")
  }
}
