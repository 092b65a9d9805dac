// The rollback journal. SQLite's layout stays in place byte for byte, so sizes and offsets keep their meaning:
//
// - Headers: journal_header.c.
// - Each record: number, page and checksum (over plaintext) are sealed as one. On disk: number, content, checksum, then
//   the trailer, in the room of the page's reserved bytes.
// - The name of a super-journal at the end stays plain: it is not content, and other connections look for it. SQLite
//   deletes that file after rolling back, so only a name in SQLite's own form is accepted (`read_plain`).
//
// A header is written within one sector, so it is either there or not. Records are durable before a header counts them
// (`journal_put_count`), so no counted record can be torn: if one does not authenticate, the database is refused
// instead of being half rolled back.
#include "journal_file.h"

enum {
  COUNT_BYTES = 12, // what SQLite writes over a header once the records are complete
  SECTOR = 512,     // headers begin at multiples of this, whatever the device's sector is
  CHECKSUM_BYTES = 4,
};

static struct sealed_file *self(sqlite3_file *file) { return (struct sealed_file *)(void *)file; }

int journal_real_read(struct sealed_file *file, void *bytes, size_t amount, int64_t offset) {
  return file->real->pMethods->xRead(file->real, bytes, (int)amount, offset);
}

int journal_real_write(struct sealed_file *file, const void *bytes, size_t amount, int64_t offset) {
  file->state.journal.unsynced = true;
  return file->real->pMethods->xWrite(file->real, bytes, (int)amount, offset);
}

int journal_finding(struct sealed_file *file, sealed_vfs_kind kind, uint64_t page, int64_t offset) {
  report(file, kind, page, 0, offset);
  return code_for(kind);
}

// While a database is being created, the journal's header has the page size before the main file does.
static uint32_t page_bytes(const struct sealed_file *file) {
  const struct journal_state *journal = &file->state.journal;
  return journal->header_offset >= 0 ? get_u32(journal->header + JOURNAL_PAGE_SIZE) : file->main->page_size;
}

// The page with the lock bytes, for which SQLite writes no records: as a record's number it announces a super-journal's
// name.
bool journal_is_super_number(const struct sealed_file *file, const uint8_t *number) {
  uint32_t page = page_bytes(file);
  return page != 0 && get_u32(number) == lock_byte_page(page);
}

static size_t record_bytes(const struct sealed_file *file) {
  return JOURNAL_NUMBER_BYTES + page_bytes(file) + CHECKSUM_BYTES;
}

bool journal_needs_page(const struct sealed_file *file, uint64_t number) {
  const struct journal_state *journal = &file->state.journal;
  return journal->header_offset >= 0 && number <= get_u32(journal->header + JOURNAL_PAGES);
}

// ---- Records ----

// On disk the checksum comes before the trailer, so that the encrypted bytes are contiguous.
static void swap_checksum(const struct sealed_file *file, uint8_t *record, bool to_disk) {
  uint8_t *in_memory = record + JOURNAL_NUMBER_BYTES + page_bytes(file);
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

// A record arrives in three pieces. It is sealed and written when the last one arrives.
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
  if (!is_all_zero(record + JOURNAL_NUMBER_BYTES + page_bytes(file) - TRAILER_BYTES, TRAILER_BYTES)) {
    return journal_finding(file, SEALED_VFS_UNSUITABLE, get_u32(record), offset);
  }
  int64_t at = offset + (int64_t)amount - (int64_t)record_bytes(file);
  swap_checksum(file, record, true);
  seal_close(file->main->keys, NULL, record_place(at), record, length, record + length);
  return journal_real_write(file, record, record_bytes(file), at);
}

