import PorterCrypto
import PorterJSON
import PorterPlatform
import PorterPush
import PorterRelay
import PorterServer
import XCTest

/// A host's service: it has its own key and knows the address of a scope.
struct HostService {
  let key: SigningKeyPair
  private let randomness = SystemRandomness()

  /// base64url.
  var publicKey: String { TextEncoding.base64URL(key.publicKey.bytes) }

  init() throws { key = try SigningKeyPair.generate(randomness: SystemRandomness()) }

  /// Subscribes the scope, with further members of the command's JSON.
  func subscribe(
    _ name: String, at host: Host, _ members: String = "", file: StaticString = #filePath, line: UInt = #line
  ) throws -> ScopeAddress {
    let answer = host.send(#"/_ntf scope subscribe {"name":"\#(name)","serviceKey":"\#(publicKey)"\#(members)}"#)
    answer.assert("ntfScope", file, line)
    let text = answer["result"]["scope"]["address"].text
    return try XCTUnwrap(ScopeAddress(parsing: text), answer.description, file: file, line: line)
  }

  func seal(_ envelope: ApplicationEnvelope, for address: ScopeAddress) throws -> [UInt8] {
    try envelope.sealed(for: address, signedBy: key, randomness: randomness)
  }

  func envelope(
    _ command: String = "tab.open", id: [UInt8]? = nil, version: Int64 = 1, expiresIn span: Span = .days(1)
  ) throws -> ApplicationEnvelope {
    let now = SystemClock().wall().milliseconds / 1_000 * 1_000
    return try XCTUnwrap(
      ApplicationEnvelope(
        identifier: id ?? randomness.bytes(16), version: version, command: command,
        expires: WallTime(milliseconds: now + span.milliseconds), sender: "laptop", url: "https://example.org/",
        data: ["command": "open", "index": 7]))
  }

  /// Leaves the message at the address, as `porter-server send` does.
  func submit(_ message: [UInt8], to address: ScopeAddress, relay path: String) throws {
    let relay = EmbeddedRelay(path: path, ports: .system, log: .silent)
    defer { relay.close() }
    try ScopeSubmission.submit(message, to: "\(address)", relay: relay)
  }

  func push(_ envelope: ApplicationEnvelope, to address: ScopeAddress, relay path: String) throws {
    try submit(try seal(envelope, for: address), to: address, relay: path)
  }
}

extension JSON {
  /// The commands of the host's own pushes in the answer to a push.
  var commands: [String] { self["applicationPushes"].elements.map { $0["envelope"]["command"].text } }
}
