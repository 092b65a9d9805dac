import PorterRelay
public import PorterRelayCluster
import PorterServer

/// Restores backups into a cluster that has nothing under that name.
extension ClusterAdministrator {
  private static let most = 128

  /// Verifies the backup first. Settings are written last, so no server mistakes an unfinished restore for a complete
  /// one. `replacing`: whether existing streams may be deleted; no server may be using them.
  public func restore(_ path: String, replacing: Bool) throws(ClusterFailure) {
    let contents = try Self.contents(of: path)
    try blocking { [self] () async throws(ClusterFailure) in
      let present = try await streams()
      if !present.isEmpty {
        guard replacing else {
          throw ClusterFailure("the cluster has streams of \(name) already; --replace yes deletes them")
        }
        let servers = WorkQueues.requests(name).map { (name: "a notification server", subject: $0) }
        if let user = try await connection.hears([("a relay", name + ".beat")] + servers) {
          throw ClusterFailure("\(user) uses them; stop it first")
        }
        for each in present { try await delete(each) }
      }
      let replicas =
        if options.replicas > 1, try await !stream.hasReplicas(name + "_restore") { 1 } else { options.replicas }
      try await fill(path, contents, replicas)
    }
  }

  private func fill(_ path: String, _ contents: Contents, _ replicas: Int) async throws(ClusterFailure) {
    if contents.parts.mailboxes {
      _ = try await JetStreamStore.prepare(stream, name, replicas: replicas, partitions: contents.partitions)
      try await stream.prepare(JetStreamStore.settingsStream(name, replicas))
    }
    if contents.parts.tokens { try await JetStreamPushStore.prepare(stream, name, replicas: replicas) }
    let filler = Filler(stream: stream, name: name, partitions: contents.partitions)
    var settings: [BackupFile.Entry] = []
    let reader = try BackupReader(path)
    var (batch, bodies): ([Item], [UInt64: [UInt8]]) = ([], [:])
    while let entry = try reader.next() {
      switch entry.kind {
      case .relaySettings, .identity:
        settings.append(entry)
        continue
      case .body:
        bodies[entry.number] = entry.bytes
        continue
      case .mailbox:
        batch.append(Item(entry: entry, bodies: bodies))
        bodies = [:]
      case .notification, .request, .answer, .token, .device, .watchers, .end:
        batch.append(Item(entry: entry, bodies: [:]))
      }
      guard batch.count == Self.most else { continue }
      _ = try await eachAtOnce(batch) { (item) async throws(ClusterFailure) in try await filler.put(item) }
      batch = []
    }
    _ = try await eachAtOnce(batch) { (item) async throws(ClusterFailure) in try await filler.put(item) }
    // An identity without an index would be taken for an earlier layout.
    let index = settings.filter { $0.name == SharedAdministration.watchersName }
    for entry in index + settings.filter({ $0.name != SharedAdministration.watchersName }) {
      try await filler.put(Item(entry: entry, bodies: [:]))
    }
  }

  // MARK: What is there

  private func streams() async throws(ClusterFailure) -> [String] {
    var names: [String] = []
    while true {
      let query = #"{"offset":\#(names.count)}"#
      let reply = Reply(try await connection.request("$JS.API.STREAM.NAMES", Array(query.utf8)).data)
      guard reply.errorCode == nil, let total = reply.number("total") else { throw stream.failure(reply, "streams") }
      let some = reply.texts("streams")
      names += some
      if some.isEmpty || names.count >= total { break }
    }
    return names.filter(isOurs)
  }

  private func isOurs(_ stream: String) -> Bool {
    if ["_settings", "_notifications", "_push_work"].contains(where: { stream == name + $0 }) { return true }
    if SharedKey.Bucket.allCases.contains(where: { JetStreamPushStore.bucket($0, name) == stream }) { return true }
    return ["_mailboxes_", "_bodies_"].contains { part in
      stream.hasPrefix(name + part) && Int(stream.dropFirst(name.utf8.count + part.utf8.count)) != nil
    }
  }

  private func delete(_ place: String) async throws(ClusterFailure) {
    let reply = Reply(try await connection.request("$JS.API.STREAM.DELETE.\(place)").data)
    guard reply.errorCode == nil else { throw stream.failure(reply, "stream \(place)") }
  }
}

/// An entry of a backup, with its bodies.
private struct Item: Sendable {
  let entry: BackupFile.Entry
  let bodies: [UInt64: [UInt8]]
}

private struct Filler: Sendable {
  let stream: JetStream
  let name: String
  let partitions: Int

  func put(_ item: Item) async throws(ClusterFailure) {
    let entry = item.entry
    switch entry.kind {
    case .relaySettings: try await set("\(name)_settings", "\(name).settings", entry.bytes)
    case .mailbox: try await putMailbox(item)
    case .notification: try await add("\(name).notify.\(entry.name)", entry.bytes)
    case .request: try await add("\(name).push.work.requests", entry.bytes)
    case .answer: try await set(.answers, entry)
    case .identity: try await set(.settings, entry)
    case .device: try await set(.devices, entry)
    case .watchers: try await set(.subscriptions, entry)
    case .token:
      try await set(.tokens, entry)
      for work in SharedAdministration.work(of: entry.bytes) {
        try await add("\(name).push.work.\(work.queue)", work.bytes)
      }
    case .body, .end: break
    }
  }

  private func putMailbox(_ item: Item) async throws(ClusterFailure) {
    let key = item.entry.name
    let partition = JetStreamStore.partition(key, of: partitions)
    var numbers: [UInt64: UInt64] = [:]
    for (number, bytes) in item.bodies {
      numbers[number] = try await add("\(name).body.\(partition).\(key)", bytes)
    }
    guard let record = ClusterAdministration.renumbered(item.entry.bytes, bodies: numbers) else { return }
    try await set("\(name)_mailboxes_\(partition)", "\(name).mailbox.\(partition).\(key)", record)
  }

  private func set(_ bucket: SharedKey.Bucket, _ entry: BackupFile.Entry) async throws(ClusterFailure) {
    try await set(
      JetStreamPushStore.bucket(bucket, name), JetStreamPushStore.subject(SharedKey(bucket, entry.name), name),
      entry.bytes)
  }

  private func set(_ place: String, _ subject: String, _ bytes: [UInt8]) async throws(ClusterFailure) {
    let stored = try await patiently { () async throws(ClusterFailure) in
      // Stored by the previous attempt.
      let known = try await stream.newest(place, subject)
      if let known, known.bytes == bytes { return Optional(known.revision) }
      return try await stream.replace(place, subject, bytes, 0)
    }
    guard stored != nil else { throw ClusterFailure("another process writes to \(place) while it is restored") }
  }

  @discardableResult
  private func add(_ subject: String, _ bytes: [UInt8]) async throws(ClusterFailure) -> UInt64 {
    try await patiently { () async throws(ClusterFailure) in try await stream.publish(subject, bytes) }
  }
}
