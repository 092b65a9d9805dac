import PorterPlatform
import PorterRelay
import PorterStore

/// What the time since a token was last used is counted by. The wall clock is not it: one that is put forward, or that was wrong until it was
/// set, would expire tokens of clients that are in use (INC-14).
enum UseClock {
  /// Of a server that has its state alone.
  case file(StateAge)
  /// Of servers that share it.
  case cluster(ClusterTime)

  /// In milliseconds. It is later than it ought to be rather than earlier: what is counted so is kept longer.
  func time(now: Moment, wall: WallTime) -> Int64 {
    switch self {
    case .file(let age): age.value(at: now)
    case .cluster(let time): max(time.value(at: now), wall.milliseconds)
    }
  }

  /// Whether tokens may expire by it. Of two clocks that differ one is wrong, which may be the cluster's.
  func isCertain(now: Moment, wall: WallTime) -> Bool {
    switch self {
    case .file: true
    case .cluster(let time): time.difference(now: now, wall: wall) == nil
    }
  }
}

/// How long the server's file has been in use. It grows by the time since boot, and stands still while the machine is off.
struct StateAge {
  struct Stored {
    let boot: String
    let moment: Moment
    let age: Int64
  }

  let boot: String
  private let base: Int64
  private let moment: Moment

  /// `stored` is nil for a new file.
  init(_ stored: Stored?, boot: String, now: Moment) {
    self.boot = boot
    base = stored?.age ?? 0
    // What has passed since the file was last written in another boot is not known.
    moment = stored.map { $0.boot == boot ? min($0.moment, now) : now } ?? now
  }

  func value(at now: Moment) -> Int64 { base &+ max(0, (now - moment).milliseconds) }
}

extension ServerState {
  func age(boot: String, now: Moment) throws(ServerError) -> StateAge {
    let stored = try storage { () throws(SQLiteError) in
      try database.first("SELECT boot, moment, age FROM age") { row in
        StateAge.Stored(boot: row.text(0), moment: Moment(nanoseconds: row.integer(1)), age: row.integer(2))
      }
    }
    return StateAge(stored, boot: boot, now: now)
  }

  /// Time that was not stored is not counted after the next boot.
  func store(_ age: StateAge, now: Moment) throws(ServerError) {
    try storage { () throws(SQLiteError) in
      try database.run(
        """
        INSERT INTO age (number, boot, moment, age) VALUES (1, ?1, ?2, ?3)
        ON CONFLICT (number) DO UPDATE SET boot = excluded.boot, moment = excluded.moment, age = excluded.age
        """, [.text(age.boot), .integer(now.nanoseconds), .integer(age.value(at: now))])
    }
  }
}
