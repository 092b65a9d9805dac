// The rollback journal. SQLite's layout is kept byte for byte in its places, so that sizes and offsets mean what they
// did:
//
//   header   at the start of a sector: the 28 bytes that count are sealed, and the trailer follows in the sector's
//   empty rest record   number, page and checksum (over plaintext) are sealed as one; on disk number, content,
//   checksum, then the trailer, which
//            takes the room of the page's reserved bytes
//   the name of a super-journal at the end stays plain: it is no content, and other connections look for it. SQLite
//   deletes that file when it has rolled back; so only what is named as it names them passes for one (`read_plain`)
//
// A header is written within one sector, so it is there or it is not. Records are durable before a header counts them
// (`put_count`), so that of counted records none can be torn: if one does not authenticate, the database is refused
// instead of being half rolled back.
#include "internal.h"

enum {
  HEADER_BYTES = 28,
  HEADER_ON_DISK = HEADER_BYTES + TRAILER_BYTES,
  HEADER_COUNT = 8,
  HEADER_PAGES = 16,
  HEADER_SECTOR = 20,
  HEADER_PAGE = 24,
  COUNT_BYTES = 12, // magic and number of records: what SQLite writes over a header when the records are complete
  SECTOR = 512,     // headers begin at multiples of this, whatever the device's sector is
  NUMBER_BYTES = 4,
  CHECKSUM_BYTES = 4,
};

static struct sealed_file *self(sqlite3_file *file) { return (struct sealed_file *)(void *)file; }

static int real_read(struct sealed_file *file, void *bytes, size_t amount, int64_t offset) {
  return file->real->pMethods->xRead(file->real, bytes, (int)amount, offset);
}

static int real_write(struct sealed_file *file, const void *bytes, size_t amount, int64_t offset) {
  file->state.journal.unsynced = true;
  return file->real->pMethods->xWrite(file->real, bytes, (int)amount, offset);
}

static int finding(struct sealed_file *file, sealed_vfs_kind kind, uint64_t page, int64_t offset) {
  report(file, kind, page, 0, offset);
  return code_for(kind);
}

// Of a database that is just being created the journal's header knows the page size before the main file does.
static uint32_t page_bytes(const struct sealed_file *file) {
  const struct journal_state *journal = &file->state.journal;
  return journal->header_offset >= 0 ? get_u32(journal->header + HEADER_PAGE) : file->main->page_size;
}

// The page that SQLite puts no records for, as it holds the lock bytes: as a record's number it announces a
// super-journal's name.
static bool is_super_number(const struct sealed_file *file, const uint8_t *number) {
  uint32_t page = page_bytes(file);
  return page != 0 && get_u32(number) == 0x40000000 / page + 1;
}

static size_t record_bytes(const struct sealed_file *file) { return NUMBER_BYTES + page_bytes(file) + CHECKSUM_BYTES; }

bool journal_needs_page(const struct sealed_file *file, uint64_t number) {
  const struct journal_state *journal = &file->state.journal;
  return journal->header_offset >= 0 && number <= get_u32(journal->header + HEADER_PAGES);
}

// ---- Headers ----

static int put_header(struct sealed_file *file, int64_t offset) {
  struct journal_state *journal = &file->state.journal;
  uint8_t sealed[HEADER_ON_DISK];
  memcpy(sealed, journal->header, HEADER_BYTES);
  struct seal_place place = {.sort = SORT_JOURNAL_HEADER, .number = (uint64_t)offset};
  seal_close(file->main->keys, place, sealed, HEADER_BYTES, sealed + HEADER_BYTES);
  return real_write(file, sealed, sizeof sealed, offset);
}

// What was found where a header may be.
enum found { FOUND_HEADER, FOUND_NOTHING, FOUND_OTHER };

// Loads the header at `offset` into the state, which stays as it is if there is none.
static int load_header(struct sealed_file *file, int64_t offset, enum found *found, sealed_vfs_kind *kind) {
  struct journal_state *journal = &file->state.journal;
  uint8_t sealed[HEADER_ON_DISK];
  *found = FOUND_NOTHING;
  *kind = SEALED_VFS_NOTHING;
  int code = real_read(file, sealed, sizeof sealed, offset);
  if (code != SQLITE_OK || is_all_zero(sealed, sizeof sealed)) { return code; }
  *found = FOUND_OTHER;
  *kind = main_identity_for_part(file->main, sealed + HEADER_BYTES, false);
  if (*kind != SEALED_VFS_NOTHING) { return SQLITE_OK; }
  struct seal_place place = {.sort = SORT_JOURNAL_HEADER, .number = (uint64_t)offset};
  if (!seal_open(file->main->keys, place, sealed, HEADER_BYTES, sealed + HEADER_BYTES)) {
    *kind = SEALED_VFS_DAMAGED;
    return SQLITE_OK;
  }
  *found = FOUND_HEADER;
  memcpy(journal->header, sealed, HEADER_BYTES);
  journal->header_offset = offset;
  return SQLITE_OK;
}

