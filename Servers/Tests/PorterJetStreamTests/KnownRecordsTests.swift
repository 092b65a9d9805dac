import Foundation
import PorterServer
import PorterTelemetry
import Synchronization
import XCTest

@testable import PorterJetStream

/// What a notification server knows of a stream's records.
final class KnownRecordsTests: XCTestCase {
  private var path = ""

  override func setUp() {
    path = FileManager.default.temporaryDirectory.appendingPathComponent("records-\(UUID().uuidString)").path
  }

  override func tearDown() { try? FileManager.default.removeItem(atPath: path) }

  private struct Known {
    let numbers = SettledNumbers()
    let versions = RecentVersions(patience: .milliseconds(20))
    let records: KnownRecords
    var number: UInt64 = 0

    init(_ path: String) {
      records = KnownRecords("s", in: RecordFile(path: path), numbers, versions)
      numbers.note("s", 1)
    }

    /// Stores the stream's next message.
    @discardableResult
    mutating func store(
      _ subject: String, replacing replaced: UInt64, settled: UInt64 = 0, bytes: [UInt8] = [1]
    ) -> UInt64 {
      number += 1
      numbers.note("s", number)
      records.note(number, subject, version(number, subject, replaced, settled, bytes))
      return number
    }

    /// Stores a message that is no version.
    @discardableResult
    mutating func probe() -> UInt64 {
      number += 1
      numbers.note("s", number)
      records.note(number, "s.probe", nil)
      return number
    }
  }

  private static func version(
    _ number: UInt64, _ subject: String, _ replaced: UInt64, _ settled: UInt64, _ bytes: [UInt8]
  ) -> KnownRecords.Version? {
    let message = NATSMessage(
      subject: subject, reply: nil, status: nil, data: bytes,
      headers: ["Porter-Replaces": "\(replaced)", "Porter-Follows": "\(settled)", "Porter-Writer": "w"])
    return Delivery("$JS.ACK.s.c.1.\(number).1.1764196785000000000.0").flatMap { KnownRecords.Version(message, $0) }
  }

  private func make() -> Known { Known(path) }

  // MARK: What is followed

  func testANewRecordAndItsReplacementsAreKnown() async {
    var known = make()
    known.probe()
    let first = known.store("s.a", replacing: 0, settled: 1)
    XCTAssertEqual(known.records.settled("s.a", first), first)
    let second = known.store("s.a", replacing: first, bytes: [2])
    let found = await known.records.record("s.a", asOf: known.probe())
    XCTAssertEqual(found, SharedRecord(bytes: [2], revision: second))
    XCTAssertNil(known.records.settled("s.a", first))
    XCTAssertEqual(known.records.settled("s.a", second), known.number)
    XCTAssertNil(known.records.revision("s.b"))
  }

  func testARecordIsReadWithoutWaitingOnlyOnceTheProbeHasBeenFollowed() {
    var known = make()
    known.probe()
    let number = known.store("s.a", replacing: 0, settled: 1)
    XCTAssertNil(known.records.recordNow("s.a", asOf: known.number + 1))
    XCTAssertEqual(known.records.recordNow("s.a", asOf: known.probe())?.revision, number)
    XCTAssertNil(known.records.recordNow("s.b", asOf: known.number))
  }

  /// Of two that replace the same version, the first is valid, and one that comes late is not.
  func testALateVersionIsNotTheRecord() {
    var known = make()
    known.probe()
    let first = known.store("s.a", replacing: 0, settled: 1)
    let second = known.store("s.a", replacing: first)
    known.store("s.a", replacing: first)
    known.store("s.a", replacing: 0)
    XCTAssertEqual(known.records.revision("s.a"), second)
  }

