import PorterCrypto
import PorterJSON
import PorterPlatform
import PropertyTesting
import PythonPeer
import XCTest

@testable import PorterPush

/// A host's own pushes, between its service and its scope.
final class ApplicationEnvelopeTests: XCTestCase {
  fileprivate struct Parties {
    let scope: BoxKeyPair
    let service: SigningKeyPair
    let address: ScopeAddress

    init() throws {
      scope = try BoxKeyPair.generate(randomness: randomness)
      service = try SigningKeyPair.generate(randomness: randomness)
      address = try XCTUnwrap(ScopeAddress(key: scope.publicKey, mailbox: identifier()))
    }

    func seal(_ envelope: ApplicationEnvelope) throws -> [UInt8] {
      try envelope.sealed(for: address, signedBy: service, randomness: randomness)
    }

    func open(_ message: [UInt8]) throws(PushError) -> ApplicationEnvelope {
      try ApplicationEnvelope(opening: message, with: scope, service: service.publicKey)
    }
  }

  private func envelope(data: JSONValue = ["tabs": 2]) throws -> ApplicationEnvelope {
    try XCTUnwrap(
      ApplicationEnvelope(
        identifier: randomness.bytes(16), version: 1, command: "tab.open",
        expires: WallTime(milliseconds: 1_800_000_000_000), sender: "laptop", url: "https://example.org/", data: data))
  }

  func testEnvelopesArriveAsTheyWereSentAndHaveOneSize() throws {
    let parties = try Parties()
    for data: JSONValue in [.null, "x", ["command": "open", "list": [1, 2.5, true, nil]], .string(long(10_000))] {
      let sent = try envelope(data: data)
      let message = try parties.seal(sent)
      XCTAssertEqual(message.count, 16_384)
      XCTAssertEqual(try parties.open(message), sent)
    }
    XCTAssertEqual(ScopeAddress(parsing: "\(parties.address)"), parties.address)
  }

  private func long(_ count: Int) -> String { String(repeating: "x", count: count) }

  func testWhatDoesNotFitIsRefusedWhereItIsMade() throws {
    let parties = try Parties()
    let spare = ApplicationEnvelope.maximumCount - (try envelope(data: "").json.utf8.count)
    let fits = try parties.seal(try envelope(data: .string(long(spare))))
    XCTAssertEqual(fits.count, 16_384)
    let over = try envelope(data: .string(long(spare + 1)))
    XCTAssertEqual(
      pushError { try parties.seal(over) },
      .oversized(length: ApplicationEnvelope.maximumCount + 1, limit: ApplicationEnvelope.maximumCount))
  }

  func testAnyFlippedBitFails() throws {
    let parties = try Parties()
    let message = try parties.seal(try envelope())
    forAll(Generator<Int>.number(8...(message.count * 8 - 1)), runs: 200) { bit in
      var changed = message
      changed[bit / 8] ^= 1 << UInt8(bit % 8)
      do throws(PushError) { _ = try parties.open(changed) } catch {
        return try expect([.notAuthentic, .crypto(.publicKeyRefused)].contains(error), "\(error)")
      }
      try expect(false, "opened")
    }
  }

  /// Signed by another service, or meant for another scope of the same service: neither is accepted.
  func testAnotherServiceAndAnotherScopeAreNotAuthentic() throws {
    let (parties, others) = (try Parties(), try Parties())
    let sent = try envelope()
    let forged = try sent.sealed(for: parties.address, signedBy: others.service, randomness: randomness)
    XCTAssertEqual(pushError { try parties.open(forged) }, .notAuthentic)
    let elsewhere = try sent.sealed(for: others.address, signedBy: parties.service, randomness: randomness)
    XCTAssertEqual(pushError { try parties.open(elsewhere) }, .notAuthentic)
    // The other scope's owner opens it, and seals what the service signed for this one.
    let text = sent.json.utf8
    let signature = parties.service.sign(
      Array("nightporter application push 1".utf8) + [0] + others.scope.publicKey.bytes + text)
    XCTAssertEqual(pushError { try parties.open(try parties.sealRaw(signature + text)) }, .notAuthentic)
  }

