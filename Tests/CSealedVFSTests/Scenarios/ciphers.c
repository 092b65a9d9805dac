// A database's cipher is a property of its file. Without AEGIS-256 in libsodium these scenarios test what remains of
// them.
#include "fixtures.h"
#include "support.h"

enum { PAGE = 1024 };
#define XCHACHA SEALED_VFS_XCHACHA20_POLY1305
#define AEGIS SEALED_VFS_AEGIS_256

static bool has_aegis(void) {
  bool result = sealed_vfs_prefer_cipher(SEALED_VFS_AEGIS_256) == SQLITE_OK;
  CHECK_EQUAL(sealed_vfs_prefer_cipher(test_cipher), SQLITE_OK);
  return result;
}

static void prefer(sealed_vfs_cipher cipher) { CHECK_EQUAL(sealed_vfs_prefer_cipher(cipher), SQLITE_OK); }

static sealed_vfs_cipher cipher_of(const char *path) {
  sealed_vfs_cipher cipher = SEALED_VFS_FASTEST;
  CHECK_EQUAL(sealed_vfs_read_cipher(path, &cipher), SQLITE_OK);
  return cipher;
}

static void put_fixture(const char *path) {
  database_remove(path);
  use_key(path);
  fixture_store(path, aegis_main);
  fixture_store(with_suffix(path, "-wal"), aegis_log);
}

// ---- A file from elsewhere ----

static void expect_unavailable(const char *path) {
  sqlite3 *database = NULL;
  sealed_vfs_clear_report();
  CHECK_EQUAL(sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE, SEALED_VFS_NAME), SQLITE_NOTADB);
  sqlite3_close(database);
  CHECK(last_report().kind == SEALED_VFS_CIPHER_UNAVAILABLE && last_report().page == 1, "%s", describe(last_report()));
  CHECK_EQUAL(sealed_vfs_prefer_cipher(SEALED_VFS_AEGIS_256), SQLITE_NOTFOUND);
}

static void given_files(struct dice *dice) {
  (void)dice;
  const char *path = path_of("given.db");
  put_fixture(path);
  size_t length, log_length;
  uint8_t *bytes = file_load(path, &length), *log = file_load(with_suffix(path, "-wal"), &log_length);
  uint8_t salt[SEALED_VFS_SALT_BYTES];
  int is_passphrase = 1;
  CHECK_EQUAL(cipher_of(path), AEGIS);
  CHECK_EQUAL(sealed_vfs_read_salt(path, salt, &is_passphrase), SQLITE_OK);
  CHECK(is_passphrase == 0 && memcmp(salt, bytes + salt_start(path), sizeof salt) == 0, "another salt");
  const bool is_available = has_aegis();
  sqlite3 *database = database_open(path, NULL);
  CHECK_EQUAL(sealed_vfs_inspect(database), is_available ? SEALED_VFS_NOTHING : SEALED_VFS_CIPHER_UNAVAILABLE);
  database_close(database);
  if (is_available) {
    database = database_open(path, SEALED_VFS_NAME);
    CHECK_EQUAL(ask(database, "SELECT group_concat(a, ', ') = 'in the file, in the log' FROM t"), 1);
    run_sql(database, "INSERT INTO t VALUES('new')");
    expect_sound(database);
    database_close(database);
  } else {
    expect_unavailable(path);
  }
  if (!is_available) {
    size_t length_now, log_length_now;
    uint8_t *now = file_load(path, &length_now), *log_now = file_load(with_suffix(path, "-wal"), &log_length_now);
    CHECK(length == length_now && memcmp(bytes, now, length) == 0, "the file is changed");
    CHECK(log_length == log_length_now && memcmp(log, log_now, log_length) == 0, "the log is changed");
    free(now);
    free(log_now);
  }
  free(bytes);
  free(log);
  CHECK(strcmp(sealed_vfs_kind_name(SEALED_VFS_CIPHER_UNAVAILABLE), "cipher not available") == 0, "another name");
  CHECK_EQUAL(sealed_vfs_prefer_cipher((sealed_vfs_cipher)3), SQLITE_NOTFOUND);
  sealed_vfs_cipher cipher;
  CHECK_EQUAL(sealed_vfs_read_cipher(path_of("missing.db"), &cipher), SQLITE_NOTFOUND);
  CHECK_EQUAL(sealed_vfs_read_cipher(path, NULL), SQLITE_MISUSE);
}

