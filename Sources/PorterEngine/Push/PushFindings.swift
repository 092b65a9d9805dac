import PorterMachines

/// What a push found, and the resulting outcome. A value: the precedence among findings is decided here and nowhere
/// else, in the order given in `spec/machines/push.md`.
struct PushFindings: Equatable, Sendable {
  private struct Facts: OptionSet, Equatable {
    let rawValue: UInt32
    static let expired = Facts(rawValue: 1 << 0)
    static let stopped = Facts(rawValue: 1 << 1)
    static let locked = Facts(rawValue: 1 << 2)
    static let wrongSchema = Facts(rawValue: 1 << 3)
    static let shows = Facts(rawValue: 1 << 4)
    static let failed = Facts(rawValue: 1 << 5)
    static let forged = Facts(rawValue: 1 << 6)
    static let offline = Facts(rawValue: 1 << 7)
    static let verified = Facts(rawValue: 1 << 8)
    static let yielded = Facts(rawValue: 1 << 9)
    static let unknown = Facts(rawValue: 1 << 10)
    static let missing = Facts(rawValue: 1 << 11)
    static let accounted = Facts(rawValue: 1 << 12)
    static let appCame = Facts(rawValue: 1 << 13)
    static let hurried = Facts(rawValue: 1 << 14)
    static let settled = Facts(rawValue: 1 << 15)
    static let looked = Facts(rawValue: 1 << 16)
    static let broken = Facts(rawValue: 1 << 17)
  }

  private var facts: Facts = []
  /// Messages by outcome.
  private var committed = 0
  private var quarantined = 0
  /// The source's answers: nothing waits, or a message that is now recorded.
  private(set) var answers = 0

  /// The store failed during part of the push.
  var hasFailed: Bool { facts.contains(.failed) }

  /// Whether the push looked into every mailbox it is about.
  var look: Look {
    let hindrances: Facts = [.expired, .stopped, .locked, .wrongSchema, .failed, .offline, .yielded, .hurried]
    if !facts.isDisjoint(with: hindrances) { return .cut }
    return facts.contains(.looked) ? .whole : .none
  }

  enum Look: CaseIterable {
    /// There was nothing to look into, for example for a push that is already known.
    case none
    case whole
    case cut
  }

  /// A call was shown before everything was looked into.
  var isHurried: Bool { facts.contains(.hurried) }

  /// A record the push needs is damaged. Committed messages are shown anyway, and other connections get their turn
  /// (INC-44): the push fails only if there is nothing to show.
  mutating func noteDamage() { facts.insert(.failed) }

  /// Each message the push names is shown now, is already announced or shown, or is not shown by the user's choice.
  var isAccountedFor: Bool { facts.contains(.accounted) }
  mutating func noteAccountedFor() { facts.insert(.accounted) }
  /// Something that should have been shown is left out of the answer.
  mutating func noteUnaccounted() { facts.remove(.accounted) }

  /// The app is running, fetches the rest, and notifies its user.
  var isLeftToApp: Bool { facts.contains(.appCame) }

  /// Whether the relay and the store did what they were asked to.
  var hasReachedRelayAndStore: Bool { facts.isDisjoint(with: [.offline, .failed]) }

  /// A round that ends this way has left mailboxes for the next one. A damaged record, or one held by another process,
  /// keeps the round from none of the others.
  var isCutShort: Bool {
    !facts.isDisjoint(with: [.broken, .expired, .stopped, .locked, .wrongSchema, .offline, .hurried])
  }

  /// Every mailbox due was looked into, as far as this process can.
  var hasLookedEverywhere: Bool { facts.contains(.looked) && !isCutShort }

  /// What is shown is settled: nothing after this point changes the outcome.
  mutating func noteSettled() { facts.insert(.settled) }

