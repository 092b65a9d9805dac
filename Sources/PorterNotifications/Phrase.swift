/// Every text of ours that a user may see in a notification. The English text is the key to its wording in a string
/// table, and to a host's own translation. Each `%@` stands for a text, `%d` for a count; `Wording.swift` has the
/// rules.
package enum Phrase: String, Hashable, Sendable, CaseIterable {
  case wantsToConnect = "%@ wants to connect!"
  case somebody = "Somebody"
  case acceptRequest = "Accept contact request from %@?"
  case thisContact = "this contact"
  case isConnected = "%@ is connected!"
  case aNewContact = "A new contact"
  case canChat = "You can now chat with %@"

  case fromContact = "%@:"
  case contactHidden = "Contact hidden:"
  case fromMember = "#%@ %@:"
  case groupMessage = "Group message:"
  case newMessageBody = "new message"
  case voiceMessage = "Voice message (%@)"
  case report = "Report: %@"
  case spam = "spam"
  case inappropriateContent = "inappropriate content"
  case guidelinesViolation = "violation of community guidelines"
  case inappropriateProfile = "inappropriate profile"
  case anotherReason = "another reason"

  case videoCall = "Incoming video call"
  case audioCall = "Incoming audio call"
  case missedCall = "Missed call"

  case newContact = "New contact:"
  case messageReceived = "message received"
  case newContactRequest = "New contact request"
  case sentFileEvent = "Sent file event"
  case receivedFileEvent = "Received file event"

  case newMessages = "%d new messages"
  case fromOne = "From: %@"
  case fromTwo = "From: %@ and %@"
  case fromThree = "From: %@, %@ and %@"
  case fromMore = "From: %@, %@ and %d other chats"
  case fromChats = "From %d chats"
  case newRequests = "%d contact requests"
  case fromOthers = "From: %@, %@ and %d others"

  // Of categories and their actions.
  case accept = "Accept"
  case acceptIncognito = "Accept incognito"
  case reject = "Reject"
  case markAsRead = "Mark as read"
  case reply = "Reply"
  case contactIsConnected = "Contact is connected"
  case newMessage = "New message"
  case incomingCall = "Incoming call"
  case newEvents = "New events"
  case encryptedMessage = "Encrypted message or another app event"

  // Of notices: what is wrong, and what to do.
  case openToReceive = "Open the app to receive it."
  case encryptedLocked = "Encrypted message: device is locked"
  case unlockToReceive = "Unlock the device and open the app to receive it."
  case encryptedStopped = "Encrypted message: app is stopped"
  case startToReceive = "Open the app and start the chat to receive messages."
  case encryptedNoPassphrase = "Encrypted message: no passphrase"
  case openForPassphrase = "Open the app and enter the passphrase."
  case encryptedMigration = "Encrypted message: database migration error"
  case openToUpdate = "Open the app to update its database."
  case encryptedDatabase = "Encrypted message: database error"
  case openToRepair = "Open the app to see what is wrong."

  /// The phrase's parameters, in order.
  package var parameters: [Parameter] {
    switch self {
    case .wantsToConnect, .acceptRequest, .isConnected, .canChat, .fromContact, .voiceMessage, .report,
      .fromOne:
      [.text]
    case .fromMember, .fromTwo: [.text, .text]
    case .fromThree: [.text, .text, .text]
    case .fromMore, .fromOthers: [.text, .text, .count]
    case .newMessages, .fromChats, .newRequests: [.count]
    case .somebody, .thisContact, .aNewContact, .contactHidden, .groupMessage, .newMessageBody, .videoCall, .audioCall,
      .missedCall, .newContact, .messageReceived, .newContactRequest, .sentFileEvent, .receivedFileEvent, .spam,
      .inappropriateContent,
      .guidelinesViolation, .inappropriateProfile, .anotherReason, .accept, .acceptIncognito, .reject, .markAsRead,
      .reply, .contactIsConnected, .newMessage, .incomingCall, .newEvents, .encryptedMessage,
      .openToReceive, .encryptedLocked, .unlockToReceive, .encryptedStopped, .startToReceive, .encryptedNoPassphrase,
      .openForPassphrase, .encryptedMigration, .openToUpdate, .encryptedDatabase, .openToRepair:
      []
    }
  }

  package enum Parameter: Hashable, Sendable {
    case text
    /// At most one in a phrase. It selects the plural form.
    case count
  }

  /// Whether the wording depends on a count.
  package var isPlural: Bool { parameters.contains(.count) }
}

/// A text to show: a phrase with its arguments, worded by a string table, or a literal such as a message's text.
package enum ShownText: Hashable, Sendable {
  package enum Argument: Hashable, Sendable {
    case text(String)
    case phrase(Phrase)
    case count(Int)
  }

  case phrase(Phrase, [Argument])
  case verbatim(String)

  package static let none = ShownText.verbatim("")
  package static func phrase(_ phrase: Phrase) -> ShownText { .phrase(phrase, []) }

  package func text(in table: StringTable) -> String {
    switch self {
    case .verbatim(let text): text
    case .phrase(let phrase, let arguments): table.text(phrase, arguments)
    }
  }
}
