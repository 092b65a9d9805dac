import PorterJSON
import PorterMachines
import PorterPlatform
import PorterSchema
import PorterStore
import Synchronization

@testable import PorterEngine

/// An inbox in memory: messages with identifiers and plain text, which wait until they are acknowledged.
final class Inbox: Sendable {
  struct Message: Sendable {
    let identifier: String
    let text: String
  }

  /// How the inbox answers.
  enum Mood: Sendable {
    case answers
    case neverAnswers
    case isUnreachable
    /// Gives messages, and does not take the acknowledgement.
    case losesAcknowledgements
  }

  private struct Contents {
    var waiting: [Message] = []
    var mood = Mood.answers
    var acknowledged: [String] = []
    /// Called at the next fetch, before its answer.
    var interruption: (@Sendable () -> Void)?
  }

  private let contents = Mutex(Contents())

  func put(_ identifier: String, _ text: String) {
    contents.withLock { $0.waiting.append(Message(identifier: identifier, text: text)) }
  }

  func set(_ mood: Mood) { contents.withLock { $0.mood = mood } }
  func beforeNextAnswer(_ interruption: @escaping @Sendable () -> Void) {
    contents.withLock { $0.interruption = interruption }
  }

  var waiting: [String] { contents.withLock { $0.waiting.map(\.identifier) } }
  var acknowledged: [String] { contents.withLock { $0.acknowledged } }

  fileprivate var mood: Mood { contents.withLock { $0.mood } }
  fileprivate var first: Message? { contents.withLock { $0.waiting.first } }

  fileprivate func takeInterruption() -> (@Sendable () -> Void)? {
    contents.withLock { contents in
      defer { contents.interruption = nil }
      return contents.interruption
    }
  }

  fileprivate func acknowledge(_ identifier: String) {
    contents.withLock { contents in
      contents.waiting.removeAll { $0.identifier == identifier }
      contents.acknowledged.append(identifier)
    }
  }
}

/// An inbox as the source of the messages of one connection: no relay, no ratchet.
final class InboxSource: Source {
  static let connectionID: Int64 = 1
  private let context: EngineContext
  private let inbox: Inbox

  init(_ context: EngineContext, _ inbox: Inbox) {
    self.context = context
    self.inbox = inbox
  }

  /// A sealed hint is the text of one message's identifier.
  func read(_ hint: SourceHint, _ store: Store) throws(StoreError) -> SourceHintReading {
    let named = [NamedConnection(id: Self.connectionID, record: nil)]
    switch hint {
    case .everything: return .named(named, isRepeat: false)
    case .sealed(_, let bytes):
      guard let identifier = String(validating: bytes, as: UTF8.self) else { return .unreadable("not a text") }
      let known = try store.ledgerEntry(connectionID: Self.connectionID, messageID: Array(identifier.utf8))
      return .named(named, isRepeat: known != nil)
    }
  }

  func validate(_ connection: StoredConnection) throws(StoreError) {}

  func fetch(_ claimed: ClaimedConnection, then: @escaping (Result<SourceMessage?, SourceError>) -> Void) {
    inbox.takeInterruption()?()
    switch inbox.mood {
    case .neverAnswers: return
    case .isUnreachable: return context.later { then(.failure(.timeout)) }
    case .answers, .losesAcknowledgements: break
    }
    let message = inbox.first.map {
      SourceMessage(
        identifier: Array($0.identifier.utf8), timestamp: context.clock.wall(), body: Array($0.text.utf8))
    }
    context.later { then(.success(message)) }
  }

  func open(
    _ message: SourceMessage, _ connection: StoredConnection, _ store: Store
  ) throws(StoreError) -> OpenedMessage {
    guard let contactID = connection.contactID else { return OpenedMessage(.quarantined("no contact")) }
    guard let text = String(validating: message.body, as: UTF8.self), !text.isEmpty else {
      return OpenedMessage(.quarantined("not a text"))
    }
    let itemID = try store.insertReceivedItem(
      contactID: contactID, content: MessageContent.text(text).json.text, sharedID: message.identifier,
      itemAt: message.timestamp, at: context.clock.wall())
    return OpenedMessage(.item(itemID, contactID: contactID, at: message.timestamp))
  }

  func acknowledge(
    _ message: SourceMessage, _ connection: StoredConnection, then: @escaping (Result<Void, SourceError>) -> Void
  ) {
    guard inbox.mood != .losesAcknowledgements else { return context.later { then(.failure(.timeout)) } }
    inbox.acknowledge(String(decoding: message.identifier, as: UTF8.self))
    context.later { then(.success(())) }
  }
}