  /// Records an event that the machine did not ignore.
  mutating func note(_ event: Push.Event) {
    guard !facts.contains(.settled) else {
      if event == .appWoke { facts.insert(.appCame) }
      return
    }
    switch event {
    case .expire: facts.insert(.expired)
    case .appStopped: facts.insert(.stopped)
    case .storeLocked: facts.insert(.locked)
    case .storeWrongSchema: facts.insert(.wrongSchema)
    case .composedShow: facts.insert(.shows)
    case .claimDamaged, .commitDamaged: facts.insert(.failed)
    // The rest is not looked into.
    case .storeFailed, .claimFailed, .commitFailed: facts.formUnion([.failed, .broken])
    case .decodedUndecryptable, .verifyForged: facts.insert(.forged)
    case .fetchOffline, .acknowledgeFailed, .verifyFailed: facts.insert(.offline)
    case .verifyDone: facts.insert(.verified)
    case .appRunning, .appWoke: facts.formUnion([.yielded, .appCame])
    case .storeBusy, .claimBusy, .commitStale: facts.insert(.yielded)
    case .payloadUnknown, .decodedUnknown: facts.insert(.unknown)
    case .callWaits: facts.insert(.hurried)
    case .claimNoneLeft: facts.insert(.looked)
    case .claimMissing, .fetchDenied: facts.insert(.missing)
    case .commitDone, .commitCall:
      committed += 1
      answers += 1
    case .commitQuarantined:
      quarantined += 1
      answers += 1
    case .commitRepeat, .fetchEmpty: answers += 1
    case .payloadMessage, .payloadVerification, .payloadWake, .appInactive, .storeOpened, .decodedMessage,
      .decodedVerification, .decodedRepeat, .claimGranted, .callCame, .fetchMessage, .acknowledged, .mailboxTaken,
      .composedAnnounced, .composedNothing, .sent:
      break
    case .releasedPresented, .releasedNothingNew, .releasedYielded, .releasedVerified, .releasedLocked,
      .releasedOffline, .releasedExpired, .releasedUnknown, .releasedQuarantined, .releasedStopped,
      .releasedWrongSchema, .releasedFailed:
      break
    }
  }

  /// The event to raise once the store is released.
  var outcome: Push.Event {
    if facts.contains(.expired) { return .releasedExpired }
    if facts.contains(.stopped) { return .releasedStopped }
    if facts.contains(.locked) { return .releasedLocked }
    if facts.contains(.wrongSchema) { return .releasedWrongSchema }
    if facts.contains(.shows) { return .releasedPresented }
    if facts.contains(.failed) { return .releasedFailed }
    if facts.contains(.forged) || (quarantined > 0 && committed == 0) { return .releasedQuarantined }
    if facts.contains(.offline) { return .releasedOffline }
    if facts.contains(.verified) { return .releasedVerified }
    if facts.contains(.yielded) { return .releasedYielded }
    if facts.contains(.unknown) || (facts.contains(.missing) && committed == 0) { return .releasedUnknown }
    return .releasedNothingNew
  }

  /// How much of its work a push ending in `state` did.
  func work(in state: Push.State, leftToOthers: Bool) -> PushWork {
    let begun: PushWork = answers > 0 ? .partial : .skipped
    switch state {
    case .stopped, .locked, .wrongSchema: return .skipped
    case .expired, .offline, .failed, .yielded: return begun
    case .presented, .nothingNew, .unknown, .quarantined:
      return leftToOthers || facts.contains(.offline) || facts.contains(.hurried) || hasFailed ? begun : .ran
    case .verified: return .ran
    case .received, .deciding, .openingStore, .decoding, .verifying, .claiming, .fetching, .committing, .acknowledging,
      .presenting, .sending, .releasing:
      return .partial
    }
  }
}

/// Tracks which of several concurrent pushes, numbered by order of arrival, looked into every mailbox. A value.
struct LookRecord {
  private var whole = 0
  private var cut = 0

  mutating func note(_ number: Int, _ look: PushFindings.Look) {
    switch look {
    case .none: break
    case .whole: whole = max(whole, number)
    case .cut: cut = max(cut, number)
    }
  }

  /// Whether the last push to arrive did, whichever ended last: what it is about may have arrived after the others
  /// looked.
  var isWhole: Bool { whole > cut }
}
