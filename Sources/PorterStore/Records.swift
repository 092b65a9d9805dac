import PorterCrypto
import PorterPlatform

// Rows. Those about a person print only their number, since values end up in logs and crash reports. Connections and
// users are immutable objects: a push passes them around often, and each copy of a structure counts the references of
// all its columns.

package final class StoredUser: Sendable, CustomStringConvertible {
  package let id: Int64
  package let displayName: String
  package let fullName: String
  /// The whole profile as JSON; nil if there are only names.
  package let profile: String?
  package let isActive: Bool
  package let activeOrder: Int64
  package let showsNotifications: Bool
  package let sendsReceipts: Bool
  package let unread: Int64
  package let createdAt: WallTime
  /// Set for a hidden profile.
  package let viewPassword: StoredPassword?

  package var description: String { "user \(id)" }
  package var isHidden: Bool { viewPassword != nil }
  /// Reachable only by its password.
  package var isOutOfSight: Bool { isHidden && !isActive }

  /// From `Store.userColumns`, starting at `first`.
  init(_ row: borrowing Row, at first: Int32 = 0) {
    (id, displayName, fullName) = (row.integer(first), row.text(first + 1), row.text(first + 2))
    (isActive, activeOrder) = (row.flag(first + 3), row.integer(first + 4))
    (showsNotifications, unread) = (row.flag(first + 5), row.integer(first + 6))
    createdAt = WallTime(milliseconds: row.integer(first + 7))
    (profile, sendsReceipts) = (row.optionalText(first + 8), row.flag(first + 9))
    viewPassword = StoredPassword(hash: row.optionalBlob(first + 10), salt: row.optionalBlob(first + 11))
  }
}

/// Verifies the password of a hidden profile.
package struct StoredPassword: Hashable, Sendable {
  package var hash: [UInt8]
  package var salt: [UInt8]

  package init(hash: [UInt8], salt: [UInt8]) {
    self.hash = hash
    self.salt = salt
  }

  init?(hash: [UInt8]?, salt: [UInt8]?) {
    guard let hash, let salt else { return nil }
    self.init(hash: hash, salt: salt)
  }
}

/// Which of a chat's items may notify; SimpleX's `enableNtfs`.
package enum NotificationSetting: String, Sendable {
  case all, mentions, none
}

package struct StoredContact: Sendable, CustomStringConvertible {
  package var id: Int64
  package var userID: Int64
  package var localName: String
  package var displayName: String
  package var fullName: String
  /// The whole profile as JSON; nil if there are only names.
  package var profile: String?
  package var notifications: NotificationSetting
  package var isFavorite: Bool
  package var sendsReceipts: Bool?
  package var unread: Int64
  /// Of these, the ones that mention the user.
  package var unreadMentions: Int64
  package var isMarkedUnread: Bool
  package var createdAt: WallTime
  package var updatedAt: WallTime
  package var chatAt: WallTime
  /// The name given by the user; empty for none.
  package var localAlias: String
  /// The host's own data, as JSON.
  package var customData: String?
  /// The user's preferences for this contact in particular, and for contacts in general, as JSON.
  package var preferences: String?
  /// The user has deleted the contact but kept the conversation: it has no connection.
  package var isKept: Bool
  package var usersPreferences: String?

  package var description: String { "contact \(id)" }
}

/// The initial values of a new connection.
package struct NewConnection: Sendable {
  package var userID: Int64
  package var contactID: Int64?
  package var agentID: [UInt8]
  package var status: String
  package var isInitiated: Bool
  package var recipientID: [UInt8]
  package var recipientKey: SigningKeyPair
  package var senderID: [UInt8]
  package var isSecured: Bool
  package var peerSenderID: [UInt8]?
  package var peerKey: SigningKeyPair
  package var invitation: SecretBytes?
  package var link: String?
  package var incognito: String?
  package var request: AddressRequest?

  package init(
    userID: Int64, contactID: Int64?, agentID: [UInt8], status: String, isInitiated: Bool, recipientID: [UInt8],
    recipientKey: SigningKeyPair, senderID: [UInt8], isSecured: Bool, peerSenderID: [UInt8]?, peerKey: SigningKeyPair,
    invitation: SecretBytes?, link: String?
  ) {
    self.userID = userID
    self.contactID = contactID
    self.agentID = agentID
    self.status = status
    self.isInitiated = isInitiated
    self.recipientID = recipientID
    self.recipientKey = recipientKey
    self.senderID = senderID
    self.isSecured = isSecured
    self.peerSenderID = peerSenderID
    self.peerKey = peerKey
    self.invitation = invitation
    self.link = link
  }
}

