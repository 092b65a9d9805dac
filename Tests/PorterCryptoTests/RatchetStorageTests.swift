import PorterPlatform
import PropertyTesting
import XCTest

@testable import PorterCrypto

final class RatchetStorageTests: XCTestCase {
  /// A conversation in which each side exists only in its store between steps, and some transactions fail: what is read
  /// stays the same, and the changes leave the ratchet's whole state in the store.
  func testAConversationThroughFailingStores() {
    forAll(both(Schedule.generator, .number(0...UInt64.max)), runs: 60) { schedule, failures in
      let pair = try Pair(randomness: SeededRandomness(schedule.seed))
      var us = Store(pair.joiner)
      var peer = Store(pair.inviter)
      var network = Network()
      for (index, step) in schedule.steps.enumerated() {
        let fails = failures >> UInt64(index) & 1 == 1
        switch step {
        case .weSend(let text):
          let sent = try us.transaction(fails: fails) { try $0.encrypt(text, associatedData: pair.associatedData) }
          if let sent { network.toPeer.append(Network.Message(bytes: sent, text: text)) }
        case .peerSends(let text):
          guard try peer.load().canSend else { continue }
          let sent = try peer.transaction(fails: fails) { try $0.encrypt(text, associatedData: pair.associatedData) }
          if let sent { network.toUs.append(Network.Message(bytes: sent, text: text)) }
        case .weReceive(let pick): try deliver(pick, &network.toUs, to: &us, of: pair, fails: fails)
        case .peerReceives(let pick): try deliver(pick, &network.toPeer, to: &peer, of: pair, fails: fails)
        case .garble: continue
        }
      }
    }
  }

  func testTheCoreStateStaysSmall() throws {
    var pair = try Pair()
    XCTAssertEqual(pair.inviter.serialized().count, 71)
    XCTAssertEqual(pair.joiner.serialized().count, 139)
    for round in 0..<20 {
      _ = try pair.joinerSends("lost")
      _ = try pair.inviterReceives(try pair.joinerSends("\(round)"))
      _ = try pair.joinerReceives(try pair.inviterSends("\(round)"))
    }
    XCTAssertEqual(pair.inviter.serialized().count, 239)
    XCTAssertEqual(pair.joiner.serialized().count, 239)
    XCTAssertEqual(try XCTUnwrap(pair.inviter.skippedKeys.first).exposeForStorage().count, SkippedKey.storedCount)
  }

  func testStateThatIsTruncatedOrTooLongOrOfAnotherVersionIsRefused() throws {
    var pair = try Pair()
    var states = [pair.inviter.serialized(), pair.joiner.serialized()]
    _ = try pair.inviterReceives(try pair.joinerSends("1"))
    _ = try pair.joinerReceives(try pair.inviterSends("2"))
    _ = try pair.inviterReceives(try pair.joinerSends("3"))
    states.append(pair.inviter.serialized())
    for state in states.map({ $0.exposeForStorage() }) {
      for count in 0..<state.count {
        assertThrows(.malformed(.ratchetState)) {
          _ = try Ratchet(serialized: Array(state.prefix(count)), skippedKeys: [])
        }
      }
      assertThrows(.malformed(.ratchetState)) { _ = try Ratchet(serialized: state + [0], skippedKeys: []) }
      assertThrows(.unsupportedVersion(2)) { _ = try Ratchet(serialized: [2] + state.dropFirst(), skippedKeys: []) }
      assertThrows(.malformed(.ratchetState)) {
        _ = try Ratchet(serialized: [1, 3] + state.dropFirst(2), skippedKeys: [])
      }
    }
  }

  func testForeignStatesAreAnswered() {
    forAll(both(.bytes(0...300), .number(0...3)), runs: 1_000) { bytes, stage in
      do {
        let ratchet = try Ratchet(serialized: [1, UInt8(stage)] + bytes, skippedKeys: [])
        try expectEqual(ratchet.serialized().exposeForStorage(), [1, UInt8(stage)] + bytes)
      } catch is CryptoError {}
    }
  }

