import Foundation
import PorterJSON
import PorterNight
import PorterProcesses
import PorterStore

/// The contents of the stores at the end.
struct Verdict {
  let torture: Torture
  /// The night with the device, which still gets pushes.
  let night: Night

  /// Lets all processes catch up on healthy disks, ends them, and compares.
  func reach() throws {
    let place = torture.place
    let people = try place.people.map { try ScriptedHost(store: $0.store, key: $0.key) }
    for host in people { try host.command("/_start", "chatStarted") }
    let app = try ScriptedHost(store: place.store, key: place.key)
    try app.command("/_start", "chatStarted")
    let end = Date(timeIntervalSinceNow: 90)
    while end.timeIntervalSinceNow > 0 {
      if try isSettled(app, people) { break }
      usleep(200_000)
    }
    if let person = place.people.first, let host = people.first { try ring(app, person, host) }
    for (person, host) in zip(place.people, people) { try compare(person, host, app) }
    let unread = try app.state["unread"]?.integerValue
    for host in people + [app] {
      try host.command("/_app suspend 0", "cmdOk")
      if try host.call("chat_close_store $c") != "" { torture.tally.problem("\(host.store) does not close") }
      _ = try host.process.end(within: 60)
    }
    try inspect(place.store, key: place.key, badge: unread)
    for person in place.people { try inspect(person.store, key: person.key, badge: nil) }
  }

  /// After all of it the device is still notified of a message: its token is active, and the push opens.
  private func ring(_ app: ScriptedHost, _ person: Torture.Person, _ host: ScriptedHost) throws {
    let end = Date(timeIntervalSinceNow: 60)
    while try app.answer("/_ntf get")["result"]?["status"] != "ACTIVE" {
      guard end.timeIntervalSinceNow > 0 else { return torture.tally.problem("the token is not active in the end") }
      guard let push = try? night.nextPush(within: 0.5), let data = push["notificationData"],
        let nonce = data["nonce"]?.stringValue, let code = data["verification"]?.stringValue
      else { continue }
      _ = try app.answer("/_ntf verify apns_test \(night.token) \(nonce) \(code)")
    }
    try app.command("/_app suspend 0", "cmdOk")
    guard try app.call("chat_close_store $c") == "" else { return torture.tally.problem("the store does not close") }
    let text = "\(person.name), in the end"
    try host.command(sending(text, to: person.contact), "newChatItems")
    guard try isShown(text) else { return torture.tally.problem("the last message was not shown") }
    guard try app.call("chat_reopen_store $c") == "" else { return torture.tally.problem("the store does not reopen") }
    try app.command("/_app activate", "cmdOk")
  }

  /// Earlier pushes may still be on their way.
  private func isShown(_ text: String) throws -> Bool {
    let end = Date(timeIntervalSinceNow: 30)
    while end.timeIntervalSinceNow > 0 {
      guard let push = try? night.nextPush(within: 1) else { continue }
      let process = try ChildProcess(
        Places.harness, ["extension", "--store", torture.place.store, "--key", torture.place.key],
        log: torture.place.directory.appendingPathComponent("log.last"))
      defer { process.kill() }
      try process.send(push.text)
      if try JSONValue(parsing: process.line(within: 40)).bodies.contains(text) { return true }
    }
    return false
  }

  /// Whether everything that was sent has arrived.
  private func isSettled(_ app: ScriptedHost, _ people: [ScriptedHost]) throws -> Bool {
    for (person, host) in zip(torture.place.people, people) {
      let there = try Chat(app, person.contactThere)
      let here = try Chat(host, person.contact)
      guard here.waiting == 0, there.waiting == 0, here.sent.count == there.received.count,
        there.sent.count == here.received.count
      else { return false }
    }
    return true
  }

