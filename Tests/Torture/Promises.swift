import Synchronization

/// Requests that processes have confirmed: they must have taken effect in the end. Requests that they did not confirm,
/// because they were killed, may or may not have.
///
/// A message is identified by the first part of its text, which never changes: "bob 12" of "bob 12|edition 3".
final class Promises: Sendable {
  /// A message that a process of this store was asked to send.
  struct Message {
    enum Answer { case none, sent, refused }

    var answer = Answer.none
    /// The versions that it may end up with.
    var versions: Set<String>
    var mayBeDeleted = false
    var isDeleted = false
  }

  private let messages = Mutex<[String: [String: Message]]>([:])
  /// By side, message and emoji: whether it may be present, and whether it may be missing.
  private let reactions = Mutex<[String: Set<Bool>]>([:])
  /// By request: its possible final states.
  private let decisions = Mutex<[Int64: Set<String>]>([:])

  static func key(of text: String) -> String { String(text.prefix { $0 != "|" }) }

  // MARK: Messages

  func willSend(_ text: String, from store: String) {
    messages.withLock { $0[store, default: [:]][Self.key(of: text)] = Message(versions: [text]) }
  }

  func noteSent(_ text: String, from store: String) {
    change(Self.key(of: text), of: store) { $0.answer = .sent }
  }

  /// On a faulty disk a command may fail after its effect was committed.
  func noteRefused(_ text: String, from store: String, isCertain: Bool) {
    if isCertain { change(Self.key(of: text), of: store) { $0.answer = .refused } }
  }

  func willEdit(_ key: String, of store: String, to text: String) {
    change(key, of: store) { $0.versions.insert(text) }
  }

  func noteEdited(_ key: String, of store: String, to text: String) {
    change(key, of: store) { $0.versions = [text] }
  }

  func noteNotEdited(_ key: String, of store: String, to text: String) {
    change(key, of: store) { $0.versions.remove(text) }
  }

  func willDelete(_ key: String, of store: String) { change(key, of: store) { $0.mayBeDeleted = true } }
  func noteDeleted(_ key: String, of store: String) { change(key, of: store) { $0.isDeleted = true } }

  private func change(_ key: String, of store: String, _ change: (inout Message) -> Void) {
    messages.withLock { messages in
      guard var message = messages[store]?[key] else { return }
      change(&message)
      messages[store]?[key] = message
    }
  }

  func messages(of store: String) -> [String: Message] { messages.withLock { $0[store] ?? [:] } }

  // MARK: Reactions

  private static func name(_ side: String, _ key: String, _ emoji: String) -> String { "\(side)|\(key)|\(emoji)" }

  func willReact(_ side: String, _ key: String, _ emoji: String, adds: Bool) {
    reactions.withLock { _ = $0[Self.name(side, key, emoji), default: [!adds]].insert(adds) }
  }

  func noteReacted(_ side: String, _ key: String, _ emoji: String, adds: Bool) {
    reactions.withLock { $0[Self.name(side, key, emoji)] = [adds] }
  }

  func mayHaveReacted(_ side: String, _ key: String, _ emoji: String) -> Set<Bool> {
    reactions.withLock { $0[Self.name(side, key, emoji)] ?? [false] }
  }

  // MARK: Requests

  /// A command has decided about the request; "withdrawn" takes precedence over an acceptance.
  func noteDecided(_ request: Int64, _ states: Set<String>) {
    decisions.withLock { $0[request] = $0[request].map { $0.intersection(states) } ?? states }
  }

  var decided: [Int64: Set<String>] { decisions.withLock { $0 } }
}
