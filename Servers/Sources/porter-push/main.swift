import NIOCore
import NIOPosix
import PorterAPNs
import PorterOperators
import PorterServer
import PorterSettings
import PorterTelemetry
import PorterWebPush

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

func put(_ text: String, to descriptor: Int32) {
  var rest = Array(text.utf8)[...]
  while !rest.isEmpty {
    let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    if count > 0 { rest = rest.dropFirst(count) } else if count == 0 || errno != EINTR { return }
  }
}

/// The configured providers, by the names clients use.
struct Senders {
  let byName: [String: any PushSender]
  let webPush: WebPushProvider?
  /// Blocks until their threads have ended.
  let close: () throws -> Void

  init(_ settings: Settings, log: @escaping PushLog) throws {
    try PushSettings.checkParts(settings)
    var senders: [String: any PushSender] = [:]
    var closing: [() throws -> Void] = []
    if settings.text("apns-key") != nil {
      let provider = try APNsProvider(APNsOptions(settings), log: log)
      senders[PushSettings.environment(settings).provider] = provider
      closing.append(provider.close)
    }
    webPush =
      settings.text("webpush-key") == nil ? nil : try WebPushProvider(WebPushOptions(settings), log: log)
    if let webPush {
      senders[WebPushProvider.name] = webPush
      closing.append(webPush.close)
    }
    guard !senders.isEmpty || settings.text("local-socket") != nil else {
      throw SettingsError("no provider is configured: set apns-key or webpush-key and what belongs to it; see --help")
    }
    byName = senders
    close = { for close in closing { try close() } }
  }
}

/// There is nothing to reload.
func end(of signals: SignalWaiter) -> PushService.End {
  while true {
    switch signals.next() {
    case .reload: continue
    case .drain: return .drain
    case .stop: return .stop
    }
  }
}

/// The state shared with other servers; nil if this server keeps its own.
func sharedStore(_ settings: Settings, _ log: LogWriter) throws -> (any SharedStore)? {
  let place = try settings.require("store")
  guard place != "file" else { return nil }
  // A file delivers each notification to every server that reads it.
  guard try settings.require("relay").contains("://") else {
    throw SettingsError("relay: servers with a shared store need a relay on the network, https://HOST[:PORT]")
  }
  #if JetStream
    var options = JetStreamOptions(
      cluster: try NATSOptions(
        servers: place, credentials: settings.text("nats-credentials"), authorities: settings.text("nats-authorities")))
    options.name = try settings.require("nats-name")
    options.replicas = try settings.number("nats-replicas")
    options.files = try settings.require("state") + "-"
    return JetStreamPushStore(options, log: log)
  #else
    throw SettingsError("store: this porter-push was built without JetStream")
  #endif
}

func serve(_ settings: Settings) throws {
  // Push services' connections stay open for minutes, and clients choose the services.
  raiseDescriptorLimit()
  let signals = SignalWaiter()
  // Files created here are for this user only.
  umask(0o077)
  let level = LogWriter.Level.allCases.first { $0.name == settings.text("log-level") } ?? .info
  let form = LogWriter.Form(rawValue: settings.text("log-form") ?? "") ?? .logfmt
  let writer = LogWriter(minimum: level, form: form)
  let log: PushLog = { writer.line($0, $1, $2) }
  let senders = try Senders(settings, log: log)
  var options = PushService.Options(
    relay: try PushService.Relay(settings, log: log), state: try settings.require("state"))
  options.store = try sharedStore(settings, writer)
  options.tokens = try settings.number("tokens")
  options.locals = settings.text("local-socket").map { ["apns_test": $0] } ?? [:]
  let service = try PushService(options, senders: senders.byName, log: log)
  let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
  defer { try? group.syncShutdownGracefully() }
  let place = try settings.endpoint("operators")
  let source = PushOperators(service, senders.webPush, log: writer)
  let operators = try OperatorServer(host: place.host, port: place.port, on: group, patience: .seconds(15), source)
  let upkeep = group.next().scheduleRepeatedTask(initialDelay: .seconds(5), delay: .seconds(5)) { _ in source.look() }
  writer(.info, "starting", ["operators": String(operators.port)])
  try service.run(began: { put("\($0)\n", to: 1) }, until: { end(of: signals) })
  upkeep.cancel()
  operators.close()
  try senders.close()
}

do {
  switch try PushSettings.table.request() {
  case .document(let text): put(text, to: 1)
  case .printing(let settings): put(settings.listing, to: 1)
  case .command("serve", let settings): try serve(settings)
  case .command(_, let settings):
    try Senders(settings, log: { _, _, _ in }).close()
    _ = try PushService.Relay(settings, log: { _, _, _ in })
    _ = try sharedStore(settings, LogWriter(minimum: .error, form: .logfmt))
    if settings.text("webpush-key") != nil { put("webpush \(try WebPushOptions(settings).publicKey)\n", to: 1) }
    put("ok\n", to: 1)
  }
} catch {
  put("porter-push: \(error)\n", to: 2)
  exit(1)
}
