import Foundation
import PorterPlatform
import Synchronization
import XCTest

@testable import PorterStore

/// Files that carry a lock. To `flock`, two descriptors of one process are like two processes.
final class PhaseFileTests: SQLiteTestCase {
  private func instance(_ number: Int32) -> Instance {
    Instance(boot: "boot", process: number, started: 1, nonce: [UInt8](repeating: UInt8(number), count: 8))
  }

  private func phase(_ role: String) -> PhaseFile { PhaseFile(prefix: file("store"), role: role) }

  func testThereIsOneApp() {
    let (first, second) = (phase("app"), phase("app"))
    XCTAssertTrue(first.hold())
    first.publish("active", by: instance(1))
    XCTAssertFalse(second.hold())
    XCTAssertTrue(second.isHeldElsewhere())
    first.release(saying: "suspended", by: instance(1))
    XCTAssertFalse(second.isHeldElsewhere())
    XCTAssertEqual(second.published(), .init(phase: "suspended", instance: instance(1)))
    XCTAssertTrue(second.hold())
  }

  /// As long as one extension is running, the app sees one, and no ended process is named.
  func testTheFirstOfTwoExtensionsEnds() {
    let (first, second, app) = (phase("extension"), phase("extension"), phase("extension"))
    XCTAssertTrue(first.hold())
    first.publish("active", by: instance(1))
    XCTAssertTrue(second.hold(), "several may run")
    second.publish("active", by: instance(2))
    first.release(saying: "suspended", by: instance(1))
    XCTAssertTrue(app.isHeldElsewhere())
    XCTAssertEqual(app.published(), .init(phase: "active", instance: instance(2)))
    second.release(saying: "suspended", by: instance(2))
    XCTAssertFalse(app.isHeldElsewhere())
    XCTAssertEqual(app.published(), .init(phase: "suspended", instance: instance(2)))
  }

  func testTheLastOfTwoExtensionsEndsFirst() {
    let (first, second, app) = (phase("extension"), phase("extension"), phase("extension"))
    XCTAssertTrue(first.hold())
    first.publish("starting", by: instance(1))
    XCTAssertTrue(second.hold())
    second.publish("active", by: instance(2))
    second.release(saying: "suspended", by: instance(2))
    XCTAssertTrue(app.isHeldElsewhere())
    XCTAssertEqual(app.published(), .init(phase: "active", instance: nil), "no ended process is named")
    first.publish("active", by: instance(1))
    XCTAssertEqual(app.published()?.instance, instance(1))
    first.release(saying: "suspended", by: instance(1))
    XCTAssertFalse(app.isHeldElsewhere())
    XCTAssertEqual(app.published(), .init(phase: "suspended", instance: instance(1)))
  }

  /// A query delays no process, and two simultaneous queries are not taken for a holder.
  func testQuestionsAreNotTakenForHolders() {
    phase("extension").publish("suspended", by: instance(1))
    // A thread that is preempted during a query is taken for a holder, on a busy machine by each of the others for a
    // while; without the repetition of a query, there are hundreds in every round.
    let fewest = (0..<5).lazy.map { _ in self.lies() }.first { $0 < 20 }
    XCTAssertNotNil(fewest, "in one of five rounds")
  }

  /// How many of the queries that four threads make at the same time find a holder.
  private func lies() -> Int {
    let path = file("store")
    let lies = Atomic<Int>(0)
    let threads = (0..<4).map { _ in
      let done = expectation(description: "asked")
      Thread.detachNewThread {
        let asking = PhaseFile(prefix: path, role: "extension")
        for _ in 0..<500 where asking.isHeldElsewhere() { lies.add(1, ordering: .relaxed) }
        done.fulfill()
      }
      return done
    }
    wait(for: threads, timeout: 60)
    return lies.load(ordering: .relaxed)
  }

