import Foundation
import PorterCrypto
import PorterPlatform
import Synchronization
import WatchedFiles
import XCTest

@testable import PorterStore

/// The file beside the store: its content after each change, and that it is written before the change is committed.
final class SilentMailboxFileTests: XCTestCase {
  private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("porter-\(UUID().uuidString)")
  private let secret = BoxSharedKey(stored: [UInt8](repeating: 1, count: 32))
  private let nonce = BoxNonce(bytes: [UInt8](repeating: 9, count: 24))
  private var prefix: String { folder.appendingPathComponent("one").path }
  private var file: String { prefix + "_silent" }

  override func setUpWithError() throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  override func tearDown() { try? FileManager.default.removeItem(at: folder) }

  private func open(_ ports: Ports = .system) throws -> Store {
    try Store.open(at: StoreLocation(prefix: prefix), confirmation: .yesUp, mayMigrate: true, ports: ports)
  }

  private static func notifier(_ number: Int64) -> [UInt8] { [UInt8](repeating: UInt8(number), count: 24) }

  private func token(_ secret: BoxSharedKey?) throws -> StoredToken {
    StoredToken(
      provider: "apns_test", deviceToken: [1], server: "ntf:", status: "active", mode: "INSTANT", serverTokenID: nil,
      signingKey: try .generate(randomness: SystemRandomness()),
      boxKey: try BoxKeyPair.generate(randomness: SystemRandomness()).secretKey, pushSecret: secret,
      verificationCode: nil, replyMailbox: nil)
  }

  /// A profile with two contacts, whose connections have the notifiers 1 and 2, and a token.
  private func fill(_ store: Store) throws {
    let user = try store.createUser(displayName: "alice", fullName: "", at: WallTime(milliseconds: 1))
    try store.transaction { () throws(StoreError) in
      for name in ["bob", "carol"] {
        let contact = try store.insertContact(
          userID: user.id, displayName: name, fullName: "", at: WallTime(milliseconds: 1))
        let id = try self.connect(user.id, contact, store)
        try self.watch(id, store)
      }
    }
    try save(token(secret), store)
  }

  private func connect(_ user: Int64, _ contact: Int64, _ store: Store) throws(StoreError) -> Int64 {
    guard let key = try? SigningKeyPair.generate(randomness: SystemRandomness()) else { throw .damaged(.connection) }
    let bytes = Array("\(contact)".utf8)
    return try store.insertConnection(
      NewConnection(
        userID: user, contactID: contact, agentID: bytes, status: "ready", isInitiated: true, recipientID: bytes,
        recipientKey: key, senderID: bytes, isSecured: true, peerSenderID: nil, peerKey: key, invitation: nil, link: nil
      ),
      at: WallTime(milliseconds: 1))
  }

  private func watch(_ id: Int64, _ store: Store) throws(StoreError) {
    guard let secret else { throw .damaged(.connection) }
    try store.setNotifier(connectionID: id, id: Self.notifier(id), secret: secret)
  }

  private func save(_ token: StoredToken, _ store: Store) throws {
    try store.transaction { () throws(StoreError) in try store.save(token, at: WallTime(milliseconds: 1)) }
  }

  private func set(_ setting: NotificationSetting, of contact: Int64, _ store: Store) throws(StoreError) {
    try store.setChatSettings(contact, setting, isFavorite: false, sendsReceipts: nil)
  }

  /// Of the two, the mailboxes whose pushes show nothing.
  private func silent(under secret: BoxSharedKey? = nil) throws -> [Int64] {
    let key = MailboxTagKey(of: try XCTUnwrap(secret ?? self.secret)), nonce = try XCTUnwrap(nonce)
    let found = SilentMailboxFile(StoreLocation(prefix: prefix), SystemFiles()).read()
    return [1, 2, 3].filter {
      let tags = [key.handle(of: Self.notifier($0)).tag(nonce), key.pad.tag(nonce, place: 1)]
      return found?.silences(tags, nonce: nonce) ?? false
    }
  }

  private var bytes: Data? { FileManager.default.contents(atPath: file) }

