public import PorterTLS

/// How a cluster is reached.
public struct NATSOptions: Sendable {
  /// `nats://host:port`, several with commas between them.
  let servers: String
  /// A file with a user's JWT and seed.
  let credentials: String?
  /// Authorities for `tls://` addresses.
  let authorities: String?

  /// Reads the files, to find out whether they can be used.
  public init(servers: String, credentials: String?, authorities: String?) throws(CertificateError) {
    if let credentials { try GivenFiles.checkCredentials(credentials) }
    if let authorities { try GivenFiles.checkAuthorities(authorities) }
    (self.servers, self.credentials, self.authorities) = (servers, credentials, authorities)
  }

  /// Of a cluster that asks for no user.
  public init(servers: String) { (self.servers, credentials, authorities) = (servers, nil, nil) }
}
