// How long a commit waits while another process commits without a pause.
//
//   bench-commit-latency app|extension ours|sqlite FILE SECONDS
//
// `app` commits one row after another, and prints how many. `extension` commits one every few milliseconds, and prints
// the milliseconds of each. `ours` waits for the lock as the store does, `sqlite` as sqlite3_busy_timeout() does;
// everything else is the same: WAL, synchronous=FULL.
import CSQLite
import PorterPlatform
import PorterStore

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#endif

let insertion = "INSERT INTO message (body) VALUES (zeroblob(400))"
let schema = "CREATE TABLE IF NOT EXISTS message (message_id INTEGER PRIMARY KEY, body BLOB)"

func fail(_ reason: String) -> Never {
  let line = Array("bench-commit-latency: \(reason)\n".utf8)
  _ = line.withUnsafeBytes { write(2, $0.baseAddress, $0.count) }
  exit(1)
}

/// Makes one commit per call.
func ours(_ path: String) -> () -> Void {
  do {
    let database = try Database(path: path)
    try database.execute(schema)
    return {
      do {
        try database.transaction { () throws(SQLiteError) in try database.run(insertion) }
      } catch { fail("\(error)") }
    }
  } catch { fail("\(error)") }
}

func sqlite(_ path: String) -> () -> Void {
  var handle: OpaquePointer?
  let run = { (sql: String) in
    let code = sqlite3_exec(handle, sql, nil, nil, nil)
    if code != SQLITE_OK { fail("\(sql): \(code)") }
  }
  guard sqlite3_open(path, &handle) == SQLITE_OK else { fail("\(path) does not open") }
  sqlite3_busy_timeout(handle, 30_000)
  run("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; \(schema)")
  return { run("BEGIN IMMEDIATE; \(insertion); COMMIT") }
}

let words = CommandLine.arguments
guard words.count == 5, let seconds = Double(words[4]) else { fail("app|extension ours|sqlite FILE SECONDS") }
let commit = words[2] == "ours" ? ours(words[3]) : sqlite(words[3])
let clock = SystemClock()
let end = clock.now() + .milliseconds(Int64(seconds * 1000))
if words[1] == "app" {
  var count = 0
  while clock.now() < end {
    commit()
    count += 1
  }
  print(count)
} else {
  repeat {
    usleep(3_000)
    let start = clock.now()
    commit()
    print(Double((clock.now() - start).nanoseconds) / 1e6)
  } while clock.now() < end
}
