import Foundation
import PorterCrypto
import PorterPlatform
import PorterPush
import PorterRelay
import XCTest

@testable import PorterServer

/// Records that list the tokens of many devices.
final class DeviceIndexTests: XCTestCase {
  override func setUp() { World.isShared = true }
  override func tearDown() { World.isShared = false }

  private func name() -> DeviceName { DeviceName(provider: "apns_test", pushToken: randomness.bytes(32)) }

  private func entry() -> DeviceTokens.Entry {
    .init(id: randomness.bytes(RelayIdentifier.count), detail: DeviceTokens.detail(ofKey: randomness.bytes(32)))
  }

  // MARK: Records

  func testARecordIsReadAsItWasWritten() throws {
    var tokens = DeviceTokens()
    let (devices, entries) = ([name(), name()], [entry(), entry(), entry()])
    tokens.note([entries[0], entries[1]], of: devices[0])
    tokens.note([entries[2]], of: devices[1])
    tokens.note([entries[0]], of: devices[0])
    let bytes = tokens.encoded()
    let read = try DeviceTokens(decoding: bytes)
    XCTAssertEqual(read, tokens)
    XCTAssertEqual(read.of(devices[0]), [entries[1], entries[0]], "the newest last")
    XCTAssertEqual(read.of(devices[1]), [entries[2]])
    XCTAssertEqual(read.of(name()), [])
    for count in 1..<bytes.count where (count - 1) % 48 != 0 || count == 1 {
      XCTAssertThrowsError(try DeviceTokens(decoding: Array(bytes.prefix(count)))) { error in
        XCTAssertEqual(error as? ServerError, .damaged(.device))
      }
    }
    XCTAssertThrowsError(try DeviceTokens(decoding: [2] + bytes.dropFirst()))
    XCTAssertEqual(try DeviceTokens(decoding: []).encoded(), [])
  }

  func testADeviceHasTheTokensThatWereNotedLast() {
    var tokens = DeviceTokens()
    let (device, other, first) = (name(), name(), entry())
    let entries = (0..<DeviceTokens.mostTokens + 2).map { _ in entry() }
    tokens.note([first], of: other)
    for each in entries { tokens.note([each], of: device) }
    XCTAssertEqual(tokens.of(device), Array(entries.dropFirst(2)))
    XCTAssertEqual(tokens.of(other), [first])
  }

  func testARecordFitsIntoOneMessageHoweverManyAreNoted() throws {
    let (device, last) = (name(), entry())
    var full: [UInt8] = [1]
    for _ in 0..<DeviceTokens.most { full += randomness.bytes(48) }
    var tokens = try DeviceTokens(decoding: full)
    tokens.note([last], of: device)
    XCTAssertEqual(tokens.encoded().count, full.count)
    XCTAssertLessThan(full.count, 1_000_000)
    XCTAssertEqual(tokens.of(device), [last])
  }

  // MARK: Devices

  private func record(of device: Device) throws -> (key: SharedKey, record: SharedRecord?) {
    let store = try XCTUnwrap(device.world.store)
    let index = try WatcherIndex(decoding: try XCTUnwrap(try store.records([WatcherIndex.key])[0]).bytes)
    let key = index.key(of: name(of: device))
    return (key, try store.records([key])[0])
  }

  private func name(of device: Device) -> DeviceName {
    DeviceName(provider: device.pushToken.provider, pushToken: device.pushToken.bytes)
  }

  private func put(_ bytes: [UInt8], _ key: SharedKey, _ world: World) throws {
    let store = try XCTUnwrap(world.store)
    let revision = try store.records([key])[0]?.revision ?? 0
    XCTAssertNotNil(try store.replace([SharedChange(key, bytes, revision: revision)])[0])
  }

  /// It gets the token that it has.
  private func assertRegistersAgain(_ device: Device, file: StaticString = #filePath, line: UInt = #line) throws {
    let token = device.token
    try device.register()
    XCTAssertEqual(device.token, token, file: file, line: line)
  }

  func testDevicesThatShareARecordKeepTheirTokens() throws {
    let world = try World()
    // All devices share one record.
    try put([2, 0] + randomness.bytes(AuthenticationKey.count), WatcherIndex.key, world)
    try world.restart()
    let devices = try (0..<4).map { _ in try Device(world) }
    for device in devices { try device.activate() }
    XCTAssertEqual(world.store?.count(.devices), 1)
    for device in devices {
      try assertRegistersAgain(device)
    }
    XCTAssertEqual(world.store?.count(.tokens), 4)
  }

