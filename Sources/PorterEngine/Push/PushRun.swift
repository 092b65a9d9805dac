import PorterJSON
import PorterMachines
import PorterNotifications
import PorterPlatform
import PorterPush
import PorterStore

/// One push, from the call to its single answer.
final class PushRun {
  let text: String
  let started: Moment
  /// When the push must be answered with the best there is.
  let due: Moment
  /// In order of arrival, from 1.
  let number: Int
  let pending: PendingPush

  /// Set when the run is created.
  var driver: MachineDriver<Push, PushRun>?
  var payload: PushPayload?

  /// The connections the push names; nil while unknown.
  private(set) var named: [NamedConnection]?
  /// Connections not yet looked into.
  private var connections: ArraySlice<NamedConnection> = []
  /// Connections for which it is unknown whether something waits.
  private var unasked: [NamedConnection] = []
  /// The connection it is claiming, or claimed last.
  var wanted: NamedConnection?
  /// When the push's unanswered request was made.
  private(set) var asked: Moment?
  private var requests = 0
  /// Connections with nothing left to fetch.
  private var exhausted: Set<Int64> = []
  /// What the push currently holds of the source's.
  var holding = Holding.nothing
  /// The records it has read, for what it shows.
  var records = KnownRecords()

  enum Holding {
    case nothing
    case connection(ClaimedConnection)
    case message(SourceMessage, ClaimedConnection)
    /// The operation lasts until the message is acknowledged.
    case committed(SourceMessage, CommittedMessage, ClaimedConnection, Operation)

    var claimed: ClaimedConnection? {
      switch self {
      case .nothing: nil
      case .connection(let claimed), .message(_, let claimed), .committed(_, _, let claimed, _): claimed
      }
    }
  }

  var findings = PushFindings()
  /// Nil when it had the store, or did not try to get it.
  var obstacle: PushNotice.Obstacle?
  /// The user sees what this process reports: neither a placeholder nor a notice is needed.
  var isOnScreen = false
  /// The processes that have what this push left alone; each once.
  private(set) var holders: [String] = []
  var content = PushContent()
  /// In an app: when the next round is due.
  var nextRefresh: Span?
  var reason = ""
  private var trace = PushTrace()

  init(text: String, started: Moment, due: Moment, number: Int, _ pending: PendingPush) {
    self.text = text
    self.started = started
    self.due = due
    self.number = number
    self.pending = pending
  }

  /// The timer of its deadline; other timers are named after it.
  var timer: String { "push \(number)" }

  /// How often the engine's waits had been cut off when this push was last worked on.
  var cuts = 0

  var state: Push.State { driver?.state ?? Push.initial }

  /// `others` are asked about once `connections` were looked into.
  func look(into connections: [NamedConnection], naming named: [NamedConnection], others: [NamedConnection] = []) {
    self.named = named
    self.connections = connections[...]
    unasked = others
  }

  /// Notes that the source is asked for something. Returns the request's number.
  func ask(at moment: Moment) -> Int {
    requests += 1
    asked = moment
    return requests
  }

  /// Returns false when the request was given up in the meantime.
  func noteAnswer(to request: Int) -> Bool {
    guard request == requests else { return false }
    asked = nil
    return true
  }

  func forgetRequest() {
    requests += 1
    asked = nil
  }

  /// Gives the connection claimed last another turn, after the others.
  func putBack() {
    if let wanted { connections.append(wanted) }
  }

  /// Each once.
  func takeUnasked() -> [NamedConnection] {
    defer { unasked = [] }
    return unasked
  }

  func look(alsoInto others: [NamedConnection]) { connections += others }

  func nextConnection() -> NamedConnection? { connections.popFirst() }

  func noteExhausted(_ connectionID: Int64) { exhausted.insert(connectionID) }

  /// Connections named by the push with messages that may still arrive.
  var expecting: [NamedConnection] {
    (named ?? []).filter { (!$0.expected.isEmpty || $0.hasUnreadable) && !exhausted.contains($0.id) }
  }

  /// The notice to give when the answer would say nothing. `isShown`: a notice is on screen.
  func notice(isShown: Bool) -> NotificationNotice? {
    // A withdrawal says nothing about what arrived.
    guard !isOnScreen, content.saysNothing, !findings.isAccountedFor else { return nil }
    switch payload {
    case .message: return PushNotice.afterMessage(state, obstacle)
    // It would come again with every round.
    case .checkMessages: return isShown ? nil : PushNotice.afterRound(state, obstacle)
    case .verification, nil: return nil
    }
  }

  /// The notice on screen when this push was decoded.
  var foundNotice: NoticeMark.Name?

