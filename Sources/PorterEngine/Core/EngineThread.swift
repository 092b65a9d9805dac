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

/// The one thread on which an engine lives. Everything else reaches it through `enqueue`.
///
/// The loop waits in poll(2) for jobs, the relay's wake descriptor, the channel between processes, and the next
/// timer.
package final class EngineThread: Sendable {
  package typealias Job = @Sendable (Engine) -> Void

  private struct Inbox {
    var jobs: [Job] = []
    var isStopped = false
  }

  private let inbox = Monitor(Inbox())
  private let wake: WakeDescriptor
  private let ended = Promise<Void>()
  private let worker = Mutex<WorkerThread.Handle?>(nil)

  private init(wake: WakeDescriptor) { self.wake = wake }

  /// Starts a thread and makes the engine on it. Nil when the system has no thread or descriptor to give.
  static func start(_ make: @escaping @Sendable (EngineThread) -> Engine) -> EngineThread? {
    guard let wake = WakeDescriptor() else { return nil }
    let thread = EngineThread(wake: wake)
    guard let worker = WorkerThread.startJoinable({ thread.run(make(thread)) }) else { return nil }
    thread.worker.withLock { $0 = worker }
    return thread
  }

  /// False when the thread has been told to end; the job is dropped then.
  @discardableResult
  package func enqueue(_ job: @escaping Job) -> Bool {
    let accepted = inbox.withLock { inbox -> (accepted: Bool, wasEmpty: Bool) in
      guard !inbox.isStopped else { return (false, false) }
      inbox.jobs.append(job)
      return (true, inbox.jobs.count == 1)
    }
    if accepted.wasEmpty { wake.raise() }
    return accepted.accepted
  }

  /// Ends the thread after the jobs that are queued, and waits until the engine has let go of everything, and is itself no
  /// more: a host's transport was released, and the descriptors are closed.
  package func stop() {
    inbox.withLock { $0.isStopped = true }
    wake.raise()
    _ = ended.wait()
    let last = worker.withLock { worker in
      defer { worker = nil }
      return worker
    }
    last?.join()
  }

  private func run(_ engine: Engine) {
    while true {
      let (jobs, stopped) = inbox.withLock { inbox -> ([Job], Bool) in
        defer { inbox.jobs.removeAll(keepingCapacity: true) }
        return (inbox.jobs, inbox.isStopped)
      }
      engine.bulletin.beginTurn()
      for job in jobs { job(engine) }
      if stopped, jobs.isEmpty { break }
      engine.timers.runDue()
      engine.takeUpPutOff()
      engine.endTurn()
      engine.bulletin.endTurn(engine.posture)
      if jobs.isEmpty { wait(engine) }
    }
    engine.end()
    ended.fulfil(())
  }

  private func wait(_ engine: Engine) {
    var descriptors = [
      pollfd(fd: wake.descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: engine.hearsRelay ? engine.relayWakeDescriptor ?? -1 : -1, events: Int16(POLLIN), revents: 0),
      pollfd(fd: engine.channelDescriptor ?? -1, events: Int16(POLLIN), revents: 0),
    ]
    var milliseconds = engine.timers.untilNext.map { Int32(clamping: ($0.nanoseconds + 999_999) / 1_000_000) } ?? -1
    if engine.hasPutOff { milliseconds = 0 }
    guard poll(&descriptors, nfds_t(descriptors.count), milliseconds) > 0 else { return }
    if descriptors[0].revents != 0 { wake.lower() }
    engine.bulletin.beginTurn()
    // First of all what another process asks for: it may want what the relay's news would begin.
    if descriptors[2].revents != 0 { engine.channelHasNews() }
    if descriptors[1].revents != 0 { engine.relayHasNews() }
  }
}
