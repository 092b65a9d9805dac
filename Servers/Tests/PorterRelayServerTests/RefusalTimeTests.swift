import Foundation
import NIOCore
import NIOEmbedded
import NIOHTTP1
import PorterRelay
import PorterTLS
import PorterTelemetry
import Synchronization
import XCTest

@testable import PorterRelayServer

/// When an answer goes out that refuses a key, by the time of the connection's loop.
final class RefusalTimeTests: XCTestCase {
  private final class BackEnd: RelayBackEnd {
    private let done = Mutex<(@Sendable (RelayReply) -> Void)?>(nil)

    func exchange(_ exchange: RelayService.Exchange, done: @escaping @Sendable (RelayReply) -> Void) {
      self.done.withLock { $0 = done }
    }

    func answer(refuses: Bool) {
      let done = done.withLock { $0 }
      done?(.answer([1], command: "getMessage", result: refuses ? "auth" : "message", refuses: refuses))
    }

    func attach(_ listener: String) {}
    func detach(_ listener: String) {}
    func forget(_ listeners: [String]) {}
    var waiting: Int { 0 }
    var problem: String? { nil }
    var isServing: Bool { true }
    var isOverloaded: Bool { false }
    func close() {}
  }

  private let backEnd = BackEnd()

  private func surroundings() throws -> Surroundings {
    let folder = NSTemporaryDirectory() + "porter-refusals-" + UUID().uuidString.prefix(8)
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { XCTAssertNoThrow(try FileManager.default.removeItem(atPath: folder)) }
    let paths = try OwnCertificate.prepare(in: folder, name: "localhost")
    return Surroundings(
      RelayServerOptions(), backEnd: backEnd,
      hub: NewsHub(mostListeners: 1, mostListenersOfSource: 1, mostStreamsOfSource: 1), metrics: Metrics(),
      log: LogWriter { _ in }, keeper: try CertificateKeeper(certificate: paths.certificate, key: paths.key))
  }

  private func ask(_ channel: EmbeddedChannel) throws {
    let headers = HTTPHeaders([("Content-Type", "application/octet-stream")])
    let head = HTTPRequestHead(version: .http1_1, method: .POST, uri: "/v1/exchange", headers: headers)
    for part in [HTTPServerRequestPart.head(head), .body(ByteBuffer(bytes: [1, 2, 3])), .end(nil)] {
      try channel.writeInbound(part)
    }
  }

  /// The milliseconds from a request to its answer, if the back end took this long.
  private func time(toAnswerAfter milliseconds: Int64, refuses: Bool) throws -> Int64 {
    let channel = EmbeddedChannel(handler: RequestHandler(try surroundings(), clock: nil))
    defer { XCTAssertNoThrow(try channel.finish(acceptAlreadyClosed: true)) }
    let begin = channel.embeddedEventLoop.now
    try ask(channel)
    channel.embeddedEventLoop.advanceTime(by: .milliseconds(milliseconds))
    XCTAssertNil(try channel.readOutbound(as: HTTPServerResponsePart.self))
    backEnd.answer(refuses: refuses)
    channel.embeddedEventLoop.run()
    for _ in 0..<1_000 {
      if try channel.readOutbound(as: HTTPServerResponsePart.self) != nil { break }
      channel.embeddedEventLoop.advanceTime(by: .milliseconds(1))
    }
    return (channel.embeddedEventLoop.now - begin).nanoseconds / 1_000_000
  }

  func testARefusalTakesAsLongWhateverTheBackEndReads() throws {
    for milliseconds in [Int64(0), 1, 4, 24] {
      XCTAssertEqual(try time(toAnswerAfter: milliseconds, refuses: true), 25, "after \(milliseconds) ms")
    }
    XCTAssertEqual(try time(toAnswerAfter: 25, refuses: true), 50)
    XCTAssertEqual(try time(toAnswerAfter: 130, refuses: true), 150)
  }

  func testNothingElseIsHeldBack() throws {
    for milliseconds in [Int64(0), 4, 30] {
      XCTAssertEqual(try time(toAnswerAfter: milliseconds, refuses: false), milliseconds)
    }
  }

  func testAConnectionThatEndsMeanwhileGetsNoAnswer() throws {
    let channel = EmbeddedChannel(handler: RequestHandler(try surroundings(), clock: nil))
    try ask(channel)
    backEnd.answer(refuses: true)
    channel.embeddedEventLoop.run()
    XCTAssertNoThrow(try channel.finish())
    channel.embeddedEventLoop.advanceTime(by: .seconds(1))
    XCTAssertNil(try channel.readOutbound(as: HTTPServerResponsePart.self))
  }
}
