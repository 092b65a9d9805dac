import PorterMachines

/// A process's phase, its chat and its operations, composed as `PorterEngine/Lifecycle` composes them: one FIFO queue,
/// effects in the order of the files. Everything that can go either way is chosen by `choices`, one after the other.
struct Composition<Phase: PhaseMachine>: Hashable {
  var phase = Phase.initial
  var chat = ChatLifecycle.initial
  var operations = Operations.initial
  var storeIsOpen = false
  /// Its files are open, without holding a lock.
  var storeDozes = false
  var relayIsOpen = false
  var holdsPhaseFile = false
  /// What the phase file says about this process; nil before its first entry.
  var published: Phase.State?
  /// The background time is running.
  var isTimed = false
  /// The operations' deadline is running.
  var isArmed = false
  /// Kinds of work that are under way.
  var underWay: Set<Kind> = []
  /// Deferred suspensions that no event has followed yet.
  var owesSuspended = false

  enum Kind: CaseIterable {
    case notifications, receiving, delivery, sending, database

    var begin: Operations.Event {
      switch self {
      case .notifications: .beginNotifications
      case .receiving: .beginReceiving
      case .delivery: .beginDelivery
      case .sending: .beginSending
      case .database: .beginDatabase
      }
    }

    var idle: Operations.Event {
      switch self {
      case .notifications: .idleNotifications
      case .receiving: .idleReceiving
      case .delivery: .idleDelivery
      case .sending: .idleSending
      case .database: .idleDatabase
      }
    }
  }

  enum Event: Hashable {
    case phase(Phase.Event)
    case chat(ChatLifecycle.Event)
    case operations(Operations.Event)
  }

  /// An encountered pair of a state and an event.
  struct Pair: Hashable {
    let machine: String
    let state: String
    let event: String
  }

  enum Call: Hashable {
    case phase(Phase.Event)
    case chat(ChatLifecycle.Event)
    /// `/_app activate` and `/_start`: enters the phase, which asks the chat for this.
    case enter(Phase.Event, asking: ChatLifecycle.Event)
    /// A push, or a wake-up in the background.
    case wake(Phase.Event)
    /// `chat_close_store`.
    case close
    /// A push is about to be answered by an extension whose host lets the store doze.
    case doze
    case begin(Kind)
    case end(Kind)
    case deadline
  }
}

/// What `app_phase` and `extension_phase` have in common, as in the engine's `ProcessPhase`.
protocol PhaseMachine: Machine {
  static var isActive: Event { get }
  static var isInactive: Event { get }
  static var isSuspended: Event { get }
  /// Events that may lead to a deferred suspension.
  static var suspensions: Set<Event> { get }
  static var suspendNow: Event { get }
  static func work(_ effect: Effect) -> PhaseWork
}

enum PhaseWork {
  case publishWorking, publishResting, enterChat, suspendChat, suspendChatNow, stopChat, stopNetwork, armBackground
  case cancelBackground, nothing
}

extension AppPhase: PhaseMachine {
  static var isActive: Event { .activated }
  static var isInactive: Event { .activateFailed }
  static var isSuspended: Event { .chatSuspended }
  static var suspensions: Set<Event> { [.background, .suspend, .backgroundOver, .refreshOver] }
  static var suspendNow: Event { .suspendNow }
  static func work(_ effect: Effect) -> PhaseWork {
    switch effect {
    case .publishWorking: .publishWorking
    case .publishResting: .publishResting
    case .activateChat: .enterChat
    case .suspendChat: .suspendChat
    case .suspendChatNow: .suspendChatNow
    case .stopChat: .stopChat
    case .stopNetwork: .stopNetwork
    case .armBackground: .armBackground
    case .cancelBackground: .cancelBackground
    case .askExtensionToYield, .takeUpWork, .showCalls, .startRefresh, .cancelRefresh: .nothing
    }
  }
}

extension ExtensionPhase: PhaseMachine {
  static var isActive: Event { .started }
  static var isInactive: Event { .startFailed }
  static var isSuspended: Event { .chatSuspended }
  static var suspensions: Set<Event> { [.suspend, .appRunning] }
  static var suspendNow: Event { .suspendNow }
  static func work(_ effect: Effect) -> PhaseWork {
    switch effect {
    case .publishWorking: .publishWorking
    case .publishResting: .publishResting
    case .openChat: .enterChat
    case .suspendChat: .suspendChat
    case .suspendChatNow: .suspendChatNow
    }
  }
}

/// Chooses among what can go either way, and reports whether there is a path not yet taken.
struct Choices {
  private var path: [Bool]
  private var next = 0

  init(_ path: [Bool] = []) { self.path = path }

  mutating func fails() -> Bool {
    if next == path.count { path.append(false) }
    defer { next += 1 }
    return path[next]
  }

