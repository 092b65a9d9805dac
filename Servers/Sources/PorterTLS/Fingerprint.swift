import CCertificate
import NIOSSL

/// The pin of a relay: the SHA-256 of a certificate's public key, in base64url.
public enum Fingerprint {
  public static func of(_ certificate: NIOSSLCertificate) throws -> String {
    let key = try certificate.extractPublicKey().toSPKIBytes()
    var digest = [UInt8](repeating: 0, count: 32)
    certificate_digest(key, key.count, &digest)
    return base64URL(digest)
  }

  /// Without padding.
  public static func base64URL(_ bytes: [UInt8]) -> String {
    let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
    var text = ""
    var (bits, count) = (0, 0)
    for byte in bytes {
      bits = (bits << 8 | Int(byte)) & 0xffff
      count += 8
      while count >= 6 {
        count -= 6
        text.append(letters[bits >> count & 63])
      }
    }
    if count > 0 { text.append(letters[bits << (6 - count) & 63]) }
    return text
  }
}
