import PorterPlatform
import PorterSchema

/// Events on their way to the host: filled by the engine, emptied by any thread of the host's.
///
/// Taking an event and returning it is one step under the lock, so that none is lost when a time-out and an event meet.
package final class EventQueue: Sendable {
  private struct Entry {
    var text: String
    /// Called on the host's thread once the host has taken it.
    var taken: (@Sendable () -> Void)?
  }

  private struct Contents {
    var events: [Entry] = []
    var first = 0
    /// Of the events that wait.
    var bytes = 0
    var lost = 0
    var isClosed = false

    var count: Int { events.count - first }

    mutating func take() -> Entry? {
      guard first < events.count else { return nil }
      defer {
        bytes -= events[first].text.utf8.count
        // What was taken does not stay until the front is given back.
        events[first] = Entry(text: "")
        first += 1
        // The front is given back in one go once it is the larger half.
        if first > 64, first * 2 > events.count {
          events.removeFirst(first)
          first = 0
        }
      }
      return events[first]
    }
  }

  package enum Taken: Sendable {
    case event(String)
    case lost(Int)
    case closed
  }

  package static let bound = 4_096
  /// A host that handles pushes and nothing else reads no events, and the platform ends its process at 24 MB (INC-33).
  package static func byteBound(_ role: Role) -> Int {
    switch role {
    case .app: 16_777_216
    case .extension, .share: 1_048_576
    }
  }

  private let byteBound: Int
  private let contents = Monitor(Contents())
  private let wake: WakeDescriptor

  /// Nil when the process has no descriptors left.
  package init?(byteBound: Int) {
    guard let wake = WakeDescriptor() else { return nil }
    self.wake = wake
    self.byteBound = byteBound
  }

  /// Readable while events wait.
  package var descriptor: Int32 { wake.descriptor }
  package var count: Int { contents.withLock { $0.count } }

  func post(_ event: Event, taken: (@Sendable () -> Void)? = nil) {
    EventRecord.note(event)
    let text = event.text
    let bytes = text.utf8.count
    contents.signal { contents in
      guard !contents.isClosed else { return }
      if contents.count == 0 { wake.raise() }
      // The event itself stays, whatever its length.
      while contents.count >= Self.bound || contents.bytes + bytes > byteBound, contents.take() != nil {
        contents.lost += 1
      }
      contents.events.append(Entry(text: text, taken: taken))
      contents.bytes += bytes
    }
  }

  /// Wakes everyone who waits; what is queued can still be taken.
  package func close() {
    contents.signal { contents in
      contents.isClosed = true
      wake.raise()
    }
  }

  /// Nil when the time ended without an event.
  package func take(atMost span: Span?) -> Taken? { takeNoting(atMost: span).taken }

  /// With whether something was called because of it.
  package func takeNoting(atMost span: Span?) -> (taken: Taken?, isNoted: Bool) {
    // Called when the lock is free again.
    var noteTaken: (@Sendable () -> Void)?
    let taken: Taken? = contents.wait(atMost: span) { contents in
      if contents.lost > 0 {
        defer { contents.lost = 0 }
        EventRecord.note(.eventsLost(Int64(contents.lost)))
        return .lost(contents.lost)
      }
      if let event = contents.take() {
        if contents.count == 0, !contents.isClosed { self.wake.lower() }
        noteTaken = event.taken
        return .event(event.text)
      }
      return contents.isClosed ? .closed : nil
    }
    noteTaken?()
    return (taken, noteTaken != nil)
  }
}
