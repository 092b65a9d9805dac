// Data that a call leaves in memory must not reach the next call; and what the last connection leaves on disk.
#include "support.h"

enum { PAGE = 4096, FRAME = PAGE + 24, HEADER = 32 };

static sqlite3_file *open_beside(sqlite3 *database, sqlite3_filename name, int sort) {
  sqlite3_vfs *vfs = sqlite3_vfs_find(SEALED_VFS_NAME);
  sqlite3_file *file = calloc(1, (size_t)vfs->szOsFile);
  CHECK(database != NULL && file != NULL, "no memory");
  CHECK_EQUAL(vfs->xOpen(vfs, name, file, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | sort, NULL), SQLITE_OK);
  return file;
}

static void close_beside(sqlite3_file *file) {
  CHECK_EQUAL(file->pMethods->xClose(file), SQLITE_OK);
  free(file);
}

// A frame was read in order to be rewritten, then another database with larger pages takes the first one's place: the
// frame buffer is replaced, along with what was read.
static void held_frames(struct dice *dice) {
  (void)dice;
  const char *path = path_of("held.db"), *other = path_of("other.db");
  const char *const paths[] = {path, other};
  for (int i = 0; i < 2; i++) {
    use_key(paths[i]);
    sqlite3 *database = database_open(paths[i], SEALED_VFS_NAME);
    run_sql(database, "PRAGMA page_size=%d; CREATE TABLE t(a)", i == 0 ? PAGE : 65536);
    database_close(database);
  }
  sqlite3 *database = database_open(path, SEALED_VFS_NAME);
  sqlite3_file *main = NULL;
  CHECK_EQUAL(sqlite3_file_control(database, "main", SQLITE_FCNTL_FILE_POINTER, &main), SQLITE_OK);
  sqlite3_file *log = open_beside(database, sqlite3_filename_wal(sqlite3_db_filename(database, "main")), SQLITE_OPEN_WAL);
  uint8_t header[HEADER] = {1}, frame[FRAME] = {0};
  CHECK_EQUAL(log->pMethods->xWrite(log, header, HEADER, 0), SQLITE_OK);
  CHECK_EQUAL(log->pMethods->xWrite(log, frame, 24, HEADER), SQLITE_OK);
  CHECK_EQUAL(log->pMethods->xWrite(log, frame + 24, PAGE, HEADER + 24), SQLITE_OK);
  file_poke(path, 300, "damaged", 7); // so that it is not yet certain which database this is
  CHECK_EQUAL(log->pMethods->xRead(log, frame, FRAME, HEADER), SQLITE_OK);
  long length = file_size(with_suffix(path, "-wal"));
  size_t other_length;
  uint8_t *bytes = file_load(other, &other_length);
  file_poke(path, 0, bytes, other_length);
  free(bytes);
  CHECK_EQUAL(main->pMethods->xRead(main, frame, 100, 0), SQLITE_OK);
  CHECK_EQUAL(log->pMethods->xWrite(log, frame, 24, HEADER), SQLITE_OK);
  CHECK(file_size(with_suffix(path, "-wal")) == length, "a frame was written of what is not there any more");
  close_beside(log);
  database_close(database);
}

// A record begun before a header is not continued after it.
static void unfinished_records(struct dice *dice) {
  (void)dice;
  const char *path = path_of("unfinished.db");
  use_key(path);
  sqlite3 *database = database_open(path, SEALED_VFS_NAME);
  run_sql(database, "PRAGMA page_size=%d; CREATE TABLE t(a)", PAGE);
  sqlite3_filename name = sqlite3_filename_journal(sqlite3_db_filename(database, "main"));
  sqlite3_file *journal = open_beside(database, name, SQLITE_OPEN_MAIN_JOURNAL);
  const uint8_t number[4] = {0, 0, 0, 2};
  uint8_t header[512] = {0};
  header[22] = 2;  // the sector's size
  header[26] = PAGE >> 8;
  CHECK_EQUAL(journal->pMethods->xWrite(journal, header, 512, 0), SQLITE_OK);
  CHECK_EQUAL(journal->pMethods->xWrite(journal, number, 4, 512), SQLITE_OK);
  CHECK_EQUAL(journal->pMethods->xWrite(journal, header, 512, 1024), SQLITE_OK);
  // Where it would continue if the header had been its beginning.
  CHECK_EQUAL(journal->pMethods->xWrite(journal, header, 100, 3), SQLITE_IOERR_WRITE);
  close_beside(journal);
  database_close(database);
}

