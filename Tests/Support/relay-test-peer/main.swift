// A process that uses an embedded relay, for tests with several of them, some of which are killed.
//
//   relay-test-peer send RELAY SENDER_ID KEY NAME COUNT       sends messages NAME:0 … NAME:COUNT-1, each until accepted
//   relay-test-peer receive RELAY RECIPIENT_ID KEY LOG        receives messages until one says "stop"
//   relay-test-peer wait RELAY RECIPIENT_ID KEY               subscribes, prints "ready", then "woken NANOSECONDS" for
//                                                             each wake-up
//   relay-test-peer rest RELAY RECIPIENT_ID KEY               subscribes, closes the files, prints "resting", and waits
//   relay-test-peer create RELAY COUNT                        makes COUNT mailboxes

import PorterCrypto
import PorterPlatform
import PorterRelay

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#endif

struct Failure: Error {
  var reason: String
}

func say(_ line: String, to descriptor: Int32 = 1) {
  let bytes = Array((line + "\n").utf8)
  _ = write(descriptor, bytes, bytes.count)
}

struct Peer {
  let relay: EmbeddedRelay
  let client: RelayClient
  let arguments: [String]

  init(arguments: [String]) throws {
    guard arguments.count > 2 else { throw Failure(reason: "usage: see main.swift") }
    self.arguments = arguments
    relay = EmbeddedRelay(
      path: arguments[1], ports: .system, log: .standardError(minimum: .warning))
    client = RelayClient(port: relay, randomness: SystemRandomness())
  }

  func entity() throws -> (RelayIdentifier, SigningKeyPair) {
    guard arguments.count > 3, let identifier = RelayIdentifier(base64URL: arguments[2]),
      let seed = TextEncoding.hexDecoded(arguments[3]), let key = SigningKeyPair(seed: seed)
    else { throw Failure(reason: "no identifier and key") }
    return (identifier, key)
  }

  func run() throws {
    switch arguments[0] {
    case "send": try send()
    case "receive": try receive()
    case "wait": try wait()
    case "rest": try rest()
    case "create": try create()
    default: throw Failure(reason: "unknown task")
    }
    relay.close()
  }

  private func send() throws {
    let (sender, key) = try entity()
    guard arguments.count > 5, let count = Int(arguments[5]) else { throw Failure(reason: "no count") }
    for number in 0..<count {
      let text = Array("\(arguments[4]):\(number)".utf8)
      // The same attempt whenever this program runs again, like a sender that has it in its store.
      guard let attempt = RelayIdentifier(bytes: Digest.sha256(text).prefix(RelayIdentifier.count)) else { continue }
      while true {
        do {
          try client.send(text, to: sender, key: key, attempt: attempt, notify: true)
          break
        } catch RelayError.quota {
          usleep(1_000)
        }
      }
    }
  }

  private func receive() throws {
    let (recipient, key) = try entity()
    guard arguments.count > 4 else { throw Failure(reason: "no log") }
    let log = open(arguments[4], O_WRONLY | O_CREAT | O_APPEND, 0o600)
    try subscribe()
    while true {
      relay.drainWake()
      while let message = try client.getMessage(recipient, key: key) {
        let text = String(decoding: message.body, as: UTF8.self)
        say("got \(text) \(message.identifier)", to: log)
        // Left in the mailbox, so that every other receiver stops as well.
        if text == "stop" { return }
        if try client.acknowledge(message.identifier, in: recipient, key: key) == .done {
          say("acknowledged \(text)", to: log)
        }
      }
      try waitForWake()
    }
  }

  private func wait() throws {
    try subscribe()
    say("ready")
    while true {
      try waitForWake()
      let now = SystemClock().now().nanoseconds
      relay.drainWake()
      say("woken \(now)")
    }
  }

  private func rest() throws {
    try subscribe()
    relay.releaseFiles()
    say("resting")
    pause()
  }

  private func create() throws {
    guard let count = Int(arguments[2]) else { throw Failure(reason: "no count") }
    for _ in 0..<count {
      _ = try client.createMailbox(recipientKey: try SigningKeyPair.generate(randomness: SystemRandomness()))
    }
  }

  private func subscribe() throws {
    let (recipient, key) = try entity()
    let results = try client.subscribe([(recipient: recipient, key: key)])
    guard results != [.auth] else { throw Failure(reason: "subscription refused") }
  }

  /// No limit: a lost wake-up shows as a test that hangs until its own time limit.
  private func waitForWake() throws {
    guard let descriptor = relay.wakeDescriptor else { throw Failure(reason: "no descriptor") }
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    while poll(&entry, 1, -1) < 0 && errno == EINTR {}
  }
}

do {
  try Peer(arguments: Array(CommandLine.arguments.dropFirst())).run()
} catch {
  say("relay-test-peer: \(error)", to: 2)
  exit(1)
}
