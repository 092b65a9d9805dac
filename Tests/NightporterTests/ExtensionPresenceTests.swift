import Foundation
import PorterInbox
import PorterMachines
import PorterPlatform
import PorterStore
import Synchronization
import XCTest

@testable import PorterEngine

/// How the app sees an extension, and what it asks of it.
final class ExtensionPresenceTests: XCTestCase {
  private func open(_ pair: Pair, _ inbox: Inbox, log: Log = .silent) throws -> Controller {
    pair.alice.free()
    let configuration = Configuration(prefix: pair.alice.prefix, role: .extension, confirmation: .error, log: log)
    let (result, controller) = Controller.open(configuration.receiving(from: inbox))
    return try XCTUnwrap(controller, "\(result)")
  }

  /// INC-01, INC-22: the app asks an extension that has opened the store and done nothing with it.
  func testINC22AnExtensionThatHasOnlyOpenedTheStoreYields() throws {
    let controller = try open(try Pair(), Inbox())
    defer { controller.stop() }
    XCTAssertFalse(JSON(controller.state())["quiescent"].flag, "it has the store open")
    let yield: @Sendable (Engine) -> Bool = {
      $0.appAsksToYield($0.context.identity)
      return true
    }
    XCTAssertTrue(controller.call(.none, yield) ?? false)
    XCTAssertTrue(JSON(controller.state())["quiescent"].flag, controller.state())
    // Closed and reopened by the host, while the phase is still suspended.
    XCTAssertEqual(controller.closeStore(), "")
    _ = controller.reopenStore()
    XCTAssertTrue(controller.call(.none, yield) ?? false)
    XCTAssertTrue(JSON(controller.state())["quiescent"].flag, controller.state())
  }

  /// Arriving messages are left only to an app on screen, or about to be. One of another version may publish a phase
  /// unknown here.
  func testAnAppOnScreenAloneShowsWhatArrives() {
    let onScreen: Set<AppPhase.State> = [.active, .activating]
    for state in AppPhase.State.allCases {
      let published = PhaseFile.Published(phase: state.name, instance: nil)
      XCTAssertEqual(published.showsWhatArrives, onScreen.contains(state), state.name)
      XCTAssertEqual(published.isStopped, state == .stopped, state.name)
    }
    let unknown = PhaseFile.Published(phase: "dreaming", instance: nil)
    XCTAssertTrue(unknown.showsWhatArrives)
    XCTAssertFalse(unknown.isStopped)
  }

  /// A phase file that cannot be locked hides the extension from the app. The extension still does its work, and
  /// reports that it is not seen.
  func testAnExtensionWithoutAPhaseFileWorksAndSaysThatItIsNotSeen() throws {
    let (pair, inbox) = (try Pair(), Inbox())
    inbox.put("first", "hello")
    let lines = Mutex<[String]>([])
    let controller = try open(
      pair, inbox, log: Log(minimum: .warning) { _, line in lines.withLock { $0.append(line) } })
    defer { controller.stop() }
    let names = try FileManager.default.contentsOfDirectory(atPath: pair.folder.path)
    for name in names where name.hasPrefix("alice") && name.hasSuffix("_extension.phase") {
      try FileManager.default.removeItem(atPath: pair.folder.file(name))
    }
    let file = PhaseFile(
      prefix: try StoreLocation(prefix: pair.alice.prefix).resolved(SystemFiles()).stem, role: "extension"
    ).path
    try FileManager.default.createDirectory(atPath: file, withIntermediateDirectories: false)
    let wake = #"{"aps":{"content-available":1},"notificationData":{"checkMessages":true}}"#
    let answer = JSON(controller.receivePush(wake, deadline: .seconds(20)))
    XCTAssertEqual(answer.bodies, ["hello"], answer.description)
    XCTAssertTrue(answer["quiescent"].flag, answer.description)
    XCTAssertTrue(
      lines.withLock { $0.contains { $0.contains("other processes cannot see") } }, "\(lines.withLock { $0 })")
  }
}
