// The main file: page n is sealed in its place. Its last 64 bytes, which SQLite leaves alone, hold the trailer; page
// 1's first 24 bytes stay plain, and are covered by page 1's tag. In a file sealed with AEGIS-256 they are followed by
// the salt, for which no trailer has room: it takes the room of bytes 72..87, reserved by SQLite's format ("must be
// zero"), and the bytes before those lie 16 bytes further on disk.
#include <sodium.h>

#include "main_file.h"

static struct sealed_file *self(sqlite3_file *file) { return (struct sealed_file *)(void *)file; }

enum { EMPTY_START = 72 };

static int real_read(struct sealed_file *file, void *bytes, int amount, int64_t offset) {
  return file->real->pMethods->xRead(file->real, bytes, amount, offset);
}

int main_finding(struct sealed_file *file, sealed_vfs_kind kind, uint64_t page, int64_t offset) {
  report(file, kind, page, 0, offset);
  // Damage to page 1 is damage to the file: it is not a database that we can open.
  if (page == 1 && kind == SEALED_VFS_DAMAGED) { return SQLITE_NOTADB; }
  return code_for(kind);
}

int main_learn_page_size(struct sealed_file *file) {
  uint8_t header[CLEAR_BYTES];
  file->page_size = 0;
  int code = real_read(file, header, sizeof header, 0);
  if (code == SQLITE_IOERR_SHORT_READ) {
    sqlite3_int64 size = 0;
    code = forward_file_size(&file->sqlite, &size);
    if (code != SQLITE_OK || size == 0) { return code; }
    return main_finding(file, SEALED_VFS_NOT_A_DATABASE, 1, 0);
  }
  if (code != SQLITE_OK) { return code; }
  sealed_vfs_kind kind = header_kind(header);
  if (kind != SEALED_VFS_NOTHING) { return main_finding(file, kind, 1, 0); }
  file->page_size = header_page_size(header);
  return SQLITE_OK;
}

int main_lock(const struct sealed_file *file) { return file->lock > file->granted ? file->lock : file->granted; }

// A database larger than the cache is read while it is being created. Its first page, which identifies it, is written
// last: until then it is what this connection makes of it.
static bool is_being_made(const struct sealed_file *file) {
  return file->is_creating && file->identity == IDENTITY_PROVISIONAL && main_lock(file) >= SQLITE_LOCK_RESERVED;
}

// The finding for a part that does not belong to this file.
static sealed_vfs_kind foreign_or_damaged(const struct part_label *label) {
  return seal_mark_kind(label->bytes) == SEALED_VFS_NOTHING ? SEALED_VFS_FOREIGN : SEALED_VFS_DAMAGED;
}

// Makes the file's keys match this label, if the identity may still change.
static sealed_vfs_kind adopt(struct sealed_file *file, const struct part_label *label) {
  if (file->identity != IDENTITY_NONE && seal_is_of_file(file->keys, label)) { return SEALED_VFS_NOTHING; }
  if (file->identity == IDENTITY_FIRM) { return foreign_or_damaged(label); }
  sealed_vfs_kind kind = seal_mark_kind(label->bytes);
  if (kind != SEALED_VFS_NOTHING) { return kind; }
  if (!label->has_salt) { return SEALED_VFS_FOREIGN; }
  file->identity = IDENTITY_NONE;
  kind = keys_for_file(file->entry, label->bytes, file->keys);
  if (kind == SEALED_VFS_NOTHING) { file->identity = IDENTITY_PROVISIONAL; }
  return kind;
}

// The database has certainly been created under this identity, so its key material is no longer needed. Call when page
// 1 has authenticated as committed. Until then its creation may be rolled back, and a new one would have another
// identity.
static void settle(struct sealed_file *file) {
  file->identity = IDENTITY_FIRM;
  if (file->is_settled) { return; }
  file->is_settled = true;
  keys_settle(file->entry);
}

