import CFaultyVFS
import CSQLite
import CSealedVFS
import Foundation
import PorterCrypto
import PorterPlatform
import XCTest

@testable import PorterStore

/// The nth read, write, sync or lock fails, for each n until there is no failure; writes are partial, the disk is full,
/// power is lost. Afterwards: a typed error, a store that opens and is sound, and nothing half done.
final class StoreFaultTests: XCTestCase {
  private struct Style {
    var name: String
    var operation: operation
    var sticky = false
    var short = false
    var code: Int32
  }

  private static let styles: [Style] = [
    Style(name: "read", operation: OP_READ, code: SQLITE_IOERR),
    Style(name: "reads", operation: OP_READ, sticky: true, code: SQLITE_IOERR),
    Style(name: "write", operation: OP_WRITE, code: SQLITE_IOERR),
    Style(name: "short write", operation: OP_WRITE, short: true, code: SQLITE_IOERR),
    Style(name: "full disk", operation: OP_WRITE, sticky: true, code: SQLITE_FULL),
    Style(name: "disk that fills up within a write", operation: OP_WRITE, sticky: true, short: true, code: SQLITE_FULL),
    Style(name: "sync", operation: OP_SYNC, code: SQLITE_IOERR),
    Style(name: "syncs", operation: OP_SYNC, sticky: true, code: SQLITE_IOERR),
    Style(name: "truncation", operation: OP_TRUNCATE, code: SQLITE_IOERR),
    Style(name: "size", operation: OP_SIZE, code: SQLITE_IOERR),
    Style(name: "open", operation: OP_OPEN, code: SQLITE_CANTOPEN),
    Style(name: "opens", operation: OP_OPEN, sticky: true, code: SQLITE_CANTOPEN),
    Style(name: "delete", operation: OP_DELETE, code: SQLITE_IOERR),
    Style(name: "lock", operation: OP_LOCK, code: SQLITE_BUSY),
    Style(name: "locks", operation: OP_LOCK, sticky: true, code: SQLITE_BUSY),
    Style(name: "log lock", operation: OP_SHM_LOCK, code: SQLITE_IOERR),
    Style(name: "log locks", operation: OP_SHM_LOCK, sticky: true, code: SQLITE_IOERR),
    // Only once: for a lock that is never free, SQLite itself waits for ten seconds.
    Style(name: "log lock of another", operation: OP_SHM_LOCK, code: SQLITE_BUSY),
    Style(name: "log map", operation: OP_SHM_MAP, code: SQLITE_IOERR),
  ]

  private let randomness = SystemRandomness()
  private let now = WallTime(milliseconds: 1_700_000_000_000)
  private let messages = 4
  private var directory = ""
  private var key = StoreKey.none
  private var prefix: String { directory + "/night" }

  override func setUpWithError() throws {
    let memory = "/dev/shm"
    let place = FileManager.default.isWritableFile(atPath: memory) ? memory + "/" : NSTemporaryDirectory()
    directory = place + "porter-faults-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    // The store names no VFS, so it gets the default one.
    XCTAssertEqual(faulty_vfs_register(true), SQLITE_OK)
    faults_reset()
    // An earlier test may have put the sealing VFS on top of another one.
    takeSealedAway()
    XCTAssertEqual(sealed_vfs_register(nil, "faulty"), SQLITE_OK)
  }

  private func takeSealedAway() {
    if let sealed = sqlite3_vfs_find(SEALED_VFS_NAME) { XCTAssertEqual(sqlite3_vfs_unregister(sealed), SQLITE_OK) }
  }

  override func tearDownWithError() throws {
    faults_reset()
    takeSealedAway()
    XCTAssertEqual(sqlite3_vfs_register(sqlite3_vfs_find("unix"), 1), SQLITE_OK)
    try FileManager.default.removeItem(atPath: directory)
  }

  // MARK: What happens to a store

  private func open() throws -> Store {
    try Store.open(
      at: StoreLocation(prefix: prefix), key: key, confirmation: .yesUp, mayMigrate: true,
      busyTimeout: .milliseconds(15))
  }

