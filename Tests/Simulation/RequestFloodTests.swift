import Foundation
import PorterCrypto
import PorterJSON
import PorterPlatform
import PorterSchema
import PorterStore
import Synchronization
import XCTest

@testable import PorterEngine

/// Requests to an address beyond the limit of waiting ones, from as many invented persons as there may be: each costs
/// what the first ones cost, and leaves nothing behind.
final class RequestFloodTests: XCTestCase {
  /// A million in `make verify`.
  private static let requests = ProcessInfo.processInfo.environment["PORTER_REQUESTS"].flatMap { Int($0) } ?? 512

  /// The store's content, and the work that 32 more requests cause in it.
  private struct Load {
    var rows: Int64 = 0
    var pages: Int64 = 0
    var statements = 0
  }

  func testAMillionRequestsCostAndLeaveNoMoreThanTheFirst() throws {
    _ = try SimulatedHouse.run(seed: 8) { house in
      let alice = try startedAlice(house)
      let link = try createAddress(alice)
      let flood = try Flood(link: link, alice, house)
      // Fills up the waiting requests, and the records kept of messages that showed nothing.
      try flood.fill()
      try flood.send(Int(2 * RequestLimits.kept))
      XCTAssertEqual(try flood.waiting(), RequestLimits.waiting)
      let first = try flood.load()
      try flood.send(Self.requests)
      let last = try flood.load()
      XCTAssertEqual(first.rows, last.rows, "after \(Self.requests) more")
      XCTAssertEqual(first.statements, last.statements, "after \(Self.requests) more")
      // The same number of rows with random keys fills some pages less densely: a million requests left two more than
      // the 147 of the first ones.
      XCTAssertLessThan(last.pages, first.pages + first.pages / 16, "after \(Self.requests) more")
      XCTAssertEqual(try flood.waiting(), RequestLimits.waiting)
      alice.end()
    }
  }

  /// The number of requests waiting for a decision is bounded; an auto-accepting address takes all of these. They have
  /// one invitation, so one of them is joined, and the others end.
  func testRequestsThatAnAddressAcceptsByItselfAreTakenAndEnd() throws {
    _ = try SimulatedHouse.run(seed: 9) { house in
      let alice = try startedAlice(house)
      let link = try createAddress(alice)
      let settings = #"{"businessAddress":false,"autoAccept":{"acceptIncognito":false}}"#
      try alice.send("/_address_settings 1 \(settings)", "userContactLinkUpdated")
      let flood = try Flood(link: link, alice, house)
      let count = RequestLimits.waiting + Int64(RequestLimits.joining)
      try flood.fill(count)
      XCTAssertEqual(try flood.count("TRUE"), count)
      let isOver = house.world.run(atMost: .seconds(120)) { (try? flood.count("state = 'accepting'")) == 0 }
      XCTAssertTrue(isOver)
      alice.end()
    }
  }