// A read of the first bytes at a place where a header may be: is the journal hot, is there another segment?
static int read_header_start(struct sealed_file *file, uint8_t *result, size_t amount, int64_t offset) {
  enum found found;
  sealed_vfs_kind kind;
  memset(result, 0, amount);
  int code = load_header(file, offset, &found, &kind);
  if (code == SQLITE_IOERR_SHORT_READ) {
    return real_read(file, result, amount, offset);
  } // the end of a super-journal's name
  if (code != SQLITE_OK) { return code; }
  if (found == FOUND_HEADER) { memcpy(result, file->state.journal.header, amount); }
  if (found != FOUND_OTHER) { return SQLITE_OK; }
  // The journal's first header cannot be torn. Without it nothing would be rolled back, whatever the state of the
  // database.
  if (offset == 0) { return finding(file, kind, 0, 0); }
  // Later ones: records of an older, longer journal (journal_mode=PERSIST) may be in their place, or a super-journal's
  // name.
  uint8_t start[NUMBER_BYTES];
  bool is_own = file->state.journal.last_header >= 0;
  code = real_read(file, start, sizeof start, offset);
  if (code == SQLITE_OK && !is_own && !is_super_number(file, start)) { finding(file, SEALED_VFS_CUT, 0, offset); }
  return code;
}

static int write_zeros(struct sealed_file *file, size_t amount, int64_t offset) {
  int code = file_reserve(file, amount);
  if (code != SQLITE_OK) { return code; }
  memset(file->buffer, 0, amount);
  return real_write(file, file->buffer, amount, offset);
}

static int write_header(struct sealed_file *file, const uint8_t *bytes, size_t amount, int64_t offset) {
  struct journal_state *journal = &file->state.journal;
  // Where pages are smaller than sectors SQLite repeats the header through the sector. Only the first counts.
  uint32_t sector = get_u32(bytes + HEADER_SECTOR);
  if (sector > 0 && offset % sector != 0) { return write_zeros(file, amount, offset); }
  int code = main_identity_for_writing(file->main);
  if (code != SQLITE_OK) { return code; }
  memcpy(journal->header, bytes, HEADER_BYTES);
  journal->header_offset = journal->last_header = offset;
  journal->record_offset = journal->super_offset = -1;
  // The rest of the sector is empty; it is written so that the file gets its length.
  code = write_zeros(file, amount - HEADER_ON_DISK, offset + HEADER_ON_DISK);
  return code == SQLITE_OK ? put_header(file, offset) : code;
}

// The number of records, when they are complete. With synchronous=NORMAL SQLite would sync records and header at once,
// and a loss of power could leave a header that counts records that are not there.
static int put_count(struct sealed_file *file, const uint8_t *bytes, int64_t offset) {
  struct journal_state *journal = &file->state.journal;
  if (journal->unsynced) {
    int code = file->real->pMethods->xSync(file->real, SQLITE_SYNC_NORMAL);
    if (code != SQLITE_OK) { return code; }
    journal->unsynced = false;
  }
  if (journal->header_offset != offset) {
    enum found found;
    sealed_vfs_kind kind;
    int code = load_header(file, offset, &found, &kind);
    if (code == SQLITE_OK && found != FOUND_HEADER) { code = finding(file, SEALED_VFS_DAMAGED, 0, offset); }
    if (code != SQLITE_OK) { return code; }
  }
  memcpy(journal->header, bytes, COUNT_BYTES);
  return put_header(file, offset);
}

// Takes a header away: at the end of a transaction (journal_mode=PERSIST), or one that an older journal left behind
// this one.
static int erase_header(struct sealed_file *file, int64_t offset) {
  struct journal_state *journal = &file->state.journal;
  const uint8_t zeros[HEADER_ON_DISK] = {0};
  journal->header_offset = journal->record_offset = -1;
  return real_write(file, zeros, sizeof zeros, offset);
}

// ---- Records ----