  /// A store with one contact and its connection; closed.
  private func prepare() throws {
    remove()
    let store = try open()
    let user = try store.createUser(displayName: "alice", fullName: "", at: now)
    try store.transaction { () throws(StoreError) in
      let contact = try store.insertContact(userID: user.id, displayName: "bob", fullName: "", at: now)
      let key: SigningKeyPair
      do throws(CryptoError) { key = try .generate(randomness: randomness) } catch { throw .damaged(.connection) }
      _ = try store.insertConnection(
        NewConnection(
          userID: user.id, contactID: contact, agentID: [1], status: "ready", isInitiated: true,
          recipientID: [UInt8](repeating: 2, count: 24), recipientKey: key, senderID: [UInt8](repeating: 3, count: 24),
          isSecured: true, peerSenderID: [UInt8](repeating: 4, count: 24), peerKey: key, invitation: nil, link: nil),
        at: now)
    }
    try store.close(checkpoint: true)
  }

  private func remove() {
    for suffix in ["", "-wal", "-shm", "-journal"] {
      try? FileManager.default.removeItem(atPath: StoreLocation(prefix: prefix).file + suffix)
    }
  }

  /// Claims, commits one message after the other, reads the first, closes. Returns how many messages are promised, and
  /// how many are possible.
  private func night(_ failures: inout [StoreError]) throws -> ClosedRange<Int64> {
    var (promised, begun) = (Int64(0), Int64(0))
    do throws(StoreError) {
      let store: Store
      store = try Store.open(
        at: StoreLocation(prefix: prefix), key: key, confirmation: .error, mayMigrate: false,
        busyTimeout: .milliseconds(15))
      for number in 1...messages {
        begun += 1
        do throws(StoreError) {
          try commit(number, store)
          promised += 1
        } catch {
          failures.append(error)
        }
        if number == 2 {
          do throws(StoreError) { try store.markRead(contactID: 1, only: nil, at: now) } catch {
            failures.append(error)
          }
        }
      }
      try store.close(checkpoint: true)
    } catch {
      failures.append(error)
    }
    return promised...begun
  }

  private func commit(_ number: Int, _ store: Store) throws(StoreError) {
    let owner = Owner(role: "app", instance: .current(randomness: randomness))
    let epoch = try store.ownership(connectionID: 1).epoch
    guard let claim = try store.claim(connectionID: 1, after: epoch, by: owner) else { throw .staleEpoch(owner: nil) }
    try store.transaction(under: claim) { () throws(StoreError) in
      let item = try store.insertReceivedItem(
        contactID: 1, content: String(repeating: "\(number)", count: 3_000), sharedID: nil, itemAt: now,
        at: now
      ).id
      try store.enter(
        NewLedgerEntry(
          connectionID: 1, messageID: [UInt8(number)], messageAt: now, kind: .message, contactID: 1, itemID: item),
        after: [], at: now)
    }
  }

  /// The store opens, is sound, and its tables agree. Returns the number of its messages.
  private func messagesAfterwards(_ context: String) throws -> Int64 {
    let store: Store
    do { store = try open() } catch {
      XCTFail("\(context): does not open: \(error)")
      throw error
    }
    XCTAssertEqual(
      try store.database.rows("PRAGMA integrity_check") { $0.text(0) }, ["ok"], context)
    XCTAssertEqual(try store.database.rows("PRAGMA foreign_key_check") { $0.text(0) }, [], context)
    let items = try XCTUnwrap(store.integer("SELECT count(*) FROM items"))
    XCTAssertEqual(try store.integer("SELECT count(*) FROM ledger"), items, context)
    XCTAssertEqual(
      try store.integer("SELECT count(*) FROM ledger JOIN items USING (item_id)"), items, context)
    let unread = try store.integer("SELECT count(*) FROM items WHERE status = 'rcvNew'")
    XCTAssertEqual(try store.integer("SELECT coalesce(sum(unread), 0) FROM connections"), unread, context)
    XCTAssertEqual(try store.badge(), unread, context)
    let readEntries = try store.integer("SELECT count(*) FROM ledger WHERE state = 'read'")
    XCTAssertEqual(readEntries, items - (unread ?? 0), context)
    try store.close(checkpoint: true)
    return items
  }

  /// The error names the disk's failure and nothing else.
  private func expectTyped(_ failure: StoreError, _ hasFired: Bool, _ context: String) {
    XCTAssertTrue(hasFired, "\(context): \(failure)")
    guard case .sqlite(let error) = failure else { return XCTFail("\(context): \(failure)") }
    XCTAssertTrue([.ioError, .full, .cannotOpen, .busy, .readOnly].contains(error.kind), "\(context): \(failure)")
  }

