import PorterJSON
import PorterPlatform

/// A notification server: the key for sealing requests to it, and the relay mailbox that receives them.
package struct ServerAddress: Hashable, Sendable, CustomStringConvertible {
  package static let form = "ntf:<key, base64url>@<mailbox, base64url>"

  /// X25519, 32 bytes.
  package var key: [UInt8]
  /// Its mailbox's sender identifier, 24 bytes.
  package var mailbox: [UInt8]

  package init(key: [UInt8], mailbox: [UInt8]) {
    self.key = key
    self.mailbox = mailbox
  }

  /// Nil unless it has the form above and the right sizes.
  package init?(parsing text: String) {
    guard text.utf8.count <= 128, text.hasPrefix("ntf:") else { return nil }
    let parts = text.dropFirst(4).split(separator: "@", omittingEmptySubsequences: false)
    guard parts.count == 2, let key = TextEncoding.base64URLDecoded(parts[0]), key.count == 32,
      let mailbox = TextEncoding.base64URLDecoded(parts[1]), mailbox.count == 24
    else { return nil }
    self.init(key: key, mailbox: mailbox)
  }

  package var description: String { "ntf:\(TextEncoding.base64URL(key))@\(TextEncoding.base64URL(mailbox))" }
}

/// The relay that holds mailboxes.
package enum RelayAddress: Hashable, Sendable, CustomStringConvertible {
  package static let form = "embedded:<path> or a path"

  /// The relay is the file at this path.
  case embedded(path: String)

  /// Nil if it is empty, contains a NUL, or names a scheme other than `embedded`.
  package init?(parsing text: String) {
    let scheme = "embedded:"
    let path = text.hasPrefix(scheme) ? String(text.dropFirst(scheme.count)) : text
    guard !path.isEmpty, path.utf8.count <= 4_096, !path.utf8.contains(0) else { return nil }
    if path == text, !path.hasPrefix("/"), !path.hasPrefix("."), path.contains(":") { return nil }
    self = .embedded(path: path)
  }

  package var description: String {
    switch self {
    case .embedded(let path): "embedded:\(path)"
    }
  }
}

/// The answers of functions that check a text without a controller.
package enum TextChecks {
  /// The answer of `chat_parse_server`: `{serverAddress?, parseError}`, with an empty `parseError` if it is an address.
  package static func server(_ text: String) -> JSONValue {
    if let server = ServerAddress(parsing: text) {
      return address(
        "ntf", host: TextEncoding.base64URL(server.mailbox), key: TextEncoding.base64URL(server.key))
    }
    if text.hasPrefix("embedded:") || text.hasPrefix("/"), case .embedded(let path)? = RelayAddress(parsing: text) {
      return address("smp", host: path, key: "")
    }
    return .compact(["parseError": .string("expected \(ServerAddress.form), or embedded:<path>")])
  }

  private static func address(_ scheme: String, host: String, key: String) -> JSONValue {
    .compact([
      "serverAddress": .compact([
        "serverProtocol": .string(scheme), "hostnames": .array([.string(host)]), "port": "", "keyHash": .string(key),
        "basicAuth": "",
      ]),
      "parseError": "",
    ])
  }

  /// The answer of `chat_json_length`: the length in bytes of the text as a JSON string, without the quotes.
  package static func jsonLength(_ text: String) -> Int { JSONValue.string(text).utf8.count - 2 }
}
