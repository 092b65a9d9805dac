// Files whose length changes: main files cut while a log or a hot journal lies beside them, and files that merely got
// shorter and longer.
#include "support.h"

enum { PAGE = OVERFLOWING_PAGE, ROWS = OVERFLOWING_ROWS };

static sqlite3 *reader;

void overflowing_make(const char *path, const char *mode) {
  database_remove(path);
  use_key(path);
  sqlite3 *database = database_open(path, SEALED_VFS_NAME);
  run_sql(database, "PRAGMA page_size=%d; PRAGMA journal_mode=%s; CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT)", PAGE, mode);
  run_sql(database, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n LIMIT %d) "
          "INSERT INTO t SELECT i, replace(hex(zeroblob(5000)), '00', char(65 + i %% 26) || 'x') FROM n", ROWS);
  database_close(database);
}

int overflowing_rows(sqlite3 *database, int changed) {
  int whole = 0;
  for (int row = 1; row <= ROWS; row++) {
    char *sql = sqlite3_mprintf("SELECT b = replace(hex(zeroblob(5000)), '00', char(65 + a %% 26) || 'x') OR "
                                "(a = %d AND b = replace(hex(zeroblob(4900)), '00', 'zz')) FROM t WHERE a = %d", changed, row);
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(database, sql, -1, &statement, NULL);
    if (code == SQLITE_OK) { code = sqlite3_step(statement); }
    bool is_right = code == SQLITE_ROW && sqlite3_column_int(statement, 0) == 1;
    sqlite3_finalize(statement);
    sqlite3_free(sql);
    CHECK(code != SQLITE_DONE, "row %d is gone", row);
    CHECK(code != SQLITE_ROW || is_right, "row %d is not what was written, and no error is reported", row);
    whole += is_right;
  }
  return whole;
}

static void change_row(sqlite3 *database, int row) {
  run_sql(database, "UPDATE t SET b = replace(hex(zeroblob(4900)), '00', 'zz') WHERE a = %d", row);
}

static const char *const openings[] = {"", "PRAGMA locking_mode=EXCLUSIVE;"};

// The main file is cut while there is a log. Writes past the cut must not make the missing pages look whole.
static void cut_beside_log(struct dice *dice) {
  const char *live = path_of("live.db"), *path = path_of("cut.db");
  long refused = 0;
  for (int round = 0; round < 24; round++) {
    overflowing_make(live, "WAL");
    sqlite3 *database = database_open(live, SEALED_VFS_NAME);
    run_sql(database, "PRAGMA wal_autocheckpoint=0; UPDATE t SET b = b WHERE a = 1");
    change_row(database, ROWS);
    // New pages, some of them free; in half of the rounds all written back before.
    run_sql(database, "CREATE TABLE x(y); INSERT INTO x SELECT zeroblob(9000) FROM t LIMIT 9; DELETE FROM x WHERE rowid %% 2");
    if (round % 2 == 1) { run_sql(database, "PRAGMA wal_checkpoint(PASSIVE)"); }
    database_remove(path);
    use_key(path);
    file_copy(live, path);
    file_copy(with_suffix(live, "-wal"), with_suffix(path, "-wal"));
    database_close(database);
    CHECK_EQUAL(truncate(path, (10 + (long)below(dice, 60)) * PAGE + (chance(dice, 30) ? 700 : 0)), 0);
    sqlite3_open_v2(path, &reader, SQLITE_OPEN_READWRITE, SEALED_VFS_NAME);
    try_sql(reader, openings[round / 2 % 2]);
    // At first nothing needs the missing pages; then a checkpoint, and more pages.
    int before = round / 4 % 2 == 0 ? overflowing_rows(reader, ROWS) : 0;
    try_sql(reader, "INSERT INTO x VALUES(zeroblob(30000))");
    try_sql(reader, "PRAGMA wal_checkpoint(TRUNCATE)");
    int after = overflowing_rows(reader, ROWS);
    sqlite3_close(reader);
    sqlite3_open_v2(path, &reader, SQLITE_OPEN_READWRITE, SEALED_VFS_NAME);
    int later = overflowing_rows(reader, ROWS);
    sqlite3_close(reader);
    CHECK(before < ROWS && after < ROWS && later < ROWS, "all rows are there");
    refused += ROWS - after;
  }
  note("%ld rows refused", refused);
}

