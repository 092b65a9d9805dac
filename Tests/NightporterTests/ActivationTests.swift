import CNightporter
import Foundation
import XCTest

/// What an activation resumes by itself: with `restore=off` only work that needs no relay, otherwise everything, once.
final class ActivationTests: XCTestCase {
  private func makeMeeting() throws -> Meeting {
    let meeting = try Meeting()
    meeting.alice.send("/_app suspend 0").assert("cmdOk")
    return meeting
  }

  func testActivatingWithoutRestoringTakesUpNoWork() throws {
    let meeting = try makeMeeting()
    meeting.bobSends("hello")
    let requests = meeting.requests
    meeting.alice.send("/_app activate restore=off").assert("cmdOk")
    meeting.awaitRest()
    XCTAssertEqual(meeting.alice.state["machines"]["chat_lifecycle"].text, "active")
    XCTAssertEqual(meeting.requests, requests)
    XCTAssertEqual(meeting.texts(meeting.alice), [])
    // The same command without the option resumes it.
    let before = meeting.subscriptions
    meeting.alice.send("/_app activate").assert("cmdOk")
    meeting.alice.event("newChatItems", within: 20)
    meeting.awaitRest()
    XCTAssertEqual(meeting.texts(meeting.alice), ["hello"])
    XCTAssertEqual(meeting.subscriptions, before + 1)
  }

  /// A tap reported now would also be carried out.
  func testActivatingWithoutRestoringCarriesOutResponses() throws {
    let meeting = try makeMeeting()
    let service = try XCTUnwrap(Host.open(meeting.alice.prefix, isExtension: true).host)
    let reply = service.respond(
      to: #""identifier":"np:message:a:b","userInfo":{"userId":1,"chatId":"@1"}"#, "NTF_ACT_REPLY", text: "on my way")
    XCTAssertEqual(reply["result"]["outcome"].text, "waiting", reply.description)
    service.free()
    meeting.alice.send("/_app activate restore=off").assert("cmdOk")
    let event = try XCTUnwrap(meeting.alice.event("ntfResponse"))["result"]
    XCTAssertEqual(event["responseId"].number, reply["result"]["responseId"].number, event.description)
    XCTAssertEqual(event["outcome"].text, "applied", event.description)
    try meeting.expectBobHas(["on my way"])
  }

  func testActivatingTakesUpEverythingOnce() throws {
    let meeting = try makeMeeting()
    meeting.bobSends("hello")
    let before = meeting.subscriptions
    meeting.alice.send("/_app activate").assert("cmdOk")
    meeting.alice.event("newChatItems", within: 20)
    meeting.awaitRest()
    XCTAssertEqual(meeting.subscriptions, before + 1)
    XCTAssertEqual(meeting.texts(meeting.alice), ["hello"])
  }

  /// Everything is asked for each time the app comes to the front, and each time its process starts.
  func testEachActivationAndEachStartAsksTheRelay() throws {
    let meeting = try makeMeeting()
    for round in 1...3 {
      let before = meeting.subscriptions
      meeting.alice.send("/_app activate").assert("cmdOk")
      meeting.awaitRest()
      XCTAssertEqual(meeting.subscriptions, before + 1, "activation \(round)")
      meeting.alice.send("/_app suspend 0").assert("cmdOk")
    }
    meeting.alice.free()
    for round in 1...3 {
      let host = try XCTUnwrap(Host.open(meeting.folder.file("alice")).host)
      meeting.transport.install(in: host)
      meeting.bobSends("hello \(round)")
      let before = meeting.subscriptions
      host.send("/_start").assert("chatStarted")
      host.event("newChatItems", within: 20)
      awaitRest(of: host)
      XCTAssertEqual(meeting.subscriptions, before + 1, "start \(round)")
      XCTAssertEqual(meeting.texts(host), (1...round).map { "hello \($0)" })
      host.free()
    }
  }

  /// Woken in the background, then brought to the front: everything is taken up once for each.
  func testAWakeUpInTheBackgroundTakesUpEverythingOnce() throws {
    let meeting = try makeMeeting()
    meeting.bobSends("hello")
    let before = meeting.subscriptions
    XCTAssertEqual(np_set_phase(meeting.alice.handle, NP_PHASE_BACKGROUND_REFRESH), NP_OK)
    meeting.alice.event("newChatItems", within: 20)
    meeting.awaitRest()
    XCTAssertEqual(meeting.subscriptions, before + 1)
    XCTAssertEqual(meeting.texts(meeting.alice), ["hello"])
    meeting.alice.send("/_app activate").assert("cmdOk")
    meeting.awaitRest()
    XCTAssertEqual(meeting.subscriptions, before + 2)
  }
}

extension Meeting {
  fileprivate func bobSends(_ text: String) { bob.send("/_send @1 text \(text)").assert("newChatItems") }

  fileprivate var subscriptions: Int { transport.count(.subscribe) }
  /// Requests of any kind.
  fileprivate var requests: Int {
    [.create, .secure, .subscribe, .send, .get, .acknowledge, .other].map(transport.count).reduce(0, +)
  }
}
