import PorterJSON
import PorterPlatform
import PorterSchema
import PorterStore

/// A change to a chat, mostly by a message of the contact. Stored with the ledger's entry, so that a host is notified
/// even if another process committed it.
enum ItemChange {
  case edited(itemID: Int64)
  /// `isKept`: it is marked as deleted, but still there.
  case removed(RemovedItem, isKept: Bool)
  case reacted(itemID: Int64, MessageReaction, isAdded: Bool, at: WallTime)
  /// The contact has received the message, or the relay has accepted or refused it.
  case statusChanged(itemID: Int64)
  /// Sent other than by a command of the app: the address welcomed a contact, a share extension sent it, or it is a
  /// call.
  case sent(itemID: Int64)
  /// Their time is over.
  case disappeared([RemovedItem])

  /// What is left of a deleted message.
  struct RemovedItem {
    let id: Int64
    let isSent: Bool
    let sharedID: [UInt8]?
    let itemAt: WallTime
    /// The message before the deletion; nil in any process other than the deleting one, since its text was deleted.
    var whole: StoredItem?

    init(_ item: StoredItem) {
      (id, isSent, sharedID, itemAt, whole) = (item.id, item.isSent, item.sharedID, item.itemAt, item)
    }

  }

  /// Nil if it concerns several items.
  private var itemID: Int64? {
    switch self {
    case .edited(let id), .reacted(let id, _, _, _), .statusChanged(let id), .sent(let id): id
    case .removed(let item, _): item.id
    case .disappeared: nil
    }
  }

  var stored: String {
    let json: JSONValue =
      switch self {
      case .edited(let id): ["edited": .integer(id)]
      case .statusChanged(let id): ["status": .integer(id)]
      case .sent(let id): ["new": .integer(id)]
      case .disappeared(let items): ["disappeared": .array(items.map(\.stored))]
      case .reacted(let id, let reaction, let isAdded, let time):
        [
          "reacted": .integer(id), "reaction": reaction.json, "added": .bool(isAdded),
          "at": .integer(time.milliseconds),
        ]
      case .removed(let item, let isKept): ["removed": item.stored, "kept": .bool(isKept)]
      }
    return json.text
  }

  /// Nil if unreadable, for example from a later version.
  init?(stored: String) {
    guard let json = try? JSONValue(parsing: stored) else { return nil }
    if let id = json["edited"]?.integerValue {
      self = .edited(itemID: id)
    } else if let id = json["status"]?.integerValue {
      self = .statusChanged(itemID: id)
    } else if let id = json["new"]?.integerValue {
      self = .sent(itemID: id)
    } else if let items = json["disappeared"]?.arrayValue {
      self = .disappeared(items.compactMap { RemovedItem(stored: $0) })
    } else if let item = json["removed"].flatMap({ RemovedItem(stored: $0) }), let isKept = json["kept"]?.boolValue {
      self = .removed(item, isKept: isKept)
    } else if let id = json["reacted"]?.integerValue, let isAdded = json["added"]?.boolValue,
      let reaction = json["reaction"].flatMap({ MessageReaction(json: $0) })
    {
      self = .reacted(
        itemID: id, reaction, isAdded: isAdded, at: WallTime(milliseconds: json["at"]?.integerValue ?? 0))
    } else {
      return nil
    }
  }

  /// The message as it is now; nil when it was deleted.
  func remainingItem(_ store: Store) throws(StoreError) -> StoredItem? {
    if case .removed(_, isKept: false) = self { return nil }
    guard let itemID else { return nil }
    do throws(StoreError) { return try store.item(itemID) } catch .notFound { return nil }
  }

  /// The event for the host. Nil when the message was deleted in the meantime; that has its own event.
  func event(user: UserRecord, contact: ContactRecord, _ item: StoredItem?) -> Event? {
    let info = ChatInfo.direct(contact)
    let now = item.map { ChatItemInChat(info: info, item: ChatItemRecord($0)) }
    switch self {
    case .edited: return now.map { .chatItemUpdated(user, $0) }
    case .statusChanged: return now.map { .chatItemsStatusesUpdated(user, [$0]) }
    case .sent: return now.map { .newChatItems(user, [$0]) }
    case .reacted(_, let reaction, let isAdded, let time):
      return now.map {
        .chatItemReaction(
          user, isAdded: isAdded,
          ReactionInChat(info: info, direction: .received, item: $0.item, sentAt: time, reaction: reaction))
      }
    case .removed(let removed, let isKept):
      if isKept, now == nil { return nil }
      let before = ChatItemInChat(info: info, item: removed.record(now?.item))
      return .chatItemsDeleted(
        user, [ChatItemDeletion(deleted: before, remaining: now)], byUser: false, isTimed: false)
    case .disappeared(let items):
      let deletions = items.map {
        ChatItemDeletion(deleted: ChatItemInChat(info: info, item: $0.record()), remaining: nil)
      }
      return deletions.isEmpty ? nil : .chatItemsDeleted(user, deletions, byUser: true, isTimed: true)
    }
  }
}

extension ItemChange.RemovedItem {
  fileprivate var stored: JSONValue {
    .compact([
      "id": .integer(id), "sent": .bool(isSent), "sharedId": sharedID.map { .string(TextEncoding.base64URL($0)) },
      "at": .integer(itemAt.milliseconds),
    ])
  }

  fileprivate init?(stored: JSONValue) {
    guard let id = stored["id"]?.integerValue, let isSent = stored["sent"]?.boolValue else { return nil }
    (self.id, self.isSent) = (id, isSent)
    sharedID = (stored["sharedId"]?.stringValue).flatMap { TextEncoding.base64URLDecoded($0) }
    itemAt = WallTime(milliseconds: stored["at"]?.integerValue ?? 0)
    whole = nil
  }

  /// The item as it was, or what is left of it.
  func record(_ remaining: ChatItemRecord? = nil) -> ChatItemRecord {
    if let whole { return ChatItemRecord(whole) }
    if var record = remaining {
      record.deleted = nil
      return record
    }
    return ChatItemRecord(
      id: id, direction: isSent ? .sent : .received, content: .text(""), status: isSent ? .sndSent : .rcvRead,
      sharedID: sharedID.map { TextEncoding.base64URL($0) }, timestamp: itemAt, created: itemAt, updated: itemAt)
  }
}
