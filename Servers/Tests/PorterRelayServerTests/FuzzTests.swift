import Foundation
import NIOHTTP1
import PorterMutation
import PorterRelay
import XCTest

@testable import PorterRelayServer

/// Outside input is read without a trap, and means what it says. `make verify` runs this with the address sanitizer and
/// many more inputs; PORTER_FUZZ_SEED repeats a run.
final class FuzzTests: XCTestCase {
  private var mutator = Mutator()
  private let listener = String(repeating: "aZ0-_", count: 8) + "abc"

  override func setUp() { print("seed \(mutator.seed)") }

  func testHeadsAreRoutedOrRefused() {
    let paths = ["/v1/exchange", "/v1/news", "/health", "/"]
    let names = ["Porter-Listener", "Content-Type", "Content-Length", "Last-Event-ID", "Expect"]
    let values = [listener, "application/octet-stream", "100", "7tJ0wX1c.12", "100-continue"]
    var found: Set<String> = []
    var runs = 0
    // A fully valid head is rare: a run that has found none continues for a while.
    while runs < mutator.runs || found.count < 4 && runs < 50 * mutator.runs {
      runs += 1
      var headers = HTTPHeaders()
      for _ in 0..<Int.random(in: 0...3, using: &mutator) {
        let index = Int.random(in: 0..<names.count, using: &mutator)
        headers.add(name: names[index], value: mutator.text(like: values[index]))
      }
      let path = mutator.text(like: paths[Int.random(in: 0..<paths.count, using: &mutator)])
      let method = Bool.random(using: &mutator) ? HTTPMethod.POST : .GET
      let route = Route(HTTPRequestHead(version: .http1_1, method: method, uri: path, headers: headers))
      switch route {
      case .exchange(let name):
        found.insert("exchange")
        XCTAssertEqual(path, "/v1/exchange")
        XCTAssertEqual(headers["content-type"], ["application/octet-stream"])
        XCTAssertEqual(headers["porter-listener"], name.map { [$0] } ?? [])
        assertListener(name)
      case .news(let name, let after):
        found.insert("news")
        assertListener(name)
        let last = headers.first(name: "last-event-id")
        XCTAssertEqual(after == nil, last == nil)
        if let after, after.epoch != .max { XCTAssertEqual(last.flatMap { NewsPosition($0) }, after) }
      case .health: found.insert("health")
      case .refused(let refusal):
        found.insert("refused")
        XCTAssertTrue((400..<500).contains(Int(refusal.status.code)))
      }
    }
    XCTAssertEqual(found, ["exchange", "news", "health", "refused"])
  }

  private func assertListener(_ name: String?) {
    guard let name else { return }
    XCTAssertEqual(name.utf8.count, 43)
    XCTAssertNotNil(name.wholeMatch(of: /[A-Za-z0-9_-]*/), name)
  }

  func testPositionsOfNewsAreReadAsTheyAreWritten() {
    var read = 0
    for _ in 0..<mutator.runs {
      let text = mutator.text(like: "\(NewsPosition(epoch: .random(in: 0 ... .max, using: &mutator), count: 12))")
      guard let position = NewsPosition(text) else { continue }
      read += 1
      XCTAssertEqual(NewsPosition("\(position)"), position, text)
    }
    XCTAssertGreaterThan(read, mutator.runs / 20)
    XCTAssertLessThan(read, mutator.runs)
  }

  /// Every request is answered, and everything that creates a mailbox is counted against the source's limit first.
  func testExchangesAreAnsweredAndNoneMakesAMailboxUncounted() throws {
    let folder = NSTemporaryDirectory() + "porter-fuzz-" + UUID().uuidString.prefix(8)
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let service = try RelayService(.init(path: folder + "/relay.db"))
    var results: [String: Int] = [:]
    for _ in 0..<mutator.runs / 10 {
      let requests = (0..<10).map { _ in mutator.bytes(like: seeds[Int.random(in: 0..<seeds.count, using: &mutator)]) }
      let turn = service.carryOut(requests.map { .init(request: $0, listener: listener) })
      XCTAssertEqual(turn.outcomes.count, requests.count)
      for (request, outcome) in zip(requests, turn.outcomes) {
        guard case .answer(let bytes, let command, let result, _) = outcome else {
          XCTFail("\(outcome) for \(request)")
          continue
        }
        results[result, default: 0] += 1
        XCTAssertEqual(bytes.first, 1)
        XCTAssertLessThanOrEqual(bytes.count, 65_536)
        if command == "createMailbox" { XCTAssertTrue(RequestPeek.makesMailbox(request), "\(request)") }
      }
    }
    XCTAssertGreaterThan(results.count, 3, "requests get no further than their first byte: \(results)")
  }

  /// Well-formed requests; the mailboxes they name do not exist and their signatures are wrong, as an attacker's would
  /// be.
  private let seeds: [[UInt8]] = {
    let start = [1] + [UInt8](repeating: 7, count: 24)
    let signature = [1] + [UInt8](repeating: 9, count: 64)
    let entity = [1] + [UInt8](repeating: 8, count: 24)
    let key = [UInt8](repeating: 5, count: 32)
    let entry = [UInt8](repeating: 8, count: 24) + [UInt8](repeating: 9, count: 64)
    var seeds = (1...24).map { start + signature + entity + [UInt8($0)] + key + [0, 1] + entry }
    seeds.append(start + signature + [0, 1] + key + [0])
    let nonces = [0, 2] + [UInt8](repeating: 6, count: 48)
    seeds.append(start + signature + [0, 21] + key + [0, 9] + nonces + [0, 1] + entry)
    seeds.append(start + signature + [0, 1] + key + [1] + key)
    seeds.append(start + [0] + entity + [3] + [UInt8](repeating: 6, count: 24) + [0] + Array("hello".utf8))
    seeds.append(start + signature + entity + [4])
    seeds.append(start + signature + entity + [5] + [UInt8](repeating: 6, count: 24))
    return seeds
  }()
}
