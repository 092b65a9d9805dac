import NIOCore

/// Time limits of an HTTP/1.1 connection, by its bytes: a request that has begun must complete soon, however slowly its
/// bytes arrive; between requests, a connection may rest for a while.
final class RequestClock: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer

  private enum State {
    case resting
    case reading
    case paused
  }

  private let requestTime: TimeAmount
  private let idleTime: TimeAmount
  private var state = State.resting
  private var timer: Scheduled<Void>?
  private var context: ChannelHandlerContext?
  /// The connection was asked to end: the pipeline closes it as soon as no request is complete, and takes no answer to
  /// another.
  private(set) var isQuiescing = false
  /// Called when a request, or the rest between two, took too long.
  var onTimeout: (() -> Void)?

  init(requestTime: TimeAmount, idleTime: TimeAmount) {
    self.requestTime = requestTime
    self.idleTime = idleTime
  }

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    rest()
  }

  func handlerRemoved(context: ChannelHandlerContext) { stop() }

  func channelInactive(context: ChannelHandlerContext) {
    stop()
    context.fireChannelInactive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    begin()
    context.fireChannelRead(data)
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if event is ChannelShouldQuiesceEvent { isQuiescing = true }
    context.fireUserInboundEventTriggered(event)
  }

  /// A request has begun, unless one is already being read or carried out.
  func begin() {
    guard case .resting = state else { return }
    state = .reading
    schedule(requestTime)
  }

  /// A request has been read.
  func pause() {
    state = .paused
    timer?.cancel()
  }

  /// An answer has been written.
  func rest() {
    state = .resting
    schedule(idleTime)
  }

  private func stop() {
    timer?.cancel()
    onTimeout = nil
    context = nil
  }

  private func schedule(_ time: TimeAmount) {
    timer?.cancel()
    timer = context?.eventLoop.assumeIsolated().scheduleTask(in: time) { [weak self] in self?.onTimeout?() }
  }
}

/// Ends a connection that does not finish its TLS handshake, or opens no HTTP/2 stream for as long as it may rest.
final class HandshakeClock: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = NIOAny

  private let time: TimeAmount
  private let isOver: (Any) -> Bool
  private var timer: Scheduled<Void>?

  init(_ time: TimeAmount, until isOver: @escaping (Any) -> Bool) {
    self.time = time
    self.isOver = isOver
  }

  func handlerAdded(context: ChannelHandlerContext) {
    timer = context.eventLoop.assumeIsolated().scheduleTask(in: time) { context.close(promise: nil) }
  }

  func handlerRemoved(context: ChannelHandlerContext) { timer?.cancel() }

  func channelInactive(context: ChannelHandlerContext) {
    timer?.cancel()
    context.fireChannelInactive()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if isOver(event) { timer?.cancel() }
    context.fireUserInboundEventTriggered(event)
  }
}
