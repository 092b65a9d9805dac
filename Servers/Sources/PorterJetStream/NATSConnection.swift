import CNATS
import Dispatch
import PorterRelayCluster
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A message from the cluster.
struct NATSMessage: Sendable {
  var subject: String
  var reply: String?
  /// The status of a message without contents, such as `404`.
  var status: String?
  var data: [UInt8]
  /// The headers its subscription asks for.
  var headers: [String: String] = [:]
}

/// One libnats connection. Requests are answered by callbacks on its thread, any number at a time; libnats' own
/// requests would block a thread each.
///
/// `@unchecked Sendable`: mutable state is behind a lock, and libnats' objects are safe to use from any thread.
final class NATSConnection: @unchecked Sendable {
  /// `@unchecked Sendable`: accessed only under the lock, or, once taken out, only by the caller that took it.
  private final class Pending: @unchecked Sendable {
    private let continuation: UnsafeContinuation<Result<[NATSMessage], ClusterFailure>, Never>
    private let isLast: @Sendable (_ message: NATSMessage, _ count: Int) -> Bool
    private var messages: [NATSMessage] = []
    let deadline: ContinuousClock.Instant
    /// Whether the deadline is its exchange's, and comes before the cluster is late.
    let isOwnDeadline: Bool

    init(
      _ continuation: UnsafeContinuation<Result<[NATSMessage], ClusterFailure>, Never>,
      deadline: ContinuousClock.Instant, isOwnDeadline: Bool,
      until isLast: @escaping @Sendable (NATSMessage, Int) -> Bool
    ) {
      self.continuation = continuation
      (self.deadline, self.isOwnDeadline) = (deadline, isOwnDeadline)
      self.isLast = isLast
    }

    /// Whether the request has all its answers.
    func take(_ message: NATSMessage) -> Bool {
      messages.append(message)
      return isLast(message, messages.count)
    }

    func finish() { continuation.resume(returning: .success(messages)) }
    func end(_ failure: ClusterFailure) { continuation.resume(returning: .failure(failure)) }
  }

  private struct State {
    var pending: [UInt64: Pending] = [:]
    var next: UInt64 = 0
    var isClosed = false

    mutating func takeNumber() -> UInt64 {
      next += 1
      return next
    }
  }

  private final class Handler {
    let headers: [String]
    let receive: @Sendable (NATSMessage) -> Void

    init(_ headers: [String], _ receive: @escaping @Sendable (NATSMessage) -> Void) {
      (self.headers, self.receive) = (headers, receive)
    }
  }

  /// A subscription, until it ends.
  final class Subscription: @unchecked Sendable {
    fileprivate let raw: OpaquePointer
    fileprivate init(_ raw: OpaquePointer) { self.raw = raw }
    deinit { natsSubscription_Destroy(raw) }
  }

  /// A bare function in a mutex is converted on each access, and keeps all conversions.
  private struct ReconnectHandler {
    let run: @Sendable () -> Void
  }

  private static let pingMilliseconds: Int64 = 1_000
  private static let tick = DispatchTimeInterval.milliseconds(20)
  private let state = Mutex(State())
  private let inbox: String
  /// How long a request waits for its answer.
  private let patience: Duration
  /// In the registry.
  private let number: UInt
  /// In nanoseconds of the system's uptime.
  private let heardAt = Atomic<UInt64>(0)
  private let onReconnect = Mutex<ReconnectHandler?>(nil)
  private var raw: OpaquePointer?
  private var answers: Subscription?
  /// Nil until connected: a timer that was never resumed cannot be released.
  private var timer: (any DispatchSourceTimer)?

