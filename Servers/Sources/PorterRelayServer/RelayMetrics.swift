import PorterTLS
import PorterTelemetry

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The relay's metrics.
public enum RelayMetrics {
  public static let buckets: [String: [Double]] = [
    "porter_relay_exchange_seconds": [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
    "porter_relay_batch_exchanges": [1, 2, 4, 8, 16, 32, 64, 128, 256],
  ]

  static func declare(in metrics: Metrics) {
    metrics.declare(counter: "porter_relay_exchanges_total", help: "Exchanges, by command and result.")
    metrics.declare(counter: "porter_relay_refusals_total", help: "Requests without an answer of the relay, by status.")
    metrics.declare(counter: "porter_relay_connections_refused_total", help: "Connections over a limit.")
    metrics.declare(histogram: "porter_relay_exchange_seconds", help: "From a request's end to its answer.")
    metrics.declare(histogram: "porter_relay_batch_exchanges", help: "Exchanges that were carried out together.")
  }

  static func declareGauges(in metrics: Metrics, _ surroundings: Surroundings, _ connections: ConnectionSet) {
    let (hub, backEnd, keeper) = (surroundings.hub, surroundings.backEnd, surroundings.keeper)
    metrics.declare(gauge: "porter_relay_connections", help: "Open connections.") { Double(connections.count) }
    metrics.declare(gauge: "porter_relay_streams", help: "Open streams of news.") { Double(hub.streamCount) }
    metrics.declare(gauge: "porter_relay_listeners", help: "Listeners that are known.") { Double(hub.listenerCount) }
    metrics.declare(gauge: "porter_relay_waiting", help: "Requests that wait for the back end.") {
      Double(backEnd.waiting)
    }
    metrics.declare(gauge: "porter_relay_healthy", help: "1 if nothing is wrong.") {
      surroundings.problems.isEmpty ? 1 : 0
    }
    metrics.declare(gauge: "porter_relay_ready", help: "1 if clients are served, and not too many.") {
      surroundings.isReady ? 1 : 0
    }
    metrics.declare(
      gauge: "porter_relay_certificate_expiry_seconds", help: "Until the certificate expires."
    ) { Double(keeper.certificate.expiry - time(nil)) }
  }
}
