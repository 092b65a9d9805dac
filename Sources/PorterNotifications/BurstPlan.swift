/// Which notifications one answer shows: for each message one of its own, or for many of them a summary. A value: every rule
/// about bursts is decided here.
package struct BurstPlan: Hashable, Sendable {
  /// Something that may be shown, in the order in which it came.
  package struct Item: Hashable, Sendable {
    package var id: Int64
    package var user: Int64
    /// Nil for what is no message: it has a notification of its own always.
    package var chat: Int64?

    package init(id: Int64, user: Int64, chat: Int64?) {
      self.id = id
      self.user = user
      self.chat = chat
    }
  }

  package enum Notification: Hashable, Sendable {
    case single(Item)
    /// `chat` is nil for a summary of several chats of the profile.
    case summary(user: Int64, chat: Int64?, [Item])

    package var items: [Item] {
      switch self {
      case .single(let item): [item]
      case .summary(_, _, let items): items
      }
    }
  }

  /// From so many messages of one chat on, a summary stands for them.
  package static let chatBound = 8
  /// From so many messages in one answer on, a summary of each profile stands for those that no other one does.
  package static let answerBound = 20

  /// Each item is in exactly one of them. A summary stands where its last message came.
  package private(set) var notifications: [Notification] = []

  /// Where chats are hidden, a summary of one would say that so many messages have the same sender. There is one of the
  /// profile instead.
  package init(_ items: [Item], hidesChats: Bool) {
    // Too few for any summary.
    guard items.count >= min(Self.chatBound, Self.answerBound) else {
      notifications = items.map { .single($0) }
      return
    }
    var counts: [Int64: Int] = [:]
    for item in items { if let chat = item.chat { counts[chat, default: 0] += 1 } }
    let full = Set(counts.filter { $0.value >= Self.chatBound }.keys)
    let isFull = counts.values.reduce(0, +) >= Self.answerBound
    let crowded = Set(items.filter { $0.chat.map(full.contains) ?? false }.map(\.user))

    /// The summary that an item belongs to, if there are others for it.
    func scope(_ item: Item) -> Scope? {
      guard let chat = item.chat else { return nil }
      if hidesChats { return isFull || crowded.contains(item.user) ? Scope(user: item.user, chat: nil) : nil }
      if full.contains(chat) { return Scope(user: item.user, chat: chat) }
      return isFull ? Scope(user: item.user, chat: nil) : nil
    }
    var parts: [Scope: [Item]] = [:]
    for item in items { if let scope = scope(item) { parts[scope, default: []].append(item) } }
    for item in items {
      guard let scope = scope(item), let others = parts[scope], others.count > 1 else {
        notifications.append(.single(item))
        continue
      }
      if others.last == item { notifications.append(.summary(user: scope.user, chat: scope.chat, others)) }
    }
  }

  private struct Scope: Hashable {
    var user: Int64
    var chat: Int64?
  }
}
