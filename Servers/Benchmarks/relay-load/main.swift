// Sends messages as fast as they are accepted: `relay-load http PORT IDS CONNECTIONS COUNT` to a relay over HTTPS,
// `relay-load file FOLDER IDS CLIENTS COUNT` to the relay's back end without HTTPS, and
// `relay-load nats URL IDS CLIENTS COUNT` to the back end of a relay in a cluster. IDS is a file with the sender
// identifiers of unsecured mailboxes, in hexadecimal, one per line. Prints one JSON object.

import NIOCore
import NIOPosix
import NIOSSL
import PorterRelay
import PorterRelayServer
import PorterTelemetry
import Synchronization

#if JetStream
  import PorterJetStream
#endif

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Hands out the requests and measures the times.
final class Work: Sendable {
  private struct State {
    var next = 0
    var nanoseconds: [Int64] = []
    var failures = 0
  }

  private let mailboxes: [[UInt8]]
  private let count: Int
  private let state = Mutex(State())
  private let body = [UInt8](repeating: 7, count: 1_000)

  init(mailboxes: [[UInt8]], count: Int) {
    self.mailboxes = mailboxes
    self.count = count
  }

  /// Nil once all have been handed out.
  func next() -> [UInt8]? {
    let number = state.withLock { state -> Int? in
      guard state.next < count else { return nil }
      state.next += 1
      return state.next - 1
    }
    guard let number else { return nil }
    var generator = SystemRandomNumberGenerator()
    func random() -> [UInt8] { (0..<24).map { _ in UInt8.random(in: .min ... .max, using: &generator) } }
    return [1] + random() + [0, 1] + mailboxes[number % mailboxes.count] + [3] + random() + [0] + body
  }

  func note(_ time: TimeAmount, isDone: Bool) {
    state.withLock { state in
      state.nanoseconds.append(time.nanoseconds)
      if !isDone { state.failures += 1 }
    }
  }

  func report(_ kind: String, after time: TimeAmount) {
    let (times, failures) = state.withLock { ($0.nanoseconds.sorted(), $0.failures) }
    let perSecond = Double(times.count) / (Double(time.nanoseconds) / 1e9)
    func quantile(_ part: Double) -> Double {
      Double(times[min(times.count - 1, Int(Double(times.count) * part))]) / 1e6
    }
    print(
      "{\"kind\":\"\(kind)\",\"count\":\(times.count),\"failures\":\(failures),\"perSecond\":\(Int(perSecond)),"
        + "\"p50\":\(quantile(0.5)),\"p99\":\(quantile(0.99))}")
  }
}

/// One connection: a request, its answer, the next request.
final class Sender: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let work: Work
  private var received: [UInt8] = []
  private var began = NIODeadline.now()

  init(_ work: Work) { self.work = work }

  func channelActive(context: ChannelHandlerContext) { send(context) }

  private func send(_ context: ChannelHandlerContext) {
    guard let request = work.next() else { return context.close(promise: nil) }
    var buffer = ByteBuffer(
      string: "POST /v1/exchange HTTP/1.1\r\nHost: x\r\nContent-Type: application/octet-stream\r\n"
        + "Content-Length: \(request.count)\r\n\r\n")
    buffer.writeBytes(request)
    began = .now()
    context.writeAndFlush(wrapOutboundOut(buffer), promise: nil)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    received += unwrapInboundIn(data).readableBytesView
    guard let end = received.firstRange(of: Array("\r\n\r\n".utf8))?.upperBound else { return }
    let length = Self.length(received[..<end])
    guard received.count >= end + length else { return }
    // A refusal has a different length.
    work.note(.now() - began, isDone: length == 26 && received[end + 25] == 1)
    received.removeAll(keepingCapacity: true)
    send(context)
  }

  private static func length(_ head: ArraySlice<UInt8>) -> Int {
    let line = String(decoding: head, as: UTF8.self).lowercased().split(separator: "\r\n")
      .first { $0.hasPrefix("content-length:") }
    return line.flatMap { Int($0.dropFirst(15).filter(\.isNumber)) } ?? 0
  }
}