  /// The notice it found may be about something this push does not know.
  var leavesNotice: Bool { owesNotice || !findings.hasLookedEverywhere }

  /// Something the push names is not in the answer, and not known to be on screen or unwanted: a notice is due.
  var owesNotice: Bool {
    switch payload {
    case .message: !isOnScreen && !findings.isAccountedFor
    case .checkMessages: findings.isCutShort
    // It knows nothing about what arrived.
    case .verification, nil: true
    }
  }

  /// A record the push names is damaged: it is unknown what the push is about.
  private(set) var namesUnknown = false

  func noteUnknownName() {
    if case .message = payload { namesUnknown = true }
  }

  /// Why the store could not be read for this push, until taken.
  private var storeError: StoreError?

  func noteStoreError(_ error: StoreError) {
    storeError = error
    reason = error.description
  }

  func takeStoreError() -> StoreError? {
    defer { storeError = nil }
    return storeError
  }

  /// The push does not say what waits.
  var isRound: Bool {
    if case .checkMessages = payload { return true }
    return false
  }

  var isVerification: Bool {
    if case .verification = payload { return true }
    return false
  }

  /// A record that the push needs is damaged.
  func noteDamage(_ error: StoreError) {
    findings.noteDamage()
    reason = error.description
  }

  func isOver(at moment: Moment) -> Bool { moment >= due || pending.isExpired }

  /// A withdrawal alone answers a push about which nothing else needs to be said.
  var isPresenting: Bool {
    guard !content.showsWhatCame else { return true }
    if case .message = payload, owesNotice { return false }
    return !content.withdrawals.isEmpty
  }

  /// What this push shows is settled, and on its way to the caller.
  private(set) var hasStagedAnswer = false

  /// Offers the caller what there is to show, before it is recorded as shown. An answer without the engine, should it
  /// hang from here on, includes it too. Returns false when the caller was already answered: what comes now reaches no
  /// one.
  func stageAnswer() -> Bool {
    var content = content
    content.isRecorded = false
    let isPresented = state == .presenting && isPresenting
    // A withdrawal says nothing about what arrived.
    let needsNotice = owesNotice && content.saysNothing
    let isTaken = pending.stage { [content, holders, nextRefresh, trace] notice in
      var content = content
      if needsNotice { content.notifications = notice.notifications }
      let text = Self.json(
        outcome: isPresented ? Push.State.presented.name : Push.State.expired.name,
        reason: "time was up before the store was closed", work: .partial, holders: holders, content: content,
        quiescent: false, nextRefresh: nextRefresh, trace: trace)
      return .init(text: text, givesNotice: needsNotice && !notice.isEmpty)
    }
    hasStagedAnswer = isTaken
    return isTaken
  }

  func note(_ machine: String, _ event: String, _ state: String, at moment: Moment) {
    trace.note(.init(microseconds: (moment - started).microseconds, machine: machine, event: event, state: state))
  }

  /// Notes which process has what this push leaves alone; nil when unknown.
  func noteHeld(by holder: Owner?) { noteHeld(by: holder?.description ?? "another process") }

  func noteHeld(by name: String) {
    if !holders.contains(name) { holders.append(name) }
  }

  /// The first answer counts (INC-31). Returns false when the caller has another one, which shows and withdraws nothing
  /// of this one.
  func finish(quiescent: Bool) -> Bool {
    let work = findings.work(in: state, leftToOthers: !holders.isEmpty)
    let isTaken = pending.finish(
      Self.json(
        outcome: state.name, reason: reason.isEmpty ? words : reason, work: work, holders: holders,
        content: content, quiescent: quiescent, nextRefresh: nextRefresh, trace: trace))
    return isTaken || hasStagedAnswer
  }

  /// For a caller that is answered without the engine.
  static func unanswered(_ outcome: String, _ reason: String, _ content: PushContent = PushContent()) -> String {
    json(
      outcome: outcome, reason: reason, work: .skipped, holders: [], content: content, quiescent: false,
      trace: PushTrace())
  }

  static func json(
    outcome: String, reason: String, work: PushWork, holders: [String], content: PushContent, quiescent: Bool,
    nextRefresh: Span? = nil, trace: PushTrace
  ) -> String {
    let members = JSONValue.compact([
      "outcome": .string(outcome), "reason": .string(reason), "work": .string(work.rawValue),
      "holders": holders.isEmpty ? nil : .array(holders.map { .string($0) }),
      "notifications": .array(content.notifications),
      "applicationPushes": content.applicationPushes.isEmpty ? nil : .array(content.applicationPushes),
      "withdrawals": .array(content.withdrawals.map { .string($0) }), "badge": content.badge.map { JSONValue($0) },
      "recorded": content.isRecorded || content.isEmpty ? nil : .bool(false), "quiescent": .bool(quiescent),
      "nextRefreshMs": nextRefresh.map { JSONValue($0.milliseconds) },
    ])
    var text = members.utf8
    text.removeLast()
    text.append(contentsOf: Array(",\"trace\":[".utf8))
    trace.write(to: &text)
    text.append(contentsOf: Array("]}".utf8))
    return String(decoding: text, as: UTF8.self)
  }

