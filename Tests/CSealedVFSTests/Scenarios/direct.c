// The VFS and its files, called as SQLite would call them, and as it would not.
#include "support.h"

#include <sys/resource.h>

static sqlite3_file *file_of(sqlite3 *database, int operation) {
  sqlite3_file *file = NULL;
  CHECK_EQUAL(sqlite3_file_control(database, "main", operation, &file), SQLITE_OK);
  CHECK(file != NULL && file->pMethods != NULL, "no file");
  return file;
}

// A temporary file against an array: random reads, writes and truncations must agree.
static void temporary_files(struct dice *dice) {
  enum { MOST = 400000, PIECE = 30000 };
  sqlite3_vfs *vfs = sqlite3_vfs_find("sealed-faulty");
  sqlite3_file *file = calloc(1, (size_t)vfs->szOsFile);
  uint8_t *model = calloc(1, MOST + PIECE), *bytes = malloc(PIECE), *expected = malloc(PIECE);
  // Named, so that it can be edited.
  const char *path = path_of("temporary");
  sqlite3_filename name = sqlite3_create_filename(path, "", "", 0, NULL);
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_TEMP_DB;
  CHECK_EQUAL(vfs->xOpen(vfs, name, file, flags, NULL), SQLITE_OK);
  const sqlite3_io_methods *methods = file->pMethods;
  sqlite3_int64 size = 0, told;
  for (int turn = 0; turn < 4000; turn++) {
    int amount = chance(dice, 30) ? 4096 : 1 + (int)below(dice, chance(dice, 80) ? 500 : PIECE);
    sqlite3_int64 offset = chance(dice, 30) ? (sqlite3_int64)below(dice, MOST / 4096) * 4096 : (sqlite3_int64)below(dice, MOST);
    switch (below(dice, 12)) {
      case 0: {
        sqlite3_int64 to = chance(dice, 80) ? (sqlite3_int64)below(dice, MOST) : 0;
        if (chance(dice, 30)) { to = to / 4096 * 4096; }
        CHECK_EQUAL(methods->xTruncate(file, to), SQLITE_OK);
        if (to < size) { memset(model + to, 0, (size_t)(size - to)); }
        size = to;
        break;
      }
      case 1: CHECK_EQUAL(methods->xSync(file, SQLITE_SYNC_NORMAL), SQLITE_OK); break;
      case 2:
      case 3:
      case 4:
      case 5:
      case 6:
        for (int i = 0; i < amount; i++) { bytes[i] = (uint8_t)roll(dice); }
        CHECK_EQUAL(methods->xWrite(file, bytes, amount, offset), SQLITE_OK);
        memcpy(model + offset, bytes, (size_t)amount);
        if (offset + amount > size) { size = offset + amount; }
        break;
      default: {
        memset(expected, 0, PIECE);
        sqlite3_int64 there = size - offset;
        if (there > 0) { memcpy(expected, model + offset, (size_t)(there < amount ? there : amount)); }
        int code = methods->xRead(file, bytes, amount, offset);
        CHECK_EQUAL(code, there < amount ? SQLITE_IOERR_SHORT_READ : SQLITE_OK);
        CHECK(memcmp(bytes, expected, (size_t)amount) == 0, "turn %d: read %d at %lld differs", turn, amount, (long long)offset);
      }
    }
    CHECK_EQUAL(methods->xFileSize(file, &told), SQLITE_OK);
    CHECK_EQUAL(told, size);
  }
  // Edited: not returned as data.
  CHECK_EQUAL(methods->xTruncate(file, 0), SQLITE_OK);
  memset(bytes, 7, PIECE);
  CHECK_EQUAL(methods->xWrite(file, bytes, PIECE, 0), SQLITE_OK);
  CHECK_EQUAL(methods->xSync(file, SQLITE_SYNC_NORMAL), SQLITE_OK);
  size_t length;
  uint8_t *disk = file_load(path, &length);
  for (size_t at = 4096; at < 4160; at++) {
    disk[4160 + at] ^= 1;
    file_store(path, disk, length);
    CHECK(methods->xRead(file, bytes, 10, 5000) == SQLITE_IOERR_DATA, "byte %zu of the block", at);
    disk[4160 + at] ^= 1;
  }
  disk[4160 + 100] ^= 1;
  file_store(path, disk, length);
  CHECK_EQUAL(methods->xRead(file, bytes, 10, 5000), SQLITE_IOERR_DATA);
  CHECK_EQUAL(last_report().file, SEALED_VFS_FILE_TEMPORARY);
  CHECK_EQUAL(last_report().page, 2);
  CHECK_EQUAL(methods->xWrite(file, bytes, 10, 5000), SQLITE_IOERR_DATA);
  CHECK_EQUAL(methods->xTruncate(file, 5000), SQLITE_IOERR_DATA);
  CHECK_EQUAL(truncate(path, 4160), 0);
  CHECK_EQUAL(methods->xRead(file, bytes, 10, 5000), SQLITE_IOERR_DATA);
  CHECK_EQUAL(last_report().kind, SEALED_VFS_TRUNCATED);
  // Each operation failing in turn.
  const enum operation failing[] = {OP_READ, OP_WRITE, OP_TRUNCATE, OP_SYNC};
  for (int i = 0; i < 4; i++) {
    CHECK_EQUAL(methods->xTruncate(file, 0), SQLITE_OK);
    CHECK_EQUAL(methods->xWrite(file, bytes, PIECE, 0), SQLITE_OK);
    faults.operation = failing[i];
    faults.countdown = 1;
    faults.sticky = true;
    faults.code = SQLITE_IOERR;
    int codes[] = {methods->xRead(file, bytes, 10, 100), methods->xWrite(file, bytes, 10, 100), methods->xTruncate(file, 50),
                   methods->xSync(file, SQLITE_SYNC_NORMAL)};
    int failures = 0;
    for (int j = 0; j < 4; j++) { failures += codes[j] != SQLITE_OK; }
    CHECK(failures > 0, "operation %d failed, and no error was reported", failing[i]);
    faults_reset();
  }
  sqlite3_int64 map = 5;
  int chunk = 1000, result = 0;
  CHECK_EQUAL(methods->xFileControl(file, SQLITE_FCNTL_SIZE_HINT, &map), SQLITE_OK);
  CHECK_EQUAL(methods->xFileControl(file, SQLITE_FCNTL_CHUNK_SIZE, &chunk), SQLITE_OK);
  CHECK_EQUAL(methods->xFileControl(file, SQLITE_FCNTL_MMAP_SIZE, &map), SQLITE_OK);
  CHECK_EQUAL(map, 0);
  CHECK_EQUAL(methods->xFileControl(file, 987654, NULL), SQLITE_NOTFOUND);
  CHECK_EQUAL(methods->xLock(file, SQLITE_LOCK_SHARED), SQLITE_OK);
  CHECK_EQUAL(methods->xCheckReservedLock(file, &result), SQLITE_OK);
  CHECK_EQUAL(methods->xUnlock(file, SQLITE_LOCK_NONE), SQLITE_OK);
  CHECK(methods->xSectorSize(file) >= 512 && (methods->xDeviceCharacteristics(file) & SQLITE_IOCAP_SAFE_APPEND) == 0, "device");
  // Out of memory.
  CHECK_EQUAL(methods->xTruncate(file, 0), SQLITE_OK);
  malloc_countdown = 1;
  CHECK_EQUAL(methods->xWrite(file, bytes, 4096, 100000000) | methods->xWrite(file, bytes, 4096, 0), SQLITE_NOMEM);
  malloc_countdown = 0;
  CHECK_EQUAL(methods->xClose(file), SQLITE_OK);
  sqlite3_free_filename(name);
  free(disk);
  free(file);
  free(model);
  free(bytes);
  free(expected);
}

