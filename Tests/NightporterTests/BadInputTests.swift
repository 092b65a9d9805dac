import CNightporter
import Foundation
import PorterJSON
import PorterSchema
import PorterStore
import XCTest

@testable import Nightporter
@testable import PorterEngine

/// A host's mistakes: each is answered, nothing crashes, and nothing is lost.
final class BadInputTests: XCTestCase {
  func testNullHandleIsAnsweredByEveryFunction() {
    for answer in [
      take(chat_send_cmd(nil, "/u")), take(chat_recv_msg(nil)), take(chat_recv_msg_wait(nil, 0)), take(np_state(nil)),
      take(np_receive_push(nil, "{}", 1_000)),
    ] {
      XCTAssertEqual(JSON(answer)["error"]["np"]["code"].text, "controllerInvalid", answer)
    }
    XCTAssertFalse(take(chat_close_store(nil)).isEmpty)
    XCTAssertFalse(take(chat_reopen_store(nil)).isEmpty)
    XCTAssertEqual(np_ctrl_free(nil), NP_OK)
    XCTAssertEqual(np_expire_push(nil), NP_ERROR_NULL)
    XCTAssertEqual(np_expire_push_id(nil, "a"), NP_ERROR_NULL)
    XCTAssertEqual(np_set_phase(nil, NP_PHASE_ACTIVE), NP_ERROR_NULL)
    XCTAssertEqual(np_set_relay(nil, nil), NP_ERROR_NULL)
    XCTAssertEqual(np_relay_ready(nil), NP_ERROR_NULL)
    XCTAssertEqual(np_event_fd(nil), -1)
    np_string_free(nil)
  }

  func testFreedHandleIsRecognised() throws {
    let folder = try TemporaryFolder()
    let host = try XCTUnwrap(Host.open(folder.file("a")).host)
    let handle = host.handle
    host.free()
    XCTAssertEqual(np_ctrl_free(handle), NP_ERROR_HANDLE)
    XCTAssertEqual(JSON(take(chat_send_cmd(handle, "/u")))["error"]["np"]["code"].text, "controllerInvalid")
    // The slot is reused, and the old handle is still invalid.
    let second = try XCTUnwrap(Host.open(folder.file("a")).host)
    XCTAssertNotEqual(second.handle, handle)
    XCTAssertEqual(JSON(take(chat_send_cmd(handle, "/u")))["error"]["np"]["code"].text, "controllerInvalid")
    XCTAssertEqual(second.send("/u").errorTag, "noActiveUser")
  }

  func testWildHandlesAreRecognised() {
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<1_000 {
      let wild = chat_ctrl(bitPattern: UInt.random(in: 1...UInt.max, using: &generator))
      XCTAssertEqual(JSON(take(np_state(wild)))["error"]["np"]["code"].text, "controllerInvalid")
    }
  }

  func testNullArgumentsAreAnswered() throws {
    var handle: chat_ctrl?
    XCTAssertEqual(JSON(take(chat_migrate_init(nil, "", "yesUp", &handle)))["type"].text, "errorSQL")
    XCTAssertEqual(JSON(take(chat_migrate_init("/nonexistent", nil, "yesUp", &handle)))["type"].text, "errorSQL")
    XCTAssertEqual(JSON(take(chat_migrate_init("/nonexistent", "", nil, &handle)))["type"].text, "invalidConfirmation")
    XCTAssertEqual(JSON(take(chat_migrate_init("/nonexistent", "", "yesUp", nil)))["type"].text, "errorSQL")
    XCTAssertNil(handle)
    let folder = try TemporaryFolder()
    let host = try XCTUnwrap(Host.open(folder.file("a")).host)
    XCTAssertTrue(JSON(take(chat_send_cmd(host.handle, nil)))["error"].exists)
    XCTAssertEqual(JSON(take(np_receive_push(host.handle, nil, 1_000)))["outcome"].text, "unknown")
    XCTAssertEqual(np_set_relay(host.handle, nil), NP_ERROR_NULL)
    XCTAssertEqual(np_machine_step(0, 0, 0, nil), NP_ERROR_NULL)
    XCTAssertEqual(np_machine_find(nil), -1)
    XCTAssertEqual(chat_json_length(nil), -1)
    for text in [
      take(chat_parse_markdown(nil)), take(chat_parse_server(nil)), take(chat_parse_uri(nil, 0)),
    ] {
      XCTAssertTrue(JSON(text).exists, text)
    }
  }

