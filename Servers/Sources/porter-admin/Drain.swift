#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Asks the process that serves a folder to finish, and waits for its end.
enum Drain {
  private static let programs = ["porter-relay", "porter-push"]

  static func run(_ folder: DataFolder, waitingAtMost seconds: Int) throws(Failure) {
    if try isFree(folder) { throw Failure("\(folder.path): no process serves this folder") }
    let holders = try ServingProcess.holders(of: folder.lock).filter { programs.contains(ServingProcess.name($0)) }
    guard holders.count == 1 else {
      throw Failure("\(folder.path): what serves this folder is no porter-relay or porter-push of this system")
    }
    let process = "process \(holders[0])"
    guard kill(holders[0], SIGUSR1) == 0 else { throw Failure("\(process): \(systemError())") }
    put("draining \(process)\n", to: 1)
    let end = now() + seconds
    while try !isFree(folder) {
      guard now() < end else { throw Failure("\(process) has not ended within \(seconds) s; it continues to drain") }
      usleep(50_000)
    }
    put("ended\n", to: 1)
  }

  private static func isFree(_ folder: DataFolder) throws(Failure) -> Bool {
    if !exists(folder.lock) { return true }
    guard let lock = try FolderLock(folder.lock, creating: false) else { return false }
    _ = consume lock
    return true
  }

  private static func now() -> Int {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return time.tv_sec
  }
}
