import CNightporter
import Foundation
import XCTest

/// What an activation resumes by itself: nothing with `restore=off`, and otherwise everything once.
final class ActivationTests: XCTestCase {
  /// Alice reaches the relay through a transport that counts.
  private struct Meeting {
    let folder: TemporaryFolder
    let transport: HostTransport
    let alice: Host
    let bob: Host

    init() throws {
      folder = try TemporaryFolder()
      transport = HostTransport(relay: folder.file("relay.db"))
      alice = try XCTUnwrap(Host.open(folder.file("alice")).host)
      transport.install(in: alice)
      alice.send("/_create user {\"profile\":{\"displayName\":\"alice\",\"fullName\":\"\"}}").assert("activeUser")
      alice.send("/_start").assert("chatStarted")
      bob = try XCTUnwrap(Host.open(folder.file("bob")).host)
      bob.begin("bob", relay: folder.file("relay.db"))
      let link = alice.send("/_connect 1")["result"]["connLinkInvitation"]["connFullLink"].text
      bob.send("/connect \(link)").assert("sentConfirmation")
      for _ in 0..<100 {
        np_relay_ready(alice.handle)
        if alice.event(within: 0.2)?["result"]["type"].text == "contactConnected" { break }
      }
      bob.event("contactConnected")
      alice.send("/_app suspend 0").assert("cmdOk")
    }

    /// Waits until no request is in progress.
    func awaitRest(file: StaticString = #filePath, line: UInt = #line) {
      let end = Date(timeIntervalSinceNow: 60)
      while end.timeIntervalSinceNow > 0 {
        let operations = alice.state["operations"]
        let kinds = ["notifications", "receiving", "delivery", "sending", "database"]
        if kinds.allSatisfy({ operations[$0].number == 0 }) { return }
        usleep(2_000)
      }
      XCTFail("it does not come to rest: \(alice.state)", file: file, line: line)
    }

    func bobSends(_ text: String) { bob.send("/_send @1 text \(text)").assert("newChatItems") }

    var texts: [String] {
      let items = alice.send("/_get chat @1 count=1000")["result"]["chat"]["chatItems"]
      return (0..<items.count).map { items[$0]["content"]["msgContent"]["text"].text }
    }

    var subscriptions: Int { transport.count(.subscribe) }
    /// Requests of any kind.
    var requests: Int { [.create, .secure, .subscribe, .send, .get, .other].map(transport.count).reduce(0, +) }
  }

  func testActivatingWithoutRestoringTakesUpNoWork() throws {
    let meeting = try Meeting()
    meeting.bobSends("hello")
    let requests = meeting.requests
    meeting.alice.send("/_app activate restore=off").assert("cmdOk")
    meeting.awaitRest()
    XCTAssertEqual(meeting.alice.state["machines"]["chat_lifecycle"].text, "active")
    XCTAssertEqual(meeting.requests, requests)
    XCTAssertEqual(meeting.texts, [])
    // The same command without the option resumes it.
    let before = meeting.subscriptions
    meeting.alice.send("/_app activate").assert("cmdOk")
    meeting.alice.event("newChatItems", within: 20)
    meeting.awaitRest()
    XCTAssertEqual(meeting.texts, ["hello"])
    XCTAssertEqual(meeting.subscriptions, before + 1)
  }

  func testActivatingTakesUpEverythingOnce() throws {
    let meeting = try Meeting()
    meeting.bobSends("hello")
    let before = meeting.subscriptions
    meeting.alice.send("/_app activate").assert("cmdOk")
    meeting.alice.event("newChatItems", within: 20)
    meeting.awaitRest()
    XCTAssertEqual(meeting.subscriptions, before + 1)
    XCTAssertEqual(meeting.texts, ["hello"])
  }

  /// Woken in the background, and then brought to the front: once for each.
  func testAWakeUpInTheBackgroundTakesUpEverythingOnce() throws {
    let meeting = try Meeting()
    meeting.bobSends("hello")
    let before = meeting.subscriptions
    XCTAssertEqual(np_set_phase(meeting.alice.handle, NP_PHASE_BACKGROUND_REFRESH), NP_OK)
    meeting.alice.event("newChatItems", within: 20)
    meeting.awaitRest()
    XCTAssertEqual(meeting.subscriptions, before + 1)
    XCTAssertEqual(meeting.texts, ["hello"])
    meeting.alice.send("/_app activate").assert("cmdOk")
    meeting.awaitRest()
    XCTAssertEqual(meeting.subscriptions, before + 2)
  }
}
