import PorterRelay
public import PorterRelayCluster
import PorterServer

/// Copies of a cluster's contents, made while relays and notification servers work.
extension ClusterAdministrator {
  /// The contents of a backup.
  public struct Contents: Sendable, Equatable {
    public var parts = Parts()
    public var mailboxes = 0
    public var messages = 0
    public var tokens = 0
    var partitions = 0
    fileprivate var hasWatchers = false
  }

  /// The name of the file in a backup's folder.
  public static let fileName = BackupFile.name

  /// Backs up to a new file, in an order that leaves nothing missing: what a record refers to was stored before it, and
  /// data from the relays is copied before what notification servers made of it.
  public func backUp(to path: String) throws(ClusterFailure) {
    try blocking { [self] () async throws(ClusterFailure) in
      let parts = try await present()
      let writer = try BackupWriter(path)
      if parts.mailboxes { try await copyMailboxes(to: writer) }
      if parts.tokens { try await copyTokens(to: writer) }
      try writer.finish()
    }
  }

  private func copyMailboxes(to writer: BackupWriter) async throws(ClusterFailure) {
    guard let (store, administration) = try await mailboxes() else { return }
    try writer.write(.init(kind: .relaySettings, name: "", bytes: store.settings.bytes))
    for partition in 0..<store.settings.partitions {
      var cursor = RecordCursor(stream, "\(name)_mailboxes_\(partition)", "\(name).mailbox.\(partition).*")
      while let records = try await cursor.next() {
        let bodies = try await eachAtOnce(records) { (record) async throws(ClusterFailure) in
          try await patiently { () async throws(ClusterFailure) in
            try await administration.bodies(record.name, of: record.bytes)
          }
        }
        for (record, bodies) in zip(records, bodies) {
          for body in bodies {
            try writer.write(.init(kind: .body, name: record.name, number: body.number, bytes: body.bytes))
          }
          try writer.write(.init(kind: .mailbox, name: record.name, bytes: record.bytes))
        }
      }
    }
    try await copyQueue("\(name)_notifications", "\(name).notify.*", as: .notification, to: writer)
  }

  private func copyTokens(to writer: BackupWriter) async throws(ClusterFailure) {
    try await copyQueue("\(name)_push_work", "\(name).push.work.requests", as: .request, to: writer)
    let buckets: [(SharedKey.Bucket, BackupFile.Kind)] = [
      (.answers, .answer), (.settings, .identity), (.tokens, .token), (.devices, .device),
      (.subscriptions, .watchers),
    ]
    for (bucket, kind) in buckets {
      var cursor = RecordCursor(
        stream, JetStreamPushStore.bucket(bucket, name), JetStreamPushStore.subject(SharedKey(bucket, "*"), name))
      while let records = try await cursor.next() {
        // The progress of the daily check is a place in a stream.
        for record in records where kind != .identity || Self.settings.contains(record.name) {
          try writer.write(.init(kind: kind, name: record.name, bytes: record.bytes))
        }
      }
    }
  }

  private static let settings = [SharedAdministration.identityName, SharedAdministration.watchersName]

  private func copyQueue(
    _ place: String, _ subjects: String, as kind: BackupFile.Kind, to writer: BackupWriter
  ) async throws(ClusterFailure) {
    let stream = stream
    let end = try await patiently { () async throws(ClusterFailure) in try await stream.lastSequence(place) }
    var position: UInt64 = 0
    while position < end {
      let start = position
      let next = try await patiently { () async throws(ClusterFailure) in
        try await stream.nextMessage(place, subjects, after: start)
      }
      guard let next, next.sequence <= end else { return }
      let queue = String(next.subject.split(separator: ".").last ?? "")
      try writer.write(.init(kind: kind, name: queue, bytes: next.bytes))
      position = next.sequence
    }
  }

  /// Reads the whole file, and throws if it is incomplete.
  public static func contents(of path: String) throws(ClusterFailure) -> Contents {
    let reader = try BackupReader(path)
    var (contents, damaged) = (Contents(), 0)
    while let entry = try reader.next() {
      switch entry.kind {
      case .relaySettings:
        contents.parts.mailboxes = true
        contents.partitions = try JetStreamStore.Settings(entry.bytes).partitions
      case .body: contents.messages += 1
      case .mailbox:
        contents.mailboxes += 1
        if !ClusterAdministration.reads(entry.bytes) { damaged += 1 }
      case .identity:
        contents.parts.tokens = true
        if entry.name == SharedAdministration.watchersName { contents.hasWatchers = true }
      case .token:
        contents.tokens += 1
        if !SharedAdministration.reads(entry.bytes) { damaged += 1 }
      case .notification, .request, .answer, .device, .watchers, .end: break
      }
    }
    guard damaged == 0 else { throw ClusterFailure("\(path): damaged records: \(damaged)") }
    guard contents.hasWatchers || !contents.parts.tokens else {
      throw ClusterFailure("\(path): the subscriptions are in the layout of another version")
    }
    return contents
  }
}
