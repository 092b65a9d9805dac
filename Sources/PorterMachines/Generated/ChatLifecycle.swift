// Generated from spec/machines/chat_lifecycle.scxml by porter-machines: change that file, run `make spec`.

/// The chat of one controller: its store and its work. The functions and commands of the interface raise its events
/// (chat_reopen_store, /_start, /_app suspend and so on); the answers say what to return. Suspending and stopping
/// always end: the operations are drained within a delay (see operations). In closed and in suspended no file of the
/// store is open; in dozing none is locked. In the background the network rests and the store does not; the phase
/// ensures that a suspension follows. Starting and activating end within the step that began them: no other event
/// arrives in between.
package enum ChatLifecycle: Machine {
  package enum State: UInt8, MachineCode {
    /// The store is closed and nothing runs.
    case closed
    /// The store should be closed but could not be. The next event that needs it closed tries again.
    case stillOpen
    /// The store is open; the chat has not been started.
    case opened
    /// The store opens if necessary, and the work begins.
    case starting
    /// The chat runs.
    case active
    /// Operations in progress finish; none begins.
    case suspending
    /// No file is open or locked. The chat counts as started, and continues when activated.
    case suspended
    /// Like suspended, but the store could not be closed. The next event that needs it closed tries again.
    case suspendedStillOpen
    /// The store is reopened, and the work continues.
    case activating
    /// Operations in progress finish; then the chat is stopped.
    case stopping
    /// The chat was stopped. The store is open.
    case stopped
    /// The network comes to rest and stays at rest. Commands read and write the store; what they send waits in it.
    case background
    /// Like suspended, but the store's files are open; none of them is locked.
    case dozing

    package var name: String {
      switch self {
      case .closed: "closed"
      case .stillOpen: "stillOpen"
      case .opened: "opened"
      case .starting: "starting"
      case .active: "active"
      case .suspending: "suspending"
      case .suspended: "suspended"
      case .suspendedStillOpen: "suspendedStillOpen"
      case .activating: "activating"
      case .stopping: "stopping"
      case .stopped: "stopped"
      case .background: "background"
      case .dozing: "dozing"
      }
    }
  }

  package enum Event: UInt8, MachineCode {
    /// The store must be opened: a new controller, or chat_reopen_store.
    case open
    /// The store could not be opened.
    case openFailed
    /// The store must be closed: chat_close_store.
    case close
    /// The store could not be closed: one of its statements is still executing.
    case closeFailed
    /// The chat must run, whatever that takes: /_start, or a push.
    case start
    /// The work has started.
    case started
    /// The store could not be opened.
    case startFailedClosed
    /// The store is open, but could not be read. The chat counts as started, and may be activated.
    case startFailedUnreadable
    /// The chat must continue: /_app activate.
    case activate
    /// The store is open and the work continues.
    case activated
    /// The store could not be reopened.
    case activateFailed
    /// The chat must release everything within a delay: /_app suspend. A delay of 0 raises suspendNow instead.
    case suspend
    /// The chat must release everything now: /_app suspend 0, the system's "time is up", or the end of the controller.
    case suspendNow
    /// The chat must come to rest now, between two pushes of one extension whose host allows dozing: the next push may
    /// come soon.
    case doze
    /// The store could not doze.
    case dozeFailed
    /// The operations are quiescent: all work that had begun has ended, or was given up at the deadline; none may
    /// begin.
    case drained
    /// The chat must stop: /_stop.
    case stop
    /// The network must come to rest, and the store must stay open: /_app phase background.
    case background

    package var name: String {
      switch self {
      case .open: "open"
      case .openFailed: "openFailed"
      case .close: "close"
      case .closeFailed: "closeFailed"
      case .start: "start"
      case .started: "started"
      case .startFailedClosed: "startFailed.closed"
      case .startFailedUnreadable: "startFailed.unreadable"
      case .activate: "activate"
      case .activated: "activated"
      case .activateFailed: "activateFailed"
      case .suspend: "suspend"
      case .suspendNow: "suspendNow"
      case .doze: "doze"
      case .dozeFailed: "dozeFailed"
      case .drained: "drained"
      case .stop: "stop"
      case .background: "background"
      }
    }
  }

  package enum Effect: UInt8, MachineCode {
    /// Open the store's files; allow transactions. Answer: openFailed, if that fails.
    case openStore
    /// Close the store's files: afterwards none is open or locked. Answer: closeFailed, if that fails.
    case closeStore
    /// Release every lock of the store, and keep its files open. Answer: dozeFailed, if that cannot be done.
    case dozeStore
    /// Open the store unless it is open, begin operations, and listen to other processes. Answer: started or
    /// startFailed.
    case startWork
    /// Open the store, allow operations, listen to other processes. Answer: activated or activateFailed.
    case resumeWork
    /// End subscriptions: nothing new comes in.
    case stopReceiving
    /// Raise suspend at the operations, with the given delay. Answer: drained.
    case drainWork
    /// Raise suspendNow at the operations: work in progress is given up.
    case cancelWork
    /// Raise open at the operations: only transactions may begin.
    case allowStore
    /// Raise activated or started at the process's phase.
    case reportActive
    /// Raise activateFailed or startFailed at the process's phase.
    case reportInactive
    /// Raise chatSuspended at the process's phase.
    case reportSuspended
    /// Emit the event chatSuspended. Never after suspendNow.
    case emitChatSuspended
    /// Raise stopNetwork at the operations: work in progress ends, and only transactions begin.
    case stopNetwork

    package var name: String {
      switch self {
      case .openStore: "openStore"
      case .closeStore: "closeStore"
      case .dozeStore: "dozeStore"
      case .startWork: "startWork"
      case .resumeWork: "resumeWork"
      case .stopReceiving: "stopReceiving"
      case .drainWork: "drainWork"
      case .cancelWork: "cancelWork"
      case .allowStore: "allowStore"
      case .reportActive: "reportActive"
      case .reportInactive: "reportInactive"
      case .reportSuspended: "reportSuspended"
      case .emitChatSuspended: "emitChatSuspended"
      case .stopNetwork: "stopNetwork"
      }
    }
  }

  package enum Reason: UInt8, MachineCode {
    case stale
    case alreadyClosed
    case chatNotStarted
    case notRunning
    case alreadyOpen
    case starting
    case alreadyRunning
    case chatNotStopped
    case opensWhenActivated
    case activating
    case alreadyStopping
    case alreadyInBackground

    package var name: String {
      switch self {
      case .stale: "stale"
      case .alreadyClosed: "alreadyClosed"
      case .chatNotStarted: "chatNotStarted"
      case .notRunning: "notRunning"
      case .alreadyOpen: "alreadyOpen"
      case .starting: "starting"
      case .alreadyRunning: "alreadyRunning"
      case .chatNotStopped: "chatNotStopped"
      case .opensWhenActivated: "opensWhenActivated"
      case .activating: "activating"
      case .alreadyStopping: "alreadyStopping"
      case .alreadyInBackground: "alreadyInBackground"
      }
    }
  }

  package static var name: String { "chat_lifecycle" }

  package static var initial: State { .closed }

  package static func isFinal(_ state: State) -> Bool {
    false
  }

  package static func timer(_ effect: Effect) -> MachineTimer<Event>? {
    nil
  }

  package static func kind(_ effect: Effect) -> MachineEffectKind {
    switch effect {
    case .stopReceiving, .cancelWork, .allowStore, .reportActive, .reportInactive, .reportSuspended,
      .stopNetwork:
      .act
    case .openStore, .closeStore, .dozeStore, .startWork, .resumeWork, .drainWork: .ask
    case .emitChatSuspended: .tell
    }
  }

  @inline(__always)
  package static func step(_ state: State, _ event: Event) -> MachineStep<ChatLifecycle> {
    switch state {
    case .closed: stepClosed(event)
    case .stillOpen: stepStillOpen(event)
    case .opened: stepOpened(event)
    case .starting: stepStarting(event)
    case .active: stepActive(event)
    case .suspending: stepSuspending(event)
    case .suspended: stepSuspended(event)
    case .suspendedStillOpen: stepSuspendedStillOpen(event)
    case .activating: stepActivating(event)
    case .stopping: stepStopping(event)
    case .stopped: stepStopped(event)
    case .background: stepBackground(event)
    case .dozing: stepDozing(event)
    }
  }

  @inline(__always)
  private static func stepClosed(_ event: Event) -> MachineStep<ChatLifecycle> {
    switch event {
    case .open:
      MachineStep(.opened, .moved, .openStore)
    case .openFailed, .started, .startFailedClosed, .startFailedUnreadable, .activated,
      .activateFailed, .dozeFailed, .drained, .background:
      MachineStep(.closed, .ignored(.stale))
    case .close:
      MachineStep(.closed, .ignored(.alreadyClosed))
    case .closeFailed:
      MachineStep(.stillOpen, .moved)
    case .start:
      MachineStep(.starting, .moved, .startWork)
    case .activate:
      MachineStep(.closed, .refused(.chatNotStarted))
    case .suspend:
      // Nothing to do, but a host waiting for the event gets it (INC-39).
      MachineStep(.closed, .stayed, .reportSuspended, .emitChatSuspended)
    case .suspendNow, .doze:
      MachineStep(.closed, .stayed, .reportSuspended)
    case .stop:
      MachineStep(.closed, .ignored(.notRunning))
    }
  }

  @inline(__always)
  private static func stepStillOpen(_ event: Event) -> MachineStep<ChatLifecycle> {
    switch event {
    case .open:
      MachineStep(.opened, .moved, .openStore)
    case .openFailed, .closeFailed, .started, .startFailedClosed, .startFailedUnreadable, .activated,
      .activateFailed, .dozeFailed, .drained, .background:
      MachineStep(.stillOpen, .ignored(.stale))
    case .close:
      MachineStep(.closed, .moved, .closeStore)
    case .start:
      MachineStep(.starting, .moved, .startWork)
    case .activate:
      MachineStep(.stillOpen, .refused(.chatNotStarted))
    case .suspend:
      MachineStep(.closed, .moved, .closeStore, .reportSuspended, .emitChatSuspended)
    case .suspendNow, .doze:
      MachineStep(.closed, .moved, .closeStore, .reportSuspended)
    case .stop:
      MachineStep(.stillOpen, .ignored(.notRunning))
    }
  }

  @inline(__always)
  private static func stepOpened(_ event: Event) -> MachineStep<ChatLifecycle> {
    switch event {
    case .open:
      MachineStep(.opened, .ignored(.alreadyOpen))
    case .openFailed:
      MachineStep(.closed, .moved)
    case .close:
      MachineStep(.closed, .moved, .cancelWork, .closeStore)
    case .closeFailed, .started, .startFailedClosed, .startFailedUnreadable, .activated,
      .activateFailed, .dozeFailed, .drained, .background:
      MachineStep(.opened, .ignored(.stale))
    case .start:
      MachineStep(.starting, .moved, .startWork)
    case .activate:
      MachineStep(.opened, .refused(.chatNotStarted))
    case .suspend:
      // Nothing runs, yet the store must not stay open (INC-01).
      MachineStep(.closed, .moved, .cancelWork, .closeStore, .reportSuspended, .emitChatSuspended)
    case .suspendNow, .doze:
      MachineStep(.closed, .moved, .cancelWork, .closeStore, .reportSuspended)
    case .stop:
      MachineStep(.opened, .ignored(.notRunning))
    }
  }

  @inline(__always)
  private static func stepStarting(_ event: Event) -> MachineStep<ChatLifecycle> {
    switch event {
    case .open:
      MachineStep(.starting, .ignored(.alreadyOpen))
    case .openFailed, .closeFailed, .activated, .activateFailed, .dozeFailed, .drained:
      MachineStep(.starting, .ignored(.stale))
    case .close, .suspend, .suspendNow, .doze, .stop, .background:
      MachineStep(.starting, .refused(.starting))
    case .start, .activate:
      MachineStep(.starting, .ignored(.alreadyRunning))
    case .started:
      MachineStep(.active, .moved, .reportActive)
    case .startFailedClosed:
      MachineStep(.closed, .moved, .reportInactive)
    case .startFailedUnreadable:
      MachineStep(.suspended, .moved, .cancelWork, .closeStore, .reportInactive)
    }
  }

  @inline(__always)
  private static func stepActive(_ event: Event) -> MachineStep<ChatLifecycle> {
    switch event {
    case .open:
      MachineStep(.active, .ignored(.alreadyOpen))
    case .openFailed, .closeFailed, .started, .startFailedClosed, .startFailedUnreadable, .activated,
      .activateFailed, .dozeFailed, .drained:
      MachineStep(.active, .ignored(.stale))
    case .close:
      MachineStep(.active, .refused(.chatNotStopped))
    case .start, .activate:
      MachineStep(.active, .ignored(.alreadyRunning))
    case .suspend:
      MachineStep(.suspending, .moved, .stopReceiving, .drainWork)
    case .suspendNow:
      MachineStep(.suspended, .moved, .stopReceiving, .cancelWork, .closeStore, .reportSuspended)
    case .doze:
      MachineStep(.dozing, .moved, .cancelWork, .dozeStore, .reportSuspended)
    case .stop:
      MachineStep(.stopping, .moved, .stopReceiving, .drainWork)
    case .background:
      MachineStep(.background, .moved, .stopReceiving, .stopNetwork)
    }
  }

  @inline(__always)
  private static func stepSuspending(_ event: Event) -> MachineStep<ChatLifecycle> {
    switch event {
    case .open:
      MachineStep(.suspending, .ignored(.alreadyOpen))
    case .openFailed, .closeFailed, .started, .startFailedClosed, .startFailedUnreadable, .activated,
      .activateFailed, .dozeFailed, .background:
      MachineStep(.suspending, .ignored(.stale))
    case .close:
      MachineStep(.suspending, .refused(.chatNotStopped))
    case .start, .activate:
      MachineStep(.activating, .moved, .resumeWork)
    case .suspend:
      // The latest delay counts; one event serves both, at the deadline at the latest.
      MachineStep(.suspending, .stayed, .drainWork)
    case .suspendNow, .doze:
      MachineStep(.suspended, .moved, .cancelWork, .closeStore, .reportSuspended)
    case .drained:
      MachineStep(.suspended, .moved, .closeStore, .reportSuspended, .emitChatSuspended)
    case .stop:
      MachineStep(.stopping, .moved, .drainWork)
    }
  }

  @inline(__always)
  private static func stepSuspended(_ event: Event) -> MachineStep<ChatLifecycle> {
    switch event {
    case .open:
      // Opening it now would break the promise of suspended; activate opens it.
      MachineStep(.suspended, .ignored(.opensWhenActivated))
    case .openFailed, .started, .startFailedClosed, .startFailedUnreadable, .activated,
      .activateFailed, .dozeFailed, .drained, .background:
      MachineStep(.suspended, .ignored(.stale))
    case .close:
      MachineStep(.suspended, .ignored(.alreadyClosed))
    case .closeFailed:
      MachineStep(.suspendedStillOpen, .moved)
    case .start, .activate:
      MachineStep(.activating, .moved, .resumeWork)
    case .suspend:
      MachineStep(.suspended, .stayed, .reportSuspended, .emitChatSuspended)
    case .suspendNow, .doze:
      MachineStep(.suspended, .stayed, .reportSuspended)
    case .stop:
      // A stopped chat has its store open, for export and the like.
      MachineStep(.stopped, .moved, .openStore)
    }
  }

  @inline(__always)
  private static func stepSuspendedStillOpen(_ event: Event) -> MachineStep<ChatLifecycle> {
    switch event {
    case .open:
      MachineStep(.suspendedStillOpen, .ignored(.opensWhenActivated))
    case .openFailed, .closeFailed, .started, .startFailedClosed, .startFailedUnreadable, .activated,
      .activateFailed, .dozeFailed, .drained, .background:
      MachineStep(.suspendedStillOpen, .ignored(.stale))
    case .close:
      MachineStep(.suspended, .moved, .closeStore)
    case .start, .activate:
      MachineStep(.activating, .moved, .resumeWork)
    case .suspend:
      MachineStep(.suspended, .moved, .closeStore, .reportSuspended, .emitChatSuspended)
    case .suspendNow, .doze:
      MachineStep(.suspended, .moved, .closeStore, .reportSuspended)
    case .stop:
      MachineStep(.stopped, .moved, .openStore)
    }
  }

  @inline(__always)
  private static func stepActivating(_ event: Event) -> MachineStep<ChatLifecycle> {
    switch event {
    case .open:
      MachineStep(.activating, .ignored(.alreadyOpen))
    case .openFailed, .closeFailed, .started, .startFailedClosed, .startFailedUnreadable,
      .dozeFailed, .drained:
      MachineStep(.activating, .ignored(.stale))
    case .close, .suspend, .suspendNow, .doze, .stop, .background:
      MachineStep(.activating, .refused(.activating))
    case .start, .activate:
      MachineStep(.activating, .ignored(.alreadyRunning))
    case .activated:
      MachineStep(.active, .moved, .reportActive)
    case .activateFailed:
      MachineStep(.suspended, .moved, .stopReceiving, .cancelWork, .closeStore, .reportInactive)
    }
  }

  @inline(__always)
  private static func stepStopping(_ event: Event) -> MachineStep<ChatLifecycle> {
    switch event {
    case .open:
      MachineStep(.stopping, .ignored(.alreadyOpen))
    case .openFailed, .closeFailed, .started, .startFailedClosed, .startFailedUnreadable, .activated,
      .activateFailed, .doze, .dozeFailed, .background:
      MachineStep(.stopping, .ignored(.stale))
    case .close:
      MachineStep(.stopping, .refused(.chatNotStopped))
    case .start:
      // The phase that asked must not be left waiting for an answer (INC-39).
      MachineStep(.stopping, .stayed, .reportInactive)
    case .activate:
      MachineStep(.stopping, .refused(.chatNotStarted))
    case .suspend:
      MachineStep(.closed, .moved, .cancelWork, .closeStore, .reportSuspended, .emitChatSuspended)
    case .suspendNow:
      MachineStep(.closed, .moved, .cancelWork, .closeStore, .reportSuspended)
    case .drained:
      MachineStep(.stopped, .moved, .allowStore)
    case .stop:
      MachineStep(.stopping, .ignored(.alreadyStopping))
    }
  }

  @inline(__always)
  private static func stepStopped(_ event: Event) -> MachineStep<ChatLifecycle> {
    switch event {
    case .open:
      MachineStep(.stopped, .ignored(.alreadyOpen))
    case .openFailed:
      MachineStep(.closed, .moved)
    case .close:
      MachineStep(.closed, .moved, .cancelWork, .closeStore)
    case .closeFailed, .started, .startFailedClosed, .startFailedUnreadable, .activated,
      .activateFailed, .doze, .dozeFailed, .drained, .background:
      MachineStep(.stopped, .ignored(.stale))
    case .start:
      MachineStep(.starting, .moved, .startWork)
    case .activate:
      MachineStep(.stopped, .refused(.chatNotStarted))
    case .suspend:
      MachineStep(.closed, .moved, .cancelWork, .closeStore, .reportSuspended, .emitChatSuspended)
    case .suspendNow:
      MachineStep(.closed, .moved, .cancelWork, .closeStore, .reportSuspended)
    case .stop:
      MachineStep(.stopped, .ignored(.notRunning))
    }
  }

  @inline(__always)
  private static func stepBackground(_ event: Event) -> MachineStep<ChatLifecycle> {
    switch event {
    case .open:
      MachineStep(.background, .ignored(.alreadyOpen))
    case .openFailed, .closeFailed, .started, .startFailedClosed, .startFailedUnreadable, .activated,
      .activateFailed, .doze, .dozeFailed, .drained:
      MachineStep(.background, .ignored(.stale))
    case .close:
      MachineStep(.background, .refused(.chatNotStopped))
    case .start, .activate:
      MachineStep(.activating, .moved, .resumeWork)
    case .suspend:
      MachineStep(.suspending, .moved, .stopReceiving, .drainWork)
    case .suspendNow:
      MachineStep(.suspended, .moved, .stopReceiving, .cancelWork, .closeStore, .reportSuspended)
    case .stop:
      MachineStep(.stopping, .moved, .stopReceiving, .drainWork)
    case .background:
      MachineStep(.background, .ignored(.alreadyInBackground))
    }
  }

  @inline(__always)
  private static func stepDozing(_ event: Event) -> MachineStep<ChatLifecycle> {
    switch event {
    case .open:
      // Opening it now would break the promise of suspended; activate opens it.
      MachineStep(.dozing, .ignored(.opensWhenActivated))
    case .openFailed, .closeFailed, .started, .startFailedClosed, .startFailedUnreadable, .activate,
      .activated, .activateFailed, .drained, .stop, .background:
      MachineStep(.dozing, .ignored(.stale))
    case .close:
      MachineStep(.suspended, .moved, .closeStore)
    case .start:
      MachineStep(.activating, .moved, .resumeWork)
    case .suspend:
      MachineStep(.suspended, .moved, .closeStore, .reportSuspended, .emitChatSuspended)
    case .suspendNow:
      MachineStep(.suspended, .moved, .closeStore, .reportSuspended)
    case .doze:
      MachineStep(.dozing, .stayed, .reportSuspended)
    case .dozeFailed:
      MachineStep(.suspended, .moved, .closeStore)
    }
  }
}

