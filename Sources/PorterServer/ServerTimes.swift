import PorterPlatform

/// All durations of the server, and the times it remembers while it runs.
struct ServerTimes {
  /// How often to register again with the relay, in case it has forgotten this process.
  static let listenCheckInterval = Span.seconds(300)
  /// How often to check each subscription with the relay (INC-67).
  static let subscriptionCheckInterval = Span.days(1)
  static let sweepInterval = Span.seconds(3_600)
  /// Longer than a relay keeps a message, so that a request cannot return from there after it was forgotten here.
  static let answerRetention = Span.days(30)
  /// As long as a relay keeps a message.
  static let notificationRetention = Span.days(21)
  /// A token whose client has not been in contact for this long is dropped.
  static let tokenRetention = Span.days(365)
  static let firstRetry = Span.milliseconds(500)
  static let lastRetry = Span.seconds(60)
  static let backoff = Backoff(first: firstRetry, last: lastRetry)
  /// How long a provider may put off a push.
  static let longestDeferral = Span.days(1)
  /// What one turn of the loop does at most of each work that grows with the number of tokens, so that nothing waits for it. The
  /// rest is the next turn's. Counts and not times, which on a busy machine would be over when little was done.
  static let slice = 128
  /// The same for subscriptions to check: of each, a signature is made and proven.
  static let checkSlice = 16
  /// The same for requests, each of which waits for the disk.
  static let requestsOfATurn = 4
  /// The shortest period of wake-ups, in minutes.
  static let shortestPeriod = 20

  /// The last subscription that was checked; nil when no check is under way.
  var checkedThrough: Int64?
  /// A turn ended before its work did.
  var hasMoreToDo = false
  /// The same for what the relay has, and for the check of subscriptions.
  var hasMoreAtRelay = false
  var listenCheck: Moment
  var subscriptionCheck: Moment
  var sweep: Moment
  /// When the relay has a notification due that it withheld when it was last asked.
  var heldNotification: Moment?
  private(set) var relayRetry: Moment
  /// Why the relay, or the state file, could not be used in the latest turn.
  private(set) var failure: ServerError?
  private var relayBackoff: Backoff?
  /// Providers that are paused because they could not be reached.
  private(set) var providerPauses: [String: (until: Moment, backoff: Backoff)] = [:]

  init(now: Moment) {
    (listenCheck, subscriptionCheck, sweep, relayRetry) = (now, now, now, now)
  }

  /// Whether the relay, or the state file, is tried again later.
  var isRelayDown: Bool { relayBackoff != nil }

  var hasRelayFailed: Bool {
    switch failure {
    case .relay?, .mailboxUnknown?: true
    default: false
    }
  }

  /// Whether to ask the relay though it has raised no wake-up.
  func isRelayDue(now: Moment) -> Bool {
    hasMoreAtRelay || isRelayDown || now >= min(listenCheck, heldNotification ?? listenCheck)
  }

  mutating func relayWorked() {
    relayBackoff = nil
    failure = nil
  }

  mutating func relayFailed(_ error: ServerError, now: Moment) {
    failure = error
    var backoff = relayBackoff ?? Self.backoff
    relayRetry = now + backoff.next()
    relayBackoff = backoff
  }

  /// Returns how long the provider is paused.
  mutating func pause(_ provider: String, now: Moment) -> Span {
    var backoff = providerPauses[provider]?.backoff ?? Self.backoff
    let pause = backoff.next()
    providerPauses[provider] = (until: now + pause, backoff: backoff)
    return pause
  }

  mutating func resume(_ provider: String) { providerPauses[provider] = nil }
}
