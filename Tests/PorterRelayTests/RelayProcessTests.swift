import Foundation
import PorterCrypto
import PorterPlatform
import PorterStore
import XCTest

@testable import PorterRelay

/// Several processes using one relay, and how the others fare when one is killed.
final class RelayProcessTests: RelayTestCase {
  private var peers: [RelayPeer] = []

  override func tearDownWithError() throws {
    for peer in peers { peer.kill() }
    try super.tearDownWithError()
  }

  private func start(_ arguments: String...) throws -> RelayPeer {
    let peer = try RelayPeer(arguments)
    peers.append(peer)
    return peer
  }

  private func startSender(_ name: String, _ count: Int, to mailbox: Fixture) throws -> RelayPeer {
    try start("send", path, mailbox.sender.base64URL, seed(mailbox.senderKey), name, "\(count)")
  }

  private func startRecipient(_ task: String, _ mailbox: Fixture, log: String = "") throws -> RelayPeer {
    try start(task, path, mailbox.recipient.base64URL, seed(mailbox.recipientKey), log)
  }

  private func seed(_ key: SigningKeyPair) -> String { TextEncoding.hex(key.exposeSeed()) }

  /// The recipients' records: for each text, the messages it arrived in, and how often one was acknowledged.
  private struct Journal {
    var identifiers: [String: Set<String>] = [:]
    var acknowledged: [String: Int] = [:]

