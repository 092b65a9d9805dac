import PorterJSON
import PorterMachines
import PorterPlatform
import PorterSchema
import PorterStore

/// Rows of the store in the forms of the interface.
extension UserRecord {
  init(_ user: StoredUser) {
    let profile = Profile(displayName: user.displayName, fullName: user.fullName, stored: user.profile)
    self.init(
      id: user.id, contactID: user.id, localDisplayName: user.displayName,
      profile: ProfileRecord(id: user.id, profile: profile), isActive: user.isActive, activeOrder: user.activeOrder,
      viewPassword: user.viewPassword.map {
        .init(hash: TextEncoding.base64URL($0.hash), salt: TextEncoding.base64URL($0.salt))
      }, showsNotifications: user.showsNotifications, sendsReceipts: user.sendsReceipts)
  }
}

/// The part of a connection that records show: no keys, so that an event waiting to be read keeps none in memory.
struct ShownConnection {
  let record: PorterSchema.ConnectionRecord
  let isLeft: Bool

  init(_ connection: StoredConnection) {
    record = PorterSchema.ConnectionRecord(connection)
    isLeft = connection.status == PorterMachines.Connection.State.left.name
  }
}

extension ContactRecord {
  init(_ contact: StoredContact, connection: StoredConnection?) {
    self.init(contact, shown: connection.map { ShownConnection($0) })
  }

  init(_ contact: StoredContact, shown: ShownConnection?) {
    let profile = Profile(displayName: contact.displayName, fullName: contact.fullName, stored: contact.profile)
    self.init(
      id: contact.id, localDisplayName: contact.localName,
      profile: ProfileRecord(id: contact.id, profile: profile, localAlias: contact.localAlias),
      connection: shown?.record, status: Status(contact, isLeft: shown?.isLeft == true),
      settings: ChatSettings(
        notifications: NotificationFilter(contact.notifications), sendsReceipts: contact.sendsReceipts,
        isFavorite: contact.isFavorite),
      userPreferences: Preferences(stored: contact.preferences) ?? Preferences(),
      usersPreferences: Preferences(stored: contact.usersPreferences) ?? Preferences(),
      customData: contact.customData.flatMap { try? JSONValue(parsing: $0) }?.objectValue, created: contact.createdAt,
      updated: contact.updatedAt, lastItem: contact.chatAt)
  }
}

extension ContactRecord.Status {
  fileprivate init(_ contact: StoredContact, isLeft: Bool) {
    self = contact.isKept ? .deletedByUser : isLeft ? .deleted : .active
  }
}

extension Profile {
  /// The names have their own columns in the store, for searching; the rest is JSON.
  init(displayName: String, fullName: String, stored: String?) {
    self = stored.flatMap { try? JSONValue(parsing: $0) }.flatMap { Profile(json: $0) } ?? Profile(displayName: "")
    (self.displayName, self.fullName) = (displayName, fullName)
  }

  /// Nil when there are only names, as in most profiles.
  var stored: String? { json.objectValue?.members.count == 2 ? nil : json.text }

  /// Nil where the other side sees the user's own profile.
  init?(incognito stored: String?) {
    guard let json = stored.flatMap({ try? JSONValue(parsing: $0) }) else { return nil }
    self.init(json: json)
  }
}

extension StoredUser {
  /// The profile sent to this user's contacts.
  var profileToSend: Profile { Profile(displayName: displayName, fullName: fullName, stored: profile) }
}

extension NotificationFilter {
  init(_ setting: NotificationSetting) {
    switch setting {
    case .all: self = .all
    case .mentions: self = .mentions
    case .none: self = .none
    }
  }

  var setting: NotificationSetting {
    switch self {
    case .all: .all
    case .mentions: .mentions
    case .none: .none
    }
  }
}

extension PorterSchema.ConnectionRecord {
  init(_ connection: StoredConnection) {
    self.init(
      id: connection.id, agentID: TextEncoding.base64URL(connection.agentID),
      status: ConnectionStatus(connection), isInitiator: connection.isInitiated,
      entityID: connection.contactID, kind: connection.isAddress ? .address : .contact,
      incognitoProfileID: connection.incognito.map { _ in connection.id }, created: connection.createdAt)
  }
}

extension StoredConnection {
  /// Whether this is the user's own address, not a connection to a contact.
  var isAddress: Bool { status == PorterMachines.Connection.State.published.name }

  /// The profile sent to the other side.
  func profileToSend(_ user: StoredUser) -> Profile { Profile(incognito: incognito) ?? user.profileToSend }

  /// The profile sent to this contact, with the preferences set for it in particular.
  func profileToSend(_ user: StoredUser, to contact: StoredContact) -> Profile {
    var profile = profileToSend(user)
    if let own = Preferences(stored: contact.preferences) {
      profile.preferences = (profile.preferences ?? Preferences()).overridden(by: own)
    }
    return profile
  }
}

