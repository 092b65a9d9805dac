import Foundation
import PorterJSON
import PorterProcesses

/// Why a torture process gave no answer.
enum Interruption: Error {
  /// Killed by the torture, or by itself at a fault point.
  case killed
  /// It was silent for so long that it must be hanging, or it crashed; already recorded as a problem.
  case broken
}

/// A process that may be frozen and killed at any moment.
final class TorturedProcess {
  let child: ChildProcess
  let hasFaultyDisk: Bool
  let torture: Torture
  let what: String
  /// Between two pushes its store has open files, but holds no lock.
  let dozes: Bool
  private let log: URL
  private var isSuspect = false
  /// The point at which it ends itself.
  private let haltsAt: String?

  /// `script -` or `extension`; adds itself to the table of processes to torment.
  init(_ torture: Torture, _ arguments: [String], environment: [String: String], log: String) throws {
    self.torture = torture
    what = log
    dozes = arguments.contains("--doze")
    hasFaultyDisk = environment["PORTER_FAULTS"] != nil
    haltsAt = environment["PORTER_HALT_AT"]
    self.log = torture.place.directory.appendingPathComponent("log.\(log).\(torture.nextNumber())")
    child = try ChildProcess(
      Places.harness, arguments[0] == "extension" ? arguments + ["--log"] : arguments, environment: environment,
      log: self.log)
    torture.processes.enter(child.identifier)
    torture.tally.count("processes")
    if arguments[0] == "script" { _ = try call("np_set_log \"error\" null 0") }
  }

  deinit { if !isSuspect { try? FileManager.default.removeItem(at: log) } }

  /// Keeps the log of this process.
  func problem(_ text: String) {
    isSuspect = true
    torture.tally.problem("\(what): \(text) (\(log.lastPathComponent))")
  }

  /// Appends each thread's position to the log.
  func noteThreads() {
    guard
      let (lines, _) = try? ChildProcess.run(
        "/usr/bin/gdb", ["-p", "\(child.identifier)", "-batch", "-ex", "thread apply all bt 30"], within: 60)
    else { return }
    let file = try? FileHandle(forWritingTo: log)
    _ = try? file?.seekToEnd()
    try? file?.write(contentsOf: Data(lines.joined(separator: "\n").utf8))
  }

  private var patience: Double { hasFaultyDisk ? 180 : 90 }

  /// One line in, one line out.
  func ask(_ line: String) throws -> JSONValue {
    do {
      // A process that has rejected the store may already have ended, after reporting why.
      try? child.send(line)
      return try JSONValue(parsing: child.line(within: patience))
    } catch {
      throw explain(error, after: line)
    }
  }

  /// Makes a call of the script; returns its `result`.
  func call(_ line: String) throws -> JSONValue {
    let answer = try ask(line)
    return answer["result"] ?? answer["started"] ?? ["error": answer["error"] ?? .null]
  }

  enum Role: Int { case app, `extension`, share }

  /// Opens the store as `$c`. False if it was refused, which is counted.
  func open(_ store: String, _ key: String, as role: Role = .app) throws -> Bool {
    let confirmation = role == .app ? "yesUp" : "error"
    let opened = try call(
      "c = chat_migrate_init_key \(JSONValue(store).text) \(JSONValue(key).text) 1 \"\(confirmation)\" \(role.rawValue)"
    )
    if opened["type"] == "ok" { return true }
    refuse(opened, to: "opening")
    return false
  }

  /// The result of a command, nil if it was refused with a typed error, which is counted. `allowing`: this command's
  /// own errors, for example for something deleted in the meantime.
  func command(_ command: String, allowing codes: [String] = []) throws -> JSONValue? {
    try request("chat_send_cmd $c \(JSONValue(command).text)", allowing: codes, naming: command)
  }

  /// The same for any call that is answered like a command.
  func request(_ line: String, allowing codes: [String], naming command: String? = nil) throws -> JSONValue? {
    let answer = try call(line)
    if let result = answer["result"] { return result }
    refuse(answer["error"] ?? answer, to: command ?? line, allowing: codes)
    return nil
  }

  /// Checks which refusals are allowed, with a healthy disk and with a failing one.
  func refuse(_ error: JSONValue, to command: String, allowing codes: [String] = []) {
    let code = Self.code(of: error)
    // What commands answer with dBBusyError.
    let isBusy = error["migrationSQLError"]?.stringValue?.hasPrefix("the database is in use elsewhere") ?? false
    torture.tally.count("refused: \(code)\(hasFaultyDisk ? " (faulty disk)" : "")")
    let always = ["ownedElsewhere", "dBBusyError", "chatNotStarted", "storeClosed", "ownershipLost"] + codes
    let whenFaulty = ["BROKER", "relayUnavailable", "dBException", "storeFull", "storeReadOnly", "errorSQL"]
    guard
      isBusy || always.contains(where: code.contains) || (hasFaultyDisk && whenFaulty.contains(where: code.contains))
    else {
      return problem("\(command.prefix(60)) was refused: \(error.text.prefix(300))")
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
    do { ending = try child.waitForEnd(within: patience) } catch { throw explain(error, after: "the end of its input") }
    torture.processes.leave(child.identifier)
    if ending != .exited(0), ending != .killed(SIGKILL) {
      problem("ended with \(ending)")
    }
  }

  /// The files of the store that it has open.
  func openStoreFiles() -> [String] {
    let folder = "/proc/\(child.identifier)/fd"
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    let store = torture.place.store + "_chat.db"
    return names.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)") }
      .filter { $0.hasPrefix(store) }
  }

  /// Files for which a system kills a suspended process: the store's locked files, according to the kernel's list. Open
  /// ones count too, unless the store may doze.
  func heldStoreFiles() -> [String] { dozes ? lockedStoreFiles() : openStoreFiles() }

  private func lockedStoreFiles() -> [String] {
    let store = torture.place.store + "_chat.db"
    let relay = torture.place.relay
    let files = ["", "-wal", "-shm", "-turn", "-lock"].flatMap { [store + $0, relay + $0] }
    let locked = Set(((try? HeldLock.all(of: child.identifier)) ?? []).map(\.path))
    return files.filter(locked.contains)
  }

  /// Counts how often its store was woken, and how often reopened.
  func countWakes() {
    let text = (try? String(contentsOf: log, encoding: .utf8)) ?? ""
    torture.tally.count("dozing stores that woke", text.components(separatedBy: "the store has woken").count - 1)
    torture.tally.count(
      "dozing stores that had changed", text.components(separatedBy: "the store has changed since").count - 1)
  }

  private func explain(_ error: any Error, after line: String) -> Interruption {
    guard let ending = try? child.waitForEnd(within: 20) else {
      noteThreads()
      problem("does not answer \(line.prefix(80)): \(error)")
      kill()
      return .broken
    }
    torture.processes.leave(child.identifier)
    if ending == .killed(SIGKILL) {
      if let haltsAt, !torture.processes.wasKilled(child.identifier) { torture.tally.count("killed at \(haltsAt)") }
      return .killed
    }
    problem("ended with \(ending) at \(line.prefix(80)): \(error)")
    return .broken
  }
}
