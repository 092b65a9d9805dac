import CNightporter
import PorterCrypto
import PorterPlatform
import PorterStore
import Synchronization
import XCTest

@testable import Nightporter
@testable import PorterEngine

/// A message and a wake push cost the same, however many contacts there are.
final class ManyContactsTests: XCTestCase {
  private let wake = #"{"aps":{"mutable-content":1},"notificationData":{"checkMessages":true}}"#
  private let randomness = SystemRandomness()
  private let now = WallTime(milliseconds: 1_700_000_000_000)

  func testOneMessageCostsTheSameWithManyContacts() throws {
    let (few, many) = (try costOfAMessage(contacts: 1), try costOfAMessage(contacts: 400))
    XCTAssertEqual(many.requests, few.requests)
    XCTAssertLessThan(many.instructions, few.instructions + 200, "it was \(few.instructions)")
  }

  /// Opened in its own process, as an extension is.
  func testAPushCostsTheSameWithManyContacts() throws {
    let station = try Station()
    // Statements that only the first push executes, such as for a new ratchet key.
    _ = try station.present(try suspendAndPush("first", station))
    let few = try costOfAPush(station)
    try addContacts(400, to: station.alice.prefix)
    let many = try costOfAPush(station)
    for (text, cost) in many { let was = few[text] ?? 0; if cost > was + 50 { print("GROWS", was, cost, text) } }
    XCTAssertLessThan(
      many.values.reduce(0, +), few.values.reduce(0, +) + 100,
      many.filter { $0.value > (few[$0.key] ?? 0) + 20 }.map(\.key).joined(separator: "\n"))
  }

  private func suspendAndPush(_ text: String, _ station: Station) throws -> String {
    if station.alice.state["quiescent"].flag == false { station.suspend() }
    return try station.push(for: text)
  }

  /// Instructions of each statement of a push.
  private func costOfAPush(_ station: Station) throws -> [String: Int] {
    let push = try suspendAndPush("hello", station)
    let service = try station.makeExtension()
    final class Costs: @unchecked Sendable {
      var all: [String: Int] = [:]
      var last = ("", 0)
    }
    let costs = Costs()
    let isObserved = try XCTUnwrap(Handles.find(service.handle)).call { engine -> Bool in
      guard let database = engine.store?.database else { return false }
      costs.last = ("", database.instructions)
      database.observer = { [unowned database] text in
        let now = database.instructions
        costs.all[costs.last.0, default: 0] += now - costs.last.1
        costs.last = (text, now)
      }
      return true
    }
    XCTAssertEqual(isObserved, true)
    XCTAssertEqual(service.push(push)["outcome"].text, "presented")
    return costs.all
  }

  /// Each request has its own time, so that an app with many contacts can listen over a slow network.
  func testListeningToManyContactsHasTheTimeOfEachRequest() throws {
    let meeting = try Meeting()
    try addContacts(600, to: meeting)
    meeting.alice.free()
    let clock = MovedClock()
    let transport = HostTransport(relay: meeting.folder.file("relay.db"))
    let configuration = Configuration(
      prefix: meeting.alice.prefix, role: .app, confirmation: .yesUp, ports: Ports(clock: clock))
    let app: Controller = try XCTUnwrap(Controller.open(configuration).1)
    defer { app.stop() }
    XCTAssertTrue(app.setRelay(transport.port))
    transport.hang(fromSubscribe: 1)
    _ = app.send("/_start", retry: 0)
    for number in 1...3 {
      awaitThat("request \(number) is under way") { transport.count(.subscribe) == number }
      clock.move(.seconds(10))
      // One turn, in which due timers fire.
      let turned: Bool? = app.call { _ in true }
      XCTAssertEqual(turned, true)
      transport.hang(fromSubscribe: number + 1)
    }
    awaitThat("everything is listened to") {
      app.call { engine -> Bool in
        engine.context.deferred.isEmpty && engine.lifecycle.operations.counter.count(.receiving) == 0
      } == true
    }
    let isRetried = app.call { engine -> Bool in engine.timers.isSet(TimerName.subscribe) }
    XCTAssertEqual(isRetried, false)
    XCTAssertEqual(transport.count(.subscribe), 3)
  }

