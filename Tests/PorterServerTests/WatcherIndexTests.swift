import PorterPlatform
import PorterPush
import PorterRelay
import XCTest

@testable import PorterServer

/// Records that list, for many notifiers, the tokens that watch them.
final class WatcherIndexTests: XCTestCase {
  private let randomness = SystemRandomness()

  private func name() -> [UInt8] { randomness.bytes(RelayIdentifier.count) }

  private func time(_ milliseconds: Int64) -> WallTime { WallTime(milliseconds: milliseconds) }

  // MARK: Records

  func testARecordIsReadAsItWasWritten() throws {
    var watchers = Watchers()
    let (one, two, notifiers) = (name(), name(), [name(), name()])
    watchers.note(one, notifiers, at: time(-1))
    watchers.note(two, [notifiers[0]], at: time(.max))
    let bytes = watchers.encoded()
    let read = try Watchers(decoding: bytes)
    XCTAssertEqual(read, watchers)
    XCTAssertEqual(read.of(notifiers[0]), [.init(id: one, time: -1), .init(id: two, time: .max)])
    XCTAssertEqual(read.of(notifiers[1]), [.init(id: one, time: -1)])
    XCTAssertEqual(read.of(name()), [])
    for count in 1..<bytes.count where (count - 1) % 56 != 0 || count == 1 {
      XCTAssertThrowsError(try Watchers(decoding: Array(bytes.prefix(count)))) { error in
        XCTAssertEqual(error as? ServerError, .damaged(.subscription))
      }
    }
    XCTAssertThrowsError(try Watchers(decoding: [2] + bytes.dropFirst()))
  }

  func testWhatIsNotedAgainIsThereOnceWithTheLaterTime() {
    var watchers = Watchers()
    let (one, two, notifier) = (name(), name(), name())
    watchers.note(one, [notifier, notifier], at: time(1))
    watchers.note(two, [notifier], at: time(2))
    watchers.note(one, [notifier], at: time(3))
    XCTAssertEqual(watchers.of(notifier), [.init(id: two, time: 2), .init(id: one, time: 3)])
  }

  func testRemovingLeavesTheOthers() throws {
    var watchers = Watchers()
    let (ids, notifiers) = ((0..<3).map { _ in name() }, (0..<3).map { _ in name() })
    for id in ids { watchers.note(id, notifiers, at: time(1)) }
    watchers.remove([ids[0], ids[2]], of: notifiers[1])
    watchers = try Watchers(decoding: watchers.encoded())
    XCTAssertEqual(notifiers.map { watchers.of($0).map(\.id) }, [ids, [ids[1]], ids])
    for notifier in notifiers { watchers.remove(Set(ids), of: notifier) }
    XCTAssertEqual(watchers.encoded(), [], "the record is removed")
    XCTAssertEqual(try Watchers(decoding: []), Watchers())
  }

  func testANotifierHasTheTokensThatWereNotedLast() {
    var watchers = Watchers()
    let (notifier, other) = (name(), name())
    let ids = (0..<Watchers.mostTokens + 2).map { _ in name() }
    watchers.note(ids[0], [other], at: time(0))
    for (number, id) in ids.enumerated() { watchers.note(id, [notifier], at: time(Int64(number))) }
    XCTAssertEqual(watchers.of(notifier).map(\.id), Array(ids.dropFirst(2)))
    XCTAssertEqual(watchers.of(other).map(\.id), [ids[0]])
  }

  func testARecordFitsIntoOneMessageHoweverManyAreNoted() throws {
    let (id, first, last) = (name(), name(), name())
    var entry: [UInt8] = []
    for _ in 1..<Watchers.most { entry += name() + id + [UInt8](repeating: 0, count: 8) }
    var watchers = Watchers()
    watchers.note(id, [first], at: time(0))
    watchers = try Watchers(decoding: watchers.encoded() + entry)
    let count = watchers.encoded().count
    XCTAssertEqual(count, 1 + Watchers.most * 56)
    XCTAssertLessThan(count, 1_000_000)
    XCTAssertEqual(watchers.of(first).count, 1)
    watchers.note(id, [last], at: time(1))
    XCTAssertEqual(watchers.encoded().count, count)
    XCTAssertEqual([watchers.of(first).count, watchers.of(last).count], [0, 1])
  }

