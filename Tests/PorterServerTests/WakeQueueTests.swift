import PorterPlatform
import PorterPush
import PorterRelay
import PropertyTesting
import XCTest

@testable import PorterServer

/// Wake-ups of servers that share their state: how long they wait, and how many are postponed meanwhile.
final class WakeQueueTests: XCTestCase {
  override func setUp() { World.isShared = true }
  override func tearDown() { World.isShared = false }

  private let minute = Span.seconds(60)

  private func periodic(_ minutes: Int) throws -> (world: World, device: Device, store: MemoryStore) {
    let world = try World()
    let (device, store) = (try Device(world), try XCTUnwrap(world.store))
    try device.activate()
    XCTAssertEqual(try device.ask(.setPeriod(token: device.token, minutes: minutes)).result, .done)
    try world.run()
    return (world, device, store)
  }

  private func wakes(_ world: World) -> Int { world.provider.take().count { $0.type == .background } }

  /// Runs every second. Returns after how many seconds wake-ups came.
  private func watch(_ world: World, for span: Span) throws -> [Int64] {
    var found: [Int64] = []
    for second in 1...span.milliseconds / 1_000 {
      world.clock.advance(by: .seconds(1))
      try world.run()
      for _ in 0..<wakes(world) { found.append(second) }
    }
    return found
  }

  // MARK: Waits

  func testWaitsAddUpToTheTimeThatIsLeft() {
    for minutes in Int64(0)..<200 { assertWaitsAddUp(to: max(0, minutes * 60_000 - 5)) }
    forAll(Generator<Int64>.number(0...10 * 86_400_000), runs: 2_000) { assertWaitsAddUp(to: $0) }
  }

  private func assertWaitsAddUp(to whole: Int64) {
    var (left, waited, waits) = (whole, Int64(0), 0)
    repeat {
      let step = WakeQueue.first(for: left)
      (waited, left, waits) = (waited + step.queue.wait.milliseconds, step.left, waits + 1)
    } while left > 0 && waits < 30
    XCTAssertLessThanOrEqual(abs(waited - whole), WakeQueue.tolerance.milliseconds, "\(whole)")
    XCTAssertLessThanOrEqual(waits, 20, "\(whole)")
  }

  func testTheUsualPeriodIsOneWait() {
    for late: Int64 in [0, 5, 2_000] {
      let step = WakeQueue.first(for: 20 * 60_000 - late)
      XCTAssertEqual(step.queue.name, "wakes-20")
      XCTAssertEqual(step.left, 0)
    }
    XCTAssertEqual(WakeQueue.first(for: 0).queue.name, "wakes")
  }

  func testEachPeriodIsKept() throws {
    for minutes in [20, 45, 61] {
      let (world, _, store) = try periodic(minutes)
      let seconds = Int64(minutes) * 60
      let found = try watch(world, for: .seconds(2 * seconds + 65))
      XCTAssertEqual(found.count, 2, "\(minutes): \(found)")
      for (number, second) in found.enumerated() {
        XCTAssertLessThanOrEqual(abs(second - Int64(number + 1) * seconds), 60, "\(minutes): \(found)")
      }
      XCTAssertEqual(store.waitingWakes, 1, "\(minutes)")
    }
  }

  func testAPeriodOfDaysIsKept() throws {
    let (world, _, store) = try periodic(2 * 24 * 60 + 7)
    for _ in 0..<2 * 24 * 60 + 5 {
      world.clock.advance(by: minute)
      try world.run()
    }
    XCTAssertEqual(wakes(world), 0)
    XCTAssertEqual(store.waitingWakes, 1)
    XCTAssertEqual(try watch(world, for: .seconds(180)).count, 1)
  }

  // MARK: Many

