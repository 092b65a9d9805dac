import PorterCrypto
import PorterPlatform
import PorterPush
import PorterRelay

/// Moves documents from the cluster into the file, and back.
extension SharedServer {
  /// Replaces the file's content with those of these tokens that exist. `remembered`: documents not requested from the
  /// cluster. `probe` is of tokens.
  func load(
    _ ids: some Collection<[UInt8]>, asOf probe: SharedProbe? = nil,
    remembered: ([UInt8]) -> SharedRecord? = { _ in nil }
  ) throws(ServerError) {
    let oldest = clock.wall() - ServerTimes.answerRetention
    loaded = [:]
    for (id, record) in try records(Set(ids), asOf: probe, remembered) {
      unreadable.remove(id)
      guard let record else { continue }
      do throws(ServerError) {
        var document = try TokenDocument(decoding: record.bytes)
        guard document.id == id else { throw .damaged(.token) }
        document.answers.removeAll { $0.answeredAt < oldest.milliseconds }
        loaded[id] = (document, record.revision)
      } catch {
        // This concerns only one token (INC-44).
        unreadable.insert(id)
        state.noteDamage(.token, of: TokenDocument.number(id))
      }
    }
    try state.transaction { () throws(ServerError) in
      try state.beginWork()
      for (document, _) in loaded.values { try state.load(document) }
    }
  }

  /// Forgets what was read or stored before trouble, because it may be undone.
  func forgetAfterTrouble() {
    let trouble = store.lastTrouble
    if trouble != rememberedSince { remembered.forgetAll() }
    rememberedSince = trouble
  }

  private func records(
    _ ids: Set<[UInt8]>, asOf probe: SharedProbe?, _ remembered: ([UInt8]) -> SharedRecord?
  ) throws(ServerError) -> [([UInt8], SharedRecord?)] {
    let known = ids.map { ($0, remembered($0)) }
    let missing = known.filter { $1 == nil }.map(\.0)
    guard !missing.isEmpty else { return known }
    let now = clock.now()
    let keys = missing.map(TokenDocument.key)
    let read = try asking { (store) throws(SharedStoreFailure) in
      if let probe { try store.records(keys, asOf: probe) } else { try store.records(keys) }
    }
    for (id, record) in zip(missing, read) {
      if let record { self.remembered.note(id, record, asked: now) } else { self.remembered.forget(id) }
    }
    return known.filter { $1 != nil } + Array(zip(missing, read))
  }

  /// Stores the changes, and adds the work that follows from them, except for pushes that `direct` chooses. Returns the
  /// tokens that another server has changed in the meantime: the changes to those are void.
  func commit(
    direct: ([TokenDocument]) -> Set<Int64> = { _ in [] }
  ) throws(ServerError) -> Set<[UInt8]> {
    let changes = try changes()
    // A server that ended after storing a document has not stored its answer.
    if !changes.answers.isEmpty {
      _ = try asking { (store) throws(SharedStoreFailure) in try store.replace(changes.answers) }
    }
    // First: a change that makes other tokens superfluous commits along with its answer, so a repeat would no longer
    // remove them.
    var conflicts = try replace(changes.removed.map { id in (id, [], loaded[id]?.revision ?? 0) })
    guard conflicts.isEmpty else { return conflicts }
    // Before the documents, so that a stored token is found when its device registers it again.
    conflicts = try noteDevices(changes.moved)
    guard conflicts.isEmpty else { return conflicts }
    conflicts = try replace(changes.changed.map { ($0.id, $0.encoded(), loaded[$0.id]?.revision ?? 0) })
    try noteStored(changes.changed.filter { !conflicts.contains($0.id) }, direct: direct)
    return conflicts
  }

  /// What follows from documents that are stored in the place of the loaded ones.
  func noteStored(
    _ stored: [TokenDocument], direct: ([TokenDocument]) -> Set<Int64> = { _ in [] }
  ) throws(ServerError) {
    for document in stored where document.id != checked?.id && document.isCheckDue(now: clock.wall()) {
      dueChecks.insert(document.id, now: clock.now())
    }
    try confirmWatching(stored)
    try addWork(stored, except: direct(stored)) { loaded[$0.id]?.document }
  }

  struct Changes {
    var changed: [TokenDocument] = []
    /// Of the changed documents, those whose devices must lead to them first.
    var moved: [TokenDocument] = []
    /// Answers to store first.
    var answers: [SharedChange] = []
    var removed: [[UInt8]] = []
  }

