import CNightporter
import Foundation
import PorterEngine
import PorterPlatform
import XCTest

@testable import Nightporter

/// INC-33: thousands of messages are waiting, and one extension process only handles pushes. The platform kills it at
/// 24 MB, without notice, and would again at the next push.
final class BacklogTests: XCTestCase {
  private let wake = #"{"aps":{"mutable-content":1},"notificationData":{"checkMessages":true}}"#

  /// The answer to the wake-up, which has as much time as a busy machine needs for hundreds of messages.
  private func answer(of host: Host, file: StaticString = #filePath, line: UInt = #line) throws -> JSON {
    let controller = try XCTUnwrap(Handles.find(host.handle), file: file, line: line)
    return JSON(controller.receivePush(wake, deadline: .seconds(300)))
  }

  private func send(_ count: Int, _ text: String, to contact: Int, from host: Host) {
    let message = "{\"msgContent\":{\"type\":\"text\",\"text\":\"\(text)\"},\"mentions\":{}}"
    // A command has at most 262,144 bytes.
    let atOnce = max(1, min(count, 200_000 / message.utf8.count))
    var left = count
    while left > 0 {
      let messages = [String](repeating: message, count: min(left, atOnce))
      host.send("/_send @\(contact) json [\(messages.joined(separator: ","))]").assert("newChatItems")
      left -= messages.count
    }
  }

  func testINC33UnreadEventsDoNotFillAnExtension() throws {
    let pair = try Pair()
    pair.alice.send("/_app suspend 0").assert("cmdOk")
    let notifier = try XCTUnwrap(Host.open(pair.alice.prefix, isExtension: true).host)
    for _ in 0..<2 {
      send(60, String(repeating: "long ", count: 2_400), to: 1, from: pair.bob)
      XCTAssertEqual(try answer(of: notifier)["notifications"].count, 1)
    }
    var (bytes, lost, texts) = (0, 0, 0)
    while let event = notifier.event(within: 0) {
      bytes += event.description.utf8.count
      if event["result"]["type"].text == "eventsLost" { lost += event["result"]["count"].number }
      if event["result"]["type"].text == "newChatItems" { texts += 1 }
    }
    XCTAssertLessThan(bytes, 150_000)
    // The newest are shown, with the number of the others.
    XCTAssertGreaterThan(texts, 3)
    XCTAssertGreaterThan(lost, 0)
    XCTAssertTrue(np_event_fd(notifier.handle) >= 0)
    XCTAssertNil(notifier.event(within: 0), "nothing comes after the last")
  }

  func testINC33ABacklogIsShownNewestFirstAndEachOnce() throws {
    let pair = try Pair()
    for _ in 0..<2 {
      let link = pair.alice.send("/_connect 1")["result"]["connLinkInvitation"]["connFullLink"].text
      pair.bob.send("/connect \(link)").assert("sentConfirmation")
      pair.alice.event("contactConnected")
      pair.bob.event("contactConnected")
    }
    pair.alice.send("/_app suspend 0").assert("cmdOk")
    // A mailbox keeps no more than 128.
    for contact in 1...3 { send(100, "hello", to: contact, from: pair.bob) }
    let notifier = try XCTUnwrap(Host.open(pair.alice.prefix, isExtension: true).host)
    let first = try answer(of: notifier)
    XCTAssertEqual(first["outcome"].text, "presented", "\(first["reason"].text)")
    XCTAssertEqual(first["work"].text, "ran", "all mailboxes were emptied")
    XCTAssertEqual(first.identifiers, ["np:many:1:@1", "np:many:1:@2", "np:many:1:@3"])
    XCTAssertEqual(first.bodies.compactMap { $0.split(separator: " ").first.flatMap { Int($0) } }.reduce(0, +), 256)
    XCTAssertEqual(first["badge"].number, 300, "what is not shown yet counts")
    XCTAssertLessThanOrEqual(first["trace"].count, 512)
    XCTAssertEqual(first["trace"][0]["state"].text, "deciding")
    XCTAssertEqual(first["trace"][first["trace"].count - 1]["state"].text, "presented")
    let second = try answer(of: notifier)
    let left = zip(first.identifiers, first.bodies).filter { $0.1 != "100 new messages" }.map(\.0)
    XCTAssertEqual(second.identifiers, left)
    XCTAssertEqual(second.bodies, left.map { _ in "100 new messages" }, "each once")
    XCTAssertEqual(try answer(of: notifier)["notifications"].count, 0)
    // What was read is withdrawn in batches too, so a long list delays no answer.
    pair.alice.send("/_app activate").assert("cmdOk")
    pair.alice.send("/_read user 1").assert("cmdOk")
    pair.alice.send("/_app suspend 0").assert("cmdOk")
    XCTAssertEqual(Set(try answer(of: notifier).withdrawn), Set(first.identifiers))
  }
}
