import CCertificate
import NIOCore
import NIOSSL

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A certificate with its key, both checked: they belong together, and the certificate is currently valid.
public struct Certificate: Sendable {
  public let fingerprint: String
  /// Seconds since 1970.
  public let expiry: Int
  let context: NIOSSLContext

  public var isExpired: Bool { expiry <= time(nil) }

  /// Reads PEM files; the first certificate is the server's, the others are its chain.
  public init(certificate certificatePath: String, key keyPath: String) throws(CertificateError) {
    let chain = try Self.chain(certificatePath)
    guard let first = chain.first else { throw CertificateError("\(certificatePath): no certificate in it") }
    let now = time(nil)
    guard first.notValidAfter > now else {
      throw CertificateError(
        "\(certificatePath): the certificate has expired; renew it, or correct the clock if it is ahead")
    }
    guard first.notValidBefore <= now else {
      throw CertificateError(
        "\(certificatePath): the certificate is not valid yet; use one that is, or correct the clock if it is behind")
    }
    let key = try Self.key(keyPath)
    expiry = first.notValidAfter
    guard let fingerprint = Fingerprint.of(first) else {
      throw CertificateError("\(certificatePath): its public key cannot be read")
    }
    self.fingerprint = fingerprint
    do { context = try NIOSSLContext(configuration: Self.configuration(chain, key)) } catch {
      throw CertificateError("\(keyPath): this key does not belong to the certificate \(certificatePath)")
    }
  }

  private static func chain(_ path: String) throws(CertificateError) -> [NIOSSLCertificate] {
    let bytes = try KeyFile.read(path, isSecret: false)
    do { return try NIOSSLCertificate.fromPEMBytes(bytes) } catch {
      throw CertificateError("\(path): no certificate in PEM form")
    }
  }

  private static func key(_ path: String) throws(CertificateError) -> NIOSSLPrivateKey {
    let bytes = try KeyFile.read(path, isSecret: true)
    do { return try NIOSSLPrivateKey(bytes: bytes, format: .pem) } catch {
      throw CertificateError("\(path): no unencrypted key in PEM form")
    }
  }

  private static func configuration(_ chain: [NIOSSLCertificate], _ key: NIOSSLPrivateKey) -> TLSConfiguration {
    var configuration = TLSConfiguration.makeServerConfiguration(
      certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
    configuration.minimumTLSVersion = .tlsv13
    configuration.applicationProtocols = ["h2", "http/1.1"]
    // How long a closing connection waits for the peer's close, and reads what still arrives.
    configuration.shutdownTimeout = .seconds(1)
    return configuration
  }
}

// MARK: Made by the relay itself

/// A key and a certificate that a server created for itself. Clients know the key by its fingerprint, so it is created
/// once; the certificate is renewed when it is about to expire, or is not valid yet.
public enum OwnCertificate {
  private static let days: Int32 = 3_650
  private static let renewal = 60 * 86_400

  /// Creates what is missing in `directory`, and returns the paths of certificate and key.
  public static func prepare(in directory: String, name: String) throws(CertificateError) -> (
    certificate: String, key: String
  ) {
    let (certificate, key) = (directory + "/certificate.pem", directory + "/key.pem")
    if !KeyFile.exists(key) {
      guard !KeyFile.exists(certificate) else {
        throw CertificateError("\(key): missing, but there is a certificate for it; restore the key, or remove both")
      }
      try make(name, certificate, key)
    } else if try needsRenewal(certificate) {
      try renew(name, certificate, key)
    }
    return (certificate, key)
  }

  private static func needsRenewal(_ path: String) throws(CertificateError) -> Bool {
    guard KeyFile.exists(path) else { return true }
    let bytes = try KeyFile.read(path, isSecret: false)
    guard let first = try? NIOSSLCertificate.fromPEMBytes(bytes).first else {
      throw CertificateError("\(path): no certificate in PEM form")
    }
    let now = time(nil)
    // One for later was made while the clock was ahead.
    return first.notValidAfter < now + renewal || first.notValidBefore > now
  }

  private static func make(_ name: String, _ certificatePath: String, _ keyPath: String) throws(CertificateError) {
    var key: UnsafeMutablePointer<CChar>?
    var certificate: UnsafeMutablePointer<CChar>?
    var (keyLength, certificateLength) = (0, 0)
    guard certificate_make(name, days, &key, &keyLength, &certificate, &certificateLength) == 0 else {
      throw CertificateError("no certificate could be made for the name '\(name)'")
    }
    defer {
      free(key)
      free(certificate)
    }
    try KeyFile.write(bytes(key, keyLength), to: keyPath)
    try KeyFile.write(bytes(certificate, certificateLength), to: certificatePath)
  }

  private static func renew(_ name: String, _ certificatePath: String, _ keyPath: String) throws(CertificateError) {
    let key = try KeyFile.read(keyPath, isSecret: true)
    var certificate: UnsafeMutablePointer<CChar>?
    var length = 0
    let made = key.withUnsafeBytes { raw in
      certificate_renew(
        name, days, raw.baseAddress?.assumingMemoryBound(to: CChar.self), raw.count, &certificate, &length)
    }
    guard made == 0 else { throw CertificateError("\(keyPath): no certificate could be made for this key") }
    defer { free(certificate) }
    try KeyFile.write(bytes(certificate, length), to: certificatePath)
  }

  private static func bytes(_ text: UnsafeMutablePointer<CChar>?, _ length: Int) -> [UInt8] {
    UnsafeBufferPointer(start: text, count: length).map { UInt8(bitPattern: $0) }
  }
}
