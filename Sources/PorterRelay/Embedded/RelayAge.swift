import PorterPlatform
import PorterStore

/// How long the relay's file has been in use, in milliseconds: what retention is counted by.
///
/// Each process that opens the file acts as the relay, and a phone's wall clock can be put forward by a year. By that
/// clock one process would drop what all others wait for (INC-14). The file's age grows by the time since boot instead,
/// and stands still while the machine is off: a message is kept for at least its 21 days.
struct RelayAge {
  /// The age at `moment` of the running boot.
  private let base: Int64
  private let moment: Moment

  /// Reads the age that the file has. The first reader of a boot continues from the last one stored.
  init(of database: Database, ports: Ports) throws(SQLiteError) {
    let boot = Self.boot(ports)
    let now = ports.clock.now()
    let stored = try database.first("SELECT boot, moment, age FROM age") { (row) throws(SQLiteError) in
      (boot: row.text(0), moment: Moment(nanoseconds: row.integer(1)), age: row.integer(2))
    }
    guard let stored else {
      (base, moment) = (0, now)
      return
    }
    base = stored.age
    moment = stored.boot == boot && stored.moment <= now ? stored.moment : now
  }

  func value(at now: Moment) -> Int64 { base &+ max(0, (now - moment).milliseconds) }

  /// Stores the age; inside a transaction. Time that no transaction has stored is not counted after the next boot.
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
