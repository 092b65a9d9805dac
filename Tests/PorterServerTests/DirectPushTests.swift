import PorterPlatform
import PorterPush
import PorterRelay
import XCTest

@testable import PorterServer

/// Pushes that are sent as soon as their documents are stored, without work in a queue.
final class DirectPushTests: XCTestCase {
  override func setUp() { (World.isShared, World.relay) = (true, .cluster) }
  override func tearDown() { (World.isShared, World.relay) = (false, .local) }

  private static let provider = "apns_test"
  private static let queue = "push-apns_test"

  /// Active devices with a mailbox each, and two servers.
  private struct Night {
    let world: World
    let devices: [Device]
    let mailboxes: [Device.Mailbox]
    let store: MemoryStore
    let first: SharedServer
    let second: SharedServer

    init(devices count: Int = 1) throws {
      world = try World()
      let devices = try (0..<count).map { [world] _ in try Device(world) }
      for device in devices { try device.activate() }
      mailboxes = try devices.map { try $0.subscribedMailboxes(1)[0] }
      try world.endSpareWork()
      self.devices = devices
      store = try XCTUnwrap(world.store)
      first = try XCTUnwrap(world.servers[0] as? SharedServer)
      second = try XCTUnwrap(world.servers[1] as? SharedServer)
      wait(.seconds(2))
    }

    var waiting: Int { store.waiting(DirectPushTests.queue) }

    func wait(_ span: Span) { world.clock.advance(by: span) }
    func receive(_ number: Int = 0) throws { try devices[number].receive("hello", in: mailboxes[number]) }

    /// One turn of the first server.
    func turn(room: Int = 100) throws { try first.serve(isWoken: true, room: [DirectPushTests.provider: room]) }

    func pushes(of server: SharedServer? = nil, underWay: [PendingPush] = []) throws -> [PendingPush] {
      try (server ?? first).nextPushes(
        for: DirectPushTests.provider, count: 100, underWay: Set(underWay.map(\.sequence)))
    }

    func push() throws -> PendingPush {
      let pushes = try pushes()
      XCTAssertEqual(pushes.count, 1)
      return try XCTUnwrap(pushes.first)
    }

    func finish(_ push: PendingPush, _ outcome: PushOutcome = .accepted) throws {
      try first.finish(push, outcome)
      try first.confirmOutcomes()
    }

    func document(_ number: Int = 0) throws -> TokenDocument {
      let record = try store.records([TokenDocument.key(devices[number].token)])[0]
      return try TokenDocument(decoding: try XCTUnwrap(record).bytes)
    }

    /// Neither acknowledged nor over.
    func notificationsAtTheRelay() throws -> Int {
      try first.server.notifiers.dueNotifications().notifications.count
    }
  }

  func testAPushNeedsNoWork() throws {
    let night = try Night()
    try night.receive()
    try night.turn()
    XCTAssertEqual(night.waiting, 0)
    let push = try night.push()
    XCTAssertEqual(try night.document().pushes.map(\.version), [push.due.version], "it is in the document")
    XCTAssertEqual(try night.pushes(underWay: [push]).count, 0)
    try night.finish(push)
    XCTAssertEqual(try night.document().pushes, [])
    XCTAssertEqual(night.waiting, 0)
  }

  func testItsNotificationStaysAtTheRelayUntilItHasEnded() throws {
    let night = try Night()
    try night.receive()
    try night.turn()
    let push = try night.push()
    for _ in 0..<4 {
      night.wait(.milliseconds(500))
      try night.turn()
    }
    XCTAssertEqual(try night.notificationsAtTheRelay(), 1)
    try night.finish(push)
    let next = night.first.nextDeadline()
    XCTAssertLessThanOrEqual(next, night.world.clock.now() + GatheredAcknowledgements.span)
    night.wait(GatheredAcknowledgements.span)
    try night.first.serve(isWoken: false)
    XCTAssertEqual(try night.notificationsAtTheRelay(), 0)
  }

  func testAServerThatEndsAcknowledgesWhatWasPushed() throws {
    let night = try Night()
    try night.receive()
    try night.turn()
    try night.first.finish(try night.push(), .accepted)
    night.first.leave()
    XCTAssertEqual(try night.notificationsAtTheRelay(), 0)
  }

  /// Of its push there is nothing but the document.
  func testWhatAServerLeavesIsPushedByAnother() throws {
    for isHandedOver in [false, true] {
      let night = try Night()
      try night.receive()
      try night.turn()
      if isHandedOver { _ = try night.push() }
      night.wait(.seconds(5))
      try night.second.serve()
      let pushes = try night.pushes(of: night.second)
      XCTAssertEqual(pushes.map(\.due.version), try night.document().pushes.map(\.version))
      for push in pushes { try night.second.finish(push, .accepted) }
      try night.second.confirmOutcomes()
      XCTAssertEqual(try night.document().pushes, [])
    }
  }