  /// What nodes do for a queue grows with its postponed items.
  func testOfManyWakeUpsFewArePostponed() throws {
    let (world, device, store) = try periodic(20)
    let server = try XCTUnwrap(world.server as? SharedServer)
    let count = 700
    for number in 0..<count {
      // They were stored over ten minutes.
      if number % 35 == 0 { world.clock.advance(by: .seconds(30)) }
      let stored = try XCTUnwrap(try store.records([TokenDocument.key(device.token)])[0])
      var document = try TokenDocument(decoding: stored.bytes)
      document.id = randomness.bytes(RelayIdentifier.count)
      document.pushToken = randomness.bytes(32)
      let wall = world.clock.wall().milliseconds
      document.wake = .init(dueAt: wall + 20 * 60_000, wokenAt: wall)
      _ = try store.replace([SharedChange(TokenDocument.key(document.id), document.encoded(), revision: 0)])
      try server.addWork([document]) { _ in nil }
      try world.run()
    }
    _ = wakes(world)
    var (most, found) = (0, 0)
    for _ in 0..<1_200 {
      world.clock.advance(by: .seconds(1))
      try world.run()
      most = max(most, store.postponed("wakes-20"))
      found += wakes(world)
    }
    // The device's own as well.
    XCTAssertEqual(found, count + 1, "each once a period")
    XCTAssertEqual(store.waitingWakes, count + 1)
    XCTAssertLessThanOrEqual(most, world.servers.count * ServerTimes.slice)
  }

  // MARK: Trouble

  func testAnotherServerWakesWhatOneHadPostponed() throws {
    let (world, _, _) = try periodic(20)
    world.clock.advance(by: .seconds(19 * 60 + 30))
    // This one postpones it, and ends.
    try world.servers[0].serve()
    world.clock.advance(by: .seconds(29))
    var found = 0
    for _ in 0..<62 where found == 0 {
      world.clock.advance(by: .seconds(1))
      try world.servers[1].serve()
      while let push = try world.servers[1].nextPush(for: "apns_test") {
        try world.servers[1].finish(push, world.provider.deliverWithRetry(push.push))
      }
      found += wakes(world)
    }
    XCTAssertEqual(found, 1)
  }

  /// Another consumer gives all items anew, also those that a server counts as postponed.
  func testNothingIsPostponedForLong() throws {
    let (world, _, store) = try periodic(2 * 24 * 60)
    world.clock.advance(by: .seconds(61))
    try world.run()
    XCTAssertEqual(store.postponed("wakes-1440"), 1)
    world.clock.advance(by: .seconds(61))
    XCTAssertEqual(store.postponed("wakes-1440"), 0)
  }

  /// A node that gives an item late does not delay its wake-up by a whole pause.
  func testAPostponedItemThatIsNotThereIsLookedForAgain() {
    var held = HeldWakes()
    let (queue, start) = (WakeQueue.first(for: 20 * 60_000).queue, Moment(nanoseconds: 0))
    XCTAssertEqual(held.room(queue, most: 8, now: start), 8)
    held.hold(queue, until: start + .seconds(10))
    held.looked(queue, taken: 1, found: 0, room: 8, now: start)
    XCTAssertEqual(held.room(queue, most: 8, now: start + .seconds(9)), 0)
    XCTAssertEqual(held.room(queue, most: 8, now: start + .seconds(10)), 8)
    held.looked(queue, taken: 1, found: 0, room: 8, now: start + .seconds(10))
    XCTAssertEqual(held.room(queue, most: 8, now: start + .seconds(11)), 8)
    held.looked(queue, taken: 0, found: 0, room: 8, now: start + .seconds(11))
    XCTAssertEqual(held.room(queue, most: 8, now: start + .seconds(12)), 0)
    XCTAssertEqual(held.room(queue, most: 8, now: start + .seconds(11) + queue.lookInterval), 8)
  }

  func testEachQueueIsTheFirstInItsTurn() {
    var held = HeldWakes()
    let firsts = WakeQueue.all.map { _ in held.queues().first }
    XCTAssertEqual(Set(firsts), Set(WakeQueue.all))
  }

  /// Messages leave no second wake-up behind.
  func testWakeUpsDoNotMultiply() throws {
    let (world, device, store) = try periodic(20)
    let mailbox = try device.subscribedMailboxes(1)[0]
    for number in 0..<200 {
      if number % 6 == 0 { for _ in 0..<3 { try device.receive("\(number)", in: mailbox) } }
      world.clock.advance(by: .seconds(17))
      try world.run()
      XCTAssertLessThanOrEqual(store.waitingWakes, 1)
    }
  }

