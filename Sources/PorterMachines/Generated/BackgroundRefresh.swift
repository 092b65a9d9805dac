// Generated from spec/machines/background_refresh.scxml by porter-machines: change that file, run `make spec`.

/// The rounds of an app that is not on screen: the system wakes it for a task or a push, it checks every mailbox, and
/// notifies the user of what arrived. The times are those of SimpleX's app. A round receives for at most 18 s, counted
/// from the latest push, and work then in progress has 5 s to finish, so both fit the 30 s that a system grants. The
/// next round is due after 40 min in the mode instant, 20 min in the mode periodic and 10 min without a token; after a
/// round that was cut off or did not reach everything, after 10 min, the minimum. A round requested earlier is carried
/// out anyway: the system has its reasons, and looking twice is harmless. An extension at work is no reason to wait
/// either, since claims keep the two apart. SimpleX's app ends a round when nothing has come for 6 s, because it
/// subscribes and cannot know whether more is on its way. A round here asks each mailbox until it reports that it is
/// empty, and ends with the last one: there is nothing left to wait for.
package enum BackgroundRefresh: Machine {
  package enum State: UInt8, MachineCode {
    /// No round is due: the app is on screen, stopped, or newly started.
    case idle
    /// The app left the screen, and has done no round since.
    case scheduled
    /// A round is in progress.
    case running
    /// The round is over; the app comes to rest.
    case suspending
    /// The last round checked everything. The next one is planned.
    case done
    /// The last round did not check everything. The next one is planned, and comes soon.
    case expired

    package var name: String {
      switch self {
      case .idle: "idle"
      case .scheduled: "scheduled"
      case .running: "running"
      case .suspending: "suspending"
      case .done: "done"
      case .expired: "expired"
      }
    }
  }

  package enum Event: UInt8, MachineCode {
    /// The app has left the screen and released its phase file's lock.
    case left
    /// The app is in the foreground.
    case entered
    /// The user stopped the chat.
    case stopped
    /// An app that is not on screen must carry out a round: np_background_refresh, or a push.
    case begin
    /// The receiving time is over.
    case receivingOver
    /// The round has checked what it could reach, and what is to be shown is recorded as shown.
    case ended
    /// Everything is closed and unlocked. Every mailbox was checked.
    case releasedDone
    /// Everything is closed and unlocked. Not everything was checked: time was up, or the relay or the store was out of
    /// reach.
    case releasedCut

    package var name: String {
      switch self {
      case .left: "left"
      case .entered: "entered"
      case .stopped: "stopped"
      case .begin: "begin"
      case .receivingOver: "receivingOver"
      case .ended: "ended"
      case .releasedDone: "released.done"
      case .releasedCut: "released.cut"
      }
    }
  }

  package enum Effect: UInt8, MachineCode {
    /// Compute when the next round is due: after the mode's interval, or after the minimum interval if there was no
    /// round yet or the last one is at least the mode's interval ago.
    case planNext
    /// Plan the next round after the minimum interval.
    case planSoon
    /// Plan no round: an app on screen receives by itself, and a stopped one does not receive.
    case cancelPlan
    /// Raise expire at the round's push.
    case endReceiving
    /// Suspend the app, with the remaining time for work in progress. Answer: released.
    case releaseApp
    /// Allow the push to be answered.
    case reportRefreshed
    /// Starts the timer `receiving`: raise `receivingOver` after 18000 ms.
    case startReceiving
    /// Takes the timer `receiving` back; harmless if it does not run.
    case cancelReceiving

    package var name: String {
      switch self {
      case .planNext: "planNext"
      case .planSoon: "planSoon"
      case .cancelPlan: "cancelPlan"
      case .endReceiving: "endReceiving"
      case .releaseApp: "releaseApp"
      case .reportRefreshed: "reportRefreshed"
      case .startReceiving: "startReceiving"
      case .cancelReceiving: "cancelReceiving"
      }
    }
  }

  package enum Reason: UInt8, MachineCode {
    case nothingPlanned
    case stale
    case alreadyPlanned
    case alreadySuspending

    package var name: String {
      switch self {
      case .nothingPlanned: "nothingPlanned"
      case .stale: "stale"
      case .alreadyPlanned: "alreadyPlanned"
      case .alreadySuspending: "alreadySuspending"
      }
    }
  }

  package static var name: String { "background_refresh" }

  package static var initial: State { .idle }

  package static func isFinal(_ state: State) -> Bool {
    false
  }

  package static func timer(_ effect: Effect) -> MachineTimer<Event>? {
    switch effect {
    case .startReceiving: .start("receiving", milliseconds: 18000, raise: .receivingOver)
    case .cancelReceiving: .cancel("receiving")
    case .planNext, .planSoon, .cancelPlan, .endReceiving, .releaseApp, .reportRefreshed: nil
    }
  }

  package static func kind(_ effect: Effect) -> MachineEffectKind {
    switch effect {
    case .planNext, .planSoon, .cancelPlan, .endReceiving, .startReceiving, .cancelReceiving: .act
    case .releaseApp: .ask
    case .reportRefreshed: .tell
    }
  }

  @inline(__always)
  package static func step(_ state: State, _ event: Event) -> MachineStep<BackgroundRefresh> {
    switch state {
    case .idle: stepIdle(event)
    case .scheduled: stepScheduled(event)
    case .running: stepRunning(event)
    case .suspending: stepSuspending(event)
    case .done: stepDone(event)
    case .expired: stepExpired(event)
    }
  }

  @inline(__always)
  private static func stepIdle(_ event: Event) -> MachineStep<BackgroundRefresh> {
    switch event {
    case .left:
      MachineStep(.scheduled, .moved, .planNext)
    case .entered, .stopped:
      MachineStep(.idle, .ignored(.nothingPlanned))
    case .begin:
      MachineStep(.running, .moved, .startReceiving)
    case .receivingOver, .releasedDone, .releasedCut:
      MachineStep(.idle, .ignored(.stale))
    case .ended:
      // A push in an app that is on screen. The app closes nothing.
      MachineStep(.idle, .stayed, .reportRefreshed)
    }
  }

  @inline(__always)
  private static func stepScheduled(_ event: Event) -> MachineStep<BackgroundRefresh> {
    switch event {
    case .left:
      MachineStep(.scheduled, .ignored(.alreadyPlanned))
    case .entered, .stopped:
      MachineStep(.idle, .moved, .cancelPlan)
    case .begin:
      MachineStep(.running, .moved, .startReceiving)
    case .receivingOver, .releasedDone, .releasedCut:
      MachineStep(.scheduled, .ignored(.stale))
    case .ended:
      MachineStep(.scheduled, .stayed, .reportRefreshed)
    }
  }

  @inline(__always)
  private static func stepRunning(_ event: Event) -> MachineStep<BackgroundRefresh> {
    switch event {
    case .left:
      // The host suspends the app during the round. What is committed is shown by the next one.
      MachineStep(.running, .stayed, .endReceiving)
    case .entered, .stopped:
      // From here on the app receives by itself. The push ends without releasing anything.
      MachineStep(.idle, .moved, .cancelReceiving, .cancelPlan)
    case .begin:
      // Another push, for which the system grants fresh time. Earlier pushes end by their own deadlines.
      MachineStep(.running, .stayed, .cancelReceiving, .startReceiving)
    case .receivingOver:
      MachineStep(.running, .stayed, .endReceiving)
    case .ended:
      MachineStep(.suspending, .moved, .cancelReceiving, .releaseApp)
    case .releasedDone, .releasedCut:
      MachineStep(.running, .ignored(.stale))
    }
  }

  @inline(__always)
  private static func stepSuspending(_ event: Event) -> MachineStep<BackgroundRefresh> {
    switch event {
    case .left:
      MachineStep(.suspending, .ignored(.alreadySuspending))
    case .entered, .stopped:
      // The suspension is cancelled.
      MachineStep(.idle, .moved, .cancelPlan, .reportRefreshed)
    case .begin:
      // The next push is at work before the previous one is answered.
      MachineStep(.running, .moved, .reportRefreshed, .startReceiving)
    case .receivingOver, .ended:
      MachineStep(.suspending, .ignored(.stale))
    case .releasedDone:
      MachineStep(.done, .moved, .planNext, .reportRefreshed)
    case .releasedCut:
      MachineStep(.expired, .moved, .planSoon, .reportRefreshed)
    }
  }

  @inline(__always)
  private static func stepDone(_ event: Event) -> MachineStep<BackgroundRefresh> {
    switch event {
    case .left:
      MachineStep(.done, .ignored(.alreadyPlanned))
    case .entered, .stopped:
      MachineStep(.idle, .moved, .cancelPlan)
    case .begin:
      MachineStep(.running, .moved, .startReceiving)
    case .receivingOver, .releasedDone, .releasedCut:
      MachineStep(.done, .ignored(.stale))
    case .ended:
      MachineStep(.done, .stayed, .reportRefreshed)
    }
  }

  @inline(__always)
  private static func stepExpired(_ event: Event) -> MachineStep<BackgroundRefresh> {
    switch event {
    case .left:
      MachineStep(.expired, .ignored(.alreadyPlanned))
    case .entered, .stopped:
      MachineStep(.idle, .moved, .cancelPlan)
    case .begin:
      MachineStep(.running, .moved, .startReceiving)
    case .receivingOver, .releasedDone, .releasedCut:
      MachineStep(.expired, .ignored(.stale))
    case .ended:
      MachineStep(.expired, .stayed, .reportRefreshed)
    }
  }
}