// Reads the record at `offset` into `buffer`.
static int load_record(struct sealed_file *file, int64_t offset) {
  struct journal_state *journal = &file->state.journal;
  int code = file_reserve(file, record_bytes(file));
  if (code != SQLITE_OK) { return code; }
  uint8_t *record = file->buffer;
  journal->record_offset = -1;
  journal->filled = 0;
  code = journal_real_read(file, record, record_bytes(file), offset);
  if (code != SQLITE_OK) { return code; }
  size_t length = record_bytes(file) - TRAILER_BYTES;
  // A header was read before it: where a trailer has no salt, the header had one.
  struct part_label label = seal_part_label(record + length, NULL);
  sealed_vfs_kind kind = main_identity_for_part(file->main, &label, false);
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
  bool is_counted = journal->header_offset < 0 || get_u32(journal->header + JOURNAL_COUNT) != 0xffffffff;
  if (is_counted || journal->last_header >= 0) { return journal_finding(file, kind, 0, offset); }
  journal_finding(file, SEALED_VFS_CUT, 0, offset);
  return SQLITE_IOERR_SHORT_READ;
}

// ---- Operations ----

// How the name of a super-journal ends: "-mj" and eight or nine hexadecimal digits.
static bool is_super_name(const uint8_t *name, size_t length) {
  size_t digits = 0;
  while (digits < length && memchr("0123456789ABCDEF", name[length - 1 - digits], 16) != NULL) { digits++; }
  return (digits == 8 || digits == 9) && length >= digits + 3 && memcmp(name + length - digits - 3, "-mj", 3) == 0;
}

// Reads what is not sealed: the name of a super-journal, and the numbers around it.
static int read_plain(struct sealed_file *file, uint8_t *result, size_t amount, int64_t offset) {
  enum { NUMBERS_BEHIND = 16, SHORTEST_NAME = 11 };
  sqlite3_int64 size = 0;
  int code = forward_file_size(&file->sqlite, &size);
  if (code == SQLITE_OK) { code = journal_real_read(file, result, amount, offset); }
  if (code != SQLITE_OK || amount < SHORTEST_NAME || offset + (int64_t)amount != size - NUMBERS_BEHIND) { return code; }
  // Its sum is then wrong, so SQLite rolls back as if there were no super-journal.
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
  if ((amount == 1 || amount == 8) && offset % SECTOR == 0) {
    return journal_read_header_start(file, bytes, length, offset);
  }
  if (journal->header_offset != journal->last_header &&
      is_inside(offset, length, journal->last_header, JOURNAL_HEADER_BYTES)) {
    int code = journal_load_last_header(file);
    if (code != SQLITE_OK) { return code; }
  }
  if (is_inside(offset, length, journal->header_offset, JOURNAL_HEADER_BYTES)) {
    memcpy(bytes, journal->header + (offset - journal->header_offset), length);
    return SQLITE_OK;
  }
  if (journal->filled == 0 && is_inside(offset, length, journal->record_offset, record_bytes(file))) {
    memcpy(bytes, file->buffer + (offset - journal->record_offset), length);
    return SQLITE_OK;
  }
  // Anything too near the end to be a record is the name of a super-journal, or taken for one by SQLite.
  sqlite3_int64 size = 0;
  int code = forward_file_size(sqlite, &size);
  if (code != SQLITE_OK) { return code; }
  if (page_bytes(file) == 0 || offset + (int64_t)record_bytes(file) > size) {
    return read_plain(file, bytes, length, offset);
  }
  if (amount != JOURNAL_NUMBER_BYTES) { return SQLITE_IOERR_READ; }
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
    if (amount >= SECTOR) { return journal_write_header(file, bytes, length, offset); }
    if (amount == COUNT_BYTES) { return journal_put_count(file, bytes, offset); }
    if ((amount == 1 || amount == JOURNAL_HEADER_BYTES) && is_all_zero(bytes, length)) {
      return journal_erase_header(file, offset);
    }
  }
  if (journal->super_offset >= 0 && offset >= journal->super_offset) {
    return journal_real_write(file, bytes, length, offset);
  }
  if (!in_record && amount == JOURNAL_NUMBER_BYTES && journal_is_super_number(file, bytes)) {
    journal->super_offset = offset;
    return journal_real_write(file, bytes, length, offset);
  }
  if (!in_record && amount != JOURNAL_NUMBER_BYTES) { return SQLITE_IOERR_WRITE; }
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
