import Foundation
import PorterCrypto
import PorterPlatform
import PorterStore
import XCTest

@testable import PorterRelay

final class RelayWakeTests: RelayTestCase {
  private func isReadable(_ descriptor: Int32?, within milliseconds: Int32 = 0) -> Bool {
    guard let descriptor else { return false }
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&entry, 1, milliseconds) == 1
  }

  private func subscribe(_ relay: EmbeddedRelay, to mailbox: Fixture) throws {
    let client = RelayClient(port: relay, randomness: randomness)
    XCTAssertNotEqual(
      try client.subscribe([(recipient: mailbox.recipient, key: mailbox.recipientKey)]), [.auth])
  }

  private func names() -> [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: path + ".wake")) ?? []
  }

  private func listeners() throws -> Int64? {
    let file = try RelayFile(path: path, ports: Ports(clock: clock, randomness: randomness), log: .silent)
    defer { try? file.database.close() }
    return try file.database.integer("SELECT count(*) FROM listener")
  }

  func testSubscriberIsWokenByAnotherInstance() throws {
    let (mailbox, other) = (try newMailbox(), try newMailbox())
    let subscriber = another()
    XCTAssertNil(subscriber.wakeDescriptor)
    try subscribe(subscriber, to: mailbox)
    XCTAssertFalse(isReadable(subscriber.wakeDescriptor))
    try send("x", to: other)
    XCTAssertFalse(isReadable(subscriber.wakeDescriptor), "not for a mailbox it did not subscribe to")
    try send("x", to: mailbox)
    XCTAssertTrue(isReadable(subscriber.wakeDescriptor))
    try send("y", to: mailbox)
    subscriber.drainWake()
    XCTAssertFalse(isReadable(subscriber.wakeDescriptor))
    subscriber.drainWake()
    try send("z", to: mailbox)
    XCTAssertTrue(isReadable(subscriber.wakeDescriptor))
    XCTAssertTrue(relay.isLocal)
  }

  func testSubscriptionReportsWaitingMessages() throws {
    let mailbox = try newMailbox()
    try send("earlier", to: mailbox)
    let client = RelayClient(port: another(), randomness: randomness)
    XCTAssertEqual(
      try client.subscribe([(recipient: mailbox.recipient, key: mailbox.recipientKey)]), [.waiting])
  }

  func testRefusedSubscriptionIsNotWoken() throws {
    let mailbox = try newMailbox()
    let stranger = another()
    let client = RelayClient(port: stranger, randomness: randomness)
    XCTAssertEqual(try client.subscribe([(recipient: mailbox.recipient, key: try newKey())]), [.auth])
    try send("x", to: mailbox)
    XCTAssertFalse(isReadable(stranger.wakeDescriptor))
  }

  func testRepeatedSendWakesAgain() throws {
    let mailbox = try newMailbox()
    let subscriber = another()
    try subscribe(subscriber, to: mailbox)
    let attempt = try newAttempt()
    for _ in 0..<2 {
      try client.send([1], to: mailbox.sender, key: mailbox.senderKey, attempt: attempt, notify: false)
      XCTAssertTrue(isReadable(subscriber.wakeDescriptor))
      subscriber.drainWake()
    }
    _ = try receiveAll(mailbox)
    try client.send([1], to: mailbox.sender, key: mailbox.senderKey, attempt: attempt, notify: false)
    XCTAssertFalse(isReadable(subscriber.wakeDescriptor), "nothing waits")
  }

  func testServiceIsWokenForMessagesThatNotify() throws {
    let mailbox = try newMailbox()
    let (notifierKey, serviceKey) = (try newKey(), try newKey())
    let notifier = try client.enableNotifier(
      mailbox.recipient, key: mailbox.recipientKey, notifierKey: notifierKey.publicKey,
      boxKey: try BoxKeyPair.generate(randomness: randomness).publicKey)
    let port = another()
    let service = RelayNotifierClient(port: port, randomness: randomness, service: serviceKey)
    try service.subscribe([(notifier: notifier.identifier, key: notifierKey)])
    try send("silent", to: mailbox, notify: false)
    XCTAssertFalse(isReadable(port.wakeDescriptor))
    try send("loud", to: mailbox, notify: true)
    XCTAssertTrue(isReadable(port.wakeDescriptor))
    // After a restart the service's own key is enough.
    port.close()
    let restarted = another()
    try RelayNotifierClient(port: restarted, randomness: randomness, service: serviceKey).subscribe([])
    try send("loud again", to: mailbox, notify: true)
    XCTAssertTrue(isReadable(restarted.wakeDescriptor))
  }

  func testReleasingAndClosingRemoveTheRegistration() throws {
    let mailbox = try newMailbox()
    let subscriber = another()
    for release in [{ subscriber.releaseFiles() }, { subscriber.close() }] {
      try subscribe(subscriber, to: mailbox)
      XCTAssertEqual(names().count, 1)
      XCTAssertEqual(try listeners(), 1)
      release()
      XCTAssertNil(subscriber.wakeDescriptor)
      XCTAssertEqual(names(), [])
      XCTAssertEqual(try listeners(), 0)
      subscriber.drainWake()
    }
  }

  /// A frozen process reads nothing; its socket fills up, and senders must not be affected.
  func testSubscriberThatDoesNotReadDelaysNoSender() throws {
    let mailbox = try newMailbox()
    let subscriber = another()
    try subscribe(subscriber, to: mailbox)
    for number in 0..<100 { try send("\(number)", to: mailbox) }
    XCTAssertEqual(try listeners(), 1, "still registered")
    XCTAssertTrue(isReadable(subscriber.wakeDescriptor))
    subscriber.drainWake()
    XCTAssertFalse(isReadable(subscriber.wakeDescriptor))
  }

  func testPathLongerThanASocketAddress() throws {
    let deep = directory + "/" + String(repeating: "d", count: 120)
    try FileManager.default.createDirectory(atPath: deep, withIntermediateDirectories: true)
    let ports = (0..<2).map { _ in
      EmbeddedRelay(path: deep + "/relay.db", ports: Ports(clock: clock, randomness: randomness), log: .silent)
    }
    let clients = ports.map { RelayClient(port: $0, randomness: randomness) }
    let key = try newKey()
    let mailbox = try clients[0].createMailbox(recipientKey: key)
    XCTAssertEqual(try clients[0].subscribe([(recipient: mailbox.recipient, key: key)]), [.subscribed])
    try clients[1].send([1], to: mailbox.sender, key: nil, attempt: try newAttempt(), notify: false)
    XCTAssertTrue(isReadable(ports[0].wakeDescriptor))
    for port in ports { port.close() }
  }

  /// A hostile file: names in it must not lead out of the sockets' directory.
  func testForeignNamesAreNotFollowed() throws {
    let mailbox = try newMailbox()
    let victim = directory + "/victim"
    try Data([1]).write(to: URL(fileURLWithPath: victim))
    relay.releaseFiles()
    let file = try RelayFile(path: path, ports: Ports(clock: clock, randomness: randomness), log: .silent)
    try file.database.execute(
      "INSERT INTO listener(number, name) VALUES(1, '../victim'); INSERT INTO subscription VALUES(1, 1)")
    try file.database.close()
    try send("x", to: mailbox)
    XCTAssertTrue(FileManager.default.fileExists(atPath: victim))
    XCTAssertEqual(try listeners(), 0)
  }
}
