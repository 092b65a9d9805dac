import PorterPlatform
import PorterPush
import PorterRelay

/// Wake-ups, which wait in the queues of `WakeQueue`.
extension SharedServer {
  /// How many milliseconds an item that came too early is postponed at most.
  private static let longestPause: Int64 = 86_400_000

  func wakeDevices() throws(ServerError) {
    var (due, asked): ([WakeItem], [WakeQueue]) = ([], [])
    var failure: ServerError?
    for queue in heldWakes.queues() where failure == nil && due.count < ServerTimes.slice {
      asked.append(queue)
      do throws(ServerError) {
        let taken = try takeWaited(queue, limit: ServerTimes.slice - due.count)
        try pass(on: taken.filter { $0.left > 0 })
        due += taken.filter { $0.left == 0 }
      } catch {
        // It does not delay what other queues gave.
        failure = error
      }
    }
    do throws(ServerError) { if !due.isEmpty { try wake(due) } } catch { failure = failure ?? error }
    guard let failure else { return }
    heldWakes.lookAgain(asked, now: clock.now())
    throw failure
  }

  /// Takes items, postpones those that have not waited long enough, and returns the others.
  private func takeWaited(_ queue: WakeQueue, limit: Int) throws(ServerError) -> [WakeItem] {
    let now = clock.now()
    let room = min(limit, heldWakes.room(queue, most: ServerTimes.slice, now: now))
    guard room > 0 else { return [] }
    let taken = try asking { (store) throws(SharedStoreFailure) in try store.take(queue.name, limit: room) }
    var waited: [WakeItem] = []
    let items = taken.map { WakeItem($0, queue) }
    let unreadable = items.filter { !$0.isReadable }.map(\.work)
    if !unreadable.isEmpty { try asking { (store) throws(SharedStoreFailure) in try store.end(unreadable) } }
    for item in items where item.isReadable {
      let hold = min(item.wait(at: clusterTime, certainWall), WakeQueue.longestHold.milliseconds)
      guard hold > 0 else {
        waited.append(item)
        continue
      }
      postpone(item.work, milliseconds: hold)
      heldWakes.hold(queue, until: now + .milliseconds(hold))
    }
    // An item that was postponed has been given before.
    let found = taken.count { $0.times > 1 }
    heldWakes.looked(queue, taken: taken.count, found: found, room: room, now: now)
    if taken.count == room, !waited.isEmpty { server.times.hasMoreToDo = true }
    return waited
  }

  private var clusterTime: Int64 {
    guard case .cluster(let time) = server.useClock else { return clock.wall().milliseconds }
    return time.value(at: clock.now())
  }

  /// The wall clock; nil if it differs from the cluster's by a minute or more.
  private var certainWall: WallTime? {
    let wall = clock.wall()
    return server.useClock.isCertain(now: clock.now(), wall: wall) ? wall : nil
  }

  /// Moves items to their next queues. A server that ends in between leaves two of each; of their wake-ups only one has
  /// the time that is in the document.
  private func pass(on items: [WakeItem]) throws(ServerError) {
    guard !items.isEmpty else { return }
    let wall = certainWall
    try asking { (store) throws(SharedStoreFailure) in
      try store.add(items.map { $0.next(at: wall) })
      try store.end(items.map(\.work))
    }
  }

  private func wake(_ due: [WakeItem]) throws(ServerError) {
    try change(Set(due.map(\.id))) { () throws(ServerError) in
      let tokens = Set(self.waiting(due).map { TokenDocument.number($0.id) })
      try self.server.wakeDevices(try self.state.wakes(of: Array(tokens)))
    }
    // A server that had taken the item may have stored the token's next wake-up, and ended before adding work for it and
    // for the push. The number of deliveries does not show this, since another consumer counts anew.
    let others = Set(due.filter(hasNext).map(\.id)).compactMap { loaded[$0]?.document }
    try addWork(others) { _ in nil }
    let early = try putBack(due.filter { isEarly($0) })
    let damaged = due.filter { unreadable.contains($0.id) }
    for item in damaged { postpone(item.work, milliseconds: Self.damagedWait) }
    let kept = Set((early + damaged).map(\.work.handle))
    let over = due.map(\.work).filter { !kept.contains($0.handle) }
    if !over.isEmpty { try asking { (store) throws(SharedStoreFailure) in try store.end(over) } }
  }

  /// Those that their tokens wait for, now that they have waited.
  private func waiting(_ due: [WakeItem]) -> [WakeItem] {
    due.filter { loaded[$0.id]?.document.wake?.dueAt == $0.dueAt && !isEarly($0) }
  }

  /// Whether the token has another wake-up that may have followed this one. If its period was set in the meantime, the
  /// request has added the work for it.
  private func hasNext(_ item: WakeItem) -> Bool {
    guard let wake = loaded[item.id]?.document.wake, wake.dueAt != item.dueAt else { return false }
    // The clocks of both servers may be off.
    let earliest = item.dueAt &- 2 &* TokenDocument.Wake.clockDifference.milliseconds
    return wake.wokenAt >= earliest
  }

  private func isEarly(_ item: WakeItem) -> Bool {
    guard let wake = loaded[item.id]?.document.wake, wake.dueAt == item.dueAt else { return false }
    return wake.isEarly(at: clock.wall())
  }

  /// Keeps items that came too early, and returns those that stay in their queues. Items that an earlier version or a
  /// restore has added move to the right queue. The others are early because nodes' clocks differ or have jumped; with
  /// such clocks, any queue might immediately give them back, so they are postponed until they are due.
  private func putBack(_ early: [WakeItem]) throws(ServerError) -> [WakeItem] {
    let wall = clock.wall()
    for item in early where item.queue != .due {
      postpone(item.work, milliseconds: min(item.dueAt &- wall.milliseconds, Self.longestPause))
    }
    let earlier = early.filter { $0.queue == .due }.compactMap { loaded[$0.id]?.document }
    let work = earlier.compactMap { document in document.wake.map { wakeWork($0, of: document.id) } }
    if !work.isEmpty { try asking { (store) throws(SharedStoreFailure) in try store.add(work) } }
    return early.filter { $0.queue != .due }
  }

  /// The work of a token's next wake-up.
  func wakeWork(_ wake: TokenDocument.Wake, of id: [UInt8]) -> SharedWork {
    WakeItem.work(of: id, dueAt: wake.dueAt, in: wake.left(at: clock.wall()))
  }
}
