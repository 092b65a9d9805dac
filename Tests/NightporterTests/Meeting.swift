import CNightporter
import Foundation
import PorterStore
import XCTest

/// Alice reaches the relay through a host's transport, which can hang, fail and count; bob reaches it directly.
struct Meeting {
  let folder: TemporaryFolder
  let transport: HostTransport
  let alice: Host
  let bob: Host

  init(connects: Bool = true) throws {
    folder = try TemporaryFolder()
    transport = HostTransport(relay: folder.file("relay.db"))
    alice = try XCTUnwrap(Host.open(folder.file("alice")).host)
    transport.install(in: alice)
    alice.send("/_create user {\"profile\":{\"displayName\":\"alice\",\"fullName\":\"\"}}").assert("activeUser")
    alice.send("/_start").assert("chatStarted")
    bob = try XCTUnwrap(Host.open(folder.file("bob")).host)
    bob.begin("bob", relay: folder.file("relay.db"))
    if connects { connect() }
  }

  func invite() {
    let link = alice.send("/_connect 1")["result"]["connLinkInvitation"]["connFullLink"].text
    bob.send("/connect \(link)").assert("sentConfirmation")
  }

  func connect() {
    invite()
    awaitConnected()
    bob.event("contactConnected")
    awaitRest()
    bob.dropEvents()
  }

  /// Waits until alice is connected. Reports news to her again and again, since this transport does not.
  func awaitConnected(file: StaticString = #filePath, line: UInt = #line) {
    awaitThat("alice is connected", file: file, line: line) {
      np_relay_ready(alice.handle)
      return alice.event(within: 0.2)?["result"]["type"].text == "contactConnected"
    }
  }

  /// Waits until no request is in progress on either side.
  func awaitRest(file: StaticString = #filePath, line: UInt = #line) {
    for host in [alice, bob] { NightporterTests.awaitRest(of: host, file: file, line: line) }
  }

  func texts(_ host: Host) -> [String] {
    let items = host.send("/_get chat @1 count=1000")["result"]["chat"]["chatItems"]
    return items.elements.map { $0["content"]["msgContent"]["text"].text }
  }

  /// Waits until `texts` have reached bob, and checks them again when nothing more is on its way.
  func expectBobHas(_ expected: [String], file: StaticString = #filePath, line: UInt = #line) throws {
    awaitThat("bob has them", file: file, line: line) { texts(bob).count >= expected.count }
    awaitRest(file: file, line: line)
    try awaitThat("the relay has nothing more for bob", file: file, line: line) {
      let relay = try Database(path: folder.file("relay.db"))
      defer { try? relay.close() }
      // The first mailbox belongs to alice's invitation. She may be suspended.
      return try relay.integer(
        "SELECT count(*) FROM message WHERE body IS NOT NULL AND mailbox <> (SELECT min(number) FROM mailbox)") == 0
    }
    NightporterTests.awaitRest(of: bob, file: file, line: line)
    XCTAssertEqual(texts(bob), expected, file: file, line: line)
  }
}
