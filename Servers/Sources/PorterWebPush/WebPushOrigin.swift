import PorterPushClient

/// A push service: the part of an endpoint before its path.
struct WebPushOrigin: Hashable {
  let host: String
  let port: Int

  /// Nil unless it is an https address with a host and a path, in visible ASCII as RFC 3986 requires: C functions read
  /// a host only up to a zero byte.
  init?(of endpoint: String) {
    guard endpoint.hasPrefix("https://"), endpoint.utf8.allSatisfy({ 0x21...0x7e ~= $0 }) else { return nil }
    let authority = endpoint.dropFirst(8).prefix { $0 != "/" }
    guard authority.endIndex < endpoint.endIndex else { return nil }
    var (host, rest): (Substring, Substring)
    if authority.first == "[" {
      guard let end = authority.firstIndex(of: "]") else { return nil }
      host = authority[authority.index(after: authority.startIndex)..<end]
      rest = authority[authority.index(after: end)...]
      // Brackets may contain only an IPv6 address.
      guard host.contains(":"), AddressRule.isPublic(literal: String(host)) != nil else { return nil }
    } else {
      host = authority.prefix { $0 != ":" }
      rest = authority.dropFirst(host.count)
      guard !host.contains(where: { "[]".contains($0) }) else { return nil }
    }
    guard !host.isEmpty else { return nil }
    self.host = host.lowercased()
    if rest.isEmpty {
      port = 443
    } else {
      guard rest.first == ":", rest.dropFirst().utf8.allSatisfy({ 0x30...0x39 ~= $0 }),
        let port = Int(rest.dropFirst()),
        1...65_535 ~= port
      else { return nil }
      self.port = port
    }
  }

  var authority: String {
    let host = host.contains(":") ? "[\(host)]" : host
    return port == 443 ? host : "\(host):\(port)"
  }

  /// The audience of a VAPID token.
  var text: String { "https://\(authority)" }

  static func path(of endpoint: String) -> String? {
    guard let start = endpoint.dropFirst(8).firstIndex(of: "/") else { return nil }
    return String(endpoint[start...])
  }
}
