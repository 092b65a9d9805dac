import PorterCrypto
import PorterPlatform
import PropertyTesting
import XCTest

@testable import PorterStore

/// The channel's bytes, and which messages are accepted (INC-15).
final class ChannelMessageTests: XCTestCase {
  private let key = AuthenticationKey(stored: [UInt8](repeating: 7, count: 32))

  private static var addresses: Generator<ChannelAddress?> {
    both(Generator<ChannelAddress.Role>.element(of: ChannelAddress.Role.allCases), Generator<[UInt8]>.bytes(8...8))
      .map { role, tenancy in ChannelAddress(role: role, tenancy: tenancy) }
  }

  private static var instances: Generator<Instance> {
    all(Generator<Int32>.number(), Generator<Int64>.number(), Generator<[UInt8]>.bytes(0...12))
      .map { process, started, nonce in
        Instance(boot: "boot", process: process, started: started, nonce: nonce)
      }
  }

  private static var messages: Generator<ChannelMessage?> {
    let kinds = Generator<ChannelMessage.Kind>.element(of: ChannelMessage.Kind.allCases)
    let counters = both(Generator<UInt64>.number(), Generator<UInt64>.number())
    return all(both(kinds, instances), both(addresses, addresses), counters).map { parts, ends, counters in
      guard let from = ends.0, let to = ends.1 else { return nil }
      return ChannelMessage(parts.0, from: from, parts.1, to: to, counter: counters.0, answers: counters.1)
    }
  }

  func testWhatIsSealedIsOpened() throws {
    let key = try XCTUnwrap(key)
    forAll(Self.messages, runs: 500) { message in
      let message = try XCTUnwrap(message)
      let sealed = message.sealed(with: key)
      try expectEqual(sealed.count, ChannelMessage.count)
      try expectEqual(try ChannelMessage(opening: sealed, with: key, at: message.receiver), message)
    }
  }

  func testINC15AnyChangedByteIsRefused() throws {
    let key = try XCTUnwrap(key)
    let changes = both(Generator<Int>.number(0...(ChannelMessage.count - 1)), Generator<UInt8>.number(1...255))
    forAll(both(Self.messages, changes), runs: 2_000) { message, change in
      let message = try XCTUnwrap(message)
      var sealed = message.sealed(with: key)
      sealed[change.0] ^= change.1
      try expectThrows { _ = try ChannelMessage(opening: sealed, with: key, at: message.receiver) }
    }
  }

  func testINC15AnyOtherLengthIsRefused() throws {
    let key = try XCTUnwrap(key)
    forAll(both(Self.messages, Generator<Int>.number(0...(ChannelMessage.count + 40))), runs: 500) { message, count in
      try assume(count != ChannelMessage.count)
      let message = try XCTUnwrap(message)
      let sealed = Array((message.sealed(with: key) + [UInt8](repeating: 0, count: 60)).prefix(count))
      try expectThrows { _ = try ChannelMessage(opening: sealed, with: key, at: message.receiver) }
    }
  }

  /// Even garbage of the right length that begins like a message does not trap, and is never accepted.
  func testINC15GarbageIsRefused() throws {
    let key = try XCTUnwrap(key)
    let address = try XCTUnwrap(ChannelAddress(role: .app, tenancy: [UInt8](repeating: 1, count: 8)))
    let garbage = both(Generator<[UInt8]>.bytes(0...200), Generator<Bool>.flag)
    forAll(garbage, runs: 2_000) { bytes, looksRight in
      let tail = (bytes + [UInt8](repeating: 0, count: ChannelMessage.count)).prefix(ChannelMessage.count - 5)
      let datagram = looksRight ? Array("NPch".utf8) + [1] + tail : bytes
      try expectThrows { _ = try ChannelMessage(opening: datagram, with: key, at: address) }
    }
  }

