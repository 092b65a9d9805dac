import PorterOperators
import PorterServer
import PorterTelemetry
import PorterWebPush

/// The state that `porter-push` reports.
///
/// `@unchecked Sendable`: only thread-safe members of the service are used.
final class PushOperators: OperatorSource, @unchecked Sendable {
  private let service: PushService
  private let webPush: WebPushProvider?
  private let log: LogWriter
  /// Tokens for providers state when they were created.
  private let clock = ClockWatch()

  init(_ service: PushService, _ webPush: WebPushProvider?, log: LogWriter) {
    (self.service, self.webPush, self.log) = (service, webPush, log)
  }

  var problems: [String] {
    look()
    let isWebPushDown = webPush?.tally.areAllInTrouble ?? false
    return service.problems + (isWebPushDown ? webPushTrouble : []) + (clock.problem.map { [$0] } ?? [])
  }

  /// Clients choose push services: one that fails while others work is not this server's problem.
  var notes: [String] { webPushTrouble }

  private var webPushTrouble: [String] {
    (webPush?.tally.trouble).map { ["provider \(WebPushProvider.name): \($0)"] } ?? []
  }

  /// Checks what changes with time. Called every few seconds, and when an operator asks.
  func look() {
    log.note(clock.look())
    webPush?.look()
  }

  var isReady: Bool { service.isReady }

  /// The current values: the service does its own counting.
  var metrics: Metrics {
    let metrics = Metrics()
    metrics.declare(counter: "porter_push_pushes_total", help: "Pushes that have ended, by provider and outcome.")
    for (push, count) in service.outcomes {
      metrics.count(
        "porter_push_pushes_total", "provider=\"\(push.provider)\",outcome=\"\(push.outcome)\"", by: count)
    }
    if let tally = webPush?.tally {
      metrics.declare(gauge: "porter_push_webpush_services", help: "Push services in use.") { Double(tally.inUse) }
      metrics.declare(
        gauge: "porter_push_webpush_services_failing",
        help: "Those that cannot be reached, cannot work, or refuse the VAPID token."
      ) { Double(tally.failing + tally.refusing) }
    }
    let isHealthy = problems.isEmpty
    metrics.declare(gauge: "porter_push_healthy", help: "1 if nothing is wrong.") { isHealthy ? 1 : 0 }
    let isReady = isReady
    metrics.declare(gauge: "porter_push_ready", help: "1 if clients are served.") { isReady ? 1 : 0 }
    return metrics
  }
}
