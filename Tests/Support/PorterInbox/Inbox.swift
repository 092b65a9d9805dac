#if DEBUG
  import Foundation
  import Synchronization

  /// An inbox of messages with identifiers and plain text, which wait until they are acknowledged. In memory, or in a
  /// file for several processes.
  package final class Inbox: Sendable {
    struct Message: Sendable, Codable {
      let identifier: String
      let text: String
    }

    /// How the inbox answers.
    package enum Mood: Sendable {
      case answers
      case neverAnswers
      case isUnreachable
      /// Gives messages, but does not accept the acknowledgement.
      case losesAcknowledgements
    }

    /// State shared by every process.
    private struct Contents: Codable {
      var waiting: [Message] = []
      var acknowledged: [String] = []
    }

    private struct State {
      var contents = Contents()
      var mood = Mood.answers
      /// Called at the next fetch, before its answer.
      var interruption: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())
    package let file: String?

    package init(file: String? = nil) { self.file = file }

    private func change(_ body: (inout Contents) -> Void) {
      state.withLock { state in
        guard let file else { return body(&state.contents) }
        var contents = Self.read(file)
        body(&contents)
        // Atomic, so that a process killed during the write leaves the old contents or the new.
        try? JSONEncoder().encode(contents).write(to: URL(fileURLWithPath: file), options: .atomic)
      }
    }

    private var contents: Contents { file.map(Self.read) ?? state.withLock { $0.contents } }

    private static func read(_ file: String) -> Contents {
      let bytes = try? Data(contentsOf: URL(fileURLWithPath: file))
      return bytes.flatMap { try? JSONDecoder().decode(Contents.self, from: $0) } ?? Contents()
    }

    package func put(_ identifier: String, _ text: String) {
      change { $0.waiting.append(Message(identifier: identifier, text: text)) }
    }

    package func set(_ mood: Mood) { state.withLock { $0.mood = mood } }
    package func beforeNextAnswer(_ interruption: @escaping @Sendable () -> Void) {
      state.withLock { $0.interruption = interruption }
    }

    package var waiting: [String] { contents.waiting.map(\.identifier) }
    package var acknowledged: [String] { contents.acknowledged }

    var mood: Mood { state.withLock { $0.mood } }
    var first: Message? { contents.waiting.first }

    func takeInterruption() -> (@Sendable () -> Void)? {
      state.withLock { state in
        defer { state.interruption = nil }
        return state.interruption
      }
    }

    func acknowledge(_ identifier: String) {
      change { contents in
        contents.waiting.removeAll { $0.identifier == identifier }
        contents.acknowledged.append(identifier)
      }
    }
  }
#endif