// On disk the checksum comes before the trailer, so that what is encrypted is in one piece.
static void swap_checksum(const struct sealed_file *file, uint8_t *record, bool to_disk) {
  uint8_t *in_memory = record + NUMBER_BYTES + page_bytes(file);
  uint8_t *on_disk = in_memory - TRAILER_BYTES;
  if (to_disk) {
    memcpy(on_disk, in_memory, CHECKSUM_BYTES);
  } else {
    memcpy(in_memory, on_disk, CHECKSUM_BYTES);
    memset(on_disk, 0, TRAILER_BYTES);
  }
}

static struct seal_place record_place(int64_t offset) {
  return (struct seal_place){.sort = SORT_JOURNAL_RECORD, .number = (uint64_t)offset};
}

// A record arrives in three pieces. It is sealed and written when the last is there.
static int write_record(struct sealed_file *file, const uint8_t *bytes, size_t amount, int64_t offset) {
  struct journal_state *journal = &file->state.journal;
  bool continues = journal->filled > 0 && offset == journal->record_offset + journal->filled;
  if (!continues) {
    int code = file_reserve(file, record_bytes(file));
    if (code != SQLITE_OK) { return code; }
    journal->record_offset = offset;
    journal->filled = 0;
  }
  if (journal->filled + amount > record_bytes(file)) { return SQLITE_IOERR_WRITE; }
  memcpy(file->buffer + journal->filled, bytes, amount);
  journal->filled += (uint32_t)amount;
  if (journal->filled < record_bytes(file)) { return SQLITE_OK; }

  uint8_t *record = file->buffer;
  journal->record_offset = -1;
  journal->filled = 0;
  size_t length = record_bytes(file) - TRAILER_BYTES;
  if (!is_all_zero(record + NUMBER_BYTES + page_bytes(file) - TRAILER_BYTES, TRAILER_BYTES)) {
    return finding(file, SEALED_VFS_UNSUITABLE, get_u32(record), offset);
  }
  int64_t at = offset + (int64_t)amount - (int64_t)record_bytes(file);
  swap_checksum(file, record, true);
  seal_close(file->main->keys, record_place(at), record, length, record + length);
  return real_write(file, record, record_bytes(file), at);
}

// Reads the record at `offset` into `buffer`.
static int load_record(struct sealed_file *file, int64_t offset) {
  struct journal_state *journal = &file->state.journal;
  int code = file_reserve(file, record_bytes(file));
  if (code != SQLITE_OK) { return code; }
  uint8_t *record = file->buffer;
  journal->record_offset = -1;
  journal->filled = 0;
  code = real_read(file, record, record_bytes(file), offset);
  if (code != SQLITE_OK) { return code; }
  size_t length = record_bytes(file) - TRAILER_BYTES;
  sealed_vfs_kind kind = main_identity_for_part(file->main, record + length, false);
  if (kind == SEALED_VFS_NOTHING &&
      !seal_open(file->main->keys, record_place(offset), record, length, record + length)) {
    kind = SEALED_VFS_DAMAGED;
  }
  if (kind == SEALED_VFS_NOTHING) {
    swap_checksum(file, record, false);
    journal->record_offset = offset;
    return SQLITE_OK;
  }
  // Without a count (synchronous=OFF) the last records may be torn; SQLite ends the rollback there, as with a plain
  // journal.
  bool is_counted = journal->header_offset < 0 || get_u32(journal->header + HEADER_COUNT) != 0xffffffff;
  if (is_counted || journal->last_header >= 0) { return finding(file, kind, 0, offset); }
  finding(file, SEALED_VFS_CUT, 0, offset);
  return SQLITE_IOERR_SHORT_READ;
}

// ---- Operations ----

// How SQLite ends the name of a super-journal: "-mj" and eight or nine hexadecimal digits.
static bool is_super_name(const uint8_t *name, size_t length) {
  size_t digits = 0;
  while (digits < length && memchr("0123456789ABCDEF", name[length - 1 - digits], 16) != NULL) { digits++; }
  return (digits == 8 || digits == 9) && length >= digits + 3 && memcmp(name + length - digits - 3, "-mj", 3) == 0;
}

// A read of what is not sealed: the name of a super-journal, and the numbers around it.
static int read_plain(struct sealed_file *file, uint8_t *result, size_t amount, int64_t offset) {
  enum { NUMBERS_BEHIND = 16, SHORTEST_NAME = 11 };
  sqlite3_int64 size = 0;
  int code = forward_file_size(&file->sqlite, &size);
  if (code == SQLITE_OK) { code = real_read(file, result, amount, offset); }
  if (code != SQLITE_OK || amount < SHORTEST_NAME || offset + (int64_t)amount != size - NUMBERS_BEHIND) { return code; }
  // Its sum is then wrong, so that SQLite rolls back as if there were no super-journal.
  if (!is_super_name(result, amount)) { memset(result, 0, amount); }
  return SQLITE_OK;
}

