import NIOCore
import NIOHPACK
import NIOHTTP2
import NIOSSL
import NIOTLS
import PorterServer

/// The outcome of a request.
enum PushEnd {
  case answered(PushResponse)
  /// The peer states that it has not processed the request.
  case unprocessed
  /// The connection or the stream ended first: the outcome is unknown.
  case lost(ProviderFailure)
}

/// One HTTP/2 connection, handled by frames. Confined to its event loop.
final class HTTP2Connection: ChannelInboundHandler {
  typealias InboundIn = HTTP2Frame
  typealias OutboundOut = HTTP2Frame

  private struct Stream {
    let job: Int
    var status = 0
    var retryAfter: TimeAmount?
    var body: [UInt8] = []
  }

  /// Enough for a reason and a time.
  private static let longestBody = 4_096

  /// The peer's settings have arrived.
  private(set) var isReady = false
  /// Takes no more requests, and closes after the last one ends.
  private(set) var isDraining = false
  /// Concurrent requests, as the peer allows them now.
  private(set) var limit: Int
  private let most: Int
  private var streams: [HTTP2StreamID: Stream] = [:]
  private var next = 1
  private var context: ChannelHandlerContext?
  private var isClosed = false
  /// What happened first of all that ends a connection.
  private(set) var failure: ProviderFailure?
  /// Sits below the library's handler.
  let gate = FlushGate()
  private weak var owner: PushClient?
  private let clock: any PushClock

  /// `most`: concurrent requests at most, whatever the peer allows.
  init(owner: PushClient, most: Int, clock: any PushClock) {
    self.owner = owner
    self.clock = clock
    self.most = most
    limit = most
  }

  /// There is a TCP connection; TLS and HTTP/2 may not have begun.
  var isConnected: Bool { context?.channel.isActive ?? false }

  var hasRoom: Bool { isReady && !isDraining && streams.count < limit }

  func start(_ job: Int, _ request: PushRequest) {
    guard let context else { return }
    let id = HTTP2StreamID(next)
    next += 2
    // Before the write, which may fail immediately.
    streams[id] = Stream(job: job)
    let written = context.eventLoop.makePromise(of: Void.self)
    written.futureResult.assumeIsolated().whenFailure { [weak self] error in
      guard let self else { return }
      note(ProviderFailure(error))
      stopTaking()
      end(id, .lost(failure ?? .closed))
    }
    context.write(
      wrapOutboundOut(HTTP2Frame(streamID: id, payload: .headers(.init(headers: request.headers)))), promise: written)
    let data = context.channel.allocator.buffer(bytes: request.body)
    write(id, .data(.init(data: .byteBuffer(data), endStream: true)), context)
    // Requests are completed in the order they were begun; otherwise the library sends their bodies in any order.
    context.flush()
    // Stream identifiers have 31 bits.
    if next > 1 << 30 { drain() }
  }

  /// Writes made in the meantime are sent together.
  func gather(_ body: () -> Void) {
    gate.isClosed = true
    body()
    gate.open()
  }

  /// Abandons a request without reporting it.
  func abandon(_ job: Int) {
    guard let context, let id = streams.first(where: { $0.value.job == job })?.key else { return }
    streams[id] = nil
    write(id, .rstStream(.cancel), context)
    context.flush()
    closeIfDrained()
  }

  func drain() {
    isDraining = true
    closeIfDrained()
  }

  /// May be called before there is a channel.
  func close() {
    isClosed = true
    context?.close(promise: nil)
  }

