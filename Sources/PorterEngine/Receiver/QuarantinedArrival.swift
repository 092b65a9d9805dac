import PorterPlatform

/// When a quarantined message reached its source, stored with it: a call that opens later rings by the source's count,
/// not by any wall clock (INC-14).
struct QuarantinedArrival: Equatable {
  let boot: String
  let moment: Moment

  init(boot: String, moment: Moment) {
    self.boot = boot
    self.moment = moment
  }

  /// Nil for a message kept without it.
  init?(stored: String?) {
    guard let parts = stored?.split(separator: " "), parts.count == 2, let nanoseconds = Int64(parts[1]) else {
      return nil
    }
    self.init(boot: String(parts[0]), moment: Moment(nanoseconds: nanoseconds))
  }

  var stored: String { "\(boot) \(moment.nanoseconds)" }

  /// In this boot's time. Anything that arrived before the last device start is long past, and so is a call from then.
  func moment(in context: EngineContext) -> Moment {
    boot == context.instance.boot ? moment : context.clock.now() + (.zero - Durations.callInvitation)
  }
}
