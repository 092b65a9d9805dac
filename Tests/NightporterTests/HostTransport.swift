import CNightporter
import Foundation
import PorterPlatform
import XCTest

@testable import PorterRelay

/// A host's own transport in front of an embedded relay. It can hang, and can fail for one kind of request.
final class HostTransport: @unchecked Sendable {
  enum Kind: Equatable {
    case create, secure, subscribe, check, checkByKeys, shareKeys, arrivals, send, get, acknowledge, notifier, other

    /// Carried out by the sending lane.
    fileprivate var isSending: Bool { [.create, .send, .notifier].contains(self) }
  }

  private struct State {
    var hangs = false
    var hanging: Kind?
    /// Hangs from this request for a message on.
    var hangsFromGet = Int.max
    var hangsFromSubscribe = Int.max
    /// Requests for messages from these mailboxes hang.
    var hangingMailboxes: Set<[UInt8]> = []
    /// The mailboxes of the requests for messages that are in progress.
    var asked: [[UInt8]] = []
    /// Only these requests for messages hang.
    var hangingGets: Set<Int> = []
    var hangingAcknowledgement: Int?
    /// Acknowledgements of messages in these mailboxes hang.
    var hangingAcknowledgements: Set<[UInt8]> = []
    /// Not carried out, and answered with an error.
    var failingAcknowledgement: Int?
    /// Mailboxes in which a message was acknowledged.
    var acknowledged: Set<[UInt8]> = []
    var acknowledgements = 0
    var fails: Kind?
    var isCut = false
    /// Answered with this error.
    var refuses: (kind: Kind, error: RelayError)?
    /// In microseconds.
    var delays: (kind: Kind, time: UInt32)?
    /// Carried out, but not answered.
    var losesGet: Int?
    /// Answered with a page instead, without being carried out.
    var garbles: Kind?
    var isOfAnEarlierVersion = false
    var inside = 0
    var mostInside = 0
    var insideSending = 0
    var mostSending = 0
    var counts: [Kind] = []
  }

  private let relay: EmbeddedRelay
  private let state = Monitor(State())

  init(relay path: String) {
    relay = EmbeddedRelay(path: path, ports: .system, log: .silent)
  }

  /// Makes requests wait until this is reset.
  func hang(_ hangs: Bool) { state.signal { $0.hangs = hangs } }
  /// Makes requests of one kind wait.
  func hang(_ kind: Kind?) { state.signal { $0.hanging = kind } }
  /// Makes requests for a message wait from the given one on, counted from 1.
  func hang(fromGet number: Int) { state.signal { $0.hangsFromGet = number } }
  /// Makes subscribing requests wait from the given one on.
  func hang(fromSubscribe number: Int) { state.signal { $0.hangsFromSubscribe = number } }
  /// Makes only this request for a message wait.
  func hang(onlyGet number: Int?) { hang(gets: number.map { [$0] } ?? []) }
  /// Makes only these requests for messages wait.
  func hang(gets numbers: Set<Int>) { state.signal { $0.hangingGets = numbers } }
  /// Makes requests for the messages of these mailboxes wait.
  func hang(mailboxes: [[UInt8]?]) { state.signal { $0.hangingMailboxes = Set(mailboxes.compactMap(\.self)) } }
  /// Makes only this acknowledgement wait.
  func hang(onlyAcknowledgement number: Int?) { state.signal { $0.hangingAcknowledgement = number } }
  /// Keeps this acknowledgement, counted from 1, from reaching the relay.
  func fail(acknowledgement number: Int) { state.signal { $0.failingAcknowledgement = number } }
  /// Makes acknowledgements of messages in these mailboxes wait.
  func hang(acknowledgementsIn mailboxes: [[UInt8]]) {
    state.signal { $0.hangingAcknowledgements = Set(mailboxes) }
  }
  /// Loses the answer to this request for a message, counted from 1.
  func lose(get number: Int) { state.signal { $0.losesGet = number } }
  /// Answers requests of this kind as a proxy does whose relay is away: with success, and a page for people.
  func garble(_ kind: Kind?) { state.signal { $0.garbles = kind } }
  /// Delays requests of this kind by this many microseconds.
  func delay(_ kind: Kind, by time: UInt32) { state.signal { $0.delays = (kind, time) } }
  func fail(_ kind: Kind?) { state.signal { $0.fails = kind } }
  /// Makes all requests fail.
  func cut(_ isCut: Bool) { state.signal { $0.isCut = isCut } }
  /// Makes a reachable relay refuse requests of this kind; by default with the error that it cannot carry them out now.
  func refuse(_ kind: Kind?, _ error: RelayError = .unavailable) {
    state.signal { $0.refuses = kind.map { ($0, error) } }
  }
  /// Makes the relay refuse the commands that ask about many mailboxes together, and all later additions.
  func speakAnEarlierVersion() { state.signal { $0.isOfAnEarlierVersion = true } }
  func count(_ kind: Kind) -> Int { state.withLock { $0.counts.filter { $0 == kind }.count } }
  var countOfAll: Int { state.withLock { $0.counts.count } }
  /// The largest number of concurrent calls by the library that send something or create a mailbox.
  var mostSendingAtOnce: Int { state.withLock { $0.mostSending } }
  /// The largest number of concurrent calls by the library.
  var mostAtOnce: Int { state.withLock { $0.mostInside } }

