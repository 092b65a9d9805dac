import PorterStore

/// Decides when each request to the relay is carried out, and on which of the port's ways. A value: it decides, and the
/// driver acts.
///
/// Requests that a push is about come first, and have a way of their own while there is one: no push waits behind
/// another push's hanging request, nor behind what the process asks for on its own (INC-43). Besides that, one request
/// for messages is carried out at a time, unless it has been unanswered for a long time: then the next one is carried
/// out alongside it, so that one hanging mailbox keeps no other from being looked into (INC-39). The notification
/// server's answers are such messages too, and come first, since a command may wait for them. Sending has a way
/// reserved for it: a hanging request for messages delays nothing that is sent.
struct RelayWays {
  enum Lane: CaseIterable {
    /// Requests that a push is about; in an extension, everything that is received.
    case push
    /// The notification server's answers.
    case replies
    case receiving
    case sending

    /// Whether it looks for messages that no push is about.
    var isFetching: Bool {
      switch self {
      case .receiving, .replies: true
      case .push, .sending: false
      }
    }
  }

  /// What a request is about.
  struct Urgency {
    /// The work that makes the request.
    var claim: Claim?
    /// A push names it.
    var isPushed = false
    /// One exchange about one mailbox.
    var isShort = false
    /// It looks for the notification server's answers.
    var isForReplies = false
  }

  /// A request to hand over now.
  struct Start: Equatable {
    let request: Int
    let way: Int
  }

  private struct Carried {
    let request: Int
    let lane: Lane
    var isAwaited = true
    /// Unanswered for a long time.
    var isLate = false

    var holdsOthersBack: Bool { lane.isFetching && isAwaited && !isLate }
  }

  static let sendingWay = 1
  /// Requests that no push is about use few ways, and always the same: behind a transport that never returns, each
  /// activation leaves calls there.
  static let receivingWays = 6

  /// With one way, everything is carried out on it, one request after another.
  let count: Int
  /// Pushes may use the way reserved for sending when no other is free: an extension ends soon, and has little to send.
  private let sharesSending: Bool
  /// Whether an exchange from before a suspension still hangs on a way.
  private let isOccupied: (Int) -> Bool
  /// In order of arrival.
  private var queued: [(request: Int, lane: Lane)] = []
  /// By way; includes requests that were given up, until the port has ended them.
  private var carried = [Int: Carried]()

  init(count: Int, sharesSending: Bool, isOccupied: @escaping (Int) -> Bool = { _ in false }) {
    self.count = count
    self.sharesSending = sharesSending
    self.isOccupied = isOccupied
  }

  /// Adds a request. Returns the requests to start.
  mutating func add(_ request: Int, on lane: Lane) -> [Start] {
    queued.append((request, lane))
    return startQueued()
  }

  /// A push is now about this request. Returns the requests to start.
  mutating func hasten(_ request: Int) -> [Start] {
    guard let index = queued.firstIndex(where: { $0.request == request && $0.lane == .receiving }) else { return [] }
    queued[index].lane = .push
    return startQueued()
  }

  /// The request has been unanswered for a long time, and no longer keeps others waiting. Returns the requests to
  /// start.
  mutating func late(_ request: Int) -> [Start] {
    if let way = way(of: request) { carried[way]?.isLate = true }
    return startQueued()
  }

  /// The port has ended the request. Returns the requests to start in its place.
  mutating func ended(_ request: Int) -> [Start] {
    if let way = way(of: request) { carried[way] = nil }
    return startQueued()
  }

  /// Nothing waits for its answer any longer: a request not yet started is not started. A started one keeps its way.
  /// Returns the requests to start.
  mutating func givenUp(_ request: Int) -> [Start] {
    queued.removeAll { $0.request == request }
    if let way = way(of: request) { carried[way]?.isAwaited = false }
    return startQueued()
  }

  /// Starts nothing from here on.
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
      // Requests that no push is about have no other ways.
      return all.dropFirst(Self.receivingWays) + receiving + (sharesSending ? [Self.sendingWay] : [])
    case .sending: return [Self.sendingWay]
    case .receiving, .replies:
      return carried.values.contains(where: \.holdsOthersBack) ? [] : Array(receiving)
    }
  }
}
