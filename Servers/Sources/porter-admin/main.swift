import PorterRelay
import PorterServer
import PorterSettings

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

func put(_ text: String, to descriptor: Int32) {
  var rest = Array(text.utf8)[...]
  while !rest.isEmpty {
    let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    if count > 0 { rest = rest.dropFirst(count) } else if count == 0 || errno != EINTR { return }
  }
}

/// Identifiers are secrets, but other users of the machine can see a process's arguments.
func secret(_ name: String, _ settings: Settings) throws -> String {
  let text = try settings.require(name)
  guard text == "-" else { return text }
  guard let line = readLine(), !line.isEmpty else { throw Failure("--\(name) -: standard input has no line") }
  return line
}

func verify(_ folder: DataFolder) throws(Failure) {
  let problems = folder.problems
  guard problems.isEmpty else { throw Failure("\(folder.path): \(problems.joined(separator: "\n  "))") }
  put("ok: a \(folder.name)'s data\n", to: 1)
}

func tokens(_ settings: Settings) throws -> (ServerAdministration, [Token]) {
  let administration = ServerAdministration(state: try DataFolder(settings.require("data")).require(.server))
  let tokens = try administration.tokens(secret("token", settings))
  guard !tokens.isEmpty else { throw Failure("there is no such token") }
  return (administration, tokens)
}

typealias Token = ServerAdministration.Token

func show(_ token: Token) {
  var lines = [
    "id = \(token.id)", "provider = \(token.provider)", "state = \(token.state)",
    "interval = \(token.interval) minutes", "last-use = \(token.lastUse)", "pushes-due = \(token.pushes)",
  ]
  for (status, count) in token.subscriptions.sorted(by: { $0.key < $1.key }) {
    lines.append("subscriptions-\(status) = \(count)")
  }
  put(lines.joined(separator: "\n") + "\n", to: 1)
}

func revoke(_ settings: Settings) throws {
  let (administration, tokens) = try tokens(settings)
  for token in tokens {
    report(token, isRevoked: try administration.revoke(token))
  }
}

func report(_ token: Token, isRevoked: Bool) { put("\(token.id) \(isRevoked ? "revoked" : "was gone")\n", to: 1) }

func showMailbox(_ settings: Settings) throws {
  let file = try DataFolder(settings.require("data")).require(.relay)
  try show(RelayAdministration(path: file).usage(of: secret("mailbox", settings)))
}

func show(_ usage: RelayAdministration.Usage?) throws(Failure) {
  guard let usage else { throw Failure("there is no such mailbox") }
  let listeners = usage.listeners.map { "listeners = \($0)\n" } ?? ""
  let oldest = usage.oldestSeconds.map { "oldest = \($0) s\n" } ?? ""
  put(
    """
    waiting = \(usage.waiting) of \(usage.quota) messages
    size = \(usage.bytes) bytes
    \(oldest)secured = \(usage.isSecured ? "yes" : "no")
    notifications = \(usage.isWatched ? "yes" : "no")
    \(listeners)
    """, to: 1)
}

func run(_ command: String, _ settings: Settings) throws {
  #if JetStream
    if try settings.require("store") != "file" { return try ClusterCommands(settings).run(command, settings) }
    if command == "verify", try ClusterCommands.isBackup(settings.require("data")) {
      return try ClusterCommands.verify(backup: settings.require("data"))
    }
  #else
    guard try settings.require("store") == "file" else { throw Failure("store: built without JetStream") }
  #endif
  switch command {
  case "verify": try verify(DataFolder(settings.require("data")))
  case "backup":
    let folder = try DataFolder(settings.require("data"))
    try Backup.make(of: folder, at: settings.require("to"))
    put("ok\n", to: 1)
  case "restore":
    let backup = try DataFolder(settings.require("from"))
    try Backup.restore(backup, to: settings.require("data"), replacing: settings.text("replace") == "yes")
    put("ok\n", to: 1)
  case "drain":
    let seconds = try settings.number("wait")
    try Drain.run(settings.require("data"), waitingAtMost: seconds)
  case "token": for token in try tokens(settings).1 { show(token) }
  case "revoke": try revoke(settings)
  default: try showMailbox(settings)
  }
}

// Files created here are for this user only.
umask(0o077)
do {
  switch try AdminSettings.table.request() {
  case .document(let text): put(text, to: 1)
  case .printing(let settings): put(settings.listing, to: 1)
  case .command(let command, let settings): try run(command, settings)
  }
} catch let failure as Failure {
  put("porter-admin: \(failure.text)\n", to: 2)
  exit(1)
} catch {
  put("porter-admin: \(error)\n", to: 2)
  exit(1)
}
