import PorterMachines
import PorterPlatform
import PorterStore

/// Receives on the app's own account: listens to the connections, and fetches from those with something waiting,
/// message by message, as `mailbox_fetch` specifies. Threads: the engine's.
final class Receiver {
  /// What a fetch needs.
  struct Parts {
    let lifecycle: Lifecycle
    let source: any Source
    let claims: ConnectionClaims
    let watch: MailboxWatch
    let committer: MessageCommitter
    let sender: Sender
    /// A call to this connection was committed, and waits for its user.
    let rang: (Int64) -> Void
    /// Whether a push in progress is about this connection and says so.
    let isNamedByPush: (Int64) -> Bool
    /// A mailbox that was said to have something is empty. Another process may have committed it, whose message about
    /// that was lost.
    let foundEmpty: () -> Void
  }

  /// A fetch in progress, and the callers that want another look when it ends.
  private struct Fetch {
    let run: MailboxFetchRun
    var waiting: [Waiting] = []
  }

  private struct Waiting {
    let rank: Int
    /// The fetch's count when this caller came.
    let questions: Int
    let then: (FetchResult) -> Void
  }

  let context: EngineContext
  let parts: Parts
  /// By connection.
  private var fetches = [Int64: Fetch]()
  private var subscribing: Coalescer
  private var hearing: Coalescer
  /// Whether the source answered the latest question about what waits.
  private(set) var isInReach = false
  private(set) lazy var polling = Polling(context) { [weak self] in self?.listenToAll() }

  init(_ context: EngineContext, _ parts: Parts) {
    self.context = context
    self.parts = parts
    subscribing = Coalescer("subscribing", context.configuration.log)
    hearing = Coalescer("news", context.configuration.log)
  }

  // MARK: Fetching

  /// Fetches until nothing waits. One fetch per connection at a time: calls in the meantime wait for the end of the
  /// first. Those made after its last question share one more look, since something may have arrived after it. `rank`:
  /// that of the push it is for; 0 without one.
  func fetch(_ connectionID: Int64, rank: Int = 0, then: @escaping (FetchResult) -> Void) {
    if let fetch = fetches[connectionID] {
      fetches[connectionID]?.waiting.append(Waiting(rank: rank, questions: fetch.run.questions, then: then))
      return
    }
    let run = MailboxFetchRun(context, parts, connectionID, rank: rank) { [weak self] result in
      let ended = self?.fetches.removeValue(forKey: connectionID)
      let (run, waiting) = (ended?.run, ended?.waiting ?? [])
      // Its request was given up for one of the waiting callers, and all of them get the answer to the next one.
      if case .givenBack = result {
        self?.fetchAgain(connectionID, for: waiting + [Waiting(rank: rank, questions: 0, then: then)])
        return
      }
      then(result)
      let isAnswer = { (caller: Waiting) in
        switch result {
        case .drained: caller.questions < (run?.questions ?? 0)
        // The mailbox hangs. Only a push does not accept that as the answer to a later question.
        case .sourceFailed(.timeout): caller.rank == 0
        default: false
        }
      }
      for caller in waiting where isAnswer(caller) { caller.then(result) }
      self?.fetchAgain(connectionID, for: waiting.filter { !isAnswer($0) })
    }
    fetches[connectionID] = Fetch(run: run)
    run.continueLater()
  }

  private func fetchAgain(_ connectionID: Int64, for waiting: [Waiting]) {
    guard let rank = waiting.map(\.rank).max() else { return }
    fetch(connectionID, rank: rank) { result in for caller in waiting { caller.then(result) } }
  }

  /// Like `fetch`, for a push, which comes first: a request already being made is not left behind other requests, and
  /// is repeated when it stays unanswered for a long time.
  func fetch(_ connectionID: Int64, for waiter: MailboxWaiter, then: @escaping (FetchResult) -> Void) {
    parts.source.hasten(connectionID)
    if parts.isNamedByPush(connectionID) { context.deferred.hasten(connectionID) }
    parts.watch.begin(connectionID, waiter)
    fetch(connectionID, rank: waiter.rank) { [watch = parts.watch] result in
      watch.end(connectionID, waiter)
      then(result)
    }
  }