  func testMalformedContentsAreRefused() throws {
    let parties = try Parties()
    XCTAssertEqual(pushError { try parties.open([]) }, .malformed(.envelope))
    XCTAssertEqual(pushError { try parties.open([UInt8](repeating: 65, count: 16_383)) }, .malformed(.envelope))
    XCTAssertEqual(pushError { try parties.open(try parties.sealRaw([1, 2, 3])) }, .malformed(.signature))
    XCTAssertEqual(pushError { try parties.open(try parties.sealSigned("{")) }, .truncated(length: 1))
    let good = try envelope().json.text
    XCTAssertNoThrow(try parties.open(try parties.sealSigned(good)))
    for (part, other) in [
      (#""version":1"#, #""version":0"#), (#""version":1"#, #""version":"1""#), (#""command":"tab.open""#, #""c":1"#),
      (#""command":"tab.open""#, #""command":"""#), (#""sender":"laptop""#, #""sender":7"#),
      (#""expires":1800000000"#, #""expires":-1"#), (#""expires":1800000000"#, #""expires":9223372036854775807"#),
      (#""url":"https://example.org/""#, #""url":"\#(long(2_049))""#),
    ] {
      let bad = good.replacingOccurrences(of: part, with: other)
      XCTAssertNotEqual(bad, good, part)
      XCTAssertEqual(pushError { try parties.open(try parties.sealSigned(bad)) }, .malformed(.envelope), other)
    }
    for address in ["", "scope:", "scope:AA@AA", "ntf:\("\(parties.address)".dropFirst(6))", "\(parties.address)@"] {
      XCTAssertNil(ScopeAddress(parsing: address), address)
    }
  }

  /// A service in another language, using only PyNaCl, and back.
  func testAServiceInPythonSealsAndOpensTheSame() throws {
    let parties = try Parties()
    let sent = try envelope()
    let request: JSONValue = [
      "seal": sent.json, "address": .string("\(parties.address)"),
      "seed": .string(TextEncoding.hex(parties.service.exposeSeed())),
    ]
    let sealed = try JSONValue(parsing: runPeer("scope_service.py", input: request.text))["message"]?.stringValue
    XCTAssertEqual(try parties.open(try XCTUnwrap(sealed.flatMap { TextEncoding.hexDecoded($0) })), sent)
    let back: JSONValue = [
      "open": .string(TextEncoding.hex(try parties.seal(sent))),
      "secret": .string(TextEncoding.hex(parties.scope.secretKey.exposeForStorage())),
      "verify": .string(TextEncoding.hex(parties.service.publicKey.bytes)),
    ]
    let opened = try JSONValue(parsing: runPeer("scope_service.py", input: back.text))["envelope"]?.stringValue
    XCTAssertEqual(try JSONValue(parsing: try XCTUnwrap(opened)), sent.json)
  }
}

extension ApplicationEnvelopeTests.Parties {
  /// Seals these bytes instead of a signature and an envelope.
  func sealRaw(_ plaintext: [UInt8]) throws -> [UInt8] {
    let ephemeral = try BoxKeyPair.generate(randomness: randomness)
    let nonce = try nonce()
    let box = try ephemeral.secretKey.agree(with: scope.publicKey).sealPadded(
      plaintext, to: 16_384 - 1 - 32 - 24 - 16, nonce: nonce)
    return [UInt8(ascii: "A")] + ephemeral.publicKey.bytes + nonce.bytes + box
  }

  func sealSigned(_ text: String) throws -> [UInt8] {
    let bytes = Array(text.utf8)
    let signed = Array("nightporter application push 1".utf8) + [0] + scope.publicKey.bytes + bytes
    return try sealRaw(service.sign(signed) + bytes)
  }
}