  // MARK: Which record

  func testANotifierHasOneOfAsManyRecordsAsTheFirstServerDecided() throws {
    let secret = randomness.bytes(32)
    for bits in [UInt8(0), 1, 4] {
      let index = try WatcherIndex(decoding: [1, bits] + secret)
      let notifiers = (0..<400).map { _ in name() }
      let keys = Set(notifiers.map(index.key))
      XCTAssertEqual(keys, Set((0..<1 << Int(bits)).map { SharedKey(.subscriptions, String($0)) }))
      XCTAssertEqual(index.grouped(notifiers).count, 1 << Int(bits))
      for (key, some) in index.grouped(notifiers) { XCTAssertEqual(Set(some.map(index.key)), [key]) }
    }
  }

  func testNoOtherLayoutIsRead() {
    let whole = WatcherIndex.new(randomness: randomness)
    XCTAssertNoThrow(try WatcherIndex(decoding: whole))
    let others: [[UInt8]] = [
      [], [1], [0] + whole.dropFirst(), [3] + whole.dropFirst(), [2, 25] + whole.dropFirst(2), Array(whole.dropLast()),
      whole + [0],
    ]
    for bytes in others {
      XCTAssertThrowsError(try WatcherIndex(decoding: bytes)) { error in
        XCTAssertEqual(error as? ServerError, .otherLayout)
      }
    }
  }
}

/// Servers whose subscriptions are all in one record.
final class OneRecordTests: XCTestCase {
  override func setUp() {
    World.isShared = true
    MemoryStore.atFirst = [WatcherIndex.key: [1, 0] + [UInt8](repeating: 7, count: 32)]
  }

  override func tearDown() {
    World.isShared = false
    MemoryStore.atFirst = [:]
  }

  /// Something that another server does at the worst moment.
  private struct Change: @unchecked Sendable {
    let body: () throws -> Void
    func run() { do { try body() } catch { XCTFail("\(error)") } }
  }

  private func devices(_ world: World) throws -> (Device, Device, MemoryStore) {
    let (one, two) = (try Device(world), try Device(world))
    try one.activate()
    try two.activate()
    return (one, two, try XCTUnwrap(world.store))
  }

  private func runLong(_ world: World) throws {
    for _ in 0..<10 {
      world.clock.advance(by: .seconds(7))
      try world.run()
    }
  }

  /// The other server gets in first before the subscription is stored, and again when it is noted afterwards.
  func testTwoServersThatNoteInOneRecordNoteBoth() throws {
    let world = try World()
    let (one, two, store) = try devices(world)
    let (mailbox, others) = (try one.newMailbox(), [try two.newMailbox(), try two.newMailbox()])
    try one.send(.subscribe(token: one.token, [mailbox.credentials]))
    let changes = others.map { other in
      Change {
        try two.send(.subscribe(token: two.token, [other.credentials]))
        try world.servers[1].serve()
      }
    }
    store.beforeReplacement(of: .subscriptions) {
      changes[0].run()
      store.beforeReplacement(of: .tokens) {
        store.beforeReplacement(of: .subscriptions) { changes[1].run() }
      }
    }
    try world.servers[0].serve()
    XCTAssertEqual(store.count(.subscriptions), 1)
    for each in others { try two.receive("hello", in: each) }
    try one.receive("hello", in: mailbox)
    try runLong(world)
    XCTAssertEqual(Set(world.provider.take().map(\.pushToken.bytes)), [one.pushToken.bytes, two.pushToken.bytes])
    let key = try store.watchers(of: mailbox.notifier.bytes)
    let watchers = try Watchers(decoding: try XCTUnwrap(try store.records([key])[0]).bytes)
    XCTAssertEqual(
      watchers.of(mailbox.notifier.bytes).map(\.time), [world.clock.wall().milliseconds - 70_000], "noted once more")
    XCTAssertEqual(others.map { watchers.of($0.notifier.bytes).count }, [1, 1])
  }

