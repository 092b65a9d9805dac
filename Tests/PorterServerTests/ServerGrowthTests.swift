import PorterPlatform
import PorterPush
import PorterStore
import Synchronization
import XCTest

@testable import PorterRelay
@testable import PorterServer

/// No turn of the server grows with its tokens, and large work is done in slices.
final class ServerGrowthTests: XCTestCase {
  /// A message, from the relay's notification to the push's end, in instructions of SQLite's virtual machine.
  func testAPushCostsTheSameWithManyTokens() throws {
    let world = try World()
    let device = try Device(world)
    try device.activate()
    let mailbox = try device.subscribedMailboxes(1)[0]
    try device.receive("a first one, so that every statement is prepared", in: mailbox)
    try world.run()
    let few = try costOfAPush(to: device, mailbox)
    try addTokens(3_000, like: device)
    let many = try costOfAPush(to: device, mailbox)
    XCTAssertLessThan(many, few + 100, "it was \(few)")
    // Each has a push, for a provider that cannot be reached.
    try world.state.database.run(
      "INSERT INTO push (token, kind, provider) SELECT number, 'wake', 'apns_dev' FROM token WHERE provider = 'apns_dev'"
    )
    let queued = try costOfAPush(to: device, mailbox)
    XCTAssertLessThan(queued, few + 100, "it was \(few)")
  }

  private func costOfAPush(to device: Device, _ mailbox: Device.Mailbox) throws -> Int {
    let world = device.world
    _ = world.provider.take()
    try device.receive("hello", in: mailbox)
    let before = world.state.database.instructions
    try world.run()
    _ = try world.server.nextDeadline()
    XCTAssertEqual(world.provider.take().count, 1)
    return world.state.database.instructions - before
  }

  func testTokensThatAreDueTogetherAreWokenInSlices() throws {
    let world = try World()
    let device = try Device(world)
    try device.activate()
    try addTokens(300, like: device)
    try setPeriods(20, world)
    world.clock.advance(by: .seconds(20 * 60))
    var queued: [Int64] = []
    let statements = Mutex<[String]>([])
    world.state.database.observer = { text in statements.withLock { $0.append(text) } }
    repeat {
      try world.server.serve()
      queued.append(try world.state.database.integer("SELECT count(*) FROM push") ?? -1)
      if world.server.hasMoreToDo { XCTAssertLessThanOrEqual(try world.server.nextDeadline(), world.clock.now()) }
    } while world.server.hasMoreToDo
    world.state.database.observer = nil
    XCTAssertEqual(queued, [128, 256, 300])
    XCTAssertLessThanOrEqual(statements.withLock { $0.count { $0 == "COMMIT" } }, 4, "a slice is one transaction")
    XCTAssertGreaterThan(try world.server.nextDeadline(), world.clock.now())
  }

  /// A wake-up writes only to the wake-up table, which is narrow and in wake-up order; neither to a token nor to an
  /// index of tokens.
  func testAWakeUpWritesNoToken() throws {
    let world = try World()
    let device = try Device(world)
    try device.activate()
    try addTokens(300, like: device)
    try setPeriods(20, world)
    try world.state.database.execute(
      "CREATE TEMP TRIGGER writing BEFORE UPDATE ON main.token BEGIN SELECT RAISE(ABORT, 'a token is written'); END")
    world.clock.advance(by: .seconds(20 * 60))
    let before = try world.state.database.integer("SELECT min(due_at) FROM wake")
    repeat { try world.server.serve() } while world.server.hasMoreToDo
    XCTAssertEqual(try world.state.database.integer("SELECT count(*) FROM push"), 300)
    // Each is rescheduled one period later.
    let scheduled = "FROM wake JOIN token ON token.number = wake.token AND token.wake_series = wake.series"
    XCTAssertEqual(try world.state.database.integer("SELECT count(*) \(scheduled)"), 300)
    XCTAssertEqual(
      try world.state.database.integer("SELECT min(due_at) \(scheduled)"), before.map { $0 + 20 * 60_000 })
  }

