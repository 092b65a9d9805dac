import Foundation
import PorterJSON
import PorterProcesses

/// One application after the other on the tortured store. With two of these loops, one usually finds the other running
/// (INC-16).
final class ApplicationLoop {
  private let torture: Torture
  private let name: String
  private var dice: Dice
  private var replies = 0

  init(_ torture: Torture, _ index: Int) {
    self.torture = torture
    name = "app\(index)"
    dice = Dice(seed: torture.seed, stream: UInt64(10 + index))
  }

  func run() {
    while torture.goesOn {
      do {
        try live()
      } catch is Interruption {
        torture.tally.count("applications that were killed")
      } catch {
        torture.tally.problem("\(name): \(error)")
      }
      usleep(UInt32(dice.number(in: 1_000...1_500_000)))
    }
  }

  private func live() throws {
    let environment = torture.environment(&dice, touching: torture.place.store)
    let process = try TorturedProcess(torture, ["script", "-"], environment: environment, log: name)
    defer { process.kill() }
    let opened = try process.call(
      "c = chat_migrate_init_key \(JSONValue(torture.place.store).text) \(JSONValue(torture.place.key).text) 1 \"yesUp\" 0"
    )
    guard opened["type"] == "ok" else { return process.refuse(opened, to: "opening") }
    guard try process.command("/_start") != nil else { return }
    torture.tally.count("applications at work")
    for _ in 0..<dice.number(in: 1...25) {
      guard torture.goesOn else { return }
      try act(process)
    }
    if dice.chance(50) { return }
    if try suspend(process) { try process.finish() }
  }

  private func act(_ process: TorturedProcess) throws {
    let person = dice.element(of: torture.place.people)
    switch dice.number(in: 0...9) {
    case 0: if try process.command("/_read chat @\(person.contactThere)") != nil { torture.tally.count("chats read") }
    case 1: _ = try process.command("/_get chat @\(person.contactThere) count=50")
    case 2, 3:
      replies += 1
      let text = "reply \(name) \(replies)"
      if try process.command(sending(text, to: person.contactThere)) != nil { torture.tally.count("replies sent") }
    case 4, 5:
      guard try suspend(process) else { return }
      usleep(UInt32(dice.number(in: 1_000...800_000)))
      let reopened = try process.call("chat_reopen_store $c")
      if reopened != "" { return torture.tally.count("reopening failed") }
      _ = try process.command("/_app activate")
    default: usleep(UInt32(dice.number(in: 1_000...200_000)))
    }
  }

  /// True if it is quiescent; then no file of the store is open.
  private func suspend(_ process: TorturedProcess) throws -> Bool {
    let microseconds = dice.element(of: [0, 0, 300_000, 2_000_000])
    if dice.chance(50) {
      guard try process.command("/_app phase background") != nil else { return false }
      _ = try process.command("/_get chats 1 pcc=off")
      torture.tally.count("times in the background")
    }
    guard try process.command("/_app suspend \(microseconds)") != nil else { return false }
    if microseconds > 0 { usleep(UInt32(dice.number(in: 0...microseconds))) }
    guard try process.call("chat_close_store $c") == "" else {
      torture.tally.problem("\(name): the store does not close")
      return false
    }
    let state = try process.call("np_state $c")
    guard state["quiescent"] == true else {
      torture.tally.problem("\(name): not quiescent after suspending: \(state.text)")
      return false
    }
    let files = process.openStoreFiles()
    if !files.isEmpty { torture.tally.problem("\(name): quiescent, and holds \(files)") }
    torture.tally.count("suspensions")
    return true
  }
}

func sending(_ text: String, to contact: Int64) -> String {
  let message: JSONValue = [["msgContent": ["type": "text", "text": .string(text)], "mentions": [:]]]
  return "/_send @\(contact) json \(message.text)"
}

/// One extension after the other, each with a push or two.
final class ExtensionLoop {
  fileprivate let torture: Torture
  fileprivate let name: String
  private var dice: Dice

  init(_ torture: Torture, _ index: Int) {
    self.torture = torture
    name = "extension\(index)"
    dice = Dice(seed: torture.seed, stream: UInt64(20 + index))
  }

  func run() {
    while torture.goesOn {
      guard let push = torture.takePush(&dice) else {
        usleep(50_000)
        continue
      }
      do {
        try live(push)
      } catch is Interruption {
        torture.tally.count("extensions that were killed")
      } catch {
        torture.tally.problem("\(name): \(error)")
      }
    }
  }

