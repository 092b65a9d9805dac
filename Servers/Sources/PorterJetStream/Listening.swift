import PorterRelayCluster
import Synchronization

extension NATSConnection {
  /// Servers ask for work once a second, relays beat four times a second.
  private static let silence = Duration.milliseconds(2_500)

  /// Listens to these subjects for some seconds; returns the name of one on which something was heard.
  func hears(_ subjects: [(name: String, subject: String)]) async throws(ClusterFailure) -> String? {
    let heard = Mutex<String?>(nil)
    var subscriptions: [Subscription] = []
    for (name, subject) in subjects {
      subscriptions.append(try subscribe(subject) { _ in heard.withLock { $0 = name } })
    }
    do { try await Task.sleep(for: Self.silence) } catch { throw ClusterFailure("listening was interrupted") }
    // Nothing was heard either if the connection was lost meanwhile.
    _ = try await request("$JS.API.INFO")
    withExtendedLifetime(subscriptions) {}
    return heard.withLock { $0 }
  }
}
