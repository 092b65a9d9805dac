// The VFS itself: registration, and opening of each sort of file.
#include <pthread.h>
#include <sodium.h>
#include <stdlib.h>

#include "internal.h"

struct sealed_vfs {
  sqlite3_vfs sqlite; // must be first
  sqlite3_vfs *base;
};

static sqlite3_vfs *base_of(sqlite3_vfs *vfs) { return ((struct sealed_vfs *)(void *)vfs)->base; }

static size_t own_bytes(void) { return (sizeof(struct sealed_file) + 15) / 16 * 16; }

// The open main files. A journal or WAL finds its own by the name that SQLite passes, which leads to the path in the
// same memory. SQLite itself knows only the topmost VFS's file object.
static pthread_mutex_t mains_lock = PTHREAD_MUTEX_INITIALIZER;
static struct sealed_file *mains;

static void list_main(struct sealed_file *file) {
  pthread_mutex_lock(&mains_lock);
  file->next = mains;
  mains = file;
  pthread_mutex_unlock(&mains_lock);
}

void main_unlist(struct sealed_file *file) {
  pthread_mutex_lock(&mains_lock);
  struct sealed_file **link = &mains;
  while (*link != file) { link = &(*link)->next; }
  *link = file->next;
  pthread_mutex_unlock(&mains_lock);
}

static struct sealed_file *find_main(const char *name) {
  const char *path = sqlite3_filename_database(name);
  pthread_mutex_lock(&mains_lock);
  struct sealed_file *file = mains;
  while (file != NULL && file->path != path) { file = file->next; }
  pthread_mutex_unlock(&mains_lock);
  return file;
}

static int open_main(struct sealed_file *file, const char *name) {
  file->sqlite.pMethods = &main_methods;
  file->sort = SEALED_VFS_FILE_MAIN;
  file->main = file;
  file->path = name;
  // SQLite then locks nothing, so its reads of pages show no lock.
  file->granted = sqlite3_uri_boolean(name, "nolock", 0) != 0 ? SQLITE_LOCK_EXCLUSIVE : SQLITE_LOCK_NONE;
  if (sqlite3_uri_boolean(name, "immutable", 0) != 0) { file->granted = SQLITE_LOCK_SHARED; }
  file->entry = keys_retain(name);
  if (file->entry == NULL) {
    report_path(name, SEALED_VFS_NO_KEY);
    return code_for(SEALED_VFS_NO_KEY);
  }
  file->keys = keys_allocate();
  return file->keys == NULL ? SQLITE_NOMEM : SQLITE_OK;
}

static int open_companion(struct sealed_file *file, const char *name, bool is_wal) {
  file->main = find_main(name);
  if (file->main == NULL) { return SQLITE_CANTOPEN; }
  file->path = file->main->path;
  if (is_wal) {
    file->sqlite.pMethods = &wal_methods;
    file->sort = SEALED_VFS_FILE_WAL;
  } else {
    file->sqlite.pMethods = &journal_methods;
    file->sort = SEALED_VFS_FILE_JOURNAL;
    file->state.journal.header_offset = file->state.journal.last_header = -1;
    file->state.journal.super_offset = file->state.journal.record_offset = -1;
  }
  return SQLITE_OK;
}

// A temporary file is read only through the handle that wrote it: its key is random, and wiped with that handle.
static int open_temporary(struct sealed_file *file) {
  file->sqlite.pMethods = &temporary_methods;
  file->sort = SEALED_VFS_FILE_TEMPORARY;
  file->keys = keys_allocate();
  if (file->keys == NULL) { return SQLITE_NOMEM; }
  uint8_t master[KEY_BYTES];
  uint8_t salt[SALT_BYTES];
  randombytes_buf(master, sizeof master);
  randombytes_buf(salt, sizeof salt);
  uint8_t label[LABEL_BYTES];
  seal_new_label(label, seal_fastest_cipher(), salt, false);
  seal_file_keys(file->keys, master, label);
  sodium_memzero(master, sizeof master);
  return SQLITE_OK;
}

