import PorterStore
import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// The points at which a test kills or freezes the process, to check that it leaves everything intact.
///
/// Debug builds only: `PORTER_HALT_AT=afterCommit` kills the process there with SIGKILL, as a system under memory
/// pressure would. `PORTER_STOP_AT=afterFetch` freezes it there with SIGSTOP, as a system does with processes that are
/// not on screen; with `afterFetch:/some/file` only if that file exists; the file is then removed, so that it happens
/// once. With `PORTER_HALT_WITH_PUSHES=2` the process is killed only while at least that many pushes are in progress.
/// `PORTER_WAIT_AT=beforeFetch:/some/file` makes it wait there until that file exists.
enum FaultPoint: String {
  case beforeFetch, afterFetch, insideCommit, afterCommit, beforeAcknowledge, afterAcknowledge, shownRecorded
  case beforeJoin, afterTokenAnswer
  case beforeSend, afterSend
  case responseKept, responseBegun, insideResponse, responseEnded
  case modeAsked, insideMode, modeStored, notifierAsked, notifierAnswered, subscriptionAnswered
  case insideAddressDeletion, addressDeleted, insideProfileDeletion, profileDeleted, mailboxDeleted, serverRequestSent,
    silenceWritten, openingWritten,
    openingNamed, takenForgotten

  #if DEBUG
    // raise(3) rather than kill(2): a signal to the process may reach another thread first, and this one would run on
    // briefly.
    private static let wanted = getenv("PORTER_HALT_AT").map { String(cString: $0) }
    private static let wantedPushes = getenv("PORTER_HALT_WITH_PUSHES").flatMap { Int(String(cString: $0)) } ?? 0
    private static let pushes = Atomic<Int>(0)
    private static let stopping = parts(of: "PORTER_STOP_AT")
    private static let waiting = parts(of: "PORTER_WAIT_AT")

    private static func parts(of variable: String) -> [String]? {
      getenv(variable).map { String(cString: $0).split(separator: ":", maxSplits: 1).map(String.init) }
    }
  #endif

  /// Sets the number of pushes in progress.
  @inline(__always)
  static func note(pushes count: Int) {
    #if DEBUG
      pushes.store(count, ordering: .relaxed)
    #endif
  }

  @inline(__always)
  static func reach(_ point: FaultPoint) {
    #if DEBUG
      if let wanted, wanted == point.rawValue, pushes.load(ordering: .relaxed) >= wantedPushes { raise(SIGKILL) }
      if let stopping, stopping.first == point.rawValue, stopping.count == 1 || unlink(stopping[1]) == 0 {
        raise(SIGSTOP)
      }
      if let waiting, waiting.first == point.rawValue, let file = waiting.last {
        while access(file, F_OK) != 0 { usleep(1_000) }
      }
    #endif
  }

  /// `PORTER_HALT_AT=rekey-copied` and so on.
  @inline(__always)
  static func reach(_ stage: Rekeying.Stage) {
    #if DEBUG
      if let wanted, wanted == "rekey-\(stage.rawValue)" { kill(getpid(), SIGKILL) }
    #endif
  }
}