  /// Waits until this many of the library's requests are in progress.
  func waitUntilInside(_ count: Int = 1, file: StaticString = #filePath, line: UInt = #line) {
    XCTAssertNotNil(state.wait(atMost: .seconds(30)) { $0.inside >= count ? true : nil }, file: file, line: line)
  }

  /// Waits until none of the library's requests is in progress.
  func waitUntilOutside(file: StaticString = #filePath, line: UInt = #line) {
    XCTAssertNotNil(state.wait(atMost: .seconds(30)) { $0.inside == 0 ? true : nil }, file: file, line: line)
  }

  /// Waits until a request that sends something or creates a mailbox is in progress.
  func waitUntilSending(file: StaticString = #filePath, line: UInt = #line) {
    XCTAssertNotNil(state.wait(atMost: .seconds(30)) { $0.insideSending > 0 ? true : nil }, file: file, line: line)
  }

  /// Waits until a message was acknowledged, whatever else the answer has to contain.
  func waitUntilAcknowledging(file: StaticString = #filePath, line: UInt = #line) {
    XCTAssertNotNil(
      state.wait(atMost: .seconds(30)) { $0.acknowledgements > 0 ? true : nil }, file: file, line: line)
  }

  /// Waits until a message of this mailbox was acknowledged, whatever the answer is.
  func waitUntilAcknowledging(in mailbox: [UInt8], file: StaticString = #filePath, line: UInt = #line) {
    let isAcknowledged = state.wait(atMost: .seconds(30)) { $0.acknowledged.contains(mailbox) ? true : nil }
    XCTAssertNotNil(isAcknowledged, file: file, line: line)
  }

  /// Waits until the library asks for the messages of this mailbox.
  func waitUntilAsked(for mailbox: [UInt8]?, file: StaticString = #filePath, line: UInt = #line) {
    let isAsked = state.wait(atMost: .seconds(30)) { state in state.asked.contains { $0 == mailbox } ? true : nil }
    XCTAssertNotNil(isAsked, file: file, line: line)
  }

  func install(in host: Host, file: StaticString = #filePath, line: UInt = #line) {
    var vtable = np_relay()
    vtable.size = MemoryLayout<np_relay>.size
    vtable.context = Unmanaged.passRetained(self).toOpaque()
    vtable.release = { context in
      if let context { Unmanaged<HostTransport>.fromOpaque(context).release() }
    }
    vtable.exchange = { context, request, length, answer, answerLength, _ in
      guard let context, let request, let answer, let answerLength else { return NP_ERROR_SYSTEM }
      let transport = Unmanaged<HostTransport>.fromOpaque(context).takeUnretainedValue()
      guard let bytes = transport.exchange(Array(UnsafeBufferPointer(start: request, count: length))),
        let memory = malloc(max(1, bytes.count))
      else { return NP_ERROR_SYSTEM }
      memory.copyMemory(from: bytes, byteCount: bytes.count)
      answer.pointee = memory.assumingMemoryBound(to: UInt8.self)
      answerLength.pointee = bytes.count
      return NP_OK
    }
    XCTAssertEqual(np_set_relay(host.handle, &vtable), NP_OK, file: file, line: line)
  }

  /// Ends the stream that notifies the host of news, like a host that leaves the screen.
  func stopListening() { relay.releaseFiles() }

  /// For a controller that is not opened through C.
  var port: any RelayPort { Port(transport: self) }

