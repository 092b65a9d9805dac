// Generated from spec/machines/ownership.scxml by porter-machines: change that file, run `make spec`.

/// The right to advance one connection, as one process sees it. A claim is a stored epoch and nothing else: while it
/// lasts, no lock is held and nothing is written (INC-07, INC-20), and any other process may take it over. The store
/// refuses a commit under an older epoch (INC-04); this machine decides what a process does then. Only a process that
/// is frozen inside one of its transactions, which take a few milliseconds, keeps others from writing: the kernel holds
/// SQLite's lock until that process continues or ends. A host prevents this by suspending before it is frozen (INC-01).
/// A process that finds the lock held gives up within its deadline, and reports the holder (INC-18).
package enum Ownership: Machine {
  package enum State: UInt8, MachineCode {
    /// This process has no work on it.
    case free
    /// Reads, then writes if nothing changed in between. No answer of another process is waited for; the write waits
    /// for the store's write lock, within the deadline of the work.
    case claiming
    /// The stored epoch was ours at the last read.
    case held
    /// The epoch may be another process's: nothing is decided from memory until it has been read again.
    case stale
    /// Another process owns it. Our work is discarded; the other process's commits are being read.
    case lost

    package var name: String {
      switch self {
      case .free: "free"
      case .claiming: "claiming"
      case .held: "held"
      case .stale: "stale"
      case .lost: "lost"
      }
    }
  }

  package enum Event: UInt8, MachineCode {
    /// Work on the connection is about to begin.
    case want
    /// It has no owner, or one that gives way: this process, one that has ended, is suspended or frozen, an app at work
    /// in the background, and for an app any extension.
    case ownerYields
    /// A running app owns it, and this process is an extension.
    case ownerPrevails
    /// The new epoch is stored, with this instance.
    case granted
    /// Another process claimed the connection between our read and our write.
    case raced
    /// The connection no longer exists.
    case missing
    /// The store cannot be read or written.
    case failed
    /// Another process reported that it has changed something.
    case suspected
    /// The stored epoch is still ours.
    case confirmed
    /// The stored epoch is another process's: the store refused a commit, or a read showed it.
    case displaced
    /// The other process's commits have been read.
    case reloaded
    /// The work has ended, whatever its outcome.
    case finished

    package var name: String {
      switch self {
      case .want: "want"
      case .ownerYields: "owner.yields"
      case .ownerPrevails: "owner.prevails"
      case .granted: "granted"
      case .raced: "raced"
      case .missing: "missing"
      case .failed: "failed"
      case .suspected: "suspected"
      case .confirmed: "confirmed"
      case .displaced: "displaced"
      case .reloaded: "reloaded"
      case .finished: "finished"
      }
    }
  }

  package enum Effect: UInt8, MachineCode {
    /// Read which process owns the connection, and whether that process is running and at work. Answer: owner, missing
    /// or failed.
    case readOwner
    /// Write the next epoch and this instance, if the epoch has not changed since it was read. Answer: granted, raced,
    /// missing or failed.
    case takeEpoch
    /// Report to the requester that the work may begin, under this epoch.
    case beginWork
    /// Report to the requester that the work was skipped, and which process owns the connection (INC-18, INC-19).
    case skipWork
    /// Report to the requester why there is no claim.
    case refuseWork
    /// Compare the stored epoch with ours. Answer: confirmed, displaced, missing or failed.
    case checkEpoch
    /// Drop what was read or computed under the old epoch (INC-05).
    case discardWork
    /// Read what other processes have committed since, and nothing else. Answer: reloaded.
    case reload
    /// Drop the claim. Nothing is written.
    case forget

    package var name: String {
      switch self {
      case .readOwner: "readOwner"
      case .takeEpoch: "takeEpoch"
      case .beginWork: "beginWork"
      case .skipWork: "skipWork"
      case .refuseWork: "refuseWork"
      case .checkEpoch: "checkEpoch"
      case .discardWork: "discardWork"
      case .reload: "reload"
      case .forget: "forget"
      }
    }
  }

  package enum Reason: UInt8, MachineCode {
    case notOurs
    case busy
    case notYetOurs
    case alreadyHeld
    case alreadyStale
    case reloading
    case alreadyLost

    package var name: String {
      switch self {
      case .notOurs: "notOurs"
      case .busy: "busy"
      case .notYetOurs: "notYetOurs"
      case .alreadyHeld: "alreadyHeld"
      case .alreadyStale: "alreadyStale"
      case .reloading: "reloading"
      case .alreadyLost: "alreadyLost"
      }
    }
  }

  package static var name: String { "ownership" }

  package static var initial: State { .free }

  package static func isFinal(_ state: State) -> Bool {
    false
  }

  package static func timer(_ effect: Effect) -> MachineTimer<Event>? {
    nil
  }

  package static func kind(_ effect: Effect) -> MachineEffectKind {
    .act
  }

  @inline(__always)
  package static func step(_ state: State, _ event: Event) -> MachineStep<Ownership> {
    switch state {
    case .free: stepFree(event)
    case .claiming: stepClaiming(event)
    case .held: stepHeld(event)
    case .stale: stepStale(event)
    case .lost: stepLost(event)
    }
  }

  @inline(__always)
  private static func stepFree(_ event: Event) -> MachineStep<Ownership> {
    switch event {
    case .want:
      MachineStep(.claiming, .moved, .readOwner)
    case .ownerYields, .ownerPrevails, .granted, .raced, .missing, .failed, .suspected, .confirmed,
      .displaced, .reloaded, .finished:
      MachineStep(.free, .ignored(.notOurs))
    }
  }

  @inline(__always)
  private static func stepClaiming(_ event: Event) -> MachineStep<Ownership> {
    switch event {
    case .want:
      MachineStep(.claiming, .refused(.busy))
    case .ownerYields:
      MachineStep(.claiming, .stayed, .takeEpoch)
    case .ownerPrevails:
      // A running app fetches for itself, and its user sees it.
      MachineStep(.free, .moved, .skipWork)
    case .granted:
      MachineStep(.held, .moved, .beginWork)
    case .raced:
      MachineStep(.claiming, .stayed, .readOwner)
    case .missing, .failed, .finished:
      MachineStep(.free, .moved, .refuseWork)
    case .suspected, .confirmed, .displaced, .reloaded:
      MachineStep(.claiming, .ignored(.notYetOurs))
    }
  }

  @inline(__always)
  private static func stepHeld(_ event: Event) -> MachineStep<Ownership> {
    switch event {
    case .want:
      // Other work of this process: a new epoch, since two pieces of work must not share one.
      MachineStep(.claiming, .moved, .readOwner)
    case .ownerYields, .ownerPrevails, .granted, .raced, .confirmed, .reloaded:
      MachineStep(.held, .ignored(.alreadyHeld))
    case .missing, .failed, .finished:
      MachineStep(.free, .moved, .forget)
    case .suspected:
      MachineStep(.stale, .moved, .checkEpoch)
    case .displaced:
      MachineStep(.lost, .moved, .discardWork, .reload)
    }
  }

  @inline(__always)
  private static func stepStale(_ event: Event) -> MachineStep<Ownership> {
    switch event {
    case .want:
      MachineStep(.claiming, .moved, .readOwner)
    case .ownerYields, .ownerPrevails, .granted, .raced, .suspected, .reloaded:
      MachineStep(.stale, .ignored(.alreadyStale))
    case .missing, .failed, .finished:
      MachineStep(.free, .moved, .forget)
    case .confirmed:
      MachineStep(.held, .moved)
    case .displaced:
      MachineStep(.lost, .moved, .discardWork, .reload)
    }
  }

  @inline(__always)
  private static func stepLost(_ event: Event) -> MachineStep<Ownership> {
    switch event {
    case .want:
      MachineStep(.lost, .refused(.reloading))
    case .ownerYields, .ownerPrevails, .granted, .raced, .suspected, .confirmed, .displaced:
      MachineStep(.lost, .ignored(.alreadyLost))
    case .missing, .failed, .reloaded, .finished:
      MachineStep(.free, .moved, .forget)
    }
  }
}

