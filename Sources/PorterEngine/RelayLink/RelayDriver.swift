import PorterPlatform
import PorterRelay
import PorterStore

/// Carries the engine's requests to the relay and their results back to the engine's thread.
///
/// A host's transport may block, and so may the embedded relay's file while another process has its lock. Both are
/// asked on separate threads while the engine continues: neither the network nor another process can keep it from
/// answering commands or from suspending (INC-07). `RelayWays` decides which thread takes which request.
///
/// A thread costs a push more than the wait itself. So an extension first asks a file-based relay for a message in a
/// separate turn, and waits there for no other process: the request goes to a thread only if one has the file's lock,
/// or the file needs more than a request does (another version, a long log).
final class RelayDriver {
  typealias Work<Value: Sendable> = @Sendable (RelayClient) throws(RelayError) -> Value

  private struct Way {
    let client: RelayClient
    let worker: any RequestWorker
  }

  private final class Asked {
    let number: Int
    let lane: RelayWays.Lane
    /// The work that made the request, for a connection's messages.
    let claim: Claim?
    /// Returns false when out of threads.
    let submit: (Way) -> Bool
    /// Ends the request with the relay's answer or, without one, with this error.
    let end: (RelayError?) -> Void
    /// Carries the request out in this turn, or hands it to a thread. Nil once a thread has it.
    var inPlace: (() -> Void)?
    /// When a thread took it.
    var handedOver: Moment?

    init(
      _ number: Int, on lane: RelayWays.Lane, under claim: Claim?, submit: @escaping (Way) -> Bool = { _ in false },
      end: @escaping (RelayError?) -> Void
    ) {
      (self.number, self.lane, self.claim, self.submit, self.end) = (number, lane, claim, submit, end)
    }
  }

  /// Distinguishes this driver's answers from those of a driver closed before it.
  let identifier: Int
  let port: any RelayPort
  private let randomness: any Randomness
  private let turns: any Turns
  private let makeWorker: () -> any RequestWorker
  private let clock: any Clock
  private let timers: Timers
  /// Called on the engine's thread for each request that the embedded relay's file refused because of another process's
  /// lock.
  private let fileIsBusy: () -> Void
  /// Which requests wait, and which way carries which.
  private var plan: RelayWays
  /// By their numbers in `plan`; each created when first needed.
  private var ways = [Int: Way]()
  /// In the order of their numbers.
  private var asked: [Asked] = []
  /// When a request for messages was last started: as long as there is progress, no waiting request has waited in vain.
  private var lastProgress: Moment
  private var next = 0
  /// Waits for no other process. Nil where no request is carried out in the engine's turns.
  private let inPlace: RelayClient?

  init(
    identifier: Int, port: any RelayPort, randomness: any Randomness, turns: any Turns,
    makeWorker: @escaping () -> any RequestWorker, clock: any Clock, timers: Timers, sharesSending: Bool,
    asksInPlace: Bool, fileIsBusy: @escaping () -> Void
  ) {
    self.identifier = identifier
    self.port = port
    self.randomness = randomness
    self.turns = turns
    self.makeWorker = makeWorker
    self.clock = clock
    self.timers = timers
    self.fileIsBusy = fileIsBusy
    lastProgress = clock.now()
    inPlace = asksInPlace ? RelayClient(port: ImpatientPort(port), randomness: randomness) : nil
    plan = RelayWays(count: port.exchangesAtOnce, sharesSending: sharesSending) { port.way($0).isOccupied }
  }

  /// `then` is called on the engine's thread, once, and in a later turn: with the relay's answer, with `timeout` when
  /// none came in time (INC-39), or with `closed` when the driver was closed first. Otherwise a caller waiting for a
  /// command's answer would hang.
  func perform<Value: Sendable>(
    _ work: @escaping Work<Value>, on lane: RelayWays.Lane, under claim: Claim?, isShort: Bool = false,
    then: @escaping (Result<Value, RelayError>) -> Void
  ) {
    guard isShort, let client = inPlace else { return handOver(work, on: lane, under: claim, then: then) }
    let number = takeNumber()
    let request = Asked(number, on: lane, under: claim) { then(.failure($0 ?? .closed)) }
    request.inPlace = { [weak self] in
      let result = Self.result(of: work, client)
      guard let self, case .failure(let error) = result, error.isFileBusy else { return then(result) }
      self.handOver(work, on: lane, under: claim, then: then)
    }
    asked.append(request)
    let driver = identifier
    turns.enqueue { $0.relayLink.answerInPlace(number, driver: driver) }
  }

  func answerInPlace(_ number: Int) {
    // Given up in the meantime, if there is none.
    remove(number)?.inPlace?()
  }

  /// Hands the request to a thread that may wait.
  private func handOver<Value: Sendable>(
    _ work: @escaping Work<Value>, on lane: RelayWays.Lane, under claim: Claim?,
    then: @escaping (Result<Value, RelayError>) -> Void
  ) {
    let number = takeNumber()
    let answer = Promise<Result<Value, RelayError>>()
    let (turns, driver) = (turns, identifier)
    let end = { [fileIsBusy, timers, timer = timer(number)] (failure: RelayError?) in
      timers.cancel(timer)
      if lane.isFetching { timers.cancel(Self.lateness(timer)) }
      let result = failure.map { .failure($0) } ?? answer.wait(atMost: .zero) ?? .failure(.closed)
      if case .failure(let error) = result, error.isFileBusy { fileIsBusy() }
      then(result)
    }
    let submit: (Way) -> Bool = { way in
      let client = way.client
      return way.worker.submit {
        let result = Self.result(of: work, client)
        return {
          answer.fulfil(result)
          turns.enqueue { $0.relayLink.complete(number, driver: driver, failure: nil) }
        }
      }
    }
    let request = Asked(number, on: lane, under: claim, submit: submit, end: end)
    asked.append(request)
    awaitAnswer(to: request, for: Durations.relayAnswer)
    carryOut(plan.add(number, on: lane))
  }