  func testOnlyAsManyAsTheProviderTakesAreDirect() throws {
    let night = try Night(devices: 3)
    for number in 0..<3 { try night.receive(number) }
    try night.turn(room: 2)
    XCTAssertEqual(night.waiting, 1)
    XCTAssertEqual(try night.pushes().count, 3)
  }

  func testAPausedProviderGetsWork() throws {
    let night = try Night(devices: 2)
    try night.receive()
    try night.turn()
    try night.finish(try night.push(), .unreachable(.closed))
    XCTAssertEqual(night.waiting, 1, "any server may try again")
    try night.receive(1)
    try night.turn()
    XCTAssertEqual(night.waiting, 2)
  }

  // MARK: News while one is under way

  func testAMessageThatComesMeanwhileIsPushedNext() throws {
    let night = try Night()
    try night.receive()
    try night.turn()
    let first = try night.push()
    try night.receive()
    try night.turn()
    XCTAssertEqual(night.waiting, 1)
    XCTAssertEqual(try night.pushes(underWay: [first]).count, 0, "one push of a token at a time")
    try night.finish(first)
    night.wait(.seconds(1))
    let second = try night.push()
    XCTAssertNotEqual(second.due.version, first.due.version)
    try night.finish(second)
    XCTAssertEqual(try night.document().pushes, [])
    XCTAssertEqual(night.waiting, 0)
  }

  func testAPushThatIsNotHandedOverYetIsNotTakenFromTheQueueAsWell() throws {
    let night = try Night()
    for _ in 0..<2 {
      try night.receive()
      try night.turn()
    }
    XCTAssertEqual(night.waiting, 1)
    XCTAssertEqual(try night.pushes().count, 1)
  }

  /// Another server stored it, whose push has not ended.
  func testAPushThatIsDueAlreadyGetsWork() throws {
    let night = try Night()
    try night.receive()
    try night.second.serve()
    XCTAssertEqual(night.waiting, 1)
    try night.second.serve()
    try night.receive()
    try night.turn()
    XCTAssertEqual(night.waiting, 2)
  }

  // MARK: Slow providers

  /// A relay gives a notification again after 5 seconds.
  func testAPushThatTakesLongGetsWork() throws {
    let night = try Night()
    try night.receive()
    try night.turn()
    let push = try night.push()
    night.wait(.seconds(3))
    try night.turn()
    XCTAssertEqual(night.waiting, 1)
    night.wait(GatheredAcknowledgements.span)
    try night.turn()
    XCTAssertEqual(try night.notificationsAtTheRelay(), 0)
    XCTAssertEqual(try night.pushes(underWay: [push]).count, 0)
    for _ in 0..<5 {
      night.wait(.seconds(2))
      try night.turn()
      XCTAssertEqual(try night.pushes(underWay: [push]).count, 0)
      XCTAssertEqual(try night.pushes(of: night.second).count, 0, "the first server has the work")
    }
    try night.finish(push)
    XCTAssertEqual(try night.document().pushes, [])
    XCTAssertEqual(night.waiting, 0)
  }

  func testAPushThatIsNotHandedOverGetsWorkAndIsSentFromThere() throws {
    let night = try Night()
    try night.receive()
    try night.turn()
    night.wait(.seconds(3))
    try night.turn()
    XCTAssertEqual(night.waiting, 1)
    try night.finish(try night.push())
    XCTAssertEqual(night.waiting, 0)
  }

  func testASlowProviderGetsNoOthersDirectly() throws {
    let night = try Night(devices: 4)
    try night.receive()
    try night.turn()
    let slow = try night.push()
    night.wait(.seconds(1))
    try night.receive(1)
    try night.turn()
    XCTAssertEqual(night.waiting, 1)
    night.wait(.seconds(3))
    try night.turn()
    XCTAssertEqual(night.waiting, 2, "it has work by now, and is still under way")
    try night.receive(2)
    try night.turn()
    XCTAssertEqual(night.waiting, 3)
    try night.finish(slow)
    try night.receive(3)
    try night.turn()
    XCTAssertEqual(night.waiting, 3)
  }

  // MARK: Relays with a file

  /// It gives held notifications to any server that asks.
  func testARelayThatDoesNotWaitIsRecognised() throws {
    World.relay = .network
    let night = try Night(devices: 2)
    try night.receive()
    try night.turn()
    let push = try night.push()
    try night.turn()
    try night.receive(1)
    try night.turn()
    XCTAssertEqual(night.waiting, 1)
    try night.finish(push)
    try night.turn()
    XCTAssertEqual(try night.notificationsAtTheRelay(), 0, "acknowledged in the next turn")
  }

