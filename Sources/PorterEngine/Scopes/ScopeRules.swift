import PorterPlatform
import PorterPush
import PorterSchema

/// How much of scopes and of what comes through them is kept.
enum ScopeLimits {
  /// Of one profile.
  static let scopes = 32
  /// How far ahead of its arrival an envelope may expire. A day more than the 30 that the documentation promises, for clocks
  /// that differ.
  static let longestLife = Span.days(31)
  /// How long after its end an envelope is still handed over, as expired: longer than a relay keeps a message. Its name is
  /// remembered equally long, and later it is not taken: so a repeat never passes for something new.
  static let grace = Span.days(30)
  /// Pushes of a scope that were handed over and not settled; of older ones only the name is kept.
  static let unsettled: Int64 = 256
  /// Messages of a scope that are over, by which a repeat at the relay is recognised.
  static let entries: Int64 = 256
  /// Messages of the store between two times at which older ones of a scope are deleted.
  static let pruningInterval: Int64 = 32
  /// Of one answer, which has to fit an extension's memory (INC-33); the rest follows in the next.
  static let pushesAtOnce = 64
  static let bytesAtOnce = 262_144
}

/// Whether an envelope that opened may be taken. A value.
enum ScopeAdmission: Equatable {
  case admitted
  /// For the quarantine.
  case refused(String)

  /// `now` is the relay's time of the newest message of the scope, which only grows, so that what is forgotten stays
  /// invalid however clocks move.
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
  /// Version before everything else: another version may mean something else by the other members. A value.
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
