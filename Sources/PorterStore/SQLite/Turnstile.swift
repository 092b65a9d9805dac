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
/// it, so that a process that is frozen inside holds nobody up, and without the file all goes on as SQLite does it. It
/// ends with the process, and is never held outside of the beginning of a transaction.
struct Turnstile: ~Copyable {
  /// Longer than a queue of a few commits; whoever waited so long goes on without.
  static let patience = Span.milliseconds(100)

  private let path: String
  private var descriptor: Int32 = -1
  private var isUsable = true

  init(beside path: String) { self.path = path + "-turn" }

  deinit { if descriptor >= 0 { Self.closeFile(descriptor) } }

  /// Calls `pause` with the number of the attempt until the turn has come; gives up when that answers false.
  mutating func enter(_ pause: (Int32) -> Bool) {
    guard isUsable else { return }
    if descriptor < 0 { descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600) }
    // A directory that is read-only has no writers either.
    guard descriptor >= 0 else { return isUsable = false }
    var attempt: Int32 = 0
    while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      guard errno == EWOULDBLOCK || errno == EINTR, pause(attempt) else { return }
      attempt += 1
    }
  }

  /// Lets the next one in; harmless when the turn had not come.
  func leave() {
    if descriptor >= 0 { flock(descriptor, LOCK_UN) }
  }

  /// Lets go of the file too.
  mutating func close() {
    guard descriptor >= 0 else { return }
    Self.closeFile(descriptor)
    descriptor = -1
  }

  #if canImport(Darwin)
    private static func closeFile(_ descriptor: Int32) { Darwin.close(descriptor) }
  #elseif canImport(Musl)
    private static func closeFile(_ descriptor: Int32) { Musl.close(descriptor) }
  #elseif canImport(Android)
    private static func closeFile(_ descriptor: Int32) { Android.close(descriptor) }
  #else
    private static func closeFile(_ descriptor: Int32) { Glibc.close(descriptor) }
  #endif
}
