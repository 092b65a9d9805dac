import PorterJSON

/// A web address, and the same address without tracking parameters.
package struct WebAddress: Hashable, Sendable {
  /// Lower case.
  package var scheme: String
  /// Nil if there is nothing to remove.
  package var sanitized: String?

  /// Nil unless it is an absolute `http` or `https` address with a host.
  package init?(_ text: String, keepsUnknownParameters: Bool) {
    guard text.utf8.count <= 16_384, text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7f }),
      let colon = text.firstIndex(of: ":")
    else { return nil }
    scheme = text[..<colon].lowercased()
    let rest = text[text.index(after: colon)...]
    guard scheme == "https" || scheme == "http", rest.hasPrefix("//") else { return nil }
    let host = rest.dropFirst(2).prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    guard !host.isEmpty, host.last != "@" else { return nil }
    sanitized = Self.sanitize(text, keepsUnknownParameters: keepsUnknownParameters)
  }

  /// The answer of `chat_parse_uri`. With `safe`, removes only known tracking parameters; without it, in an address
  /// whose path already carries an identifier, keeps only those known to select content.
  package static func parseAnswer(_ text: String, safe: Bool) -> JSONValue {
    guard let address = WebAddress(text, keepsUnknownParameters: safe) else {
      return .compact(["parseError": "expected an http or https address"])
    }
    return .compact([
      "uriInfo": .compact([
        "scheme": .string(address.scheme), "sanitized": address.sanitized.map(JSONValue.string),
      ]),
      "parseError": "",
    ])
  }

  private static func sanitize(_ text: String, keepsUnknownParameters: Bool) -> String? {
    let fragmentStart = text.firstIndex(of: "#") ?? text.endIndex
    guard let mark = text[..<fragmentStart].firstIndex(of: "?") else { return nil }
    let parameters = text[text.index(after: mark)..<fragmentStart].split(
      separator: "&", omittingEmptySubsequences: false)
    let onlyKnown = !keepsUnknownParameters && pathHasIdentifier(text[..<mark])
    let kept = parameters.filter { parameter in
      let name = parameter.prefix { $0 != "=" }.lowercased()
      if selecting.contains(name) { return true }
      return !onlyKnown && !isTracking(name)
    }
    guard kept.count < parameters.count else { return nil }
    return text[..<mark] + (kept.isEmpty ? "" : "?" + kept.joined(separator: "&")) + text[fragmentStart...]
  }

  private static func pathHasIdentifier(_ base: Substring) -> Bool {
    base.split(separator: "/").dropFirst(2).contains { segment in segment.utf8.contains { $0 >= 48 && $0 <= 57 } }
  }

  private static func isTracking(_ name: String) -> Bool {
    tracking.contains(name) || trackingPrefixes.contains { name.hasPrefix($0) }
  }

  /// Parameters that select content on well-known sites.
  private static let selecting: Set<String> = ["q", "query", "search", "id", "v", "t", "list", "page", "p"]
  private static let tracking: Set<String> = [
    "fbclid", "gclid", "dclid", "msclkid", "yclid", "twclid", "ttclid", "igshid", "igsh", "si", "ref", "ref_src",
    "ref_url", "mc_cid", "mc_eid", "_hsenc", "_hsmi", "spm",
  ]
  private static let trackingPrefixes = ["utm_", "mtm_", "pk_", "matomo_", "hsa_", "oly_"]
}
