// Authentic parts of a log put back in place by an attacker who kept copies of the file.
#include "support.h"

enum { PAGE = 4096, FRAME = PAGE + 24 };

// A database whose only row takes the same frames in each generation of the log.
static sqlite3 *make_generations(const char *path) {
  use_key(path);
  sqlite3 *database = database_open(path, SEALED_VFS_NAME);
  run_sql(database, "PRAGMA page_size=%d; PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0", PAGE);
  run_sql(database, "CREATE TABLE t(a); INSERT INTO t VALUES('zero'); PRAGMA wal_checkpoint(TRUNCATE)");
  return database;
}

// `stale` has read the first generation and nothing since; `writer` has begun the second.
static void replay_frame(bool is_checkpoint, bool is_header) {
  const char *path = path_of("generations.db");
  database_remove(path);
  const char *log = with_suffix(path, "-wal");
  sqlite3 *writer = make_generations(path), *stale = database_open(path, SEALED_VFS_NAME);
  run_sql(stale, "PRAGMA cache_size=0");
  run_sql(writer, "UPDATE t SET a = 'first'");
  CHECK_EQUAL(ask(stale, "SELECT a = 'first' FROM t"), 1);
  const size_t start = log_start(path);
  size_t length;
  uint8_t *first = file_load(log, &length);
  run_sql(writer, "PRAGMA wal_checkpoint(RESTART); UPDATE t SET a = 'second'");
  uint8_t *second = file_load(log, &length);
  CHECK_EQUAL(length, start + FRAME);
  file_poke(log, (long)start, first + start, FRAME);
  if (is_header) { file_poke(log, 0, first, start); }
  int code = try_sql(stale, is_checkpoint ? "PRAGMA wal_checkpoint(FULL)" : "SELECT a FROM t");
  CHECK_EQUAL(code, SQLITE_IOERR_DATA);
  sealed_vfs_report found = last_report();
  CHECK(found.kind == SEALED_VFS_DAMAGED && found.file == SEALED_VFS_FILE_WAL, "%s", describe(found));
  CHECK_EQUAL(found.frame, is_header ? 0 : 1);
  // None of it was written back: with the old log restored, everything is there.
  file_poke(log, 0, second, length);
  CHECK_EQUAL(ask(stale, "SELECT a = 'second' FROM t"), 1);
  run_sql(stale, "PRAGMA wal_checkpoint(TRUNCATE)");
  database_close(stale);
  database_close(writer);
  sqlite3 *database = database_open(path, SEALED_VFS_NAME);
  CHECK_EQUAL(ask(database, "SELECT a = 'second' FROM t"), 1);
  database_close(database);
  free(first);
  free(second);
}

static void frames_of_the_last_generation(struct dice *dice) {
  (void)dice;
  for (int variant = 0; variant < 4; variant++) { replay_frame(variant % 2 == 1, variant / 2 == 1); }
}

