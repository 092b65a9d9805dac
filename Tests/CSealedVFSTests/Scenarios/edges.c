// Where keys, pages and logs meet files that are empty, replaced or missing: calls that SQLite makes rarely or never.
#include "support.h"

static sqlite3_file *file_of(sqlite3 *database) {
  sqlite3_file *file = NULL;
  CHECK_EQUAL(sqlite3_file_control(database, "main", SQLITE_FCNTL_FILE_POINTER, &file), SQLITE_OK);
  CHECK(file != NULL && file->pMethods != NULL, "no file");
  return file;
}

static void make(const char *path, const char *vfs) {
  database_remove(path);
  use_key(path);
  sqlite3 *database = database_open(path, vfs);
  run_sql(database, "PRAGMA page_size=4096; PRAGMA journal_mode=WAL; CREATE TABLE t(a); INSERT INTO t VALUES(zeroblob(20000))");
  database_close(database);
}

static void fail_nth(enum operation operation, long nth) {
  faults_reset();
  faults.operation = operation;
  faults.countdown = nth;
  faults.code = SQLITE_IOERR;
}

// ---- Keys ----

static void salts(void) {
  uint8_t salt[16];
  const char *path = path_of("salt.db");
  make(path, SEALED_VFS_NAME);
  CHECK_EQUAL(sealed_vfs_read_salt(path, salt, NULL), SQLITE_OK);
  // The salt is read through SQLite's default VFS.
  sqlite3_vfs *usual = sqlite3_vfs_find(NULL);
  CHECK_EQUAL(faulty_vfs_register(true), SQLITE_OK);
  const enum operation failing[] = {OP_SIZE, OP_READ, OP_OPEN};
  for (int i = 0; i < 3; i++) {
    for (long nth = 1; nth < 4; nth++) {
      fail_nth(failing[i], nth);
      int code = sealed_vfs_read_salt(path, salt, NULL);
      CHECK_EQUAL(code, faults.fired ? SQLITE_IOERR : SQLITE_OK);
    }
  }
  faults_reset();
  CHECK_EQUAL(sqlite3_vfs_register(usual, 1), SQLITE_OK);

  const char *empty = path_of("empty.db");
  file_store(empty, "", 0);
  CHECK_EQUAL(sealed_vfs_read_salt(empty, salt, NULL), SQLITE_NOTFOUND);
  file_store(empty, "SQLite", 6);
  CHECK_EQUAL(sealed_vfs_read_salt(empty, salt, NULL), SQLITE_NOTADB);
  size_t length;
  uint8_t *bytes = file_load(path, &length);
  bytes[4096 - 64] = 9;
  file_store(empty, bytes, length);
  CHECK_EQUAL(sealed_vfs_read_salt(empty, salt, NULL), SQLITE_NOTADB);
  free(bytes);

  // By another name for the same file.
  const char *link = path_of("link.db");
  CHECK_EQUAL(symlink(path, link), 0);
  CHECK_EQUAL(sealed_vfs_forget_key(path), SQLITE_OK);
  use_key(link);
  CHECK_EQUAL(sealed_vfs_forget_key(path), SQLITE_OK);
  CHECK_EQUAL(sealed_vfs_forget_key(NULL), SQLITE_CANTOPEN);
  char endless[3000];
  memset(endless, 'x', sizeof endless);
  endless[0] = '/';
  endless[sizeof endless - 1] = 0;
  CHECK_EQUAL(sealed_vfs_forget_key(endless), SQLITE_CANTOPEN);
  CHECK_EQUAL(sealed_vfs_set_key(endless, test_key, 0), SQLITE_CANTOPEN);
}

