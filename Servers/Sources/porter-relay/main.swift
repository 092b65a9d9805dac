import PorterRelay
import PorterRelayServer
import PorterSettings
import PorterTLS
import PorterTelemetry

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

/// A reason to exit with a message.
struct Failure: Error {
  let text: String
}

func put(_ text: String, to descriptor: Int32) {
  var rest = Array(text.utf8)[...]
  while !rest.isEmpty {
    let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    if count > 0 { rest = rest.dropFirst(count) } else if count == 0 || errno != EINTR { return }
  }
}

/// Creates the folder, for this user only, unless it exists.
func prepare(folder: String) throws(Failure) {
  guard mkdir(folder, 0o700) == 0 || errno == EEXIST else {
    throw Failure(text: "\(folder): \(String(cString: strerror(errno)))")
  }
}

/// Only one process may serve a folder: the file has one writer.
func claim(folder: String) throws(Failure) {
  let descriptor = open(folder + "/lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
  guard descriptor >= 0 else { throw Failure(text: "\(folder): \(String(cString: strerror(errno)))") }
  guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
    throw Failure(text: "\(folder): another porter-relay serves this folder")
  }
}

func keeper(_ settings: Settings) throws -> CertificateKeeper {
  switch (settings.text("certificate"), settings.text("key")) {
  case (let certificate?, let key?): return try CertificateKeeper(certificate: certificate, key: key)
  case (nil, nil):
    let folder = try settings.require("data")
    try prepare(folder: folder)
    let paths = try OwnCertificate.prepare(in: folder, name: try name(settings))
    return try CertificateKeeper(certificate: paths.certificate, key: paths.key)
  default: throw Failure(text: "certificate and key are set together, or neither")
  }
}

/// The name clients use for this relay.
func name(_ settings: Settings) throws(SettingsError) -> String {
  if let name = settings.text("name") { return name }
  let host = try settings.endpoint("listen").host
  return host == "0.0.0.0" || host == "::" ? "localhost" : host
}

func address(_ settings: Settings, _ keeper: CertificateKeeper, port: Int) throws(SettingsError) -> String {
  let name = try name(settings)
  let host = name.contains(":") ? "[\(name)]" : name
  return "https://\(host)\(port == 443 ? "" : ":\(port)")#\(keeper.certificate.fingerprint)"
}

#if JetStream
  /// The location of mailboxes shared with other relays.
  func cluster(_ settings: Settings) throws -> JetStreamOptions {
    let place = try settings.require("store")
    var options = JetStreamOptions(
      cluster: try NATSOptions(
        servers: place, credentials: settings.text("nats-credentials"), authorities: settings.text("nats-authorities")))
    options.name = try settings.require("nats-name")
    options.replicas = try settings.number("nats-replicas")
    options.partitions = try settings.number("nats-partitions")
    options.exchanges = try settings.number("waiting-requests")
    return options
  }
#else
  func cluster(_ settings: Settings) throws -> Never {
    throw Failure(text: "store: this porter-relay was built without JetStream")
  }
#endif

/// Mailboxes shared with other relays.
func clustered(
  _ settings: Settings, _ log: LogWriter, _ admit: @escaping @Sendable ([UInt8]) -> Bool,
  _ onNews: @escaping @Sendable ([String]) -> Void
) throws -> any RelayBackEnd {
  #if JetStream
    return JetStreamBackEnd(try cluster(settings), log: log, admit: admit, onNews: onNews)
  #else
    try cluster(settings)
  #endif
}

func serve(_ settings: Settings) throws {
  let signals = SignalWaiter()
  // Files in the folder are for this user only.
  umask(0o077)
  raiseDescriptorLimit()
  let level = LogWriter.Level.allCases.first { $0.name == settings.text("log-level") } ?? .info
  let form = LogWriter.Form(rawValue: settings.text("log-form") ?? "") ?? .logfmt
  let log = LogWriter(minimum: level, form: form)
  let folder = try settings.require("data")
  try prepare(folder: folder)
  let isFile = settings.text("store") == "file"
  try claim(folder: folder)
  let keeper = try keeper(settings)
  let options = try RelayServerOptions(settings)
  let metrics = Metrics(buckets: RelayMetrics.buckets)
  let mailboxes = RateLimiter<[UInt8]>(options.mailboxAllowance)
  let server = try RelayServer(options, keeper: keeper, metrics: metrics, log: log) { onNews in
    let admit: @Sendable ([UInt8]) -> Bool = { mailboxes.take($0) == nil }
    guard isFile else { return try clustered(settings, log, admit, onNews) }
    var store = RelayService.Options(path: folder + "/relay.db")
    store.cacheKibibytes = try settings.number("cache") >> 10
    store.maximumBytes = Int64(try settings.number("store-limit"))
    return try FileBackEnd(
      store, most: options.waitingRequests, metrics: metrics, log: log, admit: admit, onNews: onNews)
  }
  log(.info, "serving", ["port": String(server.port), "operators": String(server.operatorsPort)])
  put(try address(settings, keeper, port: server.port) + "\n", to: 1)
  wait(signals, server)
  server.stop()
}

/// Returns when the server must stop.
func wait(_ signals: SignalWaiter, _ server: RelayServer) {
  var isDraining = false
  while true {
    switch signals.next() {
    case .reload: server.reloadCertificate()
    case .drain:
      if !isDraining { server.drain { SignalWaiter.raiseStop() } }
      isDraining = true
    case .stop: return
    }
  }
}

func run() throws {
  switch try RelaySettings.table.request() {
  case .document(let text): put(text, to: 1)
  case .printing(let settings): put(settings.listing, to: 1)
  case .command("serve", let settings): try serve(settings)
  case .command("address", let settings):
    put(try address(settings, keeper(settings), port: settings.endpoint("listen").port) + "\n", to: 1)
  case .command(_, let settings):
    _ = try keeper(settings)
    _ = try RelayServerOptions(settings)
    if settings.text("store") != "file" { _ = try cluster(settings) }
    put("ok\n", to: 1)
  }
}

do {
  try run()
} catch let failure as Failure {
  put("porter-relay: \(failure.text)\n", to: 2)
  exit(1)
} catch {
  put("porter-relay: \(error)\n", to: 2)
  exit(1)
}
