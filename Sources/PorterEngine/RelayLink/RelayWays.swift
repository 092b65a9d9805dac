import PorterStore

/// Which request to the relay is carried out when, and on which of the port's ways. A value: it decides, and the driver does.
///
/// What a push is about comes first, and has a way of its own while there is one: no push waits behind a request of another one
/// that hangs, nor behind what the process asks for by itself (INC-43). Beside that, one request for messages is carried out at a
/// time, unless it has had no answer for long: then the next one is carried out beside it, so that one mailbox that hangs keeps no
/// other one from being looked into (INC-39). The notification server's answers are such messages too, and come first, since a command
/// may wait for them. One that sends has the way that is kept for sending: a request for messages that hangs delays nothing that is
/// sent.
struct RelayWays {
  enum Lane: CaseIterable {
    /// What a push is about; in an extension everything that is received.
    case push
    /// The notification server's answers.
    case replies
    case receiving
    case sending

    /// It looks for messages, and no push is about it.
    var isFetching: Bool {
      switch self {
      case .receiving, .replies: true
      case .push, .sending: false
      }
    }
  }

  /// What a request is about.
  struct Urgency {
    /// The work that asks.
    var claim: Claim?
    /// A push names it.
    var isPushed = false
    /// One exchange about one mailbox.
    var isShort = false
    /// It looks for the notification server's answers.
    var isForReplies = false
  }

  /// To be handed over now.
  struct Start: Equatable {
    let request: Int
    let way: Int
  }

  private struct Carried {
    let request: Int
    let lane: Lane
    var isAwaited = true
    /// It has had no answer for long.
    var isLate = false

    var holdsOthersBack: Bool { lane.isFetching && isAwaited && !isLate }
  }

  static let sendingWay = 1
  /// What no push is about takes few ways, and always the same: behind a transport that never returns, each activation leaves
  /// calls there.
  static let receivingWays = 6

  /// With one way, everything is carried out on it, one after the other.
  let count: Int
  /// Pushes may take the way that is kept for sending when no other is free: an extension ends soon, and has little to send.
  private let sharesSending: Bool
  /// Whether an exchange from before a suspension still hangs on a way.
  private let isOccupied: (Int) -> Bool
  /// In the order in which they came.
  private var queued: [(request: Int, lane: Lane)] = []
  /// By way; also requests that were given up, until the port has ended them.
  private var carried = [Int: Carried]()

  init(count: Int, sharesSending: Bool, isOccupied: @escaping (Int) -> Bool = { _ in false }) {
    self.count = count
    self.sharesSending = sharesSending
    self.isOccupied = isOccupied
  }

  /// Returns what is to be started.
  mutating func add(_ request: Int, on lane: Lane) -> [Start] {
    queued.append((request, lane))
    return startQueued()
  }

  /// A push is about this request now. Returns what is to be started.
  mutating func hasten(_ request: Int) -> [Start] {
    guard let index = queued.firstIndex(where: { $0.request == request && $0.lane == .receiving }) else { return [] }
    queued[index].lane = .push
    return startQueued()
  }

  /// It has had no answer for long, and keeps others waiting no more. Returns what is to be started.
  mutating func late(_ request: Int) -> [Start] {
    if let way = way(of: request) { carried[way]?.isLate = true }
    return startQueued()
  }

  /// The port has ended it. Returns what is to be started in its place.
  mutating func ended(_ request: Int) -> [Start] {
    if let way = way(of: request) { carried[way] = nil }
    return startQueued()
  }

  /// Nothing waits for its answer any more: it is not started, if it was not. One that was keeps its way. Returns what is to be
  /// started.
  mutating func givenUp(_ request: Int) -> [Start] {
    queued.removeAll { $0.request == request }
    if let way = way(of: request) { carried[way]?.isAwaited = false }
    return startQueued()
  }

  /// Nothing is started any more.
  mutating func close() {
    queued.removeAll()
  }

  private func way(of request: Int) -> Int? { carried.first { $0.value.request == request }?.key }

  private mutating func startQueued() -> [Start] {
    var starts: [Start] = []
    for lane in Lane.allCases {
      while let index = queued.firstIndex(where: { $0.lane == lane }), let way = freeWay(for: lane) {
        let request = queued.remove(at: index).request
        carried[way] = Carried(request: request, lane: lane)
        starts.append(Start(request: request, way: way))
      }
    }
    return starts
  }

  private func freeWay(for lane: Lane) -> Int? {
    let candidates = ways(for: lane).filter { carried[$0] == nil }
    // If all of them are occupied, the request waits at one: nothing reports when that exchange ends.
    return candidates.first { !isOccupied($0) } ?? candidates.first
  }

  /// In the order in which they are taken.
  private func ways(for lane: Lane) -> [Int] {
    guard count > 1 else { return [0] }
    let all = [0] + Array(2..<count)
    let receiving = all.prefix(Self.receivingWays)
    switch lane {
    case .push:
      // What no push is about has no other ways.
      return all.dropFirst(Self.receivingWays) + receiving + (sharesSending ? [Self.sendingWay] : [])
    case .sending: return [Self.sendingWay]
    case .receiving, .replies:
      return carried.values.contains(where: \.holdsOthersBack) ? [] : Array(receiving)
    }
  }
}
