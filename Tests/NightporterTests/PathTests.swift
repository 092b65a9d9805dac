import CNightporter
import Foundation
import PorterStore
import XCTest

/// Paths that lead to a store or a relay other than by its own name.
final class PathTests: XCTestCase {
  private let raw = "x'" + String(repeating: "1f", count: 32) + "'"
  private let other = "x'" + String(repeating: "2e", count: 32) + "'"

  private func link(_ path: String, to target: String) { XCTAssertEqual(symlink(target, path), 0) }

  /// Runs `body` with that folder as the process's working directory.
  private func inside(_ folder: TemporaryFolder, _ body: () throws -> Void) rethrows {
    let before = FileManager.default.currentDirectoryPath
    XCTAssertTrue(FileManager.default.changeCurrentDirectoryPath(folder.path))
    defer { XCTAssertTrue(FileManager.default.changeCurrentDirectoryPath(before)) }
    try body()
  }

  private func createUser(_ host: Host, _ name: String = "alice") {
    host.send("/_create user {\"profile\":{\"displayName\":\"\(name)\",\"fullName\":\"\"}}").assert("activeUser")
  }

  // MARK: Circles

  /// SQLite follows links recursively, and the engine's stack has no room for that.
  func testAStorePathWithALinkLoopIsRefused() throws {
    let folder = try TemporaryFolder()
    link(folder.file("self_chat.db"), to: "self_chat.db")
    link(folder.file("long_chat.db"), to: "long-99")
    for number in 1..<100 { link(folder.file("long-\(number)"), to: "long-\(number - 1)") }
    link(folder.file("room"), to: "room")
    for name in ["self", "long", "room/a"] {
      for isExtension in [false, true] {
        for key in ["", raw] {
          let (answer, host) = Host.open(folder.file(name), key: key, isExtension: isExtension)
          XCTAssertNil(host)
          XCTAssertTrue(answer.contains("storeMissing"), answer)
        }
      }
      let answer = take(np_derive_key(folder.file(name), "a passphrase"))
      XCTAssertEqual(JSON(answer)["error"]["np"]["code"].text, "storeMissing", answer)
    }
  }

  func testARelayPathWithALinkLoopIsRefused() throws {
    let folder = try TemporaryFolder()
    link(folder.file("relay.db"), to: "relay.db")
    let host = try XCTUnwrap(Host.open(folder.file("a")).host)
    host.begin("alice", relay: folder.file("relay.db"))
    let answer = host.send("/_connect 1")
    XCTAssertTrue(answer["error"].exists, answer.description)
    // The link is removed, and the same host continues.
    XCTAssertEqual(unlink(folder.file("relay.db")), 0)
    XCTAssertTrue(host.send("/_connect 1")["result"].exists)
  }

  // MARK: Other names of one store

  /// INC-16: by its own name, through a link to the file, and through one to the directory.
  func testINC16AStoreHasOneAppUnderAnyName() throws {
    let folder = try TemporaryFolder()
    let (room, hall) = (folder.file("room"), folder.file("hall"))
    XCTAssertEqual(mkdir(room, 0o700), 0)
    link(hall, to: "room")
    link(folder.file("b_chat.db"), to: "room/a_chat.db")
    link(folder.file("c_chat.db"), to: "hall/data")
    link(room + "/data", to: "a_chat.db")
    let first = try XCTUnwrap(Host.open(room + "/a").host)
    createUser(first)
    first.send("/_start").assert("chatStarted")
    for prefix in [room + "/a", hall + "/a", hall + "/../room/a", folder.file("b"), folder.file("c")] {
      let second = try XCTUnwrap(Host.open(prefix).host)
      XCTAssertEqual(second.send("/_start")["error"]["np"]["code"].text, "ownedElsewhere", prefix)
    }
    let made = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    XCTAssertEqual(
      made, ["b_chat.db", "c_chat.db", "hall", "room"], "and all that lies beside a store lies beside its file")
  }

  /// If the store's file has a name unlike a store's, the names alongside it are its own as well.
  func testINC16AStoreOfAnotherNameHasOneAppToo() throws {
    let folder = try TemporaryFolder()
    for name in ["b_chat.db", "c_chat.db"] { link(folder.file(name), to: "data") }
    let first = try XCTUnwrap(Host.open(folder.file("b")).host)
    createUser(first)
    first.send("/_start").assert("chatStarted")
    let second = try XCTUnwrap(Host.open(folder.file("c")).host)
    XCTAssertEqual(second.send("/u")["result"]["user"]["localDisplayName"].text, "alice")
    XCTAssertEqual(second.send("/_start")["error"]["np"]["code"].text, "ownedElsewhere")
  }

  /// The link was created before the store.
  func testAStoreIsMadeWhereALinkLeads() throws {
    let folder = try TemporaryFolder()
    link(folder.file("b_chat.db"), to: "a_chat.db")
    let host = try XCTUnwrap(Host.open(folder.file("b"), key: raw).host)
    createUser(host)
    host.free()
    let real = try XCTUnwrap(Host.open(folder.file("a"), key: raw).host)
    XCTAssertEqual(real.send("/u")["result"]["user"]["localDisplayName"].text, "alice")
  }

