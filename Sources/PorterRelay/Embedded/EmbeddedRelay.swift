import PorterCrypto
import PorterPlatform
import PorterStore
import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// A relay in a file: any number of processes on one machine use it at the same time, each through its own
/// `EmbeddedRelay`.
///
/// Nothing is opened before the first exchange, and everything can be closed between exchanges. Safe from any thread;
/// exchanges of one instance run one after the other.
package final class EmbeddedRelay: RelayPort {
  private struct State: ~Copyable {
    var file: RelayFile?
    /// Determined together with the file.
    var wakes: Wakes?
    /// The keys under which this process listens; they last as long as its socket.
    var listeningKeys: Set<SigningPublicKey> = []
    /// Subscribers whose sockets are gone, but which the file could not forget because of another process's lock.
    var gone: Set<String> = []
    /// The last check for processes that ended without notice.
    var lookedForEnded: Moment?
    /// The file is open, but nothing in it is locked. The next exchange wakes it.
    var isDozing = false
    var isClosed = false
  }

  /// Where subscribers are woken. Next to the file's canonical path, whatever links lead to it, so that every process
  /// using the file uses the same directory.
  private struct Wakes {
    let directory: SocketDirectory
    var sender: WakeSender
  }

  /// How long an exchange waits.
  private enum Patience {
    /// For other processes' writes, for the time configured at opening. Also brings the file up to date.
    case usual
    /// Not at all. A file that needs more work than the request itself is left to an exchange that may wait.
    case none
  }

  /// Bytes of log left behind on closing, and the time that must remain to write back a longer one. SQLite restarts a
  /// log, in the same file, once it has `RelayFile.logPages` pages: a log slightly longer than that is normal.
  package static let longestLog = 2 << 20
  private static let cuttingTime = Span.milliseconds(250)
  /// How often the relay checks, for a service that was asked to push for a listener, whether it still listens.
  private static let lookout = Span.seconds(5)
  private static let cuttingPatience = Span.milliseconds(20)

  private let path: String
  private let ports: Ports
  private let log: Log
  private let busyTimeout: Span
  private let cacheKibibytes: Int
  private let mayCreate: Bool
  private let isBrief: Bool
  private let mayDoze: Bool
  private let stop: StopSignal?
  /// Raised while the relay is being closed, to stop an exchange in progress on another thread.
  private let closing: StopSignal
  private let state: Mutex<State>
  /// Separate from `state`, so that the engine can read its descriptor while a worker waits for the file.
  private let receiver = Mutex<WakeReceiver?>(nil)
  private let interrupter = Mutex<DatabaseInterrupter?>(nil)

  /// `path` is the relay's file; if it is missing it is created, provided `mayCreate` allows it; its directory is not.
  /// Sockets go to `<path>.wake/`. `busyTimeout` is how long an exchange waits for other processes' writes before it
  /// throws `storage` with `busy`. `cacheKibibytes`: a request needs only a few pages of the file, so the default keeps
  /// the cache far below an extension's memory limit. A relay opened for one push `isBrief`: a log that has grown long
  /// is written back by an exchange that may wait, never in the middle of an acknowledgement or on closing. `mayDoze`:
  /// whether `doze()` keeps the file open. `stop` tells whether there is time to write the log back when the relay is
  /// closed.
  package init(
    path: String, ports: Ports, log: Log, busyTimeout: Span = .seconds(3), cacheKibibytes: Int = 512,
    mayCreate: Bool = true, isBrief: Bool = false, mayDoze: Bool = false, stop: StopSignal? = nil
  ) {
    self.path = path
    self.ports = ports
    self.log = log
    self.busyTimeout = busyTimeout
    self.cacheKibibytes = cacheKibibytes
    self.mayCreate = mayCreate
    self.isBrief = isBrief
    self.mayDoze = mayDoze
    self.stop = stop
    closing = StopSignal(clock: ports.clock)
    state = Mutex(State())
  }

  deinit { close() }

  package var isLocal: Bool { true }

  /// Nil before the first subscription and after `releaseFiles()`; a different one after the next subscription.
  package var wakeDescriptor: Int32? { receiver.withLock { $0?.descriptor } }

  package func drainWake() { receiver.withLock { $0?.drain() } }

  /// Throws `storage` for failures of the file, and `closed`. Anything else, for any bytes whatsoever, is an answer.
  package func exchange(_ request: [UInt8]) throws(RelayError) -> [UInt8] {
    // A thread closing the relay waits for its turn, which comes after this exchange and before the next.
    guard !closing.isStopRequested else { throw .closed }
    return try locked { (state) throws(RelayError) in
      try answer(request, in: &state, .usual)
    }
  }

  package func exchangeWithoutWaiting(_ request: [UInt8]) throws(RelayError) -> [UInt8]? {
    guard !closing.isStopRequested else { throw .closed }
    do throws(RelayError) {
      // Nil while another thread is in the middle of an exchange.
      return try state.withLockIfAvailable { (state) throws(RelayError) in
        try answer(request, in: &state, .none)
      }
    } catch {
      guard error.isFileBusy else { throw error }
      return nil
    }
  }

  private func answer(
    _ request: [UInt8], in state: inout State, _ patience: Patience
  ) throws(RelayError) -> [UInt8] {
    guard !state.isClosed else { throw .closed }
    let correlation = RelayRequest.correlation(of: request)
    do throws(RelayError) {
      let file = try open(&state, patience)
      let usual = file.database.busyTimeout
      if patience == .none { file.database.busyTimeout = .zero }
      defer { file.database.busyTimeout = usual }
      let reply = try self.reply(to: try RelayRequest(decoding: request), from: file, in: &state)
      wake(reply, &state)
      return reply.answer.encoded(for: correlation)
    } catch {
      switch error {
      case .storage, .closed, .crypto: throw error
      default: return RelayAnswer.failed(error).encoded(for: correlation)
      }
    }
  }

  /// Closes the file, so that a process about to be suspended holds no lock on it (INC-01), and ends its subscriptions.
  /// The next exchange opens it again; the caller must subscribe again.
  package func releaseFiles() {
    state.withLock { release(&$0, checkpoint: false) }
  }

  package func doze() -> Bool {
    guard mayDoze, listenerName == nil else { return false }
    return state.withLock { state in
      guard let file = state.file, !state.isDozing else { return state.isDozing }
      state.wakes?.sender.close()
      cutLog(of: file)
      state.isDozing = file.doze()
      if !state.isDozing { release(&state, checkpoint: false) }
      return state.isDozing
    }
  }

  /// Cuts off an exchange on another thread unless it is about to end, and closes everything. Does not wait for other
  /// processes' locks.
  package func close() {
    closing.raise()
    interrupter.withLock { $0?.interrupt() }
    state.withLock {
      closing.lower()
      $0.isClosed = true
      // Writing the log back can be left to a process that has more time on closing.
      release(&$0, checkpoint: stop?.skipsOptionalWork != true)
    }
  }

  // MARK: Requests

  private func reply(
    to request: RelayRequest, from file: RelayFile, in state: inout State
  ) throws(RelayError) -> RelayFile.Reply {
    let directory = state.wakes?.directory
    var services: [String] = []
    let caller = RelayFile.Caller(name: listenerName, keys: state.listeningKeys) { () throws(RelayError) in
      try self.listen(file, directory, &services)
    }
    var reply = try file.reply(to: request, from: caller)
    reply.services += services
    switch request.command {
    case .listen(let key, _): state.listeningKeys.insert(key)
    case .dueNotifications(let service, _):
      if try forgetEnded(owing: service, file, &state) { reply = try file.reply(to: request, from: caller) }
      if case .dueNotifications(var due) = reply.answer, try !file.listenersOwing(to: service.bytes).isEmpty {
        let next = UInt32(Self.lookout.milliseconds)
        due.nextIn = min(due.nextIn ?? next, next)
        reply.answer = .dueNotifications(due)
      }
    default: break
    }
    return reply
  }

  /// A killed process reports nothing, and messages left for it to fetch get no other push. Returns whether there was
  /// such a process.
  private func forgetEnded(
    owing service: SigningPublicKey, _ file: RelayFile, _ state: inout State
  ) throws(RelayError) -> Bool {
    let now = ports.clock.now()
    if let last = state.lookedForEnded, now - last < Self.lookout { return false }
    guard let directory = state.wakes?.directory else { return false }
    let owing = try file.listenersOwing(to: service.bytes)
    guard !owing.isEmpty else { return false }
    state.lookedForEnded = now
    let ended = owing.filter { directory.isAbandoned($0) }
    guard !ended.isEmpty else { return false }
    // This service is asking right now.
    _ = try file.forget(listeners: ended)
    return true
  }

  /// `Mutex.withLock`, with its value named so that a typed throw passes through.
  private func locked<Result>(
    _ body: (inout State) throws(RelayError) -> sending Result
  ) throws(RelayError) -> sending Result {
    try state.withLock(body)
  }

  private func open(_ state: inout State, _ patience: Patience) throws(RelayError) -> RelayFile {
    if state.isDozing {
      state.isDozing = false
      // The file was replaced or belongs to another version: open it again.
      if state.file?.wake() != true { release(&state, checkpoint: false) }
    }
    let file = if let file = state.file { file } else { try openFile(&state, patience) }
    if file.hasLongLog {
      guard patience == .usual else { throw .storage(SQLiteError(kind: .busy)) }
      if stop?.leaves(Self.cuttingTime) ?? true { file.writeLogBack(waitingAtMost: Self.cuttingPatience) }
    }
    return file
  }

  private func openFile(_ state: inout State, _ patience: Patience) throws(RelayError) -> RelayFile {
    let file = try RelayFile(
      path: path, access: mayCreate ? .create : .readWrite, ports: ports, log: log,
      busyTimeout: patience == .usual ? busyTimeout : .zero, cacheKibibytes: cacheKibibytes, isBrief: isBrief,
      mayDoze: mayDoze, mayMigrate: patience == .usual, stop: closing)
    file.database.busyTimeout = busyTimeout
    state.file = file
    let directory = WakeDirectory.beside(relay: file.database.path, ports: ports)
    state.wakes = Wakes(directory: directory, sender: WakeSender(directory: directory, ports: ports))
    let opened = file.database.interrupter
    interrupter.withLock { $0 = opened }
    return file
  }

  private func release(_ state: inout State, checkpoint: Bool) {
    let receiver = receiver.withLock { receiver in
      defer { receiver = nil }
      return receiver
    }
    receiver?.close()
    state.listeningKeys = []
    defer {
      state.wakes?.sender.close()
      state.wakes = nil
    }
    interrupter.withLock { $0 = nil }
    guard let file = state.file else { return }
    let wasDozing = state.isDozing
    state.file = nil
    state.isDozing = false
    let names = state.gone.union(receiver.map { [$0.name] } ?? [])
    state.gone = []
    if !names.isEmpty, !wasDozing {
      // Other processes notice on their own that the socket is closed; a suspension leaves no time to wait for them.
      file.database.busyTimeout = .milliseconds(20)
      if let services = try? file.forget(listeners: Array(names)) { wake(services, &state) }
      state.gone = []
    }
    if !wasDozing { cutLog(of: file) }
    do throws(SQLiteError) {
      try file.database.close(checkpoint: checkpoint)
    } catch {
      log(.error, "relay: file could not be closed", ["code": String(error.code)])
    }
  }

  /// Opened for one request at a time, the file's log would grow as a store's does. A brief opening checks it at the
  /// start.
  private func cutLog(of file: RelayFile) {
    guard !isBrief, stop?.leaves(Self.cuttingTime) ?? true else { return }
    file.writeLogBack(waitingAtMost: Self.cuttingPatience)
  }

  // MARK: Waking

  private var listenerName: String? { receiver.withLock { $0?.name } }

  /// The name of this process's socket, bound now if it was not yet. `services` gets those that must be notified of
  /// what others left.
  private func listen(
    _ file: RelayFile, _ directory: SocketDirectory?, _ services: inout [String]
  ) throws(RelayError) -> String {
    if let name = listenerName { return name }
    guard let directory else { throw .unavailable }
    let bound: WakeReceiver
    do throws(SystemError) { bound = try WakeReceiver(directory: directory, ports: ports) } catch {
      log(.error, "relay: no socket for wake-ups", ["errno": String(error.code)])
      throw .unavailable
    }
    receiver.withLock { $0 = bound }
    // A killed process leaves its socket behind.
    directory.removeAbandoned(olderThan: .seconds(60))
    services += try file.forget(listeners: try file.listeners().filter { directory.isAbandoned($0) })
    return bound.name
  }

  /// Recipients first: if their process is gone, its registration delays no push, and the service learns that when it
  /// is woken.
  private func wake(_ reply: RelayFile.Reply, _ state: inout State) {
    wake(reply.recipients, &state)
    wake(reply.services, &state)
    forgetGone(&state)
  }

  private func wake(_ names: [String], _ state: inout State) {
    guard !names.isEmpty, var wakes = state.wakes else { return }
    for name in names {
      switch wakes.sender.post(to: name) {
      case .posted: break
      case .gone: state.gone.insert(name)
      case .failed(let code): log(.warning, "relay: a subscriber could not be woken", ["errno": String(code)])
      }
    }
    // Posting may have created its socket.
    state.wakes = wakes
  }

  /// The message is stored, and its sender must learn that, whether or not this succeeds. If it fails, the next
  /// exchange retries.
  private func forgetGone(_ state: inout State) {
    guard !state.gone.isEmpty, let file = state.file else { return }
    for name in state.gone where WakeDirectory.isName(name) { state.wakes?.directory.remove(name) }
    guard let services = try? file.forget(listeners: Array(state.gone)) else { return }
    state.gone = []
    wake(services, &state)
  }
}
