import Foundation
import Synchronization
import XCTest

@testable import PorterJetStream

/// A stream `s` of a node, with one consumer at a time. It stores messages without comparing them, as if all had passed
/// together.
final class FollowedStream: Sendable {
  private struct Message {
    var number: UInt64
    var subject: String
    var headers: [String]
    var body: UInt8 = 1
  }

  private struct State {
    var messages: [Message] = []
    var last: UInt64 = 0
    /// Where the consumer delivers them.
    var place: String?
    var given = 0
    var consumers = 0
    var names: Set<String> = []
    var questions = 0
    var checks = 0
    var comparisons = 0
    var deleted: [UInt64] = []
    /// The next message of each consumer that is asked for messages.
    var asked: [String: Int] = [:]
    var losesNext = false
    var deletesNext = false
    var refusesConsumers = false
    var replacesNext = false
    /// The next message is refused, and stored after this many questions.
    var refusesNext: Int?
    var refused: (headers: [String], questions: Int)?
    var doublesNext = false
    var hidesNewest = false
    var deletionsToLeave = 0
  }

  private static let elections = "$JS.EVENT.ADVISORY.STREAM.LEADER_ELECTED."

  private let state = Mutex(State())
  private let node = Mutex<FakeNode?>(nil)

  func start() throws {
    let made = try FakeNode { [weak self] in self?.answer($0) }
    node.withLock { $0 = made }
  }

  func connect(patience: Duration? = nil) throws -> NATSConnection {
    try XCTUnwrap(node.withLock { $0 }).connect(patience: patience)
  }

  /// The number of consumers created.
  var consumers: Int { state.withLock { $0.consumers } }
  /// The names of those not deleted.
  var names: Set<String> { state.withLock { $0.names } }

  /// How often the leader had to look for a version since the last call.
  func takeQuestions() -> Int {
    state.withLock { state in
      defer { state.questions = 0 }
      return state.questions
    }
  }

  /// How often it was asked for a message by number.
  func takeChecks() -> Int {
    state.withLock { state in
      defer { state.checks = 0 }
      return state.checks
    }
  }

  /// How often it was to compare since the last call.
  func takeComparisons() -> Int {
    state.withLock { state in
      defer { state.comparisons = 0 }
      return state.comparisons
    }
  }

  /// The numbers of those deleted.
  var deleted: [UInt64] { state.withLock { $0.deleted } }

  func loseNext() { state.withLock { $0.losesNext = true } }
  func deleteNext() { state.withLock { $0.deletesNext = true } }
  /// Another message takes the next one's place after the consumer has delivered that.
  func replaceNext() { state.withLock { $0.replacesNext = true } }
  /// Refuses the next message like a deposed leader, and stores it after `questions` further questions.
  func refuseNext(storingAfter questions: Int = 0) { state.withLock { $0.refusesNext = questions } }
  /// The next message is stored twice, and the second copy acknowledged.
  func doubleNext() { state.withLock { $0.doublesNext = true } }
  /// From now on, questions for the next message are answered as if by a node that has not applied the newest one.
  func hideNewest() { state.withLock { $0.hidesNewest = true } }
  /// This many deletions of consumers get no answer or are refused, in turn.
  func leaveDeletions(_ count: Int) { state.withLock { $0.deletionsToLeave = count } }
  func refuseConsumers(_ refuses: Bool) { state.withLock { $0.refusesConsumers = refuses } }

  /// Stores another process's message.
  func store(_ subject: String, replaced: UInt64) {
    _ = store(subject, ["Porter-Replaces: \(replaced)", "Porter-Writer: other"])
  }

  /// The consumer has nothing to deliver, and reports what it delivered last.
  func beat() {
    let (place, given) = state.withLock { ($0.place, $0.given) }
    guard let place else { return XCTFail("no consumer") }
    let headers = ["Nats-Last-Consumer: \(given)", "Nats-Last-Stream: 0"]
    node.withLock { $0 }?.give(place, on: place, headers: headers, status: 100)
  }

  func announceElection(_ stream: String) {
    node.withLock { $0 }?.give(Self.elections + stream, on: Self.elections + "*")
  }

  func await(_ what: String, _ isDone: () async -> Bool) async throws {
    let end = ContinuousClock.now + .seconds(20)
    while await !isDone() {
      guard .now < end else { return XCTFail("never: \(what)") }
      try await Task.sleep(for: .milliseconds(1))
    }
  }

  private func store(_ subject: String, _ headers: [String]) -> UInt64 {
    let (number, place, given, body) = state.withLock { state in
      state.last += 1
      let message = Message(number: state.last, subject: subject, headers: headers, body: state.replacesNext ? 2 : 1)
      defer { (state.losesNext, state.deletesNext, state.replacesNext) = (false, false, false) }
      guard !state.deletesNext else { return (state.last, String?.none, 0, message.body) }
      state.messages.append(message)
      state.given += 1
      return (state.last, state.losesNext ? nil : state.place, state.given, UInt8(1))
    }
    if let place {
      let reply = "$JS.ACK.s.consumer.1.\(number).\(given).1764196785000000000.0"
      node.withLock { $0 }?.give(subject, on: place, reply: reply, headers: headers, data: Self.text(body))
    }
    return number
  }