  func testWakeUpsThatAreOfNoUseAreDropped() throws {
    let world = try World()
    let device = try Device(world)
    try device.activate()
    func wakes() throws -> Int64? { try world.state.database.integer("SELECT count(*) FROM wake") }
    for minutes in [20, 30, 0, 40] { _ = try device.ask(.setPeriod(token: device.token, minutes: minutes)) }
    XCTAssertEqual(try wakes(), 3)
    world.clock.advance(by: .seconds(39 * 60))
    try world.run()
    XCTAssertTrue(world.provider.take().isEmpty, "of a period that was replaced")
    XCTAssertEqual(try wakes(), 1)
    _ = try device.ask(.delete(token: device.token))
    world.clock.advance(by: .seconds(60))
    try world.run()
    XCTAssertEqual(try wakes(), 0)
    XCTAssertTrue(world.provider.take().isEmpty)
  }

  /// A token that gets no pushes costs nothing until it is verified again; then it is woken as before.
  func testATokenThatIsVerifiedAgainIsWokenAgain() throws {
    let world = try World()
    let device = try Device(world)
    try device.activate()
    _ = try device.ask(.setPeriod(token: device.token, minutes: 20))
    try world.state.database.run("UPDATE token SET state = 'expired'")
    world.clock.advance(by: .seconds(3_600))
    try world.run()
    XCTAssertTrue(world.provider.take().isEmpty)
    XCTAssertEqual(try world.state.database.integer("SELECT count(*) FROM wake"), 0)
    try device.activate()
    _ = world.provider.take()
    world.clock.advance(by: .seconds(20 * 60))
    try world.run()
    XCTAssertEqual(world.provider.take().count, 1)
    XCTAssertEqual(try world.state.database.integer("SELECT count(*) FROM wake"), 1)
  }

  func testSubscriptionsAreCheckedInSlicesAfterAStart() throws {
    let world = try World()
    let device = try Device(world)
    try device.activate()
    _ = try device.subscribedMailboxes(1)
    // Notifiers that the relay does not know.
    try world.state.database.run(
      """
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 299)
      INSERT INTO subscription (token, notifier, key, status)
        SELECT token, randomblob(24), key, status FROM subscription, n
      """)
    try world.restart()
    var refused: [Int64] = []
    repeat {
      try world.server.serve()
      refused.append(
        try world.state.database.integer("SELECT count(*) FROM subscription WHERE status <> 'ACTIVE'") ?? -1)
    } while world.server.hasMoreToDo
    // The relay knows the first one; none of 16 is checked together with others for longer than it takes to prove 16
    // signatures.
    XCTAssertEqual(refused, (1...18).map { Int64($0 * 16 - 1) } + [299])
  }

  /// However many arrive, a turn takes a slice of them, by count: a stopped clock does not end it earlier.
  func testATurnTakesASliceOfNotificationsAndRequests() throws {
    let world = try World()
    let device = try Device(world)
    try device.activate()
    let mailboxes = try (0..<5).flatMap { _ in try device.subscribedMailboxes(26) }
    for mailbox in mailboxes { try device.receive("hello", in: mailbox) }
    try world.server.serve()
    XCTAssertTrue(world.server.hasMoreToDo)
    XCTAssertEqual(try notificationsAtTheRelay(world), 2)
    for _ in 0..<6 { try device.send(.check(token: device.token)) }
    try world.server.serve()
    var answered = 0
    while try device.answer() != nil { answered += 1 }
    XCTAssertEqual(answered, 4)
    XCTAssertTrue(world.server.hasMoreToDo)
  }

  func testWhatIsPastItsTimeIsSweptInSlices() throws {
    let world = try World()
    let device = try Device(world)
    try device.activate()
    try world.state.database.run(
      """
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
      INSERT INTO request (correlation, signer, answer, answered_at) SELECT randomblob(24), randomblob(32), x'00', 1 FROM n
      """)
    world.clock.advance(by: .seconds(3_600))
    var left: [Int64] = []
    repeat {
      try world.server.serve()
      left.append(try world.state.database.integer("SELECT count(*) FROM request WHERE answered_at = 1") ?? -1)
    } while world.server.hasMoreToDo
    XCTAssertEqual(left, [172, 44, 0])
  }