// The same with a hot journal: SQLite restores the file's length before it restores the content.
static void cut_beside_journal(struct dice *dice) {
  const char *path = path_of("cut.db");
  long refused = 0;
  for (int round = 0; round < 12; round++) {
    overflowing_make(path, "DELETE");
    pid_t child = fork();
    if (child == 0) {
      sqlite3 *database = database_open(path, SEALED_VFS_NAME);
      run_sql(database, "PRAGMA cache_size=2; PRAGMA synchronous=%s; BEGIN; UPDATE t SET b = 'q' || b WHERE a IN (2, %d); INSERT INTO t SELECT NULL, b FROM t LIMIT 9",
              round % 2 == 0 ? "FULL" : "OFF", ROWS);
      leave(0);
    }
    int status;
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0 && file_size(with_suffix(path, "-journal")) > 0, "no hot journal");
    CHECK_EQUAL(truncate(path, (10 + (long)below(dice, 60)) * PAGE + (chance(dice, 30) ? 700 : 0)), 0);
    sqlite3_open_v2(path, &reader, SQLITE_OPEN_READWRITE, SEALED_VFS_NAME);
    int after = overflowing_rows(reader, 0);
    CHECK(after < ROWS, "all rows are there");
    sqlite3_close(reader);
    refused += ROWS - after;
  }
  note("%ld rows refused", refused);
}

// The last page is cut in two while the database is open: SQLite, which rounds up, still counts it. Then the file
// grows.
static void cut_in_use(struct dice *dice) {
  (void)dice;
  const char *path = path_of("open.db");
  for (int round = 0; round < 2; round++) {
    overflowing_make(path, "DELETE");
    sqlite3 *database = database_open(path, SEALED_VFS_NAME);
    if (round == 1) { run_sql(database, "PRAGMA journal_mode=MEMORY"); }
    CHECK_EQUAL(overflowing_rows(database, 0), ROWS);
    CHECK_EQUAL(truncate(path, file_size(path) - 1000), 0);
    try_sql(database, "PRAGMA cache_size=0; CREATE TABLE x(y); INSERT INTO x VALUES(zeroblob(30000))");
    sqlite3_exec(database, "PRAGMA shrink_memory", NULL, NULL, NULL);
    overflowing_rows(database, 0);
    database_close(database);
    sqlite3_open_v2(path, &reader, SQLITE_OPEN_READWRITE, SEALED_VFS_NAME);
    overflowing_rows(reader, 0);
    sqlite3_close(reader);
  }
}

