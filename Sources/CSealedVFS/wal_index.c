// The shared index of the log, which SQLite reads and writes in memory. It is passed on, but moved: the index's first
// region, as SQLite sees it, is the second one of the `-shm` file. The first, where a SQLite without this VFS looks,
// has the header of an index of an unknown version: that SQLite answers SQLITE_CANTOPEN. Otherwise it would share the
// live index; and if it was the last to close, it would write what it finds in the log at the places of its frames into
// the main file, or delete a log that it considers empty.
#include "wal_file.h"

enum {
  HEADER_WORDS = 12, // see https://sqlite.org/walformat.html#the_wal_index_header
  HEADER_COPIES = 2,
  WORD_VERSION = 0,
  WORD_FLAGS = 3,
  WORD_CHECKSUM = 10,
  UNKNOWN_VERSION = 0x53454c44, // "SELD"
};

static struct sealed_file *self(sqlite3_file *file) { return (struct sealed_file *)(void *)file; }
static sqlite3_file *real(sqlite3_file *file) { return self(file)->real; }

// Writes the header that keeps a plain SQLite away, unless it is there. All sealed connections write the same bytes, so
// they need no lock between them.
static void put_guard(struct sealed_file *file) {
  if (file->index_guard == NULL) { return; }
  uint32_t header[HEADER_WORDS] = {[WORD_VERSION] = UNKNOWN_VERSION};
  const uint8_t is_initialized = 1;
  memcpy(&header[WORD_FLAGS], &is_initialized, 1);
  uint32_t *checksum = &header[WORD_CHECKSUM];
  for (int word = 0; word < WORD_CHECKSUM; word += 2) {
    checksum[0] += header[word] + checksum[1];
    checksum[1] += header[word + 1] + checksum[0];
  }
  for (int word = 0; word < HEADER_WORDS * HEADER_COPIES; word++) {
    uint32_t wanted = header[word % HEADER_WORDS];
    if (file->index_guard[word] != wanted) { file->index_guard[word] = wanted; }
  }
}

// All processes must agree on the place of the index. For files of version 1 it is the first region, since a process
// with the old code may share it.
static int learn_place(struct sealed_file *file) {
  if (file->log == NULL) { return SQLITE_IOERR_SHMMAP; }
  int code = wal_learn_layout(file->log);
  file->index_region = file->log->state.wal.plain_bytes == 0 ? 0 : 1;
  return code;
}

int wal_index_map(sqlite3_file *sqlite, int region, int size, int extend, void volatile **memory) {
  struct sealed_file *file = self(sqlite);
  const sqlite3_io_methods *methods = file->real->pMethods;
  if (methods->iVersion < 2) { return SQLITE_IOERR_SHMMAP; }
  int code = file->wal_index == NULL ? learn_place(file) : SQLITE_OK;
  if (code == SQLITE_OK) { code = methods->xShmMap(file->real, region + file->index_region, size, extend, memory); }
  if (code != SQLITE_OK || region != 0) { return code; }
  file->wal_index = *memory;
  if (file->index_region == 0 || *memory == NULL) { return SQLITE_OK; }
  void volatile *first = NULL;
  code = methods->xShmMap(file->real, 0, size, extend, &first);
  file->index_guard = first;
  if (code == SQLITE_OK) { put_guard(file); }
  return code;
}

int wal_index_lock(sqlite3_file *sqlite, int offset, int count, int flags) {
  struct sealed_file *file = self(sqlite);
  // The first of these locks is the one for writing, see https://sqlite.org/walformat.html#locks
  bool is_write = offset == 0;
  if (is_write && (flags & SQLITE_SHM_UNLOCK) != 0 && file->log != NULL) { wal_end_write(file->log); }
  if ((flags & SQLITE_SHM_UNLOCK) != 0) { file_drop_nonces(file); }
  int code = file->real->pMethods->xShmLock(file->real, offset, count, flags);
  // A plain SQLite that came first may have written its own header there. It does so only under this lock.
  if (is_write && code == SQLITE_OK && (flags & SQLITE_SHM_LOCK) != 0) { put_guard(file); }
  return code;
}

void wal_index_barrier(sqlite3_file *sqlite) { real(sqlite)->pMethods->xShmBarrier(real(sqlite)); }

int wal_index_unmap(sqlite3_file *sqlite, int delete_flag) {
  struct sealed_file *file = self(sqlite);
  file->wal_index = NULL;
  file->index_guard = NULL;
  // The index recorded which of its frames are committed.
  if (file->log != NULL) { wal_forget_recovered(file->log); }
  return file->real->pMethods->xShmUnmap(file->real, delete_flag);
}
