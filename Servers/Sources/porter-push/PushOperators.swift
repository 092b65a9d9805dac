import PorterOperators
import PorterServer
import PorterTelemetry
import PorterWebPush

/// What `porter-push` says of itself.
///
/// `@unchecked Sendable`: the service is asked only what any thread may ask.
final class PushOperators: OperatorSource, @unchecked Sendable {
  private let service: PushService
  private let webPush: WebPushProvider?
  private let log: LogWriter
  /// Tokens for providers say when they were made.
  private let clock = ClockWatch()

  init(_ service: PushService, _ webPush: WebPushProvider?, log: LogWriter) {
    (self.service, self.webPush, self.log) = (service, webPush, log)
  }

  var problems: [String] {
    look()
    let isWebPushDown = webPush?.tally.areAllInTrouble ?? false
    return service.problems + (isWebPushDown ? webPushTrouble : []) + (clock.problem.map { [$0] } ?? [])
  }

  /// Clients choose push services: one that fails beside others that work is no problem of this server's.
  var notes: [String] { webPushTrouble }

  private var webPushTrouble: [String] {
    (webPush?.tally.trouble).map { ["provider \(WebPushProvider.name): \($0)"] } ?? []
  }

  /// At what changes with time. Called every few seconds, and when an operator asks.
  func look() {
    log.note(clock.look())
    webPush?.look()
  }

  var isReady: Bool { service.isReady }

  /// As of now: the service counts by itself.
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
