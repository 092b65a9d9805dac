import Foundation
import PorterCrypto
import PorterPlatform
import PorterStore
import Synchronization
import XCTest

@testable import PorterRelay

/// The relay's file as a program serves it to many clients: several requests in one commit, and a listener for each
/// client.
final class RelayServiceTests: RelayTestCase {
  private final class Forbidden: Sendable {
    private let entities = Mutex<Set<[UInt8]>>([])
    func add(_ entity: [UInt8]) { entities.withLock { _ = $0.insert(entity) } }
    func contains(_ entity: [UInt8]) -> Bool { entities.withLock { $0.contains(entity) } }
  }

  private let forbidden = Forbidden()

  private func serve(maximumBytes: Int64? = nil) throws -> RelayService {
    var options = RelayService.Options(path: path)
    options.maximumBytes = maximumBytes
    return try RelayService(
      options, ports: Ports(clock: clock, randomness: randomness),
      admit: { [forbidden] in !forbidden.contains($0) }, log: nil)
  }

  /// A client of the service: one request at a time.
  private struct Client: RelayPort, @unchecked Sendable {
    let service: RelayService
    var listener: String?
    var isLocal: Bool { false }
    var wakeDescriptor: Int32? { nil }
    func drainWake() {}
    func close() {}

    func exchange(_ request: [UInt8]) throws(RelayError) -> [UInt8] {
      let outcomes = service.carryOut([.init(request: request, listener: listener)]).outcomes
      guard case .answer(let bytes, _, _, _)? = outcomes.first else { throw .unavailable }
      return bytes
    }
  }

  private func client(_ service: RelayService, listener: String? = nil) -> RelayClient {
    RelayClient(port: Client(service: service, listener: listener), randomness: randomness)
  }

  private func sending(
    _ text: String, to mailbox: Fixture, attempt: RelayIdentifier? = nil, key: SigningKeyPair? = nil,
    notify: Bool = false, isSigned: Bool = true
  ) throws -> RelayService.Exchange {
    var request = RelayRequest(
      correlation: try newAttempt(), entity: mailbox.sender,
      command: .send(attempt: try attempt ?? newAttempt(), notify: notify, body: Array(text.utf8)))
    if isSigned { request.signature = (key ?? mailbox.senderKey).sign(request.signedBytes) }
    return .init(request: request.encoded())
  }

  /// An acknowledgement or a question that arrives together with messages does not wait until these are on the disk.
  func testWhatWaitsForNoDiskIsAnsweredFirst() throws {
    let mailbox = try newMailbox()
    try send("first", to: mailbox)
    let service = try serve()
    let message = try XCTUnwrap(try head(of: mailbox))
    func request(_ command: RelayCommand) throws -> RelayService.Exchange {
      var request = RelayRequest(correlation: try newAttempt(), entity: mailbox.recipient, command: command)
      request.signature = mailbox.recipientKey.sign(request.signedBytes)
      return .init(request: request.encoded())
    }
    let exchanges = [
      try sending("second", to: mailbox), try request(.acknowledge(message: message.identifier)),
      try sending("third", to: mailbox), try request(.getMessage), .init(request: [7]),
    ]
    var parts: [[Int]] = []
    var waiting: [Int64?] = []
    service.carryOut(exchanges, except: { _ in false }) { part in
      parts.append(part.outcomes.map(\.index))
      waiting.append(try? service.file?.database.integer("SELECT count(*) FROM message WHERE body IS NOT NULL"))
      XCTAssertFalse(service.file?.database.isInTransaction ?? true, "answered before the commit")
    }
    XCTAssertEqual(parts, [[3, 4], [1], [0, 2]])
    XCTAssertEqual(waiting, [1, 0, 2])
    XCTAssertEqual(try messages(mailbox, service), ["second", "third"])
  }

  private func results(_ turn: RelayService.Turn) -> [String] {
    turn.outcomes.map { outcome in
      switch outcome {
      case .answer(_, _, let result, _): result
      case .limited: "limited"
      case .failed: "failed"
      }
    }
  }

  private func messages(_ mailbox: Fixture, _ service: RelayService) throws -> [String] {
    let client = client(service)
    var texts: [String] = []
    while let message = try client.getMessage(mailbox.recipient, key: mailbox.recipientKey) {
      texts.append(String(decoding: message.body, as: UTF8.self))
      try client.acknowledge(message.identifier, in: mailbox.recipient, key: mailbox.recipientKey)
    }
    return texts
  }

  // MARK: Batches