  /// A host's relay of an earlier version is subscribed to as before.
  func testARelayOfAnEarlierVersionGivesItsMessages() throws {
    let meeting = try Meeting()
    try addContacts(20, to: meeting)
    meeting.transport.speakAnEarlierVersion()
    meeting.alice.send("/_app activate").assert("cmdOk")
    send("hello", meeting)
    receive("hello", meeting)
    XCTAssertGreaterThan(meeting.transport.count(.subscribe), 1)
    suspend(meeting)
    send("again", meeting)
    let (service, transport) = try makeExtension(meeting)
    transport.speakAnEarlierVersion()
    XCTAssertEqual(service.push(wake).bodies, ["again"])
    XCTAssertEqual(transport.count(.checkByKeys), 1, "once refused, it is not asked again")
    XCTAssertEqual(transport.count(.check), 1, "once refused, it is not asked again")
    XCTAssertGreaterThan(transport.count(.get), 20)
  }

  /// The relay reports which mailboxes have messages waiting; only that connection is claimed and asked.
  func testAWakePushAsksTheRelayOnceForAllContacts() throws {
    let meeting = try Meeting()
    try addContacts(300, to: meeting)
    // The relay does not know these connections' mailboxes, and would refuse each.
    try answerForAll(meeting)
    send("hello", meeting)
    let (service, transport) = try makeExtension(meeting)
    let claims = Mutex(0)
    _ = try XCTUnwrap(Handles.find(service.handle)).call { engine -> Bool in
      engine.store?.database.observer = { text in
        if text.hasPrefix("UPDATE connections SET epoch") { claims.withLock { $0 += 1 } }
      }
      return true
    }
    let answer = service.push(wake)
    XCTAssertEqual(answer.bodies, ["hello"], answer.description)
    XCTAssertEqual(answer["outcome"].text, "presented")
    XCTAssertEqual(answer["work"].text, "ran")
    XCTAssertEqual(transport.count(.checkByKeys), 2, "256 fit into a request")
    XCTAssertEqual(transport.count(.shareKeys), 2, "the relay knows no key yet")
    XCTAssertEqual(transport.count(.get), 2, "the message, and that none is left")
    XCTAssertEqual(claims.withLock { $0 }, 1)
    XCTAssertEqual(service.push(wake)["outcome"].text, "nothingNew")
    XCTAssertEqual(transport.count(.get), 2)
    XCTAssertEqual(transport.count(.checkByKeys), 4)
    XCTAssertEqual(transport.count(.shareKeys) + transport.count(.check), 2, "nothing is signed for each contact again")
  }

  func testAWakePushWithoutARelayEndsOffline() throws {
    let meeting = try Meeting()
    try addContacts(5, to: meeting)
    send("hello", meeting)
    let (service, transport) = try makeExtension(meeting)
    transport.fail(.checkByKeys)
    XCTAssertEqual(service.push(wake)["outcome"].text, "offline")
    XCTAssertEqual(transport.count(.checkByKeys), 1)
  }

  // MARK: What it costs

  private func costOfAMessage(contacts: Int) throws -> (requests: [HostTransport.Kind: Int], instructions: Int) {
    let meeting = try Meeting()
    try addContacts(contacts, to: meeting)
    meeting.alice.send("/_app activate").assert("cmdOk")
    meeting.awaitRest()
    // A first message, so that every statement is prepared and every retry is settled.
    send("first", meeting)
    receive("first", meeting)
    let before = (requests(meeting.transport), try instructions(meeting.alice))
    send("hello", meeting)
    receive("hello", meeting)
    let after = (requests(meeting.transport), try instructions(meeting.alice))
    return (after.0.merging(before.0) { $0 - $1 }, after.1 - before.1)
  }

  private func requests(_ transport: HostTransport) -> [HostTransport.Kind: Int] {
    let kinds: [HostTransport.Kind] = [.subscribe, .check, .checkByKeys, .shareKeys, .arrivals, .get]
    return Dictionary(uniqueKeysWithValues: kinds.map { ($0, transport.count($0)) })
  }

