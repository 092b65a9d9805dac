import PorterPlatform

/// The engine's timers; they fire in its turns. A timer that is cancelled, or set again under its name, never fires
/// late.
final class Timers {
  /// A class, because an array of objects is of a type that every process already has.
  private final class Timer {
    let number: Int
    let name: String
    var due: Moment
    let action: () -> Void

    init(number: Int, name: String, due: Moment, action: @escaping () -> Void) {
      (self.number, self.name, self.due, self.action) = (number, name, due, action)
    }
  }

  private let clock: any Clock
  private var timers: [Timer] = []
  private var next = 0

  init(clock: any Clock) { self.clock = clock }

  func set(_ name: String, after span: Span, _ action: @escaping () -> Void) {
    cancel(name)
    timers.append(Timer(number: next, name: name, due: clock.now() + span, action: action))
    next += 1
  }

  /// Makes a timer due now if it is set.
  func hasten(_ name: String) {
    guard let index = timers.firstIndex(where: { $0.name == name }) else { return }
    timers[index].due = min(timers[index].due, clock.now())
  }

  func isSet(_ name: String) -> Bool { due(name) != nil }

  /// Nil when it is not set.
  func due(_ name: String) -> Moment? { timers.first { $0.name == name }?.due }

  func cancel(_ name: String) { timers.removeAll { $0.name == name } }

  /// When the next timer is due; nil when none is set.
  var nextDue: Moment? {
    var next: Moment?
    for timer in timers { next = min(next ?? timer.due, timer.due) }
    return next
  }

  /// Runs due timers; returns whether any was due. After a slow one, such as one that waited for the store, the others
  /// are left to the next turn: the host's requests come in between.
  @discardableResult
  func runDue() -> Bool {
    let now = clock.now()
    guard timers.contains(where: { $0.due <= now }) else { return false }
    let due = timers.filter { $0.due <= now }.sorted { ($0.due, $0.number) < ($1.due, $1.number) }
    for timer in due {
      // An earlier one of this round may have cancelled it, or set another under its name (INC-21).
      guard let index = timers.firstIndex(where: { $0.number == timer.number }) else { continue }
      timers.remove(at: index).action()
      if clock.now() - now > Durations.longWork { break }
    }
    return true
  }
}

/// Names of the timers that begin work on their own; a chat that suspends cancels them all.
enum TimerName {
  static let outbox = "outbox"
  static let subscribe = "subscribe"
  static let reload = "reload"
  static let announce = "announce"
  static let subscriptions = "subscriptions"
  static let allSubscriptions = "all subscriptions"
  static let releases = "releases"
  static let lostRequests = "lost requests"
  static let unstored = "unstored"
  static let poll = "poll"
  static let subscriptionCheck = "subscription check"
  static let subscriptionReports = "subscription reports"
  static let serverRequests = "server requests"
  static let tokenRetry = "token retry"
  static let tokenRepair = "token repair"
  static let tokenCheck = "token check"
  static let joining = "joining"
  static let requests = "requests"
  static let relay = "relay"
  static let mailboxes = "mailboxes"
  static let replies = "replies"
  static let busyRelay = "busy relay"
  static let responses = "responses"
  static let disappearing = "disappearing"
  static let calls = "calls"
  static let callsAgain = "calls again"
  /// Ends with the channel, not with the chat's work.
  static let listening = "listening"

  static let work = [
    outbox, subscribe, reload, announce, subscriptions, allSubscriptions, releases, lostRequests, unstored, poll,
    subscriptionCheck, serverRequests, tokenRetry, tokenRepair, tokenCheck, joining, requests, relay, mailboxes,
    replies, busyRelay, responses, disappearing, calls,
    callsAgain, subscriptionReports,
  ]

  /// Timers that retry what the relay did not accept or return.
  static let relayRetries = [outbox, subscribe, subscriptions, serverRequests, tokenRetry, mailboxes, replies]
}
