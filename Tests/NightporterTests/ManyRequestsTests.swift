import Foundation
import PorterCrypto
import PorterPlatform
import PorterRelay
import PorterSchema
import PorterStore
import XCTest

@testable import PorterEngine

/// An address that more people have asked through than it keeps finished requests.
final class ManyRequestsTests: XCTestCase {
  /// All are accepted while they sleep. The first to wake up is welcomed, however many were accepted since.
  func testEachOfManyAcceptedPersonsIsWelcomed() throws {
    let meeting = try AddressMeeting(
      settings: #"{"businessAddress":false,"autoAccept":{"acceptIncognito":false},"#
        + #""autoReply":{"type":"text","text":"welcome"}}"#)
    let crowd = try Crowd(meeting)
    defer { crowd.end() }
    // Bob sleeps before alice checks the address's mailbox.
    meeting.alice.send("/_app suspend 0").assert("cmdOk")
    meeting.bob.send("/connect \(meeting.link)").assert("sentInvitation")
    meeting.bob.send("/_app suspend 0").assert("cmdOk")
    meeting.alice.send("/_app activate").assert("cmdOk")
    let accepted = "SELECT count(*) FROM contact_requests WHERE state = 'accepted'"
    try meeting.awaitCount(1, accepted, of: meeting.alice)
    for number in 1...139 { try crowd.leave(try crowd.asker("asker \(number)")) }
    try meeting.awaitCount(140, "SELECT count(*) FROM connections WHERE contact_id IS NOT NULL", of: meeting.alice)
    // Messages that show nothing cause the past to be pruned.
    for _ in 0..<RequestLimits.pruningInterval { try crowd.leave([0]) }
    try crowd.awaitPruning()
    try meeting.awaitCount(140, accepted, of: meeting.alice)
    meeting.bob.send("/_app activate").assert("cmdOk")
    let welcome = meeting.bob.event("newChatItems", within: 60)?["result"]["chatItems"][0]["chatItem"]
    XCTAssertEqual(welcome?["meta"]["itemText"].text, "welcome")
    // Once connected, the request counts as finished.
    try meeting.awaitCount(
      1, "SELECT count(*) FROM connections JOIN contact_requests USING (contact_id) WHERE status = 'ready'",
      of: meeting.alice)
  }

  /// Requests as an extension leaves them to the app: a limited number is joined at a time, and those that cannot be
  /// joined end.
  func testManyThatWereAcceptedWithoutTheAppAreJoined() throws {
    let meeting = try AddressMeeting()
    let crowd = try Crowd(meeting)
    defer { crowd.end() }
    func change(_ sql: String) throws {
      meeting.alice.send("/_app suspend 0").assert("cmdOk")
      let store = try Database(path: meeting.alice.prefix + "_chat.db")
      try store.execute(sql)
      try store.close()
      meeting.alice.send("/_app activate").assert("cmdOk")
    }
    let unusable = 2 * Int64(RequestLimits.joining)
    try change(
      """
      WITH RECURSIVE numbers (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < \(unusable))
      INSERT INTO contact_requests (user_id, address_id, person, state, display_name, full_name, mailbox, created_at,
        updated_at)
      SELECT 1, 1, randomblob(24), 'accepting', 'crowd', '', x'00', 0, 0 FROM numbers
      """)
    func count(_ state: String) -> String { "SELECT count(*) FROM contact_requests WHERE state = '\(state)'" }
    try meeting.awaitCount(0, count("accepting"), of: meeting.alice)
    for number in 1...150 { try crowd.leave(try crowd.asker("asker \(number)")) }
    try meeting.awaitCount(150, count("received"), of: meeting.alice)
    try change("UPDATE contact_requests SET state = 'accepting' WHERE state = 'received'")
    try meeting.awaitCount(150, count("accepted"), of: meeting.alice)
  }

  /// Of people rejected long ago, nothing is kept except that they were rejected.
  func testARejectedPersonStaysRejected() throws {
    let meeting = try AddressMeeting()
    let crowd = try Crowd(meeting)
    defer { crowd.end() }
    meeting.bob.send("/connect \(meeting.link)").assert("sentInvitation")
    let request = meeting.alice.event("receivedContactRequest")?["result"]["contactRequest"] ?? JSON("")
    meeting.alice.send("/_reject \(request["contactRequestId"].number)").assert("contactRequestRejected")
    func count(_ condition: String) -> String { "SELECT count(*) FROM contact_requests WHERE \(condition)" }
    func reject(_ number: Int64) throws {
      let store = try Database(path: meeting.alice.prefix + "_chat.db")
      defer { try? store.close() }
      try store.execute(
        """
        WITH RECURSIVE numbers (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < \(number))
        INSERT INTO contact_requests (user_id, address_id, person, state, display_name, full_name, mailbox, created_at,
          updated_at)
        SELECT 1, 1, randomblob(24), 'rejected', 'crowd', '', x'00', 0, 0 FROM numbers
        """)
    }
    try reject(RequestLimits.kept)
    for _ in 0..<RequestLimits.pruningInterval { try crowd.leave([0]) }
    try crowd.awaitPruning()
    try meeting.awaitCount(
      1, count("request_id = 1 AND display_name = '' AND profile IS NULL AND mailbox = x''"), of: meeting.alice)
    try meeting.awaitCount(RequestLimits.kept, count("display_name = 'crowd'"), of: meeting.alice)
    // Asking again changes nothing.
    meeting.bob.send("/connect \(meeting.link)").assert("sentInvitation")
    try meeting.awaitEmptyRelay()
    awaitRest(of: meeting.alice)
    XCTAssertEqual(meeting.alice.send("/_get chats 1")["result"]["chats"].count, 0)
    try meeting.awaitCount(0, count("state = 'received'"), of: meeting.alice)
    // Within the stated bound.
    try reject(RequestLimits.rejected)
    for _ in 0..<RequestLimits.pruningInterval { try crowd.leave([0]) }
    try crowd.awaitPruning()
    try meeting.awaitCount(RequestLimits.rejected, count("state = 'rejected'"), of: meeting.alice)
  }
}

/// Strangers who write to an address; none of them is a host.
final class Crowd {
  private let meeting: AddressMeeting
  private let link: AddressLink
  private let relay: EmbeddedRelay
  private let client: RelayClient

