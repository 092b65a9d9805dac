/// The program's command line.
enum Arguments: Equatable {
  struct Serving: Equatable {
    var relay = ""
    var state = ""
    /// Socket paths, by the name of the push provider each stands in for.
    var locals: [String: String] = [:]
    var readyDescriptor: Int32?
    /// How many tokens are kept; nil for the default.
    var tokens: Int?
    var isVerbose = false
  }

  case serve(Serving)
  case link(state: String)
  /// Sends a sealed envelope from standard input to a scope's mailbox.
  case send(relay: String, address: String)
  case help

  struct Mistake: Error, Equatable {
    let text: String
  }

  static let usage = """
    porter-server --relay FILE --state FILE --local-socket PATH [--provider NAME=local:PATH]… [--tokens N] [--ready-fd N] [--verbose]
    porter-server link --state FILE
    porter-server send --relay FILE --to ADDRESS < ENVELOPE

    Serves clients until SIGTERM or SIGINT. The first line on standard output is the server's link, ntf:…

      --relay FILE                the embedded relay's file
      --state FILE                the server's own file; created if missing, readable by its owner only
      --local-socket PATH         where a device simulator listens; pushes to apns_test tokens go there
      --provider NAME=local:PATH  the same for tokens of another provider
      --tokens N                  tokens that are kept, 2,000,000 unless it is given; further ones are refused
      --ready-fd N                a descriptor to which "ready" is written once the server is serving
      --verbose                   logs to standard error, with the monotonic clock's microseconds

    send leaves an envelope that a service has sealed for a host's scope (spec/protocol/scopes.md) at the address scope:…,
    and ends when the relay has it. The same envelope again changes nothing.

    Exit status: 0 stopped by a signal, or sent; 2 wrong arguments, or not an envelope; 3 the state file cannot be used, 4 the relay cannot be used,
    5 another server is running on the state file, 6 the scope is gone, 7 its mailbox is full, 1 anything else.

    """

  init(_ arguments: [String]) throws(Mistake) {
    if arguments.contains("--help") || arguments.contains("-h") {
      self = .help
    } else if arguments.first == "link" {
      self = .link(state: try Self.serving(arguments.dropFirst(), allowed: ["--state"]).state)
    } else if arguments.first == "send" {
      self = try Self.sending(arguments.dropFirst())
    } else {
      let serving = try Self.serving(arguments[...], allowed: nil)
      guard !serving.relay.isEmpty else { throw Mistake(text: "--relay is missing") }
      try Self.checkRelay(serving.relay)
      guard !serving.locals.isEmpty else { throw Mistake(text: "--local-socket is missing") }
      self = .serve(serving)
    }
  }

  private static func checkRelay(_ path: String) throws(Mistake) {
    guard !path.contains("://") else {
      throw Mistake(text: "--relay takes a file here; a relay on the network is for porter-push, in Servers")
    }
  }

  private static func sending(_ arguments: ArraySlice<String>) throws(Mistake) -> Arguments {
    var (relay, address) = ("", "")
    var rest = arguments
    while let name = rest.popFirst() {
      guard name == "--relay" || name == "--to" else { throw Mistake(text: "\(name) is not valid here") }
      guard let value = rest.popFirst(), !value.isEmpty else { throw Mistake(text: "\(name) needs a value") }
      if name == "--relay" { relay = value } else { address = value }
    }
    guard !relay.isEmpty else { throw Mistake(text: "--relay is missing") }
    try checkRelay(relay)
    guard !address.isEmpty else { throw Mistake(text: "--to is missing") }
    return .send(relay: relay, address: address)
  }

  private static func serving(_ arguments: ArraySlice<String>, allowed: Set<String>?) throws(Mistake) -> Serving {
    var serving = Serving()
    var rest = arguments
    while let name = rest.popFirst() {
      guard allowed?.contains(name) ?? true else { throw Mistake(text: "\(name) is not valid here") }
      if name == "--verbose" {
        serving.isVerbose = true
        continue
      }
      guard ["--relay", "--state", "--local-socket", "--provider", "--tokens", "--ready-fd"].contains(name) else {
        throw Mistake(text: "unknown option \(name)")
      }
      guard let value = rest.popFirst(), !value.isEmpty else { throw Mistake(text: "\(name) needs a value") }
      try serving.set(name, value)
    }
    guard !serving.state.isEmpty else { throw Mistake(text: "--state is missing") }
    return serving
  }
}

extension Arguments.Serving {
  fileprivate mutating func set(_ name: String, _ value: String) throws(Arguments.Mistake) {
    switch name {
    case "--relay": relay = value
    case "--state": state = value
    case "--local-socket": locals["apns_test"] = value
    case "--tokens":
      guard let count = Int(value), count > 0 else {
        throw Arguments.Mistake(text: "--tokens needs a number of at least 1")
      }
      tokens = count
    case "--ready-fd":
      guard let descriptor = Int32(value), descriptor > 2 else {
        throw Arguments.Mistake(text: "--ready-fd needs the number of an open descriptor above 2")
      }
      readyDescriptor = descriptor
    default:
      let parts = value.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, !parts[0].isEmpty, parts[1].hasPrefix("local:"), parts[1].count > 6 else {
        throw Arguments.Mistake(text: "--provider needs NAME=local:PATH")
      }
      locals[String(parts[0])] = String(parts[1].dropFirst(6))
    }
  }
}
