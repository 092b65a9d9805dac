import Foundation
import PorterJSON
import PorterNight
import PorterProcesses
import PorterStore

/// The conditions that must hold in the end.
struct Verdict {
  let torture: Torture
  /// The night with the device, which still receives pushes.
  let night: Night

  var place: Torture.Place { torture.place }

  /// Lets all processes catch up on healthy disks, ends them, and compares.
  func reach() throws {
    let people = try place.people.map { try ScriptedHost(store: $0.store, key: $0.key) }
    let stranger = try ScriptedHost(store: place.stranger.store, key: place.stranger.key)
    let app = try ScriptedHost(store: place.store, key: place.key)
    for host in people + [stranger, app] { try host.command("/_start", "chatStarted") }
    let requests = RequestVerdict(torture: torture)
    try reportUnanswered(app)
    try requests.askAgain(stranger)
    let all = [app, stranger] + people
    try settle("responses and requests", all) { contents in
      try requests.decide(app, contents)
      return try contents.openResponses() == 0 && requests.areDecided(contents)
    }
    try requests.greet(app)
    try settle("all that was sent", all) { _ in true }
    try endCalls(app, people, all)
    if let person = place.people.first, let host = people.first { try ring(app, person, host) }
    // Its sender may not have noted yet that the relay has it.
    try settle("the last message", all) { _ in true }
    for (person, host) in zip(place.people, people) { try compare(person, host, app) }
    try takeEvents(app)
    let unread = try app.state["unread"]?.integerValue
    for host in all {
      try host.command("/_app suspend 0", "cmdOk")
      if try host.call("chat_close_store $c") != "" { torture.tally.problem("\(host.store) does not close") }
      _ = try host.process.end(within: 60)
    }
    let tortured = try StoreContents(place.store, place.key, torture.tally)
    defer { tortured.close() }
    let asking = try StoreContents(place.stranger.store, place.stranger.key, torture.tally)
    defer { asking.close() }
    try tortured.inspect(badge: unread)
    try asking.inspect(badge: nil)
    try requests.judge(tortured, asking)
    try ResponseVerdict(torture: torture).judge(tortured)
    try MessageVerdict(torture: torture).judge(tortured)
  }

  // MARK: Catching up

  /// Waits until nothing is under way, and `holds`.
  private func settle(
    _ what: String, _ hosts: [ScriptedHost], _ holds: (StoreContents) throws -> Bool
  ) throws {
    let begin = Date()
    defer { print("torture: waited \(Int(-begin.timeIntervalSinceNow)) s for \(what)") }
    let end = Date(timeIntervalSinceNow: 300)
    while end.timeIntervalSinceNow > 0 {
      if try isAtRest(hosts), try isSettled(holds), try isAtRest(hosts) { return }
      // In the meantime the device takes the pushes.
      _ = try? night.nextPush(within: 0.2)
    }
    torture.tally.problem("this never came to an end: \(what)")
    for host in hosts { print("torture: \(host.store): \((try? host.state.text) ?? "")") }
  }

  private func isAtRest(_ hosts: [ScriptedHost]) throws -> Bool {
    let relay = try Database(path: night.relay)
    defer { try? relay.close() }
    guard try relay.integer("SELECT count(*) FROM message WHERE body IS NOT NULL") == 0 else { return false }
    return try hosts.allSatisfy { host in
      let operations = try host.state["operations"]
      return ["receiving", "delivery", "sending", "database"].allSatisfy { operations?[$0] == 0 }
    }
  }

  private func isSettled(_ holds: (StoreContents) throws -> Bool) throws -> Bool {
    let stores = [(place.store, place.key), (place.stranger.store, place.stranger.key)]
    for (store, key) in stores + place.people.map({ ($0.store, $0.key) }) {
      let contents = try StoreContents(store, key, torture.tally)
      defer { contents.close() }
      guard try contents.number("SELECT count(*) FROM outbox") == 0 else { return false }
      if store == place.store, try !holds(contents) { return false }
    }
    return true
  }

  /// A host reports again every response that got no answer.
  private func reportUnanswered(_ app: ScriptedHost) throws {
    for response in torture.responses.unanswered {
      torture.responses.noteGiven(response)
      let answer = try app.call("np_notification_response $c \(JSONValue(response.json.text).text)")
      guard let result = answer["result"] else {
        torture.tally.problem("a response was refused in the end: \(answer.text.prefix(200))")
        continue
      }
      torture.tally.count("responses that were reported again in the end")
      torture.responses.note(result, of: response)
    }
  }

  /// Takes all of them: none waits afterwards.
  private func takeEvents(_ app: ScriptedHost) throws {
    while let event = try app.call("chat_recv_msg_wait $c 0")["result"] {
      if event["type"] == "ntfResponse" { torture.responses.noteEvent(event) }
    }
  }

  /// Each side hangs up the calls it began: a call that still rings at the other side then rings for no reason.
  private func endCalls(_ app: ScriptedHost, _ people: [ScriptedHost], _ all: [ScriptedHost]) throws {
    for (person, host) in zip(place.people, people) { _ = try host.answer("/_call end @\(person.contact)") }
    let made = "incoming = 1 AND NOT \(Self.replacesOwnCall)"
    try settle("calls that people made", all) { try $0.callsUnderWay(made) == 0 }
    for person in place.people { _ = try app.answer("/_call end @\(person.contactThere)") }
    try settle("calls", all) { try $0.callsUnderWay() == 0 }
  }

  /// Both sides called at the same moment. Each then rings for a call that the other has given up, until it hangs up;
  /// the other's earlier calls, which this one replaced, are of no account.
  private static let replacesOwnCall = """
    EXISTS(SELECT 1 FROM items AS own WHERE own.sent = 1 AND own.content LIKE '%"missed"%' AND own.item_id = (
      SELECT max(item_id) FROM items AS earlier
      WHERE earlier.contact_id = calls.contact_id AND earlier.item_id < calls.item_id
        AND earlier.content LIKE '{"type":"call"%'
        AND NOT (earlier.sent = 0 AND earlier.content LIKE '%"missed"%')))
    """

  // MARK: The last push

  /// After all this the device is still notified of a message: its token is active, and the push opens.
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
    if try !isShown(text) { torture.tally.problem("the last message was not shown") }
    guard try app.call("chat_reopen_store $c") == "" else { return torture.tally.problem("the store does not reopen") }
    try app.command("/_app activate", "cmdOk")
  }

  /// Earlier pushes may still be on their way, and the server pauses for a minute after a device that took none.
  private func isShown(_ text: String) throws -> Bool {
    let end = Date(timeIntervalSinceNow: 150)
    while end.timeIntervalSinceNow > 0 {
      guard let push = try? night.nextPush(within: 1) else { continue }
      let process = try ChildProcess(
        Places.harness, ["extension", "--store", place.store, "--key", place.key],
        log: place.directory.appendingPathComponent("log.last"))
      defer { process.kill() }
      try process.send(push.text)
      if try JSONValue(parsing: process.line(within: 40)).bodies.contains(text) { return true }
    }
    return false
  }

  // MARK: Conversations as hosts see them

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

  /// One conversation as a host sees it, oldest first.
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
}
