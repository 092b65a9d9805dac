import PorterCrypto
import PorterPlatform
import PorterStore

/// Receives log lines: a level from `debug` to `error`, a message, and values apart from it.
public typealias RelayLog =
  @Sendable (_ level: String, _ message: String, _ values: [(name: String, value: String)]) -> Void

/// A relay's file as a program serves it to many clients: requests are carried out several at a time, so that their
/// commits share one sync, and each client has its own listener.
///
/// This is the public part of the module: a server is another package. Not thread-safe: use one thread at a time. No
/// other process may use the file.
public final class RelayService {
  public struct Options: Sendable {
    /// The file, which is created if it is missing; its directory is not.
    public var path: String
    public var cacheKibibytes = 65_536
    /// The file grows no further. Requests that need room are then refused, but not those that free it. Nil: until the
    /// disk is full.
    public var maximumBytes: Int64?

    public init(path: String) { self.path = path }
  }

  /// One request, as bytes.
  public struct Exchange: Sendable {
    public var request: [UInt8]
    /// The client's name for the listener to wake; nil if there is none.
    public var listener: String?
    /// Does not count towards any mailbox's share.
    public var isTrusted: Bool
    /// The client's origin as limits count it: messages to a mailbox that anyone may send to count for it alone.
    public var source: [UInt8]

    public init(request: [UInt8], listener: String? = nil, isTrusted: Bool = false, source: [UInt8] = []) {
      (self.request, self.listener, self.isTrusted, self.source) = (request, listener, isTrusted, source)
    }

    /// Whose share of the mailbox the request counts towards. One sender must not use up that of all others.
    package func share(of entity: RelayIdentifier, isOpen: Bool) -> [UInt8] {
      isOpen ? entity.bytes + source : entity.bytes
    }
  }

  public enum Outcome: Sendable, Equatable {
    /// The bytes to answer with; everything they promise is on disk. `command` and `result` are names for counting;
    /// `refuses`: a key was wrong, or a mailbox does not exist.
    case answer([UInt8], command: String, result: String, refuses: Bool = false)
    /// The mailbox has used up its share; nothing was carried out.
    case limited
    /// The file or the cluster failed, as described by the text. The request may be repeated. `isOwn`: only this
    /// request or its mailbox is concerned.
    case failed(String, isOwn: Bool = false)

    package init(_ answer: RelayAnswer, to correlation: RelayIdentifier, command: String) {
      self = .answer(
        answer.encoded(for: correlation), command: command, result: answer.name, refuses: answer.refuses)
    }
  }

  public struct Turn: Sendable {
    /// One per exchange, in order.
    public var outcomes: [Outcome]
    /// The listeners that received something.
    public var news: [String]
  }

  /// Some exchanges of a turn, whose answers are final.
  public struct Part {
    /// Each with its index among the turn's exchanges.
    public var outcomes: [(index: Int, outcome: Outcome)] = []
    /// The listeners that received something.
    public var news: [String] = []
  }

  private struct Write {
    let index: Int
    let request: RelayRequest
    let exchange: Exchange
  }

  private struct Listener {
    var keys: Set<SigningPublicKey> = []
    let generation: Int64
  }

  /// A client needs only one.
  private static let keysOfListener = 16
  private static let logPages = 4_096
  /// How long another process's lock is waited for. Clients need an answer within a second.
  private static let patience = Span.milliseconds(300)
  /// The same before any client is served.
  private static let startPatience = Span.seconds(3)
  private static let late = Outcome.failed("its time was over before its turn", isOwn: true)

  private let options: Options
  private let ports: Ports
  private let log: Log
  private let admit: ([UInt8]) -> Bool
  private(set) var file: RelayFile?
  private var isServing = false
  private var isLimited = false
  /// Why another process's lock prevented an exchange of this turn: no other waits for it as well.
  private var inUse: String?
  /// The one in progress.
  private var exchange = Exchange(request: [])
  private var listeners = [String: Listener]()
  private var nextGeneration: Int64

  /// `admit` gets the identifier of a mailbox whose key has signed a request, or, for a message to a mailbox that anyone
  /// may send to, its identifier and the client's source, and returns whether it may be carried out. `log` gets lines without identifiers.
  public convenience init(
    _ options: Options, admit: @escaping ([UInt8]) -> Bool = { _ in true },
    log: RelayLog? = nil
  ) throws(RelayServiceError) {
    try self.init(options, ports: .system, admit: admit, log: log)
  }