// A kept passphrase: the key is derived once for a file, and again for another file in its place.
static void kept_passphrase(void) {
  const char *path = path_of("kept.db");
  CHECK_EQUAL(sealed_vfs_set_passphrase(path, "a secret", 8, SEALED_VFS_KEEP_KEY), SQLITE_OK);
  for (int turn = 0; turn < 2; turn++) {
    sqlite3 *first = database_open(path, SEALED_VFS_NAME);
    run_sql(first, "CREATE TABLE t(a); INSERT INTO t VALUES(%d)", turn);
    sqlite3 *second = database_open(path, SEALED_VFS_NAME);
    CHECK_EQUAL(ask(second, "SELECT a FROM t"), turn);
    database_close(second);
    database_close(first);
    database_remove(path);
  }
  CHECK_EQUAL(sealed_vfs_forget_key(path), SQLITE_OK);
}

static void inspections(void) {
  sqlite3 *database = database_open(":memory:", NULL);
  CHECK_EQUAL(sealed_vfs_inspect(database), SEALED_VFS_NOT_A_DATABASE);
  database_close(database);
  const char *path = path_of("inspected.db");
  make(path, SEALED_VFS_NAME);
  database = database_open(path, "faulty");
  CHECK_EQUAL(sealed_vfs_inspect(database), SEALED_VFS_NOTHING);
  fail_nth(OP_READ, 1);
  CHECK_EQUAL(sealed_vfs_inspect(database), SEALED_VFS_NOT_SEALED);
  faults_reset();
  database_close(database);
}

// ---- The main file ----

static void main_files(void) {
  uint8_t bytes[8192] = {0}, page[4096];
  const char *path = path_of("main.db"), *other = path_of("other.db");
  make(path, "sealed-faulty");
  make(other, "sealed-faulty");

  // Parts of page 1, with and without a lock.
  sqlite3 *database = database_open(path, "sealed-faulty");
  sqlite3_file *main = file_of(database);
  CHECK_EQUAL(main->pMethods->xRead(main, bytes, 16, 0), SQLITE_OK);
  CHECK(memcmp(bytes, "SQLite format 3", 16) == 0, "no header");
  CHECK_EQUAL(main->pMethods->xRead(main, page, 4096, 0), SQLITE_OK);
  CHECK_EQUAL(main->pMethods->xLock(main, SQLITE_LOCK_SHARED), SQLITE_OK);
  CHECK_EQUAL(main->pMethods->xRead(main, bytes, 100, 0), SQLITE_OK);
  CHECK_EQUAL(main->pMethods->xRead(main, page, 4096, 0), SQLITE_OK);
  CHECK_EQUAL(main->pMethods->xRead(main, bytes, 4096, 1000), SQLITE_OK);
  CHECK(memcmp(bytes, page + 1000, 3000) == 0, "a part differs from its page");
  // A first page that claims another size.
  memset(page, 0, sizeof page);
  page[16] = 0x20;
  page[20] = 64;
  CHECK_EQUAL(main->pMethods->xWrite(main, page, 4096, 0), SQLITE_READONLY);
  // Another file in its place: detected under a lock, and not reported as an error before.
  CHECK_EQUAL(main->pMethods->xUnlock(main, SQLITE_LOCK_NONE), SQLITE_OK);
  file_copy(other, path);
  CHECK_EQUAL(main->pMethods->xRead(main, bytes, 100, 0), SQLITE_OK);
  CHECK_EQUAL(main->pMethods->xLock(main, SQLITE_LOCK_SHARED), SQLITE_OK);
  CHECK_EQUAL(main->pMethods->xRead(main, page, 4096, 4096), SQLITE_IOERR_DATA);
  CHECK_EQUAL(last_report().kind, SEALED_VFS_FOREIGN);
  // Nothing left of it.
  CHECK_EQUAL(truncate(path, 0), 0);
  CHECK_EQUAL(main->pMethods->xRead(main, page, 4096, 0), SQLITE_IOERR_DATA);
  CHECK_EQUAL(last_report().kind, SEALED_VFS_TRUNCATED);
  CHECK_EQUAL(main->pMethods->xRead(main, page, 4096, 4096), SQLITE_IOERR_DATA);
  CHECK_EQUAL(main->pMethods->xUnlock(main, SQLITE_LOCK_NONE), SQLITE_OK);
  database_close(database);

  // A write that is not a page, and a file that is not ours: nothing is written.
  database_remove(path);
  database = database_open(path, "sealed-faulty");
  main = file_of(database);
  CHECK_EQUAL(main->pMethods->xWrite(main, bytes, 512, 0), SQLITE_READONLY);
  uint8_t *large = calloc(1, 131072);
  CHECK_EQUAL(main->pMethods->xWrite(main, large, 131072, 0), SQLITE_READONLY);
  free(large);
  database_close(database);
  database_remove(path);
  database = database_open(path, "sealed-faulty");
  main = file_of(database);
  memset(bytes, 'n', sizeof bytes);
  file_store(path, bytes, sizeof bytes);
  CHECK_EQUAL(main->pMethods->xWrite(main, page, 4096, 4096), SQLITE_NOTADB);
  CHECK_EQUAL(main->pMethods->xTruncate(main, 4096), SQLITE_OK);
  database_close(database);
}