  private func sealedKey() throws -> StoreKey { try StoreKey.parse("x'\(String(repeating: "5eA1", count: 16))'") }

  // MARK: Tests

  func testEachFailureWhileAStoreIsMadeLeavesNoneOrAWholeOne() throws {
    try eachFailureWhileAStoreIsMadeLeavesNoneOrAWholeOne()
  }
  func testEachFailureWhileAStoreIsMadeLeavesNoneOrAWholeOneSealed() throws {
    key = try sealedKey()
    try eachFailureWhileAStoreIsMadeLeavesNoneOrAWholeOne()
  }

  func testEachFailureInANightLeavesWhatWasPromisedAndNothingHalfDone() throws {
    try eachFailureInANightLeavesWhatWasPromisedAndNothingByHalf()
  }
  func testEachFailureInANightLeavesWhatWasPromisedAndNothingHalfDoneSealed() throws {
    key = try sealedKey()
    try eachFailureInANightLeavesWhatWasPromisedAndNothingByHalf()
  }

  func testEachLossOfPowerLeavesWhatWasPromised() throws { try eachLossOfPowerLeavesWhatWasPromised() }
  func testEachLossOfPowerLeavesWhatWasPromisedSealed() throws {
    key = try sealedKey()
    try eachLossOfPowerLeavesWhatWasPromised()
  }

  func testLostSyncsLoseTheEndAndAreNeverReadAsData() throws { try lostSyncsLoseTheEndAndAreNeverReadAsData() }
  func testLostSyncsLoseTheEndAndAreNeverReadAsDataSealed() throws {
    key = try sealedKey()
    try lostSyncsLoseTheEndAndAreNeverReadAsData()
  }

  /// On a disk whose syncs fail, only transactions that wait for none can be committed: later commits are durable, or
  /// are not made.
  func testALightTransactionWaitsForNoSyncAndWhatFollowsDoes() throws {
    try prepare()
    let store = try open()
    func set(_ value: String) throws(StoreError) {
      try store.run("INSERT OR REPLACE INTO settings (name, value) VALUES ('a', ?)", [.text(value)])
    }
    // The log's header is synced with the first frames.
    try store.transaction { () throws(StoreError) in try set("1") }
    faults_arm(OP_SYNC, 1, true, false, SQLITE_IOERR, directory)
    try store.lightTransaction { () throws(StoreError) in try set("2") }
    XCTAssertFalse(faults_fired())
    XCTAssertThrowsError(try store.transaction { () throws(StoreError) in try set("3") })
    XCTAssertTrue(faults_fired())
    XCTAssertEqual(try store.setting("a"), "2")
    try store.lightTransaction { () throws(StoreError) in try set("4") }
    XCTAssertThrowsError(try set("5"), "a statement alone is a transaction too")
    XCTAssertThrowsError(
      try store.transaction { () throws(StoreError) in
        // Refused, without affecting the enclosing transaction.
        XCTAssertThrowsError(try store.lightTransaction { () throws(StoreError) in try set("6") })
        try set("7")
      })
    XCTAssertEqual(try store.setting("a"), "4")
    // Commits made without a sync are synced before they are written back.
    XCTAssertThrowsError(try store.database.checkpoint())
    faults_reset()
    try store.database.checkpoint()
    XCTAssertEqual(try store.setting("a"), "4")
    try store.close(checkpoint: true)
  }

  /// What is confirmed to the host, or follows from a message that does not come again, waits for the disk.
  func testCommandsAndSecuredMailboxesAreDurable() throws {
    try prepare()
    let store = try open()
    // The log's header is synced with the first frames.
    try store.run("UPDATE connections SET secured = 0")
    faults_arm(OP_SYNC, 1, true, false, SQLITE_IOERR, directory)
    XCTAssertThrowsError(try store.setSecured(connectionID: 1))
    XCTAssertThrowsError(try store.setConnectionAlias(1, "work"))
    XCTAssertThrowsError(try store.setContactAlias(1, "work"))
    XCTAssertThrowsError(try store.setCustomData(1, "{}"))
    faults_reset()
    try store.close(checkpoint: true)
  }

