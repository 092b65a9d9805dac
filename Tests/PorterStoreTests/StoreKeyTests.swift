import PorterCrypto
import XCTest

@testable import PorterStore

final class StoreKeyTests: XCTestCase {
  static let digits = String(repeating: "0fA1", count: 16)

  func testTextsOfKeys() throws {
    XCTAssertTrue(try StoreKey.parse("").isNone)
    guard case .raw(let key) = try StoreKey.parse("x'\(Self.digits)'") else { return XCTFail("not a raw key") }
    XCTAssertEqual(
      key.withExposedBytes { Array($0) }, (0..<16).flatMap { _ in [UInt8(0x0f), 0xa1] }, "both cases of digits")
    for text in ["secret", Self.digits, "X'\(Self.digits)'", " x'", "naïve ✉️", String(repeating: "p", count: 4096)] {
      guard case .passphrase(let passphrase) = try StoreKey.parse(text) else {
        XCTFail("not a passphrase: \(text.prefix(20))")
        continue
      }
      XCTAssertEqual(passphrase.bytes.withExposedBytes { Array($0) }, Array(text.utf8))
    }
  }

  func testTextThatStartsLikeARawKeyButIsNotOneIsRefused() {
    let digits = Self.digits
    let texts = [
      "x'", "x''", "x'\(digits)", "x'\(digits.dropLast())'", "x'\(digits)0'", "x'\(digits.dropLast())g'",
      "x'\(digits)' ", "x'\(String(repeating: "é", count: 32))'", String(repeating: "p", count: 4097),
    ]
    for text in texts {
      XCTAssertThrowsError(try StoreKey.parse(text), "\(text.prefix(8))") { error in
        XCTAssertEqual(error as? SealError, .keyInvalid)
        XCTAssertFalse("\(error)".contains(digits))
      }
    }
  }

  func testKeysAreNeverPrinted() throws {
    for text in ["x'\(Self.digits)'", "open sesame"] {
      let key = try StoreKey.parse(text)
      var dumped = ""
      dump(key, to: &dumped)
      dump(Database.Options(key: key), to: &dumped)
      for words in ["\(key)", String(reflecting: key), dumped, "\(Database.Options(key: key))"] {
        XCTAssertFalse(words.contains("sesame") || words.lowercased().contains("0fa1"), words)
        XCTAssertFalse(words.contains("15, 161"), words)
      }
    }
  }

  func testGuardedBytesAreComparedAndOptional() throws {
    let first = try XCTUnwrap(GuardedBytes(count: 3) { $0.copyBytes(from: [1, 2, 3]) == () })
    let second = try XCTUnwrap([UInt8]([1, 2, 3]).withUnsafeBytes { GuardedBytes($0) })
    let third = try XCTUnwrap([UInt8]([1, 2, 4]).withUnsafeBytes { GuardedBytes($0) })
    XCTAssertEqual(first, second)
    XCTAssertNotEqual(first, third)
    XCTAssertNil(GuardedBytes(count: 3) { _ in false })
    XCTAssertNil(GuardedBytes(count: 0) { _ in true })
  }
}
