import NIOCore
import PorterRelay
import Synchronization
import XCTest

@testable import PorterRelayServer

/// The news that reached a listener, whether its stream is open or not.
final class NewsHubTests: XCTestCase {
  private final class Stream: NewsStream {
    private let state = Mutex<(told: [NewsPosition], isEnded: Bool)>(([], false))
    func tell(_ position: NewsPosition) { state.withLock { $0.told.append(position) } }
    func end() { state.withLock { $0.isEnded = true } }
    var told: [UInt64] { state.withLock { $0.told.map(\.count) } }
    var isEnded: Bool { state.withLock { $0.isEnded } }
  }

  private final class Orders: RelayBackEnd {
    private let orders = Mutex<[String]>([])
    func exchange(_ exchange: RelayService.Exchange, done: @escaping @Sendable (RelayReply) -> Void) {}
    func attach(_ listener: String) { orders.withLock { $0.append("attach \(listener)") } }
    func detach(_ listener: String) { orders.withLock { $0.append("detach \(listener)") } }
    func forget(_ listeners: [String]) { orders.withLock { $0.append("forget \(listeners.sorted())") } }
    var waiting: Int { 0 }
    var problem: String? { nil }
    func close() {}
    var all: [String] { orders.withLock { $0 } }
  }

  private let orders = Orders()
  private let source = Source(address: [192, 0, 2, 1])
  private let now = NIODeadline.uptimeNanoseconds(1_000_000_000_000)
  private func hub(listeners: Int = 10, ofSource: Int = 10, streams: Int = 2) -> NewsHub {
    NewsHub(mostListeners: listeners, mostListenersOfSource: ofSource, mostStreamsOfSource: streams)
  }

  private func open(
    _ hub: NewsHub, _ name: String, after last: NewsPosition? = nil, _ stream: Stream = Stream()
  ) -> (NewsHub.Opening, UInt64) {
    hub.open(name, from: source, after: last, stream: stream, orders, now: now)
  }

