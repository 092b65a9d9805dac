import NIOCore
import PorterTLS

/// The destination of pushes, and the identity of their sender.
public struct APNsOptions: Sendable {
  public enum Environment: String, Sendable, CaseIterable {
    case production, sandbox

    /// The name clients use when they register a token.
    public var provider: String { self == .production ? "apns_prod" : "apns_dev" }

    public var host: String { self == .production ? "api.push.apple.com" : "api.sandbox.push.apple.com" }
  }

  public var host: String
  public var port = 443
  /// A file of certificates to trust instead of the system's.
  public var authority: String?
  public let key: SigningKey
  public let keyID: String
  public let teamID: String
  /// The app's bundle identifier.
  public let topic: String
  /// Concurrent requests at most: the peer decides, and this bounds the memory that it can make the server use. Twice as
  /// many pushes of 4 KB are handed over, and each request has a copy of its own: 50 MB.
  public var streams = 4_096
  /// For a connection to be ready, for room on it, and for an answer.
  public var timeLimit = TimeAmount.seconds(30)

  /// Throws a description of the problem with the key's file or the names.
  public init(
    environment: Environment, key path: String, keyID: String, teamID: String, topic: String
  ) throws(APNsError) {
    guard Self.isIdentifier(keyID) else { throw APNsError("the key id has ten letters and digits") }
    guard Self.isIdentifier(teamID) else { throw APNsError("the team id has ten letters and digits") }
    guard Self.isTopic(topic) else {
      throw APNsError("the topic is the app's bundle identifier, such as org.example.app")
    }
    do throws(CertificateError) { key = try SigningKey(path: path) } catch { throw APNsError(error.description) }
    host = environment.host
    self.keyID = keyID
    self.teamID = teamID
    self.topic = topic
  }

  private static func isIdentifier(_ text: String) -> Bool {
    text.utf8.count == 10 && text.utf8.allSatisfy(isLetterOrDigit)
  }

  private static func isTopic(_ text: String) -> Bool {
    1...255 ~= text.utf8.count
      && text.utf8.allSatisfy { isLetterOrDigit($0) || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-") }
  }

  private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"):
      true
    default: false
    }
  }
}

/// The reason pushes cannot be sent with this configuration.
public struct APNsError: Error, Equatable, CustomStringConvertible {
  public let description: String
  init(_ description: String) { self.description = description }
}
