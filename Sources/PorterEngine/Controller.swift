import PorterJSON
import PorterMachines
import PorterPlatform
import PorterRelay
import PorterSchema
import PorterStore

/// One engine on its thread, with the calls that a host makes; what `chat_ctrl` stands for. Every method may be called
/// from any thread.
package final class Controller: Sendable {
  package let events: EventQueue
  private let thread: EngineThread
  private let configuration: Configuration
  private let pending = Monitor<Promise<String>?>(nil)

  private init(events: EventQueue, thread: EngineThread, configuration: Configuration) {
    self.events = events
    self.thread = thread
    self.configuration = configuration
  }

  /// Opens the store and starts the engine's thread. A controller comes with `.ok` only.
  package static func open(_ configuration: Configuration) -> (MigrationResult, Controller?) {
    guard let events = EventQueue(),
      let thread = EngineThread.start({ Engine(configuration: configuration, thread: $0, queue: events) })
    else { return (.agentError(.internal("the system has no thread or descriptor to give")), nil) }
    let controller = Controller(events: events, thread: thread, configuration: configuration)
    let error = controller.call { engine -> PorterStore.StoreError? in
      engine.raise(ChatLifecycle.Event.open)
      return engine.lastStoreError
    }
    guard let outcome = error, let failure = outcome else { return (.ok, controller) }
    thread.stop()
    return (MigrationResult(failure, file: Store.file(prefix: configuration.prefix)), nil)
  }

  /// Ends the engine: closes its store, wakes everyone who waits.
  package func stop() {
    if let push = pending.withLock({ $0 }) { push.fulfil(Self.unanswered("expired", "the controller was freed")) }
    thread.stop()
  }

  /// Runs `work` on the engine's thread and waits for it; nil when the engine has ended.
  private func call<Value: Sendable>(_ work: @escaping @Sendable (Engine) -> Value) -> Value? {
    let result = Promise<Value>()
    guard thread.enqueue({ result.fulfil(work($0)) }) else { return nil }
    return result.wait()
  }

  // MARK: Commands

  package func send(_ text: String, retry: Int) -> String {
    let command: Command
    do throws(ChatError) { command = try Command(parsing: text) } catch { return Answer.error(error).json.text }
    let result = Promise<String>()
    let accepted = thread.enqueue { engine in
      engine.handle(command, retry: retry) { answer in result.fulfil(answer.json.text) }
    }
    guard accepted, let answer = result.wait() else { return Answer.error(.nightporter(.controllerInvalid)).json.text }
    return answer
  }

  package func closeStore() -> String { call { $0.closeStoreForHost() } ?? "the controller was freed" }
  package func reopenStore() -> String { call { $0.reopenStoreForHost() } ?? "the controller was freed" }

  /// False when the machines refuse.
  package func setPhase(_ phase: HostPhase?) -> Bool {
    let answer = call { engine in
      Answer(catching: { () throws(ChatError) in
        guard let phase else { return try engine.beginBackgroundRefresh() }
        return try engine.setPhase(phase)
      })
    }
    guard case .result = answer else { return false }
    return true
  }

  package func state() -> String {
    call { $0.describe().text } ?? Answer.error(.nightporter(.controllerInvalid)).json.text
  }

  // MARK: The relay

  /// False after the chat has started.
  package func setRelay(_ port: any RelayPort) -> Bool {
    call { engine in
      guard engine.relay == nil else { return false }
      engine.hostRelay = port
      return true
    } ?? false
  }

  package func relayIsReady() { thread.enqueue { $0.relayHasNews() } }

  // MARK: Pushes

  /// How much longer than its deadline a push may take before the caller is answered without the engine.
  private static let grace = Span.milliseconds(100)

  package func receivePush(_ payload: String, deadline: Span) -> String {
    let started = configuration.clock.now()
    let answer = Promise<String>()
    let isFirst = pending.withLock { pending in
      guard pending == nil else { return false }
      pending = answer
      return true
    }
    guard isFirst else { return Self.unanswered("busy", "another push is in progress on this controller") }
    defer { pending.withLock { $0 = nil } }
    guard thread.enqueue({ $0.beginPush(payload, started: started, deadline: deadline, answer: answer) }) else {
      return Self.unanswered("failed", "the controller was freed")
    }
    let left = deadline - (configuration.clock.now() - started)
    if let text = answer.wait(atMost: left) { return text }
    // The engine's own timer has fired by now, unless the engine itself hangs in the operating system.
    thread.enqueue { $0.expirePush() }
    if let text = answer.wait(atMost: Self.grace) { return text }
    answer.fulfil(Self.unanswered("expired", "the engine did not end in time"))
    return answer.wait() ?? Self.unanswered("expired", "the engine did not end in time")
  }

  /// False when no push is in progress.
  package func expirePush() -> Bool {
    guard let answer = pending.withLock({ $0 }), !answer.isFulfilled else { return false }
    thread.enqueue { $0.expirePush() }
    if answer.wait(atMost: Self.grace) == nil {
      answer.fulfil(Self.unanswered("expired", "time was up while the engine was at work"))
    }
    return true
  }

  private static func unanswered(_ outcome: String, _ reason: String) -> String {
    PushRun.json(outcome: outcome, reason: reason, content: PushContent(), quiescent: false, trace: []).text
  }
}

extension MigrationResult {
  init(_ error: PorterStore.StoreError, file: String) {
    switch error {
    case .needsMigration(let names):
      self = .errorMigration(file: file, .upgrade(names.map { Step(name: $0, canBeUndone: false) }))
    case .newerSchema: self = .errorMigration(file: file, .noWayDown(["a migration of a newer version"]))
    case .foreign: self = .errorNotADatabase(file: file)
    case .sqlite(let error) where error.kind == .notADatabase: self = .errorNotADatabase(file: file)
    case .sealingUnsupported: self = .nightporter(file: file, .storeSealingUnavailable)
    case .sqlite(let error) where error.kind == .readOnly || error.kind == .cannotOpen:
      self = .nightporter(file: file, .storeReadOnly)
    case .sqlite(let error) where error.kind == .full: self = .nightporter(file: file, .storeFull)
    case .sqlite, .staleEpoch, .notFound, .duplicate, .damaged: self = .errorSQL(file: file, reason: error.description)
    }
  }
}
