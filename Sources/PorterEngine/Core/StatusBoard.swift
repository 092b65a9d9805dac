import PorterJSON
import PorterMachines
import PorterPlatform
import PorterStore
import Synchronization

/// The state of an engine, for callers that ask while it is too busy to answer: updated by the engine at the end of
/// each turn, read by any thread.
final class StatusBoard: Sendable {
  /// Activities that can keep an engine busy for a long time.
  enum Activity: String, Sendable {
    case working = "at work"
    case transaction = "in a transaction, or waiting for one"
    case opening = "opening the store"
    case closing = "closing the store"
    case rekeying = "giving the store another key"
  }

  /// One reference: the snapshot is large, and is replaced each turn.
  private final class Published: Sendable {
    let snapshot: EngineSnapshot
    init(_ snapshot: EngineSnapshot) { self.snapshot = snapshot }
  }

  private struct Contents {
    var published: Published?
    /// Nil while the engine is idle.
    var turnBegan: Moment?
    var activity = Activity.working
    var activityBegan = Moment(nanoseconds: 0)
  }

  private let clock: any Clock
  private let contents = Mutex(Contents())
  let strings = KnownStrings()

  init(clock: any Clock) { self.clock = clock }

  // MARK: From the engine

  func beginTurn() {
    let now = clock.now()
    contents.withLock { contents in
      contents.turnBegan = now
      contents.activity = .working
      contents.activityBegan = now
    }
  }

  func endTurn(_ snapshot: EngineSnapshot) {
    let published = Published(snapshot)
    contents.withLock { contents in
      contents.published = published
      contents.turnBegan = nil
    }
  }

  /// Ends a turn in which nothing happened: the last published snapshot still holds.
  func endIdleTurn() { contents.withLock { $0.turnBegan = nil } }

  func begin(_ activity: Activity) {
    let now = clock.now()
    contents.withLock { contents in
      contents.activity = activity
      contents.activityBegan = now
    }
  }

  func end() { begin(.working) }

  // MARK: From anyone

  /// Whether the process was on screen at the end of the last turn.
  var isOnScreen: Bool { contents.withLock { $0.published?.snapshot.isOnScreen ?? false } }

  /// The last published snapshot, and what the engine has been doing since; nil unless its turn began at least
  /// `patience` ago.
  func busy(for patience: Span) -> (snapshot: EngineSnapshot, activity: Activity, since: Span)? {
    let now = clock.now()
    return contents.withLock { contents in
      guard let snapshot = contents.published?.snapshot, let began = contents.turnBegan, now - began >= patience else {
        return nil
      }
      return (snapshot, contents.activity, now - contents.activityBegan)
    }
  }
}

/// The states of an engine's machines, and the resources it has open.
struct EngineSnapshot: Sendable {
  let role: Role
  let instance: Instance
  let lifecycle: ChatLifecycle.State
  let operations: Operations.State
  /// `app_phase` or `extension_phase`, and its state.
  let phaseMachine: String
  let phase: String
  let isOnScreen: Bool
  let presence: PorterMachines.Presence.State
  let push: Push.State?
  /// Nil in a process that does no background rounds.
  let refresh: BackgroundRefresh.State?
  let counter: OperationCounter
  let claims: [ClaimState]
  let hasStore: Bool
  let hasRelay: Bool
  let hasChannel: Bool
  let holdsPhaseFile: Bool
  let awaitedAnswers: Int

  final class ClaimState: Sendable {
    let connectionID: Int64
    let state: PorterMachines.Ownership.State
    let epoch: Int64?

    init(connectionID: Int64, state: PorterMachines.Ownership.State, epoch: Int64?) {
      (self.connectionID, self.state, self.epoch) = (connectionID, state, epoch)
    }
  }

  /// Nothing is open, locked or under way: the process may be frozen. Equivalent to an empty `holds`.
  var isQuiescent: Bool {
    !hasStore && !hasRelay && !hasChannel && !holdsPhaseFile
      && OperationKind.allCases.allSatisfy { counter.count($0) == 0 }
  }

  /// What keeps the controller from being quiescent, in plain words.
  var holds: [String] {
    var holds: [String] = []
    if hasStore { holds.append("the store is open") }
    if hasRelay { holds.append("the relay is open") }
    if hasChannel { holds.append("the channel to other processes is open") }
    if holdsPhaseFile { holds.append("the phase file is locked") }
    for kind in OperationKind.allCases where counter.count(kind) > 0 {
      holds.append("\(counter.count(kind)) operations of \(kind.name) are under way")
    }
    // Without a relay none can arrive, and the waiting callers are about to be answered.
    if hasRelay, awaitedAnswers > 0 {
      holds.append("\(awaitedAnswers) answers of the notification server are awaited")
    }
    return holds
  }

  /// The number of operations under way by kind, and the number of the cycle in which they began.
  var operationCounts: JSONValue {
    var counts: [(String, JSONValue)] = [("cycle", JSONValue(counter.cycle))]
    for kind in OperationKind.allCases { counts.append((kind.name, JSONValue(counter.count(kind)))) }
    return .object(JSONObject(counts))
  }

  /// Operations that may not begin now: the two flags of an app that leaves the screen.
  var blocked: JSONValue {
    [
      "network": .bool(operations != .running),
      "database": .bool(Operations.step(operations, .beginDatabase).answer != .stayed),
    ]
  }

  func machines(token: String?) -> JSONValue {
    .compact([
      "chat_lifecycle": .string(lifecycle.name),
      "operations": .string(operations.name),
      "token_status": token.map { .string($0) },
      "app_phase": phaseMachine == AppPhase.name ? .string(phase) : nil,
      "extension_phase": phaseMachine == ExtensionPhase.name ? .string(phase) : nil,
      "presence": .string(presence.name),
      "push": push.map { .string($0.name) },
      "background_refresh": refresh.map { .string($0.name) },
    ])
  }

  /// Connections currently claimed by this process.
  var claimed: JSONValue {
    .array(
      claims.map { claim in
        .compact([
          "connection": JSONValue(claim.connectionID), "state": .string(claim.state.name),
          "epoch": claim.epoch.map { JSONValue($0) },
        ])
      })
  }

  /// The answer of `np_state` without the engine. The state may have changed since, so it is never reported as
  /// quiescent.
  func describe(
    _ activity: StatusBoard.Activity, for span: Span, peer: PhaseFile, peerRole: Role, eventsWaiting: Int,
    pushesWaiting: Int
  ) -> JSONValue {
    let busy = "the engine is \(activity.rawValue)"
    return [
      "role": .string(role.rawValue), "quiescent": false, "holds": .array((holds + [busy]).map { .string($0) }),
      "operations": operationCounts, "blocked": blocked, "machines": machines(token: nil),
      "instance": .string(instance.description),
      "presence": [
        "role": .string(peerRole.rawValue), "state": .string(presence.name), "working": .bool(peer.isHeldElsewhere()),
      ],
      "claims": claimed, "eventsWaiting": JSONValue(eventsWaiting),
      "pushesWaiting": JSONValue(Int64(pushesWaiting)),
      "busy": ["doing": .string(activity.rawValue), "milliseconds": JSONValue(span.milliseconds)],
    ]
  }
}
