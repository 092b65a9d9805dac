// Generated from spec/machines/application_push.scxml by porter-machines: change that file, run `make spec`.

/// One push of the host's own, received through a scope: sealed by the host's service, stored with the message that
/// brought it, and handed to the host once: in the answer to a push by an extension, or as an event by an app. It stays
/// readable until the host settles it, so a host that is killed after receiving it finds it again. Envelopes that do
/// not open never get here: they are quarantined.
package enum ApplicationPush: Machine {
  package enum State: UInt8, MachineCode {
    /// No envelope with this name has arrived.
    case none
    /// It is stored, and has not been handed over.
    case waiting
    /// An app has emitted its event. Until the host takes the event, the app's next process emits it again.
    case offered
    /// It was part of an answer.
    case handed
    /// Final. The host is done with it.
    case settled

    package var name: String {
      switch self {
      case .none: "none"
      case .waiting: "waiting"
      case .offered: "offered"
      case .handed: "handed"
      case .settled: "settled"
      }
    }
  }

  package enum Event: UInt8, MachineCode {
    /// It opened, it is signed by the service, and its name is new in this scope.
    case arrive
    /// An envelope with this name arrived again.
    case `repeat`
    /// An extension puts it into the answer to a push.
    case hand
    /// An app emits its event.
    case offer
    /// The host has processed it.
    case settle

    package var name: String {
      switch self {
      case .arrive: "arrive"
      case .`repeat`: "repeat"
      case .hand: "hand"
      case .offer: "offer"
      case .settle: "settle"
      }
    }
  }

  package enum Effect: UInt8, MachineCode {
    /// Store the envelope with its name.
    case storeEnvelope
    /// Erase its content. Keep its name for as long as a repeat would be valid.
    case eraseEnvelope
    /// Emit applicationPush.
    case emitApplicationPush

    package var name: String {
      switch self {
      case .storeEnvelope: "storeEnvelope"
      case .eraseEnvelope: "eraseEnvelope"
      case .emitApplicationPush: "emitApplicationPush"
      }
    }
  }

  package enum Reason: UInt8, MachineCode {
    case noEnvelope
    case alreadyStored
    case alreadyOffered
    case alreadyHanded
    case ended

    package var name: String {
      switch self {
      case .noEnvelope: "noEnvelope"
      case .alreadyStored: "alreadyStored"
      case .alreadyOffered: "alreadyOffered"
      case .alreadyHanded: "alreadyHanded"
      case .ended: "ended"
      }
    }
  }

  package static var name: String { "application_push" }

  package static var initial: State { .none }

  package static func isFinal(_ state: State) -> Bool {
    switch state {
    case .settled: true
    case .none, .waiting, .offered, .handed: false
    }
  }

  package static func timer(_ effect: Effect) -> MachineTimer<Event>? {
    nil
  }

  package static func kind(_ effect: Effect) -> MachineEffectKind {
    switch effect {
    case .emitApplicationPush: .act
    case .storeEnvelope, .eraseEnvelope: .record
    }
  }

  @inline(__always)
  package static func step(_ state: State, _ event: Event) -> MachineStep<ApplicationPush> {
    switch state {
    case .none: stepNone(event)
    case .waiting: stepWaiting(event)
    case .offered: stepOffered(event)
    case .handed: stepHanded(event)
    case .settled: stepSettled(event)
    }
  }

  @inline(__always)
  private static func stepNone(_ event: Event) -> MachineStep<ApplicationPush> {
    switch event {
    case .arrive:
      MachineStep(.waiting, .moved, .storeEnvelope)
    case .`repeat`, .hand, .offer, .settle:
      MachineStep(.none, .refused(.noEnvelope))
    }
  }

  @inline(__always)
  private static func stepWaiting(_ event: Event) -> MachineStep<ApplicationPush> {
    switch event {
    case .arrive, .`repeat`:
      MachineStep(.waiting, .ignored(.alreadyStored))
    case .hand:
      MachineStep(.handed, .moved)
    case .offer:
      MachineStep(.offered, .moved, .emitApplicationPush)
    case .settle:
      // The host has read it from the list.
      MachineStep(.settled, .moved, .eraseEnvelope)
    }
  }

  @inline(__always)
  private static func stepOffered(_ event: Event) -> MachineStep<ApplicationPush> {
    switch event {
    case .arrive, .`repeat`:
      MachineStep(.offered, .ignored(.alreadyStored))
    case .hand:
      MachineStep(.offered, .ignored(.alreadyOffered))
    case .offer:
      MachineStep(.offered, .stayed, .emitApplicationPush)
    case .settle:
      MachineStep(.settled, .moved, .eraseEnvelope)
    }
  }

  @inline(__always)
  private static func stepHanded(_ event: Event) -> MachineStep<ApplicationPush> {
    switch event {
    case .arrive, .`repeat`:
      MachineStep(.handed, .ignored(.alreadyStored))
    case .hand, .offer:
      MachineStep(.handed, .ignored(.alreadyHanded))
    case .settle:
      MachineStep(.settled, .moved, .eraseEnvelope)
    }
  }

  @inline(__always)
  private static func stepSettled(_ event: Event) -> MachineStep<ApplicationPush> {
    switch event {
    case .arrive, .`repeat`, .hand, .offer, .settle:
      MachineStep(.settled, .ignored(.ended))
    }
  }
}

extension MachineRunner where M == ApplicationPush {
  /// Takes the step. The caller carries out its effects, in order.
  package mutating func handle(_ event: ApplicationPush.Event) -> MachineStep<ApplicationPush> {
    let step = ApplicationPush.step(state, event)
    state = step.next
    return step
  }
}

/// Writes the recorded effects of `ApplicationPush`, one method for each, inside the transaction that takes the step.
package protocol ApplicationPushRecord {
  /// The event's data, and the record being changed.
  associatedtype Argument
  associatedtype Failure: Error
  /// Store the envelope with its name.
  func storeEnvelope(_ argument: inout Argument, _ next: ApplicationPush.State) throws(Failure)
  /// Erase its content. Keep its name for as long as a repeat would be valid.
  func eraseEnvelope(_ argument: inout Argument, _ next: ApplicationPush.State) throws(Failure)
}

extension ApplicationPush {
  /// Writes the step's recorded effects, in order.
  package static func record<Recorder: ApplicationPushRecord>(
    _ step: MachineStep<ApplicationPush>, by recorder: Recorder, _ argument: inout Recorder.Argument
  ) throws(Recorder.Failure) {
    for effect in step.effects {
      switch effect {
      case .storeEnvelope: try recorder.storeEnvelope(&argument, step.next)
      case .eraseEnvelope: try recorder.eraseEnvelope(&argument, step.next)
      case .emitApplicationPush: break
      }
    }
  }
}

/// Carries out the effects of `ApplicationPush`, one method for each.
package protocol ApplicationPushEffects {
  /// The event's data.
  associatedtype Argument
  /// Emit applicationPush.
  func emitApplicationPush(_ argument: Argument)
}

extension ApplicationPush {
  /// Calls the effect's method; recorded effects and timers have none here.
  package static func perform<Performer: ApplicationPushEffects>(
    _ effect: Effect, by performer: Performer, _ argument: Performer.Argument
  ) {
    switch effect {
    case .emitApplicationPush: performer.emitApplicationPush(argument)
    case .storeEnvelope, .eraseEnvelope: break
    }
  }
}
