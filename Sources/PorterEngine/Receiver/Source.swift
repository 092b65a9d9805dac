import PorterCrypto
import PorterPlatform
import PorterPush
import PorterSchema
import PorterStore

/// Where the messages come from that a push announces. The built-in source is the mailbox at the relay with its ratchets.
///
/// What is done with a message is the engine's, and knows no source: the claim on its connection, the fenced transaction,
/// the ledger, what is shown, the deadline, and releasing everything. Between two calls nothing is held.
protocol Source: AnyObject {
  /// Recognises a push's hint, and names the connections to look into.
  func read(_ hint: SourceHint, _ store: Store) throws(StoreError) -> SourceHintReading

  /// Whether the source ends each request by itself in time, so that a fetch sets no deadline of its own.
  var endsRequestsInTime: Bool { get }

  /// Listens for what comes to these connections, on the app's account. Names those in which something waits already.
  func listen(to connections: [StoredConnection], then: @escaping (Result<[Int64], SourceError>) -> Void)

  /// The source has news: connections to which something came since it was listened to, or since it was asked last. Nil when
  /// that is not known; then each connection has to be listened to again.
  func takeNews(then: @escaping (Result<[Int64]?, SourceError>) -> Void)

  /// Which of these connections something waits for, without listening to them; nil when the source cannot tell.
  func whoWaits(among connections: [Int64], then: @escaping (Result<[Int64]?, SourceError>) -> Void)

  /// What was asked for this connection is asked before anything else that waits to be asked.
  func hasten(_ connectionID: Int64)

  /// What was asked under this claim, and has no answer yet, fails: nothing waits for it any more. What was asked for the same
  /// connection under a later claim is not concerned.
  func giveUp(_ claim: Claim)

  /// What is left of this time, which has passed since something was asked under this claim: the time in which other requests kept
  /// it from being sent does not count. Nil when nothing is left.
  func timeLeft(_ claim: Claim, of span: Span) -> Span?

  /// Throws `damaged` if nothing can be fetched by this record.
  func validate(_ connection: StoredConnection) throws(StoreError)

  /// The oldest message that waits, and the same one until it is acknowledged; nil when none waits.
  func fetch(_ claimed: ClaimedConnection, then: @escaping (Result<SourceMessage?, SourceError>) -> Void)

  /// Opens a message and records what it says, except for the ledger's entry. Part of the transaction that commits it.
  func open(
    _ message: SourceMessage, _ connection: StoredConnection, _ store: Store
  ) throws(StoreError) -> OpenedMessage

  /// Lets the source forget a committed message, and say what is next if it can. The connection is as the commit left it. Part of
  /// the delivery that the caller has begun.
  func acknowledge(
    _ message: SourceMessage, _ claimed: ClaimedConnection, then: @escaping (Result<NextMessage, SourceError>) -> Void
  )
}

/// A source that tells nothing beforehand: each connection is asked, in the order in which they come.
extension Source {
  func hasten(_ connectionID: Int64) {}
  func giveUp(_ claim: Claim) {}
  func timeLeft(_ claim: Claim, of span: Span) -> Span? { nil }

  func takeNews(then: @escaping (Result<[Int64]?, SourceError>) -> Void) { then(.success(nil)) }

  func whoWaits(among connections: [Int64], then: @escaping (Result<[Int64]?, SourceError>) -> Void) {
    then(.success(nil))
  }
}

/// A connection that this process may advance, as it was read for the claim.
struct ClaimedConnection {
  let claim: Claim
  let connection: StoredConnection

  /// The same claim, with the record as a commit left it.
  func with(_ connection: StoredConnection) -> ClaimedConnection {
    ClaimedConnection(claim: claim, connection: connection)
  }
}

/// What a push says of what it is about.
enum SourceHint {
  /// Something may wait anywhere.
  case everything
  /// Opens with the token's key.
  case sealed(nonce: BoxNonce, [UInt8])
}

enum SourceHintReading {
  /// About nothing that is known here.
  case unknown
  /// It does not open, for this reason.
  case unreadable(String)
  case named([NamedConnection], isRepeat: Bool)
  /// Not one of the records that it names could be read, or only some.
  case damaged(StoreError, [NamedConnection], isRepeat: Bool)
}

struct NamedConnection {
  let id: Int64
  /// Its record, if it was read to find it.
  let record: StoredConnection?
  /// Messages that the hint names and that were not received yet, nor announced.
  var expected: [ExpectedMessage] = []
  /// Those that were announced, too.
  var messages: [[UInt8]] = []
  /// Calls that the hint names, and that are recorded and not shown yet.
  var calls: [StoredLedgerEntry] = []
  /// The hint says that something waits, and which message it is cannot be read: what that opens with was forgotten when the
  /// subscription was turned off.
  var hasUnreadable = false
}

/// A message that a hint names, before it is fetched.
struct ExpectedMessage: Equatable {
  let identifier: [UInt8]
  let timestamp: WallTime
}

/// One message as a source has it.
struct SourceMessage: Equatable {
  /// By which the ledger recognises a repeat (INC-34).
  let identifier: [UInt8]
  let timestamp: WallTime
  let body: [UInt8]
  /// Its sender asked for a notification.
  var notifies = true
  /// When it came to the source, by this process's time since boot; nil if the source did not say for how long it has had
  /// it. No wall clock has a part in it.
  var arrival: Moment?

  var notification: NotificationMessage {
    NotificationMessage(id: TextEncoding.base64URL(identifier), timestamp: timestamp)
  }
}

/// What a source says of a connection of which it has forgotten a message.
enum NextMessage: Equatable {
  /// It has to be asked.
  case unknown
  case nothing
  /// Given again until it is acknowledged.
  case message(SourceMessage)
}

/// What a message said, once it is recorded.
struct OpenedMessage {
  let content: Content
  /// Whether the connection's record was changed.
  let changesConnection: Bool

  enum Content {
    /// As the transaction has stored it.
    case item(StoredItem)
    /// It changed another message.
    case changed(ItemChange, contactID: Int64)
    /// A contact calls; `rings` unless its time was up when it came.
    case call(Int64, contactID: Int64, rings: Bool)
    case connected(contactID: Int64)
    /// The contact has another profile; this is what it was.
    case updated(StoredContact)
    /// The contact has deleted the connection.
    case left(contactID: Int64)
    /// A contact has followed our invitation, and is not connected yet.
    case connecting(contactID: Int64)
    /// A person asks to become a contact.
    case request(Int64)
    case requestWithdrawn(Int64)
    /// A push of the host's own.
    case application(Int64)
    case nothingToShow(contactID: Int64?)
    /// It could not be opened, for this reason.
    case quarantined(String)
  }

  init(_ content: Content, changesConnection: Bool = false) {
    self.content = content
    self.changesConnection = changesConnection
  }
}

/// Why a source gave no answer, or refused.
struct SourceError: Error, Equatable {
  enum Kind: Equatable {
    /// It does not know the connection.
    case denied
    /// It was closed meanwhile, as for a suspension.
    case closed
    /// It did not answer, or the answer was of no use.
    case failed(isTemporary: Bool)
  }

  let kind: Kind
  let description: String

  var isTemporary: Bool { kind == .failed(isTemporary: true) }

  static let closed = SourceError(kind: .closed, description: "closed")
  static let timeout = SourceError(kind: .failed(isTemporary: true), description: "no answer in time")
}

extension Result {
  var isSuccess: Bool {
    if case .success = self { true } else { false }
  }
}
