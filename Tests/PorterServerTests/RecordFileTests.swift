import Foundation
import PropertyTesting
import XCTest

@testable import PorterServer

/// What a server that shares its state knows of the cluster's records.
final class RecordFileTests: XCTestCase {
  private var path = ""

  override func setUp() {
    path = FileManager.default.temporaryDirectory.appendingPathComponent("records-\(UUID().uuidString)").path
  }

  override func tearDown() {
    for suffix in ["", "-wal", "-journal"] { try? FileManager.default.removeItem(atPath: path + suffix) }
  }

  private func record(_ revision: UInt64, count: Int = 2_000) -> SharedRecord {
    SharedRecord(bytes: [UInt8](repeating: UInt8(truncatingIfNeeded: revision), count: count), revision: revision)
  }

  private enum Step {
    case note(Int, UInt64)
    case forget(Int)
    case forgetAll
    case beginScan
    case scanned(Int, UInt64, replaced: UInt64)
    case endScan
  }

  private var steps: Generator<[Step]> {
    Generator { choices in
      var steps: [Step] = []
      choices.repeated(0...60) { _ in
        let (name, number) = (Int(choices.number(below: 4)), choices.number(below: 20) + 1)
        switch choices.number(below: 12) {
        case 0...2: steps.append(.note(name, number))
        case 3: steps.append(.forget(name))
        case 4: steps.append(.forgetAll)
        case 5: steps.append(.beginScan)
        case 6: steps.append(.endScan)
        default: steps.append(.scanned(name, number, replaced: choices.number(below: number)))
        }
      }
      return steps
    }
  }

  /// Beside dictionaries: of what is known, and of what the scan has found.
  func testItHoldsWhatWasNotedAndWhatAScanFound() {
    let file = RecordFile(path: path)
    forAll(steps, runs: 300) { steps in
      file.forgetAll()
      var (known, scanned, isScanning): ([Int: UInt64], [Int: (UInt64, UInt64)], Bool) = ([:], [:], false)
      for step in steps {
        switch step {
        case .note(let name, let revision):
          file.note("\(name)", record(revision))
          known[name] = revision
          scanned[name] = nil
        case .forget(let name):
          file.forget("\(name)")
          (known[name], scanned[name]) = (nil, nil)
        case .forgetAll:
          file.forgetAll()
          (known, scanned, isScanning) = ([:], [:], false)
        case .beginScan:
          // Once it has ended, what the last one found is known only until the next begins.
          guard !isScanning, known.isEmpty else { break }
          file.beginScan()
          (scanned, isScanning) = ([:], true)
        case .scanned(let name, let revision, let replaced):
          guard isScanning else { break }
          file.noteScanned("\(name)", record(revision), replaced: replaced)
          if known[name] == nil, scanned[name].map({ $0.1 < replaced }) ?? true { scanned[name] = (revision, replaced) }
        case .endScan:
          guard isScanning else { break }
          file.endScan()
          for (name, found) in scanned { known[name] = found.0 }
          (scanned, isScanning) = ([:], false)
        }
        for name in 0..<4 {
          XCTAssertEqual(file.revision("\(name)"), known[name])
          XCTAssertEqual(file.record("\(name)"), known[name].map { record($0) })
        }
      }
    }
  }

  func testAnEarlierProcesssFileIsNotRead() throws {
    let earlier = RecordFile(path: path)
    earlier.note("a", record(1))
    XCTAssertNotNil(earlier.record("a"))
    let file = RecordFile(path: path + "x")
    try FileManager.default.copyItem(atPath: path, toPath: path + "x")
    XCTAssertNil(file.record("a"))
    file.note("a", record(2))
    XCTAssertEqual(file.record("a")?.revision, 2)
    file.close()
    XCTAssertFalse(FileManager.default.fileExists(atPath: path + "x"))
    file.note("a", record(3))
    XCTAssertNil(file.record("a"), "closed")
    XCTAssertFalse(FileManager.default.fileExists(atPath: path + "x"))
  }

  /// Whatever is flipped, a record is right or unknown.
  func testADamagedRecordIsUnknown() throws {
    let file = RecordFile(path: path)
    // More than its memory holds.
    let count = 8_000
    for number in 0..<count { file.note("\(number)", record(UInt64(number))) }
    let handle = try FileHandle(forUpdating: URL(fileURLWithPath: path))
    let size = try handle.seekToEnd()
    XCTAssertGreaterThan(size, 16_000_000)
    var position: UInt64 = 20_000
    while position < size {
      try handle.seek(toOffset: position)
      let byte = try XCTUnwrap(handle.read(upToCount: 1)).first ?? 0
      try handle.seek(toOffset: position)
      try handle.write(contentsOf: [byte ^ 0x10])
      position += 3_001
    }
    var known = 0
    for number in 0..<count {
      guard let found = file.record("\(number)") else { continue }
      XCTAssertEqual(found, record(UInt64(number)))
      known += 1
    }
    XCTAssertLessThan(known, count * 3 / 4)
    file.note("a", record(1))
  }

  /// As when the disk is full: nothing fails, and nothing is known.
  func testWithoutAFileNothingIsKnown() {
    let file = RecordFile(path: "/nowhere/records")
    file.note("a", record(1))
    file.forget("b")
    XCTAssertNil(file.record("a"))
    file.beginScan()
    file.noteScanned("a", record(1), replaced: 0)
    file.endScan()
    XCTAssertNil(file.revision("a"))
  }
}