  func testTextThatIsNotUTF8() throws {
    let folder = try TemporaryFolder()
    let host = try XCTUnwrap(Host.open(folder.file("a")).host)
    let bytes: [CChar] = [0x2f, 0x75, CChar(bitPattern: 0xff), CChar(bitPattern: 0xfe), 0]
    XCTAssertEqual(JSON(take(chat_send_cmd(host.handle, bytes)))["error"]["np"]["code"].text, "textNotUTF8")
    XCTAssertEqual(JSON(take(np_receive_push(host.handle, bytes, 1_000)))["outcome"].text, "unknown")
    XCTAssertEqual(chat_json_length(bytes), -1)
    XCTAssertEqual(take(chat_valid_name(bytes)), "")
  }

  func testUnknownTruncatedAndOversizedCommands() throws {
    let folder = try TemporaryFolder()
    let host = try XCTUnwrap(Host.open(folder.file("a")).host)
    for command in [
      "", " ", "/", "/_nonsense", "hello", "/_create user {\"profile\":{\"displayName\":\"a", "/_create user []",
      "/_app suspend", "/_app suspend -1", "/_app suspend 99999999999999999999", "/_read chat @",
      "/_get chat @1 count=x",
      "/_ntf register apns_test XYZ INSTANT", "/_send @1 json [{]", "/_user 9223372036854775808",
      "/_create user " + String(repeating: "[", count: 100_000), String(repeating: "x", count: 10_000_000),
    ] {
      let answer = host.send(command)
      XCTAssertEqual(answer.errorTag, "commandError", "\(command.prefix(40)): \(answer.description.prefix(200))")
      XCTAssertLessThan(answer.description.utf8.count, 1_000, "an error never quotes what was sent")
    }
    XCTAssertEqual(host.send("/u").errorTag, "noActiveUser", "the controller works on")
  }

  func testNamesThatShowNothingAreRefused() throws {
    let folder = try TemporaryFolder()
    let host = try XCTUnwrap(Host.open(folder.file("a")).host)
    for blank in ["\u{3164}", "\u{2800}", "\u{115F}", "\u{1160}"] {
      XCTAssertEqual(take(chat_valid_name(blank)), "")
      for name in [blank, "alice\(blank)"] {
        let answer = host.send("/_create user {\"profile\":{\"displayName\":\"\(name)\",\"fullName\":\"\"}}")
        XCTAssertEqual(answer.errorTag, "invalidDisplayName", answer.description)
      }
    }
    XCTAssertEqual(host.send("/u").errorTag, "noActiveUser")
  }

  func testRegisteringATokenWithoutAServerSaysWhatIsMissing() throws {
    let folder = try TemporaryFolder()
    let host = try XCTUnwrap(Host.open(folder.file("a")).host)
    host.begin("alice", relay: folder.file("relay.db"))
    let answer = host.send("/_ntf register apns_test abcd INSTANT")
    XCTAssertEqual(answer["error"]["np"]["code"].text, "notificationServerMissing", answer.description)
  }

  func testDeadlineOutsideItsBoundsIsRefused() throws {
    let folder = try TemporaryFolder()
    let host = try XCTUnwrap(Host.open(folder.file("a")).host)
    for deadline: Int32 in [0, -1, 30_001, .max, .min] {
      XCTAssertTrue(JSON(take(np_receive_push(host.handle, "{}", deadline)))["error"].exists)
    }
  }

  func testPayloadsThatAreNotPushes() throws {
    let folder = try TemporaryFolder()
    let host = try XCTUnwrap(Host.open(folder.file("a")).host)
    for payload in [
      "", "{", "[]", "null", "{}", "{\"aps\":{}}", "{\"aps\":{},\"notificationData\":{}}",
      "{\"aps\":{},\"notificationData\":{\"nonce\":\"x\",\"message\":\"y\"}}", String(repeating: " ", count: 5_000),
    ] {
      let answer = host.push(payload)
      XCTAssertEqual(answer["outcome"].text, "unknown", "\(payload.prefix(40)): \(answer)")
      XCTAssertEqual(answer["notifications"].count, 0)
    }
  }

  // MARK: Stores

