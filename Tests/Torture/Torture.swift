import Foundation
import PorterJSON
import PorterNight
import PorterProcesses
import Synchronization
import XCTest

/// Applications and extensions on one store, people who write to it, and a system that freezes and kills all of them at
/// random, on failing disks.
///
/// The seed determines each process's tasks and its disk's behaviour, but not when the kernel schedules it.
final class Torture: Sendable {
  let seed: UInt64
  private let seconds: Double
  private let end: Date
  let place: Place
  let tally = Tally()
  let processes = ProcessTable()
  let promises = Promises()
  let responses: ResponseBook
  private let begin = Date()
  private let started = Mutex(0)
  private let withdrawing = Mutex<Set<String>>([])
  private let pushes = Mutex<[JSONValue]>([])
  private let notified = Mutex<[String: Bool]>([:])
  /// The n for the next failing disk, by operation number.
  let nth = Mutex<[Int: Int]>([:])

  /// The paths, once the people know each other.
  struct Place: Sendable {
    var directory: URL
    /// The path of the embedded relay, which all use.
    var relay: String
    var store: String
    /// The tortured store's key; empty: the store is plain.
    var key: String
    var people: [Person]
    var stranger: Stranger
    var faultyLibrary: String

    var name: String { URL(fileURLWithPath: store).lastPathComponent }
  }

  /// The store of the people who ask for contact, and the address through which they ask.
  struct Stranger: Sendable {
    var store: String
    var key: String
    var link: String
  }

  /// A person who writes to the tortured store.
  struct Person: Sendable {
    var name: String
    var store: String
    var key: String
    /// The contact ids: the tortured store's user here, and this person there.
    var contact: Int64
    var contactThere: Int64
  }

  init(seed: UInt64, seconds: Double, place: Place) {
    self.seed = seed
    self.place = place
    self.seconds = seconds
    responses = ResponseBook(tally, seconds: seconds)
    end = Date(timeIntervalSinceNow: seconds)
  }

  /// Until time is up; on a slow machine until each kind of event has happened, within bounds.
  var goesOn: Bool {
    let left = end.timeIntervalSinceNow
    return left > 0 || (left > -5 * seconds && !hasSeenEachKind)
  }

  private var hasSeenEachKind: Bool {
    Self.kinds.allSatisfy(hasHappened) && Self.decisions.allSatisfy { $0.contains(where: hasHappened) }
  }

  /// Requests were shown, accepted and rejected: the address may accept them automatically for the rest of the time.
  var hasSeenRequests: Bool {
    hasHappened("notifications: NTF_CAT_CONTACT_REQUEST")
      && Self.requestDecisions.allSatisfy { $0.contains(where: hasHappened) }
  }

  /// A call was accepted, and its offer answered. That takes two people who are awake at the same time, which is rare
  /// on a slow machine.
  var hasSeenCalls: Bool { ["calls accepted", "calls answered"].allSatisfy(hasHappened) }

  private func hasHappened(_ kind: String) -> Bool {
    if tally.number(of: kind) >= (Self.transient.contains(kind) ? 5 : 1) { return true }
    guard kind.hasPrefix(Self.applied) else { return false }
    return responses.wasApplied(String(kind.dropFirst(Self.applied.count)))
  }

  /// The applications are not on screen.
  var isNight: Bool { -begin.timeIntervalSinceNow.truncatingRemainder(dividingBy: 14) > 9 }

  /// The number of the next process.
  func nextNumber() -> Int {
    started.withLock {
      $0 += 1
      return $0
    }
  }

  // MARK: Strangers

  func isStranger(_ name: String?) -> Bool { name?.hasPrefix("stranger ") ?? false }
  func noteWithdrawing(_ name: String) { withdrawing.withLock { _ = $0.insert(name) } }
  /// The stranger has withdrawn its request, or tried to.
  func hasWithdrawn(_ name: String) -> Bool { withdrawing.withLock { $0.contains(name) } }

  // MARK: Running

