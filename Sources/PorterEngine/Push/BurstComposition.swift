import PorterNotifications
import PorterPlatform
import PorterSchema
import PorterStore

/// Turns the events that one answer shows into notifications: bundles bursts, and gives each chat one sound in 30 s.
/// Reads the store, and changes it only in `record`, in the answer's transaction.
struct BurstComposition {
  struct Shown {
    let entry: StoredLedgerEntry
    let event: NotificationEvent
    /// The agent's name for its connection.
    let connection: String
    /// Already on screen on its own, with an outdated text.
    let isReplaced: Bool
  }

  private let context: EngineContext
  private let policy: NotificationPolicy
  private(set) var notifications: [NotificationContent] = []
  /// Identifiers of summaries with nothing left in them, and of placeholders and contact requests that a summary now
  /// covers.
  private(set) var withdrawals: [String] = []

  private var summaries: [(identifier: String, entries: [Int64])] = []
  /// Identifiers of summaries now shown with fewer messages.
  private var reduced: [String] = []
  private var sounds: SoundRule
  private let boot: String

  init(
    _ shown: [Shown], _ placeholders: [PushPlaceholders.Placeholder], _ policy: NotificationPolicy,
    _ context: EngineContext, _ store: Store
  ) throws(StoreError) {
    self.context = context
    self.policy = policy
    boot = context.instance.boot
    var last = try store.lastSounds(contacts: Set(placeholders.compactMap(\.contactID)), boot: boot)
    for part in shown { if let chat = part.entry.contactID { last[chat] = part.entry.lastSound } }
    if placeholders.contains(where: { $0.contactID == nil })
      || shown.contains(where: { $0.entry.mayHavePlaceholder || $0.entry.kind == .request })
    {
      last[SoundRule.unknown] = try store.lastSoundOfUnknown(boot: boot)
    }
    sounds = SoundRule(last: last, now: context.clock.now())
    for part in shown where part.isReplaced { add(part.event, of: part.connection, isHeard: false) }
    let shown = shown.filter { !$0.isReplaced }
    var onScreen = [Int64: [ShownRequest]]()
    for request in shown where request.entry.kind == .request && onScreen[request.event.owner.id] == nil {
      onScreen[request.event.owner.id] = try store.requestsOnScreen(userID: request.event.owner.id)
    }
    let plan = BurstPlan(
      shown.map(Self.item), hidesChats: policy.hidesNames, requestsShown: onScreen.mapValues(\.count))
    // Few enough for a linear search.
    let find = { (entry: Int64) in shown.first { $0.entry.id == entry } }
    for planned in plan.notifications {
      switch planned {
      case .single(let item):
        guard let shown = find(item.id) else { continue }
        let isHeard = sounds.takeSound(
          of: shown.entry.contactID, mayHavePlaceholder: shown.entry.mayHavePlaceholder)
        // A call sounds even if the chat has just made a sound.
        add(shown.event, of: shown.connection, isHeard: isHeard || shown.entry.kind == .call)
      case .summary(let user, let chat, let items):
        try addSummary(user, chat, items.compactMap { find($0.id) }, store)
      case .requests(let user, let items):
        try addRequests(user, items.compactMap { find($0.id) }, onScreen: onScreen[user] ?? [], store)
      }
    }
    for placeholder in placeholders {
      var content = placeholder.content
      content.isHeard = sounds.takeSound(of: placeholder.contactID, mayHavePlaceholder: false)
      notifications.append(content)
    }
  }

  private static func item(_ shown: Shown) -> BurstPlan.Item {
    guard case .message = shown.event.kind else {
      return BurstPlan.Item(
        id: shown.entry.id, user: shown.event.owner.id, chat: nil, isRequest: shown.entry.kind == .request)
    }
    return BurstPlan.Item(id: shown.entry.id, user: shown.event.owner.id, chat: shown.entry.contactID)
  }

  /// `connection` is where a tap leads, if anywhere.
  private mutating func add(_ event: NotificationEvent, of connection: String?, isHeard: Bool) {
    guard case .success(var content) = ContentBuilder.content(for: event, policy) else { return }
    content.isHeard = isHeard
    content.userInfo.connection = connection
    notifications.append(content)
  }

  /// A summary that is already on screen covers its unread messages as well.
  private mutating func addSummary(_ user: Int64, _ chat: Int64?, _ shown: [Shown], _ store: Store) throws(StoreError) {
    guard let latest = shown.last else { return }
    let identifier = NotificationIdentifier.many(user: user, chat: chat.map { "@\($0)" })
    let earlier = try Self.parts(try store.summaryParts(identifier.description), store)
    let parts = shown.reversed().compactMap { Self.part($0.event) } + earlier
    guard let burst = NotificationEvent.Burst(of: parts, to: latest.event.owner, hidesChats: policy.hidesNames) else {
      return
    }
    let heard = sounds.takeSound(for: shown.compactMap(\.entry.contactID))
    let event = NotificationEvent(identifier: identifier, owner: latest.event.owner, kind: .many(burst))
    add(event, of: latest.connection, isHeard: heard)
    summaries.append((identifier.description, shown.map(\.entry.id)))
    withdrawals += shown.filter(\.entry.mayHavePlaceholder).map(\.event.identifier.description)
  }

