import PorterPlatform
import PorterStore

/// How long the relay's file has been in use, in milliseconds: the clock for retention and the age of messages.
///
/// Each process that opens the file acts as the relay, and a phone's wall clock can be put forward by a year. By that
/// clock one process would drop what all others wait for (INC-14). The file's age instead grows by the time since boot,
/// and stands still while the machine is off: a message is kept for at least its 21 days.
///
/// All processes of a boot count alike, whenever they open the file, so each knows how long ago another stored a
/// message.
struct RelayAge {
  /// The age at `moment` of the running boot.
  private let base: Int64
  private let moment: Moment
  /// False for a new file.
  let isStored: Bool

  /// The stored values.
  struct Stored {
    let boot: String
    let moment: Moment
    let age: Int64
  }

  static func stored(in database: Database) throws(SQLiteError) -> Stored? {
    try database.first("SELECT boot, moment, age FROM age") { stored(in: $0, from: 0) }
  }

  /// Reads the three columns starting at this one.
  static func stored(in row: borrowing Row, from column: Int32) -> Stored {
    Stored(
      boot: row.text(column), moment: Moment(nanoseconds: row.integer(column + 1)), age: row.integer(column + 2))
  }

  /// `stored` is nil for a new file.
  init(_ stored: Stored?, of database: Database, ports: Ports) throws(SQLiteError) {
    let boot = Self.boot(ports)
    let now = ports.clock.now()
    isStored = stored != nil
    guard let stored else {
      (base, moment) = (0, now)
      return
    }
    guard stored.boot != boot else {
      (base, moment) = (stored.age, min(stored.moment, now))
      return
    }
    // The file was at least as old as its newest message when the earlier boot ended, and this boot has its own time.
    let newest = try database.integer("SELECT stored_at FROM message ORDER BY number DESC LIMIT 1") ?? 0
    (base, moment) = (max(stored.age, newest), Moment(nanoseconds: 0))
  }

  func value(at now: Moment) -> Int64 { base &+ max(0, (now - moment).milliseconds) }

  /// Stores the age; inside a transaction. Time not stored by any transaction is not counted after the next boot.
  func store(in database: Database, ports: Ports) throws(SQLiteError) {
    let now = ports.clock.now()
    try database.run(
      """
      INSERT INTO age(age_id, boot, moment, age) VALUES(1, ?1, ?2, ?3)
      ON CONFLICT(age_id) DO UPDATE SET boot = excluded.boot, moment = excluded.moment, age = excluded.age
      WHERE age.boot <> excluded.boot OR age.age < excluded.age
      """, [.text(Self.boot(ports)), .integer(now.nanoseconds), .integer(value(at: now))])
  }

  private static func boot(_ ports: Ports) -> String { (ports.identity ?? .current).boot }
}