  /// Runs all loops until time is up; afterwards none of their processes is left.
  func run(receiving night: Night) {
    var loops: [@Sendable () -> Void] = []
    for index in 0..<2 { loops.append { [self] in ApplicationLoop(self, index).run() } }
    for index in 0..<3 { loops.append { [self] in ExtensionLoop(self, index).run() } }
    for (index, person) in place.people.enumerated() {
      loops.append { [self] in PersonLoop(self, person, index).run() }
    }
    loops.append { [self] in ShareLoop(self).run() }
    loops.append { [self] in StrangerLoop(self).run() }
    loops.append { [self] in torment() }
    let done = DispatchGroup()
    for loop in loops {
      done.enter()
      let thread = Thread {
        loop()
        done.leave()
      }
      thread.stackSize = 1 << 20
      thread.start()
    }
    // Also when time is up: a device that takes no push is sent none for a while.
    while done.wait(timeout: .now()) == .timedOut {
      if let push = try? night.nextPush(within: 0.2) {
        tally.count("pushes")
        pushes.withLock { $0.append(push) }
      }
    }
    countStrikes()
  }

  /// The oldest push that was not handed out yet; now and then one that was (INC-36).
  func takePush(_ dice: inout Dice) -> JSONValue? {
    pushes.withLock { pushes in
      guard let first = pushes.first else { return nil }
      if pushes.count > 40 { pushes.removeFirst(pushes.count - 40) }
      if dice.chance(20) { return dice.element(of: pushes) }
      pushes.removeFirst()
      return first
    }
  }

  /// A notification in an extension's answer. If recording it as shown failed, it is shown again under the same
  /// identifier, which replaces the first; otherwise never.
  func shown(_ identifier: String, byHealthy healthy: Bool) {
    let isFirst = notified.withLock { notified in
      defer { notified[identifier] = healthy }
      guard let before = notified[identifier] else { return true }
      if before && healthy { problemOfRepetition(identifier) }
      return false
    }
    if !isFirst { tally.count("notifications shown again") }
  }

  private func problemOfRepetition(_ identifier: String) {
    tally.problem("shown twice, though each time it was recorded: \(identifier)")
  }

  /// Freezes and kills processes.
  private func torment() {
    var dice = Dice(seed: seed, stream: 99)
    while goesOn {
      usleep(UInt32(dice.number(in: 20_000...300_000)))
      guard let victim = processes.random(&dice) else { continue }
      if dice.chance(25) {
        if processes.signal(victim, SIGKILL) { tally.count("killed") }
        continue
      }
      guard processes.signal(victim, SIGSTOP) else { continue }
      tally.count("frozen")
      usleep(UInt32(dice.number(in: 5_000...(dice.chance(10) ? 1_500_000 : 250_000))))
      if dice.chance(25) {
        if processes.signal(victim, SIGKILL) { tally.count("killed while frozen") }
      } else {
        _ = processes.signal(victim, SIGCONT)
      }
    }
    processes.thaw()
  }
}

extension Torture {
  /// Kinds of events that every run must include, so that none of its promises is vacuous.
  static let kinds = [
    "frozen", "killed", "suspensions", "refresh ended: presented", "push ended: presented",
    "notifications: NTF_CAT_CALL_INVITATION", "notifications: NTF_CAT_CONTACT_REQUEST", "responses to a running app",
    "responses to a suspended app", "responses to an extension", "calls made", "calls accepted", "calls answered",
    "contact requests sent", "messages sent", "messages shared", "replies sent", "edits", "deletions", "reactions",
  ]

  /// Of one of these nothing may be left in the end: the message may be deleted.
  private static let transient = ["edits", "reactions"]

  private static let applied = "responses applied: "

  /// The same, one from each line. Responses are counted at the end, and some of them are reported before.
  static let decisions =
    [
      ["responses applied: open"], ["responses applied: reply"], ["responses applied: markRead"],
      ["responses applied: acceptCall", "responses applied: rejectCall"],
    ] + requestDecisions

  private static let requestDecisions = [
    ["responses applied: acceptContact", "responses applied: acceptContactIncognito"],
    ["responses applied: rejectContact", "contact requests rejected by command"],
  ]

  /// The same, for events counted at the end.
  static let results =
    decisions + [
      ["messages in alice's store"], ["failed reads"], ["failed writes"], ["compared: calls"],
      ["contact requests that are accepted in the end"], ["compared: shared messages"], ["compared: edited messages"],
      ["compared: deleted messages"], ["compared: messages with reactions"],
    ]
}