void main_confirm_identity(struct sealed_file *file) {
  if (file->identity == IDENTITY_PROVISIONAL && main_lock(file) >= SQLITE_LOCK_SHARED) { settle(file); }
}

// Number of unencrypted bytes at the start of a page on disk.
static size_t clear_bytes(const struct sealed_file *file, uint64_t number) {
  return number == 1 ? CLEAR_BYTES + seal_salt_beside(file->keys->label) : 0;
}

static struct seal_place page_place(uint64_t number, const uint8_t *page) {
  return (struct seal_place){.sort = SORT_PAGE, .number = number, .clear = number == 1 ? page : NULL};
}

// Decrypts a page read into `page`, in place. `number` counts from 1.
static sealed_vfs_kind open_page(struct sealed_file *file, uint64_t number, uint8_t *page) {
  uint8_t *trailer = page + file->page_size - TRAILER_BYTES;
  struct part_label label = seal_part_label(trailer, number == 1 ? page + CLEAR_BYTES : NULL);
  // A page of another database is not part of this one.
  if (is_being_made(file) && !seal_is_of_file(file->keys, &label)) { return foreign_or_damaged(&label); }
  sealed_vfs_kind kind = adopt(file, &label);
  if (kind != SEALED_VFS_NOTHING) { return kind; }
  size_t clear = clear_bytes(file, number);
  if (!seal_open(file->keys, page_place(number, page), page + clear, file->page_size - TRAILER_BYTES - clear,
                 trailer)) {
    return SEALED_VFS_DAMAGED;
  }
  if (clear > CLEAR_BYTES) {
    memmove(page + CLEAR_BYTES, page + clear, EMPTY_START - CLEAR_BYTES);
    memset(page + EMPTY_START, 0, SALT_BYTES);
  }
  // SQLite sees zeros there, and must write zeros: this reveals any other use of the room.
  memset(trailer, 0, TRAILER_BYTES);
  return SEALED_VFS_NOTHING;
}

static int read_page(struct sealed_file *file, uint64_t number, uint8_t *page) {
  int64_t offset = (int64_t)(number - 1) * file->page_size;
  int code = real_read(file, page, (int)file->page_size, offset);
  if (code == SQLITE_IOERR_SHORT_READ) { return main_read_behind_end(file, number, page); }
  if (code != SQLITE_OK) { return code; }
  sealed_vfs_kind kind = open_page(file, number, page);
  if (kind != SEALED_VFS_NOTHING) {
    memset(page, 0, file->page_size);
    return main_finding(file, kind, number, offset);
  }
  if (number == 1 && main_lock(file) >= SQLITE_LOCK_SHARED) { file->identity = IDENTITY_FIRM; }
  // With a higher lock this may be what the connection is about to commit. With this lock SQLite has already rolled
  // back what a crash left. It reads page 1, or a part of it, at the beginning of each transaction without a WAL.
  if (number == 1 && main_lock(file) == SQLITE_LOCK_SHARED) {
    code = main_check_size(file, page);
    if (code == SQLITE_OK) { settle(file); }
  }
  return code;
}

// A plain database that reserves as many bytes as a seal takes, such as one that was sealed before. Its log would be
// considered damaged and deleted. With a journal next to it, it is the first page of a creation interrupted by a crash.
static bool is_plain_with_room(struct sealed_file *file, const uint8_t *page) {
  if (!is_all_zero(page + file->page_size - TRAILER_BYTES, TRAILER_BYTES)) { return false; }
  int exists = 0;
  int code = file->base->xAccess(file->base, sqlite3_filename_journal(file->path), SQLITE_ACCESS_EXISTS, &exists);
  return code == SQLITE_OK && !exists;
}

