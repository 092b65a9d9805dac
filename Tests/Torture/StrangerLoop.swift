import Foundation
import PorterJSON
import PorterProcesses
import Synchronization

/// People who ask to become contacts through the address, each with a profile of their own in one store. They ask
/// again, and some withdraw their request.
final class StrangerLoop {
  private let torture: Torture
  private let stranger: Torture.Stranger
  private var dice: Dice
  private var number = 0

  /// The store keeps 128 ended requests.
  private static let limit = 120

  init(_ torture: Torture) {
    self.torture = torture
    stranger = torture.place.stranger
    dice = Dice(seed: torture.seed, stream: 50)
  }

  func run() {
    while torture.goesOn {
      do {
        try live()
      } catch is Interruption {
        torture.tally.count("strangers' applications that were killed")
      } catch {
        torture.tally.problem("stranger: \(error)")
      }
      usleep(UInt32(dice.number(in: 10_000...500_000)))
    }
  }

  private func live() throws {
    let environment = torture.environment(&dice, touching: stranger.store)
    let process = try TorturedProcess(torture, ["script", "-"], environment: environment, log: "stranger")
    defer { process.kill() }
    guard try process.open(stranger.store, stranger.key), try process.command("/_start") != nil else { return }
    for _ in 0..<dice.number(in: 2...10) {
      guard torture.goesOn else { return }
      let users = try process.command("/users")?["users"]?.arrayValue ?? []
      let known = users.compactMap { $0["user"] }.filter { torture.isStranger($0["localDisplayName"]?.stringValue) }
      switch dice.number(in: 0...9) {
      case 0...4: try introduce(process)
      case 5, 6: if !known.isEmpty { try ask(process, dice.element(of: known)) }
      case 7: if !known.isEmpty { try withdraw(process, dice.element(of: known)) }
      default: break
      }
      usleep(UInt32(dice.number(in: 10_000...800_000)))
    }
  }

  private func introduce(_ process: TorturedProcess) throws {
    guard number < Self.limit else { return }
    number += 1
    let user: JSONValue = ["profile": ["displayName": .string("stranger \(number)"), "fullName": ""]]
    guard let result = try process.command("/_create user \(user.text)"), let made = result["user"] else { return }
    try ask(process, made)
  }

  /// It is the same request each time.
  private func ask(_ process: TorturedProcess, _ user: JSONValue) throws {
    guard let id = user["userId"]?.integerValue, let name = user["localDisplayName"]?.stringValue,
      !torture.hasWithdrawn(name), try process.command("/_user \(id)") != nil
    else { return }
    // A frozen process holds the relay's file.
    let answer = try process.command("/_connect \(id) \(stranger.link)", allowing: ["BROKER"])
    if answer?["type"] == "sentInvitation" { torture.tally.count("contact requests sent") }
  }

  private func withdraw(_ process: TorturedProcess, _ user: JSONValue) throws {
    guard let id = user["userId"]?.integerValue, let name = user["localDisplayName"]?.stringValue,
      try process.command("/_user \(id)") != nil
    else { return }
    let chats = try process.command("/_get chats \(id) pcc=on")?["chats"]?.arrayValue ?? []
    let pending = chats.compactMap { $0["chatInfo"]?["contactConnection"]?["pccConnId"]?.integerValue }
    guard let connection = pending.first else { return }
    torture.noteWithdrawing(name)
    // It was accepted in the meantime.
    let answer = try process.command("/_delete :\(connection)", allowing: ["pendingConnectionNotFound"])
    if answer != nil { torture.tally.count("contact requests withdrawn") }
  }
}
