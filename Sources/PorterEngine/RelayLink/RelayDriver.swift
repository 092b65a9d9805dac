import PorterPlatform
import PorterRelay
import PorterStore

/// Carries the engine's requests to the relay and their results back to the engine's thread.
///
/// A host's transport may block, and so may the embedded relay's file while another process has its lock. Either is asked
/// on a thread of its own, one request at a time, and the engine continues meanwhile: neither the network nor another
/// process can keep it from answering commands or from suspending (INC-07). A transport is asked on two: a request that
/// hangs while it waits for messages delays nothing that is sent, and in an extension no other push.
final class RelayDriver {
  typealias Work<Value: Sendable> = @Sendable (RelayClient) throws(RelayError) -> Value

  /// Requests of one lane are carried out one after the other.
  enum Lane {
    case receiving, sending
  }

  private struct Way {
    let client: RelayClient
    let worker: any RequestWorker
  }

  /// Tells the answers of this driver from those of one that was closed before it.
  let identifier: Int
  let port: any RelayPort
  private let receiving: Way
  private let sending: Way
  private let turns: any Turns
  private let timers: Timers
  /// Called on the engine's thread for each request that the embedded relay's file did not take for another's lock.
  private let fileIsBusy: () -> Void
  /// By number: ends the request, with the relay's answer or, if there is none, with this error.
  private var waiting: [Int: (way: Way?, end: (RelayError?) -> Void)] = [:]
  /// A push's process ends soon, and has little to send: requests for messages have both ways, so that no push waits behind a
  /// request of another one that hangs, as long as one way is free (INC-43). What is sent has one of them, and comes after.
  private let sharesWays: Bool
  /// What the shared ways have not taken yet, in order.
  private var queued: [(number: Int, lane: Lane, submit: (Way) -> Bool)] = []
  /// Requests that shared ways are carrying out, also those that were given up.
  private var onReceiving: Int?
  private var onSending: Int?
  private var next = 0

  init(
    identifier: Int, port: any RelayPort, randomness: any Randomness, turns: any Turns,
    makeWorker: () -> any RequestWorker, timers: Timers, sharesWays: Bool,
    fileIsBusy: @escaping () -> Void
  ) {
    self.identifier = identifier
    self.port = port
    self.turns = turns
    self.timers = timers
    self.sharesWays = sharesWays && !port.isLocal
    self.fileIsBusy = fileIsBusy
    receiving = Way(client: RelayClient(port: port, randomness: randomness), worker: makeWorker())
    sending =
      port.isLocal
      ? receiving : Way(client: RelayClient(port: port.sending, randomness: randomness), worker: makeWorker())
  }

  /// `then` is called on the engine's thread, once: with the relay's answer, with `timeout` when none came in time
  /// (INC-39), or with `closed` when the driver was closed first. Otherwise a caller that waits for a command's answer would hang.
  func perform<Value: Sendable>(
    _ work: @escaping Work<Value>, on lane: Lane, then: @escaping (Result<Value, RelayError>) -> Void
  ) {
    let number = next
    next += 1
    let answer = Promise<Result<Value, RelayError>>()
    let (turns, driver, timers) = (turns, identifier, timers)
    let timer = "relay \(driver) \(number)"
    // A file that does not answer in time is one that another process keeps to itself.
    let late: RelayError = port.isLocal ? .storage(SQLiteError(kind: .busy)) : .timeout
    timers.set(timer, after: Durations.relayAnswer) {
      turns.enqueue { $0.relayLink.complete(number, driver: driver, failure: late) }
    }
    let end = { [fileIsBusy] (failure: RelayError?) in
      timers.cancel(timer)
      let result = failure.map { .failure($0) } ?? answer.wait(atMost: .zero) ?? .failure(.closed)
      if case .failure(let error) = result, error.isFileBusy { fileIsBusy() }
      then(result)
    }
    let submit: (Way) -> Bool = { way in
      let client = way.client
      return way.worker.submit(number) {
        let result = Self.result(of: work, client)
        return {
          answer.fulfil(result)
          turns.enqueue { $0.relayLink.complete(number, driver: driver, failure: nil) }
        }
      }
    }
    if sharesWays {
      waiting[number] = (nil, end)
      queued.append((number, lane, submit))
      return takeQueued()
    }
    let way = lane == .sending ? sending : receiving
    waiting[number] = (way, end)
    if !submit(way) { refuse(number) }
  }

  private func takeQueued() {
    while let index = nextQueued {
      let (number, lane, submit) = queued.remove(at: index)
      let isOnReceiving = lane == .receiving && onReceiving == nil
      guard submit(isOnReceiving ? receiving : sending) else {
        refuse(number)
        continue
      }
      if isOnReceiving { onReceiving = number } else { onSending = number }
    }
  }

  /// The next request that a free way may take.
  private var nextQueued: Int? {
    let first = onReceiving == nil || onSending == nil ? queued.firstIndex { $0.lane == .receiving } : nil
    return first ?? (onSending == nil ? queued.indices.first : nil)
  }

  /// The system has no thread to give.
  private func refuse(_ number: Int) {
    let driver = identifier
    turns.enqueue { $0.relayLink.complete(number, driver: driver, failure: .unavailable) }
  }

  /// A request that was given up before its turn came is not carried out any more: its answer would reach no one, and behind
  /// a transport that hangs they would become more and more.
  func complete(_ number: Int, failure: RelayError?) {
    if failure == nil { free(number) }
    guard let request = waiting.removeValue(forKey: number) else { return }
    if failure != nil {
      queued.removeAll { $0.number == number }
      request.way?.worker.cancel(number)
    }
    request.end(failure)
  }

  private func free(_ number: Int) {
    if onReceiving == number { onReceiving = nil }
    if onSending == number { onSending = nil }
    takeQueued()
  }

  /// Gives every request up; what is under way ends on its own thread and is dropped. The result calls each
  /// completion with `closed`, and has to be called once.
  func forget() -> () -> Void {
    receiving.worker.close()
    sending.worker.close()
    queued.removeAll()
    return { for number in self.waiting.keys.sorted() { self.complete(number, failure: .closed) } }
  }

  /// As `forget`, and closes the relay itself. An exchange that waits for its file is cut off, one that has the file comes
  /// to its end: afterwards nothing of the relay is open, and its thread has ended.
  func close() -> () -> Void {
    let tell = forget()
    port.close()
    receiving.worker.join()
    sending.worker.join()
    return tell
  }

  private static func result<Value: Sendable>(
    of work: Work<Value>, _ client: RelayClient
  ) -> Result<Value, RelayError> {
    do throws(RelayError) { return .success(try work(client)) } catch { return .failure(error) }
  }
}
