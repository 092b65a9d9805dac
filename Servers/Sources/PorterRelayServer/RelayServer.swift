import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOPosix
import NIOSSL
import NIOTLS
import PorterOperators
public import PorterTLS
public import PorterTelemetry

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The relay on the network: connections, their limits and their end.
public final class RelayServer: Sendable {
  private let group: MultiThreadedEventLoopGroup
  private let surroundings: Surroundings
  private let connections: ConnectionSet
  private let listener: any Channel
  private let operators: OperatorServer?
  private let upkeep: [RepeatedTask]

  /// Binds its addresses and serves. `backEnd` creates the back end, given the function that notifies the listeners'
  /// streams of news.
  public init(
    _ options: RelayServerOptions, keeper: CertificateKeeper, metrics: Metrics, log: LogWriter,
    backEnd make: (_ onNews: @escaping @Sendable ([String]) -> Void) throws -> any RelayBackEnd
  ) throws {
    RelayMetrics.declare(in: metrics)
    let hub = NewsHub(
      mostListeners: options.listeners, mostListenersOfSource: options.listenersOfSource,
      mostStreamsOfSource: options.streamsOfSource)
    let backEnd = try make { hub.tell($0) }
    let surroundings = Surroundings(
      options, backEnd: backEnd, hub: hub, metrics: metrics, log: log, keeper: keeper)
    let connections = surroundings.connections
    let group = MultiThreadedEventLoopGroup(numberOfThreads: options.threads)
    self.group = group
    self.surroundings = surroundings
    self.connections = connections
    do {
      listener = try Self.bootstrap(group, surroundings, connections)
        .bind(host: options.host, port: options.port).wait()
      operators = try options.operatorsHost.map { host in
        try OperatorServer(
          host: host, port: options.operatorsPort, on: group, patience: options.requestTime, surroundings)
      }
    } catch {
      try? group.syncShutdownGracefully()
      backEnd.close()
      throw error
    }
    upkeep = Self.upkeep(group, surroundings)
    RelayMetrics.declareGauges(in: metrics, surroundings, connections)
    surroundings.set(serving: true)
  }

  public var port: Int { listener.localAddress?.port ?? 0 }
  public var operatorsPort: Int { operators?.port ?? 0 }

  /// Rereads the certificate's files.
  public func reloadCertificate() { Self.reload(surroundings, always: true) }

  /// Stops being ready, ends the streams, and asks connections to end after their current work. New connections are
  /// still served, so that nothing is lost until the last client has noticed. `done` is called on any thread when no
  /// connection is left, or when the drain time is over.
  public func drain(done: @escaping @Sendable () -> Void) {
    surroundings.set(serving: false)
    surroundings.log(.info, "draining")
    surroundings.hub.stop()
    connections.drain(for: surroundings.options.drainTime, on: group.next()).whenComplete { _ in done() }
  }

  /// Accepts no more connections, finishes the exchanges already read, ends the streams, and closes the back end.
  public func stop() {
    surroundings.set(serving: false)
    surroundings.log(.info, "stopping")
    for task in upkeep { task.cancel() }
    try? listener.close().wait()
    surroundings.hub.stop()
    try? connections.stop(after: surroundings.options.grace, on: group.next()).wait()
    operators?.close()
    surroundings.backEnd.close()
    try? group.syncShutdownGracefully()
    surroundings.log(.info, "stopped")
  }

  // MARK: Upkeep

  private static func upkeep(_ group: MultiThreadedEventLoopGroup, _ surroundings: Surroundings) -> [RepeatedTask] {
    [
      group.next().scheduleRepeatedTask(initialDelay: .seconds(30), delay: .seconds(30)) { _ in
        surroundings.hub.expire(surroundings.backEnd)
      },
      group.next().scheduleRepeatedTask(initialDelay: .seconds(5), delay: .seconds(5)) { _ in
        reload(surroundings, always: false)
        surroundings.look()
        surroundings.backEnd.look()
      },
    ]
  }

  private static func reload(_ surroundings: Surroundings, always: Bool) {
    let keeper = surroundings.keeper
    let before = keeper.problem
    do throws(CertificateError) {
      guard always ? try keeper.reload() : try keeper.reloadIfChanged() else { return }
      surroundings.log(.info, "certificate read", ["fingerprint": keeper.certificate.fingerprint])
    } catch {
      guard always || error.description != before else { return }
      surroundings.log(.error, "certificate not read; the earlier one stays in use", ["reason": error.description])
    }
  }
}

// MARK: Connections

extension RelayServer {
  /// Linux: a peer that leaves sent data unacknowledged for this many milliseconds is gone.
  private static let userTimeout: SocketOptionValue = 30_000

