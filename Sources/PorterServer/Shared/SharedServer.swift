import PorterCrypto
import PorterPlatform
import PorterPush
import PorterRelay

/// A notification server that shares its state and its work with others. It does the work of `NotificationServer` on
/// the tokens concerned, in its own file, and stores the result if no other server was faster. Single-threaded.
package final class SharedServer: LoopedServer {
  typealias Loaded = (document: TokenDocument, revision: UInt64)

  /// A document must fit into one message of the cluster, which is limited to 1 MB.
  static let maximumSubscriptions = 4_000
  static let mostTries = 32
  /// A fraction of the lease.
  static let extensionInterval = Span.milliseconds(1_500)
  private static let timeInterval = Span.seconds(60)
  private static let countInterval = Span.seconds(5)
  static let identityKey = SharedKey(.settings, "identity")

  let store: any SharedStore
  let state: ServerState
  let server: NotificationServer
  let index: WatcherIndex
  /// The documents loaded into the file, by token identifier.
  var loaded: [[UInt8]: Loaded] = [:]
  var remembered = RememberedDocuments()
  /// The store's last trouble before anything was remembered.
  var rememberedSince: ContinuousClock.Instant?
  /// The tokens that were in the file at the last commit, as stored since then.
  var committed: [[UInt8]: TokenDocument] = [:]
  /// Stored tokens whose documents were unreadable when last needed.
  var unreadable: Set<[UInt8]> = []
  /// Device records on which the current request depends, as it found them.
  var devices: [DeviceName: DeviceRecord] = [:]
  /// Work whose pushes are under way, by their sequences.
  var underWay: [Int64: TakenWork] = [:]
  /// Pushes that have no work.
  var direct = DirectPushes()
  var storing: StoringOutcomes?
  var acknowledgements = GatheredAcknowledgements()
  var recent = RecentNotifications()
  var finished = FinishedWork()
  var heldWakes = HeldWakes()
  var dueChecks = DueChecks()
  var looks = WorkLooks()
  /// The token whose subscriptions have just been checked, and when.
  var checked: (id: [UInt8], at: Int64)?
  var nextCheck: Moment
  var nextBusyCheck: Moment
  /// When the relay has last given notifications.
  var given: Moment?
  /// Whether `settle` has work: the turn has asked the relay, and has not failed.
  private var isUnsettled = false
  private var nextExtension: Moment
  private var nextTime: Moment
  private var nextCount: Moment
  private(set) var isDraining = false

  /// `state` must be opened for `work`.
  package init(
    store: any SharedStore, state: ServerState, relay port: any RelayPort, providers: Set<String>, tokens: Int? = nil,
    ports: Ports = .system, log: Log = .silent
  ) throws(ServerError) {
    self.store = store
    self.state = state
    index = try Self.index(store, ports.randomness)
    let fields = try Self.identity(store, state, ports.randomness)
    try state.load(fields)
    server = try NotificationServer(
      state: state, relay: port, providers: providers, tokens: tokens, ports: ports, log: log)
    server.maximumSubscriptions = Self.maximumSubscriptions
    server.tokenCount = { () throws(ServerError) in
      try Self.asking(store) { (store) throws(SharedStoreFailure) in try store.tokenCount() }
    }
    let now = ports.clock.now()
    (nextCheck, nextBusyCheck, nextExtension, nextTime, nextCount) = (now, now, now, now, now)
    try lookAtTime()
    try countTokens()
    guard fields.count == 3 else { return }
    // For one key the relay has one mailbox, whichever server creates it.
    let whole = fields + [server.mailbox.recipient.bytes, server.mailbox.sender.bytes]
    let stored = try asking { (store) throws(SharedStoreFailure) in try store.records([Self.identityKey])[0] }
    guard let stored, try Self.fields(stored.bytes).count == 3 else { return }
    _ = try asking { (store) throws(SharedStoreFailure) in
      try store.replace([SharedChange(Self.identityKey, Self.bytes(whole), revision: stored.revision)])
    }
  }

  /// The cluster's identity; the first server creates it.
  private static func identity(
    _ store: any SharedStore, _ state: ServerState, _ randomness: any Randomness
  ) throws(ServerError) -> [[UInt8]] {
    let key = identityKey
    for _ in 0..<2 {
      let stored = try asking(store) { (store) throws(SharedStoreFailure) in try store.records([key])[0] }
      if let stored { return try fields(stored.bytes) }
      let new = try state.newIdentity(randomness: randomness)
      let own = [
        new.boxKey.secretKey.exposeForStorage(), new.recipientKey.exposeForStorage(), new.serviceKey.exposeForStorage(),
      ]
      let revision = try asking(store) { (store) throws(SharedStoreFailure) in
        try store.replace([SharedChange(key, bytes(own), revision: 0)])[0]
      }
      if revision != nil { return own }
    }
    throw .cluster("there is no identity")
  }

  /// The cluster's index; the first server creates it. It is stored before the identity: an identity without an index
  /// has an earlier layout.
  private static func index(
    _ store: any SharedStore, _ randomness: any Randomness
  ) throws(ServerError) -> WatcherIndex {
    for _ in 0..<3 {
      let identity = try asking(store) { (store) throws(SharedStoreFailure) in try store.records([identityKey])[0] }
      // After the identity: two servers may be starting for the first time.
      let stored = try asking(store) { (store) throws(SharedStoreFailure) in
        try store.records([WatcherIndex.key])[0]
      }
      if let stored {
        let index = try WatcherIndex(decoding: stored.bytes)
        guard let upgraded = WatcherIndex.upgraded(stored.bytes) else { return index }
        // It would take for damaged what this one stores, and acknowledge notifications without a push.
        guard try !asking(store, { (store) throws(SharedStoreFailure) in try store.isServed() }) else {
          throw .cluster("a server of an earlier version is at work; stop all of them first")
        }
        let change = SharedChange(WatcherIndex.key, upgraded, revision: stored.revision)
        _ = try asking(store) { (store) throws(SharedStoreFailure) in try store.replace([change]) }
        continue
      }
      guard identity == nil else { throw .otherLayout }
      let change = SharedChange(WatcherIndex.key, WatcherIndex.new(randomness: randomness), revision: 0)
      let revision = try asking(store) { (store) throws(SharedStoreFailure) in try store.replace([change])[0] }
      if revision != nil { return try WatcherIndex(decoding: change.bytes) }
    }
    throw .cluster("it is not known where subscriptions are")
  }

  private static func bytes(_ fields: [[UInt8]]) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(list: fields) {
      $0.append(unsigned32: UInt32($1.count))
      $0.append(contentsOf: $1)
    }
    return bytes
  }

  static func fields(_ bytes: [UInt8]) throws(ServerError) -> [[UInt8]] {
    do throws(RelayError) {
      var reader = RelayReader(bytes)
      return try reader.list(limit: 5) { (reader) throws(RelayError) in
        Array(try reader.bytes(Int(try reader.unsigned32())))
      }
    } catch {
      throw .damaged(.identity)
    }
  }

  // MARK: The loop's

  var port: any RelayPort { server.port }
  var log: Log { server.log }
  package var link: NotificationServerLink { server.link }
  package var problems: [ServerProblem] { server.problems + (clockProblem.map { [$0] } ?? []) }
  package var nextProviderAttempt: Moment? { server.nextProviderAttempt }

  package var hasMoreToDo: Bool { server.hasMoreToDo }

  /// Work that another server left or added is found by looking: no wake-up is raised for it.
  package func nextDeadline() -> Moment {
    let now = clock.now()
    if server.hasMoreToDo { return now }
    let held = min(server.times.listenCheck, server.times.heldNotification ?? server.times.listenCheck)
    let check = nextCheck <= now || !dueChecks.isEmpty ? nextBusyCheck : nextCheck
    var next = min(max(min(held, check), server.times.relayRetry), now + WorkLooks.interval)
    if !underWay.isEmpty { next = min(next, nextExtension) }
    return min(next, looks.nextPostponed ?? next, acknowledgements.due ?? next)
  }

  package func serve(isWoken: Bool = true, room: [String: Int] = [:]) throws(ServerError) {
    try takePushes(isWoken: isWoken, room: room)
    try settle()
  }

  package func takePushes(isWoken: Bool, room: [String: Int] = [:]) throws(ServerError) {
    isUnsettled = false
    extendLeases()
    let now = clock.now()
    looks.takePostponed(now: now)
    direct.begin(room: room.filter { server.times.providerPauses[$0.key] == nil }, now: now)
    try tryingAgainLater { () throws(ServerError) in
      server.times.hasMoreToDo = false
      try addOverdueWork()
      dueAcknowledgements()
      if port.takeReset() { server.times.listenCheck = now }
      if isWoken, server.times.failure == nil || now >= server.times.relayRetry { try wakeDevices() }
      guard now >= server.times.relayRetry, isWoken || server.times.isRelayDue(now: now) else {
        return try confirmOutcomes()
      }
      server.times.hasMoreAtRelay = false
      try server.listenIfDue()
      try takeNotifications()
      isUnsettled = true
    }
  }

  /// What pushes need not wait for. They are work, which is added once the documents are stored, and taken by any server.
  package func settle() throws(ServerError) {
    guard isUnsettled else { return }
    isUnsettled = false
    try tryingAgainLater { () throws(ServerError) in
      if port.isLocal { try server.acknowledge() }
      try lookAtTime()
      try countTokens()
      try takeRequestsIfDue()
      try checkTokens()
      server.noteSuccess()
    }
  }

  private func tryingAgainLater(_ body: () throws(ServerError) -> Void) throws(ServerError) {
    do throws(ServerError) { try body() } catch {
      guard error.mayPass(at: port) else { throw error }
      // A cluster elects another leader within some seconds.
      if case .cluster = error { server.times.relayWorked() }
      server.times.relayFailed(error, now: clock.now())
      server.times.hasMoreAtRelay = false
      log(.warning, "serving failed, trying again later", ["reason": "\(error)"])
    }
  }

  /// Looks at the cluster's clock.
  private func lookAtTime() throws(ServerError) {
    let now = clock.now()
    guard now >= nextTime else { return }
    let time = try asking { (store) throws(SharedStoreFailure) in try store.time() }
    nextTime = now + Self.timeInterval
    server.useClock = .cluster(ClusterTime(milliseconds: time, moment: now))
  }

  /// Repeats the count, because tokens also come and go at other servers.
  private func countTokens() throws(ServerError) {
    let now = clock.now()
    guard now >= nextCount else { return }
    try server.countTokens()
    nextCount = now + Self.countInterval
  }

  private var clockProblem: ServerProblem? {
    guard case .cluster(let time) = server.useClock,
      let seconds = time.difference(now: clock.now(), wall: clock.wall())
    else { return nil }
    return ServerProblem(
      part: .state, reason: "the clock differs from the cluster's by \(seconds) s; unused tokens do not expire")
  }

  func postpone(_ work: TakenWork, milliseconds: Int64) {
    store.postpone(work, milliseconds: milliseconds)
    looks.notePostponed(until: clock.now() + .milliseconds(milliseconds))
  }

  /// Leaves work not yet taken to other servers, however much more is added.
  package func drain() {
    isDraining = true
    try? confirmOutcomes()
    extendLeases()
  }

  package func leave() {
    try? confirmOutcomes()
    dueAcknowledgements(all: true)
    server.leave()
  }

  private func extendLeases() {
    let now = clock.now()
    guard !underWay.isEmpty, now >= nextExtension else { return }
    nextExtension = now + Self.extensionInterval
    store.extend(Array(underWay.values))
  }

  // MARK: Asking

  var clock: any Clock { server.clock }

  static func asking<Value>(
    _ store: any SharedStore, _ body: (any SharedStore) throws(SharedStoreFailure) -> Value
  ) throws(ServerError) -> Value {
    do throws(SharedStoreFailure) { return try body(store) } catch { throw .cluster(error.reason) }
  }

  func asking<Value>(_ body: (any SharedStore) throws(SharedStoreFailure) -> Value) throws(ServerError) -> Value {
    do throws(ServerError) { return try Self.asking(store, body) } catch {
      recent.noteTrouble(now: clock.now())
      // The outcome of the call is unknown.
      remembered.forgetAll()
      throw error
    }
  }
}