  /// The version that it replaces may have been replaced before, by one that was not followed.
  func testAVersionIsUnknownIfAnotherMayHaveComeBeforeIt() {
    var known = make()
    known.number = 50
    known.probe()
    known.store("s.a", replacing: 10, settled: 40)
    XCTAssertNil(known.records.revision("s.a"))
    known.store("s.b", replacing: 10, settled: 51)
    XCTAssertEqual(known.records.revision("s.b"), 53)
    let third = known.store("s.b", replacing: 53)
    known.store("s.b", replacing: third + 1)
    XCTAssertNil(known.records.revision("s.b"), "something is missing")
  }

  func testARemovedRecordIsUnknown() {
    var known = make()
    known.probe()
    let first = known.store("s.a", replacing: 0, settled: 1)
    let removal = known.store("s.a", replacing: first, bytes: [])
    XCTAssertNil(known.records.revision("s.a"))
    XCTAssertEqual(known.records.removals(within: .seconds(30)), 1)
    XCTAssertEqual(known.records.removals(within: .zero), 0)
    let again = known.store("s.a", replacing: removal, settled: removal)
    XCTAssertEqual(known.records.revision("s.a"), again)
    known.store("s.a", replacing: again, bytes: [])
    known.store("s.a", replacing: again + 1, settled: again + 1)
    XCTAssertEqual(known.records.removals(within: .seconds(30)), 0, "made anew")
  }

  func testARecordIsReadOnlyOnceEverythingBeforeTheProbeWasFollowed() async {
    var known = make()
    known.probe()
    let first = known.store("s.a", replacing: 0, settled: 1)
    let late = await known.records.record("s.a", asOf: known.number + 1)
    XCTAssertNil(late)
    known.probe()
    let found = await known.records.record("s.a", asOf: known.number)
    XCTAssertEqual(found?.revision, first)
  }

  // MARK: What ends it

  func testKnowledgeEndsWithWhatMayUndoAVersion() {
    let ends: [(what: String, happens: (inout Known) -> Void)] = [
      ("an election", { $0.numbers.noteTrouble() }),
      ("a lost connection", { $0.records.forgetAll() }),
      (
        "a message that did not come",
        { known in
          known.number += 1
          known.probe()
        }
      ),
      (
        "numbers that come again",
        { known in
          known.number -= 1
          known.probe()
        }
      ),
    ]
    for (what, happens) in ends {
      var known = make()
      known.probe()
      let first = known.store("s.a", replacing: 0, settled: 1)
      XCTAssertEqual(known.records.revision("s.a"), first)
      happens(&known)
      known.numbers.note("s", known.number)
      XCTAssertNil(known.records.revision("s.a"), what)
      // Those that follow are known again.
      known.number += 1
      for _ in 0..<2 { known.probe() }
      let next = known.store("s.b", replacing: 0, settled: known.number)
      XCTAssertEqual(known.records.revision("s.b"), next, what)
    }
  }

  func testARequestWithoutAnAnswerEndsNothing() {
    var known = make()
    known.probe()
    let first = known.store("s.a", replacing: 0, settled: 1)
    known.numbers.noteFailure()
    XCTAssertFalse(known.numbers.hasOneLeader("s", since: .now))
    XCTAssertEqual(known.records.revision("s.a"), first)
  }

  /// A leader that others do not hear acknowledges nothing, and they elect another after four seconds.
  func testAPauseEndsKnowledge() async throws {
    var known = make()
    known.probe()
    let first = known.store("s.a", replacing: 0, settled: 1)
    try await Task.sleep(for: .milliseconds(2_100))
    XCTAssertNil(known.records.revision("s.a"))
    known.numbers.note("s", known.number)
    XCTAssertNil(known.records.settled("s.a", first))
  }

  func testItIsTimeForAProbeBeforeThePauseIsTooLong() {
    let (numbers, now) = (SettledNumbers(), ContinuousClock.now)
    XCTAssertTrue(numbers.isQuiet("s", now: now))
    numbers.note("s", 1, now: now)
    XCTAssertFalse(numbers.isQuiet("s", now: now + .milliseconds(400)))
    XCTAssertTrue(numbers.isQuiet("s", now: now + .milliseconds(600)))
    XCTAssertTrue(numbers.isSteady("s", since: now, now: now + .milliseconds(1_900)))
    XCTAssertFalse(numbers.isSteady("s", since: now, now: now + .milliseconds(2_100)))
    numbers.noteTrouble(now: now + .milliseconds(500))
    XCTAssertTrue(numbers.isQuiet("s", now: now + .milliseconds(500)))
  }

