import Foundation
import PorterPlatform
import PythonPeer
import XCTest

/// `Peer/crypto_peer.py` as a process, in the virtual environment `$PORTER_VENV` (`.venv` at the package's root if
/// unset). A missing interpreter or package fails the test that asked for it.
final class CryptoPeer {
  /// The name of the exception that the peer raised.
  struct Refusal: Error, Equatable {
    let name: String
  }

  struct Gone: Error, CustomStringConvertible {
    let description: String
  }

  private let process = Process()
  private let requests = Pipe()
  private let answers = Pipe()
  private var buffered = Data()
  private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Peer")

  init() throws {
    // Writing to a peer that has ended must throw, not end the tests.
    signal(SIGPIPE, SIG_IGN)
    let root = Self.folder.appendingPathComponent("../../..").standardizedFileURL
    process.executableURL = try peerInterpreter()
    process.arguments = ["-B", Self.folder.appendingPathComponent("crypto_peer.py").path]
    process.standardInput = requests
    process.standardOutput = answers
    try process.run()
    let versions = try call("versions").map { String(decoding: $0, as: UTF8.self) }
    let requirements = root.appendingPathComponent("Tests/peers/requirements.txt")
    let wanted = try String(contentsOf: requirements, encoding: .utf8).split(separator: "\n").map(String.init)
    let found = zip(["PyNaCl", "DoubleRatchet"], versions).map { "\($0)==\($1)" }
    for package in found where !wanted.contains(package) {
      throw Gone(description: "the peer runs \(package), which \(requirements.path) does not name")
    }
  }

  deinit {
    try? requests.fileHandleForWriting.close()
    process.waitUntilExit()
  }

  /// The peer's answer; throws `Refusal` if its code raised.
  @discardableResult
  func call(_ operation: String, _ arguments: [UInt8]...) throws -> [[UInt8]] { try send(operation, arguments) }

  private func send(_ operation: String, _ arguments: [[UInt8]]) throws -> [[UInt8]] {
    let words = [operation] + arguments.map { $0.isEmpty ? "-" : TextEncoding.hex($0) }
    try requests.fileHandleForWriting.write(contentsOf: Data((words.joined(separator: " ") + "\n").utf8))
    let answer = try readLine().split(separator: " ").map(String.init)
    guard answer.first == "ok" else { throw Refusal(name: answer.last ?? "") }
    return try answer.dropFirst().map { text in
      try text == "-" ? [] : XCTUnwrap(TextEncoding.hexDecoded(text), "the peer does not speak hexadecimal")
    }
  }

  /// For operations whose answer is a single value.
  func value(_ operation: String, _ arguments: [UInt8]...) throws -> [UInt8] {
    guard let value = try send(operation, arguments).first else { throw Gone(description: "the peer gave no value") }
    return value
  }

  private func readLine() throws -> String {
    while true {
      if let end = buffered.firstIndex(of: UInt8(ascii: "\n")) {
        defer { buffered = Data(buffered[(end + 1)...]) }
        return String(decoding: buffered[..<end], as: UTF8.self)
      }
      let more = answers.fileHandleForReading.availableData
      guard !more.isEmpty else { throw Gone(description: "the peer ended; what it said is above") }
      buffered += more
    }
  }
}