  func testRequestsOfOneTurnShareACommit() throws {
    let mailbox = try newMailbox()
    let service = try serve()
    let exchanges = try (0..<20).map { try sending("\($0)", to: mailbox) }
    _ = service.carryOut([exchanges[0]])
    var commits = 0
    service.file?.database.observer = { if $0 == "COMMIT" { commits += 1 } }
    XCTAssertEqual(results(service.carryOut(Array(exchanges[1...]))), [String](repeating: "done", count: 19))
    XCTAssertEqual(commits, 1)
    service.file?.database.observer = nil
    XCTAssertEqual(try messages(mailbox, service), (0..<20).map(String.init))
  }

  func testARefusedRequestLeavesItsNeighboursInTheBatch() throws {
    let (mailbox, other) = (try newMailbox(), try newMailbox())
    let service = try serve()
    let attempt = try newAttempt()
    let turn = service.carryOut([
      try sending("first", to: mailbox, attempt: attempt),
      try sending("forged", to: mailbox, key: other.senderKey),
      .init(request: [9]),
      try sending("again", to: mailbox, attempt: attempt),
      try sending("last", to: mailbox),
    ])
    XCTAssertEqual(results(turn), ["done", "auth", "version", "done", "done"])
    XCTAssertEqual(try messages(mailbox, service), ["first", "last"])
  }

  func testAMailboxThatFillsUpInABatchTakesNoMore() throws {
    let mailbox = try newMailbox()
    let service = try serve()
    let turn = service.carryOut(try (0..<130).map { try sending("\($0)", to: mailbox) })
    XCTAssertEqual(
      results(turn), [String](repeating: "done", count: 128) + [String](repeating: "quota", count: 2))
  }

  func testAMailboxOverItsLimitIsRefusedAfterItsKeyIsRecognised() throws {
    let (mailbox, other) = (try newMailbox(), try newMailbox())
    let service = try serve()
    forbidden.add(mailbox.sender.bytes)
    let turn = service.carryOut([
      try sending("limited", to: mailbox), try sending("forged", to: mailbox, key: other.senderKey),
      try sending("other", to: other),
    ])
    XCTAssertEqual(results(turn), ["limited", "auth", "done"])
    XCTAssertEqual(try messages(mailbox, service), [])
    XCTAssertEqual(try messages(other, service), ["other"])
  }

  /// Anyone may send to it, so one sender must not use up the share of the others.
  func testAMailboxThatIsOpenToAllHasAShareForEachSource() throws {
    let (open, secured) = (try newMailbox(isSecured: false), try newMailbox())
    let service = try serve()
    forbidden.add(open.sender.bytes + [1])
    forbidden.add(secured.sender.bytes + [1])
    let exchanges = try [open, secured].flatMap { mailbox in
      try [[UInt8(1)], [UInt8(2)]].map { source in
        var exchange = try sending("x", to: mailbox, isSigned: mailbox.sender != open.sender)
        exchange.source = source
        return exchange
      }
    }
    XCTAssertEqual(results(service.carryOut(exchanges)), ["limited", "done", "done", "done"])
  }

  func testAFullFileRefusesAndRecovers() throws {
    let mailbox = try newMailbox()
    let service = try serve(maximumBytes: 160 << 10)
    let text = String(repeating: "x", count: 16_000)
    var stored = 0
    while stored < 100 {
      guard case .answer = service.carryOut([try sending(text, to: mailbox)]).outcomes[0] else { break }
      stored += 1
    }
    XCTAssertTrue((1..<20).contains(stored), "\(stored)")
    XCTAssertEqual(
      results(service.carryOut([try sending(text, to: mailbox), try sending(text, to: mailbox)])), ["failed", "failed"])
    XCTAssertEqual(try messages(mailbox, service).count, stored, "what was accepted is there")
    XCTAssertEqual(results(service.carryOut([try sending(text, to: mailbox)])), ["done"], "there is room again")
  }

  // MARK: Unknown and forbidden

  /// The statements that a request runs, without random differences.
  private func statements(_ service: RelayService, _ request: RelayRequest) -> [String] {
    var texts: [String] = []
    service.file?.database.observer = { texts.append($0) }
    defer { service.file?.database.observer = nil }
    XCTAssertEqual(results(service.carryOut([.init(request: request.encoded())])), ["auth"])
    return texts
  }

