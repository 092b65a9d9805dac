import PorterJSON
import PorterMachines
import PorterPlatform
import PorterStore

/// What `np_state` tells: everything about the engine that can be known without changing it.
extension Engine {
  func describe() -> JSONValue {
    var machines: JSONValue = [
      "chat_lifecycle": .string(lifecycle.state.name),
      "token_status": .string((store.flatMap { try? $0.token() }).map { tokenState($0).name } ?? "none"),
    ]
    if case .object(var object) = machines {
      switch configuration.role {
      case .app: object["app_phase"] = .string(appPhase.state.name)
      case .extension: object["extension_phase"] = .string(extensionPhase.state.name)
      }
      object["push"] = push.map { .string($0.machine.state.name) }
      machines = .object(object)
    }
    return .compact([
      "role": .string(configuration.role.rawValue),
      "quiescent": .bool(isQuiescent),
      "holds": .array(holds.map { .string($0) }),
      "machines": machines,
      "instance": .string(instance.description),
      "unread": (store.flatMap { try? $0.badge() }).map { JSONValue($0) },
      "eventsWaiting": JSONValue(queue.count),
    ])
  }

  /// What keeps the controller from being quiescent, in words for a person.
  private var holds: [String] {
    var holds: [String] = []
    if store != nil { holds.append("the store is open") }
    if relay != nil { holds.append("the relay is open") }
    if phaseFile.isHeld { holds.append("the phase file is locked") }
    if !fetches.isEmpty { holds.append("\(fetches.count) mailboxes are being fetched") }
    if !sending.isEmpty { holds.append("\(sending.count) messages are being sent") }
    if !awaitedAnswers.isEmpty {
      holds.append("\(awaitedAnswers.count) answers of the notification server are awaited")
    }
    return holds
  }
}
