import PorterJSON
import PorterMachines
import PorterPlatform
import PorterStore

/// The result of `np_state`: everything about the engine that can be read without changing it.
extension Engine {
  func describe() -> JSONValue {
    let snapshot = snapshot
    return .compact([
      "role": .string(configuration.role.rawValue),
      "quiescent": .bool(snapshot.isQuiescent),
      "holds": .array(snapshot.holds.map { .string($0) }),
      "operations": snapshot.operationCounts,
      "blocked": snapshot.blocked,
      "machines": snapshot.machines(token: tokens.statusName),
      "instance": .string(instance.description),
      "unread": (store.flatMap { try? $0.badge() }).map { JSONValue($0) },
      "relay": (store.flatMap { try? $0.setting(Setting.relay) }).map { .string($0) },
      "notifications": tokens.health,
      "presence": peers.description,
      "channel": peers.channelDescription,
      "claims": snapshot.claimed,
      "owners": store.flatMap { try? $0.owners() }.map { owners in .array(owners.map(describe)) },
      "nextRefreshMs": refresh.nextRefresh.map { JSONValue($0.milliseconds) },
      "eventsWaiting": JSONValue(queue.count), "pushesWaiting": JSONValue(Int64(pushes.waitingCount)),
    ])
  }

  private func describe(_ entry: (owner: Owner, connections: Int64)) -> JSONValue {
    [
      "role": .string(entry.owner.role), "instance": .string(entry.owner.instance.description),
      "process": JSONValue(Int64(entry.owner.instance.process)), "connections": JSONValue(entry.connections),
      "self": .bool(entry.owner.instance == instance),
    ]
  }

  /// The current state.
  var snapshot: EngineSnapshot {
    EngineSnapshot(
      role: configuration.role, instance: instance, lifecycle: lifecycle.chatState,
      operations: lifecycle.operations.state, phaseMachine: lifecycle.phase.machineName,
      phase: lifecycle.phase.stateName, isOnScreen: lifecycle.phase.isOnScreen, presence: peers.presenceState,
      push: pushes.state,
      refresh: configuration.role == .app ? refresh.state : nil,
      counter: lifecycle.operations.counter,
      claims: claims.states,
      hasStore: store != nil, hasRelay: relay != nil, hasChannel: peers.channel != nil,
      holdsPhaseFile: phaseFile.isHeld,
      awaitedAnswers: tokens.awaitedAnswers)
  }

  var isQuiescent: Bool { snapshot.isQuiescent }
}