extension MachineRunner where M == Ownership {
  /// Takes the step. The caller carries out its effects, in order.
  package mutating func handle(_ event: Ownership.Event) -> MachineStep<Ownership> {
    let step = Ownership.step(state, event)
    state = step.next
    return step
  }
}

/// Carries out the effects of `Ownership`, one method for each.
package protocol OwnershipEffects {
  /// The event's data.
  associatedtype Argument
  /// Read which process owns the connection, and whether that process is running and at work. Answer: owner, missing or
  /// failed.
  func readOwner(_ argument: Argument)
  /// Write the next epoch and this instance, if the epoch has not changed since it was read. Answer: granted, raced,
  /// missing or failed.
  func takeEpoch(_ argument: Argument)
  /// Report to the requester that the work may begin, under this epoch.
  func beginWork(_ argument: Argument)
  /// Report to the requester that the work was skipped, and which process owns the connection (INC-18, INC-19).
  func skipWork(_ argument: Argument)
  /// Report to the requester why there is no claim.
  func refuseWork(_ argument: Argument)
  /// Compare the stored epoch with ours. Answer: confirmed, displaced, missing or failed.
  func checkEpoch(_ argument: Argument)
  /// Drop what was read or computed under the old epoch (INC-05).
  func discardWork(_ argument: Argument)
  /// Read what other processes have committed since, and nothing else. Answer: reloaded.
  func reload(_ argument: Argument)
  /// Drop the claim. Nothing is written.
  func forget(_ argument: Argument)
}

extension Ownership {
  /// Calls the effect's method.
  package static func perform<Performer: OwnershipEffects>(
    _ effect: Effect, by performer: Performer, _ argument: Performer.Argument
  ) {
    switch effect {
    case .readOwner: performer.readOwner(argument)
    case .takeEpoch: performer.takeEpoch(argument)
    case .beginWork: performer.beginWork(argument)
    case .skipWork: performer.skipWork(argument)
    case .refuseWork: performer.refuseWork(argument)
    case .checkEpoch: performer.checkEpoch(argument)
    case .discardWork: performer.discardWork(argument)
    case .reload: performer.reload(argument)
    case .forget: performer.forget(argument)
    }
  }
}