static void odd_calls(struct dice *dice) {
  (void)dice;
  const char *path = path_of("odd.db");
  use_key(path);
  sqlite3 *database = database_open(path, "sealed-faulty");
  uint8_t bytes[9000] = {0}, page[4096];
  run_sql(database, "CREATE TABLE t(a); INSERT INTO t VALUES(zeroblob(20000))");
  sqlite3_file *main = file_of(database, SQLITE_FCNTL_FILE_POINTER);
  // Any part of the main file can be read; only whole pages are written.
  CHECK_EQUAL(main->pMethods->xLock(main, SQLITE_LOCK_SHARED), SQLITE_OK);
  CHECK_EQUAL(main->pMethods->xRead(main, page, 4096, 4096), SQLITE_OK);
  CHECK_EQUAL(main->pMethods->xRead(main, bytes, 9000, 1000), SQLITE_OK);
  CHECK(memcmp(bytes + 3096, page, 4096) == 0, "a part differs from its page");
  CHECK_EQUAL(main->pMethods->xRead(main, bytes, 100, 0), SQLITE_OK);
  CHECK(memcmp(bytes, "SQLite format 3", 16) == 0, "no header");
  CHECK_EQUAL(main->pMethods->xRead(main, bytes, 100, 1 << 30), SQLITE_IOERR_DATA);
  CHECK_EQUAL(main->pMethods->xWrite(main, page, 1024, 4096), SQLITE_READONLY);
  CHECK_EQUAL(main->pMethods->xWrite(main, page, 4096, 1000), SQLITE_READONLY);
  CHECK_EQUAL(main->pMethods->xLock(main, SQLITE_LOCK_RESERVED), SQLITE_OK);
  CHECK_EQUAL(main->pMethods->xRead(main, bytes, 100, 1 << 29), SQLITE_IOERR_SHORT_READ);
  // The page of the lock bytes stays a hole.
  sqlite3_int64 lock_byte = 0x40000000, size;
  memset(page, 0, sizeof page);
  CHECK_EQUAL(main->pMethods->xFileSize(main, &size), SQLITE_OK);
  CHECK_EQUAL(truncate(path, lock_byte), 0);
  CHECK_EQUAL(main->pMethods->xWrite(main, page, 4096, lock_byte + 4096), SQLITE_OK);
  CHECK_EQUAL(main->pMethods->xRead(main, page, 4096, lock_byte + 4096), SQLITE_OK);
  CHECK_EQUAL(main->pMethods->xRead(main, page, 4096, lock_byte), SQLITE_IOERR_DATA);
  CHECK_EQUAL(main->pMethods->xTruncate(main, size), SQLITE_OK);
  // Extended by truncation: pages of sealed zeros.
  CHECK_EQUAL(main->pMethods->xTruncate(main, size + 3 * 4096), SQLITE_OK);
  CHECK_EQUAL(main->pMethods->xRead(main, page, 4096, size + 4096), SQLITE_OK);
  CHECK_EQUAL(main->pMethods->xTruncate(main, size), SQLITE_OK);
  CHECK_EQUAL(main->pMethods->xUnlock(main, SQLITE_LOCK_NONE), SQLITE_OK);

  run_sql(database, "PRAGMA journal_mode=WAL; INSERT INTO t VALUES(zeroblob(9000))");
  sqlite3_file *log = file_of(database, SQLITE_FCNTL_JOURNAL_POINTER);
  CHECK_EQUAL(log->pMethods->xRead(log, bytes, 20, 20), SQLITE_IOERR_READ);
  CHECK_EQUAL(log->pMethods->xRead(log, bytes, 4120, 100), SQLITE_IOERR_READ);
  CHECK_EQUAL(log->pMethods->xWrite(log, bytes, 20, 20), SQLITE_IOERR_WRITE);
  CHECK_EQUAL(log->pMethods->xWrite(log, bytes, 4120, 100), SQLITE_IOERR_WRITE);
  CHECK_EQUAL(log->pMethods->xRead(log, bytes, 8, 24), SQLITE_OK);
  CHECK_EQUAL(log->pMethods->xRead(log, bytes, 4120, 32 + 4120 * 1000LL), SQLITE_IOERR_SHORT_READ);
  CHECK_EQUAL(log->pMethods->xRead(log, bytes, 4096, 32 + 24 + 4120 * 1000LL), SQLITE_IOERR_DATA);
  CHECK_EQUAL(log->pMethods->xWrite(log, bytes, 4096, 32 + 24 + 4120 * 1000LL), SQLITE_IOERR_SHORT_READ);
  memset(bytes, 1, 4120);
  CHECK_EQUAL(log->pMethods->xWrite(log, bytes, 24, 32 + 4120 * 20LL), SQLITE_OK);
  CHECK_EQUAL(log->pMethods->xWrite(log, bytes, 4096, 32 + 24 + 4120 * 20LL), SQLITE_READONLY);
  // A frame found damaged while this process is writing its transaction is not a torn one.
  memset(bytes, 0, 4120);
  sqlite3_int64 third = 32 + 4120 * 2;
  CHECK_EQUAL(log->pMethods->xRead(log, bytes, 4120, third), SQLITE_OK);
  size_t length;
  uint8_t *disk = file_load(with_suffix(path, "-wal"), &length);
  disk[log_start(path) + 4120 * 2 + 500] ^= 4;
  file_store(with_suffix(path, "-wal"), disk, length);
  CHECK_EQUAL(log->pMethods->xRead(log, bytes, 4120, third), SQLITE_IOERR_DATA);
  CHECK_EQUAL(log->pMethods->xWrite(log, bytes, 4096, third + 24), SQLITE_IOERR_DATA);
  disk[log_start(path) + 4120 * 2 + 500] ^= 4;
  file_store(with_suffix(path, "-wal"), disk, length);
  free(disk);
  int result = 0;
  log->pMethods->xCheckReservedLock(log, &result);
  CHECK_EQUAL(log->pMethods->xTruncate(log, 32 + 4120), SQLITE_OK);
  CHECK_EQUAL(log->pMethods->xFileSize(log, &size), SQLITE_OK);
  CHECK_EQUAL(size, 32 + 4120);
  CHECK_EQUAL(log->pMethods->xTruncate(log, 0), SQLITE_OK);
  CHECK_EQUAL(log->pMethods->xFileSize(log, &size), SQLITE_OK);
  CHECK_EQUAL(size, 0);
  database_close(database);

  // With page 1 damaged nothing is written: the identity to write under is unknown.
  const char *damaged = path_of("damaged.db");
  use_key(damaged);
  file_copy(path, damaged);
  disk = file_load(damaged, &length);
  disk[300] ^= 1;
  file_store(damaged, disk, length);
  sqlite3 *second = database_open(damaged, SEALED_VFS_NAME);
  main = file_of(second, SQLITE_FCNTL_FILE_POINTER);
  memset(page, 0, sizeof page);
  disk[4096 - 64] = 0;
  file_store(damaged, disk, length);
  free(disk);
  CHECK_EQUAL(main->pMethods->xWrite(main, page, 1000, 4096), SQLITE_READONLY);
  database_close(second);
  second = database_open(damaged, SEALED_VFS_NAME);
  main = file_of(second, SQLITE_FCNTL_FILE_POINTER);
  CHECK_EQUAL(main->pMethods->xWrite(main, page, 4096, 4096), SQLITE_NOTADB);
  database_close(second);

  // The journal, in the middle of a transaction.
  path = path_of("journal.db");
  use_key(path);
  database = database_open(path, "sealed-faulty");
  run_sql(database, "CREATE TABLE t(a); INSERT INTO t VALUES(zeroblob(20000)); BEGIN; UPDATE t SET a = zeroblob(19000)");
  sqlite3_file *journal = file_of(database, SQLITE_FCNTL_JOURNAL_POINTER);
  CHECK_EQUAL(journal->pMethods->xRead(journal, bytes, 100, 600), SQLITE_IOERR_READ);
  CHECK_EQUAL(journal->pMethods->xWrite(journal, bytes, 100, 600), SQLITE_IOERR_WRITE);
  CHECK_EQUAL(journal->pMethods->xRead(journal, bytes, 4, 512), SQLITE_OK);
  CHECK_EQUAL(journal->pMethods->xRead(journal, bytes, 4096, 516), SQLITE_OK);
  CHECK_EQUAL(journal->pMethods->xRead(journal, bytes, 4, 516 + 4), SQLITE_OK);
  memset(bytes, 1, sizeof bytes);
  CHECK_EQUAL(journal->pMethods->xWrite(journal, bytes, 4, 512 + 4104 * 30), SQLITE_OK);
  CHECK_EQUAL(journal->pMethods->xWrite(journal, bytes, 9000, 512 + 4 + 4104 * 30), SQLITE_IOERR_WRITE);
  CHECK_EQUAL(journal->pMethods->xWrite(journal, bytes, 4096, 512 + 4 + 4104 * 30), SQLITE_OK);
  CHECK_EQUAL(journal->pMethods->xWrite(journal, bytes, 4, 512 + 4 + 4096 + 4104 * 30), SQLITE_READONLY);
  CHECK_EQUAL(journal->pMethods->xWrite(journal, bytes, 12, 512 * 100), SQLITE_IOERR_SHORT_READ);
  run_sql(database, "ROLLBACK");
  CHECK_EQUAL(ask(database, "SELECT length(a) FROM t"), 20000);
  database_close(database);
}