  // MARK: With a node

  /// Carries out a story that returns whether it was in time, and again with another node if a busy machine was not:
  /// knowledge ends with a pause of two seconds.
  private func inTime(_ story: (FollowedStream, JetStream) async throws -> Bool) async throws {
    for _ in 0..<20 { if try await withStream(story) { return } }
    XCTFail("the machine is too busy")
  }

  private func withStream(_ body: (FollowedStream, JetStream) async throws -> Bool) async throws -> Bool {
    try? FileManager.default.removeItem(atPath: path)
    let node = FollowedStream()
    try node.start()
    let connection = try node.connect(patience: FakeNode.patience)
    defer { connection.close() }
    let stream = JetStream(connection: connection, watch: StreamWatch(), leftAfter: .milliseconds(10))
    let follower = VersionFollower(
      connection, stream: "s", name: "n", patience: .seconds(30), records: RecordFile(path: path),
      numbers: stream.settledNumbers)
    stream.followers.add(follower, "s")
    let failures = await stream.followers.keep()
    XCTAssertEqual(failures, [])
    return try await body(node, stream)
  }

  func testTheReplacementOfAKnownRecordIsNotCompared() async throws {
    try await inTime { node, stream in
      node.store("s.b", replaced: 0)
      var last: UInt64 = 0
      // Each replaces the one before, and each is read. Nil if one took too long.
      func replace(_ count: Int) async -> (last: UInt64, records: [SharedRecord?])? {
        var (number, records) = (last, [SharedRecord?]())
        for _ in 0..<count {
          guard let stored = try? await stream.replace("s", "s.a", [1], number) else { return nil }
          number = stored
          records.append(await stream.followers.records("s")?.record("s.a", asOf: number))
        }
        return (number, records)
      }
      guard let first = await replace(2) else { return false }
      last = first.last
      _ = (node.takeComparisons(), node.takeQuestions())
      let begin = ContinuousClock.now
      let known = await replace(5)
      let asked = [node.takeComparisons(), node.takeQuestions()]
      // One that may have been frozen for 100 ms is compared.
      if asked != [0, 0] || known == nil, .now - begin >= .milliseconds(100) { return false }
      let (newest, records) = try XCTUnwrap(known)
      XCTAssertEqual(asked, [0, 0])
      XCTAssertEqual(records, (last + 1...newest).map { SharedRecord(bytes: [1], revision: $0) })
      last = newest

      // Another process is faster.
      node.store("s.a", replaced: last)
      let late = try await stream.replace("s", "s.a", [1], last)
      XCTAssertNil(late)
      // In doubt, the leader compares: also just now, if the other one was followed first.
      _ = node.takeComparisons()
      stream.settledNumbers.noteTrouble()
      let doubted = ContinuousClock.now
      let stored = try? await stream.replace("s", "s.a", [1], last + 1)
      // One that takes a second fails.
      if stored == nil, .now - doubted >= .seconds(1) { return false }
      XCTAssertNotNil(stored)
      XCTAssertEqual(node.takeComparisons(), 1)
      // None is deleted before its round.
      try await Task.sleep(for: .milliseconds(50))
      XCTAssertEqual(node.deleted, [])
      return true
    }
  }