  private static func bootstrap(
    _ group: MultiThreadedEventLoopGroup, _ surroundings: Surroundings, _ connections: ConnectionSet
  ) -> ServerBootstrap {
    var bootstrap = ServerBootstrap(group: group)
      .serverChannelOption(.backlog, value: 1_024)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
      .childChannelOption(.socketOption(.so_keepalive), value: 1)
      .childChannelOption(.maxMessagesPerRead, value: 4)
    #if os(Linux)
      bootstrap = bootstrap.childChannelOption(
        ChannelOptions.Types.SocketOption(level: .tcp, name: .init(rawValue: TCP_USER_TIMEOUT)), value: userTimeout)
    #endif
    return bootstrap.childChannelInitializer { channel in
      guard connections.add(channel) else {
        surroundings.metrics.count("porter_relay_connections_refused_total")
        return channel.close()
      }
      return channel.eventLoop.makeCompletedFuture { try configure(channel, surroundings) }
    }
  }

  private static func configure(_ channel: any Channel, _ surroundings: Surroundings) throws {
    let options = surroundings.options
    let pipeline = channel.pipeline.syncOperations
    let clock = HandshakeClock(options.requestTime) { event in
      if case TLSUserEvent.handshakeCompleted = event { return true }
      return false
    }
    try pipeline.addHandler(NIOSSLServerHandler(context: surroundings.keeper.context))
    try pipeline.addHandler(clock)
    try pipeline.addHandler(
      ApplicationProtocolNegotiationHandler { (result, channel) -> EventLoopFuture<Void> in
        channel.eventLoop.makeCompletedFuture {
          switch result {
          case .negotiated("h2"): try configureHTTP2(channel, surroundings)
          case .negotiated, .fallback: try configureHTTP1(channel, surroundings)
          }
          try channel.pipeline.syncOperations.addHandler(ErrorCloser())
          surroundings.connections.complete(channel)
        }
      })
  }

  private static func configureHTTP1(_ channel: any Channel, _ surroundings: Surroundings) throws {
    let options = surroundings.options
    let pipeline = channel.pipeline.syncOperations
    let clock = RequestClock(requestTime: options.requestTime, idleTime: options.idleTime)
    var limits = NIOHTTPDecoderLimitConfiguration()
    limits.maxHeaderFieldSize = HTTPLimits.headers
    limits.maxHeaderListSize = HTTPLimits.headers
    limits.maxHeaderFieldCount = 100
    try pipeline.addHandler(clock)
    try pipeline.configureHTTPServerPipeline(
      withErrorHandling: false, withEncoderConfiguration: .init(), withDecoderLimitConfiguration: limits)
    try pipeline.addHandler(RequestHandler(surroundings, clock: clock))
  }

  private static func configureHTTP2(_ channel: any Channel, _ surroundings: Surroundings) throws {
    let options = surroundings.options
    var connection = NIOHTTP2Handler.ConnectionConfiguration()
    connection.initialSettings = [
      HTTP2Setting(parameter: .maxConcurrentStreams, value: HTTPLimits.streamsOfConnection),
      HTTP2Setting(parameter: .maxHeaderListSize, value: HTTPLimits.headers),
    ]
    connection.maximumConnectionGlitches = HTTPLimits.streamErrorsOfConnection
    var streams = NIOHTTP2Handler.StreamConfiguration()
    streams.streamResetFrameRateLimit.windowLength = .seconds(HTTPLimits.resetWindow)
    streams.streamResetFrameRateLimit.maximumCount = options.resets(
      ofTrusted: options.trustedSources.contains(channel.remoteAddress))
    let pipeline = channel.pipeline.syncOperations
    try pipeline.addHandler(FrameClock(options.requestTime))
    _ = try pipeline.configureHTTP2Pipeline(
      mode: .server, connectionConfiguration: connection, streamConfiguration: streams
    ) { stream in
      stream.eventLoop.makeCompletedFuture {
        let pipeline = stream.pipeline.syncOperations
        try pipeline.addHandler(HTTP2FramePayloadToHTTP1ServerCodec())
        try pipeline.addHandler(RequestHandler(surroundings, clock: nil))
      }
    }
    try pipeline.addHandler(
      NIOHTTP2ServerConnectionManagementHandler(
        eventLoop: channel.eventLoop,
        configuration: .init(
          maxIdleTime: options.idleTime, maxAge: nil, maxGraceTime: options.grace, keepalive: nil)))
    // For the handler before, a connection that never has a stream is not idle.
    try pipeline.addHandler(HandshakeClock(options.idleTime) { $0 is NIOHTTP2StreamCreatedEvent })
  }
}

/// The end of a pipeline: anything no handler dealt with closes the connection.
private final class ErrorCloser: ChannelInboundHandler {
  typealias InboundIn = NIOAny

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {}

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
