import Foundation
import PorterJSON
import PorterProcesses
import PorterStore

/// The final state of contact requests: each was answered once, and each accepted one is one contact on either side.
struct RequestVerdict {
  let torture: Torture
  private var tally: Tally { torture.tally }

  init(torture: Torture) { self.torture = torture }

  // MARK: Catching up

  /// Strangers that were killed before sending their request ask now; for all others it is a repeat.
  func askAgain(_ stranger: ScriptedHost) throws {
    for user in try stranger.command("/users", "usersList")["users"]?.arrayValue ?? [] {
      guard let id = user["user"]?["userId"]?.integerValue, let name = user["user"]?["localDisplayName"]?.stringValue,
        torture.isStranger(name), !torture.hasWithdrawn(name)
      else { continue }
      try stranger.command("/_user \(id)", "activeUser")
      let answer = try ask(stranger, "/_connect \(id) \(torture.place.stranger.link)")
      if answer["result"] == nil { tally.problem("\(name) cannot ask in the end: \(answer.text.prefix(200))") }
    }
  }

  /// All hosts have just started, and write into the relay's file.
  private func ask(_ stranger: ScriptedHost, _ command: String) throws -> JSONValue {
    let end = Date(timeIntervalSinceNow: 60)
    while true {
      let answer = try stranger.answer(command)
      let isBusy = answer["error"].map { TorturedProcess.code(of: $0).contains("BROKER") } ?? false
      guard isBusy, end.timeIntervalSinceNow > 0 else { return answer }
    }
  }

  /// The user accepts every request still waiting.
  func decide(_ app: ScriptedHost, _ contents: StoreContents) throws {
    let waiting = try contents.database.rows("SELECT request_id FROM contact_requests WHERE state = 'received'") {
      $0.integer(0)
    }
    for id in waiting {
      // It may just have been withdrawn.
      if try app.answer("/_accept \(id)")["result"] != nil { tally.count("contact requests accepted in the end") }
    }
  }

  func areDecided(_ contents: StoreContents) throws -> Bool {
    guard try contents.number("SELECT count(*) FROM contact_requests WHERE state IN ('received', 'accepting')") == 0
    else { return false }
    return try contents.number(
      """
      SELECT count(*) FROM contact_requests JOIN connections USING (contact_id)
      WHERE state = 'accepted' AND status NOT IN ('ready', 'left')
      """) == 0
  }

  /// Every resulting contact can be written to.
  func greet(_ app: ScriptedHost) throws {
    let known = Set(torture.place.people.map(\.contactThere))
    for contact in try app.command("/_contacts 1", "contactsList")["contacts"]?.arrayValue ?? [] {
      guard let id = contact["contactId"]?.integerValue, !known.contains(id) else { continue }
      let answer = try app.answer(sending("good morning", to: id))
      if answer["result"] != nil { tally.count("greetings to contacts that asked") }
    }
  }

  // MARK: Judging

  private struct Request {
    let id: Int64
    let state: String
    let contact: Int64?
  }

  func judge(_ tortured: StoreContents, _ asking: StoreContents) throws {
    let requests = try tortured.database.rows(
      "SELECT display_name, request_id, state, contact_id FROM contact_requests"
    ) { ($0.text(0), Request(id: $0.integer(1), state: $0.text(2), contact: $0.optionalInteger(3))) }
    let byName = Dictionary(grouping: requests) { $0.0 }
    let contacts = try tortured.database.rows("SELECT display_name FROM contacts") { $0.text(0) }
    let users = try asking.database.rows("SELECT user_id, display_name FROM users") { ($0.integer(0), $0.text(1)) }
    for (user, name) in users where torture.isStranger(name) {
      let there = contacts.count { $0 == name }
      try judge(name, (byName[name] ?? []).map(\.1), there, user, asking)
      if there == 1, !torture.hasWithdrawn(name) { try compare(name, user, tortured, asking) }
    }
    for (id, states) in torture.promises.decided {
      guard let request = requests.first(where: { $0.1.id == id })?.1 else { continue }
      if !states.contains(request.state) {
        tally.problem("request \(id) is \(request.state), and was \(states.sorted()) by command")
      }
    }
    try tortured.expect(
      "requests whose notification still asks",
      """
      SELECT count(*) FROM ledger JOIN contact_requests USING (request_id)
      WHERE ledger.kind = 'request' AND ledger.state IN ('committed', 'presented')
      """, 0)
  }

  private func judge(
    _ name: String, _ requests: [Request], _ there: Int, _ user: Int64, _ asking: StoreContents
  ) throws {
    let here = try asking.number("SELECT count(*) FROM contacts WHERE user_id = \(user)")
    for request in requests { tally.count("contact requests that are \(request.state) in the end") }
    if requests.count > 1 { tally.problem("\(name) is known by \(requests.count) requests") }
    if there > 1 || here > 1 { tally.problem("\(name) is \(there) contacts, and has \(here)") }
    guard !torture.hasWithdrawn(name) else { return }
    guard let request = requests.first else { return tally.problem("the request of \(name) never came") }
    let wanted = request.state == "accepted" ? 1 : 0
    if there != wanted || here != wanted {
      tally.problem("\(name) is \(request.state), is \(there) contacts here, and has \(here)")
    }
  }

  /// Everything the user sends to the contact, including the welcome, arrives once.
  private func compare(_ name: String, _ user: Int64, _ tortured: StoreContents, _ asking: StoreContents) throws {
    let texts = { (contents: StoreContents, contact: String, sent: Int) in
      try contents.database.rows(
        """
        SELECT json_extract(content, '$.text') FROM items JOIN contacts USING (contact_id)
        WHERE \(contact) AND sent = \(sent) ORDER BY item_id
        """
      ) { $0.text(0) }
    }
    let sent = try texts(tortured, "contacts.display_name = '\(name)'", 1).filter { !$0.hasPrefix("answer ") }
    let received = try texts(asking, "contacts.user_id = \(user)", 0).filter { !$0.hasPrefix("answer ") }
    if sent != received { tally.problem("\(name): \(sent) was sent, and \(received) came") }
    if sent.last != "good morning" || sent.count(where: { $0 == "welcome" }) > 1 {
      tally.problem("\(name) was sent \(sent)")
    }
    tally.count("compared: welcomes", sent.count { $0 == "welcome" })
  }
}
