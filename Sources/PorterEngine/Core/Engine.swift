import PorterCrypto
import PorterJSON
import PorterMachines
import PorterPlatform
import PorterPush
import PorterRelay
import PorterSchema
import PorterStore

/// Everything behind one controller: the machines, the store, the relay, and what is under way.
///
/// Threads: touched in its turns only. The machines decide; the methods here carry out
/// the effects.
package final class Engine {
  let configuration: Configuration
  let instance: Instance
  let turns: any Turns
  let queue: EventQueue
  let timers: Timers
  let phaseFile: PhaseFile
  /// Raised by whoever needs this engine to let go while it is busy.
  let stop: StopSignal
  let bulletin: Bulletin

  var store: Store? {
    didSet { store?.gate = self }
  }
  var relay: RelayDriver?
  /// A host's own transport, which is used in place of the embedded relay.
  var hostRelay: (any RelayPort)?
  var relaysMade = 0

  var lifecycle = MachineRunner<ChatLifecycle>()
  var appPhase = MachineRunner<AppPhase>()
  var extensionPhase = MachineRunner<ExtensionPhase>()
  var operations = MachineRunner<Operations>()
  var lifecyclePump = EventPump<ChatLifecycle.Event>()
  var appPhasePump = EventPump<AppPhase.Event>()
  var extensionPhasePump = EventPump<ExtensionPhase.Event>()
  var operationsPump = EventPump<Operations.Event>()
  /// What is under way, and of which kind the end is awaited.
  var book = OperationBook()
  var awaited: OperationKind?
  var transactions: [OperationBook.Ticket] = []
  /// A timer of an earlier suspension changes nothing (INC-21).
  var deadline = TimerCycle()
  var phaseCycle = TimerCycle()
  /// By when the suspension that was asked for last has to be over.
  var suspendEnd: Moment?
  /// The chat was activated, and work is to be taken up when the phase says so.
  var resumeIsDue = false
  /// What the store is opened with, as long as it may be.
  var heldKey = HeldKey(.none, keeps: true)
  /// The store is closed without its log being written back.
  var leavesLog = false
  /// Why the store could not be opened, or not be read when the chat was to start.
  var lastStoreError: PorterStore.StoreError?
  /// Whether this run takes part in receiving and sending by itself; an extension fetches only what a push asks for.
  var isMain = false

  // Other processes.
  var presence = MachineRunner<PorterMachines.Presence>()
  var presencePump = EventPump<PorterMachines.Presence.Event>()
  var presenceWaiters: [(Bool) -> Void] = []
  /// The counter of the question that was asked last.
  var presenceQuestion: UInt64?
  /// Open while this process works.
  var channel: Channel?
  /// Read whenever the store is opened.
  var channelKey: AuthenticationKey?
  var channelProblem: ChannelError?

  /// Connections that work of this process has claimed, or tried to.
  var tenures: [Int64: Tenure] = [:]
  /// The newest entry of the ledger that the host of an app knows of; nil where nobody is told of any.
  var knownEntry: Int64?

  // Under way.
  var putOff: [() -> Void] = []
  /// When the relay's news were looked at last.
  var relayHeard = Moment(nanoseconds: 0)
  /// Whether the relay is being asked for news, and is to be asked again after that.
  var isSubscribing = false
  var subscribingIsDue = false
  var isTakingReplies = false
  var takingRepliesIsDue = false
  var fetches: [Int64: [(FetchResult) -> Void]] = [:]
  var sending: Set<Int64> = []
  /// Invitations that are being used.
  var joining: Set<[UInt8]> = []
  var isFlushingOutbox = false
  var outboxIsDue = false
  /// Connections whose push subscription somebody was asked about, and those about which the server is to be asked.
  var announcing: Set<Int64> = []
  var toSubscribe: [Int64] = []
  var toCheck: [Int64] = []
  /// Connections whose subscription is to be asked about again, because there was no answer.
  var toRetry: Set<Int64> = []
  var backoffs = Backoffs()
  var awaitedAnswers: [CorrelationID: ServerReply] = [:]
  /// The reply mailbox that is listened to; a token that is registered anew has another one.
  var listensForReplies: RelayIdentifier?
  /// Who waits for a relay that was closed, and is still to be told.
  var abandoned: [() -> Void] = []
  var push: PushRun?

  init(
    configuration: Configuration, turns: any Turns, queue: EventQueue, stop: StopSignal, bulletin: Bulletin
  ) {
    self.configuration = configuration
    self.turns = turns
    self.queue = queue
    self.stop = stop
    self.bulletin = bulletin
    instance = Instance(configuration.ports)
    timers = Timers(clock: configuration.clock)
    phaseFile = PhaseFile(prefix: configuration.prefix, role: configuration.role.rawValue, ports: configuration.ports)
  }

  // MARK: What may begin

  /// Sending what waits, by itself.
  var maySend: Bool { (isMain || configuration.role == .extension) && admits(.sending) }

  func requireStarted() throws(ChatError) {
    guard lifecycle.state == .active else { throw .error(.chatNotStarted) }
  }

  // MARK: Events and log

  func emit(_ event: Event) { queue.post(event.envelope.text) }

  func log(_ level: Log.Level, _ message: StaticString, _ values: KeyValuePairs<StaticString, String> = [:]) {
    configuration.log(level, message, values)
  }

  /// Its last turn.
  func end() {
    // Nobody is waited for, but there is the time to write the log back.
    stop.whileLettingGo(waitingAtMost: Durations.lettingGo) {
      letGoOfEverything()
      raise(ChatLifecycle.Event.shutDown)
    }
    tellAbandoned()
    endPutOff()
    queue.close()
  }

  func relayAnswered(_ number: Int, driver: Int, failure: RelayError?) {
    guard let relay, relay.identifier == driver else { return }
    relay.complete(number, failure: failure)
  }
}
