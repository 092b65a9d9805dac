import Foundation
import PorterJSON
import PorterNight
import PorterProcesses
import PorterStore
import XCTest

/// Whether a push goes out depends on what the app on the other end does: it is real, and so are the server and the relay.
final class HeldPushScenarioTests: XCTestCase {
  private func makeNight() throws -> Night {
    let night = try Night()
    addTeardownBlock { night.end() }
    return night
  }

  /// Whether the relay withholds something for a listener that has not answered yet, or has in vain.
  private func isPausing(_ night: Night) throws -> Bool {
    let database = try Database(path: night.relay)
    defer { try? database.close() }
    return try database.integer("SELECT count(*) FROM listener WHERE unanswered_since IS NOT NULL") == 1
  }

  func testAnAppOnScreenGetsItsMessagesAndNoPush() throws {
    let night = try makeNight()
    // On a machine so busy that the app needs half of the pause to fetch a message, its push is none of the app's fault.
    let clock = ContinuousClock()
    var (texts, fetchedInTime) = ([String](), 0)
    while fetchedInTime < 3, texts.count < 30 {
      texts.append("message \(texts.count)")
      let begun = clock.now
      try night.bobSends(texts.last ?? "")
      XCTAssertEqual(try night.alice.event("newChatItems")["type"], "newChatItems")
      let isInTime = clock.now - begun < .seconds(1)
      let pushes = try night.remainingPushes()
      if isInTime {
        fetchedInTime += 1
        XCTAssertEqual(pushes, [])
      }
    }
    XCTAssertEqual(fetchedInTime, 3)
    try night.expectAliceHas(texts)
  }

  /// INC-05, INC-07: the app is frozen while it is on screen. The push waits for it, and for no longer than the pause,
  /// whatever becomes of the server meanwhile.
  func testAServerKilledInThePauseOfAFrozenAppPushesAfterwards() throws {
    let night = try makeNight()
    night.freezeAlice()
    try night.bobSends("hello")
    awaitThat("the app is taken for one that will fetch it") { (try? isPausing(night)) == true }
    try night.restartServer(byKilling: true)
    let content = try night.present(try night.nextPush())
    XCTAssertEqual(content.bodies, ["hello"], content.text)

    // Thawed, it is one that listens.
    night.alice.process.signal(SIGCONT)
    try night.alice.event("newChatItems")
    try night.bobSends("again")
    try night.alice.event("newChatItems")
    try night.expectAliceHas(["hello", "again"])
    XCTAssertEqual(try night.remainingPushes(), [])
  }

  /// A killed app's socket is gone with it: its push does not wait.
  func testAKilledAppsPushDoesNotWait() throws {
    let night = try makeNight()
    night.alice.process.kill()
    try night.bobSends("hello")
    let push = try night.nextPush()
    XCTAssertFalse(try isPausing(night), "forgotten before the server was woken")
    let content = try night.present(push)
    XCTAssertEqual(content.bodies, ["hello"], content.text)
  }
}
