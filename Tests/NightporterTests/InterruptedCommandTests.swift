import PorterPlatform
import Synchronization
import XCTest

@testable import Nightporter
@testable import PorterEngine
@testable import PorterStore

/// A suspension may ask the engine to stop at any moment of a command. A command's answer must reflect what it has
/// committed: after a refusal, the host would ask again for what is already stored.
final class InterruptedCommandTests: XCTestCase {
  /// Run in this order for alice, who has one contact and these messages: 1 of hers, 2 of bob's.
  private static let commands = [
    #"/_create user {"profile":{"displayName":"second","fullName":""}}"#, "/_user 1",
    #"/_profile 1 {"displayName":"alicia","fullName":""}"#, "/_mute user 1", "/_unmute user 1",
    "/_set alias @1 neighbour",
    #"/_set custom @1 {"a":1}"#, #"/_set prefs @1 {"voice":{"allow":"no"}}"#, #"/_settings @1 {"enableNtfs":"none"}"#,
    "/_set receipts contacts 1 on", "/_unread chat @1 on", "/_read chat @1", "/_read user 1", "/_read chat items @1 2",
    "/_send @1 text another", #"/_update item @1 1 json {"msgContent":{"type":"text","text":"edited"},"mentions":{}}"#,
    #"/_reaction @1 2 on {"type":"emoji","emoji":"👍"}"#,
    "/_delete item @1 1 internalMark", "/_delete item @1 2 internal", #"/_save app settings {"a":1}"#,
    #"/_call invite @1 {"media":"audio","capabilities":{"encryption":false}}"#, "/_call end @1", "/_delete @1 messages",
    #"/_hide user 2 "secret""#, #"/_unhide user 2 "secret""#, "/_delete user 2 del_smp=off",
    "/_delete @1 full notify=off",
  ]

  private static let singleStatements: Set = [
    #"/_settings @1 {"enableNtfs":"none"}"#, "/_read user 1",
  ]

  /// The answer to a command that is asked to stop as soon as it has committed; nil if it commits nothing.
  private func sendInterrupted(_ command: String, _ host: Host) throws -> JSON? {
    let engine = try XCTUnwrap(Handles.find(host.handle))
    let progress = Mutex(Progress())
    engine.call { engine in
      let stop = engine.context.stop
      // Each instruction is a place to stop at.
      engine.store?.database.lookForStops(every: 1)
      engine.store?.database.observer = { statement in
        if progress.withLock({ $0.asksToStop(before: statement) }) { stop.raise() }
      }
    }
    let answer = host.send(command, arrives: false)
    let hasAsked = progress.withLock { $0.hasAsked }
    engine.call { engine in
      engine.store?.database.observer = nil
      engine.store?.database.lookForStops(every: BusyWaiter.instructionsBetweenLooks)
      if hasAsked { engine.context.stop.lower() }
    }
    return hasAsked ? answer : nil
  }

  private struct Progress {
    private var isInTransaction = false
    private var wroteAlone = false
    private(set) var hasAsked = false

    /// True once: at the first commit, which is not interrupted, or after the first statement that wrote by itself.
    mutating func asksToStop(before statement: String) -> Bool {
      let commits = statement == "COMMIT" || wroteAlone
      if statement.hasPrefix("BEGIN") { isInTransaction = true }
      if statement == "COMMIT" { isInTransaction = false }
      wroteAlone = !isInTransaction && ["UPDATE", "INSERT", "DELETE"].contains { statement.hasPrefix($0) }
      defer { if commits { hasAsked = true } }
      return commits && !hasAsked
    }
  }

  func testACommandThatHasCommittedIsNotRefused() throws {
    let pair = try Pair()
    pair.send("from alice", from: pair.alice)
    pair.bob.event("newChatItems")
    pair.send("from bob", from: pair.bob)
    pair.alice.event("newChatItems")
    var interrupted: [String] = []
    for command in Self.commands {
      awaitRest(of: pair.alice)
      guard let answer = try sendInterrupted(command, pair.alice) else { continue }
      interrupted.append(command)
      XCTAssertFalse(answer["error"].exists, "\(command): \(answer)")
    }
    // Each of those is a single statement, and its answer is not read.
    let others = Set(Self.commands).subtracting(interrupted)
    XCTAssertEqual(others, Self.singleStatements)
  }
}