  func testINC15AnotherStoresKeyAndAnotherReceiverAreRefused() throws {
    let key = try XCTUnwrap(key)
    let other = try XCTUnwrap(AuthenticationKey(stored: [UInt8](repeating: 8, count: 32)))
    forAll(both(Self.messages, Self.addresses), runs: 500) { message, elsewhere in
      let (message, elsewhere) = (try XCTUnwrap(message), try XCTUnwrap(elsewhere))
      let sealed = message.sealed(with: key)
      try expectThrows { _ = try ChannelMessage(opening: sealed, with: other, at: message.receiver) }
      try assume(elsewhere != message.receiver)
      try expectThrows { _ = try ChannelMessage(opening: sealed, with: key, at: elsewhere) }
    }
  }

  /// In any order and with any number of senders: each message is accepted at most once, and each sender's newest one
  /// is, if it is the newest of all.
  func testINC15NoMessageIsAdmittedTwice() throws {
    let sender = both(Generator<Int>.number(0...60), Generator<UInt64>.number(1...200))
    forAll(sender.array(0...300), runs: 300) { arrivals in
      var replays = ReplayGuard()
      var admitted: Set<[UInt64]> = []
      var newest: UInt64 = 0
      for (number, counter) in arrivals {
        let message = try XCTUnwrap(Self.message(from: number, counter: counter))
        if replays.admits(message) {
          try expect(admitted.insert([UInt64(number), counter]).inserted, "\(number) \(counter) came in twice")
        } else {
          try expect(counter <= newest, "\(number) \(counter) is newer than all, and was refused")
        }
        newest = max(newest, counter)
      }
    }
  }

  private static func message(from number: Int, counter: UInt64) -> ChannelMessage? {
    guard let sender = ChannelAddress(role: .extension, tenancy: [UInt8](repeating: UInt8(number), count: 8)),
      let receiver = ChannelAddress(role: .app, tenancy: [UInt8](repeating: 255, count: 8))
    else { return nil }
    let instance = Instance(boot: "boot", process: Int32(number), started: 0, nonce: [])
    return ChannelMessage(.changed, from: sender, instance, to: receiver, counter: counter)
  }

  func testNamesOfSocketsAreExact() throws {
    forAll(Self.addresses) { address in
      let address = try XCTUnwrap(address)
      try expectEqual(ChannelAddress(name: address.name), address)
      try expect(ChannelAddress(name: address.name.uppercased()) == nil)
      try expect(ChannelAddress(name: address.name + "0") == nil)
      try expect(ChannelAddress(name: "../" + address.name) == nil)
    }
    forAll(Generator<String>.text(0...30)) { text in
      if let address = ChannelAddress(name: text) { try expectEqual(address.name, text) }
    }
  }

  /// The example in spec/protocol/channel.md, byte by byte.
  func testExampleInTheProtocolsPage() throws {
    let key = try XCTUnwrap(AuthenticationKey(stored: (0..<32).map { UInt8($0) }))
    let app = try XCTUnwrap(ChannelAddress(name: "a0102030405060708"))
    let notifier = try XCTUnwrap(ChannelAddress(name: "e1112131415161718"))
    let instance = Instance(
      boot: "11111111-2222-3333-4444-555555555555", process: 4711, started: 123_456,
      nonce: [0xa0, 0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7])
    let message = ChannelMessage(.yield, from: app, instance, to: notifier, counter: 1_000_000_007)
    let page = try String(contentsOfFile: Self.page, encoding: .utf8)
    let written = page.split(separator: "\n").filter { $0.hasPrefix("    4e50") || $0.hasPrefix("    .. ") }
      .map { $0.replacing("..", with: "").replacing(" ", with: "") }.joined()
    XCTAssertEqual(written, TextEncoding.hex(message.sealed(with: key)))
  }

  private static var page: String {
    #filePath.split(separator: "/").dropLast(3).reduce("") { $0 + "/" + $1 } + "/spec/protocol/channel.md"
  }
}
