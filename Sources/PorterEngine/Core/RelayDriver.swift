import PorterPlatform
import PorterRelay

/// Carries the engine's requests to the relay and their results back to the engine's thread.
///
/// A relay in this process's own file is asked at once. A host's transport may block, so it is asked on a thread of its
/// own, one request at a time, and the engine goes on meanwhile: nothing that the network does can keep it from
/// suspending (INC-07).
final class RelayDriver {
  typealias Work<Value: Sendable> = @Sendable (RelayClient) throws(RelayError) -> Value

  private struct Queue {
    var work: [@Sendable () -> Void] = []
    var isClosed = false
  }

  /// Tells the answers of this driver from those of one that was closed before it.
  let identifier: Int
  let port: any RelayPort
  private let client: RelayClient
  private let thread: EngineThread
  private let queue = Monitor(Queue())
  private var hasWorker = false
  private let timers: Timers
  /// By number: ends the request, with the relay's answer or, if there is none, with this error.
  private var waiting: [Int: (RelayError?) -> Void] = [:]
  private var next = 0

  init(identifier: Int, port: any RelayPort, randomness: any Randomness, thread: EngineThread, timers: Timers) {
    self.identifier = identifier
    self.port = port
    self.thread = thread
    self.timers = timers
    client = RelayClient(port: port, randomness: randomness)
  }

  /// `then` is called on the engine's thread, once: with the relay's answer, with `timeout` when none came in time
  /// (INC-39), or with `closed` when the driver was closed first. Whoever waits for a command's answer hangs otherwise.
  func perform<Value: Sendable>(_ work: @escaping Work<Value>, then: @escaping (Result<Value, RelayError>) -> Void) {
    if port.isLocal {
      then(Self.result(of: work, client))
      return
    }
    let number = next
    next += 1
    let answer = Promise<Result<Value, RelayError>>()
    let (client, thread, driver, timers) = (client, thread, identifier, timers)
    let timer = "relay \(driver) \(number)"
    timers.set(timer, after: Durations.relayAnswer) {
      thread.enqueue { $0.relayAnswered(number, driver: driver, failure: .timeout) }
    }
    waiting[number] = { failure in
      timers.cancel(timer)
      then(failure.map { .failure($0) } ?? answer.wait(atMost: .zero) ?? .failure(.closed))
    }
    startWorker()
    queue.signal { queue in
      queue.work.append {
        answer.fulfil(Self.result(of: work, client))
        thread.enqueue { $0.relayAnswered(number, driver: driver, failure: nil) }
      }
    }
  }

  func complete(_ number: Int, failure: RelayError?) {
    guard let completion = waiting.removeValue(forKey: number) else { return }
    completion(failure)
  }

  /// Gives every request up; what is under way ends on its own thread and reaches nobody. The result tells whoever
  /// waits, with `closed`, and has to be called once.
  func forget() -> () -> Void {
    queue.signal { queue in
      queue.work.removeAll()
      queue.isClosed = true
    }
    return { for number in self.waiting.keys.sorted() { self.complete(number, failure: .closed) } }
  }

  /// As `forget`, and lets go of the relay itself.
  func close() -> () -> Void {
    let tell = forget()
    port.close()
    return tell
  }

  private static func result<Value: Sendable>(
    of work: Work<Value>, _ client: RelayClient
  ) -> Result<Value, RelayError> {
    do throws(RelayError) { return .success(try work(client)) } catch { return .failure(error) }
  }

  private func startWorker() {
    guard !hasWorker else { return }
    let queue = queue
    hasWorker = WorkerThread.start {
      while true {
        let job: (@Sendable () -> Void)?? = queue.wait(atMost: nil) { queue in
          if !queue.work.isEmpty { return .some(.some(queue.work.removeFirst())) }
          return queue.isClosed ? .some(.none) : nil
        }
        guard case .some(.some(let run)) = job else { return }
        run()
      }
    }
  }
}
