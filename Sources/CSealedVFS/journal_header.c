// The rollback journal's headers: at the start of a sector, 8 plain bytes, then the 28 significant bytes of SQLite's
// header, sealed, and in the empty rest of the sector the trailer, and the salt if the trailer has none. The first
// plain byte is zero: SQLite without this VFS considers the journal not in use (`hasHotJournal`), and neither deletes
// it nor rolls it back.
#include "journal_file.h"

enum {
  PLAIN_BYTES = 8, // none in a file of version 1
  SEALED_HEADER = JOURNAL_HEADER_BYTES + TRAILER_BYTES,
  LONGEST_HEADER = PLAIN_BYTES + SEALED_HEADER + SALT_BYTES,
  COUNT_BYTES = 12, // magic and number of records
};

static const uint8_t plain_bytes[PLAIN_BYTES] = {0, 's', 'e', 'a', 'l', 'e', 'd', '2'};

// Number of bytes in front of a sealed header in a file of this version.
static size_t plain_bytes_of(uint8_t version) { return version == 1 ? 0 : PLAIN_BYTES; }

static size_t own_plain_bytes(const struct sealed_file *file) {
  return plain_bytes_of(seal_mark_version(file->main->keys->label));
}

// Total size of a header on disk.
static size_t own_header_bytes(const struct sealed_file *file) {
  return own_plain_bytes(file) + SEALED_HEADER + seal_salt_beside(file->main->keys->label);
}

static struct seal_place header_place(int64_t offset) {
  return (struct seal_place){.sort = SORT_JOURNAL_HEADER, .number = (uint64_t)offset};
}

static int put_header(struct sealed_file *file, int64_t offset) {
  uint8_t disk[LONGEST_HEADER];
  size_t plain = own_plain_bytes(file);
  uint8_t *text = disk + plain;
  memcpy(disk, plain_bytes, PLAIN_BYTES);
  memcpy(text, file->state.journal.header, JOURNAL_HEADER_BYTES);
  seal_close(file->main->keys, NULL, header_place(offset), text, JOURNAL_HEADER_BYTES, text + JOURNAL_HEADER_BYTES);
  memcpy(text + SEALED_HEADER, seal_label_salt(file->main->keys->label), SALT_BYTES);
  return journal_real_write(file, disk, own_header_bytes(file), offset);
}

int journal_load_header(struct sealed_file *file, int64_t offset, enum journal_found *found, sealed_vfs_kind *kind) {
  struct journal_state *journal = &file->state.journal;
  uint8_t disk[LONGEST_HEADER];
  *found = FOUND_NOTHING;
  *kind = SEALED_VFS_NOTHING;
  int code = journal_real_read(file, disk, sizeof disk, offset);
  if (code != SQLITE_OK || is_all_zero(disk, sizeof disk)) { return code; }
  *found = FOUND_OTHER;
  size_t plain = memcmp(disk, plain_bytes, PLAIN_BYTES) == 0 ? PLAIN_BYTES : 0;
  uint8_t *text = disk + plain, *trailer = text + JOURNAL_HEADER_BYTES;
  struct part_label label = seal_part_label(trailer, text + SEALED_HEADER);
  *kind = main_identity_for_part(file->main, &label, false);
  if (*kind != SEALED_VFS_NOTHING) { return SQLITE_OK; }
  if (plain_bytes_of(seal_mark_version(trailer)) != plain ||
      !seal_open(file->main->keys, header_place(offset), text, JOURNAL_HEADER_BYTES, trailer)) {
    *kind = SEALED_VFS_DAMAGED;
    return SQLITE_OK;
  }
  *found = FOUND_HEADER;
  memcpy(journal->header, text, JOURNAL_HEADER_BYTES);
  journal->header_offset = offset;
  return SQLITE_OK;
}