func overHTTP(port: Int, _ work: Work, connections: Int) throws -> TimeAmount {
  let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
  var configuration = TLSConfiguration.makeClientConfiguration()
  configuration.certificateVerification = .none
  configuration.applicationProtocols = ["http/1.1"]
  let tls = try NIOSSLContext(configuration: configuration)
  let bootstrap = ClientBootstrap(group: group).channelInitializer { channel in
    channel.eventLoop.makeCompletedFuture {
      try channel.pipeline.syncOperations.addHandler(NIOSSLClientHandler(context: tls, serverHostname: nil))
      try channel.pipeline.syncOperations.addHandler(Sender(work))
    }
  }
  let began = NIODeadline.now()
  let channels = try (0..<connections).map { _ in try bootstrap.connect(host: "127.0.0.1", port: port).wait() }
  for channel in channels { try? channel.closeFuture.wait() }
  let time = NIODeadline.now() - began
  try group.syncShutdownGracefully()
  return time
}

/// Each client sends its next request once the previous one has been answered.
func toBackEnd(_ backEnd: any RelayBackEnd, _ work: Work, clients: Int) -> TimeAmount {
  let active = Mutex(clients)
  @Sendable func send() {
    guard let request = work.next() else { return active.withLock { $0 -= 1 } }
    let began = NIODeadline.now()
    backEnd.exchange(.init(request: request)) { reply in
      if case .answer(_, _, "done", _) = reply {
        work.note(.now() - began, isDone: true)
      } else {
        work.note(.now() - began, isDone: false)
      }
      send()
    }
  }
  let began = NIODeadline.now()
  for _ in 0..<clients { send() }
  while active.withLock({ $0 }) > 0 { usleep(200) }
  let time = NIODeadline.now() - began
  backEnd.close()
  return time
}

func file(_ folder: String) throws -> any RelayBackEnd {
  try FileBackEnd(
    .init(path: folder + "/relay.db"), metrics: Metrics(buckets: RelayMetrics.buckets), log: LogWriter { _ in },
    admit: { _ in true }, onNews: { _ in })
}

/// The back end of the relay that has created the streams.
func cluster(_ servers: String) throws -> any RelayBackEnd {
  #if JetStream
    JetStreamBackEnd(
      .init(cluster: .init(servers: servers)), log: LogWriter { _ in }, admit: { _ in true }, onNews: { _ in })
  #else
    throw ChannelError.operationUnsupported
  #endif
}

func identifiers(_ path: String) -> [[UInt8]] {
  guard let file = fopen(path, "re") else { return [] }
  defer { fclose(file) }
  var result: [[UInt8]] = []
  while let line = readLine(from: file) {
    let digits = Array(line)
    result.append(
      stride(from: 0, to: digits.count - 1, by: 2).compactMap { UInt8(String(digits[$0...($0 + 1)]), radix: 16) })
  }
  return result.filter { $0.count == 24 }
}

func readLine(from file: UnsafeMutablePointer<FILE>) -> String? {
  var line = [CChar](repeating: 0, count: 256)
  guard fgets(&line, Int32(line.count), file) != nil else { return nil }
  return String(decoding: line.prefix { $0 != 0 && $0 != 10 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}

let arguments = CommandLine.arguments
guard arguments.count == 6, let clients = Int(arguments[4]), let count = Int(arguments[5]) else {
  print(
    "usage: relay-load http PORT IDS CONNECTIONS COUNT | relay-load file FOLDER IDS CLIENTS COUNT | relay-load nats URL …"
  )
  exit(2)
}
let work = Work(mailboxes: identifiers(arguments[3]), count: count)
switch (arguments[1], Int(arguments[2])) {
case ("http", let port?): work.report("http", after: try overHTTP(port: port, work, connections: clients))
case ("nats", _): work.report("nats", after: toBackEnd(try cluster(arguments[2]), work, clients: clients))
default: work.report("file", after: toBackEnd(try file(arguments[2]), work, clients: clients))
}
