import Foundation
import PorterCrypto
import PorterJSON
import PorterNight
import PorterPlatform
import PorterProcesses
import PorterStore
import XCTest

/// A process without the store's key that posts on the channel anyway (INC-15).
final class HostileChannelTests: XCTestCase {
  private func directory(_ night: Night) -> String { night.alice.store + "_chat.channel" }

  private func names(_ night: Night) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: directory(night))
  }

  private func withAddress<Result>(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result? {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    guard path.utf8.count < MemoryLayout.size(ofValue: address.sun_path) else {
      XCTFail("\(path) is too long")
      return nil
    }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
  }

  /// This process knows only the names and the format.
  private func post(_ bytes: [UInt8], to path: String, through descriptor: Int32) {
    _ = withAddress(path) { sendto(descriptor, bytes, bytes.count, Int32(MSG_DONTWAIT), $0, $1) }
  }

  private func listen(_ descriptor: Int32, as name: String, _ night: Night) {
    XCTAssertEqual(withAddress(directory(night) + "/" + name) { bind(descriptor, $0, $1) }, 0)
  }

  private func makeSocket() -> Int32 {
    #if canImport(Glibc)
      socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
    #else
      socket(AF_UNIX, SOCK_DGRAM, 0)
    #endif
  }

  /// A message that is right in everything but its key: from a process of this boot, addressed to this very end, and
  /// newer than any other.
  private func forged(_ kind: ChannelMessage.Kind, to name: String) throws -> [UInt8] {
    let receiver = try XCTUnwrap(ChannelAddress(name: name))
    let sender = try XCTUnwrap(
      ChannelAddress(role: receiver.role == .app ? .extension : .app, tenancy: SystemRandomness().bytes(8)))
    let key = try XCTUnwrap(AuthenticationKey(stored: [UInt8](repeating: 0, count: 32)))
    let message = ChannelMessage(
      kind, from: sender, .current(randomness: SystemRandomness()), to: receiver,
      counter: UInt64(SystemClock().now().nanoseconds))
    return message.sealed(with: key)
  }

  func testINC15GarbageForgeriesAndFloodsHaveNoEffect() throws {
    let night = try Night()
    defer { night.end() }
    let descriptor = makeSocket()
    defer { close(descriptor) }
    let app = try XCTUnwrap(names(night).first { $0.hasPrefix("a") })
    let path = directory(night) + "/" + app
    for kind in ChannelMessage.Kind.allCases { post(try forged(kind, to: app), to: path, through: descriptor) }
    for count in [0, 1, 4, 75, 76, 107, 108, 109, 4_000] {
      post([UInt8](repeating: 78, count: count), to: path, through: descriptor)
    }
    let changed = try forged(.changed, to: app)
    for _ in 0..<20_000 { post(changed, to: path, through: descriptor) }

    try night.bobSends("hello")
    try night.expectAliceHas(["hello"])
    let channel = try XCTUnwrap(night.alice.state["channel"])
    XCTAssertGreaterThan(channel["rejected"]?.integerValue ?? 0, 0, channel.text)
    XCTAssertEqual(channel["received"], 0, "no authorised process has sent anything: \(channel.text)")
  }

  /// Opening a pipe blocks until its other end is opened. A pipe in place of a lock file is removed, and a link's
  /// target is left alone.
  func testPipesAndLinksInPlaceOfLocksBlockNoProcess() throws {
    let night = try Night()
    defer { night.end() }
    let store = night.alice.store
    let precious = store + " precious"
    try Data("not to be touched".utf8).write(to: URL(fileURLWithPath: precious))
    try night.suspendAlice()
    for (suffix, isPipe) in [
      ("_app.phase", true), ("_extension.phase", false), ("_chat.db-lock", true), ("_chat.db-turn", true),
    ] {
      unlink(store + suffix)
      XCTAssertEqual(isPipe ? mkfifo(store + suffix, 0o600) : symlink(precious, store + suffix), 0)
    }
    try night.bobSends("hello")
    let content = try night.present(try night.nextPush())
    XCTAssertEqual(content.bodies, ["hello"], content.text)
    try night.wakeAlice()
    try night.expectAliceHas(["hello"])
    XCTAssertEqual(try String(contentsOfFile: precious, encoding: .utf8), "not to be touched")
  }

  /// A forged request from an app to a running extension does not stop it.
  func testINC15AForgedYieldRequestDoesNotStopAnExtension() throws {
    let night = try Night()
    defer { night.end() }
    try night.suspendAlice()
    XCTAssertEqual(try names(night), [], "who is suspended has no end of the channel")
    // Somewhere to announce that it is at work, so that the extension opens an end of its own.
    let listener = makeSocket()
    defer { close(listener) }
    listen(listener, as: "a00000000000000ff", night)
    try night.bobSends("hello")
    let working = try night.startExtension(try night.nextPush(), environment: ["PORTER_STOP_AT": "afterFetch"])
    try working.waitUntilStopped()
    let descriptor = makeSocket()
    defer { close(descriptor) }
    let name = try XCTUnwrap(names(night).first { $0.hasPrefix("e") })
    // It even holds the app's lock, so that only the key distinguishes it from an app.
    let lock = open(night.alice.store + "_app.phase", O_RDWR)
    defer { close(lock) }
    XCTAssertEqual(flock(lock, LOCK_EX | LOCK_NB), 0)
    for kind in ChannelMessage.Kind.allCases {
      post(try forged(kind, to: name), to: directory(night) + "/" + name, through: descriptor)
    }
    working.signal(SIGCONT)
    let answer = try night.answer(of: working)
    XCTAssertEqual(answer["outcome"], "presented", answer.text)
    XCTAssertEqual(answer.bodies, ["hello"])
  }

  /// An impostor listens under an app's name: it is asked, cannot answer, and replaying what it received has no effect.
  func testINC15AnImpostorIsIgnoredAndItsReplaysHaveNoEffect() throws {
    let night = try Night()
    defer { night.end() }
    try night.suspendAlice()
    let name = "a00000000000000ff"
    let impostor = makeSocket()
    defer { close(impostor) }
    listen(impostor, as: name, night)
    try night.bobSends("hello")
    let content = try night.present(try night.nextPush())
    XCTAssertEqual(content.bodies, ["hello"], "no app is running, whatever is listening: \(content.text)")
    var heard = [UInt8](repeating: 0, count: 200)
    let count = recv(impostor, &heard, heard.count, Int32(MSG_DONTWAIT))
    XCTAssertEqual(count, 108, "it did hear something authentic")

    try night.wakeAlice()
    let app = try XCTUnwrap(names(night).first { $0.hasPrefix("a") && $0 != name })
    for _ in 0..<3 { post(Array(heard.prefix(108)), to: directory(night) + "/" + app, through: impostor) }
    try night.bobSends("again")
    try night.expectAliceHas(["hello", "again"])
    let channel = try XCTUnwrap(night.alice.state["channel"])
    XCTAssertEqual(channel["received"], 0, channel.text)
    XCTAssertEqual(channel["rejected"], 3, channel.text)
  }

  /// A link to another place takes the channel's name: nothing is written there, and everything works without the
  /// channel.
  func testINC15ALinkInTheChannelsPlaceIsNotFollowed() throws {
    let night = try Night()
    defer { night.end() }
    try night.suspendAlice()
    let elsewhere = night.directory.appendingPathComponent("elsewhere").path
    try FileManager.default.createDirectory(atPath: elsewhere, withIntermediateDirectories: false)
    try FileManager.default.removeItem(atPath: directory(night))
    try FileManager.default.createSymbolicLink(atPath: directory(night), withDestinationPath: elsewhere)
    try night.bobSends("one")
    let push = try night.nextPush()
    XCTAssertEqual(try night.present(push).bodies, ["one"])
    try night.wakeAlice()
    let yielded = try night.present(push)
    XCTAssertEqual(yielded["outcome"], "yielded", "the kernel's word is enough: \(yielded.text)")
    XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: elsewhere), [])
    XCTAssertNil(try night.alice.state["channel"])
    try night.bobSends("two")
    try night.expectAliceHas(["one", "two"])
  }
}
