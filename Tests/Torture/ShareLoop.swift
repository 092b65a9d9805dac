import Foundation
import PorterJSON
import PorterProcesses

/// One share extension after the other: each sends a message or a few, whatever app and extensions are doing.
final class ShareLoop {
  private let torture: Torture
  private var dice: Dice
  private var talk: Talk

  init(_ torture: Torture) {
    self.torture = torture
    dice = Dice(seed: torture.seed, stream: 40)
    talk = Talk(torture, name: "share", store: torture.place.name, emoji: "✅")
  }

  func run() {
    while torture.goesOn {
      do {
        try live()
      } catch is Interruption {
        torture.tally.count("share extensions that were killed")
      } catch {
        torture.tally.problem("share: \(error)")
      }
      usleep(UInt32(dice.number(in: 100_000...1_500_000)))
    }
  }

  private func live() throws {
    let environment = torture.environment(&dice, touching: torture.place.store)
    let process = try TorturedProcess(torture, ["script", "-"], environment: environment, log: "share")
    defer { process.kill() }
    guard try process.open(torture.place.store, torture.place.key, as: .share),
      try process.command("/_app phase active") != nil
    else { return }
    for _ in 0..<dice.number(in: 1...4) {
      let person = dice.element(of: torture.place.people)
      if try talk.send(process, to: person.contactThere) { torture.tally.count("messages shared") }
    }
    // Now and then closed in the middle of sending: the next process sends the rest.
    if dice.chance(50) { usleep(UInt32(dice.number(in: 1_000...300_000))) }
    guard try process.command("/_app suspend 0") != nil else { return }
    try process.expectQuiescence("a share extension")
    try process.finish()
  }
}
