#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The signals that an operator sends, taken one after the other by the main thread, so that no code runs inside a handler.
/// Make it before any thread starts: threads inherit that the signals are blocked.
public struct SignalWaiter: Sendable {
  public enum Order: Equatable {
    case reload
    /// End without taking anything new, once what has begun is done.
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

  /// What an operator's SIGTERM would do. From any thread.
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
