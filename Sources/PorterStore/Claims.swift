import PorterPlatform

/// The right to advance one connection, as long as its epoch is the connection's current one.
package struct Claim: Hashable, Sendable {
  package let connectionID: Int64
  package let epoch: Int64

  package init(connectionID: Int64, epoch: Int64) {
    self.connectionID = connectionID
    self.epoch = epoch
  }
}

/// The process that claimed a connection: a process instance, never a name (INC-06), with its role at the time. The
/// role is for people, and for deciding which process gives way.
package struct Owner: Hashable, Sendable, CustomStringConvertible {
  package let role: String
  package let instance: Instance

  package init(role: String, instance: Instance) {
    self.role = role
    self.instance = instance
  }

  /// `role boot:process:started:nonce`.
  var stored: String { "\(role) \(instance.stored)" }

  init?(stored: String) {
    var fields = TextFields(stored, separator: UInt8(ascii: " "))
    guard let role = fields.next(), !role.isEmpty, let instance = fields.next().flatMap(Instance.init(stored:)),
      fields.isAtEnd
    else { return nil }
    self.init(role: role, instance: instance)
  }

  /// Names role and process, for an error or a log.
  package var description: String { "\(role) \(instance)" }
}

/// A connection's stored owner.
package struct OwnershipRecord: Hashable, Sendable {
  package let epoch: Int64
  /// See `Owner.stored`. The text is read with each connection, and parsed only where its owner is needed.
  let storedOwner: String?

  /// The last process that claimed it, whether or not that process still runs.
  package var owner: Owner? { storedOwner.flatMap { Owner(stored: $0) } }
}

extension Store {
  package func ownership(connectionID: Int64) throws(StoreError) -> OwnershipRecord {
    let found = try first("SELECT epoch, owner FROM connections WHERE connection_id = ?", [.integer(connectionID)]) {
      Self.ownership($0, at: 0)
    }
    guard let found else { throw .notFound(.connection) }
    return found
  }

  /// Takes over the connection: from now on no earlier claimant can commit to it (INC-04, INC-05). Holds nothing
  /// afterwards; an abandoned claim costs nothing and blocks no other process (INC-07, INC-20).
  ///
  /// Returns nil and changes nothing when the epoch is no longer `epoch`: another process was faster.
  ///
  /// Not synced to the disk: a power failure that loses an epoch also ends every process that could have used it.
  package func claim(connectionID: Int64, after epoch: Int64, by owner: Owner) throws(StoreError) -> Claim? {
    try lightTransaction { () throws(StoreError) in
      let changed = try run(
        "UPDATE connections SET epoch = epoch + 1, owner = ?3 WHERE connection_id = ?1 AND epoch = ?2",
        [.integer(connectionID), .integer(epoch), .text(owner.stored)])
      return changed == 1 ? Claim(connectionID: connectionID, epoch: epoch &+ 1) : nil
    }
  }

  /// Whether `claim` is still the connection's latest. Only a snapshot: a commit checks it again.
  package func isCurrent(_ claim: Claim) throws(StoreError) -> Bool {
    try ownership(connectionID: claim.connectionID).epoch == claim.epoch
  }

  /// A transaction that commits only if `claim` is still the connection's latest. The check is inside the transaction,
  /// so the database itself refuses a stale owner and reports the current one.
  @discardableResult
  package func transaction<Result>(
    under claim: Claim, _ body: () throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    try transaction { () throws(StoreError) in
      let current = try ownership(connectionID: claim.connectionID)
      guard current.epoch == claim.epoch else { throw .staleEpoch(owner: current.owner) }
      return try body()
    }
  }

  /// The last owners of this store's connections, with the number of connections each; at most 32 owners.
  package func owners() throws(StoreError) -> [(owner: Owner, connections: Int64)] {
    let found = try rows(
      "SELECT owner, count(*) FROM connections WHERE owner IS NOT NULL GROUP BY owner ORDER BY owner LIMIT 32"
    ) { (owner: Owner(stored: $0.text(0)), connections: $0.integer(1)) }
    return found.compactMap { entry in entry.owner.map { (owner: $0, connections: entry.connections) } }
  }
}
