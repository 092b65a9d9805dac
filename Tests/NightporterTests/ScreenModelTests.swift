import Foundation
import PorterPlatform
import PorterStore
import PropertyTesting
import XCTest

/// A screen as a host keeps it from the app's events and the answers to pushes, in their order: it shows exactly what
/// the ledger has as shown, whatever was sent, edited, muted, read and deleted. No process is killed: nothing could be
/// said about a lost answer.
final class ScreenModelTests: XCTestCase {
  private let wake = #"{"aps":{"mutable-content":1},"notificationData":{"checkMessages":true}}"#

  func testTheScreenShowsWhatTheLedgerSays() throws {
    for seed: UInt64 in [1, 2, 7] {
      try Day(seed: seed, wake).pass(steps: 60)
    }
  }

  fileprivate final class Day {
    private let seed: UInt64
    private let wake: String
    private let station: Station
    private var random: SplitMix64
    /// Identifiers of the notifications on screen.
    private var screen: Set<String> = []
    private var isOnScreen = true
    /// Those of bob's messages that alice has not read, by his numbers. Too few to make a summary.
    private var items: [Int] = []
    /// Likewise for messages that came in bursts. They are not edited: a summary does not follow an edit.
    private var crowd: [Int] = []
    private var steps: [String] = []

    init(seed: UInt64, _ wake: String) throws {
      self.seed = seed
      self.wake = wake
      random = SplitMix64(state: seed)
      station = try Station()
    }

    func pass(steps count: Int) throws {
      try notify("mentions")
      try settle()
      for _ in 0..<count {
        try take()
        try settle()
      }
      if !isOnScreen { try activate() }
      try settle()
    }

    // MARK: Steps

    private func take() throws {
      switch Int.random(in: 0..<28, using: &random) {
      // Few, so that each is edited often.
      case 0..<3 where items.count < 3: try send()
      case 3..<11 where !items.isEmpty: try edit()
      case 11 where items.count == 3: try delete()
      case 12, 24, 25:
        if isOnScreen { try notify(["all", "mentions", "mentions", "none"].randomElement(using: &random) ?? "") }
      case 13, 14: if isOnScreen { try read() }
      case 15, 16: if isOnScreen { suspend() } else { try activate() }
      case 17..<20: if !isOnScreen { try push() }
      case 20, 21, 26, 27: if !isOnScreen, crowd.count < 20 { try burst() }
      case 22, 23: if !crowd.isEmpty { try deleteOfCrowd() }
      default: break
      }
    }

    /// A message that was read is no longer shown, whatever it says then.
    private func read() throws {
      try ask("/_read chat @1")
      (items, crowd) = ([], [])
    }

    private func text() -> String {
      "number \(steps.count)" + (Bool.random(using: &random) ? ", @alice" : "")
    }

    private func send() throws {
      let text = text()
      steps.append("send \(text)")
      let sent = station.bob.send("/_send @1 text \(text)")
      items.append(sent["result"]["chatItems"][0]["chatItem"]["meta"]["itemId"].number)
    }

    private func edit() throws {
      guard let item = items.randomElement(using: &random) else { return }
      let text = text()
      steps.append("edit \(item) \(text)")
      station.bob.send("/_update item @1 \(item) text \(text)").assert("chatItemUpdated")
    }

    private func delete() throws {
      let item = items.remove(at: Int.random(in: items.indices, using: &random))
      steps.append("delete \(item)")
      station.bob.send("/_delete item @1 \(item) broadcast").assert("chatItemsDeleted")
    }

    /// Messages sent before have their own notifications.
    private func burst() throws {
      try push()
      let mentions = [0, 8, 10].randomElement(using: &random) ?? 0
      let texts = (0..<10).map { "burst \($0)" + ($0 < mentions ? ", @alice" : "") }
      steps.append("burst with \(mentions) mentions")
      let messages = texts.map { #"{"msgContent":{"type":"text","text":"\#($0)"},"mentions":{}}"# }
      let sent = station.bob.send("/_send @1 json [\(messages.joined(separator: ","))]")["result"]["chatItems"].elements
      crowd += sent.map { $0["chatItem"]["meta"]["itemId"].number }
      try push()
    }

    private func deleteOfCrowd() throws {
      let item = crowd.remove(at: Int.random(in: crowd.indices, using: &random))
      steps.append("delete \(item) of a burst")
      station.bob.send("/_delete item @1 \(item) broadcast").assert("chatItemsDeleted")
    }

    /// When a summary changes, it is shown as the user now wants it.
    private func notify(_ mode: String) throws {
      try ask(#"/_settings @1 {"enableNtfs":"\#(mode)","favorite":false}"#)
      guard let item = try itemOfSummary() else { return }
      steps.append("read \(item)")
      station.alice.send("/_read chat items @1 \(item)").assert("itemsReadForChat")
    }

    private func itemOfSummary() throws -> Int64? {
      let store = try Database(path: station.alice.prefix + "_chat.db")
      defer { try? store.close() }
      return try store.integer(
        "SELECT item_id FROM ledger WHERE summary IS NOT NULL AND state IN ('presented', 'outdated') LIMIT 1")
    }

    private func ask(_ command: String) throws {
      steps.append(command)
      station.alice.send(command).assert("cmdOk")
    }

    private func suspend() {
      steps.append("suspend")
      isOnScreen = false
      station.alice.send("/_app suspend 5000000").assert("cmdOk")
      while let event = station.alice.event() {
        apply(event)
        if event["result"]["type"].text == "chatSuspended" { return }
      }
      XCTFail("it is not suspended: \(self)")
    }

    private func activate() throws {
      try ask("/_app activate")
      isOnScreen = true
    }

    private func push() throws {
      try awaitSent()
      let answer = try station.present(wake)
      steps.append("push \(answer["notifications"].count) \(answer["withdrawals"].count)")
      XCTAssertEqual(answer["work"].text, "ran", "\(self)")
      let shown = answer.identifiers
      XCTAssertTrue(Set(shown).isDisjoint(with: answer["withdrawals"].elements.map(\.text)), "\(self)")
      remove(answer["withdrawals"])
      screen.formUnion(shown)
      XCTAssertEqual(screen, try expected(), "\(self)")
    }

    // MARK: The screen

    private func remove(_ withdrawals: JSON) { screen.subtract(withdrawals.elements.map(\.text)) }

    private func apply(_ event: JSON) {
      let result = event["result"]
      guard result["type"].text == "notifications" else { return }
      remove(result["withdrawals"])
      screen.formUnion(result["notifications"].elements.map { $0["notification"]["identifier"].text })
    }

    private func awaitSent() throws {
      awaitRest(of: station.bob)
      try awaitThat("bob's messages are sent") {
        let store = try Database(path: station.bob.prefix + "_chat.db")
        defer { try? store.close() }
        return try store.integer("SELECT count(*) FROM outbox") == 0
      }
    }

    /// While the app is on screen, its screen becomes what the ledger says; otherwise it does after the next push.
    private func settle() throws {
      try awaitSent()
      guard isOnScreen else { return }
      try awaitQuiet([station.alice, station.bob], relay: station.pair.folder.file("relay.db"))
      let end = Date(timeIntervalSinceNow: 10)
      while true {
        while let event = station.alice.event(within: 0) { apply(event) }
        if try screen == expected() { return }
        guard end.timeIntervalSinceNow > 0 else { break }
        usleep(20_000)
      }
      XCTAssertEqual(screen, try expected(), "\(self)")
      throw ScreenFailure()
    }

    private func expected() throws -> Set<String> {
      let store = try Database(path: station.alice.prefix + "_chat.db")
      defer { try? store.close() }
      let shown = try store.rows(
        """
        SELECT kind, agent_id, message_id, user_id, ledger.contact_id
        FROM ledger JOIN connections ON connections.connection_id = ledger.connection_id
        WHERE state IN ('presented', 'outdated') AND kind IN ('message', 'connected') AND summary IS NULL
        """
      ) { row in
        row.text(0) == "connected"
          ? "np:connected:\(row.integer(3)):\(row.integer(4))"
          : "np:message:\(TextEncoding.base64URL(row.blob(1))):\(TextEncoding.base64URL(row.blob(2)))"
      }
      let summaries = try store.rows(
        """
        SELECT DISTINCT summary FROM ledger JOIN items USING (item_id) JOIN contacts ON contacts.contact_id = ledger.contact_id
        WHERE ledger.state IN ('presented', 'outdated') AND summary IS NOT NULL
          AND (notifications = 'all' OR notifications = 'mentions' AND mentions_user = 1)
        """
      ) { $0.text(0) }
      return Set(shown + summaries)
    }
  }
}

private struct ScreenFailure: Error {}

extension ScreenModelTests.Day: CustomStringConvertible {
  fileprivate var description: String { "seed \(seed): \(steps.joined(separator: "; "))" }
}
