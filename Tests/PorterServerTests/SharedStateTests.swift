import PorterCrypto
import PorterJSON
import PorterPlatform
import PorterPush
import PorterRelay
import XCTest

@testable import PorterServer

/// Servers that get in each other's way, and that end in the middle of their work.
final class SharedStateTests: XCTestCase {
  override func setUp() { World.isShared = true }
  override func tearDown() { World.isShared = false }

  /// Something that another server does at the worst moment.
  private struct Interlude: @unchecked Sendable {
    let body: () throws -> Void
    func run() { do { try body() } catch { XCTFail("\(error)") } }
  }

  private func store(of world: World) throws -> MemoryStore { try XCTUnwrap(world.store) }

  private func before(_ store: MemoryStore, _ body: @escaping () throws -> Void) {
    let interlude = Interlude(body: body)
    store.beforeReplacement { interlude.run() }
  }

  /// A push was sent, by whichever server, and no further one is due.
  private func pushed(_ world: World, _ device: Device) throws -> [NotificationBundle] {
    for _ in 0..<10 {
      world.clock.advance(by: .seconds(7))
      try world.run()
    }
    return try world.bundles(for: device)
  }

  // MARK: At the same time

  func testTwoServersThatRegisterOneTokenMakeOne() throws {
    let world = try World()
    let (device, store) = (try Device(world), try store(of: world))
    try device.send(device.newToken)
    before(store) {
      try device.send(device.newToken)
      try world.servers[1].serve()
    }
    try world.servers[0].serve()
    let answers = try [device.answer(), device.answer()].map { try XCTUnwrap($0) }
    XCTAssertEqual(answers[0].result, answers[1].result)
    XCTAssertEqual(store.count(.tokens), 1)
    device.note(answers[0])
    try world.run()
    XCTAssertEqual(try device.ask(.verify(token: device.token, device.code())).tokenStatus, .active)
  }

  func testServersThatChangeOneTokenAtTheSameTimeLoseNothing() throws {
    let world = try World()
    let (device, store) = (try Device(world), try store(of: world))
    try device.activate()
    let mailboxes = try (0..<2).map { _ in try device.newMailbox() }
    try device.send(.subscribe(token: device.token, [mailboxes[0].credentials]))
    before(store) {
      try device.send(.subscribe(token: device.token, [mailboxes[1].credentials]))
      try world.servers[1].serve()
    }
    try world.servers[0].serve()
    while try device.answer() != nil {}
    let notifiers = mailboxes.map(\.notifier.bytes)
    XCTAssertEqual(
      try device.ask(.checkSubscriptions(token: device.token, notifiers)).result,
      .subscriptions(notifiers.map { .init(notifier: $0, status: .active) }))
  }

  func testAMessageThatComesWhileItsSubscriptionIsStoredIsPushed() throws {
    let world = try World()
    let (device, store) = (try Device(world), try store(of: world))
    try device.activate()
    let mailbox = try device.newMailbox()
    try device.send(.subscribe(token: device.token, [mailbox.credentials]))
    before(store) {
      try device.receive("early", in: mailbox)
      try world.servers[1].serve()
    }
    try world.servers[0].serve()
    XCTAssertEqual(try pushed(world, device).map { $0.entries.map(\.notifier) }, [[mailbox.notifier.bytes]])
  }

  /// One server has the notification of an earlier message, and stores it only after another has stored a later one's:
  /// the device already has what the earlier one is about.
  func testALaterNotificationIsNotReplacedBeforeItsPush() throws {
    let world = try World()
    let (device, store) = (try Device(world), try store(of: world))
    try device.activate()
    let mailbox = try device.subscribedMailboxes(1)[0]
    let earlier = try device.receive("earlier", in: mailbox)
    before(store) {
      world.clock.advance(by: .milliseconds(1))
      try device.receive("later", in: mailbox)
      try XCTUnwrap(world.servers[1] as? SharedServer).takeNotifications()
    }
    try XCTUnwrap(world.servers[0] as? SharedServer).takeNotifications()
    let named = try pushed(world, device).flatMap(\.entries).map { entry in
      try RelayMessageMetadata(
        opening: entry.sealedMetadata, with: mailbox.metadataKey, nonce: entry.metadataNonce
      ).message
    }
    XCTAssertFalse(named.isEmpty)
    XCTAssertFalse(named.contains(earlier))
  }