enum { CALLS = 16 };

// One call on a freshly opened file. -1 where there is no such call.
static int one_call(int call, sqlite3_file *main, sqlite3_file *other, bool is_log) {
  static uint8_t bytes[9000];
  const sqlite3_io_methods *on_main = main->pMethods, *on_other = other->pMethods;
  memset(bytes, 0, sizeof bytes);
  sqlite3_int64 size = 0;
  switch (call) {
    case 0: return on_main->xRead(main, bytes, 9000, 1000);
    case 1: return on_main->xRead(main, bytes, 100, 0);
    case 2: return on_main->xRead(main, bytes, 16, 24);
    case 3: return on_main->xWrite(main, bytes, 4096, 4096 * 60);
    case 4: return on_main->xTruncate(main, 4096 * 64);
    case 5: return on_main->xRead(main, bytes, 4096, 4096 * 99) == SQLITE_IOERR_DATA ? SQLITE_OK : SQLITE_IOERR;
    case 6: return on_other->xFileSize(other, &size);
    case 7: return on_other->xRead(other, bytes, is_log ? 32 : 8, 0);
    case 8: return is_log ? on_other->xRead(other, bytes, 4096, 32 + 24) : on_other->xRead(other, bytes, 4, 512);
    case 9: return is_log ? on_other->xRead(other, bytes, 4120, 32 + 4120) : on_other->xRead(other, bytes, 1, 0);
    case 10: return is_log ? on_other->xWrite(other, bytes, 4096, 32 + 24) : on_other->xWrite(other, "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7\0\0\0\1", 12, 0);
    case 11: return is_log ? on_other->xWrite(other, bytes, 32, 0) : on_other->xWrite(other, bytes, 512, 512 * 200);
    case 12: return is_log ? on_other->xRead(other, bytes, 8, 24) : on_other->xWrite(other, bytes, 28, 0);
    case 13: return is_log ? -1 : on_other->xWrite(other, bytes, 4, 512) | on_other->xWrite(other, bytes, 4096, 516) | on_other->xWrite(other, bytes, 4, 516 + 4096);
    case 14: return is_log ? -1 : on_other->xRead(other, bytes, 4, 8);
    default: return on_other->xTruncate(other, 0);
  }
}

