import PorterCrypto
import PorterMachines
import PorterPlatform
import PorterPush
import PorterSchema
import PorterStore

/// Writes what a step of `token_status` records, inside its transaction.
struct TokenRecorder: TokenStatusRecord {
  /// The step's argument, and the token as the step leaves it.
  struct Change {
    var step: TokenStep
    let event: TokenMachine.Event
    var token: StoredToken? {
      didSet { isSaved = false }
    }
    fileprivate(set) var isSaved = true
    /// The record forgotten by this step.
    fileprivate var forgotten: StoredToken?

    init(_ step: TokenStep, _ event: TokenMachine.Event, _ token: StoredToken?) {
      self.step = step
      self.event = event
      self.token = token
    }
  }

  let context: EngineContext
  let requests: ServerRequests
  let subscriptions: Subscriptions
  let store: Store

  /// Writes the whole step. An attempt ends with its answer, however the machine reacts to it.
  func record(
    _ event: TokenMachine.Event, _ step: MachineStep<TokenMachine>, _ argument: inout TokenStep, of token: StoredToken?
  ) throws(StoreError) {
    if let reservation = argument.news.reservation { try end(reservation, event) }
    var change = Change(argument, event, token)
    try TokenMachine.record(step, by: self, &change)
    if !change.isSaved, let token = change.token { try store.save(token, at: context.clock.wall()) }
    argument = change.step
  }

  private func end(_ reservation: Reservation, _ event: TokenMachine.Event) throws(StoreError) {
    if event == .registerOk || event == .replaceOk {
      try store.use(reservation)
    } else if event == .registerFailedPermanent || event == .replaceFailedPermanent {
      try store.undo(reservation)
    }
  }

  // MARK: The effects

  func createRecord(_ change: inout Change, _ next: TokenMachine.State) throws(StoreError) {
    guard let server = try store.setting(Setting.server) else { throw .notFound(.setting) }
    // What was stored since the request counts, not what the request was about.
    let run = change.forgotten.map { TokenRun(of: $0) } ?? change.step.run
    do throws(CryptoError) {
      change.token = StoredToken(
        provider: run.provider, deviceToken: run.deviceToken, server: server, status: next.name, mode: run.mode,
        serverTokenID: nil, signingKey: try .generate(randomness: context.randomness),
        boxKey: try BoxKeyPair.generate(randomness: context.randomness).secretKey, pushSecret: nil,
        verificationCode: nil, replyMailbox: nil)
    } catch {
      throw .damaged(.token)
    }
  }

  func forgetRecord(_ change: inout Change, _ next: TokenMachine.State) throws(StoreError) {
    try store.deleteToken()
    change.forgotten = change.token
    change.token = nil
  }

  func saveDeviceToken(_ change: inout Change, _ next: TokenMachine.State) throws(StoreError) {
    let run = change.step.run
    change.token?.provider = run.provider
    change.token?.deviceToken = run.deviceToken
  }

  func reserveRegister(_ change: inout Change, _ next: TokenMachine.State) throws(StoreError) {
    try reserve(.register, &change)
  }

  func reserveReplace(_ change: inout Change, _ next: TokenMachine.State) throws(StoreError) {
    try reserve(.replace, &change)
  }

  private func reserve(_ attempt: TokenAttempt, _ change: inout Change) throws(StoreError) {
    try store.forgetReservations(.token)
    let reservation = try store.reserve(
      .token, context.randomness.bytes(16), by: context.identity, material: SecretBytes([attempt.rawValue]),
      at: context.clock.wall())
    guard let reservation else { throw .duplicate(.reservation) }
    change.step.news = .attempt(reservation)
  }

  func queueDelete(_ change: inout Change, _ next: TokenMachine.State) throws(StoreError) {
    guard let token = change.token, let id = token.serverTokenID else { return }
    try requests.queue(.delete(token: id), of: token, store)
  }

  func queueInterval(_ change: inout Change, _ next: TokenMachine.State) throws(StoreError) {
    guard let token = change.token, let id = token.serverTokenID else { return }
    // SimpleX's wake-up period, in both modes.
    try requests.queue(.setPeriod(token: id, minutes: 20), of: token, store)
  }

  func saveServerToken(_ change: inout Change, _ next: TokenMachine.State) throws(StoreError) {
    guard case .granted(let id, let secret, _) = change.step.news, let token = change.token else { return }
    change.token?.serverTokenID = id
    change.token?.pushSecret = secret
    if token.serverTokenID != id { try subscriptions.recordForAll(.tokenReplaced, store) }
  }

  func saveCode(_ change: inout Change, _ next: TokenMachine.State) throws(StoreError) {
    guard case .code(let code) = change.step.news else { return }
    change.token?.verificationCode = SecretBytes(code.bytes)
  }

  func saveMode(_ change: inout Change, _ next: TokenMachine.State) throws(StoreError) {
    let mode = change.step.run.mode
    change.token?.mode = mode
  }

  func turnOffSubscriptions(_ change: inout Change, _ next: TokenMachine.State) throws(StoreError) {
    try subscriptions.recordForAll(.turnOff, store)
  }

  func saveStatus(_ change: inout Change, _ next: TokenMachine.State) throws(StoreError) {
    change.token?.status = next.name
  }

  func saveReason(_ change: inout Change, _ next: TokenMachine.State) throws(StoreError) {
    let repair = StoredToken.Repair(reason: change.event.name, at: context.clock.wall())
    change.token?.repair = repair
  }
}