// SQLite looks at the first 100 bytes before it takes a lock: another process may be in the middle of writing page 1,
// or a crash may have left it to be rolled back. So only what is certain is an error here: that this is not a sealed
// database, or that the key is wrong. SQLite needs only the 24 plain bytes at this point; it reads page 1 again under a
// lock.
static int read_header_unlocked(struct sealed_file *file, uint8_t *result, int amount) {
  memset(result, 0, (size_t)amount);
  int code = file_reserve(file, file->page_size);
  if (code != SQLITE_OK) { return code; }
  code = real_read(file, file->buffer, (int)file->page_size, 0);
  if (code != SQLITE_OK && code != SQLITE_IOERR_SHORT_READ) { return code; }
  memcpy(result, file->buffer, (size_t)(amount < CLEAR_BYTES ? amount : CLEAR_BYTES));
  if (code == SQLITE_IOERR_SHORT_READ) { return SQLITE_OK; }
  if (is_plain_with_room(file, file->buffer)) { return main_finding(file, SEALED_VFS_NOT_SEALED, 1, 0); }
  sealed_vfs_kind kind = open_page(file, 1, file->buffer);
  if (kind == SEALED_VFS_NOTHING) { memcpy(result, file->buffer, (size_t)amount); }
  if (kind == SEALED_VFS_NOTHING || kind == SEALED_VFS_DAMAGED || kind == SEALED_VFS_FOREIGN) { return SQLITE_OK; }
  return main_finding(file, kind, 1, 0);
}

// Reads what is not a page: the 16 bytes that show whether the file has changed, or a first page of the size that this
// connection expected before another process created the database.
static int read_parts(struct sealed_file *file, uint8_t *result, int amount, int64_t offset) {
  const uint32_t page_size = file->page_size;
  int code = file_reserve(file, page_size);
  sqlite3_int64 size = 0;
  bool is_beyond = false;
  if (code == SQLITE_OK && amount > (int)page_size) { code = forward_file_size(&file->sqlite, &size); }
  if (code == SQLITE_OK && size > offset && size < offset + amount) {
    // Nothing is missing: SQLite learns the page size from the header and reads again.
    memset(result, 0, (size_t)amount);
    amount = (int)(size - offset);
    is_beyond = true;
  }
  while (code == SQLITE_OK && amount > 0) {
    uint32_t start = (uint32_t)(offset % page_size);
    int part = amount < (int)(page_size - start) ? amount : (int)(page_size - start);
    code = read_page(file, (uint64_t)(offset / page_size) + 1, file->buffer);
    if (code == SQLITE_OK) { memcpy(result, file->buffer + start, (size_t)part); }
    if (code == SQLITE_IOERR_SHORT_READ) { memset(result, 0, (size_t)amount); }
    result += part;
    offset += part;
    amount -= part;
  }
  return code == SQLITE_OK && is_beyond ? SQLITE_IOERR_SHORT_READ : code;
}

// Determines the page size before anything is read. SQLITE_IOERR_SHORT_READ if the file is still empty.
static int prepare_read(struct sealed_file *file, bool is_first_look) {
  if (file->identity == IDENTITY_FIRM || is_being_made(file)) { return SQLITE_OK; }
  if (is_first_look) {
    // A crash left the file before its first page was written: SQLite rolls it back once it holds a lock.
    uint8_t start[CLEAR_BYTES];
    int code = real_read(file, start, sizeof start, 0);
    if (code == SQLITE_OK && is_all_zero(start, sizeof start)) { return SQLITE_IOERR_SHORT_READ; }
  }
  int code = main_learn_page_size(file);
  return code == SQLITE_OK && file->page_size == 0 ? SQLITE_IOERR_SHORT_READ : code;
}

static int main_read(sqlite3_file *sqlite, void *bytes, int amount, sqlite3_int64 offset) {
  struct sealed_file *file = self(sqlite);
  uint8_t *result = bytes;
  bool is_first_look = offset == 0 && amount <= 100 && file->lock == SQLITE_LOCK_NONE;
  int code = prepare_read(file, is_first_look);
  if (code != SQLITE_OK) {
    memset(result, 0, (size_t)amount);
    return code;
  }
  if (is_first_look) { return read_header_unlocked(file, result, amount); }
  if (amount == (int)file->page_size && offset % amount == 0) {
    return read_page(file, (uint64_t)(offset / amount) + 1, result);
  }
  return read_parts(file, result, amount, offset);
}

