// Temporary files: spilled sorts, transient tables, statement journals. No other handle reads them, so they need no
// reserved bytes: the file is cut into blocks of 4096 bytes, each followed by its trailer on disk. One block is held in
// memory, and written when another is needed.
#include "internal.h"

enum { BLOCK_BYTES = 4096, BLOCK_ON_DISK = BLOCK_BYTES + TRAILER_BYTES };

static struct sealed_file *self(sqlite3_file *file) { return (struct sealed_file *)(void *)file; }

static int64_t disk_offset(uint64_t block) { return (int64_t)(block - 1) * BLOCK_ON_DISK; }

static bool was_written(const struct temporary_state *state, uint64_t block) {
  return block <= state->written_bits && (state->written[(block - 1) / 8] >> ((block - 1) % 8) & 1) != 0;
}

// Records which blocks are on disk: others read as zeros, and zeros on disk are not taken for a block.
static int note_written(struct temporary_state *state, uint64_t block) {
  if (block > state->written_bits) {
    uint64_t bits = (block + 1023) / 1024 * 1024 * 2;
    uint8_t *grown = sqlite3_realloc64(state->written, bits / 8);
    if (grown == NULL) { return SQLITE_NOMEM; }
    memset(grown + state->written_bits / 8, 0, (bits - state->written_bits) / 8);
    state->written = grown;
    state->written_bits = bits;
  }
  state->written[(block - 1) / 8] |= (uint8_t)(1 << ((block - 1) % 8));
  return SQLITE_OK;
}

// Writes the held block if it was changed, which wipes its plaintext. A failed write is made up for by the next: SQLite
// may get the error on reading another block, which says nothing about this one.
static int put_block(struct sealed_file *file) {
  struct temporary_state *state = &file->state.temporary;
  if (!state->dirty) { return SQLITE_OK; }
  int code = note_written(state, state->block);
  if (code != SQLITE_OK) { return code; }
  struct seal_place place = {.sort = SORT_TEMPORARY, .number = state->block};
  int64_t offset = disk_offset(state->block);
  seal_close(file->keys, NULL, place, file->buffer, BLOCK_BYTES, file->buffer + BLOCK_BYTES);
  code = file->real->pMethods->xWrite(file->real, file->buffer, BLOCK_ON_DISK, offset);
  if (code != SQLITE_OK) {
    seal_open(file->keys, place, file->buffer, BLOCK_BYTES, file->buffer + BLOCK_BYTES);
    return code;
  }
  state->dirty = false;
  state->block = 0;
  return SQLITE_OK;
}

// Makes `block` the held one. `is_replaced`: the whole block is about to be written.
static int get_block(struct sealed_file *file, uint64_t block, bool is_replaced) {
  struct temporary_state *state = &file->state.temporary;
  if (state->block == block) { return SQLITE_OK; }
  int code = put_block(file);
  if (code == SQLITE_OK) { code = file_reserve(file, BLOCK_ON_DISK); }
  if (code != SQLITE_OK) { return code; }
  state->block = 0;
  if (is_replaced || !was_written(state, block)) {
    memset(file->buffer, 0, BLOCK_ON_DISK);
    state->block = block;
    return SQLITE_OK;
  }
  code = file->real->pMethods->xRead(file->real, file->buffer, BLOCK_ON_DISK, disk_offset(block));
  struct seal_place place = {.sort = SORT_TEMPORARY, .number = block};
  sealed_vfs_kind kind = SEALED_VFS_NOTHING;
  if (code == SQLITE_IOERR_SHORT_READ) {
    kind = SEALED_VFS_TRUNCATED;
  } else if (code != SQLITE_OK) {
    return code;
  } else if (!seal_open(file->keys, place, file->buffer, BLOCK_BYTES, file->buffer + BLOCK_BYTES)) {
    kind = SEALED_VFS_DAMAGED;
  }
  if (kind != SEALED_VFS_NOTHING) {
    report(file, kind, block, 0, disk_offset(block));
    return code_for(kind);
  }
  state->block = block;
  return SQLITE_OK;
}

// The piece of [offset, offset + amount) that lies in one block.
struct piece {
  uint64_t block;
  size_t start, length;
};

static struct piece first_piece(int64_t offset, size_t amount) {
  struct piece piece = {.block = (uint64_t)offset / BLOCK_BYTES + 1, .start = (size_t)(offset % BLOCK_BYTES)};
  piece.length = amount < BLOCK_BYTES - piece.start ? amount : BLOCK_BYTES - piece.start;
  return piece;
}