  func testEachChangeIsInTheFile() throws {
    let store = try open()
    try fill(store)
    XCTAssertEqual(bytes?.count, 9 + 65 * 16)
    XCTAssertEqual(try silent(), [])
    try set(.none, of: 1, store)
    XCTAssertEqual(try silent(), [1])
    try set(.mentions, of: 2, store)
    XCTAssertEqual(try silent(), [1, 2])
    try set(.all, of: 1, store)
    XCTAssertEqual(try silent(), [2])
    _ = try store.setUserNotifications(1, shown: false)
    XCTAssertEqual(try silent(), [1, 2])
    _ = try store.setUserNotifications(1, shown: true)
    XCTAssertEqual(try silent(), [2])
    _ = try store.setViewPassword(1, StoredPassword(hash: [1], salt: [2]))
    XCTAssertEqual(try silent(), [1, 2])
    _ = try store.setViewPassword(1, nil)
    XCTAssertEqual(try silent(), [2])
    XCTAssertEqual(bytes?.count, 9 + 65 * 16)
    XCTAssertFalse(FileManager.default.fileExists(atPath: file + "-new"))
  }

  /// A notifier is created for a chat that is already silent; a push may still name the previous one.
  func testAnotherNotifierOfASilentChatIsSilentToo() throws {
    let store = try open()
    try fill(store)
    try set(.mentions, of: 1, store)
    try store.transaction { () throws(StoreError) in
      guard let secret = self.secret else { throw .damaged(.token) }
      try store.setNotifier(connectionID: 1, id: Self.notifier(3), secret: secret)
    }
    XCTAssertEqual(try silent(), [1, 3])
    try set(.all, of: 1, store)
    XCTAssertFalse(try silent().contains(3))
  }

  /// Released at the relay, or deleted: mailboxes that were silent stay so.
  func testWhatIsReleasedOrDeletedStaysSilent() throws {
    let store = try open()
    try fill(store)
    try set(.none, of: 1, store)
    try set(.none, of: 2, store)
    try store.transaction { () throws(StoreError) in
      try store.clearNotifier(connectionID: 1)
      try store.deleteConnection(2)
      try store.deleteContact(2)
    }
    try store.repairSilentMailboxes()
    XCTAssertEqual(try silent(), [1, 2])
    try set(.all, of: 1, store)
    XCTAssertEqual(try silent(), [2], "shown again, although it has no key at the relay")
  }

  func testATokenHasAFileOfItsOwn() throws {
    let store = try open()
    try fill(store)
    try set(.none, of: 1, store)
    let before = bytes
    let other = BoxSharedKey(stored: [UInt8](repeating: 2, count: 32))
    try save(token(other), store)
    XCTAssertNotEqual(bytes, before)
    XCTAssertEqual(try silent(), [1, 2, 3], "a push to the earlier token does not open")
    XCTAssertEqual(try silent(under: other), [1])
    try store.transaction { () throws(StoreError) in try store.deleteToken() }
    let without = try XCTUnwrap(bytes, "a push may be under way")
    try set(.none, of: 2, store)
    XCTAssertEqual(bytes, without, "nothing of a token that is gone is shown in any case")
    try store.repairSilentMailboxes()
    XCTAssertEqual(bytes, without)
    try save(token(secret), store)
    XCTAssertEqual(try silent(), [1, 2])
  }

  /// Muting depends on the file; a message does not.
  func testAFileThatCannotBeWrittenKeepsNothingElseFromBeingCommitted() throws {
    let store = try open()
    try fill(store)
    try FileManager.default.removeItem(atPath: file)
    try FileManager.default.createDirectory(atPath: file + "/in the way", withIntermediateDirectories: true)
    XCTAssertThrowsError(try store.repairSilentMailboxes())
    try store.setSetting("one", "value")
    XCTAssertThrowsError(try set(.none, of: 1, store))
    try store.setSetting("other", "value")
    XCTAssertEqual(try store.contact(1).notifications, .all)
    try FileManager.default.removeItem(atPath: file)
    try store.setSetting("third", "value")
    XCTAssertEqual(try silent(), [], "the next transaction repairs it")
    XCTAssertNotNil(bytes)
    try set(.none, of: 1, store)
    XCTAssertEqual(try silent(), [1])
  }

