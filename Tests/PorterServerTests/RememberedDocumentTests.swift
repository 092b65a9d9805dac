import PorterPlatform
import PorterPush
import XCTest

@testable import PorterServer

/// Documents that a server need not reread, and what another server does to them in the meantime.
final class RememberedDocumentTests: XCTestCase {
  override func setUp() { World.isShared = true }
  override func tearDown() { World.isShared = false }

  private static let provider = "apns_test"

  private struct Night {
    let world: World
    let device: Device
    let store: MemoryStore
    private let mailbox: Device.Mailbox
    var key: SharedKey { TokenDocument.key(device.token) }

    /// An active device with an incoming message. No server has handled it yet.
    init() throws {
      world = try World()
      (device, store) = (try Device(world), try XCTUnwrap(world.store))
      try device.activate()
      mailbox = try device.subscribedMailboxes(1)[0]
      try world.endSpareWork()
      try receive("hello")
      world.clock.advance(by: .seconds(2))
    }

    func receive(_ text: String) throws { try device.receive(text, in: mailbox) }

    func document() throws -> TokenDocument {
      try TokenDocument(decoding: try XCTUnwrap(try store.records([key])[0]).bytes)
    }

    /// A change stored by another server.
    func change(_ body: (inout TokenDocument) -> Void) throws {
      let record = try XCTUnwrap(try store.records([key])[0])
      var document = try TokenDocument(decoding: record.bytes)
      body(&document)
      let revision = try store.replace([SharedChange(key, document.encoded(), revision: record.revision)])[0]
      XCTAssertNotNil(revision)
    }

    /// Waits for the outcome to be stored.
    func finish(_ push: PendingPush) throws {
      try world.server.finish(push, .accepted)
      try XCTUnwrap(world.server as? SharedServer).confirmOutcomes()
    }

    func push() throws -> PendingPush { try XCTUnwrap(try world.server.nextPush(for: provider)) }
  }

  func testAnOutcomeIsStoredWithoutReadingTheToken() throws {
    let night = try Night()
    try night.world.server.serve()
    let push = try night.push()
    let reads = try night.store.reads(of: .tokens) { try night.finish(push) }
    XCTAssertEqual(reads, 0)
    XCTAssertEqual(try night.document().pushes, [])
    XCTAssertEqual(night.store.waiting("push-" + Self.provider), 0)
  }

  /// In the middle of a failure, nodes may give a document's number to another document.
  func testAnOutcomeThatTookASecondIsStoredInWhatIsRead() throws {
    let night = try Night()
    try night.world.server.serve()
    let push = try night.push()
    night.world.clock.advance(by: .seconds(1))
    let reads = try night.store.reads(of: .tokens) { try night.finish(push) }
    XCTAssertEqual(reads, 1)
    XCTAssertEqual(try night.document().pushes, [])
  }

  /// Changes stored by another server in the meantime are kept.
  func testAnOutcomeIsStoredBesideWhatAnotherServerHasChanged() throws {
    let night = try Night()
    try night.world.server.serve()
    let push = try night.push()
    try night.change { $0.period = 77 }
    let reads = try night.store.reads(of: .tokens) { try night.finish(push) }
    XCTAssertEqual(reads, 1, "it was refused once")
    XCTAssertEqual(try night.document().period, 77)
    XCTAssertEqual(try night.document().pushes, [])
  }

  func testATokenThatAnotherServerHasRemovedStaysAway() throws {
    let night = try Night()
    try night.world.server.serve()
    let push = try night.push()
    let record = try XCTUnwrap(try night.store.records([night.key])[0])
    XCTAssertNotNil(try night.store.replace([SharedChange(night.key, [], revision: record.revision)])[0])
    try night.finish(push)
    XCTAssertNil(try night.store.records([night.key])[0])
  }

