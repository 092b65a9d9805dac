import Foundation
import PorterJSON
import PorterNight
import PorterProcesses
import XCTest

/// A sealed store shared by app and extension: only its header stays plain.
final class SealedStoreIncidentTests: XCTestCase {
  private static let first = "x'" + String(repeating: "1f", count: 32) + "'"
  private static let second = "x'" + String(repeating: "2e", count: 32) + "'"

  /// The first 24 bytes of the file, which a system reads before it kills the holder of a lock.
  private func assertHeaderIsPlain(_ night: Night, file: StaticString = #filePath, line: UInt = #line) throws {
    let bytes = try Data(contentsOf: URL(fileURLWithPath: night.alice.store + "_chat.db"))
    XCTAssertEqual(
      Array(bytes.prefix(24)), Array("SQLite format 3\0".utf8) + [0x08, 0, 2, 2, 64, 64, 32, 32], file: file,
      line: line)
  }

  /// In no file of alice's store, including the log and its index while the store is open.
  private func assertNowhere(
    _ texts: [String], _ night: Night, file: StaticString = #filePath, line: UInt = #line
  ) throws {
    let directory = night.directory
    let own = try FileManager.default.contentsOfDirectory(atPath: directory.path).filter { $0.hasPrefix("alice_") }
    XCTAssertTrue(own.contains("alice_chat.db"), file: file, line: line)
    for name in own {
      // The only entry that is not a file is the channel's folder of sockets.
      let path = directory.appendingPathComponent(name)
      guard try path.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true else { continue }
      let bytes = try Data(contentsOf: path)
      for text in texts + ["CREATE TABLE"] {
        XCTAssertNil(bytes.range(of: Data(text.utf8)), "\(text) in \(name)", file: file, line: line)
      }
    }
  }

  /// An extension without the key, as before the first unlock: a message that would not be shown produces no notice
  /// either, in a process that has no controller to ask.
  func testINC37AnExtensionWithoutTheKeyShowsNothingOfAMentionsChat() throws {
    for (notifications, identifiers) in [("mentions", []), ("all", ["np:notice"])] as [(String, [JSONValue])] {
      let night = try Night(key: Self.first)
      defer { night.end() }
      let settings = #"{"enableNtfs":"\#(notifications)","favorite":false}"#
      _ = try night.alice.command("/_settings @\(night.aliceContact) \(settings)", "cmdOk")
      try night.suspendAlice()
      try night.bobSends("hello")
      let answer = try night.answer(of: try night.startExtension(try night.nextPush()))
      XCTAssertEqual(answer["migration"]?["type"], "errorNotADatabase", answer.text)
      XCTAssertEqual(answer["notifications"]?.arrayValue?.compactMap { $0["identifier"] }, identifiers, answer.text)
    }
  }

  /// An app is killed after the file beside the store says that a chat is muted, and before the store does: the file
  /// has what the user asked for, until the next start.
  func testINC37AKillBetweenTheFileAndTheCommitKeepsWhatTheUserAskedFor() throws {
    let night = try Night()
    defer { night.end() }
    try night.suspendAlice()
    try night.bobSends("hello")
    let push = try night.nextPush()
    XCTAssertEqual(try night.alice.call("chat_close_store $c"), "")
    _ = try night.alice.process.end()
    // Behaves like an unreadable store: the store is plain, and this is a key.
    let identifiers = { () throws -> [JSONValue?]? in
      let answer = try night.runExtension(push, options: ["--key", Self.first]).answer
      XCTAssertEqual(answer?["migration"]?["type"], "errorNotADatabase")
      return answer?["notifications"]?.arrayValue?.map { $0["identifier"] }
    }
    XCTAssertEqual(try identifiers(), ["np:notice"])

    let killed = try ScriptedHost(store: night.alice.store, environment: ["PORTER_HALT_AT": "silenceWritten"])
    defer { killed.process.kill() }
    try killed.command("/_start", "chatStarted")
    _ = try? killed.answer(#"/_settings @\#(night.aliceContact) {"enableNtfs":"none","favorite":false}"#)
    XCTAssertEqual(try killed.process.waitForEnd(), .killed(SIGKILL))
    XCTAssertEqual(try night.count("contacts WHERE notifications = 'all'", in: "alice_chat.db"), 1)
    XCTAssertEqual(try identifiers(), [])

    let app = try ScriptedHost(store: night.alice.store)
    defer { app.process.kill() }
    try app.command("/_start", "chatStarted")
    try app.command("/_app suspend 0", "cmdOk")
    XCTAssertEqual(try identifiers(), ["np:notice"])
  }

  /// Messages that the app has already received may or may not have led to pushes as well.
  private func passOver(_ night: Night) throws { try night.remainingPushes() }

  func testINC02HeaderStaysPlainAndEverythingElseIsSealed() throws {
    let night = try Night(key: Self.first)
    defer { night.end() }
    let texts = ["a text while the app is open", "a text in a push", "a text after another key"]
    try night.bobSends(texts[0])
    try night.expectAliceHas([texts[0]])
    try assertHeaderIsPlain(night)
    try assertNowhere(texts, night)

    // The extension opens it with the raw key, presents, and leaves its log behind while the app is suspended.
    try night.suspendAlice()
    try assertHeaderIsPlain(night)
    try passOver(night)
    try night.bobSends(texts[1])
    let content = try night.present(try night.nextPush())
    XCTAssertEqual(content["outcome"], "presented", content.text)
    XCTAssertEqual(content.bodies, [texts[1]])
    XCTAssertFalse(content.text.contains("1f1f"))
    try assertHeaderIsPlain(night)
    try assertNowhere(texts, night)

    // Another key, set in the app, which is stopped for the change.
    try night.wakeAlice()
    try night.expectAliceHas(Array(texts[..<2]))
    try night.alice.command("/_stop", "chatStopped")
    let keys: JSONValue = ["currentKey": .string(Self.first), "newKey": .string(Self.second)]
    try night.alice.command("/_db encryption \(keys.text)", "cmdOk")
    try assertHeaderIsPlain(night)
    try night.alice.command("/_start", "chatStarted")
    try night.bobSends(texts[2])
    try night.expectAliceHas(texts)
    try assertHeaderIsPlain(night)
    try assertNowhere(texts, night)

    // An extension with the old key gets a typed answer, and one with the new key works.
    try night.suspendAlice()
    try passOver(night)
    try night.bobSends("one more")
    let push = try night.nextPush()
    let (refused, ending) = try night.runExtension(push)
    XCTAssertEqual(ending, .exited(1))
    XCTAssertEqual(refused?["migration"]?["type"], "errorNotADatabase", refused?.text ?? "nothing")
    XCTAssertEqual(refused?["migration"]?["np"]?["code"], "storeKeyWrong")
    night.key = Self.second
    XCTAssertEqual(try night.present(push).bodies, ["one more"])
    try assertHeaderIsPlain(night)
    try assertNowhere(texts + ["one more"], night)
  }
}
