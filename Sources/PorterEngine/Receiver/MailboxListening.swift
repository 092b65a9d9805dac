import PorterCrypto
import PorterPlatform
import PorterRelay
import PorterStore

/// Asks the relay about many mailboxes at the same time. A relay without these requests is asked the old way: by
/// subscribing, and looking into each mailbox. Threads: the engine's.
final class MailboxListening {
  typealias End = (recipient: RelayIdentifier, key: SigningKeyPair)

  /// What a relay knows of this process while it is open.
  private struct Terms {
    /// The identifier of the relay's driver.
    let driver: Int
    let key: SigningKeyPair
    /// How far arrivals were reported; nil before the first mailbox is listened to.
    var position: RelayPosition?
    /// The relay has an earlier version.
    var isRefused = false
  }

  private let context: EngineContext
  private let relay: RelayLink
  private var terms: Terms?

  init(_ context: EngineContext, relay: RelayLink) {
    self.context = context
    self.relay = relay
  }

  /// A separate key for each opened relay: nothing that outlives this process links its mailboxes.
  private func currentTerms() -> Terms? {
    guard let driver = relay.driver?.identifier else { return nil }
    if let terms, terms.driver == driver { return terms }
    terms = (try? context.newSigningKey()).map { Terms(driver: driver, key: $0) }
    return terms
  }

  private func change(_ driver: Int, _ body: (inout Terms) -> Void) {
    guard var changed = terms, changed.driver == driver else { return }
    body(&changed)
    terms = changed
  }

  // MARK: Listening

  /// Returns one result per mailbox, in order. Each request covers as many as fit, so that each has its own time and
  /// anything received in the meantime waits for at most one of them.
  func listen(
    to mailboxes: [End], then: @escaping (Result<[RelaySubscription], RelayError>) -> Void
  ) {
    listen(to: mailboxes[...], [], then: then)
  }

  private func listen(
    to mailboxes: ArraySlice<End>, _ found: [RelaySubscription],
    then: @escaping (Result<[RelaySubscription], RelayError>) -> Void
  ) {
    let chunk = Array(mailboxes.prefix(RelayLimits.batch))
    guard !chunk.isEmpty else { return then(.success(found)) }
    request(chunk) { [weak self] result in
      switch result {
      case .success(let results):
        guard let self else { return then(.failure(.closed)) }
        self.listen(to: mailboxes.dropFirst(chunk.count), found + results, then: then)
      case .failure(let error): then(.failure(error))
      }
    }
  }

  private func request(_ mailboxes: [End], then: @escaping (Result<[RelaySubscription], RelayError>) -> Void) {
    guard let terms = currentTerms(), !terms.isRefused else { return subscribe(to: mailboxes, then: then) }
    relay.perform(.receiving) { (client) throws(RelayError) in
      try client.listen(to: mailboxes, as: terms.key)
    } then: { [weak self] result in
      switch result {
      case .success(let (position, results)):
        self?.change(terms.driver) { $0.position = $0.position ?? position }
        then(.success(results))
      case .failure(.syntax):
        self?.change(terms.driver) { $0.isRefused = true }
        self?.subscribe(to: mailboxes, then: then)
      case .failure(let error): then(.failure(error))
      }
    }
  }

  private func subscribe(
    to mailboxes: [End], then: @escaping (Result<[RelaySubscription], RelayError>) -> Void
  ) {
    relay.perform(.receiving, { (client) throws(RelayError) in try client.subscribe(mailboxes) }, then: then)
  }

  /// One request, however many mailboxes are listened to.
  func takeNews(then: @escaping (Result<[Int64]?, RelayError>) -> Void) {
    guard let terms = currentTerms(), let position = terms.position else { return then(.success(nil)) }
    relay.perform(.receiving) { (client) throws(RelayError) in
      try client.arrivals(after: position, as: terms.key)
    } then: { [weak self] result in
      switch result {
      case .success(let (next, mailboxes)):
        self?.change(terms.driver) { $0.position = next }
        then(.success(self?.connections(of: mailboxes)))
      // The relay has forgotten the key or the position. Listening again reports what waits.
      case .failure(.auth), .failure(.syntax):
        self?.change(terms.driver) { $0.position = nil }
        then(.success(nil))
      case .failure(let error): then(.failure(error))
      }
    }
  }

  /// Nil if the store cannot be read now.
  private func connections(of mailboxes: [RelayIdentifier]) -> [Int64]? {
    guard let store = context.store else { return nil }
    var found: [Int64] = []
    do throws(StoreError) {
      for mailbox in Set(mailboxes) {
        // Any other mailbox is for a notification server's answer, or belonged to a deleted contact.
        if let id = try store.connectionID(recipientID: mailbox.bytes) { found.append(id) }
      }
    } catch {
      return nil
    }
    return found.sorted()
  }

  // MARK: Asking

  /// One request for as many mailboxes as fit; no more than these are read from the store at a time. The result
  /// includes those whose record is damaged or that the relay refuses: looking into them reports why.
  func whoWaits(
    among connections: ArraySlice<Int64>, _ found: [Int64], then: @escaping (Result<[Int64]?, RelayError>) -> Void
  ) {
    guard let terms = currentTerms(), !terms.isRefused else { return then(.success(nil)) }
    let chunk = connections.prefix(RelayLimits.batch)
    guard let first = chunk.first, let last = chunk.last else { return then(.success(found)) }
    let ends: [(id: Int64, end: End?)]
    do throws(StoreError) {
      guard let store = context.store else { return then(.failure(.closed)) }
      let wanted = Set(chunk)
      ends = try store.recipientEnds(from: first, through: last).filter { wanted.contains($0.id) }.map { end in
        (end.id, RelayIdentifier(bytes: end.recipientID).flatMap { id in end.key.map { (recipient: id, key: $0) } })
      }
    } catch {
      return then(.success(nil))
    }
    let asked = ends.compactMap(\.end)
    relay.perform(.receiving) { (client) throws(RelayError) in
      try client.check(asked)
    } then: { [weak self] result in
      switch result {
      case .success(let results):
        var states = results[...]
        let waiting = ends.filter { $0.end == nil || states.popFirst() != .subscribed }.map(\.id)
        guard let self else { return then(.failure(.closed)) }
        self.whoWaits(among: connections.dropFirst(chunk.count), found + waiting, then: then)
      case .failure(.syntax):
        self?.change(terms.driver) { $0.isRefused = true }
        then(.success(nil))
      case .failure(let error): then(.failure(error))
      }
    }
  }
}
