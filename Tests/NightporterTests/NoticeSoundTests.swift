import CNightporter
import Foundation
import PorterPlatform
import XCTest

@testable import PorterEngine
@testable import PorterStore

/// Many pushes in a row may each have a notice. While one is on screen they make one sound in 30 s, in any process, as
/// a chat does.
final class NoticeSoundTests: XCTestCase {
  private func isHeard(_ answer: JSON, line: UInt = #line) -> Bool {
    XCTAssertEqual(answer.identifiers, ["np:notice"], answer.description, line: line)
    return answer["notifications"][0]["sound"].exists
  }

  func testNoticesMakeOneSoundIn30Seconds() throws {
    let station = try Station()
    station.suspend()
    let push = try station.push(for: "hello")
    let clock = MovedClock()
    let database = try Database(path: station.alice.prefix + "_chat.db")
    let version = try database.integer("PRAGMA user_version") ?? 0
    defer { try? database.close() }
    let services = try (0..<2).map { _ in
      let service = try station.makeExtension(clock: clock)
      service.send("/_app suspend 0").assert("cmdOk")
      return service
    }
    try database.setUserVersion(999)
    clock.stop()
    XCTAssertTrue(isHeard(services[0].push(push)))
    for service in services { XCTAssertFalse(isHeard(service.push(push)), "it has just sounded") }
    clock.move(.milliseconds(29_999))
    XCTAssertFalse(isHeard(services[0].push(push)))
    clock.move(.milliseconds(1))
    XCTAssertTrue(isHeard(services[1].push(push)))
    XCTAssertFalse(isHeard(services[0].push(push)))
    clock.start()
    // Once it is withdrawn, the next one is news.
    try database.setUserVersion(Int32(clamping: version))
    XCTAssertEqual(services[0].push(push).withdrawn, ["np:notice"])
    services[0].send("/_app suspend 0").assert("cmdOk")
    try database.setUserVersion(999)
    XCTAssertTrue(isHeard(services[0].push(push)))
  }

  /// An extension without the key has no controller, and shows the notice of `chat_migrate_init_key()`.
  func testNoticesOfAStoreThatDoesNotOpenMakeOneSound() throws {
    let station = try Station()
    station.suspend()
    for expected in [true, false, false] {
      var handle: chat_ctrl?
      let refused = JSON(take(chat_migrate_init_key(station.alice.prefix, nil, 0, "error", 1, &handle)))
      XCTAssertEqual(refused["notice"]["identifier"].text, "np:notice", refused.description)
      XCTAssertEqual(refused["notice"]["sound"].exists, expected, refused.description)
    }
    let push = try station.push(for: "hello")
    XCTAssertEqual(try station.present(push).withdrawn, ["np:notice"])
  }

  /// Pushes beyond the bound are answered without the engine.
  func testNoticesGivenWithoutTheEngineMakeOneSound() throws {
    let station = try Station()
    station.suspend()
    let service = try station.makeExtension()
    let transport = HostTransport(relay: station.pair.folder.file("relay.db"))
    transport.install(in: service)
    transport.hang(true)
    let push = try station.push(for: "hello")
    let answers = (0..<64).map { _ in service.inBackground { $0.push(push, deadline: 30_000).description } }
    awaitThat("all have begun") { service.state["pushesWaiting"].number == 63 }
    transport.waitUntilInside()
    XCTAssertTrue(isHeard(service.push(push)))
    XCTAssertFalse(isHeard(service.push(push)))
    transport.hang(false)
    for answer in answers { _ = answer.wait(atMost: .seconds(40)) }
  }

  /// What the file may contain: of this version, of an earlier one, of another boot, or damaged.
  func testOnlyASoundOfThisBootKeepsANoticeSilent() throws {
    let folder = try TemporaryFolder()
    let configuration = Configuration(prefix: folder.file("alice"), role: .extension, confirmation: .error)
    try Data().write(to: URL(fileURLWithPath: configuration.location.file))
    let mark = NoticeMark(configuration)
    XCTAssertTrue(mark.makesSound, "there is no file")
    mark.set(isHeard: true)
    let written = try Data(contentsOf: URL(fileURLWithPath: folder.file("alice_notice")))
    let (name, sound) = (written.prefix(16), written.dropFirst(16))
    XCTAssertFalse(mark.makesSound)
    mark.set(isHeard: false)
    XCTAssertFalse(mark.makesSound, "the earlier sound is kept")
    let later = "\(ProcessIdentity.current.boot) \(Int64.max)"
    let others = [Data("another boot 1".utf8), Data([0xFF]), Data(later.utf8)].map { name + $0 }
    for text in [Data(), name, sound] + others {
      try text.write(to: URL(fileURLWithPath: folder.file("alice_notice")))
      XCTAssertTrue(mark.makesSound, "\(text)")
      XCTAssertEqual(mark.name?.bytes, Array(text.prefix(16)))
    }
  }
}
