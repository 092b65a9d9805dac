import PorterCrypto
import PorterPlatform
import PorterRelay
import Synchronization

/// The clients of this relay that can be woken. Kept in memory: a client that comes to another relay, or to this one
/// after a restart, is unknown there and listens again.
final class ClusterListeners: Sendable {
  struct Arrival: Equatable {
    var number: UInt64
    var key: String
    var message: [UInt8]
  }

  /// An arrival, the client's name for its mailbox, and the position after it.
  typealias Reported = (arrival: Arrival, recipient: RelayIdentifier, position: RelayPosition)

  private struct Listener {
    var keys: Set<SigningPublicKey> = []
    var generation: [UInt8]
    /// Records' keys, with the client's names for the mailboxes.
    var mailboxes: [String: RelayIdentifier] = [:]
    var services: Set<String> = []
    var hold = NotificationHold()
    /// Mailboxes that received something which may still be there.
    var unfetched: Set<String> = []
    var arrivals: [Arrival] = []
    var newest: UInt64 = 0
    /// Arrivals up to this one are no longer known.
    var oldestForgotten: UInt64 = 0
  }

  private struct State {
    var listeners: [String: Listener] = [:]
    var ofMailbox: [String: Set<String>] = [:]
    var ofService: [String: Set<String>] = [:]
    var subscriptions = 0
  }

  /// A client needs only one.
  private static let mostKeys = 16
  private static let mostArrivals = 1_024
  private static let mostUnfetched = 1_024
  /// For all listeners together.
  private static let mostSubscriptions = 4_000_000

  private let ports: Ports
  private let state = Mutex(State())

  init(_ ports: Ports) { self.ports = ports }

  // MARK: Subscriptions

  /// Subscribes the listener, which is woken for these mailboxes from then on. Returns those that no other listener
  /// has, and false if there are too many subscriptions.
  func subscribe(_ name: String, _ mailboxes: [(key: String, recipient: RelayIdentifier)]) -> (first: [String], Bool) {
    state.withLock { state in
      var listener = state.listeners[name] ?? Listener(generation: ports.randomness.bytes(8))
      listener.hold.unansweredSince = nil
      var first: [String] = []
      var isWhole = true
      for mailbox in mailboxes where listener.mailboxes[mailbox.key] == nil {
        guard state.subscriptions < Self.mostSubscriptions else {
          isWhole = false
          break
        }
        state.subscriptions += 1
        listener.mailboxes[mailbox.key] = mailbox.recipient
        if state.ofMailbox[mailbox.key] == nil { first.append(mailbox.key) }
        state.ofMailbox[mailbox.key, default: []].insert(name)
      }
      state.listeners[name] = listener
      return (first, isWhole)
    }
  }

  func subscribe(_ name: String, service: String) {
    state.withLock { state in
      var listener = state.listeners[name] ?? Listener(generation: ports.randomness.bytes(8))
      guard listener.services.count < RelayLimits.listenerServices else { return }
      listener.services.insert(service)
      state.listeners[name] = listener
      state.ofService[service, default: []].insert(name)
    }
  }

  /// Returns the mailboxes that no longer have a listener, and the names of those that may still hold something and
  /// have no other listener that can be woken.
  func forget(_ names: [String]) -> (last: [String], left: [RelayIdentifier]) {
    state.withLock { state in
      var last: [String] = []
      var left: [RelayIdentifier] = []
      for name in names {
        left += leave(name, &state)
        guard let listener = state.listeners.removeValue(forKey: name) else { continue }
        state.subscriptions -= listener.mailboxes.count
        for key in listener.mailboxes.keys {
          state.ofMailbox[key]?.remove(name)
          guard state.ofMailbox[key]?.isEmpty == true else { continue }
          state.ofMailbox[key] = nil
          last.append(key)
        }
        for service in listener.services {
          state.ofService[service]?.remove(name)
          if state.ofService[service]?.isEmpty == true { state.ofService[service] = nil }
        }
      }
      return (last, left)
    }
  }

  /// Mailboxes with something for this listener that no other reachable listener has to fetch.
  private func leave(_ name: String, _ state: inout State) -> [RelayIdentifier] {
    guard let listener = state.listeners[name] else { return [] }
    state.listeners[name]?.unfetched = []
    state.listeners[name]?.hold.unansweredSince = Self.never
    return listener.unfetched.compactMap { key in
      let others = (state.ofMailbox[key] ?? []).compactMap { state.listeners[$0] }
      return others.contains { $0.hold.unansweredSince != Self.never } ? nil : listener.mailboxes[key]
    }
  }

