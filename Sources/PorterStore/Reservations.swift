import PorterCrypto
import PorterPlatform

/// The kinds of values that may be used only once, and are reserved first.
package enum ReservationKind: String, Sendable {
  /// An invitation from another user: two answers to it would be two connections of which one never works (INC-08). The
  /// value is the invitation's mailbox.
  case invitation
  /// A registration or replacement of the device's token at its server (INC-09). The value is the attempt's own; at
  /// most one is open.
  case token
}

/// The right to use one value, until another process takes it over.
package struct Reservation: Sendable {
  package let kind: ReservationKind
  package let value: [UInt8]
  package let epoch: Int64
  /// What finishing the use needs, as stored by the process that first reserved the value.
  package let material: SecretBytes
}

/// A reservation as it is stored.
package struct StoredReservation: Sendable {
  package enum State: String, Sendable { case reserved, used, undone }

  package let kind: ReservationKind
  package let value: [UInt8]
  package let owner: Owner?
  package let epoch: Int64
  package let state: State
  package let material: SecretBytes

  package init(
    kind: ReservationKind, value: [UInt8], owner: Owner?, epoch: Int64, state: State, material: SecretBytes
  ) {
    (self.kind, self.value, self.owner) = (kind, value, owner)
    (self.epoch, self.state, self.material) = (epoch, state, material)
  }

  /// What a value's record answers to a process that wants to use it.
  package enum Answer: Equatable, Sendable {
    /// Unused, and not reserved.
    case reserve(epoch: Int64)
    /// Another process had reserved it: whatever that one still does is refused from now on, and the use is finished
    /// with the same material.
    case takeOver(epoch: Int64)
    /// Already used.
    case refuse
  }

  package static func answer(to existing: StoredReservation?) -> Answer {
    guard let existing else { return .reserve(epoch: 1) }
    switch existing.state {
    case .reserved: return .takeOver(epoch: existing.epoch + 1)
    // The epoch continues, so that an owner from before the undo stays out.
    case .undone: return .reserve(epoch: existing.epoch + 1)
    case .used: return .refuse
    }
  }
}

/// Values that may be used only once. They are reserved in a transaction before the use, and marked as used in the
/// transaction that records its result. A process that is frozen or killed in between leaves a reservation that the
/// next process takes over; the epoch keeps the earlier one out for good.
extension Store {
  /// Nil if the value was used. Part of the caller's transaction, which has to be over before the value is used.
  package func reserve(
    _ kind: ReservationKind, _ value: [UInt8], by owner: Owner, material: SecretBytes, at time: WallTime
  ) throws(StoreError) -> Reservation? {
    let existing = try reservation(kind, value)
    switch StoredReservation.answer(to: existing) {
    case .refuse: return nil
    case .reserve(let epoch):
      try write(kind, value, owner: owner, epoch: epoch, material: material, at: time)
      return Reservation(kind: kind, value: value, epoch: epoch, material: material)
    case .takeOver(let epoch):
      let kept = existing?.material ?? material
      try write(kind, value, owner: owner, epoch: epoch, material: kept, at: time)
      return Reservation(kind: kind, value: value, epoch: epoch, material: kept)
    }
  }

  /// A transaction that commits only if `reservation` has not been taken over since (INC-08, INC-09).
  @discardableResult
  package func transaction<Result>(
    under reservation: Reservation, _ body: () throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    try transaction { () throws(StoreError) in
      try require(reservation)
      return try body()
    }
  }

  /// Part of the caller's transaction.
  package func require(_ reservation: Reservation) throws(StoreError) {
    let stored = try self.reservation(reservation.kind, reservation.value)
    guard let stored, stored.epoch == reservation.epoch, stored.state == .reserved else {
      throw .staleEpoch(owner: stored?.owner)
    }
  }

  /// The value has been used, and can never be used again. Part of the transaction that records the result.
  package func use(_ reservation: Reservation) throws(StoreError) { try end(reservation, .used) }

  /// The value was not used, and still may be. Part of the caller's transaction.
  package func undo(_ reservation: Reservation) throws(StoreError) { try end(reservation, .undone) }

  /// For a kind whose values are drawn anew each time: a new attempt replaces all before it. A process that still has
  /// an earlier one is refused, as if it had been taken over; nothing needs to be remembered about it. Part of the
  /// caller's transaction.
  package func forgetReservations(_ kind: ReservationKind) throws(StoreError) {
    try run("DELETE FROM reservations WHERE kind = ?", [.text(kind.rawValue)])
  }

  /// Reservations that were begun and not finished, oldest first.
  package func openReservations(_ kind: ReservationKind) throws(StoreError) -> [StoredReservation] {
    try rows(
      "SELECT \(Self.reservationColumns) FROM reservations WHERE kind = ? AND state = 'reserved' ORDER BY created_at",
      [.text(kind.rawValue)]
    ) { (row) throws(StoreError) in try Self.reservation(row) }
  }

  private func reservation(_ kind: ReservationKind, _ value: [UInt8]) throws(StoreError) -> StoredReservation? {
    try first(
      "SELECT \(Self.reservationColumns) FROM reservations WHERE kind = ? AND value = ?",
      [.text(kind.rawValue), .blob(value)]
    ) { (row) throws(StoreError) in try Self.reservation(row) }
  }

  private static let reservationColumns = "kind, value, owner, epoch, state, material"

  private static func reservation(_ row: borrowing Row) throws(StoreError) -> StoredReservation {
    guard let kind = ReservationKind(rawValue: row.text(0)), let state = StoredReservation.State(rawValue: row.text(4))
    else { throw .damaged(.reservation) }
    return StoredReservation(
      kind: kind, value: row.blob(1), owner: Owner(stored: row.text(2)), epoch: row.integer(3), state: state,
      material: SecretBytes(row.blob(5)))
  }

  private func write(
    _ kind: ReservationKind, _ value: [UInt8], owner: Owner, epoch: Int64, material: SecretBytes, at time: WallTime
  ) throws(StoreError) {
    try run(
      """
      INSERT OR REPLACE INTO reservations (kind, value, owner, epoch, state, material, created_at)
      VALUES (?, ?, ?, ?, 'reserved', ?, ?)
      """,
      [
        .text(kind.rawValue), .blob(value), .text(owner.stored), .integer(epoch), .blob(material.exposeForStorage()),
        .integer(time.milliseconds),
      ])
  }

  /// Erases the material it was made with, which is no longer needed.
  private func end(_ reservation: Reservation, _ state: StoredReservation.State) throws(StoreError) {
    try run(
      "UPDATE reservations SET state = ?, material = x'' WHERE kind = ? AND value = ? AND epoch = ?",
      [
        .text(state.rawValue), .text(reservation.kind.rawValue), .blob(reservation.value), .integer(reservation.epoch),
      ])
  }
}