static int temporary_read(sqlite3_file *sqlite, void *bytes, int amount, sqlite3_int64 offset) {
  struct sealed_file *file = self(sqlite);
  uint8_t *result = bytes;
  size_t left = (size_t)amount;
  int64_t size = file->state.temporary.size;
  memset(result, 0, left);
  size_t readable = offset >= size ? 0 : size - offset < amount ? (size_t)(size - offset) : left;
  int code = readable < left ? SQLITE_IOERR_SHORT_READ : SQLITE_OK;
  while (readable > 0) {
    struct piece piece = first_piece(offset, readable);
    int failed = get_block(file, piece.block, false);
    if (failed != SQLITE_OK) { return failed; }
    memcpy(result, file->buffer + piece.start, piece.length);
    result += piece.length;
    offset += (int64_t)piece.length;
    readable -= piece.length;
  }
  return code;
}

static int temporary_write(sqlite3_file *sqlite, const void *bytes, int amount, sqlite3_int64 offset) {
  struct sealed_file *file = self(sqlite);
  struct temporary_state *state = &file->state.temporary;
  const uint8_t *source = bytes;
  size_t left = (size_t)amount;
  while (left > 0) {
    struct piece piece = first_piece(offset, left);
    int code = get_block(file, piece.block, piece.length == BLOCK_BYTES);
    if (code != SQLITE_OK) { return code; }
    memcpy(file->buffer + piece.start, source, piece.length);
    state->dirty = true;
    source += piece.length;
    offset += (int64_t)piece.length;
    left -= piece.length;
    if (offset > state->size) { state->size = offset; }
  }
  return SQLITE_OK;
}

static int temporary_truncate(sqlite3_file *sqlite, sqlite3_int64 size) {
  struct sealed_file *file = self(sqlite);
  struct temporary_state *state = &file->state.temporary;
  if (size < state->size) {
    // The cut-off part must read as zeros if the file grows again.
    struct piece piece = first_piece(size, BLOCK_BYTES);
    uint64_t first_gone = piece.start == 0 ? piece.block : piece.block + 1;
    if (piece.start > 0) {
      int code = get_block(file, piece.block, false);
      if (code != SQLITE_OK) { return code; }
      memset(file->buffer + piece.start, 0, BLOCK_BYTES - piece.start);
      state->dirty = true;
    }
    for (uint64_t block = first_gone; block <= state->written_bits; block++) {
      state->written[(block - 1) / 8] &= (uint8_t)~(1 << ((block - 1) % 8));
    }
    if (state->block >= first_gone) {
      state->block = 0;
      state->dirty = false;
    }
    int code = forward_truncate(sqlite, disk_offset(first_gone));
    if (code != SQLITE_OK) { return code; }
  }
  state->size = size;
  return SQLITE_OK;
}

static int temporary_sync(sqlite3_file *sqlite, int flags) {
  int code = put_block(self(sqlite));
  return code == SQLITE_OK ? forward_sync(sqlite, flags) : code;
}

static int temporary_file_size(sqlite3_file *sqlite, sqlite3_int64 *size) {
  *size = self(sqlite)->state.temporary.size;
  return SQLITE_OK;
}

static int temporary_file_control(sqlite3_file *sqlite, int operation, void *argument) {
  if (operation == SQLITE_FCNTL_SIZE_HINT || operation == SQLITE_FCNTL_CHUNK_SIZE) { return SQLITE_OK; }
  if (operation == SQLITE_FCNTL_MMAP_SIZE) {
    *(sqlite3_int64 *)argument = 0;
    return SQLITE_OK;
  }
  return forward_file_control(sqlite, operation, argument);
}

const sqlite3_io_methods temporary_methods = {
    .iVersion = 1,
    .xClose = forward_close,
    .xRead = temporary_read,
    .xWrite = temporary_write,
    .xTruncate = temporary_truncate,
    .xSync = temporary_sync,
    .xFileSize = temporary_file_size,
    .xLock = forward_lock,
    .xUnlock = forward_unlock,
    .xCheckReservedLock = forward_check_reserved_lock,
    .xFileControl = temporary_file_control,
    .xSectorSize = forward_sector_size,
    .xDeviceCharacteristics = forward_device_characteristics,
};
