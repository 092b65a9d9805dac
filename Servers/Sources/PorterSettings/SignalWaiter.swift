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
    case stop
  }

  private var signals = sigset_t()

  public init() {
    _ = signal(SIGPIPE, SIG_IGN)
    sigemptyset(&signals)
    for number in [SIGTERM, SIGINT, SIGHUP] { sigaddset(&signals, number) }
    pthread_sigmask(SIG_BLOCK, &signals, nil)
  }

  public func next() -> Order {
    var waited = signals
    var number: Int32 = 0
    while sigwait(&waited, &number) != 0 {}
    return number == SIGHUP ? .reload : .stop
  }
}
