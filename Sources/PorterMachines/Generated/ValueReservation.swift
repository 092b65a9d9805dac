// Generated from spec/machines/value_reservation.scxml by porter-machines: change that file, run `make spec`.

/// A single-use value: another user's invitation (INC-08), or an attempt to register the token (INC-09). It is reserved
/// in a transaction before the use, and marked as used in the transaction that records the result. A process that is
/// frozen or killed in between leaves a reservation, which the next process takes over under a new epoch.
package enum ValueReservation: Machine {
  package enum State: UInt8, MachineCode {
    /// Not recorded.
    case free
    /// A process has begun to use it.
    case reserved
    /// A use failed for good; the value may be used by another attempt.
    case undone
    /// Final. It can never be used again.
    case used

    package var name: String {
      switch self {
      case .free: "free"
      case .reserved: "reserved"
      case .undone: "undone"
      case .used: "used"
      }
    }
  }

  package enum Event: UInt8, MachineCode {
    /// A process is about to use the value.
    case want
    /// The value has been used, and the result is being recorded.
    case use
    /// The value was not used, and still may be.
    case undo

    package var name: String {
      switch self {
      case .want: "want"
      case .use: "use"
      case .undo: "undo"
      }
    }
  }

  package enum Effect: UInt8, MachineCode {
    /// Write the next epoch, the owner, and the material needed to finish the use.
    case reserve
    /// Write the next epoch and the owner; keep the material of the process that first reserved the value, unless a
    /// later command wants something else, which replaces it afterwards. What an earlier owner still does is refused.
    case takeOver
    /// Erase the material, which is no longer needed; the epoch stays, so an earlier owner stays out. Attempts to
    /// register a token draw a new value each time, and a new one deletes all earlier rows: an owner without a row is
    /// refused, too.
    case eraseMaterial

    package var name: String {
      switch self {
      case .reserve: "reserve"
      case .takeOver: "takeOver"
      case .eraseMaterial: "eraseMaterial"
      }
    }
  }

  package enum Reason: UInt8, MachineCode {
    case notReserved
    case ended

    package var name: String {
      switch self {
      case .notReserved: "notReserved"
      case .ended: "ended"
      }
    }
  }

  package static var name: String { "value_reservation" }

  package static var initial: State { .free }

  package static func isFinal(_ state: State) -> Bool {
    switch state {
    case .used: true
    case .free, .reserved, .undone: false
    }
  }

  package static func timer(_ effect: Effect) -> MachineTimer<Event>? {
    nil
  }

  package static func kind(_ effect: Effect) -> MachineEffectKind {
    .record
  }

  @inline(__always)
  package static func step(_ state: State, _ event: Event) -> MachineStep<ValueReservation> {
    switch state {
    case .free: stepFree(event)
    case .reserved: stepReserved(event)
    case .undone: stepUndone(event)
    case .used: stepUsed(event)
    }
  }

  @inline(__always)
  private static func stepFree(_ event: Event) -> MachineStep<ValueReservation> {
    switch event {
    case .want:
      MachineStep(.reserved, .moved, .reserve)
    case .use, .undo:
      MachineStep(.free, .refused(.notReserved))
    }
  }

  @inline(__always)
  private static func stepReserved(_ event: Event) -> MachineStep<ValueReservation> {
    switch event {
    case .want:
      MachineStep(.reserved, .stayed, .takeOver)
    case .use:
      MachineStep(.used, .moved, .eraseMaterial)
    case .undo:
      MachineStep(.undone, .moved, .eraseMaterial)
    }
  }

  @inline(__always)
  private static func stepUndone(_ event: Event) -> MachineStep<ValueReservation> {
    switch event {
    case .want:
      MachineStep(.reserved, .moved, .reserve)
    case .use, .undo:
      MachineStep(.undone, .refused(.notReserved))
    }
  }

  @inline(__always)
  private static func stepUsed(_ event: Event) -> MachineStep<ValueReservation> {
    switch event {
    case .want, .use, .undo:
      MachineStep(.used, .ignored(.ended))
    }
  }
}

extension MachineRunner where M == ValueReservation {
  /// Takes the step. The caller carries out its effects, in order.
  package mutating func handle(_ event: ValueReservation.Event) -> MachineStep<ValueReservation> {
    let step = ValueReservation.step(state, event)
    state = step.next
    return step
  }
}

/// Writes the recorded effects of `ValueReservation`, one method for each, inside the transaction that takes the step.
package protocol ValueReservationRecord {
  /// The event's data, and the record being changed.
  associatedtype Argument
  associatedtype Failure: Error
  /// Write the next epoch, the owner, and the material needed to finish the use.
  func reserve(_ argument: inout Argument, _ next: ValueReservation.State) throws(Failure)
  /// Write the next epoch and the owner; keep the material of the process that first reserved the value, unless a later
  /// command wants something else, which replaces it afterwards. What an earlier owner still does is refused.
  func takeOver(_ argument: inout Argument, _ next: ValueReservation.State) throws(Failure)
  /// Erase the material, which is no longer needed; the epoch stays, so an earlier owner stays out. Attempts to
  /// register a token draw a new value each time, and a new one deletes all earlier rows: an owner without a row is
  /// refused, too.
  func eraseMaterial(_ argument: inout Argument, _ next: ValueReservation.State) throws(Failure)
}

extension ValueReservation {
  /// Writes the step's recorded effects, in order.
  package static func record<Recorder: ValueReservationRecord>(
    _ step: MachineStep<ValueReservation>, by recorder: Recorder, _ argument: inout Recorder.Argument
  ) throws(Recorder.Failure) {
    for effect in step.effects {
      switch effect {
      case .reserve: try recorder.reserve(&argument, step.next)
      case .takeOver: try recorder.takeOver(&argument, step.next)
      case .eraseMaterial: try recorder.eraseMaterial(&argument, step.next)
      }
    }
  }
}
