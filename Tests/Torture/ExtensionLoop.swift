import Foundation
import PorterJSON
import PorterProcesses

/// One extension after the other, each with a push or two, or with the user's response to a notification.
final class ExtensionLoop {
  private let torture: Torture
  private let name: String
  private var dice: Dice

  init(_ torture: Torture, _ index: Int) {
    self.torture = torture
    name = "extension\(index)"
    dice = Dice(seed: torture.seed, stream: UInt64(20 + index))
  }

  func run() {
    while torture.goesOn {
      do {
        if dice.chance(25), let response = torture.responses.next(&dice) {
          try respond(response)
        } else if let push = torture.takePush(&dice) {
          try live(push)
        } else {
          usleep(50_000)
        }
      } catch is Interruption {
        torture.tally.count("extensions that were killed")
      } catch {
        torture.tally.problem("\(name): \(error)")
      }
    }
  }

  /// A notification action also wakes an extension; now and then a push comes first.
  private func respond(_ response: ResponseBook.Response) throws {
    let environment = torture.environment(&dice, touching: torture.place.store, haltsAtTimes: true)
    let process = try TorturedProcess(torture, ["script", "-"], environment: environment, log: name)
    defer { process.kill() }
    guard try process.open(torture.place.store, torture.place.key, as: .extension) else { return }
    if dice.chance(30), let push = torture.takePush(&dice) {
      try process.judge(try process.call("np_receive_push $c \(JSONValue(push.text).text) 30000"), "push")
    }
    let isClosed = try process.call("chat_close_store $c") == ""
    try process.respond(response, "an extension")
    if isClosed { try process.expectQuiescence("an extension that was given a response") }
    try process.finish()
  }

  private func live(_ push: JSONValue) throws {
    let environment = torture.environment(&dice, touching: torture.place.store, haltsAtTimes: true)
    var arguments = ["extension", "--store", torture.place.store, "--key", torture.place.key]
    if dice.chance(15) { arguments += ["--expire-after", "\(dice.number(in: 1...60))"] }
    let dozes = dice.chance(50)
    if dozes { arguments.append("--doze") }
    if dice.chance(10) { arguments += ["--deadline", "\(dice.number(in: 1...3_000))"] }
    let process = try TorturedProcess(torture, arguments, environment: environment, log: name)
    defer { process.kill() }
    guard try take(push, process) else { return }
    // For an extension whose store dozes, the second push finds it closed, and those after it wake it.
    var others = dozes ? dice.number(in: 0...5) : dice.chance(20) ? 1 : 0
    while others > 0, let another = torture.takePush(&dice), try take(another, process) {
      others -= 1
      if dozes { usleep(UInt32(dice.number(in: 0...200_000))) }
    }
    try process.finish()
    if dozes { process.countWakes() }
  }

  /// False if the store could not even be read; then the process ends.
  private func take(_ push: JSONValue, _ process: TorturedProcess) throws -> Bool {
    let answer = try process.ask(push.text)
    if let refusal = answer["migration"] {
      process.refuse(refusal, to: "opening")
      return false
    }
    try process.judge(answer, "push")
    return true
  }
}
