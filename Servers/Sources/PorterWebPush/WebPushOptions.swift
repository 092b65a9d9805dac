import CWebPush
public import NIOCore
import PorterTLS

/// The identity of the sender, and the permitted destinations of pushes.
public struct WebPushOptions: Sendable {
  /// The VAPID key (RFC 8292).
  public let key: SigningKey
  /// The operator's contact for push services: `mailto:` or `https:`.
  public let contact: String
  /// A file of certificates to trust instead of the system's.
  public var authority: String?
  /// Whether endpoints may have addresses in the operator's own networks.
  public var allowsPrivateAddresses = false
  /// Concurrent requests to one push service, if it allows as many.
  public var streams = 1_000
  /// For a connection to be ready, for room on it, and for an answer.
  public var timeLimit = TimeAmount.seconds(15)
  /// How long a connection with nothing under way stays open.
  public var idleTime = TimeAmount.minutes(5)

  /// Throws a description of the problem with the key's file or the contact.
  public init(key path: String, contact: String) throws(WebPushError) {
    let isText = contact.utf8.allSatisfy {
      $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\")
    }
    guard contact.hasPrefix("mailto:") || contact.hasPrefix("https://"), isText, contact.utf8.count <= 255 else {
      throw WebPushError("the contact is a mailto: or https: address at which a push service reaches the operator")
    }
    do throws(CertificateError) { key = try SigningKey(path: path) } catch { throw WebPushError(error.description) }
    self.contact = contact
  }

  /// The key clients subscribe with (`applicationServerKey`).
  public var publicKey: String { Fingerprint.base64URL(key.publicPoint) }
}

/// The reason pushes cannot be sent with this configuration.
public struct WebPushError: Error, Equatable, CustomStringConvertible {
  public let description: String
  init(_ description: String) { self.description = description }
}
