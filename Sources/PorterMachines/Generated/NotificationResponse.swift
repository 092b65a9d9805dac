// Generated from spec/machines/notification_response.scxml by porter-machines: change that file, run `make spec`.

/// The user's response to one notification: a tap, an action, a reply. It is stored before anything is done, so a
/// response that reaches an extension, or an app that is not active, waits in the store until the app is active. It is
/// carried out once. Its effect on the store is one transaction with the step to `applied`, so a process killed before
/// it has done nothing, and one killed after it does nothing again. Work that another part carries out in its own
/// transactions, such as accepting a contact request, recognises a repeat by itself. Such an acceptance may wait for
/// the relay, so its profile becomes active when it begins, in the transaction that begins it, and not again when it is
/// carried out.
package enum NotificationResponse: Machine {
  package enum State: UInt8, MachineCode {
    /// Handed over by a host; not stored yet.
    case received
    /// Stored until an app may carry it out.
    case waiting
    /// An app has begun. If its process ends here, the next one continues. The active profile is already committed, and
    /// the user may have changed it since.
    case applying
    /// Final. It was carried out.
    case applied
    /// Final. There was nothing left to act on.
    case stale

    package var name: String {
      switch self {
      case .received: "received"
      case .waiting: "waiting"
      case .applying: "applying"
      case .applied: "applied"
      case .stale: "stale"
      }
    }
  }

  package enum Event: UInt8, MachineCode {
    /// It reached an extension, or an app that must not carry it out now.
    case keep
    /// An app may carry it out now: it has just received it, has become active, or tries again.
    case apply
    /// What it requests is being committed.
    case carriedOut
    /// Its subject does not exist, belongs to another profile, or no longer allows it.
    case obsolete
    /// It cannot be carried out now: the relay does not answer, or the store is busy.
    case postpone
    /// The same response was received again.
    case `repeat`

    package var name: String {
      switch self {
      case .keep: "keep"
      case .apply: "apply"
      case .carriedOut: "carriedOut"
      case .obsolete: "obsolete"
      case .postpone: "postpone"
      case .`repeat`: "repeat"
      }
    }
  }

  package enum Effect: UInt8, MachineCode {
    /// Store the response.
    case keepResponse
    /// If it accepts a contact request, make the request's profile the active one.
    case activateProfile
    /// Store the outcome, and the event for the host, which stays until the host takes it.
    case queueEvent
    /// Do what the user requested. Answer: carriedOut, obsolete or postpone.
    case carryOut
    /// Raise apply after a pause.
    case retryLater
    /// Emit the event ntfResponse, which says where to navigate.
    case emitEvent

    package var name: String {
      switch self {
      case .keepResponse: "keepResponse"
      case .activateProfile: "activateProfile"
      case .queueEvent: "queueEvent"
      case .carryOut: "carryOut"
      case .retryLater: "retryLater"
      case .emitEvent: "emitEvent"
      }
    }
  }

  package enum Reason: UInt8, MachineCode {
    case notStored
    case alreadyWaiting
    case notBegun
    case alreadyApplying
    case ended

    package var name: String {
      switch self {
      case .notStored: "notStored"
      case .alreadyWaiting: "alreadyWaiting"
      case .notBegun: "notBegun"
      case .alreadyApplying: "alreadyApplying"
      case .ended: "ended"
      }
    }
  }

  package static var name: String { "notification_response" }

  package static var initial: State { .received }

  package static func isFinal(_ state: State) -> Bool {
    switch state {
    case .applied, .stale: true
    case .received, .waiting, .applying: false
    }
  }

  package static func timer(_ effect: Effect) -> MachineTimer<Event>? {
    nil
  }

  package static func kind(_ effect: Effect) -> MachineEffectKind {
    switch effect {
    case .retryLater: .act
    case .keepResponse, .activateProfile, .queueEvent: .record
    case .carryOut: .ask
    case .emitEvent: .tell
    }
  }

  @inline(__always)
  package static func step(_ state: State, _ event: Event) -> MachineStep<NotificationResponse> {
    switch state {
    case .received: stepReceived(event)
    case .waiting: stepWaiting(event)
    case .applying: stepApplying(event)
    case .applied: stepApplied(event)
    case .stale: stepStale(event)
    }
  }

  @inline(__always)
  private static func stepReceived(_ event: Event) -> MachineStep<NotificationResponse> {
    switch event {
    case .keep:
      MachineStep(.waiting, .moved, .keepResponse)
    case .apply:
      MachineStep(.applying, .moved, .keepResponse, .activateProfile, .carryOut)
    case .carriedOut, .obsolete, .postpone, .`repeat`:
      MachineStep(.received, .refused(.notStored))
    }
  }

  @inline(__always)
  private static func stepWaiting(_ event: Event) -> MachineStep<NotificationResponse> {
    switch event {
    case .keep, .`repeat`:
      MachineStep(.waiting, .ignored(.alreadyWaiting))
    case .apply:
      MachineStep(.applying, .moved, .activateProfile, .carryOut)
    case .carriedOut, .obsolete, .postpone:
      MachineStep(.waiting, .refused(.notBegun))
    }
  }

  @inline(__always)
  private static func stepApplying(_ event: Event) -> MachineStep<NotificationResponse> {
    switch event {
    case .keep, .`repeat`:
      MachineStep(.applying, .ignored(.alreadyApplying))
    case .apply:
      MachineStep(.applying, .stayed, .carryOut)
    case .carriedOut:
      MachineStep(.applied, .moved, .queueEvent, .emitEvent)
    case .obsolete:
      MachineStep(.stale, .moved, .queueEvent, .emitEvent)
    case .postpone:
      MachineStep(.applying, .stayed, .retryLater)
    }
  }

  @inline(__always)
  private static func stepApplied(_ event: Event) -> MachineStep<NotificationResponse> {
    switch event {
    case .keep, .apply, .carriedOut, .obsolete, .postpone, .`repeat`:
      MachineStep(.applied, .ignored(.ended))
    }
  }

  @inline(__always)
  private static func stepStale(_ event: Event) -> MachineStep<NotificationResponse> {
    switch event {
    case .keep, .apply, .carriedOut, .obsolete, .postpone, .`repeat`:
      MachineStep(.stale, .ignored(.ended))
    }
  }
}