  private func live(_ push: JSONValue) throws {
    var environment = torture.environment(&dice, touching: torture.place.store)
    if dice.chance(10) {
      environment["PORTER_HALT_AT"] = dice.element(of: [
        "beforeFetch", "afterFetch", "afterCommit", "beforeAcknowledge",
      ])
    }
    var arguments = ["extension", "--store", torture.place.store, "--key", torture.place.key]
    if dice.chance(15) { arguments += ["--expire-after", "\(dice.number(in: 1...60))"] }
    if dice.chance(10) { arguments += ["--deadline", "\(dice.number(in: 1...3_000))"] }
    let process = try TorturedProcess(torture, arguments, environment: environment, log: name)
    defer { process.kill() }
    guard try take(push, process) else { return }
    if dice.chance(20), let another = torture.takePush(&dice) { _ = try take(another, process) }
    try process.finish()
  }

  /// False if the store could not even be read; then the process ends.
  private func take(_ push: JSONValue, _ process: TorturedProcess) throws -> Bool {
    let answer = try process.ask(push.text)
    if let refusal = answer["migration"] {
      process.refuse(refusal, to: "opening")
      return false
    }
    guard let outcome = answer["outcome"]?.stringValue else {
      torture.tally.problem("\(name): \(answer.text.prefix(300))")
      throw Interruption.broken
    }
    torture.tally.count("push ended: \(outcome)")
    // Only the device's own server pushes here, and no disk loses the token's keys.
    if outcome == "quarantined" {
      torture.tally.problem("\(name): a push was quarantined: \(answer["reason"]?.text ?? "")")
    }
    if answer["quiescent"] == true {
      let files = process.openStoreFiles()
      if !files.isEmpty { torture.tally.problem("\(name): quiescent, and holds \(files)") }
    } else {
      expectItLetsGo(process, after: answer)
    }
    for notification in answer["notifications"]?.arrayValue ?? [] {
      torture.tally.count("notifications")
      // A summary comes again with each burst, and when some of its messages were read.
      if notification["categoryIdentifier"] == "NTF_CAT_MANY_EVENTS" { continue }
      let isOnRecord = !process.hasFaultyDisk && answer["recorded"] == nil
      let identifier = notification["identifier"]?.stringValue ?? notification.text
      // A notice says each time that the store cannot be read; a message replaces its placeholder.
      guard identifier != "np:notice" else { continue }
      let isPlaceholder = notification["categoryIdentifier"] == "NTF_CAT_CONNECTION_EVENT"
      torture.shown(isPlaceholder ? "placeholder of \(identifier)" : identifier, byHealthy: isOnRecord)
    }
    return true
  }
}

extension ExtensionLoop {
  /// Time was up while the engine did not run: the answer says that it is not quiescent. It becomes so as soon as it
  /// runs.
  private func expectItLetsGo(_ process: TorturedProcess, after answer: JSONValue) {
    torture.tally.count("answers while the engine did not run")
    let isHonest = answer["outcome"] == "expired" || answer["notifications"]?.arrayValue?.isEmpty == false
    if !isHonest { torture.tally.problem("\(name): not quiescent: \(answer.text.prefix(300))") }
    // It may be frozen meanwhile.
    let end = Date(timeIntervalSinceNow: 20)
    while !process.openStoreFiles().isEmpty {
      guard end.timeIntervalSinceNow > 0 else {
        return torture.tally.problem("\(name): still holds \(process.openStoreFiles())")
      }
      usleep(5_000)
    }
  }
}

/// A person who sends each text once, and whose processes are killed like all others.
final class PersonLoop {
  private let torture: Torture
  private let person: Torture.Person
  private var dice: Dice
  private var number = 0

  init(_ torture: Torture, _ person: Torture.Person, _ index: Int) {
    self.torture = torture
    self.person = person
    dice = Dice(seed: torture.seed, stream: UInt64(30 + index))
  }

  func run() {
    while torture.goesOn {
      do {
        try live()
      } catch is Interruption {
        torture.tally.count("people's applications that were killed")
      } catch {
        torture.tally.problem("\(person.name): \(error)")
      }
    }
  }

  private func live() throws {
    let environment = torture.environment(&dice, touching: person.store)
    let process = try TorturedProcess(torture, ["script", "-"], environment: environment, log: person.name)
    defer { process.kill() }
    let opened = try process.call(
      "c = chat_migrate_init_key \(JSONValue(person.store).text) \(JSONValue(person.key).text) 1 \"yesUp\" 0")
    guard opened["type"] == "ok" else { return process.refuse(opened, to: "opening") }
    guard try process.command("/_start") != nil else { return }
    for _ in 0..<dice.number(in: 5...80) {
      guard torture.goesOn else { return }
      usleep(UInt32(dice.number(in: 1_000...250_000)))
      number += 1
      let text = "\(person.name) \(number)" + (dice.chance(5) ? String(repeating: " and so on", count: 1_000) : "")
      if try process.command(sending(text, to: person.contact)) != nil { torture.tally.count("messages sent") }
    }
  }
}