  /// Runs `body` with the nth operation failing, for each n until none fails; beyond the fortieth some are skipped.
  ///
  /// `body` arms the fault, and returns whether it occurred.
  private func forEachFault(_ body: (_ context: String, _ arm: () -> Void) throws -> Bool) throws -> Int {
    var fired = 0
    for style in Self.styles {
      var nth = 1
      while true {
        let hasFired = try body("\(style.name) \(nth)") {
          faults_arm(style.operation, nth, style.sticky, style.short, style.code, directory)
        }
        guard hasFired else { break }
        fired += 1
        nth += nth < 40 ? 1 : nth / 6
      }
      faults_reset()
    }
    return fired
  }

  private func eachFailureWhileAStoreIsMadeLeavesNoneOrAWholeOne() throws {
    let fired = try forEachFault { context, arm in
      remove()
      arm()
      var failure: StoreError?
      do throws(StoreError) {
        let store = try Store.open(
          at: StoreLocation(prefix: prefix), key: key, confirmation: .yesUp, mayMigrate: true,
          busyTimeout: .milliseconds(15))
        _ = try store.createUser(displayName: "alice", fullName: "", at: now)
        try store.close(checkpoint: true)
      } catch {
        failure = error
      }
      let hasFired = faults_fired()
      faults_reset()
      if let failure { expectTyped(failure, hasFired, context) }
      let store = try open()
      XCTAssertEqual(try store.database.rows("PRAGMA integrity_check") { $0.text(0) }, ["ok"], context)
      let users = try store.users()
      if failure == nil { XCTAssertEqual(users.map(\.displayName), ["alice"], context) }
      if users.isEmpty { _ = try store.createUser(displayName: "alice", fullName: "", at: now) }
      try store.close(checkpoint: true)
      return hasFired
    }
    XCTAssertGreaterThan(fired, 100)
    print("\(fired) faults in making a store")
  }

  private func eachFailureInANightLeavesWhatWasPromisedAndNothingByHalf() throws {
    let fired = try forEachFault { context, arm in
      try prepare()
      arm()
      var failures: [StoreError] = []
      let expected = try night(&failures)
      let hasFired = faults_fired()
      faults_reset()
      for failure in failures { expectTyped(failure, hasFired, context) }
      let count = try messagesAfterwards(context)
      XCTAssertTrue(expected.contains(count), "\(context): \(count) messages, not \(expected)")
      return hasFired
    }
    XCTAssertGreaterThan(fired, 200)
    print("\(fired) faults in a night")
  }

  /// Printed with each failure; PORTER_SEED sets it.
  private static let seed =
    ProcessInfo.processInfo.environment["PORTER_SEED"].flatMap(UInt64.init) ?? .random(in: 1...UInt64(UInt32.max))

  /// Power is lost at the nth write; unsynced data arrives in part. Everything promised was synced.
  private func eachLossOfPowerLeavesWhatWasPromised() throws {
    let seed = Self.seed
    var state = seed
    var losses = 0
    for nth in 1... {
      let context = "seed \(seed), power lost at write \(nth)"
      try prepare()
      faults_arm_power(nth, false, directory)
      var failures: [StoreError] = []
      let expected = try night(&failures)
      let hasFired = faults_fired()
      faults_cut_power()
      faults_return_power(&state)
      try? FileManager.default.removeItem(atPath: StoreLocation(prefix: prefix).file + "-shm")
      let count = try messagesAfterwards(context)
      XCTAssertTrue(expected.contains(count), "\(context): \(count) messages, not \(expected)")
      guard hasFired else { break }
      losses += 1
    }
    XCTAssertGreaterThan(losses, 20)
    print("\(losses) losses of power, seed \(seed)")
  }

  /// A disk that reports a sync it did not do may lose the last transactions, but only those: what is left is whole, or
  /// the damage is found on opening.
  private func lostSyncsLoseTheEndAndAreNeverReadAsData() throws {
    let seed = Self.seed
    var state = seed
    for round in 0..<40 {
      let context = "seed \(seed), round \(round)"
      try prepare()
      faults_arm_power(.max, true, directory)
      let store = try open()
      for number in 1...messages { try commit(number, store) }
      faults_cut_power()
      try? store.close(checkpoint: false)
      faults_return_power(&state)
      try? FileManager.default.removeItem(atPath: StoreLocation(prefix: prefix).file + "-shm")
      // Nothing was written back, so everything is in the log: its end is lost.
      XCTAssertLessThanOrEqual(try messagesAfterwards(context), Int64(messages), context)
    }
  }
}
