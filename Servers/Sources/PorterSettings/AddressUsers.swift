/// The users and passwords in a list of addresses such as `nats://user:password@host:4222,nats://other:4222`.
enum AddressUsers {
  /// The same list without them.
  static func hidden(in text: String) -> String {
    text.split(separator: ",", omittingEmptySubsequences: false).map { hidden(inOne: $0) }.joined(separator: ",")
  }

  private static func hidden(inOne address: Substring) -> String {
    guard let user = user(of: address) else { return String(address) }
    return address[..<user.lowerBound] + "…" + address[user.upperBound...]
  }

  static func isAny(in text: String) -> Bool { text.split(separator: ",").contains { user(of: $0) != nil } }

  /// Before the last @ of what names the host.
  private static func user(of address: Substring) -> Range<Substring.Index>? {
    guard let colon = address.firstIndex(of: ":"), address[colon...].hasPrefix("://") else { return nil }
    let start = address.index(colon, offsetBy: 3)
    let end = address[start...].firstIndex { "/?#".contains($0) } ?? address.endIndex
    return address[start..<end].lastIndex(of: "@").map { start..<$0 }
  }
}
