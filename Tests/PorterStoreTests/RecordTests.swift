import Foundation
import PorterCrypto
import PorterPlatform
import XCTest

@testable import PorterStore

/// The printed form of people's records, and that each column reaches the property of its name.
final class RecordTests: XCTestCase {
  private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("porter-\(UUID().uuidString)")
  private let now = WallTime(milliseconds: 5)
  private var recipientKey: SigningKeyPair!
  private var peerKey: SigningKeyPair!

  override func setUpWithError() throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    recipientKey = try SigningKeyPair.generate(randomness: SystemRandomness())
    peerKey = try SigningKeyPair.generate(randomness: SystemRandomness())
  }

  override func tearDown() { try? FileManager.default.removeItem(at: folder) }

  private func open() throws -> Store {
    try Store.open(
      at: StoreLocation(prefix: folder.appendingPathComponent("one").path), confirmation: .yesUp, mayMigrate: true)
  }

  func testRecordsOfPeoplePrintAsTheirNumbers() throws {
    let store = try open()
    let user = try store.createUser(displayName: "alice", fullName: "Alice Liddell", at: now)
    var id: Int64 = 0
    try store.transaction { () throws(StoreError) in
      id = try store.insertContact(userID: user.id, displayName: "bob", fullName: "Bob Stone", at: self.now)
    }
    let connectionID = try connect(user.id, id, store)
    XCTAssertEqual("\(try store.user(user.id))", "user \(user.id)")
    XCTAssertEqual("\(try store.contact(id))", "contact \(id)")
    XCTAssertEqual("\(try store.connection(connectionID))", "connection \(connectionID)")
  }

  /// A reader takes a portion that is not full for the last.
  func testADamagedEntryDoesNotShortenAPortion() throws {
    let store = try open()
    let connection = try connect(try store.createUser(displayName: "alice", fullName: "", at: now).id, nil, store)
    for entry: Int64 in 1...5 {
      let kind = entry == 2 ? "damaged" : "message"
      try store.run(
        """
        INSERT INTO ledger (entry_id, connection_id, message_id, message_at, state, kind, created_at)
        VALUES (?, ?, ?, 0, 'presented', ?, 0)
        """, [.integer(entry), .integer(connection), .blob([UInt8(entry)]), .text(kind)])
    }
    XCTAssertEqual(try store.ledgerEntries(after: 0, through: .max, limit: 3).map(\.id), [1, 3, 4])
    XCTAssertEqual(try store.ledgerEntries(after: 4, through: .max, limit: 3).map(\.id), [5])
  }

  func testAConnectionIsReadAsItWasWritten() throws {
    let store = try open()
    let user = try store.createUser(displayName: "alice", fullName: "", at: now)
    let id = try connect(user.id, nil, store)
    let secret = try XCTUnwrap(BoxSharedKey(stored: [UInt8](repeating: 7, count: 32)))
    try store.setNotifier(connectionID: id, id: [8], secret: secret)
    try store.setConnectionAlias(id, "from the fair")
    let read = try store.connection(id)
    XCTAssertEqual(
      [read.agentID, read.recipientID, read.senderID, read.peerSenderID, read.notifierID], [[1], [2], [3], [4], [8]])
    XCTAssertEqual(
      [read.status, read.link, read.localAlias, read.subscription], ["invited", "simplex:", "from the fair", "new"])
    XCTAssertEqual([read.isInitiated, read.isSecured], [true, false])
    XCTAssertEqual([read.createdAt, read.updatedAt], [now, now])
    XCTAssertEqual(keys(of: read), keys)
    XCTAssertEqual(read.invitation?.exposeForStorage(), [6])
    XCTAssertEqual(read.notifierSecret?.exposeForStorage(), [UInt8](repeating: 7, count: 32))
    XCTAssertEqual(read.ownership.epoch, 0)
    XCTAssertNil(read.ownership.owner)
    XCTAssertNil(read.reading)
    XCTAssertNil(read.request)
    let owner = Owner(role: "app", instance: .current(randomness: SystemRandomness()))
    let claim = try XCTUnwrap(try store.claim(connectionID: id, after: 0, by: owner))
    XCTAssertEqual(try store.connection(id).ownership.owner, owner)
    let received = try store.transaction(under: claim, receiving: [9]) { (conversation) throws(StoreError) in
      conversation.connection
    }
    XCTAssertEqual(received.reading?.user.displayName, "alice")
    XCTAssertNil(received.withoutReading.reading)
    XCTAssertEqual(Self.properties(of: received.withoutReading), Self.properties(of: received))
    XCTAssertEqual(received.withoutReading.ownership, received.ownership)
    XCTAssertEqual(keys(of: received.withoutReading), keys)
  }

  /// INC-04, INC-05: of two processes that have read the same epoch one gets the next, and no commit is accepted under
  /// an earlier one, though it is the same connection and the earlier owner has not noticed anything.
  func testAnEpochIsGivenOnceAndCommitsNothingOnceItIsOver() throws {
    let (first, second) = (try open(), try open())
    let id = try connect(try first.createUser(displayName: "alice", fullName: "", at: now).id, nil, first)
    let owners = (1...2).map { number in
      Owner(
        role: "app",
        instance: Instance(boot: "boot", process: number, started: 1, nonce: [UInt8](repeating: 0, count: 8)))
    }
    let claim = try XCTUnwrap(try first.claim(connectionID: id, after: 0, by: owners[0]))
    XCTAssertNil(try second.claim(connectionID: id, after: 0, by: owners[1]), "the epoch is another one by now")
    XCTAssertTrue(try first.isCurrent(claim))
    let later = try XCTUnwrap(try second.claim(connectionID: id, after: claim.epoch, by: owners[1]))
    XCTAssertFalse(try first.isCurrent(claim))
    let rename = "UPDATE connections SET local_alias = ?2 WHERE connection_id = ?1"
    XCTAssertThrowsError(
      try first.transaction(under: claim) { () throws(StoreError) in
        try first.run(rename, [.integer(id), .text("stale")])
      }
    ) { error in
      guard case .staleEpoch(let owner?)? = error as? StoreError else { return XCTFail("\(error)") }
      XCTAssertEqual(owner, owners[1])
    }
    XCTAssertEqual(try first.connection(id).localAlias, "")
    try second.transaction(under: later) { () throws(StoreError) in
      try second.run(rename, [.integer(id), .text("current")])
    }
    XCTAssertEqual(try first.connection(id).localAlias, "current")
  }

  private var keys: [[UInt8]] { [recipientKey.publicKey.bytes, peerKey.publicKey.bytes] }

  private func keys(of connection: StoredConnection) -> [[UInt8]] {
    [connection.recipientKey.publicKey.bytes, connection.peerKey.publicKey.bytes]
  }

  /// The properties as text, by name, except those read for one message. Keys are not printed.
  private static func properties(of connection: StoredConnection) -> [String] {
    Mirror(reflecting: connection).children.filter { $0.label != "reading" }.map { "\($0.label ?? ""): \($0.value)" }
  }

  private func connect(_ user: Int64, _ contact: Int64?, _ store: Store) throws -> Int64 {
    try store.insertConnection(
      NewConnection(
        userID: user, contactID: contact, agentID: [1], status: "invited", isInitiated: true, recipientID: [2],
        recipientKey: recipientKey, senderID: [3], isSecured: false, peerSenderID: [4], peerKey: peerKey,
        invitation: SecretBytes([6]), link: "simplex:"), at: now)
  }
}