  package init(
    _ options: Options, ports: Ports, admit: @escaping ([UInt8]) -> Bool,
    log: RelayLog?
  ) throws(RelayServiceError) {
    self.options = options
    self.ports = ports
    self.admit = admit
    self.log =
      log.map { log in
        Log(minimum: .debug) { level, message, values in
          log("\(level)", "\(message)", values.map { (name: "\($0)", value: $1) })
        }
      } ?? .silent
    // Positions from an earlier run must not be mistaken for this one's.
    nextGeneration = ports.randomness.bytes(3).reduce(0) { $0 << 8 | Int64($1) } & Self.generations
    do throws(RelayError) {
      let file = try open()
      // No client of an earlier run can be woken.
      _ = try file.forget(listeners: try file.listeners())
      file.database.busyTimeout = Self.patience
      isServing = true
    } catch {
      throw RelayServiceError(error)
    }
  }

  deinit { close() }

  /// Writes the log back and closes the file. The next exchange opens it again.
  public func close() {
    let closing = file
    file = nil
    try? closing?.database.close()
  }

  // MARK: Exchanges

  /// Carries out all exchanges. When it returns, everything accepted is durable.
  public func carryOut(_ exchanges: [Exchange]) -> Turn {
    var turn = Turn(outcomes: [Outcome](repeating: .failed("not carried out"), count: exchanges.count), news: [])
    carryOut(exchanges, except: { _ in false }) { part in
      for (index, outcome) in part.outcomes { turn.outcomes[index] = outcome }
      turn.news += part.news
    }
    return turn
  }

  /// Carries out all exchanges, and passes on each part as soon as its answers are final: exchanges that need no disk
  /// sync are not held up by those that do. `isLate` is asked about an exchange's index immediately before it is carried
  /// out: if its time is over, it is not.
  public func carryOut(_ exchanges: [Exchange], except isLate: (Int) -> Bool, then: (Part) -> Void) {
    inUse = nil
    var reads = Part()
    var (quick, durable): ([Write], [Write]) = ([], [])
    for (index, exchange) in exchanges.enumerated() {
      guard !isLate(index) else {
        reads.outcomes.append((index, Self.late))
        continue
      }
      let request: RelayRequest
      do throws(RelayError) { request = try RelayRequest(decoding: exchange.request) } catch {
        let refusal = Self.refusal(error, RelayRequest.correlation(of: exchange.request), command: "none")
        reads.outcomes.append((index, refusal))
        continue
      }
      if request.command.isDurable {
        durable.append(Write(index: index, request: request, exchange: exchange))
      } else if request.command.writes {
        quick.append(Write(index: index, request: request, exchange: exchange))
      } else {
        reads.outcomes.append((index, outcome(of: request, from: exchange, &reads.news)))
      }
    }
    if !reads.outcomes.isEmpty { then(reads) }
    for writes in [quick, durable] where !writes.isEmpty { then(carryOut(writes, except: isLate)) }
  }

  private func carryOut(_ writes: [Write], except isLate: (Int) -> Bool) -> Part {
    var part = Part()
    let outcomes = writes.count > 1 ? gather(writes, except: isLate, &part.news) : nil
    for (place, write) in writes.enumerated() {
      let outcome =
        outcomes?[place]
        ?? (isLate(write.index) ? Self.late : outcome(of: write.request, from: write.exchange, &part.news))
      part.outcomes.append((write.index, outcome))
    }
    return part
  }

  /// Nil if the file failed: then nothing was carried out, and each request is tried on its own, so that a failing one
  /// does not take others with it.
  private func gather(_ writes: [Write], except isLate: (Int) -> Bool, _ news: inout [String]) -> [Outcome]? {
    guard inUse == nil else { return nil }
    let isDurable = writes.contains { $0.request.command.isDurable }
    do throws(RelayError) {
      let file = try open()
      let (outcomes, woken) = try file.gather(isDurable ? .full : .normal) { () throws(RelayError) in
        var outcomes: [Outcome] = []
        var woken: [String] = []
        for write in writes {
          guard !isLate(write.index) else {
            outcomes.append(Self.late)
            continue
          }
          let outcome = self.outcome(of: write.request, from: write.exchange, &woken)
          if case .failed = outcome { throw .unavailable }
          outcomes.append(outcome)
        }
        return (outcomes, woken)
      }
      news += woken
      return outcomes
    } catch {
      noteUse(error)
      return nil
    }
  }

  private func outcome(of request: RelayRequest, from exchange: Exchange, _ news: inout [String]) -> Outcome {
    if let inUse { return .failed(inUse) }
    let (command, listener) = (request.command.name, exchange.listener)
    isLimited = false
    self.exchange = exchange
    do throws(RelayError) {
      let file = try open()
      let reply = try file.reply(to: request, from: caller(listener))
      if case .listen(let key, _) = request.command, let listener { note(key, of: listener) }
      news += reply.recipients + reply.services
      return Outcome(reply.answer, to: request.correlation, command: command)
    } catch {
      if isLimited { return .limited }
      noteUse(error)
      if case .storage(let failure) = error { forsake(after: failure) }
      return Self.refusal(error, request.correlation, command: command)
    }
  }

