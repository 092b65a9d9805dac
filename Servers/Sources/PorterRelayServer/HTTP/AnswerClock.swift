import NIOCore

/// Ends a connection, or an HTTP/2 stream, whose client does not take its answers: until taken, they occupy this
/// process's memory.
///
/// Used on the channel's event loop.
final class AnswerClock {
  private let time: TimeAmount
  private let channel: any Channel
  /// The stream's connection; nil for HTTP/1.1.
  private let connection: (any Channel)?
  /// Answers that were written and have not left this process.
  private var waiting = 0
  private var timer: Scheduled<Void>?

  init(_ time: TimeAmount, on channel: any Channel, of connection: (any Channel)?) {
    (self.time, self.channel, self.connection) = (time, channel, connection)
  }

  /// An answer is being written; `taken` succeeds when the last of it has left.
  func note(_ taken: EventLoopFuture<Void>) {
    waiting += 1
    if waiting == 1 { start() }
    taken.assumeIsolated().whenComplete { [weak self] _ in self?.take() }
  }

  func stop() { timer?.cancel() }

  /// The time of each answer starts when the one before it was taken.
  private func take() {
    waiting -= 1
    timer?.cancel()
    if waiting > 0 { start() }
  }

  private func start() {
    timer = channel.eventLoop.assumeIsolated().scheduleTask(in: time) { [channel, connection] in
      // The reset of a stream would wait for the same client.
      if let connection, !connection.isWritable { return connection.close(promise: nil) }
      channel.close(promise: nil)
    }
  }
}
