import PorterMachines
import PorterPlatform
import PorterPush
import PorterRelay

/// An operator's access to the state that notification servers share, whether or not they are serving.
public struct SharedAdministration: Sendable {
  /// Documents read together.
  private static let slice = 64
  private static let mostTries = 32

  private let store: any SharedStore

  public init(_ store: any SharedStore) { self.store = store }

  // MARK: Tokens

  /// `name` is a token's identifier, or PROVIDER:HEX for a device, which may have more than one.
  public func tokens(_ name: String) throws(PushServiceError) -> [ServerAdministration.Token] {
    switch try ServerAdministration.Name(name) {
    case .token(let id): return try documents([id]).map { ServerAdministration.Token($0.document) }
    case .device(let pushToken):
      let (index, name) = (try index(), DeviceName(provider: pushToken.provider, pushToken: pushToken.bytes))
      let record = try asking { (store) throws(SharedStoreFailure) in try index.device(name, in: store) }
      if record.tokens == nil { throw PushServiceError(.damaged(.device)) }
      return try documents(record.entries.map(\.id)).map(\.document)
        .filter { $0.provider == pushToken.provider && $0.pushToken == pushToken.bytes }
        .map(ServerAdministration.Token.init)
    }
  }

  /// Deletes it with its subscriptions, notifications and pushes; its client learns of that when it asks. Returns false
  /// if it no longer exists.
  public func revoke(_ token: ServerAdministration.Token) throws(PushServiceError) -> Bool {
    guard let id = TextEncoding.base64URLDecoded(token.id) else { return false }
    let index = try index()
    for _ in 0..<Self.mostTries {
      guard let (document, revision) = try documents([id]).first else { return false }
      guard let state = ServerToken.State(name: document.state) else { throw PushServiceError(.damaged(.token)) }
      guard NotificationServer.step(state, .delete).answer == .moved else { return false }
      let removal = SharedChange(TokenDocument.key(id), [], revision: revision)
      let removed = try asking { (store) throws(SharedStoreFailure) in try store.replace([removal])[0] }
      guard removed != nil else { continue }
      try forget(document, index)
      return true
    }
    throw PushServiceError("the token changes all the time")
  }

  /// Records changed in the meantime are left, and are removed with the notifier's next notification.
  private func forget(_ document: TokenDocument, _ index: WatcherIndex) throws(PushServiceError) {
    let records = try asking { (store) throws(SharedStoreFailure) in
      try index.records(of: document.notifiers, in: store)
    }
    let changes = records.compactMap { $0.removal { _ in [document.id] } }
    if !changes.isEmpty { _ = try asking { (store) throws(SharedStoreFailure) in try store.replace(changes) } }
  }

  private func index() throws(PushServiceError) -> WatcherIndex {
    let stored = try asking { (store) throws(SharedStoreFailure) in try store.records([WatcherIndex.key])[0] }
    do throws(ServerError) { return try WatcherIndex(decoding: stored?.bytes ?? []) } catch {
      throw PushServiceError(error)
    }
  }

  private func documents(_ ids: [[UInt8]]) throws(PushServiceError) -> [(document: TokenDocument, revision: UInt64)] {
    let records = try asking { (store) throws(SharedStoreFailure) in try store.records(ids.map(TokenDocument.key)) }
    var found: [(document: TokenDocument, revision: UInt64)] = []
    for case let record? in records {
      do throws(ServerError) { found.append((try TokenDocument(decoding: record.bytes), record.revision)) } catch {
        throw PushServiceError(error)
      }
    }
    return found
  }

  // MARK: Verification

  /// Problems with the state; empty if there are none. Reads each record that a server could read.
  public func problems() throws(PushServiceError) -> [String] {
    var problems: [String] = []
    let settings = try asking { (store) throws(SharedStoreFailure) in
      try store.records([SharedServer.identityKey, WatcherIndex.key])
    }
    if let identity = settings[0] {
      if (try? SharedServer.fields(identity.bytes)) == nil { problems.append("the identity does not read") }
    } else {
      problems.append("there is no identity")
      // No server has started yet.
      if settings[1] == nil { return problems }
    }
    let index = try index()
    var findings = Findings()
    var (position, end) = (UInt64(0), try asking { (store) throws(SharedStoreFailure) in try store.newestToken() })
    while position < end {
      var ids: Set<[UInt8]> = []
      while ids.count < Self.slice, position < end {
        let start = position
        let next = try asking { (store) throws(SharedStoreFailure) in try store.token(after: start) }
        position = next?.revision ?? end
        guard let next else { break }
        guard let id = TextEncoding.base64URLDecoded(next.key), id.count == RelayIdentifier.count else {
          findings.damaged.insert(Array(next.key.utf8))
          continue
        }
        ids.insert(id)
      }
      try check(Array(ids), index, &findings)
    }
    return problems + findings.lines
  }