  private struct Port: RelayPort {
    let transport: HostTransport
    var isLocal: Bool { false }
    var wakeDescriptor: Int32? { transport.relay.wakeDescriptor }

    func exchange(_ request: [UInt8]) throws(RelayError) -> [UInt8] {
      guard let answer = transport.exchange(request) else { throw .offline }
      return answer
    }

    func drainWake() { transport.relay.drainWake() }
    func close() {}
  }

  private func exchange(_ request: [UInt8]) -> [UInt8]? {
    let kind = Self.kind(of: request)
    let isAcknowledgement = Self.isAcknowledgement(request)
    let mailbox = (try? RelayRequest(decoding: request))?.entity?.bytes
    let (number, acknowledgement) = state.signal { state in
      state.inside += 1
      if kind.isSending { state.insideSending += 1 }
      state.mostSending = max(state.mostSending, state.insideSending)
      state.mostInside = max(state.mostInside, state.inside)
      state.counts.append(kind)
      if kind == .get, let mailbox { state.asked.append(mailbox) }
      if isAcknowledgement { state.acknowledgements += 1 }
      if isAcknowledgement, let mailbox { state.acknowledged.insert(mailbox) }
      return (state.counts.count { $0 == kind }, state.acknowledgements)
    }
    defer {
      state.signal { state in
        state.inside -= 1
        if kind == .get, let index = state.asked.firstIndex(where: { $0 == mailbox }) { state.asked.remove(at: index) }
        if kind.isSending { state.insideSending -= 1 }
      }
    }
    let mayPass = state.wait(atMost: .seconds(60)) { state -> Bool? in
      if state.hangs || state.hanging == kind || (kind == .get && state.hangingGets.contains(number))
        || (kind == .get && mailbox.map { state.hangingMailboxes.contains($0) } ?? false)
        || (isAcknowledgement && state.hangingAcknowledgement == acknowledgement)
        || (isAcknowledgement && mailbox.map { state.hangingAcknowledgements.contains($0) } ?? false)
        || (kind == .subscribe && number >= state.hangsFromSubscribe)
        || (kind == .get && state.counts.count { $0 == .get } >= state.hangsFromGet)
      {
        return nil
      }
      if isAcknowledgement, state.failingAcknowledgement == acknowledgement { return false }
      return state.fails != kind && !state.isCut
    }
    guard mayPass == true else { return nil }
    if let delay = state.withLock({ $0.delays }), delay.kind == kind { usleep(delay.time) }
    if let refused = state.withLock({ $0.refuses }), refused.kind == kind {
      return RelayAnswer.failed(refused.error).encoded(
        for: RelayIdentifier(bytes: request.dropFirst().prefix(RelayIdentifier.count)) ?? .zero)
    }
    if state.withLock({ $0.isOfAnEarlierVersion }), Self.isNew(request) {
      return RelayAnswer.failed(.syntax).encoded(
        for: RelayIdentifier(bytes: request.dropFirst().prefix(RelayIdentifier.count)) ?? .zero)
    }
    if state.withLock({ $0.garbles == kind }) { return Array("<!DOCTYPE html><title>Back soon</title>".utf8) }
    let answer = try? relay.exchange(request)
    return state.withLock { $0.losesGet == number && kind == .get } ? nil : answer
  }

  private static func isAcknowledgement(_ request: [UInt8]) -> Bool {
    switch try? RelayRequest(decoding: request).command {
    case .acknowledge, .acknowledgeAndGet: true
    default: false
    }
  }

  private static func isNew(_ request: [UInt8]) -> Bool {
    switch try? RelayRequest(decoding: request).command {
    case .check, .checkByKeys, .shareCheckKeys, .listen, .arrivals, .acknowledgeAndGet: true
    default: false
    }
  }

  private static func kind(of request: [UInt8]) -> Kind {
    switch try? RelayRequest(decoding: request).command {
    case .createMailbox: .create
    case .secureMailbox: .secure
    case .send: .send
    case .getMessage, .getMessageWithAge, .acknowledgeAndGet: .get
    case .subscribe, .listen: .subscribe
    case .check: .check
    case .checkByKeys: .checkByKeys
    case .shareCheckKeys: .shareKeys
    case .arrivals: .arrivals
    case .acknowledge: .acknowledge
    case .enableNotifier, .disableNotifier: .notifier
    default: .other
    }
  }
}
