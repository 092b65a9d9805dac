import PorterCrypto
import PorterPush
import PorterRelay
import PorterSchema
import PorterStore

/// Why a notification server's answer is missing.
enum ServerFailure: Error, Equatable {
  case relay(RelayError)
  case timeout
  case refused(ServerRefusal)
  case push(PushError)
  /// A different kind of answer than requested.
  case unexpected

  var isTemporary: Bool {
    switch self {
    case .relay(let error): error.isTemporary || error == .closed
    case .timeout, .refused(.internal): true
    case .refused, .push, .unexpected: false
    }
  }
}

extension ChatError {
  /// A failure of this notification server, or of the relay on the way to it.
  init(_ failure: ServerFailure, server: String, relay: String) {
    switch failure {
    case .relay(let error): self.init(error, relay: relay)
    case .timeout: self = .agent(.broker(server: server, .timeout))
    case .refused(.authorization): self = .agent(.notificationServer(server: server, .authentication))
    case .refused(.quota): self = .agent(.notificationServer(server: server, .quota))
    case .refused(.syntax): self = .agent(.notificationServer(server: server, .commandSyntax))
    case .refused(.noCredentials): self = .agent(.notificationServer(server: server, .service))
    case .refused(.internal): self = .agent(.notificationServer(server: server, .internal))
    case .push(let error): self = .agent(.broker(server: server, .unexpected(error.description)))
    case .unexpected: self = .agent(.broker(server: server, .unexpected("another answer than asked for")))
    }
  }
}
