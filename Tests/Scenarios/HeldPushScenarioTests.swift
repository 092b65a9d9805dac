import Foundation
import PorterJSON
import PorterNight
import PorterProcesses
import PorterStore
import XCTest

/// Whether a push goes out depends on the app on the other end: it is real, and so are the server and the relay.
final class HeldPushScenarioTests: XCTestCase {
  private func makeNight() throws -> Night {
    let night = try Night()
    addTeardownBlock { night.end() }
    return night
  }

  /// Whether the relay withholds something for a listener that has not answered yet, or has answered in vain.
  private func isPausing(_ night: Night) throws -> Bool {
    let database = try Database(path: night.relay)
    defer { try? database.close() }
    return try database.integer("SELECT count(*) FROM listener WHERE unanswered_since IS NOT NULL") == 1
  }

  func testAnAppOnScreenGetsItsMessagesAndNoPush() throws {
    let night = try makeNight()
    var texts: [String] = []
    for number in 0..<3 {
      texts.append("message \(number)")
      // A request waiting for the frozen server would be mistaken for something that the app has left at the relay.
      try night.awaitRest(of: night.alice)
      // However long the app needs, the server looks once it has fetched; how long the server itself waits is decided
      // by the relay, and tested with the relay's clock.
      night.freezeServer()
      try night.bobSends(texts.last ?? "")
      XCTAssertEqual(try night.alice.event("newChatItems")["type"], "newChatItems")
      try night.awaitRest(of: night.alice)
      night.thawServer()
      XCTAssertEqual(try night.remainingPushes(), [])
    }
    try night.expectAliceHas(texts)
  }

  /// INC-05, INC-07: the app is frozen while it is on screen. The push waits for it, but no longer than the pause,
  /// whatever happens to the server in that time.
  func testAServerKilledInThePauseOfAFrozenAppPushesAfterwards() throws {
    let night = try makeNight()
    night.freezeAlice()
    try night.bobSends("hello")
    awaitThat("the app is taken for one that will fetch it") { (try? isPausing(night)) == true }
    try night.restartServer(byKilling: true)
    let content = try night.present(try night.nextPush())
    XCTAssertEqual(content.bodies, ["hello"], content.text)

    // Thawed, it listens again.
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
