// An attacker who knows the format: files mixed, renamed and damaged so that foreign data could pass for content.
#include "support.h"

enum { PAGE = OVERFLOWING_PAGE, ROWS = OVERFLOWING_ROWS };

// Two databases with the same key and the same shape.
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

// Page 2 of another database under the same key, read in every way in which SQLite takes no lock.
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

// The same next to a page 1 that is damaged in the main file, as after a power loss, and whole in the log.
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

// A block that could not be written because the disk was briefly full is not forgotten.
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
    // The last block is still held. Reading another one evicts it, and fails.
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

// Another database, with larger pages, replaces one that could not be read, and a frame of the first is written.
static void larger_pages(struct dice *dice) {
  (void)dice;
  const char *path = path_of("larger.db"), *other = path_of("other.db");
  overflowing_make(path, "WAL");
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
  bytes[salt_start(path)] ^= 1;
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

// A super-journal's name is stored in plain at the end of a hot journal. SQLite deletes that file after rolling back.
static void named_files(struct dice *dice) {
  (void)dice;
  const char *path = path_of("hot.db");
  const char *const names[] = {"precious.txt", "precious-mj0123456", "precious-mjx12345678", "precious-mj01234567"};
  for (int i = 0; i < 4; i++) {
    const char *precious = path_of(names[i]);
    overflowing_make(path, "DELETE");
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
    CHECK_EQUAL(overflowing_rows(database, 0), ROWS);
    database_close(database);
    // The last has such a name and, as far as SQLite knows, is one.
    CHECK(file_exists(precious) == (i < 3), "%s is %s", names[i], i < 3 ? "gone" : "there");
  }
}

// Files next to a database are looked up through the VFS that opened the database, not through SQLite's default VFS.
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
  overflowing_make(path, "DELETE");
  // A torn creation: the beginning of page 1 is there, and a journal.
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
  sqlite3 *reader = NULL;
  int code = sqlite3_open_v2(path, &reader, SQLITE_OPEN_READWRITE, SEALED_VFS_NAME);
  sqlite3_close(reader);
  CHECK_EQUAL(sqlite3_vfs_register(usual, 1), SQLITE_OK);
  CHECK_EQUAL(sqlite3_vfs_unregister(&blind), SQLITE_OK);
  CHECK_EQUAL(code, SQLITE_OK);
}

// Registered without the part that reserves the seal's bytes: out of memory, or unregistered again.
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
    {"foreign-pages-without-locks", foreign_pages_without_locks}, {"foreign-pages-beside-log", foreign_pages_beside_log},
    {"no-locks", without_locks}, {"full-temporary-files", full_temporary_files}, {"larger-pages", larger_pages},
    {"named-files", named_files}, {"other-bases", other_bases}, {"registered-by-half", registered_by_half}, {NULL, NULL},
};