static int calls;

static void count_second(void *context, const sealed_vfs_report *finding) {
  (void)context;
  calls += finding->kind == SEALED_VFS_NO_KEY ? 100 : 0;
}

// Replaces itself during its call.
static void count_first(void *context, const sealed_vfs_report *finding) {
  (void)finding;
  calls++;
  sealed_vfs_observe(context == NULL ? count_second : NULL, NULL);
}

static void observe_refusals(void *context) {
  calls = 0;
  sealed_vfs_observe(count_first, context);
  for (int i = 0; i < 3; i++) {
    sqlite3 *database = NULL;
    int code = sqlite3_open_v2(path_of("unknown.db"), &database, SQLITE_OPEN_READWRITE, SEALED_VFS_NAME);
    sqlite3_close(database);
    CHECK_EQUAL(code, SQLITE_AUTH);
  }
}

static void observers(struct dice *dice) {
  (void)dice;
  // In a child, which is ended if it deadlocks.
  pid_t child = fork();
  if (child == 0) {
    alarm(20);
    observe_refusals(NULL);
    CHECK_EQUAL(calls, 201);
    observe_refusals(&calls);
    CHECK_EQUAL(calls, 1);
    leave(0);
  }
  int status;
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the observer ended with %d", status);
}

// The index next to a log reveals something about the content (README.md): it exists only as long as a connection does.
static void removed_index(struct dice *dice) {
  (void)dice;
  const char *path = path_of("index.db"), *index = with_suffix(path, "-shm"), *copy = path_of("copy.db");
  use_key(path);
  use_key(copy);
  sqlite3 *database = database_open(path, SEALED_VFS_NAME), *second = database_open(path, SEALED_VFS_NAME);
  run_sql(database, "PRAGMA journal_mode=WAL; CREATE TABLE t(a); INSERT INTO t VALUES(1)");
  CHECK_EQUAL(ask(second, "SELECT a FROM t"), 1);
  run_sql(database, "VACUUM INTO '%s'", copy);
  CHECK(file_exists(index) && !file_exists(with_suffix(copy, "-shm")), "the copy has an index");
  database_close(database);
  CHECK(file_exists(index), "it is gone while a connection is open");
  database_close(second);
  CHECK(!file_exists(index) && !file_exists(with_suffix(path, "-wal")), "the last connection has left it behind");
}

// The first transaction of a log is rolled back to its beginning after pages in it were written twice: SQLite writes
// the header anew, and 3.40 still remembers which checksums it wanted to renew. (It then omits those of this
// transaction, so that a crash undoes it, with a plain database as well.)
static void forgotten_checksums(struct dice *dice) {
  (void)dice;
  const char *path = path_of("forgotten.db");
  use_key(path);
  sqlite3 *database = database_open(path, SEALED_VFS_NAME);
  run_sql(database, "PRAGMA page_size=1024; CREATE TABLE t(a INTEGER PRIMARY KEY, b); PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0");
  run_sql(database, "BEGIN; SAVEPOINT first");
  run_sql(database, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n LIMIT 30) INSERT INTO t SELECT i, hex(zeroblob(400)) FROM n");
  CHECK_EQUAL(sqlite3_db_cacheflush(database), SQLITE_OK);
  run_sql(database, "UPDATE t SET b = hex(randomblob(400)) WHERE a > 25");
  CHECK_EQUAL(sqlite3_db_cacheflush(database), SQLITE_OK);
  run_sql(database, "ROLLBACK TO first; INSERT INTO t VALUES(7, 'seven')");
  CHECK_EQUAL(sqlite3_db_cacheflush(database), SQLITE_OK);
  run_sql(database, "COMMIT; INSERT INTO t VALUES(8, 'eight')");
  CHECK_EQUAL(last_report().kind, SEALED_VFS_NOTHING);
  sqlite3 *reader = database_open(path, SEALED_VFS_NAME);
  CHECK_EQUAL(ask(reader, "SELECT group_concat(a || b) = '7seven,8eight' FROM t"), 1);
  run_sql(reader, "PRAGMA wal_checkpoint(TRUNCATE)");
  expect_sound(reader);
  database_close(reader);
  database_close(database);
  CHECK_EQUAL(read_every_page(path), SQLITE_OK);
}

const struct scenario leftover_scenarios[] = {
    {"held-frames", held_frames}, {"unfinished-records", unfinished_records}, {"observers", observers},
    {"removed-index", removed_index}, {"forgotten-checksums", forgotten_checksums}, {NULL, NULL},
};
