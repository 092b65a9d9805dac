import Foundation
import PorterEngine
import PorterPlatform
import Synchronization

/// A participant that takes steps in a simulation: an engine, a worker, a server.
protocol Participant: AnyObject {
  /// Whether there is something to do now.
  var isReady: Bool { get }
  /// When there will be, if nothing happens before then; nil for never.
  var due: Moment? { get }
  func step()
}

/// Runs everything on the calling thread. Each step is taken by one participant, drawn from those that are ready; if
/// none is, time passes until one will be.
///
/// `@unchecked Sendable`: used on one thread, except for `interrupt`.
final class OneThread: Execution, @unchecked Sendable {
  let clock: SimulatedClock
  private let sockets: SimulatedSockets
  private let order: SeededRandomness
  private var participants: [any Participant] = []
  private(set) var steps = 0
  /// The first failure of a participant; later results are worthless.
  private(set) var failure: (any Error)?
  /// The names of engines that are created, in order.
  private var names: [String] = []

  /// Far more than any story takes: detects an endless loop.
  private static let mostSteps = 200_000

  init(clock: SimulatedClock, sockets: SimulatedSockets, order: SeededRandomness) {
    self.clock = clock
    self.sockets = sockets
    self.order = order
  }

  func fail(_ error: any Error) { failure = failure ?? error }

  func add(_ participant: any Participant) { participants.append(participant) }
  func remove(_ participant: any Participant) { participants.removeAll { $0 === participant } }
  func isReadable(_ descriptor: Int32?) -> Bool { descriptor.map(sockets.isReadable) ?? false }

  /// Takes steps until `isDone`. False if the time ended first, or nothing will ever happen again.
  func run(atMost span: Span? = nil, until isDone: () -> Bool) -> Bool {
    let end = span.map { clock.now() + $0 }
    while !isDone() {
      if let end, clock.now() >= end { return false }
      precondition(steps < Self.mostSteps, "the simulation does not come to rest")
      if !stepOnce(until: end) { return false }
    }
    return true
  }

  private func stepOnce(until end: Moment?) -> Bool {
    let ready = participants.filter(\.isReady)
    guard !ready.isEmpty else {
      guard let next = (participants.compactMap(\.due) + [end].compactMap { $0 }).min() else { return false }
      clock.advance(to: next)
      return true
    }
    steps += 1
    // A step takes some time.
    clock.advance(by: .microseconds(1 + Int64(order.number(below: 200))))
    ready[order.number(below: ready.count)].step()
    return true
  }

  // MARK: A call from another thread

  private let thread = Thread.current
  /// Whether the engine has answered the last call made from another thread.
  private let interruption = Mutex<(@Sendable () -> Bool)?>(nil)
  private let arrived = DispatchSemaphore(value: 0)

  /// For use in the middle of a turn: makes a call on another thread, and returns when it has reached its engine.
  func interrupt<Value: Sendable>(with call: @escaping @Sendable () -> Value) -> Promise<Value> {
    let answer = Promise<Value>()
    Thread.detachNewThread { answer.fulfil(call()) }
    arrived.wait()
    return answer
  }

  /// The answer to a call that was made during a turn; the participants take the steps that it needs.
  func answer<Value: Sendable>(of call: Promise<Value>) -> Value? {
    guard let isAnswered = interruption.withLock({ $0 }), run(until: isAnswered) else { return nil }
    return call.wait(atMost: .seconds(60))
  }

  fileprivate func wait<Value: Sendable>(for promise: Promise<Value>, atMost span: Span?) -> Value? {
    guard Thread.current === thread else {
      interruption.withLock { $0 = { promise.isFulfilled } }
      arrived.signal()
      return promise.wait(atMost: nil)
    }
    _ = run(atMost: span) { promise.isFulfilled }
    return promise.wait(atMost: .zero)
  }

  // MARK: Execution

  func start(_ make: @escaping @Sendable (any Turns) -> Engine) -> (any Turns)? {
    let turns = SimulatedTurns(self)
    turns.begin(make(turns))
    add(turns)
    return turns
  }

  func makeWorker(isAwaited: Bool) -> any RequestWorker {
    let worker = SimulatedWorker(self)
    add(worker)
    return worker
  }
}

/// `@unchecked Sendable`: used on one thread.
private final class SimulatedTurns: Turns, Participant, @unchecked Sendable {
  private let world: OneThread
  private let inbox = EngineInbox()
  private var loop: EngineLoop?
  private var next = EngineLoop.Next.turn

  init(_ world: OneThread) { self.world = world }

  func begin(_ engine: Engine) { loop = EngineLoop(engine, inbox: inbox) }

  var isReady: Bool {
    switch next {
    case .turn: true
    case .ended: false
    case .wait(let wait):
      !inbox.isEmpty || world.isReadable(wait.channel) || world.isReadable(wait.relay)
        || wait.due.map { world.clock.now() >= $0 } ?? false
    }
  }

  var due: Moment? {
    guard case .wait(let wait) = next else { return nil }
    return wait.due
  }

  func step() {
    var news: EngineLoop.News = []
    if case .wait(let wait) = next {
      if world.isReadable(wait.channel) { news.insert(.channel) }
      if world.isReadable(wait.relay) { news.insert(.relay) }
    }
    next = loop?.turn(hearing: news) ?? .ended
    guard case .ended = next else { return }
    loop = nil
    world.remove(self)
  }

  func enqueue(_ job: @escaping Turns.Job) -> Bool {
    if case .refused = inbox.deliver(job) { return false }
    return true
  }

  func stop() {
    inbox.close()
    _ = world.run { self.loop == nil }
  }

  func wait<Value: Sendable>(for promise: Promise<Value>, atMost span: Span?) -> Value? {
    world.wait(for: promise, atMost: span)
  }
}

/// Carries out one request per step.
private final class SimulatedWorker: RequestWorker, Participant {
  private let world: OneThread
  private var requests: [Request] = []

  init(_ world: OneThread) { self.world = world }

  var isReady: Bool { !requests.isEmpty }
  var due: Moment? { nil }
  func step() { requests.removeFirst()()() }

  func submit(_ request: @escaping Request) -> Bool {
    requests.append(request)
    return true
  }

  func close() {
    requests.removeAll()
    world.remove(self)
  }

  func join() {}
}
