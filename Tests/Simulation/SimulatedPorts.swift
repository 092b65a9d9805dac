import CSystemCalls
import Foundation
import PorterPlatform
import Synchronization

/// A clock that a simulation advances. Its pauses return immediately.
final class SimulatedClock: Clock {
  private static let start = Int64(1_000_000_000_000)
  /// 2026-01-01T00:00:00Z
  private static let wallStart = Int64(1_767_225_600_000)

  private let time = Mutex(SimulatedClock.start)
  private let readings = Atomic<Int>(0)
  private let pausings = Atomic<Int>(0)
  private let atNextPause = Mutex<(@Sendable () -> Void)?>(nil)

  /// The number of times the clock was read.
  var count: Int { readings.load(ordering: .relaxed) }
  /// Since the start of the simulation; reading this does not count.
  var elapsed: Span { Span(nanoseconds: time.withLock { $0 } - Self.start) }

  func now() -> Moment {
    readings.add(1, ordering: .relaxed)
    return Moment(nanoseconds: time.withLock { $0 })
  }

  func wall() -> WallTime {
    readings.add(1, ordering: .relaxed)
    return WallTime(milliseconds: Self.wallStart + elapsed.milliseconds)
  }

  /// The number of pauses requested.
  var pauses: Int { pausings.load(ordering: .relaxed) }

  /// Runs the work once, at the next pause: on a busy engine, in the middle of its turn.
  func atNextPause(_ work: @escaping @Sendable () -> Void) { atNextPause.withLock { $0 = work } }

  func pause(_ span: Span) {
    pausings.add(1, ordering: .relaxed)
    advance(by: max(.zero, span))
    let work = atNextPause.withLock { work in
      defer { work = nil }
      return work
    }
    work?()
  }

  func advance(by span: Span) { time.withLock { $0 += span.nanoseconds } }
  func advance(to moment: Moment) { time.withLock { $0 = max($0, moment.nanoseconds) } }
}

/// SplitMix64, from a seed and a name, so that each participant draws from its own sequence.
final class SeededRandomness: Randomness {
  private let state: Mutex<UInt64>

  init(seed: UInt64, name: String) {
    // FNV-1a: the standard library's hash varies between processes.
    let hash = name.utf8.reduce(seed ^ 0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    state = Mutex(hash)
  }

  func bytes(_ count: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    while bytes.count < count { withUnsafeBytes(of: number()) { bytes.append(contentsOf: $0) } }
    return Array(bytes.prefix(count))
  }

  func number() -> UInt64 {
    state.withLock { state in
      state &+= 0x9e37_79b9_7f4a_7c15
      var value = state
      value = (value ^ (value >> 30)) &* 0xbf58_476d_1ce4_e5b9
      value = (value ^ (value >> 27)) &* 0x94d0_49bb_1331_11eb
      return value ^ (value >> 31)
    }
  }

  /// Below `bound`.
  func number(below bound: Int) -> Int { Int(number() % UInt64(bound)) }
}

/// The datagram sockets of a device, in memory.
final class SimulatedSockets: Datagrams {
  /// Above the numbers that the system assigns.
  private static let first = Int32(1_000_000)

  private struct State {
    var next = first
    var addresses: [DatagramAddress: (end: Int32, made: Int64)] = [:]
    var waiting: [Int32: [[UInt8]]] = [:]
  }

  /// As many as a Linux socket holds.
  private static let capacity = 10
  private let state = Mutex(State())
  private let clock: SimulatedClock

  init(clock: SimulatedClock) { self.clock = clock }

  func open() throws(SystemError) -> DatagramEnd {
    state.withLock { state in
      state.next += 1
      state.waiting[state.next] = []
      return DatagramEnd(descriptor: state.next)
    }
  }

  func close(_ end: DatagramEnd) { state.withLock { $0.waiting[end.descriptor] = nil } }

  func bind(_ end: DatagramEnd, to address: DatagramAddress) throws(SystemError) {
    let made = clock.wall().seconds
    let isFree = state.withLock { state in
      guard state.addresses[address] == nil else { return false }
      state.addresses[address] = (end.descriptor, made)
      return true
    }
    guard isFree else { throw SystemError(EADDRINUSE) }
  }

  func isAbandoned(_ address: DatagramAddress) -> Bool {
    state.withLock { state in state.addresses[address].map { state.waiting[$0.end] == nil } ?? true }
  }

  func send(_ bytes: [UInt8], through end: DatagramEnd, to address: DatagramAddress) -> DatagramOutcome {
    state.withLock { state in
      guard let receiver = state.addresses[address]?.end, let count = state.waiting[receiver]?.count else {
        return .gone
      }
      if count < Self.capacity { state.waiting[receiver]?.append(bytes) }
      return .posted
    }
  }

  func receive(from end: DatagramEnd, limit: Int) -> [UInt8]? {
    state.withLock { state in
      guard let first = state.waiting[end.descriptor]?.first else { return nil }
      state.waiting[end.descriptor]?.removeFirst()
      return Array(first.prefix(limit))
    }
  }

  func isReadable(_ descriptor: Int32) -> Bool { state.withLock { $0.waiting[descriptor]?.isEmpty == false } }

  /// The number of ends so far.
  var opened: Int { state.withLock { Int($0.next - Self.first) } }

  /// No end is open, and no address taken.
  var isEmpty: Bool { state.withLock { $0.waiting.isEmpty && $0.addresses.isEmpty } }