int main_identity_for_writing(struct sealed_file *file) {
  if (file->identity != IDENTITY_NONE) { return SQLITE_OK; }
  sqlite3_int64 size = 0;
  int code = forward_file_size(&file->sqlite, &size);
  if (code != SQLITE_OK) { return code; }
  if (size > 0) {
    code = main_learn_page_size(file);
    if (code == SQLITE_OK) { code = file_reserve(file, file->page_size); }
    return code == SQLITE_OK ? read_page(file, 1, file->buffer) : code;
  }
  sealed_vfs_kind kind = keys_for_file(file->entry, NULL, file->keys);
  if (kind != SEALED_VFS_NOTHING) { return main_finding(file, kind, 1, 0); }
  file->identity = IDENTITY_PROVISIONAL;
  return SQLITE_OK;
}

// Whether page 1 is there and authenticates. If not, a known identity stays, whatever page 1 says now: parts without a
// salt are read with it.
static bool page_1_authenticates(struct sealed_file *file) {
  if (file->page_size == 0 || file_reserve(file, file->page_size) != SQLITE_OK ||
      real_read(file, file->buffer, (int)file->page_size, 0) != SQLITE_OK ||
      header_kind(file->buffer) != SEALED_VFS_NOTHING || header_page_size(file->buffer) != file->page_size) {
    return false;
  }
  enum identity identity = file->identity;
  struct file_keys keys = *file->keys;
  bool authenticates = open_page(file, 1, file->buffer) == SEALED_VFS_NOTHING;
  if (!authenticates && identity != IDENTITY_NONE) {
    *file->keys = keys;
    file->identity = identity;
  }
  sodium_memzero(&keys, sizeof keys);
  return authenticates;
}

sealed_vfs_kind main_identity_for_part(struct sealed_file *file, const struct part_label *label, bool is_committed) {
  // Page 1 is checked first, so that a log or journal left over from another database is not taken for this one's.
  if (file->identity != IDENTITY_FIRM && page_1_authenticates(file)) {
    if (!seal_is_of_file(file->keys, label) && seal_mark_kind(label->bytes) == SEALED_VFS_NOTHING) {
      return SEALED_VFS_FOREIGN;
    }
    if (is_committed) { settle(file); }
  }
  return adopt(file, label);
}

int main_write_sealed(struct sealed_file *file, uint64_t number, const uint8_t *page) {
  uint32_t page_size = file->page_size;
  int code = file_reserve(file, page_size);
  if (code != SQLITE_OK) { return code; }
  uint8_t *disk = file->buffer;
  memcpy(disk, page, page_size - TRAILER_BYTES);
  size_t clear = clear_bytes(file, number);
  if (clear > CLEAR_BYTES) {
    memcpy(disk + CLEAR_BYTES, seal_label_salt(file->keys->label), SALT_BYTES);
    memcpy(disk + clear, page + CLEAR_BYTES, EMPTY_START - CLEAR_BYTES);
  }
  seal_close(file->keys, &file->drawn, page_place(number, page), disk + clear, page_size - TRAILER_BYTES - clear,
             disk + page_size - TRAILER_BYTES);
  return file->real->pMethods->xWrite(file->real, file->buffer, (int)page_size, (int64_t)(number - 1) * page_size);
}

// A new image with another page size: VACUUM and the backup API write it over the old one in pieces of the old size,
// which are not pages of the new one. It is refused, and SQLite rolls back. VACUUM INTO can create a file with another
// size.
static bool fits_format(struct sealed_file *file, const uint8_t *page, int amount, int64_t offset) {
  if (amount != (int)file->page_size || offset % amount != 0) { return false; }
  if (!is_all_zero(page + amount - TRAILER_BYTES, TRAILER_BYTES)) { return false; }
  if (offset != 0) { return true; }
  size_t salt_bytes = seal_salt_beside(file->keys->label);
  return page[HEADER_RESERVED] == TRAILER_BYTES && header_page_size(page) == file->page_size &&
         is_all_zero(page + EMPTY_START, salt_bytes);
}