  /// Both are noted in one record at the same time, by two servers.
  func testTwoServersThatNoteTwoDevicesInOneRecordNoteBoth() throws {
    let world = try World()
    try put([2, 0] + randomness.bytes(AuthenticationKey.count), WatcherIndex.key, world)
    try world.restart()
    let (one, two) = (try Device(world), try Device(world))
    try one.send(one.newToken)
    let interlude = Interlude {
      try two.send(two.newToken)
      try world.servers[1].serve()
    }
    try XCTUnwrap(world.store).beforeReplacement(of: .devices) { interlude.run() }
    try world.servers[0].serve()
    one.note(try XCTUnwrap(try one.answer()))
    two.note(try XCTUnwrap(try two.answer()))
    for device in [one, two] {
      try assertRegistersAgain(device)
    }
  }

  private struct Interlude: @unchecked Sendable {
    let body: () throws -> Void
    func run() { do { try body() } catch { XCTFail("\(error)") } }
  }

  func testTheDailyCheckNotesADeviceThatIsMissing() throws {
    let world = try World()
    let device = try Device(world)
    try device.activate()
    try put([], try record(of: device).key, world)
    world.clock.advance(by: .days(1) + .seconds(61))
    try world.run()
    try assertRegistersAgain(device)
  }

  /// Its key's digest, by which a device that registers again is found.
  func testTheDailyCheckMendsAnEntryWithADamagedDigest() throws {
    let world = try World()
    let device = try Device(world)
    try device.activate()
    let (key, record) = try record(of: device)
    var bytes = try XCTUnwrap(record).bytes
    bytes[bytes.count - 1] ^= 1
    try put(bytes, key, world)
    let administration = SharedAdministration(try XCTUnwrap(world.store))
    XCTAssertEqual(try administration.problems(), ["tokens that their devices do not lead to: 1"])
    world.clock.advance(by: .days(1) + .seconds(61))
    try world.run()
    XCTAssertEqual(try administration.problems(), [])
    try assertRegistersAgain(device)
  }

  func testAnUnreadableRecordIsFoundAndReplacedByTheDailyCheck() throws {
    let world = try World()
    let device = try Device(world)
    try device.activate()
    try put([9], try record(of: device).key, world)
    let administration = SharedAdministration(try XCTUnwrap(world.store))
    XCTAssertEqual(
      try administration.problems(),
      ["tokens that their devices do not lead to: 1", "damaged records of devices: 1"])
    let name = device.pushToken.provider + ":" + device.pushToken.bytes.map { String(format: "%02x", $0) }.joined()
    XCTAssertThrowsError(try administration.tokens(name))
    world.clock.advance(by: .days(1) + .seconds(61))
    try world.run()
    XCTAssertEqual(try administration.problems(), [])
    XCTAssertEqual(try administration.tokens(name).count, 1)
  }

  // MARK: Earlier versions

  /// As an earlier version stored it: the device has a record of its own.
  private func storeAsEarlier(_ device: Device) throws {
    let (key, record) = try record(of: device)
    let entries = try DeviceTokens(decoding: try XCTUnwrap(record).bytes).of(name(of: device))
    try put([], key, device.world)
    try put(entries.flatMap { $0.id + $0.detail }, name(of: device).earlierKey, device.world)
  }

  func testARecordOfAnEarlierVersionLeadsToItsTokens() throws {
    let world = try World()
    let device = try Device(world)
    try device.activate()
    try storeAsEarlier(device)
    try assertRegistersAgain(device)
    XCTAssertEqual(world.store?.count(.tokens), 1)
  }

  func testTheDailyCheckMovesRecordsOfEarlierVersions() throws {
    let world = try World()
    let devices = try (0..<3).map { _ in try Device(world) }
    for device in devices {
      try device.activate()
      try storeAsEarlier(device)
    }
    world.clock.advance(by: .days(1) + .seconds(61))
    try world.run()
    for device in devices {
      XCTAssertNil(try XCTUnwrap(world.store).records([name(of: device).earlierKey])[0])
      try assertRegistersAgain(device)
    }
  }

  /// A server of an earlier version would not find what is noted from now on.
  func testAServerUpgradesTheIndexSoThatEarlierOnesDoNotStart() throws {
    let world = try World()
    let device = try Device(world)
    try device.activate()
    let store = try XCTUnwrap(world.store)
    let index = try XCTUnwrap(try store.records([WatcherIndex.key])[0]).bytes
    try put([1] + index.dropFirst(), WatcherIndex.key, world)
    store.serve(true)
    XCTAssertThrowsError(try world.restart()) { error in
      XCTAssertTrue("\(error)".contains("stop all of them first"), "\(error)")
    }
    XCTAssertEqual(try store.records([WatcherIndex.key])[0]?.bytes.first, 1)
    store.serve(false)
    try world.restart()
    XCTAssertEqual(try store.records([WatcherIndex.key])[0]?.bytes, index)
    XCTAssertEqual(index.first, 2)
    XCTAssertEqual(try device.status(), .active)
  }
}
