public import CNightporter
import PorterEngine
import PorterPlatform
import PorterRelay
import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// A host's own transport as a relay port, with a way for each concurrent call.
private final class HostRelay: RelayPort {
  private let transport: HostTransport
  /// Created on first use. They outlive a suspension.
  private let ways = Mutex<[Int: HostRelayWay]>([:])

  init?(_ relay: np_relay) {
    guard let transport = HostTransport(relay) else { return nil }
    self.transport = transport
  }

  var exchangesAtOnce: Int { Controller.exchangesAtOnce }

  func way(_ number: Int) -> any RelayPort { wayOfHost(number) }

  private func wayOfHost(_ number: Int) -> HostRelayWay {
    ways.withLock { ways in
      if let way = ways[number] { return way }
      let way = HostRelayWay(transport)
      ways[number] = way
      return way
    }
  }

  func accept() { transport.accept() }

  var isLocal: Bool { false }
  /// The host calls `np_relay_ready` instead.
  var wakeDescriptor: Int32? { nil }
  func drainWake() {}
  func open() { transport.resume() }
  func close() { transport.suspend() }
  var endsExchanges: Bool { transport.canSuspend }

  func exchange(_ request: [UInt8]) throws(RelayError) -> [UInt8] { try wayOfHost(0).exchange(request) }
}

/// The structure a host passed in.
///
/// `@unchecked Sendable`: the host promises that its context can be used on several library threads at the same time.
private final class HostTransport: @unchecked Sendable {
  private let relay: np_relay
  private let exchangeFunction: np_relay_exchange
  /// False until the engine has accepted the transport: a refused one stays the host's.
  private let isAccepted = Monitor(false)

  init?(_ relay: np_relay) {
    guard let exchange = relay.exchange else { return nil }
    self.relay = relay
    exchangeFunction = exchange
  }

  var canSuspend: Bool { relay.suspend != nil }
  func suspend() { relay.suspend?(relay.context) }
  func resume() { relay.resume?(relay.context) }

  func accept() { isAccepted.withLock { $0 = true } }

  deinit { if isAccepted.withLock({ $0 }) { relay.release?(relay.context) } }

  func exchange(
    _ request: [UInt8], _ answer: inout UnsafeMutablePointer<UInt8>?, _ length: inout Int, _ milliseconds: Int32
  ) -> np_error {
    request.withUnsafeBufferPointer {
      exchangeFunction(relay.context, $0.baseAddress, $0.count, &answer, &length, milliseconds)
    }
  }
}

/// Makes one call at a time.
private final class HostRelayWay: RelayPort {
  private let transport: HostTransport
  /// A hanging exchange outlives the suspension that abandoned it. The next one waits for it, as promised to the host,
  /// but not indefinitely: each activation has its own threads, which would pile up behind a transport that never
  /// returns.
  private let isBusy = Monitor(false)
  /// For one exchange; where it matters, the engine's own deadlines are shorter.
  private static let timeoutMilliseconds: Int32 = 15_000
  private static let longestAnswer = 65_536

  init(_ transport: HostTransport) { self.transport = transport }

  var isLocal: Bool { false }
  var isOccupied: Bool { isBusy.withLock { $0 } }
  var wakeDescriptor: Int32? { nil }
  func drainWake() {}
  func close() {}

  /// False if the previous exchange has not returned within this one's time.
  private func takeTurn() -> Bool {
    isBusy.wait(atMost: .milliseconds(Int64(Self.timeoutMilliseconds))) { isBusy -> Bool? in
      guard !isBusy else { return nil }
      isBusy = true
      return true
    } ?? false
  }

  func exchange(_ request: [UInt8]) throws(RelayError) -> [UInt8] {
    var answer: UnsafeMutablePointer<UInt8>?
    var length = 0
    guard takeTurn() else { throw .timeout }
    let status = transport.exchange(request, &answer, &length, Self.timeoutMilliseconds)
    isBusy.signal { $0 = false }
    defer { free(answer) }
    switch status {
    case NP_OK:
      guard let answer, (0...Self.longestAnswer).contains(length) else { throw .answer }
      return Array(UnsafeBufferPointer(start: answer, count: length))
    case NP_ERROR_TIMEOUT: throw .timeout
    default: throw .offline
    }
  }
}

/// A host's structure may be shorter or longer than this version's: members that it lacks are nil.
private func knownMembers(of relay: UnsafePointer<np_relay>) -> np_relay? {
  // `size` is the first member of each version.
  let size = UnsafeRawPointer(relay).load(as: Int.self)
  guard let least = MemoryLayout<np_relay>.offset(of: \.suspend), size >= least else { return nil }
  var known = np_relay()
  withUnsafeMutableBytes(of: &known) {
    $0.copyMemory(from: UnsafeRawBufferPointer(start: relay, count: min(size, $0.count)))
  }
  return known
}

@c @implementation
public func np_set_relay(_ ctrl: chat_ctrl!, _ relay: UnsafePointer<np_relay>!) -> np_error {
  if ctrl == nil || relay == nil { return NP_ERROR_NULL }
  guard let controller = Handles.find(ctrl) else { return NP_ERROR_HANDLE }
  guard let relay, let known = knownMembers(of: relay), let port = HostRelay(known) else { return NP_ERROR_ARGUMENT }
  guard controller.setRelay(port) else { return NP_ERROR_STATE }
  port.accept()
  return NP_OK
}

@c @implementation
public func np_relay_ready(_ ctrl: chat_ctrl!) -> np_error {
  if ctrl == nil { return NP_ERROR_NULL }
  guard let controller = Handles.find(ctrl) else { return NP_ERROR_HANDLE }
  controller.relayIsReady()
  return NP_OK
}
