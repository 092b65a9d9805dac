import CNightporter
import Foundation
import PorterPlatform
import PorterStore
import XCTest

@testable import Nightporter
@testable import PorterEngine

/// Waits until the condition holds, and fails after a minute. The bound is for tests that would otherwise hang.
func awaitThat(
  _ what: String, file: StaticString = #filePath, line: UInt = #line, _ condition: () throws -> Bool
) rethrows {
  let end = Date(timeIntervalSinceNow: 60)
  while try !condition() {
    guard Date() < end else { return XCTFail("not within a minute: \(what)", file: file, line: line) }
    usleep(2_000)
  }
}

/// A folder that is deleted at the end of its test.
final class TemporaryFolder {
  let path: String

  init() throws {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("nightporter-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    path = url.path
  }

  deinit {
    chmod(path, 0o700)
    try? FileManager.default.removeItem(atPath: path)
  }

  func file(_ name: String) -> String { path + "/" + name }
}

/// A host in C's terms: strings in, strings out, everything freed.
final class Host {
  private(set) var handle: chat_ctrl?
  let prefix: String

  /// Opens a controller. If that fails, returns nil with the answer's text.
  static func open(_ prefix: String, key: String = "", confirm: String = "yesUp", isExtension: Bool = false) -> (
    answer: String, host: Host?
  ) {
    var handle: chat_ctrl?
    let answer = take(chat_migrate_init_key(prefix, key, 1, confirm, isExtension ? 1 : 0, &handle))
    return (answer, handle.map { Host($0, prefix) })
  }

  init(_ handle: chat_ctrl, _ prefix: String) {
    self.handle = handle
    self.prefix = prefix
  }

  /// Opens an application or extension on an existing store, using this clock.
  static func open(_ prefix: String, isExtension: Bool = false, clock: any Clock) throws -> Host {
    let configuration = Configuration(
      prefix: prefix, role: isExtension ? .extension : .app, confirmation: .yesUp, ports: Ports(clock: clock))
    return Host(try XCTUnwrap(Handles.add(try XCTUnwrap(Controller.open(configuration).1))), prefix)
  }

  deinit { free() }

  func free() {
    guard let handle else { return }
    XCTAssertEqual(np_ctrl_free(handle), NP_OK)
    self.handle = nil
  }

  /// Sends a command. On return outgoing messages have reached the relay, unless `arrives` is false: otherwise a test in
  /// which another process looks there could outrun the relay.
  @discardableResult
  func send(_ command: String, arrives: Bool = true, file: StaticString = #filePath, line: UInt = #line) -> JSON {
    let answer = JSON(take(chat_send_cmd(handle, command)))
    if arrives, command.hasPrefix("/_send") {
      awaitThat("nothing is being sent", file: file, line: line) { state["operations"]["sending"].number <= 0 }
    }
    return answer
  }

  /// The next event, or nil if none comes in time.
  func event(within seconds: Double = 20) -> JSON? {
    let text = take(chat_recv_msg_wait(handle, Int32(seconds * 1_000_000)))
    return text.isEmpty ? nil : JSON(text)
  }

  /// Waits for an event of this type, skipping others.
  @discardableResult
  func event(_ type: String, within seconds: Double = 30, file: StaticString = #filePath, line: UInt = #line) -> JSON? {
    let end = Date().addingTimeInterval(seconds)
    while Date() < end {
      if let event = event(within: 0.2), event["result"]["type"].text == type { return event }
    }
    XCTFail("no event \(type) within \(seconds) s", file: file, line: line)
    return nil
  }

  /// The events of this type among those reported so far; the others are dropped.
  func waitingEvents(_ type: String) -> [JSON] {
    var found: [JSON] = []
    while let event = event(within: 0) {
      if event["result"]["type"].text == type { found.append(event["result"]) }
    }
    return found
  }

  /// Waits for an event `notifications` that shows or removes something, skipping those with the badge alone.
  func screenEvent(file: StaticString = #filePath, line: UInt = #line) -> JSON? {
    while let result = event("notifications", file: file, line: line)?["result"] {
      if result["notifications"].count + result["withdrawals"].count > 0 { return result }
    }
    return nil
  }

  /// Those of the events reported so far that show or remove something.
  func waitingScreenEvents() -> [JSON] {
    waitingEvents("notifications").filter { $0["notifications"].count + $0["withdrawals"].count > 0 }
  }

  /// Discards the events reported so far.
  func dropEvents() { while event(within: 0) != nil {} }

  /// Acts as if more than 30 s had passed since each chat's last sound, such as that of its connection.
  func forgetSounds() throws {
    let store = try Database(path: prefix + "_chat.db")
    defer { try? store.close() }
    try store.execute("UPDATE connections SET sounded_boot = NULL")
  }

  /// Expects no event of this type. For a host whose work is done: events it has not reported by now will not come.
  func expectNone(_ type: String, file: StaticString = #filePath, line: UInt = #line) {
    while let event = event(within: 0) {
      XCTAssertNotEqual(event["result"]["type"].text, type, event.description, file: file, line: line)
    }
  }

  func push(_ payload: String, deadline: Int32 = 30_000) -> JSON {
    JSON(take(np_receive_push(handle, payload, deadline)))
  }
  var state: JSON { JSON(take(np_state(handle))) }
  func closeStore() -> String { take(chat_close_store(handle)) }
  func reopenStore() -> String { take(chat_reopen_store(handle)) }

