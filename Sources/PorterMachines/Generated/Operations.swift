// Generated from spec/machines/operations.scxml by porter-machines: change that file, run `make spec`.

/// Which kinds of work may begin, and how they come to rest. Each piece of work asks before it begins and reports its
/// end; the engine counts, the machine decides. A suspension ends the kinds in this order, one after the other: work of
/// an earlier kind may still need a later one (a received message is committed and acknowledged, and any reply to it is
/// handed over), and none needs an earlier one. The deadline belongs to the cycle that armed it, and so does the end of
/// each piece of work: neither means anything in a later one (INC-21). In quiescent no work is in progress, and no file
/// of the store or of the relay is open (INC-01). An app in the background stops one step before the last: the network
/// is at rest, in the same order, and transactions continue until a suspension follows.
package enum Operations: Machine {
  package enum State: UInt8, MachineCode {
    /// Nothing may begin, and nothing is in progress.
    case quiescent
    /// The chat has not been started, or was stopped: transactions may begin, but nothing that needs the relay.
    case storeOnly
    /// Everything may begin.
    case running
    /// Requests to notification servers end; none begins.
    case drainingNotifications
    /// Fetches end; none begins.
    case drainingReceiving
    /// Received messages are committed and acknowledged; nothing else is.
    case drainingDelivery
    /// Sends in progress reach the relay; nothing else leaves.
    case drainingSending
    /// The last transactions end.
    case drainingDatabase
    /// Requests to notification servers end; none begins.
    case stoppingNotifications
    /// Fetches end; none begins.
    case stoppingReceiving
    /// Received messages are committed and acknowledged; nothing else is.
    case stoppingDelivery
    /// Sends in progress reach the relay; nothing else leaves.
    case stoppingSending
    /// The network is at rest and the relay is released. Transactions may begin.
    case networkStopped

    package var name: String {
      switch self {
      case .quiescent: "quiescent"
      case .storeOnly: "storeOnly"
      case .running: "running"
      case .drainingNotifications: "drainingNotifications"
      case .drainingReceiving: "drainingReceiving"
      case .drainingDelivery: "drainingDelivery"
      case .drainingSending: "drainingSending"
      case .drainingDatabase: "drainingDatabase"
      case .stoppingNotifications: "stoppingNotifications"
      case .stoppingReceiving: "stoppingReceiving"
      case .stoppingDelivery: "stoppingDelivery"
      case .stoppingSending: "stoppingSending"
      case .networkStopped: "networkStopped"
      }
    }
  }

  package enum Event: UInt8, MachineCode {
    /// The store is open, and the chat is not at work.
    case open
    /// The chat is at work: everything may begin.
    case resume
    /// Everything must come to rest within a delay. In a cycle that has begun: another delay, from now on.
    case suspend
    /// Everything must come to rest immediately.
    case suspendNow
    /// The delay is over. The engine drops deadlines of earlier cycles (INC-21).
    case deadline
    /// Work asks to begin: requests to a notification server, and fetching its answers.
    case beginNotifications
    /// Work asks to begin: asking the relay for messages.
    case beginReceiving
    /// Work asks to begin: committing a message and acknowledging it.
    case beginDelivery
    /// Work asks to begin: sending to the relay.
    case beginSending
    /// Work asks to begin: a transaction of the store.
    case beginDatabase
    /// No work of this kind is in progress in this cycle.
    case idleNotifications
    /// No work of this kind is in progress in this cycle.
    case idleReceiving
    /// No work of this kind is in progress in this cycle.
    case idleDelivery
    /// No work of this kind is in progress in this cycle.
    case idleSending
    /// No work of this kind is in progress in this cycle.
    case idleDatabase
    /// All work except transactions must come to rest and stay at rest.
    case stopNetwork

    package var name: String {
      switch self {
      case .open: "open"
      case .resume: "resume"
      case .suspend: "suspend"
      case .suspendNow: "suspendNow"
      case .deadline: "deadline"
      case .beginNotifications: "begin.notifications"
      case .beginReceiving: "begin.receiving"
      case .beginDelivery: "begin.delivery"
      case .beginSending: "begin.sending"
      case .beginDatabase: "begin.database"
      case .idleNotifications: "idle.notifications"
      case .idleReceiving: "idle.receiving"
      case .idleDelivery: "idle.delivery"
      case .idleSending: "idle.sending"
      case .idleDatabase: "idle.database"
      case .stopNetwork: "stopNetwork"
      }
    }
  }

  package enum Effect: UInt8, MachineCode {
    /// Count the work until it ends.
    case admit
    /// Answer: idle.notifications, as soon as no work of this kind is under way.
    case awaitNotifications
    /// Answer: idle.receiving, as soon as no work of this kind is under way.
    case awaitReceiving
    /// Answer: idle.delivery, as soon as no work of this kind is under way.
    case awaitDelivery
    /// Answer: idle.sending, as soon as no work of this kind is under way.
    case awaitSending
    /// Answer: idle.database, as soon as no work of this kind is under way.
    case awaitDatabase
    /// Raise deadline after the latest delay.
    case armDeadline
    /// Cancel the deadline.
    case cancelDeadline
    /// Release the relay. Give up work still in progress: what it would have committed is not committed, and none of
    /// that was acknowledged.
    case giveUpWork
    /// Raise drained at the chat lifecycle.
    case reportQuiescent
    /// Release the relay. Report to callers still waiting for a notification server's answer that none will come.
    case releaseRelay

    package var name: String {
      switch self {
      case .admit: "admit"
      case .awaitNotifications: "awaitNotifications"
      case .awaitReceiving: "awaitReceiving"
      case .awaitDelivery: "awaitDelivery"
      case .awaitSending: "awaitSending"
      case .awaitDatabase: "awaitDatabase"
      case .armDeadline: "armDeadline"
      case .cancelDeadline: "cancelDeadline"
      case .giveUpWork: "giveUpWork"
      case .reportQuiescent: "reportQuiescent"
      case .releaseRelay: "releaseRelay"
      }
    }
  }

  package enum Reason: UInt8, MachineCode {
    case storeClosed
    case quiescent
    case alreadyQuiescent
    case stale
    case alreadyOpen
    case notAtWork
    case alreadyRunning
    case draining
    case alreadyDraining
    case alreadyStopping
    case networkStopped
    case alreadyStopped

    package var name: String {
      switch self {
      case .storeClosed: "storeClosed"
      case .quiescent: "quiescent"
      case .alreadyQuiescent: "alreadyQuiescent"
      case .stale: "stale"
      case .alreadyOpen: "alreadyOpen"
      case .notAtWork: "notAtWork"
      case .alreadyRunning: "alreadyRunning"
      case .draining: "draining"
      case .alreadyDraining: "alreadyDraining"
      case .alreadyStopping: "alreadyStopping"
      case .networkStopped: "networkStopped"
      case .alreadyStopped: "alreadyStopped"
      }
    }
  }

  package static var name: String { "operations" }

  package static var initial: State { .quiescent }

  package static func isFinal(_ state: State) -> Bool {
    false
  }

  package static func timer(_ effect: Effect) -> MachineTimer<Event>? {
    nil
  }

  package static func kind(_ effect: Effect) -> MachineEffectKind {
    switch effect {
    case .admit, .armDeadline, .cancelDeadline, .giveUpWork, .reportQuiescent, .releaseRelay: .act
    case .awaitNotifications, .awaitReceiving, .awaitDelivery, .awaitSending, .awaitDatabase: .ask
    }
  }

  @inline(__always)
  package static func step(_ state: State, _ event: Event) -> MachineStep<Operations> {
    switch state {
    case .quiescent: stepQuiescent(event)
    case .storeOnly: stepStoreOnly(event)
    case .running: stepRunning(event)
    case .drainingNotifications: stepDrainingNotifications(event)
    case .drainingReceiving: stepDrainingReceiving(event)
    case .drainingDelivery: stepDrainingDelivery(event)
    case .drainingSending: stepDrainingSending(event)
    case .drainingDatabase: stepDrainingDatabase(event)
    case .stoppingNotifications: stepStoppingNotifications(event)
    case .stoppingReceiving: stepStoppingReceiving(event)
    case .stoppingDelivery: stepStoppingDelivery(event)
    case .stoppingSending: stepStoppingSending(event)
    case .networkStopped: stepNetworkStopped(event)
    }
  }

  @inline(__always)
  private static func stepQuiescent(_ event: Event) -> MachineStep<Operations> {
    switch event {
    case .open:
      MachineStep(.storeOnly, .moved)
    case .resume:
      MachineStep(.quiescent, .refused(.storeClosed))
    case .suspend, .stopNetwork:
      MachineStep(.quiescent, .refused(.quiescent))
    case .suspendNow:
      MachineStep(.quiescent, .ignored(.alreadyQuiescent))
    case .deadline, .idleNotifications, .idleReceiving, .idleDelivery, .idleSending, .idleDatabase:
      MachineStep(.quiescent, .ignored(.stale))
    case .beginNotifications, .beginReceiving, .beginDelivery, .beginSending, .beginDatabase:
      MachineStep(.quiescent, .refused(.quiescent))
    }
  }

  @inline(__always)
  private static func stepStoreOnly(_ event: Event) -> MachineStep<Operations> {
    switch event {
    case .open:
      MachineStep(.storeOnly, .ignored(.alreadyOpen))
    case .resume:
      MachineStep(.running, .moved)
    case .suspend, .stopNetwork:
      MachineStep(.storeOnly, .refused(.notAtWork))
    case .suspendNow:
      MachineStep(.quiescent, .moved, .giveUpWork)
    case .deadline, .idleNotifications, .idleReceiving, .idleDelivery, .idleSending, .idleDatabase:
      MachineStep(.storeOnly, .ignored(.stale))
    case .beginNotifications, .beginReceiving, .beginDelivery, .beginSending:
      MachineStep(.storeOnly, .refused(.notAtWork))
    case .beginDatabase:
      MachineStep(.storeOnly, .stayed, .admit)
    }
  }

  @inline(__always)
  private static func stepRunning(_ event: Event) -> MachineStep<Operations> {
    switch event {
    case .open:
      MachineStep(.running, .ignored(.alreadyOpen))
    case .resume:
      MachineStep(.running, .ignored(.alreadyRunning))
    case .suspend:
      MachineStep(.drainingNotifications, .moved, .armDeadline, .awaitNotifications)
    case .suspendNow:
      MachineStep(.quiescent, .moved, .giveUpWork)
    case .deadline, .idleNotifications, .idleReceiving, .idleDelivery, .idleSending, .idleDatabase:
      MachineStep(.running, .ignored(.stale))
    case .beginNotifications, .beginReceiving, .beginDelivery, .beginSending, .beginDatabase:
      MachineStep(.running, .stayed, .admit)
    case .stopNetwork:
      MachineStep(.stoppingNotifications, .moved, .awaitNotifications)
    }
  }

  @inline(__always)
  private static func stepDrainingNotifications(_ event: Event) -> MachineStep<Operations> {
    switch event {
    case .open:
      MachineStep(.drainingNotifications, .ignored(.alreadyOpen))
    case .resume:
      // Cancelled. Work refused in the meantime is taken up when the work resumes.
      MachineStep(.running, .moved, .cancelDeadline)
    case .suspend:
      // The latest delay counts.
      MachineStep(.drainingNotifications, .stayed, .armDeadline)
    case .suspendNow:
      MachineStep(.quiescent, .moved, .cancelDeadline, .giveUpWork)
    case .deadline:
      MachineStep(.quiescent, .moved, .giveUpWork, .reportQuiescent)
    case .beginNotifications:
      MachineStep(.drainingNotifications, .refused(.draining))
    case .beginReceiving, .beginDelivery, .beginSending, .beginDatabase:
      MachineStep(.drainingNotifications, .stayed, .admit)
    case .idleNotifications:
      MachineStep(.drainingReceiving, .moved, .awaitReceiving)
    case .idleReceiving, .idleDelivery, .idleSending, .idleDatabase:
      MachineStep(.drainingNotifications, .ignored(.stale))
    case .stopNetwork:
      MachineStep(.drainingNotifications, .ignored(.alreadyDraining))
    }
  }

  @inline(__always)
  private static func stepDrainingReceiving(_ event: Event) -> MachineStep<Operations> {
    switch event {
    case .open:
      MachineStep(.drainingReceiving, .ignored(.alreadyOpen))
    case .resume:
      // Cancelled. Work refused in the meantime is taken up when the work resumes.
      MachineStep(.running, .moved, .cancelDeadline)
    case .suspend:
      // The latest delay counts.
      MachineStep(.drainingReceiving, .stayed, .armDeadline)
    case .suspendNow:
      MachineStep(.quiescent, .moved, .cancelDeadline, .giveUpWork)
    case .deadline:
      MachineStep(.quiescent, .moved, .giveUpWork, .reportQuiescent)
    case .beginNotifications, .beginReceiving:
      MachineStep(.drainingReceiving, .refused(.draining))
    case .beginDelivery, .beginSending, .beginDatabase:
      MachineStep(.drainingReceiving, .stayed, .admit)
    case .idleNotifications, .idleDelivery, .idleSending, .idleDatabase:
      MachineStep(.drainingReceiving, .ignored(.stale))
    case .idleReceiving:
      MachineStep(.drainingDelivery, .moved, .awaitDelivery)
    case .stopNetwork:
      MachineStep(.drainingReceiving, .ignored(.alreadyDraining))
    }
  }

  @inline(__always)
  private static func stepDrainingDelivery(_ event: Event) -> MachineStep<Operations> {
    switch event {
    case .open:
      MachineStep(.drainingDelivery, .ignored(.alreadyOpen))
    case .resume:
      // Cancelled. Work refused in the meantime is taken up when the work resumes.
      MachineStep(.running, .moved, .cancelDeadline)
    case .suspend:
      // The latest delay counts.
      MachineStep(.drainingDelivery, .stayed, .armDeadline)
    case .suspendNow:
      MachineStep(.quiescent, .moved, .cancelDeadline, .giveUpWork)
    case .deadline:
      MachineStep(.quiescent, .moved, .giveUpWork, .reportQuiescent)
    case .beginNotifications, .beginReceiving, .beginDelivery:
      MachineStep(.drainingDelivery, .refused(.draining))
    case .beginSending, .beginDatabase:
      MachineStep(.drainingDelivery, .stayed, .admit)
    case .idleNotifications, .idleReceiving, .idleSending, .idleDatabase:
      MachineStep(.drainingDelivery, .ignored(.stale))
    case .idleDelivery:
      MachineStep(.drainingSending, .moved, .awaitSending)
    case .stopNetwork:
      MachineStep(.drainingDelivery, .ignored(.alreadyDraining))
    }
  }

  @inline(__always)
  private static func stepDrainingSending(_ event: Event) -> MachineStep<Operations> {
    switch event {
    case .open:
      MachineStep(.drainingSending, .ignored(.alreadyOpen))
    case .resume:
      // Cancelled. Work refused in the meantime is taken up when the work resumes.
      MachineStep(.running, .moved, .cancelDeadline)
    case .suspend:
      // The latest delay counts.
      MachineStep(.drainingSending, .stayed, .armDeadline)
    case .suspendNow:
      MachineStep(.quiescent, .moved, .cancelDeadline, .giveUpWork)
    case .deadline:
      MachineStep(.quiescent, .moved, .giveUpWork, .reportQuiescent)
    case .beginNotifications, .beginReceiving, .beginDelivery, .beginSending:
      MachineStep(.drainingSending, .refused(.draining))
    case .beginDatabase:
      MachineStep(.drainingSending, .stayed, .admit)
    case .idleNotifications, .idleReceiving, .idleDelivery, .idleDatabase:
      MachineStep(.drainingSending, .ignored(.stale))
    case .idleSending:
      MachineStep(.drainingDatabase, .moved, .awaitDatabase)
    case .stopNetwork:
      MachineStep(.drainingSending, .ignored(.alreadyDraining))
    }
  }

  @inline(__always)
  private static func stepDrainingDatabase(_ event: Event) -> MachineStep<Operations> {
    switch event {
    case .open:
      MachineStep(.drainingDatabase, .ignored(.alreadyOpen))
    case .resume:
      // Cancelled. Work refused in the meantime is taken up when the work resumes.
      MachineStep(.running, .moved, .cancelDeadline)
    case .suspend:
      // The latest delay counts.
      MachineStep(.drainingDatabase, .stayed, .armDeadline)
    case .suspendNow:
      MachineStep(.quiescent, .moved, .cancelDeadline, .giveUpWork)
    case .deadline:
      MachineStep(.quiescent, .moved, .giveUpWork, .reportQuiescent)
    case .beginNotifications, .beginReceiving, .beginDelivery, .beginSending, .beginDatabase:
      MachineStep(.drainingDatabase, .refused(.draining))
    case .idleNotifications, .idleReceiving, .idleDelivery, .idleSending:
      MachineStep(.drainingDatabase, .ignored(.stale))
    case .idleDatabase:
      MachineStep(.quiescent, .moved, .cancelDeadline, .giveUpWork, .reportQuiescent)
    case .stopNetwork:
      MachineStep(.drainingDatabase, .ignored(.alreadyDraining))
    }
  }

  @inline(__always)
  private static func stepStoppingNotifications(_ event: Event) -> MachineStep<Operations> {
    switch event {
    case .open:
      MachineStep(.stoppingNotifications, .ignored(.alreadyOpen))
    case .resume:
      MachineStep(.running, .moved)
    case .suspend:
      // The remaining kinds come to rest in the same order, now within a delay.
      MachineStep(.drainingNotifications, .moved, .armDeadline, .awaitNotifications)
    case .suspendNow:
      MachineStep(.quiescent, .moved, .giveUpWork)
    case .deadline:
      MachineStep(.stoppingNotifications, .ignored(.stale))
    case .beginNotifications:
      MachineStep(.stoppingNotifications, .refused(.draining))
    case .beginReceiving, .beginDelivery, .beginSending, .beginDatabase:
      MachineStep(.stoppingNotifications, .stayed, .admit)
    case .idleNotifications:
      MachineStep(.stoppingReceiving, .moved, .awaitReceiving)
    case .idleReceiving, .idleDelivery, .idleSending, .idleDatabase:
      MachineStep(.stoppingNotifications, .ignored(.stale))
    case .stopNetwork:
      MachineStep(.stoppingNotifications, .ignored(.alreadyStopping))
    }
  }

  @inline(__always)
  private static func stepStoppingReceiving(_ event: Event) -> MachineStep<Operations> {
    switch event {
    case .open:
      MachineStep(.stoppingReceiving, .ignored(.alreadyOpen))
    case .resume:
      MachineStep(.running, .moved)
    case .suspend:
      // The remaining kinds come to rest in the same order, now within a delay.
      MachineStep(.drainingReceiving, .moved, .armDeadline, .awaitReceiving)
    case .suspendNow:
      MachineStep(.quiescent, .moved, .giveUpWork)
    case .deadline:
      MachineStep(.stoppingReceiving, .ignored(.stale))
    case .beginNotifications, .beginReceiving:
      MachineStep(.stoppingReceiving, .refused(.draining))
    case .beginDelivery, .beginSending, .beginDatabase:
      MachineStep(.stoppingReceiving, .stayed, .admit)
    case .idleNotifications, .idleDelivery, .idleSending, .idleDatabase:
      MachineStep(.stoppingReceiving, .ignored(.stale))
    case .idleReceiving:
      MachineStep(.stoppingDelivery, .moved, .awaitDelivery)
    case .stopNetwork:
      MachineStep(.stoppingReceiving, .ignored(.alreadyStopping))
    }
  }

  @inline(__always)
  private static func stepStoppingDelivery(_ event: Event) -> MachineStep<Operations> {
    switch event {
    case .open:
      MachineStep(.stoppingDelivery, .ignored(.alreadyOpen))
    case .resume:
      MachineStep(.running, .moved)
    case .suspend:
      // The remaining kinds come to rest in the same order, now within a delay.
      MachineStep(.drainingDelivery, .moved, .armDeadline, .awaitDelivery)
    case .suspendNow:
      MachineStep(.quiescent, .moved, .giveUpWork)
    case .deadline:
      MachineStep(.stoppingDelivery, .ignored(.stale))
    case .beginNotifications, .beginReceiving, .beginDelivery:
      MachineStep(.stoppingDelivery, .refused(.draining))
    case .beginSending, .beginDatabase:
      MachineStep(.stoppingDelivery, .stayed, .admit)
    case .idleNotifications, .idleReceiving, .idleSending, .idleDatabase:
      MachineStep(.stoppingDelivery, .ignored(.stale))
    case .idleDelivery:
      MachineStep(.stoppingSending, .moved, .awaitSending)
    case .stopNetwork:
      MachineStep(.stoppingDelivery, .ignored(.alreadyStopping))
    }
  }

  @inline(__always)
  private static func stepStoppingSending(_ event: Event) -> MachineStep<Operations> {
    switch event {
    case .open:
      MachineStep(.stoppingSending, .ignored(.alreadyOpen))
    case .resume:
      MachineStep(.running, .moved)
    case .suspend:
      // The remaining kinds come to rest in the same order, now within a delay.
      MachineStep(.drainingSending, .moved, .armDeadline, .awaitSending)
    case .suspendNow:
      MachineStep(.quiescent, .moved, .giveUpWork)
    case .deadline:
      MachineStep(.stoppingSending, .ignored(.stale))
    case .beginNotifications, .beginReceiving, .beginDelivery, .beginSending:
      MachineStep(.stoppingSending, .refused(.draining))
    case .beginDatabase:
      MachineStep(.stoppingSending, .stayed, .admit)
    case .idleNotifications, .idleReceiving, .idleDelivery, .idleDatabase:
      MachineStep(.stoppingSending, .ignored(.stale))
    case .idleSending:
      MachineStep(.networkStopped, .moved, .releaseRelay)
    case .stopNetwork:
      MachineStep(.stoppingSending, .ignored(.alreadyStopping))
    }
  }

  @inline(__always)
  private static func stepNetworkStopped(_ event: Event) -> MachineStep<Operations> {
    switch event {
    case .open:
      MachineStep(.networkStopped, .ignored(.alreadyOpen))
    case .resume:
      MachineStep(.running, .moved)
    case .suspend:
      MachineStep(.drainingDatabase, .moved, .armDeadline, .awaitDatabase)
    case .suspendNow:
      MachineStep(.quiescent, .moved, .giveUpWork)
    case .deadline, .idleNotifications, .idleReceiving, .idleDelivery, .idleSending, .idleDatabase:
      MachineStep(.networkStopped, .ignored(.stale))
    case .beginNotifications, .beginReceiving, .beginDelivery, .beginSending:
      MachineStep(.networkStopped, .refused(.networkStopped))
    case .beginDatabase:
      MachineStep(.networkStopped, .stayed, .admit)
    case .stopNetwork:
      MachineStep(.networkStopped, .ignored(.alreadyStopped))
    }
  }
}

