public import NIOSSL
import Synchronization

/// The certificate in use. It is reread on request and when its files have changed; open connections keep the earlier
/// one.
public final class CertificateKeeper: Sendable {
  private struct State {
    var certificate: Certificate
    var version: [Int]
    var problem: String?
  }

  private let certificatePath: String
  private let keyPath: String
  private let state: Mutex<State>

  public init(certificate certificatePath: String, key keyPath: String) throws(CertificateError) {
    self.certificatePath = certificatePath
    self.keyPath = keyPath
    let version = Self.version(certificatePath, keyPath)
    let certificate = try Certificate(certificate: certificatePath, key: keyPath)
    state = Mutex(State(certificate: certificate, version: version))
  }

  public var certificate: Certificate { state.withLock { $0.certificate } }

  /// For new connections.
  public var context: NIOSSLContext { certificate.context }

  /// The reason the files could not be read last time; the previous certificate is still in use.
  public var problem: String? { state.withLock { $0.problem } }

  /// Returns whether the certificate has changed.
  public func reload() throws(CertificateError) -> Bool {
    let version = Self.version(certificatePath, keyPath)
    let read: Certificate
    do throws(CertificateError) {
      read = try Certificate(certificate: certificatePath, key: keyPath)
    } catch {
      state.withLock { state in
        state.problem = error.description
        state.version = version
      }
      throw error
    }
    state.withLock { $0 = State(certificate: read, version: version) }
    return true
  }

  /// Like `reload`, if a file was written since. Failed reads are retried each time: the cause may be the files'
  /// permissions, or the system's clock.
  public func reloadIfChanged() throws(CertificateError) -> Bool {
    let version = Self.version(certificatePath, keyPath)
    let isDue = state.withLock { $0.version != version || $0.problem != nil }
    guard isDue else { return false }
    return try reload()
  }

  private static func version(_ certificate: String, _ key: String) -> [Int] {
    KeyFile.version(certificate) + KeyFile.version(key)
  }
}
