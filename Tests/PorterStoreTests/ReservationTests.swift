import Foundation
import PorterCrypto
import PorterPlatform
import PorterStore
import PropertyTesting
import XCTest

/// Single-use values, reserved by several instances on one store.
final class ReservationTests: XCTestCase {
  private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("porter-\(UUID().uuidString)")
  private let now = WallTime(milliseconds: 1_700_000_000_000)

  override func setUpWithError() throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  override func tearDown() { try? FileManager.default.removeItem(at: folder) }

  private func open(_ name: String) throws -> Store {
    try Store.open(
      at: StoreLocation(prefix: folder.appendingPathComponent(name).path), confirmation: .yesUp, mayMigrate: true)
  }

  private func owner(_ number: Int) -> Owner {
    Owner(
      role: "app",
      instance: Instance(
        boot: "boot", process: Int32(number), started: 1, nonce: [UInt8](repeating: UInt8(number), count: 8)))
  }

  private func reserve(
    _ store: Store, _ value: [UInt8], _ number: Int, material: [UInt8] = [1], _ kind: ReservationKind = .invitation
  ) throws -> Reservation? {
    try store.transaction { () throws(StoreError) in
      try store.reserve(kind, value, by: self.owner(number), material: SecretBytes(material), at: self.now)
    }
  }

  func testATakeoverGetsTheFirstOwnersMaterial() throws {
    let (first, second) = (try open("a"), try open("a"))
    let mine = try XCTUnwrap(try reserve(first, [9], 1, material: [1, 2, 3]))
    let taken = try XCTUnwrap(try reserve(second, [9], 2, material: [4, 5, 6]))
    XCTAssertEqual(taken.material.exposeForStorage(), [1, 2, 3])
    XCTAssertThrowsError(try first.transaction(under: mine) {}) {
      XCTAssertEqual($0 as? StoreError, .staleEpoch(owner: owner(2)), "it names the current owner")
    }
    try second.transaction(under: taken) { () throws(StoreError) in try second.use(taken) }
    XCTAssertNil(try reserve(first, [9], 1))
    XCTAssertEqual(try first.openReservations(.invitation).count, 0)
  }

  func testAFailureMidwayLeavesTheReservationUnchanged() throws {
    let store = try open("a")
    let mine = try XCTUnwrap(try reserve(store, [9], 1))
    XCTAssertThrowsError(
      try store.transaction(under: mine) { () throws(StoreError) in
        try store.use(mine)
        throw StoreError.notFound(.user)
      })
    XCTAssertEqual(try store.openReservations(.invitation).map(\.value), [[9]])
    try store.transaction(under: mine) { () throws(StoreError) in try store.undo(mine) }
    XCTAssertEqual(try XCTUnwrap(try reserve(store, [9], 2)).epoch, 2)
  }

  func testKindsAreSeparate() throws {
    let store = try open("a")
    let invitation = try XCTUnwrap(try reserve(store, [9], 1))
    XCTAssertNotNil(try reserve(store, [9], 1, .token))
    try store.transaction { () throws(StoreError) in try store.forgetReservations(.token) }
    XCTAssertEqual(try store.openReservations(.token).count, 0)
    XCTAssertNoThrow(try store.transaction(under: invitation) {})
  }

  private enum Act: CaseIterable { case reserve, use, undo }

  /// Whatever three instances do, in any order: a value is used at most once, always by the last one to reserve it, and
  /// an earlier one is refused each time.
  func testAValueIsUsedAtMostOnceByTheLastReservation() throws {
    let acts = Generator<[(Act, Int, UInt8)]> { choices in
      var acts: [(Act, Int, UInt8)] = []
      choices.repeated(1...24) { _ in
        acts.append(
          (
            choices.element(of: Act.allCases), Int(choices.number(below: 3)), UInt8(choices.number(below: 2))
          ))
      }
      return acts
    }
    var run = 0
    forAll(acts, runs: 60) { acts in
      run += 1
      let stores = try (0..<3).map { _ in try self.open("run\(run)") }
      defer { for store in stores { try? store.close(checkpoint: false) } }
      var held: [Int: [UInt8: Reservation]] = [:]
      var last: [UInt8: Int] = [:]
      var used: [UInt8: Int] = [:]
      for (act, who, value) in acts {
        let store = stores[who]
        if act == .reserve {
          let reservation = try self.reserve(store, [value], who)
          try expectEqual(reservation == nil, used[value] != nil, "granted unless it was used")
          guard let reservation else { continue }
          held[who, default: [:]][value] = reservation
          last[value] = who
          continue
        }
        guard let reservation = held[who]?[value] else { continue }
        let mayEnd = last[value] == who
        do {
          try store.transaction(under: reservation) { () throws(StoreError) in
            if act == .use { try store.use(reservation) } else { try store.undo(reservation) }
          }
          try expect(mayEnd, "only the last one may end it")
          last[value] = nil
          if act == .use { used[value, default: 0] += 1 }
        } catch let error as StoreError {
          guard case .staleEpoch = error else { throw error }
          try expect(!mayEnd, "the last one is not refused")
        }
      }
      try expect(used.values.allSatisfy { $0 == 1 })
    }
  }
}
