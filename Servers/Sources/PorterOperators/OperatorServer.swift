public import NIOCore
public import NIOPosix
public import PorterTelemetry

/// The state a program reports. Thread-safe.
public protocol OperatorSource: Sendable {
  /// One line for each problem.
  var problems: [String] { get }
  /// One line for each thing worth knowing that is not a problem of this program.
  var notes: [String] { get }
  var isReady: Bool { get }
  var metrics: Metrics { get }
}

extension OperatorSource {
  public var notes: [String] { [] }
}

/// Serves `/health`, `/ready` and `/metrics` over plain HTTP, at an address that only the operator can reach.
public final class OperatorServer: Sendable {
  private let listener: any Channel

  /// `patience`: how long a request may take.
  public init(
    host: String, port: Int, on group: MultiThreadedEventLoopGroup, patience: TimeAmount, _ source: any OperatorSource
  ) throws {
    listener = try OperatorHandler.bootstrap(group, patience, source).bind(host: host, port: port).wait()
  }

  public var port: Int { listener.localAddress?.port ?? 0 }

  /// Accepts no more connections. Open ones end with the group.
  public func close() { try? listener.close().wait() }
}
