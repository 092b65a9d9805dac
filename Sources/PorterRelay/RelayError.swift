import PorterCrypto
import PorterStore

/// Why a relay request failed.
package enum RelayError: Error, Hashable, Sendable {
  // Refusals of the relay.

  /// The entity does not exist, or the signature is not by its key; the relay does not reveal which.
  case auth
  /// The mailbox holds the maximum number of undelivered messages.
  case quota
  /// The message, or the request, is too large.
  case size
  /// No message is waiting, or not the named one.
  case noMessage
  /// The relay could not read the request.
  case syntax
  /// The relay does not speak this version of the protocol.
  case version
  /// The relay failed internally; the same request may succeed later.
  case unavailable

  // Failures of the transport.

  /// The relay cannot be reached.
  case offline
  /// No answer arrived in time; the request may or may not have been carried out.
  case timeout
  /// The answer is malformed, or belongs to another request.
  case answer
  /// The port was closed.
  case closed
  /// The embedded relay's file failed.
  case storage(SQLiteError)
  case crypto(CryptoError)

  /// Whether the same request may succeed later without any intervention.
  package var isTemporary: Bool {
    switch self {
    case .quota, .unavailable, .offline, .timeout: true
    case .storage(let error): error.isTemporary || error.kind == .full || error.kind == .ioError
    case .auth, .size, .noMessage, .syntax, .version, .answer, .closed, .crypto: false
    }
  }
}

extension RelayError {
  /// Whether the relay gave no verdict: it was not reached, its file could not be used, or its answer is unreadable.
  /// The request may have been carried out; repeating it with the same attempt is safe.
  package var isUndecided: Bool {
    switch self {
    case .storage, .answer: true
    default: isTemporary
    }
  }

  /// Another process is using the embedded relay's file, and will release it soon.
  package var isFileBusy: Bool {
    guard case .storage(let error) = self else { return false }
    return error.kind == .busy || error.kind == .locked
  }
}

extension RelayError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .auth: "the relay does not know this mailbox and key"
    case .quota: "the mailbox is full"
    case .size: "too large for the relay"
    case .noMessage: "no such message at the relay"
    case .syntax: "the relay could not read the request"
    case .version: "the relay speaks another version of the protocol"
    case .unavailable: "the relay failed"
    case .offline: "the relay cannot be reached"
    case .timeout: "the relay did not answer in time"
    case .answer: "the relay's answer does not match this request"
    case .closed: "the connection to the relay is closed"
    case .storage(let error): "the relay's file: \(error)"
    case .crypto(let error): "relay: \(error)"
    }
  }
}

extension RelayError: SQLiteFailure {
  package init(_ error: SQLiteError) { self = .storage(error) }
}

extension RelayError {
  /// Runs `body`, and rethrows its error as `crypto`.
  package static func mappingErrors<Result>(from _: CryptoError.Type, _ body: () throws(CryptoError) -> Result)
    throws(RelayError) -> Result
  {
    do throws(CryptoError) { return try body() } catch { throw .crypto(error) }
  }
}