  // MARK: Time

  private func timer(_ number: Int) -> String { "relay \(identifier) \(number)" }
  private static func lateness(_ timer: String) -> String { "late \(timer)" }

  private func awaitAnswer(to request: Asked, for span: Span) {
    let (number, turns, driver) = (request.number, turns, identifier)
    // A file that does not answer in time is being held by another process.
    let late: RelayError = port.isLocal ? .storage(SQLiteError(kind: .busy)) : .timeout
    timers.set(timer(number), after: span) { [weak self, weak request] in
      if let self, let request, let left = self.timeLeft(request, of: Durations.relayAnswer) {
        return self.awaitAnswer(to: request, for: left)
      }
      turns.enqueue { $0.relayLink.complete(number, driver: driver, failure: late) }
    }
  }

  /// The rest of a time span that begins when a thread takes the request. Sending counts from the time of the request,
  /// since a command waits for it. Nil when nothing is left.
  private func timeLeft(_ request: Asked, of span: Span) -> Span? {
    guard request.lane.isFetching || request.handedOver != nil else { return nil }
    let left = (request.handedOver ?? lastProgress) + span - clock.now()
    return left > .zero ? left : nil
  }

  /// The rest of this time span for the request made under this claim. Nil when none is left, or there is no such
  /// request.
  func timeLeft(_ claim: Claim, of span: Span) -> Span? {
    asked.first { $0.claim == claim }.flatMap { timeLeft($0, of: span) }
  }

  private func noteHandedOver(_ request: Asked) {
    guard request.lane.isFetching else { return }
    let now = clock.now()
    (request.handedOver, lastProgress) = (now, now)
    let (number, turns, driver) = (request.number, turns, identifier)
    timers.set(Self.lateness(timer(number)), after: Durations.lateAnswer) {
      turns.enqueue { $0.relayLink.late(number, driver: driver) }
    }
  }

  func late(_ number: Int) { carryOut(plan.late(number)) }

  // MARK: Requests

  private func takeNumber() -> Int {
    defer { next += 1 }
    return next
  }

  private func remove(_ number: Int) -> Asked? {
    asked.firstIndex { $0.number == number }.map { asked.remove(at: $0) }
  }

  /// A push is now about this connection: requests about it are not left waiting behind others.
  func hasten(_ connectionID: Int64) {
    for number in numbers(where: { $0.connectionID == connectionID }) { carryOut(plan.hasten(number)) }
  }

  /// Ends requests made under this claim, without an answer. Requests about the connection under a later claim
  /// continue.
  func giveUp(_ claim: Claim) {
    for number in numbers(where: { $0 == claim }) { complete(number, failure: .timeout) }
  }

  private func numbers(where isMeant: (Claim) -> Bool) -> [Int] {
    asked.filter { $0.claim.map(isMeant) ?? false }.map(\.number)
  }

  private func carryOut(_ starts: [RelayWays.Start]) {
    for start in starts {
      guard let request = asked.first(where: { $0.number == start.request }) else { continue }
      noteHandedOver(request)
      if !request.submit(way(start.way)) { refuse(start.request) }
    }
  }

  private func way(_ number: Int) -> Way {
    if let way = ways[number] { return way }
    let way = Way(client: RelayClient(port: port.way(number), randomness: randomness), worker: makeWorker())
    ways[number] = way
    return way
  }

  /// The system is out of threads.
  private func refuse(_ number: Int) {
    let driver = identifier
    turns.enqueue { $0.relayLink.complete(number, driver: driver, failure: .unavailable) }
  }

  /// A request given up before its turn is no longer carried out: nothing waits for its answer, and such requests would
  /// accumulate behind a transport that hangs.
  func complete(_ number: Int, failure: RelayError?) {
    let request = remove(number)
    carryOut(failure == nil || failure == .unavailable ? plan.ended(number) : plan.givenUp(number))
    request?.end(failure)
  }

  /// Gives up every request; those in progress end on their own threads and their results are dropped. The returned
  /// closure calls each completion with `closed`, and must be called once.
  func forget() -> () -> Void {
    for way in ways.values { way.worker.close() }
    plan.close()
    return { for number in self.asked.map(\.number) { self.complete(number, failure: .closed) } }
  }

  /// Like `forget`, and has the relay release every lock. Returns nil, having done nothing, if the relay keeps nothing
  /// open to doze with: then it must be closed.
  func doze() -> (() -> Void)? {
    // A thread may be in the middle of an exchange.
    guard ways.isEmpty, port.doze() else { return nil }
    return forget()
  }

  /// Like `forget`, and closes the relay itself. An exchange waiting for its file is cut off, one that has the file
  /// finishes: afterwards nothing of the relay is open, and its threads have ended.
  func close() -> () -> Void {
    let tell = forget()
    port.close()
    for way in ways.values { way.worker.join() }
    return tell
  }

  private static func result<Value: Sendable>(
    of work: Work<Value>, _ client: RelayClient
  ) -> Result<Value, RelayError> {
    do throws(RelayError) { return .success(try work(client)) } catch { return .failure(error) }
  }
}
