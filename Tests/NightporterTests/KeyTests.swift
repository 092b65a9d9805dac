import CMemoryScan
import CNightporter
import Foundation
import Nightporter
import XCTest

/// Keys through the C interface: opening, keeping, deriving, changing.
final class KeyTests: XCTestCase {
  private let raw = "x'" + String(repeating: "c3", count: 32) + "'"
  private let other = "x'" + String(repeating: "5A", count: 32) + "'"

  private func open(
    _ prefix: String, _ key: String, keeps: Bool = true, isExtension: Bool = false
  ) -> (answer: JSON, host: Host?) {
    var handle: chat_ctrl?
    let answer = take(chat_migrate_init_key(prefix, key, keeps ? 1 : 0, "yesUp", isExtension ? 1 : 0, &handle))
    XCTAssertFalse(answer.contains("c3c3") || answer.contains("5A5A") || answer.contains("sesame"), answer)
    return (JSON(answer), handle.map { Host($0, prefix) })
  }

  private func make(_ prefix: String, _ key: String) throws -> Host {
    let host = try XCTUnwrap(open(prefix, key).host)
    XCTAssertEqual(
      host.send(#"/_create user {"profile":{"displayName":"alice"}}"#)["result"]["type"].text, "activeUser")
    return host
  }

  private func encrypt(_ host: Host, _ current: String, _ new: String) -> JSON {
    host.send(#"/_db encryption {"currentKey":"\#(current)","newKey":"\#(new)"}"#)
  }

  private func code(_ answer: JSON) -> String { answer["error"]["np"]["code"].text }

  func testEachKeyErrorHasItsOwnAnswer() throws {
    let folder = try TemporaryFolder()
    try make(folder.file("sealed"), raw).free()
    try make(folder.file("plain"), "").free()
    let expected: [(name: String, key: String, type: String, code: String)] = [
      ("sealed", "", "errorNotADatabase", "storeKeyMissing"), ("sealed", other, "errorNotADatabase", "storeKeyWrong"),
      ("sealed", "open sesame", "errorNotADatabase", "storeKeyWrong"),
      ("plain", raw, "errorNotADatabase", "storeNotSealed"), ("plain", "x'0", "errorSQL", "storeKeyInvalid"),
      ("no/folder", raw, "errorSQL", "storeMissing"),
    ]
    for row in expected {
      let (answer, host) = open(folder.file(row.name), row.key)
      XCTAssertNil(host)
      XCTAssertEqual(answer["type"].text, row.type, "\(row.name): \(answer)")
      XCTAssertEqual(answer["np"]["code"].text, row.code, "\(row.name): \(answer)")
      XCTAssertNotEqual(answer["np"]["advice"].text, "")
      XCTAssertNotEqual(answer["dbFile"].text, "")
    }
    XCTAssertNotNil(open(folder.file("sealed"), raw).host)
    XCTAssertNotNil(open(folder.file("plain"), "").host)
  }

  func testDamagedPageIsNamed() throws {
    let folder = try TemporaryFolder()
    try make(folder.file("a"), raw).free()
    let url = URL(fileURLWithPath: folder.file("a_chat.db"))
    var bytes = try Data(contentsOf: url)
    for page in 2...bytes.count / 2048 { bytes[(page - 1) * 2048 + 9] ^= 0x10 }
    try bytes.write(to: url)
    let (answer, host) = open(folder.file("a"), raw)
    XCTAssertNil(host)
    XCTAssertEqual(answer["np"]["code"].text, "storePageDamaged", "\(answer)")
    XCTAssertEqual(answer["np"]["file"].text, "store")
    XCTAssertGreaterThanOrEqual(answer["np"]["page"].number, 2)
  }

  // MARK: Keeping

  func testKeptKeyOpensTheStoreAgain() throws {
    let folder = try TemporaryFolder()
    for key in [raw, "open sesame"] {
      let host = try make(folder.file("a \(key.count)"), key)
      XCTAssertEqual(host.closeStore(), "")
      XCTAssertEqual(take(chat_reopen_store(host.handle)), "")
      XCTAssertEqual(host.send("/_start")["result"]["type"].text, "chatStarted")
      XCTAssertEqual(host.send("/_app suspend 0")["result"]["type"].text, "cmdOk")
      XCTAssertEqual(take(chat_reopen_store(host.handle)), "")
      XCTAssertTrue(host.state["quiescent"].flag, "nothing is opened before the chat activates")
      XCTAssertEqual(host.send("/_app activate")["result"]["type"].text, "cmdOk")
      XCTAssertEqual(host.send("/u")["result"]["type"].text, "activeUser")
    }
  }

  func testAKeyThatIsNotKeptMustBeSetAgain() throws {
    let folder = try TemporaryFolder()
    try make(folder.file("a"), raw).free()
    let host = try XCTUnwrap(open(folder.file("a"), raw, keeps: false).host)
    XCTAssertEqual(host.send("/_start")["result"]["type"].text, "chatStarted")
    // Suspension is as immediate and complete as ever.
    XCTAssertEqual(host.send("/_app suspend 0")["result"]["type"].text, "cmdOk")
    XCTAssertEqual(host.state["quiescent"].flag, true, "\(host.state)")
    XCTAssertEqual(take(chat_reopen_store(host.handle)), "reopenDBStore: no key")
    XCTAssertEqual(code(host.send("/_app activate")), "storeKeyForgotten")
    XCTAssertEqual(np_set_key(host.handle, raw, 0), NP_OK)
    XCTAssertEqual(host.send("/_app activate")["result"]["type"].text, "cmdOk")
    XCTAssertEqual(host.closeStore(), "")
    XCTAssertEqual(host.send("/_stop")["result"]["type"].text, "chatStopped")
    XCTAssertEqual(take(chat_reopen_store(host.handle)), "reopenDBStore: no key")
    XCTAssertEqual(np_set_key(host.handle, other, 0), NP_OK)
    XCTAssertNotEqual(take(chat_reopen_store(host.handle)), "")
    XCTAssertEqual(np_set_key(host.handle, raw, 1), NP_OK)
    for _ in 0..<2 {
      XCTAssertEqual(take(chat_reopen_store(host.handle)), "")
      XCTAssertEqual(host.closeStore(), "")
    }
  }

  func testPushWithoutAKeyIsLocked() throws {
    let folder = try TemporaryFolder()
    try make(folder.file("a"), raw).free()
    let host = try XCTUnwrap(open(folder.file("a"), raw, keeps: false, isExtension: true).host)
    XCTAssertEqual(host.closeStore(), "")
    let push = #"{"aps":{"mutable-content":1},"notificationData":{"checkMessages":true}}"#
    let wake = host.push(push)
    XCTAssertEqual(wake["outcome"].text, "locked")
    XCTAssertEqual(wake.titles, [], "it is about no message")
    let nonce = String(repeating: "A", count: 32)
    let locked = host.push(#"{"aps":{},"notificationData":{"nonce":"\#(nonce)","message":"\#(nonce)"}}"#)
    XCTAssertEqual(locked["outcome"].text, "locked", locked.description)
    XCTAssertEqual(locked.titles, ["Encrypted message: device is locked"])
    XCTAssertEqual(locked.placeholders, ["Unlock the device and open the app to receive it."])
    XCTAssertEqual(np_set_key(host.handle, raw, 1), NP_OK)
    XCTAssertNotEqual(host.push(push)["outcome"].text, "locked")
  }

  func testSettingAKeyIsChecked() throws {
    let folder = try TemporaryFolder()
    try make(folder.file("a"), raw).free()
    let host = try XCTUnwrap(open(folder.file("a"), raw, isExtension: true).host)
    XCTAssertEqual(np_set_key(nil, raw, 1), NP_ERROR_NULL)
    XCTAssertEqual(np_set_key(host.handle, nil, 1), NP_ERROR_NULL)
    XCTAssertEqual(np_set_key(chat_ctrl(bitPattern: 77), raw, 1), NP_ERROR_HANDLE)
    XCTAssertEqual(np_set_key(host.handle, "x'12'", 1), NP_ERROR_ARGUMENT)
    XCTAssertEqual(np_set_key(host.handle, "open sesame", 1), NP_ERROR_ARGUMENT, "an extension has no room for it")
    let notUTF8: [CChar] = [-1, 65, 0]
    XCTAssertEqual(np_set_key(host.handle, notUTF8, 1), NP_ERROR_UTF8)
    XCTAssertEqual(host.closeStore(), "")
    XCTAssertEqual(take(chat_reopen_store(host.handle)), "", "the key is the one of before")
  }

  // MARK: Ciphers

  func testChoosingACipher() throws {
    defer { XCTAssertEqual(np_set_cipher("fastest"), NP_OK) }
    XCTAssertEqual(np_set_cipher(nil), NP_ERROR_NULL)
    XCTAssertEqual(np_set_cipher("ROT13"), NP_ERROR_ARGUMENT)
    XCTAssertEqual(np_set_cipher("\u{fffd}"), NP_ERROR_ARGUMENT)
    let notUTF8: [CChar] = [-1, 65, 0]
    XCTAssertEqual(np_set_cipher(notUTF8), NP_ERROR_UTF8)
    XCTAssertEqual(np_set_cipher("XChaCha20-Poly1305"), NP_OK)
    let folder = try TemporaryFolder()
    try make(folder.file("a"), raw).free()
    let hasAEGIS = np_set_cipher("AEGIS-256") == NP_OK
    if !hasAEGIS { XCTAssertEqual(np_set_cipher("AEGIS-256"), NP_ERROR_SYSTEM) }
    let host = try XCTUnwrap(open(folder.file("a"), raw).host)
    XCTAssertEqual(JSON(take(np_change_key(host.handle, raw, other)))["result"]["type"].text, "cmdOk")
    host.free()
    let url = URL(fileURLWithPath: folder.file("a_chat.db"))
    var bytes = try Data(contentsOf: url)
    XCTAssertEqual(bytes[2048 - 63], hasAEGIS ? 2 : 1)
    XCTAssertNotNil(open(folder.file("a"), other).host)
    bytes = try Data(contentsOf: url)
    bytes[2048 - 63] = 2
    try bytes.write(to: url)
    guard !hasAEGIS else { return }
    for key in [other, ""] {
      let (answer, host) = open(folder.file("a"), key)
      XCTAssertNil(host)
      XCTAssertEqual(answer["type"].text, "errorNotADatabase", "\(answer)")
      XCTAssertEqual(answer["np"]["code"].text, "storeCipherUnavailable", "\(answer)")
    }
  }

  // MARK: Deriving

  func testDerivedKeyOpensTheStoreInAnExtension() throws {
    let folder = try TemporaryFolder()
    let app = try make(folder.file("a"), "open sesame")
    // While the app has it open, too.
    let answer = JSON(take(np_derive_key(folder.file("a"), "open sesame")))
    XCTAssertEqual(answer["result"]["type"].text, "storeKey", "\(answer)")
    let key = answer["result"]["storeKey"].text
    XCTAssertEqual(key.utf8.count, 67)
    let (refused, none) = open(folder.file("a"), "open sesame", isExtension: true)
    XCTAssertNil(none)
    XCTAssertEqual(refused["np"]["code"].text, "storeKeyNotRaw")
    let service = try XCTUnwrap(open(folder.file("a"), key, isExtension: true).host)
    service.free()
    app.free()

    let refusals: [(String, String?, String)] = [
      ("a", "wrong", "storeKeyWrong"), ("nothing", "open sesame", "storeMissing"), ("a", "", "storeKeyInvalid"),
      ("a", raw, "storeKeyInvalid"), ("a", nil, "storeKeyInvalid"),
    ]
    for (name, passphrase, expected) in refusals {
      XCTAssertEqual(code(JSON(take(np_derive_key(folder.file(name), passphrase)))), expected)
    }
    XCTAssertNotEqual(JSON(take(np_derive_key(nil, "open sesame")))["error"]["type"].text, "")
  }

  // MARK: Changing

  func testEncryptionCommand() throws {
    let folder = try TemporaryFolder()
    let host = try make(folder.file("a"), "")
    let steps: [(String, String)] = [("", raw), (raw, "open sesame"), ("open sesame", other), (other, "")]
    for (current, new) in steps {
      XCTAssertEqual(encrypt(host, current, new)["result"]["type"].text, "cmdOk")
      XCTAssertEqual(host.send("/u")["result"]["user"]["localDisplayName"].text, "alice")
      // The new key is kept, like the first one.
      XCTAssertEqual(host.closeStore(), "")
      XCTAssertEqual(take(chat_reopen_store(host.handle)), "")
    }
    XCTAssertEqual(encrypt(host, "", "")["result"]["type"].text, "cmdOk")
    XCTAssertEqual(code(encrypt(host, raw, other)), "storeNotSealed")
    XCTAssertEqual(encrypt(host, "", raw)["result"]["type"].text, "cmdOk")
    XCTAssertEqual(code(encrypt(host, "", other)), "storeKeyMissing")
    let wrong = encrypt(host, other, "open sesame")
    XCTAssertEqual(code(wrong), "storeKeyWrong")
    XCTAssertEqual(wrong["error"]["databaseError"]["sqliteError"]["type"].text, "errorNotADatabase")
    XCTAssertEqual(code(encrypt(host, raw, "x'12'")), "storeKeyInvalid")
    // None of that changed anything, and the store is open.
    XCTAssertEqual(host.send("/u")["result"]["type"].text, "activeUser")
    XCTAssertEqual(host.send("/_start")["result"]["type"].text, "chatStarted")
    XCTAssertEqual(encrypt(host, raw, other)["error"]["errorType"]["type"].text, "chatNotStopped")
    XCTAssertEqual(host.send("/_stop")["result"]["type"].text, "chatStopped")
    XCTAssertEqual(encrypt(host, raw, other)["result"]["type"].text, "cmdOk")
    XCTAssertEqual(host.send("/_start")["result"]["type"].text, "chatStarted")
  }

  func testKeyIsChangedWithoutACommand() throws {
    let folder = try TemporaryFolder()
    let host = try make(folder.file("a"), "")
    func change(_ current: String?, _ new: String?) -> JSON { JSON(take(np_change_key(host.handle, current, new))) }
    for (current, new) in [("", raw), (raw, "open sesame"), ("open sesame", other)] {
      XCTAssertEqual(change(current, new)["result"]["type"].text, "cmdOk")
      XCTAssertEqual(host.send("/u")["result"]["user"]["localDisplayName"].text, "alice")
      XCTAssertEqual(host.closeStore(), "")
      XCTAssertEqual(take(chat_reopen_store(host.handle)), "")
    }
    let notUTF8: [CChar] = [-1, 65, 0]
    XCTAssertEqual(code(change(raw, "")), "storeKeyWrong")
    XCTAssertEqual(code(change("", raw)), "storeKeyMissing")
    XCTAssertEqual(code(change(other, "x'12'")), "storeKeyInvalid")
    XCTAssertEqual(code(change(nil, raw)), "storeKeyInvalid")
    XCTAssertEqual(code(change(other, nil)), "storeKeyInvalid")
    XCTAssertEqual(code(JSON(take(np_change_key(host.handle, notUTF8, raw)))), "textNotUTF8")
    XCTAssertEqual(code(JSON(take(np_change_key(nil, other, raw)))), "controllerInvalid")
    XCTAssertEqual(host.send("/_start")["result"]["type"].text, "chatStarted")
    XCTAssertEqual(change(other, raw)["error"]["errorType"]["type"].text, "chatNotStopped")
    host.free()
    let service = try XCTUnwrap(open(folder.file("a"), other, isExtension: true).host)
    XCTAssertEqual(code(JSON(take(np_change_key(service.handle, other, "open sesame")))), "roleNotAllowed")
  }

  // MARK: Memory

  /// Searches this whole process for a key, guarded memory included, once all work in progress is over.
  private func assertGone(
    _ secrets: [HiddenSecret], _ what: String, file: StaticString = #filePath, line: UInt = #line
  ) {
    for secret in secrets {
      let end = Date().addingTimeInterval(20)
      while secret.copies > 0, Date() < end { usleep(20_000) }
      XCTAssertEqual(secret.copies, 0, "\(secret.form) key, \(what)", file: file, line: line)
    }
  }

  func testAKeyThatIsNotKeptIsWipedOnceTheStoreIsOpen() throws {
    #if os(Linux)
      for form in HiddenSecret.Form.allCases {
        let folder = try TemporaryFolder()
        let secret = HiddenSecret(form)
        // Created in this run, or opened as an existing store.
        for turn in ["made", "opened"] {
          var handle: chat_ctrl?
          _ = secret.withText { take(chat_migrate_init_key(folder.file("a"), $0, 0, "yesUp", 0, &handle)) }
          let host = Host(try XCTUnwrap(handle), folder.file("a"))
          assertGone([secret], turn)
          XCTAssertEqual(host.send("/_start")["error"]["errorType"]["type"].text, "noActiveUser")
          XCTAssertEqual(host.closeStore(), "")
          XCTAssertEqual(secret.withText { np_set_key(host.handle, $0, 0) }, NP_OK)
          XCTAssertEqual(take(chat_reopen_store(host.handle)), "")
          assertGone([secret], "\(turn), closed and opened again")
          XCTAssertEqual(host.closeStore(), "")
          XCTAssertEqual(secret.withText { np_set_key(host.handle, $0, 1) }, NP_OK)
          XCTAssertEqual(take(chat_reopen_store(host.handle)), "")
          XCTAssertGreaterThan(secret.copies, 0, "a key that is kept is not found: the search is of no use")
          host.free()
          assertGone([secret], "freed")
        }
      }
    #endif
  }

  func testChangedKeysAreWiped() throws {
    #if os(Linux)
      let folder = try TemporaryFolder()
      let secrets = [HiddenSecret(.raw), HiddenSecret(.raw), HiddenSecret(.passphrase), HiddenSecret(.raw)]
      for keeps in [false, true] {
        var handle: chat_ctrl?
        let path = folder.file("a \(keeps)")
        _ = secrets[0].withText { take(chat_migrate_init_key(path, $0, keeps ? 1 : 0, "yesUp", 0, &handle)) }
        let host = Host(try XCTUnwrap(handle), path)
        for (current, new) in zip(secrets, secrets.dropFirst()) {
          let answer = current.withText { current in
            new.withText { new in take(np_change_key(host.handle, current, new)) }
          }
          XCTAssertEqual(JSON(answer)["result"]["type"].text, "cmdOk", answer)
          assertGone(keeps ? secrets.filter { $0 !== new } : secrets, "keeps: \(keeps)")
          XCTAssertEqual(new.copies > 0, keeps)
        }
        host.free()
        assertGone(secrets, "freed")
      }
    #endif
  }

  func testExtensionMayNotChangeTheKey() throws {
    let folder = try TemporaryFolder()
    try make(folder.file("a"), raw).free()
    let host = try XCTUnwrap(open(folder.file("a"), raw, isExtension: true).host)
    XCTAssertEqual(code(encrypt(host, raw, "")), "roleNotAllowed")
  }

  func testLogHasNoKeys() throws {
    let folder = try TemporaryFolder()
    let lines = Lines()
    let context = Unmanaged.passUnretained(lines).toOpaque()
    XCTAssertEqual(
      np_set_log(
        { context, _, line in Unmanaged<Lines>.fromOpaque(context!).takeUnretainedValue().add(line) }, context, 0),
      NP_OK)
    defer { np_set_log(nil, nil, 0) }
    try make(folder.file("a"), raw).free()
    _ = open(folder.file("a"), other)
    _ = open(folder.file("a"), "open sesame")
    let host = try XCTUnwrap(open(folder.file("a"), raw).host)
    _ = encrypt(host, other, "open sesame")
    _ = encrypt(host, raw, "open sesame")
    host.free()
    XCTAssertGreaterThan(lines.all.count, 5)
    for line in lines.all {
      XCTAssertFalse(["c3c3", "5a5a", "sesame"].contains { line.lowercased().contains($0) }, line)
    }
  }
}

/// The library's log, from all threads.
private final class Lines: @unchecked Sendable {
  private let lock = NSLock()
  private var lines: [String] = []

  func add(_ line: UnsafePointer<CChar>?) {
    guard let line else { return }
    lock.withLock { lines.append(String(cString: line)) }
  }

  var all: [String] { lock.withLock { lines } }
}

/// A key that is in memory only while it is passed on.
private final class HiddenSecret {
  enum Form: CaseIterable { case raw, passphrase }

  let form: Form
  /// Each byte's complement: the search must not find its own pattern.
  private let inverted: [UInt8]

  init(_ form: Form) {
    self.form = form
    switch form {
    case .raw: inverted = (0..<32).map { _ in UInt8.random(in: 0...255) }
    case .passphrase: inverted = (0..<32).map { _ in ~UInt8.random(in: UInt8(ascii: "a")...UInt8(ascii: "z")) }
    }
  }

  var copies: Int { memory_scan(inverted, inverted.count) }

  /// The key's text; the bytes of a raw key are never made here.
  func withText<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
    let text = UnsafeMutablePointer<CChar>.allocate(capacity: 80)
    text.initialize(repeating: 0, count: 80)
    defer {
      for index in 0..<80 { text[index] = 0 }
      // Read, so that the write is not optimized away.
      XCTAssertEqual(strlen(text), 0)
      text.deallocate()
    }
    var position = 0
    func append(_ byte: UInt8) {
      text[position] = CChar(bitPattern: byte)
      position += 1
    }
    switch form {
    case .passphrase: for byte in inverted { append(~byte) }
    case .raw:
      let digits = Array("0123456789abcdef".utf8)
      for byte in "x'".utf8 { append(byte) }
      for byte in inverted {
        append(digits[Int(~byte >> 4)])
        append(digits[Int(~byte & 15)])
      }
      append(UInt8(ascii: "'"))
    }
    return body(text)
  }
}
