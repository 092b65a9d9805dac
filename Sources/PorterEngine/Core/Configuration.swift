import PorterPlatform
import PorterRelay
import PorterStore

/// The role of a host.
package enum Role: String, Sendable {
  case app
  /// A notification service extension: handles pushes, never migrates, never repairs (INC-23, INC-42).
  case `extension`
  /// A share extension: sends, and handles no pushes. No app asks it to yield.
  case share

  /// The role of the process on the other side of the store.
  var peer: Role {
    switch self {
    case .app: .extension
    case .extension, .share: .app
    }
  }
}

/// Configures a controller; everything from outside comes in here.
package struct Configuration: Sendable {
  package var location: StoreLocation
  package var role: Role
  package var confirmation: Store.Confirmation
  package var ports: Ports
  package var execution: any Execution
  package var log: Log
  /// Makes the source of messages, if it is not the mailboxes at the relay.
  var makeSource: (@Sendable (Engine) -> any Source)?
  /// Maximum bytes of events waiting for the host.
  var eventBytes: Int

  package var clock: any Clock { ports.clock }
  package var randomness: any Randomness { ports.randomness }

  package init(
    prefix: String, role: Role, confirmation: Store.Confirmation, ports: Ports = .system,
    execution: any Execution = ThreadedExecution(), log: Log = .silent
  ) {
    location = StoreLocation(prefix: prefix)
    self.role = role
    eventBytes = EventQueue.byteBound(role)
    self.confirmation = confirmation
    self.ports = ports
    self.execution = execution
    self.log = log
  }

  /// Prefix of the names of the files next to the store.
  package var prefix: String { location.stem }

  func at(_ location: StoreLocation) -> Configuration {
    var configuration = self
    configuration.location = location
    return configuration
  }
}

/// All durations of the engine in one place.
enum Durations {
  /// For a host's transport. The header promises that commands that need the relay end within this time.
  static let relayAnswer = Span.seconds(15)
  /// Age of a request for messages after which the next one no longer waits for it.
  static let lateAnswer = Span.seconds(1)
  /// For a notification server's answer; SimpleX's time for one background task.
  static let serverAnswer = Span.seconds(15)
  /// Time a platform leaves an app that went to the background.
  static let backgroundSuspension = Span.seconds(15)
  /// The part of it during which the store stays open if the host says nothing more. The rest is for winding down.
  static let background = backgroundSuspension - refreshSuspension
  /// For work still under way when a time in the background ends; SimpleX's time.
  static let refreshSuspension = Span.seconds(5)
  /// After `/_stop`, which specifies no delay.
  static let stop = Span.seconds(3)
  /// How long a call rings after the relay received its invitation; SimpleX's time.
  static let callInvitation = Span.seconds(180)
  /// Time left to a push for its other mailboxes once a call is committed; SimpleX's time for a call's push.
  static let callPatience = Span.seconds(1)
  /// How long a push may spend sending from the outboxes before it hands over what it shows.
  static let sendingPatience = Span.seconds(2)
  /// How long one push's request may hang while another push waits for the same mailbox, before the other asks again.
  static let mailboxPatience = Span.seconds(2)
  /// Delay between two attempts, growing from the first to the last.
  static let firstRetry = Span.milliseconds(500)
  static let lastRetry = Span.seconds(180)
  /// Delay before repairing a device token that the provider or the server refuses; later delays double up to a day.
  static let firstRepair = Span.seconds(5)
  /// While the embedded relay's file is in use by another process. Unlike a network, it can become free at any moment,
  /// so the pause does not grow.
  static let busyRelayRetry = Span.milliseconds(500)
  /// Part of a push's time reserved for closing the store and handing over.
  static let pushMargin = Span.milliseconds(150)
  /// Time that must be left of a push or a suspension to write back a long log: many times what that takes.
  static let cuttingLog = Span.milliseconds(250)
  /// Time after which an extension that began work with no app running can be asked to yield: many times the duration
  /// of a push that never waits.
  static let quietWork = Span.milliseconds(20)
  /// After a piece of work that took longer, the next one is left to another turn. SQLite retries each access for ten
  /// seconds when the locks of its index fail.
  static let longWork = Span.milliseconds(250)
  /// Total of all waits for other processes' locks in a process that must release everything now.
  static let releaseBudget = Span.milliseconds(50)
}
