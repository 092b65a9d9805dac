import Foundation
import PorterJSON
import Synchronization

/// The notifications that processes have shown, and the user's responses to them.
final class ResponseBook: Sendable {
  struct Response: Sendable {
    let number: Int
    let json: JSONValue
    let identifier: String
    let action: String
    /// The text of a reply.
    let text: String?
    /// Nil until a process has reported it as stored.
    var id: Int64?
    /// A process has reported that it is the first.
    var wasTaken = false
    /// For an opening: the ids under which it was stored before another notification was shown under its identifier.
    var earlierIDs: Set<Int64> = []
  }

  private struct Pages: Sendable {
    var shown: [JSONValue] = []
    var responses: [Response] = []
    var unanswered: Set<Int> = []
    var uses: [String: Int] = [:]
    /// Openings given to a process, minus those that one has answered: each may be stored.
    var unansweredOpenings = 0
    var endings: [Int64: String] = [:]
  }

  private let pages = Mutex(Pages())
  private let tally: Tally
  private let begin = Date()
  private let seconds: Double

  /// The store keeps a thousand ended responses, by which it recognises a repeat.
  private static let limit = 900

  init(_ tally: Tally, seconds: Double) {
    self.tally = tally
    self.seconds = seconds
  }

  private static let actions: [String: [String]] = [
    "NTF_CAT_MESSAGE_RECEIVED": ["open", "reply", "markRead"],
    "NTF_CAT_CONTACT_REQUEST": ["acceptContact", "acceptContactIncognito", "rejectContact"],
    "NTF_CAT_CALL_INVITATION": ["acceptCall", "rejectCall"],
    "NTF_CAT_CONTACT_CONNECTED": ["open"],
  ]
  private static let names = [
    "reply": "NTF_ACT_REPLY", "markRead": "NTF_ACT_MARK_READ", "acceptContact": "NTF_ACT_ACCEPT_CONTACT",
    "acceptContactIncognito": "NTF_ACT_ACCEPT_CONTACT_INCOGNITO", "rejectContact": "NTF_ACT_REJECT_CONTACT",
    "acceptCall": "NTF_ACT_ACCEPT_CALL", "rejectCall": "NTF_ACT_REJECT_CALL",
  ]

  func noteShown(_ notification: JSONValue) {
    guard let category = notification["categoryIdentifier"]?.stringValue, Self.actions[category] != nil else { return }
    pages.withLock { pages in
      pages.shown.append(notification)
      if pages.shown.count > 200 { pages.shown.removeFirst(100) }
    }
  }

  /// The user's next action: mostly on a notification, the rarer actions first; now and then a repeat of an earlier
  /// one, above all of one that got no answer. Nil if nothing is shown.
  func next(_ dice: inout Dice) -> Response? {
    pages.withLock { pages in
      if let number = pages.unanswered.sorted().first, dice.chance(40) { return pages.responses[number] }
      if !pages.responses.isEmpty, dice.chance(15) { return dice.element(of: pages.responses) }
      let share = min(1, -begin.timeIntervalSinceNow / seconds)
      guard Double(pages.responses.count) < 40 + share * Double(Self.limit - 40) else { return nil }
      return make(&pages, &dice)
    }
  }

  private func make(_ pages: inout Pages, _ dice: inout Dice) -> Response? {
    let categories = Set(pages.shown.compactMap { $0["categoryIdentifier"]?.stringValue }).sorted()
    guard !categories.isEmpty else { return nil }
    let category = dice.element(of: categories)
    let candidates = pages.shown.filter { $0["categoryIdentifier"]?.stringValue == category }
    // A call is answered while it rings.
    let notification = dice.chance(70) ? candidates[candidates.count - 1] : dice.element(of: candidates)
    guard let identifier = notification["identifier"]?.stringValue else { return nil }
    let done = Set(pages.responses.filter { $0.identifier == identifier }.map(\.action))
    let possible = (Self.actions[category] ?? []).filter { $0 == "reply" || !done.contains($0) }
    guard let action = possible.min(by: { pages.uses[$0, default: 0] < pages.uses[$1, default: 0] }) else { return nil }
    pages.uses[action, default: 0] += 1
    let number = pages.responses.count
    let text = action == "reply" ? "answer \(number)" : nil
    let response = Response(
      number: number,
      json: .compact([
        "actionIdentifier": Self.names[action].map { .string($0) }, "identifier": .string(identifier),
        "userInfo": notification["userInfo"], "targetContentIdentifier": notification["targetContentIdentifier"],
        "userText": text.map { .string($0) },
      ]), identifier: identifier, action: action, text: text)
    pages.responses.append(response)
    pages.unanswered.insert(number)
    return response
  }

  /// The response is about to be given to a process, which may be killed before it answers.
  func noteGiven(_ response: Response) {
    if response.action == "open" { pages.withLock { $0.unansweredOpenings += 1 } }
  }

  /// A process has answered that the response is stored.
  func note(_ result: JSONValue, of response: Response) {
    guard let id = result["responseId"]?.integerValue, let outcome = result["outcome"]?.stringValue else {
      return tally.problem("a response was answered with \(result.text)")
    }
    let isFirst = result["repeated"] != true
    let (earlier, wasTaken) = pages.withLock { pages in
      pages.unanswered.remove(response.number)
      if response.action == "open" { pages.unansweredOpenings -= 1 }
      var known = pages.responses[response.number]
      defer { pages.responses[response.number] = known }
      // Opening something that is shown anew, as after an edit, is a different opening. The verdict finds the earlier
      // one without an identifier. The answers may arrive in either order.
      if let other = known.id, other != id, known.action == "open" {
        known.earlierIDs.insert(min(other, id))
        known.id = max(other, id)
        return (Int64?.none, false)
      }
      defer {
        known.id = id
        if isFirst { known.wasTaken = true }
      }
      return (known.id, known.wasTaken)
    }
    if let earlier, earlier != id {
      tally.problem("a response was taken as \(earlier) and as \(id): \(response.json.text)")
    }
    if wasTaken, isFirst { tally.problem("a response was taken twice: \(response.json.text)") }
    if outcome == "applied" || outcome == "stale" { noteEnded(id, outcome + (result["reason"]?.stringValue ?? "")) }
  }

  func noteEvent(_ event: JSONValue) {
    guard let id = event["responseId"]?.integerValue, let outcome = event["outcome"]?.stringValue else {
      return tally.problem("an event about a response: \(event.text)")
    }
    tally.count("events about responses")
    noteEnded(id, outcome + (event["reason"]?.stringValue ?? ""))
  }

  /// It ends once, whatever reports it.
  func noteEnded(_ id: Int64, _ ending: String) {
    let earlier = pages.withLock { $0.endings.updateValue(ending, forKey: id) }
    if let earlier, earlier != ending { tally.problem("response \(id) ended as \(earlier) and as \(ending)") }
  }

  /// As far as a process has reported it.
  func wasApplied(_ action: String) -> Bool {
    pages.withLock { pages in
      pages.responses.contains { response in
        response.action == action && response.id.map { pages.endings[$0] == "applied" } ?? false
      }
    }
  }

  var responses: [Response] { pages.withLock { $0.responses } }
  var endings: [Int64: String] { pages.withLock { $0.endings } }
  var unansweredOpenings: Int { pages.withLock { $0.unansweredOpenings } }
  var unanswered: [Response] { pages.withLock { pages in pages.unanswered.sorted().map { pages.responses[$0] } } }
}