// Each call with its first, second, ... operation or allocation below it failing: it reports the failure.
static void failing_calls(struct dice *dice) {
  (void)dice;
  const enum operation failing[] = {OP_READ, OP_WRITE, OP_SIZE, OP_TRUNCATE, OP_SYNC, OP_COUNT};
  const char *path = path_of("calls.db");
  long fired = 0;
  for (int is_log = 0; is_log < 2; is_log++) {
    for (int call = 0; call < CALLS; call++) {
      for (int sort = 0; sort < 6; sort++) {
        for (long n = 1; n < 6; n++) {
          database_remove(path);
          use_key(path);
          sqlite3 *database = database_open(path, "sealed-faulty");
          run_sql(database, "PRAGMA page_size=4096; PRAGMA journal_mode=%s; CREATE TABLE t(a); INSERT INTO t VALUES(zeroblob(20000))", is_log ? "WAL" : "DELETE");
          // A second connection is the fresh one.
          sqlite3 *fresh = database_open(path, "sealed-faulty");
          sqlite3_file *main = file_of(fresh, SQLITE_FCNTL_FILE_POINTER);
          if (is_log) {
            run_sql(fresh, "SELECT count(*) FROM t");
          } else {
            run_sql(fresh, "BEGIN; INSERT INTO t VALUES(1)");
          }
          sqlite3_file *other = file_of(fresh, SQLITE_FCNTL_JOURNAL_POINTER);
          bool is_memory = failing[sort] == OP_COUNT;
          faults.operation = failing[sort];
          faults.code = SQLITE_IOERR;
          faults.countdown = is_memory ? 0 : n;
          if (is_memory) { malloc_countdown = n; }
          int code = one_call(call, main, other, is_log == 1);
          bool has_fired = is_memory ? malloc_countdown == 0 : faults.fired;
          malloc_countdown = 0;
          faults_reset();
          CHECK(!has_fired || code != SQLITE_OK, "call %d, log %d, failure %d of sort %d was kept quiet", call, is_log, (int)n, sort);
          fired += has_fired;
          CHECK_EQUAL(truncate(path, 0), 0);  // what the call left of it is not a database
          unlink(with_suffix(path, "-wal"));
          sqlite3_exec(fresh, "ROLLBACK", NULL, NULL, NULL);
          database_close(fresh);
          database_close(database);
          if (!has_fired) { break; }
        }
      }
    }
  }
  note("%ld failures", fired);
}

