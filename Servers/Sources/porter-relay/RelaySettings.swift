import NIOCore
import PorterRelayServer
import PorterSettings

/// The settings of `porter-relay`.
enum RelaySettings {
  static let table = SettingsTable(
    program: "porter-relay", summary: "a relay on the network",
    prefix: "PORTER_RELAY", defaultFile: "/etc/nightporter/porter-relay.conf",
    commands: [
      .init("serve", help: "serve until SIGTERM; SIGHUP reads the certificate again, SIGUSR1 drains and ends"),
      .init("address", help: "print the address for clients, with the fingerprint of the key"),
      .init("check", help: "check the configuration, the certificate and its key"),
    ],
    settings: places + limits + logging,
    notes: [
      (
        "SIGNALS",
        """
        SIGTERM and SIGINT finish the exchanges that were read, end the streams and close the file. SIGHUP reads the certificate and \
        its key again. SIGUSR1 drains: the relay is not ready any more, clients are asked to leave, and it ends when the last has left.
        """
      ), ("SEE ALSO", "porter-admin(8), porter-push(8)"),
    ])

  private static let storeHelp =
    "where mailboxes are: file, or nats://HOST:PORT,… of a NATS cluster"

  private static let places: [Setting] = [
    Setting(
      "data", .path, default: "/var/lib/porter-relay", help: "folder of the relay's file and its own certificate"),
    Setting("store", .store, default: "file", help: storeHelp),
    Setting("nats-name", .natsName, default: "porter", help: "first part of the names of the cluster's streams"),
    Setting("nats-replicas", .integer(1...5), default: "3", help: "of each message; 1 if the cluster is a single node"),
    Setting("nats-partitions", .integer(1...255), default: "1", help: "of the mailboxes, when the first relay starts"),
    Setting("nats-credentials", .path, help: "user of the cluster, a .creds file readable by its owner only"),
    Setting("nats-authorities", .path, help: "certificate authorities of the cluster, PEM [the system's]"),
    Setting("listen", .endpoint, default: "0.0.0.0:443", help: "where clients connect"),
    Setting("name", .text, help: "host name or address that clients use [that of --listen]"),
    Setting("certificate", .path, help: "certificate chain, PEM [made by the relay itself]"),
    Setting("key", .path, help: "key of the certificate, PEM, readable by its owner only"),
    Setting("operators", .endpoint, default: "127.0.0.1:9464", help: "plain HTTP with /health, /ready and /metrics"),
    Setting("store-limit", .bytes(1 << 20...1 << 44), default: "1024G", help: "size at which the file takes no more"),
    Setting("cache", .bytes(1 << 20...1 << 40), default: "64M", help: "memory for the file's pages"),
  ]

  private static let limits: [Setting] = [
    Setting("source-rate", .integer(1...1_000_000), default: "50", help: "requests a second of one source address"),
    Setting("source-burst", .integer(1...1_000_000), default: "500", help: "of them at a time"),
    Setting(
      "mailbox-rate", .integer(1...1_000_000), default: "10",
      help: "requests a second for one mailbox; of each source, if anyone may send to it"),
    Setting("mailbox-burst", .integer(1...1_000_000), default: "200", help: "of them at a time"),
    Setting(
      "creation-rate", .integer(1...1_000_000), default: "1", help: "mailboxes a second made by one source address"),
    Setting("creation-burst", .integer(1...1_000_000), default: "200", help: "of them at a time"),
    Setting(
      "trusted-sources", .text,
      help: "addresses and networks whose clients are limited elsewhere: without limits of a source or a mailbox [none]"
    ),
    Setting(
      "waiting-requests", .integer(1...1_000_000), default: "8192",
      help: "requests that wait for the file or the cluster; others are refused"),
    Setting("connections", .integer(1...1_000_000), default: "20000", help: "connections at a time"),
    Setting(
      "source-connections", .integer(1...1_000_000), default: "512",
      help: "of them from one source address; four times as many from an IPv6 /48"),
    Setting("source-streams", .integer(1...1_000_000), default: "64", help: "streams of news to one source address"),
    Setting(
      "source-listeners", .integer(1...1_000_000), default: "1024",
      help: "listeners that one source address names; four times as many an IPv6 /48"),
    // The protocol promises a comment after 30 s, and clients rely on it.
    Setting("silence", .duration(1...30), default: "30s", help: "after which a stream of news has a comment"),
    Setting("idle-time", .duration(1...86_400), default: "5m", help: "how long a connection may do nothing"),
    Setting("request-time", .duration(1...3_600), default: "15s", help: "how long a request may take to arrive"),
    Setting("answer-time", .duration(1...3_600), default: "1m", help: "how long a client may take to read an answer"),
    Setting("grace", .duration(1...600), default: "10s", help: "how long a stop waits for what is in progress"),
    Setting("drain-time", .duration(1...86_400), default: "1m", help: "how long a drain waits for connections to end"),
    Setting("threads", .integer(1...256), default: "2", help: "threads for connections"),
  ]

  private static let logging: [Setting] = [
    Setting(
      "log-level", .choice(["debug", "info", "warning", "error"]), default: "info", help: "least level of a line"),
    Setting("log-form", .choice(["logfmt", "json"]), default: "logfmt", help: "form of a line"),
  ]
}

extension RelayServerOptions {
  init(_ settings: Settings) throws(SettingsError) {
    self.init()
    let listen = try settings.endpoint("listen")
    let operators = try settings.endpoint("operators")
    (host, port) = (listen.host, listen.port)
    (operatorsHost, operatorsPort) = (operators.host, operators.port)
    sourceAllowance = try Self.allowance("source", settings)
    mailboxAllowance = try Self.allowance("mailbox", settings)
    creationAllowance = try Self.allowance("creation", settings)
    if let text = settings.text("trusted-sources") {
      guard let sources = TrustedSources(text) else {
        throw SettingsError("trusted-sources: expected addresses or networks, such as 10.0.0.7,192.168.0.0/16")
      }
      trustedSources = sources
    }
    waitingRequests = try settings.number("waiting-requests")
    connections = try settings.number("connections")
    connectionsOfSource = try settings.number("source-connections")
    streamsOfSource = try settings.number("source-streams")
    listenersOfSource = try settings.number("source-listeners")
    silence = .seconds(Int64(try settings.number("silence")))
    idleTime = .seconds(Int64(try settings.number("idle-time")))
    requestTime = .seconds(Int64(try settings.number("request-time")))
    answerTime = .seconds(Int64(try settings.number("answer-time")))
    grace = .seconds(Int64(try settings.number("grace")))
    drainTime = .seconds(Int64(try settings.number("drain-time")))
    threads = try settings.number("threads")
  }

  private static func allowance(_ name: String, _ settings: Settings) throws(SettingsError) -> Allowance {
    Allowance(
      rate: Double(try settings.number(name + "-rate")), burst: Double(try settings.number(name + "-burst")))
  }
}
