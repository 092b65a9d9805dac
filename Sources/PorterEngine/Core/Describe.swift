import PorterJSON
import PorterMachines
import PorterPlatform
import PorterStore

/// What `np_state` tells: everything about the engine that can be known without changing it.
extension Engine {
  func describe() -> JSONValue {
    let posture = posture
    return .compact([
      "role": .string(configuration.role.rawValue),
      "quiescent": .bool(posture.isQuiescent),
      "holds": .array(posture.holds.map { .string($0) }),
      "operations": posture.operationCounts,
      "machines": posture.machines(token: (store.flatMap { try? $0.token() }).map { tokenState($0).name } ?? "none"),
      "instance": .string(instance.description),
      "unread": (store.flatMap { try? $0.badge() }).map { JSONValue($0) },
      "presence": presenceDescription,
      "channel": channelDescription,
      "claims": posture.claimed,
      "owners": store.flatMap { try? $0.owners() }.map { owners in .array(owners.map(describe)) },
      "eventsWaiting": JSONValue(queue.count),
    ])
  }

  private func describe(_ entry: (owner: Owner, connections: Int64)) -> JSONValue {
    [
      "role": .string(entry.owner.role), "instance": .string(entry.owner.instance.description),
      "process": JSONValue(Int64(entry.owner.instance.process)), "connections": JSONValue(entry.connections),
      "self": .bool(entry.owner.instance == instance),
    ]
  }

  /// As it is at this moment.
  var posture: Posture {
    Posture(
      role: configuration.role, instance: instance, lifecycle: lifecycle.state, operations: operations.state,
      appPhase: appPhase.state, extensionPhase: extensionPhase.state, presence: presence.state,
      push: push?.machine.state, book: book,
      claims: tenures.isEmpty
        ? []
        : tenures.values.sorted { $0.connectionID < $1.connectionID }.map {
          .init(connectionID: $0.connectionID, state: $0.machine.state, epoch: $0.claimed?.claim.epoch)
        },
      hasStore: store != nil, hasRelay: relay != nil, hasChannel: channel != nil, holdsPhaseFile: phaseFile.isHeld,
      awaitedAnswers: awaitedAnswers.count)
  }

  var isQuiescent: Bool { posture.isQuiescent }
}
