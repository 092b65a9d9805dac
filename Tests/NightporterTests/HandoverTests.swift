import Foundation
import PorterJSON
import PorterPlatform
import PorterSchema
import PorterStore
import XCTest

@testable import Nightporter
@testable import PorterEngine

/// Everything other processes committed while the app was not running is handed over to its host, however much it is.
final class HandoverTests: XCTestCase {
  /// More than the event queue holds: the rest waits in the ledger until the host has taken these, also in another
  /// process.
  func testEachOfThousandsOfCommitsIsReportedOnce() throws {
    let pair = try Pair()
    awaitRest(of: pair.alice)
    pair.alice.dropEvents()
    pair.alice.free()
    let expected = (0..<2_600).map { "message \($0)" }
    try commit(expected, in: pair.alice.prefix)
    var texts: [String] = []
    func take(_ count: Int, from host: Host) {
      while texts.count < count, let event = host.event(within: 30) {
        XCTAssertNotEqual(event["result"]["type"].text, "eventsLost", event.description)
        guard event["result"]["type"].text == "newChatItems" else { continue }
        texts += event["result"]["chatItems"].elements.map { $0["chatItem"]["content"]["msgContent"]["text"].text }
      }
    }
    for end in [0, 200, 1_000] {
      let host = try XCTUnwrap(Host.open(pair.alice.prefix).host)
      host.send("/_start").assert("chatStarted")
      take(end, from: host)
      // The process ends with all the others in its queue.
      host.free()
    }
    let last = try XCTUnwrap(Host.open(pair.alice.prefix).host)
    last.send("/_start").assert("chatStarted")
    // The app's own new commits come after what was there before it.
    pair.send("news", from: pair.bob)
    take(expected.count + 1, from: last)
    XCTAssertEqual(texts, expected + ["news"])
    awaitRest(of: last)
    last.expectNone("newChatItems")
  }

  /// The host of a running app reads nothing for a long time: what the app receives waits in the store, and displaces
  /// nothing that waits to be read, even if the app ends with it.
  func testAHostThatIsFarBehindLosesNothing() throws {
    let pair = try Pair()
    awaitRest(of: pair.alice)
    pair.alice.dropEvents()
    let prefix = pair.alice.prefix
    pair.alice.free()
    func open() throws -> Host {
      var configuration = Configuration(prefix: prefix, role: .app, confirmation: .yesUp)
      configuration.eventBytes = 60_000
      let host = Host(try XCTUnwrap(Handles.add(try XCTUnwrap(Controller.open(configuration).1))), prefix)
      host.send("/_start").assert("chatStarted")
      return host
    }
    let first = try open()
    let expected = (0..<80).map { "message \($0)" }
    let messages = expected.map { "{\"msgContent\":{\"type\":\"text\",\"text\":\"\($0)\"},\"mentions\":{}}" }
    pair.bob.send("/_send @1 json [\(messages.joined(separator: ","))]").assert("newChatItems")
    awaitThat("it has received all of them") {
      first.send("/_get chat @1 count=1")["result"]["chat"]["chatItems"][0]["content"]["msgContent"]["text"].text
        == expected.last
    }
    awaitRest(of: first)
    var texts: [String] = []
    func take(_ count: Int, from host: Host) {
      while texts.count < count, let event = host.event(within: 30) {
        XCTAssertNotEqual(event["result"]["type"].text, "eventsLost", event.description)
        guard event["result"]["type"].text == "newChatItems" else { continue }
        texts += event["result"]["chatItems"].elements.map { $0["chatItem"]["content"]["msgContent"]["text"].text }
      }
    }
    take(20, from: first)
    first.free()
    let second = try open()
    take(expected.count, from: second)
    XCTAssertEqual(texts, expected)
    awaitRest(of: second)
    second.expectNone("newChatItems")
  }

  /// The host reads half of it after the app was suspended, and then the platform ends the app. That half is not
  /// reported again, and nothing of the rest is lost, even if the same happens to the next process.
  func testWhatIsTakenWhileSuspendedDoesNotComeAgain() throws {
    let pair = try Pair()
    awaitRest(of: pair.alice)
    pair.alice.dropEvents()
    pair.alice.free()
    let expected = (0..<9).map { "message \($0)" }
    try commit(expected, in: pair.alice.prefix)
    var texts: [String] = []
    for _ in 0..<3 {
      let host = try XCTUnwrap(Host.open(pair.alice.prefix).host)
      host.send("/_start").assert("chatStarted")
      awaitRest(of: host)
      host.send("/_app suspend 0").assert("cmdOk")
      for _ in 0..<3 { texts.append(try XCTUnwrap(text(of: host))) }
      XCTAssertTrue(host.state["quiescent"].flag, host.state.description)
      host.free()
    }
    XCTAssertEqual(texts, expected)
    let last = try XCTUnwrap(Host.open(pair.alice.prefix).host)
    last.send("/_start").assert("chatStarted")
    awaitRest(of: last)
    last.expectNone("newChatItems")
    XCTAssertFalse(FileManager.default.fileExists(atPath: pair.alice.prefix + "_taken"), "the store has it")
  }