  func testInvalidKeyIsRefusedAndNoFileCreated() throws {
    let folder = try TemporaryFolder()
    for key in ["x'00ff'", String(repeating: "secret", count: 1000)] {
      let (answer, host) = Host.open(folder.file("a"), key: key)
      XCTAssertNil(host)
      XCTAssertEqual(JSON(answer)["np"]["code"].text, "storeKeyInvalid", answer)
      XCTAssertFalse(answer.contains("00ff") || answer.contains("secretsecret"))
    }
    XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: folder.path), [])
  }

  func testFileThatIsNotADatabase() throws {
    let folder = try TemporaryFolder()
    let noise = Data((0..<8_192).map { _ in UInt8.random(in: 0...255) })
    try noise.write(to: URL(fileURLWithPath: folder.file("a_chat.db")))
    let (answer, host) = Host.open(folder.file("a"))
    XCTAssertNil(host)
    XCTAssertEqual(JSON(answer)["type"].text, "errorNotADatabase", answer)
    XCTAssertEqual(try Data(contentsOf: URL(fileURLWithPath: folder.file("a_chat.db"))), noise, "left as it was")
  }

  func testDatabaseOfAnotherProgram() throws {
    let folder = try TemporaryFolder()
    let theirs = try Database(path: folder.file("a_chat.db"))
    try theirs.execute("CREATE TABLE theirs (x); INSERT INTO theirs VALUES (1)")
    try theirs.close()
    let (answer, host) = Host.open(folder.file("a"))
    XCTAssertNil(host)
    XCTAssertEqual(JSON(answer)["type"].text, "errorNotADatabase", answer)
    XCTAssertEqual(try Database(path: folder.file("a_chat.db")).integer("SELECT count(*) FROM theirs"), 1)
  }

  func testStoreOfANewerSchema() throws {
    let folder = try TemporaryFolder()
    Host.open(folder.file("a")).host?.free()
    let newer = try Database(path: folder.file("a_chat.db"))
    try newer.setUserVersion(999)
    try newer.close()
    for isExtension in [false, true] {
      let (answer, host) = Host.open(folder.file("a"), isExtension: isExtension)
      XCTAssertNil(host)
      XCTAssertEqual(JSON(answer)["type"].text, "errorMigration", answer)
    }
  }

  func testINC23ExtensionNeitherCreatesNorMigrates() throws {
    let folder = try TemporaryFolder()
    XCTAssertNil(Host.open(folder.file("a"), isExtension: true).host, "there is no store yet")
    XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: folder.path), [])
  }

  func testReadOnlyDirectory() throws {
    let folder = try TemporaryFolder()
    // Root may write anywhere, so the test uses a path where no file can be created.
    let (answer, host) = Host.open("/proc/nightporter")
    XCTAssertNil(host)
    XCTAssertTrue(["errorSQL", "errorNotADatabase"].contains(JSON(answer)["type"].text), answer)
    XCTAssertNil(Host.open(folder.file("missing/folder/a")).host)
  }

  func testUnknownConfirmation() throws {
    let folder = try TemporaryFolder()
    XCTAssertEqual(JSON(Host.open(folder.file("a"), confirm: "maybe").answer)["type"].text, "invalidConfirmation")
  }

  func testPathWithSpacesAndUnicode() throws {
    let folder = try TemporaryFolder()
    let host = try XCTUnwrap(Host.open(folder.file("näch tlich 夜 'quoted'")).host)
    host.begin("alice", relay: folder.file("re lay.db"))
  }

  /// Running out of descriptors is reported as such, not as a store that is in use or damaged.
  func testRunningOutOfDescriptorsIsReportedAsSuch() throws {
    let folder = try TemporaryFolder()
    let host = try XCTUnwrap(Host.open(folder.file("a")).host)
    host.begin("alice", relay: folder.file("relay.db"))
    for (suspends, command) in [("/_app suspend 0", "/_app activate"), ("/_stop", "/_start")] {
      XCTAssertTrue(host.send(suspends)["result"].exists)
      var taken: [Int32] = []
      while case let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC), descriptor >= 0 { taken.append(descriptor) }
      let answer = take(chat_send_cmd(host.handle, command))
      let second = folder.file("b")
      var handle: chat_ctrl?
      let opened = take(chat_migrate_init(second, "", "yesUp", &handle))
      for descriptor in taken { close(descriptor) }
      XCTAssertEqual(JSON(answer).errorTag, "internalError", answer)
      XCTAssertEqual(JSON(opened)["type"].text, "agentError", opened)
      XCTAssertNil(handle)
      XCTAssertTrue(host.send(command)["result"].exists, "it continues once there are some")
    }
  }

  func testINC16SecondAppOnOneStoreGetsATypedAnswer() throws {
    let folder = try TemporaryFolder()
    let first = try XCTUnwrap(Host.open(folder.file("a")).host)
    first.begin("alice", relay: folder.file("relay.db"))
    let second = try XCTUnwrap(Host.open(folder.file("a")).host)
    let answer = second.send("/_start")
    XCTAssertEqual(answer["error"]["np"]["code"].text, "ownedElsewhere", answer.description)
    XCTAssertFalse(answer["error"]["np"]["holder"].text.isEmpty, "the holder is named")
    XCTAssertEqual(first.send("/_check running")["result"]["type"].text, "chatRunning")
    first.send("/_app suspend 0").assert("cmdOk")
    second.send("/_start").assert("chatStarted")
  }

  /// Whether it was never started, its start was refused, or it is suspended itself.
  func testINC16TheBackgroundPhaseOfASecondAppNamesTheFirst() throws {
    let folder = try TemporaryFolder()
    let first = try XCTUnwrap(Host.open(folder.file("a")).host)
    first.begin("alice", relay: folder.file("relay.db"))
    let second = try XCTUnwrap(Host.open(folder.file("a")).host)
    func assertRefused(_ what: String, line: UInt = #line) throws {
      let controller = try XCTUnwrap(Handles.find(second.handle))
      let answer = controller.call { engine in
        Answer(catching: { () throws(ChatError) in try engine.beginBackgroundRefresh() }).json.text
      }
      let error = JSON(try XCTUnwrap(answer))["error"]["np"]
      XCTAssertEqual(error["code"].text, "ownedElsewhere", "\(what): \(error)", line: line)
      XCTAssertTrue(error["holder"].text.contains("\(getpid())@"), "\(what): \(error)", line: line)
      XCTAssertEqual(np_set_phase(second.handle, NP_PHASE_BACKGROUND_REFRESH), NP_ERROR_STATE, what, line: line)
      XCTAssertEqual(first.send("/_check running")["result"]["type"].text, "chatRunning", what, line: line)
    }
    try assertRefused("never started")
    XCTAssertEqual(second.send("/_start")["error"]["np"]["code"].text, "ownedElsewhere")
    try assertRefused("its start was refused")
    first.send("/_app suspend 0").assert("cmdOk")
    second.send("/_start").assert("chatStarted")
    second.send("/_app suspend 0").assert("cmdOk")
    first.send("/_app activate").assert("cmdOk")
    try assertRefused("suspended")
    first.send("/_app suspend 0").assert("cmdOk")
    XCTAssertEqual(np_set_phase(second.handle, NP_PHASE_BACKGROUND_REFRESH), NP_OK)
    second.send("/_app suspend 0").assert("cmdOk")
  }

  /// INC-18: the app that has it is named. It may be frozen, so a message has a notice.
  func testINC16ARoundOrPushOfASecondAppIsLeftToTheFirst() throws {
    let station = try Station()
    station.suspend()
    let push = try station.push(for: "hello")
    station.wake(expecting: ["hello"])
    let second = try XCTUnwrap(Host.open(station.alice.prefix).host)
    let round = JSON(take(np_background_refresh(second.handle, 5_000)))
    for (answer, shown) in [(round, []), (second.push(push), ["np:notice"])] {
      XCTAssertEqual(answer["outcome"].text, "yielded", answer.description)
      XCTAssertEqual(answer["work"].text, "skipped", answer.description)
      XCTAssertEqual(answer.identifiers, shown, answer.description)
      XCTAssertTrue(answer["quiescent"].flag, answer.description)
      let holder = answer["holders"][0].text
      XCTAssertTrue(holder.hasPrefix("app \(getpid())@"), "INC-18: \(answer)")
    }
    XCTAssertEqual(station.alice.send("/_check running")["result"]["type"].text, "chatRunning")
    station.suspend()
    let later = JSON(take(np_background_refresh(second.handle, 20_000)))
    XCTAssertEqual(later["work"].text, "ran", later.description)
  }
}
