#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// The places at which a test kills the process, to see that what it leaves behind is whole.
///
/// Debug builds only: `PORTER_HALT_AT=afterCommit` ends the process there by SIGKILL, as a system under memory pressure
/// would.
enum FaultPoint: String {
  case beforeFetch, afterFetch, afterCommit, beforeAcknowledge

  #if DEBUG
    private static let wanted = getenv("PORTER_HALT_AT").map { String(cString: $0) }
  #endif

  @inline(__always)
  static func reach(_ point: FaultPoint) {
    #if DEBUG
      if let wanted, wanted == point.rawValue { kill(getpid(), SIGKILL) }
    #endif
  }
}