  func testNotificationsTakenAgainAddNoWakeUp() throws {
    let (world, device, store) = try periodic(20)
    world.clock.advance(by: .seconds(120))
    try device.receive("hello", in: try device.subscribedMailboxes(1)[0])
    try world.run()
    for server in world.servers {
      store.fail(call: 1, .requestLost)
      try server.serve()
    }
    for _ in 0..<30 {
      world.clock.advance(by: .seconds(1))
      try world.run()
    }
    XCTAssertEqual(store.waitingWakes, 1)
  }

  /// Two servers that add one wake-up leave two items.
  func testASecondItemEndsWithItsWakeUp() throws {
    let (world, device, store) = try periodic(20)
    let stored = try XCTUnwrap(try store.records([TokenDocument.key(device.token)])[0])
    let wake = try XCTUnwrap(try TokenDocument(decoding: stored.bytes).wake)
    world.clock.advance(by: .seconds(20 * 60))
    try world.run()
    XCTAssertEqual(wakes(world), 1)
    world.clock.advance(by: .seconds(90))
    try store.add([WakeItem.work(of: device.token, dueAt: wake.dueAt, in: 0)])
    try world.run()
    XCTAssertEqual(wakes(world), 0)
    for _ in 0..<3 {
      XCTAssertEqual(try watch(world, for: .seconds(20 * 60)).count, 1)
      XCTAssertEqual(store.waitingWakes, 1)
    }
  }

  func testAPeriodThatIsSetAgainLeavesNoSecondItem() throws {
    let (world, device, store) = try periodic(20)
    for _ in 0..<6 {
      world.clock.advance(by: .seconds(7 * 60))
      XCTAssertEqual(try device.ask(.setPeriod(token: device.token, minutes: 20)).result, .done)
      try world.run()
      XCTAssertEqual(wakes(world), 0)
    }
    // The wake-ups of the last three periods.
    XCTAssertLessThanOrEqual(store.waitingWakes, 3)
    XCTAssertEqual(try watch(world, for: .seconds(21 * 60)).count, 1)
    XCTAssertEqual(store.waitingWakes, 1)
  }

  func testALateWaitShortensTheNextOne() throws {
    let (world, _, _) = try periodic(45)
    // No server looks until the first wait, of 30 minutes, is long over.
    world.clock.advance(by: .seconds(40 * 60))
    XCTAssertEqual(try watch(world, for: .seconds(4 * 60)), [])
    XCTAssertEqual(try watch(world, for: .seconds(2 * 60)).count, 1)
  }

  func testAnUnreadableItemEnds() throws {
    let (world, _, store) = try periodic(20)
    for queue in WakeQueue.all { try store.add([SharedWork(queue.name, []), SharedWork(queue.name, [1, 2, 3])]) }
    world.clock.advance(by: .seconds(61))
    try world.run()
    XCTAssertEqual(store.waitingWakes, 1)
  }

  /// The work is given again after its lease, or at once by another consumer, which counts deliveries anew.
  func testAWakeUpContinuesAfterAFailedTurn() throws {
    for isReplaced in [false, true] {
      let (world, _, store) = try periodic(20)
      world.clock.advance(by: .seconds(20 * 60))
      store.failNextAdd()
      try world.servers[0].serve()
      XCTAssertFalse(store.isAddFailing)
      if isReplaced { store.replaceConsumers() }
      XCTAssertEqual(try watch(world, for: .seconds(10)).count, 1, "\(isReplaced)")
      XCTAssertEqual(try watch(world, for: .seconds(20 * 60)).count, 1, "\(isReplaced)")
      XCTAssertEqual(store.waitingWakes, 1, "\(isReplaced)")
    }
  }

