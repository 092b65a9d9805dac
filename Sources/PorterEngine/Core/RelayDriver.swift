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
  private var waiting: [Int: () -> Void] = [:]
  private var next = 0

  init(identifier: Int, port: any RelayPort, randomness: any Randomness, thread: EngineThread) {
    self.identifier = identifier
    self.port = port
    self.thread = thread
    client = RelayClient(port: port, randomness: randomness)
  }

  var isIdle: Bool { waiting.isEmpty }

  /// `then` is called on the engine's thread, once, unless the driver is closed first: then never.
  func perform<Value: Sendable>(_ work: @escaping Work<Value>, then: @escaping (Result<Value, RelayError>) -> Void) {
    if port.isLocal {
      then(Self.result(of: work, client))
      return
    }
    let number = next
    next += 1
    let answer = Promise<Result<Value, RelayError>>()
    waiting[number] = { if let result = answer.wait(atMost: .zero) { then(result) } }
    let (client, thread, driver) = (client, thread, identifier)
    startWorker()
    queue.signal { queue in
      queue.work.append {
        answer.fulfil(Self.result(of: work, client))
        thread.enqueue { $0.relayAnswered(number, driver: driver) }
      }
    }
  }

  func complete(_ number: Int) {
    guard let completion = waiting.removeValue(forKey: number) else { return }
    completion()
  }

  /// Forgets every request; those under way end on their own thread and reach nobody.
  func forget() {
    waiting.removeAll()
    queue.signal { queue in
      queue.work.removeAll()
      queue.isClosed = true
    }
  }

  /// As `forget`, and lets go of the relay itself.
  func close() {
    forget()
    port.close()
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
