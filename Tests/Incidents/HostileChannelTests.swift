import Foundation
import PorterJSON
import PorterNight
import PorterProcesses
import XCTest

/// A process that does not have the store's key, and posts on the channel all the same (INC-15).
final class HostileChannelTests: XCTestCase {
  private func directory(_ night: Night) -> String { night.alice.store + "_chat.channel" }

  private func names(_ night: Night) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: directory(night))
  }

  /// This process knows the names and the format, and nothing else.
  private func post(_ bytes: [UInt8], to path: String, through descriptor: Int32) {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    guard path.utf8.count < MemoryLayout.size(ofValue: address.sun_path) else { return XCTFail("\(path) is too long") }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        _ = sendto(descriptor, bytes, bytes.count, Int32(MSG_DONTWAIT), $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
  }

  private func makeSocket() -> Int32 {
    #if canImport(Glibc)
      socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
    #else
      socket(AF_UNIX, SOCK_DGRAM, 0)
    #endif
  }

  /// "Please let go", "I am here" and all the rest, in the right form, to the right end, with a tag that is made up.
  private func forged(kind: UInt8, to name: String) -> [UInt8] {
    let digits = Array(name.dropFirst())
    let tenancy = stride(from: 0, to: 16, by: 2).compactMap { UInt8(String(digits[$0...($0 + 1)]), radix: 16) }
    var bytes = Array("NPch".utf8) + [1, kind, name.hasPrefix("a") ? 2 : 1, name.hasPrefix("a") ? 1 : 2]
    bytes += [UInt8](repeating: 9, count: 8) + tenancy
    return bytes + (0..<(108 - bytes.count)).map { _ in UInt8.random(in: 0...255) }
  }

  func testINC15GarbageForgeriesAndFloodsHaveNoEffect() throws {
    let night = try Night()
    defer { night.end() }
    let descriptor = makeSocket()
    defer { close(descriptor) }
    let app = try XCTUnwrap(names(night).first { $0.hasPrefix("a") })
    let path = directory(night) + "/" + app
    for kind in UInt8.min...UInt8.max { post(forged(kind: kind, to: app), to: path, through: descriptor) }
    for count in [0, 1, 4, 75, 76, 107, 108, 109, 4_000] {
      post([UInt8](repeating: 78, count: count), to: path, through: descriptor)
    }
    for _ in 0..<20_000 { post(forged(kind: 4, to: app), to: path, through: descriptor) }

    try night.bobSends("hello")
    try night.expectAliceHas(["hello"])
    let channel = try XCTUnwrap(night.alice.state["channel"])
    XCTAssertGreaterThan(channel["rejected"]?.integerValue ?? 0, 0, channel.text)
    XCTAssertEqual(channel["received"], 0, "nobody who may has said anything: \(channel.text)")
  }

  /// Forged words of an app to an extension at work do not stop it.
  func testINC15AForgedAppDoesNotMakeAnExtensionYield() throws {
    let night = try Night()
    defer { night.end() }
    try night.suspendAlice()
    XCTAssertEqual(try names(night), [], "who is suspended has no end of the channel")
    try night.bobSends("hello")
    let working = try night.startExtension(try night.nextPush(), environment: ["PORTER_STOP_AT": "afterFetch"])
    try working.waitUntilStopped()
    let descriptor = makeSocket()
    defer { close(descriptor) }
    let name = try XCTUnwrap(names(night).first { $0.hasPrefix("e") })
    for _ in 0..<50 {
      for kind: UInt8 in 1...4 {
        post(forged(kind: kind, to: name), to: directory(night) + "/" + name, through: descriptor)
      }
    }
    working.signal(SIGCONT)
    // It fetches once more before it ends, and stops there again.
    try working.waitUntilStopped()
    working.signal(SIGCONT)
    let answer = try night.answer(of: working)
    XCTAssertEqual(answer["outcome"], "presented", answer.text)
    XCTAssertEqual(answer.bodies, ["hello"])
  }

  /// Somebody listens under an app's name: he is asked, cannot answer, and what he heard is worth nothing when it is
  /// said again.
  func testINC15AnImpostorIsNobodyAndWhatHeHeardIsWorthNothing() throws {
    let night = try Night()
    defer { night.end() }
    try night.suspendAlice()
    let name = "a00000000000000ff"
    let impostor = makeSocket()
    defer { close(impostor) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let path = directory(night) + "/" + name
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let bound = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(impostor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    XCTAssertEqual(bound, 0)
    try night.bobSends("hello")
    let content = try night.present(try night.nextPush())
    XCTAssertEqual(content.bodies, ["hello"], "no app is at work, whoever listens: \(content.text)")
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

  /// The channel's place is taken by a link to somewhere else: nothing is written there, and everything works without.
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