  func testWhatIsLateIsNotCarriedOut() throws {
    let mailbox = try newMailbox()
    let service = try serve()
    let exchanges = try (0..<6).map { try sending("\($0)", to: mailbox) } + [.init(request: [7])]
    for (late, expected) in [([0, 3], 4), ([5, 6], 9), (Array(0...6), 9)] as [([Int], Int64)] {
      var outcomes: [Int: RelayService.Outcome] = [:]
      let fresh = try exchanges.map { try $0.request.count > 1 ? sending("another", to: mailbox) : $0 }
      service.carryOut(fresh, except: { late.contains($0) }) { part in
        for (index, outcome) in part.outcomes { outcomes[index] = outcome }
      }
      XCTAssertEqual(outcomes.count, 7)
      for (index, outcome) in outcomes {
        if case .failed(_, let isOwn) = outcome {
          XCTAssertTrue(late.contains(index))
          XCTAssertTrue(isOwn, "the file has not failed")
        } else {
          XCTAssertFalse(late.contains(index))
        }
      }
      XCTAssertEqual(try service.file?.database.integer("SELECT count(*) FROM message"), expected)
    }
  }

  /// What has become late while an earlier one was carried out.
  func testTheTimeOfEachIsCheckedWhenItsTurnComes() throws {
    let mailbox = try newMailbox()
    let service = try serve()
    let isLate = Mutex([Int: Int]())
    var outcomes: [Int: RelayService.Outcome] = [:]
    let exchanges = try (0..<4).map { try sending("\($0)", to: mailbox) }
    service.carryOut(
      exchanges,
      except: { index in
        isLate.withLock { asked in
          asked[index, default: 0] += 1
          return index > 1 && asked[index] == 2
        }
      },
      then: { part in for (index, outcome) in part.outcomes { outcomes[index] = outcome } })
    XCTAssertEqual(isLate.withLock { $0 }, [0: 2, 1: 2, 2: 2, 3: 2])
    XCTAssertEqual(try service.file?.database.integer("SELECT count(*) FROM message"), 2)
    XCTAssertEqual(outcomes[3], .failed("its time was over before its turn", isOwn: true))
  }

  /// Otherwise a turn would take as many times as long as it has requests.
  func testAFileInUseElsewhereIsWaitedForOnceInATurn() throws {
    let mailbox = try newMailbox()
    let service = try serve()
    let exchanges = try (0..<20).map { try sending("\($0)", to: mailbox) }
    let other = try Database(path: path)
    try other.execute("BEGIN IMMEDIATE")
    let begin = clock.now()
    XCTAssertEqual(
      results(service.carryOut(exchanges + [.init(request: [7])])),
      [String](repeating: "failed", count: 20) + ["version"])
    XCTAssertLessThan(clock.now() - begin, .seconds(1))
    XCTAssertGreaterThan(clock.now() - begin, .milliseconds(200))
    try other.execute("ROLLBACK")
    try other.close()
    XCTAssertEqual(results(service.carryOut(exchanges)), [String](repeating: "done", count: 20))
  }

  func testAnUnknownMailboxAndAWrongKeyRunTheSameStatements() throws {
    let mailbox = try newMailbox()
    let service = try serve()
    let wrong = try newKey()
    let commands: [(RelayCommand, RelayIdentifier)] = [
      (.getMessage, mailbox.recipient), (.getMessageWithAge, mailbox.recipient), (.deleteMailbox, mailbox.recipient),
      (.disableNotifier, mailbox.recipient), (.acknowledge(message: try newAttempt()), mailbox.recipient),
      (.secureMailbox(senderKey: wrong.publicKey), mailbox.recipient),
      (.send(attempt: try newAttempt(), notify: true, body: [1]), mailbox.sender),
    ]
    for (command, entity) in commands {
      let both = try [entity, newAttempt()].map { entity in
        var request = RelayRequest(correlation: try newAttempt(), entity: entity, command: command)
        request.signature = wrong.sign(request.signedBytes)
        return statements(service, request)
      }
      XCTAssertEqual(both[0], both[1], "\(command.name)")
      XCTAssertFalse(both[0].isEmpty)
    }
  }

  // MARK: Listeners

  func testAListenerHearsOfItsMailboxesAndNoOthers() throws {
    let (mailbox, other) = (try newMailbox(), try newMailbox())
    let service = try serve()
    let (key, listener) = (try newKey(), client(service, listener: "first"))
    let (position, _) = try listener.listen(to: [(mailbox.recipient, mailbox.recipientKey)], as: key)
    XCTAssertEqual(service.carryOut([try sending("x", to: other)]).news, [])
    XCTAssertEqual(service.carryOut([try sending("y", to: mailbox)]).news, ["first"])
    XCTAssertEqual(try listener.arrivals(after: position, as: key).mailboxes, [mailbox.recipient])
    assertRefused(.auth) { try client(service, listener: "second").arrivals(after: position, as: key) }
    assertRefused(.auth) { try client(service).arrivals(after: position, as: key) }
  }