extension MachineRunner where M == ChatLifecycle {
  /// Takes the step. The caller carries out its effects, in order.
  package mutating func handle(_ event: ChatLifecycle.Event) -> MachineStep<ChatLifecycle> {
    let step = ChatLifecycle.step(state, event)
    state = step.next
    return step
  }
}

/// Carries out the effects of `ChatLifecycle`, one method for each.
package protocol ChatLifecycleEffects {
  /// The event's data.
  associatedtype Argument
  /// Open the store's files; allow transactions. Answer: openFailed, if that fails.
  func openStore(_ argument: Argument)
  /// Close the store's files: afterwards none is open or locked. Answer: closeFailed, if that fails.
  func closeStore(_ argument: Argument)
  /// Release every lock of the store, and keep its files open. Answer: dozeFailed, if that cannot be done.
  func dozeStore(_ argument: Argument)
  /// Open the store unless it is open, begin operations, and listen to other processes. Answer: started or startFailed.
  func startWork(_ argument: Argument)
  /// Open the store, allow operations, listen to other processes. Answer: activated or activateFailed.
  func resumeWork(_ argument: Argument)
  /// End subscriptions: nothing new comes in.
  func stopReceiving(_ argument: Argument)
  /// Raise suspend at the operations, with the given delay. Answer: drained.
  func drainWork(_ argument: Argument)
  /// Raise suspendNow at the operations: work in progress is given up.
  func cancelWork(_ argument: Argument)
  /// Raise open at the operations: only transactions may begin.
  func allowStore(_ argument: Argument)
  /// Raise activated or started at the process's phase.
  func reportActive(_ argument: Argument)
  /// Raise activateFailed or startFailed at the process's phase.
  func reportInactive(_ argument: Argument)
  /// Raise chatSuspended at the process's phase.
  func reportSuspended(_ argument: Argument)
  /// Emit the event chatSuspended. Never after suspendNow.
  func emitChatSuspended(_ argument: Argument)
  /// Raise stopNetwork at the operations: work in progress ends, and only transactions begin.
  func stopNetwork(_ argument: Argument)
}

extension ChatLifecycle {
  /// Calls the effect's method.
  package static func perform<Performer: ChatLifecycleEffects>(
    _ effect: Effect, by performer: Performer, _ argument: Performer.Argument
  ) {
    switch effect {
    case .openStore: performer.openStore(argument)
    case .closeStore: performer.closeStore(argument)
    case .dozeStore: performer.dozeStore(argument)
    case .startWork: performer.startWork(argument)
    case .resumeWork: performer.resumeWork(argument)
    case .stopReceiving: performer.stopReceiving(argument)
    case .drainWork: performer.drainWork(argument)
    case .cancelWork: performer.cancelWork(argument)
    case .allowStore: performer.allowStore(argument)
    case .reportActive: performer.reportActive(argument)
    case .reportInactive: performer.reportInactive(argument)
    case .reportSuspended: performer.reportSuspended(argument)
    case .emitChatSuspended: performer.emitChatSuspended(argument)
    case .stopNetwork: performer.stopNetwork(argument)
    }
  }
}
