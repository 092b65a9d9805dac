import NIOCore
import Synchronization

/// The open connections: limited in total and per source, and notified when the server stops.
final class ConnectionSet: Sendable {
  private struct State {
    var channels: [ObjectIdentifier: any Channel] = [:]
    var counts: SourceCounts
    var overload: Overload
    /// Connections whose handshake is not complete: their pipelines have no handler yet that could end them.
    var connecting: Set<ObjectIdentifier> = []
    /// Connections that were asked to end: a pipeline accepts that only once.
    var asked: Set<ObjectIdentifier> = []
    var isStopping = false
    /// Waits for the end of the last connection.
    var emptied: [EventLoopPromise<Void>] = []
  }

  private let trusted: TrustedSources
  private let state: Mutex<State>

  init(most: Int, mostOfSource: Int, trusted: TrustedSources = TrustedSources()) {
    self.trusted = trusted
    state = Mutex(State(counts: SourceCounts(most: mostOfSource), overload: Overload(most: most)))
  }

  var count: Int { state.withLock { $0.channels.count } }
  /// Whether there are too many in total.
  var isOverloaded: Bool { state.withLock { $0.overload.isOverloaded } }

  /// False if there are too many: the connection must be closed.
  func add(_ channel: any Channel) -> Bool {
    let source = Source(channel.remoteAddress, trusted: trusted)
    let isAdded = state.withLock { state in
      guard !state.isStopping, state.overload.hasRoom(beside: state.channels.count),
        state.counts.hasRoom(for: source)
      else { return false }
      state.channels[ObjectIdentifier(channel)] = channel
      state.connecting.insert(ObjectIdentifier(channel))
      state.counts.add(source)
      state.overload.note(state.channels.count)
      return true
    }
    if isAdded { channel.closeFuture.whenComplete { [self] _ in remove(ObjectIdentifier(channel), source) } }
    return isAdded
  }

  private func remove(_ identifier: ObjectIdentifier, _ source: Source) {
    let emptied = state.withLock { state -> [EventLoopPromise<Void>] in
      state.channels[identifier] = nil
      state.connecting.remove(identifier)
      state.asked.remove(identifier)
      state.counts.remove(source)
      state.overload.note(state.channels.count)
      guard state.channels.isEmpty else { return [] }
      defer { state.emptied = [] }
      return state.emptied
    }
    for promise in emptied { promise.succeed() }
  }

  /// The handshake is complete, and the pipeline has its handlers.
  func complete(_ channel: any Channel) {
    let identifier = ObjectIdentifier(channel)
    let mustEnd = state.withLock { state in
      guard state.connecting.remove(identifier) != nil, state.isStopping else { return false }
      return state.asked.insert(identifier).inserted
    }
    if mustEnd { channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent()) }
  }

  /// Asks each connection to end after its current work, and still accepts new ones, among them those whose handshake
  /// is not complete. Succeeds when none is left, or after `patience`.
  func drain(for patience: TimeAmount, on loop: any EventLoop) -> EventLoopFuture<Void> {
    let promise = loop.makePromise(of: Void.self)
    if quiesce(promise, { _ in }) { promise.succeed() }
    // Whichever comes first.
    let result = loop.makePromise(of: Void.self)
    let deadline = loop.scheduleTask(in: patience) { result.succeed() }
    promise.futureResult.whenComplete { _ in
      deadline.cancel()
      result.succeed()
    }
    return result.futureResult
  }

  /// Returns whether no connection is open.
  private func quiesce(_ promise: EventLoopPromise<Void>, _ change: (inout State) -> Void) -> Bool {
    let (channels, isEmpty) = state.withLock { state in
      change(&state)
      let channels = state.channels.filter { !state.asked.contains($0.key) && !state.connecting.contains($0.key) }
      state.asked.formUnion(channels.keys)
      if !state.channels.isEmpty { state.emptied.append(promise) }
      return (channels.values, state.channels.isEmpty)
    }
    for channel in channels { channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent()) }
    return isEmpty
  }

  /// Accepts no more connections, closes those whose handshake is not complete, and asks the others to end after their
  /// current work. Succeeds when none is left, and closes the remaining ones after `grace`.
  func stop(after grace: TimeAmount, on loop: any EventLoop) -> EventLoopFuture<Void> {
    let promise = loop.makePromise(of: Void.self)
    if quiesce(promise, { $0.isStopping = true }) { promise.succeed() }
    let connecting = state.withLock { state in state.connecting.compactMap { state.channels[$0] } }
    for channel in connecting { channel.close(promise: nil) }
    let deadline = loop.scheduleTask(in: grace) { [self] in
      for channel in state.withLock({ Array($0.channels.values) }) { channel.close(promise: nil) }
    }
    promise.futureResult.whenComplete { _ in deadline.cancel() }
    return promise.futureResult
  }
}
