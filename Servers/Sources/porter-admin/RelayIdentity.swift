import PorterTLS

extension DataFolder {
  /// Problems with the key and the certificate that a relay created for itself; none for a relay that was given others.
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
