// Connections that release every lock without closing, plain and sealed, alongside processes that do not doze.
#include "dozing.h"

// ---- Kept state ----

static void keeps(const struct layers *layers) {
  const char *path = dozing_make(layers);
  sqlite3 *database = database_open(path, layers->dozing);
  sqlite3_stmt *count, *insert;
  CHECK_EQUAL(sqlite3_prepare_v2(database, "SELECT sum(a) FROM t", -1, &count, NULL), SQLITE_OK);
  CHECK_EQUAL(sqlite3_prepare_v2(database, "INSERT INTO t VALUES(1)", -1, &insert, NULL), SQLITE_OK);
  long long sum = 1;
  for (int round = 0; round < 20; round++) {
    CHECK_EQUAL(sqlite3_step(insert), SQLITE_DONE);
    CHECK_EQUAL(sqlite3_reset(insert), SQLITE_OK);
    sum++;
    CHECK(locks_of(getpid()) > 0, "an open connection has locks");
    doze(database);
    CHECK_EQUAL(dozing_vfs_doze(database), SQLITE_OK);
    struct other other = {0};
    // A process that stays keeps the log's index; otherwise the index is rebuilt.
    if (round % 4 == 1) { other = other_begin(path, layers->usual, STAYS, "INSERT INTO t VALUES(10)"); }
    if (round % 4 == 2) { other_runs(path, layers->usual, IS_KILLED, "INSERT INTO t VALUES(10)"); }
    if (round % 4 == 3) { other_runs(path, layers->usual, IS_KILLED, "INSERT INTO t VALUES(10); PRAGMA wal_checkpoint(TRUNCATE)"); }
    if (round % 4 != 0) { sum += 10; }
    CHECK_EQUAL(dozing_vfs_wake(database), SQLITE_OK);
    CHECK_EQUAL(sqlite3_step(count), SQLITE_ROW);
    CHECK_EQUAL(sqlite3_column_int64(count, 0), sum);
    CHECK_EQUAL(sqlite3_reset(count), SQLITE_OK);
    if (other.pid != 0) { other_kill(other); }
  }
  sqlite3_finalize(count);
  sqlite3_finalize(insert);
  expect_sound(database);
  database_close(database);
  CHECK_EQUAL(locks_of(getpid()), 0);
}

// The index of an empty log that was recovered says nothing about the generation: SQLite takes its cache for current,
// although the database has changed underneath.
static void forgets_pages(const struct layers *layers) {
  const char *path = dozing_make(layers);
  other_runs(path, layers->usual, IS_KILLED, "INSERT INTO t VALUES(1); PRAGMA wal_checkpoint(TRUNCATE)");
  sqlite3 *database = database_open(path, layers->dozing);
  CHECK_EQUAL(ask(database, "SELECT sum(a) FROM t"), 2);
  doze(database);
  other_runs(path, layers->usual, IS_KILLED, "UPDATE t SET a = 5; PRAGMA wal_checkpoint(TRUNCATE)");
  struct other reader = other_begin(path, layers->usual, STAYS, "SELECT * FROM t");
  CHECK_EQUAL(dozing_vfs_wake(database), SQLITE_OK);
  CHECK_EQUAL(ask(database, "SELECT sum(a) FROM t"), 10);
  other_kill(reader);
  database_close(database);
}

// A log whose index needs several regions: recovery writes to all of them, even where the file has been cut in the
// meantime.
static void long_logs(const struct layers *layers) {
  const char *path = dozing_make(layers);
  sqlite3 *database = database_open(path, layers->dozing);
  run_sql(database, "PRAGMA wal_autocheckpoint=0; PRAGMA synchronous=OFF; PRAGMA cache_size=20; CREATE TABLE big(b); "
                    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9000) "
                    "INSERT INTO big SELECT randomblob(3900) FROM n");
  CHECK(file_size(with_suffix(path, "-shm")) >= 3 * 32768, "the index is short");
  doze(database);
  other_runs(path, layers->usual, IS_KILLED, "PRAGMA wal_checkpoint(TRUNCATE)");
  struct other other = other_begin(path, layers->usual, STAYS, "SELECT * FROM t");
  CHECK(file_size(with_suffix(path, "-shm")) <= 2 * 32768, "the index was not begun anew");
  // Only a writer may extend it.
  struct other writer = other_begin(path, layers->usual, STAYS, "BEGIN IMMEDIATE");
  CHECK_EQUAL(dozing_vfs_wake(database), SQLITE_BUSY);
  CHECK_EQUAL(locks_of(getpid()), 0);
  other_kill(writer);
  CHECK_EQUAL(dozing_vfs_wake(database), SQLITE_OK);
  run_sql(database, "UPDATE big SET b = randomblob(3901)");
  doze(database);
  other_kill(other);
  CHECK_EQUAL(dozing_vfs_wake(database), SQLITE_OK);
  CHECK_EQUAL(ask(database, "SELECT sum(length(b)) FROM big"), 9000 * 3901);
  expect_sound(database);
  database_close(database);
}