  private func startedAlice(_ house: SimulatedHouse) throws -> SimulatedHost {
    let alice = try house.host("alice", store: "alice", .app, logs: false)
    try alice.send(#"/_create user {"profile":{"displayName":"alice","fullName":""}}"#, "activeUser")
    try alice.send(#"/_network {"relay":"\#(house.relayPath)"}"#, "cmdOk")
    try alice.send("/_start", "chatStarted")
    return alice
  }

  private func createAddress(_ alice: SimulatedHost) throws -> String {
    let created = try alice.send("/_address 1", "userContactLinkCreated")
    return try XCTUnwrap(created["connLinkContact"]?["connFullLink"]?.stringValue)
  }

  private final class Flood {
    private let link: AddressLink
    private let alice: SimulatedHost
    private let claim: Claim
    private let invitation: InvitationLink

    init(link: String, _ alice: SimulatedHost, _ house: SimulatedHouse) throws {
      (self.link, self.alice) = (try AddressLink(parsing: link), alice)
      let randomness = SystemRandomness()
      invitation = InvitationLink(
        senderID: randomness.bytes(24), publicKeys: try InvitationSecret.create(randomness: randomness).publicKeys,
        peerKey: try SigningKeyPair.generate(randomness: randomness).publicKey)
      let claimed = Mutex<Claim?>(nil)
      _ = alice.controller.call { engine in
        // The counts do not depend on the disk, which would take most of the time.
        try? engine.context.store?.database.execute("PRAGMA synchronous=OFF")
        let connection = try? engine.context.store?.database.integer("SELECT connection_id FROM addresses")
        engine.claims.claim(connection ?? 0, for: .init(rank: 0, asked: { nil }, giveBack: {})) { result in
          if case .success(.granted(let granted)) = result { claimed.withLock { $0 = granted.claim } }
        }
      }
      _ = house.world.run(atMost: .seconds(5)) { claimed.withLock { $0 != nil } }
      claim = try XCTUnwrap(claimed.withLock { $0 })
    }

    /// Between two prunings of the kept records.
    private static let batch = 32
    /// Sealing a request costs more than all the work done with it, so beyond this number the same persons ask again,
    /// in turn. By then nothing is kept of them: sixteen times as many others have asked.
    private static let persons = 2_048

    /// The requests of the persons who have asked by now, besides those waiting.
    private var crowd: [[UInt8]] = []
    private var sent = 0

    /// From a different person each time.
    private func seal() throws -> [UInt8] {
      let randomness = SystemRandomness()
      let message = RequestMessage.contact(
        .init(displayName: "crowd"), person: randomness.bytes(24), invitation: invitation)
      return try message.sealed(for: link.key, randomness: randomness).bytes
    }

    /// As many as may wait.
    func fill(_ count: Int64 = RequestLimits.waiting) throws { try commit(try (0..<count).map { _ in try seal() }) }

    func send(_ count: Int) throws {
      let end = sent + count
      while sent < end {
        let numbers = sent..<min(end, sent + Self.batch)
        while crowd.count < min(numbers.upperBound, Self.persons) { crowd.append(try seal()) }
        try commit(numbers.map { crowd[$0 % Self.persons] })
        sent = numbers.upperBound
      }
    }

    /// Each request takes the full path of a message from the relay once it is fetched.
    private func commit(_ requests: [[UInt8]]) throws {
      let claim = claim
      let committed = alice.controller.call { engine in
        requests.count { body in
          let message = SourceMessage(
            identifier: engine.context.randomness.bytes(24), timestamp: engine.context.clock.wall(), body: body)
          if case .committed = engine.committer.commit(message, under: claim) { return true }
          return false
        }
      }
      XCTAssertEqual(committed, requests.count)
    }

    func waiting() throws -> Int64? { try count("state = 'received'") }

    func count(_ condition: String) throws -> Int64? {
      alice.controller.call { engine in
        try? engine.context.store?.database.integer("SELECT count(*) FROM contact_requests WHERE \(condition)")
      }.flatMap { $0 }
    }

    /// For as many requests as lie between two prunings, so that each measurement includes one.
    func load() throws -> Load {
      let counter = StatementCounter()
      _ = alice.controller.call { engine in engine.context.store?.database.observer = { _ in counter.add() } }
      try send(Self.batch)
      let load = alice.controller.call { engine -> Load? in
        guard let store = engine.context.store else { return nil }
        store.database.observer = nil
        var load = Load(statements: counter.count)
        let tables = try? store.database.rows("SELECT name FROM sqlite_master WHERE type = 'table'") { $0.text(0) }
        for table in tables ?? [] {
          load.rows += (try? store.database.integer("SELECT count(*) FROM \"\(table)\"")) ?? 0
        }
        load.pages = (try? store.database.integer("PRAGMA page_count")) ?? 0
        return load
      }
      return try XCTUnwrap(load ?? nil)
    }
  }
}

private final class StatementCounter: Sendable {
  private let number = Atomic<Int>(0)

  var count: Int { number.load(ordering: .relaxed) }
  func add() { number.add(1, ordering: .relaxed) }
}