  /// The next path in order; nil after the last.
  var following: Choices? {
    var path = Array(path.prefix(next))
    while path.last == true { path.removeLast() }
    guard !path.isEmpty else { return nil }
    path[path.count - 1] = true
    return Choices(path)
  }
}

/// Carries out a call to its end.
struct CompositionRun<Phase: PhaseMachine> {
  typealias World = Composition<Phase>

  var world: World
  var choices: Choices
  /// The call that starts the chat.
  private var asking = ChatLifecycle.Event.start
  private var mayDoze = false
  private var queue: [World.Event] = []
  private(set) var pairs: Set<World.Pair> = []
  private(set) var problems: [String] = []

  init(_ world: World, _ choices: Choices) {
    self.world = world
    self.choices = choices
  }

  mutating func run(_ call: World.Call) {
    switch call {
    case .phase(let event):
      if event.name == AppPhase.Event.backgroundOver.name { world.isTimed = false }
      queue.append(.phase(event))
    case .chat(let event): queue.append(.chat(event))
    case .enter(let event, let asking):
      // Asked before anything is changed, so that a second app leaves the first alone (INC-16).
      if Phase.self == AppPhase.self, !world.holdsPhaseFile, choices.fails() { return }
      if Phase.self == AppPhase.self { world.holdsPhaseFile = true }
      self.asking = asking
      queue.append(.phase(event))
    case .wake(let event):
      asking = .start
      queue.append(.phase(event))
    case .close:
      if ![.closed, .stillOpen, .opened, .stopped].contains(world.chat) {
        queue.append(.phase(Phase.suspendNow))
        takeAll()
      }
      queue.append(.chat(.close))
    case .doze:
      mayDoze = true
      queue.append(.phase(Phase.suspendNow))
    case .begin(let kind): queue.append(.operations(kind.begin))
    case .end(let kind): world.underWay.remove(kind)
    case .deadline:
      world.isArmed = false
      queue.append(.operations(.deadline))
    }
    owe(call)
    takeAll()
    // The end of a turn, until there is nothing left to notice.
    while let kind = drained {
      queue.append(.operations(kind.idle))
      takeAll()
    }
  }

  /// A deferred suspension ends in one event, unless something else was asked for in between.
  private mutating func owe(_ call: World.Call) {
    switch call {
    case .phase(let event) where Phase.suspensions.contains(event):
      // A chat that has not started stops immediately, and no caller waits for the event; in the background none is due
      // yet.
      let step = Phase.step(world.phase, event)
      if step.answer.isTaken { world.owesSuspended = step.effects.contains { Phase.work($0) == .suspendChat } }
    case .phase, .enter, .wake, .close, .doze: world.owesSuspended = false
    case .chat, .begin, .end, .deadline: break
    }
  }

  private var drained: World.Kind? {
    let kind: World.Kind? =
      switch world.operations {
      case .quiescent, .storeOnly, .running, .networkStopped: nil
      case .stoppingNotifications, .drainingNotifications: .notifications
      case .stoppingReceiving, .drainingReceiving: .receiving
      case .stoppingDelivery, .drainingDelivery: .delivery
      case .stoppingSending, .drainingSending: .sending
      case .drainingDatabase: .database
      }
    return kind.flatMap { world.underWay.contains($0) ? nil : $0 }
  }

  private mutating func takeAll() {
    var count = 0
    while !queue.isEmpty {
      count += 1
      if count > 200 { return problems.append("it never comes to rest") }
      switch queue.removeFirst() {
      case .phase(let event): takePhase(event)
      case .chat(let event): takeChat(event)
      case .operations(let event): takeOperations(event)
      }
    }
  }

  private mutating func note<M: Machine>(_ machine: M.Type, _ state: M.State, _ event: M.Event, _ step: MachineStep<M>)
  {
    pairs.insert(World.Pair(machine: M.name, state: state.name, event: event.name))
    if case .refused(let reason) = step.answer, ["starting", "activating", "storeClosed"].contains(reason.name) {
      problems.append("\(M.name): \(state.name), \(event.name) is refused.\(reason.name)")
    }
  }

  // MARK: The phase, as ProcessPhase.swift has it

  private mutating func takePhase(_ event: Phase.Event) {
    let step = Phase.step(world.phase, event)
    note(Phase.self, world.phase, event, step)
    world.phase = step.next
    for effect in step.effects {
      switch Phase.work(effect) {
      case .publishWorking: publishWorking()
      case .publishResting: publishResting()
      case .enterChat: enterChat()
      case .suspendChat: queue.append(.chat(.suspend))
      case .suspendChatNow: queue.append(.chat(mayDoze ? .doze : .suspendNow))
      case .stopChat: queue.append(.chat(.stop))
      case .stopNetwork: queue.append(.chat(.background))
      case .armBackground: world.isTimed = true
      case .cancelBackground: world.isTimed = false
      case .nothing: break
      }
    }
  }

