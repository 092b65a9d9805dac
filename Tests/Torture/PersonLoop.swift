import Foundation
import PorterJSON
import PorterProcesses

/// A person who sends each text once, changes some of them, and calls; the person's processes are killed like all
/// others.
final class PersonLoop {
  private let torture: Torture
  private let person: Torture.Person
  private var dice: Dice
  private var talk: Talk

  init(_ torture: Torture, _ person: Torture.Person, _ index: Int) {
    self.torture = torture
    self.person = person
    dice = Dice(seed: torture.seed, stream: UInt64(30 + index))
    talk = Talk(torture, name: person.name, store: person.name, emoji: "🚀")
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
    guard try process.open(person.store, person.key), try process.command("/_start") != nil else { return }
    for _ in 0..<dice.number(in: 5...80) {
      guard torture.goesOn else { return }
      usleep(UInt32(dice.number(in: 1_000...250_000)))
      try act(process)
    }
  }

  private func act(_ process: TorturedProcess) throws {
    switch dice.number(in: 0...99) {
    case 0..<12: try talk.edit(process, person.contact, &dice)
    case 12..<16: try talk.delete(process, person.contact, &dice)
    case 16..<22: try talk.react(process, person.contact, &dice)
    case 22..<34: try talk.call(process, person.contact, &dice)
    default:
      let rest = dice.chance(5) ? "|" + String(repeating: " and so on", count: 1_000) : ""
      if try talk.send(process, to: person.contact, rest: rest) { torture.tally.count("messages sent") }
    }
  }
}
