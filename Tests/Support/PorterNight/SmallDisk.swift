import Foundation
import PorterJSON
import PorterProcesses
import XCTest

/// An in-memory file system of a few kilobytes that only one process sees: it is mounted in that process's namespace
/// and disappears with it. This test reaches it through /proc.
package final class SmallDisk {
  package let directory: URL
  private let kilobytes: Int
  private var host: ScriptedHost?

  /// The path as the process sees it.
  package var path: String { directory.appendingPathComponent("disk").path }

  package init(kilobytes: Int) throws {
    self.kilobytes = kilobytes
    directory = try Places.makeTemporaryDirectory()
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  package func end() {
    host?.process.kill()
    try? FileManager.default.removeItem(at: directory)
  }

  /// Starts the process that has the disk; a store, if given, is `$c` there.
  package func start(store: String? = nil) throws -> ScriptedHost {
    // As root a mount namespace is enough; other users also need a user namespace.
    let namespaces = getuid() == 0 ? ["--mount"] : ["--mount", "--map-root-user"]
    let script = #"mount -t tmpfs -o size=\#(kilobytes)k none "$1" && exec "$2" script -"#
    let host = try ScriptedHost(
      store: store, launching: "/usr/bin/unshare", namespaces + ["/bin/sh", "-c", script, "sh", path, Places.harness],
      log: directory.appendingPathComponent("log"))
    if store == nil { _ = try host.call("np_version") }
    self.host = host
    return host
  }

  private func seen(_ name: String) throws -> String {
    "/proc/\(try XCTUnwrap(host).process.identifier)/root\(path)/\(name)"
  }

  /// Leaves no space, or this many kilobytes.
  package func fill(leaving kilobytes: Int = 0) throws {
    let descriptor = open(try seen("filler"), O_RDWR | O_CREAT | O_APPEND, 0o600)
    guard descriptor >= 0 else { throw ProcessFailure("the disk can not be filled: errno \(errno)") }
    defer { close(descriptor) }
    let block = [UInt8](repeating: 0, count: 4_096)
    while block.withUnsafeBytes({ write(descriptor, $0.baseAddress, $0.count) }) > 0 {}
    guard errno == ENOSPC else { throw ProcessFailure("the disk can not be filled: errno \(errno)") }
    let filled = lseek(descriptor, 0, SEEK_END)
    guard ftruncate(descriptor, max(0, filled - off_t(kilobytes) * 1024)) == 0 else {
      throw ProcessFailure("no room can be left on the disk: errno \(errno)")
    }
  }

  package func free() throws { try FileManager.default.removeItem(atPath: try seen("filler")) }

  /// `ro` or `rw`.
  package func remount(_ option: String) throws {
    let process = try XCTUnwrap(host).process.identifier
    let (lines, ending) = try ChildProcess.run(
      "/usr/bin/nsenter",
      ["--target", "\(process)", "--mount"] + (getuid() == 0 ? [] : ["--user", "--preserve-credentials"])
        + ["mount", "-o", "remount,\(option)", path])
    guard ending == .exited(0) else { throw ProcessFailure("not remounted: \(lines)") }
  }
}

/// Two people in one process: one with a store on a small disk, and one who receives their messages.
package final class DiskNight {
  private let host: ScriptedHost
  private let contact: Int64

  package init(_ host: ScriptedHost, _ disk: SmallDisk) throws {
    self.host = host
    let relay: JSONValue = ["relay": .string(disk.directory.appendingPathComponent("relay").path)]
    let places = [("c", disk.path + "/alice"), ("b", disk.directory.appendingPathComponent("bob").path)]
    for (name, place) in places {
      let answer = try host.call("\(name) = chat_migrate_init_key \(JSONValue(place).text) \"\" 1 \"yesUp\" 0")
      XCTAssertEqual(answer["type"], "ok", answer.text)
      for command in [
        #"/_create user {"profile":{"displayName":"\#(name)","fullName":""}}"#, "/_network \(relay.text)", "/_start",
      ] {
        let answer = try host.answer(command, of: name)
        XCTAssertNotNil(answer["result"], answer.text)
      }
    }
    let invitation = try host.answer("/_connect 1")
    let link = try XCTUnwrap(invitation["result"]?["connLinkInvitation"]?["connFullLink"]?.stringValue)
    let answer = try host.answer("/connect \(link)", of: "b")
    XCTAssertNotNil(answer["result"], answer.text)
    contact = try XCTUnwrap(host.event("contactConnected")["contact"]?["contactId"]?.integerValue)
  }

  package func sending(_ text: String) -> String {
    let message: JSONValue = [["msgContent": ["type": "text", "text": .string(text)], "mentions": [:]]]
    return "/_send @\(contact) json \(message.text)"
  }

  package func send(_ text: String) throws { try host.command(sending(text), "newChatItems") }
  package func sent() throws -> [String] { try texts(of: "c") }

  private func texts(of name: String) throws -> [String] {
    let chat = try host.answer("/_get chat @1 count=1000", of: name)["result"]?["chat"]
    let items = try XCTUnwrap(chat?["chatItems"]?.arrayValue)
    return items.compactMap { $0["content"]?["msgContent"]?["text"]?.stringValue }
  }

  /// The other side has these, in this order, each once.
  package func expectReceived(_ expected: [String], file: StaticString = #filePath, line: UInt = #line) throws {
    try awaitThat("they have arrived", file: file, line: line) { try texts(of: "b").count >= expected.count }
    for name in ["b", "c"] {
      try awaitThat("\(name) is at rest", file: file, line: line) {
        let operations = try host.call("np_state $\(name)")["operations"]
        return ["receiving", "delivery", "sending", "database"].allSatisfy { operations?[$0] == 0 }
      }
    }
    XCTAssertEqual(try texts(of: "b"), expected, file: file, line: line)
  }
}
