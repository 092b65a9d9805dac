// The surroundings of the sealed VFS: another VFS on top of it, a connection with another page size, lock bytes
// elsewhere.
#include "support.h"

// Fails as the body run by `holds` did, once its changes have been undone.
static void fail_as_body(void) {
  char text[400];
  snprintf(text, sizeof text, "%s", failed_check());
  CHECK(false, "%s", text);
}

// ---- A VFS that passes everything on to the sealed one, in files of its own ----

struct shim_file {
  sqlite3_file sqlite;
  sqlite3_file *lower; // behind this struct
};

static sqlite3_vfs shim;

static sqlite3_file *lower(sqlite3_file *file) { return ((struct shim_file *)(void *)file)->lower; }
static int shim_close(sqlite3_file *f) { return lower(f)->pMethods->xClose(lower(f)); }
static int shim_read(sqlite3_file *f, void *bytes, int amount, sqlite3_int64 offset) {
  return lower(f)->pMethods->xRead(lower(f), bytes, amount, offset);
}
static int shim_write(sqlite3_file *f, const void *bytes, int amount, sqlite3_int64 offset) {
  return lower(f)->pMethods->xWrite(lower(f), bytes, amount, offset);
}
static int shim_truncate(sqlite3_file *f, sqlite3_int64 size) { return lower(f)->pMethods->xTruncate(lower(f), size); }
static int shim_sync(sqlite3_file *f, int flags) { return lower(f)->pMethods->xSync(lower(f), flags); }
static int shim_size(sqlite3_file *f, sqlite3_int64 *size) { return lower(f)->pMethods->xFileSize(lower(f), size); }
static int shim_lock(sqlite3_file *f, int level) { return lower(f)->pMethods->xLock(lower(f), level); }
static int shim_unlock(sqlite3_file *f, int level) { return lower(f)->pMethods->xUnlock(lower(f), level); }
static int shim_reserved(sqlite3_file *f, int *result) { return lower(f)->pMethods->xCheckReservedLock(lower(f), result); }
static int shim_control(sqlite3_file *f, int operation, void *argument) {
  return lower(f)->pMethods->xFileControl(lower(f), operation, argument);
}
static int shim_sector(sqlite3_file *f) { return lower(f)->pMethods->xSectorSize(lower(f)); }
static int shim_device(sqlite3_file *f) { return lower(f)->pMethods->xDeviceCharacteristics(lower(f)); }
static int shim_shm_map(sqlite3_file *f, int region, int size, int extend, void volatile **memory) {
  return lower(f)->pMethods->xShmMap(lower(f), region, size, extend, memory);
}
static int shim_shm_lock(sqlite3_file *f, int offset, int count, int flags) {
  return lower(f)->pMethods->xShmLock(lower(f), offset, count, flags);
}
static void shim_shm_barrier(sqlite3_file *f) { lower(f)->pMethods->xShmBarrier(lower(f)); }
static int shim_shm_unmap(sqlite3_file *f, int delete_flag) { return lower(f)->pMethods->xShmUnmap(lower(f), delete_flag); }

static const sqlite3_io_methods shim_methods = {
    .iVersion = 2, .xClose = shim_close, .xRead = shim_read, .xWrite = shim_write, .xTruncate = shim_truncate,
    .xSync = shim_sync, .xFileSize = shim_size, .xLock = shim_lock, .xUnlock = shim_unlock,
    .xCheckReservedLock = shim_reserved, .xFileControl = shim_control, .xSectorSize = shim_sector,
    .xDeviceCharacteristics = shim_device, .xShmMap = shim_shm_map, .xShmLock = shim_shm_lock,
    .xShmBarrier = shim_shm_barrier, .xShmUnmap = shim_shm_unmap,
};

static int shim_open(sqlite3_vfs *vfs, sqlite3_filename name, sqlite3_file *result, int flags, int *out_flags) {
  sqlite3_vfs *sealed = vfs->pAppData;
  struct shim_file *file = (struct shim_file *)(void *)result;
  file->lower = (sqlite3_file *)(void *)(file + 1);
  int code = sealed->xOpen(sealed, name, file->lower, flags, out_flags);
  file->sqlite.pMethods = file->lower->pMethods != NULL ? &shim_methods : NULL;
  return code;
}
static int shim_delete(sqlite3_vfs *vfs, const char *name, int sync) {
  sqlite3_vfs *sealed = vfs->pAppData;
  return sealed->xDelete(sealed, name, sync);
}
static int shim_access(sqlite3_vfs *vfs, const char *name, int flags, int *result) {
  sqlite3_vfs *sealed = vfs->pAppData;
  return sealed->xAccess(sealed, name, flags, result);
}
static int shim_path(sqlite3_vfs *vfs, const char *name, int length, char *result) {
  sqlite3_vfs *sealed = vfs->pAppData;
  return sealed->xFullPathname(sealed, name, length, result);
}

