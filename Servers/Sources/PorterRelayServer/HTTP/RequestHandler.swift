import NIOCore
import NIOHTTP1
import PorterRelay
import PorterTelemetry

/// The requests of one HTTP/1.1 connection or one HTTP/2 stream: reads each, has it carried out, and writes the answer.
final class RequestHandler: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  private enum State {
    case waiting
    case reading(listener: String?, body: ByteBuffer)
    /// A request whose body does not matter is answered at its end.
    case ending(Route)
    /// Complete. Carried out once the client has taken the earlier answers: otherwise they would pile up in memory.
    case held(Request)
    /// Refused: the rest of the body is dropped.
    case discarding(bytes: Int)
    case working
    case streaming(NewsWriter)
    case ended
  }

  private enum Request {
    case exchange([UInt8], listener: String?)
    case health
    case news(listener: String, last: NewsPosition?)
  }

  private let surroundings: Surroundings
  private let clock: RequestClock?
  private var state = State.waiting
  private var keepsAlive = true
  private var deadline: Scheduled<Void>?
  /// The answer that is held back.
  private var held: Scheduled<Void>?
  private var answers: AnswerClock?
  private var context: ChannelHandlerContext?
  private var source = Source(nil)

  /// `clock` is the connection's for HTTP/1.1. An HTTP/2 stream has its own time limits.
  init(_ surroundings: Surroundings, clock: RequestClock?) {
    self.surroundings = surroundings
    self.clock = clock
  }

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    answers = AnswerClock(
      surroundings.options.answerTime, on: context.channel, of: clock == nil ? context.channel.parent : nil)
    source = Source(context.channel.remoteAddress, trusted: surroundings.options.trustedSources)
    clock?.onTimeout = { [weak self] in self?.timeOut() }
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    end()
    self.context = nil
    answers = nil
  }

  func channelInactive(context: ChannelHandlerContext) {
    end()
    context.fireChannelInactive()
  }

  private func end() {
    deadline?.cancel()
    held?.cancel()
    answers?.stop()
    if case .streaming(let writer) = state { writer.close() }
    state = .ended
  }

  /// Input that is not HTTP is answered if no answer has begun; then the decoder closes the connection.
  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    if let error = error as? HTTPParserError, let clock, !clock.isQuiescing {
      switch state {
      case .waiting, .reading, .ending:
        let isTooLong = error == .headerOverflow
        refuse(
          isTooLong
            ? Refusal(.requestHeaderFieldsTooLarge, "the header section has at most \(HTTPLimits.headers) bytes")
            : Refusal(.badRequest, "not HTTP"))
      case .held, .discarding, .working, .streaming, .ended: break
      }
    }
    context.close(promise: nil)
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    if context.channel.isWritable {
      switch state {
      case .streaming(let writer): writer.flush()
      case .held(let request): carryOut(request)
      case .waiting, .reading, .ending, .discarding, .working, .ended: break
      }
    }
    context.fireChannelWritabilityChanged()
  }

  // MARK: Reading

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head): begin(head)
    case .body(let bytes): take(bytes)
    case .end: finish()
    }
  }

  private func begin(_ head: HTTPRequestHead) {
    guard case .waiting = state else { return }
    keepsAlive = head.isKeepAlive
    clock?.begin()
    if clock == nil {
      deadline = context?.eventLoop.assumeIsolated().scheduleTask(in: surroundings.options.requestTime) { [weak self] in
        self?.timeOut()
      }
    }
    if !source.isTrusted, let seconds = surroundings.sources.take(source) {
      return refuse(.tooMany(retryAfter: seconds))
    }
    switch Route(head) {
    case .refused(let refusal): refuse(refusal)
    case .exchange(let listener):
      if head.headers["expect"].contains(where: { $0.lowercased() == "100-continue" }) { proceed() }
      state = .reading(listener: listener, body: ByteBuffer())
    case let route: state = .ending(route)
    }
  }

  private func proceed() {
    let head = HTTPResponseHead(version: .http1_1, status: .continue)
    context?.writeAndFlush(wrapOutboundOut(.head(head)), promise: nil)
  }

  private func take(_ bytes: ByteBuffer) {
    switch state {
    case .reading(let listener, var body):
      state = .working
      guard body.readableBytes + bytes.readableBytes <= HTTPLimits.body else {
        return refuse(Refusal(.payloadTooLarge, "a request has at most \(HTTPLimits.body) bytes"))
      }
      if body.readableBytes == 0 { body = bytes } else { body.writeImmutableBuffer(bytes) }
      state = .reading(listener: listener, body: body)
    case .discarding(let count):
      guard count + bytes.readableBytes <= HTTPLimits.discarded else {
        context?.close(promise: nil)
        return
      }
      state = .discarding(bytes: count + bytes.readableBytes)
    case .waiting, .ending, .held, .working, .streaming, .ended: break
    }
  }

  private func finish() {
    deadline?.cancel()
    clock?.pause()
    switch state {
    case .reading(let listener, let body):
      carryOutSoon(.exchange(Array(body.readableBytesView), listener: listener))
    case .ending(.news(let listener, let last)): carryOutSoon(.news(listener: listener, last: last))
    case .ending: carryOutSoon(.health)
    case .discarding: if rest() { context?.close(promise: nil) }
    case .waiting, .held, .working, .streaming, .ended: break
    }
  }

  private func carryOutSoon(_ request: Request) {
    guard let context else { return }
    if context.channel.isWritable { carryOut(request) } else { state = .held(request) }
  }

  private func carryOut(_ request: Request) {
    state = .working
    switch request {
    case .exchange(let bytes, let listener): exchange(bytes, listener)
    case .news(let listener, let last): stream(to: listener, after: last)
    case .health:
      let isWell = surroundings.problems.isEmpty
      respond(isWell ? .ok : .serviceUnavailable, "text/plain", Array((isWell ? "ok\n" : "failing\n").utf8))
    }
  }

  private func timeOut() {
    switch state {
    case .reading, .ending:
      refuse(Refusal(.requestTimeout, "the request took too long"))
      context?.close(promise: nil)
    case .waiting, .discarding: context?.close(promise: nil)
    case .held, .working, .streaming, .ended: break
    }
  }

  // MARK: Exchanges

  private func exchange(_ request: [UInt8], _ listener: String?) {
    guard !request.isEmpty else { return refuseWhole(Refusal(.badRequest, "an empty request")) }
    if !source.isTrusted, let seconds = charge(request) { return refuseWhole(.tooMany(retryAfter: seconds)) }
    // With too many listeners one more is not woken, but can send and fetch.
    let listener = listener.flatMap { surroundings.hub.note($0, from: source) ? $0 : nil }
    guard let context else { return }
    let began = context.eventLoop.now
    let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
    let loop = context.eventLoop
    let exchange = RelayService.Exchange(
      request: request, listener: listener, isTrusted: source.isTrusted, source: source.bytes)
    surroundings.backEnd.exchange(exchange) { reply in
      loop.execute { handler.value.answer(reply, since: began) }
    }
  }

  /// Nil if the source may make this request; otherwise the number of seconds until it may. The request itself was
  /// counted when it began.
  private func charge(_ request: [UInt8]) -> Int? {
    let more = RequestPeek.signatures(request) / HTTPLimits.signaturesPerRequest
    if more > 0, let seconds = surroundings.sources.take(source, cost: Double(more)) { return seconds }
    return RequestPeek.makesMailbox(request) ? surroundings.creations.take(source) : nil
  }

  private func answer(_ reply: RelayReply, since began: NIODeadline) {
    guard case .working = state, let context else { return }
    let metrics = surroundings.metrics
    let took = context.eventLoop.now - began
    metrics.observe("porter_relay_exchange_seconds", Double(took.nanoseconds) / 1e9)
    switch reply {
    case .answer(let bytes, let command, let result, let refuses):
      metrics.count("porter_relay_exchanges_total", "command=\"\(command)\",result=\"\(result)\"")
      if refuses { hold(bytes, until: began + HTTPLimits.refusalTime(took)) } else { respond(bytes) }
    case .limited: refuseWhole(.tooMany(retryAfter: surroundings.options.mailboxPause, mailbox: true))
    case .unavailable: refuseWhole(.unavailable)
    }
  }

  /// Otherwise the time would tell a mailbox that does not exist from one whose key the client lacks: only of the latter
  /// is there a record to read.
  private func hold(_ answer: [UInt8], until time: NIODeadline) {
    held = context?.eventLoop.assumeIsolated().scheduleTask(deadline: time) { [weak self] in
      guard let self, case .working = state else { return }
      respond(answer)
    }
  }

  // MARK: Writing

  private func respond(_ answer: [UInt8]) { respond(.ok, "application/octet-stream", answer) }

  /// The request has been read completely.
  private func refuseWhole(_ refusal: Refusal) {
    surroundings.metrics.count("porter_relay_refusals_total", "status=\"\(refusal.status.code)\"")
    respond(refusal.status, "text/plain", Array((refusal.text + "\n").utf8), refusal.headers)
  }

  /// More of the request may follow: it is read and dropped, and an HTTP/1.1 connection ends.
  private func refuse(_ refusal: Refusal) {
    surroundings.metrics.count("porter_relay_refusals_total", "status=\"\(refusal.status.code)\"")
    keepsAlive = false
    state = .discarding(bytes: 0)
    write(refusal.status, "text/plain", Array((refusal.text + "\n").utf8), refusal.headers)
  }

  private func respond(
    _ status: HTTPResponseStatus, _ type: String, _ body: [UInt8], _ more: [(String, String)] = []
  ) {
    // A request that has arrived in the meantime begins while the end of this answer is being written.
    let closes = rest()
    write(status, type, body, more)
    if closes { context?.close(promise: nil) }
  }

  private func write(_ status: HTTPResponseStatus, _ type: String, _ body: [UInt8], _ more: [(String, String)]) {
    guard let context else { return }
    var headers = HTTPHeaders([("Content-Type", type), ("Content-Length", String(body.count))])
    headers.add(contentsOf: more)
    if !keepsAlive, clock != nil { headers.add(name: "Connection", value: "close") }
    context.write(
      wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: status, headers: headers))), promise: nil)
    context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: body)))), promise: nil)
    let taken = context.eventLoop.makePromise(of: Void.self)
    answers?.note(taken.futureResult)
    context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: taken)
  }

  /// The request and its answer are complete, or about to be. Returns whether the connection ends.
  private func rest() -> Bool {
    guard let clock else {
      state = .waiting
      return false
    }
    state = keepsAlive ? .waiting : .ended
    clock.rest()
    return !keepsAlive
  }

  // MARK: News

  private func stream(to listener: String, after last: NewsPosition?) {
    guard let context else { return }
    let writer = NewsWriter(listener, surroundings, context) { [weak self] in self?.endStream() }
    state = .streaming(writer)
    let first: String
    do throws(Refusal) { first = try writer.open(from: source, after: last) } catch {
      state = .working
      return refuseWhole(error)
    }
    let headers = HTTPHeaders([("Content-Type", "text/event-stream"), ("Cache-Control", "no-store")])
    context.write(
      wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: .ok, headers: headers))), promise: nil)
    writer.start(with: first)
  }

  /// Ends the stream from this side.
  private func endStream() {
    guard case .streaming(let writer) = state, let context else { return }
    writer.close()
    keepsAlive = false
    state = .ended
    let box = NIOLoopBound(context, eventLoop: context.eventLoop)
    context.writeAndFlush(wrapOutboundOut(.end(nil))).whenComplete { [isHTTP1 = clock != nil] _ in
      if isHTTP1 { box.value.close(promise: nil) }
    }
  }
}