  /// How the file differs from the loaded documents.
  func changes() throws(ServerError) -> Changes {
    var changes = Changes()
    let oldest = clock.wall() - ServerTimes.answerInDocument
    committed = [:]
    for var document in try state.documents() {
      let before = loaded[document.id]?.document
      document.remember(after: before)
      document.nameNewPushes(server.randomness)
      if before == nil { document.checkedAt = clock.wall().milliseconds }
      if let checked, checked.id == document.id { document.checkedAt = checked.at }
      if document != before {
        changes.answers += document.removeAnswers(before: oldest, of: before).map {
          Self.answer($0, from: document.signingKey)
        }
        changes.changed.append(document)
        if before?.pushToken != document.pushToken || before?.provider != document.provider {
          changes.moved.append(document)
        }
      }
      committed[document.id] = document
    }
    changes.removed = loaded.keys.filter { committed[$0] == nil }
    return changes
  }

  private func replace(
    _ changes: [(id: [UInt8], bytes: [UInt8], revision: UInt64)]
  ) throws(ServerError) -> Set<[UInt8]> {
    guard !changes.isEmpty else { return [] }
    let now = clock.now()
    let revisions = try asking { (store) throws(SharedStoreFailure) in
      try store.replace(changes.map { SharedChange(TokenDocument.key($0.id), $0.bytes, revision: $0.revision) })
    }
    for (change, revision) in zip(changes, revisions) { remember(change.id, change.bytes, revision, asked: now) }
    return Set(zip(changes, revisions).filter { $1 == nil }.map(\.0.id))
  }

  /// Notes what the cluster has stored; `revision` is nil if it has not.
  func remember(_ id: [UInt8], _ bytes: [UInt8], _ revision: UInt64?, asked: Moment) {
    if let revision, !bytes.isEmpty {
      remembered.note(id, SharedRecord(bytes: bytes, revision: revision), asked: asked)
    } else {
      remembered.forget(id)
    }
  }

  /// Adds all work that follows from the loaded documents, in case a server ended before it had done so.
  func ensureWork() throws(ServerError) {
    let documents = loaded.values.map(\.document)
    try ensureWatching(documents)
    try addWork(documents) { _ in nil }
  }

  func addWork(
    _ documents: [TokenDocument], except direct: Set<Int64> = [], since before: (TokenDocument) -> TokenDocument?
  ) throws(ServerError) {
    var work: [SharedWork] = []
    for document in documents {
      let before = before(document)
      work += Self.pushWork(document) {
        $0.dueAt == 0 && before?.has($0) != true
          && !direct.contains(TokenDocument.sequence($0.kind, of: document.id))
      }
      if let wake = document.wake, before?.wake != wake { work.append(wakeWork(wake, of: document.id)) }
    }
    try add(work)
  }

  func add(_ work: [SharedWork]) throws(ServerError) {
    guard !work.isEmpty else { return }
    for each in work { looks.noteWork(each.queue) }
    try asking { (store) throws(SharedStoreFailure) in try store.add(work) }
  }

  /// Adds work for pushes that are due, by their sequences and versions.
  func addPushes(_ documents: [TokenDocument], _ isMissing: (Int64, Int64) -> Bool) throws(ServerError) {
    try add(
      documents.flatMap { document in
        Self.pushWork(document) {
          $0.dueAt == 0 && isMissing(TokenDocument.sequence($0.kind, of: document.id), $0.version)
        }
      })
  }

  private static func pushWork(
    _ document: TokenDocument, _ isMissing: (TokenDocument.Push) -> Bool
  ) -> [SharedWork] {
    document.pushes.filter(isMissing).map { SharedWork(queue($0.provider), document.id + Array($0.kind.utf8)) }
  }

  /// Adds work that the cluster may have lost: for due pushes, and for a wake-up that should have come.
  func addLostWork(_ documents: [TokenDocument]) throws(ServerError) {
    let past = (clock.wall() - Self.wakePatience).milliseconds
    let work = documents.flatMap { document in
      Self.pushWork(document) { $0.dueAt <= past }
        + (document.wake.flatMap { $0.dueAt <= past ? [wakeWork($0, of: document.id)] : nil } ?? [])
    }
    try add(work)
  }

  /// A due wake-up has come by then, unless its work is missing.
  private static let wakePatience = Span.seconds(600)

  static let requests = "requests"
  static func queue(_ provider: String) -> String { "push-" + provider }

  // MARK: Who watches a notifier, and which tokens a device has

  /// Always writes, so that another server cannot remove the entry because of what it read before.
  private func note(_ additions: [(key: SharedKey, add: ([UInt8]) -> [UInt8])]) throws(ServerError) {
    var left = additions
    for _ in 0..<Self.mostTries {
      guard !left.isEmpty else { return }
      let (keys, asked) = (left.map(\.key), left)
      let records = try asking { (store) throws(SharedStoreFailure) in try store.records(keys) }
      let revisions = try asking { (store) throws(SharedStoreFailure) in
        try store.replace(
          zip(asked, records).map { asked, record in
            SharedChange(asked.key, asked.add(record?.bytes ?? []), revision: record?.revision ?? 0)
          })
      }
      left = zip(asked, revisions).filter { $1 == nil }.map(\.0)
    }
    throw .cluster("too many changes of one record at the same time")
  }

