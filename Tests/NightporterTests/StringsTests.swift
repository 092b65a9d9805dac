import CNightporter
import PorterPlatform
import PorterStore
import XCTest

/// The texts of notifications, from the app's choice to what its extension shows.
final class StringsTests: XCTestCase {
  override func tearDown() {
    _ = take(np_set_strings(nil, "{}"))
    super.tearDown()
  }

  private func set(_ host: Host?, _ json: String) -> JSON { JSON(take(np_set_strings(host?.handle, json))) }

  /// What an extension of `station` shows for a message from bob when only names may be seen.
  private func shown(_ station: Station, _ service: Host? = nil) throws -> [String] {
    let push = try station.push(for: "hello")
    let answer = try service.map { $0.push(push) } ?? station.present(push)
    XCTAssertEqual(answer["notifications"][0]["bodyKey"].text, "new message", answer.description)
    return answer.titles + answer.bodies
  }

  func testAnExtensionShowsWhatItsAppChose() throws {
    let station = try Station()
    station.alice.send("/_save app settings {\"notificationPreviewMode\":\"contact\"}").assert("cmdOk")
    set(station.alice, #"{"language":"ar"}"#).assert("cmdOk")
    station.suspend()
    XCTAssertEqual(try shown(station), ["bob:", "رسالة جديدة"])
    // An extension's own table, and its process's, take precedence over the app's, and change nothing for others.
    let service = try station.makeExtension()
    set(nil, #"{"language":"ja"}"#).assert("cmdOk")
    XCTAssertEqual(try shown(station, service), ["bob:", "新しいメッセージ"])
    set(service, ##"{"language":"de","strings":{"%@:":"Von %@","new message":"neue Nachricht"}}"##).assert("cmdOk")
    XCTAssertEqual(try shown(station, service), ["Von bob", "neue Nachricht"])
    XCTAssertEqual(try shown(station), ["bob:", "新しいメッセージ"])
    set(service, "{}").assert("cmdOk")
    set(nil, "{}").assert("cmdOk")
    XCTAssertEqual(try shown(station, service), ["bob:", "رسالة جديدة"], "the app's again")
    station.alice.send("/_app activate").assert("cmdOk")
    set(station.alice, "{}").assert("cmdOk")
    station.suspend()
    XCTAssertEqual(try shown(station, service), ["bob:", "new message"])
  }

  /// The app stored the table, and an update has brought a version that has other phrases.
  func testAStoredTableThatDoesNotFitIsReplacedByTheOneThatShips() throws {
    let station = try Station()
    station.alice.send("/_save app settings {\"notificationPreviewMode\":\"contact\"}").assert("cmdOk")
    set(station.alice, #"{"language":"ja-JP","strings":{"new message":"新着"}}"#).assert("cmdOk")
    station.suspend()
    XCTAssertEqual(try shown(station), ["bob:", "新着"])
    let store = try Database(path: station.alice.prefix + "_chat.db")
    try store.execute(
      "UPDATE settings SET value = replace(value, 'new message', 'a phrase of the past') WHERE name = 'ntfStrings'")
    try store.close()
    XCTAssertEqual(try shown(station), ["bob:", "新しいメッセージ"])
  }

  /// One push too many is answered without the engine: in the app's texts once the engine has read them, and in the
  /// extension's own.
  func testAnAnswerWithoutTheEngineHasTheTextsThatTheEngineKnows() throws {
    let station = try Station()
    station.alice.send("/_save app settings {\"notificationPreviewMode\":\"contact\"}").assert("cmdOk")
    set(station.alice, #"{"strings":{"Open the app to receive it.":"by the app"}}"#).assert("cmdOk")
    station.suspend()
    let service = try station.makeExtension()
    let transport = HostTransport(relay: station.pair.folder.file("relay.db"))
    transport.install(in: service)
    XCTAssertEqual(try shown(station, service), ["bob:", "new message"])
    let push = try station.push(for: "again")
    transport.hang(true)
    let answers = (0..<64).map { _ in service.inBackground { $0.push(push, deadline: 30_000).description } }
    awaitThat("all have begun") { service.state["pushesWaiting"].number == 63 }
    XCTAssertEqual(service.push(push).placeholders, ["by the app"])
    set(service, #"{"strings":{"Open the app to receive it.":"by the extension"}}"#).assert("cmdOk")
    XCTAssertEqual(service.push(push).placeholders, ["by the extension"])
    set(service, "{}").assert("cmdOk")
    XCTAssertEqual(service.push(push).placeholders, ["by the app"])
    transport.hang(false)
    for answer in answers { XCTAssertNotNil(answer.wait(atMost: .seconds(40))) }
  }

  /// Bad input: a typed answer that names the member, and nothing changes.
  func testAWrongTableIsRefusedAndChangesNothing() throws {
    let station = try Station()
    station.alice.send("/_save app settings {\"notificationPreviewMode\":\"contact\"}").assert("cmdOk")
    set(station.alice, #"{"language":"ja"}"#).assert("cmdOk")
    let wrong: [(json: String, key: String)] = [
      (#"{"language":"de","strings":{"new message":"neu","%@:":"Von"}}"#, "%@:"),
      (#"{"strings":{"no such phrase":"x"}}"#, "no such phrase"), (#"{"strings":7}"#, "strings"), ("nonsense", ""),
      ("{\"strings\":{\"Somebody\":\"" + String(repeating: "x", count: 100_000) + "\"}}", ""),
    ]
    for host in [station.alice, nil] {
      for (json, key) in wrong {
        let error = set(host, json)["error"]
        XCTAssertEqual(error["np"]["code"].text, "stringsInvalid", error.description)
        XCTAssertEqual(error["np"]["key"].text, key, error.description)
      }
      XCTAssertEqual(JSON(take(np_set_strings(host?.handle, nil)))["error"]["np"]["code"].text, "stringsInvalid")
      let notUTF8: [CChar] = [0x7b, -1, 0x7d, 0]
      XCTAssertEqual(JSON(take(np_set_strings(host?.handle, notUTF8)))["error"]["np"]["code"].text, "textNotUTF8")
    }
    let unknown = JSON(take(np_set_strings(chat_ctrl(bitPattern: 77), "{}")))
    XCTAssertEqual(unknown["error"]["np"]["code"].text, "controllerInvalid")
    station.suspend()
    XCTAssertEqual(set(station.alice, #"{"language":"ar"}"#)["error"]["np"]["code"].text, "storeClosed")
    XCTAssertEqual(try shown(station), ["bob:", "新しいメッセージ"])
  }
}
