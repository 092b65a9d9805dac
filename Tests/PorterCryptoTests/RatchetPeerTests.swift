import PorterPlatform
import PropertyTesting
import XCTest

@testable import PorterCrypto

/// The ratchet against the PyPI package DoubleRatchet with the same primitives, as inviting and as joining side. The
/// peer does the set-up from the invitation with PyNaCl and pyca/cryptography.
final class RatchetPeerTests: XCTestCase {
  func testConversationsWithThePeerJoining() throws { try converse(as: .inviter) }

  func testConversationsWithThePeerInviting() throws { try converse(as: .joiner) }

  /// Both sides keep 1000 keys per step and 2000 in total, and discard the same ones: the oldest.
  func testThePeerAndWeDiscardTheSameKeys() throws {
    let peer = try CryptoPeer()
    for role in [Role.inviter, .joiner] {
      var talk = try Talk(role: role, peer: peer, seed: 11)
      if role == .inviter { XCTAssertEqual(try talk.weReceive(try talk.peerSends([0])), [0]) }
      XCTAssertEqual(try talk.peerReceives(try talk.weSend([0])), [0])
      var lostByPeer: [[UInt8]] = []
      var lostByUs: [[UInt8]] = []
      for _ in 0..<3 {
        lostByPeer += try (0..<900).map { _ in try talk.weSend([1]) }
        lostByUs += try (0..<900).map { _ in try talk.peerSends([2]) }
        XCTAssertEqual(try talk.peerReceives(try talk.weSend([3])), [3])
        XCTAssertEqual(try talk.weReceive(try talk.peerSends([4])), [4])
      }
      XCTAssertEqual(talk.ours.skippedKeys.count, Ratchet.maximumSkippedInAll)
      for index in [0, 699, 700, 701, 1_500, 2_699] {
        if index < 700 {
          assertThrows(.duplicate) { _ = try talk.weReceive(lostByUs[index]) }
          XCTAssertThrowsError(try talk.peerReceives(lostByPeer[index]))
        } else {
          XCTAssertEqual(try talk.weReceive(lostByUs[index]), [2], "\(index)")
          XCTAssertEqual(try talk.peerReceives(lostByPeer[index]), [1], "\(index)")
        }
      }
    }
  }

  func testAGapOf1000IsAcceptedAndOneOf1001IsNotOnBothSides() throws {
    let peer = try CryptoPeer()
    var talk = try Talk(role: .joiner, peer: peer, seed: 12)
    XCTAssertEqual(try talk.peerReceives(try talk.weSend([0])), [0])
    XCTAssertEqual(try talk.weReceive(try talk.peerSends([0])), [0])
    let toPeer = try (0..<1_002).map { _ in try talk.weSend([1]) }
    let toUs = try (0..<1_002).map { _ in try talk.peerSends([2]) }
    XCTAssertThrowsError(try talk.peerReceives(toPeer[1_001])) {
      XCTAssertEqual($0 as? CryptoPeer.Refusal, CryptoPeer.Refusal(name: "DoSProtectionException"))
    }
    assertThrows(.tooManySkipped) { _ = try talk.weReceive(toUs[1_001]) }
    XCTAssertEqual(try talk.peerReceives(toPeer[1_000]), [1])
    XCTAssertEqual(try talk.weReceive(toUs[1_000]), [2])
  }

  private func converse(as role: Role) throws {
    let peer = try CryptoPeer()
    var seen = Seen()
    forAll(Schedule.generator, runs: 80) { schedule in
      var talk = try Talk(role: role, peer: peer, seed: schedule.seed)
      var network = Network()
      for step in schedule.steps { try take(step, in: &talk, over: &network, &seen) }
    }
    seen.assertEverythingHappened()
  }

  private func take(_ step: Schedule.Step, in talk: inout Talk, over network: inout Network, _ seen: inout Seen) throws
  {
    switch step {
    case .weSend(let text):
      guard talk.ours.canSend else { return try expectThrows { _ = try talk.weSend(text) } }
      network.toPeer.append(Network.Message(bytes: try talk.weSend(text), text: text))
    case .peerSends(let text):
      guard talk.peerCanSend else { return }
      network.toUs.append(Network.Message(bytes: try talk.peerSends(text), text: text))
    case .weReceive(let pick):
      let keptBefore = talk.ours.skippedKeys.count
      let keyBefore = talk.ours.ownKeys.publicKey
      try network.toUs.deliver(pick, &seen) { try talk.weReceive($0) }
      if talk.ours.skippedKeys.count < keptBefore { seen.late += 1 }
      if talk.ours.ownKeys.publicKey != keyBefore { seen.turns += 1 }
    case .peerReceives(let pick):
      try network.toPeer.deliver(pick, &seen) { try talk.peerReceives($0) }
    case .garble(let pick, let bit):
      try network.toUs.garble(bit, ofMessage: pick, &seen) { try talk.weReceive($0) }
      try network.toPeer.garble(bit, ofMessage: pick, &seen) { try talk.peerReceives($0) }
    }
  }
}

/// The content of the generated conversations: a property over conversations in which nothing goes wrong would hold
/// trivially.
private struct Seen {
  var read = 0
  var late = 0
  var turns = 0
  var repeated = 0
  var garbled = 0

  func assertEverythingHappened(line: UInt = #line) {
    for (name, count) in [
      ("read", read), ("late", late), ("turns", turns), ("repeated", repeated), ("garbled", garbled),
    ] {
      XCTAssertGreaterThan(count, 20, "hardly anything was \(name)", line: line)
    }
  }
}

extension [Network.Message] {
  /// A message is read the first time it arrives, whatever came before it, and refused every further time.
  fileprivate mutating func deliver(
    _ pick: Int, _ seen: inout Seen, to receive: ([UInt8]) throws -> [UInt8]
  ) throws {
    guard !isEmpty else { return }
    let index = pick % count
    guard !self[index].delivered else {
      seen.repeated += 1
      return try expectThrows { _ = try receive(self[index].bytes) }
    }
    try expectEqual(try receive(self[index].bytes), self[index].text)
    self[index].delivered = true
    seen.read += 1
  }

  fileprivate func garble(
    _ bit: Int, ofMessage pick: Int, _ seen: inout Seen, for receive: ([UInt8]) throws -> [UInt8]
  ) throws {
    guard !isEmpty else { return }
    let message = self[pick % count].bytes
    try expectThrows { _ = try receive(flipping(bit % (message.count * 8), of: message)) }
    seen.garbled += 1
  }
}
