import PorterCrypto
import PorterPlatform
import PorterPush
import PorterRelay

/// Pushes that are sent without work.
extension SharedServer {
  /// The pushes that have become due with these documents, stored in the place of the loaded ones, and that need no
  /// work. One that was due before has work, or is under way at another server, and what comes with it must wait.
  /// Returns the tokens' identifiers by sequences.
  func directPushes(_ documents: [TokenDocument]) -> [Int64: [UInt8]] {
    var chosen: [Int64: [UInt8]] = [:]
    for document in documents {
      guard let before = loaded[document.id]?.document else { continue }
      for push in document.pushes where push.kind == PushKind.message.rawValue && push.dueAt == 0 {
        let sequence = TokenDocument.sequence(push.kind, of: document.id)
        let isNew = !before.pushes.contains { $0.kind == push.kind } && underWay[sequence] == nil
        if isNew, direct.token(sequence) == nil, direct.admit(push.provider) { chosen[sequence] = document.id }
      }
    }
    return chosen
  }

  /// Builds the pushes of these documents, which are stored.
  func prepare(
    _ chosen: [Int64: [UInt8]], of documents: [[UInt8]: TokenDocument], for notifications: [RelayNotification]
  ) throws(ServerError) {
    guard !chosen.isEmpty else { return }
    let stored = Set(chosen.values).compactMap { documents[$0] }
    // After a conflict, the file has only what was stored last.
    if !stored.allSatisfy({ committed[$0.id] != nil }) {
      try state.transaction { () throws(ServerError) in
        try state.beginWork()
        for document in stored { try state.load(document) }
      }
    }
    let due = stored.flatMap { document in
      document.pushes.compactMap { push -> DuePush? in
        let sequence = TokenDocument.sequence(push.kind, of: document.id)
        guard chosen[sequence] != nil, let kind = PushKind(rawValue: push.kind) else { return nil }
        return DuePush(
          sequence: sequence, token: TokenDocument.number(document.id), kind: kind, version: push.version)
      }
    }
    let pushes = try server.pushes(due)
    // What cannot be sent ends by way of work, which any server may take.
    let unsent = Set(chosen.keys).subtracting(pushes.map(\.sequence))
    try addPushes(stored) { sequence, _ in unsent.contains(sequence) }
    let byNonce = Dictionary(notifications.map { ($0.nonce.bytes, $0) }) { first, _ in first }
    let now = clock.now()
    for push in pushes {
      guard let id = chosen[push.sequence], let document = documents[id] else { continue }
      direct.add(push, of: id, for: document.notifications.compactMap { byNonce[$0.nonce] }, now: now)
    }
  }

  /// Adds work for pushes that have taken long, and lets the relay have their notifications acknowledged.
  func addOverdueWork() throws(ServerError) {
    let overdue = direct.overdue(now: clock.now())
    guard !overdue.isEmpty else { return }
    try addWork(overdue.map { ($0.push.id, $0.push.kind, $0.push.provider) })
    acknowledge(direct.noteWork(overdue.map(\.sequence)))
  }

  func addWork(_ pushes: [(id: [UInt8], kind: PushKind, provider: String)]) throws(ServerError) {
    try add(pushes.map { SharedWork(Self.queue($0.provider), $0.id + Array($0.kind.rawValue.utf8)) })
  }

  /// Adds work for those to be sent again, before this is stored: nothing would lead from a document to a push that was
  /// deferred. Another server that takes the work too early repeats the push.
  func addWorkToRepeat(_ ended: [EndedPush]) throws(ServerError) {
    let again = ended.filter {
      direct.has($0.pending.sequence, version: $0.pending.due.version) && !$0.outcome.endsPush
    }
    try addWork(
      again.compactMap { pending, _ in
        direct.token(pending.sequence).map { ($0, pending.kind, pending.provider) }
      })
    acknowledge(direct.noteWork(again.map(\.pending.sequence)))
  }

  /// Call once their outcomes are stored.
  func endDirectPushes(_ ended: [EndedPush]) { acknowledge(direct.end(ended.map(\.pending.sequence))) }

  /// By an exchange with the relay a moment later. A relay that does not wait for them gets them in the next turn.
  func acknowledge(_ notifications: [RelayNotification]) {
    guard !notifications.isEmpty else { return }
    let now = clock.now()
    recent.note(notifications, now: now)
    acknowledgements.add(notifications, now: now)
    if !direct.isHolding(now: now) || port.isLocal { dueAcknowledgements(all: true) }
  }

  /// Hands those that are due to the next exchange.
  func dueAcknowledgements(all: Bool = false) {
    guard all || acknowledgements.isDue(now: clock.now()) else { return }
    let due = acknowledgements.takeAll()
    server.unacknowledged += due
    if !due.isEmpty { server.times.hasMoreAtRelay = true }
  }
}

extension PushOutcome {
  /// Whether the push is not sent again.
  fileprivate var endsPush: Bool {
    switch self {
    case .accepted, .invalid, .ended, .failed, .rejected: true
    case .unreachable, .refused, .later: false
    }
  }
}
