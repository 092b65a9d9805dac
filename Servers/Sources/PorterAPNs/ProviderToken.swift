import NIOCore
import PorterTLS

/// The provider token, which all requests carry until it is renewed.
///
/// Apple accepts one for an hour, and refuses providers that renew it more often than every 20 minutes.
struct ProviderToken {
  static let renewal = TimeAmount.minutes(40)
  static let shortestLife = TimeAmount.minutes(20)

  private let key: SigningKey
  private let keyID: String
  private let teamID: String
  private var made: (text: String, at: NIODeadline)?
  private var refused: NIODeadline?
  /// Of the token that `current` returns.
  private(set) var number = 0

  init(_ key: SigningKey, keyID: String, teamID: String) {
    self.key = key
    self.keyID = keyID
    self.teamID = teamID
  }

  /// Nil without memory.
  mutating func current(_ clock: any APNsClock) -> String? {
    let now = clock.now
    if let made, now - made.at < Self.renewal { return made.text }
    let text = key.token(
      header: #"{"alg":"ES256","kid":"\#(keyID)"}"#, claims: #"{"iss":"\#(teamID)","iat":\#(clock.seconds)}"#)
    guard let text else { return nil }
    made = (text, now)
    number += 1
    return text
  }

  /// The provider says that token `number` has expired. Returns whether there is, or will be, another one: not if the one
  /// before was refused in the same way within 20 minutes, which is how a wrong clock looks.
  mutating func isReplaced(after number: Int, _ now: NIODeadline) -> Bool {
    guard number == self.number, made != nil else { return true }
    if let refused, now - refused < Self.shortestLife { return false }
    refused = now
    made = nil
    return true
  }
}