  private func position(_ opening: NewsHub.Opening, file: StaticString = #filePath, line: UInt = #line) throws
    -> NewsPosition
  {
    switch opening {
    case .open(let position), .news(let position), .reset(let position): return position
    case .refused, .stopping: throw XCTSkip("refused")
    }
  }

  func testAStreamContinuesWhereTheLastOneEnded() throws {
    let hub = hub()
    let (opening, number) = open(hub, "a")
    let first = try position(opening)
    XCTAssertEqual(opening, .reset(first), "nothing was known of it")
    hub.close("a", number: number, orders)
    let (second, again) = open(hub, "a", after: first)
    XCTAssertEqual(second, .open(first))
    hub.close("a", number: again, orders)
    hub.tell(["a", "unknown"])
    let later = NewsPosition(epoch: first.epoch, count: 1)
    XCTAssertEqual(open(hub, "a", after: first).0, .news(later))
    XCTAssertEqual(orders.all, ["attach a", "detach a", "attach a", "detach a", "attach a"])
  }

  func testAFirstStreamAsksSinceSomethingMayHaveCome() throws {
    let hub = hub()
    XCTAssertTrue(hub.note("a", from: source, now: now))
    let (opening, _) = open(hub, "a")
    XCTAssertEqual(opening, .news(try position(opening)))
  }

  func testAnotherRunsPositionIsAReset() throws {
    let opening = open(hub(), "a", after: NewsPosition(epoch: 5, count: 5)).0
    XCTAssertEqual(opening, .reset(try position(opening)))
    let known = hub()
    XCTAssertTrue(known.note("a", from: source, now: now))
    let second = open(known, "a", after: NewsPosition(epoch: 5, count: 0)).0
    XCTAssertEqual(second, .reset(try position(second)))
  }

  func testANewStreamTakesTheEarlierOnesPlace() {
    let hub = hub(streams: 1)
    let (first, second) = (Stream(), Stream())
    let (_, number) = open(hub, "a", first)
    _ = open(hub, "a", second)
    XCTAssertTrue(first.isEnded)
    hub.close("a", number: number, orders)
    hub.tell(["a"])
    XCTAssertEqual(second.told, [1])
    XCTAssertEqual(first.told, [])
    XCTAssertEqual(orders.all, ["attach a", "attach a"], "the listener was never without a stream")
  }

  private func open(_ hub: NewsHub, _ name: String, _ stream: Stream) -> (NewsHub.Opening, UInt64) {
    open(hub, name, after: nil, stream)
  }

  func testStreamsAndListenersAreBounded() {
    let hub = hub(listeners: 3, streams: 2)
    _ = open(hub, "a")
    let (_, number) = open(hub, "b")
    XCTAssertEqual(open(hub, "c").0, .refused)
    hub.close("b", number: number, orders)
    XCTAssertNotEqual(open(hub, "c").0, .refused)
    XCTAssertEqual(hub.streamCount, 2)
    XCTAssertFalse(hub.note("d", from: source, now: now))
    XCTAssertTrue(hub.note("b", from: source, now: now))
  }

  /// Its exchanges were carried out without it, so it has no subscriptions.
  func testAListenerThatHadNoRoomIsResetWhenItsStreamOpens() throws {
    let (hub, later) = (hub(listeners: 1), now + .minutes(11))
    XCTAssertTrue(hub.note("a", from: source, now: now))
    XCTAssertFalse(hub.note("b", from: source, now: now))
    hub.expire(orders, now: later)
    XCTAssertTrue(hub.note("b", from: source, now: later))
    let (first, number) = open(hub, "b")
    XCTAssertEqual(first, .reset(try position(first)))
    hub.close("b", number: number, orders)
    let (second, _) = open(hub, "b")
    XCTAssertEqual(second, .news(try position(second)), "it has subscribed since")
  }

  /// A host with two addresses has the streams of both counted, each where it comes from.
  func testAStreamCountsForTheSourceThatOpenedIt() {
    let (hub, other) = (hub(streams: 1), Source(address: [192, 0, 2, 2]))
    XCTAssertTrue(hub.note("a", from: other, now: now))
    XCTAssertTrue(hub.note("b", from: other, now: now))
    _ = open(hub, "a")
    XCTAssertEqual(open(hub, "b").0, .refused)
    // The listener's next stream takes the place of its last one, wherever that came from.
    let (opening, _) = hub.open("a", from: other, after: nil, stream: Stream(), orders, now: now)
    XCTAssertNotEqual(opening, .refused)
    XCTAssertNotEqual(open(hub, "b").0, .refused)
    XCTAssertEqual(hub.streamCount, 2)
  }

  func testASourceNamesSoManyListenersAndMoreWhenSomeAreForgotten() {
    let hub = hub(ofSource: 2)
    XCTAssertTrue(hub.note("a", from: source, now: now))
    XCTAssertTrue(hub.note("b", from: source, now: now))
    XCTAssertFalse(hub.note("c", from: source, now: now))
    XCTAssertTrue(hub.note("c", from: Source(address: [192, 0, 2, 2]), now: now))
    hub.expire(orders, now: now + .minutes(11))
    XCTAssertTrue(hub.note("d", from: source, now: now + .minutes(11)))
  }

  func testListenersOfACustomersNetworksAreBoundedTogether() {
    let hub = hub(listeners: 100, ofSource: 2)
    func name(_ subnet: UInt8, at now: NIODeadline) -> Bool {
      let source = Source(address: [0x20, 1, 0xd, 0xb8, 0, 1, 0, subnet])
      return hub.note("\(subnet)", from: source, now: now)
    }
    XCTAssertEqual((0..<10).filter { name($0, at: now) }.count, 8)
    XCTAssertTrue(hub.note("other", from: Source(address: [0x20, 1, 0xd, 0xb8, 0, 2, 0, 0]), now: now))
    hub.expire(orders, now: now + .minutes(11))
    XCTAssertEqual((0..<10).filter { name($0, at: now + .minutes(11)) }.count, 8)
  }

  func testAnUnusedListenerIsForgottenAndAnOpenOneIsNot() {
    let hub = hub()
    _ = open(hub, "open")
    XCTAssertTrue(hub.note("old", from: source, now: now))
    XCTAssertTrue(hub.note("used", from: source, now: now))
    XCTAssertTrue(hub.note("used", from: source, now: now + .minutes(9)))
    hub.expire(orders, now: now + .minutes(11))
    XCTAssertEqual(orders.all.last, "forget [\"old\"]")
    XCTAssertEqual(hub.listenerCount, 2)
  }

  func testStoppingEndsEveryStreamAndOpensNoMore() {
    let hub = hub()
    let stream = Stream()
    _ = open(hub, "a", stream)
    hub.stop()
    XCTAssertTrue(stream.isEnded)
    XCTAssertEqual(open(hub, "b").0, .stopping)
  }

  func testPositionsAreReadAsTheyAreWritten() {
    for position in [NewsPosition(epoch: 0, count: 0), NewsPosition(epoch: .max, count: .max)] {
      XCTAssertEqual(NewsPosition(position.description), position)
      XCTAssertLessThanOrEqual(position.description.utf8.count, 64)
    }
    for text in [
      "", ".", "1.", ".1", "1.2.3", "-1.2", "ü.1", "1.99999999999999999999", String(repeating: "1", count: 99),
    ] {
      XCTAssertNil(NewsPosition(text), text)
    }
  }
}