  private func instructions(_ host: Host) throws -> Int {
    try XCTUnwrap(try XCTUnwrap(Handles.find(host.handle)).call { $0.store?.database.instructions ?? 0 })
  }

  private func send(_ text: String, _ meeting: Meeting) {
    let message = "{\"msgContent\":{\"type\":\"text\",\"text\":\"\(text)\"},\"mentions\":{}}"
    meeting.bob.send("/_send @1 json [\(message)]").assert("newChatItems")
  }

  /// The transport reports once that something has arrived.
  private func receive(_ text: String, _ meeting: Meeting) {
    let asked = meeting.transport.count(.get)
    np_relay_ready(meeting.alice.handle)
    let event = meeting.alice.event("newChatItems")
    XCTAssertEqual(event?["result"]["chatItems"][0]["chatItem"]["content"]["msgContent"]["text"].text, text)
    awaitThat("the mailbox was found empty") { meeting.transport.count(.get) >= asked + 2 }
    awaitReceived(meeting.alice)
  }

  /// Checks the counts of the engine's work: `np_state` would read the store.
  private func awaitReceived(_ host: Host) {
    awaitThat("nothing is received") {
      Handles.find(host.handle)?.call { engine in
        let work = engine.lifecycle.operations.counter
        return engine.context.deferred.isEmpty
          && [OperationKind.receiving, .delivery, .sending, .database].allSatisfy { work.count($0) == 0 }
      } == true
    }
  }

  private func suspend(_ meeting: Meeting) {
    meeting.alice.send("/_app suspend 5000000").assert("cmdOk")
    meeting.alice.event("chatSuspended")
  }

  /// Alice's app is suspended afterwards.
  private func addContacts(_ count: Int, to meeting: Meeting) throws {
    suspend(meeting)
    try addContacts(count, to: meeting.alice.prefix)
  }

  private func addContacts(_ count: Int, to prefix: String) throws {
    let store = try Store.open(
      at: StoreLocation(prefix: prefix), key: .none, confirmation: .error, mayMigrate: false)
    try store.transaction { () throws(StoreError) in
      for number in 0..<count {
        let contact = try store.insertContact(userID: 1, displayName: "contact \(number)", fullName: "", at: now)
        let key: SigningKeyPair
        do throws(CryptoError) { key = try .generate(randomness: randomness) } catch { throw .damaged(.connection) }
        _ = try store.insertConnection(
          NewConnection(
            userID: 1, contactID: contact, agentID: randomness.bytes(24), status: "ready", isInitiated: true,
            recipientID: randomness.bytes(24), recipientKey: key, senderID: randomness.bytes(24), isSecured: true,
            peerSenderID: randomness.bytes(24), peerKey: key, invitation: nil, link: nil),
          at: now)
      }
    }
    try store.close(checkpoint: true)
  }

  /// Gives each of those connections a mailbox.
  private func answerForAll(_ meeting: Meeting) throws {
    let store = try Database(path: meeting.alice.prefix + "_chat.db")
    defer { try? store.close() }
    let relay = try Database(path: meeting.folder.file("relay.db"))
    defer { try? relay.close() }
    let ends = try store.rows("SELECT recipient_id, recipient_key, sender_id FROM connections WHERE connection_id > 1")
    {
      (recipient: $0.blob(0), key: SigningKeyPair(stored: $0.blob(1))?.publicKey.bytes, sender: $0.blob(2))
    }
    try relay.transaction { () throws(SQLiteError) in
      for end in ends {
        try relay.run(
          "INSERT INTO mailbox(recipient, recipient_key, sender, created_at) VALUES(?, ?, ?, 0)",
          [.blob(end.recipient), .optional(end.key), .blob(end.sender)])
      }
    }
  }

  private func makeExtension(_ meeting: Meeting) throws -> (Host, HostTransport) {
    let (answer, host) = Host.open(meeting.alice.prefix, isExtension: true)
    let service = try XCTUnwrap(host, answer)
    let transport = HostTransport(relay: meeting.folder.file("relay.db"))
    transport.install(in: service)
    return (service, transport)
  }
}
