import PorterRelayCluster

/// Records in a stream with a subject for each, replaced by compare-and-set without a message that a replica may have
/// to refuse.
///
/// A message names the one it replaces. Of several that replace the same one, the first in the stream is valid; after
/// storing one, a process checks whether its own is the first before building on it. So each replaced message was
/// valid, and the valid one is **the first of those that replace the latest one**. Messages that were replaced, or
/// never were valid, are deleted some seconds later.
///
/// To find the messages of one subject, a node scans everything between two of them: the more other records there are,
/// the more a record that was unchanged for a long time would cost. So a message also names the number up to which
/// there is nothing to find: the leader has compared it with what it had applied, and that includes what was
/// acknowledged long before (`SettledNumbers`).
extension JetStream {
  static let replaces = "Porter-Replaces"
  /// The process that stored the version.
  static let writer = "Porter-Writer"
  static let follows = "Porter-Follows"
  /// Messages that a replacement must see are neither deleted nor displaced within this time.
  private static let patience = Duration.seconds(1)
  private static let freshness = Duration.milliseconds(100)
  private static let mostTries = 8
  /// A leader applies a message some milliseconds after accepting it.
  private static let mostLooks = 8
  private static let lookInterval = Duration.milliseconds(10)
  private static let tookTooLong = ClusterFailure("a replacement took too long", isOwn: true)

  private struct Version {
    var bytes: [UInt8]
    var sequence: UInt64
    /// 0 if it replaces none.
    var replaced: UInt64
    /// No other version lies between the one it replaces and this number, which may be lower than that version's
    /// number.
    var settled: UInt64
    var writer: String

    /// Others that replace the same version come after this number.
    var start: UInt64 { settled < sequence ? max(replaced, settled) : replaced }
  }

  private enum Following {
    /// There is a replacement, up to this number.
    case replacement(UInt64)
    /// There is none. This is the last message of the subject; it replaces an earlier one, or is the one that was asked
    /// for.
    case last(Version?)
  }

  private enum Refusal {
    /// It was stored anyway.
    case stored(UInt64)
    /// Another one was faster.
    case replaced
    /// Only a version that came late follows.
    case late(UInt64)
  }

