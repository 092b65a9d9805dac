import NIOCore

/// Time limit of an HTTP/2 connection, by its bytes: a frame that has begun, or a header block of several, must be
/// complete soon, however slowly its bytes arrive. A stream's own limit begins only with the end of its header block.
final class FrameClock: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer

  private let time: TimeAmount
  private var bounds = FrameBounds()
  /// When that which is not complete began.
  private var began: NIODeadline?
  private var timer: Scheduled<Void>?

  init(_ time: TimeAmount) { self.time = time }

  func handlerRemoved(context: ChannelHandlerContext) { timer?.cancel() }

  func channelInactive(context: ChannelHandlerContext) {
    timer?.cancel()
    context.fireChannelInactive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let ended = bounds.ended
    unwrapInboundIn(data).withUnsafeReadableBytes { bounds.read($0) }
    if bounds.isBetween {
      began = nil
    } else if began == nil || bounds.ended != ended {
      began = .now()
      if timer == nil { schedule(in: time, context) }
    }
    context.fireChannelRead(data)
  }

  /// Not for each frame: most are complete long before.
  private func schedule(in time: TimeAmount, _ context: ChannelHandlerContext) {
    timer = context.eventLoop.assumeIsolated().scheduleTask(in: time) { [weak self] in self?.look(context) }
  }

  private func look(_ context: ChannelHandlerContext) {
    timer = nil
    guard let began else { return }
    let left = began + time - .now()
    if left > .nanoseconds(0) { schedule(in: left, context) } else { context.close(promise: nil) }
  }
}

/// Where the frames of a client's HTTP/2 bytes end. Checks nothing else: what is not HTTP/2 is refused elsewhere.
struct FrameBounds {
  private static let prefaceLength = 24
  private static let headLength = 9
  private static let (headers, continuation): (UInt8, UInt8) = (1, 9)
  private static let endHeaders: UInt8 = 4

  private var left = prefaceLength
  private var head: [UInt8] = []
  private var isInBlock = false
  private var hasBegun = false
  /// The number of complete frames, where those of a header block are one.
  private(set) var ended = 0

  /// Whether nothing has begun that is not complete.
  var isBetween: Bool { !hasBegun }

  mutating func read(_ bytes: UnsafeRawBufferPointer) {
    var index = 0
    while index < bytes.count {
      hasBegun = true
      guard left == 0 else {
        let count = min(left, bytes.count - index)
        left -= count
        index += count
        if left == 0 { end() }
        continue
      }
      head.append(bytes[index])
      index += 1
      guard head.count == Self.headLength else { continue }
      left = Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])
      if head[3] == Self.headers || head[3] == Self.continuation { isInBlock = head[4] & Self.endHeaders == 0 }
      head.removeAll(keepingCapacity: true)
      if left == 0 { end() }
    }
  }

  private mutating func end() {
    guard !isInBlock else { return }
    hasBegun = false
    ended += 1
  }
}
