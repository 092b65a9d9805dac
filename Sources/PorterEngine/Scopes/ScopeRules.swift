import PorterPlatform
import PorterPush
import PorterSchema

/// How much of scopes, and of what arrives through them, is kept.
enum ScopeLimits {
  /// Per profile.
  static let scopes = 32
  /// How far after its arrival an envelope may expire. A day more than the 30 that the documentation promises, to allow
  /// for differing clocks.
  static let longestLife = Span.days(31)
  /// How long after its end an envelope is still handed over, as expired: longer than a relay keeps a message. Its name
  /// is remembered for the same time, and later it is not accepted: so a repeat never passes for something new.
  static let grace = Span.days(30)
  /// Pushes of a scope that were handed over and not settled; for older ones only the name is kept.
  static let unsettled: Int64 = 256
  /// A scope's finished messages, kept to recognise a repeat at the relay.
  static let entries: Int64 = 256
  /// Messages of the store between two deletions of a scope's older ones.
  static let pruningInterval: Int64 = 32
  /// Per answer, which must fit an extension's memory (INC-33); the rest follows in the next.
  static let pushesAtOnce = 64
  static let bytesAtOnce = 262_144
}

/// Whether an opened envelope may be accepted. A value.
enum ScopeAdmission: Equatable {
  case admitted
  /// The reason, for the quarantine.
  case refused(String)

  /// `now` is the time of the newest envelope. It only grows, so that forgotten names stay invalid
  /// however clocks move.
  static func of(_ envelope: ApplicationEnvelope, arrivedAt: WallTime, newest now: WallTime) -> ScopeAdmission {
    if envelope.expires.milliseconds > arrivedAt.milliseconds &+ ScopeLimits.longestLife.milliseconds {
      return .refused("an envelope that expires too late")
    }
    if envelope.expires < oldestExpiry(at: now) {
      return .refused("an envelope whose time was over long ago")
    }
    return .admitted
  }

  /// Names of envelopes that expired before this are forgotten.
  static func oldestExpiry(at now: WallTime) -> WallTime {
    WallTime(milliseconds: now.milliseconds &- ScopeLimits.grace.milliseconds)
  }
}

extension HandedPush.Outcome {
  /// Checks the version before everything else: another version may give the other members another meaning. A value.
  init(version: Int64, command: String, expires: WallTime, known: Int64, commands: [String]?, at now: WallTime) {
    if version > known {
      self = .unknownVersion
    } else if expires <= now {
      self = .expired
    } else if let commands, !commands.contains(command) {
      self = .unknownCommand
    } else {
      self = .current
    }
  }
}