extension MachineRunner where M == Operations {
  /// Takes the step. The caller carries out its effects, in order.
  package mutating func handle(_ event: Operations.Event) -> MachineStep<Operations> {
    let step = Operations.step(state, event)
    state = step.next
    return step
  }
}

/// Carries out the effects of `Operations`, one method for each.
package protocol OperationsEffects {
  /// The event's data.
  associatedtype Argument
  /// Count the work until it ends.
  func admit(_ argument: Argument)
  /// Answer: idle.notifications, as soon as no work of this kind is under way.
  func awaitNotifications(_ argument: Argument)
  /// Answer: idle.receiving, as soon as no work of this kind is under way.
  func awaitReceiving(_ argument: Argument)
  /// Answer: idle.delivery, as soon as no work of this kind is under way.
  func awaitDelivery(_ argument: Argument)
  /// Answer: idle.sending, as soon as no work of this kind is under way.
  func awaitSending(_ argument: Argument)
  /// Answer: idle.database, as soon as no work of this kind is under way.
  func awaitDatabase(_ argument: Argument)
  /// Raise deadline after the latest delay.
  func armDeadline(_ argument: Argument)
  /// Cancel the deadline.
  func cancelDeadline(_ argument: Argument)
  /// Release the relay. Give up work still in progress: what it would have committed is not committed, and none of that
  /// was acknowledged.
  func giveUpWork(_ argument: Argument)
  /// Raise drained at the chat lifecycle.
  func reportQuiescent(_ argument: Argument)
  /// Release the relay. Report to callers still waiting for a notification server's answer that none will come.
  func releaseRelay(_ argument: Argument)
}

extension Operations {
  /// Calls the effect's method.
  package static func perform<Performer: OperationsEffects>(
    _ effect: Effect, by performer: Performer, _ argument: Performer.Argument
  ) {
    switch effect {
    case .admit: performer.admit(argument)
    case .awaitNotifications: performer.awaitNotifications(argument)
    case .awaitReceiving: performer.awaitReceiving(argument)
    case .awaitDelivery: performer.awaitDelivery(argument)
    case .awaitSending: performer.awaitSending(argument)
    case .awaitDatabase: performer.awaitDatabase(argument)
    case .armDeadline: performer.armDeadline(argument)
    case .cancelDeadline: performer.cancelDeadline(argument)
    case .giveUpWork: performer.giveUpWork(argument)
    case .reportQuiescent: performer.reportQuiescent(argument)
    case .releaseRelay: performer.releaseRelay(argument)
    }
  }
}