static int sealed_open(sqlite3_vfs *vfs, sqlite3_filename name, sqlite3_file *result, int flags, int *out_flags) {
  sqlite3_vfs *base = base_of(vfs);
  // A super-journal holds names of journals, not content, and is read by connections outside this VFS.
  if ((flags & SQLITE_OPEN_SUPER_JOURNAL) != 0) { return base->xOpen(base, name, result, flags, out_flags); }

  struct sealed_file *file = (struct sealed_file *)(void *)result;
  memset(file, 0, sizeof *file);
  file->base = base;
  file->real = (sqlite3_file *)(void *)((uint8_t *)result + own_bytes());
  memset(file->real, 0, (size_t)base->szOsFile);

  int code;
  if ((flags & SQLITE_OPEN_MAIN_DB) != 0) {
    code = open_main(file, name);
  } else if ((flags & (SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_WAL)) != 0) {
    code = open_companion(file, name, (flags & SQLITE_OPEN_WAL) != 0);
  } else {
    code = open_temporary(file);
  }
  if (code == SQLITE_OK) { code = base->xOpen(base, name, file->real, flags, out_flags); }
  if (code != SQLITE_OK) {
    if (file->real->pMethods != NULL) { file->real->pMethods->xClose(file->real); }
    keys_wipe(file->keys);
    if (file->entry != NULL) { keys_release(file->entry, file->is_settled); }
    file->sqlite.pMethods = NULL; // SQLite closes what has methods
    return code;
  }
  if (file->sort == SEALED_VFS_FILE_MAIN) { list_main(file); }
  if (file->sort == SEALED_VFS_FILE_WAL) { file->main->log = file; }
  if (file->sort == SEALED_VFS_FILE_JOURNAL) { file->main->journal = file; }
  // A medium declared immutable.
  if (file->sort == SEALED_VFS_FILE_MAIN &&
      (file->real->pMethods->xDeviceCharacteristics(file->real) & SQLITE_IOCAP_IMMUTABLE) != 0) {
    file->granted = SQLITE_LOCK_SHARED;
  }
  return code;
}

static int sealed_delete(sqlite3_vfs *vfs, const char *name, int sync) {
  return base_of(vfs)->xDelete(base_of(vfs), name, sync);
}

static int sealed_access(sqlite3_vfs *vfs, const char *name, int flags, int *result) {
  return base_of(vfs)->xAccess(base_of(vfs), name, flags, result);
}

static int sealed_full_pathname(sqlite3_vfs *vfs, const char *name, int length, char *result) {
  return base_of(vfs)->xFullPathname(base_of(vfs), name, length, result);
}

static void *sealed_dl_open(sqlite3_vfs *vfs, const char *name) { return base_of(vfs)->xDlOpen(base_of(vfs), name); }

static void sealed_dl_error(sqlite3_vfs *vfs, int length, char *text) {
  base_of(vfs)->xDlError(base_of(vfs), length, text);
}

static void (*sealed_dl_sym(sqlite3_vfs *vfs, void *library, const char *name))(void) {
  return base_of(vfs)->xDlSym(base_of(vfs), library, name);
}

static void sealed_dl_close(sqlite3_vfs *vfs, void *library) { base_of(vfs)->xDlClose(base_of(vfs), library); }

static int sealed_randomness(sqlite3_vfs *vfs, int length, char *result) {
  return base_of(vfs)->xRandomness(base_of(vfs), length, result);
}

static int sealed_sleep(sqlite3_vfs *vfs, int microseconds) { return base_of(vfs)->xSleep(base_of(vfs), microseconds); }

static int sealed_current_time(sqlite3_vfs *vfs, double *result) {
  return base_of(vfs)->xCurrentTime(base_of(vfs), result);
}

static int sealed_current_time_64(sqlite3_vfs *vfs, sqlite3_int64 *result) {
  return base_of(vfs)->xCurrentTimeInt64(base_of(vfs), result);
}