package struct StoredItem: Sendable, CustomStringConvertible {
  package var id: Int64
  package var contactID: Int64
  package var isSent: Bool
  /// The message's content as JSON.
  package var content: String
  /// The quoted item, as JSON.
  package var quote: String?
  /// SimpleX's `CIStatus` tag: `rcvNew`, `rcvRead`, `sndNew`, `sndSent`, `sndErrorAuth`, `sndError`.
  package var status: String
  package var sharedID: [UInt8]?
  package var itemAt: WallTime
  package var createdAt: WallTime
  package var updatedAt: WallTime
  package var isEdited: Bool
  /// When it was marked as deleted.
  package var deletedAt: WallTime?
  /// Still being written.
  package var isLive: Bool
  /// How long it stays once its time runs, and until when.
  package var secondsToLive: Int64?
  package var disappearsAt: WallTime?
  package var mentionsUser: Bool
  /// Created by an edit that arrived before its message.
  package var hasOvertaken: Bool
  package var reactions: [StoredReaction]
  /// When the user sent it; nil for items from a contact, and for items stored by an earlier version.
  package var sentMoment: BootMoment?

  package var description: String { "item \(id)" }
}

/// The part of an item that a notification shows.
package struct ShownItem: Sendable {
  /// JSON.
  package var content: String
  package var isSent: Bool
  package var isDeleted: Bool
  package var mentionsUser: Bool
}

/// One side's reaction to a message.
package struct StoredReaction: Hashable, Sendable {
  /// Whether it is the user's.
  package var isOwn: Bool
  /// JSON.
  package var reaction: String

  package init(isOwn: Bool, reaction: String) {
    self.isOwn = isOwn
    self.reaction = reaction
  }
}

/// An entry to write.
package struct NewLedgerEntry: Sendable {
  package var connectionID: Int64
  package var messageID: [UInt8]
  package var messageAt: WallTime
  package var kind: StoredLedgerEntry.Kind
  package var contactID: Int64?
  package var itemID: Int64?
  package var requestID: Int64?
  /// The change, for an entry of the kind `changed`, as JSON.
  package var detail: String?

  package init(
    connectionID: Int64, messageID: [UInt8], messageAt: WallTime, kind: StoredLedgerEntry.Kind, contactID: Int64?,
    itemID: Int64? = nil, requestID: Int64? = nil, detail: String? = nil
  ) {
    self.connectionID = connectionID
    self.messageID = messageID
    self.messageAt = messageAt
    self.kind = kind
    self.contactID = contactID
    self.itemID = itemID
    self.requestID = requestID
    self.detail = detail
  }
}

/// One thing that may be shown as a notification.
package struct StoredLedgerEntry: Sendable {
  package enum Kind: String, Sendable, CaseIterable {
    /// A message with an item.
    case message
    /// A contact has become ready.
    case connected
    /// A person asks, through the user's address, to become a contact.
    case request
    /// Nothing to show: a receipt, a repeat, or part of a handshake.
    case silent
    /// Nothing to show, but reported to a host that observes changes: the contact has another profile.
    case updated
    /// Like `updated`: the contact has deleted the connection.
    case left
    /// Like `updated`: something has changed in the chat, such as a message that the contact edited. `detail` says
    /// what.
    case changed
    /// Like `updated`: a contact has followed our invitation but is not connected yet.
    case connecting
    /// Like `updated`: a contact's request was accepted without a command from the host.
    case accepting
    /// Like `updated`: the relay has the acceptance of a contact's request, so the contact can be written to.
    case ready
    /// Like `updated`: a person has withdrawn a request.
    case withdrawnRequest
    /// A call from the contact, with an item.
    case call
    /// One of the host's own pushes, with its own row; handed to the host instead of shown.
    case application

    /// Whether it waits to be shown, or handed over.
    package var isShown: Bool {
      switch self {
      case .message, .connected, .request, .call, .application: true
      case .silent, .updated, .left, .changed, .connecting, .accepting, .ready, .withdrawnRequest: false
      }
    }

    /// Whether it counts as unread.
    package var counts: Bool {
      switch self {
      case .message, .call: true
      case .connected, .request, .application: false
      case .silent, .updated, .left, .changed, .connecting, .accepting, .ready, .withdrawnRequest: false
      }
    }
  }

  package var id: Int64
  package var connectionID: Int64
  package var messageID: [UInt8]
  package var messageAt: WallTime
  /// A state of the machine `ledger_entry`.
  package var state: String
  package var kind: Kind
  package var contactID: Int64?
  package var itemID: Int64?
  /// The change, for an entry of the kind `changed`, as JSON. For one in quarantine, when it reached its source, if
  /// known.
  package var detail: String?
  /// The summary notification that stands for it among others.
  package var summary: String?
  package var requestID: Int64?
  /// Whether a removal of its notification is recorded.
  package var isRemovalDue = false
  /// The last sound of its chat, if requested.
  package var lastSound: Moment?
}

