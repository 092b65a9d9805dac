// Generated SQL, run on a plain and on a sealed database side by side: every answer must be the same.
#include <stdarg.h>

#include "support.h"

enum { CONNECTIONS = 3, MOST_STEPS = 30 };

struct pair {
  sqlite3 *plain, *sealed;
};

struct workload {
  struct dice *dice;
  struct pair pairs[CONNECTIONS];
  int tables;     // t0, t1, ...
  long statements;
  // Belongs to the plan, so that a failed check does not leak it.
  char **transcript;
};

// One workload is its seed and its journal mode. Each step has its own seed, so that one can be left out without
// changing the others.
struct plan {
  uint64_t seed;
  const char *journal_mode;
  bool left_out[MOST_STEPS];
  int steps;
  long statements;
  // The statements run, while a failure is being shrunk; NULL: not recorded.
  char *transcript;
};

// A deliberate mistake to try the shrinking with: statements that begin with these words are not run on the sealed
// database.
static const char *sabotaged;

// Runs it on both; codes and rows must be the same.
static void both(struct workload *work, struct pair *pair, const char *sql) {
  int plain_code, sealed_code;
  if (*work->transcript != NULL) {
    *work->transcript = sqlite3_mprintf("%z%d: %.300s;\n", *work->transcript, (int)(pair - work->pairs), sql);
    CHECK(*work->transcript != NULL, "no memory");
  }
  uint64_t plain = query_hash(pair->plain, sql, &plain_code);
  bool is_sabotaged = sabotaged != NULL && strncmp(sql, sabotaged, strlen(sabotaged)) == 0;
  uint64_t sealed = query_hash(pair->sealed, is_sabotaged ? "SELECT 1 WHERE 0" : sql, &sealed_code);
  work->statements++;
  CHECK(plain_code == sealed_code, "%.300s: plain answers %d, sealed %d (%s; %s)", sql, plain_code, sqlite3_extended_errcode(pair->sealed),
        sqlite3_errmsg(pair->sealed), describe(last_report()));
  CHECK(plain == sealed, "%.300s: rows differ", sql);
}

static void both_format(struct workload *work, struct pair *pair, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  char sql[1000];
  sqlite3_vsnprintf(sizeof sql, sql, format, arguments);
  va_end(arguments);
  both(work, pair, sql);
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
        // Returns a row for each page that it frees; the number depends on the room in a page.
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
  int sealed_code;
  char *actual = database_dump(sealed, &sealed_code);
  bool are_same = expected != NULL && actual != NULL && strcmp(expected, actual) == 0;
  // Freed before the checks: after a failed one the run is shrunk and repeated, and does not return here.
  free(expected);
  free(actual);
  CHECK_EQUAL(code, SQLITE_OK);
  CHECK_EQUAL(sealed_code, SQLITE_OK);
  CHECK(are_same, "the dumps differ");
  database_close(plain);
  database_close(sealed);
}

// One action by one of the connections.
static void one_turn(struct workload *work, struct pair *pair, const char *plain, const char *sealed, int cache_pages, int synchronous,
                     bool exclusive) {
  struct dice *dice = work->dice;
  if (chance(dice, 60)) {
    transaction(work, pair);
  } else {
    one_step(work, pair);
  }
  if (chance(dice, 5)) { both(work, pair, "VACUUM"); }
  if (chance(dice, 5)) { run_sql(pair->sealed, "PRAGMA wal_checkpoint(%s)", chance(dice, 50) ? "TRUNCATE" : "PASSIVE"); }
  if (chance(dice, 5) && !exclusive) {
    close_pair(pair);
    open_pair(pair, plain, sealed, cache_pages, synchronous, false);
  }
}

