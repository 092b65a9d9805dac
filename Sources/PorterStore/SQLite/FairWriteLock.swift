import PorterPlatform

/// Makes the writers of one file take turns.
///
/// SQLite's write lock goes to the first process that asks after it becomes free, and a process that commits without a
/// pause asks within microseconds: in a measurement, another process that tried every millisecond waited for a second.
/// So each writer takes this lock first, holds it while it waits for the write lock, and releases it once it has that.
/// A process that has just committed finds the next one already waiting inside, and queues behind it.
///
/// An advisory lock on an empty file beside the database. It provides fairness only: no writer waits long for it, and
/// one that has waited in vain does not wait again for a while, so a process frozen inside delays no other. Without the
/// file, writers compete as SQLite lets them. The lock ends with its process, and is held only while a transaction
/// begins.
struct FairWriteLock: ~Copyable {
  /// Longer than a queue of a few commits; a writer that has waited this long proceeds without its turn.
  static let patience = Span.milliseconds(100)
  /// How long to skip waiting after that, initially and at most. The time doubles with each such wait, and is reset
  /// once a turn has come.
  static let shortestPass = Span.seconds(5)
  static let longestPass = Span.seconds(80)

  private let path: String
  private let files: any Files
  private var file: OpenFile?
  private var isUsable = true
  private var pass = Self.shortestPass
  private var passesUntil: Moment?

  init(beside path: String, files: any Files) {
    self.path = path + "-turn"
    self.files = files
  }

  deinit { if let file { files.closeLockFile(file) } }

  /// Waits for its turn, for at most `patience` and `limit`. Calls `pause` with the attempt's number after each
  /// attempt, and gives up when it returns false.
  mutating func enter(_ clock: some Clock, limit: Span, _ pause: (Int32) -> Bool) {
    guard isUsable else { return }
    // A read-only directory has no writers either.
    guard let file = try? self.file ?? files.openLockFile(path, for: .writingOrCreating) else {
      return isUsable = false
    }
    self.file = file
    let start = clock.now()
    var attempt: Int32 = 0
    while true {
      guard let isTaken = try? files.lock(file, .exclusive) else { return }
      if isTaken { break }
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

  /// Lets the next writer in; harmless if the turn never came.
  func leave() {
    if let file { files.unlock(file) }
  }

  /// Also closes the file.
  mutating func close() {
    if let file { files.closeLockFile(file) }
    file = nil
  }
}
