import NIOCore
import NIOHTTP1

/// Writes a listener's events to its stream. While the client does not read, only one event is kept.
///
/// Used on the channel's event loop, except for `tell` and `end`.
final class NewsWriter {
  private let listener: String
  private let surroundings: Surroundings
  private let context: ChannelHandlerContext
  private let onEnd: () -> Void
  private var number: UInt64?
  private var pending: NewsPosition?
  private var comments: Scheduled<Void>?
  private var lastWrite = NIODeadline.uptimeNanoseconds(0)

  init(
    _ listener: String, _ surroundings: Surroundings, _ context: ChannelHandlerContext, onEnd: @escaping () -> Void
  ) {
    self.listener = listener
    self.surroundings = surroundings
    self.context = context
    self.onEnd = onEnd
  }

  /// Returns the first event.
  func open(from source: Source, after last: NewsPosition?) throws(Refusal) -> String {
    let stream = Remote(loop: context.eventLoop, writer: NIOLoopBound(self, eventLoop: context.eventLoop))
    let (opening, number) = surroundings.hub.open(
      listener, from: source, after: last, stream: stream, surroundings.backEnd)
    switch opening {
    case .refused: throw .tooMany(retryAfter: 30)
    case .stopping: throw .unavailable
    case .open(let position):
      self.number = number
      return Self.event("open", position)
    case .news(let position):
      self.number = number
      return Self.event("news", position)
    case .reset(let position):
      self.number = number
      return Self.event("reset", position)
    }
  }

  func start(with first: String) {
    write("retry: 2000\n\n" + first)
    scheduleComment(at: lastWrite + surroundings.options.silence)
  }

  func close() {
    comments?.cancel()
    guard let number else { return }
    self.number = nil
    surroundings.hub.close(listener, number: number, surroundings.backEnd)
  }

  /// The client is reading again.
  func flush() {
    guard let position = pending else { return }
    pending = nil
    write(Self.event("news", position))
  }

  private func tell(_ position: NewsPosition) {
    guard number != nil else { return }
    pending = position
    if context.channel.isWritable { flush() }
  }

  /// Shows that the connection works when there are no events.
  private func scheduleComment(at time: NIODeadline) {
    comments = context.eventLoop.assumeIsolated().scheduleTask(deadline: time) { [weak self] in
      guard let self, number != nil else { return }
      let (silence, now) = (surroundings.options.silence, context.eventLoop.now)
      // What was written since has moved the end of the silence.
      guard lastWrite + silence <= now else { return scheduleComment(at: lastWrite + silence) }
      if context.channel.isWritable { write(":\n\n") }
      scheduleComment(at: now + silence)
    }
  }

  private func write(_ text: String) {
    lastWrite = context.eventLoop.now
    let part = HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(string: text)))
    context.writeAndFlush(NIOAny(part), promise: nil)
  }

  private static func event(_ name: String, _ position: NewsPosition) -> String {
    "event: \(name)\nid: \(position)\ndata: \(name)\n\n"
  }

  /// The writer as seen by other threads.
  private struct Remote: NewsStream {
    let loop: any EventLoop
    let writer: NIOLoopBound<NewsWriter>

    func tell(_ position: NewsPosition) { loop.execute { writer.value.tell(position) } }
    func end() { loop.execute { writer.value.onEnd() } }
  }
}
