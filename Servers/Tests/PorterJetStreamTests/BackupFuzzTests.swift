import Foundation
import PorterMutation
import PorterRelayCluster
import XCTest

@testable import PorterJetStream

/// A backup is read whole or reported as damaged: an operator may get it from anywhere. `make verify` runs this with
/// the address sanitizer and many more inputs; PORTER_FUZZ_SEED repeats a run.
final class BackupFuzzTests: XCTestCase {
  private var mutator = Mutator()
  private var folder = ""
  private var path: String { folder + "/changed" }

  override func setUpWithError() throws {
    print("seed \(mutator.seed)")
    folder = NSTemporaryDirectory() + "porter-backups-" + UUID().uuidString.prefix(8)
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  }

  override func tearDownWithError() throws { try FileManager.default.removeItem(atPath: folder) }

  /// One entry of each kind, as in a cluster's backup.
  private func whole() throws -> [UInt8] {
    let writer = try BackupWriter(folder + "/whole")
    for kind in BackupFile.Kind.allCases where kind != .end {
      let bytes = (0..<Int.random(in: 0...200, using: &mutator)).map { _ in UInt8.random(in: 0...255, using: &mutator) }
      try writer.write(.init(kind: kind, name: "name-of-\(kind.rawValue)", number: mutator.next(), bytes: bytes))
    }
    try writer.finish()
    return [UInt8](try Data(contentsOf: URL(fileURLWithPath: folder + "/whole")))
  }

  private func entries(_ bytes: [UInt8]) throws(ClusterFailure) -> Int {
    XCTAssertNoThrow(try Data(bytes).write(to: URL(fileURLWithPath: path)))
    let reader = try BackupReader(path)
    var count = 0
    while try reader.next() != nil { count += 1 }
    return count
  }

  func testABackupIsReadWholeOrIsDamaged() throws {
    let whole = try whole()
    var (read, damaged) = (0, 0)
    for _ in 0..<mutator.runs / 8 {
      let bytes = mutator.bytes(like: whole)
      do throws(ClusterFailure) {
        let count = try entries(bytes)
        XCTAssertEqual(count, BackupFile.Kind.allCases.count - 1)
        XCTAssertTrue(bytes == whole, "what was changed is read as if it were not")
        read += 1
      } catch {
        XCTAssertTrue(bytes != whole, "\(error)")
        XCTAssertTrue("\(error)".contains(path), "\(error)")
        damaged += 1
      }
    }
    XCTAssertGreaterThan(read, 0)
    XCTAssertGreaterThan(damaged, mutator.runs / 16)
  }

  /// A stated length is trusted only as far as the file goes.
  func testALengthThatTheFileDoesNotHaveTakesNoMemory() throws {
    var bytes = try whole()
    // The first entry's length, after the start of the file and the entry's kind, name and number.
    let length = "porter-cluster-1".utf8.count + 11
    bytes.replaceSubrange(length..<length + 4, with: [3, 0xff, 0xff, 0xff])
    XCTAssertNoThrow(try Data(bytes).write(to: URL(fileURLWithPath: path)))
    let before = try peak()
    for _ in 0..<4 {
      XCTAssertThrowsError(try { () throws(ClusterFailure) in _ = try BackupReader(self.path).next() }())
    }
    XCTAssertLessThan(try peak() - before, 16 << 10, "KB")
  }

  /// This process's peak memory, in KB.
  private func peak() throws -> Int {
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = try XCTUnwrap(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
    return try XCTUnwrap(Int(line.split(separator: " ").dropLast().last ?? ""))
  }
}
