import PorterPlatform
import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// Runs an engine's turns on a dedicated thread, which waits between them in poll(2).
final class EngineThread: Turns {
  private let inbox = EngineInbox()
  private let wake: WakeDescriptor
  private let ended = Promise<Void>()
  private let worker = Mutex<WorkerThread.Handle?>(nil)

  private init(wake: WakeDescriptor) { self.wake = wake }

  /// Starts a thread and makes the engine on it. Nil when out of threads or file descriptors.
  static func start(_ make: @escaping @Sendable (any Turns) -> Engine) -> EngineThread? {
    guard let wake = WakeDescriptor() else { return nil }
    let thread = EngineThread(wake: wake)
    guard let worker = WorkerThread.startJoinable({ thread.run(make(thread)) }) else { return nil }
    thread.worker.withLock { $0 = worker }
    return thread
  }

  @discardableResult
  func enqueue(_ job: @escaping Turns.Job) -> Bool {
    switch inbox.deliver(job) {
    case .refused: return false
    case .first: wake.raise()
    case .queued: break
    }
    return true
  }

  func stop() {
    inbox.close()
    wake.raise()
    _ = ended.wait()
    let last = worker.withLock { worker in
      defer { worker = nil }
      return worker
    }
    last?.join()
  }

  func wait<Value: Sendable>(for promise: Promise<Value>, atMost span: Span?) -> Value? {
    promise.wait(atMost: span)
  }

  private func run(_ engine: Engine) {
    let loop = EngineLoop(engine, inbox: inbox)
    let clock = engine.configuration.clock
    var news: EngineLoop.News = []
    while true {
      switch loop.turn(hearing: news) {
      case .turn: news = []
      case .wait(let wait): news = self.wait(wait, clock)
      case .ended:
        ended.fulfil(())
        return
      }
    }
  }

  private func wait(_ wait: EngineLoop.Wait, _ clock: any Clock) -> EngineLoop.News {
    let readable = Int16(POLLIN)
    var descriptors = (
      pollfd(fd: wake.descriptor, events: readable, revents: 0),
      pollfd(fd: wait.relay ?? -1, events: readable, revents: 0),
      pollfd(fd: wait.channel ?? -1, events: readable, revents: 0)
    )
    // Rounded up, so that it does not wake repeatedly just before a timer is due.
    let milliseconds = wait.due.map { Int32(clamping: (max(0, ($0 - clock.now()).nanoseconds) + 999_999) / 1_000_000) }
    let ready = withUnsafeMutableBytes(of: &descriptors) { bytes in
      let all = bytes.assumingMemoryBound(to: pollfd.self)
      return poll(all.baseAddress, nfds_t(all.count), milliseconds ?? -1)
    }
    guard ready > 0 else { return [] }
    if descriptors.0.revents != 0 { wake.lower() }
    var news: EngineLoop.News = []
    if descriptors.1.revents != 0 { news.insert(.relay) }
    if descriptors.2.revents != 0 { news.insert(.channel) }
    return news
  }
}
