import PorterCrypto
import PorterPush
import PorterRelay
import PorterStore

/// Why a notification server cannot continue, or cannot start.
package enum ServerError: Error, Hashable, Sendable {
  package enum Record: String, Hashable, Sendable {
    case identity, token, device, subscription, notification, request
  }

  /// The state file or its directory cannot be used.
  case cannotOpenState(systemError: Int32)
  /// The file is not a server's state.
  case notServerState
  /// Written by a newer version.
  case newerState(version: Int64)
  /// Another server is running on this state.
  case stateInUse
  /// `link` was requested before the server ever ran.
  case neverRan
  case damaged(Record)
  case storage(SQLiteError)
  case relay(RelayError)
  /// The cluster that holds the state cannot be used.
  case cluster(String)
  /// The cluster holds data that another version stored in a different layout.
  case otherLayout
  /// The relay does not know the server's mailbox: the state belongs to another relay file.
  case mailboxUnknown
  case push(PushError)
  case crypto(CryptoError)
  /// Longer than a Unix socket address can be.
  case socketPathTooLong(limit: Int)
  /// The process is out of file descriptors or threads.
  case noResources
}

extension ServerError: SQLiteFailure {
  package init(_ error: SQLiteError) { self = .storage(error) }
}

extension ServerError {
  static func mappingErrors<Value>(from _: RelayError.Type, _ body: () throws(RelayError) -> Value) throws(ServerError)
    -> Value
  {
    do throws(RelayError) { return try body() } catch { throw .relay(error) }
  }

  static func mappingErrors<Value>(from _: PushError.Type, _ body: () throws(PushError) -> Value) throws(ServerError)
    -> Value
  {
    do throws(PushError) { return try body() } catch { throw .push(error) }
  }

  static func mappingErrors<Value>(from _: CryptoError.Type, _ body: () throws(CryptoError) -> Value)
    throws(ServerError) -> Value
  {
    do throws(CryptoError) { return try body() } catch { throw .crypto(error) }
  }

  /// Whether a submission to a scope had a malformed address or envelope.
  package var isBadEnvelope: Bool {
    if case .push(.malformed) = self { true } else { false }
  }

  /// Whether the same request may succeed later unchanged.
  var isTemporary: Bool {
    switch self {
    case .storage(let error): error.isTemporary || error.kind == .full || error.kind == .ioError
    case .relay(let error): error.isTemporary
    case .cluster: true
    case .cannotOpenState, .notServerState, .newerState, .stateInUse, .neverRan, .damaged, .otherLayout,
      .mailboxUnknown, .push, .crypto, .socketPathTooLong, .noResources:
      false
    }
  }
}

extension ServerError {
  /// Whether to try again later. Some failures are permanent with a relay file but can be repaired on a network relay:
  /// a malformed answer, or a mailbox that a restored backup brings back.
  func mayPass(at relay: any RelayPort) -> Bool {
    switch self {
    case .relay, .mailboxUnknown: isTemporary || !relay.isLocal
    default: isTemporary
    }
  }
}

extension ServerError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .cannotOpenState(let error):
      "the state file cannot be opened (errno \(error)); its directory must exist and be writable"
    case .notServerState: "the state file is not a notification server's"
    case .newerState(let version): "the state file was written by a newer version (\(version)) of porter-server"
    case .stateInUse: "another porter-server is running on this state file"
    case .neverRan: "no porter-server has run on this state file yet, so it has no link"
    case .damaged(let record): "the state file is damaged (\(record.rawValue))"
    case .storage(let error): "the state file: \(error)"
    case .relay(let error): "\(error)"
    case .cluster(let reason): "the cluster: \(reason)"
    case .otherLayout: "the cluster's subscriptions are in the layout of another version, which this one does not read"
    case .mailboxUnknown:
      "the relay does not know this server's mailbox: does the state belong to another relay file?"
    case .push(let error): "\(error)"
    case .crypto(let error): "\(error)"
    case .socketPathTooLong(let limit): "a socket's path can be at most \(limit) bytes long"
    case .noResources: "out of file descriptors or threads"
    }
  }
}
