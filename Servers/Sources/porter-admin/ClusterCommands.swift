import PorterSettings

#if JetStream
  import PorterJetStream
  import PorterServer
#endif

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

#if JetStream
  /// The commands for the data of relays and notification servers in a NATS cluster.
  struct ClusterCommands {
    private let administrator: ClusterAdministrator

    /// Connects.
    init(_ settings: Settings) throws {
      let place = try settings.require("store")
      var options = JetStreamOptions(
        cluster: try NATSOptions(
          servers: place, credentials: settings.text("nats-credentials"), authorities: settings.text("nats-authorities")
        ))
      options.name = try settings.require("nats-name")
      options.replicas = try settings.number("nats-replicas")
      administrator = try ClusterAdministrator(options)
    }

    func run(_ command: String, _ settings: Settings) throws {
      defer { administrator.close() }
      switch command {
      case "verify":
        let problems = try administrator.problems()
        guard problems.isEmpty else { throw Failure(problems.joined(separator: "\n  ")) }
        put("ok: \(Self.text(try administrator.parts()))\n", to: 1)
      case "backup":
        try backUp(to: settings.require("to"))
        put("ok\n", to: 1)
      case "restore":
        let file = try settings.require("from") + "/" + ClusterAdministrator.fileName
        try administrator.restore(file, replacing: settings.text("replace") == "yes")
        put("ok\n", to: 1)
      case "token":
        for token in try found(settings) { show(token) }
      case "revoke":
        for token in try found(settings) { report(token, isRevoked: try administrator.tokens.revoke(token)) }
      case "mailbox": try show(administrator.usage(of: secret("mailbox", settings)))
      default: throw Failure("\(command): name the server's folder with --data, on its machine, without --store")
      }
    }

    private func found(_ settings: Settings) throws -> [Token] {
      let tokens = try administrator.tokens.tokens(secret("token", settings))
      guard !tokens.isEmpty else { throw Failure("there is no such token") }
      return tokens
    }

    /// The backup gets its name once it is complete and verified.
    private func backUp(to destination: String) throws {
      try Backup.make(at: destination) { partial in
        try administrator.backUp(to: partial + "/" + ClusterAdministrator.fileName)
        _ = try Self.contents(of: partial)
      }
    }

    // MARK: Backups

    static func isBackup(_ folder: String) -> Bool { exists(folder + "/" + ClusterAdministrator.fileName) }

    /// Throws if the backup is incomplete.
    static func contents(of folder: String) throws -> ClusterAdministrator.Contents {
      try ClusterAdministrator.contents(of: folder + "/" + ClusterAdministrator.fileName)
    }

    static func verify(backup folder: String) throws {
      let contents = try contents(of: folder)
      put(
        """
        ok: a backup of a cluster, \(text(contents.parts))
        mailboxes = \(contents.mailboxes)
        messages = \(contents.messages)
        tokens = \(contents.tokens)

        """, to: 1)
    }

    private static func text(_ parts: ClusterAdministrator.Parts) -> String {
      switch (parts.mailboxes, parts.tokens) {
      case (true, true): "relays' and notification servers' data"
      case (true, false): "relays' data"
      case (false, true): "notification servers' data"
      case (false, false): "nothing"
      }
    }
  }
#endif