// The cipher that a part names is not trusted: with the other cipher's name, or an unknown one, it fails
// authentication.
static void renamed_ciphers(struct dice *dice) {
  (void)dice;
  const char *path = path_of("renamed.db");
  use_key(path);
  sqlite3 *database = database_open(path, SEALED_VFS_NAME);
  run_sql(database, "PRAGMA page_size=%d; CREATE TABLE t(a); INSERT INTO t VALUES('content')", PAGE);
  database_close(database);
  size_t length;
  uint8_t *bytes = file_load(path, &length);
  uint8_t own = bytes[PAGE - 63];
  for (uint64_t page = 1; page <= length / PAGE; page++) {
    for (int cipher = 0; cipher < 256; cipher++) {
      if (cipher == own) { continue; }
      bytes[page * PAGE - 63] = (uint8_t)cipher;
      file_store(path, bytes, length);
      sealed_vfs_clear_report();
      int code = read_every_page(path);
      bool is_error = page == 1 ? code == SQLITE_NOTADB : code == SQLITE_IOERR_DATA;
      CHECK(is_error && last_report().page == page, "cipher %d, page %d: %d, %s", cipher, (int)page, code, describe(last_report()));
      if (page > 1 || cipher == XCHACHA || cipher == AEGIS) { continue; }
      CHECK_EQUAL(last_report().kind, SEALED_VFS_NEWER_FORMAT);
    }
    bytes[page * PAGE - 63] = own;
  }
  free(bytes);
}

// ---- From one to the other ----

static void fill(sqlite3 *database, const char *mode) {
  run_sql(database, "PRAGMA page_size=%d; PRAGMA journal_mode=%s; CREATE TABLE t(a INTEGER PRIMARY KEY, b)", PAGE, mode);
  run_sql(database, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n LIMIT 300) "
                    "INSERT INTO t SELECT i, 'row ' || i || hex(randomblob(40)) FROM n");
}

static void copy_and_maintain(sealed_vfs_cipher from, sealed_vfs_cipher to, const char *mode) {
  const char *path = path_of("from.db"), *copy = path_of("to.db");
  database_remove(path);
  database_remove(copy);
  use_key(path);
  use_key(copy);
  prefer(from);
  sqlite3 *database = database_open(path, SEALED_VFS_NAME);
  fill(database, mode);
  CHECK_EQUAL(cipher_of(path), from);
  prefer(to);
  run_sql(database, "VACUUM INTO '%s'", copy);
  CHECK_EQUAL(cipher_of(copy), to);
  // A file keeps its cipher, whatever is preferred.
  run_sql(database, "DELETE FROM t WHERE a %% 3 = 0; VACUUM; UPDATE t SET b = b || 'x' WHERE a = 4");
  expect_sound(database);
  sqlite3 *second = database_open(copy, SEALED_VFS_NAME);
  CHECK_EQUAL(ask(second, "SELECT count(*) FROM t"), 300);
  expect_sound(second);
  // The backup API overwrites the existing content page by page.
  sqlite3_backup *backup = sqlite3_backup_init(second, "main", database, "main");
  CHECK(backup != NULL, "no backup: %s", sqlite3_errmsg(second));
  CHECK_EQUAL(sqlite3_backup_step(backup, -1), SQLITE_DONE);
  CHECK_EQUAL(sqlite3_backup_finish(backup), SQLITE_OK);
  CHECK_EQUAL(ask(second, "SELECT count(*) FROM t"), 200);
  database_close(second);
  // Both in one transaction.
  run_sql(database, "ATTACH '%s' AS other; BEGIN; DELETE FROM main.t WHERE a > 100; DELETE FROM other.t WHERE a > 100; COMMIT", copy);
  CHECK_EQUAL(ask(database, "SELECT count(*) FROM (SELECT * FROM main.t EXCEPT SELECT * FROM other.t)"), 0);
  run_sql(database, "DETACH other");
  database_close(database);
  CHECK_EQUAL(cipher_of(path), from);
  CHECK_EQUAL(cipher_of(copy), to);
  CHECK_EQUAL(read_every_page(path) | read_every_page(copy), SQLITE_OK);
}

