// Somebody who knows how it works: files cut, mixed and damaged so that what is missing or foreign could pass for content.
#include "support.h"

enum { PAGE = 4096, ROWS = 40 };

static sqlite3 *reader;

// Rows that fill overflow pages with content that is not zero: a page of zeros among them is no error to SQLite.
static void make(const char *path, const char *mode) {
  database_remove(path);
  use_key(path);
  sqlite3 *database = database_open(path, SEALED_VFS_NAME);
  run_sql(database, "PRAGMA page_size=%d; PRAGMA journal_mode=%s; CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT)", PAGE, mode);
  run_sql(database, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n LIMIT %d) "
          "INSERT INTO t SELECT i, replace(hex(zeroblob(5000)), '00', char(65 + i %% 26) || 'x') FROM n", ROWS);
  database_close(database);
}

// Reads each row by itself. Wrong content is the failure; an error is not. The answer is how many could be read.
static int rows_of(sqlite3 *database, int changed) {
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
    CHECK(code != SQLITE_ROW || is_right, "row %d is not what was written, and nobody says so", row);
    whole += is_right;
  }
  return whole;
}

static void change_row(sqlite3 *database, int row) {
  run_sql(database, "UPDATE t SET b = replace(hex(zeroblob(4900)), '00', 'zz') WHERE a = %d", row);
}

static const char *const openings[] = {"", "PRAGMA locking_mode=EXCLUSIVE;"};

// The main file is cut while there is a log. What is written behind the cut must not make the missing pages whole.
static void cut_beside_log(struct dice *dice) {
  const char *live = path_of("live.db"), *path = path_of("cut.db");
  long refused = 0;
  for (int round = 0; round < 24; round++) {
    make(live, "WAL");
    sqlite3 *database = database_open(live, SEALED_VFS_NAME);
    run_sql(database, "PRAGMA wal_autocheckpoint=0; UPDATE t SET b = b WHERE a = 1");
    change_row(database, ROWS);
    // New pages, some of them free, and in half of the rounds all of it written back before.
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
    // First what was missing is in nobody's way; then a checkpoint, and more pages.
    int before = round / 4 % 2 == 0 ? rows_of(reader, ROWS) : 0;
    try_sql(reader, "INSERT INTO x VALUES(zeroblob(30000))");
    try_sql(reader, "PRAGMA wal_checkpoint(TRUNCATE)");
    int after = rows_of(reader, ROWS);
    sqlite3_close(reader);
    sqlite3_open_v2(path, &reader, SQLITE_OPEN_READWRITE, SEALED_VFS_NAME);
    int later = rows_of(reader, ROWS);
    sqlite3_close(reader);
    CHECK(before < ROWS && after < ROWS && later < ROWS, "all rows are there");
    refused += ROWS - after;
  }
  note("%ld rows refused", refused);
}

// The same with a hot journal: SQLite makes the file as long as it was, before it puts back what it has.
static void cut_beside_journal(struct dice *dice) {
  const char *path = path_of("cut.db");
  long refused = 0;
  for (int round = 0; round < 12; round++) {
    make(path, "DELETE");
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
    int after = rows_of(reader, 0);
    CHECK(after < ROWS, "all rows are there");
    sqlite3_close(reader);
    refused += ROWS - after;
  }
  note("%ld rows refused", refused);
}

// The last page cut in two while the database is open: to SQLite, which rounds up, it is all there. Then it grows.
static void cut_in_use(struct dice *dice) {
  (void)dice;
  const char *path = path_of("open.db");
  for (int round = 0; round < 2; round++) {
    make(path, "DELETE");
    sqlite3 *database = database_open(path, SEALED_VFS_NAME);
    if (round == 1) { run_sql(database, "PRAGMA journal_mode=MEMORY"); }
    CHECK_EQUAL(rows_of(database, 0), ROWS);
    CHECK_EQUAL(truncate(path, file_size(path) - 1000), 0);
    try_sql(database, "PRAGMA cache_size=0; CREATE TABLE x(y); INSERT INTO x VALUES(zeroblob(30000))");
    sqlite3_exec(database, "PRAGMA shrink_memory", NULL, NULL, NULL);
    rows_of(database, 0);
    database_close(database);
    sqlite3_open_v2(path, &reader, SQLITE_OPEN_READWRITE, SEALED_VFS_NAME);
    rows_of(reader, 0);
    sqlite3_close(reader);
  }
}