  /// Another process may have the lock, or none may be available.
  private mutating func publishWorking() {
    if !world.holdsPhaseFile, choices.fails() { return }
    world.holdsPhaseFile = true
    world.published = world.phase
  }

  private mutating func publishResting() {
    let always = Phase.self == AppPhase.self && world.phase.name == "stopped"
    if !world.holdsPhaseFile, !always {
      guard world.published != nil, world.published != world.phase else { return }
    }
    world.published = world.phase
    world.holdsPhaseFile = false
  }

  private mutating func enterChat() {
    guard Phase.self == AppPhase.self else { return queue.append(.chat(.start)) }
    if !world.holdsPhaseFile, choices.fails() { return queue.append(.phase(Phase.isInactive)) }
    world.holdsPhaseFile = true
    queue.append(.chat(asking))
  }

  // MARK: The chat, as Lifecycle.swift has it

  private mutating func takeChat(_ event: ChatLifecycle.Event) {
    let step = ChatLifecycle.step(world.chat, event)
    note(ChatLifecycle.self, world.chat, event, step)
    world.chat = step.next
    for effect in step.effects {
      switch effect {
      case .openStore: if !openFiles() { queue.append(.chat(.openFailed)) }
      case .closeStore: closeStore()
      case .dozeStore: dozeStore()
      case .startWork:
        let worked = beginWork()
        queue.append(.chat(worked ? .started : world.storeIsOpen ? .startFailedUnreadable : .startFailedClosed))
      case .resumeWork: queue.append(.chat(beginWork() ? .activated : .activateFailed))
      case .stopNetwork: queue.append(.operations(.stopNetwork))
      case .drainWork: queue.append(.operations(.suspend))
      case .cancelWork: queue.append(.operations(.suspendNow))
      case .allowStore: queue.append(.operations(.open))
      case .reportActive: queue.append(.phase(Phase.isActive))
      case .reportInactive: queue.append(.phase(Phase.isInactive))
      case .reportSuspended: queue.append(.phase(Phase.isSuspended))
      case .emitChatSuspended:
        if !world.owesSuspended { problems.append("chatSuspended comes unasked, on \(event.name)") }
        world.owesSuspended = false
      case .stopReceiving: break
      }
    }
  }

  private mutating func openFiles() -> Bool {
    world.storeDozes = false
    if !world.storeIsOpen {
      if choices.fails() { return false }
      world.storeIsOpen = true
    }
    queue.append(.operations(.open))
    return true
  }

  private mutating func beginWork() -> Bool {
    guard openFiles() else { return false }
    // The ledger cannot be read.
    if choices.fails() { return false }
    world.relayIsOpen = true
    queue.append(.operations(.resume))
    return true
  }

  private mutating func dozeStore() {
    guard world.storeIsOpen, !choices.fails() else { return queue.append(.chat(.dozeFailed)) }
    world.storeIsOpen = false
    world.storeDozes = true
  }

  private mutating func closeStore() {
    world.storeDozes = false
    guard world.storeIsOpen else { return }
    if choices.fails() { return queue.append(.chat(.closeFailed)) }
    world.storeIsOpen = false
  }

  // MARK: The operations, as OperationGate.swift has them

  private mutating func takeOperations(_ event: Operations.Event) {
    let step = Operations.step(world.operations, event)
    note(Operations.self, world.operations, event, step)
    world.operations = step.next
    for effect in step.effects {
      switch effect {
      case .admit: if let kind = World.Kind.allCases.first(where: { $0.begin == event }) { world.underWay.insert(kind) }
      case .awaitNotifications: answerIfIdle(.notifications)
      case .awaitReceiving: answerIfIdle(.receiving)
      case .awaitDelivery: answerIfIdle(.delivery)
      case .awaitSending: answerIfIdle(.sending)
      case .awaitDatabase: answerIfIdle(.database)
      case .armDeadline: world.isArmed = true
      case .cancelDeadline: world.isArmed = false
      case .giveUpWork:
        world.underWay = []
        world.relayIsOpen = false
      case .releaseRelay:
        if !world.underWay.isSubset(of: [.database]) { problems.append("the relay is released at work") }
        world.relayIsOpen = false
      case .reportQuiescent: queue.append(.chat(.drained))
      }
    }
  }

  private mutating func answerIfIdle(_ kind: World.Kind) {
    if !world.underWay.contains(kind) { queue.append(.operations(kind.idle)) }
  }
}

extension MachineAnswer {
  var isTaken: Bool {
    switch self {
    case .moved, .stayed: true
    case .ignored, .refused: false
    }
  }
}
