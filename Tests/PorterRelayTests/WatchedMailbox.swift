import PorterCrypto
import PorterPlatform
import XCTest

@testable import PorterRelay

/// A mailbox with a notification service, and the app that it belongs to.
extension RelayTestCase {
  struct Watched {
    let mailbox: Fixture
    let service: RelayNotifierClient
    /// Wakes the service.
    let servicePort: EmbeddedRelay
  }

  /// A mailbox whose service is subscribed.
  func newWatched() throws -> Watched {
    let (mailbox, notifierKey) = (try newMailbox(), try newKey())
    let notifier = try client.enableNotifier(
      mailbox.recipient, key: mailbox.recipientKey, notifierKey: notifierKey.publicKey,
      boxKey: try BoxKeyPair.generate(randomness: randomness).publicKey)
    let port = another()
    let service = RelayNotifierClient(port: port, randomness: randomness, service: try newKey())
    try service.subscribe([(notifier: notifier.identifier, key: notifierKey)])
    return Watched(mailbox: mailbox, service: service, servicePort: port)
  }

  /// The app: it listens through its own relay.
  final class App {
    let port: EmbeddedRelay
    let client: RelayClient
    let mailbox: Fixture

    init(_ port: EmbeddedRelay, _ mailbox: Fixture) throws {
      self.port = port
      client = RelayClient(port: port, randomness: SystemRandomness())
      self.mailbox = mailbox
      _ = try client.subscribe([(recipient: mailbox.recipient, key: mailbox.recipientKey)])
    }

    func fetch() throws -> RelayMessage? { try client.getMessage(mailbox.recipient, key: mailbox.recipientKey) }

    func fetchAll() throws {
      while let message = try fetch() {
        try client.acknowledge(message.identifier, in: mailbox.recipient, key: mailbox.recipientKey)
      }
    }
  }

  func send(_ watched: Watched) throws { try send("hello", to: watched.mailbox, notify: true) }

  func dueCount(_ watched: Watched) throws -> Int { try watched.service.dueNotifications().notifications.count }
}
