import NIOCore
import NIOHTTP1
import NIOPosix
import PorterTelemetry

/// An operator's connection.
final class OperatorHandler: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  private let source: any OperatorSource
  private var head: HTTPRequestHead?

  private init(_ source: any OperatorSource) { self.source = source }

  static func bootstrap(
    _ group: MultiThreadedEventLoopGroup, _ patience: TimeAmount, _ source: any OperatorSource
  ) -> ServerBootstrap {
    ServerBootstrap(group: group)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let pipeline = channel.pipeline.syncOperations
          try pipeline.addHandler(IdleStateHandler(readTimeout: patience))
          try pipeline.configureHTTPServerPipeline()
          try pipeline.addHandler(OperatorHandler(source))
        }
      }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if event is IdleStateHandler.IdleStateEvent { context.close(promise: nil) }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head): self.head = head
    case .body: break
    case .end:
      guard let head else { return }
      self.head = nil
      let (status, text) = answer(to: head)
      write(status, text, head.isKeepAlive, context)
    }
  }

  private func answer(to head: HTTPRequestHead) -> (HTTPResponseStatus, String) {
    guard head.method == .GET else { return (.methodNotAllowed, "only GET\n") }
    switch head.uri {
    case "/health":
      let problems = source.problems
      let lines = problems.isEmpty ? ["ok"] + source.notes : problems
      return (problems.isEmpty ? .ok : .serviceUnavailable, lines.joined(separator: "\n") + "\n")
    case "/ready": return source.isReady ? (.ok, "ready\n") : (.serviceUnavailable, "not ready\n")
    case "/metrics": return (.ok, source.metrics.text)
    default: return (.notFound, "no such path\n")
    }
  }

  private func write(
    _ status: HTTPResponseStatus, _ text: String, _ keepsAlive: Bool, _ context: ChannelHandlerContext
  ) {
    var headers = HTTPHeaders([
      ("Content-Type", "text/plain; version=0.0.4; charset=utf-8"), ("Content-Length", String(text.utf8.count)),
    ])
    if !keepsAlive { headers.add(name: "Connection", value: "close") }
    let head = HTTPResponseHead(version: .http1_1, status: status, headers: headers)
    context.write(wrapOutboundOut(.head(head)), promise: nil)
    context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: text)))), promise: nil)
    let box = NIOLoopBound(context, eventLoop: context.eventLoop)
    context.writeAndFlush(wrapOutboundOut(.end(nil))).whenComplete { _ in
      if !keepsAlive { box.value.close(promise: nil) }
    }
  }
}