static void changed_ciphers(struct dice *dice) {
  (void)dice;
  static const char *const modes[] = {"WAL", "DELETE", "PERSIST"};
  const bool is_available = has_aegis();
  for (int mode = 0; mode < 3; mode++) {
    copy_and_maintain(XCHACHA, XCHACHA, modes[mode]);
    if (!is_available) { continue; }
    copy_and_maintain(XCHACHA, AEGIS, modes[mode]);
    copy_and_maintain(AEGIS, XCHACHA, modes[mode]);
    copy_and_maintain(AEGIS, AEGIS, modes[mode]);
  }
  note("AEGIS-256 %s", is_available ? "too" : "is not there");
}

// ---- Parts without a salt ----

// Leaves a database of 40 rows and a journal or log, like a killed process.
static void kill_in_transaction(const char *path, bool is_log) {
  database_remove(path);
  use_key(path);
  sqlite3 *maker = database_open(path, SEALED_VFS_NAME);
  overflowing_make(path, is_log ? "WAL" : "DELETE");
  database_close(maker);
  pid_t child = fork();
  if (child == 0) {
    sqlite3 *database = database_open(path, SEALED_VFS_NAME);
    run_sql(database, "PRAGMA wal_autocheckpoint=0; BEGIN; CREATE TABLE u(a); UPDATE t SET b = b WHERE a < 9");
    sqlite3_db_cacheflush(database);
    if (is_log) { run_sql(database, "COMMIT"); }
    leave(0);
  }
  int status;
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the writer ended with %d", status);
}

// Page 1 is also in the log or journal, whose parts have no salt: their headers have it. `is_late`: the connection read
// page 1 before it was damaged.
static void read_beside_damage(struct dice *dice, const char *path, bool is_log, bool is_late) {
  const char *beside = with_suffix(path, is_log ? "-wal" : "-journal");
  size_t length, beside_length;
  uint8_t *bytes = file_load(path, &length), *other = file_load(beside, &beside_length);
  for (int turn = 0; turn < 12; turn++) {
    sqlite3 *database = NULL;
    unlink(with_suffix(path, "-shm"));
    if (is_late) { database = database_open(path, SEALED_VFS_NAME); }
    size_t at = turn < 4 ? salt_start(path) + below(dice, 16) : turn < 8 ? 4096 - 64 + below(dice, 64) : 40 + below(dice, 3990);
    uint8_t bit = (uint8_t)(1 << below(dice, 8)), changed = bytes[at] ^ bit;
    file_poke(path, (long)at, &changed, 1);
    sealed_vfs_clear_report();
    if (!is_late) { sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE, SEALED_VFS_NAME); }
    int code = try_sql(database, "SELECT count(*) FROM t");
    // To a connection that opens the file, another salt or mark means a wrong key or another format: an error, before
    // SQLite looks beside it.
    bool is_sure = is_late || turn >= 8;
    CHECK(code == SQLITE_OK || (code == SQLITE_NOTADB && !is_sure), "turn %d, byte %zu: %d, %s", turn, at, code, describe(last_report()));
    if (code == SQLITE_OK) {
      expect_sound(database);
      CHECK_EQUAL(overflowing_rows(database, 0), OVERFLOWING_ROWS);
    }
    if (is_late) { database_close(database); } else { sqlite3_close(database); }
    file_store(path, bytes, length);
    file_store(beside, other, beside_length);
  }
  free(bytes);
  free(other);
}

