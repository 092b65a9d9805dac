import Foundation
import PorterCrypto
import PorterPlatform
import XCTest

@testable import PorterStore

/// A ratchet in its store: of the keys of skipped messages, one message touches only its own.
final class StoredRatchetTests: XCTestCase {
  private let randomness = SystemRandomness()
  private let now = WallTime(milliseconds: 1_700_000_000_000)
  private var directory = ""

  override func setUpWithError() throws {
    directory = NSTemporaryDirectory() + "porter-ratchets-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
  }

  override func tearDownWithError() throws { try FileManager.default.removeItem(atPath: directory) }

  func testOneMessageCostsTheSameWithNoneAndWith2000SkippedKeys() throws {
    let store = try makeStore()
    var peer = try connect(store)
    var lost: [[UInt8]] = []
    XCTAssertEqual(try open(try peer.says("first"), store), "first")
    let before = try instructions(store) {
      XCTAssertEqual(try open(try peer.says("none is skipped"), store), "none is skipped")
    }
    for _ in 0..<2 {
      lost += try (0..<1_000).map { try peer.says("lost \($0)") }
      XCTAssertEqual(try open(try peer.says("after a gap"), store), "after a gap")
    }
    XCTAssertEqual(try keys(store), 2_000)
    let after = try instructions(store) { XCTAssertEqual(try open(try peer.says("here"), store), "here") }
    XCTAssertLessThan(after, before + 100, "it was \(before)")
    let late = try instructions(store) { XCTAssertEqual(try open(lost[1_500], store), "lost 500") }
    XCTAssertLessThan(late, before + 200, "it was \(before)")
    XCTAssertEqual(try keys(store), 1_999)
    XCTAssertThrowsError(try open(lost[1_500], store)) { XCTAssertEqual($0 as? CryptoError, .duplicate) }
    let sent = try instructions(store) { _ = try store.ratchet(connectionID: 1) }
    XCTAssertLessThan(sent, 100)
  }

  /// A key is kept until 2,000 later ones have been kept.
  func testTheOldestKeysGoFirst() throws {
    let store = try makeStore()
    var peer = try connect(store)
    var lost: [[UInt8]] = []
    for _ in 0..<3 {
      lost += try (0..<900).map { try peer.says("lost \($0)") }
      XCTAssertEqual(try open(try peer.says("after a gap"), store), "after a gap")
    }
    XCTAssertEqual(try keys(store), 2_000)
    XCTAssertThrowsError(try open(lost[699], store)) { XCTAssertEqual($0 as? CryptoError, .duplicate) }
    XCTAssertEqual(try open(lost[700], store), "lost 700")
    XCTAssertEqual(try open(lost[2_699], store), "lost 899")
  }

  /// The index holds the keys' names, as SQL cuts them from the stored value.
  func testAKeyIsNamedByTheFirstOfItsBytes() throws {
    let store = try makeStore()
    var peer = try connect(store)
    let lost = try peer.says("lost")
    _ = try open(try peer.says("here"), store)
    let stored = try store.database.first("SELECT stored FROM skipped_keys") { $0.blob(0) }
    XCTAssertEqual(stored.map { Array($0.prefix(SkippedKey.nameCount)) }, SkippedKey.name(opening: lost[...]))
  }

  // MARK: Two sides

  private struct Peer {
    var ratchet: Ratchet
    let associatedData: [UInt8]
    mutating func says(_ text: String) throws -> [UInt8] {
      try ratchet.encrypt(Array(text.utf8), associatedData: associatedData)
    }
  }

  private func makeStore() throws -> Store {
    try Store.open(
      at: StoreLocation(prefix: directory + "/night"), key: .none, confirmation: .yesUp, mayMigrate: true)
  }

  private func connect(_ store: Store) throws -> Peer {
    let secret = try InvitationSecret.create(randomness: randomness)
    let joined = try KeyAgreement.join(invitationKeys: secret.publicKeys, randomness: randomness)
    let accepted = try KeyAgreement.accept(secret, joinerKeys: joined.publicKeys)
    let user = try store.createUser(displayName: "alice", fullName: "", at: now)
    let key = try SigningKeyPair.generate(randomness: randomness)
    try store.transaction { () throws(StoreError) in
      let contact = try store.insertContact(userID: user.id, displayName: "bob", fullName: "", at: now)
      let id = try store.insertConnection(
        NewConnection(
          userID: user.id, contactID: contact, agentID: [1], status: "ready", isInitiated: true,
          recipientID: [UInt8](repeating: 2, count: 24), recipientKey: key, senderID: [UInt8](repeating: 3, count: 24),
          isSecured: true, peerSenderID: [UInt8](repeating: 4, count: 24), peerKey: key, invitation: nil, link: nil),
        at: now)
      try store.save(
        StoredRatchet(ratchet: accepted.ratchet, associatedData: accepted.associatedData), connectionID: id)
    }
    return Peer(ratchet: joined.ratchet, associatedData: joined.associatedData)
  }

  private func open(_ message: [UInt8], _ store: Store) throws -> String {
    var stored = try XCTUnwrap(try store.ratchet(connectionID: 1, opening: message[...]))
    let text = try stored.ratchet.decrypt(
      message, associatedData: stored.associatedData, randomness: randomness)
    let step = stored
    try store.transaction { () throws(StoreError) in try store.save(step, connectionID: 1) }
    return String(decoding: text, as: UTF8.self)
  }

  private func keys(_ store: Store) throws -> Int64? { try store.integer("SELECT count(*) FROM skipped_keys") }

  /// Instructions of SQLite's virtual machine; about ten for each row examined.
  private func instructions(_ store: Store, _ work: () throws -> Void) rethrows -> Int {
    let before = store.database.instructions
    try work()
    return store.database.instructions - before
  }
}