  /// Also covers the requests on screen, whose own notifications it replaces.
  private mutating func addRequests(
    _ user: Int64, _ shown: [Shown], onScreen: [ShownRequest], _ store: Store
  ) throws(StoreError) {
    guard let latest = shown.last else { return }
    let identifier = NotificationIdentifier.manyRequests(user: user)
    let names = shown.reversed().compactMap { Self.name($0.event) } + onScreen.map(\.name)
    let event = NotificationEvent(
      identifier: identifier, owner: latest.event.owner, kind: .manyRequests(.init(from: names)))
    let isHeard = sounds.takeSound(of: nil, mayHavePlaceholder: false)
    add(event, of: try Self.agentName(connectionID: latest.entry.connectionID, store), isHeard: isHeard)
    let replaced = onScreen.filter { $0.summary == nil }
    summaries.append((identifier.description, shown.map(\.entry.id) + replaced.map(\.entryID)))
    withdrawals += replaced.map { NotificationIdentifier.contactRequest(user: user, id: $0.requestID).description }
  }

  /// Nil for a damaged record: a tap leads to the app all the same (INC-44).
  private static func agentName(connectionID: Int64, _ store: Store) throws(StoreError) -> String? {
    do throws(StoreError) {
      return TextEncoding.base64URL(try store.connection(connectionID).agentID)
    } catch .damaged {
      return nil
    }
  }

  private static func name(_ event: NotificationEvent) -> String? {
    guard case .contactRequest(_, let name) = event.kind else { return nil }
    return name
  }

  /// Shows a summary again, without a sound, after some of its messages were read: with those that are left and may
  /// still be shown. Withdraws it if there are none.
  mutating func update(_ identifier: String, _ store: Store) throws(StoreError) {
    // Already shown with its new count.
    guard !summaries.contains(where: { $0.identifier == identifier }) else { return }
    let stored = try store.summaryParts(identifier)
    guard let user = stored.first?.userID else { return try updateRequests(identifier, store) }
    let owner = NotificationEvent.Owner(UserRecord(try store.user(user)))
    let parts = try Self.parts(stored, store)
    let ofChat = parts.compactMap(\.chat).first {
      NotificationIdentifier.many(user: user, chat: $0.id).description == identifier
    }
    // The chat's record is damaged.
    guard ofChat != nil || identifier == NotificationIdentifier.many(user: user, chat: nil).description else { return }
    guard let burst = NotificationEvent.Burst(of: parts, to: owner, hidesChats: policy.hidesNames) else {
      return withdrawals.append(identifier)
    }
    let event = NotificationEvent(identifier: .many(user: user, chat: ofChat?.id), owner: owner, kind: .many(burst))
    add(event, of: try Self.agentName(of: burst, stored, store), isHeard: false)
    reduced.append(identifier)
  }

  /// The same for a summary that is of no messages: of contact requests, or with nothing left in it.
  private mutating func updateRequests(_ identifier: String, _ store: Store) throws(StoreError) {
    let requests = try store.requestsOnScreen(summary: identifier)
    guard let latest = requests.first else { return withdrawals.append(identifier) }
    let owner = NotificationEvent.Owner(UserRecord(try store.user(latest.userID)))
    guard NotificationPolicy.showsRequests(to: owner) else { return withdrawals.append(identifier) }
    let event = NotificationEvent(
      identifier: .manyRequests(user: latest.userID), owner: owner,
      kind: .manyRequests(.init(from: requests.map(\.name))))
    add(event, of: TextEncoding.base64URL(latest.agentID), isHeard: false)
    reduced.append(identifier)
  }

  /// The agent's name for the latest chat. Nil for a damaged record: a tap leads there by the number alone (INC-44).
  private static func agentName(
    of burst: NotificationEvent.Burst, _ parts: [SummaryPart], _ store: Store
  ) throws(StoreError) -> String? {
    let latest: NotificationEvent.Chat? =
      switch burst.scope {
      case .chat(let chat): chat
      case .chats(let chats): chats.first
      }
    guard let part = parts.first(where: { "@\($0.contactID)" == latest?.id }) else { return nil }
    do throws(StoreError) {
      return try store.currentConnection(contactID: part.contactID).map { TextEncoding.base64URL($0.agentID) }
    } catch .damaged {
      return nil
    }
  }

  private static func parts(
    _ stored: [SummaryPart], _ store: Store
  ) throws(StoreError) -> [NotificationEvent.Burst.Part] {
    var parts: [NotificationEvent.Burst.Part] = []
    for part in stored {
      do throws(StoreError) {
        let contact = try store.contact(part.contactID)
        parts.append(
          .init(
            chat: .init(ContactRecord(contact, connection: nil)), filter: NotificationFilter(contact.notifications),
            count: part.count, mentions: part.mentions))
      } catch .damaged {
        parts.append(.init(chat: nil, count: part.count))
      }
    }
    return parts
  }

  private static func part(_ event: NotificationEvent) -> NotificationEvent.Burst.Part? {
    guard case .message(let message) = event.kind else { return nil }
    return .init(chat: message.chat, filter: event.filter, count: 1, mentions: message.mentionsUser ? 1 : 0)
  }

  /// Part of the transaction that records what is shown.
  func record(_ store: Store) throws(StoreError) {
    // Each is a new notification, distinct from an earlier one with the same identifier.
    for summary in summaries.map(\.identifier) + reduced { try store.forgetOpened(summary) }
    for summary in summaries {
      for entry in summary.entries { try store.setSummary(summary.identifier, entryID: entry) }
    }
    try sounds.record(at: context.clock.now(), boot: boot, store)
  }
}

extension SoundRule {
  /// Part of the transaction that records what is shown.
  func record(at moment: Moment, boot: String, _ store: Store) throws(StoreError) {
    for chat in sounding {
      if chat == Self.unknown {
        try store.noteSoundOfUnknown(at: moment, boot: boot)
      } else {
        try store.noteSound(contact: chat, at: moment, boot: boot)
      }
    }
  }
}