  /// Creates a profile, sets the relay and starts the chat.
  func begin(_ name: String, relay: String, file: StaticString = #filePath, line: UInt = #line) {
    send("/_create user {\"profile\":{\"displayName\":\"\(name)\",\"fullName\":\"\"}}").assert("activeUser", file, line)
    send("/_network {\"relay\":\"\(relay)\"}").assert("cmdOk", file, line)
    send("/_start").assert("chatStarted", file, line)
  }
}

/// Waits until no work is in progress in this host, so that nothing it has yet to receive is on its way inside it.
func awaitRest(of host: Host, file: StaticString = #filePath, line: UInt = #line) {
  awaitThat("the host is at rest", file: file, line: line) {
    let operations = host.state["operations"]
    return ["receiving", "delivery", "sending", "database"].allSatisfy { operations[$0].number == 0 }
  }
}

/// Waits until these hosts have sent and received everything, so that nothing more will arrive.
func awaitQuiet(_ hosts: [Host], relay: String, file: StaticString = #filePath, line: UInt = #line) throws {
  let database = try Database(path: relay)
  defer { try? database.close() }
  func latest() throws -> Int64? { try database.integer("SELECT max(number) FROM message") }
  // A host may answer what it has received after another was found at rest.
  var before: Int64?
  repeat {
    before = try latest()
    for host in hosts { awaitRest(of: host, file: file, line: line) }
    try awaitThat("the relay has handed over everything", file: file, line: line) {
      try database.integer("SELECT count(*) FROM message WHERE body IS NOT NULL") == 0
    }
    for host in hosts { awaitRest(of: host, file: file, line: line) }
  } while try latest() != before
}

/// Waits until the relay has deleted a mailbox, since a command is answered before. They are numbered from 1.
func awaitDeletion(
  ofMailbox number: Int64, relay: String, file: StaticString = #filePath, line: UInt = #line
) throws {
  let database = try Database(path: relay)
  defer { try? database.close() }
  try awaitThat("mailbox \(number) is deleted", file: file, line: line) {
    try database.integer("SELECT count(*) FROM mailbox WHERE number = ?", [.integer(number)]) == 0
  }
}

/// Copies a result and frees it.
func take(_ pointer: UnsafeMutablePointer<CChar>?) -> String {
  guard let pointer else { return "(NULL)" }
  defer { np_string_free(pointer) }
  return String(cString: pointer)
}

/// A JSON answer to look into; missing members are empty.
struct JSON: CustomStringConvertible {
  let value: Any?
  let description: String

  init(_ text: String) {
    description = text
    value = try? JSONSerialization.jsonObject(with: Data(text.utf8), options: [.fragmentsAllowed])
  }

  private init(_ value: Any?) {
    self.value = value
    description = value.map { "\($0)" } ?? "nothing"
  }

  subscript(name: String) -> JSON { JSON((value as? [String: Any])?[name]) }
  subscript(index: Int) -> JSON {
    let array = value as? [Any] ?? []
    return JSON(index < array.count ? array[index] : nil)
  }
  var text: String { value as? String ?? "" }
  var number: Int { value as? Int ?? -1 }
  var flag: Bool { value as? Bool ?? false }
  var count: Int { (value as? [Any])?.count ?? 0 }
  var exists: Bool { value != nil }

  func assert(_ type: String, _ file: StaticString = #filePath, _ line: UInt = #line) {
    XCTAssertEqual(self["result"]["type"].text, type, description, file: file, line: line)
  }

  /// The tag of an error, down to the error type where there is one.
  var errorTag: String {
    let error = self["error"]
    for inner in ["errorType", "storeError", "databaseError", "agentError"] where error[inner]["type"].exists {
      return error[inner]["type"].text
    }
    return error["type"].text
  }
}

/// Changes what waits at a relay, so that it does not open.
let damageToWaitingMessages = """
  UPDATE message SET body = substr(body, 1, length(body) - 1) || iif(substr(body, -1) = x'00', x'01', x'00')
  WHERE body IS NOT NULL
  """

/// Two hosts with their own stores, connected through one relay. Nothing of their handshake is left to be received.
struct Pair {
  let folder: TemporaryFolder
  let alice: Host
  let bob: Host

  init(file: StaticString = #filePath, line: UInt = #line) throws {
    folder = try TemporaryFolder()
    alice = try XCTUnwrap(Host.open(folder.file("alice")).host, file: file, line: line)
    bob = try XCTUnwrap(Host.open(folder.file("bob")).host, file: file, line: line)
    alice.begin("alice", relay: folder.file("relay.db"), file: file, line: line)
    bob.begin("bob", relay: folder.file("relay.db"), file: file, line: line)
    let link = alice.send("/_connect 1")["result"]["connLinkInvitation"]["connFullLink"].text
    XCTAssertFalse(link.isEmpty, file: file, line: line)
    bob.send("/connect \(link)").assert("sentConfirmation", file, line)
    alice.event("contactConnected", file: file, line: line)
    bob.event("contactConnected", file: file, line: line)
    try awaitQuiet([alice, bob], relay: folder.file("relay.db"), file: file, line: line)
  }

  func send(_ text: String, from host: Host, arrives: Bool = true, file: StaticString = #filePath, line: UInt = #line) {
    let message = "{\"msgContent\":{\"type\":\"text\",\"text\":\"\(text)\"},\"mentions\":{}}"
    host.send("/_send @1 json [\(message)]", arrives: arrives, file: file, line: line)
      .assert("newChatItems", file, line)
  }

  /// Texts of the chat, oldest first.
  func texts(_ host: Host) -> [String] {
    let items = host.send("/_get chat @1 count=1000")["result"]["chat"]["chatItems"]
    return (0..<items.count).map { items[$0]["content"]["msgContent"]["text"].text }
  }
}
