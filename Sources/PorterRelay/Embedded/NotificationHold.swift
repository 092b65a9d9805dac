import PorterPlatform

/// Decides how long a message's notification is withheld from its service because the recipient is listening.
///
/// An app on screen fetches a message on its own, and a push for it is noise. But a registered listener can be frozen
/// or dead, so the relay goes by what the listener does, not by its registration: from the first wake-up it leaves
/// unanswered, it has `pause` to show a sign of life. After that it counts as not listening until it shows one. A
/// frozen process therefore delays pushes by one pause in total.
///
/// Times are those of the running boot. A time left in the file by an earlier boot can lie in the future, and then
/// withholds nothing, or for one pause at most.
package struct NotificationHold: Hashable, Sendable {
  /// Long enough to fetch and commit over a slow network, short enough to go unnoticed where no app is awake.
  package static let pause = Span.seconds(2)

  /// The first wake-up of the listener without a sign of life since; nil if it has answered.
  package var unansweredSince: Moment?

  package init(unansweredSince: Moment? = nil) { self.unansweredSince = unansweredSince }

  /// The end of the pause for a message that arrives now; nil if the listener does not count as listening.
  package func end(at now: Moment) -> Moment? {
    guard let since = unansweredSince else { return now + Self.pause }
    guard since <= now, now < since + Self.pause else { return nil }
    return since + Self.pause
  }

  /// Likewise for a mailbox with several listeners: one that answers is enough.
  package static func end(at now: Moment, listeners: [NotificationHold]) -> Moment? {
    listeners.compactMap { $0.end(at: now) }.max()
  }

  /// How much longer a notification with this end is withheld; nil if it is due.
  package static func remainder(until end: Moment, at now: Moment) -> Span? {
    now < end && end <= now + pause ? end - now : nil
  }
}
