import PorterJSON
import PorterMachines
import PorterPlatform
import PorterRelay
import PorterSchema
import PorterStore

/// One engine with the calls available to a host; the target of a `chat_ctrl`. Every method may be called from any
/// thread.
package final class Controller: Sendable {
  package let events: EventQueue
  let turns: any Turns
  let configuration: Configuration
  private let signal: StopSignal
  private let statusBoard: StatusBoard
  let pushes = PushQueue()

  private init(
    events: EventQueue, turns: any Turns, configuration: Configuration, signal: StopSignal, statusBoard: StatusBoard
  ) {
    self.events = events
    self.turns = turns
    self.configuration = configuration
    self.signal = signal
    self.statusBoard = statusBoard
  }

  /// Opens the store and starts the engine's turns. Returns a controller only with `.ok`.
  package static func open(
    _ configuration: Configuration, key: HeldKey = HeldKey(.none, isRetained: true)
  ) -> (MigrationResult, Controller?) {
    let file = configuration.location.file
    let location: StoreLocation
    // Resolved once: changing a link later redirects neither the store nor the files next to it.
    do throws(StoreError) { location = try configuration.location.resolved(configuration.ports.files) } catch {
      return (MigrationResult(error, file: file), nil)
    }
    return open(configuration.at(location), key: key, named: file)
  }

  /// `file` is the store's name in answers, as the host wrote it.
  private static func open(
    _ configuration: Configuration, key: HeldKey, named file: String
  ) -> (MigrationResult, Controller?) {
    let (signal, statusBoard) = (StopSignal(clock: configuration.clock), StatusBoard(clock: configuration.clock))
    guard let events = EventQueue(byteBound: configuration.eventBytes, isRecorded: true),
      let turns = configuration.execution.start({
        Engine(configuration: configuration, turns: $0, queue: events, stop: signal, statusBoard: statusBoard)
      })
    else { return (.agentError(.internal("the system has no thread or descriptor to give")), nil) }
    let controller = Controller(
      events: events, turns: turns, configuration: configuration, signal: signal, statusBoard: statusBoard)
    // The key is passed in a job, which is over when the store is open. The thread's own closure would keep it until
    // the thread ends.
    let error = controller.call { engine -> StoreError? in
      engine.lifecycle.heldKey = key
      return engine.lifecycle.open()
    }
    guard let outcome = error, let failure = outcome else { return (.ok, controller) }
    turns.stop()
    return (MigrationResult(failure, file: file), nil)
  }

  /// Ends the engine: closes its store and wakes all waiting callers.
  package func stop() {
    let unanswered = expireAllPushes()
    signal.raise()
    turns.stop()
    signal.lower()
    for push in unanswered { answerWithoutEngine(push, "the controller was freed") }
  }

  /// Runs `work` on the engine's thread and waits for it; nil when the engine has ended.
  func call<Value: Sendable>(_ preemption: Preemption = .none, _ work: @escaping @Sendable (Engine) -> Value) -> Value?
  {
    let result = Promise<Value>()
    guard enqueue(preemption, { result.fulfil(work($0)) }) else { return nil }
    return turns.wait(for: result, atMost: nil)
  }

  /// How long the engine may continue its current work when a job arrives.
  enum Preemption: Equatable {
    /// Until it is done.
    case none
    /// Waiting and long work are interrupted until the job has had its turn.
    case now
    /// Like `now`, but from this moment on.
    case by(Moment)
  }

  @discardableResult
  func enqueue(_ preemption: Preemption, _ job: @escaping Turns.Job) -> Bool {
    let signal = signal
    switch preemption {
    case .none: return turns.enqueue(job)
    case .now:
      signal.raise()
      let isAccepted = turns.enqueue { engine in
        signal.lower()
        job(engine)
      }
      if !isAccepted { signal.lower() }
      return isAccepted
    case .by(let moment):
      signal.set(.command, moment)
      let isAccepted = turns.enqueue { engine in
        signal.set(.command, nil)
        job(engine)
      }
      if !isAccepted { signal.set(.command, nil) }
      return isAccepted
    }
  }

  // MARK: Commands

  package func send(_ text: String, retry: Int) -> String {
    let command: Command
    do throws(ChatError) { command = try Command(parsing: text) } catch { return Answer.error(error).json.text }
    let result = Promise<String>()
    let (preemption, clock) = (self.preemption(of: command), configuration.clock)
    let asked = clock.now()
    let accepted = enqueue(preemption) { engine in
      let reply = { (answer: Answer) -> Void in _ = result.fulfil(answer.json.text) }
      // The delay counts from the request.
      switch command {
      case .suspendChat(let delay) where delay > .zero:
        engine.handle(.suspendChat(max(.microseconds(1), asked + delay - clock.now())), retry: retry, reply: reply)
      case .setPhase(.background): reply(.result(engine.leaveScreen(by: asked + Durations.backgroundSuspension)))
      default: engine.handle(command, retry: retry, reply: reply)
      }
    }
    guard accepted, let answer = turns.wait(for: result, atMost: nil) else {
      return Answer.error(.nightporter(.controllerInvalid)).json.text
    }
    return answer
  }

  /// Sets, changes or removes the store's key: `/_db encryption` without a lingering command text.
  package func changeKey(from current: StoreKey, to new: StoreKey) -> String {
    let answer = call { engine in
      Answer(catching: { () throws(ChatError) in try engine.changeKey(from: current, to: new) })
    }
    return (answer ?? .error(.nightporter(.controllerInvalid))).json.text
  }

  private func preemption(of command: Command) -> Preemption {
    switch command {
    case .suspendChat(let delay): delay > .zero ? .by(configuration.clock.now() + delay) : .now
    case .setPhase(let phase): preemption(of: phase)
    default: .none
    }
  }

  private func preemption(of phase: HostPhase) -> Preemption {
    switch phase {
    case .active: .none
    case .background: .by(configuration.clock.now() + Durations.background)
    case .suspended: .now
    }
  }

  /// Sets the key for the next opening of the store. Does not wait.
  package func setKey(_ key: HeldKey) { turns.enqueue { $0.lifecycle.heldKey = key } }

  package var role: Role { configuration.role }
  /// State as of the engine's last turn.
  var isOnScreen: Bool { statusBoard.isOnScreen }
  /// The strings as last read by the engine.
  var strings: KnownStrings { statusBoard.strings }

  package func closeStore() -> String { call(.now) { $0.lifecycle.closeForHost() } ?? "the controller was freed" }
  package func reopenStore() -> String { call { $0.lifecycle.reopenForHost() } ?? "the controller was freed" }

  /// Returns false when the machines refuse.
  package func setPhase(_ phase: HostPhase?) -> Bool {
    let (preemption, asked) = (phase.map { self.preemption(of: $0) } ?? Preemption.none, configuration.clock.now())
    let answer = call(preemption) { engine in
      Answer(catching: { () throws(ChatError) in
        guard let phase else { return try engine.beginBackgroundRefresh() }
        // The time counts from the request.
        if phase == .background { return engine.leaveScreen(by: asked + Durations.backgroundSuspension) }
        return try engine.setPhase(phase)
      })
    }
    if case .result? = answer { return true }
    // The result cannot carry the answer.
    if let answer {
      configuration.log(.warning, "the phase was not reached", ["answer": answer.json.text])
    }
    return false
  }

  /// The answer comes from the engine or, once it has been busy for longer than this, from its last published state.
  private static let statePatience = Span.seconds(1)

  package func state() -> String {
    let answer = Promise<String>()
    guard turns.enqueue({ answer.fulfil($0.describe().text) }) else {
      return Answer.error(.nightporter(.controllerInvalid)).json.text
    }
    while true {
      if let text = turns.wait(for: answer, atMost: Self.statePatience) { return text }
      guard let busy = statusBoard.busy(for: Self.statePatience) else { continue }
      let peerRole = configuration.role.peer
      return busy.snapshot.describe(
        busy.activity, for: busy.since,
        peer: PhaseFile(prefix: configuration.prefix, role: peerRole.rawValue, ports: configuration.ports),
        peerRole: peerRole, eventsWaiting: events.count, pushesWaiting: max(0, pushes.unanswered - 1)
      ).text
    }
  }

  // MARK: Responses to notifications

  /// Handles the user's response to a notification, as JSON; answers as a command does.
  package func notificationResponse(_ text: String) -> String {
    let response: UserResponse
    do throws(ChatError) { response = try UserResponse(parsing: text) } catch { return Answer.error(error).json.text }
    let answer = call { engine in
      Answer(catching: { () throws(ChatError) in .notificationResponse(try engine.responses.receive(response)) })
    }
    return (answer ?? .error(.nightporter(.controllerInvalid))).json.text
  }

  // MARK: Events

  /// Takes the next event; nil when the time ran out without one. On return, the event is stored as delivered, so that
  /// it does not come again after a kill, unless the engine is busy.
  package func takeEvent(atMost span: Span?) -> EventQueue.Taken? {
    let (taken, isNoted) = events.takeNoting(atMost: span)
    guard isNoted else { return taken }
    let noted = Promise<Void>()
    if turns.enqueue({ _ in noted.fulfil(()) }) { _ = turns.wait(for: noted, atMost: Self.notingPatience) }
    return taken
  }

  private static let notingPatience = Span.milliseconds(100)

  // MARK: The relay

  /// Returns false after the chat has started.
  package func setRelay(_ port: any RelayPort) -> Bool {
    call { engine in
      guard engine.lifecycle.isAtRest else { return false }
      engine.relayLink.use(port)
      return true
    } ?? false
  }

  package func relayIsReady() { turns.enqueue { $0.relayHasNews() } }

  /// Does a background round, as for a wake push.
  package func refresh(deadline: Span) -> String {
    receivePush(
      #"{"aps":{"content-available":1},"notificationData":{"checkMessages":true}}"#, identifier: "np:refresh",
      deadline: deadline)
  }
}

extension MigrationResult {
  init(_ error: StoreError, file: String) {
    switch error {
    case .needsMigration(let names):
      self = .errorMigration(file: file, .upgrade(names.map { Step(name: $0, canBeUndone: false) }))
    case .newerSchema: self = .errorMigration(file: file, .noWayDown(["a migration of a newer version"]))
    case .foreign: self = .errorNotADatabase(file: file)
    case .sqlite(let error) where error.kind == .notADatabase: self = .errorNotADatabase(file: file)
    case .seal(let error): self = .nightporter(file: file, NightporterError(error))
    case .sqlite(let error) where error.isOutOfDescriptors:
      self = .agentError(.internal("the system has no thread or descriptor to give"))
    case .sqlite(let error) where error.kind == .readOnly || error.kind == .cannotOpen:
      self = .nightporter(file: file, .storeReadOnly)
    case .sqlite(let error) where error.kind == .full: self = .nightporter(file: file, .storeFull)
    case .sqlite, .staleEpoch, .notFound, .duplicate, .damaged: self = .errorSQL(file: file, reason: error.description)
    }
  }
}
