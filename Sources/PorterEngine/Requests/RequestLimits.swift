/// How much of what strangers send to an address is stored. Anyone who has its link may write to it.
enum RequestLimits {
  /// Requests of one address that wait for a decision; what comes beyond is dropped.
  static let waiting: Int64 = 256
  /// Requests of one address that are accepted and have no contact yet, such as while the app does not run; what an address
  /// that accepts by itself receives beyond is dropped.
  static let accepting: Int64 = 4_096
  /// Accepted requests for whose contacts the relay is asked at the same time, beside those that commands accept.
  static let joining = 64
  /// Times that one person's request is refreshed by asking again; what comes beyond is dropped. A person is known by a name that the
  /// sender chooses, since senders are anonymous: one who draws a new name each time is held back by `waiting` or `accepting` alone.
  static let repeats: Int64 = 8
  /// Requests that are over (of those rejected, whole), and messages of an address that showed nothing, by which a repeat is recognised.
  static let kept: Int64 = 128
  /// Persons who were rejected: of those beyond `kept`, nothing but the name that each chose for this address.
  static let rejected: Int64 = 4_096
  /// Messages of an address between two times at which older ones are deleted.
  static let pruningInterval: Int64 = 32
}
