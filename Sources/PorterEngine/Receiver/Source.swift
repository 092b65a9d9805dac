import PorterCrypto
import PorterPlatform
import PorterPush
import PorterSchema
import PorterStore

/// Where the messages announced by a push come from. The built-in source is the mailbox at the relay with its ratchets.
///
/// The engine handles the message independently of the source: the claim on its connection, the fenced transaction, the
/// ledger, what is shown, the deadline, and releasing everything. Nothing is held between two calls.
protocol Source: AnyObject {
  /// Recognises a push's hint, and names the connections to look into.
  func read(_ hint: SourceHint, _ store: Store) throws(StoreError) -> SourceHintReading

  /// Whether the source itself ends each request in time, so that a fetch sets no deadline of its own.
  var endsRequestsInTime: Bool { get }

  /// Listens for arrivals on these connections, on the app's account. Names those with something already waiting.
  func listen(to connections: [StoredConnection], then: @escaping (Result<[Int64], SourceError>) -> Void)

  /// Asks for news: connections where something arrived since the source was listened to, or last asked. Nil when
  /// unknown; then each connection must be listened to again.
  func takeNews(then: @escaping (Result<[Int64]?, SourceError>) -> Void)

  /// Which of these connections have something waiting, without listening to them; nil when the source does not know.
  func whoWaits(among connections: [Int64], then: @escaping (Result<[Int64]?, SourceError>) -> Void)

  /// Requests for this connection are sent before any other waiting requests.
  func hasten(_ connectionID: Int64)

  /// Fails unanswered requests made under this claim: nothing waits for them any longer. Requests for the same
  /// connection under a later claim are not affected.
  func giveUp(_ claim: Claim)

  /// The rest of this time span, which has passed since a request was made under this claim: time during which other
  /// requests kept it from being sent does not count. Nil when nothing is left.
  func timeLeft(_ claim: Claim, of span: Span) -> Span?

  /// Throws `damaged` if nothing can be fetched with this record.
  func validate(_ connection: StoredConnection) throws(StoreError)

  /// Returns the oldest waiting message, and the same one until it is acknowledged; nil when none waits.
  func fetch(_ claimed: ClaimedConnection, then: @escaping (Result<SourceMessage?, SourceError>) -> Void)

  /// Opens a message and records its content, except for the ledger entry. Part of the transaction that commits it.
  func open(
    _ message: SourceMessage, _ connection: StoredConnection, _ store: Store
  ) throws(StoreError) -> OpenedMessage

  /// Lets the source forget a committed message, and return what is next if it can. The connection is as the commit
  /// left it. Part of the delivery that the caller has begun.
  func acknowledge(
    _ message: SourceMessage, _ claimed: ClaimedConnection, then: @escaping (Result<NextMessage, SourceError>) -> Void
  )
}

/// Defaults for a source that reports nothing in advance: each connection is asked, in order of arrival.
extension Source {
  func hasten(_ connectionID: Int64) {}
  func giveUp(_ claim: Claim) {}
  func timeLeft(_ claim: Claim, of span: Span) -> Span? { nil }

  func takeNews(then: @escaping (Result<[Int64]?, SourceError>) -> Void) { then(.success(nil)) }

  func whoWaits(among connections: [Int64], then: @escaping (Result<[Int64]?, SourceError>) -> Void) {
    then(.success(nil))
  }
}

/// A connection that this process may advance, as read for the claim.
struct ClaimedConnection {
  let claim: Claim
  let connection: StoredConnection

  /// Returns the same claim, with the record as a commit left it.
  func with(_ connection: StoredConnection) -> ClaimedConnection {
    ClaimedConnection(claim: claim, connection: connection)
  }
}

/// What a push says it is about.
enum SourceHint {
  /// Something may be waiting anywhere.
  case everything
  /// Opens with the token's key.
  case sealed(nonce: BoxNonce, [UInt8])
}

enum SourceHintReading {
  /// About nothing known here.
  case unknown
  /// Does not open, for this reason.
  case unreadable(String)
  case named([NamedConnection], isRepeat: Bool)
  /// None or only some of the records it names could be read.
  case damaged(StoreError, [NamedConnection], isRepeat: Bool)
}

struct NamedConnection {
  let id: Int64
  /// Its record, if read to find it.
  let record: StoredConnection?
  /// Messages the hint names that were neither received nor announced yet.
  var expected: [ExpectedMessage] = []
  /// Includes those already announced.
  var messages: [[UInt8]] = []
  /// Calls the hint names that are recorded but not yet shown.
  var calls: [StoredLedgerEntry] = []
  /// The hint says that something waits, but the message cannot be identified: the key to read it was forgotten when
  /// the subscription was turned off.
  var hasUnreadable = false
}

/// A message named by a hint, before it is fetched.
struct ExpectedMessage: Equatable {
  let identifier: [UInt8]
  let timestamp: WallTime
}

/// One message as a source has it.
struct SourceMessage: Equatable {
  /// How the ledger recognises a repeat (INC-34).
  let identifier: [UInt8]
  let timestamp: WallTime
  let body: [UInt8]
  /// Its sender asked for a notification.
  var notifies = true
  /// When it reached the source, in this process's time since boot; nil if the source did not say how long it has had
  /// it. Independent of any wall clock.
  var arrival: Moment?

  var notification: NotificationMessage {
    NotificationMessage(id: TextEncoding.base64URL(identifier), timestamp: timestamp)
  }
}

/// What a source reports about a connection after forgetting one of its messages.
enum NextMessage: Equatable {
  /// The source must be asked.
  case unknown
  case nothing
  /// Delivered again until acknowledged.
  case message(SourceMessage)
}

/// The content of a message, once recorded.
struct OpenedMessage {
  let content: Content
  /// Whether the connection's record was changed.
  let changesConnection: Bool

  enum Content {
    /// As stored by the transaction.
    case item(StoredItem)
    /// Changed another message.
    case changed(ItemChange, contactID: Int64)
    /// A contact calls; `rings` unless its time was up when it arrived.
    case call(Int64, contactID: Int64, rings: Bool)
    case connected(contactID: Int64)
    /// The contact has another profile; this is the earlier one.
    case updated(StoredContact)
    /// The contact has deleted the connection.
    case left(contactID: Int64)
    /// A contact has followed our invitation, but is not yet connected.
    case connecting(contactID: Int64)
    /// A person asks to become a contact.
    case request(Int64)
    case requestWithdrawn(Int64)
    /// A push of the host's own.
    case application(Int64)
    case nothingToShow(contactID: Int64?)
    /// Could not be opened, for this reason.
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
    /// The source does not know the connection.
    case denied
    /// Closed in the meantime, for example for a suspension.
    case closed
    /// No answer, or a useless one.
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