    init(_ paths: [String]) throws {
      for path in paths {
        for line in try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n") {
          let words = line.split(separator: " ").map(String.init)
          switch words.first {
          case "got" where words.count == 3: identifiers[words[1], default: []].insert(words[2])
          case "acknowledged" where words.count == 2: acknowledged[words[1], default: 0] += 1
          default: XCTFail("a line that is no record: \(line)")
          }
        }
      }
      identifiers["stop"] = nil
    }
  }

  private func texts(_ names: [String], _ count: Int) -> Set<String> {
    Set(names.flatMap { name in (0..<count).map { "\(name):\($0)" } })
  }

  func testManySendersAndRecipientsAtOneMailboxLoseAndRepeatNothing() throws {
    let mailbox = try newMailbox()
    let logs = (0..<2).map { directory + "/log\($0)" }
    let recipients = try logs.map { try startRecipient("receive", mailbox, log: $0) }
    let names = ["a", "b", "c"]
    let senders = try names.map { try startSender($0, 150, to: mailbox) }
    for sender in senders { XCTAssertEqual(sender.finish(), 0) }
    try send("stop", to: mailbox)
    for recipient in recipients { XCTAssertEqual(recipient.finish(), 0) }

    let journal = try Journal(logs)
    XCTAssertEqual(Set(journal.identifiers.keys), texts(names, 150))
    XCTAssertEqual(Set(journal.acknowledged.keys), texts(names, 150))
    XCTAssertTrue(journal.acknowledged.values.allSatisfy { $0 == 1 }, "acknowledged once, by one of them")
    XCTAssertTrue(journal.identifiers.values.allSatisfy { $0.count == 1 }, "stored once")
    try assertInOrder(logs)
  }

  /// Each recipient sees each sender's messages in the order in which they were sent.
  private func assertInOrder(_ logs: [String]) throws {
    for log in logs {
      var last: [Substring: Int] = [:]
      for line in try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n") where line.hasPrefix("got") {
        let parts = line.split(separator: " ")[1].split(separator: ":")
        guard parts.count == 2, let number = Int(parts[1]) else { continue }
        XCTAssertGreaterThanOrEqual(number, last[parts[0], default: 0])
        last[parts[0]] = number
      }
    }
  }

  /// Senders and recipients are killed repeatedly, wherever they are, and start over with what they have on disk.
  func testKilledProcessesLoseAndRepeatNothing() throws {
    let mailbox = try newMailbox()
    let names = ["a", "b"]
    let log = directory + "/log"
    var generator = SystemRandomNumberGenerator()
    var recipient = try startRecipient("receive", mailbox, log: log)
    var kills = 0
    for round in 0..<12 {
      let senders = try names.map { try startSender($0, 200, to: mailbox) }
      usleep(UInt32.random(in: 5_000...40_000, using: &generator))
      if round % 3 != 2 { senders.forEach { $0.kill() } }
      recipient.kill()
      kills += 1
      recipient = try startRecipient("receive", mailbox, log: log)
      if round % 3 == 2 { senders.forEach { _ = $0.finish() } }
    }
    XCTAssertEqual(kills, 12)
    let last = try names.map { try startSender($0, 200, to: mailbox) }
    for sender in last { XCTAssertEqual(sender.finish(), 0) }
    try send("stop", to: mailbox)
    XCTAssertEqual(recipient.finish(), 0)

    let journal = try Journal([log])
    XCTAssertEqual(Set(journal.identifiers.keys), texts(names, 200))
    XCTAssertTrue(journal.identifiers.values.allSatisfy { $0.count == 1 }, "stored once, however often it was sent")
    XCTAssertTrue(journal.acknowledged.values.allSatisfy { $0 == 1 })
    relay.close()
    let file = try Database(path: path)
    XCTAssertEqual(try file.integrityCheck(), [])
    XCTAssertEqual(try file.rows("PRAGMA foreign_key_check") { $0.text(0) }, [])
  }

  /// Every process finds no file and creates it; each creates its mailboxes in the resulting file.
  func testProcessesThatCreateTheFileTogetherShareIt() throws {
    for round in 0..<5 {
      let file = directory + "/fresh\(round).db"
      let makers = try (0..<4).map { _ in try start("create", file, "5") }
      for maker in makers { XCTAssertEqual(maker.finish(), 0) }
      let database = try Database(path: file)
      XCTAssertEqual(try database.integer("SELECT count(*) FROM mailbox"), 20)
      try database.close()
    }
  }

  // MARK: Waking

  func testKilledSubscriberLeavesNothingThatHarms() throws {
    let mailbox = try newMailbox()
    let subscriber = try startRecipient("wait", mailbox)
    XCTAssertEqual(subscriber.line(), "ready")
    XCTAssertEqual(try sockets().count, 1)
    subscriber.kill()
    XCTAssertEqual(try sockets().count, 1, "what a killed process leaves behind")
    try send("x", to: mailbox)
    XCTAssertEqual(try sockets(), [], "the next sender clears it away")
    let file = try Database(path: path)
    XCTAssertEqual(try file.integer("SELECT (SELECT count(*) FROM listener) + (SELECT count(*) FROM subscription)"), 0)
    try file.close()
    XCTAssertEqual(try receiveAll(mailbox), ["x"])
  }

  func testNextSubscriberClearsAwayWhatAKilledOneLeft() throws {
    let (mailbox, quiet) = (try newMailbox(), try newMailbox())
    let killed = try startRecipient("wait", quiet)
    XCTAssertEqual(killed.line(), "ready")
    killed.kill()
    // Its socket looks old enough that no process is about to bind it.
    for name in try sockets() {
      try FileManager.default.setAttributes(
        [.modificationDate: Date(timeIntervalSinceNow: -3_600)], ofItemAtPath: path + ".wake/" + name)
    }
    _ = try client.subscribe([(recipient: mailbox.recipient, key: mailbox.recipientKey)])
    XCTAssertEqual(try sockets().count, 1, "our own")
    let file = try Database(path: path)
    XCTAssertEqual(try file.integer("SELECT count(*) FROM listener"), 1)
    try file.close()
  }

  private func sockets() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: path + ".wake") }

  func testWakeUpReachesAnotherProcess() throws {
    let mailbox = try newMailbox()
    let subscriber = try startRecipient("wait", mailbox)
    XCTAssertEqual(subscriber.line(), "ready")
    var spans: [(commit: Int64, wake: Int64)] = []
    for number in 0..<100 {
      let before = clock.now().nanoseconds
      try send("\(number)", to: mailbox)
      let after = clock.now().nanoseconds
      let words = try XCTUnwrap(subscriber.line()).split(separator: " ")
      let woken = try XCTUnwrap(Int64(words[1]))
      XCTAssertGreaterThan(woken, before)
      spans.append((commit: after - before, wake: woken - after))
    }
    func microseconds(_ values: [Int64], _ part: Double) -> Int64 {
      values.sorted()[Int(Double(values.count - 1) * part)] / 1_000
    }
    let (commits, wakes) = (spans.map(\.commit), spans.map(\.wake))
    print(
      "relay: a send takes \(microseconds(commits, 0.5)) µs (median of 100);",
      "the other process is awake \(microseconds(wakes, 0.5)) µs after it returned (negative: before),",
      "99 %: \(microseconds(wakes, 0.99)) µs")
  }

  #if os(Linux)
    /// Frozen by the system without holding anything (INC-01), while others continue.
    func testINC01AFrozenProcessHoldsNoLockAndBlocksNoOther() throws {
      let mailbox = try newMailbox()
      let resting = try startRecipient("rest", mailbox)
      XCTAssertEqual(resting.line(), "resting")
      XCTAssertEqual(resting.signal(SIGSTOP), 0)
      XCTAssertEqual(try locksHeld(by: resting.identifier, in: directory), 0)
      XCTAssertEqual(try sockets(), [])
      try send("x", to: mailbox)
      XCTAssertEqual(try receiveAll(mailbox), ["x"])
      XCTAssertEqual(resting.signal(SIGCONT), 0)
    }

    /// Frozen before it could release anything: its wake-ups queue up, and no process waits for it.
    func testFrozenSubscriberDelaysNoSender() throws {
      let mailbox = try newMailbox()
      let subscriber = try startRecipient("wait", mailbox)
      XCTAssertEqual(subscriber.line(), "ready")
      XCTAssertEqual(subscriber.signal(SIGSTOP), 0)
      for number in 0..<50 { try send("\(number)", to: mailbox) }
      XCTAssertEqual(subscriber.signal(SIGCONT), 0)
      XCTAssertEqual(subscriber.line()?.prefix(5), "woken", "still subscribed")
    }
  #endif
}