  func testATokenThatEndsLeavesTheOthersOfItsRecord() throws {
    let world = try World()
    let (one, two, store) = try devices(world)
    let mailboxes = try one.subscribedMailboxes(2)
    let mailbox = try two.subscribedMailboxes(1)[0]
    _ = try one.ask(.unsubscribe(token: one.token, [mailboxes[0].notifier.bytes]))
    let key = try store.watchers(of: mailbox.notifier.bytes)
    let watchers = try Watchers(decoding: try XCTUnwrap(try store.records([key])[0]).bytes)
    XCTAssertEqual((mailboxes + [mailbox]).map { watchers.of($0.notifier.bytes).count }, [0, 1, 1])
    XCTAssertEqual(try one.ask(.delete(token: one.token)).result, .done)
    try two.receive("hello", in: mailbox)
    try world.run()
    XCTAssertEqual(try world.bundles(for: two).count, 1)
    XCTAssertEqual(try two.ask(.delete(token: two.token)).result, .done)
    XCTAssertEqual(store.count(.subscriptions), 0)
  }

  /// Entries not removed then go with the notifier's next notification.
  func testNothingIsRemovedFromARecordThatHasChanged() throws {
    let world = try World()
    let (one, two, store) = try devices(world)
    let (ended, mailbox) = (try one.subscribedMailboxes(1)[0], try two.newMailbox())
    try one.send(.unsubscribe(token: one.token, [ended.notifier.bytes]))
    let change = Change {
      try two.send(.subscribe(token: two.token, [mailbox.credentials]))
      try world.servers[1].serve()
    }
    store.beforeReplacement(of: .subscriptions) { change.run() }
    try world.servers[0].serve()
    let key = try store.watchers(of: mailbox.notifier.bytes)
    let counts = { () throws -> [Int] in
      let watchers = try Watchers(decoding: try XCTUnwrap(try store.records([key])[0]).bytes)
      return [ended, mailbox].map { watchers.of($0.notifier.bytes).count }
    }
    XCTAssertEqual(try counts(), [1, 1])
    world.clock.advance(by: .seconds(61))
    try one.receive("hello", in: ended)
    try two.receive("hello", in: mailbox)
    try world.run()
    XCTAssertEqual(try counts(), [0, 1])
    XCTAssertEqual(try world.bundles(for: two).count, 1)
  }

  /// Its notifications wait until the daily check has noted the subscriptions anew.
  func testARecordThatDoesNotReadLosesNoNotification_INC44() throws {
    let world = try World()
    let (one, two, store) = try devices(world)
    let mailbox = try one.subscribedMailboxes(1)[0]
    let key = try store.watchers(of: mailbox.notifier.bytes)
    let record = try XCTUnwrap(try store.records([key])[0])
    XCTAssertNotNil(try store.replace([SharedChange(key, [9], revision: record.revision)])[0])
    try one.receive("hello", in: mailbox)
    try runLong(world)
    XCTAssertEqual(try world.bundles(for: one).count, 0)
    XCTAssertEqual(try two.status(), .active, "others are served")
    world.clock.advance(by: .days(1) + .seconds(61))
    try runLong(world)
    XCTAssertEqual(try world.bundles(for: one).flatMap(\.entries).map(\.notifier), [mailbox.notifier.bytes])
  }

  func testSubscriptionsOfAnotherLayoutAreRefused() throws {
    MemoryStore.atFirst = [SharedServer.identityKey: [9]]
    XCTAssertThrowsError(try World()) { error in XCTAssertEqual(error as? ServerError, .otherLayout) }
    MemoryStore.atFirst = [WatcherIndex.key: [2, 0]]
    XCTAssertThrowsError(try World()) { error in XCTAssertEqual(error as? ServerError, .otherLayout) }
  }
}
