import PorterSchema

extension NotificationEvent.Burst {
  /// The unread messages of one chat.
  package struct Part: Hashable, Sendable {
    /// Nil if its record is damaged: the others are named without it (INC-44).
    package var chat: NotificationEvent.Chat?
    /// The chat's setting now, which may have changed since its messages were shown.
    package var filter: NotificationFilter
    package var count: Int
    /// The number of them that mention the user.
    package var mentions: Int

    package init(chat: NotificationEvent.Chat?, filter: NotificationFilter = .all, count: Int, mentions: Int = 0) {
      self.chat = chat
      self.filter = filter
      self.count = count
      self.mentions = mentions
    }

    private func shown(to owner: NotificationEvent.Owner, mentionsUser: Bool) -> Bool {
      NotificationPolicy.showsMessage(to: owner, filter, mentionsUser: mentionsUser)
    }

    /// The number of them that may be shown now.
    func visible(to owner: NotificationEvent.Owner) -> Int {
      if shown(to: owner, mentionsUser: false) { return count }
      return shown(to: owner, mentionsUser: true) ? mentions : 0
    }
  }

  /// The content of these parts that may be shown now, latest first. Nil if there is none.
  package init?(of parts: [Part], to owner: NotificationEvent.Owner, hidesChats: Bool) {
    var (count, chats): (Int, [NotificationEvent.Chat?]) = (0, [])
    for part in parts {
      let visible = part.visible(to: owner)
      guard visible > 0 else { continue }
      count += visible
      if part.chat == nil || !chats.contains(where: { $0?.id == part.chat?.id }) { chats.append(part.chat) }
    }
    guard count > 0 else { return nil }
    if BurstPlan.isAboutChat(among: chats.count, hidesChats: hidesChats), let chat = chats[0] {
      self.init(count: count, .chat(chat))
    } else {
      self.init(count: count, .chats(chats.compactMap { $0 }))
    }
  }
}
