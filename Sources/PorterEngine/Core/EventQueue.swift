import PorterPlatform
import PorterSchema

/// Events on their way to the host: filled by the engine, emptied by any thread of the host.
///
/// Taking an event and returning it is one step under the lock, so that none is lost when a time-out and an event
/// coincide.
package final class EventQueue: Sendable {
  private struct Entry {
    /// The event and its text are made when needed: an extension's host may read no events at all.
    enum Content {
      /// `bytes`: the approximate length of its text, if known.
      case unmade(@Sendable () -> Event, bytes: Int?)
      case text(String)
    }

    var content: Content
    /// Called on the host's thread once the host has taken it.
    var taken: (@Sendable () -> Void)?

    /// 0 if the text is not made yet and its length is unknown.
    var bytes: Int {
      switch content {
      case .unmade(_, let bytes): bytes ?? 0
      case .text(let text): text.utf8.count
      }
    }

    var text: String {
      switch content {
      case .unmade(let make, _): make().text
      case .text(let text): text
      }
    }
  }

  private struct Contents {
    var events: [Entry] = []
    var first = 0
    /// Total of the waiting events.
    var bytes = 0
    var lost = 0
    var isClosed = false
    /// Called on the host's thread once there is room.
    var roomAwaited: (@Sendable () -> Void)?

    var count: Int { events.count - first }

    /// Half the queue's capacity, less what is waiting. Nil if nothing remains.
    func room(within byteBound: Int) -> (events: Int, bytes: Int)? {
      let room = (events: EventQueue.bound / 2 - count, bytes: byteBound / 2 - bytes)
      return room.events > 0 && room.bytes > 0 ? room : nil
    }

    mutating func take() -> Entry? {
      guard first < events.count else { return nil }
      defer {
        bytes -= events[first].bytes
        // Releases the taken entry without waiting for the front to be removed.
        events[first] = Entry(content: .text(""))
        first += 1
        // The front is removed in one go once it is the larger half.
        if first > 64, first * 2 > events.count {
          events.removeFirst(first)
          first = 0
        }
      }
      return events[first]
    }

    /// Appends an entry. Of the entries of unknown length only the last few may be without a text, so that the byte
    /// count stays about right.
    mutating func append(_ entry: Entry) {
      events.append(entry)
      bytes += entry.bytes
      guard count > EventQueue.unmade else { return }
      for index in max(first, events.count - EventQueue.unmade - 1)..<events.count {
        guard case .unmade(_, nil) = events[index].content else { continue }
        events[index].content = .text(events[index].text)
        bytes += events[index].bytes
      }
    }
  }

  private enum Found {
    case entry(Entry, roomAwaited: (@Sendable () -> Void)?)
    case lost(Int)
    case closed
  }

  package enum Taken: Sendable {
    case event(String)
    case lost(Int)
    case closed
  }

  package static let bound = 4_096
  /// Maximum events of unknown length waiting without their texts; one push makes three.
  private static let unmade = 8
  /// A host that only handles pushes reads no events, and the platform kills its process at 24 MB (INC-33).
  package static func byteBound(_ role: Role) -> Int {
    switch role {
    case .app: 16_777_216
    case .extension, .share: 131_072
    }
  }

  private let byteBound: Int
  private let isRecorded: Bool
  private let contents = Monitor(Contents())
  private let wake: WakeDescriptor

  /// Nil when the process is out of file descriptors. `isRecorded`: the events posted are an engine's, and count as
  /// emitted (`EventRecord`).
  package init?(byteBound: Int, isRecorded: Bool = false) {
    guard let wake = WakeDescriptor() else { return nil }
    self.wake = wake
    self.byteBound = byteBound
    self.isRecorded = isRecorded
  }

  /// Readable while events wait.
  package var descriptor: Int32 { wake.descriptor }
  package var count: Int { contents.withLock { $0.count } }

  func post(_ event: Event, taken: (@Sendable () -> Void)? = nil) { post(making: { event }, bytes: nil, taken: taken) }

  /// `make` may be called at any time, on any thread, and never if no host reads the event. Making the text costs a
  /// push a tenth of its instructions; passing its approximate length in `bytes` saves that.
  func post(making make: @escaping @Sendable () -> Event, bytes: Int?, taken: (@Sendable () -> Void)? = nil) {
    if isRecorded { EventRecord.note(making: make) }
    contents.signal { contents in
      guard !contents.isClosed else { return }
      if contents.count == 0 { wake.raise() }
      contents.append(Entry(content: .unmade(make, bytes: bytes), taken: taken))
      // The new event itself stays, whatever its length.
      while contents.count > 1, contents.count > Self.bound || contents.bytes > byteBound, contents.take() != nil {
        contents.lost += 1
      }
    }
  }

  /// Posts an event about what to show now. A host that is far behind has no use for it, and it displaces no event that
  /// is useful later. Returns false if it was not posted.
  func postUnlessBehind(_ event: Event) -> Bool {
    guard contents.withLock({ $0.room(within: byteBound) }) != nil else { return false }
    post(event)
    return true
  }

  /// The room for events that can also wait elsewhere, in events and in bytes; as much is left for those that cannot.
  /// Nil if there is none; `then` is called as soon as the host has taken enough.
  func room(orLater then: @escaping @Sendable () -> Void) -> (events: Int, bytes: Int)? {
    contents.withLock { contents in
      let room = contents.room(within: byteBound)
      if room == nil { contents.roomAwaited = then }
      return room
    }
  }

  /// Wakes all waiting threads; queued events can still be taken.
  package func close() {
    contents.signal { contents in
      contents.isClosed = true
      wake.raise()
    }
  }

  /// Takes an event; nil when the time ran out without one.
  package func take(atMost span: Span?) -> Taken? { takeNoting(atMost: span).taken }

  /// Also returns whether something was called because the event was taken.
  package func takeNoting(atMost span: Span?) -> (taken: Taken?, isNoted: Bool) {
    let found: Found? = contents.wait(atMost: span) { contents in
      if contents.lost > 0 {
        defer { contents.lost = 0 }
        if isRecorded { EventRecord.note(.eventsLost(Int64(contents.lost))) }
        return .lost(contents.lost)
      }
      if let entry = contents.take() {
        if contents.count == 0, !contents.isClosed { self.wake.lower() }
        guard let awaited = contents.roomAwaited, contents.room(within: byteBound) != nil else {
          return .entry(entry, roomAwaited: nil)
        }
        contents.roomAwaited = nil
        return .entry(entry, roomAwaited: awaited)
      }
      return contents.isClosed ? .closed : nil
    }
    // The lock is released again.
    switch found {
    case .entry(let entry, let roomAwaited):
      let text = entry.text
      entry.taken?()
      roomAwaited?()
      return (.event(text), entry.taken != nil)
    case .lost(let count): return (.lost(count), false)
    case .closed: return (.closed, false)
    case nil: return (nil, false)
    }
  }
}
