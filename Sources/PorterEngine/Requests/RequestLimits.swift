/// How much of what strangers send to an address is stored. Anyone with its link may write to it.
enum RequestLimits {
  /// Requests of one address waiting for a decision; any beyond that are dropped.
  static let waiting: Int64 = 256
  /// Requests of one address that are accepted but have no contact yet, for example while the app does not run. Any
  /// beyond that, received by an address that accepts automatically, are dropped.
  static let accepting: Int64 = 4_096
  /// Accepted requests for whose contacts the relay is asked at the same time, in addition to those that commands
  /// accept.
  static let joining = 64
  /// How often one person's request is refreshed by asking again; any repeats beyond that are dropped. A person is
  /// known by a name that the sender chooses, since senders are anonymous: one who picks a new name each time is
  /// limited only by `waiting` or `accepting`.
  static let repeats: Int64 = 8
  /// Finished requests (rejected ones in full), and messages of an address that showed nothing, kept to recognise a
  /// repeat.
  static let kept: Int64 = 128
  /// Rejected persons: beyond `kept`, only the name that each chose for this address is stored.
  static let rejected: Int64 = 4_096
  /// Messages of an address between two deletions of older ones.
  static let pruningInterval: Int64 = 32
}
