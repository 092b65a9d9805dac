import PorterPlatform
import PorterRelay
import PorterStore

/// Carries the engine's requests to the relay and their results back to the engine's thread.
///
/// A host's transport may block, and so may the embedded relay's file while another process has its lock. Either is asked
/// on threads of its own, and the engine continues meanwhile: neither the network nor another process can keep it from
/// answering commands or from suspending (INC-07). `RelayWays` says which thread takes which request.
final class RelayDriver {
  typealias Work<Value: Sendable> = @Sendable (RelayClient) throws(RelayError) -> Value

  private struct Way {
    let client: RelayClient
    let worker: any RequestWorker
  }

  private struct Asked {
    /// The work that asks, for a connection's messages.
    let claim: Claim?
    let submit: (Way) -> Bool
    /// Ends the request, with the relay's answer or, if there is none, with this error.
    let end: (RelayError?) -> Void
  }

  /// Tells the answers of this driver from those of one that was closed before it.
  let identifier: Int
  let port: any RelayPort
  private let randomness: any Randomness
  private let turns: any Turns
  private let makeWorker: () -> any RequestWorker
  private let timers: Timers
  /// Called on the engine's thread for each request that the embedded relay's file did not take for another's lock.
  private let fileIsBusy: () -> Void
  /// Which requests wait, and which way carries which.
  private var plan: RelayWays
  /// By their numbers in `plan`; each made when it is needed first.
  private var ways: [Int: Way] = [:]
  /// By number.
  private var asked: [Int: Asked] = [:]
  private var next = 0

  init(
    identifier: Int, port: any RelayPort, randomness: any Randomness, turns: any Turns,
    makeWorker: @escaping () -> any RequestWorker, timers: Timers, sharesSending: Bool,
    fileIsBusy: @escaping () -> Void
  ) {
    self.identifier = identifier
    self.port = port
    self.randomness = randomness
    self.turns = turns
    self.makeWorker = makeWorker
    self.timers = timers
    self.fileIsBusy = fileIsBusy
    plan = RelayWays(count: port.exchangesAtOnce, sharesSending: sharesSending) { port.way($0).isOccupied }
  }

  /// `then` is called on the engine's thread, once: with the relay's answer, with `timeout` when none came in time
  /// (INC-39), or with `closed` when the driver was closed first. Otherwise a caller that waits for a command's answer would hang.
  func perform<Value: Sendable>(
    _ work: @escaping Work<Value>, on lane: RelayWays.Lane, under claim: Claim?,
    then: @escaping (Result<Value, RelayError>) -> Void
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
      return way.worker.submit {
        let result = Self.result(of: work, client)
        return {
          answer.fulfil(result)
          turns.enqueue { $0.relayLink.complete(number, driver: driver, failure: nil) }
        }
      }
    }
    asked[number] = Asked(claim: claim, submit: submit, end: end)
    carryOut(plan.add(number, on: lane))
  }

  /// A push is about this connection now: what is asked about it is not left waiting behind what others ask.
  func hasten(_ connectionID: Int64) {
    for number in numbers(where: { $0.connectionID == connectionID }) { carryOut(plan.hasten(number)) }
  }

  /// Ends what is asked under this claim, without an answer. What is asked about the connection under a later one continues.
  func giveUp(_ claim: Claim) {
    for number in numbers(where: { $0 == claim }) { complete(number, failure: .timeout) }
  }

  private func numbers(where isMeant: (Claim) -> Bool) -> [Int] {
    asked.filter { $0.value.claim.map(isMeant) ?? false }.keys.sorted()
  }

  private func carryOut(_ starts: [RelayWays.Start]) {
    for start in starts {
      if asked[start.request]?.submit(way(start.way)) != true { refuse(start.request) }
    }
  }

  private func way(_ number: Int) -> Way {
    if let way = ways[number] { return way }
    let way = Way(client: RelayClient(port: port.way(number), randomness: randomness), worker: makeWorker())
    ways[number] = way
    return way
  }

  /// The system has no thread to give.
  private func refuse(_ number: Int) {
    let driver = identifier
    turns.enqueue { $0.relayLink.complete(number, driver: driver, failure: .unavailable) }
  }

  /// A request that was given up before its turn came is not carried out any more: nothing waits for its answer, and behind
  /// a transport that hangs such requests would accumulate.
  func complete(_ number: Int, failure: RelayError?) {
    let request = asked.removeValue(forKey: number)
    carryOut(failure == nil || failure == .unavailable ? plan.ended(number) : plan.givenUp(number))
    request?.end(failure)
  }

  /// Gives every request up; what is under way ends on its own thread and is dropped. The result calls each
  /// completion with `closed`, and has to be called once.
  func forget() -> () -> Void {
    for way in ways.values { way.worker.close() }
    plan.close()
    return { for number in self.asked.keys.sorted() { self.complete(number, failure: .closed) } }
  }

  /// As `forget`, and closes the relay itself. An exchange that waits for its file is cut off, one that has the file comes
  /// to its end: afterwards nothing of the relay is open, and its thread has ended.
  func close() -> () -> Void {
    let tell = forget()
    port.close()
    for way in ways.values { way.worker.join() }
    return tell
  }

  private static func result<Value: Sendable>(
    of work: Work<Value>, _ client: RelayClient
  ) -> Result<Value, RelayError> {
    do throws(RelayError) { return .success(try work(client)) } catch { return .failure(error) }
  }
}
