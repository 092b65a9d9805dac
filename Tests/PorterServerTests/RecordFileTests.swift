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

  private func record(_ revision: UInt64, count: Int = 8_000) -> SharedRecord {
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

  /// More than the file keeps in memory. Each number takes four digits, and two bytes.
  private let manyRecords: Range<UInt64> = 1_000..<9_000

  private func makeFileOfManyRecords(period: Int = 1) -> RecordFile {
    let file = RecordFile(path: path)
    for _ in 1..<period { file.forgetAll() }
    for number in manyRecords { file.note("name-\(number)", record(number)) }
    return file
  }

  private func flip(at position: UInt64, _ handle: FileHandle) throws {
    try handle.seek(toOffset: position)
    let byte = try XCTUnwrap(handle.read(upToCount: 1)?.first)
    try handle.seek(toOffset: position)
    try handle.write(contentsOf: [byte ^ 0x10])
  }

  /// Flips a bit this far behind the name of each record, so that the structure of the file stays intact.
  private func damage(behindNames offset: Int) throws {
    let handle = try FileHandle(forUpdating: URL(fileURLWithPath: path))
    let contents = [UInt8](try XCTUnwrap(handle.readToEnd()))
    var positions: [Int] = []
    contents.withUnsafeBytes { bytes in
      guard let start = bytes.baseAddress else { return }
      var position = 0
      while let found = memchr(start + position, Int32(UInt8(ascii: "n")), bytes.count - 5 - position) {
        position = start.distance(to: UnsafeRawPointer(found)) + 1
        if memcmp(found, "name-", 5) == 0 { positions.append(position + 4) }
      }
    }
    XCTAssertGreaterThan(positions.count, manyRecords.count / 4)
    for position in positions { try flip(at: UInt64(position + 4 + offset), handle) }
  }

  /// Whatever is flipped, a record is right or unknown.
  func testADamagedRecordIsUnknown() throws {
    let file = makeFileOfManyRecords()
    let handle = try FileHandle(forUpdating: URL(fileURLWithPath: path))
    let size = try handle.seekToEnd()
    XCTAssertGreaterThan(size, 16_000_000)
    for position in stride(from: 20_000, to: size, by: 3_001) { try flip(at: position, handle) }
    checkThatRecordsAreRightOrUnknown(in: file)
    file.note("a", record(1))
  }

  func testARecordWithADamagedRevisionIsUnknown() throws {
    let file = makeFileOfManyRecords()
    try damage(behindNames: 1)
    checkThatRecordsAreRightOrUnknown(in: file)
  }

  private func checkThatRecordsAreRightOrUnknown(in file: RecordFile) {
    for number in manyRecords {
      guard let found = file.record("name-\(number)") else { continue }
      XCTAssertEqual(found, record(number))
      XCTAssertEqual(file.revision("name-\(number)"), number)
    }
    XCTAssertEqual(file.losses, 1)
  }

  /// As if it had been noted in a later period than it was.
  func testAForgottenRecordWithADamagedPeriodIsUnknown() throws {
    let file = makeFileOfManyRecords(period: 2)
    try damage(behindNames: 2)
    for _ in 2..<2 ^ 0x10 { file.forgetAll() }
    for number in manyRecords { XCTAssertNil(file.record("name-\(number)")) }
  }

  /// An earlier version, found by a scan, does not count instead of a damaged one, whether or not that one was read.
  func testAScanDoesNotReplaceADamagedRecord() throws {
    for isRead in [false, true] {
      let file = makeFileOfManyRecords()
      try damage(behindNames: 200)
      file.beginScan()
      if isRead { for number in manyRecords { _ = file.record("name-\(number)") } }
      for number in manyRecords { file.noteScanned("name-\(number)", record(number + 1), replaced: 0) }
      file.endScan()
      // Those in memory are intact, until a damaged one is read.
      for number in manyRecords { XCTAssertEqual(file.record("name-\(number)")?.revision ?? number, number) }
      XCTAssertEqual(file.losses, 1)
    }
  }

  /// A record's revision does not depend on its contents.
  func testDamagedContentsAreFoundWhenTheyAreRead() throws {
    let file = makeFileOfManyRecords()
    try damage(behindNames: 200)
    for number in manyRecords { XCTAssertEqual(file.revision("name-\(number)"), number) }
    XCTAssertEqual(file.losses, 0)
    let isKnown = manyRecords.map { file.record("name-\($0)") != nil }
    XCTAssertTrue(isKnown.contains(false))
    XCTAssertEqual(file.losses, 1)
    XCTAssertNil(file.revision("name-\(manyRecords.lowerBound)"))
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