  private func noteUse(_ error: RelayError) {
    if error.isFileBusy, case .storage(let failure) = error { inUse = failure.description }
  }

  /// Why the file would reject a message now; nil if it would not. Writes as much as a message needs, and removes it.
  public func writeFailure() -> String? {
    do throws(RelayError) {
      let file = try open()
      try file.commit(.full) { () throws(RelayError) in
        try RelayError.carrying { () throws(SQLiteError) in
          try file.database.execute("CREATE TABLE trial (body BLOB NOT NULL)")
          try file.database.execute("INSERT INTO trial VALUES (zeroblob(\(RelayLimits.body)))")
          try file.database.execute("DROP TABLE trial")
        }
      }
      return nil
    } catch {
      if case .storage(let failure) = error { forsake(after: failure) }
      return error.description
    }
  }

  private static func refusal(_ error: RelayError, _ correlation: RelayIdentifier, command: String) -> Outcome {
    switch error {
    case .storage(let failure): .failed(failure.description)
    case .crypto, .unavailable, .offline, .timeout, .answer, .closed: .failed(error.description)
    case .auth, .quota, .size, .noMessage, .syntax, .version:
      Outcome(RelayAnswer.failed(error), to: correlation, command: command)
    }
  }

  // MARK: The file

  private func open() throws(RelayError) -> RelayFile {
    if let file { return file }
    let file = try RelayFile(
      path: options.path, ports: ports, log: log, busyTimeout: isServing ? Self.patience : Self.startPatience,
      cacheKibibytes: options.cacheKibibytes, logPages: Self.logPages)
    if let bytes = options.maximumBytes {
      try RelayError.carrying { () throws(SQLiteError) in
        let page = max(512, try file.database.integer("PRAGMA page_size") ?? 4_096)
        try file.database.execute("PRAGMA max_page_count=\(max(1, bytes / page))")
      }
    }
    file.admission = { [unowned self] (entity, isOpen) throws(RelayError) in
      guard exchange.isTrusted || admit(exchange.share(of: entity, isOpen: isOpen)) else {
        isLimited = true
        throw .unavailable
      }
    }
    self.file = file
    return file
  }

  /// Data that could not be read or written may be back when the file is reopened.
  private func forsake(after failure: SQLiteError) {
    switch failure.kind {
    case .ioError, .cannotOpen, .corrupt, .notADatabase: if file?.database.isInTransaction == false { close() }
    default: break
    }
  }
}

// MARK: Listeners

extension RelayService {
  private static let generations: Int64 = 0x3f_ffff

  private func caller(_ listener: String?) -> RelayFile.Caller {
    guard let listener else { return RelayFile.Caller(name: nil, startListening: { () throws(RelayError) in nil }) }
    let known = listeners[listener] ?? start(listener)
    return RelayFile.Caller(
      name: listener, keys: known.keys, generation: known.generation,
      startListening: { () throws(RelayError) in listener })
  }

  private func start(_ listener: String) -> Listener {
    nextGeneration = (nextGeneration + 1) & Self.generations
    let started = Listener(generation: nextGeneration)
    listeners[listener] = started
    return started
  }

  private func note(_ key: SigningPublicKey, of listener: String) {
    guard listeners[listener]?.keys.count ?? 0 < Self.keysOfListener else { return }
    listeners[listener]?.keys.insert(key)
  }

  /// Marks the listener as reachable: pushes wait a moment for it. Returns false if the file failed.
  @discardableResult
  public func attach(_ listener: String) -> Bool {
    guard listeners[listener] != nil else { return true }
    do throws(RelayError) {
      let file = try open()
      try file.commit(.normal) { () throws(RelayError) in try file.noteSignOfLife(of: listener) }
      return true
    } catch {
      return false
    }
  }

  /// Marks the listener as unreachable for now, so pushes do not wait for it. Returns the services' listeners to wake:
  /// whatever was left to it is due now. Nil if the file failed.
  public func detach(_ listener: String) -> [String]? {
    guard listeners[listener] != nil else { return [] }
    do throws(RelayError) { return try open().noteAbsence(of: listener) } catch { return nil }
  }

  /// Ends the subscriptions of these listeners. Returns as `detach` does.
  public func forget(_ names: [String]) -> [String]? {
    for name in names { listeners[name] = nil }
    do throws(RelayError) { return try open().forget(listeners: names) } catch { return nil }
  }
}

/// Why a relay's file cannot be served.
public struct RelayServiceError: Error, CustomStringConvertible {
  public let description: String

  init(_ error: RelayError) { description = error.description }
  init(_ text: String) { description = text }
}
