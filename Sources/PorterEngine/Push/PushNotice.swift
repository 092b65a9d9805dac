import PorterJSON
import PorterMachines
import PorterNotifications
import PorterPlatform
import PorterPush
import PorterSchema
import PorterStore

/// Chooses the notice for a push whose answer would say nothing. A value.
enum PushNotice {
  /// Why a push did not get the store.
  enum Obstacle {
    /// It does not open, or this program must not open it.
    case store
    /// Another process keeps it from being opened.
    case busy
    /// The process could not start work, for example because another one of the same role is at work.
    case process
  }

  /// For a push that says a message is waiting.
  static func afterMessage(_ outcome: Push.State, _ obstacle: Obstacle?) -> NotificationNotice? {
    switch outcome {
    case .locked: .locked
    case .stopped: .appStopped
    case .wrongSchema: .migration
    case .failed: obstacle == .process ? .event : .database
    // What the push names has a placeholder; this is for a push that names nothing readable.
    case .expired, .offline: .event
    // Otherwise the process it is left to is at work, and shows it.
    case .yielded: obstacle == .busy ? .event : nil
    case .presented, .nothingNew, .verified, .unknown, .quarantined: nil
    case .received, .deciding, .openingStore, .decoding, .verifying, .claiming, .fetching, .committing, .acknowledging,
      .presenting, .sending, .releasing:
      nil
    }
  }

  /// For a round, which does not know whether anything waits. Offline, out of time or before the first unlock, the next
  /// round does what this one did not, and a user who stopped the chat knows that. But a store that does not open holds
  /// back every message until the user acts.
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

/// Marks that a notice is on screen: a file alongside the store, since the store cannot be written then. The next
/// process that reads the store withdraws the notice, even if the process that gave it has ended.
///
/// The file contains a name for the notice, and when one last made a sound. All notices share one identifier, and
/// withdrawing an earlier one must not end a later one. Many pushes in a row may each have a notice: while one is on
/// screen, they make one sound in the time in which a chat makes one.
package struct NoticeMark {
  struct Name: Equatable {
    /// Empty in a file from an earlier version.
    let bytes: [UInt8]
    static let count = 16
  }

  private let path: String
  private let store: String
  private let ports: Ports
  /// Enough for the name and the last sound.
  private static let limit = 256
  private var files: any Files { ports.files }

  init(_ configuration: Configuration) {
    path = configuration.prefix + "_notice"
    store = configuration.location.file
    ports = configuration.ports
  }

  var isSet: Bool { (try? files.status(at: path)) != nil }

  /// The name of the notice on screen.
  var name: Name? { contents.map { Name(bytes: Array($0.prefix(Name.count))) } }

  private var contents: [UInt8]? {
    guard let file = try? files.open(path, for: .reading) else { return nil }
    defer { files.close(file) }
    return (try? files.read(file, limit: Self.limit)) ?? []
  }

  /// When a notice last made a sound since `boot`; nil if it was withdrawn since, or given by an earlier version.
  private func lastSound(boot: String) -> Moment? {
    guard let text = contents.flatMap({ String(validating: $0.dropFirst(Name.count), as: UTF8.self) }) else {
      return nil
    }
    let parts = text.split(separator: " ")
    guard parts.count == 2, parts[0] == boot, let time = Int64(parts[1]) else { return nil }
    return Moment(nanoseconds: time)
  }

  private var boot: String { (ports.identity ?? .current).boot }

  /// Whether a notice given now makes a sound.
  var makesSound: Bool {
    let now = ports.clock.now()
    guard let last = lastSound(boot: boot), last <= now else { return true }
    return now - last >= SoundRule.quiet
  }

  /// `isHeard`: the notice makes a sound. If the file cannot be written, the notice stays on screen until the user or a
  /// later notice removes it, which makes a sound.
  func set(isHeard: Bool) {
    let boot = boot
    let sound = isHeard ? ports.clock.now() : lastSound(boot: boot)
    // An extension creates nothing where there is no store (INC-23).
    guard (try? files.status(at: store)) != nil, let file = try? files.open(path, for: .writingOrCreating) else {
      return
    }
    defer { files.close(file) }
    let stored = sound.map { "\(boot) \($0.nanoseconds)" } ?? ""
    // If there is no room for the name, the notice is withdrawn like one from an earlier version.
    try? files.write(ports.randomness.bytes(Name.count) + Array(stored.utf8), to: file)
  }

  /// `isTaken`: the caller has the answer that withdraws this notice.
  func end(_ withdrawn: Name?, isTaken: Bool) {
    guard let withdrawn, isTaken, name == withdrawn else { return }
    try? files.remove(path)
  }
}

/// Detects an unreadable push for which nothing may be shown: every mailbox it is about is muted or hidden by the user,
/// or belongs to a chat that notifies of mentions only. Read only when a notice is due.
package enum SilentPush {
  /// False for a push without tags, such as one from an earlier server: its notice is given.
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

extension NoticeMark {
  /// For an extension whose store did not open: its caller gets a notice to show. Returns whether it makes a sound.
  package static func set(after result: MigrationResult, at prefix: String, ports: Ports = .system) -> Bool {
    guard result.notice != nil else { return false }
    let configuration = Configuration(prefix: prefix, role: .extension, confirmation: .error, ports: ports)
    guard let location = try? configuration.location.resolved(ports.files) else { return true }
    let mark = NoticeMark(configuration.at(location))
    let isHeard = mark.makesSound
    mark.set(isHeard: isHeard)
    return isHeard
  }
}

extension MigrationResult {
  /// The notice shown by a process that was started for a push and cannot open its store.
  var notice: NotificationNotice? {
    switch self {
    case .ok, .invalidConfirmation: nil
    case .errorNotADatabase: .noPassphrase
    case .nightporter where json["type"] == "errorNotADatabase": .noPassphrase
    case .errorMigration: .migration
    case .errorSQL, .agentError: .database
    // As before the first unlock, when a protected file is unreadable (INC-50).
    case .nightporter(_, .storeReadOnly): .locked
    case .nightporter: .database
    }
  }

  /// Includes the notice for the user, if any. In an app as well: only the host knows whether it is on screen, and then
  /// shows its own page.
  package func json(for role: Role, isHeard: Bool = true) -> JSONValue {
    let notice = role == .share ? nil : notice?.content(isHeard: isHeard)
    return json(notice: notice?.json(in: ProcessStrings.shared.table ?? .english))
  }
}
