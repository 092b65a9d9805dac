import Foundation
import NIOEmbedded
import PorterRelay
import PorterTLS
import PorterTelemetry
import XCTest

@testable import PorterRelayServer

/// The answers to a load balancer and an operator.
final class ReadinessTests: XCTestCase {
  private struct BackEnd: RelayBackEnd {
    var problem: String?
    var isServing: Bool
    var isOverloaded = false

    func exchange(_ exchange: RelayService.Exchange, done: @escaping @Sendable (RelayReply) -> Void) {
      done(.unavailable)
    }
    func attach(_ listener: String) {}
    func detach(_ listener: String) {}
    func forget(_ listeners: [String]) {}
    var waiting: Int { 0 }
    func close() {}
  }

  private func surroundings(_ backEnd: BackEnd, connections: Int = 1) throws -> Surroundings {
    let folder = NSTemporaryDirectory() + "porter-ready-" + UUID().uuidString.prefix(8)
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { XCTAssertNoThrow(try FileManager.default.removeItem(atPath: folder)) }
    let paths = try OwnCertificate.prepare(in: folder, name: "localhost")
    var options = RelayServerOptions()
    options.connections = connections
    let surroundings = Surroundings(
      options, backEnd: backEnd,
      hub: NewsHub(mostListeners: 1, mostListenersOfSource: 1, mostStreamsOfSource: 1), metrics: Metrics(),
      log: LogWriter { _ in }, keeper: try CertificateKeeper(certificate: paths.certificate, key: paths.key))
    surroundings.set(serving: true)
    return surroundings
  }

  func testARelayThatServesIsReadyThoughSomethingIsWrong() throws {
    let serving = try surroundings(BackEnd(problem: "the cluster has lost messages", isServing: true))
    XCTAssertTrue(serving.isReady)
    XCTAssertEqual(serving.problems, ["storage: the cluster has lost messages"])
    serving.set(serving: false)
    XCTAssertFalse(serving.isReady, "it drains")
    XCTAssertFalse(try surroundings(BackEnd(problem: "no quorum", isServing: false)).isReady)
  }

  func testARelayThatHasTooMuchToDoIsNotReadyThoughNothingIsWrong() throws {
    let overloaded = try surroundings(BackEnd(isServing: true, isOverloaded: true))
    XCTAssertFalse(overloaded.isReady)
    XCTAssertEqual(overloaded.problems, [])
  }

  func testARelayThatTakesNoMoreConnectionsIsNotReady() throws {
    let surroundings = try surroundings(BackEnd(isServing: true), connections: 2)
    let channels = [EmbeddedChannel(), EmbeddedChannel(), EmbeddedChannel()]
    XCTAssertEqual(channels[..<1].map(surroundings.connections.add), [true])
    XCTAssertTrue(surroundings.isReady)
    XCTAssertEqual(channels[1...].map(surroundings.connections.add), [true, false])
    XCTAssertFalse(surroundings.isReady)
    XCTAssertNoThrow(try channels[0].finish())
    XCTAssertTrue(surroundings.isReady)
  }
}
