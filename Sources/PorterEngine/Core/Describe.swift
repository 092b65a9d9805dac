import PorterJSON
import PorterMachines
import PorterPlatform
import PorterStore

/// What `np_state` tells: everything about the engine that can be known without changing it.
extension Engine {
  func describe() -> JSONValue {
    var machines: JSONValue = [
      "chat_lifecycle": .string(lifecycle.state.name),
      "operations": .string(operations.state.name),
      "token_status": .string((store.flatMap { try? $0.token() }).map { tokenState($0).name } ?? "none"),
    ]
    if case .object(var object) = machines {
      switch configuration.role {
      case .app: object["app_phase"] = .string(appPhase.state.name)
      case .extension: object["extension_phase"] = .string(extensionPhase.state.name)
      }
      object["presence"] = .string(presence.state.name)
      object["push"] = push.map { .string($0.machine.state.name) }
      machines = .object(object)
    }
    return .compact([
      "role": .string(configuration.role.rawValue),
      "quiescent": .bool(isQuiescent),
      "holds": .array(holds.map { .string($0) }),
      "operations": operationCounts,
      "machines": machines,
      "instance": .string(instance.description),
      "unread": (store.flatMap { try? $0.badge() }).map { JSONValue($0) },
      "presence": presenceDescription,
      "channel": channelDescription,
      "claims": claims,
      "owners": store.flatMap { try? $0.owners() }.map { owners in .array(owners.map(describe)) },
      "eventsWaiting": JSONValue(queue.count),
    ])
  }

  /// By kind, how many are under way, and the number of the cycle in which they began.
  private var operationCounts: JSONValue {
    var counts: [(String, JSONValue)] = [("cycle", JSONValue(book.cycle))]
    for kind in OperationKind.allCases { counts.append((kind.name, JSONValue(book.count(kind)))) }
    return .object(JSONObject(counts))
  }

  /// What work of this process has claimed at this moment.
  private var claims: JSONValue {
    .array(
      tenures.values.sorted { $0.connectionID < $1.connectionID }.map { tenure in
        .compact([
          "connection": JSONValue(tenure.connectionID), "state": .string(tenure.machine.state.name),
          "epoch": tenure.claimed.map { JSONValue($0.claim.epoch) },
        ])
      })
  }

  private func describe(_ entry: (owner: Owner, connections: Int64)) -> JSONValue {
    [
      "role": .string(entry.owner.role), "instance": .string(entry.owner.instance.description),
      "process": JSONValue(Int64(entry.owner.instance.process)), "connections": JSONValue(entry.connections),
      "self": .bool(entry.owner.instance == instance),
    ]
  }

  /// What keeps the controller from being quiescent, in words for a person.
  private var holds: [String] {
    var holds: [String] = []
    if store != nil { holds.append("the store is open") }
    if relay != nil { holds.append("the relay is open") }
    if channel != nil { holds.append("the channel to other processes is open") }
    if phaseFile.isHeld { holds.append("the phase file is locked") }
    for kind in OperationKind.allCases where book.count(kind) > 0 {
      holds.append("\(book.count(kind)) operations of \(kind.name) are under way")
    }
    if !awaitedAnswers.isEmpty {
      holds.append("\(awaitedAnswers.count) answers of the notification server are awaited")
    }
    return holds
  }
}