// ---- Detected changes ----

static void expect_changed(const struct layers *layers, const char *path, sqlite3 *database, long long sum) {
  CHECK_EQUAL(dozing_vfs_wake(database), SQLITE_NOTFOUND);
  CHECK_EQUAL(locks_of(getpid()), 0);
  database_close(database);
  database = database_open(path, layers->dozing);
  CHECK_EQUAL(ask(database, "SELECT sum(a) FROM t"), sum);
  expect_sound(database);
  database_close(database);
}

static sqlite3 *dozing_connection(const struct layers *layers, const char *path) {
  sqlite3 *database = database_open(path, layers->dozing);
  run_sql(database, "INSERT INTO t VALUES(1)");
  doze(database);
  return database;
}

static void notices(const struct layers *layers) {
  // The last connection to close deletes the log.
  const char *path = dozing_make(layers);
  sqlite3 *database = dozing_connection(layers, path);
  other_runs(path, layers->usual, CLOSES, "INSERT INTO t VALUES(1)");
  CHECK(!file_exists(with_suffix(path, "-wal")), "the log was kept");
  expect_changed(layers, path, database, 3);

  // The next one has created a new log. The old inode number becomes free for it only after this connection has closed
  // it.
  database = dozing_connection(layers, path);
  other_runs(path, layers->usual, CLOSES, "INSERT INTO t VALUES(1)");
  struct other other = other_begin(path, layers->usual, STAYS, "INSERT INTO t VALUES(1)");
  expect_changed(layers, path, database, 6);
  other_kill(other);

  // Another file takes the database's place, as after a rekeying.
  database = dozing_connection(layers, path);
  const char *copy = path_of("copy.db");
  database_remove(copy);
  file_copy(path, copy);
  CHECK_EQUAL(rename(copy, path), 0);
  CHECK_EQUAL(dozing_vfs_wake(database), SQLITE_NOTFOUND);
  CHECK_EQUAL(locks_of(getpid()), 0);
  database_close(database);

  path = dozing_make(layers);
  database = dozing_connection(layers, path);
  CHECK_EQUAL(unlink(path), 0);
  CHECK_EQUAL(dozing_vfs_wake(database), SQLITE_NOTFOUND);
  database_close(database);
}

// The log file stays, although the database is no longer in WAL mode.
static void notices_modes(const struct layers *layers) {
  const char *path = dozing_make(layers);
  sqlite3 *database = dozing_connection(layers, path);
  pid_t pid = fork();
  if (pid == 0) {
    sqlite3 *mine = database_open(path, layers->usual);
    int keep = 1;
    CHECK_EQUAL(sqlite3_file_control(mine, "main", SQLITE_FCNTL_PERSIST_WAL, &keep), SQLITE_OK);
    run_sql(mine, "PRAGMA journal_mode=DELETE; INSERT INTO t VALUES(1)");
    database_close(mine);
    leave(0);
  }
  waitpid(pid, NULL, 0);
  CHECK(file_exists(with_suffix(path, "-wal")), "the log was deleted");
  expect_changed(layers, path, database, 3);
}

static void waits_for_none(const struct layers *layers) {
  const char *path = dozing_make(layers);
  sqlite3 *database = dozing_connection(layers, path);
  struct other other = other_begin(path, layers->usual, STAYS, "PRAGMA locking_mode=EXCLUSIVE; INSERT INTO t VALUES(1)");
  CHECK_EQUAL(dozing_vfs_wake(database), SQLITE_BUSY);
  CHECK_EQUAL(locks_of(getpid()), 0);
  other_kill(other);
  CHECK_EQUAL(dozing_vfs_wake(database), SQLITE_OK);
  CHECK_EQUAL(ask(database, "SELECT sum(a) FROM t"), 3);
  database_close(database);
}

// ---- Caller errors ----