  // MARK: Keys

  func testAKeyIsChangedWhereALinkLeads() throws {
    for (from, to) in [("", raw), (raw, other), (raw, "")] {
      let folder = try TemporaryFolder()
      let made = try XCTUnwrap(Host.open(folder.file("a"), key: from).host)
      createUser(made)
      made.free()
      link(folder.file("b_chat.db"), to: "a_chat.db")
      let host = try XCTUnwrap(Host.open(folder.file("b"), key: from).host)
      JSON(take(np_change_key(host.handle, from, to))).assert("cmdOk")
      XCTAssertEqual(host.send("/u")["result"]["user"]["localDisplayName"].text, "alice")
      host.free()
      XCTAssertNil(Host.open(folder.file("a"), key: from).host, "the old key opens nothing")
      XCTAssertNotNil(Host.open(folder.file("a"), key: to).host)
      XCTAssertNotNil(Host.open(folder.file("b"), key: to).host)
      XCTAssertEqual(
        try FileManager.default.destinationOfSymbolicLink(atPath: folder.file("b_chat.db")), "a_chat.db")
    }
  }

  /// A hard link cannot be resolved: under the other name the store would be unchanged, plain or under the old key.
  func testTheKeyOfAFileWithTwoNamesIsNotChanged() throws {
    let folder = try TemporaryFolder()
    let host = try XCTUnwrap(Host.open(folder.file("a")).host)
    createUser(host)
    XCTAssertEqual(Foundation.link(folder.file("a_chat.db"), folder.file("copy")), 0)
    let refused = JSON(take(np_change_key(host.handle, "", raw)))
    XCTAssertTrue(refused["error"].exists, refused.description)
    XCTAssertTrue(refused.description.contains("hard link"), refused.description)
    XCTAssertEqual(host.send("/u")["result"]["user"]["localDisplayName"].text, "alice", "as it was")
    XCTAssertEqual(unlink(folder.file("copy")), 0)
    JSON(take(np_change_key(host.handle, "", raw))).assert("cmdOk")
  }

  // MARK: Relays

  /// Wake-ups lie alongside the relay's file, not alongside a link to it.
  func testARelayBehindALinkIsTheSame() throws {
    let folder = try TemporaryFolder()
    link(folder.file("other.db"), to: "relay.db")
    let alice = try XCTUnwrap(Host.open(folder.file("alice")).host)
    let bob = try XCTUnwrap(Host.open(folder.file("bob")).host)
    alice.begin("alice", relay: folder.file("other.db"))
    bob.begin("bob", relay: folder.file("relay.db"))
    let invitation = alice.send("/_connect 1")["result"]["connLinkInvitation"]["connFullLink"].text
    bob.send("/connect \(invitation)").assert("sentConfirmation")
    alice.event("contactConnected")
    bob.event("contactConnected")
    XCTAssertFalse(FileManager.default.fileExists(atPath: folder.file("other.db.wake")))
  }

  /// The working directory may have changed by the time the relay is opened, and the extension has its own.
  func testARelativeRelayPathIsResolvedWhenItIsSet() throws {
    let (folder, elsewhere) = (try TemporaryFolder(), try TemporaryFolder())
    let host = try XCTUnwrap(Host.open(folder.file("a")).host)
    createUser(host)
    inside(folder) { host.send(#"/_network {"relay":"relay.db"}"#).assert("cmdOk") }
    inside(elsewhere) {
      host.send("/_start").assert("chatStarted")
      XCTAssertTrue(host.send("/_connect 1")["result"].exists)
    }
    XCTAssertTrue(FileManager.default.fileExists(atPath: folder.file("relay.db")))
    XCTAssertFalse(FileManager.default.fileExists(atPath: elsewhere.file("relay.db")))
  }

  // MARK: Paths that look like addresses

  /// SQLite may be built to read a name that begins with `file:` as a URI, with parameters.
  func testAPathThatBeginsLikeAnAddressIsAPath() throws {
    let folder = try TemporaryFolder()
    try inside(folder) {
      for prefix in ["file:a", "file:a?mode=memory&cache=", "file:///b?x", ":memory:", "file:%61"] {
        if prefix.hasPrefix("file:///") {
          try FileManager.default.createDirectory(atPath: "file:", withIntermediateDirectories: true)
        }
        let host = try XCTUnwrap(Host.open(prefix).host, prefix)
        createUser(host)
        JSON(take(np_change_key(host.handle, "", raw))).assert("cmdOk")
        JSON(take(np_change_key(host.handle, raw, other))).assert("cmdOk")
        XCTAssertEqual(host.send("/u")["result"]["user"]["localDisplayName"].text, "alice", prefix)
        host.free()
        XCTAssertTrue(FileManager.default.fileExists(atPath: prefix + "_chat.db"), prefix)
        XCTAssertNotNil(Host.open(prefix, key: other).host, prefix)
      }
      let host = try XCTUnwrap(Host.open("host").host)
      host.begin("alice", relay: "embedded:file:relay?mode=memory")
      XCTAssertTrue(host.send("/_connect 1")["result"].exists)
      XCTAssertTrue(FileManager.default.fileExists(atPath: "file:relay?mode=memory"))
    }
  }
}
