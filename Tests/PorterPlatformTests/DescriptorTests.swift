import Foundation
import PorterPlatform
import XCTest

final class DescriptorTests: XCTestCase {
  private final class Flag: @unchecked Sendable {
    private let lock = NSLock()
    private var isSet = false
    func set() { lock.withLock { isSet = true } }
    var value: Bool { lock.withLock { isSet } }
  }

  /// The number of sockets and pipes that a program started now has, besides its own output.
  private func inherited(into file: String) throws -> Int {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 1, file, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    let words: [UnsafeMutablePointer<CChar>?] = ["/bin/ls", "-l", "/proc/self/fd"].map { (word: String) in strdup(word)
    }
    defer { for word in words { free(word) } }
    var process = pid_t()
    XCTAssertEqual(posix_spawn(&process, "/bin/ls", &actions, nil, words + [nil], environ), 0)
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    let lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
    return lines.filter { $0.contains("-> socket:") || $0.contains("-> pipe:") }.count
  }

  /// A host starts a program on one thread while a controller is opened on another: the program never inherits any of
  /// the controller's descriptors. An inherited socket would stay alive without a listener, and be reported as a
  /// running process.
  func testAProgramThatTheHostStartsInheritsNothing() throws {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("inherited-\(UUID().uuidString)").path
    defer { unlink(file) }
    let before = try inherited(into: file)
    let (stop, ended) = (Flag(), expectation(description: "the other thread"))
    Thread.detachNewThread {
      while !stop.value {
        if let end = try? SystemDatagrams().open() { SystemDatagrams().close(end) }
        _ = WakeDescriptor()
      }
      ended.fulfill()
    }
    var most = before
    for _ in 0..<150 { most = max(most, try inherited(into: file)) }
    stop.set()
    wait(for: [ended], timeout: 20)
    XCTAssertEqual(most, before)
  }

  func testAWakeDescriptorIsReadableFromRaisingToLowering() throws {
    let wake = try XCTUnwrap(WakeDescriptor())
    func isReadable() -> Bool {
      var entry = pollfd(fd: wake.descriptor, events: Int16(POLLIN), revents: 0)
      return poll(&entry, 1, 0) == 1 && entry.revents == Int16(POLLIN)
    }
    XCTAssertFalse(isReadable())
    // Any number of times: raising a full pipe does not block.
    for count in [1, 2, 100_000] {
      for _ in 0..<count { wake.raise() }
      XCTAssertTrue(isReadable())
      wake.lower()
      XCTAssertFalse(isReadable(), "after \(count)")
    }
  }
}
