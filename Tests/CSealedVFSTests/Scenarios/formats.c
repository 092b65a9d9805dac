// Accepted and rejected files, and what SQLite can do with a sealed database.
#include "support.h"

static int open_code(const char *path, const char *vfs) {
  sqlite3 *database = NULL;
  sealed_vfs_clear_report();
  int code = sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE, vfs);
  if (code == SQLITE_OK) {
    sqlite3_exec(database, "SELECT count(*) FROM sqlite_schema", NULL, NULL, NULL);
    code = sqlite3_extended_errcode(database);
  }
  sqlite3_close(database);
  return code;
}

static void expect_refusal(const char *path, int code, sealed_vfs_kind kind) {
  int answer = open_code(path, SEALED_VFS_NAME);
  CHECK(answer == code && last_report().kind == kind, "answers %d (%s), not %d (%s)", answer, describe(last_report()), code,
        sealed_vfs_kind_name(kind));
}

static sqlite3 *make(const char *path, const char *vfs, const char *settings) {
  database_remove(path);
  use_key(path);
  sqlite3 *database = database_open(path, vfs);
  run_sql(database, "%s", settings);
  run_sql(database, "CREATE TABLE t(a INTEGER PRIMARY KEY, b); CREATE INDEX i ON t(b);"
                    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n LIMIT 300) INSERT INTO t(b) SELECT i || zeroblob(i*9) FROM n");
  return database;
}

