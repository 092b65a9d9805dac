import Foundation
import PorterRelayCluster
import Synchronization
import XCTest

@testable import PorterJetStream

/// A body's number is certain only for the relay that has stored or read that body under the present leader.
final class SeenBodiesTests: XCTestCase {
  private static let key = "mailbox"
  private static let bodies = "porter_bodies_0"
  private static func message(_ number: UInt8) -> [UInt8] { [UInt8](repeating: number, count: 24) }

  /// Stores bodies at 5, 6, …, and has one of message 9 at 3.
  private func makeNode() throws -> FakeNode {
    let next = Mutex(UInt64(5))
    return try FakeNode { request in
      switch request.subject {
      case "$JS.API.STREAM.INFO.porter_settings": return .text(#"{"config":{"num_replicas":3}}"#)
      case "$JS.API.STREAM.MSG.GET.porter_settings":
        let settings = Data([1, 1] + [UInt8](repeating: 7, count: 32)).base64EncodedString()
        return .text(#"{"message":{"subject":"porter.settings","seq":1,"data":"\#(settings)"}}"#)
      case "porter.body.0.mailbox", "porter.body.0.probe":
        let number = next.withLock { next in
          defer { next += 1 }
          return next
        }
        return .text(#"{"stream":"porter_bodies_0","seq":\#(number)}"#)
      case "$JS.API.DIRECT.GET.porter_bodies_0": return .text(String(decoding: Self.message(9) + [1], as: UTF8.self))
      case "$JS.API.STREAM.MSG.GET.porter_bodies_0":
        let text = Data(Self.message(9) + [1]).base64EncodedString()
        return .text(#"{"message":{"subject":"porter.body.0.mailbox","seq":3,"data":"\#(text)"}}"#)
      case "$JS.API.STREAM.MSG.DELETE.porter_bodies_0", "$JS.API.STREAM.MSG.DELETE.porter_mailboxes_0":
        return .text(#"{"success":true}"#)
      case "$JS.API.STREAM.MSG.GET.porter_mailboxes_0":
        // Its probes are the messages 6 and 8.
        let query = request.payload
        let number = query.contains("last_by_subj") || !query.contains(#""seq":1,"#) ? 8 : 6
        return .text(#"{"message":{"subject":"porter.mailbox.0.probe","seq":\#(number),"data":""}}"#)
      default: return nil
      }
    }
  }

  private func withStore(_ body: (JetStreamStore, FakeNode) async throws -> Void) async throws {
    let node = try makeNode()
    let connection = try node.connect()
    defer { connection.close() }
    let found = try await JetStreamStore.existing(connection, name: "porter", watch: StreamWatch())
    let store = try XCTUnwrap(found)
    // The first acknowledgement reveals the leader.
    _ = try await store.addBody(Self.key, Self.message(1) + [1])
    try await body(store, node)
  }

  /// The number of deletions once this many have been sent, and a moment later: there must be no others.
  private func deletions(_ node: FakeNode, awaited: Int) async throws -> Int {
    func count() -> Int { node.requests.filter { $0.subject == "$JS.API.STREAM.MSG.DELETE.\(Self.bodies)" }.count }
    let end = ContinuousClock.now + .seconds(20)
    while count() < awaited, .now < end { try await Task.sleep(for: .milliseconds(1)) }
    try await Task.sleep(for: .milliseconds(50))
    return count()
  }

  private func drop(_ number: UInt64, _ message: UInt8, _ store: JetStreamStore) {
    store.dropBodies(Self.key, [StoredBody(number: number, message: Self.message(message))])
  }

  /// Waits for everything sent before.
  private func settle(_ store: JetStreamStore) async throws {
    _ = try await store.addBody(Self.key, [UInt8](repeating: 0, count: 25))
  }

  /// A number that was another message's, and that a record still names, stays with the message that has it now.
  func testABodyThatThisRelayStoredIsDeletedWithoutAQuestionAndNoOther() async throws {
    for (message, deleted) in [(UInt8(2), 1), (3, 0)] {
      try await withStore { store, node in
        let number = try await store.addBody(Self.key, Self.message(2) + [1])
        drop(number, message, store)
        try await settle(store)
        let found = try await deletions(node, awaited: deleted)
        XCTAssertEqual(found, deleted, "message \(message)")
      }
    }
  }

  /// In trouble, a node that wrongly takes itself for the leader may answer; a node without room is the leader, and
  /// gets room in no other way.
  func testInTroubleRoomIsMadeOnlyIfThereIsNone() async throws {
    for (isFull, deleted) in [(true, 1), (false, 0)] {
      try await withStore { store, node in
        store.stream.outdated.note(
          .init(
            Self.bodies, "porter.body.0.mailbox", 3, .dropped(message: Self.message(9)), certainFrom: nil,
            now: .now - .seconds(6)))
        store.stream.settledNumbers.noteTrouble()
        try await store.makeRoom(isFull: isFull)
        let found = try await deletions(node, awaited: deleted)
        XCTAssertEqual(found, deleted, "full: \(isFull)")
        let probes = node.requests.filter { $0.subject == "$JS.API.STREAM.MSG.DELETE.porter_mailboxes_0" }
        XCTAssertEqual(probes.map(\.payload), [#"{"seq":6,"no_erase":true}"#], "all but the newest")
      }
    }
  }

  func testABodyOfWhichNothingIsKnownStaysForNow() async throws {
    try await withStore { store, node in
      drop(4, 2, store)
      try await settle(store)
      let found = try await deletions(node, awaited: 0)
      XCTAssertEqual(found, 0)
    }
  }

  func testABodyThatWasStoredBeforeTroubleStaysForNow() async throws {
    try await withStore { store, node in
      let number = try await store.addBody(Self.key, Self.message(2) + [1])
      store.stream.settledNumbers.noteTrouble()
      try await settle(store)
      drop(number, 2, store)
      try await settle(store)
      let found = try await deletions(node, awaited: 0)
      XCTAssertEqual(found, 0)
    }
  }

  /// A node that wrongly takes itself for the leader may return bodies that others have undone; so may any node when
  /// this relay has just started.
  func testWhatWasReadCountsOnlyIfTheClusterWasAtRest() async throws {
    for (startedAgo, troubledAgo, deleted) in [(20, Int?.none, 1), (5, nil, 0), (60, 5, 0), (60, 20, 1)] {
      try await withStore { store, node in
        store.stream.settledNumbers.noteStart(now: .now - .seconds(startedAgo))
        if let troubledAgo { store.stream.settledNumbers.noteTrouble(now: .now - .seconds(troubledAgo)) }
        let found = try await store.body(Self.key, 3) { $0.starts(with: Self.message(9)) }
        XCTAssertNotNil(found)
        drop(3, 9, store)
        try await settle(store)
        let count = try await deletions(node, awaited: deleted)
        XCTAssertEqual(
          count, deleted, "started \(startedAgo) s ago, trouble \(troubledAgo.map(String.init) ?? "never")")
      }
    }
  }

  /// At a relay whose clients only read, deletions waiting for the stream's next message would wait for weeks.
  func testARelayThatStoresNothingAsksForItsDeletionsItself() async throws {
    try await withStore { store, node in
      store.stream.settledNumbers.noteStart(now: .now - .seconds(20))
      store.stream.outdated.note(
        .init(
          Self.bodies, "porter.body.0.mailbox", 3, .dropped(message: Self.message(9)), certainFrom: nil,
          now: .now - .seconds(11)))
      try await store.deleteOutdatedWhereIdle()
      let found = try await deletions(node, awaited: 2)
      XCTAssertEqual(found, 2, "what it has published for that, and the body")
    }
  }

  func testWhatWasSeenLongAgoIsForgotten() {
    let (seen, begin) = (SeenBodies(), ContinuousClock.now)
    let first = StoredBody(number: 1, message: [1])
    seen.note(first, "s", at: begin)
    for number in 2...20_000 { seen.note(StoredBody(number: UInt64(number), message: [1]), "s", at: begin) }
    XCTAssertEqual(seen.time(first, "s"), begin)
    for number in 20_001...40_000 { seen.note(StoredBody(number: UInt64(number), message: [1]), "s", at: begin) }
    XCTAssertNil(seen.time(first, "s"))
    XCTAssertNotNil(seen.time(StoredBody(number: 40_000, message: [1]), "s"))
    XCTAssertNil(seen.time(StoredBody(number: 40_000, message: [1]), "t"))
  }
}
