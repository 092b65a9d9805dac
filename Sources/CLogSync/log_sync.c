// SQLite's methods of the log's file are replaced by these, which call the original ones. The VFS is not replaced: any
// VFS may be in use, and a file does not know the connection that a choice is made for.
#include "log_sync.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

// Begins with the methods, so that a file's pointer to its methods points here.
struct chosen {
  sqlite3_io_methods methods;
  const sqlite3_io_methods *original;
  bool waits;
  // Frames were written since the last sync.
  bool has_frames;
  // The folder has been synced since the log was created: always true when the log has contents, whichever process
  // wrote them.
  bool is_named;
  // NULL for a log synced only by the VFS.
  log_syncer *syncer;
  void *context;
};

static struct chosen *chosen(sqlite3_file *file) { return (struct chosen *)(void *)(uintptr_t)file->pMethods; }

static int log_write(sqlite3_file *file, const void *bytes, int amount, sqlite3_int64 offset) {
  struct chosen *log = chosen(file);
  if (log->syncer != NULL && !log->is_named) {
    // The first contents: SQLite's own first sync includes the folder.
    int code = log->original->xSync(file, SQLITE_SYNC_NORMAL);
    if (code != SQLITE_OK) { return code; }
    log->is_named = true;
  }
  // A write at the beginning is the log's header.
  if (offset > 0) { log->has_frames = true; }
  return log->original->xWrite(file, bytes, amount, offset);
}

static int sync_contents(sqlite3_file *file, int flags) {
  struct chosen *log = chosen(file);
  if (log->syncer == NULL) { return log->original->xSync(file, flags); }
  return log->syncer(log->context) ? SQLITE_OK : SQLITE_IOERR_FSYNC;
}

// A commit syncs what it has just written. A checkpoint syncs what was written before it, and a header is synced alone:
// without either, the file could be left incomplete.
static int log_sync(sqlite3_file *file, int flags) {
  struct chosen *log = chosen(file);
  bool is_commit = log->has_frames;
  log->has_frames = false;
  return is_commit && !log->waits ? SQLITE_OK : sync_contents(file, flags);
}

static int log_close(sqlite3_file *file) {
  struct chosen *log = chosen(file);
  const sqlite3_io_methods *original = log->original;
  file->pMethods = original;
  sqlite3_free(log);
  return original->xClose(file);
}

static int replace_methods(sqlite3_file *file, log_syncer *syncer, void *context) {
  struct chosen *log = sqlite3_malloc(sizeof *log);
  if (log == NULL) { return SQLITE_NOMEM; }
  *log = (struct chosen){.methods = *file->pMethods, .original = file->pMethods, .context = context};
  // With any other VFS, such as one that fails, that VFS does the sync.
  const sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
  if (vfs != NULL && strcmp(vfs->zName, "unix") == 0) { log->syncer = syncer; }
  sqlite3_int64 size = 0;
  log->is_named = log->original->xFileSize(file, &size) == SQLITE_OK && size > 0;
  log->methods.xWrite = log_write;
  log->methods.xSync = log_sync;
  log->methods.xClose = log_close;
  file->pMethods = &log->methods;
  return SQLITE_OK;
}

int log_sync_choose(sqlite3 *database, int waits, log_syncer *syncer, void *context) {
  sqlite3_file *file = NULL;
  int code = sqlite3_file_control(database, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file);
  if (code != SQLITE_OK) { return code; }
  if (file == NULL || file->pMethods == NULL) { return SQLITE_NOTFOUND; }
  if (file->pMethods->xSync != log_sync) {
    code = replace_methods(file, syncer, context);
    if (code != SQLITE_OK) { return code; }
  }
  chosen(file)->waits = waits != 0;
  return SQLITE_OK;
}