  func testASubscriptionThatTookLongToStoreIsWatched() throws {
    let world = try World()
    let (device, store) = (try Device(world), try store(of: world))
    try device.activate()
    let mailbox = try device.newMailbox()
    try device.send(.subscribe(token: device.token, [mailbox.credentials]))
    before(store) {
      // So long that another server takes it for ended.
      world.clock.advance(by: .seconds(61))
      try device.receive("early", in: mailbox)
      try XCTUnwrap(world.servers[1] as? SharedServer).takeNotifications()
    }
    try world.servers[0].serve()
    try device.receive("later", in: mailbox)
    XCTAssertEqual(try pushed(world, device).map { $0.entries.map(\.notifier) }, [[mailbox.notifier.bytes]])
  }

  func testWhatDoesNotWatchAnyMoreIsForgotten() throws {
    let world = try World()
    let (device, store) = (try Device(world), try store(of: world))
    try device.activate()
    let mailboxes = try device.subscribedMailboxes(2)
    _ = try device.ask(.unsubscribe(token: device.token, [mailboxes[0].notifier.bytes]))
    world.clock.advance(by: .seconds(61))
    for mailbox in mailboxes { try device.receive("hello", in: mailbox) }
    XCTAssertEqual(try pushed(world, device).map { $0.entries.map(\.notifier) }, [[mailboxes[1].notifier.bytes]])
    XCTAssertEqual(store.count(.subscriptions), 1)
  }

  func testMessagesThatTwoServersTakeAreBothInTheLastPush() throws {
    let world = try World()
    let (device, store) = (try Device(world), try store(of: world))
    try device.activate()
    let mailboxes = try device.subscribedMailboxes(2)
    try device.receive("one", in: mailboxes[0])
    before(store) {
      try device.receive("two", in: mailboxes[1])
      try world.servers[1].serve()
    }
    try world.servers[0].serve()
    let last = try XCTUnwrap(try pushed(world, device).last)
    XCTAssertEqual(Set(last.entries.map(\.notifier)), Set(mailboxes.map(\.notifier.bytes)))
  }

  // MARK: Ended in the middle

  func testAPushOfAServerThatEndedIsSentByAnother() throws {
    let world = try World()
    let device = try Device(world)
    try device.activate()
    let mailbox = try device.subscribedMailboxes(1)[0]
    try device.receive("hello", in: mailbox)
    try world.servers[0].serve()
    XCTAssertNotNil(try world.servers[0].nextPush(for: "apns_test"))
    XCTAssertNil(try world.servers[1].nextPush(for: "apns_test"), "the other one has it")
    world.clock.advance(by: MemoryStore.lease)
    let again = try XCTUnwrap(try world.servers[1].nextPush(for: "apns_test"))
    try world.servers[1].finish(again, .accepted)
    XCTAssertEqual(try pushed(world, device).count, 0, "it was sent")
  }

  func testAServerThatTakesLongKeepsItsPush() throws {
    let world = try World()
    let device = try Device(world)
    try device.activate()
    let mailbox = try device.subscribedMailboxes(1)[0]
    try device.receive("hello", in: mailbox)
    try world.servers[0].serve()
    let push = try XCTUnwrap(try world.servers[0].nextPush(for: "apns_test"))
    for _ in 0..<5 {
      world.clock.advance(by: .seconds(2))
      try world.servers[0].serve()
      XCTAssertNil(try world.servers[1].nextPush(for: "apns_test"))
    }
    try world.servers[0].finish(push, .accepted)
    try world.endSpareWork()
    XCTAssertEqual(try store(of: world).waiting("push-apns_test"), 0)
    XCTAssertEqual(try pushed(world, device).count, 0, "it was sent")
  }

  func testAnEarlierAnswerIsGivenAgain() throws {
    let world = try World()
    let device = try Device(world)
    try device.activate()
    XCTAssertEqual(try device.ask(.setPeriod(token: device.token, minutes: 19)).result, .refused(.quota))
    let recorded = try XCTUnwrap(device.sent.last)
    // More than a document remembers.
    for _ in 0...TokenDocument.mostAnswers { _ = try device.status() }
    try device.deliver(recorded)
    try world.run()
    XCTAssertEqual(try device.answer()?.result, .refused(.quota))
  }