  /// Connects, within a few seconds.
  init(_ options: NATSOptions, name: String) throws(ClusterFailure) {
    var bytes = ""
    for _ in 0..<4 { bytes += String(UInt32.random(in: .min ... .max), radix: 36) }
    inbox = "_INBOX.porter.\(bytes)"
    patience = options.patience
    number = Self.registry.withLock { $0.takeNumber() }
    Self.registry.withLock { $0.connections[number] = WeakConnection(connection: self) }
    var settings: OpaquePointer?
    try Self.check(natsOptions_Create(&settings), "options")
    defer { natsOptions_Destroy(settings) }
    try Self.configure(settings, options, name)
    let context = UnsafeMutableRawPointer(bitPattern: number)
    try Self.check(
      natsOptions_SetDisconnectedCB(settings, { _, context in NATSConnection.at(context)?.lost() }, context), "options")
    try Self.check(
      natsOptions_SetReconnectedCB(settings, { _, context in NATSConnection.at(context)?.reconnected() }, context),
      "options")
    try Self.check(natsConnection_Connect(&raw, settings), "no connection to \(options.shownServers)")
    answers = try subscribe(inbox + ".*") { [weak self] message in self?.answered(message) }
    let timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "nats.deadlines"))
    timer.schedule(deadline: .now(), repeating: Self.tick)
    timer.setEventHandler { [weak self] in self?.expire() }
    timer.resume()
    self.timer = timer
  }

  private static func configure(
    _ settings: OpaquePointer?, _ options: NATSOptions, _ name: String
  ) throws(ClusterFailure) {
    let servers = options.servers.split(separator: ",").map(String.init)
    var pointers: [UnsafePointer<CChar>?] = servers.map { UnsafePointer(strdup($0)) }
    defer { for pointer in pointers { free(UnsafeMutablePointer(mutating: pointer)) } }
    try check(natsOptions_SetServers(settings, &pointers, Int32(pointers.count)), "servers \(options.shownServers)")
    try check(natsOptions_SetName(settings, name), "options")
    // A frozen node answers no pings, and is abandoned after two.
    try check(natsOptions_SetPingInterval(settings, pingMilliseconds), "options")
    try check(natsOptions_SetMaxPingsOut(settings, 2), "options")
    // Otherwise a message waits a millisecond to be sent with others, which delays its answer by as much.
    try check(natsOptions_SetSendAsap(settings, true), "options")
    try check(natsOptions_SetTimeout(settings, 1_000), "options")
    try check(natsOptions_SetMaxReconnect(settings, -1), "options")
    try check(natsOptions_SetReconnectWait(settings, 100), "options")
    try check(natsOptions_SetReconnectJitter(settings, 100, 100), "options")
    try check(natsOptions_SetWriteDeadline(settings, 2_000), "options")
    // Answers arrive in a callback that passes them on; one thread serves all subscriptions.
    try check(natsOptions_UseGlobalMessageDelivery(settings, true), "options")
    try check(natsOptions_SetMaxPendingMsgs(settings, 1_000_000), "options")
    if let credentials = options.credentials {
      try check(natsOptions_SetUserCredentialsFromFiles(settings, credentials, nil), "credentials \(credentials)")
    }
    if let authorities = options.authorities {
      try check(natsOptions_SetSecure(settings, true), "options")
      try check(natsOptions_LoadCATrustedCertificates(settings, authorities), "authorities \(authorities)")
    }
  }

  private static func check(_ status: natsStatus, _ what: String) throws(ClusterFailure) {
    guard status == NATS_OK else { throw ClusterFailure("\(what): \(text(status))") }
  }

  private static func text(_ status: natsStatus) -> String {
    natsStatus_GetText(status).map { String(cString: $0) } ?? "status \(status.rawValue)"
  }

  private struct WeakConnection: Sendable {
    weak var connection: NATSConnection?
  }

  /// libnats may call back after a connection is closed, and marks no call as the last. So it is given a number instead
  /// of an object, which would have to stay for the rest of the process.
  private struct Registry {
    var connections: [UInt: WeakConnection] = [:]
    var last: UInt = 0

    mutating func takeNumber() -> UInt {
      last += 1
      return last
    }
  }

  private static let registry = Mutex(Registry())

  /// The number of connections that exist.
  static var registered: Int { registry.withLock { $0.connections.count } }

  private static func at(_ context: UnsafeMutableRawPointer?) -> NATSConnection? {
    registry.withLock { $0.connections[UInt(bitPattern: context)]?.connection }
  }

  /// Called after the connection was lost and restored.
  func setReconnectHandler(_ handler: @escaping @Sendable () -> Void) {
    onReconnect.withLock { $0 = ReconnectHandler(run: handler) }
  }

  /// Ends pending requests. Blocks until libnats makes no more callbacks.
  func close() {
    let wasClosed = state.withLock { state in
      defer { state.isClosed = true }
      return state.isClosed
    }
    guard !wasClosed else { return }
    timer?.cancel()
    // The handler may hold the object that holds this connection.
    onReconnect.withLock { $0 = nil }
    fail("the connection is closed")
    natsConnection_Close(raw)
    answers = nil
  }

  // A request made after `close` fails. This also ends a connection that could not be made.
  deinit {
    Self.registry.withLock { $0.connections[number] = nil }
    natsConnection_Destroy(raw)
  }

  /// A closed connection no longer sends or delivers anything.
  var isClosed: Bool { state.withLock { $0.isClosed } }
  var isConnected: Bool { natsConnection_Status(raw) == NATS_CONN_STATUS_CONNECTED }

  /// Whether anything has come from the node just now.
  var isHeard: Bool { Self.isHeard(at: heardAt.load(ordering: .relaxed), now: Self.now) }

  /// It may have been heard after `now`, which is read on another thread.
  static func isHeard(at time: UInt64, now: UInt64) -> Bool { now < time + hearing }

  private static let hearing: UInt64 = 50_000_000
  private static var now: UInt64 { DispatchTime.now().uptimeNanoseconds }

  /// Bytes of published messages that are not sent yet.
  var unsent: Int { Int(natsConnection_Buffered(raw)) }

  // MARK: Requests

  /// Returns the first answer.
  func request(
    _ subject: String, _ payload: [UInt8] = [], headers: [(name: String, value: String)] = []
  ) async throws(ClusterFailure) -> NATSMessage {
    let number = state.withLock { $0.takeNumber() }
    let messages = try await exchange(subject, payload, headers, number, reply: "\(inbox).\(number)") { _, _ in true }
    guard let message = messages.last else { throw ClusterFailure("no answer") }
    return message
  }

  /// Returns all answers, up to the one `isLast` identifies as the last. Answers keep the subjects they were published
  /// on, so they need a subscription of their own. `headers`: those of the answers to deliver.
  func request(
    _ subject: String, _ payload: [UInt8], headers: [String] = [],
    until isLast: @escaping @Sendable (_ message: NATSMessage, _ count: Int) -> Bool
  ) async throws(ClusterFailure) -> [NATSMessage] {
    let number = state.withLock { $0.takeNumber() }
    let reply = "\(inbox)-taken.\(number)"
    let subscription = try subscribe(reply, headers: headers) { [weak self] message in
      self?.answered(message, to: number)
    }
    let messages = try await exchange(subject, payload, [], number, reply: reply, until: isLast)
    withExtendedLifetime(subscription) {}
    return messages
  }

  private func exchange(
    _ subject: String, _ payload: [UInt8], _ headers: [(name: String, value: String)], _ number: UInt64, reply: String,
    until isLast: @escaping @Sendable (_ message: NATSMessage, _ count: Int) -> Bool
  ) async throws(ClusterFailure) -> [NATSMessage] {
    let longest = ContinuousClock.now + patience
    let deadline = min(longest, ExchangeDeadline.current ?? longest)
    // An answer that comes after a process was frozen may no longer be right.
    guard deadline > .now else { throw .late(isOwn: true, isUnsent: true) }
    let result: Result<[NATSMessage], ClusterFailure> = await withUnsafeContinuation { continuation in
      let pending = Pending(
        continuation, deadline: deadline, isOwnDeadline: deadline < longest, until: isLast)
      let isOpen = state.withLock { state in
        if !state.isClosed { state.pending[number] = pending }
        return !state.isClosed
      }
      guard isOpen else { return pending.end(ClusterFailure("the connection is closed")) }
      // Otherwise libnats would keep the request, and send it after the caller has given up.
      let status =
        isConnected ? publish(subject, payload, headers: headers, reply: reply) : NATS_CONNECTION_DISCONNECTED
      guard status != NATS_OK, let pending = state.withLock({ $0.pending.removeValue(forKey: number) }) else { return }
      pending.end(ClusterFailure("no connection to the cluster: \(Self.text(status))"))
    }
    return try result.get()
  }

  private func answered(_ message: NATSMessage) {
    guard let number = UInt64(message.subject.dropFirst(inbox.utf8.count + 1)) else { return }
    answered(message, to: number)
  }

  private func answered(_ message: NATSMessage, to number: UInt64) {
    heardAt.store(Self.now, ordering: .relaxed)
    let finished = state.withLock { state -> Pending? in
      guard let pending = state.pending[number], pending.take(message) else { return nil }
      return state.pending.removeValue(forKey: number)
    }
    finished?.finish()
  }

  private func expire() {
    let now = ContinuousClock.now
    let late = state.withLock { state in
      let numbers = state.pending.filter { $0.value.deadline <= now }.map(\.key)
      return numbers.compactMap { state.pending.removeValue(forKey: $0) }
    }
    for pending in late { pending.end(.late(isOwn: pending.isOwnDeadline)) }
  }

  private func fail(_ reason: String, _ change: (inout State) -> Void = { _ in }) {
    let pending = state.withLock { state in
      change(&state)
      defer { state.pending = [:] }
      return Array(state.pending.values)
    }
    for each in pending { each.end(ClusterFailure(reason)) }
  }

  private func lost() { fail("the connection to the cluster was lost") }

  private func reconnected() {
    let handler = onReconnect.withLock { $0 }
    handler?.run()
  }

  // MARK: Messages

  @discardableResult
  func publish(
    _ subject: String, _ payload: [UInt8], headers: [(name: String, value: String)] = [], reply: String? = nil
  ) -> natsStatus {
    guard !isClosed else { return NATS_CONNECTION_CLOSED }
    return payload.withUnsafeBufferPointer { buffer in
      buffer.withMemoryRebound(to: CChar.self) { data in
        guard !headers.isEmpty else {
          return reply == nil
            ? natsConnection_Publish(raw, subject, data.baseAddress, Int32(data.count))
            : natsConnection_PublishRequest(raw, subject, reply, data.baseAddress, Int32(data.count))
        }
        var message: OpaquePointer?
        var status = natsMsg_Create(&message, subject, reply, data.baseAddress, Int32(data.count))
        defer { natsMsg_Destroy(message) }
        for header in headers where status == NATS_OK { status = natsMsgHeader_Set(message, header.name, header.value) }
        return status == NATS_OK ? natsConnection_PublishMsg(raw, message) : status
      }
    }
  }

  /// A unique subject.
  func freshSubject() -> String { "\(inbox)-fresh.\(state.withLock { $0.takeNumber() })" }

  /// `headers`: the headers to deliver.
  func subscribe(
    _ subject: String, headers: [String] = [], _ receive: @escaping @Sendable (NATSMessage) -> Void
  ) throws(ClusterFailure) -> Subscription {
    guard !isClosed else { throw ClusterFailure("the connection is closed") }
    var subscription: OpaquePointer?
    let handler = Unmanaged.passRetained(Handler(headers, receive))
    let status = natsConnection_Subscribe(
      &subscription, raw, subject,
      { _, _, raw, context in
        guard let raw, let context else { return }
        defer { natsMsg_Destroy(raw) }
        let handler = Unmanaged<Handler>.fromOpaque(context).takeUnretainedValue()
        InPlaceExecutor.run { handler.receive(NATSConnection.message(raw, handler.headers)) }
      }, handler.toOpaque())
    guard status == NATS_OK, let subscription else {
      handler.release()
      throw ClusterFailure("no subscription: \(Self.text(status))")
    }
    // libnats calls this when it will not call the handler again.
    natsSubscription_SetOnCompleteCB(
      subscription,
      { context in
        if let context { Unmanaged<Handler>.fromOpaque(context).release() }
      }, handler.toOpaque())
    _ = natsSubscription_SetPendingLimits(subscription, -1, -1)
    return Subscription(subscription)
  }

  private static func message(_ raw: OpaquePointer, _ names: [String]) -> NATSMessage {
    var status: UnsafePointer<CChar>?
    let length = Int(natsMsg_GetDataLength(raw))
    if length == 0, natsMsgHeader_Get(raw, "Status", &status) != NATS_OK { status = nil }
    let data = UnsafeRawBufferPointer(start: natsMsg_GetData(raw), count: length)
    var headers: [String: String] = [:]
    for name in names {
      var value: UnsafePointer<CChar>?
      if natsMsgHeader_Get(raw, name, &value) == NATS_OK, let value { headers[name] = String(cString: value) }
    }
    return NATSMessage(
      subject: natsMsg_GetSubject(raw).map { String(cString: $0) } ?? "",
      reply: natsMsg_GetReply(raw).map { String(cString: $0) }, status: status.map { String(cString: $0) },
      data: Array(data), headers: headers)
  }
}

extension ClusterFailure {
  /// `isOwn`: the exchange's time was over before the cluster's was.
  static func late(isOwn: Bool, isUnsent: Bool = false) -> ClusterFailure {
    ClusterFailure(
      isOwn ? "the time for an exchange is over" : "the cluster did not answer in time", isOwn: isOwn,
      isUnsent: isUnsent)
  }
}