  /// A correlation is kept as long as its token, without its answer.
  func testForgottenRequestsGoWithTheirToken() throws {
    let world = try World()
    let device = try Device(world)
    try device.activate()
    func count(_ condition: String) throws -> Int64? {
      try world.state.database.integer("SELECT count(*) FROM request WHERE \(condition)")
    }
    let all = try XCTUnwrap(try count("true"))
    world.clock.advance(by: .days(31))
    try world.run()
    XCTAssertEqual(try count("answer IS NULL"), all)
    _ = try device.ask(.delete(token: device.token))
    XCTAssertEqual(try count("answer IS NULL"), 0)
    XCTAssertEqual(try count("true"), 1, "the answer to the deletion")
  }

  func testOutcomesThatComeTogetherAreOneTransaction() throws {
    let world = try World()
    let device = try Device(world)
    try device.activate()
    try addTokens(10, like: device)
    try world.state.database.run(
      "INSERT INTO push (token, kind, provider) SELECT number, 'wake', provider FROM token WHERE provider = 'apns_dev'")
    let pushes = try world.server.nextPushes(for: "apns_dev", count: 8, underWay: [])
    XCTAssertEqual(pushes.count, 8)
    let rest = try world.server.nextPushes(for: "apns_dev", count: 8, underWay: Set(pushes.map(\.sequence)))
    XCTAssertEqual(rest.count, 2)
    let commits = Mutex(0)
    world.state.database.observer = { text in if text == "COMMIT" { commits.withLock { $0 += 1 } } }
    try world.server.finish((pushes + rest).map { ($0, .accepted) })
    world.state.database.observer = nil
    XCTAssertEqual(commits.withLock { $0 }, 1)
    XCTAssertEqual(try world.state.database.integer("SELECT count(*) FROM push"), 0)
  }

  /// A failure in the middle of recording outcomes leaves all of them to be recorded.
  func testOutcomesThatCannotAllBeStoredAreNotStored() throws {
    let world = try World()
    let device = try Device(world)
    try device.activate()
    try addTokens(10, like: device)
    try world.state.database.run(
      "INSERT INTO push (token, kind, provider) SELECT number, 'wake', provider FROM token WHERE provider = 'apns_dev'")
    let pushes = try world.server.nextPushes(for: "apns_dev", count: 10, underWay: [])
    try world.state.database.execute(
      """
      CREATE TEMP TRIGGER failing BEFORE DELETE ON main.push WHEN OLD.sequence = \(pushes[7].sequence)
      BEGIN SELECT RAISE(ABORT, 'as a disk that fails'); END
      """)
    XCTAssertThrowsError(try world.server.finish(pushes.map { ($0, .accepted) }))
    XCTAssertEqual(try world.state.database.integer("SELECT count(*) FROM push"), 10)
    try world.state.database.execute("DROP TRIGGER failing")
    try world.server.finish(pushes.map { ($0, .accepted) })
    XCTAssertEqual(try world.state.database.integer("SELECT count(*) FROM push"), 0)
  }

  /// SQLite takes its locks once, however many pushes are prepared.
  func testPushesAreReadInOneTransaction() throws {
    let world = try World()
    let device = try Device(world)
    try device.activate()
    try addTokens(10, like: device)
    try world.state.database.run(
      "INSERT INTO push (token, kind, provider) SELECT number, 'wake', provider FROM token WHERE provider = 'apns_dev'")
    let statements = Mutex<[String]>([])
    world.state.database.observer = { text in statements.withLock { $0.append(text) } }
    XCTAssertEqual(try world.server.nextPushes(for: "apns_dev", count: 10, underWay: []).count, 10)
    world.state.database.observer = nil
    XCTAssertEqual(statements.withLock { ($0.first, $0.last) }.0, "BEGIN DEFERRED")
    XCTAssertEqual(statements.withLock { ($0.first, $0.last) }.1, "COMMIT")
    XCTAssertEqual(statements.withLock { $0.count }, 13)
  }

