import PorterPlatform
import PorterRelay
import PorterStore

/// What a host is to the store.
package enum Role: String, Sendable {
  case app
  /// A notification service extension: handles pushes, never migrates, never repairs (INC-23, INC-42).
  case `extension`
  /// A share extension: sends, and handles no pushes. No app asks it to yield.
  case share

  /// Of the process on the other side of the store.
  var peer: Role {
    switch self {
    case .app: .extension
    case .extension, .share: .app
    }
  }
}

/// What a controller is made with; everything from outside comes in here.
package struct Configuration: Sendable {
  package var location: StoreLocation
  package var role: Role
  package var confirmation: Store.Confirmation
  package var ports: Ports
  package var execution: any Execution
  package var log: Log
  /// Makes the source of messages, if it is another one than the mailboxes at the relay.
  var makeSource: (@Sendable (Engine) -> any Source)?
  /// How many bytes of events wait for the host at most.
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

  /// What the files beside the store are named after.
  package var prefix: String { location.stem }

  func at(_ location: StoreLocation) -> Configuration {
    var configuration = self
    configuration.location = location
    return configuration
  }
}

/// All durations of the engine in one place.
enum Durations {
  /// For a host's transport; the header promises that commands which need the relay end within this.
  static let relayAnswer = Span.seconds(15)
  /// Of a request for messages, after which the next one no longer waits for it.
  static let lateAnswer = Span.seconds(1)
  /// For a notification server's answer, SimpleX's time for one background task.
  static let serverAnswer = Span.seconds(15)
  /// What a platform leaves an app after it went to the background.
  static let backgroundSuspension = Span.seconds(15)
  /// Of that, how long the store stays open if the host says nothing more. The rest is for coming to rest.
  static let background = backgroundSuspension - refreshSuspension
  /// What is under way when a time in the background ends; SimpleX's.
  static let refreshSuspension = Span.seconds(5)
  /// After `/_stop`, which names no delay.
  static let stop = Span.seconds(3)
  /// How long a call rings, counted from when the relay got its invitation; SimpleX's time.
  static let callInvitation = Span.seconds(180)
  /// What a push still has for its other mailboxes once a call is committed; SimpleX's time for a call's push.
  static let callPatience = Span.seconds(1)
  /// What a push may take to send what waits in the outboxes, before what it shows is handed over.
  static let sendingPatience = Span.seconds(2)
  /// How long one request of a push may hang while another push waits for the same mailbox, before that one asks again.
  static let mailboxPatience = Span.seconds(2)
  /// Between two attempts at the same thing, growing from the first to the last.
  static let firstRetry = Span.milliseconds(500)
  static let lastRetry = Span.seconds(180)
  /// Of a device token that the provider or the server refuses; later ones double up to a day.
  static let firstRepair = Span.seconds(5)
  /// While the embedded relay's file is in use by another process. It is free again at any moment, unlike a network, so
  /// that this pause does not grow.
  static let busyRelayRetry = Span.milliseconds(500)
  /// Of a push's time, kept back for closing the store and handing over.
  static let pushMargin = Span.milliseconds(150)
  /// What has to be left of a push's or a suspension's time for a long log to be written back: many times what that takes.
  static let cuttingLog = Span.milliseconds(250)
  /// After this time an extension that began to work beside no app can be asked to yield: many times what a push takes that waits for nothing.
  static let quietWork = Span.milliseconds(20)
  /// After a piece of work that took longer, the next one is another turn's. SQLite tries each access for ten seconds when the locks of its
  /// index fail.
  static let longWork = Span.milliseconds(250)
  /// For other processes' locks, all waits together, in a process that releases everything now.
  static let releaseBudget = Span.milliseconds(50)
}