// ---- The log ----

struct log {
  sqlite3 *database;
  sqlite3_file *main, *file;
};

// The log of a connection that has not read anything yet.
static struct log open_log(const char *path) {
  struct log log = {.database = database_open(path, "sealed-faulty")};
  log.main = file_of(log.database);
  sqlite3_vfs *vfs = sqlite3_vfs_find("sealed-faulty");
  log.file = calloc(1, (size_t)vfs->szOsFile);
  const char *name = sqlite3_filename_wal(sqlite3_db_filename(log.database, "main"));
  int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_WAL;
  CHECK_EQUAL(vfs->xOpen(vfs, name, log.file, flags, NULL), SQLITE_OK);
  return log;
}

static void close_log(struct log *log) {
  CHECK_EQUAL(log->file->pMethods->xClose(log->file), SQLITE_OK);
  free(log->file);
  database_close(log->database);
}

static void logs(void) {
  uint8_t bytes[8192] = {0};
  const char *path = path_of("log.db");
  // A log next to an empty database, and next to one that cannot be read.
  database_remove(path);
  use_key(path);
  for (int step = 0; step < 6; step++) {
    struct log log = open_log(path);
    const sqlite3_io_methods *methods = log.file->pMethods;
    faults_reset();
    if (step % 2 == 1) { fail_nth(OP_READ, 1); }
    int code = step < 2   ? methods->xRead(log.file, bytes, 32, 0)
               : step < 4 ? methods->xRead(log.file, bytes, 4120, 32)
                          : methods->xWrite(log.file, bytes, 24, 32);
    faults_reset();
    CHECK(code == SQLITE_IOERR_DATA || code == SQLITE_IOERR, "step %d: %d", step, code);
    if (step == 5) {
      // The log creates the identity of a database none of whose pages have been read yet.
      CHECK_EQUAL(methods->xWrite(log.file, bytes, 32, 0), SQLITE_OK);
      CHECK_EQUAL(log.main->pMethods->xTruncate(log.main, 4096), SQLITE_OK);
      CHECK_EQUAL(log.main->pMethods->xTruncate(log.main, 0), SQLITE_OK);
    }
    close_log(&log);
    database_remove(path);
  }
  struct log foreign = open_log(path);
  memset(bytes, 'n', sizeof bytes);
  file_store(path, bytes, sizeof bytes);
  CHECK_EQUAL(foreign.file->pMethods->xWrite(foreign.file, bytes, 32, 0), SQLITE_NOTADB);
  close_log(&foreign);

  // A frame that is begun in one place and continued in another.
  make(path, "sealed-faulty");
  struct log log = open_log(path);
  CHECK_EQUAL(log.main->pMethods->xRead(log.main, bytes, 16, 0), SQLITE_OK);
  memset(bytes, 1, sizeof bytes);
  CHECK_EQUAL(log.file->pMethods->xWrite(log.file, bytes, 20, 0), SQLITE_IOERR_WRITE);
  CHECK_EQUAL(log.file->pMethods->xWrite(log.file, bytes, 24, 32 + 4120 * 20LL), SQLITE_OK);
  CHECK_EQUAL(log.file->pMethods->xWrite(log.file, bytes, 10, 32 + 30 + 4120 * 20LL), SQLITE_IOERR_SHORT_READ);
  close_log(&log);
}