  /// The store is restored from a backup into the very same file, and an extension commits before the app runs: its
  /// entry has the number of one whose event was taken, but is a different entry.
  func testAStoreFromABackupIsHandedOverThoughItHasThePlaceOfTheFile() throws {
    let pair = try Pair()
    awaitRest(of: pair.alice)
    pair.alice.dropEvents()
    pair.alice.free()
    let file = URL(fileURLWithPath: pair.alice.prefix + "_chat.db")
    let backup = try Data(contentsOf: file)
    try commit(["before"], in: pair.alice.prefix)
    let host = try XCTUnwrap(Host.open(pair.alice.prefix).host)
    host.send("/_start").assert("chatStarted")
    awaitRest(of: host)
    host.send("/_app suspend 0").assert("cmdOk")
    XCTAssertEqual(try text(of: host), "before")
    host.free()
    XCTAssertTrue(FileManager.default.fileExists(atPath: pair.alice.prefix + "_taken"))
    for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: file.path + suffix) }
    let inode = try status(file)
    try backup.write(to: file)
    XCTAssertEqual(try status(file), inode)
    try commit(["after"], in: pair.alice.prefix)
    let next = try XCTUnwrap(Host.open(pair.alice.prefix).host)
    next.send("/_start").assert("chatStarted")
    XCTAssertEqual(try text(of: next), "after")
    awaitRest(of: next)
    next.expectNone("newChatItems")
  }

  private func status(_ file: URL) throws -> UInt64? {
    try FileManager.default.attributesOfItem(atPath: file.path)[.systemFileNumber] as? UInt64
  }

  /// A file that is cut off, or belongs to a store that another one has replaced, is ignored.
  func testAFileOfWhatWasTakenThatDoesNotFitIsIgnored() throws {
    let pair = try Pair()
    awaitRest(of: pair.alice)
    pair.alice.dropEvents()
    pair.alice.free()
    let file = URL(fileURLWithPath: pair.alice.prefix + "_taken")
    var whole = ""
    let spoilings: [(String) -> String] = [{ _ in "" }, { String($0.dropLast(3)) }, { "0 " + $0 }, { $0 + "x" }]
    for (number, spoil) in spoilings.enumerated() {
      try commit(["message \(number)"], in: pair.alice.prefix)
      let host = try XCTUnwrap(Host.open(pair.alice.prefix).host)
      host.send("/_start").assert("chatStarted")
      awaitRest(of: host)
      host.send("/_app suspend 0").assert("cmdOk")
      XCTAssertEqual(try text(of: host), "message \(number)")
      host.free()
      whole = try String(contentsOf: file, encoding: .utf8)
      try spoil(whole).write(to: file, atomically: false, encoding: .utf8)
      let next = try XCTUnwrap(Host.open(pair.alice.prefix).host)
      next.send("/_start").assert("chatStarted")
      XCTAssertEqual(try text(of: next), "message \(number)", "it comes again rather than not at all")
      awaitRest(of: next)
      next.free()
    }
    XCTAssertTrue(whole.hasSuffix("\nend\n"), whole)
  }

  private func text(of host: Host) throws -> String? {
    while let event = host.event(within: 30) {
      guard event["result"]["type"].text == "newChatItems" else { continue }
      return event["result"]["chatItems"][0]["chatItem"]["content"]["msgContent"]["text"].text
    }
    return nil
  }

  /// Commits messages as an extension does.
  private func commit(_ texts: [String], in prefix: String) throws {
    let store = try Store.open(at: StoreLocation(prefix: prefix), confirmation: .yesUp, mayMigrate: true)
    let now = SystemClock().wall()
    try store.transaction { () throws(StoreError) in
      guard let connection = try store.connections().first, let contact = connection.contactID else {
        throw .notFound(.contact)
      }
      for text in texts {
        let item = try store.insertReceivedItem(
          contactID: contact, content: MessageContent.text(text).json.text, sharedID: Array(text.utf8), itemAt: now,
          at: now)
        try store.enter(
          NewLedgerEntry(
            connectionID: connection.id, messageID: Array(text.utf8), messageAt: now, kind: .message,
            contactID: contact, itemID: item.id), after: [], at: now)
      }
    }
    try store.close(checkpoint: false)
  }
}