// What a connection without a key can find out.
static int inspected(const char *path) {
  sqlite3 *database = NULL;
  CHECK_EQUAL(sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
  sealed_vfs_kind kind = sealed_vfs_inspect(database);
  sqlite3_close(database);
  return (int)kind;
}

// A plain database that reserves as many bytes as a seal takes, and whose log must survive being opened with a key.
static void plain_with_room(const char *path) {
  database_remove(path);
  sqlite3 *database = database_open(path, NULL);
  int bytes = SEALED_VFS_RESERVED_BYTES;
  CHECK_EQUAL(sqlite3_file_control(database, "main", SQLITE_FCNTL_RESERVE_BYTES, &bytes), SQLITE_OK);
  run_sql(database, "PRAGMA journal_mode=WAL; CREATE TABLE t(a); INSERT INTO t VALUES('in the log')");
  CHECK_EQUAL(sealed_vfs_inspect(database), SEALED_VFS_NOT_SEALED);
  sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
  database_close(database);
  expect_refusal(path, SQLITE_NOTADB, SEALED_VFS_NOT_SEALED);
  CHECK_EQUAL(inspected(path), SEALED_VFS_NOT_SEALED);
  database = database_open(path, NULL);
  run_sql(database, "UPDATE t SET a = 'still there' WHERE a = 'in the log'");
  CHECK_EQUAL(sqlite3_changes(database), 1);
  database_close(database);
  database_remove(path);
  use_key(path);
  CHECK_EQUAL(sqlite3_open_v2(":memory:", &database, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
  CHECK_EQUAL(sealed_vfs_inspect(database), SEALED_VFS_NOT_A_DATABASE);
  sqlite3_close(database);
}

static void files(struct dice *dice) {
  (void)dice;
  const char *path = path_of("files.db");
  use_key(path);
  CHECK_EQUAL(open_code(path, SEALED_VFS_NAME), SQLITE_CANTOPEN);
  file_store(path, "", 0);
  CHECK_EQUAL(open_code(path, SEALED_VFS_NAME), SQLITE_OK);
  file_store(path, "SQLite", 6);
  expect_refusal(path, SQLITE_NOTADB, SEALED_VFS_NOT_A_DATABASE);
  char text[5000];
  memset(text, 'x', sizeof text);
  file_store(path, text, sizeof text);
  expect_refusal(path, SQLITE_NOTADB, SEALED_VFS_NOT_A_DATABASE);
  memset(text, 0, sizeof text);
  file_store(path, text, sizeof text);
  expect_refusal(path, SQLITE_NOTADB, SEALED_VFS_NOT_A_DATABASE);

  database_close(make(path, NULL, ""));
  expect_refusal(path, SQLITE_NOTADB, SEALED_VFS_NOT_SEALED);
  plain_with_room(path);

  database_close(make(path, SEALED_VFS_NAME, ""));
  CHECK_EQUAL(open_code(path, SEALED_VFS_NAME), SQLITE_OK);
  CHECK_EQUAL(inspected(path), SEALED_VFS_NOTHING);
  CHECK(open_code(path, NULL) != SQLITE_OK, "SQLite alone can read it");
  size_t length;
  uint8_t *good = file_load(path, &length);

  uint8_t *bytes = malloc(length);
  memcpy(bytes, good, length);
  bytes[4096 - 64] = 3;  // a later version
  file_store(path, bytes, length);
  expect_refusal(path, SQLITE_NOTADB, SEALED_VFS_NEWER_FORMAT);
  CHECK_EQUAL(inspected(path), SEALED_VFS_NEWER_FORMAT);
  bytes[4096 - 64] = 0;
  file_store(path, bytes, length);
  CHECK_EQUAL(inspected(path), SEALED_VFS_DAMAGED);
  bytes[4096 - 64] = 1;
  bytes[4096 - 63] = 9;  // another cipher
  file_store(path, bytes, length);
  expect_refusal(path, SQLITE_NOTADB, SEALED_VFS_NEWER_FORMAT);
  bytes[4096 - 63] = 1;
  bytes[4096 - 62] = 7;  // another key derivation
  file_store(path, bytes, length);
  expect_refusal(path, SQLITE_NOTADB, SEALED_VFS_NEWER_FORMAT);
  memcpy(bytes, good, length);
  bytes[16] = 3;  // an invalid page size
  file_store(path, bytes, length);
  expect_refusal(path, SQLITE_NOTADB, SEALED_VFS_DAMAGED);
  bytes[16] = 0x20;  // another page size
  file_store(path, bytes, length);
  expect_refusal(path, SQLITE_NOTADB, SEALED_VFS_DAMAGED);

  for (size_t cut = 30; cut < length; cut += 1000 + cut / 20) {
    file_store(path, good, cut);
    int code = read_every_page(path);
    if (cut < 4096) {
      CHECK_EQUAL(code, SQLITE_IOERR_DATA);
    } else {
      // Every missing page has a number.
      CHECK(code == SQLITE_IOERR_DATA && last_report().kind == SEALED_VFS_TRUNCATED && last_report().page == cut / 4096 + 1,
            "cut to %zu bytes: %d, %s, page %llu", cut, code, describe(last_report()), (unsigned long long)last_report().page);
    }
  }
  file_store(path, good, length);
  CHECK_EQUAL(open_code(path, SEALED_VFS_NAME), SQLITE_OK);
  free(good);
  free(bytes);
}

static void keys(struct dice *dice) {
  (void)dice;
  const char *path = path_of("keys.db");
  database_close(make(path, SEALED_VFS_NAME, "PRAGMA journal_mode=WAL"));
  uint8_t other[32] = {7};
  CHECK_EQUAL(sealed_vfs_set_key(path, other, 0), SQLITE_OK);
  expect_refusal(path, SQLITE_NOTADB, SEALED_VFS_WRONG_KEY);
  sealed_vfs_report finding = last_report();
  const char *name = strrchr(finding.path, '/');
  CHECK(name != NULL && strcmp(name, "/keys.db") == 0 && finding.page == 1, "the report names %s", finding.path);
  // It was not kept: closing wiped it.
  expect_refusal(path, SQLITE_AUTH, SEALED_VFS_NO_KEY);
  CHECK_EQUAL(sealed_vfs_forget_key(path), SQLITE_NOTFOUND);
  // A different name for the same file.
  char detour[1100];
  snprintf(detour, sizeof detour, "%.*s/./keys.db", (int)(strrchr(path, '/') - path), path);
  CHECK_EQUAL(sealed_vfs_set_key(detour, test_key, SEALED_VFS_KEEP_KEY), SQLITE_OK);
  CHECK_EQUAL(open_code(path, SEALED_VFS_NAME), SQLITE_OK);
  CHECK_EQUAL(open_code(path, SEALED_VFS_NAME), SQLITE_OK);
  // Open connections keep using their key; new ones get the new key.
  sqlite3 *database = database_open(path, SEALED_VFS_NAME);
  CHECK_EQUAL(sealed_vfs_set_key(path, other, SEALED_VFS_KEEP_KEY), SQLITE_OK);
  run_sql(database, "INSERT INTO t(b) VALUES('still')");
  expect_refusal(path, SQLITE_NOTADB, SEALED_VFS_WRONG_KEY);
  CHECK_EQUAL(sealed_vfs_forget_key(path), SQLITE_OK);
  run_sql(database, "INSERT INTO t(b) VALUES('still')");
  database_close(database);

  CHECK_EQUAL(sealed_vfs_set_key(NULL, test_key, 0), SQLITE_MISUSE);
  CHECK_EQUAL(sealed_vfs_set_key(path, NULL, 0), SQLITE_MISUSE);
  CHECK_EQUAL(sealed_vfs_set_passphrase(path, NULL, 0, 0), SQLITE_MISUSE);
  CHECK_EQUAL(sealed_vfs_set_passphrase(NULL, "x", 1, 0), SQLITE_MISUSE);
  CHECK_EQUAL(sealed_vfs_set_passphrase(path, "x", 5000, 0), SQLITE_MISUSE);
  CHECK_EQUAL(sealed_vfs_forget_key(NULL), SQLITE_CANTOPEN);
  uint8_t salt[16] = {0}, key[32];
  CHECK_EQUAL(sealed_vfs_derive_key(NULL, 0, salt, key), SQLITE_MISUSE);
  CHECK_EQUAL(sealed_vfs_derive_key("x", 1, NULL, key), SQLITE_MISUSE);
  CHECK_EQUAL(sealed_vfs_derive_key("x", 1, salt, NULL), SQLITE_MISUSE);
  char longest[9000];
  memset(longest, 'p', sizeof longest);
  longest[sizeof longest - 1] = 0;
  CHECK_EQUAL(sealed_vfs_set_key(longest, key, 0), SQLITE_CANTOPEN);
  CHECK_EQUAL(sealed_vfs_register("unix", NULL), SQLITE_MISUSE);
  CHECK_EQUAL(sealed_vfs_register("other", "no such VFS"), SQLITE_NOTFOUND);
  CHECK_EQUAL(sealed_vfs_register(NULL, NULL), SQLITE_OK);
}

static void passphrases(struct dice *dice) {
  (void)dice;
  const char *path = path_of("passphrase.db");
  const char *secret = "correct horse battery staple";
  uint8_t salt[16], key[32];
  int is_passphrase = -1;
  CHECK_EQUAL(sealed_vfs_read_salt(path, salt, NULL), SQLITE_NOTFOUND);
  CHECK_EQUAL(sealed_vfs_set_passphrase(path, secret, strlen(secret), 0), SQLITE_OK);
  sqlite3 *database = database_open(path, SEALED_VFS_NAME);
  CHECK_EQUAL(sealed_vfs_read_salt(path, salt, NULL), SQLITE_NOTFOUND);
  run_sql(database, "CREATE TABLE t(a); INSERT INTO t VALUES(42)");
  database_close(database);
  CHECK_EQUAL(sealed_vfs_read_salt(path, salt, &is_passphrase), SQLITE_OK);
  CHECK_EQUAL(is_passphrase, 1);

  CHECK_EQUAL(sealed_vfs_set_passphrase(path, secret, strlen(secret), 0), SQLITE_OK);
  database = database_open(path, SEALED_VFS_NAME);
  CHECK_EQUAL(ask(database, "SELECT a FROM t"), 42);
  database_close(database);
  CHECK_EQUAL(sealed_vfs_set_passphrase(path, "wrong", 5, 0), SQLITE_OK);
  expect_refusal(path, SQLITE_NOTADB, SEALED_VFS_WRONG_KEY);

  // Derived once by a process that can afford it, the key serves one that cannot.
  CHECK_EQUAL(sealed_vfs_derive_key(secret, strlen(secret), salt, key), SQLITE_OK);
  CHECK_EQUAL(sealed_vfs_set_key(path, key, 0), SQLITE_OK);
  database = database_open(path, SEALED_VFS_NAME);
  CHECK_EQUAL(ask(database, "SELECT a FROM t"), 42);
  run_sql(database, "INSERT INTO t VALUES(1)");
  database_close(database);
  CHECK_EQUAL(sealed_vfs_set_passphrase(path, secret, strlen(secret), 0), SQLITE_OK);
  CHECK_EQUAL(open_code(path, SEALED_VFS_NAME), SQLITE_OK);

  // A known value, for comparison with another implementation (libsodium: crypto_pwhash_argon2id, interactive).
  const uint8_t known_salt[16] = "0123456789abcde";
  CHECK_EQUAL(sealed_vfs_derive_key("password", 8, known_salt, key), SQLITE_OK);
  uint8_t again[32];
  CHECK_EQUAL(sealed_vfs_derive_key("password", 8, known_salt, again), SQLITE_OK);
  CHECK(memcmp(key, again, 32) == 0, "the same is derived differently");

  database_close(make(path, NULL, ""));
  CHECK_EQUAL(sealed_vfs_read_salt(path, salt, NULL), SQLITE_NOTADB);
  file_store(path, "short", 5);
  CHECK_EQUAL(sealed_vfs_read_salt(path, salt, NULL), SQLITE_NOTADB);
  CHECK_EQUAL(sealed_vfs_read_salt(NULL, salt, NULL), SQLITE_MISUSE);
  CHECK_EQUAL(sealed_vfs_read_salt(path, NULL, NULL), SQLITE_MISUSE);
}

static long long sum(sqlite3 *database) { return ask(database, "SELECT sum(length(b)) + count(*) FROM t"); }

static void page_sizes(struct dice *dice) {
  (void)dice;
  const char *path = path_of("pages.db");
  const char *const modes[] = {"DELETE", "WAL"};
  for (int size = 512; size <= 65536; size *= 2) {
    for (int mode = 0; mode < 2; mode++) {
      char settings[100];
      snprintf(settings, sizeof settings, "PRAGMA page_size=%d; PRAGMA journal_mode=%s", size, modes[mode]);
      sqlite3 *database = make(path, SEALED_VFS_NAME, settings);
      long long expected = sum(database);
      CHECK_EQUAL(ask(database, "PRAGMA page_size"), size == 512 ? 1024 : size);
      run_sql(database, "DELETE FROM t WHERE a %% 2; VACUUM; DELETE FROM t");
      database_close(database);
      size_t length;
      uint8_t *bytes = file_load(path, &length);
      CHECK(memcmp(bytes, "SQLite format 3", 16) == 0 && bytes[20] == 64, "the header is not plain");
      CHECK_EQUAL(bytes[18], mode + 1);
      free(bytes);
      database = database_open(path, SEALED_VFS_NAME);
      expect_sound(database);
      CHECK(expected > 0 && sum(database) == 0, "rows are left");
      database_close(database);
    }
  }
}

static void maintenance(struct dice *dice) {
  (void)dice;
  const char *const modes[] = {"DELETE", "WAL"};
  for (int mode = 0; mode < 2; mode++) {
    const char *path = path_of("main.db"), *copy = path_of("copy.db"), *plain = path_of("plain.db");
    char settings[100];
    snprintf(settings, sizeof settings, "PRAGMA journal_mode=%s", modes[mode]);
    sqlite3 *database = make(path, SEALED_VFS_NAME, settings);
    long long expected = sum(database);

    // VACUUM to another page size: rejected in place (WAL: not even tried, as with plain SQLite), and nothing is lost.
    int code = try_sql(database, "PRAGMA page_size=1024; VACUUM");
    CHECK_EQUAL(code, mode == 0 ? SQLITE_READONLY : SQLITE_OK);
    CHECK_EQUAL(ask(database, "PRAGMA page_size"), 4096);
    CHECK_EQUAL(sum(database), expected);
    expect_sound(database);

    database_remove(copy);
    use_key(copy);
    run_sql(database, "PRAGMA page_size=1024; VACUUM INTO 'file:%s?vfs=sealed'", copy);
    sqlite3 *other = database_open(copy, SEALED_VFS_NAME);
    CHECK_EQUAL(sum(other), expected);
    CHECK_EQUAL(ask(other, "PRAGMA page_size"), 1024);
    expect_sound(other);
    database_close(other);

    // Backup into a new sealed file, and over an existing one.
    database_remove(copy);
    for (int round = 0; round < 2; round++) {
      other = database_open(copy, SEALED_VFS_NAME);
      run_sql(database, "INSERT INTO t(b) VALUES(zeroblob(%d))", 9000);
      expected = sum(database);
      sqlite3_backup *backup = sqlite3_backup_init(other, "main", database, "main");
      CHECK(backup != NULL, "%s", sqlite3_errmsg(other));
      while ((code = sqlite3_backup_step(backup, 7)) == SQLITE_OK) {}
      CHECK_EQUAL(code, SQLITE_DONE);
      CHECK_EQUAL(sqlite3_backup_finish(backup), SQLITE_OK);
      CHECK_EQUAL(sum(other), expected);
      expect_sound(other);
      database_close(other);
    }

    // A plain source has no room for seals: rejected. With room reserved, it is imported.
    database_remove(plain);
    sqlite3 *source = make(plain, NULL, "");
    other = database_open(copy, SEALED_VFS_NAME);
    sqlite3_backup *backup = sqlite3_backup_init(other, "main", source, "main");
    do { code = sqlite3_backup_step(backup, -1); } while (code == SQLITE_OK);
    CHECK_EQUAL(code & 0xff, SQLITE_READONLY);
    sqlite3_backup_finish(backup);
    CHECK_EQUAL(sum(other), expected);
    database_close(other);
    database_remove(copy);
    CHECK_EQUAL(sealed_vfs_prepare(source, "main"), SQLITE_OK);
    run_sql(source, "VACUUM INTO 'file:%s?vfs=sealed'", copy);
    other = database_open(copy, SEALED_VFS_NAME);
    CHECK_EQUAL(sum(other), sum(source));
    database_close(other);
    database_close(source);

    // ATTACH: rejected without room for the seal.
    database_remove(copy);
    run_sql(database, "ATTACH 'file:%s?vfs=sealed' AS extra", copy);
    CHECK_EQUAL(try_sql(database, "CREATE TABLE extra.x(a)"), SQLITE_READONLY);
    CHECK_EQUAL(last_report().kind, SEALED_VFS_UNSUITABLE);
    run_sql(database, "DETACH extra; ATTACH 'file:%s?vfs=sealed' AS extra", copy);
    CHECK_EQUAL(sealed_vfs_prepare(database, "extra"), SQLITE_OK);
    run_sql(database, "BEGIN; CREATE TABLE extra.x(a); INSERT INTO extra.x SELECT b FROM t; DELETE FROM t; COMMIT");
    CHECK_EQUAL(ask(database, "SELECT sum(length(a)) + count(*) FROM extra.x"), expected);
    run_sql(database, "DETACH extra");

    run_sql(database, "PRAGMA mmap_size=1000000; INSERT INTO t(b) VALUES(1)");
    CHECK_EQUAL(ask(database, "PRAGMA mmap_size"), 0);
    int chunk = 1 << 24;
    CHECK_EQUAL(sqlite3_file_control(database, "main", SQLITE_FCNTL_CHUNK_SIZE, &chunk), SQLITE_OK);
    run_sql(database, "INSERT INTO t(b) VALUES(zeroblob(100000)); PRAGMA wal_checkpoint(TRUNCATE)");
    CHECK(file_size(path) < chunk, "the file has grown to %ld bytes", file_size(path));
    char *name = NULL;
    CHECK_EQUAL(sqlite3_file_control(database, "main", SQLITE_FCNTL_VFSNAME, &name), SQLITE_OK);
    CHECK(strncmp(name, "sealed/", 7) == 0, "the VFS is named %s", name);
    sqlite3_free(name);
    database_close(database);
  }
}

const struct scenario format_scenarios[] = {
    {"files-that-are-refused", files}, {"keys", keys},       {"passphrases", passphrases},
    {"page-sizes", page_sizes},        {"maintenance", maintenance}, {NULL, NULL},
};