static int sealed_last_error(sqlite3_vfs *vfs, int length, char *text) {
  return base_of(vfs)->xGetLastError(base_of(vfs), length, text);
}

int sealed_vfs_prepare(sqlite3 *database, const char *schema) {
  int bytes = SEALED_VFS_RESERVED_BYTES;
  return sqlite3_file_control(database, schema, SQLITE_FCNTL_RESERVE_BYTES, &bytes);
}

int sealed_vfs_wipe(sqlite3 *database, const char *schema) {
  return sqlite3_file_control(database, schema, CONTROL_WIPE, NULL);
}

// Runs for each new connection of the process: one whose main database is sealed must reserve the seal's bytes before
// its first write.
static int on_new_connection(sqlite3 *database, char **message, const struct sqlite3_api_routines *routines) {
  (void)message;
  (void)routines;
  sqlite3_vfs *vfs = NULL;
  bool is_sealed = false;
  int code = sqlite3_file_control(database, "main", SQLITE_FCNTL_VFS_POINTER, &vfs);
  if (code == SQLITE_OK && vfs->xOpen == sealed_open) { is_sealed = true; }
  // With another VFS on top, ask the file itself.
  if (!is_sealed) { sqlite3_file_control(database, "main", CONTROL_IS_SEALED, &is_sealed); }
  return is_sealed ? sealed_vfs_prepare(database, "main") : SQLITE_OK;
}

static struct sealed_vfs *make_vfs(const char *name, sqlite3_vfs *base) {
  struct sealed_vfs *vfs = calloc(1, sizeof *vfs + strlen(name) + 1);
  if (vfs == NULL) { return NULL; }
  char *own_name = (char *)(vfs + 1);
  memcpy(own_name, name, strlen(name) + 1);
  vfs->base = base;
  vfs->sqlite = (sqlite3_vfs){
      .iVersion = base->iVersion < 2 ? 1 : 2,
      .szOsFile = (int)own_bytes() + base->szOsFile,
      .mxPathname = base->mxPathname,
      .zName = own_name,
      .xOpen = sealed_open,
      .xDelete = sealed_delete,
      .xAccess = sealed_access,
      .xFullPathname = sealed_full_pathname,
      .xDlOpen = sealed_dl_open,
      .xDlError = sealed_dl_error,
      .xDlSym = sealed_dl_sym,
      .xDlClose = sealed_dl_close,
      .xRandomness = sealed_randomness,
      .xSleep = sealed_sleep,
      .xCurrentTime = sealed_current_time,
      .xGetLastError = sealed_last_error,
      .xCurrentTimeInt64 = sealed_current_time_64,
  };
  return vfs;
}

int sealed_vfs_register(const char *name, const char *base_name) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  if (name == NULL) { name = SEALED_VFS_NAME; }
  if (sodium_init() < 0) { return SQLITE_ERROR; }
  int code = sqlite3_initialize();
  if (code != SQLITE_OK) { return code; }
  pthread_mutex_lock(&lock);
  sqlite3_vfs *base = sqlite3_vfs_find(base_name);
  sqlite3_vfs *known = sqlite3_vfs_find(name);
  if (base == NULL) {
    code = SQLITE_NOTFOUND;
  } else if (known != NULL && known->xOpen != sealed_open) {
    code = SQLITE_MISUSE;
  } else {
    // Even if it is registered: `sqlite3_reset_auto_extension` may have been called. Before it can be found, so that a
    // failure leaves nothing registered.
    code = sqlite3_auto_extension((void (*)(void))on_new_connection);
  }
  if (code == SQLITE_OK && known == NULL) {
    struct sealed_vfs *vfs = make_vfs(name, base);
    code = vfs == NULL ? SQLITE_NOMEM : sqlite3_vfs_register(&vfs->sqlite, 0);
  }
  pthread_mutex_unlock(&lock);
  return code;
}