static void shim_register(void) {
  sqlite3_vfs *sealed = sqlite3_vfs_find(SEALED_VFS_NAME);
  shim = *sealed;
  shim.zName = "shim";
  shim.pAppData = sealed;
  shim.szOsFile = (int)sizeof(struct shim_file) + sealed->szOsFile;
  shim.xOpen = shim_open;
  shim.xDelete = shim_delete;
  shim.xAccess = shim_access;
  shim.xFullPathname = shim_path;
  CHECK_EQUAL(sqlite3_vfs_register(&shim, 0), SQLITE_OK);
}

static void use_stacked(void *context) {
  const char *mode = context, *path = path_of("stacked.db");
  database_remove(path);
  use_key(path);
  // The room for the seal is reserved unasked.
  sqlite3 *database = database_open(path, "shim"), *second = database_open(path, SEALED_VFS_NAME);
  run_sql(database, "PRAGMA journal_mode=%s; PRAGMA cache_size=3; CREATE TABLE t(a INTEGER PRIMARY KEY, b)", mode);
  run_sql(database, "WITH n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n LIMIT 40) INSERT INTO t SELECT i, zeroblob(2000) FROM n");
  run_sql(database, "BEGIN; UPDATE t SET b = 'undone'; INSERT INTO t(b) SELECT zeroblob(3000) FROM t; ROLLBACK");
  CHECK_EQUAL(ask(second, "SELECT sum(length(b)) FROM t"), 40 * 2000);
  run_sql(second, "UPDATE t SET b = zeroblob(1000) WHERE a = 1");
  CHECK_EQUAL(ask(database, "SELECT length(b) FROM t WHERE a = 1"), 1000);
  expect_sound(database);
  database_close(second);
  database_close(database);
  CHECK_EQUAL(read_every_page(path), SQLITE_OK);
  // A file that claims to belong to a database that is not open here.
  sqlite3_vfs *sealed = sqlite3_vfs_find(SEALED_VFS_NAME);
  sqlite3_file *file = calloc(1, (size_t)sealed->szOsFile);
  sqlite3_filename names = sqlite3_create_filename(path, path_of("other-journal"), path_of("other-wal"), 0, NULL);
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  CHECK_EQUAL(sealed->xOpen(sealed, sqlite3_filename_wal(names), file, flags | SQLITE_OPEN_WAL, NULL), SQLITE_CANTOPEN);
  CHECK_EQUAL(sealed->xOpen(sealed, sqlite3_filename_journal(names), file, flags | SQLITE_OPEN_MAIN_JOURNAL, NULL),
              SQLITE_CANTOPEN);
  CHECK(file->pMethods == NULL && !file_exists(path_of("other-wal")), "it was opened");
  sqlite3_free_filename(names);
  free(file);
}

static void stacked(struct dice *dice) {
  (void)dice;
  shim_register();
  static char wal[] = "WAL", rollback[] = "DELETE";
  bool held = holds(use_stacked, wal) && holds(use_stacked, rollback);
  close_databases();
  CHECK_EQUAL(sqlite3_vfs_unregister(&shim), SQLITE_OK);
  if (!held) { fail_as_body(); }
}

// ---- A connection opened before the database was created, with larger pages ----

static void late_page_size(struct dice *dice) {
  (void)dice;
  const char *path = path_of("late.db");
  for (int round = 0; round < 8; round++) {
    database_remove(path);
    use_key(path);
    sqlite3 *early = database_open(path, SEALED_VFS_NAME);
    run_sql(early, "PRAGMA page_size=%d", round / 4 == 0 ? 16384 : 65536);
    sqlite3 *maker = database_open(path, SEALED_VFS_NAME);
    run_sql(maker, "PRAGMA page_size=4096; PRAGMA journal_mode=%s; CREATE TABLE t(a); INSERT INTO t VALUES(7)",
            round % 2 == 0 ? "DELETE" : "WAL");
    if (round / 2 % 2 == 0) {
      CHECK_EQUAL(ask(early, "SELECT a FROM t"), 7);
    } else {
      // Here it is cut: a connection with the right page size reports that, and so does this one.
      run_sql(maker, "PRAGMA wal_checkpoint(TRUNCATE)");
      CHECK_EQUAL(truncate(path, 4096 + 100), 0);
      CHECK_EQUAL(try_sql(early, "SELECT a FROM t"), SQLITE_IOERR_DATA);
      CHECK(last_report().kind == SEALED_VFS_TRUNCATED && last_report().page == 2, "%s", describe(last_report()));
    }
    if (round / 2 % 2 == 0) {
      run_sql(early, "INSERT INTO t VALUES(8)");
      CHECK_EQUAL(ask(maker, "SELECT sum(a) FROM t"), 15);
      expect_sound(early);
    }
    database_close(maker);
    database_close(early);
  }
}

