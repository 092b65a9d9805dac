import NIOCore
import PorterAPNs
import PorterNetRelay
import PorterServer
import PorterSettings
import PorterTLS
import PorterWebPush

/// The settings of `porter-push`.
enum PushSettings {
  static let table = SettingsTable(
    program: "porter-push", summary: "porter-server with providers on the network",
    prefix: "PORTER_PUSH", defaultFile: "/etc/nightporter/porter-push.conf",
    commands: [
      .init("serve", help: "serve until SIGTERM; SIGUSR1 sends what is due and ends"),
      .init("check", help: "check the configuration and the keys, and print the VAPID key for clients"),
    ],
    settings: [
      Setting(
        "relay", .text, default: "/var/lib/porter-push/relay.db",
        help: "https://HOST[:PORT][#FINGERPRINT], as porter-relay address prints it, or an embedded relay's file"),
      Setting(
        "relay-authority", .path, help: "certificates to trust at a relay without fingerprint, PEM [the system's]"),
      Setting("relay-proxy", .text, isSecret: true, help: "http://HOST:PORT or socks5h://HOST:PORT on the way to it"),
      Setting("state", .path, default: "/var/lib/porter-push/server.db", help: "the server's own file"),
      Setting(
        "store", .store, default: "file",
        help: "where tokens and subscriptions are: file, or nats://HOST:PORT,… of a NATS cluster that servers share"),
      Setting("nats-name", .natsName, default: "porter", help: "first part of the names of the cluster's buckets"),
      Setting(
        "nats-replicas", .integer(1...5), default: "3", help: "of each record; 1 if the cluster is a single node"),
      Setting("nats-credentials", .path, help: "user of the cluster, a .creds file readable by its owner only"),
      Setting("nats-authorities", .path, help: "certificate authorities of the cluster, PEM [the system's]"),
      Setting(
        "tokens", .integer(1...1_000_000_000), default: "2000000",
        help: "tokens that are kept; further ones are refused, and those that are there work"),
      Setting(
        "apns-environment", .choice(APNsOptions.Environment.allCases.map(\.rawValue)), default: "production",
        help: "tokens of apns_prod, or those of apns_dev"),
      Setting("apns-key", .path, help: "key from Apple, .p8, readable by its owner only"),
      Setting("apns-key-id", .text, help: "the key's ten letters and digits"),
      Setting("apns-team-id", .text, help: "the team's"),
      Setting("apns-topic", .text, help: "the app's bundle identifier"),
      Setting("apns-endpoint", .endpoint, help: "send there instead; for tests"),
      Setting("apns-authority", .path, help: "certificates to trust there, PEM [the system's]"),
      Setting(
        "apns-timeout", .duration(1...300), default: "30s", help: "for a connection to Apple, and for each answer"),
      Setting(
        "webpush-key", .path, help: "VAPID key, P-256 in PEM, readable by its owner only: sends to webpush tokens"),
      Setting("webpush-contact", .text, help: "mailto: or https: address for push services"),
      Setting("webpush-authority", .path, help: "certificates to trust at push services, PEM [the system's]"),
      Setting(
        "webpush-timeout", .duration(1...300), default: "15s",
        help: "for a connection to a push service, and for each answer"),
      Setting(
        "webpush-private-addresses", .choice(["no", "yes"]), default: "no",
        help: "whether endpoints may be in this machine's own networks"),
      Setting("operators", .endpoint, default: "127.0.0.1:9465", help: "plain HTTP with /health, /ready and /metrics"),
      Setting("local-socket", .path, help: "where a device simulator listens, for tokens of apns_test"),
      Setting(
        "log-level", .choice(["debug", "info", "warning", "error"]), default: "info", help: "least level of a line"),
      Setting("log-form", .choice(["logfmt", "json"]), default: "logfmt", help: "form of a line"),
    ],
    notes: [
      (
        "SIGNALS",
        """
        SIGTERM and SIGINT end the program. Pushes that were not answered are sent again after the next start. SIGUSR1 drains: \
        nothing more is taken from the relay, and the program ends when the pushes that are due were sent; with a shared store, when \
        those that it was sending were. SIGTERM ends a drain.
        """
      ),
      ("SEE ALSO", "porter-admin(8), porter-relay(8)"),
    ])

  /// Throws if a provider or a relay is configured in part: it would be left out, and nothing would be wrong with the
  /// rest.
  static func checkParts(_ settings: Settings) throws(SettingsError) {
    for (key, parts) in [
      (
        "apns-key",
        [
          "apns-key-id", "apns-team-id", "apns-topic", "apns-environment", "apns-endpoint", "apns-authority",
          "apns-timeout",
        ]
      ),
      ("webpush-key", ["webpush-contact", "webpush-authority", "webpush-timeout", "webpush-private-addresses"]),
    ] where settings.text(key) == nil {
      try settings.refuse(parts, because: "\(key) is not")
    }
    if try !settings.require("relay").contains("://") {
      try settings.refuse(["relay-authority", "relay-proxy"], because: "relay is a file")
    }
  }

  static func environment(_ settings: Settings) -> APNsOptions.Environment {
    settings.text("apns-environment").flatMap(APNsOptions.Environment.init) ?? .production
  }
}

extension PushService.Relay {
  init(_ settings: Settings, log: @escaping PushLog) throws {
    let place = try settings.require("relay")
    guard place.contains("://") else {
      self = .file(place)
      return
    }
    if let authority = settings.text("relay-authority") { try GivenFiles.checkAuthorities(authority) }
    self = .transport(
      try NetworkRelay(
        place, authority: settings.text("relay-authority"), proxy: settings.text("relay-proxy"),
        log: { log($0, $1, []) }))
  }
}

extension WebPushOptions {
  init(_ settings: Settings) throws {
    try self.init(key: settings.require("webpush-key"), contact: settings.require("webpush-contact"))
    authority = settings.text("webpush-authority")
    timeLimit = .seconds(Int64(try settings.number("webpush-timeout")))
    allowsPrivateAddresses = settings.text("webpush-private-addresses") == "yes"
  }
}

extension APNsOptions {
  init(_ settings: Settings) throws {
    try self.init(
      environment: PushSettings.environment(settings), key: settings.require("apns-key"),
      keyID: settings.require("apns-key-id"), teamID: settings.require("apns-team-id"),
      topic: settings.require("apns-topic"))
    if settings.text("apns-endpoint") != nil {
      let endpoint = try settings.endpoint("apns-endpoint")
      (host, port) = (endpoint.host, endpoint.port)
    }
    authority = settings.text("apns-authority")
    timeLimit = .seconds(Int64(try settings.number("apns-timeout")))
  }
}
