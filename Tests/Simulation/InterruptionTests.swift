import PorterEngine
import PorterJSON
import PorterPlatform
import PorterSchema
import PorterStore
import XCTest

/// A suspension that arrives while the engine waits for a lock, measured by what is still requested from the ports.
final class InterruptionTests: XCTestCase {
  private static let chats = 8

  /// INC-01, INC-07: a peer frozen inside a commit holds the store's lock, and a message waits on each of several
  /// connections. The remaining work may try the lock, but does not wait for it: each wait would take 3 s.
  func testINC07SuspendingDoesNotWaitForTheHolderOfTheLock() throws {
    // No pause is shorter than 25 µs.
    let calls: [(String, pauses: Int, @Sendable (Controller) -> String)] = [
      ("suspend 0", 0, { $0.send("/_app suspend 0", retry: 0) }), ("close", 0, { $0.closeStore() }),
      ("phase", 0, { "\($0.setPhase(.suspended))" }),
      ("a delay of 1 ms", 40, { $0.send("/_app suspend 1000", retry: 0) }),
    ]
    for (name, pauses, call) in calls {
      let waits = try waits(call)
      XCTAssertLessThanOrEqual(waits.pauses, pauses, name)
      XCTAssertLessThanOrEqual(waits.lockAttempts, 2 * Self.chats, name)
    }
  }

  /// From the arrival of the call, during the first wait for the lock, until nothing is held.
  private func waits(_ call: @escaping @Sendable (Controller) -> String) throws -> Waits {
    var waits: Waits?
    _ = try SimulatedHouse.run(seed: 7) { house in
      let cast = try Cast(house, chats: Self.chats)
      let texts = (1...Self.chats).map { "to \($0)" }
      for (chat, text) in zip(1..., texts) { try cast.bobSends(text, to: chat) }
      try cast.alice.reopenStore()
      let holder = try Database(path: house.path("alice_chat.db"), options: .init(key: try house.key(of: "alice")))
      try holder.execute("BEGIN IMMEDIATE")
      waits = try cast.alice.send("/_app activate", interruptedBy: call)
      // For a deferred suspension, which is answered before the delay is over.
      house.pass(.milliseconds(2))
      let state = try cast.alice.state()
      XCTAssertEqual(state["quiescent"], true, state.text)
      try holder.execute("COMMIT")
      try holder.close()
      // Harmless if it is open.
      try cast.alice.reopenStore()
      try cast.alice.send("/_app activate", "cmdOk")
      house.pass(.seconds(10))
      XCTAssertEqual(try (1...Self.chats).flatMap { try cast.chat($0) }, texts)
      cast.end()
    }
    return try XCTUnwrap(waits)
  }
}
