// Generated SQL, run on a plain and on a sealed database side by side: every answer has to be the same.
#include <stdarg.h>

#include "support.h"

enum { CONNECTIONS = 3 };

struct pair {
  sqlite3 *plain, *sealed;
};

struct workload {
  struct dice *dice;
  struct pair pairs[CONNECTIONS];
  int tables;     // t0, t1, ...
  long statements;
};

// Both run it; codes and rows must be the same.
static void both(struct workload *work, struct pair *pair, const char *sql) {
  int plain_code, sealed_code;
  uint64_t plain = query_hash(pair->plain, sql, &plain_code);
  uint64_t sealed = query_hash(pair->sealed, sql, &sealed_code);
  work->statements++;
  CHECK(plain_code == sealed_code, "%.300s: plain answers %d, sealed %d (%s; %s)", sql, plain_code, sqlite3_extended_errcode(pair->sealed),
        sqlite3_errmsg(pair->sealed), describe(last_report()));
  CHECK(plain == sealed, "%.300s: rows differ", sql);
}

static void both_format(struct workload *work, struct pair *pair, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  char *sql = sqlite3_vmprintf(format, arguments);
  va_end(arguments);
  both(work, pair, sql);
  sqlite3_free(sql);
}

static void new_table(struct workload *work, struct pair *pair) {
  static const char *const shapes[] = {
      "CREATE TABLE t%d(a INTEGER PRIMARY KEY, b TEXT, c BLOB, d INT)",
      "CREATE TABLE t%d(a INTEGER, b TEXT PRIMARY KEY, c BLOB, d INT) WITHOUT ROWID",
      "CREATE TABLE t%d(a INTEGER PRIMARY KEY AUTOINCREMENT, b TEXT, c BLOB, d INT UNIQUE)",
  };
  both_format(work, pair, shapes[below(work->dice, 3)], work->tables++);
}

// Most values are small, some need overflow pages, a few many of them.
static unsigned value_size(struct dice *dice) {
  return chance(dice, 70) ? (unsigned)below(dice, 100) : chance(dice, 85) ? (unsigned)below(dice, 6000) : (unsigned)below(dice, 120000);
}

static void one_step(struct workload *work, struct pair *pair) {
  struct dice *dice = work->dice;
  int table = (int)below(dice, (uint64_t)work->tables);
  switch (below(dice, 18)) {
    case 0: new_table(work, pair); break;
    case 1: both_format(work, pair, "CREATE INDEX i%d ON t%d(%s)", (int)below(dice, 1000), table, chance(dice, 50) ? "b" : "d, a"); break;
    case 2: both_format(work, pair, "ALTER TABLE t%d ADD COLUMN x%d DEFAULT %d", table, (int)below(dice, 9), (int)below(dice, 100)); break;
    case 3:
    case 4:
    case 5:
    case 6:
      for (uint64_t i = 0, rows = 1 + below(dice, 25); i < rows; i++) {
        both_format(work, pair, "INSERT OR REPLACE INTO t%d(b, c, d) VALUES('%llx', hex(zeroblob(%u)) || '%llx', %d)", table, roll(dice),
                    value_size(dice) / 2, roll(dice), (int)below(dice, 100000));
      }
      break;
    case 7:
      both_format(work, pair,
                  "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n LIMIT %d) "
                  "INSERT OR IGNORE INTO t%d(b, c, d) SELECT i || '-%llx', zeroblob(i %% %u), i*7919 FROM n",
                  (int)below(dice, 400), table, roll(dice), 1 + value_size(dice) % 3000);
      break;
    case 8:
    case 9:
      both_format(work, pair, "UPDATE t%d SET c = substr(c, 1, %u), d = d + 100000 WHERE d %% 7 = %d", table, value_size(dice),
                  (int)below(dice, 7));
      break;
    case 10: both_format(work, pair, "DELETE FROM t%d WHERE d %% %d = 0", table, 2 + (int)below(dice, 5)); break;
    case 11: both_format(work, pair, "SELECT count(*), sum(length(c)), min(b), max(d) FROM t%d", table); break;
    case 12: both_format(work, pair, "SELECT * FROM t%d WHERE d BETWEEN %d AND %d", table, (int)below(dice, 50000), 60000); break;
    case 13: both_format(work, pair, "SELECT b, length(c) FROM t%d ORDER BY c, b LIMIT 300", table); break;
    case 14: both_format(work, pair, "SELECT x.b, y.d FROM t%d x JOIN t%d y ON x.d = y.d ORDER BY 1, 2 LIMIT 100", table, 0); break;
    case 15:
      if (chance(dice, 30)) { both_format(work, pair, "DROP TABLE IF EXISTS t%d", table); }
      break;
    case 16:
      both_format(work, pair, "CREATE TEMP TABLE IF NOT EXISTS s(x, y)");
      both_format(work, pair, "INSERT INTO s SELECT b, c FROM t%d ORDER BY d LIMIT 200", table);
      both_format(work, pair, "SELECT count(*), sum(length(y)) FROM s");
      break;
    default:
      if (chance(dice, 20)) {
        // Answers with a row for each page that it frees; how many there are depends on the room in a page.
        CHECK_EQUAL(try_sql(pair->plain, "PRAGMA incremental_vacuum(3)"), try_sql(pair->sealed, "PRAGMA incremental_vacuum(3)"));
      }
      if (chance(dice, 10)) { both(work, pair, "REINDEX"); }
      if (chance(dice, 10)) { both(work, pair, "ANALYZE"); }
      both(work, pair, "PRAGMA quick_check(5)");
      break;
  }
}