// Two databases under one key, of the same shape.
static void make_pair(const char *first, const char *second) {
  const char *const paths[] = {first, second};
  for (int i = 0; i < 2; i++) {
    database_remove(paths[i]);
    use_key(paths[i]);
    sqlite3 *database = database_open(paths[i], SEALED_VFS_NAME);
    run_sql(database, "PRAGMA page_size=%d; CREATE TABLE t(a); INSERT INTO t VALUES('%s')", PAGE, i == 0 ? "ours" : "theirs");
    database_close(database);
  }
}

static void put_page(const char *path, long number, const char *from) {
  size_t length;
  uint8_t *bytes = file_load(from, &length);
  FILE *file = fopen(path, "r+b");
  CHECK(file != NULL && fseek(file, (number - 1) * PAGE, SEEK_SET) == 0 && fwrite(bytes + (number - 1) * PAGE, 1, PAGE, file) == PAGE, "cannot write");
  fclose(file);
  free(bytes);
}

// Page 2 of another database under the same key, read in each way in which SQLite takes no lock.
static void foreign_pages_without_locks(struct dice *dice) {
  (void)dice;
  const char *ours = path_of("ours.db"), *theirs = path_of("theirs.db");
  static const char *const parameters[] = {"", "?immutable=1", "?nolock=1", "?vfs=sealed-faulty"};
  for (int way = 0; way < 4; way++) {
    make_pair(ours, theirs);
    const char *address = with_suffix(with_suffix("file:", ours), parameters[way]);
    sqlite3 *database = database_open(address, SEALED_VFS_NAME);
    CHECK_EQUAL(ask(database, "SELECT a = 'ours' FROM t"), 1);
    if (way != 1) { run_sql(database, "INSERT INTO t VALUES(zeroblob(20000)); DELETE FROM t WHERE a <> 'ours'"); }
    database_close(database);
    put_page(ours, 2, theirs);
    faults.immutable = way == 3;
    database = database_open(address, SEALED_VFS_NAME);
    CHECK_EQUAL(try_sql(database, "SELECT a FROM t"), SQLITE_IOERR_DATA);
    CHECK_EQUAL(last_report().kind, SEALED_VFS_FOREIGN);
    database_close(database);
    faults.immutable = false;
  }
}

// The same beside a page 1 that is damaged, as a loss of power leaves it, and whole in the log.
static void foreign_pages_beside_log(struct dice *dice) {
  (void)dice;
  const char *ours = path_of("ours.db"), *theirs = path_of("theirs.db");
  make_pair(ours, theirs);
  sqlite3 *database = database_open(ours, SEALED_VFS_NAME);
  run_sql(database, "PRAGMA journal_mode=WAL; PRAGMA user_version=5");
  const char *copy = path_of("copy.db");
  database_remove(copy);
  use_key(copy);
  file_copy(ours, copy);
  file_copy(with_suffix(ours, "-wal"), with_suffix(copy, "-wal"));
  database_close(database);
  FILE *file = fopen(copy, "r+b");
  CHECK(file != NULL && fseek(file, 1000, SEEK_SET) == 0 && fwrite("torn", 1, 4, file) == 4, "cannot write");
  fclose(file);
  put_page(copy, 2, theirs);
  database = database_open(copy, SEALED_VFS_NAME);
  CHECK_EQUAL(ask(database, "PRAGMA user_version"), 5);
  CHECK_EQUAL(try_sql(database, "SELECT a FROM t"), SQLITE_IOERR_DATA);
  CHECK_EQUAL(last_report().kind, SEALED_VFS_FOREIGN);
  database_close(database);
}

