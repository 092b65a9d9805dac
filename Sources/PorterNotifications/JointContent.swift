/// One notification for several events, for a platform that shows one for each push.
package enum JointContent {
  /// A call comes first, since it does not wait (INC-43). Messages come before what else happened, which they
  /// explain. Nil if there is nothing to show; then nothing is shown.
  package static func single(_ events: [NotificationEvent], _ policy: NotificationPolicy) -> NotificationContent? {
    var shown: [(event: NotificationEvent, mode: PreviewMode)] = []
    for event in events {
      if case .show(let mode) = policy.verdict(for: event) { shown.append((event, mode)) }
    }
    let calls = shown.filter { $0.event.isCall }
    let messages = shown.filter { $0.event.message != nil }
    let chosen = !calls.isEmpty ? Array(calls.prefix(1)) : !messages.isEmpty ? messages : shown
    guard let first = chosen.first else { return nil }
    if chosen.count == 1 { return ContentBuilder.content(for: first.event, first.mode) }
    return messages.isEmpty ? joinedEvents(chosen.map(\.event)) : joinedMessages(chosen.map(\.event), first.mode)
  }

  private static func joinedMessages(_ events: [NotificationEvent], _ mode: PreviewMode) -> NotificationContent {
    var content = joined(events, .phrase(.newMessages), sources(events, mode))
    content.userInfo = .init(userID: events.first?.owner.id)
    return content
  }

  private static func joinedEvents(_ events: [NotificationEvent]) -> NotificationContent {
    joined(events, .phrase(.newEvents), .phrase(.countOfEvents, [.number(Int64(events.count))]))
  }

  private static func joined(
    _ events: [NotificationEvent], _ title: ShownText, _ body: ShownText
  ) -> NotificationContent {
    let identifiers = events.map(\.identifier.description)
    return NotificationContent(
      identifier: "np:joint:\(identifiers.first ?? "")", title: title, body: body, category: .manyEvents,
      joined: identifiers)
  }

  /// The conversations that messages come from, each once, in the order of their first message.
  private static func sources(_ events: [NotificationEvent], _ mode: PreviewMode) -> ShownText {
    var seen = Set<Source>()
    var names: [ShownText.Argument] = []
    for event in events {
      guard let chat = event.message?.chat, seen.insert(Source(user: event.owner.id, chat: chat.id)).inserted else {
        continue
      }
      names.append(.text(MessageText.name(chat.name)))
    }
    if mode == .hidden { return .phrase(.fromHidden, [.number(Int64(names.count))]) }
    switch names.count {
    case 1: return .phrase(.fromOne, names)
    case 2: return .phrase(.fromTwo, names)
    case 3: return .phrase(.fromThree, names)
    default: return .phrase(.fromMany, names.prefix(2) + [.number(Int64(names.count - 2))])
    }
  }

  private struct Source: Hashable {
    var user: Int64
    var chat: String
  }
}

extension NotificationEvent {
  fileprivate var isCall: Bool {
    guard case .call = kind else { return false }
    return true
  }

  fileprivate var message: Message? {
    guard case .message(let message) = kind else { return nil }
    return message
  }
}

extension NotificationEvent.Chat {
  fileprivate var name: String {
    switch self {
    case .contact(_, let name): name
    case .group(_, let name, _): "#\(name)"
    }
  }
}
