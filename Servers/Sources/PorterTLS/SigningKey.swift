import CCertificate

/// A P-256 key that signs tokens (ES256), from a file that only its owner can read.
public struct SigningKey: Sendable {
  private let pem: [UInt8]
  /// Its public half: an uncompressed point, 65 bytes.
  public let publicPoint: [UInt8]

  /// Errors name the file and its problem.
  public init(path: String) throws(CertificateError) {
    pem = try KeyFile.read(path, isSecret: true)
    var point = [UInt8](repeating: 0, count: 65)
    let status = pem.withUnsafeBytes {
      certificate_public_point($0.bindMemory(to: CChar.self).baseAddress, $0.count, &point)
    }
    publicPoint = point
    switch status {
    case 0: break
    case 2: throw CertificateError("\(path): not a P-256 key, which is what ES256 needs")
    case 1 where isEncrypted:
      throw CertificateError(
        "\(path): encrypted with a password, which a server cannot enter; decrypt it: openssl pkey")
    default: throw CertificateError("\(path): not a private key in PEM")
    }
  }

  /// In either form: PKCS #8, or OpenSSL's own with a header line.
  private var isEncrypted: Bool {
    let text = String(decoding: pem, as: UTF8.self)
    return text.contains("BEGIN ENCRYPTED PRIVATE KEY") || text.contains("Proc-Type: 4,ENCRYPTED")
  }

  /// Three parts joined by dots (RFC 7515). Nil when out of memory.
  public func token(header: String, claims: String) -> String? {
    let signed = Fingerprint.base64URL(Array(header.utf8)) + "." + Fingerprint.base64URL(Array(claims.utf8))
    var signature = [UInt8](repeating: 0, count: 64)
    guard Self.sign(Array(signed.utf8), pem, &signature) == 0 else { return nil }
    return signed + "." + Fingerprint.base64URL(signature)
  }

  private static func sign(_ bytes: [UInt8], _ pem: [UInt8], _ signature: inout [UInt8]) -> Int32 {
    pem.withUnsafeBytes { pem in
      certificate_sign_es256(
        pem.bindMemory(to: CChar.self).baseAddress, pem.count, bytes, bytes.count, &signature)
    }
  }
}