static void damaged_first_pages(struct dice *dice) {
  const char *path = path_of("half.db");
  for (int variant = 0; variant < 4; variant++) {
    bool is_log = variant % 2 == 1;
    kill_in_transaction(path, is_log);
    read_beside_damage(dice, path, is_log, variant / 2 == 1);
  }
}

// A connection that arrives while the log is in use and page 1 of the main file is damaged reads a frame first.
static void read_frame_first(long damaged) {
  const char *path = path_of("first.db");
  database_remove(path);
  use_key(path);
  sqlite3 *writer = database_open(path, SEALED_VFS_NAME);
  run_sql(writer, "PRAGMA page_size=4096; PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0; CREATE TABLE t(a); INSERT INTO t VALUES('in a frame')");
  const uint8_t zeros[4] = {0};
  file_poke(path, damaged, zeros, sizeof zeros);
  use_key(path);
  sqlite3 *reader = database_open(path, SEALED_VFS_NAME);
  CHECK_EQUAL(ask(reader, "SELECT a = 'in a frame' FROM t"), 1);
  run_sql(reader, "INSERT INTO t VALUES('behind it'); PRAGMA wal_checkpoint(TRUNCATE)");
  CHECK_EQUAL(ask(writer, "SELECT count(*) FROM t"), 2);
  database_close(reader);
  database_close(writer);
  CHECK_EQUAL(read_every_page(path), SQLITE_OK);
}

static void frames_read_first(struct dice *dice) {
  (void)dice;
  read_frame_first(4096 - 4);  // the tag: page 1 still reveals the salt
  read_frame_first(4096 - 64); // the mark: it reveals nothing
}

// To SQLite, the salt's place in page 1 must be empty.
static void filled_first_pages(struct dice *dice) {
  const char *path = path_of("filled.db");
  use_key(path);
  sqlite3 *database = database_open(path, SEALED_VFS_NAME);
  run_sql(database, "PRAGMA page_size=4096; CREATE TABLE t(a)");
  sqlite3_file *main = NULL;
  CHECK_EQUAL(sqlite3_file_control(database, "main", SQLITE_FCNTL_FILE_POINTER, &main), SQLITE_OK);
  uint8_t page[4096], again[4096];
  CHECK_EQUAL(main->pMethods->xRead(main, page, sizeof page, 0), SQLITE_OK);
  bool is_aegis = cipher_of(path) == SEALED_VFS_AEGIS_256;
  for (size_t at = 72; at < 92; at++) {
    CHECK(page[at] == 0, "byte %zu of a first page is %d", at, page[at]);
    page[at] = (uint8_t)(1 << below(dice, 8));
    int code = main->pMethods->xWrite(main, page, sizeof page, 0);
    CHECK_EQUAL(code, is_aegis && at < 88 ? SQLITE_READONLY : SQLITE_OK);
    if (code == SQLITE_OK) {
      CHECK_EQUAL(main->pMethods->xRead(main, again, sizeof again, 0), SQLITE_OK);
      CHECK(memcmp(page, again, sizeof page) == 0, "byte %zu is lost", at);
    }
    page[at] = 0;
  }
  for (size_t at = 24; at < 72; at++) { page[at] = (uint8_t)at; }
  CHECK_EQUAL(main->pMethods->xWrite(main, page, sizeof page, 0), SQLITE_OK);
  CHECK_EQUAL(main->pMethods->xRead(main, again, sizeof again, 0), SQLITE_OK);
  CHECK(memcmp(page, again, sizeof page) == 0, "the header is another");
  database_close(database);
}

const struct scenario cipher_scenarios[] = {
    {"given-ciphers", given_files},         {"renamed-ciphers", renamed_ciphers},
    {"changed-ciphers", changed_ciphers},   {"damaged-first-pages", damaged_first_pages},
    {"frames-read-first", frames_read_first}, {"filled-first-pages", filled_first_pages},
    {NULL, NULL},
};
