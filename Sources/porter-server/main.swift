import PorterPlatform
import PorterRelay
import PorterServer

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

func put(_ text: String, to descriptor: Int32) {
  var rest = Array(text.utf8)[...]
  while !rest.isEmpty {
    let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    if count > 0 { rest = rest.dropFirst(count) } else if count == 0 || errno != EINTR { return }
  }
}

/// Takes SIGTERM and SIGINT on a thread that does nothing else, so that no code runs inside a signal handler. Must be
/// called before any other thread starts: threads inherit the blocked signals.
func stopOnSignals(_ stop: WakeDescriptor) throws(ServerError) {
  _ = signal(SIGPIPE, SIG_IGN)
  let isRunning = WorkerThread.start {
    var signals = stopSignals()
    var number: Int32 = 0
    while sigwait(&signals, &number) != 0 {}
    stop.raise()
  }
  guard isRunning else { throw .noResources }
}

func stopSignals() -> sigset_t {
  var signals = sigset_t()
  sigemptyset(&signals)
  sigaddset(&signals, SIGTERM)
  sigaddset(&signals, SIGINT)
  return signals
}

func serve(_ arguments: Arguments.Serving) throws(ServerError) {
  var signals = stopSignals()
  pthread_sigmask(SIG_BLOCK, &signals, nil)
  guard let stop = WakeDescriptor() else { throw .noResources }
  try stopOnSignals(stop)

  let log = Log.standardError(minimum: arguments.isVerbose ? .debug : .warning, timed: arguments.isVerbose)
  var providers: [String: any PushProvider] = [:]
  for (name, path) in arguments.locals { providers[name] = try LocalProvider(path: path) }
  let state = try ServerState(path: arguments.state, access: .serve, ports: .system)
  let relay = EmbeddedRelay(
    path: arguments.relay, ports: .system, log: log, cacheKibibytes: ServerLoop.relayCacheKibibytes)
  // Removes the wake socket in any case.
  defer { relay.close() }
  let server = try NotificationServer(
    state: state, relay: relay, providers: Set(providers.keys), tokens: arguments.tokens, ports: .system, log: log)
  put("\(server.link)\n", to: 1)
  if let descriptor = arguments.readyDescriptor {
    put("ready\n", to: descriptor)
    close(descriptor)
  }
  try ServerLoop(server: server, providers: providers, stop: stop).run()
  try state.close()
}

/// Reads standard input to its end, or to one byte more than an envelope has.
func readEnvelope() -> [UInt8] {
  var bytes: [UInt8] = []
  var part = [UInt8](repeating: 0, count: ScopeSubmission.size)
  while bytes.count <= ScopeSubmission.size {
    let count = read(0, &part, part.count)
    if count > 0 { bytes += part[..<count] } else if count == 0 || errno != EINTR { break }
  }
  return bytes
}

func send(to address: String, relay path: String) throws(ServerError) {
  let relay = EmbeddedRelay(path: path, ports: .system, log: .silent)
  defer { relay.close() }
  try ScopeSubmission.submit(readEnvelope(), to: address, relay: relay)
}

func exitStatus(_ error: ServerError) -> Int32 {
  if error.isBadEnvelope { return 2 }
  return switch error {
  case .relay(.auth): 6
  case .relay(.quota): 7
  case .cannotOpenState, .notServerState, .newerState, .neverRan, .damaged, .storage: 3
  case .relay, .mailboxUnknown: 4
  case .stateInUse: 5
  case .socketPathTooLong: 2
  case .push, .crypto, .cluster, .otherLayout, .noResources: 1
  }
}

func run() -> Int32 {
  do throws(Arguments.Mistake) {
    let arguments = try Arguments(Array(CommandLine.arguments.dropFirst()))
    do throws(ServerError) {
      switch arguments {
      case .help: put(Arguments.usage, to: 1)
      case .link(let path): put("\(try ServerState(path: path, access: .look, ports: .system).link)\n", to: 1)
      case .send(let relay, let address): try send(to: address, relay: relay)
      case .serve(let serving): try serve(serving)
      }
      return 0
    } catch {
      put("porter-server: \(error)\n", to: 2)
      return exitStatus(error)
    }
  } catch {
    put("porter-server: \(error.text)\n\n\(Arguments.usage)", to: 2)
    return 2
  }
}

exit(run())
