// The VFS. Files other than main databases are the base VFS's own.
#define _GNU_SOURCE
#include "dozing_vfs.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#include "shared_index.h"

// Our own numbers: SQLite uses those below 100.
enum { CONTROL_DOZE = 0xd02e01, CONTROL_WAKE = 0xd02e02 };

enum {
  WRITE_LOCK = 0, // see https://sqlite.org/walformat.html#locks
  HEADER_VERSIONS = 18, // for writing and for reading; see https://sqlite.org/fileformat2.html
  VERSION_WAL = 2,
};

// Identifies the file a path leads to.
struct file_mark {
  dev_t device;
  ino_t inode;
};

// A main database. The base VFS's own file follows it in memory.
struct dozing_file {
  sqlite3_file sqlite; // must be first: SQLite's view
  sqlite3_file *real;
  const char *path; // SQLite keeps it as long as the file is open
  int lock;         // SQLITE_LOCK_..., as SQLite sees it
  unsigned held;    // locks in the shared index, one bit each
  bool is_dozing;
  struct shared_index index;
  struct file_mark log; // while it dozes: identifies the log's file
};

static struct dozing_file *self(sqlite3_file *file) { return (struct dozing_file *)(void *)file; }
static sqlite3_file *real(sqlite3_file *file) { return self(file)->real; }
static const sqlite3_io_methods *methods(const struct dozing_file *file) { return file->real->pMethods; }

// ---- Dozing ----

static bool find_mark(const char *path, struct file_mark *mark) {
  struct stat status;
  if (stat(path, &status) != 0) { return false; }
  *mark = (struct file_mark){status.st_dev, status.st_ino};
  return true;
}

// Whether the path leads to a file other than the one SQLite has open, or to none.
static bool has_moved(struct dozing_file *file) {
  int moved = 1;
  return methods(file)->xFileControl(file->real, SQLITE_FCNTL_HAS_MOVED, &moved) != SQLITE_OK || moved != 0;
}

static int doze(struct dozing_file *file) {
  if (file->is_dozing) { return SQLITE_OK; }
  // An idle connection to a WAL has only this lock, and one on the index's file.
  if (file->lock != SQLITE_LOCK_SHARED || file->held != 0 || !index_can_doze(&file->index)) { return SQLITE_NOTFOUND; }
  // Under the lock no process may remove the log, so it is the one that SQLite has open. SQLite keeps it open, so its
  // inode is not used for another file.
  if (has_moved(file) || !find_mark(sqlite3_filename_wal(file->path), &file->log)) { return SQLITE_NOTFOUND; }
  file->is_dozing = true;
  index_detach(&file->index);
  int code = methods(file)->xShmUnmap(file->real, 0);
  int unlocked = methods(file)->xUnlock(file->real, SQLITE_LOCK_NONE);
  return code == SQLITE_OK ? unlocked : code;
}

// Whether another process has replaced a file, or changed how the database is written. Call under the shared lock,
// which keeps such processes away.
static int check_files(struct dozing_file *file) {
  struct file_mark log;
  if (has_moved(file) || !find_mark(sqlite3_filename_wal(file->path), &log)) { return SQLITE_NOTFOUND; }
  if (log.device != file->log.device || log.inode != file->log.inode) { return SQLITE_NOTFOUND; }
  // A process may leave WAL mode and keep the log's empty file (SQLITE_FCNTL_PERSIST_WAL).
  uint8_t versions[2] = {0, 0};
  int code = methods(file)->xRead(file->real, versions, sizeof versions, HEADER_VERSIONS);
  bool is_wal = code == SQLITE_OK && versions[0] == VERSION_WAL && versions[1] == VERSION_WAL;
  return is_wal ? SQLITE_OK : SQLITE_NOTFOUND;
}

static int map_region(struct dozing_file *file, int region, bool extend) {
  void volatile *memory = NULL;
  int code = methods(file)->xShmMap(file->real, region, file->index.region_bytes, extend, &memory);
  if (code != SQLITE_OK) { return code; }
  // The file is shorter: the first process to connect, perhaps this one, has rebuilt the index.
  if (memory == NULL) { return SQLITE_NOTFOUND; }
  return index_attach(&file->index, region, memory) ? SQLITE_OK : SQLITE_IOERR_SHMMAP;
}

// Maps all regions that SQLite knows at the addresses it knows. It may write to any of them without asking again, as
// recovery does.
static int map_index(struct dozing_file *file) {
  bool is_writer = false;
  int code = SQLITE_OK;
  for (int region = 0; region < file->index.count && code == SQLITE_OK; region++) {
    if (file->index.regions[region] == NULL) { continue; }
    code = map_region(file, region, false);
    if (code != SQLITE_NOTFOUND) { continue; }
    // Extending the file writes to it, which only the writer may do: two processes would overwrite each other's
    // entries.
    if (!is_writer) {
      code = methods(file)->xShmLock(file->real, WRITE_LOCK, 1, SQLITE_SHM_LOCK | SQLITE_SHM_EXCLUSIVE);
      if (code != SQLITE_OK) { break; }
      is_writer = true;
    }
    code = map_region(file, region, true);
  }
  if (is_writer) { methods(file)->xShmLock(file->real, WRITE_LOCK, 1, SQLITE_SHM_UNLOCK | SQLITE_SHM_EXCLUSIVE); }
  return code;
}

