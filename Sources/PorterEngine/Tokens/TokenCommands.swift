import PorterCrypto
import PorterMachines
import PorterPlatform
import PorterPush
import PorterSchema
import PorterStore

/// `/_ntf get | register | verify | check | delete`: each raises an event at the machine `token_status` and answers
/// with what comes of it.
extension Engine {
  func getToken() throws(ChatError) -> Response {
    let token = try requireToken(nil)
    guard let provider = PushProvider(rawValue: token.provider), let mode = NotificationMode(rawValue: token.mode)
    else {
      throw .nightporter(.storeDamaged)
    }
    let state = try stored { () throws(StoreError) in try self.tokenState(token) }
    return .ntfToken(
      DeviceToken(provider: provider, token: Self.text(of: token.deviceToken, provider)),
      PorterSchema.TokenStatus(state), mode, server: token.server)
  }

  /// SimpleX's null provider has a token that is a word; all others are written in hexadecimal.
  static func text(of token: [UInt8], _ provider: PushProvider) -> String {
    provider == .null ? String(decoding: token, as: UTF8.self) : TextEncoding.hex(token)
  }

  /// The stored token, which must be the one that the command names.
  func requireToken(_ device: DeviceToken?) throws(ChatError) -> StoredToken {
    let store = try requireStore()
    guard let token = try stored({ () throws(StoreError) in try store.token() }) else { throw .noToken }
    if let device, !Self.isSame(token, device) {
      throw .agent(.command(.prohibited, context: "another token is registered"))
    }
    return token
  }

  private static func isSame(_ token: StoredToken, _ device: DeviceToken) -> Bool {
    token.provider == device.provider.rawValue && text(of: token.deviceToken, device.provider) == device.token
  }

  func registerToken(_ device: DeviceToken, _ mode: NotificationMode, retry: Int, reply: @escaping Reply)
    throws(ChatError)
  {
    try requireStarted()
    _ = try requireActiveUser()
    _ = try requireRelay()
    guard let bytes = device.provider == .null ? Array(device.token.utf8) : TextEncoding.hexDecoded(device.token) else {
      throw .command("a device token is lower-case hexadecimal")
    }
    let store = try requireStore()
    let (existing, attempt) = try stored { () throws(StoreError) in
      (try store.token(), try self.openTokenAttempt(store))
    }
    let run = TokenRun(
      provider: device.provider.rawValue, deviceToken: bytes, mode: mode.rawValue, timeout: serverTimeout(retry),
      reply: reply)
    if let existing, existing.mode != mode.rawValue {
      raise(mode == .instant ? .modeInstant : .modePeriodic, TokenRun(of: existing, mode: mode.rawValue))
    }
    // On record before the server has it: the same token is still to be put in the other's place (INC-09).
    let isKnown = existing.map { Self.isSame($0, device) } ?? false && attempt != .replace
    raise(isKnown ? .registerSameToken : .registerNewToken, run)
  }

  func verifyToken(
    _ device: DeviceToken, nonce: [UInt8], code: [UInt8], retry: Int, reply: @escaping Reply
  ) throws(ChatError) {
    try requireStarted()
    let token = try requireToken(device)
    guard let nonce = BoxNonce(bytes: nonce) else { throw .command("the nonce has 24 bytes") }
    let timeout = serverTimeout(retry)
    let verifies = { [weak self] (token: StoredToken) in
      self?.verify(token, nonce: nonce, sealedCode: code, within: timeout) { answer in
        if case .error = answer { reply(answer) } else { reply(.result(.cmdOk(nil))) }
      }
    }
    let left = try stored { () throws(StoreError) in try self.leftTokenAttempt() }
    guard token.pushSecret == nil, case (_, .register)? = left else {
      verifies(token)
      return
    }
    // The push has overtaken the answer to the registration, which brings the secret.
    finish(.register, of: token, within: timeout) { [weak self] in
      verifies((try? self?.store?.token()) ?? token)
    }
  }

  /// Also from a push: an extension verifies too, so that a token does not stay unverified while the app sleeps
  /// (INC-62).
  func verify(
    _ token: StoredToken, nonce: BoxNonce, sealedCode: [UInt8], within timeout: Span, reply: @escaping Reply
  ) {
    guard let secret = token.pushSecret else {
      return reply(.error(.agent(.command(.prohibited, context: "the token is not registered"))))
    }
    do throws(PushError) {
      let run = TokenRun(of: token, timeout: timeout, reply: reply)
      run.code = try VerificationCode(opening: sealedCode, nonce: nonce, with: secret)
      raise(.pushVerification, run)
    } catch {
      reply(.error(.agent(.notificationServer(server: token.server, .crypto))))
    }
  }

  func checkToken(_ device: DeviceToken, retry: Int, reply: @escaping Reply) throws(ChatError) {
    try requireStarted()
    raise(.checkDue, TokenRun(of: try requireToken(device), timeout: serverTimeout(retry), reply: reply))
  }

  func deleteToken(_ device: DeviceToken, reply: @escaping Reply) throws(ChatError) {
    try requireStarted()
    let run = TokenRun(of: try requireToken(device)) { answer in
      if case .error = answer { reply(answer) } else { reply(.result(.cmdOk(nil))) }
    }
    raise(.delete, run)
  }

  func serverTimeout(_ retry: Int) -> Span {
    Span(nanoseconds: Durations.serverAnswer.nanoseconds * Int64(1 + max(0, min(4, retry))))
  }

  /// Throws for a state that this version does not know: taken for another, it would be worked on, and overwritten.
  func tokenState(_ token: StoredToken?) throws(StoreError) -> PorterMachines.TokenStatus.State {
    guard let token else { return .none }
    guard let state = PorterMachines.TokenStatus.State(name: token.status) else { throw .damaged(.token) }
    return state
  }
}

extension PorterSchema.TokenStatus {
  init(_ state: PorterMachines.TokenStatus.State) {
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

/// What one command, push or timer brings to the machine `token_status`, and who waits for its end.
final class TokenRun {
  let provider: String
  let deviceToken: [UInt8]
  var mode: String
  let timeout: Span
  private var reply: ((Answer) -> Void)?

  /// The attempt at the server that this run has begun.
  var reservation: Reservation?
  var code: VerificationCode?
  /// What the server gave: the token's id there and the key to push with.
  var granted: (id: [UInt8], secret: BoxSharedKey)?
  /// What was granted is another token's id than the one on record.
  var hasNewServerToken = false
  var error: ChatError?

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

  /// The first answer counts; what happens afterwards happens unasked.
  func answer(_ answer: Answer) {
    guard let reply else { return }
    self.reply = nil
    reply(answer)
  }
}
