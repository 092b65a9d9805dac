import Foundation
import Synchronization
import XCTest

/// Spin checks spec/models/background.pml exhaustively: an app that leaves the screen stops its network first, in
/// order, and its store with a suspension. Each rule behind that is needed.
final class BackgroundModelTests: XCTestCase {
  func testSpinFindsThatTheNetworkStopsBeforeTheStore() throws {
    let report = try Self.verify([])
    XCTAssertTrue(SpinReport(report).isExhaustive, report)
    // Everything the operations can do is done, and so is every statement of the model itself.
    let left = SpinReport(report).unreached.filter { line in
      ["generated/operations.pml", "models/background.pml"].contains { line.contains($0) }
    }
    XCTAssertEqual(left, [], "unreached")
  }

  func testSpinFindsEachRuleOfTheBackgroundNeeded() throws {
    let problems = Mutex<[String]>([])
    DispatchQueue.concurrentPerform(iterations: BackgroundMutant.all.count) { index in
      let mutant = BackgroundMutant.all[index]
      do {
        let report = try Self.verify([mutant])
        if !report.contains("errors: 1") { problems.withLock { $0.append("not found: \(mutant.title)\n\(report)") } }
      } catch {
        problems.withLock { $0.append("\(mutant.title): \(error)") }
      }
    }
    XCTAssertEqual(problems.withLock { $0 }, [])
  }

  private static func verify(_ mutants: [BackgroundMutant]) throws -> String {
    try withTemporaryDirectory { directory in
      let models = directory.appendingPathComponent("models")
      try FileManager.default.copyItem(at: packageRoot.appendingPathComponent("spec/models"), to: models)
      for mutant in mutants {
        let file = models.appendingPathComponent("generated/\(mutant.machine).pml")
        let text = try String(contentsOf: file, encoding: .utf8)
        try mutant.edit(text).write(to: file, atomically: true, encoding: .utf8)
      }
      let model = models.appendingPathComponent("background.pml")
      let made = try runProgram(try program("spin"), ["-a", model.path], directory: directory)
      guard made.status == 0 else { throw Missing(what: made.output + made.errors) }
      let built = try runProgram(
        try program("clang"), ["-O0", "-DSAFETY", "-DNOREDUCE", "-w", "-o", "pan", "pan.c"], directory: directory)
      guard built.status == 0 else { throw Missing(what: built.errors) }
      return try runProgram(directory.appendingPathComponent("pan"), ["-m100000", "-w20"], directory: directory).output
    }
  }
}

/// A background rule, with an edit of one line of a compiled machine that removes it.
private struct BackgroundMutant {
  let title: String
  let machine: String
  let state: String
  let event: String
  /// Occurs in the line that answers this event in this state.
  let text: String
  let replacement: String

  init(_ title: String, _ machine: String, _ state: String, _ event: String, _ text: String, _ replacement: String) {
    (self.title, self.machine, self.state, self.event) = (title, machine, state, event)
    self.text = text.replacingOccurrences(of: "$", with: machine + "_")
    self.replacement = replacement.replacingOccurrences(of: "$", with: machine + "_")
  }

  func edit(_ model: String) throws -> String {
    var lines = model.components(separatedBy: "\n")
    guard let start = lines.firstIndex(where: { $0.hasPrefix("  :: state == \(machine)_state_\(state) ->") }),
      let place = lines[start...].firstIndex(where: { $0.contains(":: event == \(machine)_on_\(event) ->") }),
      lines[place + 1].contains(text)
    else { throw Missing(what: "\(machine) does not say it in \(state) on \(event): \(text)") }
    lines[place + 1] = lines[place + 1].replacingOccurrences(of: text, with: replacement)
    return lines.joined(separator: "\n")
  }

  private static let admitted = "answer = STAYED; $does($do_admit)"

  static let all: [BackgroundMutant] = [
    BackgroundMutant(
      "what is under way is waited for", "operations", "running", "stopNetwork", "state = $state_stoppingNotifications",
      "state = $state_networkStopped"),
    BackgroundMutant(
      "fetches end after requests to a server", "operations", "stoppingNotifications", "idleNotifications",
      "state = $state_stoppingReceiving; $does($do_awaitReceiving)",
      "state = $state_stoppingDelivery; $does($do_awaitDelivery)"),
    BackgroundMutant(
      "sending is waited for", "operations", "stoppingDelivery", "idleDelivery",
      "state = $state_stoppingSending; $does($do_awaitSending)",
      "state = $state_networkStopped; $does($do_releaseRelay)"),
    BackgroundMutant(
      "an earlier kind does not begin again", "operations", "stoppingDelivery", "beginReceiving", "answer = REFUSED",
      admitted),
    BackgroundMutant(
      "nothing is sent with the network stopped", "operations", "networkStopped", "beginSending", "answer = REFUSED",
      admitted),
    BackgroundMutant(
      "transactions begin with the network stopped", "operations", "networkStopped", "beginDatabase", admitted,
      "answer = REFUSED"),
    BackgroundMutant(
      "the relay is released with the network", "operations", "stoppingSending", "idleSending",
      "$does($do_releaseRelay)", "skip"),
    BackgroundMutant(
      "a suspension continues the drain of the background", "operations", "stoppingSending", "suspend",
      "state = $state_drainingSending", "state = $state_drainingDatabase"),
    BackgroundMutant(
      "transactions end last", "operations", "networkStopped", "suspend",
      "state = $state_drainingDatabase; $does($do_armDeadline); $does($do_awaitDatabase)",
      "state = $state_quiescent; $does($do_giveUpWork); $does($do_reportQuiescent)"),
    BackgroundMutant(
      "extensions may act", "app_phase", "active", "background", "$does($do_publishResting)", "skip"),
    BackgroundMutant(
      "a time runs", "app_phase", "active", "background", "$does($do_armBackground)", "skip"),
    BackgroundMutant(
      "it ends in a suspension", "app_phase", "background", "backgroundOver",
      "answer = MOVED; state = $state_suspending",
      "answer = IGNORED; state = $state_background"),
    BackgroundMutant(
      "the suspension drains", "chat_lifecycle", "background", "suspend", "$does($do_drainWork)", "skip"),
    BackgroundMutant(
      "the store is closed when everything is released now", "chat_lifecycle", "background", "suspendNow",
      "$does($do_closeStore)", "skip"),
  ]
}
