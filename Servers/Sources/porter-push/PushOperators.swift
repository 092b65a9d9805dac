import PorterOperators
import PorterServer
import PorterTelemetry

/// What `porter-push` says of itself.
///
/// `@unchecked Sendable`: the service is asked only what any thread may ask.
final class PushOperators: OperatorSource, @unchecked Sendable {
  private let service: PushService
  private let log: LogWriter
  /// Tokens for providers say when they were made.
  private let clock = ClockWatch()

  init(_ service: PushService, log: LogWriter) { (self.service, self.log) = (service, log) }

  var problems: [String] {
    look()
    return service.problems + (clock.problem.map { [$0] } ?? [])
  }

  /// At what changes with time. Called every few seconds, and when an operator asks.
  func look() { log.note(clock.look()) }

  var isReady: Bool { service.isReady }

  /// As of now: the service counts by itself.
  var metrics: Metrics {
    let metrics = Metrics()
    metrics.declare(counter: "porter_push_pushes_total", help: "Pushes that have ended, by provider and outcome.")
    for (push, count) in service.outcomes {
      metrics.count(
        "porter_push_pushes_total", "provider=\"\(push.provider)\",outcome=\"\(push.outcome)\"", by: count)
    }
    let isHealthy = problems.isEmpty
    metrics.declare(gauge: "porter_push_healthy", help: "1 if nothing is wrong.") { isHealthy ? 1 : 0 }
    let isReady = isReady
    metrics.declare(gauge: "porter_push_ready", help: "1 if the relay and the cluster are reached.") { isReady ? 1 : 0 }
    return metrics
  }
}
