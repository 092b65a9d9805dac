// Generated from spec/machines/chat_lifecycle.scxml by porter-machines: change that file, run `make spec`.

/// The chat of one controller: its store and its work. The functions and commands of the interface raise its events
/// (chat_reopen_store, /_start, /_app suspend and so on); the answers tell them what to return. Suspending and stopping
/// always end: the operations are drained within a delay (see operations). In closed and in suspended no file of the
/// store is open.
package enum ChatLifecycle: Machine {
  package enum State: UInt8, MachineCode {
    /// The store is closed and nothing runs.
    case closed
    /// The store is open; the chat has not been started.
    case opened
    /// The work begins.
    case starting
    /// The chat runs.
    case active
    /// Operations that have begun are finished; none begins.
    case suspending
    /// No file is open or locked. The chat counts as started, and goes on when activated.
    case suspended
    /// The store is opened again, and the work goes on.
    case activating
    /// Operations that have begun are finished; then the chat is stopped.
    case stopping
    /// The chat was stopped. The store is open.
    case stopped

    package var name: String {
      switch self {
      case .closed: "closed"
      case .opened: "opened"
      case .starting: "starting"
      case .active: "active"
      case .suspending: "suspending"
      case .suspended: "suspended"
      case .activating: "activating"
      case .stopping: "stopping"
      case .stopped: "stopped"
      }
    }
  }

  package enum Event: UInt8, MachineCode {
    /// The store is to be opened: a new controller, or chat_reopen_store.
    case open
    /// The store could not be opened.
    case openFailed
    /// The store is to be closed: chat_close_store.
    case close
    /// The chat is to start: /_start.
    case start
    /// The work has started.
    case started
    /// The chat is to go on: /_app activate.
    case activate
    /// The store is open and the work goes on.
    case activated
    /// The store could not be opened again.
    case activateFailed
    /// The chat is to let go of everything within a delay: /_app suspend. With a delay of 0, raise suspendNow.
    case suspend
    /// The chat is to let go of everything at once: /_app suspend 0, or the system's "time is up".
    case suspendNow
    /// The operations are quiescent: all that had begun are done, or were given up at the deadline; none may begin.
    case drained
    /// The chat is to stop: /_stop.
    case stop
    /// The controller is given back: np_ctrl_free.
    case shutDown

    package var name: String {
      switch self {
      case .open: "open"
      case .openFailed: "openFailed"
      case .close: "close"
      case .start: "start"
      case .started: "started"
      case .activate: "activate"
      case .activated: "activated"
      case .activateFailed: "activateFailed"
      case .suspend: "suspend"
      case .suspendNow: "suspendNow"
      case .drained: "drained"
      case .stop: "stop"
      case .shutDown: "shutDown"
      }
    }
  }

  package enum Effect: UInt8, MachineCode {
    /// Open the store's files; raise openFailed if that fails.
    case openStore
    /// Close them: afterwards no file is open or locked.
    case closeStore
    /// Begin operations, and listen to other processes. Answer: started.
    case startWork
    /// Open the store, allow operations, subscribe again. Answer: activated or activateFailed.
    case resumeWork
    /// Give up subscriptions: nothing new comes in.
    case stopReceiving
    /// Raise suspend at the operations, with the delay of the suspend, or 3 s for a stop. Answer: drained.
    case drainWork
    /// Raise suspendNow at the operations: what has begun is given up.
    case cancelWork
    /// Raise open at the operations: transactions may begin, and nothing else.
    case allowStore
    /// Emit the event chatSuspended. Never after suspendNow.
    case emitChatSuspended

    package var name: String {
      switch self {
      case .openStore: "openStore"
      case .closeStore: "closeStore"
      case .startWork: "startWork"
      case .resumeWork: "resumeWork"
      case .stopReceiving: "stopReceiving"
      case .drainWork: "drainWork"
      case .cancelWork: "cancelWork"
      case .allowStore: "allowStore"
      case .emitChatSuspended: "emitChatSuspended"
      }
    }
  }

  package enum Reason: UInt8, MachineCode {
    case stale
    case alreadyClosed
    case storeClosed
    case notRunning
    case alreadyOpen
    case chatNotStarted
    case chatNotStopped
    case alreadyRunning
    case opensWhenActivated
    case alreadySuspended
    case stopping
    case alreadyStopping

    package var name: String {
      switch self {
      case .stale: "stale"
      case .alreadyClosed: "alreadyClosed"
      case .storeClosed: "storeClosed"
      case .notRunning: "notRunning"
      case .alreadyOpen: "alreadyOpen"
      case .chatNotStarted: "chatNotStarted"
      case .chatNotStopped: "chatNotStopped"
      case .alreadyRunning: "alreadyRunning"
      case .opensWhenActivated: "opensWhenActivated"
      case .alreadySuspended: "alreadySuspended"
      case .stopping: "stopping"
      case .alreadyStopping: "alreadyStopping"
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

  @inline(__always)
  package static func step(_ state: State, _ event: Event) -> MachineStep<ChatLifecycle> {
    switch state {
    case .closed: stepClosed(event)
    case .opened: stepOpened(event)
    case .starting: stepStarting(event)
    case .active: stepActive(event)
    case .suspending: stepSuspending(event)
    case .suspended: stepSuspended(event)
    case .activating: stepActivating(event)
    case .stopping: stepStopping(event)
    case .stopped: stepStopped(event)
    }
  }

  @inline(__always)
  private static func stepClosed(_ event: Event) -> MachineStep<ChatLifecycle> {
    switch event {
    case .open:
      MachineStep(.opened, .moved, .openStore)
    case .openFailed, .started, .activated, .activateFailed, .drained:
      MachineStep(.closed, .ignored(.stale))
    case .close, .suspendNow, .shutDown:
      MachineStep(.closed, .ignored(.alreadyClosed))
    case .start, .activate:
      MachineStep(.closed, .refused(.storeClosed))
    case .suspend:
      // Nothing to do, but whoever waits for the event gets it (INC-39).
      MachineStep(.closed, .stayed, .emitChatSuspended)
    case .stop:
      MachineStep(.closed, .ignored(.notRunning))
    }
  }

  @inline(__always)
  private static func stepOpened(_ event: Event) -> MachineStep<ChatLifecycle> {
    switch event {
    case .open:
      MachineStep(.opened, .ignored(.alreadyOpen))
    case .openFailed:
      MachineStep(.closed, .moved)
    case .close, .suspendNow, .shutDown:
      MachineStep(.closed, .moved, .closeStore)
    case .start:
      MachineStep(.starting, .moved, .startWork)
    case .started, .activated, .activateFailed, .drained:
      MachineStep(.opened, .ignored(.stale))
    case .activate:
      MachineStep(.opened, .refused(.chatNotStarted))
    case .suspend:
      // Nothing runs, yet the store must not stay open (INC-01).
      MachineStep(.closed, .moved, .closeStore, .emitChatSuspended)
    case .stop:
      MachineStep(.opened, .ignored(.notRunning))
    }
  }

  @inline(__always)
  private static func stepStarting(_ event: Event) -> MachineStep<ChatLifecycle> {
    switch event {
    case .open:
      MachineStep(.starting, .ignored(.alreadyOpen))
    case .openFailed, .activated, .activateFailed, .drained:
      MachineStep(.starting, .ignored(.stale))
    case .close:
      MachineStep(.starting, .refused(.chatNotStopped))
    case .start, .activate:
      MachineStep(.starting, .ignored(.alreadyRunning))
    case .started:
      MachineStep(.active, .moved)
    case .suspend:
      MachineStep(.suspending, .moved, .stopReceiving, .drainWork)
    case .suspendNow:
      MachineStep(.suspended, .moved, .stopReceiving, .cancelWork, .closeStore)
    case .stop:
      MachineStep(.stopping, .moved, .stopReceiving, .drainWork)
    case .shutDown:
      MachineStep(.closed, .moved, .stopReceiving, .cancelWork, .closeStore)
    }
  }

  @inline(__always)
  private static func stepActive(_ event: Event) -> MachineStep<ChatLifecycle> {
    switch event {
    case .open:
      MachineStep(.active, .ignored(.alreadyOpen))
    case .openFailed, .started, .activated, .activateFailed, .drained:
      MachineStep(.active, .ignored(.stale))
    case .close:
      MachineStep(.active, .refused(.chatNotStopped))
    case .start, .activate:
      MachineStep(.active, .ignored(.alreadyRunning))
    case .suspend:
      MachineStep(.suspending, .moved, .stopReceiving, .drainWork)
    case .suspendNow:
      MachineStep(.suspended, .moved, .stopReceiving, .cancelWork, .closeStore)
    case .stop:
      MachineStep(.stopping, .moved, .stopReceiving, .drainWork)
    case .shutDown:
      MachineStep(.closed, .moved, .stopReceiving, .cancelWork, .closeStore)
    }
  }

  @inline(__always)
  private static func stepSuspending(_ event: Event) -> MachineStep<ChatLifecycle> {
    switch event {
    case .open:
      MachineStep(.suspending, .ignored(.alreadyOpen))
    case .openFailed, .started, .activated, .activateFailed:
      MachineStep(.suspending, .ignored(.stale))
    case .close:
      MachineStep(.suspending, .refused(.chatNotStopped))
    case .start:
      MachineStep(.suspending, .ignored(.alreadyRunning))
    case .activate:
      MachineStep(.activating, .moved, .resumeWork)
    case .suspend:
      // The delay given last counts; there is one event for both, which comes at the deadline at the latest.
      MachineStep(.suspending, .stayed, .drainWork)
    case .suspendNow:
      MachineStep(.suspended, .moved, .cancelWork, .closeStore)
    case .drained:
      MachineStep(.suspended, .moved, .closeStore, .emitChatSuspended)
    case .stop:
      MachineStep(.stopping, .moved, .drainWork)
    case .shutDown:
      MachineStep(.closed, .moved, .cancelWork, .closeStore)
    }
  }

  @inline(__always)
  private static func stepSuspended(_ event: Event) -> MachineStep<ChatLifecycle> {
    switch event {
    case .open:
      // Opening it now would break what suspended promises; activate does it.
      MachineStep(.suspended, .ignored(.opensWhenActivated))
    case .openFailed, .started, .activated, .activateFailed, .drained:
      MachineStep(.suspended, .ignored(.stale))
    case .close:
      MachineStep(.suspended, .ignored(.alreadyClosed))
    case .start:
      MachineStep(.suspended, .ignored(.alreadyRunning))
    case .activate:
      MachineStep(.activating, .moved, .resumeWork)
    case .suspend:
      MachineStep(.suspended, .stayed, .emitChatSuspended)
    case .suspendNow:
      MachineStep(.suspended, .ignored(.alreadySuspended))
    case .stop:
      // A stopped chat has its store open, for export and the like.
      MachineStep(.stopped, .moved, .openStore)
    case .shutDown:
      MachineStep(.closed, .moved)
    }
  }

  @inline(__always)
  private static func stepActivating(_ event: Event) -> MachineStep<ChatLifecycle> {
    switch event {
    case .open:
      MachineStep(.activating, .ignored(.alreadyOpen))
    case .openFailed, .started, .drained:
      MachineStep(.activating, .ignored(.stale))
    case .close:
      MachineStep(.activating, .refused(.chatNotStopped))
    case .start, .activate:
      MachineStep(.activating, .ignored(.alreadyRunning))
    case .activated:
      MachineStep(.active, .moved)
    case .activateFailed:
      MachineStep(.suspended, .moved, .stopReceiving, .cancelWork, .closeStore)
    case .suspend:
      MachineStep(.suspending, .moved, .stopReceiving, .drainWork)
    case .suspendNow:
      MachineStep(.suspended, .moved, .stopReceiving, .cancelWork, .closeStore)
    case .stop:
      MachineStep(.stopping, .moved, .stopReceiving, .drainWork)
    case .shutDown:
      MachineStep(.closed, .moved, .stopReceiving, .cancelWork, .closeStore)
    }
  }

  @inline(__always)
  private static func stepStopping(_ event: Event) -> MachineStep<ChatLifecycle> {
    switch event {
    case .open:
      MachineStep(.stopping, .ignored(.alreadyOpen))
    case .openFailed, .started, .activated, .activateFailed:
      MachineStep(.stopping, .ignored(.stale))
    case .close:
      MachineStep(.stopping, .refused(.chatNotStopped))
    case .start, .activate:
      MachineStep(.stopping, .refused(.stopping))
    case .suspend:
      MachineStep(.closed, .moved, .cancelWork, .closeStore, .emitChatSuspended)
    case .suspendNow, .shutDown:
      MachineStep(.closed, .moved, .cancelWork, .closeStore)
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
    case .close, .suspendNow, .shutDown:
      MachineStep(.closed, .moved, .closeStore)
    case .start:
      MachineStep(.starting, .moved, .startWork)
    case .started, .activated, .activateFailed, .drained:
      MachineStep(.stopped, .ignored(.stale))
    case .activate:
      MachineStep(.stopped, .refused(.chatNotStarted))
    case .suspend:
      MachineStep(.closed, .moved, .closeStore, .emitChatSuspended)
    case .stop:
      MachineStep(.stopped, .ignored(.notRunning))
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
