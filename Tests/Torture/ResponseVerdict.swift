import PorterJSON
import PorterPlatform
import PorterStore

/// The final state of responses: each was carried out once, or is stale with a reason, and its effect is there once.
struct ResponseVerdict {
  let torture: Torture
  private var tally: Tally { torture.tally }

  private struct Stored {
    let state: String
    let action: String
    let identifier: String
    let reason: String?
    let hasText: Bool
  }

  init(torture: Torture) { self.torture = torture }

  func judge(_ contents: StoreContents) throws {
    let rows = try contents.database.rows(
      "SELECT response_id, state, action, identifier, reason, text IS NOT NULL FROM responses"
    ) {
      (
        $0.integer(0),
        Stored(
          state: $0.text(1), action: $0.text(2), identifier: $0.text(3), reason: $0.optionalText(4), hasText: $0.flag(5)
        )
      )
    }
    let stored = Dictionary(uniqueKeysWithValues: rows)
    let given = torture.responses.responses
    let reported = given.flatMap(\.earlierIDs)
    // Stored by a process that was killed before it answered, and whose notification was shown anew before the response
    // was given again.
    let unreported = Set(stored.keys).subtracting(given.compactMap(\.id)).subtracting(reported)
    if unreported.count > torture.responses.unansweredOpenings {
      tally.problem("\(unreported.count) responses are stored that no process answered: \(unreported.sorted())")
    }
    let earlier = reported + unreported
    for id in earlier {
      guard let row = stored[id], row.action == "open", row.identifier.isEmpty,
        row.state == "applied" || row.state == "stale"
      else {
        tally.problem(
          "an opening was taken once more, and nothing was shown anew: \(id) is \(String(describing: stored[id]))")
        continue
      }
      tally.count("openings of what was shown anew")
    }
    try contents.expect("events about responses that were not taken", "SELECT count(*) FROM response_events", 0)
    let answers = try contents.database.rows(
      "SELECT json_extract(content, '$.text') FROM items WHERE sent = 1 AND content LIKE '%\"answer %'"
    ) { $0.text(0) }
    let sent = Dictionary(grouping: answers) { $0 }
    for response in given {
      guard let id = response.id, let row = stored[id] else {
        tally.problem("response \(response.number) is not stored")
        continue
      }
      judge(response, row, id)
      if let text = response.text {
        let (found, wanted) = (sent[text]?.count ?? 0, row.state == "applied" ? 1 : 0)
        if found != wanted { tally.problem("\(text): \(row.state), and sent \(found) times") }
      }
    }
    try judgeTogether(given, stored, contents)
  }

  private func judge(_ response: ResponseBook.Response, _ row: Stored, _ id: Int64) {
    // An opening no longer has one once another notification was shown under it, as after an edit.
    let isForgotten = row.action == "open" && row.identifier.isEmpty
    if row.action != response.action || row.identifier != response.identifier && !isForgotten {
      tally.problem("response \(id) is another one: \(row), not \(response.json.text)")
    }
    switch row.state {
    case "applied": if row.reason != nil { tally.problem("response \(id) was applied, with a reason") }
    case "stale": if row.reason == nil { tally.problem("response \(id) is stale for no reason") }
    default: tally.problem("response \(id) is \(row.state)")
    }
    if row.hasText { tally.problem("response \(id): its text was not erased") }
    if let ending = torture.responses.endings[id], ending != row.state + (row.reason ?? "") {
      tally.problem("response \(id): its host was given \(ending), and it is \(row)")
    }
    tally.count("responses \(row.state): \(response.action)\(row.reason.map { " (\($0))" } ?? "")")
  }

  /// Of two answers to one request only one was carried out, and it shows. An accepted call can still be rejected,
  /// until its host has made an offer.
  private func judgeTogether(
    _ given: [ResponseBook.Response], _ stored: [Int64: Stored], _ contents: StoreContents
  ) throws {
    let applied = given.filter { $0.id.flatMap { stored[$0] }?.state == "applied" }
    for (identifier, responses) in Dictionary(grouping: applied, by: \.identifier) {
      let actions = Set(responses.map(\.action))
      if actions.isSuperset(of: ["acceptCall", "rejectCall"]) { try expectRejected(identifier, contents) }
      if !actions.isDisjoint(with: ["acceptContact", "acceptContactIncognito"]), actions.contains("rejectContact") {
        tally.problem("\(identifier) was accepted and rejected")
      }
      guard let message = identifier.split(separator: ":").last.map(String.init) else { continue }
      if actions.contains("markRead") { try expectRead(message, contents) }
      if actions.contains("rejectContact") { try expectRequest(message, in: ["rejected"], contents) }
      if !actions.isDisjoint(with: ["acceptContact", "acceptContactIncognito"]) {
        try expectRequest(message, in: ["accepted", "withdrawn"], contents)
      }
    }
  }

  /// Accepted before it was rejected, and not the other way round. An acceptance may be reported later than a rejection,
  /// and carried out before it: that still waited in the process that has it.
  private func expectRejected(_ identifier: String, _ contents: StoreContents) throws {
    let calls = try contents.database.rows(
      """
      SELECT message_id, json_extract(items.content, '$.status') FROM ledger JOIN items USING (item_id)
      WHERE json_extract(items.content, '$.type') = 'call'
      """
    ) { (TextEncoding.base64URL($0.blob(0)), $0.optionalText(1)) }
    let status = calls.first { identifier.hasSuffix($0.0) }?.1
    tally.count("calls that were accepted and then rejected")
    guard status == "rejected" else {
      return tally.problem("\(identifier) was accepted and rejected, and is \(status ?? "not there")")
    }
  }

  /// Finds it by the last part of the notification's identifier, the relay's name for the message.
  private func expectRead(_ message: String, _ contents: StoreContents) throws {
    let unread = try contents.database.rows(
      "SELECT message_id FROM ledger JOIN items USING (item_id) WHERE items.status = 'rcvNew'"
    ) { TextEncoding.base64URL($0.blob(0)) }
    if unread.contains(message) { tally.problem("\(message) was marked as read, and is unread") }
  }

  private func expectRequest(_ request: String, in states: Set<String>, _ contents: StoreContents) throws {
    guard let id = Int64(request) else { return }
    let found = try contents.database.rows(
      "SELECT state FROM contact_requests WHERE request_id = ?", [.integer(id)]
    ) { $0.text(0) }
    if let state = found.first, !states.contains(state) {
      tally.problem("request \(id) is \(state), and a response says \(states.sorted())")
    }
  }
}
