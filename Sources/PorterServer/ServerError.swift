import PorterCrypto
import PorterPush
import PorterRelay
import PorterStore

/// Why a notification server cannot go on, or cannot start.
package enum ServerError: Error, Hashable, Sendable {
  package enum Record: String, Hashable, Sendable {
    case identity, token, subscription, notification, request
  }

  /// The state file's directory or the file cannot be used.
  case cannotOpenState(systemError: Int32)
  /// The file is something else.
  case notServerState
  /// Written by a newer version.
  case newerState(version: Int64)
  /// Another server runs on this state.
  case stateInUse
  /// `link` was asked for before the server ever ran.
  case neverRan
  case damaged(Record)
  case storage(SQLiteError)
  case relay(RelayError)
  /// The relay does not know the server's mailbox: the relay's file is not the one that this state belongs to.
  case mailboxUnknown
  case push(PushError)
  case crypto(CryptoError)
  /// Longer than a Unix socket's address can be.
  case socketPathTooLong(limit: Int)
  /// The process has no descriptors or threads left.
  case noResources
}

extension ServerError: SQLiteFailure {
  package init(_ error: SQLiteError) { self = .storage(error) }
}

extension ServerError {
  static func carryingRelay<Value>(_ body: () throws(RelayError) -> Value) throws(ServerError) -> Value {
    do throws(RelayError) { return try body() } catch { throw .relay(error) }
  }

  static func carryingPush<Value>(_ body: () throws(PushError) -> Value) throws(ServerError) -> Value {
    do throws(PushError) { return try body() } catch { throw .push(error) }
  }

  static func carryingCrypto<Value>(_ body: () throws(CryptoError) -> Value) throws(ServerError) -> Value {
    do throws(CryptoError) { return try body() } catch { throw .crypto(error) }
  }

  /// Whether the same may succeed later without anyone changing anything in the request.
  var isTemporary: Bool {
    switch self {
    case .storage(let error): error.isTemporary || error.kind == .full || error.kind == .ioError
    case .relay(let error): error.isTemporary
    case .cannotOpenState, .notServerState, .newerState, .stateInUse, .neverRan, .damaged, .mailboxUnknown, .push,
      .crypto, .socketPathTooLong, .noResources:
      false
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
    case .stateInUse: "another porter-server runs on this state file"
    case .neverRan: "no porter-server has run on this state file yet, so that it has no link"
    case .damaged(let record): "the state file is damaged (\(record.rawValue))"
    case .storage(let error): "the state file: \(error)"
    case .relay(let error): "\(error)"
    case .mailboxUnknown:
      "the relay does not know this server's mailbox: is it the relay file that the state belongs to?"
    case .push(let error): "\(error)"
    case .crypto(let error): "\(error)"
    case .socketPathTooLong(let limit): "a socket's path can have \(limit) bytes at most"
    case .noResources: "the process has no descriptors or threads left"
    }
  }
}
