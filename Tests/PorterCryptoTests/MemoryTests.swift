#if os(Linux)
  import Foundation
  import PorterPlatform
  import XCTest

  @testable import PorterCrypto

  /// Searches this process's own memory for freed keys: wiped bytes are nowhere, wherever a copy might have been made.
  final class MemoryTests: XCTestCase {
    func testASecretIsInMemoryOnlyDuringItsLifetime() throws {
      // The longer one has a size that nothing else allocates, so that no later allocation hides what is left.
      for length in [32, 900] {
        let trace = Trace(length: length)
        var secret: SecretBytes? = try SecretBytes.random(length, randomness: trace)
        XCTAssertEqual(try trace.occurrences(), 4)
        withExtendedLifetime(secret) {}
        secret = nil
        XCTAssertEqual(try trace.occurrences(), 0)
      }
    }

    func testAnExposedSecretStaysBecauseItsCopyIsNotWiped() throws {
      let trace = Trace()
      let copy = try SecretBytes.random(32, randomness: trace).exposeForStorage()
      XCTAssertEqual(try trace.occurrences(), 4)
      withExtendedLifetime(copy) {}
    }

    func testABoxKeyLeavesNothing() throws {
      let trace = Trace()
      let other = try BoxKeyPair.generate(randomness: SystemRandomness())
      try use {
        let pair = try BoxKeyPair.generate(randomness: trace)
        let shared = try pair.secretKey.agree(with: other.publicKey)
        let sharedTrace = Trace(shared.key)
        let nonce = try BoxNonce.generate(randomness: SystemRandomness())
        XCTAssertEqual(try shared.open(try shared.seal([1, 2], nonce: nonce), nonce: nonce), [1, 2])
        XCTAssertGreaterThanOrEqual(try trace.occurrences(), 4)
        XCTAssertGreaterThanOrEqual(try sharedTrace.occurrences(), 4)
        return [trace, sharedTrace]
      }
    }

    func testASigningKeyLeavesNothing() throws {
      let trace = Trace()
      try use {
        let pair = try SigningKeyPair.generate(randomness: trace)
        XCTAssertTrue(pair.publicKey.isValid(signature: pair.sign([1]), for: [1]))
        XCTAssertGreaterThanOrEqual(try trace.occurrences(), 4)
        return [trace]
      }
    }

    /// Forward secrecy in memory: after a step, the previous keys are gone, so that reading the process's memory later
    /// reveals no earlier message.
    func testKeysOfARatchetBeforeAStepAreGoneAfterIt() throws {
      var pair = try Pair()
      _ = try pair.inviterReceives(try pair.joinerSends("1"))
      _ = try pair.joinerReceives(try pair.inviterSends("2"))
      let traces = try pair.inviter.traces()
      XCTAssertEqual(traces.count, 4)
      for trace in traces { XCTAssertGreaterThanOrEqual(try trace.occurrences(), 4) }
      let message = try pair.joinerSends("3")
      // The other side rightly still has one of these keys, and is in this process too.
      pair.joiner = try Pair().joiner
      _ = try pair.inviterReceives(message)
      for (index, trace) in traces.enumerated() { XCTAssertEqual(try trace.occurrences(), 0, "key \(index)") }
    }

    func testStoringARatchetLeavesNoCopy() throws {
      var pair = try Pair()
      _ = try pair.inviterReceives(try pair.joinerSends("1"))
      pair.joiner = try Pair().joiner
      for trace in try pair.inviter.traces() {
        XCTAssertEqual(try trace.occurrences(), 4)
        let stored = pair.inviter.serialized()
        XCTAssertEqual(try trace.occurrences(), 8)
        withExtendedLifetime(stored) {}
      }
    }

    func testTheKeyOfALateMessageIsWipedAfterUse() throws {
      var pair = try Pair()
      let late = try pair.joinerSends("late")
      _ = try pair.inviterReceives(try pair.joinerSends("first"))
      let trace = Trace(try XCTUnwrap(pair.inviter.skippedKeys.first).messageKey)
      XCTAssertEqual(try trace.occurrences(), 4)
      XCTAssertEqual(try pair.inviterReceives(late), "late")
      XCTAssertEqual(try trace.occurrences(), 0)
    }

    /// Runs `body`, whose locals are gone when it returns, then searches for what it left.
    @inline(never)
    private func use(line: UInt = #line, _ body: () throws -> [Trace]) throws {
      for trace in try body() { XCTAssertEqual(try trace.occurrences(), 0, line: line) }
    }
  }

  /// A secret to search for, kept inverted so that the search does not find it here. As a source of randomness, it
  /// returns the secret.
  ///
  /// The search is for eight bytes of each quarter: memory freed without being wiped is soon partly overwritten by the
  /// allocator or its next owner, but what remains is still a leak.
  private final class Trace: Randomness {
    private static let quarter = 8
    private let inverted: [UInt8]

    init(length: Int = 32) { inverted = SystemRandomness().bytes(length) }

    init(_ secret: SecretBytes) { inverted = secret.withExposedBytes { bytes in bytes.map { ~$0 } } }

    func bytes(_ count: Int) -> [UInt8] { inverted.prefix(count).map { ~$0 } }

    /// The number of quarters of the secret in this process's writable memory, in all places together; four for each
    /// whole copy.
    func occurrences() throws -> Int {
      let window = try Window()
      var found = 0
      for range in try Self.writableRanges().flatMap({ window.withoutItself($0) }) {
        var start = range.lowerBound
        while start < range.upperBound {
          let count = window.load(from: start, count: min(Window.size, range.upperBound - start))
          guard count >= Self.quarter else { break }
          found += occurrences(in: window.bytes, count: count)
          start += count - (start + count < range.upperBound ? Self.quarter - 1 : 0)
        }
      }
      return found
    }

    private func occurrences(in bytes: UnsafePointer<UInt8>, count: Int) -> Int {
      stride(from: 0, to: inverted.count, by: inverted.count / 4).reduce(0) { found, start in
        found + occurrences(ofQuarterAt: start, in: bytes, count: count)
      }
    }

    private func occurrences(ofQuarterAt start: Int, in bytes: UnsafePointer<UInt8>, count: Int) -> Int {
      let wanted = inverted.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: start, as: UInt64.self) }
      var found = 0
      var offset = 0
      while offset + Self.quarter <= count, let hit = memchr(bytes + offset, Int32(~inverted[start]), count - offset) {
        offset = UnsafePointer<UInt8>(hit.assumingMemoryBound(to: UInt8.self)) - bytes
        if offset + Self.quarter <= count, ~UnsafeRawPointer(hit).loadUnaligned(as: UInt64.self) == wanted {
          found += 1
        }
        offset += 1
      }
      return found
    }

    private static func writableRanges() throws -> [Range<Int>] {
      try String(contentsOfFile: "/proc/self/maps", encoding: .utf8).split(separator: "\n").compactMap { line in
        let fields = line.split(separator: " ", maxSplits: 2)
        let ends = fields[0].split(separator: "-").compactMap { Int($0, radix: 16) }
        return fields[1].hasPrefix("rw") && ends.count == 2 ? ends[0]..<ends[1] : nil
      }
    }
  }

  /// A buffer in its own mapping, through which the kernel reads memory, so that an unmapped page does not crash.
  private final class Window {
    static let size = 1 << 20
    let bytes: UnsafePointer<UInt8>
    private let mapping: UnsafeMutableRawPointer
    private let memory: Int32

    init() throws {
      memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC)
      guard memory >= 0, let mapped = mmap(nil, Self.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
        mapped != MAP_FAILED
      else { throw POSIXError(.ENOMEM) }
      mapping = mapped
      bytes = UnsafePointer(mapped.assumingMemoryBound(to: UInt8.self))
    }

    deinit {
      munmap(mapping, Self.size)
      close(memory)
    }

    /// 0 where nothing can be read.
    func load(from address: Int, count: Int) -> Int { max(0, pread(memory, mapping, count, off_t(address))) }

    /// The kernel may list neighbouring mappings as one.
    func withoutItself(_ range: Range<Int>) -> [Range<Int>] {
      let start = Int(bitPattern: mapping)
      let own = (start..<start + Self.size).clamped(to: range)
      return own.isEmpty ? [range] : [range.lowerBound..<own.lowerBound, own.upperBound..<range.upperBound]
    }
  }

  extension Ratchet {
    fileprivate func traces() throws -> [Trace] {
      guard case .established(_, let sending, let receiving) = conversation else { return [] }
      return [Trace(rootKey), Trace(sending.key), Trace(receiving.key), Trace(ownKeys.secretKey.scalar)]
    }
  }
#endif
