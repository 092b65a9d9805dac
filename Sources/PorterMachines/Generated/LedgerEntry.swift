// Generated from spec/machines/ledger_entry.scxml by porter-machines: change that file, run `make spec`.

/// One thing that may be shown, in the ledger. An entry goes forward only; each step is taken in the transaction that
/// changes what it is about, and the badge is computed in the same transaction (INC-60). So a thing is committed once,
/// shown once, and withdrawn when it was read or deleted elsewhere (INC-46).
package enum LedgerEntry: Machine {
  package enum State: UInt8, MachineCode {
    /// Its identity is known, its content is not.
    case seen
    /// It is in the store and counts as unread, but has not been shown.
    case committed
    /// It was shown.
    case presented
    /// It was shown, and then replaced by better content.
    case upgraded
    /// The user has read it.
    case read
    /// It could not be decrypted or verified. It is never shown, and stops nothing else (INC-41, INC-66).
    case quarantined
    /// Final. It is gone, and must not come back.
    case withdrawn

    package var name: String {
      switch self {
      case .seen: "seen"
      case .committed: "committed"
      case .presented: "presented"
      case .upgraded: "upgraded"
      case .read: "read"
      case .quarantined: "quarantined"
      case .withdrawn: "withdrawn"
      }
    }
  }

  package enum Event: UInt8, MachineCode {
    /// It was decrypted, and is being committed.
    case commit
    /// It does not decrypt or does not verify.
    case quarantine
    /// What was quarantined decrypts after all: a key came late.
    case repair
    /// The notification is handed to the platform.
    case present
    /// There is better content for the same notification (INC-47).
    case upgrade
    /// The user has read it, here or elsewhere.
    case read
    /// It was deleted, by its sender or by the user.
    case withdraw
    /// It arrived again.
    case `repeat`

    package var name: String {
      switch self {
      case .commit: "commit"
      case .quarantine: "quarantine"
      case .repair: "repair"
      case .present: "present"
      case .upgrade: "upgrade"
      case .read: "read"
      case .withdraw: "withdraw"
      case .`repeat`: "repeat"
      }
    }
  }

  package enum Effect: UInt8, MachineCode {
    /// Count it as unread, and compute the badge.
    case countUnread
    /// Count it as unread no more, and compute the badge.
    case uncountUnread
    /// Show it, under its identifier.
    case show
    /// Show the better content, under the same identifier.
    case replace
    /// Have the platform remove what was shown under its identifier.
    case remove
    /// Put on record why it is quarantined.
    case recordReason

    package var name: String {
      switch self {
      case .countUnread: "countUnread"
      case .uncountUnread: "uncountUnread"
      case .show: "show"
      case .replace: "replace"
      case .remove: "remove"
      case .recordReason: "recordReason"
      }
    }
  }

  package enum Reason: UInt8, MachineCode {
    case notCommitted
    case alreadySeen
    case alreadyCommitted
    case notShownYet
    case alreadyPresented
    case alreadyRead
    case alreadyQuarantined
    case quarantined
    case ended

    package var name: String {
      switch self {
      case .notCommitted: "notCommitted"
      case .alreadySeen: "alreadySeen"
      case .alreadyCommitted: "alreadyCommitted"
      case .notShownYet: "notShownYet"
      case .alreadyPresented: "alreadyPresented"
      case .alreadyRead: "alreadyRead"
      case .alreadyQuarantined: "alreadyQuarantined"
      case .quarantined: "quarantined"
      case .ended: "ended"
      }
    }
  }

  package static var name: String { "ledger_entry" }

  package static var initial: State { .seen }

  package static func isFinal(_ state: State) -> Bool {
    switch state {
    case .withdrawn: true
    case .seen, .committed, .presented, .upgraded, .read, .quarantined: false
    }
  }

  package static func timer(_ effect: Effect) -> MachineTimer<Event>? {
    nil
  }

  @inline(__always)
  package static func step(_ state: State, _ event: Event) -> MachineStep<LedgerEntry> {
    switch state {
    case .seen: stepSeen(event)
    case .committed: stepCommitted(event)
    case .presented: stepPresented(event)
    case .upgraded: stepUpgraded(event)
    case .read: stepRead(event)
    case .quarantined: stepQuarantined(event)
    case .withdrawn: stepWithdrawn(event)
    }
  }

  @inline(__always)
  private static func stepSeen(_ event: Event) -> MachineStep<LedgerEntry> {
    switch event {
    case .commit:
      MachineStep(.committed, .moved, .countUnread)
    case .quarantine:
      MachineStep(.quarantined, .moved, .recordReason)
    case .repair, .present, .upgrade, .read:
      MachineStep(.seen, .refused(.notCommitted))
    case .withdraw:
      MachineStep(.withdrawn, .moved)
    case .`repeat`:
      MachineStep(.seen, .ignored(.alreadySeen))
    }
  }

  @inline(__always)
  private static func stepCommitted(_ event: Event) -> MachineStep<LedgerEntry> {
    switch event {
    case .commit, .repair, .`repeat`:
      MachineStep(.committed, .ignored(.alreadyCommitted))
    case .quarantine:
      MachineStep(.committed, .refused(.alreadyCommitted))
    case .present:
      MachineStep(.presented, .moved, .show)
    case .upgrade:
      // It will be shown with the better content.
      MachineStep(.committed, .ignored(.notShownYet))
    case .read:
      MachineStep(.read, .moved, .uncountUnread)
    case .withdraw:
      MachineStep(.withdrawn, .moved, .uncountUnread)
    }
  }

  @inline(__always)
  private static func stepPresented(_ event: Event) -> MachineStep<LedgerEntry> {
    switch event {
    case .commit, .repair, .`repeat`:
      MachineStep(.presented, .ignored(.alreadyCommitted))
    case .quarantine:
      MachineStep(.presented, .refused(.alreadyCommitted))
    case .present:
      // Shown once, whatever invokes us twice (INC-34).
      MachineStep(.presented, .ignored(.alreadyPresented))
    case .upgrade:
      MachineStep(.upgraded, .moved, .replace)
    case .read:
      MachineStep(.read, .moved, .uncountUnread, .remove)
    case .withdraw:
      MachineStep(.withdrawn, .moved, .uncountUnread, .remove)
    }
  }

  @inline(__always)
  private static func stepUpgraded(_ event: Event) -> MachineStep<LedgerEntry> {
    switch event {
    case .commit, .repair, .`repeat`:
      MachineStep(.upgraded, .ignored(.alreadyCommitted))
    case .quarantine:
      MachineStep(.upgraded, .refused(.alreadyCommitted))
    case .present:
      // Shown once, whatever invokes us twice (INC-34).
      MachineStep(.upgraded, .ignored(.alreadyPresented))
    case .upgrade:
      MachineStep(.upgraded, .stayed, .replace)
    case .read:
      MachineStep(.read, .moved, .uncountUnread, .remove)
    case .withdraw:
      MachineStep(.withdrawn, .moved, .uncountUnread, .remove)
    }
  }

  @inline(__always)
  private static func stepRead(_ event: Event) -> MachineStep<LedgerEntry> {
    switch event {
    case .commit, .repair, .present, .upgrade, .read, .`repeat`:
      MachineStep(.read, .ignored(.alreadyRead))
    case .quarantine:
      MachineStep(.read, .refused(.alreadyCommitted))
    case .withdraw:
      MachineStep(.withdrawn, .moved)
    }
  }

  @inline(__always)
  private static func stepQuarantined(_ event: Event) -> MachineStep<LedgerEntry> {
    switch event {
    case .commit, .repair:
      MachineStep(.committed, .moved, .countUnread)
    case .quarantine, .`repeat`:
      MachineStep(.quarantined, .ignored(.alreadyQuarantined))
    case .present, .upgrade, .read:
      MachineStep(.quarantined, .refused(.quarantined))
    case .withdraw:
      MachineStep(.withdrawn, .moved)
    }
  }

  @inline(__always)
  private static func stepWithdrawn(_ event: Event) -> MachineStep<LedgerEntry> {
    switch event {
    case .commit, .quarantine, .repair, .present, .upgrade, .read, .withdraw, .`repeat`:
      MachineStep(.withdrawn, .ignored(.ended))
    }
  }
}

extension MachineRunner where M == LedgerEntry {
  /// Takes the step. The caller carries out its effects, in order.
  package mutating func handle(_ event: LedgerEntry.Event) -> MachineStep<LedgerEntry> {
    let step = LedgerEntry.step(state, event)
    state = step.next
    return step
  }
}