static int main_write(sqlite3_file *sqlite, const void *bytes, int amount, sqlite3_int64 offset) {
  struct sealed_file *file = self(sqlite);
  const uint8_t *page = bytes;
  int code = main_identity_for_writing(file);
  if (code != SQLITE_OK) { return code; }
  // Until the first page exists, or while a crashed creation is rolled back, the size is whatever SQLite writes.
  if (file->identity != IDENTITY_FIRM && is_page_size(amount)) {
    file->page_size = (uint32_t)amount;
    file->is_creating = true;
  }
  if (!fits_format(file, page, amount, offset)) {
    return main_finding(file, SEALED_VFS_UNSUITABLE, (uint64_t)(offset / (amount > 0 ? amount : 1)) + 1, offset);
  }
  uint64_t number = (uint64_t)(offset / amount) + 1;
  code = main_fill_gap(file, offset, offset + amount);
  if (code == SQLITE_OK) { code = main_write_sealed(file, number, page); }
  if (code == SQLITE_OK && number == 1) { file->identity = IDENTITY_FIRM; }
  return code;
}

static int main_truncate(sqlite3_file *sqlite, sqlite3_int64 size) {
  struct sealed_file *file = self(sqlite);
  if (size > 0 && file->identity != IDENTITY_NONE && file->page_size != 0) {
    int code = main_fill_gap(file, size, size);
    if (code != SQLITE_OK) { return code; }
  }
  int code = forward_truncate(sqlite, size);
  // A creation that was rolled back: the next one, in any process, has its own identity.
  bool is_unmade = code == SQLITE_OK && size == 0 && file->identity == IDENTITY_FIRM && !file->is_settled;
  if (is_unmade) { file->identity = IDENTITY_PROVISIONAL; }
  if (code == SQLITE_OK && size == 0) { file->is_creating = false; }
  return code;
}

static int main_file_control(sqlite3_file *sqlite, int operation, void *argument) {
  switch (operation) {
  case SQLITE_FCNTL_CHUNK_SIZE:
  case SQLITE_FCNTL_SIZE_HINT:
    // Both make the file longer than its pages, with zeros that are not sealed.
    return SQLITE_OK;
  case SQLITE_FCNTL_MMAP_SIZE:
    // Pages cannot be read from the file directly.
    *(sqlite3_int64 *)argument = 0;
    return SQLITE_OK;
  case SQLITE_FCNTL_VFSNAME: {
    int code = forward_file_control(sqlite, operation, argument);
    if (code == SQLITE_OK) { *(char **)argument = sqlite3_mprintf("sealed/%z", *(char **)argument); }
    return code;
  }
  case CONTROL_IS_SEALED: *(bool *)argument = true; return SQLITE_OK;
  case CONTROL_WIPE:
    file_wipe(self(sqlite));
    if (self(sqlite)->log != NULL) { wal_wipe(self(sqlite)->log); }
    return SQLITE_OK;
  default: break;
  }
  return forward_file_control(sqlite, operation, argument);
}

const sqlite3_io_methods main_methods = {
    .iVersion = 2, // no xFetch: nothing to map
    .xClose = forward_close,
    .xRead = main_read,
    .xWrite = main_write,
    .xTruncate = main_truncate,
    .xSync = forward_sync,
    .xFileSize = forward_file_size,
    .xLock = forward_lock,
    .xUnlock = forward_unlock,
    .xCheckReservedLock = forward_check_reserved_lock,
    .xFileControl = main_file_control,
    .xSectorSize = forward_sector_size,
    .xDeviceCharacteristics = forward_device_characteristics,
    .xShmMap = wal_index_map,
    .xShmLock = wal_index_lock,
    .xShmBarrier = wal_index_barrier,
    .xShmUnmap = wal_index_unmap,
};
