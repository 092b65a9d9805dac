import Foundation
import PorterPlatform
import XCTest

/// Events that no host reads stay in memory, but no key with them.
final class UnreadEventTests: XCTestCase {
  func testEventsThatWaitKeepNoKeys() throws {
    let station = try Station()
    station.suspend()
    let service = try station.makeExtension()
    let messages = 24
    for number in 1...messages {
      XCTAssertEqual(service.push(try station.push(for: "m\(number)")).bodies, ["m\(number)"])
    }
    XCTAssertEqual(service.closeStore(), "")
    let unread = try copies(ofKeysIn: service.prefix + "_chat.db")
    service.dropEvents()
    let read = try copies(ofKeysIn: service.prefix + "_chat.db")
    XCTAssertGreaterThan(unread.count, 1)
    // An event that kept a key would add one copy for each message. A few copies lie in freed memory, where reading the
    // events may overwrite one.
    for (unread, read) in zip(unread, read) {
      XCTAssertLessThan(unread - read, messages / 2, "events keep copies of a key")
    }
  }

  /// How often each key that reads a mailbox or subscribes a notifier occurs in this process's writable memory. Another
  /// process counts, so no copies are left here.
  private func copies(ofKeysIn store: String) throws -> [Int] {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["python3", "-c", Self.counting, String(getpid()), store]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    XCTAssertEqual(process.terminationStatus, 0)
    return text.split(separator: " ").compactMap { Int($0.trimmingCharacters(in: .whitespacesAndNewlines)) }
  }

  private static let counting = """
    import re, sqlite3, sys
    database = sqlite3.connect("file:" + sys.argv[2] + "?mode=ro", uri=True)
    query = "SELECT recipient_key, notifier_key FROM connections WHERE notifier_key IS NOT NULL"
    seeds = [bytes(key)[:32] for row in database.execute(query) for key in row]
    counts = [0] * len(seeds)
    with open(f"/proc/{sys.argv[1]}/mem", "rb", 0) as memory:
        for line in open(f"/proc/{sys.argv[1]}/maps"):
            found = re.match("([0-9a-f]+)-([0-9a-f]+) rw", line)
            if not found:
                continue
            start, end = (int(each, 16) for each in found.groups())
            try:
                memory.seek(start)
                data = memory.read(end - start)
            except (OSError, ValueError, OverflowError):
                continue
            for index, seed in enumerate(seeds):
                counts[index] += data.count(seed)
    print(*counts)
    """
}