  /// While pushes end, the relay is asked only when it has woken the server, or when asking is due.
  func testTheRelayIsAskedWhenItHasSomething() throws {
    let world = try World()
    let device = try Device(world)
    try device.activate()
    let mailbox = try device.subscribedMailboxes(1)[0]
    try world.run()
    world.port.fail(exchange: 1, .requestLost)
    try world.server.serve(isWoken: false)
    XCTAssertFalse(world.port.hasFailed, "the relay was asked")
    try device.receive("hello", in: mailbox)
    try world.server.serve(isWoken: true)
    XCTAssertTrue(world.port.hasFailed)
    // It failed: it is asked again without a wake-up.
    world.clock.advance(by: ServerTimes.firstRetry)
    try world.server.serve(isWoken: false)
    XCTAssertNotNil(try world.server.nextPush(for: "apns_test"))
  }

  /// A provider that ends no push until as many have arrived as it can have under way.
  func testTheLoopKeepsSeveralPushesOfOneProviderUnderWay() throws {
    let world = try World()
    let device = try Device(world)
    try device.activate()
    try addTokens(40, like: device)
    try world.state.database.run(
      "INSERT INTO push (token, kind, provider) SELECT number, 'wake', provider FROM token WHERE provider = 'apns_dev'")
    let stop = try XCTUnwrap(WakeDescriptor())
    let provider = MeetingProvider(size: 4, last: 40) { stop.raise() }
    try ServerLoop(
      server: XCTUnwrap(world.server as? NotificationServer), providers: ["apns_dev": provider], stop: stop,
      clock: SystemClock()
    ).run()
    XCTAssertEqual(provider.most, 4)
    XCTAssertEqual(provider.count, 40)
  }

  private final class MeetingProvider: PushProvider {
    private struct State {
      var inside = 0
      var most = 0
      var count = 0
    }

    private let state = Monitor(State())
    private let size: Int
    private let last: Int
    private let ended: @Sendable () -> Void

    init(size: Int, last: Int, ended: @escaping @Sendable () -> Void) {
      (self.size, self.last, self.ended) = (size, last, ended)
    }

    var concurrency: Int { size }
    var most: Int { state.withLock { $0.most } }
    var count: Int { state.withLock { $0.count } }

    func deliver(_ push: OutgoingPush) -> PushOutcome {
      state.signal { state in
        state.inside += 1
        state.most = max(state.most, state.inside)
      }
      // The bound is for a loop that hands over one at a time: then the test fails instead of hanging.
      _ = state.wait(atMost: .seconds(60)) { $0.most == self.size ? true : nil }
      let isLast = state.signal { state in
        state.inside -= 1
        state.count += 1
        return state.count == last
      }
      if isLast { ended() }
      return .accepted
    }
  }

  /// Tokens of another provider, which this server does not serve unless a test enables it.
  private func addTokens(_ count: Int, like device: Device) throws {
    try device.world.state.database.run(
      """
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?2)
      INSERT INTO token (id, provider, push_token, generation, signing_key, client_box_key, box_key, push_key, code, state,
        used_at)
      SELECT randomblob(24), 'apns_dev', randomblob(32), 0, randomblob(32), client_box_key, box_key, push_key, code, state,
        used_at FROM token, n WHERE id = ?1
      """, [.blob(device.token), .integer(Int64(count))])
    try setPeriods(60, device.world)
  }

  private func notificationsAtTheRelay(_ world: World) throws -> Int64? {
    let relay = try Database(path: world.relayPath)
    defer { XCTAssertNoThrow(try relay.close()) }
    return try relay.integer("SELECT count(*) FROM notification")
  }

  /// Sets the period of those tokens.
  private func setPeriods(_ minutes: Int, _ world: World) throws {
    try world.state.transaction { () throws(ServerError) in
      let tokens = try world.state.database.allRows("SELECT number FROM token WHERE provider = 'apns_dev'") {
        $0.integer(0)
      }
      for token in tokens { try world.state.setPeriod(of: token, minutes: minutes, at: world.clock.wall()) }
    }
  }
}
