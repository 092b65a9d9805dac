import NIOCore
import NIOHTTP2
import NIOPosix
import NIOSSL
import PorterServer

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

extension ProviderFailure {
  /// `certificate`: the peer's, as far as it was received. Its dates are compared with the system's clock, which the
  /// TLS library uses too.
  init(_ error: any Error, certificate: NIOSSLCertificate? = nil) {
    self =
      switch error {
      case let error as NIOConnectionError: error.connectionErrors.last.map { Self($0.error) } ?? .unresolved
      case is UnresolvedName, is SocketAddressError.UnknownHost: .unresolved
      case is NoAddress: .noAddress
      case let error as IOError: Self(system: error.errnoCode)
      case let error as ChannelError: Self(error)
      case let error as NIOSSLError: Self(error, certificate)
      case is NIOSSLExtraError: .certificateForAnotherName
      case is any NIOHTTP2Error: .protocolViolation
      default: .closed
      }
  }

  private init(_ error: ChannelError) {
    self =
      switch error {
      case .connectTimeout(let time): .noConnection(seconds: Int(time.nanoseconds / 1_000_000_000))
      default: .closed
      }
  }

  private init(system number: CInt) {
    self =
      switch number {
      case ECONNREFUSED: .connectionRefused
      case ENETUNREACH, EHOSTUNREACH, EADDRNOTAVAIL: .noRoute
      case ECONNRESET, EPIPE, ENOTCONN: .closed
      default: .system(number, String(cString: strerror(number)))
      }
  }

  private init(_ error: NIOSSLError, _ certificate: NIOSSLCertificate?) {
    guard case .handshakeFailed(.sslError(let errors)) = error, let first = errors.first, first != .eofDuringHandshake
    else {
      self = .closed
      return
    }
    // For example "error:1000007d:SSL routines:OPENSSL_internal:CERTIFICATE_VERIFY_FAILED at …".
    let words = first.description.split(separator: " ").compactMap { $0.split(separator: ":").last }
    let word = words.first {
      $0.count > 3 && $0.allSatisfy { $0.isUppercase || $0.isNumber || $0 == "_" } && $0.contains("_")
    }
    self = word == "CERTIFICATE_VERIFY_FAILED" ? Self(refused: certificate) : .tls(word.map(String.init) ?? "handshake")
  }

  private init(refused certificate: NIOSSLCertificate?) {
    let now = time(nil)
    if let certificate, certificate.notValidAfter < now {
      self = .certificateExpired
    } else if let certificate, certificate.notValidBefore > now {
      self = .certificateNotYetValid
    } else {
      self = .certificateNotTrusted
    }
  }
}
