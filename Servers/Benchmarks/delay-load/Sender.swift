import NIOCore
import NIOPosix
import NIOSSL

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

enum Pace {
  /// As soon as a connection and a device are free.
  case flood
  /// At random, this many a second: messages of many people are not evenly spaced.
  case rate(Double)
}

/// Sends messages to the relay over its connections. Confined to its event loop.
final class Sender {
  /// How long it waits for missing pushes after its time is over.
  private static let patience = TimeAmount.seconds(30)

  private let loop: any EventLoop
  private let messages: Messages
  private var idle: [RelayConnection] = []
  private var pace = Pace.flood
  private var end = NIODeadline.distantPast
  /// Messages waiting for a connection or a device.
  private var due = CircularBuffer<NIODeadline>()
  private var next = NIODeadline.distantPast

  init(_ messages: Messages, on loop: any EventLoop) {
    (self.messages, self.loop) = (messages, loop)
  }

  func add(_ connection: RelayConnection) {
    idle.append(connection)
    pump()
  }

  /// `done` is fulfilled when all messages have been answered and pushed, or that has taken too long.
  func start(_ pace: Pace, for time: TimeAmount, _ done: EventLoopPromise<Void>) {
    let now = NIODeadline.now()
    (self.pace, end, next) = (pace, now + time, now)
    if case .rate = pace { tick() } else { pump() }
    let bound = NIOLoopBound((self, done), eventLoop: loop)
    loop.scheduleRepeatedTask(initialDelay: time, delay: .milliseconds(5)) { task in
      let (sender, done) = bound.value
      let isOver = sender.due.isEmpty && sender.messages.underWay == 0
      guard isOver || .now() > sender.end + Self.patience else { return }
      sender.due.removeAll()
      done.succeed()
      task.cancel()
    }
  }

  private func tick() {
    guard case .rate(let rate) = pace else { return }
    let now = NIODeadline.now()
    while next <= now, next < end {
      due.append(next)
      next = next + .nanoseconds(Int64(-log(1 - Double.random(in: 0..<1)) / rate * 1e9))
    }
    pump()
    guard next < end else { return }
    let bound = NIOLoopBound(self, eventLoop: loop)
    _ = loop.scheduleTask(deadline: next) { bound.value.tick() }
  }

  /// Sends everything that can be sent now.
  func pump() {
    while let connection = idle.last {
      let moment: NIODeadline
      switch pace {
      case .flood:
        moment = .now()
        guard moment < end else { return }
      case .rate:
        guard let first = due.first else { return }
        moment = first
      }
      guard let request = messages.next(due: moment) else { return }
      if case .rate = pace { due.removeFirst() }
      idle.removeLast()
      connection.send(request)
    }
  }
}

/// One connection: a request, its answer, the next request.
final class RelayConnection: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let sender: Sender
  private let messages: Messages
  private var context: ChannelHandlerContext?
  private var device = 0
  private var received: [UInt8] = []

  init(_ sender: Sender, _ messages: Messages) { (self.sender, self.messages) = (sender, messages) }

  func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

  func channelActive(context: ChannelHandlerContext) {
    self.context = context
    sender.add(self)
  }

  func send(_ request: Messages.Request) {
    guard let context else { return }
    device = request.device
    var buffer = ByteBuffer(
      string: "POST /v1/exchange HTTP/1.1\r\nHost: x\r\nContent-Type: application/octet-stream\r\n"
        + "Content-Length: \(request.bytes.count)\r\n\r\n")
    buffer.writeBytes(request.bytes)
    context.writeAndFlush(wrapOutboundOut(buffer), promise: nil)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let now = NIODeadline.now()
    received += unwrapInboundIn(data).readableBytesView
    // The head, and an answer of 26 bytes.
    guard let end = received.firstRange(of: Array("\r\n\r\n".utf8))?.upperBound, received.count >= end + 26 else {
      return
    }
    messages.answered(device, at: now, isDone: received[end + 25] == 1)
    received.removeAll(keepingCapacity: true)
    sender.add(self)
  }
}

extension Sender {
  /// Connects, on the given loop.
  static func connect(
    to port: Int, _ messages: Messages, connections: Int, on loop: any EventLoop
  ) throws -> NIOLoopBound<Sender> {
    let bound = try loop.submit { NIOLoopBound(Sender(messages, on: loop), eventLoop: loop) }.wait()
    var configuration = TLSConfiguration.makeClientConfiguration()
    configuration.certificateVerification = .none
    configuration.applicationProtocols = ["http/1.1"]
    let tls = try NIOSSLContext(configuration: configuration)
    let bootstrap = ClientBootstrap(group: loop).channelInitializer { channel in
      channel.eventLoop.makeCompletedFuture {
        try channel.pipeline.syncOperations.addHandler(NIOSSLClientHandler(context: tls, serverHostname: nil))
        try channel.pipeline.syncOperations.addHandler(RelayConnection(bound.value, messages))
      }
    }
    for _ in 0..<connections { _ = try bootstrap.connect(host: "127.0.0.1", port: port).wait() }
    return bound
  }
}
