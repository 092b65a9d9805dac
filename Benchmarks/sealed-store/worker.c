// Measures one store: `worker plain|xchacha|aegis|sqlcipher FOLDER`. Prints one line per figure: name, value, unit. All
// have the same page size, cache, journal and sync settings.
#define _GNU_SOURCE
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifndef WITH_SQLCIPHER
#include <sodium.h>

#include "sealed_vfs.h"
#endif

enum { ROWS = 100000, DURABLE = 400, CACHED = 60000, UNCACHED = 20000, OPENINGS = 300, ROW_BYTES = 200 };

static const char *kind;
static char path[1024];

static double clock_now(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

// This process's processor time, so that other processes do not count; but a durable commit is a wait.
static double now(void) { return clock_now(CLOCK_PROCESS_CPUTIME_ID); }
static double wall_now(void) { return clock_now(CLOCK_MONOTONIC); }

static void must(int code, sqlite3 *database, const char *what) {
  if (code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE) { return; }
  fprintf(stderr, "%s: %s: %d %s\n", kind, what, code, sqlite3_errmsg(database));
  exit(1);
}

static void run(sqlite3 *database, const char *sql) { must(sqlite3_exec(database, sql, NULL, NULL, NULL), database, sql); }

static sqlite3 *open_store(void) {
  sqlite3 *database = NULL;
  const char *vfs = NULL;
#ifndef WITH_SQLCIPHER
  if (strcmp(kind, "plain") != 0) {
    uint8_t key[32] = "the key of this benchmark, 32 b";
    sealed_vfs_set_key(path, key, 0);
    vfs = SEALED_VFS_NAME;
  }
#endif
  must(sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, vfs), database, "open");
#ifdef WITH_SQLCIPHER
  // A raw key, so that no passphrase is stretched.
  run(database, "PRAGMA key = \"x'2DD29CA851E7B56E4697B0E1F08507293D761A05CE4D1B628663F411A8086D99'\"; PRAGMA cipher_page_size = 4096");
#endif
  run(database, "PRAGMA page_size=4096; PRAGMA cache_size=-2000; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA temp_store=MEMORY");
  return database;
}

static void print(const char *name, double value, const char *unit) { printf("%s\t%.6g\t%s\n", name, value, unit); }

static uint64_t state = 42;
static int random_row(int limit) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return 1 + (int)((state >> 33) % (uint64_t)limit);
}

static void read_points(sqlite3 *database, int count, int limit) {
  sqlite3_stmt *statement;
  must(sqlite3_prepare_v2(database, "SELECT b FROM t WHERE a = ?", -1, &statement, NULL), database, "prepare");
  for (int i = 0; i < count; i++) {
    sqlite3_bind_int(statement, 1, random_row(limit));
    must(sqlite3_step(statement), database, "read");
    sqlite3_reset(statement);
  }
  sqlite3_finalize(statement);
}

static double misses(sqlite3 *database) {
  int value = 0, highest = 0;
  sqlite3_db_status(database, SQLITE_DBSTATUS_CACHE_MISS, &value, &highest, 1);
  return value;
}

#ifndef WITH_SQLCIPHER
// The cost of one page for the cipher alone.
static double cipher_cost(void) {
  enum { TURNS = 20000, LENGTH = 4032 };
  static uint8_t page[LENGTH], tag[32], nonce[32], key[32];
  double start = now();
  for (int i = 0; i < TURNS; i++) {
#ifdef crypto_aead_aegis256_KEYBYTES
    if (strcmp(kind, "aegis") == 0) {
      crypto_aead_aegis256_encrypt_detached(page, tag, NULL, page, LENGTH, nonce, 24, NULL, nonce, key);
      continue;
    }
#endif
    crypto_aead_xchacha20poly1305_ietf_encrypt_detached(page, tag, NULL, page, LENGTH, nonce, 24, NULL, nonce, key);
  }
  return (now() - start) / (double)TURNS;
}
#endif

int main(int count, char **words) {
  if (count != 3) { return 2; }
  kind = words[1];
  snprintf(path, sizeof path, "%s/bench-%s.db", words[2], kind);
  char other[1100];
  const char *const suffixes[] = {"", "-wal", "-shm"};
  for (int i = 0; i < 3; i++) {
    snprintf(other, sizeof other, "%s%s", path, suffixes[i]);
    unlink(other);
  }
#ifndef WITH_SQLCIPHER
  sealed_vfs_cipher cipher = strcmp(kind, "aegis") == 0 ? SEALED_VFS_AEGIS_256 : SEALED_VFS_XCHACHA20_POLY1305;
  if (sealed_vfs_register(NULL, NULL) != SQLITE_OK || sealed_vfs_prefer_cipher(cipher) != SQLITE_OK) { return 1; }
#endif
  sqlite3 *database = open_store();
  run(database, "CREATE TABLE t(a INTEGER PRIMARY KEY, b BLOB, c TEXT); CREATE INDEX i ON t(c); CREATE TABLE d(a INTEGER PRIMARY KEY, b BLOB)");

  double start = now();
  sqlite3_stmt *insert;
  must(sqlite3_prepare_v2(database, "INSERT INTO t(b, c) VALUES(zeroblob(?), ?)", -1, &insert, NULL), database, "prepare");
  run(database, "BEGIN");
  for (int i = 0; i < ROWS; i++) {
    sqlite3_bind_int(insert, 1, ROW_BYTES);
    sqlite3_bind_int(insert, 2, (i * 7919) % ROWS);
    must(sqlite3_step(insert), database, "insert");
    sqlite3_reset(insert);
  }
  sqlite3_finalize(insert);
  run(database, "COMMIT; PRAGMA wal_checkpoint(TRUNCATE)");
  print("bulk load", (double)ROWS / (now() - start), "rows/s");

  must(sqlite3_prepare_v2(database, "INSERT INTO d(b) VALUES(zeroblob(200))", -1, &insert, NULL), database, "prepare");
  start = wall_now();
  for (int i = 0; i < DURABLE; i++) {
    must(sqlite3_step(insert), database, "insert");
    sqlite3_reset(insert);
  }
  print("durable inserts", (double)DURABLE / (wall_now() - start), "commits/s");
  sqlite3_finalize(insert);

  read_points(database, 5000, 2000);
  start = now();
  read_points(database, CACHED, 2000);
  print("point reads, in the cache", (double)CACHED / (now() - start), "reads/s");

  start = now();
  read_points(database, UNCACHED, ROWS);
  print("point reads, beyond it", (double)UNCACHED / (now() - start), "reads/s");

  misses(database);
  start = now();
  for (int i = 0; i < 3; i++) { run(database, "SELECT sum(length(b)), count(*) FROM t NOT INDEXED"); }
  double scan = (now() - start) / 3;
  double pages = misses(database) / 3;
  print("range scan, beyond it", (double)ROWS / scan, "rows/s");
#ifndef WITH_SQLCIPHER
  if (strcmp(kind, "plain") != 0) {
    double cost = cipher_cost();
    print("# share of the cipher in that scan", 100 * pages * cost / scan, "%");
    print("# the cipher, a page", cost * 1e6, "us");
  }
#else
  (void)pages;
#endif
  sqlite3_close(database);

  start = now();
  for (int i = 0; i < OPENINGS; i++) {
    database = open_store();
    run(database, "SELECT b FROM t WHERE a = 77");
    sqlite3_close(database);
  }
  print("open, read a row, close", (double)OPENINGS / (now() - start), "times/s");
  return 0;
}
