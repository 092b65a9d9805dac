import Foundation
import PorterCrypto
import PorterPlatform
import PorterPush
import PorterRelay
import Synchronization
import XCTest

/// A notification server that gives the answers a test sets, on its own thread: for answers that the real server gives
/// rarely, or that only other implementations give. It accepts everything it has not been set to refuse.
final class ScriptedServer: @unchecked Sendable {
  enum Answer {
    case result(ServerAnswer.Result)
    /// Success, with this status of the token.
    case status(ServerTokenStatus)
    /// This status for every named notifier.
    case each(SubscriptionStatus)
    case refusal(ServerRefusal)
    case silence
  }

  struct SentAnswer {
    let name: String
    let body: [UInt8]
    let mailbox: RelayIdentifier
  }

  private struct State {
    var answers: [String: Answer] = [:]
    var requests: [String] = []
    var sent: [SentAnswer] = []
    var isStopped = false
  }

  let link: String
  private let relay: EmbeddedRelay
  private let state = Monitor(State())
  private let ended = Promise<Bool>()

  init(relay path: String) throws {
    let relay = EmbeddedRelay(path: path, ports: .system, log: .silent)
    self.relay = relay
    let client = RelayClient(port: relay, randomness: SystemRandomness())
    let key = try SigningKeyPair.generate(randomness: SystemRandomness())
    let box = try BoxKeyPair.generate(randomness: SystemRandomness())
    let mailbox = try client.createMailbox(recipientKey: key)
    link = try XCTUnwrap(NotificationServerLink(key: box.publicKey, mailbox: mailbox.sender.bytes)).description
    let (state, ended) = (state, ended)
    Thread.detachNewThread {
      defer {
        relay.close()
        ended.fulfil(true)
      }
      while !state.withLock({ $0.isStopped }) {
        // Another process may have the relay's file.
        guard let message = try? client.getMessage(mailbox.recipient, key: key) else {
          usleep(5_000)
          continue
        }
        _ = try? client.acknowledge(message.identifier, in: mailbox.recipient, key: key)
        guard let signed = try? SignedRequest(opening: message.body, with: box),
          case .success(let request) = signed.request, let answer = Self.answer(to: request, state, box),
          let body = try? signed.seal(answer, randomness: SystemRandomness()),
          let reply = RelayIdentifier(bytes: request.replyMailbox), let attempt = try? client.newIdentifier()
        else { continue }
        state.signal { $0.sent.append(SentAnswer(name: request.commandName, body: body, mailbox: reply)) }
        try? client.send(body, to: reply, key: nil, attempt: attempt, notify: false)
      }
    }
  }

  deinit {
    state.signal { $0.isStopped = true }
    _ = ended.wait()
  }

  /// Sets the answer to requests of this name (TNEW, SCHK, …); nil restores the answer of a server where all is well.
  func answers(_ command: String, _ answer: Answer?) { state.signal { $0.answers[command] = answer } }

  /// The names of all requests since the last call.
  func takeRequests() -> [String] {
    state.withLock { state in
      defer { state.requests = [] }
      return state.requests
    }
  }

  /// The last answer to requests of this name, as it was sent.
  func lastAnswer(to command: String) -> SentAnswer? { state.withLock { $0.sent.last { $0.name == command } } }

  /// Leaves an answer in the reply mailbox again, as the relay may.
  func send(_ answer: SentAnswer) throws {
    let client = RelayClient(port: relay, randomness: SystemRandomness())
    try client.send(answer.body, to: answer.mailbox, key: nil, attempt: client.newIdentifier(), notify: false)
  }

  func count(_ command: String) -> Int { state.withLock { $0.requests.filter { $0 == command }.count } }

  private static func answer(to request: ServerRequest, _ state: Monitor<State>, _ box: BoxKeyPair) -> ServerAnswer? {
    let scripted = state.withLock { state in
      state.requests.append(request.commandName)
      return state.answers[request.commandName]
    }
    func answer(_ result: ServerAnswer.Result, _ status: ServerTokenStatus? = .active) -> ServerAnswer {
      ServerAnswer(correlation: request.correlation, result: result, tokenStatus: status)
    }
    switch scripted {
    case .silence: return nil
    case .result(let result): return answer(result)
    case .status(let status): return answer(.done, status)
    case .refusal(let reason): return answer(.refused(reason), nil)
    case .each(let status): return answer(.subscriptions(request.notifiers.map { .init(notifier: $0, status: status) }))
    case nil: break
    }
    switch request.command {
    case .newToken:
      return answer(.token(id: SystemRandomness().bytes(24), boxKey: box.publicKey), .registered)
    case .replace: return answer(.done, .registered)
    case .verify, .check, .delete, .setPeriod: return answer(.done)
    case .subscribe, .checkSubscriptions:
      return answer(.subscriptions(request.notifiers.map { .init(notifier: $0, status: .active) }))
    case .unsubscribe:
      return answer(.subscriptions(request.notifiers.map { .init(notifier: $0, status: .deleted) }))
    }
  }
}

extension ServerRequest {
  fileprivate var notifiers: [[UInt8]] {
    switch command {
    case .subscribe(_, let credentials): credentials.map(\.notifier)
    case .checkSubscriptions(_, let notifiers), .unsubscribe(_, let notifiers): notifiers
    case .newToken, .verify, .check, .replace, .delete, .setPeriod: []
    }
  }
}
