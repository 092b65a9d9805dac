import PorterMachines

/// Kinds of work, in the order in which a suspension ends them.
enum OperationKind: Int, CaseIterable {
  /// Asking a notification server, and fetching its answers. Waiting for an answer is not work: the server may be
  /// unreachable for hours, and the caller is answered when the network stops.
  case notifications
  /// Asking the relay for messages, and subscribing to its mailboxes.
  case receiving
  /// From a received message to its acknowledgement.
  case delivery
  /// Handing messages over to the relay and, while the network stops, leaving requests there for a notification server.
  case sending
  /// A transaction of the store.
  case database

  var begin: Operations.Event {
    switch self {
    case .notifications: .beginNotifications
    case .receiving: .beginReceiving
    case .delivery: .beginDelivery
    case .sending: .beginSending
    case .database: .beginDatabase
    }
  }

  var idle: Operations.Event {
    switch self {
    case .notifications: .idleNotifications
    case .receiving: .idleReceiving
    case .delivery: .idleDelivery
    case .sending: .idleSending
    case .database: .idleDatabase
    }
  }

  var name: String {
    switch self {
    case .notifications: "notifications"
    case .receiving: "receiving"
    case .delivery: "delivery"
    case .sending: "sending"
    case .database: "database"
    }
  }
}

/// Counts work under way, by kind. A value: the machine `operations` decides what may begin.
struct OperationCounter {
  /// Lets one piece of work end, in the cycle in which it began.
  struct Ticket: Equatable {
    let kind: OperationKind
    fileprivate let cycle: UInt64
  }

  /// Counts resets. The end of abandoned work of an earlier cycle is ignored (INC-21).
  private(set) var cycle: UInt64 = 1
  private var counts = [Int](repeating: 0, count: OperationKind.allCases.count)

  func count(_ kind: OperationKind) -> Int { counts[kind.rawValue] }

  mutating func begin(_ kind: OperationKind) { counts[kind.rawValue] += 1 }

  /// Returns a ticket for a piece of work that has just begun.
  func ticket(for kind: OperationKind) -> Ticket { Ticket(kind: kind, cycle: cycle) }

  /// Call once for each piece of work begun.
  mutating func end(_ ticket: Ticket) {
    guard ticket.cycle == cycle, counts[ticket.kind.rawValue] > 0 else { return }
    counts[ticket.kind.rawValue] -= 1
  }

  /// Ends the cycle; work still under way is abandoned.
  mutating func reset() {
    cycle += 1
    for kind in OperationKind.allCases { counts[kind.rawValue] = 0 }
  }
}

/// One admitted piece of work.
final class Operation {
  private var ticket: OperationCounter.Ticket?
  private weak var gate: OperationGate?

  init(_ ticket: OperationCounter.Ticket, of gate: OperationGate) {
    self.ticket = ticket
    self.gate = gate
  }

  /// Ends the work. A second call has no effect.
  func end() {
    guard let ticket else { return }
    self.ticket = nil
    gate?.ended(ticket)
  }
}
