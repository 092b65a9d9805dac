/// Every text of ours that a user may see in a notification. The English text is the key under which a host finds its
/// translation; each `%@` stands for the next argument.
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

  case videoCall = "Incoming video call"
  case audioCall = "Incoming audio call"

  case newContact = "New contact:"
  case messageReceived = "message received"
  case newContactRequest = "New contact request"
  case sentFileEvent = "Sent file event"
  case receivedFileEvent = "Received file event"
}

/// A text to show: a phrase with its arguments, which a host may translate, or a literal such as a message's text.
package enum ShownText: Hashable, Sendable {
  package enum Argument: Hashable, Sendable {
    case text(String)
    case phrase(Phrase)
  }

  case phrase(Phrase, [Argument])
  case verbatim(String)

  package static let none = ShownText.verbatim("")
  package static func phrase(_ phrase: Phrase) -> ShownText { .phrase(phrase, []) }

  /// In English.
  package var english: String {
    switch self {
    case .verbatim(let text): text
    case .phrase(let phrase, let arguments): Self.fill(phrase.rawValue, arguments)
    }
  }

  /// Only the phrase is searched for placeholders, so that a name that reads `%@` stays a name.
  private static func fill(_ phrase: String, _ arguments: [Argument]) -> String {
    var text = ""
    var rest = arguments[...]
    var isPlace = false
    for character in phrase {
      if isPlace, character == "@" {
        text += rest.popFirst()?.english ?? ""
        isPlace = false
      } else if character == "%" {
        isPlace = true
      } else {
        text.append(character)
      }
    }
    return text
  }
}

extension ShownText.Argument {
  var english: String {
    switch self {
    case .text(let text): text
    case .phrase(let phrase): phrase.rawValue
    }
  }
}
