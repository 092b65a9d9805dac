import Foundation
import PorterJSON
import PorterPlatform
import PorterSchema
import PorterStore
import XCTest

/// What others committed while the app did not run is handed over to its host, however much it is.
final class HandoverTests: XCTestCase {
  /// More than the queue of events takes in: the rest waits in the ledger until the host has taken these, also in another
  /// process.
  func testEachOfThousandsOfCommitsIsReportedOnce() throws {
    let pair = try Pair()
    awaitRest(of: pair.alice)
    pair.alice.dropEvents()
    pair.alice.free()
    let expected = (0..<2_600).map { "message \($0)" }
    try commit(expected, in: pair.alice.prefix)
    var texts: [String] = []
    func take(_ count: Int, from host: Host) {
      while texts.count < count, let event = host.event(within: 30) {
        XCTAssertNotEqual(event["result"]["type"].text, "eventsLost", event.description)
        guard event["result"]["type"].text == "newChatItems" else { continue }
        texts += event["result"]["chatItems"].elements.map { $0["chatItem"]["content"]["msgContent"]["text"].text }
      }
    }
    for end in [0, 200, 1_000] {
      let host = try XCTUnwrap(Host.open(pair.alice.prefix).host)
      host.send("/_start").assert("chatStarted")
      take(end, from: host)
      // The process ends with all others in its queue.
      host.free()
    }
    let last = try XCTUnwrap(Host.open(pair.alice.prefix).host)
    last.send("/_start").assert("chatStarted")
    // What the app itself commits meanwhile comes after what was there before it.
    pair.send("news", from: pair.bob)
    take(expected.count + 1, from: last)
    XCTAssertEqual(texts, expected + ["news"])
    awaitRest(of: last)
    last.expectNone("newChatItems")
  }

  /// As an extension does.
  private func commit(_ texts: [String], in prefix: String) throws {
    let store = try Store.open(at: StoreLocation(prefix: prefix), confirmation: .yesUp, mayMigrate: true)
    let now = SystemClock().wall()
    try store.transaction { () throws(StoreError) in
      guard let connection = try store.connections().first, let contact = connection.contactID else {
        throw .notFound(.contact)
      }
      for text in texts {
        let item = try store.insertReceivedItem(
          contactID: contact, content: MessageContent.text(text).json.text, sharedID: Array(text.utf8), itemAt: now,
          at: now)
        try store.enter(
          NewLedgerEntry(
            connectionID: connection.id, messageID: Array(text.utf8), messageAt: now, kind: .message,
            contactID: contact, itemID: item.id), after: [], itemAt: now, at: now)
      }
    }
    try store.close(checkpoint: false)
  }
}
