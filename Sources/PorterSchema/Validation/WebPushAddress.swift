import PorterPlatform

/// A device's Web Push address (RFC 8030 and RFC 8291), as the token of the provider `webpush`:
///
///     key 65 | secret 16 | endpoint, an https address in ASCII
///
/// Anyone who knows the endpoint can send something there.
package struct WebPushAddress: Hashable, Sendable {
  private static let keyCount = 65
  private static let secretCount = 16
  /// The same limit as UnifiedPush.
  private static let longestEndpoint = 1_000
  package static let longest = keyCount + secretCount + longestEndpoint

  /// `p256dh`: an uncompressed point. Its user must check that it is on the curve.
  package let key: [UInt8]
  /// `auth`.
  package let secret: [UInt8]
  package let endpoint: String

  package init?(bytes: [UInt8]) {
    guard bytes.count > Self.keyCount + Self.secretCount, bytes.count <= Self.longest, bytes[0] == 4 else { return nil }
    key = Array(bytes[..<Self.keyCount])
    secret = Array(bytes[Self.keyCount..<(Self.keyCount + Self.secretCount)])
    let address = bytes[(Self.keyCount + Self.secretCount)...]
    guard Self.isEndpoint(address) else { return nil }
    endpoint = String(decoding: address, as: UTF8.self)
  }

  /// `https://HOST[:PORT]/…`, without a user and without a fragment.
  private static func isEndpoint(_ bytes: ArraySlice<UInt8>) -> Bool {
    guard bytes.starts(with: Array("https://".utf8)), bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else { return false }
    let rest = bytes.dropFirst(8)
    let authority = rest.prefix { $0 != UInt8(ascii: "/") }
    guard authority.count < rest.count, !rest.contains(UInt8(ascii: "#")) else { return false }
    return !authority.isEmpty && authority.count <= 260 && authority.allSatisfy(isOfAuthority)
  }

  private static func isOfAuthority(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"):
      true
    case UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: ":"), UInt8(ascii: "["), UInt8(ascii: "]"): true
    default: false
    }
  }
}
