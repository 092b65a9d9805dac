import Foundation
import PorterJSON
import PorterProcesses

/// Why a process of the torture gave no answer.
enum Interruption: Error {
  /// Killed by the torture, or by itself at a fault point.
  case killed
  /// It was silent for so long that it must hang, or it crashed; recorded as a problem already.
  case broken
}

/// A process that may be frozen and killed at any moment.
final class TorturedProcess {
  let child: ChildProcess
  let hasFaultyDisk: Bool
  private let torture: Torture
  private let what: String

  /// `script -` or `extension`; enters the table of processes to torment.
  init(_ torture: Torture, _ arguments: [String], environment: [String: String], log: String) throws {
    self.torture = torture
    what = log
    hasFaultyDisk = environment["PORTER_FAULTS"] != nil
    child = try ChildProcess(
      Places.harness, arguments, environment: environment,
      log: torture.place.directory.appendingPathComponent("log.\(log)"))
    torture.processes.enter(child.identifier)
    torture.tally.count("processes")
  }

  /// One line in, one line out.
  func ask(_ line: String) throws -> JSONValue {
    do {
      // One that has rejected the store may have ended already, after reporting why.
      try? child.send(line)
      return try JSONValue(parsing: child.line(within: 90))
    } catch {
      throw explain(error, after: line)
    }
  }

  /// A call of the script; its `result`.
  func call(_ line: String) throws -> JSONValue {
    let answer = try ask(line)
    return answer["result"] ?? answer["started"] ?? ["error": answer["error"] ?? .null]
  }

  /// The result of a command, nil if it was refused with a typed error, which is counted.
  func command(_ command: String) throws -> JSONValue? {
    let answer = try call("chat_send_cmd $c \(JSONValue(command).text)")
    if let result = answer["result"] { return result }
    refuse(answer["error"] ?? answer, to: command)
    return nil
  }

  /// What may be refused and why, with a healthy disk and with a failing one.
  func refuse(_ error: JSONValue, to command: String) {
    let code = Self.code(of: error)
    torture.tally.count("refused: \(code)\(hasFaultyDisk ? " (faulty disk)" : "")")
    let always = ["ownedElsewhere", "dBBusyError", "chatNotStarted", "storeClosed", "ownershipLost"]
    let whenFaulty = ["dBException", "storeFull", "storeReadOnly", "errorSQL"]
    guard always.contains(where: code.contains) || (hasFaultyDisk && whenFaulty.contains(where: code.contains)) else {
      return torture.tally.problem("\(what): \(command.prefix(60)) was refused: \(error.text.prefix(300))")
    }
  }

  static func code(of error: JSONValue) -> String {
    if let code = error["np"]?["code"]?.stringValue { return code }
    var names: [String] = []
    var inner: JSONValue? = error
    while let value = inner {
      if let name = value["type"]?.stringValue { names.append(name) }
      inner =
        value["storeError"] ?? value["databaseError"] ?? value["errorType"] ?? value["agentError"] ?? value["error"]
        ?? value["migrationError"] ?? value["dbError"]
    }
    return names.isEmpty ? String(error.text.prefix(80)) : names.joined(separator: ".")
  }

  /// Kills it wherever it is.
  func kill() {
    torture.processes.leave(child.identifier)
    child.kill()
  }

  /// Closes its input and expects a clean end, unless it was killed.
  func finish() throws {
    child.closeInput()
    let ending: Ending
    do { ending = try child.waitForEnd(within: 90) } catch { throw explain(error, after: "the end of its input") }
    torture.processes.leave(child.identifier)
    if ending != .exited(0), ending != .killed(SIGKILL) {
      torture.tally.problem("\(what) ended with \(ending)")
    }
  }

  /// Files of the store that it has open.
  func openStoreFiles() -> [String] {
    let folder = "/proc/\(child.identifier)/fd"
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    let store = torture.place.store + "_chat.db"
    return names.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)") }
      .filter { $0.hasPrefix(store) }
  }

  private func explain(_ error: any Error, after line: String) -> Interruption {
    guard let ending = try? child.waitForEnd(within: 20) else {
      torture.tally.problem("\(what) does not answer \(line.prefix(80)): \(error)")
      kill()
      return .broken
    }
    torture.processes.leave(child.identifier)
    if ending == .killed(SIGKILL) { return .killed }
    torture.tally.problem("\(what) ended with \(ending) at \(line.prefix(80)): \(error)")
    return .broken
  }
}