  // MARK: Failures

  /// Each call to the cluster fails once, before or after it was carried out.
  func testEveryFailureLeavesEachMessagePushed() throws {
    for failure in MemoryStore.Failure.allCases {
      for call in 1...8 {
        for outcome in [PushOutcome.accepted, .later(seconds: 30)] {
          let night = try Night()
          try night.receive()
          night.world.provider.answer([outcome], then: .accepted)
          night.store.fail(call: call, failure)
          for _ in 0..<40 {
            try night.turn()
            for push in (try? night.pushes()) ?? [] {
              let outcome = night.world.provider.deliverWithRetry(push.push)
              // Like the loop, which calls again until it succeeds.
              while (try? night.first.finish(push, outcome)) == nil { night.wait(.milliseconds(200)) }
            }
            night.wait(.seconds(2))
          }
          XCTAssertGreaterThanOrEqual(
            try night.world.bundles(for: night.devices[0]).count, 1, "\(failure) of call \(call), \(outcome)")
          XCTAssertEqual(try night.document().pushes, [], "\(failure) of call \(call), \(outcome)")
          XCTAssertEqual(night.waiting, 0, "\(failure) of call \(call), \(outcome)")
          XCTAssertEqual(try night.notificationsAtTheRelay(), 0, "\(failure) of call \(call), \(outcome)")
        }
      }
    }
  }

  /// It ended right after the document had said that the push is deferred. Meanwhile the device has fetched the message,
  /// so the relay has nothing to give again.
  func testADeferredPushOfAServerThatEndedIsSentInTime() throws {
    let night = try Night()
    try night.receive()
    try night.turn()
    let push = try night.push()
    night.store.fail(call: 2, .answerLost)
    XCTAssertThrowsError(try night.first.finish(push, .later(seconds: 30)))
    XCTAssertNotEqual(try night.document().pushes.first?.dueAt, 0)
    try night.devices[0].fetchAll(night.mailboxes[0])
    night.wait(.seconds(5))
    try night.second.serve()
    XCTAssertEqual(try night.pushes(of: night.second).count, 0)
    night.wait(.seconds(30))
    try night.second.serve()
    XCTAssertEqual(try night.pushes(of: night.second).count, 1)
  }

  func testWorkThatWasAddedForADeferredPushIsNotAddedAgain() throws {
    let night = try Night()
    try night.receive()
    try night.turn()
    let push = try night.push()
    for call in [2, 2] {
      night.store.fail(call: call, .requestLost)
      XCTAssertThrowsError(try night.first.finish(push, .later(seconds: 30)))
      night.wait(.milliseconds(100))
    }
    try night.finish(push, .later(seconds: 30))
    XCTAssertEqual(night.waiting, 1)
  }

  /// The second message is stored, its work is not, and it is taken once more while the first is still under way.
  func testAMessageWhoseWorkWasNotAddedIsPushedAfterTheOneUnderWay() throws {
    let night = try Night()
    try night.receive()
    try night.turn()
    let first = try night.push()
    try night.receive()
    night.store.failNextAdd()
    try night.turn()
    XCTAssertFalse(night.store.isAddFailing)
    XCTAssertEqual(night.waiting, 0)
    night.wait(.milliseconds(600))
    try night.turn()
    try night.finish(first)
    night.wait(.seconds(1))
    let second = try night.push()
    XCTAssertNotEqual(second.due.version, first.due.version)
  }

  /// They need nothing of it.
  func testDirectPushesGoOutThoughTheQueueFails() throws {
    let night = try Night()
    try night.receive()
    night.store.stall(Self.queue, true)
    night.wait(WorkLooks.interval)
    try night.turn()
    XCTAssertEqual(try night.pushes().count, 1)
    XCTAssertThrowsError(try night.pushes())
  }

  /// Acknowledged ones are not given again if the server ends.
  func testWhatIsTakenOnceMoreAfterTroubleGetsWork() throws {
    let night = try Night()
    let before = try XCTUnwrap(try night.store.records([TokenDocument.key(night.devices[0].token)])[0])
    try night.receive()
    try night.turn()
    try night.finish(try night.push())
    night.wait(.seconds(1))
    try night.turn()
    XCTAssertEqual(try night.notificationsAtTheRelay(), 0)
    let key = TokenDocument.key(night.devices[0].token)
    let after = try XCTUnwrap(try night.store.records([key])[0])
    XCTAssertNotNil(try night.store.replace([SharedChange(key, before.bytes, revision: after.revision)])[0])
    night.store.fail(call: 1, .requestLost)
    night.wait(WorkLooks.interval)
    try night.turn()
    XCTAssertTrue(night.store.hasFailed)
    night.wait(.seconds(6))
    try night.turn()
    XCTAssertEqual(night.waiting, 1)
  }

