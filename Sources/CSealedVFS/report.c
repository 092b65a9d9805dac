// Findings: kept for the thread that made them and passed to the observer.
#include <pthread.h>
#include <stdio.h>

#include "internal.h"

static _Thread_local sealed_vfs_report last;

static pthread_mutex_t observer_lock = PTHREAD_MUTEX_INITIALIZER;
static sealed_vfs_observer current_observer;
static void *current_context;

// Whether this thread is calling the observer, and so holds the lock.
static _Thread_local bool is_observing;

static void publish(const sealed_vfs_report *finding) {
  last = *finding;
  if (is_observing) { return; }
  // Held during the call, so that an observer removed by `sealed_vfs_observe` is no longer called.
  pthread_mutex_lock(&observer_lock);
  is_observing = true;
  if (current_observer != NULL) { current_observer(current_context, finding); }
  is_observing = false;
  pthread_mutex_unlock(&observer_lock);
}

void report(const struct sealed_file *file, sealed_vfs_kind kind, uint64_t page, uint64_t frame, int64_t offset) {
  sealed_vfs_report finding = {.kind = kind, .file = file->sort, .page = page, .frame = frame, .offset = offset};
  if (file->path != NULL) { snprintf(finding.path, sizeof finding.path, "%s", file->path); }
  publish(&finding);
}

void report_path(const char *path, sealed_vfs_kind kind) {
  sealed_vfs_report finding = {.kind = kind, .file = SEALED_VFS_FILE_MAIN};
  snprintf(finding.path, sizeof finding.path, "%s", path);
  publish(&finding);
}

void sealed_vfs_observe(sealed_vfs_observer observer, void *context) {
  if (!is_observing) { pthread_mutex_lock(&observer_lock); }
  current_observer = observer;
  current_context = context;
  if (!is_observing) { pthread_mutex_unlock(&observer_lock); }
}

void sealed_vfs_last_report(sealed_vfs_report *result) { *result = last; }

void sealed_vfs_clear_report(void) { memset(&last, 0, sizeof last); }

const char *sealed_vfs_kind_name(sealed_vfs_kind kind) {
  switch (kind) {
  case SEALED_VFS_NOTHING: return "nothing";
  case SEALED_VFS_NO_KEY: return "no key";
  case SEALED_VFS_WRONG_KEY: return "wrong key";
  case SEALED_VFS_NOT_SEALED: return "not sealed";
  case SEALED_VFS_NOT_A_DATABASE: return "not a database";
  case SEALED_VFS_NEWER_FORMAT: return "newer format";
  case SEALED_VFS_DAMAGED: return "damaged";
  case SEALED_VFS_FOREIGN: return "part of another file";
  case SEALED_VFS_TRUNCATED: return "truncated";
  case SEALED_VFS_UNSUITABLE: return "unsuitable write";
  case SEALED_VFS_CUT: return "recovery ended early";
  case SEALED_VFS_NO_MEMORY: return "no memory";
  case SEALED_VFS_CIPHER_UNAVAILABLE: return "cipher not available";
  }
  return "unknown";
}

int code_for(sealed_vfs_kind kind) {
  switch (kind) {
  case SEALED_VFS_NOTHING:
  case SEALED_VFS_CUT: return SQLITE_OK;
  case SEALED_VFS_NO_KEY: return SQLITE_AUTH;
  case SEALED_VFS_WRONG_KEY:
  case SEALED_VFS_NOT_SEALED:
  case SEALED_VFS_NOT_A_DATABASE:
  case SEALED_VFS_NEWER_FORMAT:
  case SEALED_VFS_CIPHER_UNAVAILABLE: return SQLITE_NOTADB;
  case SEALED_VFS_DAMAGED:
  case SEALED_VFS_FOREIGN:
  case SEALED_VFS_TRUNCATED: return SQLITE_IOERR_DATA;
  case SEALED_VFS_UNSUITABLE: return SQLITE_READONLY;
  case SEALED_VFS_NO_MEMORY: return SQLITE_NOMEM;
  }
  return SQLITE_ERROR;
}