  func testSkippedKeysOfAnotherFormAreRefused() throws {
    for count in [0, 67, 69] { XCTAssertNil(SkippedKey(sequence: 0, stored: [UInt8](repeating: 0, count: count))) }
    let stored = [UInt8](repeating: 0, count: SkippedKey.storedCount)
    for sequence in [-1, Int64.min, .max] { XCTAssertNil(SkippedKey(sequence: sequence, stored: stored)) }
    let last = try XCTUnwrap(SkippedKey(sequence: .max - 1, stored: stored))
    var pair = try Pair()
    let core = pair.inviter.serialized().exposeForStorage()
    assertThrows(.malformed(.skippedKeys)) { _ = try Ratchet(serialized: core, skippedKeys: [last, last]) }
    // There is no number left for one more key: an error, not a trap.
    pair.inviter = try Ratchet(serialized: core, skippedKeys: [last])
    _ = try pair.joinerSends("lost")
    let message = try pair.joinerSends("text")
    assertThrows(.tooManySkipped) { _ = try pair.inviterReceives(message) }
  }

  func testAStoreThatHoldsTooManyKeysLosesTheOldest() throws {
    let keys = try (0..<2_003).reversed().map { sequence in
      try XCTUnwrap(SkippedKey(sequence: sequence, stored: [UInt8](repeating: 1, count: SkippedKey.storedCount)))
    }
    let core = try Pair().inviter.serialized().exposeForStorage()
    let ratchet = try Ratchet(serialized: core, skippedKeys: keys)
    XCTAssertEqual(ratchet.skippedKeys.count, 2_000)
    XCTAssertEqual(ratchet.changes.removed, [0, 1, 2])
    XCTAssertEqual(ratchet.changes.added, [])
  }

  func testChangesSinceTheLastCommit() throws {
    var pair = try Pair()
    let messages = try (0..<4).map { try pair.joinerSends("\($0)") }
    _ = try pair.inviterReceives(messages[3])
    XCTAssertEqual(pair.inviter.changes.added.map(\.sequence), [0, 1, 2])
    _ = try pair.inviterReceives(messages[1])
    // Kept and used between two commits: the store never sees it.
    XCTAssertEqual(pair.inviter.changes.added.map(\.sequence), [0, 2])
    XCTAssertEqual(pair.inviter.changes.removed, [])
    pair.inviter.markStored()
    XCTAssertEqual(pair.inviter.changes.added, [])
    _ = try pair.inviterReceives(messages[2])
    XCTAssertEqual(pair.inviter.changes.removed, [2])
    pair.inviter.markStored()
    XCTAssertEqual(pair.inviter.changes.removed, [])
    XCTAssertEqual(pair.inviter.changes.core, pair.inviter.serialized())
  }

  private func deliver(
    _ pick: Int, _ messages: inout [Network.Message], to store: inout Store, of pair: Pair, fails: Bool
  ) throws {
    guard !messages.isEmpty else { return }
    let index = pick % messages.count
    let message = messages[index]
    let read: [UInt8]?
    do {
      read = try store.transaction(fails: fails) {
        try $0.decrypt(message.bytes, associatedData: pair.associatedData, randomness: pair.randomness)
      }
    } catch CryptoError.duplicate, CryptoError.authenticationFailed {
      return try expect(message.delivered, "refused although it was never read")
    }
    try expect(!message.delivered, "read twice")
    guard let read else { return }
    try expectEqual(read, message.text)
    messages[index].delivered = true
  }
}

/// The content of a database: one value, and a row for each skipped key.
private struct Store {
  private var core: [UInt8]
  private var rows: [Int64: [UInt8]] = [:]

  init(_ ratchet: Ratchet) { core = ratchet.serialized().exposeForStorage() }

  func load() throws -> Ratchet {
    try Ratchet(
      serialized: core, skippedKeys: rows.compactMap { SkippedKey(sequence: $0.key, stored: $0.value) })
  }

  /// Loads, acts, and stores the changes, unless the transaction fails: then the result is gone as well.
  mutating func transaction(fails: Bool, _ act: (inout Ratchet) throws -> [UInt8]) throws -> [UInt8]? {
    var ratchet = try load()
    let before = ratchet.image
    let result: [UInt8]
    do { result = try act(&ratchet) } catch {
      try expectEqual(ratchet.image, before)
      throw error
    }
    guard !fails else { return nil }
    let changes = ratchet.changes
    core = changes.core.exposeForStorage()
    for sequence in changes.removed { rows[sequence] = nil }
    for key in changes.added { rows[key.sequence] = key.exposeForStorage() }
    ratchet.markStored()
    let loaded = try load()
    try expectEqual(loaded.serialized(), ratchet.serialized())
    try expectEqual(loaded.skippedKeys, ratchet.skippedKeys)
    return result
  }
}
