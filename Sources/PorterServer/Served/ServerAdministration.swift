import PorterMachines
import PorterPlatform
import PorterPush
import PorterStore

/// An operator's access to a notification server's state, alongside the process that serves it or without one.
public struct ServerAdministration: Sendable {
  public struct Token: Sendable {
    let number: Int64
    /// base64url.
    public let id: String
    public let provider: String
    /// A state of the machine server_token.
    public let state: String
    /// Minutes between wake-ups; 0 for none.
    public let interval: Int
    /// Seconds since 1970.
    public let lastUse: Int
    /// By status.
    public let subscriptions: [String: Int]
    /// Pushes that are due.
    public let pushes: Int
  }

  /// An operator's name for a token.
  enum Name {
    case token([UInt8])
    case device(PushToken)

    init(_ text: String) throws(PushServiceError) {
      let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      if parts.count == 2 {
        if let bytes = TextEncoding.hexDecoded(parts[1]),
          let pushToken = PushToken(provider: String(parts[0]), bytes: bytes)
        {
          self = .device(pushToken)
          return
        }
      } else if let id = TextEncoding.base64URLDecoded(text) {
        self = .token(id)
        return
      }
      throw PushServiceError("expected a token's identifier, or PROVIDER:HEX")
    }
  }

  private let path: String

  public init(state path: String) { self.path = path }

  /// `name` is a token's identifier, or PROVIDER:HEX for a device, which may have more than one.
  public func tokens(_ name: String) throws(PushServiceError) -> [Token] {
    let (id, pushToken): ([UInt8]?, PushToken?) =
      switch try Name(name) {
      case .token(let id): (id, nil)
      case .device(let pushToken): (nil, pushToken)
      }
    return try using { (state) throws(ServerError) in
      try state.summaries(id: id, pushToken: pushToken).map(Token.init)
    }
  }

  /// Deletes it with its subscriptions, notifications and pushes; its client learns of that when it asks. Returns false
  /// if it no longer exists.
  public func revoke(_ token: Token) throws(PushServiceError) -> Bool {
    try using(.alter) { (state) throws(ServerError) in try state.revoke(token.number) }
  }

  /// Problems with the file; empty if there are none.
  public func problems() -> [String] {
    do throws(PushServiceError) {
      return try using { (state) throws(ServerError) in try state.problems() }
    } catch {
      return [error.description]
    }
  }

  /// Copies the file as of one moment to a new file, which must not exist.
  public func backUp(to copy: String) throws(PushServiceError) {
    try using { (state) throws(ServerError) in
      try state.storage { () throws(SQLiteError) in try state.database.backUp(to: copy) }
    }
  }

  private func using<Result>(
    _ access: ServerState.Access = .look, _ body: (ServerState) throws(ServerError) -> Result
  ) throws(PushServiceError) -> Result {
    do throws(ServerError) {
      let state = try ServerState(path: path, access: access, ports: .system)
      defer { try? state.close() }
      return try body(state)
    } catch {
      throw PushServiceError(error)
    }
  }
}

extension ServerAdministration.Token {
  init(_ summary: ServerState.TokenSummary) {
    number = summary.status.number
    id = TextEncoding.base64URL(summary.id)
    provider = summary.provider
    state = summary.status.state.name
    interval = summary.period
    lastUse = Int(summary.usedAt.milliseconds / 1_000)
    subscriptions = summary.subscriptions
    pushes = summary.pushes
  }
}