  /// Notes that this listener has learned that the mailbox is empty.
  func noteEmpty(_ key: String, for name: String?) {
    guard let name else { return }
    state.withLock { state in
      if state.listeners[name]?.unfetched.isEmpty == false { state.listeners[name]?.unfetched.remove(key) }
    }
  }

  // MARK: Positions

  /// The position from which `arrivals` reports, under the key.
  func position(of name: String, addingKey key: SigningPublicKey) -> RelayPosition? {
    state.withLock { state in
      guard var listener = state.listeners[name] else { return nil }
      if listener.keys.count < Self.mostKeys { listener.keys.insert(key) }
      state.listeners[name] = listener
      return Self.position(listener.generation, listener.newest)
    }
  }

  func knows(_ key: SigningPublicKey, _ name: String?) -> Bool {
    guard let name else { return false }
    return state.withLock { $0.listeners[name]?.keys.contains(key) == true }
  }

  /// Arrivals after the position, and the mailboxes' names; nil if the position is unknown.
  func arrivals(
    _ name: String, after position: RelayPosition, limit: Int
  ) -> [Reported]? {
    state.withLock { state in
      guard let listener = state.listeners[name], Array(position.bytes.prefix(8)) == listener.generation,
        position.bytes.suffix(16).allSatisfy({ $0 == 0 })
      else { return nil }
      let number = position.bytes[8..<16].reduce(0) { $0 << 8 | UInt64($1) }
      guard number >= listener.oldestForgotten, number <= listener.newest else { return nil }
      return listener.arrivals.lazy.filter { $0.number > number }.prefix(limit).compactMap { arrival in
        guard let recipient = listener.mailboxes[arrival.key],
          let position = Self.position(listener.generation, arrival.number)
        else { return nil }
        return (arrival, recipient, position)
      }
    }
  }

  private static func position(_ generation: [UInt8], _ number: UInt64) -> RelayPosition? {
    var bytes = generation
    bytes.append(signed64: Int64(bitPattern: number))
    return RelayPosition(bytes: bytes + [UInt8](repeating: 0, count: 16))
  }

  // MARK: Signals

  /// Returns the listeners to wake.
  func note(message: [UInt8], in key: String) -> [String] {
    let now = ports.clock.now()
    return state.withLock { state in
      guard let names = state.ofMailbox[key] else { return [] }
      for name in names {
        guard var listener = state.listeners[name] else { continue }
        // A resend causes a wake-up, but no second arrival.
        if !listener.arrivals.contains(where: { $0.message == message }) {
          listener.newest += 1
          listener.arrivals.append(Arrival(number: listener.newest, key: key, message: message))
          if listener.arrivals.count > Self.mostArrivals {
            listener.oldestForgotten = listener.arrivals.removeFirst().number
          }
        }
        if listener.hold.unansweredSince == nil { listener.hold.unansweredSince = now }
        // A listener that was away has already had its push.
        if listener.hold.unansweredSince != Self.never, listener.unfetched.count < Self.mostUnfetched {
          listener.unfetched.insert(key)
        }
        state.listeners[name] = listener
      }
      return Array(names)
    }
  }

  func listeners(of service: String) -> [String] { state.withLock { Array($0.ofService[service] ?? []) } }

  /// Arrivals in the meantime are unknown, so no position stays valid. Returns all listeners.
  func invalidate() -> [String] {
    state.withLock { state in
      for name in state.listeners.keys {
        state.listeners[name]?.keys = []
        state.listeners[name]?.generation = ports.randomness.bytes(8)
        state.listeners[name]?.arrivals = []
      }
      return Array(state.listeners.keys)
    }
  }

  // MARK: Signs of life

  func noteSignOfLife(_ name: String?) {
    guard let name else { return }
    state.withLock { state in
      if state.listeners[name]?.hold.unansweredSince != nil { state.listeners[name]?.hold.unansweredSince = nil }
    }
  }

  /// The listener cannot be woken until it shows a sign of life. Returns the names of mailboxes as `forget` does.
  func noteAbsence(_ name: String) -> [RelayIdentifier] { state.withLock { leave(name, &$0) } }

  private static let never = Moment(nanoseconds: .min)

  /// How long a notification of the mailbox is withheld for one of its listeners.
  func hold(_ key: String) -> Int64 {
    let now = ports.clock.now()
    return state.withLock { state in
      let holds = (state.ofMailbox[key] ?? []).compactMap { state.listeners[$0]?.hold }
      guard let end = NotificationHold.end(at: now, listeners: holds) else { return 0 }
      return (end - now).milliseconds + 1
    }
  }
}
