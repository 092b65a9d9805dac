import PorterCrypto
import PorterMachines
import PorterPlatform
import PorterPush
import PorterStore

/// One event of `subscription`, on its way to a connection's machine.
struct SubscriptionEvent {
  let event: SubscriptionMachine.Event
  let connectionID: Int64
  /// The notifier key used for the request. The event is dropped if the connection now has another one: it then answers
  /// an earlier request.
  var key: SigningPublicKey?
  var news = SubscriptionNews.none
}

/// The data of an event of `subscription`.
enum SubscriptionNews {
  case none
  /// For `notifier.enabled`: the relay's answer.
  case notifier(id: [UInt8], secret: BoxSharedKey)
}

/// Writes what a step of `subscription` records, inside its transaction.
struct SubscriptionRecorder: SubscriptionRecord {
  struct Change {
    let event: SubscriptionMachine.Event
    let connection: StoredConnection
    let news: SubscriptionNews
  }

  let context: EngineContext
  let requests: ServerRequests
  let store: Store

  func makeNotifierKeys(_ change: inout Change, _ next: SubscriptionMachine.State) throws(StoreError) {
    guard let key = try? SigningKeyPair.generate(randomness: context.randomness),
      let box = try? BoxKeyPair.generate(randomness: context.randomness)
    else { throw .damaged(.connection) }
    try store.setNotifierKeys(connectionID: change.connection.id, key: key, boxKey: box.secretKey)
  }

  func saveNotifier(_ change: inout Change, _ next: SubscriptionMachine.State) throws(StoreError) {
    guard case .notifier(let id, let secret) = change.news else { return assertionFailure("no notifier") }
    try store.setNotifier(connectionID: change.connection.id, id: id, secret: secret)
  }

  func saveStatus(_ change: inout Change, _ next: SubscriptionMachine.State) throws(StoreError) {
    try store.setSubscription(connectionID: change.connection.id, next.name)
  }

  func saveReason(_ change: inout Change, _ next: SubscriptionMachine.State) throws(StoreError) {
    try store.setSubscriptionRepair(
      connectionID: change.connection.id, reason: change.event.name, at: context.clock.wall())
  }

  func queueRelease(_ change: inout Change, _ next: SubscriptionMachine.State) throws(StoreError) {
    guard let notifier = change.connection.notifierID, let token = try store.token(), let id = token.serverTokenID
    else { return }
    try requests.queue(.unsubscribe(token: id, [notifier]), of: token, store)
  }

  func forgetNotifier(_ change: inout Change, _ next: SubscriptionMachine.State) throws(StoreError) {
    try store.clearNotifier(connectionID: change.connection.id)
  }

  func deleteRecord(_ change: inout Change, _ next: SubscriptionMachine.State) throws(StoreError) {
    try store.deleteConnection(change.connection.id)
  }
}
