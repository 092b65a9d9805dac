import Foundation
import PorterPlatform
import PropertyTesting
import XCTest

final class TextEncodingTests: XCTestCase {
  func testBase64URLReadsBackAndAgreesWithFoundation() {
    forAll(Generator<[UInt8]>.bytes(0...70), runs: 500) { bytes in
      let text = TextEncoding.base64URL(bytes)
      try expectEqual(TextEncoding.base64URLDecoded(text), bytes)
      let standard = Data(bytes).base64EncodedString()
        .replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
      try expectEqual(text, standard.replacingOccurrences(of: "=", with: ""))
      try expectEqual(TextEncoding.base64URLDecoded(standard), bytes)
      try expectEqual(TextEncoding.base64URL(bytes[...]), text, "a slice")
    }
  }

  /// Each value has one text: decoding and encoding returns the same text, so no two names mean the same thing.
  func testBase64URLHasOneFormForEachValue() {
    forAll(Generator<String>.text(of: "ABab09-_", 0...9), runs: 2_000) { text in
      guard let bytes = TextEncoding.base64URLDecoded(text) else { return }
      try expectEqual(TextEncoding.base64URL(bytes), text)
    }
  }

  func testInvalidBase64URLIsRefused() {
    for text in ["A", "AAAAA", "AB", "AAB", "A+AA", "A/AA", "AA A", "AA\n", "AA===", "=AA", "A=A", "ÄA", "A\u{0}"] {
      XCTAssertNil(TextEncoding.base64URLDecoded(text), text)
    }
    XCTAssertEqual(TextEncoding.base64URLDecoded(""), [])
  }

  func testHexReadsBack() {
    forAll(Generator<[UInt8]>.bytes(0...40)) { bytes in
      let text = TextEncoding.hex(bytes)
      try expectEqual(text, bytes.map { String(format: "%02x", $0) }.joined())
      try expectEqual(TextEncoding.hexDecoded(text), bytes)
    }
    for text in ["0", "0g", "AB", "0 ", "0x", "é"] { XCTAssertNil(TextEncoding.hexDecoded(text), text) }
  }

  func testAnyTextDecodesOrIsRefused() {
    forAll(Generator<String>.text(0...20), runs: 2_000) { text in
      if let bytes = TextEncoding.hexDecoded(text) { try expectEqual(TextEncoding.hex(bytes), text) }
      _ = TextEncoding.base64URLDecoded(text)
    }
  }
}