// A database made without locks.
static void without_locks(struct dice *dice) {
  (void)dice;
  const char *path = path_of("unlocked.db");
  use_key(path);
  const char *address = with_suffix(with_suffix("file:", path), "?nolock=1");
  sqlite3 *database = database_open(address, SEALED_VFS_NAME);
  run_sql(database, "PRAGMA cache_size=5; CREATE TABLE t(a); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n LIMIT 300) "
          "INSERT INTO t SELECT zeroblob(i * 30) FROM n");
  run_sql(database, "BEGIN; INSERT INTO t SELECT * FROM t; ROLLBACK; DELETE FROM t WHERE rowid %% 3 = 0; VACUUM");
  expect_sound(database);
  database_close(database);
  database = database_open(with_suffix(with_suffix("file:", path), "?immutable=1"), SEALED_VFS_NAME);
  CHECK_EQUAL(ask(database, "SELECT count(*) FROM t"), 200);
  expect_sound(database);
  database_close(database);
}

// A block that could not be written, as the disk was full for a moment, is not forgotten.
static void full_temporary_files(struct dice *dice) {
  (void)dice;
  sqlite3_vfs *vfs = sqlite3_vfs_find("sealed-faulty");
  sqlite3_file *file = calloc(1, (size_t)vfs->szOsFile);
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_TEMP_DB | SQLITE_OPEN_DELETEONCLOSE;
  uint8_t bytes[4096], read[4096];
  CHECK_EQUAL(vfs->xOpen(vfs, NULL, file, flags, NULL), SQLITE_OK);
  const sqlite3_io_methods *methods = file->pMethods;
  for (int turn = 1; turn < 4; turn++) {
    memset(bytes, turn, sizeof bytes);
    for (int block = 0; block < 3; block++) { CHECK_EQUAL(methods->xWrite(file, bytes, 4096, block * 4096), SQLITE_OK); }
    // The last of them is still held. Reading another one puts it out, and fails.
    faults.operation = OP_WRITE;
    faults.countdown = 1;
    faults.short_write = turn == 3;
    faults.code = SQLITE_FULL;
    CHECK_EQUAL(methods->xRead(file, read, 4096, 0), SQLITE_FULL);
    faults_reset();
    CHECK_EQUAL(methods->xRead(file, read, 4096, 2 * 4096), SQLITE_OK);
    CHECK(memcmp(read, bytes, 4096) == 0, "turn %d: what was written is not there", turn);
    CHECK_EQUAL(methods->xRead(file, read, 4096, 0), SQLITE_OK);
    CHECK_EQUAL(methods->xRead(file, read, 4096, 2 * 4096), SQLITE_OK);
    CHECK(memcmp(read, bytes, 4096) == 0, "turn %d: what was written is not there", turn);
  }
  CHECK_EQUAL(methods->xClose(file), SQLITE_OK);
  free(file);
}

// A transaction makes the main file shorter, and a later one, in the same generation of the log, longer again. Then the
// process dies.
static void shorter_and_longer(void) {
  const char *live = path_of("live.db"), *path = path_of("length.db");
  make(live, "WAL");
  long before = file_size(live);
  sqlite3 *writer = database_open(live, SEALED_VFS_NAME), *second = database_open(live, SEALED_VFS_NAME);
  run_sql(writer, "PRAGMA wal_autocheckpoint=0; DELETE FROM t WHERE a > 3; VACUUM");
  // A reader that has it all keeps the log from being begun anew, and not from being written back.
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
  // As a checkpoint writes a page behind some that were freed again. SQLite leaves those out, but that is hard to make it do.
  sqlite3 *database = database_open(path, SEALED_VFS_NAME);
  CHECK_EQUAL(ask(database, "SELECT count(*) FROM t"), 6);
  sqlite3_file *main = NULL;
  CHECK_EQUAL(sqlite3_file_control(database, "main", SQLITE_FCNTL_FILE_POINTER, &main), SQLITE_OK);
  uint8_t page[PAGE] = {0};
  long size = file_size(path);
  CHECK_EQUAL(main->pMethods->xWrite(main, page, PAGE, size + 5 * PAGE), SQLITE_OK);
  CHECK_EQUAL(main->pMethods->xRead(main, page, PAGE, size + 2 * PAGE), SQLITE_OK);
  // But not behind some that are missing.
  CHECK_EQUAL(truncate(path, size - PAGE), 0);
  CHECK_EQUAL(main->pMethods->xWrite(main, page, PAGE, size + 5 * PAGE), SQLITE_IOERR_DATA);
  CHECK(last_report().kind == SEALED_VFS_TRUNCATED && last_report().page == (uint64_t)(size / PAGE), "%s", describe(last_report()));
  CHECK_EQUAL(main->pMethods->xTruncate(main, size + 5 * PAGE), SQLITE_IOERR_DATA);
  CHECK_EQUAL(file_size(path), size - PAGE);
  database_close(database);
}

