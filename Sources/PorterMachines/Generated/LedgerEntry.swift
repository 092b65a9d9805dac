// Generated from spec/machines/ledger_entry.scxml by porter-machines: change that file, run `make spec`.

/// One ledger entry: something that may be shown. It only moves forward; each step is taken in the transaction that
/// changes its subject, and the badge is computed in the same transaction (INC-60). So each thing is committed once,
/// shown once, and withdrawn when it was read or deleted elsewhere (INC-46). A message that a push named but this
/// process could not fetch is announced with a placeholder, which the message replaces when it arrives (INC-47), and
/// which is withdrawn when the mailbox turns out to be empty. Content that did not open is tried again when the
/// connection has changed.
package enum LedgerEntry: Machine {
  package enum State: UInt8, MachineCode {
    /// Its identity is known, but not its content.
    case seen
    /// A placeholder stands for it. It is not in the store, and does not count as unread.
    case announced
    /// It is in the store and counts as unread, but has not been shown.
    case committed
    /// Its content came later than a placeholder, or than the attempt to open it. It is in the store and counts as
    /// unread; its own notification has not been shown.
    case upgraded
    /// It was shown.
    case presented
    /// It was shown, and its content has changed since.
    case outdated
    /// It counts as unread but is not on screen, by the user's choice: for example a message without a mention in a
    /// chat that notifies of mentions only.
    case silenced
    /// It counts as unread, and its time to be shown has passed.
    case lapsed
    /// The user has read it.
    case read
    /// It could not be decrypted or verified. It is never shown as it is, and blocks nothing else (INC-41, INC-66).
    case quarantined
    /// Final. Deleted; it must not come back.
    case withdrawn
    /// It was announced, and its placeholder is withdrawn: nothing waits for its connection. A relay restored from a
    /// backup may still have it.
    case vanished

    package var name: String {
      switch self {
      case .seen: "seen"
      case .announced: "announced"
      case .committed: "committed"
      case .upgraded: "upgraded"
      case .presented: "presented"
      case .outdated: "outdated"
      case .silenced: "silenced"
      case .lapsed: "lapsed"
      case .read: "read"
      case .quarantined: "quarantined"
      case .withdrawn: "withdrawn"
      case .vanished: "vanished"
      }
    }
  }

  package enum Event: UInt8, MachineCode {
    /// It was decrypted, and is being committed.
    case commit
    /// It cannot be decrypted or verified.
    case quarantine
    /// A push named it, but it could not be fetched.
    case announce
    /// The notification is handed to the platform.
    case present
    /// The user has read it, here or elsewhere.
    case read
    /// Its author changed its content.
    case edit
    /// It was deleted, by the user or by its author.
    case withdraw
    /// It arrived again.
    case `repeat`
    /// What it announces, such as a call, is over: it must no longer be shown, and stays unread.
    case lapse
    /// By the user's choice it must not be shown as it is now.
    case silence
    /// Its source has nothing for the connection any longer, asked after the entry was announced.
    case vanish

    package var name: String {
      switch self {
      case .commit: "commit"
      case .quarantine: "quarantine"
      case .announce: "announce"
      case .present: "present"
      case .read: "read"
      case .edit: "edit"
      case .withdraw: "withdraw"
      case .`repeat`: "repeat"
      case .lapse: "lapse"
      case .silence: "silence"
      case .vanish: "vanish"
      }
    }
  }

  package enum Effect: UInt8, MachineCode {
    /// Count it as unread, and compute the badge.
    case countUnread
    /// Stop counting it as unread, and compute the badge.
    case uncountUnread
    /// Show it, under its identifier.
    case show
    /// Show that something arrived, under the message's future identifier.
    case showPlaceholder
    /// Show it again under its identifier, without a sound.
    case replace
    /// Have the platform remove what was shown under its identifier.
    case remove
    /// Record why it is quarantined.
    case recordReason
    /// Count one more attempt to open it; the number of attempts is limited.
    case countAttempt
    /// Have the platform remove the placeholder, unless the notification has the same identifier and replaces it.
    case dropPlaceholder
    /// Leave it waiting to be shown, although later ones have been shown.
    case waitLate
    /// Forget a removal noted earlier: what is under its identifier now stays on screen.
    case keep

    package var name: String {
      switch self {
      case .countUnread: "countUnread"
      case .uncountUnread: "uncountUnread"
      case .show: "show"
      case .showPlaceholder: "showPlaceholder"
      case .replace: "replace"
      case .remove: "remove"
      case .recordReason: "recordReason"
      case .countAttempt: "countAttempt"
      case .dropPlaceholder: "dropPlaceholder"
      case .waitLate: "waitLate"
      case .keep: "keep"
      }
    }
  }

  package enum Reason: UInt8, MachineCode {
    case notCommitted
    case alreadySeen
    case alreadyAnnounced
    case notShownYet
    case alreadyCommitted
    case alreadyPresented
    case alreadyOutdated
    case alreadySilenced
    case lapsed
    case alreadyRead
    case alreadyQuarantined
    case quarantined
    case ended
    case vanished

    package var name: String {
      switch self {
      case .notCommitted: "notCommitted"
      case .alreadySeen: "alreadySeen"
      case .alreadyAnnounced: "alreadyAnnounced"
      case .notShownYet: "notShownYet"
      case .alreadyCommitted: "alreadyCommitted"
      case .alreadyPresented: "alreadyPresented"
      case .alreadyOutdated: "alreadyOutdated"
      case .alreadySilenced: "alreadySilenced"
      case .lapsed: "lapsed"
      case .alreadyRead: "alreadyRead"
      case .alreadyQuarantined: "alreadyQuarantined"
      case .quarantined: "quarantined"
      case .ended: "ended"
      case .vanished: "vanished"
      }
    }
  }

  package static var name: String { "ledger_entry" }

  package static var initial: State { .seen }

  package static func isFinal(_ state: State) -> Bool {
    switch state {
    case .withdrawn: true
    case .seen, .announced, .committed, .upgraded, .presented, .outdated, .silenced, .lapsed, .read,
      .quarantined, .vanished:
      false
    }
  }

  package static func timer(_ effect: Effect) -> MachineTimer<Event>? {
    nil
  }

  package static func kind(_ effect: Effect) -> MachineEffectKind {
    switch effect {
    case .show, .showPlaceholder, .replace: .act
    case .countUnread, .uncountUnread, .remove, .recordReason, .countAttempt, .dropPlaceholder,
      .waitLate, .keep:
      .record
    }
  }

  @inline(__always)
  package static func step(_ state: State, _ event: Event) -> MachineStep<LedgerEntry> {
    switch state {
    case .seen: stepSeen(event)
    case .announced: stepAnnounced(event)
    case .committed: stepCommitted(event)
    case .upgraded: stepUpgraded(event)
    case .presented: stepPresented(event)
    case .outdated: stepOutdated(event)
    case .silenced: stepSilenced(event)
    case .lapsed: stepLapsed(event)
    case .read: stepRead(event)
    case .quarantined: stepQuarantined(event)
    case .withdrawn: stepWithdrawn(event)
    case .vanished: stepVanished(event)
    }
  }

  @inline(__always)
  private static func stepSeen(_ event: Event) -> MachineStep<LedgerEntry> {
    switch event {
    case .commit:
      MachineStep(.committed, .moved, .countUnread)
    case .quarantine:
      MachineStep(.quarantined, .moved, .recordReason)
    case .announce:
      MachineStep(.announced, .moved, .showPlaceholder)
    case .present, .read, .edit, .withdraw, .lapse, .silence, .vanish:
      MachineStep(.seen, .refused(.notCommitted))
    case .`repeat`:
      MachineStep(.seen, .ignored(.alreadySeen))
    }
  }

  @inline(__always)
  private static func stepAnnounced(_ event: Event) -> MachineStep<LedgerEntry> {
    switch event {
    case .commit:
      MachineStep(.upgraded, .moved, .countUnread, .dropPlaceholder)
    case .quarantine:
      // The placeholder no longer stands for anything authentic.
      MachineStep(.quarantined, .moved, .recordReason, .remove)
    case .announce, .`repeat`:
      MachineStep(.announced, .ignored(.alreadyAnnounced))
    case .present, .lapse, .silence:
      MachineStep(.announced, .refused(.notCommitted))
    case .read:
      // The whole chat was read. The message itself is still to come.
      MachineStep(.announced, .stayed, .remove)
    case .edit:
      MachineStep(.announced, .ignored(.notShownYet))
    case .withdraw:
      MachineStep(.withdrawn, .moved, .remove)
    case .vanish:
      // It was deleted at the relay, for example because its time was up.
      MachineStep(.vanished, .moved, .remove)
    }
  }

  @inline(__always)
  private static func stepCommitted(_ event: Event) -> MachineStep<LedgerEntry> {
    switch event {
    case .commit, .announce, .`repeat`, .vanish:
      MachineStep(.committed, .ignored(.alreadyCommitted))
    case .quarantine:
      MachineStep(.committed, .refused(.alreadyCommitted))
    case .present:
      MachineStep(.presented, .moved, .keep, .show)
    case .read:
      MachineStep(.read, .moved, .uncountUnread)
    case .edit:
      // It will be shown with its content at that time.
      MachineStep(.committed, .ignored(.notShownYet))
    case .withdraw:
      MachineStep(.withdrawn, .moved, .uncountUnread)
    case .lapse:
      MachineStep(.lapsed, .moved)
    case .silence:
      MachineStep(.silenced, .moved)
    }
  }

  @inline(__always)
  private static func stepUpgraded(_ event: Event) -> MachineStep<LedgerEntry> {
    switch event {
    case .commit, .announce, .`repeat`, .vanish:
      MachineStep(.upgraded, .ignored(.alreadyCommitted))
    case .quarantine:
      MachineStep(.upgraded, .refused(.alreadyCommitted))
    case .present:
      MachineStep(.presented, .moved, .keep, .show)
    case .read:
      MachineStep(.read, .moved, .uncountUnread, .remove)
    case .edit:
      // It will be shown with its content at that time.
      MachineStep(.upgraded, .ignored(.notShownYet))
    case .withdraw:
      MachineStep(.withdrawn, .moved, .uncountUnread, .remove)
    case .lapse:
      MachineStep(.lapsed, .moved, .remove)
    case .silence:
      // Nothing stays on screen either.
      MachineStep(.silenced, .moved, .remove)
    }
  }

  @inline(__always)
  private static func stepPresented(_ event: Event) -> MachineStep<LedgerEntry> {
    switch event {
    case .commit, .announce, .`repeat`, .vanish:
      MachineStep(.presented, .ignored(.alreadyCommitted))
    case .quarantine:
      MachineStep(.presented, .refused(.alreadyCommitted))
    case .present, .silence:
      // Shown once, even if this is invoked twice (INC-34).
      MachineStep(.presented, .ignored(.alreadyPresented))
    case .read:
      MachineStep(.read, .moved, .uncountUnread, .remove)
    case .edit:
      MachineStep(.outdated, .moved)
    case .withdraw:
      MachineStep(.withdrawn, .moved, .uncountUnread, .remove)
    case .lapse:
      MachineStep(.lapsed, .moved, .remove)
    }
  }

  @inline(__always)
  private static func stepOutdated(_ event: Event) -> MachineStep<LedgerEntry> {
    switch event {
    case .commit, .announce, .`repeat`, .vanish:
      MachineStep(.outdated, .ignored(.alreadyCommitted))
    case .quarantine:
      MachineStep(.outdated, .refused(.alreadyCommitted))
    case .present:
      MachineStep(.presented, .moved, .keep, .replace)
    case .read:
      MachineStep(.read, .moved, .uncountUnread, .remove)
    case .edit:
      MachineStep(.outdated, .ignored(.alreadyOutdated))
    case .withdraw:
      MachineStep(.withdrawn, .moved, .uncountUnread, .remove)
    case .lapse:
      MachineStep(.lapsed, .moved, .remove)
    case .silence:
      // The screen shows what was true before the edit.
      MachineStep(.silenced, .moved, .remove)
    }
  }

  @inline(__always)
  private static func stepSilenced(_ event: Event) -> MachineStep<LedgerEntry> {
    switch event {
    case .commit, .announce, .`repeat`, .vanish:
      MachineStep(.silenced, .ignored(.alreadyCommitted))
    case .quarantine:
      MachineStep(.silenced, .refused(.alreadyCommitted))
    case .present, .silence:
      MachineStep(.silenced, .ignored(.alreadySilenced))
    case .read:
      MachineStep(.read, .moved, .uncountUnread)
    case .edit:
      // Its new content may be shown, for example because of a mention. It is then shown like a new one: nothing on
      // screen is replaced.
      MachineStep(.committed, .moved, .waitLate)
    case .withdraw:
      MachineStep(.withdrawn, .moved, .uncountUnread)
    case .lapse:
      MachineStep(.lapsed, .moved)
    }
  }

  @inline(__always)
  private static func stepLapsed(_ event: Event) -> MachineStep<LedgerEntry> {
    switch event {
    case .commit, .announce, .present, .edit, .`repeat`, .lapse, .silence, .vanish:
      MachineStep(.lapsed, .ignored(.lapsed))
    case .quarantine:
      MachineStep(.lapsed, .refused(.alreadyCommitted))
    case .read:
      MachineStep(.read, .moved, .uncountUnread)
    case .withdraw:
      MachineStep(.withdrawn, .moved, .uncountUnread)
    }
  }

  @inline(__always)
  private static func stepRead(_ event: Event) -> MachineStep<LedgerEntry> {
    switch event {
    case .commit, .announce, .present, .read, .edit, .`repeat`, .lapse, .silence, .vanish:
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
    case .commit:
      // It was tried again and opens, for example because what it needs arrived after it.
      MachineStep(.upgraded, .moved, .countUnread)
    case .quarantine:
      // It was tried again, without success.
      MachineStep(.quarantined, .stayed, .countAttempt)
    case .announce, .`repeat`, .vanish:
      MachineStep(.quarantined, .ignored(.alreadyQuarantined))
    case .present, .read, .edit, .lapse, .silence:
      MachineStep(.quarantined, .refused(.quarantined))
    case .withdraw:
      MachineStep(.withdrawn, .moved)
    }
  }

  @inline(__always)
  private static func stepWithdrawn(_ event: Event) -> MachineStep<LedgerEntry> {
    switch event {
    case .commit, .quarantine, .announce, .present, .read, .edit, .withdraw, .`repeat`, .lapse,
      .silence, .vanish:
      MachineStep(.withdrawn, .ignored(.ended))
    }
  }

  @inline(__always)
  private static func stepVanished(_ event: Event) -> MachineStep<LedgerEntry> {
    switch event {
    case .commit:
      MachineStep(.upgraded, .moved, .countUnread, .dropPlaceholder)
    case .quarantine:
      MachineStep(.quarantined, .moved, .recordReason)
    case .announce, .read, .edit, .`repeat`, .vanish:
      MachineStep(.vanished, .ignored(.vanished))
    case .present, .lapse, .silence:
      MachineStep(.vanished, .refused(.notCommitted))
    case .withdraw:
      MachineStep(.withdrawn, .moved)
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

/// Writes the recorded effects of `LedgerEntry`, one method for each, inside the transaction that takes the step.
package protocol LedgerEntryRecord {
  /// The event's data, and the record being changed.
  associatedtype Argument
  associatedtype Failure: Error
  /// Count it as unread, and compute the badge.
  func countUnread(_ argument: inout Argument, _ next: LedgerEntry.State) throws(Failure)
  /// Stop counting it as unread, and compute the badge.
  func uncountUnread(_ argument: inout Argument, _ next: LedgerEntry.State) throws(Failure)
  /// Have the platform remove what was shown under its identifier.
  func remove(_ argument: inout Argument, _ next: LedgerEntry.State) throws(Failure)
  /// Record why it is quarantined.
  func recordReason(_ argument: inout Argument, _ next: LedgerEntry.State) throws(Failure)
  /// Count one more attempt to open it; the number of attempts is limited.
  func countAttempt(_ argument: inout Argument, _ next: LedgerEntry.State) throws(Failure)
  /// Have the platform remove the placeholder, unless the notification has the same identifier and replaces it.
  func dropPlaceholder(_ argument: inout Argument, _ next: LedgerEntry.State) throws(Failure)
  /// Leave it waiting to be shown, although later ones have been shown.
  func waitLate(_ argument: inout Argument, _ next: LedgerEntry.State) throws(Failure)
  /// Forget a removal noted earlier: what is under its identifier now stays on screen.
  func keep(_ argument: inout Argument, _ next: LedgerEntry.State) throws(Failure)
}

extension LedgerEntry {
  /// Writes the step's recorded effects, in order.
  package static func record<Recorder: LedgerEntryRecord>(
    _ step: MachineStep<LedgerEntry>, by recorder: Recorder, _ argument: inout Recorder.Argument
  ) throws(Recorder.Failure) {
    for effect in step.effects {
      switch effect {
      case .countUnread: try recorder.countUnread(&argument, step.next)
      case .uncountUnread: try recorder.uncountUnread(&argument, step.next)
      case .remove: try recorder.remove(&argument, step.next)
      case .recordReason: try recorder.recordReason(&argument, step.next)
      case .countAttempt: try recorder.countAttempt(&argument, step.next)
      case .dropPlaceholder: try recorder.dropPlaceholder(&argument, step.next)
      case .waitLate: try recorder.waitLate(&argument, step.next)
      case .keep: try recorder.keep(&argument, step.next)
      case .show, .showPlaceholder, .replace: break
      }
    }
  }
}

/// Carries out the effects of `LedgerEntry`, one method for each.
package protocol LedgerEntryEffects {
  /// The event's data.
  associatedtype Argument
  /// Show it, under its identifier.
  func show(_ argument: Argument)
  /// Show that something arrived, under the message's future identifier.
  func showPlaceholder(_ argument: Argument)
  /// Show it again under its identifier, without a sound.
  func replace(_ argument: Argument)
}

extension LedgerEntry {
  /// Calls the effect's method; recorded effects and timers have none here.
  package static func perform<Performer: LedgerEntryEffects>(
    _ effect: Effect, by performer: Performer, _ argument: Performer.Argument
  ) {
    switch effect {
    case .show: performer.show(argument)
    case .showPlaceholder: performer.showPlaceholder(argument)
    case .replace: performer.replace(argument)
    case .countUnread, .uncountUnread, .remove, .recordReason, .countAttempt, .dropPlaceholder,
      .waitLate, .keep:
      break
    }
  }
}
