import NIOCore
import PorterServer

/// How many push services work, for the operator. Clients choose them, so they are not named.
///
/// A service that has never accepted a push counts only as long as none has: it may not be a push service, and one
/// client's choice is not the operator's problem. A service not heard from for an hour does not count either: nothing
/// waits for it.
public struct ServiceTally: Equatable, Sendable {
  public private(set) var inUse = 0
  public private(set) var failing = 0
  public private(set) var refusing = 0
  /// How many fail for each reason.
  private var failures: [ProviderFailure: Int] = [:]

  /// Longer than pushes wait for a failing service.
  static let memory = TimeAmount.minutes(65)
  private static let mostReasons = 5

  init() {}

  init(_ standings: some Sequence<ServiceStanding>, _ now: NIODeadline) {
    var isAnyAccepting = false
    var (all, accepting) = (Self(), Self())
    for standing in standings {
      isAnyAccepting = isAnyAccepting || standing.hasAccepted
      guard let heard = standing.heard, now < heard + Self.memory else { continue }
      all.count(standing.state)
      if standing.hasAccepted { accepting.count(standing.state) }
    }
    self = isAnyAccepting ? accepting : all
  }

  private mutating func count(_ state: ServiceStanding.State) {
    inUse += 1
    switch state {
    case .new, .answering: break
    case .failing(let failure):
      failing += 1
      failures[failure, default: 0] += 1
    case .refusingKey: refusing += 1
    }
  }

  private var isAnyInTrouble: Bool { failing + refusing > 0 }

  /// The cause is likely this server's network or key.
  public var areAllInTrouble: Bool { isAnyInTrouble && failing + refusing == inUse }

  /// Nil if all counted services work.
  public var trouble: String? {
    guard isAnyInTrouble else { return nil }
    return "push services in use: \(inUse), failing: \(failing)" + (failing > 0 ? " (\(reasons))" : "")
      + (refusing > 0 ? ", refusing the VAPID token: \(refusing)" : "")
  }

  /// The most frequent reasons first.
  private var reasons: String {
    let counts = failures.map { (count: $1, text: "\($0)") }.sorted { ($1.count, $0.text) < ($0.count, $1.text) }
    return counts.prefix(Self.mostReasons).map { "\($0.text): \($0.count)" }.joined(separator: ", ")
  }
}