static void handed_on(struct dice *dice) {
  (void)dice;
  sqlite3_vfs *vfs = sqlite3_vfs_find(SEALED_VFS_NAME);
  char text[200] = "";
  double day = 0;
  sqlite3_int64 milliseconds = 0;
  CHECK_EQUAL(vfs->xCurrentTime(vfs, &day), SQLITE_OK);
  CHECK_EQUAL(vfs->xCurrentTimeInt64(vfs, &milliseconds), SQLITE_OK);
  CHECK(day > 2400000 && milliseconds > 0, "the time is %f", day);
  CHECK(vfs->xSleep(vfs, 10) >= 0, "sleep");
  CHECK_EQUAL(vfs->xRandomness(vfs, 8, text), 8);
  vfs->xGetLastError(vfs, sizeof text, text);
  CHECK(vfs->xDlOpen(vfs, "/no such library") == NULL, "a library was opened");
  vfs->xDlError(vfs, sizeof text, text);
  CHECK(strlen(text) > 0, "no reason is given");
  void *self = vfs->xDlOpen(vfs, NULL);
  if (self != NULL) {
    CHECK(vfs->xDlSym(vfs, self, "no such symbol") == NULL, "a symbol was found");
    vfs->xDlClose(vfs, self);
  }
  for (int kind = 0; kind <= SEALED_VFS_NO_MEMORY; kind++) {
    CHECK(strcmp(sealed_vfs_kind_name((sealed_vfs_kind)kind), "unknown") != 0, "kind %d has no name", kind);
  }
  CHECK(strcmp(sealed_vfs_kind_name((sealed_vfs_kind)99), "unknown") == 0, "kind 99 has a name");

  // No folder, no write permission: reported as SQLite reports it.
  const char *path = path_of("no folder/x.db");
  use_key(path);
  sqlite3 *database = NULL;
  CHECK_EQUAL(sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, SEALED_VFS_NAME), SQLITE_CANTOPEN);
  sqlite3_close(database);
  CHECK_EQUAL(sealed_vfs_forget_key(path), SQLITE_OK);
  path = path_of("only read.db");
  use_key(path);
  database = database_open(path, SEALED_VFS_NAME);
  run_sql(database, "CREATE TABLE t(a)");
  database_close(database);
  CHECK_EQUAL(sqlite3_open_v2(path, &database, SQLITE_OPEN_READONLY, SEALED_VFS_NAME), SQLITE_OK);
  CHECK_EQUAL(ask(database, "SELECT count(*) FROM t"), 0);
  CHECK_EQUAL(try_sql(database, "INSERT INTO t VALUES(1)"), SQLITE_READONLY);
  CHECK_EQUAL(sqlite3_close(database), SQLITE_OK);
}

