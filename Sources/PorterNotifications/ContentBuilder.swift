import PorterSchema

/// The texts of notifications.
package enum ContentBuilder {
  /// Returns the notification for an event, or why there is none.
  package static func content(
    for event: NotificationEvent, _ policy: NotificationPolicy
  ) -> Result<NotificationContent, Suppressed> {
    switch policy.verdict(for: event) {
    case .silent(let reason): .failure(Suppressed(reason: reason))
    case .show(let mode): .success(content(for: event, mode))
    }
  }

  /// Nothing is shown, by the user's own choice.
  package struct Suppressed: Error, Hashable, Sendable {
    package var reason: NotificationPolicy.Silence
  }

  static func content(for event: NotificationEvent, _ mode: PreviewMode) -> NotificationContent {
    let user = event.owner.id
    let identifier = event.identifier.description
    switch event.kind {
    case .contactRequest(let id, let name):
      return NotificationContent(
        identifier: identifier, title: .phrase(.wantsToConnect, [person(name, mode, .somebody)]),
        body: .phrase(.acceptRequest, [person(name, mode, .thisContact)]), category: .contactRequest,
        userInfo: .init(userID: user, chatID: "<@\(id)", contactRequestID: id))
    case .contactConnected(let id, let name):
      return NotificationContent(
        identifier: identifier, title: .phrase(.isConnected, [person(name, mode, .aNewContact)]),
        body: .phrase(.canChat, [person(name, mode, .thisContact)]), category: .contactConnected,
        targetContentIdentifier: "@\(id)", userInfo: .init(userID: user))
    case .message(let message):
      let body = mode == .message ? MessageText.body(message.content, fileName: message.fileName) : nil
      return NotificationContent(
        identifier: identifier, title: title(message.chat, mode), body: body ?? .phrase(.newMessageBody),
        category: .messageReceived, targetContentIdentifier: message.chat.id,
        threadIdentifier: thread(message.chat, user, mode), userInfo: .init(userID: user))
    case .call(let chat, let media):
      return NotificationContent(
        identifier: identifier, title: title(chat, mode), body: .phrase(media == .video ? .videoCall : .audioCall),
        category: .callInvitation, userInfo: .init(userID: user, chatID: chat.id))
    case .missedCall(let chat):
      return NotificationContent(
        identifier: identifier, title: title(chat, mode), body: .phrase(.missedCall), category: .messageReceived,
        targetContentIdentifier: chat.id, threadIdentifier: thread(chat, user, mode), userInfo: .init(userID: user))
    case .connection(let occurrence):
      return content(for: occurrence, identifier, user, mode)
    case .many(let burst): return content(for: burst, identifier, user, mode)
    case .manyRequests(let requests):
      return NotificationContent(
        identifier: identifier, title: .phrase(.newRequests, [.count(requests.names.count)]),
        body: persons(requests.names, mode), category: .manyEvents, userInfo: .init(userID: user))
    }
  }

  private static func content(
    for burst: NotificationEvent.Burst, _ identifier: String, _ user: Int64, _ mode: PreviewMode
  ) -> NotificationContent {
    let count = ShownText.phrase(.newMessages, [.count(burst.count)])
    switch burst.scope {
    case .chat(let chat):
      return NotificationContent(
        identifier: identifier, title: burstTitle(chat, mode), body: count, category: .manyEvents,
        targetContentIdentifier: chat.id, threadIdentifier: thread(chat, user, mode), userInfo: .init(userID: user))
    case .chats(let chats):
      return NotificationContent(
        identifier: identifier, title: count, body: senders(chats, mode), category: .manyEvents,
        userInfo: .init(userID: user))
    }
  }

  private static func burstTitle(_ chat: NotificationEvent.Chat, _ mode: PreviewMode) -> ShownText {
    switch (chat, mode) {
    case (.contact, _), (.group, .hidden): title(chat, mode)
    case (.group, .message), (.group, .contact): .phrase(.fromContact, [chatName(chat)])
    }
  }

  /// At most two names are followed by the number of others; three names fit.
  private static func senders(_ chats: [NotificationEvent.Chat], _ mode: PreviewMode) -> ShownText {
    if mode == .hidden { return .phrase(.fromChats, [.count(chats.count)]) }
    return listed(chats.prefix(3).map(chatName), of: chats.count, more: .fromMore)
  }

  private static func persons(_ names: [String], _ mode: PreviewMode) -> ShownText {
    if mode == .hidden { return .none }
    return listed(names.prefix(3).map { person($0, mode, .somebody) }, of: names.count, more: .fromOthers)
  }

  /// `names` has as many as fit.
  private static func listed(_ names: [ShownText.Argument], of count: Int, more: Phrase) -> ShownText {
    switch count {
    case 0, 1: .phrase(.fromOne, names.isEmpty ? [.phrase(.somebody)] : names)
    case 2: .phrase(.fromTwo, names)
    case 3: .phrase(.fromThree, names)
    default: .phrase(more, names.prefix(2) + [.count(count - 2)])
    }
  }

  private static func chatName(_ chat: NotificationEvent.Chat) -> ShownText.Argument {
    switch chat {
    case .contact(_, let name): person(name, .contact, .somebody)
    case .group(_, let name, _): MessageText.name(name).map { .text("#\($0)") } ?? .phrase(.groupMessage)
    }
  }

  private static func content(
    for occurrence: NotificationEvent.ConnectionEvent, _ identifier: String, _ user: Int64, _ mode: PreviewMode
  ) -> NotificationContent {
    var content = NotificationContent(
      identifier: identifier, title: .none, body: .none, category: .connectionEvent, userInfo: .init(userID: user))
    switch occurrence {
    case .chat(let chat):
      content.title = title(chat, mode)
      content.body = .phrase(.messageReceived)
      content.targetContentIdentifier = chat.id
      content.threadIdentifier = thread(chat, user, mode)
    case .newContact:
      content.title = .phrase(.newContact)
      content.body = .phrase(.messageReceived)
    case .address: content.title = .phrase(.newContactRequest)
    case .file(let direction):
      content.title = .phrase(direction == .sent ? .sentFileEvent : .receivedFileEvent)
      content.userInfo = .init()
    }
    return content
  }

  private static func person(_ name: String, _ mode: PreviewMode, _ hidden: Phrase) -> ShownText.Argument {
    // Of a name of invisible characters only the phrase around it would remain.
    mode == .hidden ? .phrase(hidden) : MessageText.name(name).map(ShownText.Argument.text) ?? .phrase(hidden)
  }

  private static func title(_ chat: NotificationEvent.Chat, _ mode: PreviewMode) -> ShownText {
    switch (chat, mode) {
    case (.contact, .hidden): .phrase(.contactHidden)
    case (.group, .hidden): .phrase(.groupMessage)
    case (.contact(_, let name), .message), (.contact(_, let name), .contact):
      .phrase(.fromContact, [person(name, mode, .somebody)])
    case (.group(_, let name, let member), .message), (.group(_, let name, let member), .contact):
      .phrase(.fromMember, [person(name, mode, .somebody), person(member, mode, .somebody)])
    }
  }

  private static func thread(_ chat: NotificationEvent.Chat, _ user: Int64, _ mode: PreviewMode) -> String? {
    mode == .hidden ? nil : "\(user)\(chat.id)"
  }
}
