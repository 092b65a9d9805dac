import NIOSSL

/// Checks, when a program starts, files that other libraries read later: those libraries would wait forever and report
/// little.
public enum GivenFiles {
  /// A NATS user's JWT and seed, readable only by its owner.
  public static func checkCredentials(_ path: String) throws(CertificateError) {
    let text = String(decoding: try KeyFile.read(path, isSecret: true), as: UTF8.self)
    guard text.contains("-----BEGIN NATS USER JWT-----"), text.contains("-----BEGIN USER NKEY SEED-----") else {
      throw CertificateError("\(path): no user's JWT and seed in it")
    }
  }

  /// Certificates in PEM form.
  public static func checkAuthorities(_ path: String) throws(CertificateError) {
    let bytes = try KeyFile.read(path, isSecret: false)
    let found = (try? NIOSSLCertificate.fromPEMBytes(bytes)) ?? []
    guard !found.isEmpty else { throw CertificateError("\(path): no certificate in PEM form") }
  }
}
