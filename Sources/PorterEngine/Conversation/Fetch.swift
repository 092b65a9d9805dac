import PorterMachines
import PorterPlatform
import PorterRelay
import PorterSchema
import PorterStore

/// How the fetch of one mailbox ended.
enum FetchResult: Equatable {
  /// The mailbox is empty now.
  case drained
  /// Another process claimed the connection meanwhile; what it commits is in the store (INC-04).
  case displaced(by: Owner?)
  /// Nothing was done, since this process has the connection and works (INC-19).
  case skipped(holder: Owner)
  /// The chat suspends, or has let go of the relay.
  case interrupted
  case relayFailed(RelayError)
  case storeFailed(StoreError)
}

/// Fetching on the app's own account: one mailbox after a wake-up of the relay, message by message, as `mailbox_fetch`
/// says.
extension Engine {
  /// One fetch of a connection at a time: who comes meanwhile waits for the end of the first, and all of them get one more
  /// look, since something may have come after the first one's last. One message is taken in a turn.
  func fetch(_ connectionID: Int64, then: @escaping (FetchResult) -> Void) {
    if fetches[connectionID] != nil {
      fetches[connectionID]?.append(then)
      return
    }
    fetches[connectionID] = []
    let run = FetchRun(connectionID: connectionID) { [weak self] run, result in
      let waiting = self?.fetches.removeValue(forKey: connectionID) ?? []
      if let claim = run.claimed?.claim { self?.claims.end(claim) }
      then(result)
      guard !waiting.isEmpty else { return }
      self?.fetch(connectionID) { result in for tell in waiting { tell(result) } }
    }
    later { [weak self] in self?.fetchNext(run) }
  }

  private func fetchNext(_ run: FetchRun) {
    guard admits(.receiving), store != nil else { return run.finish(.interrupted) }
    guard run.claimed == nil else { return raise(.get, run) }
    claims.claim(run.connectionID) { [weak self] result in
      switch result {
      case .success(.granted(let claimed)):
        run.claimed = claimed
        self?.raise(.get, run)
      case .success(.skipped(let holder)): run.finish(.skipped(holder: holder))
      case .failure(let error): run.finish(.storeFailed(error))
      }
    }
  }

  private func raise(_ event: MailboxFetch.Event, _ run: FetchRun) {
    guard run.pump.offer(event) else { return }
    while let event = run.pump.next() {
      for effect in run.machine.handle(event).effects { perform(effect, run) }
    }
  }

  private func perform(_ effect: MailboxFetch.Effect, _ run: FetchRun) {
    switch effect {
    case .sendGet: sendGet(run)
    case .deliverMessage: deliver(run)
    case .sendAcknowledge: sendAcknowledge(run)
    case .reportEmpty: run.result = .drained
    case .reportFailed: run.result = .relayFailed(run.error ?? .timeout)
    case .emitMarker:
      if let message = run.message { emitMarker(message, connectionID: run.connectionID) }
    case .releaseMailbox: release(run)
    case .startDeadline, .cancelDeadline: runTimer(MailboxFetch.timer(effect), run)
    }
  }

  private func sendGet(_ run: FetchRun) {
    guard let claimed = run.claimed else { return }
    getMessage(claimed) { [weak self] result in
      switch result {
      case .success(let message?):
        run.message = message
        self?.raise(.message, run)
      case .success(nil): self?.raise(.empty, run)
      case .failure(let error):
        run.error = error
        self?.raise(.failed, run)
      }
    }
  }

  private func deliver(_ run: FetchRun) {
    guard let message = run.message, let claimed = run.claimed, let delivery = begin(.delivery) else {
      run.result = .interrupted
      return raise(.abandoned, run)
    }
    run.delivery = delivery
    switch commit(message, under: claimed.claim) {
    case .committed(let events):
      for event in events { emit(event) }
      FaultPoint.reach(.afterCommit)
      sender.flush()
      raise(.committed, run)
    case .repeated, .quarantined: raise(.committed, run)
    case .failed(.staleEpoch(let owner)):
      run.result = .displaced(by: owner)
      raise(.abandoned, run)
    case .failed(let error):
      run.result = .storeFailed(error)
      raise(.abandoned, run)
    }
  }

  private func sendAcknowledge(_ run: FetchRun) {
    guard let message = run.message, let claimed = run.claimed else { return }
    acknowledge(message, claimed) { [weak self] result in
      switch result {
      case .success(.done): self?.raise(.dropped, run)
      case .success(.noMessage): self?.raise(.noMessage, run)
      case .failure(let error):
        run.result = .relayFailed(error)
        self?.raise(.failed, run)
      }
    }
  }

  /// The machine is idle again: on to the next message, unless this was the end.
  private func release(_ run: FetchRun) {
    run.message = nil
    run.delivery?.end()
    run.delivery = nil
    if let result = run.result { return run.finish(result) }
    later { [weak self] in self?.fetchNext(run) }
  }

  private func runTimer(_ timer: MachineTimer<MailboxFetch.Event>?, _ run: FetchRun) {
    // An exchange with a relay in a file is bounded by the driver, and by the file's own patience.
    guard relay?.port.isLocal == false else { return }
    let prefix = "fetch \(run.connectionID) "
    switch timer {
    case .start(let name, let milliseconds, let event):
      timers.set(prefix + name, after: .milliseconds(Int64(milliseconds))) { [weak self] in self?.raise(event, run) }
    case .cancel(let name): timers.cancel(prefix + name)
    case nil: break
    }
  }
}

/// One fetch of one mailbox, from the first question to the empty mailbox.
final class FetchRun {
  let connectionID: Int64
  private var then: ((FetchRun, FetchResult) -> Void)?

  var machine = MachineRunner<MailboxFetch>()
  var pump = EventPump<MailboxFetch.Event>()
  var claimed: ClaimedMailbox?
  var message: RelayMessage?
  /// While the message is committed and acknowledged.
  var delivery: Operation?
  var error: RelayError?
  var result: FetchResult?

  init(connectionID: Int64, then: @escaping (FetchRun, FetchResult) -> Void) {
    self.connectionID = connectionID
    self.then = then
  }

  func finish(_ result: FetchResult) {
    guard let then else { return }
    self.then = nil
    then(self, result)
  }
}