  /// A server that ended has not deleted 2, which 3 replaces. Another follows only what comes later.
  func testAScanFindsRecordsAndVersionsThatWereLeft() async throws {
    try await inTime { node, stream in
      node.store("s.b", replaced: 0)
      node.store("s.a", replaced: 0)
      node.store("s.a", replaced: 2)
      node.store("s.b", replaced: 1)
      let records = try XCTUnwrap(stream.followers.records("s"))
      XCTAssertTrue(stream.isAtRest)
      _ = try await stream.publish("s.a", [])
      let begin = ContinuousClock.now
      while node.deleted.count < 2 {
        _ = try await stream.publish("s.a", [])
        stream.scanIfDue(["s"], LogWriter(minimum: .error, form: .logfmt))
        // After a pause the next scan would be ten minutes later.
        guard stream.settledNumbers.isSteady("s", since: begin) else { return false }
        guard .now - begin < .seconds(60) else { break }
        try await Task.sleep(for: .milliseconds(50))
      }
      let found = ["s.a", "s.b"].map(records.revision)
      guard stream.settledNumbers.isSteady("s", since: begin) else { return false }
      XCTAssertEqual(found, [3, 4])
      XCTAssertEqual(node.deleted, [1, 2])
      XCTAssertFalse(node.names.contains { $0.contains("scan") }, "its consumer is deleted")
      return true
    }
  }

  // MARK: Scans

  private func begin(_ known: Known) throws -> KnownRecords.Scan {
    try XCTUnwrap(known.records.beginScan(now: .now + .seconds(10)))
  }

  private func found(_ number: UInt64, _ subject: String, _ replaced: UInt64, _ bytes: [UInt8] = [1])
    -> KnownRecords.Version?
  {
    Self.version(number, subject, replaced, 0, bytes)
  }

  func testWhatAScanFoundIsKnownFromItsEndOn() throws {
    var known = make()
    XCTAssertNil(known.records.beginScan(), "too early")
    known.number = 100
    known.probe()
    XCTAssertNil(known.records.revision("s.a"))
    let scan = try begin(known)
    XCTAssertEqual(scan.end, 101)
    XCTAssertNil(known.records.beginScan(now: .now + .seconds(1_000)), "one at a time")
    // Of `a`, a late version came first. `b` was removed. `d` is replaced meanwhile, and `e` by what was not followed.
    let versions = [
      found(20, "s.a", 5), found(30, "s.a", 12), found(31, "s.a", 12), found(40, "s.b", 0), found(41, "s.b", 40, []),
      found(50, "s.c", 0), found(51, "s.d", 0), found(52, "s.e", 0), found(102, "s.f", 0),
    ].compactMap(\.self)
    XCTAssertEqual(versions.count, 9)
    XCTAssertTrue(known.records.noteScanned(Array(versions.prefix(6)), by: scan))
    let later = known.store("s.d", replacing: 51, settled: 101)
    known.store("s.e", replacing: 60, settled: 70)
    known.store("s.c", replacing: 70, settled: 70)
    XCTAssertTrue(known.records.noteScanned(Array(versions.dropFirst(6)), by: scan))
    XCTAssertNil(known.records.revision("s.a"), "another may follow")
    XCTAssertTrue(known.records.endScan(scan, isComplete: true))
    XCTAssertEqual(known.records.revision("s.a"), 30)
    XCTAssertEqual(known.records.revision("s.d"), later)
    for other in ["s.b", "s.c", "s.e", "s.f"] { XCTAssertNil(known.records.revision(other), other) }
    XCTAssertEqual(known.store("s.a", replacing: 30), known.records.revision("s.a"))
  }

  func testAScanIsVoidIfKnowledgeEnds() throws {
    var known = make()
    known.probe()
    let scan = try begin(known)
    XCTAssertTrue(known.records.noteScanned([found(1, "s.a", 0)].compactMap(\.self), by: scan))
    known.numbers.noteTrouble()
    known.probe()
    XCTAssertFalse(known.records.noteScanned([], by: scan))
    XCTAssertFalse(known.records.endScan(scan, isComplete: true))
    XCTAssertNil(known.records.revision("s.a"))
    XCTAssertNil(known.records.beginScan(now: .now + .seconds(30)))
    XCTAssertNotNil(known.records.beginScan(now: .now + .seconds(620)))
  }

