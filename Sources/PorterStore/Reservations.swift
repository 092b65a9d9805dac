import PorterCrypto
import PorterMachines
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
  /// The data needed to finish the use, as stored by the process that first reserved the value.
  package let material: SecretBytes
}

/// A reservation as it is stored.
package struct StoredReservation: Sendable {
  package let kind: ReservationKind
  package let value: [UInt8]
  package let owner: Owner?
  package let epoch: Int64
  package let state: ValueReservation.State
  package let material: SecretBytes

  package init(
    kind: ReservationKind, value: [UInt8], owner: Owner?, epoch: Int64, state: ValueReservation.State,
    material: SecretBytes
  ) {
    (self.kind, self.value, self.owner) = (kind, value, owner)
    (self.epoch, self.state, self.material) = (epoch, state, material)
  }
}

/// Values that may be used only once. They are reserved in a transaction before the use, and marked as used in the
/// transaction that records its result. A process that is frozen or killed in between leaves a reservation that the
/// next process takes over; the epoch keeps the earlier one out permanently.
extension Store {
  /// Nil if the value was used. Part of the caller's transaction, which must end before the value is used.
  package func reserve(
    _ kind: ReservationKind, _ value: [UInt8], by owner: Owner, material: SecretBytes, at time: WallTime
  ) throws(StoreError) -> Reservation? {
    let existing = try reservation(kind, value)
    let step = ValueReservation.storedStep(existing?.state ?? .free, .want, of: kind.rawValue, log)
    guard step.next == .reserved else { return nil }
    var change = ReservationChange(
      kind: kind, value: value, epoch: (existing?.epoch ?? 0) &+ 1, owner: owner, material: material, at: time,
      stored: existing)
    try ValueReservation.record(step, by: ReservationRecorder(store: self), &change)
    return Reservation(kind: kind, value: value, epoch: change.epoch, material: change.material)
  }

  /// Replaces the material for finishing the use, if a later command asks for it differently from the one that reserved
  /// the value. Part of the caller's transaction.
  package func revise(
    _ reservation: Reservation, material: SecretBytes
  ) throws(StoreError) -> Reservation {
    try require(reservation)
    try run(
      "UPDATE reservations SET material = ? WHERE kind = ? AND value = ? AND epoch = ?",
      [
        .blob(material.exposeForStorage()), .text(reservation.kind.rawValue), .blob(reservation.value),
        .integer(reservation.epoch),
      ])
    return Reservation(
      kind: reservation.kind, value: reservation.value, epoch: reservation.epoch, material: material)
  }

  /// Whether `reserve` would return nil.
  package func isUsed(_ kind: ReservationKind, _ value: [UInt8]) throws(StoreError) -> Bool {
    let existing = try reservation(kind, value)
    return ValueReservation.step(existing?.state ?? .free, .want).next != .reserved
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

  /// Marks the value as used; it can never be used again. Part of the transaction that records the result.
  package func use(_ reservation: Reservation) throws(StoreError) { try end(reservation, .use) }

  /// Records that the value was not used, and still may be. Part of the caller's transaction.
  package func undo(_ reservation: Reservation) throws(StoreError) { try end(reservation, .undo) }

  /// Gives up the attempt, whichever process has it. Part of the caller's transaction.
  package func abandon(_ stored: StoredReservation) throws(StoreError) {
    var change = ReservationChange(
      kind: stored.kind, value: stored.value, epoch: stored.epoch, owner: nil, material: stored.material, at: nil,
      stored: stored)
    try ValueReservation.record(
      ValueReservation.storedStep(stored.state, .undo, of: stored.kind.rawValue, log),
      by: ReservationRecorder(store: self), &change)
  }

  /// For a kind whose values are drawn anew each time: a new attempt replaces all before it. A process that still has
  /// an earlier one is refused, as if it had been taken over; nothing needs to be remembered about it. Part of the
  /// caller's transaction.
  package func forgetReservations(_ kind: ReservationKind) throws(StoreError) {
    try run("DELETE FROM reservations WHERE kind = ?", [.text(kind.rawValue)])
  }

  /// Unfinished reservations, oldest first.
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
    guard let kind = ReservationKind(rawValue: row.text(0)),
      let state = ValueReservation.State(name: row.text(4))
    else { throw .damaged(.reservation) }
    return StoredReservation(
      kind: kind, value: row.blob(1), owner: Owner(stored: row.text(2)), epoch: row.integer(3), state: state,
      material: SecretBytes(row.blob(5)))
  }

  /// Does nothing if the value was taken over since: the later owner ends it.
  private func end(_ reservation: Reservation, _ event: ValueReservation.Event) throws(StoreError) {
    let stored = try self.reservation(reservation.kind, reservation.value)
    guard let stored, stored.epoch == reservation.epoch else { return }
    var change = ReservationChange(
      kind: stored.kind, value: stored.value, epoch: stored.epoch, owner: nil, material: stored.material, at: nil,
      stored: stored)
    try ValueReservation.record(
      ValueReservation.storedStep(stored.state, event, of: stored.kind.rawValue, log),
      by: ReservationRecorder(store: self), &change)
  }
}

/// The changes that a step makes.
private struct ReservationChange {
  let kind: ReservationKind
  let value: [UInt8]
  let epoch: Int64
  /// The process that wants the value.
  let owner: Owner?
  var material: SecretBytes
  let at: WallTime?
  let stored: StoredReservation?
}

/// Writes the steps of the machine `value_reservation`. Part of the caller's transaction.
private struct ReservationRecorder: ValueReservationRecord {
  let store: Store

  func reserve(_ change: inout ReservationChange, _ next: ValueReservation.State) throws(StoreError) {
    try write(change, next)
  }

  func takeOver(_ change: inout ReservationChange, _ next: ValueReservation.State) throws(StoreError) {
    change.material = change.stored?.material ?? change.material
    try write(change, next)
  }

  func eraseMaterial(_ change: inout ReservationChange, _ next: ValueReservation.State) throws(StoreError) {
    try store.run(
      "UPDATE reservations SET state = ?, material = x'' WHERE kind = ? AND value = ? AND epoch = ?",
      [.text(next.name), .text(change.kind.rawValue), .blob(change.value), .integer(change.epoch)])
  }

  private func write(
    _ change: ReservationChange, _ next: ValueReservation.State
  ) throws(StoreError) {
    guard let owner = change.owner, let time = change.at else { throw .damaged(.reservation) }
    try store.run(
      """
      INSERT OR REPLACE INTO reservations (kind, value, owner, epoch, state, material, created_at)
      VALUES (?, ?, ?, ?, ?, ?, ?)
      """,
      [
        .text(change.kind.rawValue), .blob(change.value), .text(owner.stored), .integer(change.epoch),
        .text(next.name), .blob(change.material.exposeForStorage()), .integer(time.milliseconds),
      ])
  }
}