  private func compare(_ person: Torture.Person, _ host: ScriptedHost, _ app: ScriptedHost) throws {
    let there = try Chat(app, person.contactThere)
    let here = try Chat(host, person.contact)
    for (what, sent, received) in [
      ("\(person.name)'s messages", here.sent, there.received),
      ("replies to \(person.name)", there.sent, here.received),
    ] {
      torture.tally.count("compared: \(what)", sent.count)
      let missing = Set(sent).subtracting(received)
      let foreign = Set(received).subtracting(sent)
      if !missing.isEmpty {
        torture.tally.problem("\(missing.count) of \(what) are missing: \(missing.sorted().prefix(5))")
      }
      if !foreign.isEmpty { torture.tally.problem("\(what): never sent: \(foreign.sorted().prefix(5))") }
      if received.count != Set(received).count { torture.tally.problem("\(what): some are there twice") }
      if missing.isEmpty, foreign.isEmpty, sent != received { torture.tally.problem("\(what) are in another order") }
    }
    if here.waiting + there.waiting > 0 {
      torture.tally.problem("\(person.name): \(here.waiting) and \(there.waiting) were never sent")
    }
  }

  /// One conversation as a host sees it, the oldest first.
  private struct Chat {
    var sent: [String] = []
    var received: [String] = []
    var waiting = 0

    init(_ host: ScriptedHost, _ contact: Int64) throws {
      let answer = try host.call("chat_send_cmd $c \"/_get chat @\(contact) count=1000000\"", within: 120)
      guard let items = answer["result"]?["chat"]?["chatItems"]?.arrayValue else {
        throw ProcessFailure("no chat: \(answer.text.prefix(300))")
      }
      for item in items {
        guard let text = item["content"]?["msgContent"]?["text"]?.stringValue else { continue }
        if item["chatDir"]?["type"] == "directRcv" {
          received.append(text)
        } else {
          sent.append(text)
          if item["meta"]?["itemStatus"]?["type"] != "sndSent" { waiting += 1 }
        }
      }
    }
  }

  /// The file itself: it is sound, and its tables agree.
  private func inspect(_ prefix: String, key: String, badge: Int64?) throws {
    let name = URL(fileURLWithPath: prefix).lastPathComponent
    let store = try Store.open(
      at: StoreLocation(prefix: prefix), key: StoreKey.parse(key), confirmation: .error, mayMigrate: false)
    defer { try? store.close(checkpoint: true) }
    let database = store.database
    func expect(_ what: String, _ sql: String, _ wanted: Int64) throws {
      let found = try database.integer(sql) ?? -1
      if found != wanted { torture.tally.problem("\(name): \(what): \(found), not \(wanted)") }
    }
    let integrity = try database.rows("PRAGMA integrity_check") { $0.text(0) }
    if integrity != ["ok"] { torture.tally.problem("\(name): integrity_check: \(integrity.prefix(5))") }
    let foreign = try database.rows("PRAGMA foreign_key_check") { $0.text(0) }
    if !foreign.isEmpty { torture.tally.problem("\(name): foreign_key_check: \(foreign.prefix(5))") }

    let received = try database.integer("SELECT count(*) FROM items WHERE sent = 0") ?? -1
    try expect("messages in the ledger", "SELECT count(*) FROM ledger WHERE kind = 'message'", received)
    try expect(
      "items in the ledger", "SELECT count(DISTINCT item_id) FROM ledger JOIN items USING (item_id) WHERE sent = 0",
      received)
    try expect("quarantined", "SELECT count(*) FROM ledger WHERE state = 'quarantined'", 0)
    let unread = try database.integer("SELECT count(*) FROM items WHERE status = 'rcvNew'") ?? -1
    try expect("unread of chats", "SELECT sum(unread) FROM contacts", unread)
    try expect("badge", "SELECT sum(unread) FROM users WHERE show_notifications", unread)
    try expect(
      "read in the ledger and not in the chat",
      "SELECT count(*) FROM ledger JOIN items USING (item_id) WHERE (ledger.state = 'read') <> (items.status = 'rcvRead')",
      0)
    try expect("waiting for the relay", "SELECT count(*) FROM outbox", 0)
    if let badge, badge != unread { torture.tally.problem("\(name): the badge said \(badge), unread are \(unread)") }
    torture.tally.count("messages in \(name)'s store", Int(received))
  }
}