// A transaction with savepoints; some are rolled back, as a whole or in part.
static void transaction(struct workload *work, struct pair *pair) {
  struct dice *dice = work->dice;
  both(work, pair, chance(dice, 50) ? "BEGIN" : "BEGIN IMMEDIATE");
  for (uint64_t i = 0, steps = 1 + below(dice, 6); i < steps; i++) {
    bool nested = chance(dice, 40);
    if (nested) { both(work, pair, "SAVEPOINT inner_one"); }
    one_step(work, pair);
    if (nested && chance(dice, 50)) { both(work, pair, "ROLLBACK TO inner_one"); }
    if (nested) { both(work, pair, "RELEASE inner_one"); }
  }
  both(work, pair, chance(dice, 70) ? "COMMIT" : "ROLLBACK");
}

static void open_pair(struct pair *pair, const char *plain, const char *sealed, int cache_pages, int synchronous, bool exclusive) {
  pair->plain = database_open(plain, NULL);
  pair->sealed = database_open(sealed, SEALED_VFS_NAME);
  sqlite3 *both_of[] = {pair->plain, pair->sealed};
  for (int i = 0; i < 2; i++) {
    run_sql(both_of[i], "PRAGMA cache_size=%d; PRAGMA synchronous=%d; PRAGMA cache_spill=%d; PRAGMA wal_autocheckpoint=%d", cache_pages,
            synchronous, 1, cache_pages * 3);
    if (exclusive) { run_sql(both_of[i], "PRAGMA locking_mode=EXCLUSIVE"); }
  }
}

static void close_pair(struct pair *pair) {
  database_close(pair->plain);
  database_close(pair->sealed);
}

static void compare(const char *plain_path, const char *sealed_path) {
  sqlite3 *plain = database_open(plain_path, NULL), *sealed = database_open(sealed_path, SEALED_VFS_NAME);
  expect_sound(sealed);
  int code;
  char *expected = database_dump(plain, &code);
  CHECK_EQUAL(code, SQLITE_OK);
  char *actual = database_dump(sealed, &code);
  CHECK_EQUAL(code, SQLITE_OK);
  CHECK(strcmp(expected, actual) == 0, "the dumps differ");
  free(expected);
  free(actual);
  database_close(plain);
  database_close(sealed);
}

static long one_workload(struct dice *dice, const char *journal_mode) {
  const char *plain = path_of("plain.db"), *sealed = path_of("sealed é.db");
  database_remove(plain);
  database_remove(sealed);
  use_key(sealed);
  struct workload work = {.dice = dice};
  int page_size = 1024 << below(dice, 7), auto_vacuum = (int)below(dice, 3), synchronous = (int)below(dice, 3);
  int cache_pages = chance(dice, 60) ? 5 + (int)below(dice, 10) : 500;
  bool exclusive = chance(dice, 15);
  int connections = exclusive ? 1 : 1 + (int)below(dice, CONNECTIONS);
  for (int i = 0; i < connections; i++) {
    open_pair(&work.pairs[i], plain, sealed, cache_pages, synchronous, exclusive);
    if (i > 0) { continue; }
    sqlite3 *both_of[] = {work.pairs[0].plain, work.pairs[0].sealed};
    for (int j = 0; j < 2; j++) {
      run_sql(both_of[j], "PRAGMA page_size=%d; PRAGMA auto_vacuum=%d; PRAGMA journal_mode=%s", page_size, auto_vacuum, journal_mode);
    }
    new_table(&work, &work.pairs[0]);
    CHECK_EQUAL(ask(work.pairs[0].sealed, "PRAGMA page_size"), page_size);
  }
  for (uint64_t i = 0, steps = 10 + below(dice, 20); i < steps; i++) {
    struct pair *pair = &work.pairs[below(dice, (uint64_t)connections)];
    if (chance(dice, 60)) {
      transaction(&work, pair);
    } else {
      one_step(&work, pair);
    }
    if (chance(dice, 5)) { both(&work, pair, "VACUUM"); }
    if (chance(dice, 5)) { run_sql(pair->sealed, "PRAGMA wal_checkpoint(%s)", chance(dice, 50) ? "TRUNCATE" : "PASSIVE"); }
    if (chance(dice, 5) && !exclusive) {
      close_pair(pair);
      open_pair(pair, plain, sealed, cache_pages, synchronous, false);
    }
  }
  for (int i = 0; i < connections; i++) { close_pair(&work.pairs[i]); }
  compare(plain, sealed);
  return work.statements;
}

static void many(struct dice *dice, const char *const *modes, size_t mode_count, int workloads) {
  long statements = 0;
  for (int i = 0; i < workloads; i++) {
    // Each has its own seed, so that one that fails can be run again by itself.
    uint64_t seed = roll(dice);
    struct dice own = {.state = seed};
    if (getenv("SEALED_VERBOSE") != NULL) { fprintf(stderr, "workload %d: seed %llu\n", i, (unsigned long long)seed); }
    statements += one_workload(&own, modes[(size_t)i % mode_count]);
  }
  note("%d workloads, %ld statements", workloads, statements);
}

static void in_wal(struct dice *dice) {
  static const char *const modes[] = {"WAL"};
  many(dice, modes, 1, 120);
}

static void with_journals(struct dice *dice) {
  static const char *const modes[] = {"DELETE", "TRUNCATE", "PERSIST", "DELETE"};
  many(dice, modes, 4, 120);
}

const struct scenario workload_scenarios[] = {
    {"workloads-in-wal", in_wal},
    {"workloads-with-journals", with_journals},
    {NULL, NULL},
};
