import Synchronization

/// The versions of a stream's records stored within the last seconds, as delivered by a consumer: in order, without
/// gaps.
///
/// A relay that has stored a version looks here for an earlier replacement of the same record. It could also ask the
/// leader, which scans all messages in between to answer (`JetStream+Records`).
final class RecentVersions: Sendable {
  struct Version: Sendable, Equatable {
    var number: UInt64
    /// 0 if it replaces none.
    var replaced: UInt64
    /// The process that stored it.
    var writer: String
  }

  private typealias Continuation = UnsafeContinuation<Bool, Never>

  private struct Place {
    let subject: String
    let number: UInt64
    let at: ContinuousClock.Instant
  }

  private struct Waiter {
    let number: UInt64
    let deadline: ContinuousClock.Instant
    let continuation: Continuation
  }

  private struct State {
    /// All versions with higher numbers, up to `last`, are known. Nil while none are.
    var from: UInt64?
    var last: UInt64 = 0
    var versions: [String: [Version]] = [:]
    /// Ordered by number; those before `first` are forgotten.
    var places: [Place] = []
    var first = 0
    /// Ordered by number.
    var waiters: [Waiter] = []
    var isWatched = false
    /// Up to this number it took too long, so questions do not wait.
    var late: UInt64 = 0
  }

  /// Replacements are looked up at most six seconds back (`SettledNumbers`).
  private static let span = Duration.seconds(10)
  private static let watch = Duration.milliseconds(10)

  /// A consumer delivers a message right when it is acknowledged, or lags behind.
  private let patience: Duration
  private let most: Int
  private let state = Mutex(State())

  init(patience: Duration, most: Int = 131_072) { (self.patience, self.most) = (patience, most) }

  /// The number of known versions.
  var count: Int { state.withLock { $0.places.count - $0.first } }
  /// The number of questions waiting for a message.
  var waiting: Int { state.withLock { $0.waiters.count } }

  /// Takes the stream's next message, and the version it holds; nil if it is not a version.
  func note(_ number: UInt64, _ subject: String, _ version: Version?, now: ContinuousClock.Instant = .now) {
    // Numbers that come again are of another stream.
    if number <= last { reset() }
    let reached = state.withLock { state -> [Continuation] in
      // A message deleted before delivery may have been a version.
      if state.from == nil || number != state.last + 1 { state.from = number - 1 }
      state.last = number
      if let version {
        state.versions[subject, default: []].append(version)
        state.places.append(Place(subject: subject, number: number, at: now))
      }
      forgetOldest(&state, now)
      return Self.take(&state) { $0.number <= number }
    }
    for continuation in reached { continuation.resume(returning: true) }
  }

  private func forgetOldest(_ state: inout State, _ now: ContinuousClock.Instant) {
    while state.first < state.places.count {
      let place = state.places[state.first]
      guard now - place.at > Self.span || state.places.count - state.first > most else { break }
      state.versions[place.subject]?.removeAll { $0.number <= place.number }
      if state.versions[place.subject]?.isEmpty ?? false { state.versions[place.subject] = nil }
      state.from = max(state.from ?? 0, place.number)
      state.first += 1
    }
    guard state.first > most / 2 else { return }
    state.places.removeFirst(state.first)
    state.first = 0
  }

  /// Removes waiters from the front.
  private static func take(_ state: inout State, while isTaken: (Waiter) -> Bool) -> [Continuation] {
    guard let first = state.waiters.first, isTaken(first) else { return [] }
    let taken = state.waiters.prefix(while: isTaken)
    state.waiters.removeFirst(taken.count)
    return taken.map(\.continuation)
  }

  /// Something may have been left out, or undone: knowledge starts anew with the next message.
  func reset() {
    let waiters = state.withLock { state in
      let waiters = state.waiters.map(\.continuation)
      let isWatched = state.isWatched
      state = State()
      state.isWatched = isWatched
      return waiters
    }
    for waiter in waiters { waiter.resume(returning: false) }
  }

  /// Whether that version of the subject is present, and no other one after `start` and before it. False if unknown.
  /// `writer`: nil if the caller read the version from the stream's leader.
  func isOnly(
    _ number: UInt64, of subject: String, replacing replaced: UInt64, by writer: String?, after start: UInt64
  ) async -> Bool {
    guard await reach(number, from: start) else { return false }
    return isOnlyNoted(number, of: subject, replacing: replaced, by: writer, after: start)
  }

  /// The same, for a version that is noted.
  func isOnlyNoted(
    _ number: UInt64, of subject: String, replacing replaced: UInt64, by writer: String?, after start: UInt64
  ) -> Bool {
    state.withLock { state in
      guard Self.covers(state, start) else { return false }
      let between = state.versions[subject]?.filter { $0.number > start && $0.number <= number } ?? []
      guard between.count == 1, let only = between.first else { return false }
      return only.number == number && only.replaced == replaced && writer.map { $0 == only.writer } ?? true
    }
  }

  /// The last message noted; 0 if none.
  var last: UInt64 { state.withLock { $0.last } }

  /// Whether that process has stored no version of the subject after `start`, up to `end`. False if unknown.
  func hasNone(of subject: String, by writer: String, after start: UInt64, upTo end: UInt64) async -> Bool {
    guard await reach(end, from: start) else { return false }
    return state.withLock { state in
      guard Self.covers(state, start) else { return false }
      return state.versions[subject]?.contains { $0.number > start && $0.number <= end && $0.writer == writer } != true
    }
  }

  private static func covers(_ state: State, _ start: UInt64) -> Bool { state.from.map { $0 <= start } ?? false }

  /// Whether that message, and everything after `start`, is noted now.
  func hasReached(_ number: UInt64, from start: UInt64) -> Bool {
    state.withLock { Self.covers($0, start) && $0.last >= number }
  }

  /// Returns once that message is noted, or has not come in time; false also if what came after `start` is unknown.
  func reach(_ number: UInt64, from start: UInt64) async -> Bool {
    await withUnsafeContinuation { continuation in
      let (known, isWatching) = state.withLock { state -> (Bool?, Bool) in
        guard Self.covers(state, start) else { return (false, false) }
        guard state.last < number else { return (true, false) }
        guard state.last >= state.late else { return (false, false) }
        let waiter = Waiter(number: number, deadline: .now + patience, continuation: continuation)
        state.waiters.insert(waiter, at: (state.waiters.lastIndex { $0.number <= number }.map { $0 + 1 }) ?? 0)
        defer { state.isWatched = true }
        return (nil, !state.isWatched)
      }
      if let known { return continuation.resume(returning: known) }
      if isWatching { watchWaiters() }
    }
  }

  /// Runs until there are no waiters.
  private func watchWaiters() {
    Task.detached { [self] in
      while true {
        try? await Task.sleep(for: Self.watch)
        let (expired, isDone) = state.withLock { state in
          let now = ContinuousClock.now
          let expired = state.waiters.filter { $0.deadline <= now }
          state.waiters.removeAll { $0.deadline <= now }
          if let last = expired.last { state.late = max(state.late, last.number) }
          state.isWatched = !state.waiters.isEmpty
          return (expired.map(\.continuation), !state.isWatched)
        }
        for continuation in expired { continuation.resume(returning: false) }
        if isDone { return }
      }
    }
  }
}