extension MachineRunner where M == NotificationResponse {
  /// Takes the step. The caller carries out its effects, in order.
  package mutating func handle(_ event: NotificationResponse.Event) -> MachineStep<NotificationResponse> {
    let step = NotificationResponse.step(state, event)
    state = step.next
    return step
  }
}

/// Writes the recorded effects of `NotificationResponse`, one method for each, inside the transaction that takes the step.
package protocol NotificationResponseRecord {
  /// The event's data, and the record being changed.
  associatedtype Argument
  associatedtype Failure: Error
  /// Store the response.
  func keepResponse(_ argument: inout Argument, _ next: NotificationResponse.State) throws(Failure)
  /// If it accepts a contact request, make the request's profile the active one.
  func activateProfile(_ argument: inout Argument, _ next: NotificationResponse.State) throws(Failure)
  /// Store the outcome, and the event for the host, which stays until the host takes it.
  func queueEvent(_ argument: inout Argument, _ next: NotificationResponse.State) throws(Failure)
}

extension NotificationResponse {
  /// Writes the step's recorded effects, in order.
  package static func record<Recorder: NotificationResponseRecord>(
    _ step: MachineStep<NotificationResponse>, by recorder: Recorder, _ argument: inout Recorder.Argument
  ) throws(Recorder.Failure) {
    for effect in step.effects {
      switch effect {
      case .keepResponse: try recorder.keepResponse(&argument, step.next)
      case .activateProfile: try recorder.activateProfile(&argument, step.next)
      case .queueEvent: try recorder.queueEvent(&argument, step.next)
      case .carryOut, .retryLater, .emitEvent: break
      }
    }
  }
}

/// Carries out the effects of `NotificationResponse`, one method for each.
package protocol NotificationResponseEffects {
  /// The event's data.
  associatedtype Argument
  /// Do what the user requested. Answer: carriedOut, obsolete or postpone.
  func carryOut(_ argument: Argument)
  /// Raise apply after a pause.
  func retryLater(_ argument: Argument)
  /// Emit the event ntfResponse, which says where to navigate.
  func emitEvent(_ argument: Argument)
}

extension NotificationResponse {
  /// Calls the effect's method; recorded effects and timers have none here.
  package static func perform<Performer: NotificationResponseEffects>(
    _ effect: Effect, by performer: Performer, _ argument: Performer.Argument
  ) {
    switch effect {
    case .carryOut: performer.carryOut(argument)
    case .retryLater: performer.retryLater(argument)
    case .emitEvent: performer.emitEvent(argument)
    case .keepResponse, .activateProfile, .queueEvent: break
    }
  }
}