static int wake(struct dozing_file *file) {
  if (!file->is_dozing) { return SQLITE_OK; }
  int code = methods(file)->xLock(file->real, SQLITE_LOCK_SHARED);
  if (code != SQLITE_OK) {
    methods(file)->xUnlock(file->real, SQLITE_LOCK_NONE);
    return code;
  }
  code = check_files(file);
  if (code == SQLITE_OK) {
    code = map_index(file);
    if (code != SQLITE_OK) {
      index_detach(&file->index);
      methods(file)->xShmUnmap(file->real, 0);
    }
  }
  if (code != SQLITE_OK) {
    methods(file)->xUnlock(file->real, SQLITE_LOCK_NONE);
    return code;
  }
  file->is_dozing = false;
  return SQLITE_OK;
}

// ---- SQLite's operations ----

static int dozing_close(sqlite3_file *file) {
  index_free(&self(file)->index);
  return real(file)->pMethods->xClose(real(file));
}

static int dozing_read(sqlite3_file *file, void *bytes, int amount, sqlite3_int64 offset) {
  if (self(file)->is_dozing) { return SQLITE_IOERR_READ; }
  return real(file)->pMethods->xRead(real(file), bytes, amount, offset);
}

static int dozing_write(sqlite3_file *file, const void *bytes, int amount, sqlite3_int64 offset) {
  if (self(file)->is_dozing) { return SQLITE_IOERR_WRITE; }
  return real(file)->pMethods->xWrite(real(file), bytes, amount, offset);
}

static int dozing_truncate(sqlite3_file *file, sqlite3_int64 size) {
  if (self(file)->is_dozing) { return SQLITE_IOERR_TRUNCATE; }
  return real(file)->pMethods->xTruncate(real(file), size);
}

static int dozing_sync(sqlite3_file *file, int flags) { return real(file)->pMethods->xSync(real(file), flags); }

static int dozing_file_size(sqlite3_file *file, sqlite3_int64 *size) {
  return real(file)->pMethods->xFileSize(real(file), size);
}

// Closing tries an exclusive lock to find out whether it is the last to close: a dozing connection cannot know.
static int dozing_lock(sqlite3_file *file, int level) {
  if (self(file)->is_dozing) { return SQLITE_BUSY; }
  int code = real(file)->pMethods->xLock(real(file), level);
  if (code == SQLITE_OK) { self(file)->lock = level; }
  return code;
}

static int dozing_unlock(sqlite3_file *file, int level) {
  self(file)->lock = level;
  return self(file)->is_dozing ? SQLITE_OK : real(file)->pMethods->xUnlock(real(file), level);
}

static int dozing_check_reserved_lock(sqlite3_file *file, int *result) {
  if (self(file)->is_dozing) { return SQLITE_IOERR_CHECKRESERVEDLOCK; }
  return real(file)->pMethods->xCheckReservedLock(real(file), result);
}

static int dozing_file_control(sqlite3_file *file, int operation, void *argument) {
  if (operation == CONTROL_DOZE) { return doze(self(file)); }
  if (operation == CONTROL_WAKE) { return wake(self(file)); }
  return real(file)->pMethods->xFileControl(real(file), operation, argument);
}

static int dozing_sector_size(sqlite3_file *file) { return real(file)->pMethods->xSectorSize(real(file)); }

static int dozing_characteristics(sqlite3_file *file) {
  return real(file)->pMethods->xDeviceCharacteristics(real(file));
}

static int dozing_shm_map(sqlite3_file *file, int region, int bytes, int extend, void volatile **memory) {
  struct dozing_file *mine = self(file);
  if (mine->is_dozing) { return SQLITE_IOERR_SHMMAP; }
  int code = methods(mine)->xShmMap(mine->real, region, bytes, extend, memory);
  if (*memory != NULL) { *memory = index_place(&mine->index, region, bytes, code == SQLITE_OK, *memory); }
  return code;
}

static int dozing_shm_lock(sqlite3_file *file, int offset, int count, int flags) {
  struct dozing_file *mine = self(file);
  bool is_lock = (flags & SQLITE_SHM_LOCK) != 0;
  if (mine->is_dozing) { return is_lock ? SQLITE_IOERR_LOCK : SQLITE_OK; }
  int code = methods(mine)->xShmLock(mine->real, offset, count, flags);
  unsigned bits = ((1U << count) - 1) << offset;
  if (code == SQLITE_OK) { mine->held = is_lock ? mine->held | bits : mine->held & ~bits; }
  return code;
}