// A transaction makes the main file shorter, and a later one, in the same generation of the log, makes it longer again.
// Then the process dies.
static void shorter_and_longer(void) {
  const char *live = path_of("live.db"), *path = path_of("length.db");
  overflowing_make(live, "WAL");
  long before = file_size(live);
  sqlite3 *writer = database_open(live, SEALED_VFS_NAME), *second = database_open(live, SEALED_VFS_NAME);
  run_sql(writer, "PRAGMA wal_autocheckpoint=0; DELETE FROM t WHERE a > 3; VACUUM");
  // A reader with a complete snapshot keeps the log from being restarted, but not from being written back.
  run_sql(second, "BEGIN; SELECT count(*) FROM t");
  run_sql(writer, "PRAGMA wal_checkpoint(PASSIVE)");
  CHECK(file_size(live) < before / 2, "it is %ld bytes long", file_size(live));
  run_sql(writer, "INSERT INTO t SELECT a + 100, b FROM t");
  database_remove(path);
  use_key(path);
  file_copy(live, path);
  file_copy(with_suffix(live, "-wal"), with_suffix(path, "-wal"));
  database_close(second);
  database_close(writer);
  // Like a checkpoint that writes a page past some freed ones. SQLite omits those, but that is hard to provoke.
  sqlite3 *database = database_open(path, SEALED_VFS_NAME);
  CHECK_EQUAL(ask(database, "SELECT count(*) FROM t"), 6);
  sqlite3_file *main = NULL;
  CHECK_EQUAL(sqlite3_file_control(database, "main", SQLITE_FCNTL_FILE_POINTER, &main), SQLITE_OK);
  uint8_t page[PAGE] = {0};
  long size = file_size(path);
  CHECK_EQUAL(main->pMethods->xWrite(main, page, PAGE, size + 5 * PAGE), SQLITE_OK);
  CHECK_EQUAL(main->pMethods->xRead(main, page, PAGE, size + 2 * PAGE), SQLITE_OK);
  // But not past missing ones.
  CHECK_EQUAL(truncate(path, size - PAGE), 0);
  CHECK_EQUAL(main->pMethods->xWrite(main, page, PAGE, size + 5 * PAGE), SQLITE_IOERR_DATA);
  CHECK(last_report().kind == SEALED_VFS_TRUNCATED && last_report().page == (uint64_t)(size / PAGE), "%s", describe(last_report()));
  CHECK_EQUAL(main->pMethods->xTruncate(main, size + 5 * PAGE), SQLITE_IOERR_DATA);
  CHECK_EQUAL(file_size(path), size - PAGE);
  database_close(database);
}

// Each operation failing while the log is checked for a cut main file, and a log with nothing to say.
static void failing_questions(void) {
  const char *path = path_of("asked.db");
  for (int is_exclusive = 0; is_exclusive < 2; is_exclusive++) {
    overflowing_make(path, "WAL");
    sqlite3 *database = database_open(path, "sealed-faulty");
    run_sql(database, "%s PRAGMA wal_autocheckpoint=0; PRAGMA user_version=1", openings[is_exclusive]);
    for (int row = 1; row < 9; row++) { change_row(database, row); }
    // Whatever follows the next transaction in the log is of its earlier generation.
    run_sql(database, "PRAGMA wal_checkpoint(RESTART); PRAGMA user_version=2");
    sqlite3_file *main = NULL;
    CHECK_EQUAL(sqlite3_file_control(database, "main", SQLITE_FCNTL_FILE_POINTER, &main), SQLITE_OK);
    uint8_t page[PAGE] = {0};
    long size = file_size(path);
    CHECK_EQUAL(truncate(path, size - PAGE), 0);
    const enum operation failing[] = {OP_SIZE, OP_READ};
    for (int i = 0; i < 4; i++) {
      bool was_fired = true;
      for (long nth = 1; was_fired; nth++) {
        faults.operation = failing[i % 2];
        faults.countdown = nth;
        faults.code = SQLITE_IOERR;
        int code = i < 2 ? main->pMethods->xWrite(main, page, PAGE, size + 5 * PAGE) : main->pMethods->xRead(main, page, PAGE, size - PAGE);
        was_fired = faults.fired;
        faults_reset();
        CHECK(code == (was_fired ? SQLITE_IOERR : SQLITE_IOERR_DATA), "%d, operation %d, %ld: %d", is_exclusive, i, nth, code);
      }
    }
    CHECK_EQUAL(file_size(path), size - PAGE);
    const uint8_t zeros[100] = {0};
    for (int i = 0; i < 2; i++) {
      file_store(with_suffix(path, "-wal"), zeros, i == 0 ? 0 : sizeof zeros);
      CHECK_EQUAL(main->pMethods->xWrite(main, page, PAGE, file_size(path) + 5 * PAGE), SQLITE_OK);
    }
    database_close(database);
  }
}

