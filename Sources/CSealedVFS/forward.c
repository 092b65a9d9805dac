// Operations that need no sealing, passed to the base VFS's file.
#include <sodium.h>

#include "internal.h"

static struct sealed_file *self(sqlite3_file *file) { return (struct sealed_file *)(void *)file; }
static sqlite3_file *real(sqlite3_file *file) { return self(file)->real; }

// Pages may have been decrypted in the buffers.
void file_wipe(struct sealed_file *file) {
  if (file->buffer != NULL) { sodium_memzero(file->buffer, file->buffer_bytes); }
  if (file->spare != NULL) { sodium_memzero(file->spare, file->buffer_bytes); }
}

void file_drop_nonces(struct sealed_file *main) { main->drawn.left = 0; }

static void free_buffers(struct sealed_file *file) {
  file_wipe(file);
  sqlite3_free(file->buffer);
}

int file_reserve(struct sealed_file *file, size_t bytes) {
  if (bytes <= file->buffer_bytes) { return SQLITE_OK; }
  size_t buffers = file->sort == SEALED_VFS_FILE_WAL ? 2 : 1;
  uint8_t *buffer = sqlite3_malloc64(buffers * bytes);
  if (buffer == NULL) { return SQLITE_NOMEM; }
  if (file->buffer != NULL) { memcpy(buffer, file->buffer, file->buffer_bytes); }
  free_buffers(file);
  file->buffer = buffer;
  file->spare = buffers == 2 ? buffer + bytes : NULL;
  file->buffer_bytes = bytes;
  if (buffers == 2) { file->state.wal.held = 0; }
  return SQLITE_OK;
}

int forward_close(sqlite3_file *file) {
  struct sealed_file *mine = self(file);
  if (mine->sort == SEALED_VFS_FILE_MAIN) { main_unlist(mine); }
  if (mine->sort == SEALED_VFS_FILE_WAL) {
    mine->main->log = NULL;
    wal_free(mine);
  }
  if (mine->sort == SEALED_VFS_FILE_JOURNAL) { mine->main->journal = NULL; }
  int code = mine->real->pMethods->xClose(mine->real);
  free_buffers(mine);
  if (mine->sort == SEALED_VFS_FILE_TEMPORARY) { sqlite3_free(mine->state.temporary.written); }
  keys_wipe(mine->keys);
  if (mine->entry != NULL) { keys_release(mine->entry, mine->is_settled); }
  return code;
}

int forward_truncate(sqlite3_file *file, sqlite3_int64 size) {
  return real(file)->pMethods->xTruncate(real(file), size);
}

int forward_sync(sqlite3_file *file, int flags) {
  if (self(file)->main != NULL) { file_drop_nonces(self(file)->main); }
  return real(file)->pMethods->xSync(real(file), flags);
}

int forward_file_size(sqlite3_file *file, sqlite3_int64 *size) {
  return real(file)->pMethods->xFileSize(real(file), size);
}

int forward_lock(sqlite3_file *file, int level) {
  int code = real(file)->pMethods->xLock(real(file), level);
  if (code == SQLITE_OK) { self(file)->lock = level; }
  return code;
}

int forward_unlock(sqlite3_file *file, int level) {
  self(file)->lock = level;
  file_drop_nonces(self(file));
  return real(file)->pMethods->xUnlock(real(file), level);
}

int forward_check_reserved_lock(sqlite3_file *file, int *result) {
  return real(file)->pMethods->xCheckReservedLock(real(file), result);
}

int forward_file_control(sqlite3_file *file, int operation, void *argument) {
  return real(file)->pMethods->xFileControl(real(file), operation, argument);
}

int forward_sector_size(sqlite3_file *file) { return real(file)->pMethods->xSectorSize(real(file)); }

int forward_device_characteristics(sqlite3_file *file) {
  // Without safe appends SQLite starts a new journal header at each sync, so nothing synced is ever rewritten together
  // with what follows it. With atomic writes it would omit the journal on the word of a device that does not know about
  // seals.
  const int refused = SQLITE_IOCAP_SAFE_APPEND | SQLITE_IOCAP_BATCH_ATOMIC | SQLITE_IOCAP_ATOMIC |
                      SQLITE_IOCAP_ATOMIC512 | SQLITE_IOCAP_ATOMIC1K | SQLITE_IOCAP_ATOMIC2K | SQLITE_IOCAP_ATOMIC4K |
                      SQLITE_IOCAP_ATOMIC8K | SQLITE_IOCAP_ATOMIC16K | SQLITE_IOCAP_ATOMIC32K | SQLITE_IOCAP_ATOMIC64K;
  return real(file)->pMethods->xDeviceCharacteristics(real(file)) & ~refused;
}