extension ConnectionEntity {
  init(_ connection: StoredConnection, _ contact: StoredContact?, _ store: Store) {
    let address = connection.isAddress ? try? store.address(connectionID: connection.id) : nil
    self.init(ShownConnection(connection), contact, address.map { AddressRecord($0) })
  }

  /// `address`: set if the connection is an address.
  init(_ connection: ShownConnection, _ contact: StoredContact?, _ address: AddressRecord?) {
    self.init(
      connection: connection.record, contact: contact.map { ContactRecord($0, shown: connection) }, address: address)
  }
}

extension AddressRecord {
  init(_ address: StoredAddress) {
    self.init(id: address.id, link: address.link, settings: AddressSettings(stored: address.settings) ?? .initial)
  }
}

extension UserContactRequest {
  init(_ request: StoredContactRequest) {
    let profile = Profile(displayName: request.displayName, fullName: request.fullName, stored: request.profile)
    self.init(
      id: request.id, person: TextEncoding.base64URL(request.person), addressID: request.addressID,
      contactID: request.contactID, profile: ProfileRecord(id: request.id, profile: profile),
      created: request.createdAt, updated: request.updatedAt)
  }
}

extension PendingConnectionRecord {
  init(_ connection: StoredConnection) {
    self.init(
      id: connection.id, agentID: TextEncoding.base64URL(connection.agentID),
      status: ConnectionStatus(connection), invitationLink: connection.link,
      isRequest: connection.request != nil, incognitoProfileID: connection.incognito.map { _ in connection.id },
      localAlias: connection.localAlias,
      created: connection.createdAt,
      updated: connection.updatedAt)
  }
}

extension ChatItemRecord {
  /// `now`: the time of the report, if it may be long after the item was written.
  init(_ item: StoredItem, at now: ClockReading? = nil) {
    let (content, call) = MessageContent.stored(item.content, isSent: item.isSent)
    self.init(
      id: item.id, direction: item.isSent ? .sent : .received, content: content,
      quote: item.quote.flatMap { QuoteRecord(stored: $0, isSent: item.isSent) },
      status: ChatItemStatus(stored: item.status), sharedID: item.sharedID.map { TextEncoding.base64URL($0) },
      timestamp: item.itemAt, created: item.createdAt, updated: item.updatedAt, isEdited: item.isEdited,
      deleted: item.deletedAt, isLive: item.isLive,
      timed: item.secondsToLive.map { Timed(seconds: $0, deletedAt: item.disappearsAt) },
      mentionsUser: item.mentionsUser, reactions: ReactionCount.counted(item.reactions),
      isChangeable: item.sharedID != nil
        && ItemRules.edit(ItemRules.Subject(item, age: now.map { item.age(at: $0) } ?? .zero)) == .allowed)
    self.call = call
  }
}

extension MessageContent {
  init(_ item: ShownItem) { self = Self.stored(item.content, isSent: item.isSent).content }

  /// Returns the content, and the call if the item is a call's. Unreadable content becomes empty text.
  fileprivate static func stored(_ text: String, isSent: Bool) -> (content: MessageContent, call: CallItem?) {
    let json = try? JSONValue(parsing: text)
    let call = json.flatMap { CallItem(stored: $0) }
    let content = json.flatMap { MessageContent(json: $0) } ?? call.map { .text($0.text(isSent ? .sent : .received)) }
    return (content ?? .text(""), call)
  }
}

extension ReactionCount {
  /// Each reaction once, with its total and whether the user reacted.
  static func counted(_ reactions: [StoredReaction]) -> [ReactionCount] {
    var counts: [ReactionCount] = []
    for stored in reactions {
      guard let reaction = (try? JSONValue(parsing: stored.reaction)).flatMap({ MessageReaction(json: $0) }) else {
        continue
      }
      if let index = counts.firstIndex(where: { $0.reaction == reaction }) {
        counts[index].total += 1
        counts[index].userReacted = counts[index].userReacted || stored.isOwn
      } else {
        counts.append(ReactionCount(reaction: reaction, userReacted: stored.isOwn, total: 1))
      }
    }
    return counts
  }
}

extension ChatItemStatus {
  init(stored: String) {
    switch stored {
    case "sndNew": self = .sndNew
    case "sndSent": self = .sndSent
    case "sndRcvd": self = .sndRcvd
    case "sndErrorAuth": self = .sndErrorAuth
    case "sndErrorQuota": self = .sndError(.quota)
    case "rcvNew": self = .rcvNew
    case "rcvRead": self = .rcvRead
    default: self = .sndError(.other(stored))
    }
  }
}

extension ConnectionStatus {
  /// SimpleX's words for the states of the machine `connection`, which differ between the two sides of an invitation.
  init(_ connection: StoredConnection) {
    switch PorterMachines.Connection.State(name: connection.status) {
    case .none?, .requested: self = .new
    case .accepted: self = connection.isInitiated ? .joined : .sndReady
    case .ready, .published: self = .ready
    case .left, .deleted: self = .deleted
    case nil: self = .failed(reason: "unknown state")
    }
  }
}