extension MachineRunner where M == BackgroundRefresh {
  /// Takes the step. The caller carries out its effects, in order.
  package mutating func handle(_ event: BackgroundRefresh.Event) -> MachineStep<BackgroundRefresh> {
    let step = BackgroundRefresh.step(state, event)
    state = step.next
    return step
  }
}

/// Carries out the effects of `BackgroundRefresh`, one method for each.
package protocol BackgroundRefreshEffects {
  /// The event's data.
  associatedtype Argument
  /// Compute when the next round is due: after the mode's interval, or after the minimum interval if there was no round
  /// yet or the last one is at least the mode's interval ago.
  func planNext(_ argument: Argument)
  /// Plan the next round after the minimum interval.
  func planSoon(_ argument: Argument)
  /// Plan no round: an app on screen receives by itself, and a stopped one does not receive.
  func cancelPlan(_ argument: Argument)
  /// Raise expire at the round's push.
  func endReceiving(_ argument: Argument)
  /// Suspend the app, with the remaining time for work in progress. Answer: released.
  func releaseApp(_ argument: Argument)
  /// Allow the push to be answered.
  func reportRefreshed(_ argument: Argument)
}

extension BackgroundRefresh {
  /// Calls the effect's method; recorded effects and timers have none here.
  package static func perform<Performer: BackgroundRefreshEffects>(
    _ effect: Effect, by performer: Performer, _ argument: Performer.Argument
  ) {
    switch effect {
    case .planNext: performer.planNext(argument)
    case .planSoon: performer.planSoon(argument)
    case .cancelPlan: performer.cancelPlan(argument)
    case .endReceiving: performer.endReceiving(argument)
    case .releaseApp: performer.releaseApp(argument)
    case .reportRefreshed: performer.reportRefreshed(argument)
    case .startReceiving, .cancelReceiving: break
    }
  }
}
