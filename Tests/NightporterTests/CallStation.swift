import CNightporter
import Foundation
import PorterPlatform
import XCTest

@testable import PorterStore

/// An extension of alice's with pushes waiting: one for a message of each friend, then one for bob's call.
struct CallStation {
  static let audio = #"{"media":"audio","capabilities":{"encryption":false}}"#

  let station: Station
  /// The last push for each friend's message, in the order they wrote. Without friends, the push for a message of
  /// bob's.
  let messages: [String]
  let call: String
  let transport: HostTransport
  let service: Host

  var message: String { messages.last ?? "" }

  /// Each friend has written "from" and their name. With `isFriends`, bob has written instead and the friend calls.
  /// `clock` is the extension's.
  init(friends names: [String] = ["carol"], isFriends: Bool = false, clock: any Clock = SystemClock()) throws {
    let (station, friends) = try Self.make(names)
    var messages: [String] = []
    if names.isEmpty || isFriends {
      station.pair.send("from bob", from: station.bob)
      messages.append(try XCTUnwrap(station.allPushes().last))
    }
    for (friend, name) in zip(friends, names) where !isFriends {
      friend.send("/_send @1 text from \(name)").assert("newChatItems")
      messages.append(try XCTUnwrap(station.allPushes().last))
    }
    let caller = isFriends ? friends[0] : station.bob
    caller.send("/_call invite @1 \(Self.audio)").assert("cmdOk")
    try awaitSent(caller)
    (self.station, self.messages) = (station, messages)
    call = try XCTUnwrap(station.allPushes().last)
    transport = HostTransport(relay: station.pair.folder.file("relay.db"))
    service = try station.makeExtension(clock: clock)
    transport.install(in: service)
  }

  /// Continues an earlier station in the next process.
  init(_ earlier: CallStation, service: Host) throws {
    (station, messages, call) = (earlier.station, earlier.messages, earlier.call)
    transport = HostTransport(relay: station.pair.folder.file("relay.db"))
    self.service = service
    transport.install(in: service)
  }

  func push(_ payload: String, deadline: Int32 = 30_000) -> Promise<String> {
    service.inBackground { $0.push(payload, deadline: deadline).description }
  }

  func answer(_ promise: Promise<String>, file: StaticString = #filePath, line: UInt = #line) throws -> JSON {
    JSON(try XCTUnwrap(promise.wait(atMost: .seconds(40)), "no answer", file: file, line: line))
  }

  /// Puts something from the app to each contact into the outbox.
  func leaveSomethingToSend() throws {
    let database = try Database(path: station.alice.prefix + "_chat.db")
    try database.run(
      """
      INSERT INTO outbox (connection_id, item_id, purpose, signed, notify, body, deduplication)
      SELECT connection_id, NULL, 'message', 1, 0, x'00', randomblob(24) FROM connections
      """, [])
    try database.close()
  }

  /// Waits until the engine is working on this many pushes.
  func awaitPushes(_ count: Int, file: StaticString = #filePath, line: UInt = #line) {
    awaitThat("\(count) are in progress", file: file, line: line) {
      service.state["pushesWaiting"].number == count - 1 && !service.state["busy"].exists
    }
  }

  /// The mailbox in which each of alice's contacts reaches her, by contact name.
  static func mailboxes(of station: Station) throws -> [String: [UInt8]] {
    let database = try Database(path: station.alice.prefix + "_chat.db")
    defer { try? database.close() }
    var mailboxes: [String: [UInt8]] = [:]
    try database.query("SELECT local_name, recipient_id FROM connections JOIN contacts USING (contact_id)") {
      mailboxes[$0.text(0)] = $0.blob(1)
    }
    return mailboxes
  }

  /// Connects alice with bob and others, whose mailboxes are subscribed at the notification server, and suspends her.
  /// Nothing of the handshakes is left, neither a message nor a push.
  static func make(_ names: [String] = ["carol"], _ station: Station? = nil) throws -> (Station, [Host]) {
    let station = try station ?? Station()
    let friends = try names.map { name in
      let friend = try XCTUnwrap(Host.open(station.pair.folder.file(name)).host)
      friend.begin(name, relay: station.pair.folder.file("relay.db"))
      let link = friend.send("/_connect 1")["result"]["connLinkInvitation"]["connFullLink"].text
      station.alice.send("/connect \(link)").assert("sentConfirmation")
      station.alice.event("contactConnected")
      friend.event("contactConnected")
      return friend
    }
    let database = try Database(path: station.alice.prefix + "_chat.db")
    try awaitThat("all are subscribed") {
      try database.integer("SELECT count(*) FROM connections WHERE subscription LIKE 'created%'")
        == Int64(names.count + 1)
    }
    try database.close()
    try awaitQuiet([station.alice, station.bob] + friends, relay: station.pair.folder.file("relay.db"))
    station.suspend()
    try station.remainingPushes()
    return (station, friends)
  }
}

/// Waits until the relay has everything, including the news that the host has left a contact.
func awaitSent(_ host: Host, file: StaticString = #filePath, line: UInt = #line) throws {
  let database = try Database(path: host.prefix + "_chat.db")
  defer { try? database.close() }
  try awaitThat("nothing waits to be sent", file: file, line: line) {
    try database.integer("SELECT (SELECT count(*) FROM outbox) + (SELECT count(*) FROM server_outbox)") == 0
  }
}
