import PorterCrypto
import PorterPlatform
import PropertyTesting

@testable import PorterRelay

/// Well-formed requests and answers of the protocol, with random bytes in them.
enum RelayGenerators {
  static var request: Generator<RelayRequest> {
    Generator { choices in
      RelayRequest(
        correlation: identifier(choices), entity: choices.flag() ? identifier(choices) : nil,
        signature: choices.flag() ? bytes(choices, 64) : nil, command: command(choices))
    }
  }

  static var identifier: Generator<RelayIdentifier> { Generator { identifier($0) } }

  static var answer: Generator<RelayAnswer> {
    Generator { choices in
      switch choices.number(below: 12) {
      case 0: return .done
      case 1:
        return .failed(
          choices.element(of: [.auth, .quota, .size, .noMessage, .syntax, .version, .unavailable] as [RelayError]))
      case 2: return .mailbox(recipient: identifier(choices), sender: identifier(choices))
      case 3:
        return .message(message(choices, hasAge: choices.flag()))
      case 4:
        return .subscriptions(results(choices))
      case 5: return .notifier(identifier(choices), boxKey: boxKey(choices))
      case 6: return .notifications(notifications(choices))
      case 7: return .listening(position(choices), results(choices))
      case 9:
        return .acknowledged(
          wasThere: choices.flag(), next: choices.flag() ? message(choices, hasAge: true) : nil)
      case 8: return .arrivals(position(choices), list(choices) { identifier($0) })
      case 10: return .acknowledgedNotifications(due(choices), results(choices))
      default: return .dueNotifications(due(choices))
      }
    }
  }

  private static func message(_ choices: Choices, hasAge: Bool) -> RelayMessage {
    RelayMessage(
      identifier: identifier(choices), timestamp: time(choices), notify: choices.flag(),
      body: choices.draw(.bytes(0...300)),
      age: hasAge ? UInt32(truncatingIfNeeded: choices.draw(.number()) as Int64) : nil)
  }

  private static func due(_ choices: Choices) -> RelayDueNotifications {
    let nextIn = choices.flag() ? UInt32(truncatingIfNeeded: choices.draw(.number()) as Int64) : nil
    return RelayDueNotifications(notifications: notifications(choices), nextIn: nextIn)
  }

  private static func notifications(_ choices: Choices) -> [RelayNotification] {
    list(choices) {
      RelayNotification(
        notifier: identifier($0), timestamp: time($0), nonce: nonce($0), metadata: $0.draw(.bytes(0...200)))
    }
  }

  private static func command(_ choices: Choices) -> RelayCommand {
    switch choices.number(below: 21) {
    case 0: .getMessage
    case 15: .getMessageWithAge
    case 16: .acknowledgeAndGet(message: identifier(choices))
    case 1: .disableNotifier
    case 2: .deleteMailbox
    case 3:
      .createMailbox(recipientKey: signingKey(choices), senderKey: choices.flag() ? signingKey(choices) : nil)
    case 4: .secureMailbox(senderKey: signingKey(choices))
    case 5: .send(attempt: identifier(choices), notify: choices.flag(), body: choices.draw(.bytes(0...300)))
    case 6: .acknowledge(message: identifier(choices))
    case 7: .enableNotifier(notifierKey: signingKey(choices), boxKey: boxKey(choices))
    case 8: .subscribe(entries(choices))
    case 9: .subscribeNotifiers(service: signingKey(choices), entries(choices))
    case 10: .notifications(service: signingKey(choices), limit: choices.draw(.number()))
    case 11: .dueNotifications(service: signingKey(choices), limit: choices.draw(.number()))
    case 12: .check(entries(choices))
    case 17:
      .checkByKeys(list(choices) { RelayCommand.Tagged(entity: identifier($0), tag: bytes($0, 32)) })
    case 18:
      .shareCheckKeys(
        list(choices) {
          RelayCommand.SharedKey(
            entity: identifier($0), key: made(RelayCheckKey(bytes: bytes($0, 32))), signature: bytes($0, 64))
        })
    case 13: .listen(key: signingKey(choices), entries(choices))
    case 19:
      .acknowledgeAndGetNotifications(
        service: signingKey(choices), limit: choices.draw(.number()), acknowledged: list(choices) { nonce($0) },
        mailboxes: entries(choices))
    case 14: .arrivals(key: signingKey(choices), after: position(choices), limit: choices.draw(.number()))
    default: .acknowledgeNotifications(service: signingKey(choices), list(choices) { nonce($0) })
    }
  }

  private static func entries(_ choices: Choices) -> [RelayCommand.Entry] {
    list(choices) { RelayCommand.Entry(entity: identifier($0), signature: bytes($0, 64)) }
  }

  private static func list<Value>(_ choices: Choices, _ make: @escaping (Choices) -> Value) -> [Value] {
    choices.draw(Generator(make).array(0...5))
  }

  private static func bytes(_ choices: Choices, _ count: Int) -> [UInt8] { choices.draw(.bytes(count...count)) }

  private static func time(_ choices: Choices) -> WallTime {
    WallTime(milliseconds: choices.draw(.number()))
  }

  private static func identifier(_ choices: Choices) -> RelayIdentifier {
    RelayIdentifier(bytes: bytes(choices, 24)) ?? .zero
  }

  private static func results(_ choices: Choices) -> [RelaySubscription] {
    list(choices) { $0.element(of: [.subscribed, .waiting, .auth] as [RelaySubscription]) }
  }

  private static func position(_ choices: Choices) -> RelayPosition {
    made(RelayPosition(bytes: bytes(choices, RelayPosition.count)))
  }

  private static func signingKey(_ choices: Choices) -> SigningPublicKey {
    made(SigningPublicKey(bytes: bytes(choices, SigningPublicKey.count)))
  }

  private static func boxKey(_ choices: Choices) -> BoxPublicKey {
    made(BoxPublicKey(bytes: bytes(choices, BoxPublicKey.count)))
  }

  private static func nonce(_ choices: Choices) -> BoxNonce { made(BoxNonce(bytes: bytes(choices, BoxNonce.count))) }

  private static func made<Value>(_ value: Value?) -> Value {
    guard let value else { preconditionFailure("any bytes of the right number are one") }
    return value
  }
}