// ---- SQLite's lock bytes where only its own tests put them ----

static void use_moved_lock_bytes(void *context) {
  (void)context;
  const char *first = path_of("first.db"), *second = path_of("second.db");
  const char *const paths[] = {first, second};
  for (int i = 0; i < 2; i++) {
    use_key(paths[i]);
    sqlite3 *database = database_open(paths[i], SEALED_VFS_NAME);
    run_sql(database, "PRAGMA page_size=4096; CREATE TABLE t(a INTEGER PRIMARY KEY, b)");
    run_sql(database, "WITH n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n LIMIT 60) INSERT INTO t SELECT i, zeroblob(3000) FROM n");
    database_close(database);
  }
  // The page of the lock bytes, the 17th, announces the name of a super-journal.
  sqlite3 *database = database_open(first, SEALED_VFS_NAME);
  run_sql(database, "ATTACH '%s' AS second", second);
  run_sql(database, "BEGIN; UPDATE t SET b = zeroblob(2000); UPDATE second.t SET b = zeroblob(2000); COMMIT");
  run_sql(database, "PRAGMA cache_size=2; BEGIN; INSERT INTO t SELECT a + 100, b FROM t; DELETE FROM second.t; ROLLBACK");
  CHECK_EQUAL(ask(database, "SELECT sum(length(b)) FROM second.t"), 60 * 2000);
  expect_sound(database);
  database_close(database);
  for (int i = 0; i < 2; i++) { CHECK_EQUAL(read_every_page(paths[i]), SQLITE_OK); }
  // Not even the page's place is written to.
  size_t length;
  uint8_t *bytes = file_load(first, &length);
  bool is_empty = true;
  for (size_t i = 0x10000; i < 0x11000; i++) { is_empty = is_empty && bytes[i] == 0; }
  free(bytes);
  CHECK(is_empty, "the page of the lock bytes was written");
}

static void moved_lock_bytes(struct dice *dice) {
  (void)dice;
  int usual = sqlite3_test_control(SQLITE_TESTCTRL_PENDING_BYTE, 0x10000u);
  bool held = holds(use_moved_lock_bytes, NULL);
  close_databases();
  sqlite3_test_control(SQLITE_TESTCTRL_PENDING_BYTE, (unsigned)usual);
  if (!held) { fail_as_body(); }
}

// Frames that recovery has read are returned without reading them again, as long as the log still holds them.
static void recovered_frames(struct dice *dice) {
  (void)dice;
  const char *path = path_of("left.db"), *copy = path_of("recovered.db");
  use_key(path);
  sqlite3 *first = database_open(path, "sealed-faulty");
  run_sql(first, "PRAGMA page_size=4096; PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0; CREATE TABLE t(a INTEGER PRIMARY KEY, b)");
  run_sql(first, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n LIMIT 16) INSERT INTO t SELECT i, zeroblob(3000) FROM n");
  file_copy(path, copy);
  file_copy(with_suffix(path, "-wal"), with_suffix(copy, "-wal"));
  database_close(first);
  use_key(copy);
  sqlite3 *reader = database_open(copy, "sealed-faulty");
  CHECK_EQUAL(ask(reader, "SELECT count(*) FROM sqlite_schema"), 1);
  sqlite3 *other = database_open(copy, "sealed-faulty");
  faults.operation = OP_READ;
  faults.countdown = 1000;
  CHECK_EQUAL(ask(reader, "SELECT sum(length(b)) FROM t WHERE a <= 8"), 24000);
  long reads = 1000 - faults.countdown;
  faults_reset();
  CHECK(reads < 4, "%ld reads", reads);
  // Another connection begins a generation, with other frames in place of those that were not read yet.
  run_sql(other, "UPDATE t SET b = zeroblob(2000); PRAGMA wal_checkpoint(RESTART); UPDATE t SET b = zeroblob(1000 + a)");
  CHECK_EQUAL(ask(reader, "SELECT sum(length(b)) FROM t"), 16136);
  database_close(other);
  database_close(reader);
}

const struct scenario surroundings_scenarios[] = {
    {"stacked", stacked}, {"late-page-size", late_page_size}, {"moved-lock-bytes", moved_lock_bytes}, {"recovered-frames", recovered_frames}, {NULL, NULL},
};
