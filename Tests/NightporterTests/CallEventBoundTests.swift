import PorterStore
import XCTest

/// A contact can send any number of additions to a call: they neither fill the store nor displace other events.
final class CallEventBoundTests: XCTestCase {
  private let audio = CallStation.audio
  private let offer =
    #"{"callType":{"media":"audio","capabilities":{"encryption":false}},"rtcSession":{"rtcSession":"o","rtcIceCandidates":"c"}}"#

  func testAdditionsThatWaitForTheHostAreBounded() throws {
    let pair = try Pair()
    pair.bob.send("/_call invite @1 \(audio)").assert("cmdOk")
    pair.alice.event("callInvitation")
    pair.alice.send("/_call offer @1 \(offer)").assert("cmdOk")
    pair.bob.event("callOffer")
    for number in 0..<300 {
      pair.bob.send(#"/_call extra @1 {"rtcIceCandidates":"\#(number)"}"#).assert("cmdOk")
    }
    pair.send("the last", from: pair.bob)
    awaitThat("alice has everything") { pair.texts(pair.alice).contains("the last") }
    let store = try Database(path: pair.alice.prefix + "_chat.db")
    defer { try? store.close() }
    XCTAssertEqual(try store.integer("SELECT count(*) FROM call_events WHERE kind = 'extra'"), 256)
    XCTAssertEqual(pair.alice.waitingEvents("callExtraInfo").count, 256)
    // As the host takes them there is room for more.
    awaitThat("they were taken") { (try? store.integer("SELECT count(*) FROM call_events")) == 0 }
    pair.bob.send(#"/_call extra @1 {"rtcIceCandidates":"one more"}"#).assert("cmdOk")
    let added = pair.alice.event("callExtraInfo")?["result"]["extraInfo"]["rtcIceCandidates"].text
    XCTAssertEqual(added, "one more")
  }

  func testManyAdditionsDisplaceNoMessageTheHostHasNotTaken() throws {
    let pair = try Pair()
    pair.alice.dropEvents()
    pair.send("first", from: pair.bob)
    awaitThat("alice has it") { pair.texts(pair.alice) == ["first"] }
    pair.alice.send("/_app suspend 0").assert("cmdOk")
    let store = try Database(path: pair.alice.prefix + "_chat.db")
    try store.execute(
      """
      WITH RECURSIVE numbers (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < 4200)
      INSERT INTO call_events (contact_id, kind, content)
      SELECT 1, 'extra', '{"rtcIceCandidates":"' || number || '"}' FROM numbers
      """)
    try store.close()
    pair.alice.send("/_app activate").assert("cmdOk")
    var (messages, additions) = (0, [String]())
    while additions.last != "4200", let event = pair.alice.event(within: 20) {
      XCTAssertNotEqual(event["result"]["type"].text, "eventsLost", event.description)
      switch event["result"]["type"].text {
      case "newChatItems": messages += 1
      case "callExtraInfo": additions.append(event["result"]["extraInfo"]["rtcIceCandidates"].text)
      default: break
      }
    }
    XCTAssertEqual(messages, 1)
    XCTAssertEqual(additions, (1...4_200).map { String($0) })
  }
}
