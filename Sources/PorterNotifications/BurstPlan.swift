/// The notifications that one answer shows: one for each message, or a summary for many of them. A value: every rule
/// about bursts is decided here.
package struct BurstPlan: Hashable, Sendable {
  /// Something that may be shown, in order of arrival.
  package struct Item: Hashable, Sendable {
    package var id: Int64
    package var user: Int64
    /// Nil for anything but a message.
    package var chat: Int64?
    /// Whether it is a contact request. Anything else but a message has its own notification.
    package var isRequest: Bool

    package init(id: Int64, user: Int64, chat: Int64?, isRequest: Bool = false) {
      self.id = id
      self.user = user
      self.chat = chat
      self.isRequest = isRequest
    }
  }

  package enum Notification: Hashable, Sendable {
    case single(Item)
    /// `chat` is nil for a summary of several chats of the profile.
    case summary(user: Int64, chat: Int64?, [Item])
    /// Of these contact requests of the profile, and of those already on screen.
    case requests(user: Int64, [Item])

    package var items: [Item] {
      switch self {
      case .single(let item): [item]
      case .summary(_, _, let items), .requests(_, let items): items
      }
    }
  }

  /// From this many messages of one chat on, a summary replaces them.
  package static let chatBound = 8
  /// From this many messages in one answer on, a summary of each profile replaces those not in another summary, or a
  /// summary of the chat if they are all of one.
  package static let answerBound = 20
  /// From this many contact requests of one profile on, a summary replaces them. Those on screen count: requests of
  /// strangers come one by one.
  package static let requestBound = 8

  /// Whether a summary of messages of this many chats is about the chat itself, and a tap on it leads there. Where
  /// chats are hidden none is: it would reveal that so many messages have the same sender.
  package static func isAboutChat(among chats: Int, hidesChats: Bool) -> Bool { chats == 1 && !hidesChats }

  /// Each item is in exactly one of them. A summary is at the place of its last message.
  package private(set) var notifications: [Notification] = []

  /// Where chats are hidden, a summary of the profile replaces those of its chats. `requestsShown`: how many contact
  /// requests of each profile are on screen.
  package init(_ items: [Item], hidesChats: Bool, requestsShown: [Int64: Int] = [:]) {
    // Too few for any summary.
    guard items.count >= min(Self.chatBound, Self.answerBound) || !requestsShown.isEmpty else {
      notifications = items.map { .single($0) }
      return
    }
    var requests = [Int64: [Item]]()
    for item in items where item.isRequest { requests[item.user, default: []].append(item) }
    requests = requests.filter { $1.count + requestsShown[$0, default: 0] >= Self.requestBound }
    var counts = [Int64: Int]()
    for item in items { if let chat = item.chat { counts[chat, default: 0] += 1 } }
    let full = Set(counts.filter { $0.value >= Self.chatBound }.keys)
    let isFull = counts.values.reduce(0, +) >= Self.answerBound
    let crowded = Set(items.filter { $0.chat.map(full.contains) ?? false }.map(\.user))
    // For each profile, the chats without their own summary.
    var others = [Int64: Set<Int64>]()
    for item in items { if let chat = item.chat, !full.contains(chat) { others[item.user, default: []].insert(chat) } }

    /// The summary that an item belongs to, provided that other items do too.
    func scope(_ item: Item) -> Scope? {
      guard let chat = item.chat else { return nil }
      guard isFull || full.contains(chat) || hidesChats && crowded.contains(item.user) else { return nil }
      let chats = full.contains(chat) ? 1 : others[item.user, default: []].count
      return Scope(user: item.user, chat: Self.isAboutChat(among: chats, hidesChats: hidesChats) ? chat : nil)
    }
    var parts = [Scope: [Item]]()
    for item in items { if let scope = scope(item) { parts[scope, default: []].append(item) } }
    for item in items {
      if item.isRequest, let part = requests[item.user] {
        if part.last == item { notifications.append(.requests(user: item.user, part)) }
        continue
      }
      guard let scope = scope(item), let part = parts[scope], part.count > 1 else {
        notifications.append(.single(item))
        continue
      }
      if part.last == item { notifications.append(.summary(user: scope.user, chat: scope.chat, part)) }
    }
  }

  private struct Scope: Hashable {
    var user: Int64
    var chat: Int64?
  }
}
