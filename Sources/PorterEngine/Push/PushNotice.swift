import PorterJSON
import PorterMachines
import PorterNotifications
import PorterPlatform
import PorterPush
import PorterSchema
import PorterStore

/// Which notice a push gives whose answer would say nothing. A value.
enum PushNotice {
  /// What kept a push from having the store.
  enum Obstacle {
    /// It does not open, or is not to be opened by this program.
    case store
    /// Another process keeps it from being opened.
    case busy
    /// The process could not begin to work, as when another one of the same role is at work.
    case process
  }

  /// For a push that says that a message waits.
  static func afterMessage(_ outcome: Push.State, _ obstacle: Obstacle?) -> NotificationNotice? {
    switch outcome {
    case .locked: .locked
    case .stopped: .appStopped
    case .wrongSchema: .migration
    case .failed: obstacle == .process ? .event : .database
    // What the push names has a placeholder; this is for one that names nothing that can be read.
    case .expired, .offline: .event
    // Else the process that it is left to is at work, and shows it.
    case .yielded: obstacle == .busy ? .event : nil
    case .presented, .nothingNew, .verified, .unknown, .quarantined: nil
    case .received, .deciding, .openingStore, .decoding, .verifying, .claiming, .fetching, .committing, .acknowledging,
      .presenting, .sending, .releasing:
      nil
    }
  }

  /// For a round, which does not know whether anything waits. Out of reach, out of time or before the first unlock, the next
  /// round does what this one did not, and a user who stopped the chat knows it. But a store that does not open keeps every
  /// message away until the user does something about it.
  static func afterRound(_ outcome: Push.State, _ obstacle: Obstacle?) -> NotificationNotice? {
    guard obstacle == .store else { return nil }
    switch outcome {
    case .wrongSchema: return .migration
    case .failed: return .database
    case .locked, .stopped, .expired, .offline, .presented, .nothingNew, .yielded, .verified, .unknown, .quarantined,
      .received, .deciding, .openingStore, .decoding, .verifying, .claiming, .fetching, .committing, .acknowledging,
      .presenting, .sending, .releasing:
      return nil
    }
  }
}

/// That a notice is on screen: a file beside the store, since the store cannot be written then. So the process that reads the
/// store next withdraws the notice, also if the one that gave it has ended.
///
/// It contains a name of the notice. All notices have one identifier, and a withdrawal of an earlier one does not end a later one.
struct NoticeMark {
  struct Name: Equatable {
    /// None in a file of an earlier version.
    let bytes: [UInt8]
    static let count = 16
  }

  private let path: String
  private let store: String
  private let ports: Ports
  private var files: any Files { ports.files }

  init(_ configuration: Configuration) {
    path = configuration.prefix + "_notice"
    store = configuration.location.file
    ports = configuration.ports
  }

  var isSet: Bool { (try? files.status(at: path)) != nil }

  /// Of the notice that is on screen.
  var name: Name? {
    guard let file = try? files.open(path, for: .reading) else { return nil }
    defer { files.close(file) }
    return Name(bytes: (try? files.read(file, limit: Name.count)) ?? [])
  }

  /// Without a place to write, the notice stays on screen until the user or a later notice removes it.
  func set() {
    // An extension creates nothing where there is no store (INC-23).
    guard (try? files.status(at: store)) != nil, let file = try? files.open(path, for: .writingOrCreating) else {
      return
    }
    defer { files.close(file) }
    // Without room for a name the notice is withdrawn like one of an earlier version.
    try? files.write(ports.randomness.bytes(Name.count), to: file)
  }

  /// `isTaken`: the caller has the answer that withdraws this notice.
  func end(_ withdrawn: Name?, isTaken: Bool) {
    guard let withdrawn, isTaken, name == withdrawn else { return }
    try? files.remove(path)
  }
}

/// A push of which nothing could be read, and nothing may be shown: each mailbox that it is about is one that the user has muted
/// or hidden, or whose chat notifies of mentions only. Read when a notice is due, and not before.
package enum SilentPush {
  /// False for a push that does not say so, such as one of an earlier server: then its notice is given.
  static func isSilent(_ payload: PushPayload?, _ configuration: Configuration) -> Bool {
    guard case .message(let nonce, _, let tags?) = payload, let tags = tags.all else { return false }
    let file = SilentMailboxFile(configuration.location, configuration.ports.files)
    return file.read()?.silences(tags, nonce: nonce) ?? false
  }

  /// For a host whose store did not open.
  package static func isSilent(_ payload: String, at prefix: String, ports: Ports = .system) -> Bool {
    let configuration = Configuration(prefix: prefix, role: .extension, confirmation: .error, ports: ports)
    guard let location = try? configuration.location.resolved(ports.files) else { return false }
    return isSilent(try? PushPayload(decoding: payload), configuration.at(location))
  }
}

extension MigrationResult {
  /// What a process that was started for a push shows when its store does not open.
  var notice: NotificationNotice? {
    switch self {
    case .ok, .invalidConfirmation: nil
    case .errorNotADatabase: .noPassphrase
    case .nightporter where json["type"] == "errorNotADatabase": .noPassphrase
    case .errorMigration: .migration
    case .errorSQL, .agentError: .database
    // As before the first unlock, when a protected file may not be read (INC-50).
    case .nightporter(_, .storeReadOnly): .locked
    case .nightporter: .database
    }
  }

  /// With the notice for the user, if there is one. In an app as well: the host alone knows whether it is on screen, and
  /// then shows its own page.
  package func json(for role: Role) -> JSONValue {
    json(notice: role == .share ? nil : notice?.content.json(in: ProcessStrings.shared.table ?? .english))
  }
}
