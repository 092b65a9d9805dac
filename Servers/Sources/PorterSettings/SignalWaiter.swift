#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The signals an operator sends, taken one at a time by the main thread, so that no code runs inside a handler. Create
/// it before any thread starts: threads inherit the blocked signals.
public struct SignalWaiter: Sendable {
  public enum Order: Equatable {
    case reload
    /// Finish work that has begun, accept nothing new, then end.
    case drain
    case stop
  }

  private var signals = sigset_t()

  public init() {
    _ = signal(SIGPIPE, SIG_IGN)
    sigemptyset(&signals)
    for number in [SIGTERM, SIGINT, SIGHUP, SIGUSR1] { sigaddset(&signals, number) }
    pthread_sigmask(SIG_BLOCK, &signals, nil)
  }

  /// Has the effect of an operator's SIGTERM. Thread-safe.
  public static func raiseStop() { kill(getpid(), SIGTERM) }

  public func next() -> Order {
    var waited = signals
    var number: Int32 = 0
    while sigwait(&waited, &number) != 0 {}
    switch number {
    case SIGHUP: return .reload
    case SIGUSR1: return .drain
    default: return .stop
    }
  }
}
