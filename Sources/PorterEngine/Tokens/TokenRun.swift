import PorterCrypto
import PorterMachines
import PorterPlatform
import PorterPush
import PorterSchema
import PorterStore

typealias TokenMachine = PorterMachines.TokenStatus

/// One command, push or timer concerning the token, and the caller waiting for its end.
final class TokenRun {
  let provider: String
  let deviceToken: [UInt8]
  let mode: String
  /// For each of the server's answers.
  let timeout: Span
  private var reply: ((Answer) -> Void)?

  init(
    provider: String, deviceToken: [UInt8], mode: String, timeout: Span = Durations.serverAnswer,
    reply: ((Answer) -> Void)? = nil
  ) {
    self.provider = provider
    self.deviceToken = deviceToken
    self.mode = mode
    self.timeout = timeout
    self.reply = reply
  }

  convenience init(
    of token: StoredToken, mode: String? = nil, timeout: Span = Durations.serverAnswer, reply: ((Answer) -> Void)? = nil
  ) {
    self.init(
      provider: token.provider, deviceToken: token.deviceToken, mode: mode ?? token.mode, timeout: timeout, reply: reply
    )
  }

  /// The first answer counts; anything later happens unasked.
  func answer(_ answer: Answer) {
    guard let reply else { return }
    self.reply = nil
    reply(answer)
  }
}

/// The data of an event of `token_status`, in addition to its run.
enum TokenNews {
  case none
  /// For `push.verification`.
  case code(VerificationCode)
  /// An attempt at the server: the one a step has begun, or the one an event answers.
  case attempt(Reservation)
  /// The server accepted the token: its id there, and the key to push with.
  case granted(id: [UInt8], secret: BoxSharedKey, Reservation)
  case failed(ChatError, Reservation?)

  /// The reservation of the attempt that this answers.
  var reservation: Reservation? {
    switch self {
    case .none, .code: nil
    case .attempt(let reservation), .granted(_, _, let reservation): reservation
    case .failed(_, let reservation): reservation
    }
  }

  var error: ChatError? {
    switch self {
    case .failed(let error, _): error
    case .none, .code, .attempt, .granted: nil
    }
  }
}

/// The argument of the effects of `token_status`.
struct TokenStep {
  let run: TokenRun
  var news: TokenNews = .none
  /// The token that the event is an answer about, if the attempt was not reserved.
  var subject: TokenSubject?
}

/// Tells a token from the one that another process may have registered in the meantime.
struct TokenSubject: Equatable {
  private let provider: String
  private let deviceToken: [UInt8]
  private let serverTokenID: [UInt8]?

  init(_ token: StoredToken) {
    (provider, deviceToken, serverTokenID) = (token.provider, token.deviceToken, token.serverTokenID)
  }
}

/// What an attempt at the server is about, as stored in its reservation.
enum TokenAttempt: UInt8 {
  case register = 1
  case replace = 2

  init?(_ reservation: StoredReservation) {
    self.init(rawValue: reservation.material.exposeForStorage().first ?? 0)
  }

  /// Returns the attempt begun by any process and not ended.
  static func open(_ store: Store) throws(StoreError) -> TokenAttempt? {
    try store.openReservations(.token).last.flatMap { TokenAttempt($0) }
  }

  /// Returns the open attempt with its token; nil if nothing was begun.
  static func left(_ store: Store?) throws(StoreError) -> LeftTokenAttempt? {
    guard let store, let token = try store.token(), let attempt = try open(store) else { return nil }
    return LeftTokenAttempt(token: token, attempt: attempt)
  }
}

/// What is reported to a host about the token: its status, and why it last needed repair.
struct TokenReport: Hashable {
  let status: PorterSchema.TokenStatus
  let reason: String?

  /// Nil without a token, or for a state unknown to this version.
  init?(_ token: StoredToken?) {
    guard let token, let state = TokenMachine.State(name: token.status) else { return nil }
    status = PorterSchema.TokenStatus(state)
    reason = token.repair?.reason
  }
}

/// An attempt that a process began but did not end.
struct LeftTokenAttempt {
  let token: StoredToken
  let attempt: TokenAttempt
}

extension TokenMachine.State {
  /// Throws for a state unknown to this version: mistaken for another, it would be worked on and overwritten.
  init(of token: StoredToken?) throws(StoreError) {
    guard let token else {
      self = .none
      return
    }
    guard let state = Self(name: token.status) else { throw .damaged(.token) }
    self = state
  }
}

extension StoredToken {
  /// Whether it can be verified only after the answer to a registration.
  func awaitsRegistration() throws(StoreError) -> Bool {
    guard pushSecret != nil else { return true }
    let answer = TokenMachine.step(try TokenMachine.State(of: self), .pushVerification).answer
    if case .refused = answer { return true }
    return false
  }

  /// Whether connections should have push subscriptions.
  func wantsSubscriptions() throws(StoreError) -> Bool {
    try TokenMachine.State(of: self) == .active && mode == NotificationMode.instant.rawValue
  }
}

extension TokenMachine.Event {
  /// The event for the status the server reports.
  init(_ status: ServerTokenStatus) {
    switch status {
    case .new, .registered, .confirmed: self = .checkUnverified
    case .active: self = .checkActive
    case .expired: self = .checkExpired
    case .invalid: self = .checkInvalidNoReason
    case .invalidBad: self = .checkInvalidBad
    case .invalidTopic: self = .checkInvalidTopic
    case .invalidExpired: self = .checkInvalidExpired
    case .invalidUnregistered: self = .checkInvalidUnregistered
    }
  }
}

extension PorterSchema.TokenStatus {
  init(_ state: TokenMachine.State) {
    switch state {
    case .none, .new: self = .new
    case .registered: self = .registered
    case .confirmed: self = .confirmed
    case .active: self = .active
    case .expired: self = .expired
    case .invalid: self = .invalid
    case .invalidBad: self = .invalidBad
    case .invalidTopic: self = .invalidTopic
    case .invalidExpired: self = .invalidExpired
    case .invalidUnregistered: self = .invalidUnregistered
    }
  }
}
