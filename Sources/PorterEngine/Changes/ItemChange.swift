import PorterJSON
import PorterPlatform
import PorterSchema
import PorterStore

/// What one message of a contact changed in a chat, such as in another message. Stored with the ledger's entry, so that a host
/// learns of it also if another process committed it.
enum ItemChange {
  case edited(itemID: Int64)
  /// `isKept`: it is marked as deleted, and still there.
  case removed(RemovedItem, isKept: Bool)
  case reacted(itemID: Int64, MessageReaction, isAdded: Bool, at: WallTime)
  /// The contact has received the message.
  case delivered(itemID: Int64)
  /// The contact is connected, and the user's address has welcomed it with this message.
  case welcomed(itemID: Int64)

  /// A deleted message, as much as is left of it.
  struct RemovedItem {
    let id: Int64
    let isSent: Bool
    let sharedID: [UInt8]?
    let itemAt: WallTime
    /// As it was before; nil in another process than the one that deleted it, since its text was deleted.
    var whole: StoredItem?

    init(_ item: StoredItem) {
      (id, isSent, sharedID, itemAt, whole) = (item.id, item.isSent, item.sharedID, item.itemAt, item)
    }

    fileprivate init(id: Int64, isSent: Bool, sharedID: [UInt8]?, itemAt: WallTime) {
      (self.id, self.isSent, self.sharedID, self.itemAt) = (id, isSent, sharedID, itemAt)
    }
  }

  var itemID: Int64 {
    switch self {
    case .edited(let id), .reacted(let id, _, _, _), .delivered(let id), .welcomed(let id): id
    case .removed(let item, _): item.id
    }
  }

  var stored: String {
    let json: JSONValue =
      switch self {
      case .edited(let id): ["edited": .integer(id)]
      case .delivered(let id): ["delivered": .integer(id)]
      case .welcomed(let id): ["welcomed": .integer(id)]
      case .reacted(let id, let reaction, let isAdded, let time):
        [
          "reacted": .integer(id), "reaction": reaction.json, "added": .bool(isAdded),
          "at": .integer(time.milliseconds),
        ]
      case .removed(let item, let isKept):
        .compact([
          "removed": .integer(item.id), "kept": .bool(isKept), "sent": .bool(item.isSent),
          "sharedId": item.sharedID.map { .string(TextEncoding.base64URL($0)) },
          "at": .integer(item.itemAt.milliseconds),
        ])
      }
    return json.text
  }

  /// Nil for what does not read, as of a later version.
  init?(stored: String) {
    guard let json = try? JSONValue(parsing: stored) else { return nil }
    let time = WallTime(milliseconds: json["at"]?.integerValue ?? 0)
    if let id = json["edited"]?.integerValue {
      self = .edited(itemID: id)
    } else if let id = json["delivered"]?.integerValue {
      self = .delivered(itemID: id)
    } else if let id = json["welcomed"]?.integerValue {
      self = .welcomed(itemID: id)
    } else if let id = json["removed"]?.integerValue, let isSent = json["sent"]?.boolValue,
      let isKept = json["kept"]?.boolValue
    {
      let sharedID = (json["sharedId"]?.stringValue).flatMap { TextEncoding.base64URLDecoded($0) }
      self = .removed(RemovedItem(id: id, isSent: isSent, sharedID: sharedID, itemAt: time), isKept: isKept)
    } else if let id = json["reacted"]?.integerValue, let isAdded = json["added"]?.boolValue,
      let reaction = json["reaction"].flatMap({ MessageReaction(json: $0) })
    {
      self = .reacted(itemID: id, reaction, isAdded: isAdded, at: time)
    } else {
      return nil
    }
  }

  /// The message as it is now; nil when it was deleted.
  func remainingItem(_ store: Store) throws(StoreError) -> StoredItem? {
    if case .removed(_, isKept: false) = self { return nil }
    do throws(StoreError) { return try store.item(itemID) } catch .notFound { return nil }
  }

  /// The event for the host. Nil when the message was deleted meanwhile, which has an event of its own.
  func event(user: UserRecord, contact: ContactRecord, _ item: StoredItem?) -> Event? {
    let info = ChatInfo.direct(contact)
    let now = item.map { ChatItemInChat(info: info, item: ChatItemRecord($0)) }
    switch self {
    case .edited: return now.map { .chatItemUpdated(user, $0) }
    case .delivered: return now.map { .chatItemsStatusesUpdated(user, [$0]) }
    case .welcomed: return now.map { .newChatItems(user, [$0]) }
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
    }
  }
}

extension ItemChange.RemovedItem {
  /// As it was; or with what is left of it.
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
