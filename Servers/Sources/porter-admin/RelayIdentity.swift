import PorterTLS

extension DataFolder {
  /// Of the key and the certificate that a relay has made for itself; a relay that was given others has none.
  var identityProblems: [String] {
    guard !others.isEmpty else { return [] }
    do throws(CertificateError) {
      _ = try Certificate(certificate: path + "/certificate.pem", key: path + "/key.pem")
      return []
    } catch {
      return [error.description]
    }
  }
}
