// Disks fail, fill up or lose power; memory runs out: nothing is corrupted, and nothing that was promised is lost.
#include "support.h"

static const char *const modes[] = {"DELETE", "WAL", "PERSIST", "TRUNCATE"};

// Makes a database with a table `t` of rows, to be changed by the transactions below.
static void make(const char *path, const char *mode, const char *vfs) {
  database_remove(path);
  use_key(path);
  sqlite3 *database = database_open(path, vfs);
  run_sql(database, "PRAGMA page_size=1024; PRAGMA journal_mode=%s; CREATE TABLE t(a INTEGER PRIMARY KEY, b); CREATE TABLE n(i)", mode);
  run_sql(database, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n LIMIT 40) INSERT INTO t(b) SELECT zeroblob(i * 40) FROM n; INSERT INTO n VALUES(0)");
  database_close(database);
}

// One transaction that sets `n` to `number`. It spills, grows, shrinks, and rolls back to a savepoint.
static int change(sqlite3 *database, int number) {
  char sql[600];
  snprintf(sql, sizeof sql,
           "PRAGMA cache_size=4; BEGIN; UPDATE n SET i = %d; UPDATE t SET b = zeroblob(900 + a) WHERE a %% 3 = %d; SAVEPOINT s;"
           "INSERT INTO t(b) SELECT zeroblob(1500) FROM t LIMIT 9; ROLLBACK TO s; RELEASE s;"
           "INSERT INTO t(b) SELECT zeroblob(700) FROM t LIMIT 6; DELETE FROM t WHERE a %% 7 = %d; COMMIT",
           number, number % 3, number % 7);
  int code = sqlite3_exec(database, sql, NULL, NULL, NULL);
  if (code != SQLITE_OK && !sqlite3_get_autocommit(database)) { sqlite3_exec(database, "ROLLBACK", NULL, NULL, NULL); }
  return code;
}

// Whether the database is sound; returns `n`.
static int state_of(const char *path) {
  sqlite3 *database = database_open(path, SEALED_VFS_NAME);
  expect_sound(database);
  int number = (int)ask(database, "SELECT i FROM n");
  database_close(database);
  int code = read_every_page(path);
  CHECK(code == SQLITE_OK, "%d, %s", code, describe(last_report()));
  return number;
}

// Where a write was torn, a free page may be torn too: SQLite does not journal pages that hold nothing (with a log,
// they are in it). This matters only to readers of free pages: the backup API and VACUUM in place. VACUUM INTO makes a
// copy without them.
static int state_after_torn_write(const char *path, bool has_journal, long *torn) {
  sqlite3 *database = database_open(path, SEALED_VFS_NAME);
  expect_sound(database);
  long long free_pages = ask(database, "PRAGMA freelist_count");
  if (has_journal && free_pages > 0 && read_every_page(path) == SQLITE_IOERR_DATA) {
    const char *copy = path_of("compact.db");
    database_remove(copy);
    use_key(copy);
    run_sql(database, "VACUUM INTO 'file:%s?vfs=sealed'", copy);
    ++*torn;
    path = copy;
  }
  database_close(database);
  return state_of(path);
}

static void nth_operation(struct dice *dice) {
  (void)dice;
  const char *path = path_of("faults.db"), *good = path_of("good.db");
  long fired = 0, torn = 0;
  for (int mode = 0; mode < 4; mode++) {
    make(good, modes[mode], SEALED_VFS_NAME);
    for (int operation = 0; operation < OP_COUNT; operation++) {
      for (int style = 0; style < 3; style++) {
        if (style == 2 && operation != OP_WRITE) { continue; }
        // Each operation in turn; from the 25th on some are skipped.
        for (long n = 1;; n += n < 25 ? 1 : n / 6) {
          database_remove(path);
          file_copy(good, path);
          use_key(path);
          faults_reset();
          faults.operation = (enum operation)operation;
          faults.countdown = n;
          faults.sticky = style == 1;
          faults.short_write = style == 2;
          faults.code = operation == OP_WRITE && style != 0 ? SQLITE_FULL
                        : operation == OP_LOCK ? SQLITE_BUSY
                        : operation == OP_SHM_LOCK ? SQLITE_IOERR_SHMLOCK
                        : operation == OP_OPEN ? SQLITE_CANTOPEN : SQLITE_IOERR_READ;
          int last_good = 0, begun = 0;
          sqlite3 *database = NULL;
          if (sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE, "sealed-faulty") == SQLITE_OK) {
            if (style == 0) { sqlite3_exec(database, "PRAGMA synchronous=NORMAL; PRAGMA wal_autocheckpoint=5", NULL, NULL, NULL); }
            for (int number = 1; number <= 3; number++) {
              begun = number;
              if (change(database, number) == SQLITE_OK) { last_good = number; }
            }
            sqlite3_exec(database, "PRAGMA wal_checkpoint(TRUNCATE)", NULL, NULL, NULL);
          }
          sqlite3_close(database);
          bool done = !faults.fired;
          faults_reset();
          if (getenv("SEALED_VERBOSE") != NULL) { fprintf(stderr, "%s %d %d %ld\n", modes[mode], operation, style, n); }
          int state = style == 2 ? state_after_torn_write(path, mode != 1, &torn) : state_of(path);
          CHECK(state >= last_good && state <= begun, "%s, operation %d, style %d, n %ld: state %d, not in %d...%d", modes[mode], operation,
                style, n, state, last_good, begun);
          if (done) { break; }
          fired++;
        }
      }
    }
  }
  note("%ld faults, %ld with torn free pages", fired, torn);
}

