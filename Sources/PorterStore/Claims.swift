import PorterPlatform

/// The right to advance one connection, as long as its epoch is the connection's current one.
package struct Claim: Hashable, Sendable {
  package let connectionID: Int64
  package let epoch: Int64
}

extension Store {
  /// Takes the connection over: from now on nobody who claimed it earlier can commit to it (INC-04, INC-05). Nothing is
  /// held afterwards; a claim that is forgotten costs nothing and stops nobody (INC-07, INC-20).
  ///
  /// Not synced to the disk: a power failure that loses an epoch also ends every process that could have used it.
  package func claim(connectionID: Int64, by instance: Instance) throws(StoreError) -> Claim {
    try lightTransaction { () throws(StoreError) in
      let epoch = try first(
        "UPDATE connections SET epoch = epoch + 1, owner = ?2 WHERE connection_id = ?1 RETURNING epoch",
        [.integer(connectionID), .text(instance.stored)]
      ) { $0.integer(0) }
      guard let epoch else { throw .notFound(.connection) }
      return Claim(connectionID: connectionID, epoch: epoch)
    }
  }

  /// A transaction that commits only if `claim` is still the connection's latest. The check is inside the transaction,
  /// so that the database itself refuses a stale owner.
  @discardableResult
  package func transaction<Result>(
    under claim: Claim, _ body: () throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    try transaction { () throws(StoreError) in
      let epoch = try integer("SELECT epoch FROM connections WHERE connection_id = ?", [.integer(claim.connectionID)])
      guard let epoch else { throw .notFound(.connection) }
      guard epoch == claim.epoch else { throw .staleEpoch }
      return try body()
    }
  }
}