static void run_plan(void *context) {
  struct plan *plan = context;
  const char *plain = path_of("plain.db"), *sealed = path_of("sealed é.db");
  database_remove(plain);
  database_remove(sealed);
  use_key(sealed);
  struct dice own = {.state = plan->seed}, *dice = &own;
  struct workload work = {.dice = dice, .transcript = &plan->transcript};
  int page_size = 1024 << below(dice, 7), auto_vacuum = (int)below(dice, 3), synchronous = (int)below(dice, 3);
  int cache_pages = chance(dice, 60) ? 5 + (int)below(dice, 10) : 500;
  bool exclusive = chance(dice, 15);
  int connections = exclusive ? 1 : 1 + (int)below(dice, CONNECTIONS);
  for (int i = 0; i < connections; i++) {
    open_pair(&work.pairs[i], plain, sealed, cache_pages, synchronous, exclusive);
    if (i > 0) { continue; }
    sqlite3 *both_of[] = {work.pairs[0].plain, work.pairs[0].sealed};
    for (int j = 0; j < 2; j++) {
      run_sql(both_of[j], "PRAGMA page_size=%d; PRAGMA auto_vacuum=%d; PRAGMA journal_mode=%s", page_size, auto_vacuum, plan->journal_mode);
    }
    new_table(&work, &work.pairs[0]);
    CHECK_EQUAL(ask(work.pairs[0].sealed, "PRAGMA page_size"), page_size);
  }
  plan->steps = 10 + (int)below(dice, MOST_STEPS - 10);
  for (int i = 0; i < plan->steps; i++) {
    struct dice of_step = {.state = roll(dice)};
    if (plan->left_out[i]) { continue; }
    work.dice = &of_step;
    one_turn(&work, &work.pairs[below(&of_step, (uint64_t)connections)], plain, sealed, cache_pages, synchronous, exclusive);
  }
  for (int i = 0; i < connections; i++) { close_pair(&work.pairs[i]); }
  compare(plain, sealed);
  plan->statements = work.statements;
}

static bool plan_holds(struct plan *plan) {
  bool held = holds(run_plan, plan);
  if (!held) { close_databases(); }
  return held;
}

// Leaves out as many steps as it can while something still fails: halves, quarters, ..., single ones. Returns the
// number left.
static int shrink(struct plan *plan) {
  for (int size = plan->steps / 2; size > 0; size /= 2) {
    for (int start = 0; start < plan->steps; start += size) {
      struct plan smaller = *plan;
      for (int i = start; i < start + size && i < plan->steps; i++) { smaller.left_out[i] = true; }
      if (!plan_holds(&smaller)) { memcpy(plan->left_out, smaller.left_out, sizeof plan->left_out); }
    }
  }
  int left = 0;
  for (int i = 0; i < plan->steps; i++) { left += !plan->left_out[i]; }
  return left;
}

static void fail_with_the_smallest(struct plan *plan) {
  int left = shrink(plan);
  plan->transcript = sqlite3_mprintf("");
  plan_holds(plan);
  // A copy, because the message of this check replaces it.
  char *reason = sqlite3_mprintf("%s", failed_check());
  CHECK(false, "workload with the seed %llu (%s), of %d steps %d are enough: %s\n%.2500s", (unsigned long long)plan->seed,
        plan->journal_mode, plan->steps, left, reason, plan->transcript);
}

static void many(struct dice *dice, const char *const *modes, size_t mode_count, int workloads) {
  long statements = 0;
  for (int i = 0; i < workloads; i++) {
    // Each has its own seed, so that a failing one can be run again by itself.
    struct plan plan = {.seed = roll(dice), .journal_mode = modes[(size_t)i % mode_count]};
    if (getenv("SEALED_VERBOSE") != NULL) { fprintf(stderr, "workload %d: seed %llu\n", i, (unsigned long long)plan.seed); }
    if (!plan_holds(&plan)) { fail_with_the_smallest(&plan); }
    statements += plan.statements;
  }
  note("%d workloads, %ld statements", workloads, statements);
}

// The comparison detects a mistake, and its report is short.
static void shrinking(struct dice *dice) {
  sabotaged = "DELETE";
  for (int tries = 0; tries < 40; tries++) {
    struct plan plan = {.seed = roll(dice), .journal_mode = "WAL"};
    if (plan_holds(&plan)) { continue; }
    int left = shrink(&plan);
    bool still_fails = !plan_holds(&plan);
    sabotaged = NULL;
    bool is_the_mistake = plan_holds(&plan);
    CHECK(still_fails && is_the_mistake, "what is left of the workload shows another mistake");
    CHECK(left <= 4 && left < plan.steps, "of %d steps %d are left", plan.steps, left);
    note("of %d steps %d are left", plan.steps, left);
    return;
  }
  sabotaged = NULL;
  CHECK(false, "no check sees that rows are not deleted");
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
    {"workloads-that-shrink", shrinking},
    {NULL, NULL},
};