// Creation, rollback of a hot journal and recovery of a log, each with the nth operation or allocation failing.
static void nth_operation_of_recovery(struct dice *dice) {
  (void)dice;
  const char *path = path_of("faults.db"), *hot = path_of("hot.db");
  long fired = 0;
  for (int mode = 0; mode < 3; mode++) {
    const char *companion = mode == 1 ? "-wal" : "-journal";
    database_remove(hot);
    if (mode < 2) {
      make(hot, modes[mode], SEALED_VFS_NAME);
      pid_t child = fork();
      if (child == 0) {
        sqlite3 *database = database_open(hot, SEALED_VFS_NAME);
        run_sql(database, "PRAGMA cache_size=4; UPDATE n SET i = %d; BEGIN; UPDATE n SET i = 99; UPDATE t SET b = zeroblob(999)", mode);
        leave(0);
      }
      int status;
      waitpid(child, &status, 0);
      CHECK(file_size(with_suffix(hot, companion)) > 0, "there is nothing to recover");
    }
    for (int operation = 0; operation <= OP_COUNT; operation++) {
      bool is_memory = operation == OP_COUNT;
      for (long n = 1; n < 2000; n++) {
        database_remove(path);
        if (mode < 2) {
          file_copy(hot, path);
          file_copy(with_suffix(hot, companion), with_suffix(path, companion));
        }
        use_key(path);
        faults_reset();
        faults.operation = (enum operation)operation;
        faults.countdown = is_memory ? 0 : n;
        if (is_memory) { malloc_countdown = n; }
        faults.code = SQLITE_IOERR;
        sqlite3 *database = NULL;
        int code = sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, "sealed-faulty");
        if (code == SQLITE_OK && mode == 2) { code = try_sql(database, "BEGIN; CREATE TABLE n(i); INSERT INTO n VALUES(2); COMMIT"); }
        if (code == SQLITE_OK) { code = try_sql(database, "SELECT * FROM n"); }
        sqlite3_close(database);
        bool done = is_memory ? malloc_countdown > 0 : !faults.fired;
        malloc_countdown = 0;
        faults_reset();
        sqlite3 *after = database_open(path, SEALED_VFS_NAME);
        expect_sound(after);
        bool exists = ask(after, "SELECT count(*) FROM sqlite_schema WHERE name = 'n'") == 1;
        CHECK(exists || (mode == 2 && code != SQLITE_OK), "mode %d, operation %d, n %ld: the table is gone", mode, operation, n);
        if (exists) { CHECK_EQUAL(ask(after, "SELECT i FROM n"), mode); }
        database_close(after);
        if (done) { break; }
        fired++;
      }
    }
  }
  note("%ld faults", fired);
}

static void memory(struct dice *dice) {
  (void)dice;
  const char *path = path_of("memory.db"), *good = path_of("good.db");
  long failures = 0;
  for (int mode = 0; mode < 2; mode++) {
    make(good, modes[mode], SEALED_VFS_NAME);
    for (long n = 1; n < 4000; n += n < 150 ? 1 : 37) {
      database_remove(path);
      file_copy(good, path);
      use_key(path);
      malloc_countdown = n;
      sqlite3 *database = NULL;
      int last_good = 0;
      if (sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE, SEALED_VFS_NAME) == SQLITE_OK) {
        if (change(database, 1) == SQLITE_OK) { last_good = 1; }
        sqlite3_exec(database, "PRAGMA temp_store=1; CREATE TEMP TABLE x AS SELECT * FROM t ORDER BY b", NULL, NULL, NULL);
      }
      sqlite3_close(database);
      bool done = malloc_countdown > 0;
      malloc_countdown = 0;
      CHECK(state_of(path) >= last_good, "allocation %ld: the transaction is gone", n);
      if (done) { break; }
      failures++;
    }
  }
  // Our own allocations: the registry and the salt.
  for (long n = 1; n < 6; n++) {
    uint8_t salt[16];
    malloc_countdown = n;
    int set = sealed_vfs_set_key(path, test_key, SEALED_VFS_KEEP_KEY), read = 0, forget = 0;
    malloc_countdown = n;
    read = sealed_vfs_read_salt(path, salt, NULL);
    malloc_countdown = n;
    forget = sealed_vfs_forget_key(path);
    malloc_countdown = 0;
    CHECK((set == SQLITE_OK || set == SQLITE_CANTOPEN) && (forget == SQLITE_OK || forget == SQLITE_CANTOPEN), "%d, %d", set, forget);
    CHECK(read == SQLITE_OK || read == SQLITE_CANTOPEN || read == SQLITE_NOMEM, "%d", read);
    use_key(path);
  }
  note("%ld allocations failed", failures);
}