// Argon2id's 64 MB are not available in an extension: that is an error, and does not lead to another key.
static void too_little_memory(struct dice *dice) {
  (void)dice;
#if !defined(__SANITIZE_ADDRESS__)
  const char *path = path_of("small.db");
  struct rlimit before, small;
  getrlimit(RLIMIT_AS, &before);
  small = before;
  FILE *file = fopen("/proc/self/statm", "r");
  unsigned long pages = 0;
  CHECK(file != NULL && fscanf(file, "%lu", &pages) == 1, "statm");
  fclose(file);
  small.rlim_cur = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + (32u << 20);
  CHECK_EQUAL(sealed_vfs_set_passphrase(path, "secret", 6, 0), SQLITE_OK);
  sqlite3 *database = database_open(path, SEALED_VFS_NAME);
  uint8_t salt[16] = {0}, key[32];
  setrlimit(RLIMIT_AS, &small);
  int derived = sealed_vfs_derive_key("secret", 6, salt, key);
  int created = try_sql(database, "CREATE TABLE t(a)");
  setrlimit(RLIMIT_AS, &before);
  CHECK_EQUAL(derived, SQLITE_NOMEM);
  CHECK_EQUAL(created & 0xff, SQLITE_NOMEM);
  CHECK_EQUAL(last_report().kind, SEALED_VFS_NO_MEMORY);
  run_sql(database, "CREATE TABLE t(a)");
  database_close(database);
#endif
#ifdef SEALED_WRAPPED_MEMORY
  extern long wrapped_countdown;
  // All shared pieces for keys are taken (guarded.c), so each key needs memory of its own.
  char name[32];
  for (int i = 0; i < 32; i++) {
    snprintf(name, sizeof name, "taken-%d.db", i);
    CHECK_EQUAL(sealed_vfs_set_key(path_of(name), test_key, SEALED_VFS_KEEP_KEY), SQLITE_OK);
  }
  const char *other = path_of("wrapped.db");
  for (long n = 1; n < 4; n++) {
    wrapped_countdown = n;
    sealed_vfs_set_key(other, test_key, 0);
    wrapped_countdown = n;
    sealed_vfs_set_passphrase(other, "x", 1, 0);
    wrapped_countdown = n;
    sealed_vfs_register("wrapped", NULL);
    wrapped_countdown = 0;
    use_key(other);
    wrapped_countdown = n;
    sqlite3 *opened = NULL;
    sqlite3_open_v2(other, &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, SEALED_VFS_NAME);
    sqlite3_close(opened);
    wrapped_countdown = 0;
    sqlite3 *sorting = database_open(other, SEALED_VFS_NAME);
    run_sql(sorting, "PRAGMA cache_size=3; PRAGMA temp_store=1");
    wrapped_countdown = n;
    try_sql(sorting, "CREATE TEMP TABLE x AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n LIMIT 900) SELECT i, zeroblob(500) FROM n");
    wrapped_countdown = 0;
    database_close(sorting);
  }
  for (int i = 0; i < 32; i++) {
    snprintf(name, sizeof name, "taken-%d.db", i);
    CHECK_EQUAL(sealed_vfs_forget_key(path_of(name)), SQLITE_OK);
  }
#endif
}

const struct scenario direct_scenarios[] = {
    {"temporary-files", temporary_files}, {"odd-calls", odd_calls}, {"failing-calls", failing_calls}, {"handed-on", handed_on}, {"too-little-memory", too_little_memory}, {NULL, NULL},
};