// Each operation failing while the log is asked whether the main file was cut, and a log that has nothing to say.
static void failing_questions(void) {
  const char *path = path_of("asked.db");
  for (int is_exclusive = 0; is_exclusive < 2; is_exclusive++) {
    make(path, "WAL");
    sqlite3 *database = database_open(path, "sealed-faulty");
    run_sql(database, "%s PRAGMA wal_autocheckpoint=0; PRAGMA user_version=1", openings[is_exclusive]);
    for (int row = 1; row < 9; row++) { change_row(database, row); }
    // What follows the next transaction in the log is of its earlier generation.
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

// What is no attack: within one generation of the log a database gets shorter and longer, some of it is written back, pages
// are made and freed again, and the process dies. Nothing of that is taken for a cut.
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
    // Killed: what was written is there, or, without power, some of what was not synced is not.
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

// Another database, of larger pages, takes the place of one that could not be read, and a frame of the first is written.
static void larger_pages(struct dice *dice) {
  (void)dice;
  const char *path = path_of("larger.db"), *other = path_of("other.db");
  make(path, "WAL");
  use_key(other);
  sqlite3 *database = database_open(other, SEALED_VFS_NAME);
  run_sql(database, "PRAGMA page_size=65536; CREATE TABLE t(a)");
  database_close(database);
  sqlite3_file *main = NULL;
  sqlite3_vfs *vfs = sqlite3_vfs_find(SEALED_VFS_NAME);
  sqlite3_file *log = calloc(1, (size_t)vfs->szOsFile);
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_WAL;
  uint8_t page[PAGE] = {0};
  database = database_open(path, SEALED_VFS_NAME);
  CHECK_EQUAL(sqlite3_file_control(database, "main", SQLITE_FCNTL_FILE_POINTER, &main), SQLITE_OK);
  CHECK_EQUAL(vfs->xOpen(vfs, sqlite3_filename_wal(sqlite3_db_filename(database, "main")), log, flags, NULL), SQLITE_OK);
  size_t length;
  uint8_t *bytes = file_load(path, &length);
  bytes[PAGE - 64 + 8] ^= 1; // of the salt
  file_store(path, bytes, length);
  free(bytes);
  CHECK_EQUAL(main->pMethods->xRead(main, page, 100, 0), SQLITE_NOTADB);
  file_copy(other, path);
  int code = log->pMethods->xWrite(log, page, PAGE, 32 + 9 * (PAGE + 24) + 24);
  CHECK(code != SQLITE_OK, "it was written");
  CHECK_EQUAL(log->pMethods->xClose(log), SQLITE_OK);
  free(log);
  database_close(database);
}

static void put_number(FILE *file, uint32_t number) {
  for (int shift = 24; shift >= 0; shift -= 8) { fputc((int)(number >> shift & 0xff), file); }
}

// The name of a super-journal is plain at the end of a hot journal. SQLite deletes that file, once it has rolled back.
static void named_files(struct dice *dice) {
  (void)dice;
  const char *path = path_of("hot.db");
  const char *const names[] = {"precious.txt", "precious-mj0123456", "precious-mjx12345678", "precious-mj01234567"};
  for (int i = 0; i < 4; i++) {
    const char *precious = path_of(names[i]);
    make(path, "DELETE");
    pid_t child = fork();
    if (child == 0) {
      sqlite3 *database = database_open(path, SEALED_VFS_NAME);
      run_sql(database, "PRAGMA cache_size=2; BEGIN; UPDATE t SET b = 'changed'");
      leave(0);
    }
    int status;
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the writer ended with %d", status);
    file_store(precious, "precious", 9);
    FILE *journal = fopen(with_suffix(path, "-journal"), "ab");
    CHECK(journal != NULL, "no hot journal");
    uint32_t sum = 0;
    for (const char *letter = precious; *letter != 0; letter++) { sum += (uint8_t)*letter; }
    fputs(precious, journal);
    put_number(journal, (uint32_t)strlen(precious));
    put_number(journal, sum);
    fwrite("\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", 1, 8, journal);
    fclose(journal);
    sqlite3 *database = database_open(path, SEALED_VFS_NAME);
    CHECK_EQUAL(rows_of(database, 0), ROWS);
    database_close(database);
    // The last has such a name, and for all that SQLite knows is one.
    CHECK(file_exists(precious) == (i < 3), "%s is %s", names[i], i < 3 ? "gone" : "there");
  }
}

// What is beside a database is looked for through the VFS that the database is opened with, and not through SQLite's default.
static int sees_nothing(sqlite3_vfs *vfs, const char *name, int flags, int *result) {
  (void)vfs;
  (void)name;
  (void)flags;
  *result = 0;
  return SQLITE_OK;
}

static void other_bases(struct dice *dice) {
  (void)dice;
  const char *path = path_of("torn.db");
  make(path, "DELETE");
  // A creation that was torn: of page 1 the beginning is there, and a journal.
  size_t length;
  uint8_t *bytes = file_load(path, &length);
  memset(bytes + 512, 0, PAGE - 512);
  file_store(path, bytes, PAGE);
  free(bytes);
  file_store(with_suffix(path, "-journal"), "journal", 7);
  sqlite3_vfs *usual = sqlite3_vfs_find(NULL);
  static sqlite3_vfs blind;
  blind = *usual;
  blind.zName = "blind";
  blind.xAccess = sees_nothing;
  CHECK_EQUAL(sqlite3_vfs_register(&blind, 1), SQLITE_OK);
  int code = sqlite3_open_v2(path, &reader, SQLITE_OPEN_READWRITE, SEALED_VFS_NAME);
  sqlite3_close(reader);
  CHECK_EQUAL(sqlite3_vfs_register(usual, 1), SQLITE_OK);
  CHECK_EQUAL(sqlite3_vfs_unregister(&blind), SQLITE_OK);
  CHECK_EQUAL(code, SQLITE_OK);
}

// Registered, but for the part that reserves the seal's bytes, since memory ran out or somebody took it away again.
static void registered_by_half(struct dice *dice) {
  (void)dice;
  const char *path = path_of("half.db");
  for (long n = 1; n < 4; n++) {
    sqlite3_reset_auto_extension();
    malloc_countdown = n;
    sealed_vfs_register("sealed-late", NULL);
    malloc_countdown = 0;
    CHECK_EQUAL(sealed_vfs_register("sealed-late", NULL), SQLITE_OK);
    database_remove(path);
    use_key(path);
    sqlite3 *database = database_open(path, "sealed-late");
    run_sql(database, "CREATE TABLE t(a)");
    database_close(database);
    sqlite3_vfs *late = sqlite3_vfs_find("sealed-late");
    CHECK_EQUAL(sqlite3_vfs_unregister(late), SQLITE_OK);
    free(late);
  }
}

const struct scenario attack_scenarios[] = {
    {"changing-lengths", changing_lengths}, {"larger-pages", larger_pages}, {"named-files", named_files}, {"other-bases", other_bases},
    {"registered-by-half", registered_by_half},
    {"cut-beside-log", cut_beside_log}, {"cut-beside-journal", cut_beside_journal}, {"cut-in-use", cut_in_use},
    {"foreign-pages-without-locks", foreign_pages_without_locks},
    {"foreign-pages-beside-log", foreign_pages_beside_log}, {"no-locks", without_locks}, {"full-temporary-files", full_temporary_files}, {NULL, NULL},
};
