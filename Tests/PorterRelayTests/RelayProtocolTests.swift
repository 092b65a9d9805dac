import PorterCrypto
import PorterPlatform
import PropertyTesting
import XCTest

@testable import PorterRelay

final class RelayProtocolTests: XCTestCase {
  func testRequestsAreReadAsTheyWereWritten() {
    forAll(RelayGenerators.request, runs: 500) { request in
      try expectEqual(try RelayRequest(decoding: request.encoded()), request)
      try expectEqual(try RelayCommand(decoding: request.command.encoded()), request.command)
    }
  }

  func testAnswersAreReadAsTheyWereWritten() {
    forAll(both(RelayGenerators.answer, RelayGenerators.identifier), runs: 500) { answer, correlation in
      let bytes = answer.encoded(for: correlation)
      try expectEqual(try RelayAnswer(decoding: bytes, correlation: correlation), answer)
    }
  }

  /// No request is a prefix of another, except that a body ends where the request ends.
  func testShortenedOrLengthenedRequestIsRefused() {
    forAll(both(RelayGenerators.request, .number(0...10_000)), runs: 500) { request, cut in
      let bytes = request.encoded()
      if case .send(_, _, let body) = request.command, cut % bytes.count > bytes.count - 1 - body.count { return }
      try expectThrows { _ = try RelayRequest(decoding: Array(bytes.prefix(cut % bytes.count))) }
      if case .send = request.command { return }
      try expectThrows { _ = try RelayRequest(decoding: bytes + [0]) }
    }
  }

  func testAnswerToAnotherRequestIsRefused() {
    forAll(all(RelayGenerators.answer, RelayGenerators.identifier, RelayGenerators.identifier), runs: 200) {
      answer, correlation, other in
      try assume(correlation != other)
      do {
        _ = try RelayAnswer(decoding: answer.encoded(for: correlation), correlation: other)
        try expect(false, "it was taken")
      } catch let error as RelayError {
        try expectEqual(error, .answer)
      }
    }
  }

  func testAnyBytesAreAnAnswerOrATypedError() {
    forAll(both(.bytes(0...200), both(RelayGenerators.answer, RelayGenerators.identifier)), runs: 2_000) {
      noise, genuine in
      let (answer, correlation) = genuine
      var bytes = answer.encoded(for: correlation)
      for (offset, byte) in noise.enumerated() where offset % 7 == 0 && !bytes.isEmpty {
        bytes[(offset &* 31 &+ Int(byte)) % bytes.count] ^= byte
      }
      for attempt in [noise, bytes, bytes + noise] {
        do {
          _ = try RelayAnswer(decoding: attempt, correlation: correlation)
        } catch let error as RelayError {
          try expect(error == .answer, "\(error)")
        }
      }
    }
  }

  func testLimitsAreCheckedBeforeAnythingIsRead() throws {
    let key = [UInt8](repeating: 1, count: 32)
    for bytes: [UInt8] in [[6, 0xff, 0xff], [10] + key + [1, 1], [12] + key + [0xff, 0xff]] {
      XCTAssertThrowsError(try RelayCommand(decoding: bytes)) { XCTAssertEqual($0 as? RelayError, .size) }
    }
    let huge = [UInt8](repeating: 1, count: RelayLimits.exchange + 1)
    XCTAssertThrowsError(try RelayRequest(decoding: huge)) { XCTAssertEqual($0 as? RelayError, .size) }
    XCTAssertThrowsError(try RelayRequest(decoding: [])) { XCTAssertEqual($0 as? RelayError, .syntax) }
    XCTAssertThrowsError(try RelayRequest(decoding: [2])) { XCTAssertEqual($0 as? RelayError, .version) }
  }

  /// The example in `spec/protocol/relay.md`, byte by byte: what is written there is what is sent.
  func testExampleOfTheSpecification() throws {
    let seed = [UInt8](repeating: 7, count: 32)
    let key = try XCTUnwrap(SigningKeyPair(seed: seed))
    let correlation = try XCTUnwrap(RelayIdentifier(bytes: [UInt8](repeating: 0x11, count: 24)))
    let entity = try XCTUnwrap(RelayIdentifier(bytes: [UInt8](repeating: 0x22, count: 24)))
    var request = RelayRequest(correlation: correlation, entity: entity, command: .getMessage)
    XCTAssertEqual(
      TextEncoding.hex(request.signedBytes),
      TextEncoding.hex("nightporter relay request 1".utf8) + "00" + String(repeating: "11", count: 24) + "01"
        + String(repeating: "22", count: 24) + "04")
    request.signature = key.sign(request.signedBytes)
    let text = TextEncoding.hex(request.encoded())
    XCTAssertEqual(
      text,
      "01" + String(repeating: "11", count: 24) + "01" + TextEncoding.hex(request.signature ?? []) + "01"
        + String(repeating: "22", count: 24) + "04")
    XCTAssertEqual(RelayAnswer.failed(.noMessage).encoded(for: correlation), [1] + correlation.bytes + [2, 4])
  }
}
