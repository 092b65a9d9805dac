import CNightporter
import Foundation
import PorterMachines
import PorterPlatform
import XCTest

@testable import PorterEngine
@testable import PorterStore

/// A token in `PERIODIC` mode gets its wake-ups, whatever happens to the process that proved it.
final class WakeIntervalTests: XCTestCase {
  /// The network fails while the server is asked with the code, or just after it has accepted it; then it is back for
  /// one round.
  func testTheServerLearnsTheIntervalThoughTheNetworkFailsMeanwhile() throws {
    for event in ["push.verification", "verify.ok"] {
      let station = try Station(activates: false)
      let (prefix, relay) = (station.alice.prefix, station.pair.folder.file("relay.db"))
      station.alice.free()
      let transport = HostTransport(relay: relay)
      let log = Log(minimum: .debug) { _, line in
        if line.contains("machine=token_status "), line.contains("event=\(event) ") { transport.fail(.send) }
      }
      let configuration = Configuration(prefix: prefix, role: .app, confirmation: .yesUp, log: log)
      let app = try XCTUnwrap(Controller.open(configuration).1)
      defer { app.stop() }
      XCTAssertTrue(app.setRelay(transport.port))
      JSON(app.send("/_start", retry: 0)).assert("chatStarted")
      let registered = JSON(app.send("/_ntf register apns_test \(station.token) PERIODIC", retry: 0))
      XCTAssertEqual(registered["result"]["status"].text, "REGISTERED", registered.description)
      let data = JSON(try station.nextPush())["notificationData"]
      let code = "\(data["nonce"].text) \(data["verification"].text)"
      _ = app.send("/_ntf verify apns_test \(station.token) \(code)", retry: 0)
      _ = app.send("/_app suspend 0", retry: 0)
      transport.fail(nil)
      _ = app.refresh(deadline: .seconds(20))
      try awaitPeriodic(station, "\(event) failed")
    }
  }

  /// The push ends before the server's answer arrives, which no process reads.
  func testTheServerLearnsTheIntervalFromAnExtensionWhoseTimeIsUp() throws {
    let station = try Station(activates: false)
    let answer = station.alice.send("/_ntf register apns_test \(station.token) PERIODIC")
    XCTAssertEqual(answer["result"]["status"].text, "REGISTERED", answer.description)
    station.suspend()
    let push = try station.nextPush()
    let service = try station.makeExtension()
    let transport = HostTransport(relay: station.pair.folder.file("relay.db"))
    transport.install(in: service)
    transport.hang(.get)
    let cut = service.push(push, deadline: 5_000)
    transport.hang(nil)
    XCTAssertEqual(cut["outcome"].text, "expired", cut.description)
    try awaitPeriodic(station, "without another process")
  }

  /// In every state: the request is stored with the code, and with the status that the server calls active.
  func testEveryStepThatProvesATokenQueuesItsInterval() {
    for state in TokenStatus.State.allCases {
      for event in TokenStatus.Event.allCases {
        let step = TokenStatus.step(state, event)
        guard step.answer == .moved || step.answer == .stayed else { continue }
        let becomesActive = step.next == .active && state != .active
        let isDue = becomesActive || step.effects.contains(.saveCode) || event == .checkActive
        XCTAssertEqual(step.effects.contains(.queueInterval), isDue, "\(state) \(event)")
        if isDue { XCTAssertTrue(step.effects.contains(.sendQueued), "\(state) \(event)") }
      }
    }
    XCTAssertEqual(TokenStatus.kind(.queueInterval), .record)
  }

  private func awaitPeriodic(_ station: Station, _ what: String, line: UInt = #line) throws {
    let server = try Database(path: station.pair.folder.file("server.db"))
    defer { try? server.close() }
    try awaitThat("active, with wake-ups: \(what)", line: line) {
      try server.first("SELECT state, period FROM token") { "\($0.text(0)) \($0.integer(1))" } == "active 20"
    }
  }
}
