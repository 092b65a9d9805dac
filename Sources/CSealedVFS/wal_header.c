// The log's header, and the generation it begins. SQLite starts the log over once all of it has been written back: a
// new header with other salts, and frames from the start of the file, over those of the previous generation.
//
// On disk: 32 plain bytes, 32 bytes of SQLite's header, sealed, 64 bytes of trailer, and the salt if the trailer has
// none.
#include "wal_file.h"

enum { HEADER_SALTS = 16, LONGEST_HEADER = WAL_PLAIN_BYTES + WAL_SEALED_HEADER + SALT_BYTES };

// The salts in the shared index, as bytes of the log's header: words 8 and 9, see
// https://sqlite.org/walformat.html#the_wal_index_header
enum { INDEX_SALTS = 32 };

// A valid header of a log, except for its version (bytes 4..7): SQLite without this VFS answers SQLITE_CANTOPEN and
// leaves the file alone. It would take anything else for an empty log, and delete it. Magic number for checksums in
// little-endian words, version, page size 512, no checkpoint, salts, checksum.
static const uint8_t plain_header[WAL_PLAIN_BYTES] = {
    0x37, 0x7f, 0x06, 0x82, 'S', 'E', 'L', 'D', 0, 0, 2, 0, 0, 0, 0, 0,
    's',  'e',  'a',  'l',  'e', 'd', ' ', '2', 0xc3, 0x6a, 0xb1, 0x7f, 0x04, 0x39, 0x1e, 0x2f,
};

static bool is_plain_header(const uint8_t *bytes) { return memcmp(bytes, plain_header, WAL_PLAIN_BYTES) == 0; }

static size_t plain_bytes_of(uint8_t version) { return version == 1 ? 0 : WAL_PLAIN_BYTES; }

static void set_layout(struct wal_state *wal, const uint8_t mark[MARK_BYTES]) {
  wal->plain_bytes = plain_bytes_of(seal_mark_version(mark));
  wal->salt_bytes = seal_salt_beside(mark);
}

int wal_learn_layout(struct sealed_file *file) {
  struct wal_state *wal = &file->state.wal;
  if (file->main->identity != IDENTITY_NONE) {
    set_layout(wal, file->main->keys->label);
    return SQLITE_OK;
  }
  uint8_t start[WAL_PLAIN_BYTES + WAL_HEADER_BYTES + MARK_BYTES] = {0};
  int code = wal_real_read(file, start, sizeof start, 0);
  if (is_plain_header(start)) {
    set_layout(wal, start + WAL_PLAIN_BYTES + WAL_HEADER_BYTES);
  } else {
    wal->plain_bytes = is_all_zero(start, WAL_PLAIN_BYTES) ? WAL_PLAIN_BYTES : 0;
    wal->salt_bytes = 0;
  }
  return code == SQLITE_IOERR_SHORT_READ ? SQLITE_OK : code;
}

static size_t header_bytes(const struct wal_state *wal) {
  return wal->plain_bytes + WAL_SEALED_HEADER + wal->salt_bytes;
}

size_t wal_added_bytes(const struct sealed_file *file) { return header_bytes(&file->state.wal) - WAL_HEADER_BYTES; }

// Opens a header read from disk. `kind` receives what is wrong with it.
static void open_header(struct sealed_file *file, uint8_t *disk, sealed_vfs_kind *kind) {
  size_t plain_bytes = file->state.wal.plain_bytes;
  uint8_t *text = disk + plain_bytes, *trailer = text + WAL_HEADER_BYTES;
  *kind = SEALED_VFS_DAMAGED;
  if (plain_bytes != 0 && !is_plain_header(disk)) { return; }
  struct part_label label = seal_part_label(trailer, trailer + TRAILER_BYTES);
  sealed_vfs_kind identity = main_identity_for_part(file->main, &label, true);
  if (identity != SEALED_VFS_NOTHING) {
    *kind = identity;
    return;
  }
  struct seal_place place = {.sort = SORT_WAL_HEADER};
  if (plain_bytes_of(seal_mark_version(trailer)) != plain_bytes) { return; }
  if (seal_open(file->main->keys, place, text, WAL_HEADER_BYTES, trailer)) { *kind = SEALED_VFS_NOTHING; }
}

int wal_read_header(struct sealed_file *file, struct wal_header *header) {
  struct wal_state *wal = &file->state.wal;
  uint8_t disk[LONGEST_HEADER] = {0};
  memset(header, 0, sizeof *header);
  int code = wal_learn_layout(file);
  size_t length = header_bytes(wal);
  if (code == SQLITE_OK) { code = wal_real_read(file, disk, length, 0); }
  if (code != SQLITE_OK || is_all_zero(disk, length)) { return code; }
  sealed_vfs_kind kind;
  open_header(file, disk, &kind);
  // Not treated as an empty log: a header in one sector is never torn, and the whole log would be dropped silently.
  if (kind != SEALED_VFS_NOTHING) { return wal_finding(file, kind, 0); }
  memcpy(header->bytes, disk + wal->plain_bytes, WAL_HEADER_BYTES);
  header->main_pages = seal_noted(disk + wal->plain_bytes + WAL_HEADER_BYTES);
  memcpy(wal->salts, header->bytes + HEADER_SALTS, WAL_SALTS_BYTES);
  wal->salts_known = true;
  return SQLITE_OK;
}

