import NIOCore
import PorterOperators
import PorterTLS
import PorterTelemetry
import Synchronization

/// State shared by all connections.
final class Surroundings: OperatorSource {
  let options: RelayServerOptions
  let backEnd: any RelayBackEnd
  let hub: NewsHub
  let metrics: Metrics
  let log: LogWriter
  let keeper: CertificateKeeper
  let sources: RateLimiter<Source>
  let creations: RateLimiter<Source>
  let connections: ConnectionSet
  private let isServing = Mutex(false)
  private let hasExpired = Mutex(false)
  private let clock = ClockWatch()

  init(
    _ options: RelayServerOptions, backEnd: any RelayBackEnd, hub: NewsHub, metrics: Metrics, log: LogWriter,
    keeper: CertificateKeeper
  ) {
    self.options = options
    self.backEnd = backEnd
    self.hub = hub
    self.metrics = metrics
    self.log = log
    self.keeper = keeper
    sources = RateLimiter(options.sourceAllowance)
    creations = RateLimiter(options.creationAllowance)
    connections = ConnectionSet(
      most: options.connections, mostOfSource: options.connectionsOfSource, trusted: options.trustedSources)
  }

  func set(serving: Bool) { isServing.withLock { $0 = serving } }

  var isReady: Bool { isServing.withLock { $0 } && backEnd.isServing && !isOverloaded }

  /// Whether clients are refused that could otherwise be served.
  private var isOverloaded: Bool { backEnd.isOverloaded || connections.isOverloaded }

  /// One line for each problem.
  var problems: [String] {
    var problems: [String] = []
    if let problem = backEnd.problem { problems.append("storage: \(problem)") }
    if let problem = keeper.problem { problems.append("certificate: \(problem)") }
    look()
    if hasExpired.withLock({ $0 }) { problems.append("certificate: expired") }
    if let problem = clock.problem { problems.append(problem) }
    return problems
  }

  /// Checks what changes with time. Called every few seconds, and when an operator asks.
  func look() {
    log.note(clock.look())
    let isExpired = keeper.certificate.isExpired
    let wasExpired = hasExpired.withLock { hasExpired in
      defer { hasExpired = isExpired }
      return hasExpired
    }
    guard isExpired != wasExpired else { return }
    if isExpired {
      log(.error, "the certificate has expired; clients without its fingerprint refuse it")
    } else {
      log(.info, "the certificate is valid again")
    }
  }
}
