import Foundation
import PorterCrypto
import PorterPlatform
import XCTest

@testable import PorterStore

/// Channel ends within one process; `Tests/Incidents` tests several.
final class ChannelTests: XCTestCase {
  private var folder = ""
  private var prefix: String { folder + "/store" }

  override func setUpWithError() throws {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("porter-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    folder = url.path
  }

  override func tearDown() { try? FileManager.default.removeItem(atPath: folder) }

  private func open(
    _ role: ChannelAddress.Role, key: UInt8 = 1, prefix: String? = nil
  ) throws -> Channel {
    let channel = try Channel(
      prefix: prefix ?? self.prefix, role: role, instance: .current(randomness: SystemRandomness()),
      key: try XCTUnwrap(AuthenticationKey(stored: [UInt8](repeating: key, count: 32))), ports: .system)
    addTeardownBlock { channel.close() }
    return channel
  }

  private var names: [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: prefix + "_chat.channel")) ?? []
  }

  func testAQuestionIsAnswered() throws {
    let (app, notifier) = (try open(.app), try open(.extension))
    let counter = try XCTUnwrap(notifier.send(.ask, toAll: .app))
    let question = try XCTUnwrap(app.receive().first)
    XCTAssertEqual(question.kind, .ask)
    XCTAssertEqual(question.process, getpid())
    app.answer(question)
    let answer = try XCTUnwrap(notifier.receive().first)
    XCTAssertEqual(answer.kind, .here)
    XCTAssertEqual(answer.answers, counter)
    XCTAssertEqual(app.receive(), [])
  }

  func testWithoutListenersNothingIsSent() throws {
    let notifier = try open(.extension)
    XCTAssertNil(notifier.send(.ask, toAll: .app))
    let app = try open(.app)
    XCTAssertNotNil(notifier.send(.ask, toAll: .app))
    app.close()
    XCTAssertNil(notifier.send(.ask, toAll: .app))
    XCTAssertEqual(names, [notifier.address.name], "a closed end leaves nothing")
  }

  /// A process that fills the directory with sockets of its own hides no other: all are sent to, up to the limit.
  func testDecoysHideNoProcess() throws {
    let app = try open(.app)
    let directory = Channel.directory(prefix: prefix, ports: .system)
    for _ in 0..<100 {
      let address = try XCTUnwrap(ChannelAddress(role: .app, tenancy: SystemRandomness().bytes(8)))
      let decoy = try directory.listen(at: address.name)
      addTeardownBlock { SystemDatagrams().close(decoy) }
    }
    let notifier = try open(.extension)
    XCTAssertNotNil(notifier.send(.ask, toAll: .app))
    XCTAssertEqual(app.receive().map(\.kind), [.ask])
  }

  /// A killed process leaves a name without a listener, which misleads no process and is removed.
  func testINC12ASocketOfAKilledProcessIsIgnoredAndRemoved() throws {
    let notifier = try open(.extension)
    let dead = try open(.app)
    XCTAssertEqual(closeWithoutGoodbye(dead.descriptor), 0)
    XCTAssertNil(notifier.send(.ask, toAll: .app), "the kernel reports that no process listens")
    let path = prefix + "_chat.channel/" + dead.address.name
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSinceNow: -60)], ofItemAtPath: path)
    _ = try open(.extension)
    XCTAssertFalse(FileManager.default.fileExists(atPath: path))
  }

  func testINC15AMessageUnderAnotherKeyIsDropped() throws {
    let app = try open(.app)
    let stranger = try open(.extension, key: 2)
    XCTAssertNotNil(stranger.send(.changed, toAll: .app))
    XCTAssertEqual(app.receive(), [])
    XCTAssertEqual(app.counts.rejected, 1)
  }

  /// A replayed message has no effect; neither has one for an earlier end.
  func testINC15AReplayIsDroppedAlsoAfterReopening() throws {
    let notifier = try open(.extension)
    let app = try open(.app)
    let instance = Instance.current(randomness: SystemRandomness())
    let key = try XCTUnwrap(AuthenticationKey(stored: [UInt8](repeating: 1, count: 32)))
    let counter = UInt64(SystemClock().now().nanoseconds)
    let message = ChannelMessage(.yield, from: app.address, instance, to: notifier.address, counter: counter)
    let sealed = message.sealed(with: key)
    let directory = Channel.directory(prefix: prefix, ports: .system)
    for _ in 0..<3 {
      XCTAssertEqual(
        directory.send(sealed, through: DatagramEnd(descriptor: app.descriptor), to: notifier.address.name), .posted)
    }
    XCTAssertEqual(notifier.receive(), [message])
    XCTAssertEqual(notifier.counts.repeated, 2)
    notifier.close()
    let again = try open(.extension)
    XCTAssertEqual(
      directory.send(sealed, through: DatagramEnd(descriptor: app.descriptor), to: again.address.name), .posted)
    XCTAssertEqual(again.receive(), [])
    XCTAssertEqual(again.counts.rejected, 1)
  }

  /// A flood costs each pass a bounded time, and our own messages are received once it is over.
  func testINC15AFloodIsReadInBatches() throws {
    let (app, notifier) = (try open(.app), try open(.extension))
    let directory = Channel.directory(prefix: prefix, ports: .system)
    let garbage = [UInt8](repeating: 0, count: ChannelMessage.count)
    for _ in 0..<10_000 {
      _ = directory.send(garbage, through: DatagramEnd(descriptor: app.descriptor), to: notifier.address.name)
    }
    XCTAssertEqual(notifier.receive(), [])
    XCTAssertLessThanOrEqual(notifier.counts.rejected, Channel.batch)
    while notifier.counts.rejected % Channel.batch == 0, notifier.counts.rejected > 0 {
      let before = notifier.counts.rejected
      _ = notifier.receive()
      if notifier.counts.rejected == before { break }
    }
    XCTAssertNotNil(app.send(.yield, toAll: .extension))
    XCTAssertEqual(notifier.receive().map(\.kind), [.yield])
  }

  // MARK: The place

  func testAPathOfAnyLengthAndLanguage() throws {
    let deep = folder + "/" + String(repeating: "näch tlich ", count: 14)
    try FileManager.default.createDirectory(atPath: deep, withIntermediateDirectories: true)
    let (app, notifier) = (try open(.app, prefix: deep + "/夜"), try open(.extension, prefix: deep + "/夜"))
    XCTAssertNotNil(app.send(.yield, toAll: .extension))
    XCTAssertEqual(notifier.receive().map(\.kind), [.yield])
  }

  func testINC15ADirectoryThatIsALinkOrAFileIsRefused() throws {
    let elsewhere = folder + "/elsewhere"
    try FileManager.default.createDirectory(atPath: elsewhere, withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(
      atPath: prefix + "_chat.channel", withDestinationPath: elsewhere)
    XCTAssertThrowsError(try open(.app)) { XCTAssertEqual($0 as? ChannelError, .untrustedDirectory) }
    XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: elsewhere), [])
    try FileManager.default.removeItem(atPath: prefix + "_chat.channel")
    XCTAssertTrue(FileManager.default.createFile(atPath: prefix + "_chat.channel", contents: Data("x".utf8)))
    XCTAssertThrowsError(try open(.app)) { XCTAssertEqual($0 as? ChannelError, .untrustedDirectory) }
    try FileManager.default.removeItem(atPath: prefix + "_chat.channel")
    try FileManager.default.createDirectory(
      atPath: prefix + "_chat.channel", withIntermediateDirectories: false, attributes: [.posixPermissions: 0o777])
    XCTAssertEqual(chmod(prefix + "_chat.channel", 0o777), 0)
    XCTAssertThrowsError(try open(.app)) { XCTAssertEqual($0 as? ChannelError, .untrustedDirectory) }
  }

  func testAMissingFolderIsATypedError() throws {
    XCTAssertThrowsError(try open(.app, prefix: folder + "/none/store")) {
      XCTAssertEqual($0 as? ChannelError, .noDirectory(systemError: ENOENT))
    }
  }

  /// Foreign files, links and sockets in the directory are ignored, and stay.
  func testINC15ForeignFilesInTheDirectoryAreIgnored() throws {
    let (app, notifier) = (try open(.app), try open(.extension))
    let directory = prefix + "_chat.channel/"
    let target = folder + "/target"
    XCTAssertTrue(FileManager.default.createFile(atPath: target, contents: Data("untouched".utf8)))
    try FileManager.default.createSymbolicLink(atPath: directory + "e0000000000000001", withDestinationPath: target)
    XCTAssertTrue(FileManager.default.createFile(atPath: directory + "e0000000000000002", contents: Data("x".utf8)))
    try FileManager.default.createDirectory(atPath: directory + "e0000000000000003", withIntermediateDirectories: false)
    try FileManager.default.createSymbolicLink(
      atPath: directory + "e0000000000000004", withDestinationPath: directory + notifier.address.name)
    XCTAssertNotNil(app.send(.yield, toAll: .extension))
    XCTAssertEqual(notifier.receive().map(\.kind), [.yield], "once, not through the link as well")
    XCTAssertEqual(notifier.counts.rejected, 0)
    XCTAssertEqual(try String(contentsOfFile: target, encoding: .utf8), "untouched")
    XCTAssertEqual(names.count, 6)
  }
}

private func closeWithoutGoodbye(_ descriptor: Int32) -> Int32 { close(descriptor) }
