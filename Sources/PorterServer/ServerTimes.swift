import PorterPlatform

/// Why a provider is paused.
enum ProviderTrouble: Equatable, CustomStringConvertible {
  case unreachable(ProviderFailure)
  case refusing(ProviderFailure)

  var description: String {
    switch self {
    case .unreachable(let failure): "cannot be reached (\(failure))"
    case .refusing(let failure): "refuses the provider token or topic (\(failure))"
    }
  }

  var failure: ProviderFailure {
    switch self {
    case .unreachable(let failure), .refusing(let failure): failure
    }
  }

  /// Only the operator can end it.
  var isRefusal: Bool {
    switch self {
    case .unreachable: false
    case .refusing: true
    }
  }

  /// For the log.
  var line: StaticString {
    switch self {
    case .unreachable: "a push provider cannot be reached"
    case .refusing: "a push provider refuses the provider token or topic"
    }
  }

  /// The latest refusal, or else the latest failure. Nil if none of these outcomes pauses a provider.
  init?(_ outcomes: [PushOutcome]) {
    let troubles = outcomes.compactMap { Self($0) }
    guard let trouble = troubles.last(where: \.isRefusal) ?? troubles.last else { return nil }
    self = trouble
  }

  private init?(_ outcome: PushOutcome) {
    switch outcome {
    case .unreachable(let failure): self = .unreachable(failure)
    case .refused(let failure): self = .refusing(failure)
    case .accepted, .invalid, .ended, .later, .failed, .rejected: return nil
    }
  }
}

struct ProviderPause {
  let until: Moment
  let backoff: Backoff
  let trouble: ProviderTrouble
}

/// All durations of the server, and the times it remembers while running.
struct ServerTimes {
  /// How often to register again with the relay, in case it has forgotten this process.
  static let listenCheckInterval = Span.seconds(300)
  /// How often to check each subscription with the relay (INC-67).
  static let subscriptionCheckInterval = Span.days(1)
  static let sweepInterval = Span.seconds(3_600)
  /// Longer than a relay keeps a message, so that no request can return from there after it was forgotten here.
  static let answerRetention = Span.days(30)
  /// How long a token's document in a cluster keeps an answer, which is a record of its own as well.
  static let answerInDocument = Span.seconds(3_600)
  /// As long as a relay keeps a message.
  static let notificationRetention = Span.days(21)
  /// A token whose client has not been in contact for this long expires.
  static let tokenRetention = Span.days(365)
  /// A token that was never verified, or that its provider has refused, is deleted after this long without contact; an
  /// expired one this long after it expired. No request about it can come from a relay by then.
  static let unusableRetention = answerRetention
  static let firstRetry = Span.milliseconds(500)
  static let lastRetry = Span.seconds(60)
  static let backoff = Backoff(first: firstRetry, last: lastRetry)
  /// How long a provider may defer a push.
  static let longestDeferral = Span.days(1)
  /// The most that one turn of the loop does of each job that grows with the number of tokens, so that nothing waits
  /// for it. The rest is left for the next turn. Counts rather than times: on a busy machine a time could be over with
  /// little done.
  static let slice = 128
  /// Likewise for subscriptions to check, each of which needs a signature made and verified.
  static let checkSlice = 16
  /// Likewise for requests, each of which waits for the disk.
  static let requestsOfATurn = 4
  /// The shortest period of wake-ups, in minutes.
  static let shortestPeriod = 20

  /// The last subscription that was checked; nil when no check is under way.
  var checkedThrough: Int64?
  /// A turn ended with work left.
  var hasMoreToDo = false
  /// Likewise for the relay's backlog and for the check of subscriptions.
  var hasMoreAtRelay = false
  var listenCheck: Moment
  var subscriptionCheck: Moment
  var sweep: Moment
  /// When a notification that the relay withheld last time is due.
  var heldNotification: Moment?
  private(set) var relayRetry: Moment
  /// Why the relay, or the state file, could not be used in the latest turn.
  private(set) var failure: ServerError?
  private var relayBackoff: Backoff?
  /// Providers that are paused because they could not be reached.
  private(set) var providerPauses: [String: ProviderPause] = [:]
  /// The sequences of the pushes with which paused providers were last tried.
  var lastTrials: [String: Int64] = [:]

  init(now: Moment) {
    (listenCheck, subscriptionCheck, sweep, relayRetry) = (now, now, now, now)
  }

  /// Whether the relay or the state file is being retried later.
  var isRelayDown: Bool { relayBackoff != nil }

  var hasRelayFailed: Bool {
    switch failure {
    case .relay?, .mailboxUnknown?: true
    default: false
    }
  }

  /// Whether to ask the relay even without a wake-up.
  func isRelayDue(now: Moment) -> Bool {
    hasMoreAtRelay || isRelayDown || now >= min(listenCheck, heldNotification ?? listenCheck)
  }

  /// Returns whether it had failed.
  @discardableResult
  mutating func relayWorked() -> Bool {
    defer { (relayBackoff, failure) = (nil, nil) }
    return failure != nil
  }

  mutating func relayFailed(_ error: ServerError, now: Moment) {
    failure = error
    var backoff = relayBackoff ?? Self.backoff
    relayRetry = now + backoff.next()
    relayBackoff = backoff
  }

  /// Pauses the provider and returns for how long.
  mutating func pause(_ provider: String, now: Moment, _ trouble: ProviderTrouble) -> Span {
    var backoff = providerPauses[provider]?.backoff ?? Self.backoff
    let pause = backoff.next()
    providerPauses[provider] = ProviderPause(until: now + pause, backoff: backoff, trouble: trouble)
    return pause
  }

  /// Returns whether it was paused.
  mutating func resume(_ provider: String) -> Bool {
    lastTrials[provider] = nil
    return providerPauses.removeValue(forKey: provider) != nil
  }
}
