import NIOCore
import Synchronization

/// An open stream. May be called from any thread.
protocol NewsStream: Sendable {
  /// News has arrived. Many calls may be merged into one event.
  func tell(_ position: NewsPosition)
  /// Another stream of this listener has taken its place, or the server is stopping.
  func end()
}

/// The amount of news that has come to a listener; `id` of an event.
struct NewsPosition: Sendable, Equatable, CustomStringConvertible {
  let epoch: UInt64
  let count: UInt64

  init(epoch: UInt64, count: UInt64) {
    self.epoch = epoch
    self.count = count
  }

  init?(_ text: String) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard text.utf8.count <= 64, parts.count == 2, let epoch = UInt64(parts[0], radix: 36), let count = UInt64(parts[1])
    else { return nil }
    self.init(epoch: epoch, count: count)
  }

  var description: String { "\(String(epoch, radix: 36)).\(count)" }
}

/// The listeners named by clients, their news, and their streams.
final class NewsHub: Sendable {
  enum Opening: Equatable {
    case open(NewsPosition)
    case news(NewsPosition)
    case reset(NewsPosition)
    /// This source has too many streams, or there are too many listeners.
    case refused
    /// The server is stopping.
    case stopping
  }

  private struct Listener {
    let epoch: UInt64
    var count: UInt64 = 0
    var stream: (any NewsStream)?
    var streamNumber: UInt64 = 0
    /// Where its stream comes from.
    var streamSource: Source?
    /// Where it was first named.
    let source: Source
    var lastUse: NIODeadline
  }

  private struct State {
    var listeners: [String: Listener] = [:]
    var streams: [Source: Int] = [:]
    /// The number of listeners each source was the first to name.
    var named: SourceCounts
    var nextNumber: UInt64 = 1
    var isStopping = false
    /// Names whose exchanges were carried out without a listener: their subscriptions are missing. A limited number.
    var unheard: Set<String> = []
  }

  private let mostListeners: Int
  private let mostListenersOfSource: Int
  private let mostStreamsOfSource: Int
  private let memory: TimeAmount
  private let state: Mutex<State>

  init(
    mostListeners: Int, mostListenersOfSource: Int, mostStreamsOfSource: Int, memory: TimeAmount = .minutes(10)
  ) {
    self.mostListeners = mostListeners
    self.mostListenersOfSource = mostListenersOfSource
    self.mostStreamsOfSource = mostStreamsOfSource
    self.memory = memory
    state = Mutex(State(named: SourceCounts(most: mostListenersOfSource)))
  }

  var streamCount: Int { state.withLock { $0.streams.values.reduce(0, +) } }
  var listenerCount: Int { state.withLock { $0.listeners.count } }

  /// Records that an exchange names the listener. False if there are too many.
  func note(_ name: String, from source: Source, now: NIODeadline = .now()) -> Bool {
    state.withLock { state in
      if state.listeners[name] != nil {
        state.listeners[name]?.lastUse = now
        return true
      }
      guard start(name, from: source, now, &state) == nil else { return true }
      if state.unheard.count < mostListenersOfSource { state.unheard.insert(name) }
      return false
    }
  }

  private func start(_ name: String, from source: Source, _ now: NIODeadline, _ state: inout State) -> Listener? {
    guard state.listeners.count < mostListeners, state.named.hasRoom(for: source) else { return nil }
    state.named.add(source)
    let listener = Listener(epoch: UInt64.random(in: 0..<(1 << 60)), source: source, lastUse: now)
    state.listeners[name] = listener
    return listener
  }

  /// News has arrived for these listeners.
  func tell(_ names: [String]) {
    let told = state.withLock { state in
      names.compactMap { name -> (any NewsStream, NewsPosition)? in
        guard var listener = state.listeners[name] else { return nil }
        listener.count += 1
        state.listeners[name] = listener
        return listener.stream.map { ($0, NewsPosition(epoch: listener.epoch, count: listener.count)) }
      }
    }
    for (stream, position) in told { stream.tell(position) }
  }

  // MARK: Streams

  /// Returns the first event of a stream, and the stream's number for `close`.
  func open(
    _ name: String, from source: Source, after last: NewsPosition?, stream: any NewsStream,
    _ backEnd: any RelayBackEnd, now: NIODeadline = .now()
  ) -> (Opening, number: UInt64) {
    let (opening, number, earlier) = state.withLock { state -> (Opening, UInt64, (any NewsStream)?) in
      guard !state.isStopping else { return (.stopping, 0, nil) }
      let known = state.listeners[name]
      // A stream takes the place of the listener's earlier one.
      guard
        known?.streamSource == source || source.isTrusted || state.streams[source, default: 0] < mostStreamsOfSource,
        var listener = known ?? start(name, from: source, now, &state)
      else { return (.refused, 0, nil) }
      let earlier = listener.stream
      if let earlierSource = listener.streamSource { leave(earlierSource, &state) }
      state.streams[source, default: 0] += 1
      listener.stream = stream
      listener.streamSource = source
      listener.streamNumber = state.nextNumber
      listener.lastUse = now
      state.nextNumber += 1
      state.listeners[name] = listener
      // Under the lock, so that these calls reach the back end in the order in which streams open and close.
      backEnd.attach(name)
      let position = NewsPosition(epoch: listener.epoch, count: listener.count)
      let number = listener.streamNumber
      let isUnheard = state.unheard.remove(name) != nil
      guard known != nil, !isUnheard else { return (.reset(position), number, earlier) }
      guard let last else { return (.news(position), number, earlier) }
      guard last.epoch == listener.epoch else { return (.reset(position), number, earlier) }
      return (last.count == listener.count ? .open(position) : .news(position), number, earlier)
    }
    earlier?.end()
    return (opening, number)
  }

  /// Does nothing if another stream has taken this one's place.
  func close(_ name: String, number: UInt64, _ backEnd: any RelayBackEnd, now: NIODeadline = .now()) {
    state.withLock { state in
      guard var listener = state.listeners[name], listener.streamNumber == number,
        let source = listener.streamSource
      else { return }
      (listener.stream, listener.streamSource) = (nil, nil)
      listener.lastUse = now
      state.listeners[name] = listener
      leave(source, &state)
      backEnd.detach(name)
    }
  }

  private func leave(_ source: Source, _ state: inout State) {
    let left = state.streams[source, default: 1] - 1
    state.streams[source] = left > 0 ? left : nil
  }

  /// Forgets listeners that have not been used for a while.
  func expire(_ backEnd: any RelayBackEnd, now: NIODeadline = .now()) {
    state.withLock { state in
      let names = state.listeners.filter { $0.value.stream == nil && now - $0.value.lastUse > memory }.map(\.key)
      for name in names {
        guard let source = state.listeners.removeValue(forKey: name)?.source else { continue }
        state.named.remove(source)
      }
      if !names.isEmpty { backEnd.forget(names) }
    }
  }

  /// Ends all streams, and opens no new ones.
  func stop() {
    let streams = state.withLock { state in
      state.isStopping = true
      return state.listeners.values.compactMap(\.stream)
    }
    for stream in streams { stream.end() }
  }
}