/// A notification to withdraw.
package struct StoredWithdrawal: Sendable {
  /// Its ledger entry; nil if its connection was deleted: then `id` identifies it.
  package var entryID: Int64?
  package var id: Int64?
  package var agentID: [UInt8]
  package var messageID: [UInt8]
  package var kind: StoredLedgerEntry.Kind
  package var userID: Int64
  package var contactID: Int64?
  package var requestID: Int64?
  /// The summary it is part of.
  package var summary: String?

  package init(
    entryID: Int64?, id: Int64? = nil, agentID: [UInt8], messageID: [UInt8], kind: StoredLedgerEntry.Kind,
    userID: Int64, contactID: Int64?, requestID: Int64? = nil, summary: String? = nil
  ) {
    self.summary = summary
    self.entryID = entryID
    self.id = id
    self.agentID = agentID
    self.messageID = messageID
    self.kind = kind
    self.userID = userID
    self.contactID = contactID
    self.requestID = requestID
  }
}

package struct OutboxEntry: Sendable {
  package var id: Int64
  package var connectionID: Int64
  package var itemID: Int64?
  package var purpose: String
  package var isSigned: Bool
  package var notifies: Bool
  package var body: [UInt8]
  package var deduplication: [UInt8]
  package var attempts: Int64
}

/// The device's token at the notification server.
package struct StoredToken: Sendable {
  package var provider: String
  package var deviceToken: [UInt8]
  package var server: String
  /// A state of the machine `token_status`.
  package var status: String
  package var mode: String
  package var serverTokenID: [UInt8]?
  package var signingKey: SigningKeyPair
  package var boxKey: BoxSecretKey
  package var pushSecret: BoxSharedKey?
  package var verificationCode: SecretBytes?
  package var replyMailbox: ReplyMailbox?
  /// Why it last needed repair; nil if it never did.
  package var repair: Repair?

  package struct Repair: Hashable, Sendable {
    /// The name of an event of `token_status`.
    package var reason: String
    package var at: WallTime

    package init(reason: String, at: WallTime) {
      self.reason = reason
      self.at = at
    }
  }

  package struct ReplyMailbox: Sendable {
    package var recipientID: [UInt8]
    package var recipientKey: SigningKeyPair
    package var senderID: [UInt8]

    package init(recipientID: [UInt8], recipientKey: SigningKeyPair, senderID: [UInt8]) {
      self.recipientID = recipientID
      self.recipientKey = recipientKey
      self.senderID = senderID
    }
  }

  package init(
    provider: String, deviceToken: [UInt8], server: String, status: String, mode: String, serverTokenID: [UInt8]?,
    signingKey: SigningKeyPair, boxKey: BoxSecretKey, pushSecret: BoxSharedKey?, verificationCode: SecretBytes?,
    replyMailbox: ReplyMailbox?, repair: Repair? = nil
  ) {
    self.provider = provider
    self.deviceToken = deviceToken
    self.server = server
    self.status = status
    self.mode = mode
    self.serverTokenID = serverTokenID
    self.signingKey = signingKey
    self.boxKey = boxKey
    self.pushSecret = pushSecret
    self.verificationCode = verificationCode
    self.replyMailbox = replyMailbox
    self.repair = repair
  }
}

/// A request to a notification server, or the last message to a deleted contact; sent until the relay has it.
package struct ServerOutboxEntry: Sendable {
  package var id: Int64
  package var mailbox: [UInt8]
  /// The key that signs it, if any.
  package var key: SigningKeyPair?
  package var body: [UInt8]
  package var deduplication: [UInt8]
}