  /// The valid version, according to the stream's leader.
  func newest(_ stream: String, _ subject: String) async throws(ClusterFailure) -> StoredRecord? {
    let began = ContinuousClock.now
    guard let last = try await version(stream, #"{"last_by_subj":"\#(subject)"}"#) else { return nil }
    if let since = confirmed.since(subject, last.sequence), hasOneLeader(stream, since: since) {
      return StoredRecord(bytes: last.bytes, revision: last.sequence)
    }
    if let recent = followers.versions(stream),
      await recent.isOnly(last.sequence, of: subject, replacing: last.replaced, by: nil, after: last.start)
    {
      return StoredRecord(bytes: last.bytes, revision: last.sequence)
    }
    var valid: Version?
    var position = last.start
    while position < last.sequence {
      guard let next = try await version(stream, subject, after: position) else {
        throw ClusterFailure("a record changes while it is read", isOwn: true)
      }
      if valid.map({ next.replaced > $0.replaced }) ?? true { valid = next }
      position = next.sequence
    }
    if let valid, valid.sequence == last.sequence { confirmed.note(subject, valid.sequence, since: began) }
    return valid.map { StoredRecord(bytes: $0.bytes, revision: $0.sequence) }
  }

  /// Stores a record where there is none, or where it was removed. Nil if there is one.
  func add(_ stream: String, _ subject: String, _ bytes: [UInt8]) async throws(ClusterFailure) -> UInt64? {
    let settled = settledNumbers.numberWithoutTrouble(stream)
    let found = try await newest(stream, subject)
    guard found?.bytes.isEmpty ?? true else { return nil }
    return try await replace(stream, subject, bytes, found?.revision ?? 0, settled: settled)
  }

  /// Replaces the version `replaced` (0 if there must be none) and returns the new version's number. Nil if another one
  /// has replaced it. `settled`: if there is none, the number up to which all leaders had applied everything before the
  /// absence was found.
  func replace(
    _ stream: String, _ subject: String, _ bytes: [UInt8], _ replaced: UInt64, settled: UInt64 = 0
  ) async throws(ClusterFailure) -> UInt64? {
    var isSent = false
    do throws(ClusterFailure) {
      return try await replace(stream, subject, bytes, replaced, settled: settled, &isSent)
    } catch {
      // A refusal that could not be looked into.
      if isSent, error.isUnsent { settledNumbers.noteTrouble() }
      throw error
    }
  }

  private func replace(
    _ stream: String, _ subject: String, _ bytes: [UInt8], _ replaced: UInt64, settled: UInt64, _ isSent: inout Bool
  ) async throws(ClusterFailure) -> UInt64? {
    let begin = ContinuousClock.now
    let known = replaced > 0 ? followers.records(stream)?.settled(subject, replaced) : nil
    let settled = known ?? (replaced > 0 ? settledNumbers.number(stream) : settled)
    let start = max(replaced, settled)
    // To compare, the leader would look up the old version. A process that was frozen meanwhile has it compared.
    var last = known == nil || ContinuousClock.now - begin > Self.freshness ? replaced : 0
    for _ in 0..<Self.mostTries {
      var headers = [
        (name: Self.replaces, value: String(replaced)), (name: Self.follows, value: String(settled)),
        (name: Self.writer, value: writer),
      ]
      // Only the leader compares this, and it refuses nothing that others may have applied.
      if last > 0 { headers.append(("Nats-Expected-Last-Subject-Sequence", String(last))) }
      let sent = try await send(subject, bytes, headers)
      isSent = true
      guard let stored = sent else {
        switch try await refusal(stream, subject, bytes, replacing: replaced, after: start, last: last) {
        case .stored(let own): return try valid(own, stream, subject, replacing: replaced, begin)
        case .replaced: return nil
        case .late(let version):
          guard ContinuousClock.now - begin < Self.patience else { throw Self.tookTooLong }
          last = version
        }
        continue
      }
      guard try await isFirst(stored, stream, subject, bytes, replacing: replaced, after: start) else {
        outdated.note(.init(stream, subject, stored, .late(replacing: replaced)))
        guard
          let own = try await ownReplacement(
            stream, subject, bytes, replacing: replaced, after: start, upTo: stored - 1)
        else { return nil }
        return try valid(own, stream, subject, replacing: replaced, begin)
      }
      return try valid(stored, stream, subject, replacing: replaced, begin)
    }
    throw ClusterFailure("too many replacements of a record at the same time", isOwn: true)
  }

  /// The outcome of a refused replacement, which expected `last` to be the newest of its subject.
  private func refusal(
    _ stream: String, _ subject: String, _ bytes: [UInt8], replacing replaced: UInt64, after start: UInt64,
    last: UInt64
  ) async throws(ClusterFailure) -> Refusal {
    for look in 0..<Self.mostLooks {
      if look > 0 { try? await Task.sleep(for: Self.lookInterval) }
      switch try await following(stream, subject, replaced) {
      case .replacement(let end):
        guard
          let own = try await ownReplacement(stream, subject, bytes, replacing: replaced, after: start, upTo: end)
        else { return .replaced }
        // Two nodes consider themselves the leader.
        settledNumbers.noteTrouble()
        return .stored(own)
      case .last(let version?):
        guard version.sequence > last else { throw ClusterFailure("the leader of \(stream) lags") }
        // It was recreated since. A version that nodes have undone is replaced anyway.
        if version.replaced == 0, try await !isThere(replaced, stream, subject) { return .replaced }
        return .late(version.sequence)
      case .last(nil):
        // It was removed, as far as this leader knows, or the leader has not applied its replacement yet.
        guard try await isThere(replaced, stream, subject) else { return .replaced }
      }
    }
    throw ClusterFailure("the leader of \(stream) lags")
  }

  private func valid(
    _ stored: UInt64, _ stream: String, _ subject: String, replacing replaced: UInt64,
    _ begin: ContinuousClock.Instant
  ) throws(ClusterFailure) -> UInt64 {
    guard ContinuousClock.now - begin < Self.patience else { throw Self.tookTooLong }
    guard replaced > 0 else { return stored }
    let message = OutdatedMessages.Message(stream, subject, replaced, .replaced(by: stored))
    if followers.records(stream) == nil { outdated.note(message) } else { outdated.gather(message) }
    return stored
  }

  /// The number of the valid replacement if it has these bytes and is this process's; nil if it is another one. A
  /// former leader that was cut off receives what is published as soon as it is reconnected. Until it learns of the new
  /// leader it compares with its old state, and its refusal arrives before the leader's acknowledgement.
  private func ownReplacement(
    _ stream: String, _ subject: String, _ bytes: [UInt8], replacing replaced: UInt64, after start: UInt64,
    upTo end: UInt64
  ) async throws(ClusterFailure) -> UInt64? {
    if let recent = followers.versions(stream),
      await recent.hasNone(of: subject, by: writer, after: start, upTo: end)
    {
      return nil
    }
    var position = replaced > 0 ? replaced : start
    while let next = try await version(stream, subject, after: position), next.sequence <= end {
      if next.replaced >= replaced {
        return next.replaced == replaced && next.writer == writer && next.bytes == bytes ? next.sequence : nil
      }
      position = next.sequence
    }
    // A replacement was seen up to `end`: a different node has answered this time.
    throw ClusterFailure("the leader of \(stream) lags")
  }

  private func isThere(_ sequence: UInt64, _ stream: String, _ subject: String) async throws(ClusterFailure) -> Bool {
    try await get(stream, #"{"seq":\#(sequence)}"#)?.text("subject") == subject
  }

  /// Whether nothing replaced the same version before this stored one. Nothing before `start` has.
  private func isFirst(
    _ stored: UInt64, _ stream: String, _ subject: String, _ bytes: [UInt8], replacing replaced: UInt64,
    after start: UInt64
  ) async throws(ClusterFailure) -> Bool {
    if let recent = followers.versions(stream),
      await recent.isOnly(stored, of: subject, replacing: replaced, by: writer, after: start)
    {
      return true
    }
    switch try await following(stream, subject, replaced, from: start, upTo: stored) {
    case .replacement: return false
    case .last(let version):
      guard let version, version.sequence == stored else { throw ClusterFailure("the leader of \(stream) lags") }
      guard version.bytes == bytes else { throw lost(stream) }
      return true
    }
  }

  /// Whether it may be deleted even if nodes have undone what they had acknowledged: its number is still its own, and
  /// its replacement, or a later version that replaces that, is present.
  func isOutdated(_ message: OutdatedMessages.Message) async throws(ClusterFailure) -> Bool {
    let (stream, subject) = (message.stream, message.subject)
    guard let stored = try await get(stream, #"{"seq":\#(message.sequence)}"#), stored.text("subject") == subject
    else { return false }
    switch message.reason {
    case .dropped(let message): return (stored.data("data") ?? []).starts(with: message)
    case .unnamed(let message, let records, let record):
      guard (stored.data("data") ?? []).starts(with: message) else { return false }
      return try await newest(records, record).map { !$0.bytes.contains(message) } ?? true
    case .replaced(let replacement):
      if followers.records(stream)?.revision(subject) ?? 0 >= replacement { return true }
      if let last = try await version(stream, #"{"last_by_subj":"\#(subject)"}"#), last.replaced >= replacement {
        return true
      }
      // The last one may have come late.
      guard let found = try await get(stream, #"{"seq":\#(replacement)}"#), found.text("subject") == subject else {
        return false
      }
      return Self.replaced(found) == message.sequence
    case .late(let replaced):
      guard Self.replaced(stored) == replaced else { return false }
      if let last = try await version(stream, #"{"last_by_subj":"\#(subject)"}"#), last.replaced > replaced {
        return true
      }
      let first = try await version(stream, subject, after: replaced)
      return first.map { $0.sequence < message.sequence && $0.replaced == replaced } ?? false
    }
  }

  private static func replaced(_ reply: Reply) -> UInt64 {
    replaced(String(decoding: reply.data("hdrs") ?? [], as: UTF8.self))
  }

  /// A removal that finds no rest, which takes 15 seconds each time, is left.
  private static let mostRests = 40

  /// Deletes a removed record some seconds later, and its removal last: otherwise an older version that is still
  /// present would become the record. Messages left when this process ends first, or when nodes may have undone the
  /// removal, stay.
  func forget(_ stream: String, _ subject: String, removal: UInt64) {
    let begin = ContinuousClock.now
    // Detached: must not inherit the deadline of the exchange that removed it.
    Task.detached {
      try? await Task.sleep(for: OutdatedMessages.pause)
      do throws(ClusterFailure) {
        if !hasOneLeader(stream, since: begin) {
          for _ in 0..<Self.mostRests where !isAtRest { try? await Task.sleep(for: settledNumbers.rest - .now) }
          let query = #"{"seq":\#(removal)}"#
          guard isAtRest, let stored = try await get(stream, query), stored.text("subject") == subject,
            stored.data("data")?.isEmpty ?? true
          else { return }
        }
        try await deleteVersions(stream, subject, upTo: removal)
      } catch {
        return
      }
    }
  }

  /// Completes what `forget` began in processes that ended too early: deletes removed records some seconds later, unless
  /// the removal is not the record, or no longer. In trouble, it stays until it is found again.
  func completeRemovals(_ stream: String, _ removals: [(subject: String, revision: UInt64)]) {
    Task.detached {
      try? await Task.sleep(for: max(OutdatedMessages.pause, settledNumbers.rest - .now))
      for removal in removals {
        guard isAtRest, let record = try? await newest(stream, removal.subject), record.bytes.isEmpty,
          record.revision == removal.revision
        else { continue }
        try? await deleteVersions(stream, removal.subject, upTo: removal.revision)
      }
    }
  }

  private func deleteVersions(
    _ stream: String, _ subject: String, upTo removal: UInt64
  ) async throws(ClusterFailure) {
    // With the removal gone, versions that came late would become the record.
    var last = removal
    while let later = try await version(stream, subject, after: last) {
      if later.replaced > 0, later.replaced < removal { _ = try await delete(stream, later.sequence) }
      last = later.sequence
    }
    var position: UInt64 = 0
    while let first = try await next(stream, subject, after: position), first.revision < removal {
      _ = try await delete(stream, first.revision)
      // A node that is cut off may still return it.
      position = first.revision
    }
    guard removalsKept > .zero else {
      _ = try await delete(stream, removal)
      return
    }
    // A scan may have read what was removed, and would not find that it was (`RecordScan`); a replacement that comes late
    // would be the record.
    Task.detached {
      try? await Task.sleep(for: removalsKept)
      for _ in 0..<Self.mostRests where !isAtRest { try? await Task.sleep(for: settledNumbers.rest - .now) }
      guard isAtRest, let stored = try? await get(stream, #"{"seq":\#(removal)}"#), stored.text("subject") == subject,
        stored.data("data")?.isEmpty ?? true, isAtRest
      else { return }
      // What came late meanwhile would be the record as well.
      var last = removal
      while let later = try? await version(stream, subject, after: last) {
        if later.replaced < removal { _ = try? await delete(stream, later.sequence) }
        last = later.sequence
      }
      _ = try? await delete(stream, removal)
    }
  }

  /// Checks whether something has replaced this version.
  private func following(
    _ stream: String, _ subject: String, _ sequence: UInt64
  ) async throws(ClusterFailure) -> Following {
    // Usually the last message has, and no scan is needed.
    if let last = try await version(stream, #"{"last_by_subj":"\#(subject)"}"#), last.sequence > sequence,
      last.replaced >= sequence
    {
      return .replacement(last.sequence)
    }
    return try await following(stream, subject, sequence, from: sequence, upTo: nil)
  }

  /// Checks whether something after `start` and before the message `end`, if given, has replaced this version.
  private func following(
    _ stream: String, _ subject: String, _ sequence: UInt64, from start: UInt64, upTo end: UInt64?
  ) async throws(ClusterFailure) -> Following {
    var last: Version?
    while let next = try await version(stream, subject, after: last?.sequence ?? start) {
      if let end, next.sequence >= end { return .last(next) }
      if next.replaced >= sequence { return .replacement(next.sequence) }
      last = next
    }
    return .last(last)
  }

  private func version(
    _ stream: String, _ subject: String, after sequence: UInt64
  ) async throws(ClusterFailure) -> Version? {
    let found = try await version(stream, #"{"seq":\#(sequence + 1),"next_by_subj":"\#(subject)"}"#)
    // A search that does not get on would not end.
    guard found?.sequence ?? .max > sequence else { throw lost(stream) }
    return found
  }

  private func version(_ stream: String, _ query: String) async throws(ClusterFailure) -> Version? {
    guard let reply = try await get(stream, query), let sequence = reply.number("seq") else { return nil }
    let headers = String(decoding: reply.data("hdrs") ?? [], as: UTF8.self)
    let version = Version(
      bytes: reply.data("data") ?? [], sequence: sequence, replaced: Self.number(Self.replaces, in: headers),
      settled: Self.number(Self.follows, in: headers), writer: Self.value(Self.writer, in: headers) ?? "")
    guard version.replaced < sequence else { throw lost(stream) }
    return version
  }

  static func replaced(_ headers: String) -> UInt64 { number(replaces, in: headers) }

  private static func number(_ name: String, in headers: String) -> UInt64 {
    value(name, in: headers).flatMap { UInt64($0) }.flatMap { $0 <= Reply.mostNumber ? $0 : nil } ?? 0
  }

  private static func value(_ name: String, in headers: String) -> String? {
    for line in headers.utf8.split(whereSeparator: { $0 == UInt8(ascii: "\r") || $0 == UInt8(ascii: "\n") })
    where line.starts(with: name.utf8) {
      let value = line.dropFirst(name.utf8.count)
      if value.starts(with: ": ".utf8) { return String(Substring(value.dropFirst(2))) }
    }
    return nil
  }

  /// The first message of these subjects after this sequence number.
  func next(
    _ stream: String, _ subjects: String, after sequence: UInt64
  ) async throws(ClusterFailure) -> (subject: String, revision: UInt64, isEmpty: Bool)? {
    let query = #"{"seq":\#(sequence + 1),"next_by_subj":"\#(subjects)"}"#
    guard let reply = try await get(stream, query), let found = reply.number("seq"), let subject = reply.text("subject")
    else { return nil }
    guard found > sequence else { throw lost(stream) }
    return (subject, found, reply.data("data")?.isEmpty ?? true)
  }

  /// Like `next`, with the message's contents.
  func nextMessage(
    _ stream: String, _ subjects: String, after sequence: UInt64
  ) async throws(ClusterFailure) -> (subject: String, sequence: UInt64, bytes: [UInt8])? {
    let query = #"{"seq":\#(sequence + 1),"next_by_subj":"\#(subjects)"}"#
    guard let reply = try await get(stream, query), let found = reply.number("seq"), let subject = reply.text("subject")
    else { return nil }
    guard found > sequence else { throw lost(stream) }
    return (subject, found, reply.data("data") ?? [])
  }
}
