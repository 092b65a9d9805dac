import PorterPlatform
import PorterPush
import PorterRelay

/// A notification server for a program in another package.
public final class PushService {
  public enum Relay: Sendable {
    /// The embedded relay's file.
    case file(String)
    case transport(any RelayTransport)
  }

  public struct Options: Sendable {
    public var relay: Relay
    /// The server's own file.
    public var state: String
    /// The store shared with other servers; the file then holds only what is being worked on.
    public var store: (any SharedStore)?
    /// Sockets of device simulators, by the name of the provider each stands in for.
    public var locals: [String: String] = [:]
    /// How many tokens are kept; registrations beyond that are refused. Servers that share their state use the same
    /// number.
    public var tokens: Int?

    public init(relay: Relay, state: String) {
      self.relay = relay
      self.state = state
    }
  }

  private let providers: [String: any PushProvider]
  private let senders: [String: any PushSender]
  private let state: ServerState
  private let relay: any RelayPort
  private let store: (any SharedStore)?
  private let tokens: Int?
  private let stop: WakeDescriptor
  private let log: Log
  private let status = ServerStatus()

  /// Opens the server's file, and leaves the relay to `run`. `log` gets lines without identifiers.
  public init(
    _ options: Options, senders: [String: any PushSender], log: PushLog? = nil
  ) throws(PushServiceError) {
    self.senders = senders
    self.log =
      log.map { log in
        Log(minimum: .debug) { level, message, values in
          log("\(level)", "\(message)", values.map { (name: "\($0)", value: $1) })
        }
      } ?? .silent
    do throws(ServerError) {
      guard let stop = WakeDescriptor() else { throw .noResources }
      self.stop = stop
      var providers: [String: any PushProvider] = [:]
      for (name, path) in options.locals { providers[name] = try LocalProvider(path: path) }
      self.providers = providers
      store = options.store
      tokens = options.tokens
      state =
        store == nil
        ? try ServerState(path: options.state, access: .serve, ports: .system)
        : try ServerState(path: options.state + "-work", access: .work, ports: .system)
      switch options.relay {
      case .file(let path):
        relay = EmbeddedRelay(
          path: path, ports: .system, log: self.log, cacheKibibytes: ServerLoop.relayCacheKibibytes)
      case .transport(let transport):
        guard let port = TransportRelay(transport) else { throw .noResources }
        relay = port
      }
    } catch {
      throw PushServiceError(error)
    }
  }

  /// One line for each current problem. From any thread, like all of these.
  public var problems: [String] {
    let now = status.problems.map { problem in
      guard problem.part == .relay, let reason = relay.problem else { return problem.description }
      return "\(problem) (\(reason))"
    }
    return now + (store?.problem.map { ["state: \($0)"] } ?? [])
  }

  /// Whether clients are served: the relay was reached and still is.
  public var isReady: Bool { status.isReady }

  /// How many pushes have ended, by provider and outcome.
  public var outcomes: [PushCount: Int] { status.outcomes }

  public enum End: Sendable {
    /// Pushes in progress are sent again after the next start.
    case stop
    /// Pushes that are due are sent first.
    case drain
  }

  /// Serves until `ended` returns, which is called on its own thread; after `drain` it is called again, and `stop` ends
  /// the drain. `began` gets the address for clients once the relay has been reached.
  public func run(
    began: (_ link: String) -> Void, until ended: @escaping @Sendable () -> End
  ) throws(PushServiceError) {
    // Removes an embedded relay's wake socket in any case.
    defer { relay.close() }
    do throws(ServerError) {
      let stop = stop
      let drains = Monitor(false)
      let isWaiting = WorkerThread.start {
        while true {
          let end = ended()
          drains.withLock { $0 = end == .drain }
          stop.raise()
          guard end == .drain else { return }
        }
      }
      guard isWaiting else { throw .noResources }
      if let (server, link) = try start() {
        status.update([], isServing: true)
        began("\(link)")
        try ServerLoop(
          any: server, providers: providers, senders: senders, status: status, stop: stop,
          drains: { drains.withLock { $0 } }
        ).run()
      }
      store?.close()
      try state.close()
    } catch {
      throw PushServiceError(error)
    }
  }

  /// Waits while a relay on the network, or a cluster, cannot be reached. Nil if the service is stopped first.
  private func start() throws(ServerError) -> (any LoopedServer, NotificationServerLink)? {
    var backoff = ServerTimes.backoff
    let names = Set(providers.keys).union(senders.keys)
    while true {
      do throws(ServerError) {
        if let store {
          let server = try SharedServer(
            store: store, state: state, relay: relay, providers: names, tokens: tokens, log: log)
          return (server, server.link)
        }
        let server = try NotificationServer(
          state: state, relay: relay, providers: names, tokens: tokens, ports: .system, log: log)
        return (server, server.link)
      } catch {
        guard error.mayPass(at: relay) else { throw error }
        status.update([ServerProblem(error)])
        let pause = backoff.next()
        log(.warning, "cannot start yet", ["reason": "\(error)", "retryInMs": "\(pause.milliseconds)"])
        if stop.waits(atMost: pause) { return nil }
      }
    }
  }
}

/// Why a notification server cannot start or continue.
public struct PushServiceError: Error, CustomStringConvertible {
  public let description: String

  init(_ error: ServerError) { description = error.description }
  init(_ text: String) { description = text }
}
