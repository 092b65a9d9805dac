import PorterPlatform
import PorterRelay

/// A notification server for a program of another package.
public final class PushService {
  public struct Options: Sendable {
    /// The embedded relay's file.
    public var relay: String
    /// The server's own file.
    public var state: String
    /// Sockets of device simulators by the name of the provider that each stands for.
    public var locals: [String: String] = [:]

    public init(relay: String, state: String) {
      self.relay = relay
      self.state = state
    }
  }

  /// The address for clients.
  public var link: String { "\(server.link)" }
  private let server: NotificationServer
  private let state: ServerState
  private let relay: EmbeddedRelay
  private let stop: WakeDescriptor
  private let loop: ServerLoop

  /// `log` gets lines without identifiers, each with a level from `debug` to `error`.
  public init(
    _ options: Options, senders: [String: any PushSender],
    log: (@Sendable (_ level: String, _ line: String) -> Void)? = nil
  ) throws(PushServiceError) {
    let log = log.map { log in Log(minimum: .debug) { log("\($0)", $1) } } ?? .silent
    do throws(ServerError) {
      guard let stop = WakeDescriptor() else { throw .noResources }
      self.stop = stop
      var providers: [String: any PushProvider] = [:]
      for (name, path) in options.locals { providers[name] = try LocalProvider(path: path) }
      state = try ServerState(path: options.state, access: .serve, ports: .system)
      relay = EmbeddedRelay(
        path: options.relay, ports: .system, log: log, cacheKibibytes: ServerLoop.relayCacheKibibytes)
      server = try NotificationServer(
        state: state, relay: relay, providers: Set(providers.keys).union(senders.keys), ports: .system, log: log)
      loop = try ServerLoop(server: server, providers: providers, senders: senders, stop: stop)
    } catch {
      throw PushServiceError(error)
    }
  }

  /// Serves until `stopped` returns, which is called on a thread of its own. Pushes in progress then are sent again after
  /// the next start.
  public func run(until stopped: @escaping @Sendable () -> Void) throws(PushServiceError) {
    // Removes the wake socket, whatever happens.
    defer { relay.close() }
    do throws(ServerError) {
      let stop = stop
      let isWaiting = WorkerThread.start {
        stopped()
        stop.raise()
      }
      guard isWaiting else { throw .noResources }
      try loop.run()
      try state.close()
    } catch {
      throw PushServiceError(error)
    }
  }
}

/// Why a notification server cannot start or continue.
public struct PushServiceError: Error, CustomStringConvertible {
  public let description: String

  init(_ error: ServerError) { description = error.description }
  init(_ text: String) { description = text }
}
