import Foundation
import PorterPlatform
import PorterPush
import PorterRelay
import PropertyTesting
import XCTest

@testable import PorterServer

/// A token's document in a cluster is read as it was written, or is damaged: then only that token is affected (INC-44).
final class TokenDocumentFuzzTests: XCTestCase {
  private var seeds: [[UInt8]] = []
  private var folder = ""

  override func setUpWithError() throws {
    World.isShared = true
    defer { World.isShared = false }
    let world = try World()
    let devices = try (0..<2).map { _ in try Device(world) }
    // One that is merely registered, and one with everything that a document can have.
    try devices[0].register()
    try devices[1].activate()
    _ = try devices[1].ask(.setPeriod(token: devices[1].token, minutes: 20))
    let mailboxes = try devices[1].subscribedMailboxes(3)
    world.provider.answer(then: .unreachable(.closed))
    for mailbox in mailboxes { try devices[1].receive("hello", in: mailbox) }
    for server in world.servers { try server.serve() }
    let store = try XCTUnwrap(world.store)
    for device in devices { seeds.append(try XCTUnwrap(try store.records([TokenDocument.key(device.token)])[0]).bytes) }
    let whole = try TokenDocument(decoding: seeds[1])
    seeds.append(whole.encodedAs(version: 2))
    XCTAssertFalse(whole.notifications.isEmpty || whole.pushes.isEmpty || whole.answers.isEmpty || whole.wake == nil)
    folder = NSTemporaryDirectory() + "porter-documents-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  }

  override func tearDownWithError() throws { try FileManager.default.removeItem(atPath: folder) }

  func testADocumentIsReadAsItWasWrittenOrIsDamaged() throws {
    let state = try ServerState(path: folder + "/work", access: .work)
    var (read, damaged) = (0, 0)
    forAll(both(Generator.edits, Generator<Int>.number(0...2)), runs: Edits.runs(6_000)) { edits, seed in
      let bytes = edits.applied(to: self.seeds[seed])
      let document: TokenDocument
      do throws(ServerError) { document = try TokenDocument(decoding: bytes) } catch {
        try expect(error == .damaged(.token), "\(error)")
        return damaged += 1
      }
      read += 1
      // One of an earlier version is stored as one of this version.
      if bytes.first != 3 {
        try expectEqual(try TokenDocument(decoding: document.encoded()), document)
      } else {
        try expectEqual(document.encoded(), bytes)
      }
      let documents = try state.transaction { () throws(ServerError) in
        try state.beginWork()
        try state.load(document)
        return try state.documents()
      }
      try expectEqual(documents.map(\.id), [document.id])
    }
    XCTAssertGreaterThan(read, 100)
    XCTAssertGreaterThan(damaged, 100)
  }

  /// A server treats it according to its rules, and serves the other one.
  func testAServerReadsWhateverAClusterHasOfAToken() throws {
    World.isShared = true
    defer { World.isShared = false }
    let world = try World()
    let (device, witness) = (try Device(world), try Device(world))
    try device.activate()
    try witness.activate()
    _ = try device.subscribedMailboxes(1)
    let (store, key) = (try XCTUnwrap(world.store), TokenDocument.key(device.token))
    forAll(.edits, runs: Edits.runs(150)) { edits in
      let stored = try XCTUnwrap(try store.records([key])[0])
      let damaged = edits.applied(to: stored.bytes)
      try assume(!damaged.isEmpty)
      let revision = try XCTUnwrap(try store.replace([SharedChange(key, damaged, revision: stored.revision)])[0])
      _ = try device.ask(.check(token: device.token))
      try expectEqual(try witness.status(), .active)
      let now = try store.records([key])[0]
      _ = try store.replace([SharedChange(key, stored.bytes, revision: now?.revision ?? 0)])
      try expect(revision > 0)
    }
    XCTAssertEqual(try device.status(), .active)
  }

  func testADocumentThatContradictsItselfIsDamaged() throws {
    let whole = try TokenDocument(decoding: seeds[1])
    var changes: [(inout TokenDocument) -> Void] = []
    changes.append { $0.subscriptions.append($0.subscriptions[0]) }
    changes.append { $0.notifications.append($0.notifications[0]) }
    changes.append { $0.pushes.append($0.pushes[0]) }
    changes.append { $0.pushes[0].kind = "another" }
    for (index, change) in changes.enumerated() {
      var document = whole
      change(&document)
      let bytes = document.encoded()
      XCTAssertThrowsError(try TokenDocument(decoding: bytes), "change \(index)") {
        XCTAssertEqual($0 as? ServerError, .damaged(.token))
      }
    }
  }
}