  private func answer(_ request: FakeNode.Request) -> FakeNode.Answer? {
    let name = String(request.subject.split(separator: ".").last ?? "")
    switch request.subject {
    case "$JS.API.CONSUMER.DELETE.s.\(name)":
      return state.withLock { state in
        guard state.deletionsToLeave == 0 else {
          state.deletionsToLeave -= 1
          return state.deletionsToLeave > 0 ? nil : .text(#"{"error":{"err_code":10008,"description":"no"}}"#)
        }
        state.names.remove(name)
        return .text(#"{"success":true}"#)
      }
    case "$JS.API.CONSUMER.CREATE.s.\(name)":
      let place = Reply(Array(request.payload.utf8)).text("deliver_subject")
      return state.withLock { state in
        if place == nil {
          state.asked[name] = 0
          return .text(#"{"name":"consumer"}"#)
        }
        guard !state.refusesConsumers else { return .text(#"{"error":{"err_code":10074,"description":"no"}}"#) }
        (state.place, state.given, state.consumers) = (place, 0, state.consumers + 1)
        state.names.insert(name)
        return .text(#"{"name":"consumer"}"#)
      }
    case "$JS.API.CONSUMER.MSG.NEXT.s.\(name)": return deliver(to: name, request)
    case "$JS.API.STREAM.MSG.DELETE.s":
      return state.withLock { state in
        let number = Reply(Array(request.payload.utf8)).number("seq") ?? 0
        state.deleted.append(number)
        state.messages.removeAll { $0.number == number }
        return .text(#"{"success":true}"#)
      }
    case "$JS.API.STREAM.MSG.GET.s": return found(Reply(Array(request.payload.utf8)))
    case "s.a":
      let lines = request.headers.split(separator: "\r\n").map(String.init).filter { $0.hasPrefix("Porter-") }
      let isCompared = request.headers.contains("Nats-Expected-Last-Subject-Sequence")
      let (isRefused, isDoubled) = state.withLock { state in
        if isCompared { state.comparisons += 1 }
        defer { (state.refusesNext, state.doublesNext) = (nil, false) }
        if let questions = state.refusesNext, questions > 0 { state.refused = (lines, questions) }
        return (state.refusesNext != nil, state.doublesNext)
      }
      if isDoubled { _ = store("s.a", lines) }
      if state.withLock({ $0.refused }) != nil { return .text(#"{"error":{"err_code":10071}}"#) }
      let number = store("s.a", lines)
      return .text(isRefused ? #"{"error":{"err_code":10071}}"# : #"{"stream":"s","seq":\#(number)}"#)
    default: return nil
    }
  }

  private static func text(_ body: UInt8) -> String { String(UnicodeScalar(body)) }

  /// At most two at a time.
  private func deliver(to consumer: String, _ request: FakeNode.Request) -> FakeNode.Answer? {
    guard let place = request.reply else { return nil }
    let messages = state.withLock { state in
      let messages = state.messages.dropFirst(state.asked[consumer] ?? 0).prefix(2)
      state.asked[consumer, default: 0] += messages.count
      return Array(messages)
    }
    for message in messages {
      node.withLock { $0 }?.give(
        message.subject, on: place, reply: "$JS.ACK.s.\(consumer).1.\(message.number).1.1764196785000000000.0",
        headers: message.headers, data: Self.text(message.body))
    }
    return .status(408)
  }

  private func storeRefused() {
    let headers = state.withLock { state -> [String]? in
      guard let refused = state.refused else { return nil }
      state.refused = refused.questions > 1 ? (refused.headers, refused.questions - 1) : nil
      return refused.questions > 1 ? nil : refused.headers
    }
    if let headers { _ = store("s.a", headers) }
  }

  private func found(_ query: Reply) -> FakeNode.Answer {
    defer { storeRefused() }
    let message = state.withLock { state in
      if query.text("last_by_subj") ?? query.text("next_by_subj") != nil {
        state.questions += 1
      } else {
        state.checks += 1
      }
      if let subject = query.text("last_by_subj") { return state.messages.last { $0.subject == subject } }
      let (number, subject) = (query.number("seq") ?? 0, query.text("next_by_subj"))
      guard let subject else { return state.messages.first { $0.number == number } }
      let known = state.hidesNewest ? state.messages.dropLast() : state.messages[...]
      return known.first { $0.number >= number && $0.subject == subject }
    }
    guard let message else { return .text(#"{"error":{"err_code":10037}}"#) }
    let head = (["NATS/1.0"] + message.headers + ["", ""]).joined(separator: "\r\n")
    let headers = Data(head.utf8).base64EncodedString()
    let data = Data([message.body]).base64EncodedString()
    return .text(
      #"{"message":{"subject":"\#(message.subject)","seq":\#(message.number),"hdrs":"\#(headers)","data":"\#(data)"}}"#)
  }
}
