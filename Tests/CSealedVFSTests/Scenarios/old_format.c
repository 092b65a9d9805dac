// Databases in version 1 of the format, whose logs and journals have no plain header.
#include "support.h"

#include "fixtures.h"

static void restore(const char *path, const char *const *main, const char *suffix, const char *const *beside) {
  database_remove(path);
  use_key(path);
  fixture_store(path, main);
  fixture_store(with_suffix(path, suffix), beside);
}

// The version in the label of a part, which ends 64 bytes after `offset`.
static int version_at(const char *path, size_t offset) {
  size_t length;
  uint8_t *bytes = file_load(path, &length);
  CHECK(offset < length, "%s has %zu bytes", path, length);
  int version = bytes[offset];
  free(bytes);
  return version;
}

// The version of the index that begins at `offset` in the file mapped for it.
static uint32_t index_version(const char *path, size_t offset) {
  size_t length;
  uint8_t *bytes = file_load(with_suffix(path, "-shm"), &length);
  CHECK(offset + 4 <= length, "it has %zu bytes", length);
  uint32_t version;
  memcpy(&version, bytes + offset, sizeof version);
  free(bytes);
  return version;
}

enum { INDEX_VERSION = 3007000, UNKNOWN_VERSION = 0x53454c44, REGION = 32768 };
enum { PAGE = 1024, MAIN_LABEL = PAGE - 64, LOG_LABEL = 32, JOURNAL_LABEL = 28 };

static void old_log(void) {
  const char *path = path_of("old.db"), *log = with_suffix(path, "-wal");
  restore(path, version_1_main, "-wal", version_1_log);
  CHECK_EQUAL(version_at(path, MAIN_LABEL), 1);
  CHECK_EQUAL(version_at(log, LOG_LABEL), 1);
  uint8_t salt[SEALED_VFS_SALT_BYTES];
  CHECK_EQUAL(sealed_vfs_read_salt(path, salt, NULL), SQLITE_OK);
  sqlite3 *database = database_open(path, NULL);
  CHECK_EQUAL(sealed_vfs_inspect(database), SEALED_VFS_NOTHING);
  database_close(database);
  database = database_open(path, SEALED_VFS_NAME);
  sqlite3 *second = database_open(path, SEALED_VFS_NAME);
  CHECK_EQUAL(ask(database, "SELECT group_concat(a, ', ') = 'in the file, in the log, in the log of now, and behind it' FROM t"), 1);
  CHECK_EQUAL(last_report().kind, SEALED_VFS_NOTHING);
  // It continues in its own version: after the old frames, and in the generations after them.
  run_sql(database, "PRAGMA wal_autocheckpoint=0; INSERT INTO t VALUES('appended')");
  CHECK_EQUAL(ask(second, "SELECT count(*) FROM t"), 5);
  run_sql(second, "PRAGMA wal_checkpoint(RESTART); INSERT INTO t VALUES(zeroblob(9000))");
  CHECK_EQUAL(version_at(log, LOG_LABEL), 1);
  CHECK_EQUAL(ask(database, "SELECT sum(length(a)) > 9000 FROM t"), 1);
  run_sql(database, "PRAGMA wal_checkpoint(TRUNCATE); INSERT INTO t VALUES('a new log')");
  expect_sound(second);
  CHECK_EQUAL(index_version(path, 0), INDEX_VERSION);
  database_close(second);
  database_close(database);
  CHECK_EQUAL(version_at(path, MAIN_LABEL), 1);
  CHECK_EQUAL(read_every_page(path), SQLITE_OK);
}

static void old_journal(void) {
  const char *committed = "SELECT count(*) FROM t WHERE a LIKE 'committed 0000%'";
  const char *path = path_of("old.db");
  restore(path, version_1_half, "-journal", version_1_journal);
  CHECK_EQUAL(version_at(with_suffix(path, "-journal"), JOURNAL_LABEL), 1);
  sqlite3 *database = database_open(path, SEALED_VFS_NAME);
  CHECK_EQUAL(ask(database, committed), 3);
  CHECK_EQUAL(last_report().kind, SEALED_VFS_NOTHING);
  expect_sound(database);
  // Journals made for it are of its version, and are rolled back.
  run_sql(database, "PRAGMA cache_size=1; PRAGMA journal_mode=PERSIST; BEGIN; UPDATE t SET a = 'half' || a; INSERT INTO t SELECT a FROM t; ROLLBACK");
  run_sql(database, "PRAGMA journal_mode=DELETE; BEGIN; UPDATE t SET a = 'half' || a; INSERT INTO t SELECT a FROM t");
  CHECK_EQUAL(sqlite3_db_cacheflush(database), SQLITE_OK);
  CHECK_EQUAL(version_at(with_suffix(path, "-journal"), JOURNAL_LABEL), 1);
  run_sql(database, "ROLLBACK");
  CHECK_EQUAL(ask(database, committed), 3);
  database_close(database);
  CHECK_EQUAL(read_every_page(path), SQLITE_OK);
}

// A copy of it is of the current version, and its log is not taken for an old one.
static void copy_of_an_old_file(void) {
  const char *path = path_of("old.db"), *copy = path_of("copy.db");
  restore(path, version_1_main, "-wal", version_1_log);
  database_remove(copy);
  use_key(copy);
  sqlite3 *database = database_open(path, SEALED_VFS_NAME);
  run_sql(database, "VACUUM INTO '%s'", copy);
  database_close(database);
  CHECK_EQUAL(version_at(copy, MAIN_LABEL), 2);
  database = database_open(copy, SEALED_VFS_NAME);
  CHECK_EQUAL(ask(database, "SELECT count(*) FROM t"), 4);
  run_sql(database, "PRAGMA journal_mode=WAL; INSERT INTO t VALUES(5)");
  CHECK_EQUAL(version_at(with_suffix(copy, "-wal"), 32 + LOG_LABEL), 2);
  CHECK_EQUAL(index_version(copy, 0), UNKNOWN_VERSION);
  CHECK_EQUAL(index_version(copy, REGION), INDEX_VERSION);
  database_close(database);
  fixture_store(with_suffix(copy, "-wal"), version_1_log);
  database = database_open(copy, SEALED_VFS_NAME);
  CHECK_EQUAL(try_sql(database, "SELECT * FROM t") & 0xff, SQLITE_IOERR);
  CHECK(last_report().file == SEALED_VFS_FILE_WAL, "%s", describe(last_report()));
  database_close(database);
}

static void old_format(struct dice *dice) {
  (void)dice;
  old_log();
  old_journal();
  copy_of_an_old_file();
}

const struct scenario old_format_scenarios[] = {{"version-1", old_format}, {NULL, NULL}};