// Power is lost at a random write; of the unsynced data, a random part of the sectors did not arrive.
static void power(struct dice *dice) {
  const char *path = path_of("power.db");
  long rounds = 0, advanced = 0, torn = 0;
  for (int round = 0; round < 240; round++) {
    const char *mode = modes[round % 4];
    bool full = strcmp(mode, "WAL") != 0 ? chance(dice, 70) : chance(dice, 50);
    make(path, mode, SEALED_VFS_NAME);
    faults_reset();
    faults.psow = chance(dice, 70);
    faults.writes_to_power_loss = 1 + (long)below(dice, 260);
    int last_good = 0, begun = 0;
    sqlite3 *database = NULL;
    if (sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE, "sealed-faulty") == SQLITE_OK) {
      char settings[100];
      snprintf(settings, sizeof settings, "PRAGMA synchronous=%s; PRAGMA wal_autocheckpoint=40", full ? "FULL" : "NORMAL");
      sqlite3_exec(database, settings, NULL, NULL, NULL);
      for (int number = 1; number <= 4 && !faults.power_is_lost; number++) {
        begun = number;
        if (change(database, number) == SQLITE_OK) { last_good = number; }
      }
    }
    faults.power_is_lost = true;  // closing must not tidy up
    sqlite3_close(database);
    power_return(dice);
    unlink(with_suffix(path, "-shm"));
    if (getenv("SEALED_VERBOSE") != NULL) { fprintf(stderr, "%s, full %d\n", mode, full); }
    int state = state_after_torn_write(path, strcmp(mode, "WAL") != 0, &torn);
    // A log that is not synced at each commit may lose its last commits, but none in the middle.
    bool may_lose = strcmp(mode, "WAL") == 0 && !full;
    CHECK(state <= begun && (may_lose || state >= last_good), "%s, full %d, psow: state %d, promised %d", mode, full, state, last_good);
    rounds++;
    advanced += state > 0;
  }
  CHECK(advanced > rounds / 10 && advanced < rounds, "in %ld of %ld rounds something was kept", advanced, rounds);
  note("%ld losses of power, %ld with torn free pages", rounds, torn);
}

// No content appears in anything that is written: main file, logs, journals, temporary files.
static void canary(struct dice *dice) {
  (void)dice;
  const char *secret = "CANARY-IN-THE-COAL-MINE";
  const char *path = path_of("canary.db");
  long written[5] = {0};
  for (int mode = 0; mode < 4; mode++) {
    make(path, modes[mode], SEALED_VFS_NAME);
    faults_reset();
    faults.canary = secret;
    sqlite3 *database = database_open(path, "sealed-faulty");
    run_sql(database, "PRAGMA cache_size=4; PRAGMA temp_store=FILE; CREATE TABLE \"%s\"(a, b); CREATE INDEX ix ON \"%s\"(b);", secret, secret);
    run_sql(database, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n LIMIT 900) INSERT INTO \"%s\" SELECT i, '%s' || i || zeroblob(i %% 3000) FROM n", secret, secret);
    run_sql(database, "BEGIN; UPDATE \"%s\" SET a = a + 1, b = b || '%s'; SAVEPOINT s; DELETE FROM \"%s\" WHERE a %% 2; ROLLBACK TO s; ROLLBACK", secret, secret, secret);
    run_sql(database, "UPDATE OR FAIL \"%s\" SET b = b || '%s'; CREATE TEMP TABLE tt AS SELECT * FROM \"%s\" ORDER BY b DESC, a; CREATE TEMP TABLE uu AS SELECT * FROM tt; DELETE FROM tt; DROP TABLE uu", secret, secret, secret);
    CHECK(ask(database, "SELECT count(*) FROM (SELECT DISTINCT b FROM \"CANARY-IN-THE-COAL-MINE\" ORDER BY b || a)") == 900, "rows");
    run_sql(database, "VACUUM");
    CHECK(!file_contains(path, secret), "it is in the database");
    CHECK_EQUAL(faults.canary_hits, 0);
    for (int sort = 1; sort < 5; sort++) { written[sort] += faults.writes[sort]; }
    database_close(database);
  }
  for (int sort = 1; sort < 5; sort++) { CHECK(written[sort] > 50, "only %ld writes to files of sort %d", written[sort], sort); }
  // The watcher works: a plain database over the same VFS reveals the secret.
  faults.canary = secret;
  const char *plain = path_of("plain.db");
  sqlite3 *database = database_open(plain, "faulty");
  run_sql(database, "CREATE TABLE \"%s\"(a)", secret);
  database_close(database);
  CHECK(faults.canary_hits > 0 && file_contains(plain, secret), "the watcher sees nothing");
  note("%ld, %ld, %ld, %ld writes", written[1], written[2], written[3], written[4]);
}

const struct scenario fault_scenarios[] = {
    {"failing-operations", nth_operation}, {"failing-recovery", nth_operation_of_recovery}, {"failing-memory", memory},
    {"loss-of-power", power}, {"no-plaintext", canary}, {NULL, NULL},
};
