public import NIOCore
public import NIOPosix
public import PorterTelemetry

/// What a program says of itself. From any thread.
public protocol OperatorSource: Sendable {
  /// One line for each thing that is wrong.
  var problems: [String] { get }
  /// One line for each thing that is to be known and is no problem of this program's.
  var notes: [String] { get }
  var isReady: Bool { get }
  var metrics: Metrics { get }
}

extension OperatorSource {
  public var notes: [String] { [] }
}

/// Serves `/health`, `/ready` and `/metrics` over plain HTTP, at an address that only the operator reaches.
public final class OperatorServer: Sendable {
  private let listener: any Channel

  /// `patience`: how long a request may take.
  public init(
    host: String, port: Int, on group: MultiThreadedEventLoopGroup, patience: TimeAmount, _ source: any OperatorSource
  ) throws {
    listener = try OperatorHandler.bootstrap(group, patience, source).bind(host: host, port: port).wait()
  }

  public var port: Int { listener.localAddress?.port ?? 0 }

  /// Takes no more connections. Those that are open end with the group.
  public func close() { try? listener.close().wait() }
}