  // MARK: As directory entries

  func status(of path: String) -> FileStatus? {
    state.withLock { state in
      state.addresses.first { $0.key.path == path }.map {
        FileStatus(
          kind: .socket, device: 0, inode: UInt64($0.value.end), size: 0, links: 1, owner: geteuid(),
          permissions: 0o700,
          modified: $0.value.made)
      }
    }
  }

  func remove(_ path: String) -> Bool {
    state.withLock { state in
      guard let address = state.addresses.keys.first(where: { $0.path == path }) else { return false }
      state.addresses[address] = nil
      return true
    }
  }

  func names(in directory: String) -> [String] {
    state.withLock { $0.addresses.keys.filter { $0.directory == directory }.map(\.name).sorted() }
  }
}

/// The system's files, including the simulated sockets, with times from the simulated clock.
final class SimulatedFiles: Files {
  private let real = SystemFiles()
  private let sockets: SimulatedSockets
  private let uses = Atomic<Int>(0)
  private let attempts = Atomic<Int>(0)

  var count: Int { uses.load(ordering: .relaxed) }
  /// The number of lock attempts. Each beginning of a write transaction asks for its turn.
  var lockAttempts: Int { attempts.load(ordering: .relaxed) }

  init(sockets: SimulatedSockets) { self.sockets = sockets }

  /// Everything in the body goes through the port.
  private func port<Result, Failure: Error>(_ body: (SystemFiles) throws(Failure) -> Result) throws(Failure) -> Result {
    system_calls_enter_port()
    defer { system_calls_leave_port() }
    return try body(real)
  }

  func open(_ path: String, for opening: FileOpening) throws(SystemError) -> OpenFile {
    uses.add(1, ordering: .relaxed)
    return try port { (real) throws(SystemError) in try real.open(path, for: opening) }
  }

  func close(_ file: OpenFile) { port { $0.close(file) } }
  func lock(_ file: OpenFile, _ kind: FileLockKind) throws(SystemError) -> Bool {
    attempts.add(1, ordering: .relaxed)
    return try port { (real) throws(SystemError) in try real.lock(file, kind) }
  }
  func unlock(_ file: OpenFile) { port { $0.unlock(file) } }
  func status(of file: OpenFile) throws(SystemError) -> FileStatus {
    timeless(try port { (real) throws(SystemError) in try real.status(of: file) })
  }

  func status(at path: String, followingLinks: Bool) throws(SystemError) -> FileStatus {
    if let socket = sockets.status(of: path) { return socket }
    return timeless(
      try port { (real) throws(SystemError) in try real.status(at: path, followingLinks: followingLinks) })
  }

  private func timeless(_ status: FileStatus) -> FileStatus {
    var status = status
    status.modified = 0
    return status
  }

  func absolutePath(_ path: String) -> String { port { $0.absolutePath(path) } }
  func canonicalPath(_ path: String) throws(SystemError) -> String {
    try port { (real) throws(SystemError) in try real.canonicalPath(path) }
  }
  func read(_ file: OpenFile, limit: Int) throws(SystemError) -> [UInt8] {
    try port { (real) throws(SystemError) in try real.read(file, limit: limit) }
  }
  func write(_ bytes: [UInt8], to file: OpenFile) throws(SystemError) {
    try port { (real) throws(SystemError) in try real.write(bytes, to: file) }
  }
  func copyAttributes(of path: String, to file: OpenFile) throws(SystemError) {
    try port { (real) throws(SystemError) in try real.copyAttributes(of: path, to: file) }
  }
  func synchronize(_ path: String) throws(SystemError) {
    try port { (real) throws(SystemError) in try real.synchronize(path) }
  }
  func synchronizeContents(of path: String) throws(SystemError) {
    try port { (real) throws(SystemError) in try real.synchronizeContents(of: path) }
  }
  func rename(_ path: String, to destination: String) throws(SystemError) {
    try port { (real) throws(SystemError) in try real.rename(path, to: destination) }
  }

  func remove(_ path: String) throws(SystemError) {
    guard !sockets.remove(path) else { return }
    try port { (real) throws(SystemError) in try real.remove(path) }
  }

  func makeDirectory(_ path: String) throws(SystemError) {
    try port { (real) throws(SystemError) in try real.makeDirectory(path) }
  }

  func forEachEntry(of directory: String, _ body: (String) -> Bool) {
    var names = sockets.names(in: directory)
    port { real in
      real.forEachEntry(of: directory) { name in
        names.append(name)
        return true
      }
    }
    for name in names.sorted() where !body(name) { return }
  }
}

/// The generators that C libraries keep for the whole process: libsodium's, from which the sealed store draws its
/// nonces, and SQLite's, from which the logs' salts come.
enum SimulatedLibraries {
  private static let source = Mutex<SeededRandomness?>(nil)

  static func begin(seed: UInt64) {
    source.withLock { $0 = SeededRandomness(seed: seed, name: "sodium") }
    system_calls_sqlite(Int32(truncatingIfNeeded: seed % 1_000_000) + 1)
    system_calls_sodium { bytes, count in
      guard let bytes else { return }
      let drawn = SimulatedLibraries.source.withLock { $0?.bytes(count) } ?? []
      UnsafeMutableRawBufferPointer(start: bytes, count: count).copyBytes(from: drawn)
    }
  }

  static func end() {
    system_calls_sodium(nil)
    system_calls_sqlite(0)
    source.withLock { $0 = nil }
  }
}