  /// Older than the store, newer than it, garbage, or missing: the next start of an app brings it in line with the
  /// store.
  func testAStartRepairsTheFile() throws {
    let store = try open()
    try fill(store)
    try set(.none, of: 1, store)
    let good = try XCTUnwrap(bytes)
    try set(.none, of: 2, store)
    try set(.all, of: 2, store)
    for contents in [nil, Data(), Data("what is this".utf8), good.dropLast(), good + Data([0])] {
      try? FileManager.default.removeItem(atPath: file)
      if let contents { try contents.write(to: URL(fileURLWithPath: file)) }
      XCTAssertEqual(try silent(), [])
      try store.repairSilentMailboxes()
      XCTAssertEqual(bytes, good)
    }
    try set(.all, of: 1, store)
    try good.write(to: URL(fileURLWithPath: file))
    XCTAssertEqual(try silent(), [1], "as after a kill between the file and a commit")
    try store.repairSilentMailboxes()
    XCTAssertEqual(try silent(), [])
  }

  /// A correct file is not rewritten.
  func testAFileThatIsRightIsLeftAlone() throws {
    let files = WatchedFiles()
    let store = try open(Ports(files: files))
    try fill(store)
    try set(.none, of: 1, store)
    let renamed = files.renamed
    try store.repairSilentMailboxes()
    try set(.none, of: 1, store)
    _ = try store.setUserNotifications(1, shown: true)
    XCTAssertEqual(files.renamed, renamed)
  }

  /// Written in the transaction, and durable before it is committed.
  func testTheFileComesBeforeTheCommit() throws {
    let files = WatchedFiles()
    let store = try open(Ports(files: files))
    try fill(store)
    let other = try open()
    let seen = Mutex<[NotificationSetting?]>([])
    nonisolated(unsafe) let reader = other
    files.atRename { seen.withLock { $0.append(try? reader.contact(1).notifications) } }
    try set(.none, of: 1, store)
    XCTAssertEqual(seen.withLock { $0 }, [.all], "renamed before the commit")
    XCTAssertEqual(try other.contact(1).notifications, .none)
    XCTAssertEqual(files.synchronized.suffix(2), [file + "-new", folder.path])
  }

  /// If it cannot be written, nothing is muted, and the next change is in it.
  func testWithoutTheFileNothingIsCommitted() throws {
    let files = WatchedFiles()
    let store = try open(Ports(files: files))
    try fill(store)
    files.atRename { () throws(SystemError) in throw SystemError(ENOSPC) }
    XCTAssertThrowsError(try set(.none, of: 1, store)) { error in
      guard case .sqlite(let reason)? = error as? StoreError else { return XCTFail("\(error)") }
      XCTAssertEqual(reason.kind, .full)
    }
    XCTAssertEqual(try store.contact(1).notifications, .all)
    XCTAssertEqual(try silent(), [])
    XCTAssertFalse(FileManager.default.fileExists(atPath: file + "-new"))
    files.atRename {}
    try set(.none, of: 2, store)
    XCTAssertEqual(try silent(), [2])
  }

  /// The file is written and the transaction is not committed: this process's next one corrects it, whatever that one
  /// is about.
  func testTheNextTransactionPutsRightWhatAFailedOneWrote() throws {
    let store = try open()
    try fill(store)
    let files = WatchedFiles()
    let failing = try open(Ports(files: files))
    // After the rename.
    let folder = folder.path
    files.atSync { (path) throws(SystemError) in if path == folder { throw SystemError(EIO) } }
    XCTAssertThrowsError(try set(.none, of: 1, failing))
    XCTAssertEqual(try silent(), [1])
    XCTAssertEqual(try store.contact(1).notifications, .all)
    files.atSync { _ in }
    try failing.setSetting("other", "value")
    XCTAssertEqual(try silent(), [])
  }

  /// Left by a process that was killed while writing.
  func testALeftoverIsReplaced() throws {
    let store = try open()
    try fill(store)
    try Data("half of it".utf8).write(to: URL(fileURLWithPath: file + "-new"))
    try set(.none, of: 1, store)
    XCTAssertEqual(try silent(), [1])
    let permissions = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
    XCTAssertEqual(permissions, 0o600)
  }
}