  // MARK: The channel's events

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    if isClosed { context.close(promise: nil) }
  }

  /// Of an address that could not be reached, this may come after the channel to the next one was made.
  func handlerRemoved(context: ChannelHandlerContext) {
    if context === self.context { self.context = nil }
  }

  func channelInactive(context: ChannelHandlerContext) {
    let jobs = streams.values.map(\.job)
    streams = [:]
    let failure = note(.closed)
    stopTaking()
    for job in jobs { owner?.ended(job, .lost(failure), on: self) }
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    if context === self.context {
      let tls = try? context.pipeline.syncOperations.handler(type: NIOSSLClientHandler.self)
      note(ProviderFailure(error, certificate: tls?.peerCertificate))
      stopTaking()
    }
    context.close(promise: nil)
  }

  @discardableResult
  private func note(_ failure: ProviderFailure) -> ProviderFailure {
    let first = self.failure ?? failure
    self.failure = first
    return first
  }

  /// Before the requests on it end, or they would be sent again here.
  private func stopTaking() {
    isDraining = true
    owner?.closed(self)
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case TLSUserEvent.handshakeCompleted(let negotiated) = event, negotiated != "h2" {
      note(.noHTTP2)
      context.close(promise: nil)
    }
    context.fireUserInboundEventTriggered(event)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let frame = unwrapInboundIn(data)
    switch frame.payload {
    case .settings(.settings(let settings)):
      if let setting = settings.last(where: { $0.parameter == .maxConcurrentStreams }) {
        limit = min(most, setting.value)
      }
      isReady = true
      owner?.ready(self)
    case .headers(let part): take(part.headers, frame.streamID, isLast: part.endStream)
    case .data(let part): take(part, frame.streamID, context)
    case .rstStream(let code): end(frame.streamID, code == .refusedStream ? .unprocessed : .lost(.reset))
    case .goAway(let last, _, _): goAway(last)
    case .settings, .priority, .pushPromise, .ping, .windowUpdate, .alternativeService, .origin: break
    }
  }

  // MARK: Frames

  private func take(_ headers: HPACKHeaders, _ id: HTTP2StreamID, isLast: Bool) {
    guard streams[id] != nil else { return }
    if let status = headers.first(name: ":status").flatMap(Int.init) { streams[id]?.status = status }
    if let field = headers.first(name: "retry-after") {
      streams[id]?.retryAfter = RetryAfter.pause(field, date: headers.first(name: "date"), now: clock.seconds)
    }
    if isLast { answer(id) }
  }

  private func take(_ part: HTTP2Frame.FramePayload.Data, _ id: HTTP2StreamID, _ context: ChannelHandlerContext) {
    guard case .byteBuffer(let buffer) = part.data else { return }
    // The connection's window is shared by all streams; a stream's window is larger than any answer.
    let count = buffer.readableBytes + (part.paddingBytes.map { $0 + 1 } ?? 0)
    if count > 0 {
      write(.rootStream, .windowUpdate(windowSizeIncrement: count), context)
      context.flush()
    }
    guard let stream = streams[id] else { return }
    if stream.body.count + buffer.readableBytes <= Self.longestBody {
      streams[id]?.body += buffer.readableBytesView
    }
    if part.endStream { answer(id) }
  }

  private func answer(_ id: HTTP2StreamID) {
    guard let stream = streams[id] else { return }
    end(id, .answered(PushResponse(status: stream.status, body: stream.body, retryAfter: stream.retryAfter)))
  }

  /// The peer will answer the streams it had begun; the rest are free for another connection.
  private func goAway(_ last: HTTP2StreamID) {
    stopTaking()
    for id in streams.keys.filter({ $0 > last }).sorted() { end(id, .unprocessed) }
    closeIfDrained()
  }

  private func end(_ id: HTTP2StreamID, _ end: PushEnd) {
    guard let stream = streams.removeValue(forKey: id) else { return }
    owner?.ended(stream.job, end, on: self)
    closeIfDrained()
  }

  private func closeIfDrained() { if isDraining, streams.isEmpty { close() } }

  private func write(_ id: HTTP2StreamID, _ payload: HTTP2Frame.FramePayload, _ context: ChannelHandlerContext) {
    context.write(wrapOutboundOut(HTTP2Frame(streamID: id, payload: payload)), promise: nil)
  }
}

/// Holds back flushes so that several requests share a write to the socket.
final class FlushGate: ChannelOutboundHandler {
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  var isClosed = false
  private var isDue = false
  private var context: ChannelHandlerContext?

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }

  /// See `HTTP2Connection.handlerRemoved`.
  func handlerRemoved(context: ChannelHandlerContext) {
    if context === self.context { self.context = nil }
  }

  func flush(context: ChannelHandlerContext) {
    if isClosed { isDue = true } else { context.flush() }
  }

  func open() {
    isClosed = false
    guard isDue else { return }
    isDue = false
    context?.flush()
  }
}