static int load_needed_header(struct sealed_file *file, int64_t offset) {
  enum journal_found found;
  sealed_vfs_kind kind;
  int code = journal_load_header(file, offset, &found, &kind);
  if (code != SQLITE_OK || found == FOUND_HEADER) { return code; }
  return journal_finding(file, SEALED_VFS_DAMAGED, 0, offset);
}

int journal_load_last_header(struct sealed_file *file) {
  return load_needed_header(file, file->state.journal.last_header);
}

int journal_read_header_start(struct sealed_file *file, uint8_t *result, size_t amount, int64_t offset) {
  enum journal_found found;
  sealed_vfs_kind kind;
  memset(result, 0, amount);
  int code = journal_load_header(file, offset, &found, &kind);
  if (code == SQLITE_IOERR_SHORT_READ) {
    return journal_real_read(file, result, amount, offset);
  } // the end of a super-journal's name
  if (code != SQLITE_OK) { return code; }
  if (found == FOUND_HEADER) { memcpy(result, file->state.journal.header, amount); }
  if (found != FOUND_OTHER) { return SQLITE_OK; }
  // The journal's first header cannot be torn. Without it nothing would be rolled back, whatever the state of the
  // database.
  if (offset == 0) { return journal_finding(file, kind, 0, 0); }
  // Later ones: records of an older, longer journal (journal_mode=PERSIST) may be in their place, or a super-journal's
  // name.
  uint8_t start[JOURNAL_NUMBER_BYTES];
  bool is_own = file->state.journal.last_header >= 0;
  code = journal_real_read(file, start, sizeof start, offset);
  if (code == SQLITE_OK && !is_own && !journal_is_super_number(file, start)) {
    journal_finding(file, SEALED_VFS_CUT, 0, offset);
  }
  return code;
}

static int write_zeros(struct sealed_file *file, size_t amount, int64_t offset) {
  int code = file_reserve(file, amount);
  if (code != SQLITE_OK) { return code; }
  memset(file->buffer, 0, amount);
  return journal_real_write(file, file->buffer, amount, offset);
}

int journal_write_header(struct sealed_file *file, const uint8_t *bytes, size_t amount, int64_t offset) {
  struct journal_state *journal = &file->state.journal;
  // Where pages are smaller than sectors, SQLite repeats the header throughout the sector. Only the first counts.
  uint32_t sector = get_u32(bytes + JOURNAL_SECTOR);
  if (sector > 0 && offset % sector != 0) { return write_zeros(file, amount, offset); }
  int code = main_identity_for_writing(file->main);
  if (code != SQLITE_OK) { return code; }
  memcpy(journal->header, bytes, JOURNAL_HEADER_BYTES);
  journal->header_offset = journal->last_header = offset;
  journal->record_offset = journal->super_offset = -1;
  journal->filled = 0;
  // The rest of the sector is empty; it is written to give the file its length.
  size_t length = own_header_bytes(file);
  code = write_zeros(file, amount - length, offset + (int64_t)length);
  return code == SQLITE_OK ? put_header(file, offset) : code;
}

// With synchronous=NORMAL SQLite would sync records and header together, and a power loss could leave a header that
// counts missing records.
int journal_put_count(struct sealed_file *file, const uint8_t *bytes, int64_t offset) {
  struct journal_state *journal = &file->state.journal;
  if (journal->unsynced) {
    int code = file->real->pMethods->xSync(file->real, SQLITE_SYNC_NORMAL);
    if (code != SQLITE_OK) { return code; }
    journal->unsynced = false;
  }
  if (journal->header_offset != offset) {
    int code = load_needed_header(file, offset);
    if (code != SQLITE_OK) { return code; }
  }
  memcpy(journal->header, bytes, COUNT_BYTES);
  return put_header(file, offset);
}

int journal_erase_header(struct sealed_file *file, int64_t offset) {
  struct journal_state *journal = &file->state.journal;
  const uint8_t zeros[LONGEST_HEADER] = {0};
  journal->header_offset = journal->record_offset = -1;
  return journal_real_write(file, zeros, sizeof zeros, offset);
}