static void refuses(const struct layers *layers) {
  const char *path = dozing_make(layers);
  sqlite3 *database = database_open(path, layers->dozing);
  // No log is open yet.
  CHECK_EQUAL(dozing_vfs_doze(database), SQLITE_NOTFOUND);
  CHECK_EQUAL(dozing_vfs_wake(database), SQLITE_OK);
  run_sql(database, "BEGIN IMMEDIATE; INSERT INTO t VALUES(1)");
  CHECK_EQUAL(dozing_vfs_doze(database), SQLITE_MISUSE);
  run_sql(database, "COMMIT");
  sqlite3_stmt *statement;
  CHECK_EQUAL(sqlite3_prepare_v2(database, "SELECT a FROM t", -1, &statement, NULL), SQLITE_OK);
  CHECK_EQUAL(sqlite3_step(statement), SQLITE_ROW);
  CHECK_EQUAL(dozing_vfs_doze(database), SQLITE_MISUSE);
  CHECK_EQUAL(sqlite3_finalize(statement), SQLITE_OK);

  // While dozing, every statement fails, whatever has happened to the index, and nothing is changed.
  doze(database);
  // As the first arriving process does before it rebuilds the index.
  CHECK_EQUAL(truncate(with_suffix(path, "-shm"), 0), 0);
  CHECK(try_sql(database, "SELECT a FROM t") != SQLITE_OK, "a statement ran without a lock");
  CHECK(try_sql(database, "INSERT INTO t VALUES(7)") != SQLITE_OK, "a statement ran without a lock");
  CHECK(try_sql(database, "PRAGMA wal_checkpoint(TRUNCATE)") != SQLITE_OK, "a statement ran without a lock");
  CHECK(try_sql(database, "PRAGMA journal_mode=DELETE") != SQLITE_OK, "a statement ran without a lock");
  CHECK_EQUAL(locks_of(getpid()), 0);
  CHECK_EQUAL(dozing_vfs_wake(database), SQLITE_OK);
  CHECK_EQUAL(ask(database, "SELECT sum(a) FROM t"), 2);

  // Closing leaves other processes' files alone.
  doze(database);
  struct other other = other_begin(path, layers->usual, STAYS, "INSERT INTO t VALUES(1)");
  database_close(database);
  CHECK(file_exists(with_suffix(path, "-wal")), "the log of another process was deleted");
  CHECK_EQUAL(locks_of(getpid()), 0);
  other_kill(other);
  database = database_open(path, layers->usual);
  CHECK_EQUAL(ask(database, "SELECT sum(a) FROM t"), 3);
  CHECK_EQUAL(dozing_vfs_doze(database), SQLITE_NOTFOUND);
  database_close(database);

  database = database_open(path, layers->dozing);
  run_sql(database, "PRAGMA locking_mode=EXCLUSIVE; INSERT INTO t VALUES(1)");
  CHECK_EQUAL(dozing_vfs_doze(database), SQLITE_NOTFOUND);
  database_close(database);
}

// Two connections of one process share its locks: one connection's locks stay when the other dozes.
static void of_one_process(const struct layers *layers) {
  const char *path = dozing_make(layers);
  sqlite3 *first = database_open(path, layers->dozing), *second = database_open(path, layers->dozing);
  run_sql(first, "INSERT INTO t VALUES(1)");
  run_sql(second, "BEGIN IMMEDIATE; INSERT INTO t VALUES(1)");
  int before = locks_of(getpid());
  CHECK_EQUAL(dozing_vfs_doze(first), SQLITE_OK);
  CHECK_EQUAL(locks_of(getpid()), before);
  run_sql(second, "COMMIT");
  doze(second);
  CHECK_EQUAL(dozing_vfs_wake(first), SQLITE_OK);
  CHECK_EQUAL(ask(first, "SELECT sum(a) FROM t"), 3);
  CHECK_EQUAL(dozing_vfs_wake(second), SQLITE_OK);
  run_sql(second, "INSERT INTO t VALUES(1)");
  CHECK_EQUAL(ask(first, "SELECT sum(a) FROM t"), 4);
  database_close(first);
  database_close(second);
}

static void each(void (*body)(const struct layers *)) {
  for (size_t index = 0; index < sizeof both_layers / sizeof *both_layers; index++) { body(&both_layers[index]); }
}

static void keeping(struct dice *dice) {
  (void)dice;
  if (!dozing_is_possible()) { return; }
  each(keeps);
  each(forgets_pages);
  each(long_logs);
}

static void noticing(struct dice *dice) {
  (void)dice;
  if (!dozing_is_possible()) { return; }
  each(notices);
  each(notices_modes);
  each(waits_for_none);
}

static void misusing(struct dice *dice) {
  (void)dice;
  if (!dozing_is_possible()) { return; }
  each(refuses);
  each(of_one_process);
}

const struct scenario dozing_scenarios[] = {
    {"kept-while-dozing", keeping}, {"noticed-when-waking", noticing}, {"misused-dozing", misusing}, {NULL, NULL},
};