// Not attacks: within one generation of the log a database gets shorter and longer, some of it is written back, pages
// are created and freed again, and the process dies. None of that is taken for a cut.
static void changing_lengths(struct dice *dice) {
  shorter_and_longer();
  failing_questions();
  const char *path = path_of("length.db");
  long shorter = 0, gaps = 0;
  for (int round = 0; round < 60; round++) {
    bool loses_power = round % 3 == 2;
    database_remove(path);
    use_key(path);
    sqlite3 *database = database_open(path, SEALED_VFS_NAME);
    run_sql(database, "PRAGMA page_size=1024; PRAGMA auto_vacuum=%d; PRAGMA journal_mode=WAL; CREATE TABLE t(a INTEGER PRIMARY KEY, b)", round % 2);
    run_sql(database, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n LIMIT 150) INSERT INTO t SELECT i, zeroblob(i * 20) FROM n");
    database_close(database);
    long before = file_size(path);
    faults_reset();
    faults.writes_to_power_loss = 1 + (long)below(dice, 1500);
    bool is_exclusive = chance(dice, 20);
    sqlite3_open_v2(path, &reader, SQLITE_OPEN_READWRITE, "sealed-faulty");
    try_sql(reader, is_exclusive ? "PRAGMA locking_mode=EXCLUSIVE" : "");
    try_sql(reader, chance(dice, 50) ? "PRAGMA wal_autocheckpoint=9; PRAGMA cache_size=4" : "PRAGMA wal_autocheckpoint=0; PRAGMA cache_size=4");
    sqlite3 *second = NULL;
    sqlite3_open_v2(path, &second, SQLITE_OPEN_READWRITE, "sealed-faulty");
    for (int step = 0; step < 60 && !faults.power_is_lost; step++) {
      switch (below(dice, 8)) {
        case 0: try_sql(reader, "DELETE FROM t WHERE a % 3 <> 1"); break;
        case 1: try_sql(reader, "VACUUM"); break;
        case 2: try_sql(reader, "PRAGMA wal_checkpoint(PASSIVE)"); break;
        case 3: try_sql(reader, "BEGIN; CREATE TABLE x(y); INSERT INTO x SELECT zeroblob(5000) FROM t LIMIT 9; DROP TABLE x; COMMIT"); break;
        case 4: try_sql(reader, "BEGIN; INSERT INTO t(b) SELECT zeroblob(900) FROM t LIMIT 9; SAVEPOINT s; INSERT INTO t(b) SELECT zeroblob(3000) FROM t LIMIT 5; ROLLBACK TO s; COMMIT"); break;
        case 5: if (!is_exclusive) { try_sql(second, chance(dice, 50) ? "BEGIN; SELECT count(*) FROM t" : "ROLLBACK"); } break;
        default: try_sql(reader, "INSERT INTO t(b) SELECT zeroblob(a % 4000) FROM t LIMIT 7");
      }
      int code = sqlite3_extended_errcode(reader) & 0xff;
      CHECK(faults.power_is_lost || code != SQLITE_IOERR, "step %d: %s", step, describe(last_report()));
      if (code != SQLITE_OK) { try_sql(reader, "ROLLBACK"); }
    }
    // Killed: what was written is there or, after a power loss, some of the unsynced data is not.
    faults.power_is_lost = true;
    sqlite3_close(second);
    sqlite3_close(reader);
    if (loses_power) { power_return(dice); }
    faults_reset();
    unlink(with_suffix(path, "-shm"));
    shorter += file_size(path) < before;
    database = database_open(path, SEALED_VFS_NAME);
    if (chance(dice, 30)) { run_sql(database, "PRAGMA locking_mode=EXCLUSIVE"); }
    sealed_vfs_clear_report();
    expect_sound(database);
    run_sql(database, "INSERT INTO t(b) VALUES(zeroblob(50000)); PRAGMA wal_checkpoint(TRUNCATE); INSERT INTO t(b) VALUES(zeroblob(50000))");
    CHECK(last_report().kind == SEALED_VFS_NOTHING || last_report().kind == SEALED_VFS_CUT, "%s", describe(last_report()));
    database_close(database);
    CHECK_EQUAL(read_every_page(path), SQLITE_OK);
    gaps++;
  }
  note("%ld of %ld got shorter", shorter, gaps);
}

const struct scenario length_scenarios[] = {
    {"changing-lengths", changing_lengths}, {"cut-beside-log", cut_beside_log}, {"cut-beside-journal", cut_beside_journal},
    {"cut-in-use", cut_in_use}, {NULL, NULL},
};