  func testAWakeUpComesWhereverTheClusterFails() throws {
    var number = 1
    var isOver = false
    while !isOver {
      let world = try World()
      let (device, store) = (try Device(world), try store(of: world))
      try device.activate()
      XCTAssertEqual(try device.ask(.setPeriod(token: device.token, minutes: 20)).result, .done)
      try world.run()
      world.clock.advance(by: .seconds(20 * 60))
      store.fail(call: number, .requestLost)
      var pushes: [OutgoingPush] = []
      for _ in 0..<10 where pushes.isEmpty {
        do { try world.run() } catch ServerError.cluster {}
        pushes = world.provider.take()
        world.clock.advance(by: .seconds(7))
      }
      XCTAssertFalse(pushes.isEmpty, "call \(number)")
      // The next one follows too.
      world.clock.advance(by: .seconds(20 * 60))
      pushes = []
      for _ in 0..<10 where pushes.isEmpty {
        do { try world.run() } catch ServerError.cluster {}
        pushes = world.provider.take()
        world.clock.advance(by: .seconds(7))
      }
      XCTAssertFalse(pushes.isEmpty, "after call \(number)")
      isOver = !store.hasFailed
      number += 1
    }
  }

  /// In a story that covers everything, one call to the cluster fails: every third call before it was carried out,
  /// another third afterwards.
  func testNothingIsLostWhereverTheClusterFails() throws {
    for (first, failure) in [(1, MemoryStore.Failure.requestLost), (2, .answerLost)] {
      var number = first
      while try story(failing: number, failure) { number += 3 }
      XCTAssertGreaterThan(number, 100, "the story asks the cluster that often")
    }
  }