  func testAfterAListenerWasForgottenItsPositionsAreUnknown() throws {
    let mailboxes = [try newMailbox(), try newMailbox()].map { ($0.recipient, $0.recipientKey) }
    let service = try serve()
    let (key, listener) = (try newKey(), client(service, listener: "first"))
    let (position, _) = try listener.listen(to: mailboxes, as: key)
    _ = service.forget(["first"])
    assertRefused(.auth) { try listener.arrivals(after: position, as: key) }
    // It listens to one of them again: the earlier position would hide that the other is no longer listened to.
    let (later, _) = try listener.listen(to: [mailboxes[0]], as: key)
    assertRefused(.auth) { try listener.arrivals(after: position, as: key) }
    XCTAssertEqual(try listener.arrivals(after: later, as: key).mailboxes, [])
  }

  func testAnEarlierRunsPositionsAndListenersAreUnknown() throws {
    let mailbox = try newMailbox()
    let key = try newKey()
    var service = try serve()
    let (position, _) = try client(service, listener: "first").listen(
      to: [(mailbox.recipient, mailbox.recipientKey)], as: key)
    service.close()
    service = try serve()
    XCTAssertEqual(service.carryOut([try sending("x", to: mailbox)]).news, [])
    _ = try client(service, listener: "first").listen(to: [], as: key)
    assertRefused(.auth) { try client(service, listener: "first").arrivals(after: position, as: key) }
  }

  func testWithoutAListenerAListenTellsWhatWaits() throws {
    let mailbox = try newMailbox()
    let service = try serve()
    _ = service.carryOut([try sending("x", to: mailbox)])
    let ends = [(recipient: mailbox.recipient, key: mailbox.recipientKey)]
    XCTAssertEqual(try client(service).listen(to: ends, as: try newKey()).results, [.waiting])
    XCTAssertEqual(try client(service).subscribe(ends), [.waiting])
    XCTAssertEqual(service.carryOut([try sending("y", to: mailbox)]).news, [])
  }

  func testADetachedListenerDelaysNoNotification() throws {
    let mailbox = try newMailbox()
    let service = try serve()
    let (notifierKey, serviceKey) = (try newKey(), try newKey())
    let box = try BoxKeyPair.generate(randomness: randomness)
    let notifier = try client(service).enableNotifier(
      mailbox.recipient, key: mailbox.recipientKey, notifierKey: notifierKey.publicKey, boxKey: box.publicKey)
    let notifications = RelayNotifierClient(
      port: Client(service: service, listener: "service"), randomness: randomness, service: serviceKey)
    _ = try notifications.subscribe([(notifier.identifier, notifierKey)])
    _ = try client(service, listener: "app").subscribe([(mailbox.recipient, mailbox.recipientKey)])
    service.attach("app")
    _ = service.carryOut([try sending("held", to: mailbox, notify: true)])
    XCTAssertEqual(try notifications.dueNotifications().notifications.count, 0, "the app is listening")
    XCTAssertEqual(service.detach("app"), ["service"], "what was withheld is due")
    XCTAssertEqual(try notifications.dueNotifications().notifications.count, 1, "it has gone")
    XCTAssertEqual(
      service.carryOut([try sending("due", to: mailbox, notify: true)]).news.sorted(), ["app", "service"])
    XCTAssertEqual(try notifications.dueNotifications().notifications.count, 2)
  }

  /// The app was woken, and the push was left to it.
  func testTheServiceHearsOfWhatAListenerLeaves() throws {
    for leaves in [{ $0.detach("app") }, { $0.forget(["app"]) }] as [(RelayService) -> [String]?] {
      let mailbox = try newMailbox()
      let service = try serve()
      let (notifierKey, serviceKey) = (try newKey(), try newKey())
      let notifier = try client(service).enableNotifier(
        mailbox.recipient, key: mailbox.recipientKey, notifierKey: notifierKey.publicKey,
        boxKey: try BoxKeyPair.generate(randomness: randomness).publicKey)
      let notifications = RelayNotifierClient(
        port: Client(service: service, listener: "service"), randomness: randomness, service: serviceKey)
      _ = try notifications.subscribe([(notifier.identifier, notifierKey)])
      _ = try client(service, listener: "app").subscribe([(mailbox.recipient, mailbox.recipientKey)])
      service.attach("app")
      _ = service.carryOut([try sending("left", to: mailbox, notify: true)])
      clock.advance(NotificationHold.pause)
      let due = try notifications.dueNotifications().notifications
      XCTAssertEqual(due.count, 1)
      try notifications.acknowledge(due)
      XCTAssertEqual(try notifications.dueNotifications().notifications, [])
      XCTAssertEqual(leaves(service), ["service"])
      XCTAssertEqual(try notifications.dueNotifications().notifications.count, 1)
      service.close()
    }
  }
}
