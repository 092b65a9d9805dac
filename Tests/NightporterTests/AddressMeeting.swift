import CNightporter
import Foundation
import PorterStore
import XCTest

/// Alice has an address; bob wants to become her contact.
final class AddressMeeting {
  let folder: TemporaryFolder
  let alice: Host
  let bob: Host
  let link: String

  init(settings: String? = nil) throws {
    folder = try TemporaryFolder()
    alice = try XCTUnwrap(Host.open(folder.file("alice")).host)
    bob = try XCTUnwrap(Host.open(folder.file("bob")).host)
    alice.begin("alice", relay: folder.file("relay.db"))
    bob.begin("bob", relay: folder.file("relay.db"))
    let made = alice.send("/_address 1 pq_ratchet=on")
    made.assert("userContactLinkCreated")
    link = made["result"]["connLinkContact"]["connFullLink"].text
    XCTAssertFalse(link.isEmpty)
    if let settings { alice.send("/_address_settings 1 \(settings)").assert("userContactLinkUpdated") }
  }

  /// Sends bob's request and returns it as alice's host receives it.
  func ask(file: StaticString = #filePath, line: UInt = #line) -> JSON {
    bob.send("/_connect 1 \(link)").assert("sentInvitation", file, line)
    let event = alice.event("receivedContactRequest", file: file, line: line)
    return event?["result"]["contactRequest"] ?? JSON("")
  }

  func plan() -> JSON { bob.send("/_connect plan 1 \(link)")["result"]["connectionPlan"]["contactAddressPlan"] }

  /// Waits until this query on a host's store, or on the relay, yields `count`.
  func awaitCount(_ count: Int64, _ sql: String, in path: String) throws {
    let database = try Database(path: path)
    defer { try? database.close() }
    for _ in 0..<6_000 {
      if try database.integer(sql) == count { return }
      usleep(10_000)
    }
    XCTFail("it never came to \(count), it is \(try database.integer(sql) ?? -1): \(sql)")
  }

  func awaitCount(_ count: Int64, _ sql: String, of host: Host) throws {
    try awaitCount(count, sql, in: host.prefix + "_chat.db")
  }

  /// Waits until everything sent has been received.
  func awaitEmptyRelay() throws {
    try awaitCount(0, "SELECT count(*) FROM message WHERE body IS NOT NULL", in: folder.file("relay.db"))
  }

  /// Waits until one mailbox, given by its senders' name for it, is empty.
  func awaitEmptyRelay(mailbox: [UInt8]) throws {
    let name = mailbox.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    try awaitCount(
      0,
      """
      SELECT count(*) FROM message WHERE body IS NOT NULL
        AND mailbox = (SELECT number FROM mailbox WHERE sender = x'\(name)')
      """, in: folder.file("relay.db"))
  }

  func contacts(_ host: Host) -> JSON { host.send("/_contacts 1")["result"]["contacts"] }
}