  init(_ meeting: AddressMeeting) throws {
    self.meeting = meeting
    link = try AddressLink(parsing: meeting.link)
    relay = EmbeddedRelay(path: meeting.folder.file("relay.db"), ports: .system, log: .silent)
    client = RelayClient(port: relay, randomness: SystemRandomness())
  }

  func end() { relay.close() }

  func leave(_ body: [UInt8]) throws {
    let address = try XCTUnwrap(RelayIdentifier(bytes: link.senderID))
    // The mailbox holds 128 waiting messages; alice empties it in the meantime.
    for _ in 0..<2_000 {
      do {
        return try client.send(body, to: address, key: nil, attempt: try client.newIdentifier(), notify: false)
      } catch RelayError.quota { usleep(5_000) }
    }
    XCTFail("the mailbox stays full")
  }

  /// A request with an invitation to a mailbox that does not exist.
  func request(_ name: String, _ person: [UInt8]) throws -> [UInt8] {
    try request(
      name, person, SystemRandomness().bytes(24), try SigningKeyPair.generate(randomness: SystemRandomness()))
  }

  /// A request from a person who has a mailbox for the answer, and never checks it.
  func asker(_ name: String) throws -> [UInt8] {
    let mailbox = try client.createMailbox(recipientKey: try .generate(randomness: SystemRandomness()))
    return try request(
      name, SystemRandomness().bytes(24), mailbox.sender.bytes, try .generate(randomness: SystemRandomness()))
  }

  /// A request with keys of small order, with which no key agreement is possible.
  func unusableRequest(_ name: String) throws -> [UInt8] {
    try request(
      name, SystemRandomness().bytes(24), SystemRandomness().bytes(24), .generate(randomness: SystemRandomness()),
      publicKeys: [UInt8](repeating: 0, count: KeyAgreement.publicKeysCount))
  }

  private func request(
    _ name: String, _ person: [UInt8], _ senderID: [UInt8], _ key: SigningKeyPair, publicKeys: [UInt8]? = nil
  ) throws -> [UInt8] {
    let secret = try InvitationSecret.create(randomness: SystemRandomness())
    let invitation = InvitationLink(
      senderID: senderID, publicKeys: publicKeys ?? secret.publicKeys, peerKey: key.publicKey)
    return try RequestMessage.contact(.init(displayName: name), person: person, invitation: invitation)
      .sealed(for: link.key, randomness: SystemRandomness()).bytes
  }

  /// Waits until everything left at the address has been received; so many messages include an entry that triggers
  /// pruning.
  func awaitPruning() throws {
    try meeting.awaitEmptyRelay(mailbox: link.senderID)
    awaitRest(of: meeting.alice)
  }
}
