import PorterCrypto
import PorterMachines
import PorterPlatform
import PorterPush
import PorterSchema
import PorterStore

/// `/_ntf get | register | verify | check | delete`: each raises an event on the machine `token_status`, and is
/// answered with the result.
extension Tokens {
  typealias Reply = (Answer) -> Void

  /// The answer to `/_ntf get`.
  func registered() throws(ChatError) -> Response {
    let token = try requireToken(nil)
    guard let provider = PushProvider(rawValue: token.provider), let mode = NotificationMode(rawValue: token.mode)
    else {
      throw .nightporter(.storeDamaged)
    }
    let state = try host.stored { () throws(StoreError) in try TokenMachine.State(of: token) }
    return .ntfToken(
      DeviceToken(provider: provider, token: Self.text(of: token.deviceToken, provider)),
      PorterSchema.TokenStatus(state), mode, server: token.server)
  }

  /// For SimpleX's null provider the token is a word; all others are written in hexadecimal.
  private static func text(of token: [UInt8], _ provider: PushProvider) -> String {
    provider == .null ? String(decoding: token, as: UTF8.self) : TextEncoding.hex(token)
  }

  /// Returns the stored token, which must be the one named by the command.
  func requireToken(_ device: DeviceToken?) throws(ChatError) -> StoredToken {
    let store = try host.requireStore()
    guard let token = try host.stored({ () throws(StoreError) in try store.token() }) else { throw .noToken }
    if let device, !Self.isSame(token, device) {
      throw .agent(.command(.prohibited, context: "another token is registered"))
    }
    return token
  }

  private static func isSame(_ token: StoredToken, _ device: DeviceToken) -> Bool {
    token.provider == device.provider.rawValue && text(of: token.deviceToken, device.provider) == device.token
  }

  func register(
    _ device: DeviceToken, _ mode: NotificationMode, retry: Int, reply: @escaping Reply
  ) throws(ChatError) {
    guard let bytes = device.provider == .null ? Array(device.token.utf8) : TextEncoding.hexDecoded(device.token) else {
      throw .command("a device token is lower-case hexadecimal")
    }
    let store = try host.requireStore()
    let (existing, attempt) = try host.stored { () throws(StoreError) in
      (try store.token(), try TokenAttempt.open(store))
    }
    // Stored before the server has it: the same token must still replace the other one (INC-09).
    let isKnown = existing.map { Self.isSame($0, device) } ?? false && attempt != .replace
    let registers = { [weak self] in
      guard let self else { return }
      self.raise(
        isKnown ? .registerSameToken : .registerNewToken,
        TokenRun(
          provider: device.provider.rawValue, deviceToken: bytes, mode: mode.rawValue, timeout: Self.timeout(retry),
          reply: reply))
    }
    guard let existing, existing.mode != mode.rawValue else { return registers() }
    FaultPoint.reach(.modeAsked)
    // Failing to store the mode fails the command: the server is not asked, and its status would hide the failure.
    let switching = TokenRun(of: existing, mode: mode.rawValue) { answer in
      if case .error = answer { reply(answer) } else { registers() }
    }
    raise(mode == .instant ? .modeInstant : .modePeriodic, switching)
  }

  func verify(
    _ device: DeviceToken, nonce: [UInt8], code: [UInt8], retry: Int, reply: @escaping Reply
  ) throws(ChatError) {
    let token = try requireToken(device)
    guard let nonce = BoxNonce(bytes: nonce) else { throw .command("the nonce has 24 bytes") }
    let timeout = Self.timeout(retry)
    let verifies = { [weak self] (token: StoredToken) in
      self?.verify(token, nonce: nonce, sealedCode: code, within: timeout) { reply(Self.done($0)) }
    }
    let left = try host.stored { () throws(StoreError) in try TokenAttempt.left(context.store) }
    guard let left, left.attempt == .register,
      try host.stored({ () throws(StoreError) in try token.awaitsRegistration() })
    else {
      verifies(token)
      return
    }
    // The push has overtaken the answer to the registration, which provides the secret.
    finish(left, within: timeout) { [weak self] in
      verifies((try? self?.context.store?.token()) ?? token)
    }
  }

  func check(_ device: DeviceToken, retry: Int, reply: @escaping Reply) throws(ChatError) {
    raise(.checkDue, TokenRun(of: try requireToken(device), timeout: Self.timeout(retry), reply: reply))
  }

  func delete(_ device: DeviceToken, reply: @escaping Reply) throws(ChatError) {
    let token = try requireToken(device)
    FaultPoint.reach(.modeAsked)
    raise(.delete, TokenRun(of: token) { reply(Self.done($0)) })
  }

  /// For commands that do not answer with the status.
  private static func done(_ answer: Answer) -> Answer {
    if case .error = answer { answer } else { .result(.cmdOk(nil)) }
  }

  private static func timeout(_ retry: Int) -> Span {
    Span(nanoseconds: Durations.serverAnswer.nanoseconds * Int64(1 + max(0, min(4, retry))))
  }
}