// A frame of the last generation, put under a page that the current transaction has flushed and then writes again.
// SQLite takes the page number from the frame when it renews the checksums: the page would be committed under another
// number.
static void replay_flushed(bool is_rewritten) {
  const char *path = path_of("flushed.db"), *copy = path_of("copy.db");
  const char *log = with_suffix(path, "-wal");
  database_remove(path);
  sqlite3 *writer = make_generations(path);
  run_sql(writer, "CREATE TABLE u(a); INSERT INTO u VALUES('zero')");
  const size_t start = log_start(path);
  size_t length;
  uint8_t *first = file_load(log, &length); // frame 1 is page 1
  run_sql(writer, "PRAGMA wal_checkpoint(RESTART); BEGIN; UPDATE t SET a = 'one'; UPDATE u SET a = 'one'");
  CHECK_EQUAL(sqlite3_db_cacheflush(writer), SQLITE_OK);
  if (is_rewritten) { file_poke(log, (long)start, first + start, FRAME); }
  run_sql(writer, "UPDATE t SET a = 'two'; UPDATE u SET a = 'two'");
  CHECK_EQUAL(sqlite3_db_cacheflush(writer), SQLITE_OK);
  if (!is_rewritten) { file_poke(log, (long)start, first + start, FRAME); }
  int code = try_sql(writer, "COMMIT");
  if (!is_rewritten) {
    CHECK_EQUAL(code, SQLITE_IOERR_DATA);
    CHECK(last_report().kind == SEALED_VFS_DAMAGED && last_report().frame == 1, "%s", describe(last_report()));
    try_sql(writer, "ROLLBACK");
  }
  // What is committed is recovered as intended.
  database_remove(copy);
  use_key(copy);
  file_copy(log, with_suffix(copy, "-wal"));
  const char *expected = is_rewritten ? "SELECT t.a = 'two' AND u.a = 'two' FROM t, u" : "SELECT t.a = 'zero' AND u.a = 'zero' FROM t, u";
  CHECK_EQUAL(ask(writer, expected), 1);
  file_copy(path, copy);
  database_close(writer);
  sqlite3 *database = database_open(copy, SEALED_VFS_NAME);
  CHECK_EQUAL(ask(database, expected), 1);
  expect_sound(database);
  database_close(database);
  free(first);
}

static void replayed_flush(struct dice *dice) {
  (void)dice;
  replay_flushed(false);
  replay_flushed(true);
}

// The header of an earlier generation, restored while the log is not in use: the log's content is not recovered, as
// after a power loss that took the header. That is reported.
static void replayed_headers(struct dice *dice) {
  (void)dice;
  const char *path = path_of("headers.db"), *copy = path_of("copy.db");
  const char *log = with_suffix(path, "-wal"), *copied_log = with_suffix(copy, "-wal");
  sqlite3 *writer = make_generations(path);
  run_sql(writer, "UPDATE t SET a = 'first'");
  const size_t start = log_start(path);
  size_t length;
  uint8_t *first = file_load(log, &length);
  for (int generation = 2; generation < 5; generation++) {
    run_sql(writer, "PRAGMA wal_checkpoint(RESTART); UPDATE t SET a = %d", generation);
    for (int is_replayed = 0; is_replayed < 2; is_replayed++) {
      database_remove(copy);
      use_key(copy);
      file_copy(path, copy);
      file_copy(log, copied_log);
      if (is_replayed) { file_poke(copied_log, 0, first, start); }
      sealed_vfs_clear_report();
      sqlite3 *database = database_open(copy, SEALED_VFS_NAME);
      CHECK_EQUAL(ask(database, is_replayed ? "SELECT a <> 'first' FROM t" : "SELECT a + 0 FROM t"), is_replayed ? generation > 2 : generation);
      sealed_vfs_report found = last_report();
      CHECK_EQUAL(found.kind, is_replayed ? SEALED_VFS_CUT : SEALED_VFS_NOTHING);
      CHECK(!is_replayed || (found.file == SEALED_VFS_FILE_WAL && found.frame == 1), "%s", describe(found));
      database_close(database);
    }
  }
  // A frame that an earlier generation left after the last one is what SQLite expects there.
  run_sql(writer, "CREATE TABLE u(a); INSERT INTO u VALUES(zeroblob(20000)); PRAGMA wal_checkpoint(RESTART); UPDATE t SET a = 'last'");
  database_remove(copy);
  use_key(copy);
  file_copy(path, copy);
  file_copy(log, copied_log);
  sealed_vfs_clear_report();
  sqlite3 *database = database_open(copy, SEALED_VFS_NAME);
  CHECK_EQUAL(ask(database, "SELECT a = 'last' FROM t"), 1);
  CHECK_EQUAL(last_report().kind, SEALED_VFS_NOTHING);
  database_close(database);
  database_close(writer);
  free(first);
}

const struct scenario replay_scenarios[] = {
    {"replayed-generations", frames_of_the_last_generation}, {"replayed-flush", replayed_flush},
    {"replayed-headers", replayed_headers}, {NULL, NULL},
};
