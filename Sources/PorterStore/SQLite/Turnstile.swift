import PorterPlatform

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// Lets the writers of one file take turns.
///
/// SQLite's write lock goes to whoever asks first after it became free, and a process that commits without a pause asks
/// within microseconds: another one that looks every millisecond waited for a second, in a measurement. So each writer
/// passes through here first, holds it while it waits for the write lock, and lets go once it has that: who has just
/// committed finds the next one waiting inside, and stays behind it.
///
/// An advisory lock (`flock`) on an empty file beside the database. It is about fairness alone: nobody waits long for
/// it, and who has waited in vain does not wait again for a while, so that a process that is frozen inside holds nobody
/// up. Without the file all goes on as SQLite does it. It ends with the process, and is never held outside of the
/// beginning of a transaction.
struct Turnstile: ~Copyable {
  /// Longer than a queue of a few commits; whoever waited so long goes on without.
  static let patience = Span.milliseconds(100)
  /// For how long nobody is waited for after that: at first, and at most. It doubles with each time in vain, and begins
  /// anew when a turn has come.
  static let shortestPass = Span.seconds(5)
  static let longestPass = Span.seconds(80)

  private let path: String
  private var descriptor: Int32 = -1
  private var isUsable = true
  private var pass = Self.shortestPass
  private var passesUntil: Moment?

  init(beside path: String) { self.path = path + "-turn" }

  deinit { if descriptor >= 0 { LockFile.close(descriptor) } }

  /// Waits until the turn has come, for at most `patience` and `limit`. Calls `pause` with the number of the attempt
  /// between one look and the next, and gives up when that answers false.
  mutating func enter(_ clock: some Clock, limit: Span, _ pause: (Int32) -> Bool) {
    guard isUsable else { return }
    if descriptor < 0 { descriptor = LockFile.open(path, O_RDWR | O_CREAT) }
    // A directory that is read-only has no writers either.
    guard descriptor >= 0 else { return isUsable = false }
    let start = clock.now()
    var attempt: Int32 = 0
    while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      guard errno == EWOULDBLOCK || errno == EINTR else { return }
      if let passesUntil, start < passesUntil { return }
      let waited = clock.now() - start
      if waited >= Self.patience { return waitedInVain(clock.now()) }
      guard waited < limit, pause(attempt) else { return }
      attempt += 1
    }
    (pass, passesUntil) = (Self.shortestPass, nil)
  }

  private mutating func waitedInVain(_ now: Moment) {
    passesUntil = now + pass
    pass = min(pass + pass, Self.longestPass)
  }

  /// Lets the next one in; harmless when the turn had not come.
  func leave() {
    if descriptor >= 0 { flock(descriptor, LOCK_UN) }
  }

  /// Lets go of the file too.
  mutating func close() {
    guard descriptor >= 0 else { return }
    LockFile.close(descriptor)
    descriptor = -1
  }
}
