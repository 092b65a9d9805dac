// The secret behind a key stays in memory no longer than it is needed.
#include "support.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "memory_scan.h"

enum { SECRET = 32 };

// Counts the copies of a secret in memory, without holding it there to ask.
static long copies(const uint8_t inverted[SECRET]) {
  long found = memory_scan(inverted, SECRET);
  CHECK(found >= 0, "memory cannot be read");
  return found;
}

// A new secret in `secret`, as text if it is a passphrase.
static void make_secret(struct dice *dice, bool is_text, uint8_t secret[SECRET], uint8_t inverted[SECRET]) {
  for (int i = 0; i < SECRET; i++) {
    secret[i] = is_text ? (uint8_t)('a' + below(dice, 26)) : (uint8_t)roll(dice);
    inverted[i] = (uint8_t)~secret[i];
  }
}

static void wipe(uint8_t *bytes, size_t length) {
  for (volatile uint8_t *at = bytes; at < bytes + length; at++) { *at = 0; }
}

static void give(const char *path, bool is_passphrase, const uint8_t secret[SECRET]) {
  CHECK_EQUAL(is_passphrase ? sealed_vfs_set_passphrase(path, (const char *)secret, SECRET, 0)
                            : sealed_vfs_set_key(path, secret, 0),
              SQLITE_OK);
}

// Opens like a process that holds the key only that long: register, open, unregister.
static sqlite3 *open_and_forget(const char *path) {
  sqlite3 *database = database_open(path, SEALED_VFS_NAME);
  CHECK_EQUAL(sealed_vfs_forget_key(path), SQLITE_OK);
  return database;
}

static void use(sqlite3 *database) {
  run_sql(database, "INSERT INTO t VALUES(zeroblob(20000)); PRAGMA wal_checkpoint(TRUNCATE); VACUUM");
  expect_sound(database);
}

static void make_and_open_again(struct dice *dice, bool is_passphrase, const char *mode) {
  const char *path = path_of("wiped.db");
  database_remove(path);
  uint8_t secret[SECRET], inverted[SECRET], master[SECRET];
  make_secret(dice, is_passphrase, secret, inverted);
  give(path, is_passphrase, secret);
  wipe(secret, SECRET);
  CHECK(copies(inverted) > 0, "a registered key is not found: the search is of no use");

  // Created in this run.
  sqlite3 *database = open_and_forget(path);
  CHECK(copies(inverted) > 0, "wiped before it was needed");
  run_sql(database, "%s; CREATE TABLE t(a)", mode);
  CHECK_EQUAL(ask(database, "SELECT count(*) FROM t"), 0);
  CHECK_EQUAL(copies(inverted), 0);
  if (is_passphrase) {
    uint8_t salt[SEALED_VFS_SALT_BYTES], inverted_master[SECRET];
    CHECK_EQUAL(sealed_vfs_read_salt(path, salt, NULL), SQLITE_OK);
    for (int i = 0; i < SECRET; i++) { secret[i] = (uint8_t)~inverted[i]; }
    CHECK_EQUAL(sealed_vfs_derive_key((const char *)secret, SECRET, salt, master), SQLITE_OK);
    wipe(secret, SECRET);
    for (int i = 0; i < SECRET; i++) { inverted_master[i] = (uint8_t)~master[i]; }
    wipe(master, SECRET);
    CHECK_EQUAL(copies(inverted_master), 0);
  }
  use(database);

  // Opened while the key is registered; the registration outlives the opening.
  for (int i = 0; i < SECRET; i++) { secret[i] = (uint8_t)~inverted[i]; }
  give(path, is_passphrase, secret);
  sqlite3 *second = database_open(path, SEALED_VFS_NAME);
  CHECK_EQUAL(ask(second, "SELECT count(*) FROM t"), 1);
  wipe(secret, SECRET);
  CHECK(copies(inverted) > 0, "wiped while it was registered");
  sqlite3 *third = database_open(path, SEALED_VFS_NAME);
  CHECK_EQUAL(sealed_vfs_forget_key(path), SQLITE_OK);
  CHECK(copies(inverted) > 0, "wiped while one needs it");
  CHECK_EQUAL(ask(third, "SELECT count(*) FROM t"), 1);
  CHECK_EQUAL(copies(inverted), 0);
  use(second);
  use(third);
  database_close(third);
  database_close(second);
  database_close(database);

  // Rejected: wiped with the connection.
  for (int i = 0; i < SECRET; i++) { secret[i] = (uint8_t)(~inverted[i] ^ 1); }
  give(path, is_passphrase, secret);
  wipe(secret, SECRET);
  for (int i = 0; i < SECRET; i++) { inverted[i] ^= 1; }
  CHECK(copies(inverted) > 0, "a registered key is not found");
  CHECK_EQUAL(sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE, SEALED_VFS_NAME), SQLITE_NOTADB);
  CHECK_EQUAL(sqlite3_close(database), SQLITE_OK);
  CHECK_EQUAL(copies(inverted), 0);
}

static void wiped_secrets(struct dice *dice) {
  for (int is_passphrase = 0; is_passphrase < 2; is_passphrase++) {
    make_and_open_again(dice, is_passphrase != 0, "PRAGMA journal_mode=WAL");
    make_and_open_again(dice, is_passphrase != 0, "PRAGMA journal_mode=DELETE");
  }
}

