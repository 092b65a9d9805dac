import PorterPlatform

/// When a message in quarantine came to its source, which is kept with it: a call that opens later rings by the source's count, and
/// by no wall clock (INC-14).
struct QuarantinedArrival: Equatable {
  let boot: String
  let moment: Moment

  init(boot: String, moment: Moment) {
    self.boot = boot
    self.moment = moment
  }

  /// Nil for one that was kept without it.
  init?(stored: String?) {
    guard let parts = stored?.split(separator: " "), parts.count == 2, let nanoseconds = Int64(parts[1]) else {
      return nil
    }
    self.init(boot: String(parts[0]), moment: Moment(nanoseconds: nanoseconds))
  }

  var stored: String { "\(boot) \(moment.nanoseconds)" }

  /// In this boot's time. What came before the device was started again is long past, as a call of then is.
  func moment(in context: EngineContext) -> Moment {
    boot == context.instance.boot ? moment : context.clock.now() + (.zero - Durations.callInvitation)
  }
}
