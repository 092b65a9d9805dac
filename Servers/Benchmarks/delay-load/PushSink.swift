import NIOCore
import NIOHPACK
import NIOHTTP2
import NIOPosix
import NIOSSL

/// Takes each push that arrives, like an accepting Apple service. One connection, handled by its frames: a channel for
/// each stream would take most of its time.
final class PushSink: ChannelInboundHandler {
  typealias InboundIn = HTTP2Frame
  typealias OutboundOut = HTTP2Frame

  /// The limit on data under way; each push has 4 KB.
  private static let window = 1 << 24

  private let messages: Messages
  private let onShortage: @Sendable () -> Void
  /// The devices of incomplete requests.
  private var streams: [HTTP2StreamID: UInt64] = [:]
  private var taken = 0

  init(_ messages: Messages, onShortage: @escaping @Sendable () -> Void) {
    (self.messages, self.onShortage) = (messages, onShortage)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let frame = unwrapInboundIn(data)
    switch frame.payload {
    case .settings(.settings):
      write(.rootStream, .windowUpdate(windowSizeIncrement: Self.window), context)
    case .headers(let part):
      guard let path = part.headers.first(name: ":path") else { return }
      streams[frame.streamID] = UInt64(path.split(separator: "/").last?.prefix(16) ?? "", radix: 16) ?? 0
    case .data(let part): take(part, frame.streamID, context)
    case .rstStream: streams[frame.streamID] = nil
    default: break
    }
  }

  func channelReadComplete(context: ChannelHandlerContext) { context.flush() }

  private func take(_ part: HTTP2Frame.FramePayload.Data, _ id: HTTP2StreamID, _ context: ChannelHandlerContext) {
    taken += part.data.readableBytes + (part.paddingBytes.map { $0 + 1 } ?? 0)
    if taken > Self.window / 4 {
      write(.rootStream, .windowUpdate(windowSizeIncrement: taken), context)
      taken = 0
    }
    guard part.endStream, let device = streams.removeValue(forKey: id) else { return }
    let isShort = messages.pushed(device, at: .now())
    let headers: HPACKHeaders = [":status": "200", "apns-id": "00000000-0000-0000-0000-000000000000"]
    write(id, .headers(.init(headers: headers, endStream: true)), context)
    if isShort { onShortage() }
  }

  private func write(_ id: HTTP2StreamID, _ payload: HTTP2Frame.FramePayload, _ context: ChannelHandlerContext) {
    context.write(wrapOutboundOut(HTTP2Frame(streamID: id, payload: payload)), promise: nil)
  }

  /// Listens on a free port, and returns it.
  static func serve(
    _ messages: Messages, certificate: String, key: String, on group: any EventLoopGroup,
    onShortage: @escaping @Sendable () -> Void
  ) throws -> Int {
    let chain = try NIOSSLCertificate.fromPEMFile(certificate).map { NIOSSLCertificateSource.certificate($0) }
    var configuration = TLSConfiguration.makeServerConfiguration(
      certificateChain: chain, privateKey: .privateKey(try NIOSSLPrivateKey(file: key, format: .pem)))
    configuration.applicationProtocols = ["h2"]
    let tls = try NIOSSLContext(configuration: configuration)
    let settings = nioDefaultSettings + [HTTP2Setting(parameter: .maxConcurrentStreams, value: 1_000)]
    let channel = try ServerBootstrap(group: group)
      .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandlers([
            NIOSSLServerHandler(context: tls), NIOHTTP2Handler(mode: .server, initialSettings: settings),
            PushSink(messages, onShortage: onShortage),
          ])
        }
      }
      .bind(host: "127.0.0.1", port: 0).wait()
    return channel.localAddress?.port ?? 0
  }
}
