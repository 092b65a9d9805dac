import NIOCore
import NIOPosix

/// Answers everything with a line in HTTP/1.1, without TLS.
final class PlainServer: Sendable {
  private final class Handler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      context.writeAndFlush(NIOAny(ByteBuffer(string: "HTTP/1.1 400 Bad Request\r\n\r\n")), promise: nil)
    }
  }

  private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
  private let channel: any Channel

  init() throws {
    channel = try ServerBootstrap(group: group)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(Handler()) }
      }
      .bind(host: "localhost", port: 0).wait()
  }

  var port: Int { channel.localAddress?.port ?? 0 }

  func close() { try? group.syncShutdownGracefully() }
}