// Page 1 is checked before a log is trusted: each of its reads and allocations failing, and a changed page 1.
static void logs_without_page_1(void) {
  uint8_t bytes[100];
  const char *path = path_of("asked.db"), *kept = path_of("kept-asked.db");
  database_remove(kept);
  use_key(kept);
  sqlite3 *database = database_open(kept, SEALED_VFS_NAME);
  run_sql(database, "PRAGMA page_size=4096; PRAGMA journal_mode=WAL; CREATE TABLE t(a); INSERT INTO t VALUES(1)");
  database_remove(path);
  file_copy(kept, path);
  file_copy(with_suffix(kept, "-wal"), with_suffix(path, "-wal"));
  database_close(database);
  use_key(path);
  for (int way = 0; way < 3; way++) {
    for (long nth = 1; nth < 5; nth++) {
      struct log log = open_log(path);
      CHECK_EQUAL(log.main->pMethods->xRead(log.main, bytes, 16, 0), SQLITE_OK);
      size_t length;
      uint8_t *disk = file_load(path, &length);
      if (way == 0) { fail_nth(OP_READ, nth); }
      if (way == 1) { malloc_countdown = nth; }
      if (way == 2) {
        disk[nth < 3 ? 16 : 0] ^= 0x30;
        file_store(path, disk, length);
      }
      int code = log.file->pMethods->xRead(log.file, bytes, 32, 0);
      CHECK(code == SQLITE_OK || code == SQLITE_IOERR || code == SQLITE_NOMEM, "way %d, %ld: %d", way, nth, code);
      malloc_countdown = 0;
      faults_reset();
      if (way == 2) {
        disk[nth < 3 ? 16 : 0] ^= 0x30;
        file_store(path, disk, length);
      }
      free(disk);
      close_log(&log);
    }
  }
}

// ---- The journal ----

// In the middle of a transaction: pieces that are not consecutive, and what precedes a super-journal's name.
static void journals(void) {
  enum { RECORD = 4 + 4096 + 4 };
  const uint8_t number[4] = {0, 0, 0, 7}, super_number[4] = {0, 4, 0, 1};
  uint8_t bytes[4096];
  memset(bytes, 1, sizeof bytes);
  const char *path = path_of("journal-edges.db");
  use_key(path);
  sqlite3 *database = database_open(path, "sealed-faulty");
  run_sql(database, "PRAGMA page_size=4096; CREATE TABLE t(a); INSERT INTO t VALUES(zeroblob(20000)); BEGIN; UPDATE t SET a = zeroblob(19000)");
  sqlite3_file *journal = NULL;
  CHECK_EQUAL(sqlite3_file_control(database, "main", SQLITE_FCNTL_JOURNAL_POINTER, &journal), SQLITE_OK);
  const sqlite3_io_methods *methods = journal->pMethods;
  CHECK_EQUAL(methods->xWrite(journal, number, 4, 512 + RECORD * 30), SQLITE_OK);
  CHECK_EQUAL(methods->xWrite(journal, bytes, 4096, 512 + RECORD * 31), SQLITE_IOERR_WRITE);
  CHECK_EQUAL(methods->xWrite(journal, number, 4, 512 + RECORD * 32), SQLITE_OK);
  CHECK_EQUAL(methods->xWrite(journal, bytes, 28, 512 * 400), SQLITE_IOERR_WRITE);
  CHECK_EQUAL(methods->xWrite(journal, bytes, 1, 512 * 400), SQLITE_IOERR_WRITE);
  CHECK_EQUAL(methods->xWrite(journal, super_number, 4, 512 + RECORD * 40), SQLITE_OK);
  CHECK_EQUAL(methods->xRead(journal, bytes, 4, 512 + RECORD * 40), SQLITE_OK);
  CHECK(memcmp(bytes, super_number, 4) == 0, "the name's number is another");
  CHECK_EQUAL(methods->xWrite(journal, number, 4, 512 + RECORD * 30), SQLITE_OK);
  CHECK_EQUAL(methods->xRead(journal, bytes, 4, 512), SQLITE_OK);
  CHECK_EQUAL(methods->xTruncate(journal, 512 + RECORD * 30), SQLITE_OK);
  run_sql(database, "ROLLBACK");
  CHECK_EQUAL(ask(database, "SELECT length(a) FROM t"), 20000);
  database_close(database);
}