  /// A queue without a leader.
  func testAQueueThatDoesNotAnswerStopsNoOther() throws {
    for queue in WakeQueue.all where queue.name != "wakes-20" {
      let (world, device, store) = try periodic(20)
      let mailbox = try device.subscribedMailboxes(1)[0]
      store.stall(queue.name, true)
      XCTAssertEqual(try watch(world, for: .seconds(21 * 60)).count, 1, queue.name)
      try device.receive("hello", in: mailbox)
      for _ in 0..<60 {
        world.clock.advance(by: .seconds(1))
        try world.run()
      }
      XCTAssertEqual(try world.bundles(for: device).count, 1, queue.name)
    }
  }

  /// The servers share one clock here; the cluster's is right.
  func testAServerWhoseClockIsAheadWakesNothingEarly() throws {
    let (world, _, _) = try periodic(20)
    world.clock.stepWall(by: .seconds(3_600))
    XCTAssertEqual(try watch(world, for: .seconds(19 * 60)), [])
    XCTAssertEqual(try watch(world, for: .seconds(90)).count, 1)
  }

  /// Items seem to have waited an hour longer than they have.
  func testANodeClockThatJumpsAheadWakesNothingEarly() throws {
    let (world, _, store) = try periodic(20)
    store.stepClock(by: .seconds(3_600))
    XCTAssertEqual(try watch(world, for: .seconds(18 * 60)), [])
    XCTAssertEqual(try watch(world, for: .seconds(3 * 60)).count, 1)
    XCTAssertEqual(try watch(world, for: .seconds(21 * 60)).count, 1)
    XCTAssertEqual(store.waitingWakes, 1)
  }

  /// The node that stores items may be another than the one that servers take the time from.
  func testNodesWhoseClocksDifferDelayNoWakeUpForLong() throws {
    for minutes: Int64 in [-60, 60] {
      let world = try World()
      let (device, store) = (try Device(world), try XCTUnwrap(world.store))
      try device.activate()
      store.stepItemClock(by: .seconds(minutes * 60))
      XCTAssertEqual(try device.ask(.setPeriod(token: device.token, minutes: 20)).result, .done)
      XCTAssertEqual(try watch(world, for: .seconds(19 * 60)), [], "\(minutes)")
      XCTAssertEqual(try watch(world, for: .seconds(4 * 60)).count, 1, "\(minutes)")
      XCTAssertEqual(try watch(world, for: .seconds(22 * 60)).count, 1, "\(minutes)")
      XCTAssertEqual(store.waitingWakes, 1, "\(minutes)")
    }
  }

  func testAWallClockMayStepByLessThanAMinute() throws {
    for difference: Int64 in [-50, 50] {
      let (world, _, _) = try periodic(20)
      world.clock.stepWall(by: .seconds(difference))
      let found = try watch(world, for: .seconds(21 * 60 + 5))
      XCTAssertEqual(found.count, 1, "\(difference): \(found)")
    }
  }

  // MARK: Earlier versions

  /// They had one queue, with items postponed until they are due.
  func testWakeUpsOfAnEarlierVersionComeOnceAndOnTime() throws {
    for isPostponed in [false, true] {
      let (world, device, store) = try periodic(20)
      let stored = try XCTUnwrap(try store.records([TokenDocument.key(device.token)])[0])
      let wake = try XCTUnwrap(try TokenDocument(decoding: stored.bytes).wake)
      store.loseWakes()
      var bytes = device.token
      bytes.append(signed64: wake.dueAt)
      try store.add([SharedWork("wakes", bytes)])
      if isPostponed {
        let taken = try store.take("wakes", limit: 1)
        store.postpone(taken[0], milliseconds: wake.dueAt - world.clock.wall().milliseconds)
      }
      XCTAssertEqual(try watch(world, for: .seconds(19 * 60)), [], "\(isPostponed)")
      XCTAssertEqual(try watch(world, for: .seconds(120)).count, 1, "\(isPostponed)")
      XCTAssertEqual(try watch(world, for: .seconds(20 * 60)).count, 1, "\(isPostponed)")
      XCTAssertEqual(store.waitingWakes, 1, "\(isPostponed)")
      XCTAssertEqual(store.waiting("wakes"), 0, "\(isPostponed)")
    }
  }
}