  /// Returns whether the call was made.
  private func story(failing number: Int, _ failure: MemoryStore.Failure) throws -> Bool {
    let world = try World()
    let (device, store) = (try Device(world), try store(of: world))
    let what = "call \(number), \(failure)"
    func ask(_ command: ServerRequest.Command) throws -> ServerAnswer {
      try device.send(command)
      for _ in 0..<20 {
        // A loop pauses where a push cannot be taken or stored.
        do { try world.run() } catch ServerError.cluster {}
        if let answer = try device.answer() { return answer }
        world.clock.advance(by: .seconds(2))
      }
      throw NothingCame(file: #filePath, line: #line)
    }
    store.fail(call: number, failure)
    device.note(try ask(device.newToken))
    var pushes: [OutgoingPush] = []
    for _ in 0..<10 where pushes.isEmpty {
      world.clock.advance(by: .seconds(2))
      do { try world.run() } catch ServerError.cluster {}
      pushes += world.provider.take()
    }
    guard let payload = pushes.last?.payload,
      case .verification(let nonce, let sealed) = try PushPayload(decoding: payload.utf8)
    else {
      XCTFail("no code came, \(what)")
      return store.hasFailed
    }
    let code = try VerificationCode(opening: sealed, nonce: nonce, with: device.pushKey())
    XCTAssertEqual(try ask(.verify(token: device.token, code)).result, .done, what)
    let mailbox = try device.newMailbox()
    let active = ServerAnswer.Result.subscriptions([.init(notifier: mailbox.notifier.bytes, status: .active)])
    XCTAssertEqual(try ask(.subscribe(token: device.token, [mailbox.credentials])).result, active, what)
    XCTAssertEqual(try ask(.setPeriod(token: device.token, minutes: 20)).result, .done, what)
    _ = world.provider.take()
    try device.receive("hello", in: mailbox)
    var bundles: [NotificationBundle] = []
    for _ in 0..<10 where bundles.isEmpty {
      do { try world.run() } catch ServerError.cluster {}
      bundles = try world.bundles(for: device)
      world.clock.advance(by: .seconds(7))
    }
    XCTAssertEqual(bundles.last?.entries.map(\.notifier), [mailbox.notifier.bytes], what)
    world.clock.advance(by: .seconds(20 * 60))
    var wakes = 0
    for _ in 0..<10 where wakes == 0 {
      do { try world.run() } catch ServerError.cluster {}
      wakes = world.provider.take().count { $0.type == .background }
      world.clock.advance(by: .seconds(7))
    }
    XCTAssertGreaterThan(wakes, 0, "no wake-up, \(what)")
    XCTAssertEqual(try ask(.checkSubscriptions(token: device.token, [mailbox.notifier.bytes])).result, active, what)
    XCTAssertEqual(store.count(.tokens), 1, what)
    return store.hasFailed
  }

  // MARK: Once a day

  func testSubscriptionsAreCheckedDaily_INC67() throws {
    let world = try World()
    let device = try Device(world)
    try device.activate()
    let mailboxes = try device.subscribedMailboxes(2)
    try device.relay.disableNotifier(mailboxes[0].ends.recipient, key: mailboxes[0].key)
    world.clock.advance(by: .days(1) + .seconds(61))
    try world.run()
    XCTAssertEqual(
      try device.ask(.checkSubscriptions(token: device.token, mailboxes.map(\.notifier.bytes))).result,
      .subscriptions([
        .init(notifier: mailboxes[0].notifier.bytes, status: .refused),
        .init(notifier: mailboxes[1].notifier.bytes, status: .active),
      ]))
  }

  /// In a busy cluster the check of all tokens does not reach one that changes: it moves to the end of its bucket.
  func testATokenThatChangesIsCheckedOnceADay_INC67() throws {
    let world = try World()
    let device = try Device(world)
    try device.activate()
    let mailboxes = try device.subscribedMailboxes(3)
    world.clock.advance(by: .days(1) + .seconds(61))
    // The day's check of all tokens is over, and did not find this one.
    let store = try store(of: world)
    var progress: [UInt8] = []
    for each in [world.clock.wall().milliseconds, .max, .max] { progress.append(signed64: each) }
    let key = SharedKey(.settings, "check")
    let revision = try XCTUnwrap(try store.records([key])[0]).revision
    XCTAssertNotNil(try store.replace([SharedChange(key, progress, revision: revision)])[0])

    func statuses(afterDisabling mailbox: Int) throws -> [SubscriptionStatus] {
      try device.relay.disableNotifier(mailboxes[mailbox].ends.recipient, key: mailboxes[mailbox].key)
      try device.receive("hello", in: mailboxes[2])
      try world.run()
      let answer = try device.ask(.checkSubscriptions(token: device.token, mailboxes.map(\.notifier.bytes)))
      guard case .subscriptions(let some) = answer.result else { return [] }
      return some.map(\.status)
    }
    XCTAssertEqual(try statuses(afterDisabling: 0), [.refused, .active, .active])
    world.clock.advance(by: .seconds(3_600))
    XCTAssertEqual(try statuses(afterDisabling: 1), [.refused, .active, .active], "it was checked an hour ago")
    world.clock.advance(by: .days(1))
    XCTAssertEqual(try statuses(afterDisabling: 1), [.refused, .refused, .active])
  }

  /// A server's clock was ahead when the token was stored, and was corrected.
  func testATokenFromTheFutureIsCheckedAndNotAgainAndAgain() throws {
    let world = try World()
    let device = try Device(world)
    world.clock.stepWall(by: .days(400))
    try device.activate()
    let mailboxes = try device.subscribedMailboxes(2)
    world.clock.stepWall(by: .days(-400))
    let store = try store(of: world)
    try device.receive("hello", in: mailboxes[1])
    try world.run()
    let reads = store.reads(of: .tokens) { try? world.servers[0].serve() }
    XCTAssertLessThan(reads, 3, "it is checked without end")
    try device.relay.disableNotifier(mailboxes[0].ends.recipient, key: mailboxes[0].key)
    world.clock.advance(by: .days(1) + .seconds(61))
    try world.run()
    XCTAssertEqual(
      try device.ask(.checkSubscriptions(token: device.token, [mailboxes[0].notifier.bytes])).result,
      .subscriptions([.init(notifier: mailboxes[0].notifier.bytes, status: .refused)]))
  }

  // MARK: Damage

  func testATokenThatDoesNotReadDelaysNoOther_INC44() throws {
    let world = try World()
    let (damaged, device, store) = (try Device(world), try Device(world), try store(of: world))
    try damaged.activate()
    try device.activate()
    let mailbox = try device.subscribedMailboxes(1)[0]
    let key = TokenDocument.key(damaged.token)
    let record = try XCTUnwrap(try store.records([key])[0])
    XCTAssertNotNil(try store.replace([SharedChange(key, [9], revision: record.revision)])[0])
    XCTAssertEqual(try damaged.ask(.check(token: damaged.token)).result, .refused(.authorization))
    try device.receive("hello", in: mailbox)
    XCTAssertEqual(try pushed(world, device).count, 1)
  }
}