  #if os(Linux)
    /// A child forked without exec has its own descriptors of the same open files. Here they are made with dup.
    func testForkedChildHoldsNothingThatItsParentReleased() throws {
      let (app, other) = (phase("app"), phase("app"))
      XCTAssertTrue(app.hold())
      var lock: OpeningLock? = try OpeningLock(file: file(), .exclusive, creates: true, timeout: .zero)
      XCTAssertEqual(lock?.isHeld, true)
      var writeLock = FairWriteLock(beside: file(), files: SystemFiles())
      writeLock.enter(SystemClock(), limit: .zero) { _ in false }
      let copies = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").filter {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)"))?.hasPrefix(directory)
          ?? false
      }.compactMap { Int32($0) }.map { dup($0) }
      defer { for copy in copies { close(copy) } }
      XCTAssertEqual(copies.count, 3)

      app.release()
      XCTAssertFalse(other.isHeldElsewhere())
      writeLock.close()
      var next = FairWriteLock(beside: file(), files: SystemFiles())
      next.enter(SystemClock(), limit: .zero) { _ in
        XCTFail("the turn is still taken")
        return false
      }
      lock = nil
      _ = try OpeningLock(file: file(), .exclusive, creates: true, timeout: .zero)
    }
  #endif

  // MARK: Foreign files in the way

  func testPipesInPlaceOfFilesBlockNoProcess() throws {
    let prefix = file("store")
    let store = file("store_chat.db")
    try Data().write(to: URL(fileURLWithPath: store))
    for name in ["\(prefix)_app.phase", "\(prefix)_extension.phase", "\(store)-lock", "\(store)-turn"] {
      XCTAssertEqual(mkfifo(name, 0o600), 0)
    }
    let instance = instance(1)
    let phases = onThread {
      for role in ["app", "extension"] {
        let (file, other) = (PhaseFile(prefix: prefix, role: role), PhaseFile(prefix: prefix, role: role))
        XCTAssertFalse(file.isHeldElsewhere())
        XCTAssertNil(file.published())
        XCTAssertTrue(file.hold(), "it was removed")
        file.publish("active", by: instance)
        XCTAssertTrue(other.isHeldElsewhere())
        XCTAssertEqual(other.published()?.instance, instance)
        file.release(saying: "suspended", by: instance)
      }
    }
    let openings = onThread {
      for kind in [FileLockKind.exclusive, .shared] {
        XCTAssertTrue(try OpeningLock(file: store, kind, creates: true, timeout: .zero).isHeld)
      }
    }
    let turns = onThread {
      var writeLock = FairWriteLock(beside: store, files: SystemFiles())
      writeLock.enter(SystemClock(), limit: .seconds(60)) { _ in false }
    }
    wait(for: [phases, openings, turns], timeout: 30)
  }

  func testLinksAreNotFollowed() throws {
    let prefix = file("store")
    let precious = file("precious")
    let text = Data(
      "a line that is longer than any phase that anybody ever publishes, with an instance beside it\n".utf8)
    try text.write(to: URL(fileURLWithPath: precious))
    for role in ["app", "extension"] {
      try FileManager.default.createSymbolicLink(atPath: "\(prefix)_\(role).phase", withDestinationPath: precious)
      let file = phase(role)
      XCTAssertNil(file.published())
      XCTAssertTrue(file.hold())
      file.publish("active", by: instance(1))
      XCTAssertEqual(file.published()?.phase, "active")
    }
    try FileManager.default.createSymbolicLink(atPath: file("a-lock"), withDestinationPath: precious)
    XCTAssertTrue(try OpeningLock(file: file("a"), .shared, creates: true, timeout: .zero).isHeld)
    XCTAssertEqual(try Data(contentsOf: URL(fileURLWithPath: precious)), text)
  }

  func testDirectoriesInPlaceOfFilesAreTypedErrors() throws {
    for name in ["store_app.phase", "a-lock"] {
      try FileManager.default.createDirectory(atPath: file(name), withIntermediateDirectories: true)
    }
    XCTAssertFalse(phase("app").hold())
    XCTAssertFalse(phase("app").isHeldElsewhere())
    XCTAssertThrowsError(try OpeningLock(file: file("a"), .exclusive, creates: true, timeout: .zero)) { error in
      XCTAssertEqual((error as? SQLiteError)?.kind, .cannotOpen)
    }
  }

  /// A process that waits for a lock on a deleted file does not end up with a lock that no other process sees.
  func testDeletedLockIsLockedAnew() throws {
    let path = file("a")
    var first: OpeningLock? = try OpeningLock(file: path, .exclusive, creates: true, timeout: .zero)
    let waits = expectation(description: "waits")
    let done = onThread {
      waits.fulfill()
      XCTAssertThrowsError(try OpeningLock(file: path, .shared, creates: true, timeout: .seconds(4))) { error in
        XCTAssertEqual((error as? SQLiteError)?.kind, .busy)
      }
    }
    wait(for: [waits], timeout: 30)
    // It has opened the file when this process has it open twice.
    let end = Date(timeIntervalSinceNow: 3)
    while Self.descriptors(of: path + "-lock") < 2, end.timeIntervalSinceNow > 0 { usleep(1_000) }
    XCTAssertEqual(Self.descriptors(of: path + "-lock"), 2)
    try FileManager.default.removeItem(atPath: path + "-lock")
    let second = try OpeningLock(file: path, .exclusive, creates: true, timeout: .zero)
    XCTAssertEqual(first?.isCurrent, false)
    XCTAssertTrue(second.isCurrent)
    first = nil
    wait(for: [done], timeout: 60)
    withExtendedLifetime(second) {}
  }

  private static func descriptors(of path: String) -> Int {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
    return names.count { (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == path }
  }
}
