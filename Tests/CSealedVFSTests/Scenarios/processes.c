// Several processes using one file.
#include "support.h"

#include <signal.h>

static const char *const modes[] = {"WAL", "DELETE"};

static void await(pid_t child, const char *what) {
  int status;
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%s ended with %d", what, status);
}

static void writers(struct dice *dice) {
  (void)dice;
  for (int mode = 0; mode < 2; mode++) {
    const char *path = path_of("shared.db");
    database_remove(path);
    use_key(path);
    sqlite3 *database = database_open(path, SEALED_VFS_NAME);
    run_sql(database, "PRAGMA journal_mode=%s; CREATE TABLE t(who, i, b); CREATE TABLE total(n); INSERT INTO total VALUES(0)", modes[mode]);
    database_close(database);
    enum { PROCESSES = 4, ROWS = 60 };
    pid_t children[PROCESSES];
    for (int who = 0; who < PROCESSES; who++) {
      children[who] = fork();
      if (children[who] != 0) { continue; }
      sqlite3 *mine = database_open(path, SEALED_VFS_NAME);
      sqlite3_busy_timeout(mine, 60000);
      run_sql(mine, "PRAGMA synchronous=OFF; PRAGMA cache_size=10; PRAGMA wal_autocheckpoint=%d", 5 + who * 20);
      for (int i = 0; i < ROWS; i++) {
        run_sql(mine, "BEGIN IMMEDIATE; INSERT INTO t VALUES(%d, %d, zeroblob(%d)); UPDATE total SET n = n + 1; COMMIT", who, i, i * 60);
        // What each process sees is whole at any moment.
        CHECK_EQUAL(ask(mine, "SELECT (SELECT n FROM total) - (SELECT count(*) FROM t)"), 0);
      }
      sqlite3_close(mine);
      leave(0);
    }
    for (int who = 0; who < PROCESSES; who++) { await(children[who], "a writer"); }
    database = database_open(path, SEALED_VFS_NAME);
    CHECK_EQUAL(ask(database, "SELECT n FROM total"), PROCESSES * ROWS);
    CHECK_EQUAL(ask(database, "SELECT count(DISTINCT who * 1000 + i) FROM t"), PROCESSES * ROWS);
    expect_sound(database);
    database_close(database);
  }
}

// Killed at any moment: everything reported as committed is there, nothing else is, and no repair is needed.
static void killed(struct dice *dice) {
  long kept = 0;
  for (int round = 0; round < 40; round++) {
    const char *path = path_of("killed.db");
    database_remove(path);
    use_key(path);
    sqlite3 *database = database_open(path, SEALED_VFS_NAME);
    run_sql(database, "PRAGMA journal_mode=%s; CREATE TABLE t(a INTEGER PRIMARY KEY, b); CREATE INDEX i ON t(b)", modes[round % 2]);
    database_close(database);
    int told[2];
    CHECK_EQUAL(pipe(told), 0);
    pid_t child = fork();
    if (child == 0) {
      sqlite3 *mine = database_open(path, SEALED_VFS_NAME);
      run_sql(mine, "PRAGMA synchronous=%s; PRAGMA cache_size=5; PRAGMA wal_autocheckpoint=30", round % 3 == 0 ? "OFF" : "NORMAL");
      for (int i = 1;; i++) {
        run_sql(mine, "BEGIN; INSERT INTO t VALUES(%d, zeroblob(%d)); UPDATE t SET b = zeroblob(%d) WHERE a %% 5 = %d; COMMIT", i, i * 37 % 9000, i * 53 % 9000, i % 5);
        if (write(told[1], &i, sizeof i) != sizeof i) { leave(1); }
      }
    }
    close(told[1]);
    usleep((useconds_t)(2000 + below(dice, 60000)));
    kill(child, SIGKILL);
    int status, last = 0, number;
    waitpid(child, &status, 0);
    while (read(told[0], &number, sizeof number) == sizeof number) { last = number; }
    close(told[0]);
    database = database_open(path, SEALED_VFS_NAME);
    expect_sound(database);
    long long rows = ask(database, "SELECT count(*) FROM t");
    CHECK(rows == last || rows == last + 1, "%s: %lld rows, %d were committed", modes[round % 2], rows, last);
    kept += rows;
    database_close(database);
  }
  note("40 kills, %ld commits kept", kept);
}

static void creation(struct dice *dice) {
  (void)dice;
  for (int round = 0; round < 12; round++) {
    const char *path = path_of("new.db");
    bool with_passphrase = round % 4 == 3;
    database_remove(path);
    enum { PROCESSES = 3 };
    pid_t children[PROCESSES];
    for (int who = 0; who < PROCESSES; who++) {
      children[who] = fork();
      if (children[who] != 0) { continue; }
      int code = with_passphrase ? sealed_vfs_set_passphrase(path, "open sesame", 11, 0) : sealed_vfs_set_key(path, test_key, 0);
      CHECK_EQUAL(code, SQLITE_OK);
      sqlite3 *mine = database_open(path, SEALED_VFS_NAME);
      sqlite3_busy_timeout(mine, 60000);
      run_sql(mine, "BEGIN IMMEDIATE; CREATE TABLE IF NOT EXISTS t(who); INSERT INTO t VALUES(%d); COMMIT", who);
      if (round % 2 == 0) {
        // SQLite does not wait for the lock that the change takes.
        while (try_sql(mine, "PRAGMA journal_mode=WAL") == SQLITE_BUSY) { sqlite3_sleep(1); }
        run_sql(mine, "INSERT INTO t VALUES(%d)", who + 100);
      }
      sqlite3_close(mine);
      leave(0);
    }
    for (int who = 0; who < PROCESSES; who++) { await(children[who], "a creator"); }
    if (with_passphrase) {
      CHECK_EQUAL(sealed_vfs_set_passphrase(path, "open sesame", 11, 0), SQLITE_OK);
    } else {
      use_key(path);
    }
    sqlite3 *database = database_open(path, SEALED_VFS_NAME);
    CHECK_EQUAL(ask(database, "SELECT count(DISTINCT who) FROM t"), round % 2 == 0 ? 2 * PROCESSES : PROCESSES);
    expect_sound(database);
    database_close(database);
  }
}

