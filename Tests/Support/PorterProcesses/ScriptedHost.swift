import Foundation
import PorterJSON

/// A host process with one controller, driven call by call through `porter-harness script -`.
package final class ScriptedHost {
  package let store: String
  package let process: ChildProcess

  /// Starts the process and opens the store with the prefix `store`; the controller is `$c`.
  package init(
    store: String, key: String = "", background: Bool = false, environment: [String: String] = [:]
  ) throws {
    self.store = store
    let place = URL(fileURLWithPath: store)
    let log = place.deletingLastPathComponent().appendingPathComponent("log.\(place.lastPathComponent)")
    process = try ChildProcess(Places.harness, ["script", "-"], environment: environment, log: log)
    try openStore(key: key, background: background)
  }

  /// Like the other initialiser, with a program that eventually becomes `porter-harness script -`; without a store
  /// there is no `$c` yet.
  package init(store: String?, launching program: String, _ arguments: [String], log: URL) throws {
    self.store = store ?? ""
    process = try ChildProcess(program, arguments, log: log)
    if store != nil { try openStore(key: "", background: false) }
  }

  private func openStore(key: String, background: Bool) throws {
    let words = "\(JSONValue(store).text) \(JSONValue(key).text) 1 \"yesUp\" \(background ? 1 : 0)"
    let answer = try call("c = chat_migrate_init_key \(words)")
    guard answer["type"]?.stringValue == "ok" else { throw ProcessFailure("\(store) does not open: \(answer.text)") }
  }

  /// The result of one call.
  @discardableResult
  package func call(_ line: String, within seconds: Double = 20) throws -> JSONValue {
    try process.send(line)
    let answer = try JSONValue(parsing: process.line(within: seconds))
    guard let result = answer["result"] ?? answer["started"] else {
      throw ProcessFailure("\(line) was answered with \(answer.text)")
    }
    return result
  }

  /// The whole answer to a command: `{"result": …}` or `{"error": …}`.
  package func answer(_ command: String, of controller: String = "c") throws -> JSONValue {
    try call("chat_send_cmd $\(controller) \(JSONValue(command).text)")
  }

  /// The type of a command's result.
  package func result(_ command: String) throws -> String? { try answer(command)["result"]?["type"]?.stringValue }

  /// The result of a command, which must succeed and have this type.
  @discardableResult
  package func command(_ command: String, _ type: String) throws -> JSONValue {
    let answer = try answer(command)
    guard let result = answer["result"], result["type"]?.stringValue == type else {
      throw ProcessFailure("\(command) was answered with \(answer.text), not with \(type)")
    }
    return result
  }

  /// The next event of this type, skipping those before it.
  @discardableResult
  package func event(_ type: String, within seconds: Double = 60) throws -> JSONValue {
    let milliseconds = Int(seconds * 1000)
    let event = try call("await $c \"\(type)\" \(milliseconds)", within: seconds + 5)
    return event["result"] ?? .null
  }

  package var state: JSONValue { get throws { try call("np_state $c") } }
}