  /// A server is just subscribing another token to the notifier.
  func testANotificationThatWaitsForAnotherTokenIsNotAcknowledged() throws {
    let night = try Night(devices: 2)
    try night.second.noteWatching(night.devices[1].token, [night.mailboxes[0].notifier.bytes])
    try night.receive()
    try night.turn()
    try night.finish(try night.push())
    for _ in 0..<3 {
      night.wait(.seconds(1))
      try night.turn()
      XCTAssertEqual(try night.notificationsAtTheRelay(), 1)
    }
  }

  // MARK: Outcomes

  /// They are stored while the relay is asked.
  func testAnOutcomeThatCannotBeStoredIsStoredLater() throws {
    for failure in MemoryStore.Failure.allCases {
      let night = try Night()
      try night.receive()
      try night.turn()
      let push = try night.push()
      night.store.fail(call: 1, failure)
      try night.first.finish(push, .accepted)
      XCTAssertTrue(night.store.hasFailed)
      XCTAssertEqual(try night.pushes().count, 0, "it has ended")
      night.wait(.seconds(1))
      try night.turn()
      XCTAssertEqual(try night.document().pushes, [], "\(failure)")
      night.wait(.seconds(1))
      try night.turn()
      XCTAssertEqual(try night.notificationsAtTheRelay(), 0, "\(failure)")
    }
  }

  /// Whether an outcome is stored by way of a work file or not.
  func testAnAcceptedPushEndsInTheDocumentAsInAWorkFile() throws {
    for isDraining in [false, true] {
      let night = try Night()
      try night.receive()
      try night.turn()
      let push = try night.push()
      var document = try night.document()
      if isDraining { night.first.drain() }
      try night.finish(push)
      document.end(push.due)
      XCTAssertEqual(try night.document(), document)
      XCTAssertEqual(document.pushes, [])
    }
  }

  /// The acceptance of a verification push changes the token.
  func testTheOutcomeOfAVerificationGoesThroughAWorkFile() throws {
    let world = try World()
    let device = try Device(world)
    try device.send(device.newToken)
    try world.server.serve()
    let push = try XCTUnwrap(try world.server.nextPush(for: Self.provider))
    XCTAssertEqual(push.kind, .verification)
    let key = try XCTUnwrap(world.store).token(after: 0)
    try world.server.finish(push, .accepted)
    let record = try XCTUnwrap(world.store).records([SharedKey(.tokens, try XCTUnwrap(key).key)])[0]
    let document = try TokenDocument(decoding: try XCTUnwrap(record).bytes)
    XCTAssertEqual(document.pushes, [])
    XCTAssertEqual(document.state, "confirmed")
  }

  func testThePushOfWorkIsNotSentAgainWhileItsOutcomeIsStored() throws {
    let night = try Night()
    try night.receive()
    try night.turn(room: 0)
    let push = try night.push()
    night.store.fail(call: 1, .requestLost)
    try night.first.finish(push, .accepted)
    night.store.endLeases()
    try night.store.add([SharedWork(Self.queue, night.devices[0].token + Array("message".utf8))])
    night.wait(WorkLooks.interval)
    XCTAssertEqual(try night.pushes().count, 0)
    try night.turn()
    for _ in 0..<3 {
      night.wait(FinishedWork.pause)
      XCTAssertEqual(try night.pushes().count, 0)
    }
    XCTAssertEqual(night.waiting, 0)
  }

  // MARK: Checks

  /// The daily check of many tokens goes on, and notifications do not wait for it.
  func testFewTokensAreCheckedWhileThereAreMessages() throws {
    let night = try Night(devices: 9)
    night.wait(.days(1) + .seconds(61))
    func checked() throws -> Int {
      let now = night.world.clock.wall().milliseconds
      return try (0..<9).count { now - (try night.document($0).checkedAt) < 60_000 }
    }
    XCTAssertEqual(try checked(), 0)
    try night.receive(8)
    try night.turn()
    XCTAssertLessThanOrEqual(try checked(), 2)
    let atFirst = try checked()
    try night.turn()
    XCTAssertEqual(try checked(), atFirst, "not in each turn")
    XCTAssertLessThanOrEqual(night.first.nextDeadline(), night.world.clock.now() + .milliseconds(40))
    for push in try night.pushes() { try night.finish(push) }
    var turns = 0
    while turns < 20, try checked() < 9 {
      night.wait(max(.zero, night.first.nextDeadline() - night.world.clock.now()))
      try night.receive(8)
      try night.turn()
      for push in try night.pushes() { try night.finish(push) }
      turns += 1
    }
    XCTAssertLessThan(turns, 20, "it goes on")
  }
}
