import Foundation
import PorterJSON

/// One loop's part in its conversations: it writes, edits its messages, reacts to those received, and calls.
struct Talk {
  let torture: Torture
  /// The loop's name, with which each of its texts begins.
  let name: String
  /// The store that it writes to.
  let store: String
  let emoji: String
  private var number = 0
  /// Its last messages, by contact.
  private var own: [Int64: [(id: Int64, key: String)]] = [:]

  init(_ torture: Torture, name: String, store: String, emoji: String) {
    self.torture = torture
    self.name = name
    self.store = store
    self.emoji = emoji
  }

  private var promises: Promises { torture.promises }

  // MARK: Messages

  mutating func send(_ process: TorturedProcess, to contact: Int64, rest: String = "") throws -> Bool {
    number += 1
    let text = "\(name) \(number)\(rest)"
    promises.willSend(text, from: store)
    guard let result = try process.command(sending(text, to: contact)) else {
      promises.noteRefused(text, from: store, isCertain: !process.hasFaultyDisk)
      return false
    }
    promises.noteSent(text, from: store)
    let item = result["chatItems"]?.arrayValue?.first?["chatItem"]?["meta"]?["itemId"]?.integerValue
    if let item { own[contact, default: []].append((item, Promises.key(of: text))) }
    if let count = own[contact]?.count, count > 20 { own[contact]?.removeFirst(count - 20) }
    return true
  }

  mutating func edit(_ process: TorturedProcess, _ contact: Int64, _ dice: inout Dice) throws {
    guard let messages = own[contact], !messages.isEmpty else { return }
    let message = dice.element(of: messages)
    number += 1
    let text = "\(message.key)|edition \(number)"
    promises.willEdit(message.key, of: store, to: text)
    if try process.command("/_update item @\(contact) \(message.id) text \(text)") != nil {
      promises.noteEdited(message.key, of: store, to: text)
      torture.tally.count("edits")
    } else if !process.hasFaultyDisk {
      promises.noteNotEdited(message.key, of: store, to: text)
    }
  }

  mutating func delete(_ process: TorturedProcess, _ contact: Int64, _ dice: inout Dice) throws {
    guard let messages = own[contact], !messages.isEmpty else { return }
    let index = dice.number(in: 0...(messages.count - 1))
    let message = messages[index]
    // Whatever happens to it, it is no longer edited.
    own[contact]?.remove(at: index)
    promises.willDelete(message.key, of: store)
    guard try process.command("/_delete item @\(contact) \(message.id) broadcast") != nil else { return }
    promises.noteDeleted(message.key, of: store)
    torture.tally.count("deletions")
  }

  func react(_ process: TorturedProcess, _ contact: Int64, _ dice: inout Dice) throws {
    let chat = try process.command("/_get chat @\(contact) count=20")?["chat"]?["chatItems"]?.arrayValue ?? []
    let items = chat.filter { $0["content"]?["msgContent"] != nil && $0["meta"]?["itemDeleted"] == nil }
    guard !items.isEmpty else { return }
    let item = dice.element(of: items)
    guard let id = item["meta"]?["itemId"]?.integerValue,
      let text = item["content"]?["msgContent"]?["text"]?.stringValue
    else { return }
    let key = Promises.key(of: text)
    let adds = dice.chance(70)
    promises.willReact(store, key, emoji, adds: adds)
    let command = "/_reaction @\(contact) \(id) \(adds ? "on" : "off") {\"type\":\"emoji\",\"emoji\":\"\(emoji)\"}"
    // It is already there, or was deleted in the meantime.
    guard try process.command(command, allowing: ["commandError"]) != nil else { return }
    promises.noteReacted(store, key, emoji, adds: adds)
    torture.tally.count("reactions")
  }

  // MARK: Calls

  private static let type = #"{"media":"video","capabilities":{"encryption":true}}"#
  private static let session = #"{"rtcSession":"s","rtcIceCandidates":"c"}"#

  /// Answers a ringing call or an offer; otherwise calls, or acts on an existing call.
  func call(_ process: TorturedProcess, _ contact: Int64, _ dice: inout Dice) throws {
    let waiting = try process.command("/_call get")?["callInvitations"]?.arrayValue ?? []
    if let caller = waiting.first?["contact"]?["contactId"]?.integerValue {
      let offer = ("calls accepted", "offer @\(caller) {\"callType\":\(Self.type),\"rtcSession\":\(Self.session)}")
      let others = [("calls rejected", "reject @\(caller)"), ("calls ended", "end @\(caller)")]
      try act(process, dice.element(of: torture.hasSeenCalls ? [offer, offer, offer] + others : [offer]))
      return
    }
    if try act(process, ("calls answered", "answer @\(contact) \(Self.session)")) { return }
    let invite = ("calls made", "invite @\(contact) \(Self.type)")
    let others = [("calls ended", "end @\(contact)"), ("calls connected", "status @\(contact) connected")]
    let chosen = dice.element(of: [invite, invite] + others)
    guard try act(process, chosen), chosen == invite, dice.chance(50) || !torture.hasSeenCalls else { return }
    try awaitOffer(process, contact)
  }

  /// Stays on a call that it made, as a person does. Otherwise the next action would hardly ever be to answer an offer.
  private func awaitOffer(_ process: TorturedProcess, _ contact: Int64) throws {
    for _ in 0..<(torture.hasSeenCalls ? 8 : 24) {
      usleep(200_000)
      if try act(process, ("calls answered", "answer @\(contact) \(Self.session)")) { return }
    }
  }

  @discardableResult
  private func act(_ process: TorturedProcess, _ act: (what: String, command: String)) throws -> Bool {
    guard try process.command("/_call \(act.command)", allowing: ["noCurrentCall"]) != nil else { return false }
    torture.tally.count(act.what)
    return true
  }
}

func sending(_ text: String, to contact: Int64) -> String {
  let message: JSONValue = [["msgContent": ["type": "text", "text": .string(text)], "mentions": [:]]]
  return "/_send @\(contact) json \(message.text)"
}
