import CCertificate
import NIOSSL

/// The pin of a relay: the SHA-256 of a certificate's public key, in base64url.
public enum Fingerprint {
  /// Nil if the key cannot be read, at which NIOSSL would end the process.
  public static func of(_ certificate: NIOSSLCertificate) -> String? {
    guard let bytes = try? certificate.toDERBytes() else { return nil }
    var digest = [UInt8](repeating: 0, count: 32)
    return certificate_key_digest(bytes, bytes.count, &digest) == 0 ? base64URL(digest) : nil
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
