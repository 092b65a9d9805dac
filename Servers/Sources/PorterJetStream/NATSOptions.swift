public import PorterTLS

/// How to reach a cluster.
public struct NATSOptions: Sendable {
  /// `nats://host:port`, several separated by commas.
  let servers: String
  /// A file with a user's JWT and seed.
  let credentials: String?
  /// Certificate authorities for `tls://` addresses.
  let authorities: String?
  /// How long a request waits for its answer.
  var patience = Duration.milliseconds(700)

  /// For logs and `/health`, without users and passwords.
  var shownServers: String {
    servers.split(separator: "://", omittingEmptySubsequences: false)
      .map { part in part.lastIndex(of: "@").map { part[part.index(after: $0)...] } ?? part }
      .joined(separator: "://")
  }

  /// Reads the files to check that they are usable.
  public init(servers: String, credentials: String?, authorities: String?) throws(CertificateError) {
    if let credentials { try GivenFiles.checkCredentials(credentials) }
    if let authorities { try GivenFiles.checkAuthorities(authorities) }
    (self.servers, self.credentials, self.authorities) = (servers, credentials, authorities)
  }

  /// For a cluster that requires no user.
  public init(servers: String) { (self.servers, credentials, authorities) = (servers, nil, nil) }
}