// Two databases in one transaction, killed between their commits: both have it, or neither does.
static void two_databases(struct dice *dice) {
  long both = 0;
  for (int round = 0; round < 60; round++) {
    const char *first = path_of("first.db"), *second = path_of("second.db");
    const char *paths[] = {first, second};
    for (int i = 0; i < 2; i++) {
      database_remove(paths[i]);
      use_key(paths[i]);
      sqlite3 *database = database_open(paths[i], SEALED_VFS_NAME);
      run_sql(database, "CREATE TABLE t(a); INSERT INTO t VALUES(0)");
      database_close(database);
    }
    enum operation operation = chance(dice, 70) ? OP_WRITE : OP_DELETE;
    long nth = 1 + (long)below(dice, operation == OP_WRITE ? 30 : 4);
    pid_t child = fork();
    if (child == 0) {
      sqlite3 *mine = database_open(first, "sealed-faulty");
      run_sql(mine, "ATTACH 'file:%s?vfs=sealed-faulty' AS other", second);
      faults.operation = operation;
      faults.countdown = nth;
      faults.sticky = true;
      faults.code = SQLITE_IOERR;
      try_sql(mine, "BEGIN; UPDATE main.t SET a = 1; UPDATE other.t SET a = 1; COMMIT");
      leave(0);  // leaves the journals as they are
    }
    await(child, "the writer");
    long long values[2];
    for (int i = 0; i < 2; i++) {
      sqlite3 *database = database_open(paths[i], SEALED_VFS_NAME);
      values[i] = ask(database, "SELECT a FROM t");
      expect_sound(database);
      database_close(database);
    }
    CHECK(values[0] == values[1], "one has %lld, the other %lld", values[0], values[1]);
    both += values[0];
  }
  CHECK(both > 0 && both < 60, "%ld of 60 were committed", both);
  note("60 transactions, %ld committed", both);
}

// Eight bytes that belong to the nonce with either cipher, of each part in the file that ends at a multiple of `part`
// after `start`; returns how many there are.
enum { MOST_PARTS = 64 };
static size_t nonces(const char *path, size_t start, size_t part, uint64_t found[MOST_PARTS]) {
  enum { TRAILER = 64, WITHIN = 24 };
  size_t length = 0, count = 0;
  uint8_t *bytes = file_load(path, &length);
  for (size_t end = start + part; end <= length && count < MOST_PARTS; end += part) {
    memcpy(&found[count++], bytes + end - TRAILER + WITHIN, sizeof *found);
  }
  free(bytes);
  return count;
}

// How many are not among the known ones.
static size_t count_new(const uint64_t *found, size_t count, const uint64_t *known, size_t known_count) {
  size_t result = 0;
  for (size_t i = 0; i < count; i++) {
    bool is_known = false;
    for (size_t j = 0; j < known_count; j++) { is_known = is_known || found[i] == known[j]; }
    if (!is_known) { result++; }
  }
  return result;
}

// Two processes with one memory, as after a fork or in a virtual machine resumed twice, each with a transaction of its
// own: nothing is left of the nonces that were drawn before.
static void twins(struct dice *dice) {
  (void)dice;
  const char *path = path_of("twins.db");
  for (int with_log = 0; with_log < 2; with_log++) {
    database_remove(path);
    use_key(path);
    sqlite3 *database = database_open(path, SEALED_VFS_NAME);
    run_sql(database, "PRAGMA synchronous=OFF; PRAGMA wal_autocheckpoint=0; PRAGMA journal_mode=%s", with_log ? "WAL" : "DELETE");
    run_sql(database, "CREATE TABLE t(a, b); INSERT INTO t VALUES(0, zeroblob(9000))");
    const char *file = with_log ? with_suffix(path, "-wal") : path;
    const size_t start = with_log ? log_start(path) : 0, part = with_log ? 4096 + 24 : 4096;
    uint64_t before[MOST_PARTS], childs[MOST_PARTS], own[MOST_PARTS];
    size_t known = nonces(file, start, part, before);
    pid_t child = fork();
    if (child == 0) {
      run_sql(database, "UPDATE t SET a = 1, b = randomblob(9000)");
      leave(0);
    }
    await(child, "the child");
    size_t after_child = nonces(file, start, part, childs);
    run_sql(database, "UPDATE t SET a = 2, b = randomblob(9000)");
    size_t after_own = nonces(file, start, part, own);
    // Each of the frames; without a log at least the row's three pages, and page 1, which counts the changes.
    size_t of_child = count_new(childs, after_child, before, known), of_parent = count_new(own, after_own, childs, after_child);
    bool are_new = with_log ? of_child == after_child - known && of_parent == after_own - after_child : of_child >= 4 && of_parent >= 4;
    CHECK(are_new && (!with_log || after_own > after_child), "%zu and %zu new nonces in %s", of_child, of_parent, file);
    database_close(database);
  }
}

const struct scenario process_scenarios[] = {
    {"writing-processes", writers}, {"killed-processes", killed}, {"creating-processes", creation},
    {"two-databases", two_databases}, {"twins", twins}, {NULL, NULL},
};
