import PorterCrypto
import PorterPlatform
import PropertyTesting
import XCTest

@testable import PorterStore

/// The value alone: which pushes are silent, and what its file reveals.
final class SilentMailboxesTests: XCTestCase {
  private static func key(_ byte: UInt8) throws -> MailboxTagKey {
    MailboxTagKey(of: try XCTUnwrap(BoxSharedKey(stored: [UInt8](repeating: byte, count: 32))))
  }

  private static func notifier(_ byte: UInt8) -> [UInt8] { [UInt8](repeating: byte, count: 24) }
  private static func nonce(_ byte: UInt8) throws -> BoxNonce {
    try XCTUnwrap(BoxNonce(bytes: [UInt8](repeating: byte, count: 24)))
  }

  /// The tags of a push for these mailboxes.
  private func tags(_ notifiers: [UInt8], _ key: MailboxTagKey, _ nonce: BoxNonce) -> [MailboxTag] {
    notifiers.map { key.handle(of: Self.notifier($0)).tag(nonce) }
      + (notifiers.count..<7).map { key.pad.tag(nonce, place: $0) }
  }

  func testWhichPushesAreSilent() throws {
    let key = try Self.key(1)
    let silent = SilentMailboxes(Set([1, 2].map { key.handle(of: Self.notifier($0)) }), under: key)
    let cases: [(notifiers: [UInt8], isSilent: Bool)] = [
      ([], false), ([1], true), ([2], true), ([1, 2], true), ([1, 1], true), ([3], false), ([1, 3], false),
      ([3, 1], false), ([1, 2, 1, 2, 1, 2], true), ([1, 2, 1, 2, 1, 3], false),
    ]
    for nonce in try [Self.nonce(7), Self.nonce(8)] {
      for (notifiers, isSilent) in cases {
        XCTAssertEqual(silent.silences(tags(notifiers, key, nonce), nonce: nonce), isSilent, "\(notifiers)")
      }
    }
    let nonce = try Self.nonce(7)
    for notifiers in [[], [1], [3]] as [[UInt8]] {
      XCTAssertTrue(silent.silences(tags(notifiers, key, nonce), nonce: try Self.nonce(8)), "of another push")
      XCTAssertTrue(silent.silences(tags(notifiers, try Self.key(2), nonce), nonce: nonce), "of another token")
      XCTAssertTrue(SilentMailboxes.ofNoToken.silences(tags(notifiers, key, nonce), nonce: nonce))
    }
    XCTAssertFalse(silent.silences([], nonce: nonce))
    var moved = tags([1], key, nonce)
    moved.swapAt(1, 2)
    XCTAssertFalse(silent.silences(moved, nonce: nonce), "a pad belongs to its place")
    let none = SilentMailboxes([], under: key)
    XCTAssertFalse(none.silences(tags([1], key, nonce), nonce: nonce))
  }

  /// For any mailboxes and any push: it is silent exactly if it is for at least one mailbox, and only for silent ones.
  func testAPushIsSilentIfAllThatItIsAboutIs() throws {
    let key = try Self.key(1)
    let places = Generator<Int>.number(0...40)
    forAll(all(places.array(0...80), places.array(0...6), places), runs: 100) { silent, push, byte in
      let silent = Set(silent.map(UInt8.init)), push = push.map(UInt8.init)
      let nonce = try Self.nonce(UInt8(byte))
      let value = SilentMailboxes(Set(silent.map { key.handle(of: Self.notifier($0)) }), under: key)
      let read = try XCTUnwrap(SilentMailboxes(bytes: value.bytes))
      try expectEqual(read, value)
      try expectEqual(
        read.silences(tags(push, key, nonce), nonce: nonce), !push.isEmpty && push.allSatisfy(silent.contains))
    }
  }

  /// Size and order are the same for any small number of mailboxes; the file contains no identifier and no key.
  func testTheFileSaysNeitherHowManyNorWhich() throws {
    let key = try Self.key(1)
    var sizes: [Int] = []
    for count in [0, 1, 63, 64, 65, 200] {
      let silent = Set((0..<count).map { key.handle(of: Self.notifier(UInt8($0))) })
      let value = SilentMailboxes(silent, under: key)
      sizes.append((value.bytes.count - 9) / 16 - 1)
      XCTAssertEqual(value, SilentMailboxes(silent, under: key), "made from the same, it is the same")
      for number in 0..<count {
        XCTAssertFalse(value.bytes.contains(Array(Self.notifier(UInt8(number)).prefix(8))), "\(number)")
      }
      XCTAssertFalse(value.bytes.contains([UInt8](repeating: 1, count: 8)))
      XCTAssertEqual(value.past(beside: silent, under: key), [], "what fills it up is none")
    }
    XCTAssertEqual(sizes, [64, 64, 64, 64, 128, 256])
  }

  /// Deleted mailboxes stay silent, a bounded number of them, and only under their token.
  func testWhatIsPastStaysSilent() throws {
    let key = try Self.key(1)
    let handles = [1, 2, 3].map { key.handle(of: Self.notifier($0)) }
    let before = SilentMailboxes(Set(handles), under: key)
    let past = before.past(beside: [handles[0]], under: key)
    XCTAssertEqual(past, Set(handles.dropFirst()))
    XCTAssertEqual(before.past(beside: [handles[0]], under: try Self.key(2)), [])
    let after = SilentMailboxes([handles[0]], past: past, under: key)
    XCTAssertEqual(after, before)
    let many = Set((0..<2_000).map { key.handle(of: withUnsafeBytes(of: Int64($0), Array.init) + Self.notifier(9)) })
    let bounded = SilentMailboxes(Set(handles), past: many, under: key)
    let kept = bounded.past(beside: Set(handles), under: key)
    XCTAssertEqual(kept.count, 1_024)
    XCTAssertTrue(kept.isSubset(of: many))
  }

  func testWhatIsNoSuchFileIsNotRead() throws {
    let ofNoToken = SilentMailboxes.ofNoToken
    XCTAssertEqual(SilentMailboxes(bytes: ofNoToken.bytes), ofNoToken)
    let good = SilentMailboxes([], under: try Self.key(1)).bytes
    XCTAssertNotNil(SilentMailboxes(bytes: good))
    for length in 0..<good.count { XCTAssertNil(SilentMailboxes(bytes: Array(good.prefix(length))), "\(length)") }
    XCTAssertNil(SilentMailboxes(bytes: good + [0]))
    XCTAssertNil(SilentMailboxes(bytes: good + [UInt8](repeating: 255, count: 16)), "65 are no power of two")
    var newer = good
    newer[8] = 2
    XCTAssertNil(SilentMailboxes(bytes: newer))
    let swapped = Array(good[..<25] + good[41..<57] + good[25..<41] + good[57...])
    XCTAssertNil(SilentMailboxes(bytes: swapped))
    XCTAssertNil(SilentMailboxes(bytes: Array(good[..<25] + good[25..<41] + good[25..<41] + good[57...])))
    forAll(Generator<[UInt8]>.bytes(0...2_000), runs: 500) { bytes in
      try expect(SilentMailboxes(bytes: bytes) == nil)
    }
  }
}

extension [UInt8] {
  fileprivate func contains(_ part: [UInt8]) -> Bool {
    guard count >= part.count else { return false }
    return (0...(count - part.count)).contains { Array(self[$0..<$0 + part.count]) == part }
  }
}
