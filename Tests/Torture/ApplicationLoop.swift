import Foundation
import PorterJSON
import PorterProcesses

/// One application after the other on the tortured store: on screen by day, woken for background rounds by night. With
/// two of these loops, one usually finds the other running (INC-16).
final class ApplicationLoop {
  private let torture: Torture
  private let name: String
  private let isNocturnal: Bool
  private var dice: Dice
  private var talk: Talk

  init(_ torture: Torture, _ index: Int) {
    self.torture = torture
    name = "app\(index)"
    isNocturnal = index == 0
    dice = Dice(seed: torture.seed, stream: UInt64(10 + index))
    talk = Talk(torture, name: name, store: torture.place.name, emoji: index == 0 ? "👍" : "👎")
  }

  func run() {
    while torture.goesOn {
      do {
        // One of the two at a time has most of the night's rounds.
        if !torture.isNight || isNocturnal || dice.chance(20) { try live() }
      } catch is Interruption {
        torture.tally.count("applications that were killed")
      } catch {
        torture.tally.problem("\(name): \(error)")
      }
      usleep(UInt32(dice.number(in: 1_000...1_500_000)))
    }
  }

  private func live() throws {
    let environment = torture.environment(&dice, touching: torture.place.store, haltsAtTimes: true)
    let process = try TorturedProcess(torture, ["script", "-"], environment: environment, log: name)
    defer { process.kill() }
    guard try process.open(torture.place.store, torture.place.key) else { return }
    if torture.isNight { return try liveInBackground(process) }
    guard try process.command("/_start") != nil else { return }
    torture.tally.count("applications at work")
    for _ in 0..<dice.number(in: 1...25) {
      guard torture.goesOn, !torture.isNight else { break }
      try act(process)
    }
    if dice.chance(50) { return }
    guard try suspend(process) else { return }
    if torture.isNight { return try liveInBackground(process) }
    try process.finish()
  }

  /// Woken for rounds, and suspended between them.
  private func liveInBackground(_ process: TorturedProcess) throws {
    for _ in 0..<dice.number(in: 1...4) {
      guard torture.goesOn else { return }
      try refresh(process)
      if dice.chance(40), let response = torture.responses.next(&dice) {
        try process.respond(response, "a suspended app")
      }
      usleep(UInt32(dice.number(in: 1_000...800_000)))
    }
    if dice.chance(50) { try process.finish() }
  }

  private func refresh(_ process: TorturedProcess) throws {
    let deadline = dice.chance(20) ? dice.number(in: 1...800) : dice.number(in: 5_000...25_000)
    let answer = try process.call("np_background_refresh $c \(deadline)")
    try process.judge(answer, "refresh")
  }

  private func act(_ process: TorturedProcess) throws {
    let contact = dice.element(of: torture.place.people).contactThere
    if !torture.hasSeenCalls, dice.chance(20) { return try talk.call(process, contact, &dice) }
    // On a slow machine applications do little before they are killed.
    if !torture.hasSeenRequests, dice.chance(30) { return try decide(process) }
    switch dice.number(in: 0...99) {
    case 0..<4: if try process.command("/_read chat @\(contact)") != nil { torture.tally.count("chats read") }
    case 4..<8: _ = try process.command("/_get chat @\(contact) count=50")
    case 8..<22: if try talk.send(process, to: contact) { torture.tally.count("replies sent") }
    case 22..<28: try talk.edit(process, contact, &dice)
    case 28..<33: try talk.react(process, contact, &dice)
    case 33..<36: try talk.delete(process, contact, &dice)
    case 36..<52: try talk.call(process, contact, &dice)
    case 52..<60: try decide(process)
    case 60..<66: try takeEvents(process)
    case 66..<80: if let response = torture.responses.next(&dice) { try process.respond(response, "a running app") }
    case 80..<90: try sleepABit(process)
    default: usleep(UInt32(dice.number(in: 1_000...200_000)))
    }
  }

  private func sleepABit(_ process: TorturedProcess) throws {
    guard try suspend(process) else { return }
    if dice.chance(40), let response = torture.responses.next(&dice) {
      try process.respond(response, "a suspended app")
      try process.expectQuiescence("an app that was given a response")
    }
    if dice.chance(30) { try refresh(process) }
    usleep(UInt32(dice.number(in: 1_000...800_000)))
    let reopened = try process.call("chat_reopen_store $c")
    if reopened != "", !process.hasFaultyDisk { process.problem("the store does not reopen: \(reopened.text)") }
    _ = try process.command("/_app activate")
  }

  /// The host takes some of what waits; the notifications on screen are answered like others.
  private func takeEvents(_ process: TorturedProcess) throws {
    for _ in 0..<dice.number(in: 1...60) {
      let event = try process.call("chat_recv_msg_wait $c 0")
      guard let result = event["result"] else { return }
      torture.tally.count("events")
      switch result["type"] {
      case "ntfResponse": torture.responses.noteEvent(result)
      case "notifications": noteNotifications(result)
      default: break
      }
    }
  }

  private func noteNotifications(_ event: JSONValue) {
    for notification in event["notifications"]?.arrayValue ?? [] { torture.responses.noteShown(notification) }
  }

  // MARK: Contact requests

  private func decide(_ process: TorturedProcess) throws {
    if dice.chance(25) { return try setAddress(process) }
    let chats = try process.command("/_get chats 1 count=50")?["chats"]?.arrayValue ?? []
    let waiting = chats.compactMap { $0["chatInfo"]?["contactRequest"]?["contactRequestId"]?.integerValue }
    guard !waiting.isEmpty else { return }
    try decide(dice.element(of: waiting), process)
    // So few that each keeps its own notification, and can be answered there.
    for request in waiting.dropFirst(Self.leftUndecided) { try decide(request, process) }
  }

  private static let leftUndecided = 4

  private func decide(_ request: Int64, _ process: TorturedProcess) throws {
    if dice.chance(50) {
      let incognito = dice.chance(30)
      // Since the list was read, the contact may have come of an earlier acceptance that was not incognito.
      let answer = try process.command(
        "/_accept incognito=\(incognito ? "on" : "off") \(request)",
        allowing: ["contactRequestNotFound", "BROKER"] + (incognito ? ["profileShown"] : []))
      guard answer != nil else { return }
      torture.tally.count("contact requests accepted by command")
      torture.promises.noteDecided(request, ["accepted", "withdrawn"])
    } else {
      guard try process.command("/_reject \(request)", allowing: ["contactRequestNotFound"]) != nil else { return }
      torture.tally.count("contact requests rejected by command")
      torture.promises.noteDecided(request, ["rejected"])
    }
  }

  /// Switches the address to accepting automatically for a while, or back.
  private func setAddress(_ process: TorturedProcess) throws {
    var settings: [(String, JSONValue)] = [("businessAddress", false)]
    if torture.hasSeenRequests, dice.chance(25) {
      settings.append(("autoAccept", ["acceptIncognito": .bool(dice.chance(30))]))
    }
    if dice.chance(70) { settings.append(("autoReply", ["type": "text", "text": "welcome"])) }
    let json = JSONValue.object(JSONObject(settings))
    if try process.command("/_address_settings 1 \(json.text)") != nil {
      torture.tally.count("address set to \(settings.count > 1 && settings[1].0 == "autoAccept" ? "accept" : "ask")")
    }
  }

  // MARK: Suspending

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
    guard try process.expectQuiescence("suspended") else { return false }
    torture.tally.count("suspensions")
    return true
  }
}