// A process that began to create a database and rolled back still has the key after another has created it.
static void unmade_databases(struct dice *dice) {
  const char *path = path_of("unmade.db");
  for (int is_passphrase = 0; is_passphrase < 2; is_passphrase++) {
    database_remove(path);
    uint8_t secret[SECRET], inverted[SECRET];
    make_secret(dice, is_passphrase != 0, secret, inverted);
    give(path, is_passphrase != 0, secret);
    sqlite3 *first = open_and_forget(path);
    // Written out before the end, because it does not fit into the cache.
    run_sql(first, "PRAGMA cache_size=5; BEGIN; CREATE TABLE mine(a); INSERT INTO mine VALUES(zeroblob(300000))");
    CHECK(file_size(path) > 0, "nothing was written");
    run_sql(first, "SELECT count(*) FROM mine; ROLLBACK");
    CHECK_EQUAL(file_size(path), 0);
    give(path, is_passphrase != 0, secret);
    wipe(secret, SECRET);
    sqlite3 *second = open_and_forget(path);
    run_sql(second, "CREATE TABLE t(a)");
    use(second);
    CHECK_EQUAL(ask(first, "SELECT count(*) FROM t"), 1);
    CHECK_EQUAL(copies(inverted), 0);
    use(first);
    database_close(first);
    database_close(second);
  }
}

// More keys at a time than there are pieces of guarded memory (guarded.c), released in any order; in two rounds.
static void many_keys(struct dice *dice) {
  enum { DATABASES = 24 };
  sqlite3 *databases[DATABASES];
  char paths[DATABASES][512];
  uint8_t inverted[DATABASES][SECRET];
  for (int round = 0; round < 2; round++) {
    for (int i = 0; i < DATABASES; i++) {
      char name[32];
      snprintf(name, sizeof name, "many-%d.db", i);
      snprintf(paths[i], sizeof paths[i], "%s", path_of(name));
      database_remove(paths[i]);
      uint8_t secret[SECRET];
      make_secret(dice, false, secret, inverted[i]);
      CHECK_EQUAL(sealed_vfs_set_key(paths[i], secret, SEALED_VFS_KEEP_KEY), SQLITE_OK);
      wipe(secret, SECRET);
      databases[i] = database_open(paths[i], SEALED_VFS_NAME);
      run_sql(databases[i], "CREATE TABLE t(a)");
    }
    for (int left = DATABASES; left > 0; left--) {
      int i = (int)below(dice, (uint64_t)left);
      use(databases[i]);
      database_close(databases[i]);
      // Reopened with the key that was kept.
      database_close(database_open(paths[i], SEALED_VFS_NAME));
      CHECK(copies(inverted[i]) > 0, "wiped though it is to be kept");
      CHECK_EQUAL(sealed_vfs_forget_key(paths[i]), SQLITE_OK);
      CHECK_EQUAL(copies(inverted[i]), 0);
      databases[i] = databases[left - 1];
      memcpy(paths[i], paths[left - 1], sizeof paths[i]);
      memcpy(inverted[i], inverted[left - 1], SECRET);
    }
  }
}

static atomic_bool is_deriving;

static void *open_with_passphrase(void *path) {
  sqlite3 *database = NULL;
  atomic_store(&is_deriving, true);
  int code = sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE, SEALED_VFS_NAME);
  atomic_store(&is_deriving, false);
  sqlite3_close(database);
  return code == SQLITE_OK ? path : NULL;
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

// While a key is derived from a passphrase, which takes some 0.1 s, other databases can be opened.
static void slow_keys(struct dice *dice) {
  (void)dice;
  const char *slow = path_of("slow.db"), *other = path_of("other.db");
  CHECK_EQUAL(sealed_vfs_set_passphrase(slow, "open sesame", 11, 0), SQLITE_OK);
  sqlite3 *database = database_open(slow, SEALED_VFS_NAME);
  run_sql(database, "CREATE TABLE t(a)");
  database_close(database);
  use_key(other);
  database = database_open(other, SEALED_VFS_NAME);
  run_sql(database, "CREATE TABLE t(a)");
  database_close(database);
  double least = 1;
  // A busy machine may leave this thread without a processor for that long.
  for (int round = 0; round < 40 && least > 0.25; round++) {
    CHECK_EQUAL(sealed_vfs_set_passphrase(slow, "open sesame", 11, 0), SQLITE_OK);
    pthread_t thread;
    CHECK_EQUAL(pthread_create(&thread, NULL, open_with_passphrase, (void *)(uintptr_t)slow), 0);
    while (!atomic_load(&is_deriving)) { usleep(10); }
    usleep(20000); // by now it has begun
    double start = seconds(), longest = 0;
    while (atomic_load(&is_deriving)) {
      double before = seconds();
      database_close(database_open(other, SEALED_VFS_NAME));
      double took = seconds() - before;
      longest = took > longest ? took : longest;
    }
    double all = seconds() - start;
    void *result = NULL;
    CHECK_EQUAL(pthread_join(thread, &result), 0);
    CHECK(result != NULL, "not opened with its passphrase");
    if (all > 0.01 && longest / all < least) { least = longest / all; }
  }
  CHECK(least <= 0.25, "an opening took %.0f %% of the time that a key did", 100 * least);
}

const struct scenario secret_scenarios[] = {{"wiped-secrets", wiped_secrets},
                                            {"unmade-databases", unmade_databases},
                                            {"many-keys", many_keys},
                                            {"keys-that-take-long", slow_keys},
                                            {NULL, NULL}};
