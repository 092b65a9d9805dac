import PorterPlatform

/// One thing at a time, so that between two messages the engine hears who asks it for something.
extension Engine {
  /// Does this in a later turn: after the jobs that wait, the timers that are due, and what was put off before.
  func later(_ work: @escaping () -> Void) { putOff.append(work) }

  var hasPutOff: Bool { !putOff.isEmpty }

  /// One piece of it. Not when somebody asks the engine to let go: the job that says so comes first.
  func takeUpPutOff() {
    guard !putOff.isEmpty, !stop.isDemanded else { return }
    putOff.removeFirst()()
  }

  /// Nothing comes later any more: what was put off finds everything closed, and tells whoever waits.
  func endPutOff() {
    while !putOff.isEmpty { putOff.removeFirst()() }
  }

  /// News of the relay begin more work; they wait for the end of what they began before, but not for long.
  var hearsRelay: Bool { putOff.isEmpty || configuration.clock.now() - relayHeard > Self.relayPatience }

  private static let relayPatience = Span.milliseconds(500)
}
