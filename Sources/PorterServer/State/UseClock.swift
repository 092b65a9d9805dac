import PorterPlatform
import PorterRelay
import PorterStore

/// Measures the time since a token was last used. Not by the wall clock: one that is put forward, or was wrong until it
/// was set, would expire tokens of clients that are in use (INC-14).
enum UseClock {
  /// For a server with its own state.
  case file(StateAge)
  /// For servers that share their state.
  case cluster(ClusterTime)

  /// In milliseconds. Errs on the late side: what is timed by it is kept longer.
  func time(now: Moment, wall: WallTime) -> Int64 {
    switch self {
    case .file(let age): age.value(at: now)
    case .cluster(let time): max(time.value(at: now), wall.milliseconds)
    }
  }

  /// Whether tokens may expire by it. If two clocks differ, one is wrong, and it may be the cluster's.
  func isCertain(now: Moment, wall: WallTime) -> Bool {
    switch self {
    case .file: true
    case .cluster(let time): time.difference(now: now, wall: wall) == nil
    }
  }
}

/// How long the server's file has been in use. Grows by the time since boot, and stands still while the machine is off.
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
    // The time since the file was last written in another boot is unknown.
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

  /// Time not stored is not counted after the next boot.
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
