import Foundation
import PorterEngine
import PorterJSON
import PorterPlatform
import XCTest

/// A phone's screen over a night of bursts: what the platform shows after each answer, and which sounds it made.
private final class Screen {
  private var shown: [String: JSONValue] = [:]

  func apply(_ answer: JSONValue) {
    for notification in answer["notifications"]?.arrayValue ?? [] {
      shown[notification["identifier"]?.stringValue ?? ""] = notification
    }
    for identifier in answer["withdrawals"]?.arrayValue ?? [] { shown[identifier.stringValue ?? ""] = nil }
  }

  /// The number of messages that the notifications stand for.
  var messages: Int { shown.values.map { Self.messages(of: $0) }.reduce(0, +) }

  static func messages(of notification: JSONValue) -> Int {
    guard notification["categoryIdentifier"] == "NTF_CAT_MANY_EVENTS" else { return 1 }
    let arguments = notification["targetContentIdentifier"] == nil ? "titleArguments" : "bodyArguments"
    return Int(notification[arguments]?.arrayValue?.first?.integerValue ?? 0)
  }
}

final class BurstTests: XCTestCase {
  private static let wake = #"{"aps":{"mutable-content":1},"notificationData":{"checkMessages":true}}"#
  private static let chats = 4

  private struct Night {
    var random: SplitMix
    let screen = Screen()
    var unread: [Int: Int] = [:]
    var heard: [Int: Span] = [:]
    var summaries = 0
    var silent = 0
  }

  /// At most one sound per chat in 30 s, and none missing; each unread message is in exactly one notification.
  func testNightsOfBursts() throws {
    var (summaries, silent) = (0, 0)
    for seed in UInt64(1)...2 {
      var night = Night(random: .init(seed: seed))
      _ = try SimulatedHouse.run(seed: seed) { house in
        let cast = try Cast(house, chats: Self.chats)
        // The chats made their sounds when they were connected.
        house.pass(.seconds(30))
        for round in 1...14 { try play(&night, cast, house, "seed \(seed), round \(round)") }
        cast.end()
      }
      summaries += night.summaries
      silent += night.silent
    }
    XCTAssertGreaterThan(summaries, 5)
    XCTAssertGreaterThan(silent, 5)
  }

  /// A request by a person who is not yet known: its placeholder makes a sound, and the request that follows within 30
  /// s makes none; later it does.
  func testAPlaceholderAndWhatFollowsItMakeOneSound() throws {
    for (pause, isHeard) in [(Span.seconds(5), false), (.seconds(40), true)] {
      _ = try SimulatedHouse.run(seed: 9) { house in
        let cast = try Cast(house)
        try cast.activate()
        let address = try cast.alice.send("/_address 1", "userContactLinkCreated")
        let link = address["connLinkContact"]?["connFullLink"]?.stringValue ?? ""
        house.pass(.seconds(10))
        try cast.suspend()
        let carol = try house.host("carol", store: "carol", .app)
        try carol.send(#"/_create user {"profile":{"displayName":"carol","fullName":""}}"#, "activeUser")
        try carol.send(#"/_network {"relay":"\#(house.relayPath)"}"#, "cmdOk")
        try carol.send("/_start", "chatStarted")
        try carol.send("/connect \(link)", "sentInvitation")
        let payload = try house.nextPush()
        let notifier = try house.host("notifier", store: "alice", .extension)
        try FileManager.default.moveItem(atPath: house.relayPath, toPath: house.relayPath + ".away")
        let early = try notifier.push(payload)
        try FileManager.default.moveItem(atPath: house.relayPath + ".away", toPath: house.relayPath)
        XCTAssertEqual(early["outcome"], "offline", early.text)
        XCTAssertEqual(early["notifications"]?.arrayValue?.count, 1, early.text)
        XCTAssertNotNil(early["notifications"]?.arrayValue?.first?["sound"], early.text)
        XCTAssertNil(early["recorded"], early.text)
        house.pass(pause)
        let late = try notifier.push(payload)
        let request = try XCTUnwrap(late["notifications"]?.arrayValue?.first, late.text)
        XCTAssertEqual(request["title"], "carol wants to connect!", late.text)
        XCTAssertEqual(request["sound"] != nil, isHeard, late.text)
        let placeholder = early["notifications"]?.arrayValue?.first?["identifier"]
        XCTAssertEqual(late["withdrawals"]?.arrayValue, [try XCTUnwrap(placeholder)], late.text)
        for host in [notifier, carol] { host.end() }
        cast.end()
      }
    }
  }

  private func play(_ night: inout Night, _ cast: Cast, _ house: SimulatedHouse, _ place: String) throws {
    if Int.random(in: 0..<4, using: &night.random) == 0 {
      let chat = Int.random(in: 1...Self.chats, using: &night.random)
      try cast.activate()
      try cast.alice.send("/_read chat @\(chat)", "cmdOk")
      try cast.suspend()
      night.unread[chat] = 0
    }
    var new: [Int: Int] = [:]
    for _ in 0..<[0, 1, 2, 9, 21].randomElement(using: &night.random)! {
      let chat = [1, 1, 1, 2, 3, 4].randomElement(using: &night.random)!
      try cast.bobSends("hello", to: chat)
      new[chat, default: 0] += 1
      night.unread[chat, default: 0] += 1
    }
    house.pass(.seconds(Int64.random(in: 1...25, using: &night.random)))
    let notifier = try house.host("notifier", store: "alice", .extension)
    let answer = try notifier.push(Self.wake)
    notifier.end()
    night.screen.apply(answer)
    XCTAssertEqual(night.screen.messages, night.unread.values.reduce(0, +), "\(place): \(answer.text)")
    check(answer, new, &night, house.clock.elapsed, place)
  }

  /// Compares the sounds with the rule.
  private func check(_ answer: JSONValue, _ new: [Int: Int], _ night: inout Night, _ now: Span, _ place: String) {
    let notifications = answer["notifications"]?.arrayValue ?? []
    func chat(_ notification: JSONValue) -> Int? {
      notification["targetContentIdentifier"]?.stringValue.flatMap { Int($0.dropFirst()) }
    }
    let own = Set(notifications.compactMap(chat))
    for notification in notifications {
      if notification["categoryIdentifier"] == "NTF_CAT_MANY_EVENTS" { night.summaries += 1 }
      let chats = chat(notification).map { [$0] } ?? new.keys.filter { !own.contains($0) }
      // A summary that only changed because some of its messages were read has nothing new.
      let free = chats.filter { new[$0] != nil && night.heard[$0].map { now - $0 >= .seconds(30) } ?? true }
      XCTAssertEqual(notification["sound"] != nil, !free.isEmpty, "\(place): \(notification.text)")
      for chat in free { night.heard[chat] = now }
      if notification["sound"] == nil { night.silent += 1 }
    }
  }
}

private struct SplitMix: RandomNumberGenerator {
  private var state: UInt64
  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = (state ^ state >> 30) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
    return mixed ^ mixed >> 31
  }
}