static void dozing_shm_barrier(sqlite3_file *file) { real(file)->pMethods->xShmBarrier(real(file)); }

static int dozing_shm_unmap(sqlite3_file *file, int delete_flag) {
  struct dozing_file *mine = self(file);
  index_free(&mine->index);
  mine->held = 0;
  return mine->is_dozing ? SQLITE_OK : methods(mine)->xShmUnmap(mine->real, delete_flag);
}

// Without memory-mapped reading of the database, which would bypass these.
static const sqlite3_io_methods dozing_methods = {
    .iVersion = 2,
    .xClose = dozing_close,
    .xRead = dozing_read,
    .xWrite = dozing_write,
    .xTruncate = dozing_truncate,
    .xSync = dozing_sync,
    .xFileSize = dozing_file_size,
    .xLock = dozing_lock,
    .xUnlock = dozing_unlock,
    .xCheckReservedLock = dozing_check_reserved_lock,
    .xFileControl = dozing_file_control,
    .xSectorSize = dozing_sector_size,
    .xDeviceCharacteristics = dozing_characteristics,
    .xShmMap = dozing_shm_map,
    .xShmLock = dozing_shm_lock,
    .xShmBarrier = dozing_shm_barrier,
    .xShmUnmap = dozing_shm_unmap,
};

// ---- The VFS ----

static sqlite3_vfs *base;

static size_t own_bytes(void) { return (sizeof(struct dozing_file) + 15) / 16 * 16; }

static int dozing_open(sqlite3_vfs *vfs, sqlite3_filename name, sqlite3_file *result, int flags, int *out_flags) {
  (void)vfs;
  if ((flags & SQLITE_OPEN_MAIN_DB) == 0) { return base->xOpen(base, name, result, flags, out_flags); }
  struct dozing_file *file = (struct dozing_file *)(void *)result;
  memset(file, 0, sizeof *file);
  file->path = name;
  file->real = (sqlite3_file *)(void *)((uint8_t *)result + own_bytes());
  memset(file->real, 0, (size_t)base->szOsFile);
  int code = base->xOpen(base, name, file->real, flags, out_flags);
  if (code == SQLITE_OK && file->real->pMethods->iVersion < 2) { code = SQLITE_CANTOPEN; }
  if (code == SQLITE_OK) { file->sqlite.pMethods = &dozing_methods; }
  if (code != SQLITE_OK && file->real->pMethods != NULL) { file->real->pMethods->xClose(file->real); }
  return code;
}

static int dozing_delete(sqlite3_vfs *vfs, const char *name, int sync) {
  (void)vfs;
  return base->xDelete(base, name, sync);
}

static int dozing_access(sqlite3_vfs *vfs, const char *name, int flags, int *result) {
  (void)vfs;
  return base->xAccess(base, name, flags, result);
}

static int dozing_full_pathname(sqlite3_vfs *vfs, const char *name, int bytes, char *result) {
  (void)vfs;
  return base->xFullPathname(base, name, bytes, result);
}

static int register_once(void) {
  static sqlite3_vfs vfs;
  if (sqlite3_vfs_find(DOZING_VFS_NAME) != NULL) { return SQLITE_OK; }
  base = sqlite3_vfs_find(NULL);
  if (base == NULL) { return SQLITE_NOTFOUND; }
  // Randomness, time and errors are the base VFS's; its functions take it, or no VFS, as their first argument.
  vfs = *base;
  vfs.iVersion = base->iVersion < 2 ? base->iVersion : 2;
  vfs.szOsFile = (int)own_bytes() + base->szOsFile;
  vfs.pNext = NULL;
  vfs.zName = DOZING_VFS_NAME;
  vfs.xOpen = dozing_open;
  vfs.xDelete = dozing_delete;
  vfs.xAccess = dozing_access;
  vfs.xFullPathname = dozing_full_pathname;
  return sqlite3_vfs_register(&vfs, 0);
}

int dozing_vfs_register(void) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  int code = sqlite3_initialize();
  if (code != SQLITE_OK) { return code; }
  pthread_mutex_lock(&lock);
  code = register_once();
  pthread_mutex_unlock(&lock);
  return code;
}

// ---- Connections ----

int dozing_vfs_doze(sqlite3 *database) {
  if (sqlite3_get_autocommit(database) == 0 || sqlite3_txn_state(database, NULL) != SQLITE_TXN_NONE) {
    return SQLITE_MISUSE;
  }
  // SQLite takes its cached pages for current if the log's salts, checksums and counters are those of its last
  // transaction. An empty log that recovery has restarted has none, however the database below has changed since.
  sqlite3_db_release_memory(database);
  return sqlite3_file_control(database, "main", CONTROL_DOZE, NULL);
}

int dozing_vfs_wake(sqlite3 *database) { return sqlite3_file_control(database, "main", CONTROL_WAKE, NULL); }
