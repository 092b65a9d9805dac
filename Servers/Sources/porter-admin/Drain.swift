#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Asks the process that serves a folder to finish, and waits for it to exit.
enum Drain {
  private static let programs = ["porter-relay", "porter-push"]

  /// The locks of a relay, a notification server, and a server that shares its state and has only a working file.
  private static let locks = ["lock", "server.db.lock", "server.db-work.lock"]

  static func run(_ folder: String, waitingAtMost seconds: Int) throws(Failure) {
    let present = locks.map { folder + "/" + $0 }.filter(exists)
    if present.isEmpty { _ = try DataFolder(folder) }
    guard let lock = try first(present, { (lock) throws(Failure) in try !isFree(lock) }) else {
      throw Failure("\(folder): no process serves this folder")
    }
    let holders = try ServingProcess.holders(of: lock).filter { programs.contains(ServingProcess.name($0)) }
    guard holders.count == 1 else {
      throw Failure("\(folder): what serves this folder is no porter-relay or porter-push of this system")
    }
    let process = "process \(holders[0])"
    guard kill(holders[0], SIGUSR1) == 0 else { throw Failure("\(process): \(systemError())") }
    put("draining \(process)\n", to: 1)
    let end = now() + seconds
    while try !isFree(lock) {
      guard now() < end else { throw Failure("\(process) has not ended within \(seconds) s; it continues to drain") }
      usleep(50_000)
    }
    put("ended\n", to: 1)
  }

  private static func first(
    _ locks: [String], _ isHeld: (String) throws(Failure) -> Bool
  ) throws(Failure) -> String? {
    for lock in locks where try isHeld(lock) { return lock }
    return nil
  }

  private static func isFree(_ path: String) throws(Failure) -> Bool {
    if !exists(path) { return true }
    guard let lock = try FolderLock(path, creating: false) else { return false }
    _ = consume lock
    return true
  }

  private static func now() -> Int {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return time.tv_sec
  }
}