int wal_write_header(struct sealed_file *file, const uint8_t *bytes) {
  int code = main_identity_for_writing(file->main);
  if (code == SQLITE_OK) { code = wal_learn_layout(file); }
  if (code != SQLITE_OK) { return code; }
  // All of the log before this one has been written back, so the main file has at least this many pages until a
  // transaction of this log makes it shorter.
  sqlite3_int64 size = 0;
  code = forward_file_size(&file->main->sqlite, &size);
  if (code != SQLITE_OK) { return code; }
  uint32_t pages = file->main->page_size == 0 ? 0 : (uint32_t)(size / file->main->page_size);
  struct wal_state *wal = &file->state.wal;
  wal->assembling = wal->held = wal->highest_own = 0;
  wal_forget_headers(file);
  wal_forget_recovered(file);
  memcpy(wal->salts, bytes + HEADER_SALTS, WAL_SALTS_BYTES);
  wal->salts_known = wal->is_uncommitted = true;
  uint8_t disk[LONGEST_HEADER];
  uint8_t *text = disk + wal->plain_bytes;
  memcpy(disk, plain_header, WAL_PLAIN_BYTES);
  memcpy(text, bytes, WAL_HEADER_BYTES);
  struct seal_place place = {.sort = SORT_WAL_HEADER};
  seal_close_noting(file->main->keys, place, text, WAL_HEADER_BYTES, text + WAL_HEADER_BYTES, pages);
  memcpy(text + WAL_SEALED_HEADER, seal_label_salt(file->main->keys->label), SALT_BYTES);
  return wal_real_write(file, disk, header_bytes(wal), 0);
}

// Whether the salts that this connection knows are those of the generation in force. The shared index names that
// generation: every process that reads frames through the index agrees on it, whatever the files on disk say.
static bool is_current(struct sealed_file *file) {
  struct wal_state *wal = &file->state.wal;
  const volatile uint8_t *index = file->main->wal_index;
  if (!wal->salts_known) { return false; }
  // A connection that has the log to itself keeps its index in private memory, and no other begins a generation.
  if (index == NULL) { return true; }
  uint8_t salts[WAL_SALTS_BYTES];
  for (int i = 0; i < WAL_SALTS_BYTES; i++) { salts[i] = index[INDEX_SALTS + i]; }
  bool is_in_force = memcmp(salts, wal->salts, WAL_SALTS_BYTES) == 0;
  if (is_in_force) { wal->is_uncommitted = false; }
  // The first generation of a log enters the index with its first commit.
  return is_in_force || wal->is_uncommitted;
}

// Reads the salts of the generation in force from the header on disk, once per generation. This also detects a missing
// or earlier header.
static int learn_generation(struct sealed_file *file) {
  if (is_current(file)) { return SQLITE_OK; }
  file->state.wal.salts_known = false;
  struct wal_header header;
  int code = wal_read_header(file, &header);
  if (code == SQLITE_IOERR_SHORT_READ) { return wal_finding(file, SEALED_VFS_TRUNCATED, 0); }
  if (code != SQLITE_OK || is_current(file)) { return code; }
  file->state.wal.salts_known = false;
  return wal_finding(file, SEALED_VFS_DAMAGED, 0);
}

int wal_check_generation(struct sealed_file *file, uint64_t frame, const uint8_t salts[WAL_SALTS_BYTES]) {
  int code = learn_generation(file);
  if (code != SQLITE_OK) { return code; }
  // Once SQLite has written over a spilled page, it leaves out salts and checksums until the commit. After ROLLBACK TO
  // some versions (3.40) forget to fill them in, so readers see such frames too.
  if (is_all_zero(salts, WAL_SALTS_BYTES)) { return SQLITE_OK; }
  bool is_current_frame = memcmp(salts, file->state.wal.salts, WAL_SALTS_BYTES) == 0;
  return is_current_frame ? SQLITE_OK : wal_finding(file, SEALED_VFS_DAMAGED, frame);
}

bool wal_is_in_force(struct sealed_file *file, const uint8_t salts[WAL_SALTS_BYTES]) {
  return is_current(file) && memcmp(salts, file->state.wal.salts, WAL_SALTS_BYTES) == 0;
}

bool wal_is_later_generation(const struct sealed_file *file, const uint8_t salts[WAL_SALTS_BYTES]) {
  const struct wal_state *wal = &file->state.wal;
  if (!wal->salts_known || is_all_zero(salts, WAL_SALTS_BYTES)) { return false; }
  if (memcmp(salts, wal->salts, WAL_SALTS_BYTES) == 0) { return false; }
  // SQLite increments the first salt for each generation, as long as the log is not recreated.
  return (int32_t)(get_u32(salts) - get_u32(wal->salts)) >= 0;
}

void wal_end_write(struct sealed_file *file) {
  file->state.wal.is_uncommitted = false;
  wal_forget_headers(file);
  wal_end_recovery(file);
}