  func testAnIncompleteScanIsRepeated() throws {
    var known = make()
    known.probe()
    let scan = try begin(known)
    XCTAssertTrue(known.records.noteScanned([found(1, "s.a", 0)].compactMap(\.self), by: scan))
    XCTAssertFalse(known.records.endScan(scan, isComplete: false))
    XCTAssertNil(known.records.revision("s.a"))
    XCTAssertNotNil(known.records.beginScan(now: .now + .seconds(620)))
  }

  /// Histories of one record with late versions, removals and deletions, read from any place on: what is known is what
  /// the leader would return.
  func testWhatIsKnownIsWhatTheLeaderWouldReturn() throws {
    let seed = UInt64.random(in: .min ... .max)
    print("histories with seed \(seed)")
    var generator = Generator(state: seed)
    var count = 0
    for run in 0..<400 {
      let history = History(&generator)
      var known = make()
      known.number = UInt64(history.begin - 1)
      known.probe()
      XCTAssertNil(known.records.revision("s.a"))
      let scan = try begin(known)
      let (first, second) = history.scanned
      XCTAssertTrue(
        known.records.noteScanned(first.compactMap { found($0.number, "s.a", $0.replaced, $0.bytes) }, by: scan))
      for each in history.followed {
        while known.number + 1 < each.number { known.probe() }
        known.store("s.a", replacing: each.replaced, settled: each.settled, bytes: each.bytes)
      }
      XCTAssertTrue(
        known.records.noteScanned(second.compactMap { found($0.number, "s.a", $0.replaced, $0.bytes) }, by: scan))
      XCTAssertTrue(known.records.endScan(scan, isComplete: true))
      guard let revision = known.records.revision("s.a") else { continue }
      XCTAssertEqual(revision, history.valid, "run \(run): \(history)")
      count += 1
    }
    XCTAssertGreaterThan(count, 100, "most of them are known")
  }
}

private struct Generator: RandomNumberGenerator {
  var state: UInt64

  /// SplitMix64.
  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = (state ^ (state >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }
}

/// The versions of one record, as processes store them that may be some versions behind.
private struct History {
  struct Version {
    var number: UInt64
    var replaced: UInt64
    var settled: UInt64
    var bytes: [UInt8]
  }

  var versions: [Version] = []
  /// The number of the message at which a process begins to follow.
  var begin = 0
  /// How much the scan has found when what comes later is followed.
  var part = 0
  /// Versions before this number are deleted, unless they are the newest, which may be a removal.
  var deleted: UInt64 = 0
  var newest: UInt64 = 0
  var valid: UInt64?

  var scanned: (first: [Version], second: [Version]) {
    let found = versions.filter { $0.number <= begin && ($0.number >= deleted || $0.number == newest) }
    return (Array(found.prefix(part)), Array(found.dropFirst(part)))
  }

  var followed: [Version] { versions.filter { $0.number > begin } }

  init(_ generator: inout Generator) {
    let length = Int.random(in: 1...8, using: &generator)
    var chain: [UInt64] = [0]
    for index in 0..<length {
      let number = UInt64(index * 2 + 3)
      let isLate = chain.count > 1 && Int.random(in: 0..<4, using: &generator) == 0
      let replaced = isLate ? chain[chain.count - 2] : chain[chain.count - 1]
      let isRemoval = index > 0 && Int.random(in: 0..<10, using: &generator) == 0
      versions.append(Version(number: number, replaced: replaced, settled: replaced, bytes: isRemoval ? [] : [1]))
      if !isLate { chain.append(number) }
    }
    newest = chain[chain.count - 1]
    let last = versions.last { $0.number == newest }
    valid = last?.bytes.isEmpty ?? true ? nil : last?.number
    // Even: a message of another subject.
    begin = Int.random(in: 1...length + 1, using: &generator) * 2
    part = Int.random(in: 0...length, using: &generator)
    // What is deleted were the oldest: late ones go before those that made them late.
    deleted = UInt64(Int.random(in: 0...max(0, begin), using: &generator))
  }
}