  /// Called before the relay is asked: a server that gets a notification before the subscription is stored then holds
  /// it back.
  func noteWatching(_ id: [UInt8], _ notifiers: [[UInt8]]) throws(ServerError) {
    let (wall, log) = (clock.wall(), log)
    let additions = index.grouped(notifiers).map { key, notifiers in
      (
        key: key,
        add: { (bytes: [UInt8]) -> [UInt8] in
          // Nothing in an unreadable record can be kept: the daily check notes it again.
          if (try? Watchers(decoding: bytes)) == nil {
            log(.error, "a record of subscriptions is replaced that did not read")
          }
          var watchers = (try? Watchers(decoding: bytes)) ?? Watchers()
          watchers.note(id, notifiers, at: wall)
          return watchers.encoded()
        }
      )
    }
    try note(additions)
  }

  /// The stored records of these notifiers.
  func watching(
    _ notifiers: some Collection<[UInt8]>, asOf probe: SharedProbe? = nil
  ) throws(ServerError) -> [WatcherRecord] {
    let records = try asking { [index] (store) throws(SharedStoreFailure) in
      try index.records(of: notifiers, in: store, asOf: probe)
    }
    for each in records where each.watchers == nil { log(.error, "a record of subscriptions does not read") }
    return records
  }

  /// Notes new subscriptions again. If storing took long, the first note may be gone, or about to be removed by a
  /// server that has read the record and an earlier document. The write causes that removal to be refused.
  private func confirmWatching(_ documents: [TokenDocument]) throws(ServerError) {
    for document in documents {
      let (before, after) = (loaded[document.id]?.document, Set(document.active))
      let new = after.subtracting(before?.active ?? [])
      if !new.isEmpty { try noteWatching(document.id, Array(new)) }
    }
  }

  /// Notes missing subscriptions, in case a server ended before it had done so.
  func ensureWatching(_ documents: [TokenDocument]) throws(ServerError) {
    for document in documents {
      let missing = try watching(document.active).flatMap { $0.missing(document.id) }
      if !missing.isEmpty { try noteWatching(document.id, missing) }
    }
  }

  /// Removes the token from the records of notifiers that it no longer watches. A failure here costs an entry, which is
  /// removed with the notifier's next notification.
  func forgetWatching(_ id: [UInt8], _ notifiers: [[UInt8]]) throws(ServerError) {
    let records = try watching(notifiers)
    // After the records: a server that subscribes again notes that once more after the document is stored.
    try load([id])
    guard !unreadable.contains(id) else { return }
    let document = loaded[id]?.document
    let changes = records.compactMap { $0.removal { document?.watches($0) == true ? [] : [id] } }
    if !changes.isEmpty { _ = try asking { (store) throws(SharedStoreFailure) in try store.replace(changes) } }
  }
}

extension TokenDocument {
  /// The notifiers whose notifications are pushed.
  var active: [[UInt8]] {
    subscriptions.filter { $0.status == SubscriptionStatus.active.rawValue }.map(\.notifier)
  }

  /// Whether the push is due now or later.
  fileprivate func has(_ push: Push) -> Bool {
    pushes.contains { $0.kind == push.kind && $0.version == push.version && $0.provider == push.provider }
  }

  var notifiers: Set<[UInt8]> { Set(subscriptions.map(\.notifier)) }

  func knows(_ notification: RelayNotification) -> Bool {
    notifications.contains { $0.nonce == notification.nonce.bytes && $0.notifier == notification.notifier.bytes }
  }

  /// Whether later ones have come since, so that the token no longer needs it.
  func hasOutlived(_ notification: RelayNotification) -> Bool {
    let later = notifications.filter { $0.milliseconds > notification.timestamp.milliseconds }
    return later.count >= NotificationBundle.maximumEntries
      || later.contains { $0.notifier == notification.notifier.bytes }
  }

  /// Whether a push other than the one sent is due.
  func hasPush(after sent: PendingPush) -> Bool {
    pushes.contains {
      $0.kind == sent.kind.rawValue && $0.provider == sent.provider && $0.version != sent.due.version && $0.dueAt == 0
    }
  }

  func watches(_ notifier: [UInt8]) -> Bool {
    subscriptions.contains { $0.notifier == notifier && $0.status == SubscriptionStatus.active.rawValue }
  }
}