  /// It was stored by a server whose item another one has ended, since one item covers everything that is due.
  func testAPushThatCameMeanwhileKeepsTheWork() throws {
    let night = try Night()
    try night.world.server.serve()
    let push = try night.push()
    try night.receive("again")
    try night.world.servers[1].serve()
    let queue = "push-" + Self.provider
    try night.store.end(try night.store.take(queue, limit: 1))
    try night.finish(push)
    XCTAssertEqual(night.store.waiting(queue), 1)
    night.world.clock.advance(by: .seconds(1))
    try night.finish(try night.push())
    XCTAssertEqual(try night.document().pushes, [])
    XCTAssertEqual(night.store.waiting(queue), 0)
  }

  /// The state that the server remembers may be undone.
  func testTroubleAndAnotherLeaderMakeTheServerReadAgain() throws {
    for isFailure in [true, false] {
      let night = try Night()
      try night.world.server.serve()
      let push = try night.push()
      if isFailure {
        night.store.fail(call: 1, .requestLost)
        XCTAssertThrowsError(try night.world.server.nextPush(for: Self.provider))
      } else {
        night.store.noteTrouble()
      }
      let reads = try night.store.reads(of: .tokens) { try night.finish(push) }
      XCTAssertEqual(reads, 1)
    }
  }

  /// Two messages within a second, whose items different servers take: the second push has the second message, and does
  /// not repeat the first.
  func testAPushIsSentFromWhatIsReadWhoeverHasStoredIt() throws {
    let night = try Night()
    try night.world.server.serve()
    let first = try XCTUnwrap(try night.world.servers[1].nextPush(for: Self.provider))
    try night.world.servers[1].finish(first, .accepted)
    try night.receive("again")
    try night.world.servers[1].serve()
    let second = try night.push()
    XCTAssertNotEqual(second.due.version, first.due.version)
    try night.finish(second)
    XCTAssertEqual(try night.document().pushes, [])
  }

  func testTheyTakeBoundedMemory() throws {
    var documents = RememberedDocuments()
    let bytes = [UInt8](repeating: 0, count: 64 << 10)
    let (now, last) = (Moment(nanoseconds: 1), 250)
    for number in 0...last {
      let record = SharedRecord(bytes: bytes, revision: UInt64(number))
      for _ in 0..<2 { documents.note([UInt8(number)], record, asked: now) }
    }
    let kept = (0...last).filter { documents.record([UInt8($0)]) != nil }
    XCTAssertEqual(kept.last, last)
    XCTAssertGreaterThanOrEqual(kept.count, 60)
    XCTAssertLessThanOrEqual(kept.count, 128)
    documents.note([UInt8(last)], SharedRecord(bytes: bytes + [0], revision: 1_000), asked: now)
    XCTAssertNil(documents.record([UInt8(last)]), "it is too large")
  }

  /// A lagging node answers with it.
  func testAnEarlierDocumentDoesNotTakeThePlaceOfALaterOne() {
    var documents = RememberedDocuments()
    documents.note([1], SharedRecord(bytes: [2], revision: 2), asked: Moment(nanoseconds: 1))
    documents.note([1], SharedRecord(bytes: [1], revision: 1), asked: Moment(nanoseconds: 2))
    XCTAssertEqual(documents.record([1])?.bytes, [2])
  }

  func testAnOlderOneDoesNotComeBack() {
    var documents = RememberedDocuments()
    let (now, large) = (Moment(nanoseconds: 1), [UInt8](repeating: 0, count: 64 << 10))
    documents.note([1], SharedRecord(bytes: [1], revision: 1), asked: now)
    for id in 2..<70 as Range<UInt8> { documents.note([id], SharedRecord(bytes: large, revision: 2), asked: now) }
    XCTAssertEqual(documents.record([1])?.revision, 1)
    documents.note([1], SharedRecord(bytes: [1], revision: 4), asked: now)
    XCTAssertEqual(documents.record([1])?.revision, 4)
    documents.forget([1])
    XCTAssertNil(documents.record([1]))
  }
}