  private struct Findings {
    var damaged: Set<[UInt8]> = []
    /// Tokens missing from their devices' records.
    var withoutDevice: Set<[UInt8]> = []
    /// Tokens with subscriptions whose notifications would not reach them.
    var unwatched: Set<[UInt8]> = []
    /// Names of subscription records.
    var unreadable: Set<[UInt8]> = []
    /// Names of devices' records.
    var unreadableDevices: Set<[UInt8]> = []

    var lines: [String] {
      [
        ("damaged tokens", damaged), ("tokens that their devices do not lead to", withoutDevice),
        ("tokens that notifications do not lead to", unwatched), ("damaged records of subscriptions", unreadable),
        ("damaged records of devices", unreadableDevices),
      ].filter { !$1.isEmpty }.map { "\($0): \($1.count)" }
    }
  }

  private func check(_ ids: [[UInt8]], _ index: WatcherIndex, _ findings: inout Findings) throws(PushServiceError) {
    let records = try asking { (store) throws(SharedStoreFailure) in try store.records(ids.map(TokenDocument.key)) }
    for (id, record) in zip(ids, records) {
      guard let record else { continue }
      guard let document = try? TokenDocument(decoding: record.bytes), document.id == id else {
        findings.damaged.insert(id)
        continue
      }
      let device = try asking { (store) throws(SharedStoreFailure) in try index.device(document.device, in: store) }
      if device.tokens == nil { findings.unreadableDevices.insert(Array(device.key.name.utf8)) }
      if !device.has(document), try isStill(document) { findings.withoutDevice.insert(id) }
      let watching = try asking { (store) throws(SharedStoreFailure) in
        try index.records(of: document.active, in: store)
      }
      for each in watching where each.watchers == nil { findings.unreadable.insert(Array(each.key.name.utf8)) }
      let isMissing = watching.contains { !$0.missing(id).isEmpty }
      if isMissing, try isStill(document) { findings.unwatched.insert(id) }
    }
  }

  /// Whether it is unchanged since it was read.
  private func isStill(_ document: TokenDocument) throws(PushServiceError) -> Bool {
    try documents([document.id]).first?.document == document
  }

  // MARK: Restoring

  /// The work that follows from a document, to add when a backup is restored.
  public static func work(of document: [UInt8]) -> [SharedWork] {
    guard let document = try? TokenDocument(decoding: document) else { return [] }
    let pushes = document.pushes.map {
      SharedWork(SharedServer.queue($0.provider), document.id + Array($0.kind.utf8))
    }
    // Servers move it to the queue for the time that is left.
    return pushes + (document.wake.map { [WakeItem.work(of: document.id, dueAt: $0.dueAt, in: 0)] } ?? [])
  }

  /// The record of the identity that all servers share.
  public static var identityName: String { SharedServer.identityKey.name }

  /// The record of where subscriptions are stored. It must exist before the identity does.
  public static var watchersName: String { WatcherIndex.key.name }

  /// Whether these bytes decode as a document.
  public static func reads(_ document: [UInt8]) -> Bool { (try? TokenDocument(decoding: document)) != nil }

  private func asking<Value>(
    _ body: (any SharedStore) throws(SharedStoreFailure) -> Value
  ) throws(PushServiceError) -> Value {
    do throws(SharedStoreFailure) { return try body(store) } catch { throw PushServiceError(error.reason) }
  }
}

extension ServerAdministration.Token {
  fileprivate init(_ document: TokenDocument) {
    number = TokenDocument.number(document.id)
    id = TextEncoding.base64URL(document.id)
    provider = document.provider
    state = document.state
    interval = Int(document.period)
    lastUse = Int(document.usedAt / 1_000)
    subscriptions = Dictionary(document.subscriptions.map { ($0.status, 1) }, uniquingKeysWith: +)
    pushes = document.pushes.count
  }
}
