import PorterEngine
import PorterJSON
import PorterPlatform

/// Alice, whose app is suspended with an active token, and bob, who is connected to her.
final class Cast {
  private let house: SimulatedHouse
  let alice: SimulatedHost
  let bob: SimulatedHost

  /// Bob is each of alice's contacts, from 1 on.
  init(_ house: SimulatedHouse, chats: Int = 1) throws {
    self.house = house
    alice = try house.host("alice", store: "alice", .app)
    bob = try house.host("bob", store: "bob", .app)
    for host in [alice, bob] {
      try host.send(#"/_create user {"profile":{"displayName":"\#(host.name)","fullName":""}}"#, "activeUser")
      try host.send(#"/_network {"relay":"\#(house.relayPath)","ntfServer":"\#(house.serverLink)"}"#, "cmdOk")
      try host.send("/_start", "chatStarted")
    }
    for _ in 0..<chats { try connect() }
    try activateToken(house.newToken())
    try suspend()
  }

  func suspend() throws {
    try alice.send("/_app suspend 5000000", "cmdOk")
    try alice.event("chatSuspended")
    try alice.closeStore()
    guard try alice.state()["quiescent"] == true else { throw SimulationFailure("alice holds something") }
  }

  private func connect() throws {
    let invitation = try alice.send("/_connect 1", "invitation")
    let link = invitation["connLinkInvitation"]?["connFullLink"]?.stringValue ?? ""
    try bob.send("/connect \(link)", "sentConfirmation")
    try bob.event("contactConnected")
    try alice.event("contactConnected")
  }

  private func activateToken(_ token: String) throws {
    try alice.send("/_ntf register apns_test \(token) INSTANT", "ntfTokenStatus")
    let data = try JSONValue(parsing: try house.nextPush())["notificationData"]
    let (nonce, code) = (data?["nonce"]?.stringValue ?? "", data?["verification"]?.stringValue ?? "")
    try alice.send("/_ntf verify apns_test \(token) \(nonce) \(code)", "cmdOk")
    let status = try alice.send("/_ntf check apns_test \(token)", "ntfTokenStatus")["status"]
    guard status == "ACTIVE" else { throw SimulationFailure("the token is not active") }
  }

  /// Alice's app comes to the front.
  func activate() throws {
    try alice.reopenStore()
    try alice.send("/_app activate", "cmdOk")
  }

  /// Bob writes, and alice's extension handles the push; returns its answer. `meanwhile` is called when the push has
  /// arrived.
  func present(_ text: String, meanwhile: () throws -> Void = {}) throws -> JSONValue {
    try bobSends(text)
    let payload = try house.nextPush()
    try meanwhile()
    let notifier = try house.host("notifier", store: "alice", .extension)
    let answer = try notifier.push(payload)
    guard answer["quiescent"] == true else { throw SimulationFailure("the extension holds something: \(answer.text)") }
    notifier.end()
    return answer
  }

  func bobSends(_ text: String, to chat: Int = 1) throws {
    try bob.send(
      #"/_send @\#(chat) live=off json [{"msgContent":{"type":"text","text":"\#(text)"},"mentions":{}}]"#,
      "newChatItems")
  }

  /// Bob writes while alice's app is suspended, and it is back before the push: her extension has nothing to show.
  func leaveToTheApp(_ text: String) throws {
    try suspend()
    let answer = try present(text, meanwhile: activate)
    guard answer["notifications"]?.arrayValue == [] else { throw SimulationFailure("shown beside the app") }
    try alice.event("newChatItems")
  }

  /// Bob writes while alice's app is on screen: it receives the message, and no push is sent.
  func receiveOnScreen(_ text: String) throws {
    try bobSends(text)
    try alice.event("newChatItems")
    house.pass(.seconds(10))
    guard house.hasNoPush else { throw SimulationFailure("a push for what the app has received") }
  }

  /// The texts in one of alice's chats with bob.
  func chat(_ chat: Int = 1) throws -> [String] {
    let items = try alice.send("/_get chat @\(chat) count=100", "apiChat")["chat"]?["chatItems"]?.arrayValue ?? []
    return items.compactMap { $0["content"]?["msgContent"]?["text"]?.stringValue }
  }

  func end() { for host in [alice, bob] { host.end() } }
}