  private var words: String {
    switch state {
    case .nothingNew where findings.isHurried: "a call was shown first, and not every mailbox was looked into"
    case .presented: "there is something to show, or to hand to the host"
    case .nothingNew: "everything is read, muted or shown already"
    case .yielded: "another process does it"
    case .verified: "the token was verified"
    case .locked: "the store cannot be read before the device is unlocked"
    case .offline: "what the push needs could not be reached"
    case .expired: "time was up"
    case .unknown: "the push is not about anything known here"
    case .quarantined: "what came does not open; it is kept and not shown"
    case .stopped: "the user stopped the chat"
    case .wrongSchema: "the app must be started once, to migrate the store"
    case .failed: "the store failed"
    case .received, .deciding, .openingStore, .decoding, .verifying, .claiming, .fetching, .committing, .acknowledging,
      .presenting, .sending, .releasing:
      "not finished"
    }
  }
}

/// The steps of a push: only the first and the last, since a push can take in thousands of messages of several steps
/// each, and must fit an extension's memory (INC-33).
struct PushTrace {
  struct Step {
    let microseconds: Int64
    let machine: String
    let event: String
    let state: String

    /// All are names from the machines and need no escaping. A push has dozens of steps: building values for them would
    /// cost more than writing all the rest.
    func write(to text: inout [UInt8]) {
      text.append(contentsOf: "{\"us\":".utf8)
      text.append(contentsOf: String(microseconds).utf8)
      text.append(contentsOf: ",\"machine\":\"".utf8)
      text.append(contentsOf: machine.utf8)
      text.append(contentsOf: "\",\"event\":\"".utf8)
      text.append(contentsOf: event.utf8)
      text.append(contentsOf: "\",\"state\":\"".utf8)
      text.append(contentsOf: state.utf8)
      text.append(contentsOf: "\"}".utf8)
    }
  }

  private static let kept = 256
  private var first: [Step] = []
  /// A ring; `next` is the oldest once it is full.
  private var last: [Step] = []
  private var next = 0

  mutating func note(_ step: Step) {
    if first.count < Self.kept {
      first.append(step)
    } else if last.count < Self.kept {
      last.append(step)
    } else {
      last[next] = step
      next = (next + 1) % Self.kept
    }
  }

  /// As elements of a JSON array.
  func write(to text: inout [UInt8]) {
    var isFirst = true
    func write(_ steps: ArraySlice<Step>) {
      for step in steps {
        if !isFirst { text.append(UInt8(ascii: ",")) }
        isFirst = false
        step.write(to: &text)
      }
    }
    write(first[...])
    write(last[next...])
    write(last[..<next])
  }
}

/// How much of its work a push did; doing nothing is never reported as success (INC-19).
enum PushWork: String {
  /// Everything the push is about was looked into.
  case ran
  /// Nothing was looked into: another process does it, or nothing was reachable.
  case skipped
  /// Part of it.
  case partial
}

/// What a push's answer shows.
struct PushContent {
  var notifications: [JSONValue] = []
  var withdrawals: [String] = []
  /// The notice among the withdrawals.
  var withdrawnNotice: NoticeMark.Name?
  /// Pushes of the host's own.
  var applicationPushes: [JSONValue] = []
  private var applicationBytes = 0
  var badge: Int64?
  /// Whether it is recorded as shown; otherwise it comes again.
  var isRecorded = true

  /// How many of the notifications are placeholders for messages that have not arrived.
  var placeholders = 0

  var isEmpty: Bool { saysNothing && withdrawals.isEmpty }
  var saysNothing: Bool { notifications.isEmpty && applicationPushes.isEmpty }
  var showsWhatCame: Bool { notifications.count > placeholders || !applicationPushes.isEmpty }

  /// Returns false if one more application push of this size is too much for one answer.
  mutating func takeRoom(_ bytes: Int) -> Bool {
    guard applicationPushes.count < ScopeLimits.pushesAtOnce, applicationBytes + bytes <= ScopeLimits.bytesAtOnce else {
      return false
    }
    applicationBytes += bytes
    return true
  }
}