// More than one part of the log's index.
static void index_parts(void) {
  const char *path = path_of("index.db");
  make(path, "sealed-faulty");
  sqlite3 *database = database_open(path, "sealed-faulty");
  CHECK_EQUAL(ask(database, "SELECT count(*) FROM t"), 1);
  sqlite3_file *main = file_of(database);
  void volatile *memory = NULL;
  CHECK_EQUAL(main->pMethods->xShmMap(main, 1, 32768, 1, &memory), SQLITE_OK);
  CHECK(memory != NULL, "no memory");
  CHECK_EQUAL(ask(database, "SELECT count(*) FROM t"), 1);
  database_close(database);
}

// ---- A base without shared memory ----

static void old_base(void) {
  static sqlite3_vfs old;
  old = *sqlite3_vfs_find("faulty");
  old.zName = "old";
  old.iVersion = 1;
  CHECK_EQUAL(sqlite3_vfs_register(&old, 0), SQLITE_OK);
  CHECK_EQUAL(sealed_vfs_register("sealed-old", "old"), SQLITE_OK);
  CHECK_EQUAL(sqlite3_vfs_find("sealed-old")->iVersion, 1);
  const char *path = path_of("old.db");
  use_key(path);
  sqlite3 *database = database_open(path, "sealed-old");
  run_sql(database, "CREATE TABLE t(a); INSERT INTO t VALUES(1)");
  CHECK_EQUAL(ask(database, "SELECT a FROM t"), 1);
  database_close(database);
  sqlite3_vfs *sealed = sqlite3_vfs_find("sealed-old");
  CHECK_EQUAL(sqlite3_vfs_unregister(sealed), SQLITE_OK);
  free(sealed);
  CHECK_EQUAL(sqlite3_vfs_unregister(&old), SQLITE_OK);
}

#ifdef SEALED_WRAPPED_MEMORY
bool wrapped_sodium_fails;
int __real_sodium_init(void);
int __wrap_sodium_init(void);
int __wrap_sodium_init(void) { return wrapped_sodium_fails ? -1 : __real_sodium_init(); }

// Without its library it does nothing.
static void without_sodium(void) {
  uint8_t salt[16] = {0}, key[32];
  wrapped_sodium_fails = true;
  CHECK_EQUAL(sealed_vfs_set_key("/x", test_key, 0), SQLITE_MISUSE);
  CHECK_EQUAL(sealed_vfs_set_passphrase("/x", "x", 1, 0), SQLITE_MISUSE);
  CHECK_EQUAL(sealed_vfs_derive_key("x", 1, salt, key), SQLITE_MISUSE);
  CHECK(sealed_vfs_register("never", NULL) != SQLITE_OK, "it was registered");
  wrapped_sodium_fails = false;
}
#endif

static void edges(struct dice *dice) {
  (void)dice;
  salts();
  kept_passphrase();
  inspections();
  main_files();
  logs();
  logs_without_page_1();
  journals();
  index_parts();
  old_base();
#ifdef SEALED_WRAPPED_MEMORY
  without_sodium();
#endif
}

const struct scenario edge_scenarios[] = {{"edges", edges}, {NULL, NULL}};
