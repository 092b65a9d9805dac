import PorterPlatform
import PorterPush
import PorterRelay
import XCTest

@testable import PorterServer

/// An operator's actions on tokens that servers share.
final class SharedAdministrationTests: XCTestCase {
  override func setUp() { World.isShared = true }
  override func tearDown() { World.isShared = false }

  private struct Change: @unchecked Sendable {
    let body: () throws -> Void
    func run() { do { try body() } catch { XCTFail("\(error)") } }
  }

  private func replace(_ store: MemoryStore, _ key: SharedKey, by bytes: [UInt8]) throws {
    let record = try XCTUnwrap(try store.records([key])[0])
    XCTAssertNotNil(try store.replace([SharedChange(key, bytes, revision: record.revision)])[0])
  }

  private func world() throws -> (World, Device, MemoryStore, SharedAdministration) {
    let world = try World()
    let (device, store) = (try Device(world), try XCTUnwrap(world.store))
    try device.activate()
    return (world, device, store, SharedAdministration(store))
  }

  func testATokenIsFoundByItsIdentifierAndByItsDevice() throws {
    let (world, device, _, administration) = try world()
    let mailboxes = try device.subscribedMailboxes(2)
    try device.receive("hello", in: mailboxes[0])
    for server in world.servers { try server.serve() }
    let id = TextEncoding.base64URL(device.token)
    let token = try XCTUnwrap(try administration.tokens(id).first)
    XCTAssertEqual([token.id, token.provider, token.state], [id, device.pushToken.provider, "active"])
    XCTAssertEqual(token.subscriptions, ["ACTIVE": 2])
    XCTAssertEqual(token.pushes, 1)
    let name = "\(device.pushToken.provider):\(TextEncoding.hex(device.pushToken.bytes))"
    XCTAssertEqual(try administration.tokens(name).map(\.id), [id])
    XCTAssertEqual(try administration.tokens("apns_test:00").count, 0)
    XCTAssertThrowsError(try administration.tokens("apns_test:0"))
  }

  func testARevokedTokenLeavesNothingThatLeadsToIt() throws {
    let (world, device, store, administration) = try world()
    let mailboxes = try device.subscribedMailboxes(3)
    let token = try XCTUnwrap(try administration.tokens(TextEncoding.base64URL(device.token)).first)
    // A notification arrives at the worst moment.
    let interlude = Change {
      try device.receive("hello", in: mailboxes[0])
      try world.servers[1].serve()
    }
    store.beforeReplacement { interlude.run() }
    XCTAssertTrue(try administration.revoke(token))
    XCTAssertFalse(try administration.revoke(token))
    XCTAssertEqual([store.count(.tokens), store.count(.subscriptions)], [0, 0])
    try world.run()
    XCTAssertEqual(world.provider.take().count, 0)
    XCTAssertEqual(try administration.problems(), [])
  }

  func testWhatDoesNotLeadToATokenIsFound() throws {
    let (_, device, store, administration) = try world()
    let mailbox = try device.subscribedMailboxes(2)[0]
    XCTAssertEqual(try administration.problems(), [])
    let watchers = try store.watchers(of: mailbox.notifier.bytes)
    try replace(store, watchers, by: [9])
    XCTAssertEqual(
      try administration.problems(),
      ["tokens that notifications do not lead to: 1", "damaged records of subscriptions: 1"])
    try replace(store, watchers, by: [])
    XCTAssertEqual(try administration.problems(), ["tokens that notifications do not lead to: 1"])
    let index = try WatcherIndex(decoding: XCTUnwrap(try store.records([WatcherIndex.key])[0]).bytes)
    let name = DeviceName(provider: device.pushToken.provider, pushToken: device.pushToken.bytes)
    try replace(store, index.key(of: name), by: [])
    XCTAssertEqual(
      try administration.problems(),
      ["tokens that their devices do not lead to: 1", "tokens that notifications do not lead to: 1"])
    try replace(store, TokenDocument.key(device.token), by: [9])
    XCTAssertEqual(try administration.problems(), ["damaged tokens: 1"])
    XCTAssertThrowsError(try administration.tokens(TextEncoding.base64URL(device.token)))
    try replace(store, SharedServer.identityKey, by: [1])
    XCTAssertEqual(try administration.problems(), ["the identity does not read", "damaged tokens: 1"])
    try replace(store, SharedServer.identityKey, by: [])
    XCTAssertEqual(try administration.problems(), ["there is no identity", "damaged tokens: 1"])
    try replace(store, WatcherIndex.key, by: [2])
    XCTAssertThrowsError(try administration.problems()) { error in
      XCTAssertEqual("\(error)", "\(ServerError.otherLayout)")
    }
    try replace(store, WatcherIndex.key, by: [])
    XCTAssertEqual(try administration.problems(), ["there is no identity"])
  }

  func testTheWorkThatFollowsFromADocumentIsThatOfItsPushesAndWakeUp() throws {
    let (world, device, store, _) = try world()
    let mailbox = try device.subscribedMailboxes(1)[0]
    XCTAssertEqual(try device.ask(.setPeriod(token: device.token, minutes: 20)).result, .done)
    try device.receive("hello", in: mailbox)
    for server in world.servers { try server.serve() }
    let document = try XCTUnwrap(try store.records([TokenDocument.key(device.token)])[0])
    XCTAssertEqual(SharedAdministration.work(of: document.bytes).map(\.queue).sorted(), ["push-apns_test", "wakes"])
    XCTAssertTrue(SharedAdministration.reads(document.bytes))
    XCTAssertFalse(SharedAdministration.reads([9]))
  }
}
