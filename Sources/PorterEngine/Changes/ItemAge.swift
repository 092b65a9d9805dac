import PorterPlatform
import PorterStore

/// The clocks read at one time: the wall clock, which is shown, and the time since boot, which decides (INC-14).
struct ClockReading: Hashable, Sendable {
  var wall: WallTime
  var sinceBoot: BootMoment
}

extension EngineContext {
  var sinceBoot: BootMoment { BootMoment(boot: instance.boot, moment: clock.now()) }
  var clockReading: ClockReading { ClockReading(wall: clock.wall(), sinceBoot: sinceBoot) }
}

extension StoredItem {
  /// How long ago the user sent it: within the boot in which it was sent, by the time since then, whatever the wall
  /// clock was set to.
  ///
  /// After another boot only the wall clock knows how long the device was off, and it counts as far as it can be right:
  /// the message is at least as old as the boot. The same clock counts for messages sent by an earlier version.
  func age(at now: ClockReading) -> Span {
    let byWallClock = Span.milliseconds(max(0, now.wall.milliseconds &- itemAt.milliseconds))
    guard let sent = sentMoment else { return byWallClock }
    if sent.boot == now.sinceBoot.boot { return now.sinceBoot.moment - sent.moment }
    return max(byWallClock, Span(nanoseconds: now.sinceBoot.moment.nanoseconds))
  }
}

extension ItemRules.Subject {
  /// The user's own message, for the rules about those; other rules need no age.
  init(_ item: StoredItem, at now: ClockReading) { self.init(item, age: item.age(at: now)) }

  init(_ item: StoredItem, age: Span) {
    self.init(author: item.isSent ? .user : .contact, isDeleted: item.deletedAt != nil, age: age)
  }
}