static bool is_inside(int64_t offset, size_t amount, int64_t start, size_t length) {
  return start >= 0 && offset >= start && offset + (int64_t)amount <= start + (int64_t)length;
}

static int journal_read(sqlite3_file *sqlite, void *bytes, int amount, sqlite3_int64 offset) {
  struct sealed_file *file = self(sqlite);
  struct journal_state *journal = &file->state.journal;
  size_t length = (size_t)amount;
  memset(bytes, 0, length);
  if (journal->super_offset >= 0 && offset >= journal->super_offset) { return read_plain(file, bytes, length, offset); }
  if ((amount == 1 || amount == 8) && offset % SECTOR == 0) { return read_header_start(file, bytes, length, offset); }
  if (journal->header_offset != journal->last_header && is_inside(offset, length, journal->last_header, HEADER_BYTES)) {
    enum found found;
    sealed_vfs_kind kind;
    int code = load_header(file, journal->last_header, &found, &kind);
    if (code == SQLITE_OK && found != FOUND_HEADER) {
      code = finding(file, SEALED_VFS_DAMAGED, 0, journal->last_header);
    }
    if (code != SQLITE_OK) { return code; }
  }
  if (is_inside(offset, length, journal->header_offset, HEADER_BYTES)) {
    memcpy(bytes, journal->header + (offset - journal->header_offset), length);
    return SQLITE_OK;
  }
  if (journal->filled == 0 && is_inside(offset, length, journal->record_offset, record_bytes(file))) {
    memcpy(bytes, file->buffer + (offset - journal->record_offset), length);
    return SQLITE_OK;
  }
  // What is too near the end to be a record is the name of a super-journal, or what SQLite takes for one.
  sqlite3_int64 size = 0;
  int code = forward_file_size(sqlite, &size);
  if (code != SQLITE_OK) { return code; }
  if (page_bytes(file) == 0 || offset + (int64_t)record_bytes(file) > size) {
    return read_plain(file, bytes, length, offset);
  }
  if (amount != NUMBER_BYTES) { return SQLITE_IOERR_READ; }
  code = load_record(file, offset);
  if (code == SQLITE_OK) { memcpy(bytes, file->buffer, length); }
  return code;
}

static int journal_write(sqlite3_file *sqlite, const void *bytes, int amount, sqlite3_int64 offset) {
  struct sealed_file *file = self(sqlite);
  struct journal_state *journal = &file->state.journal;
  size_t length = (size_t)amount;
  bool in_record = journal->filled > 0 && offset == journal->record_offset + journal->filled;
  if (!in_record && offset % SECTOR == 0) {
    if (amount >= SECTOR) { return write_header(file, bytes, length, offset); }
    if (amount == COUNT_BYTES) { return put_count(file, bytes, offset); }
    if ((amount == 1 || amount == HEADER_BYTES) && is_all_zero(bytes, length)) { return erase_header(file, offset); }
  }
  if (journal->super_offset >= 0 && offset >= journal->super_offset) { return real_write(file, bytes, length, offset); }
  if (!in_record && amount == NUMBER_BYTES && is_super_number(file, bytes)) {
    journal->super_offset = offset;
    return real_write(file, bytes, length, offset);
  }
  if (!in_record && amount != NUMBER_BYTES) { return SQLITE_IOERR_WRITE; }
  return write_record(file, bytes, length, offset);
}

static int journal_truncate(sqlite3_file *sqlite, sqlite3_int64 size) {
  struct journal_state *journal = &self(sqlite)->state.journal;
  if (size == 0) {
    journal->header_offset = journal->last_header = journal->super_offset = -1;
    journal->record_offset = -1;
    journal->filled = 0;
  }
  return forward_truncate(sqlite, size);
}

static int journal_sync(sqlite3_file *sqlite, int flags) {
  int code = forward_sync(sqlite, flags);
  if (code == SQLITE_OK) { self(sqlite)->state.journal.unsynced = false; }
  return code;
}

const sqlite3_io_methods journal_methods = {
    .iVersion = 1,
    .xClose = forward_close,
    .xRead = journal_read,
    .xWrite = journal_write,
    .xTruncate = journal_truncate,
    .xSync = journal_sync,
    .xFileSize = forward_file_size,
    .xLock = forward_lock,
    .xUnlock = forward_unlock,
    .xCheckReservedLock = forward_check_reserved_lock,
    .xFileControl = forward_file_control,
    .xSectorSize = forward_sector_size,
    .xDeviceCharacteristics = forward_device_characteristics,
};
