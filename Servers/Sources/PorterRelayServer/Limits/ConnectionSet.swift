import NIOCore
import Synchronization

/// The connections that are open: bounded in all and for each source, and told when the server stops.
final class ConnectionSet: Sendable {
  private struct State {
    var channels: [ObjectIdentifier: any Channel] = [:]
    var counts: [Source: Int] = [:]
    var isStopping = false
    var emptied: EventLoopPromise<Void>?
  }

  private let most: Int
  private let mostOfSource: Int
  private let state = Mutex(State())

  init(most: Int, mostOfSource: Int) {
    self.most = most
    self.mostOfSource = mostOfSource
  }

  var count: Int { state.withLock { $0.channels.count } }

  /// False if there are too many: the connection is to be closed.
  func add(_ channel: any Channel) -> Bool {
    let source = Source(channel.remoteAddress)
    let isAdded = state.withLock { state in
      guard !state.isStopping, state.channels.count < most, state.counts[source, default: 0] < mostOfSource else {
        return false
      }
      state.channels[ObjectIdentifier(channel)] = channel
      state.counts[source, default: 0] += 1
      return true
    }
    if isAdded { channel.closeFuture.whenComplete { [self] _ in remove(ObjectIdentifier(channel), source) } }
    return isAdded
  }

  private func remove(_ identifier: ObjectIdentifier, _ source: Source) {
    let emptied = state.withLock { state -> EventLoopPromise<Void>? in
      state.channels[identifier] = nil
      let left = state.counts[source, default: 1] - 1
      state.counts[source] = left > 0 ? left : nil
      return state.isStopping && state.channels.isEmpty ? state.emptied : nil
    }
    emptied?.succeed()
  }

  /// Takes no more, and asks each to end after what it is doing. Succeeds when none is left, and closes those that are left
  /// after `grace`.
  func stop(after grace: TimeAmount, on loop: any EventLoop) -> EventLoopFuture<Void> {
    let promise = loop.makePromise(of: Void.self)
    let channels = state.withLock { state in
      state.isStopping = true
      state.emptied = promise
      return Array(state.channels.values)
    }
    if channels.isEmpty { promise.succeed() }
    for channel in channels { channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent()) }
    let deadline = loop.scheduleTask(in: grace) { [self] in
      for channel in state.withLock({ Array($0.channels.values) }) { channel.close(promise: nil) }
    }
    promise.futureResult.whenComplete { _ in deadline.cancel() }
    return promise.futureResult
  }
}
