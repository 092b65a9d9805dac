import PorterCrypto
import PorterPlatform
import PorterRelay
import Synchronization
import XCTest

@testable import PorterRelayCluster

/// A clock that a test moves.
final class TestClock: Clock {
  private let sinceStart = Mutex(Span.zero)
  private let start = SystemClock().wall()
  private let step = Mutex(Span.zero)

  func now() -> Moment { Moment(nanoseconds: 1_000_000_000) + sinceStart.withLock { $0 } }
  func wall() -> WallTime {
    WallTime(
      milliseconds: start.milliseconds + sinceStart.withLock { $0 }.milliseconds + step.withLock { $0 }.milliseconds)
  }
  func setWall(ahead span: Span) { step.withLock { $0 = span } }
  func pause(_ span: Span) { advance(span) }
  func advance(_ span: Span) { sinceStart.withLock { $0 = Span(nanoseconds: $0.nanoseconds + span.nanoseconds) } }
}

/// Notifications that reached no service.
final class EndedNotifications: Sendable {
  private let taken = Mutex<[EndedNotification]>([])
  var all: [EndedNotification] { taken.withLock { $0 } }
  func add(_ ended: EndedNotification) { taken.withLock { $0.append(ended) } }
}

/// Relays of one in-memory cluster, and their clients.
class ClusterTestCase: XCTestCase {
  let clock = TestClock()
  let randomness = SystemRandomness()
  let store = MemoryStore()
  let ended = EndedNotifications()
  lazy var client = makeClient()

  struct Fixture {
    let recipient: RelayIdentifier
    let sender: RelayIdentifier
    let key: SigningKeyPair
    let senderKey: SigningKeyPair
  }

  /// A client of another relay each time, with the same mailboxes.
  func makeClient() -> RelayClient { RelayClient(port: makePort(), randomness: randomness) }

  func makePort(listener: String? = nil) -> ClusterPort {
    let relay = ClusteredRelay(
      store, secret: [UInt8](repeating: 3, count: 32), ports: Ports(clock: clock, randomness: randomness),
      admit: { _ in true }, onNews: { _ in }, onEnded: { [ended] each in ended.add(each) })
    guard let relay else { preconditionFailure("no relay") }
    store.listener.withLock { $0 = relay }
    store.relays.withLock { $0.append(relay) }
    return ClusterPort(relay, listener: listener)
  }

  func newMailbox() throws -> Fixture {
    let (key, senderKey) = (
      try SigningKeyPair.generate(randomness: randomness), try SigningKeyPair.generate(randomness: randomness)
    )
    let made = try client.createMailbox(recipientKey: key, senderKey: senderKey.publicKey)
    return Fixture(recipient: made.recipient, sender: made.sender, key: key, senderKey: senderKey)
  }

  func send(_ text: String, to mailbox: Fixture, attempt: RelayIdentifier? = nil, by other: RelayClient? = nil)
    throws
  {
    try (other ?? client).send(
      Array(text.utf8), to: mailbox.sender, key: mailbox.senderKey,
      attempt: try attempt ?? .generate(randomness: randomness), notify: true)
  }

  func receiveAll(_ mailbox: Fixture) throws -> [String] {
    var texts: [String] = []
    while let message = try client.getMessage(mailbox.recipient, key: mailbox.key) {
      texts.append(String(decoding: message.body, as: UTF8.self))
      _ = try client.acknowledge(message.identifier, in: mailbox.recipient, key: mailbox.key)
    }
    return texts
  }

  func restoreBodies(of port: ClusterPort) -> (restored: Int, isComplete: Bool) {
    let relay = port.relay
    let result = Mutex((restored: -1, isComplete: false))
    let done = expectation(description: "restored")
    Task {
      let restored = await relay.restoreBodies()
      result.withLock { $0 = restored }
      done.fulfill()
    }
    wait(for: [done], timeout: 60)
    return result.withLock { $0 }
  }

  /// A mailbox with a notifier, and the notifier's service.
  func watchedMailbox(at port: ClusterPort? = nil) throws -> (Fixture, RelayNotifierClient) {
    let mailbox = try newMailbox()
    let (notifierKey, service) = (
      try SigningKeyPair.generate(randomness: randomness), try SigningKeyPair.generate(randomness: randomness)
    )
    let notifier = try client.enableNotifier(
      mailbox.recipient, key: mailbox.key, notifierKey: notifierKey.publicKey,
      boxKey: try BoxKeyPair.generate(randomness: randomness).publicKey)
    let notifiers = notifiers(of: service, at: port ?? makePort(listener: "service"))
    _ = try notifiers.subscribe([(notifier.identifier, notifierKey)])
    return (mailbox, notifiers)
  }

  func notifiers(of service: SigningKeyPair, at port: ClusterPort) -> RelayNotifierClient {
    RelayNotifierClient(port: port, randomness: randomness, service: service)
  }
}