  // MARK: Listening

  func relayHasClosed() { isInReach = false }

  /// The source reports that something arrived: asks it where. One round at a time, as for `listenToAll`.
  func takeNews() {
    if hearing.want() { beginHearing() }
  }

  private func beginHearing() {
    guard parts.lifecycle.isMain, parts.lifecycle.operations.admits(.receiving) else { return endHearing() }
    parts.source.takeNews { [weak self] result in
      guard let self else { return }
      if case .failure = result { isInReach = false }
      switch result {
      case .success(let named?): for connection in named { self.fetch(connection) { [weak self] in self?.fetched($0) } }
      case .success(nil): self.listenToAll()
      case .failure(let error): if error.kind != .closed { self.listenLater() }
      }
      self.endHearing()
    }
  }

  private func endHearing() {
    if hearing.end() { beginHearing() }
  }

  /// One round at a time, and one more if requested in the meantime: a host may report for each of a thousand messages
  /// that its transport has news.
  func listenToAll() {
    if subscribing.want() { beginSubscribing() }
  }

  private func beginSubscribing() {
    let connections = context.retries.read(
      orLater: TimerName.subscribe, { [weak self] in self?.listenToAll() },
      { (store) throws(StoreError) in try store.connections() })
    guard let connections else { return endSubscribing() }
    listen(to: connections, listened: { [weak self] in self?.polling.ended() }) { [weak self] in self?.endSubscribing()
    }
  }

  private func endSubscribing() {
    if subscribing.end() { beginSubscribing() }
  }

  /// Listens to these connections, and fetches from those with something waiting. `then` is called once the source was
  /// asked, or is not asked at all.
  func listen(
    to connections: [StoredConnection], listened: @escaping () -> Void = {}, then: @escaping () -> Void = {}
  ) {
    guard parts.lifecycle.isMain, parts.lifecycle.operations.admits(.receiving) else { return then() }
    guard !connections.isEmpty else {
      isInReach = true
      listened()
      return then()
    }
    parts.source.listen(to: connections) { [weak self] result in
      defer { then() }
      guard let self else { return }
      switch result {
      case .success(let waiting):
        self.isInReach = true
        listened()
        if waiting.isEmpty { self.context.retries.reset(TimerName.subscribe) }
        self.noteEmpty(connections, except: waiting)
        for connection in waiting { self.fetch(connection) { [weak self] in self?.fetched($0) } }
      case .failure(let error) where error.kind == .closed: self.isInReach = false
      case .failure(let error):
        self.isInReach = false
        self.context.log(.warning, "subscribing failed", ["error": error.description])
        self.listenLater()
      }
    }
  }

  /// The source was asked about all these connections, and something waits for some.
  func noteEmpty(_ connections: [StoredConnection], except waiting: [Int64]) {
    let waiting = Set(waiting)
    for connection in connections where !waiting.contains(connection.id) { VanishedMessages(context).note(connection) }
  }

  /// A source does not repeat that something waits, so a fetch that did not reach its end is made up for.
  private func fetched(_ result: FetchResult) {
    switch result {
    case .drained:
      context.retries.reset(TimerName.subscribe)
      parts.foundEmpty()
    case .interrupted, .givenBack: break
    // Not only for what may pass by itself: an answer that was no answer may be one the next time.
    case .sourceFailed(let error): if error.kind != .denied, error.kind != .closed { listenLater() }
    case .displaced, .skipped, .storeFailed: listenLater()
    }
  }

  private func listenLater() {
    context.retries.retry(TimerName.subscribe) { [weak self] in self?.listenToAll() }
  }
}
