// The log's header, and the generation that it begins. SQLite starts the log over when all of it has been written back:
// a new header with other salts, and frames from the start of the file, over those of the generation before.
#include "wal_file.h"

enum { HEADER_SALTS = 16 };

// The salts in the shared index, as bytes of the log's header: words 8 and 9, see
// https://sqlite.org/walformat.html#the_wal_index_header
enum { INDEX_SALTS = 32 };

int wal_read_header(struct sealed_file *file, uint8_t header[WAL_HEADER_ON_DISK]) {
  int code = wal_real_read(file, header, WAL_HEADER_ON_DISK, 0);
  if (code != SQLITE_OK || is_all_zero(header, WAL_HEADER_ON_DISK)) { return code; }
  const uint8_t *trailer = header + WAL_HEADER_BYTES;
  sealed_vfs_kind kind = main_identity_for_part(file->main, trailer, true);
  struct seal_place place = {.sort = SORT_WAL_HEADER};
  if (kind == SEALED_VFS_NOTHING && !seal_open(file->main->keys, place, header, WAL_HEADER_BYTES, trailer)) {
    kind = SEALED_VFS_DAMAGED;
  }
  // Not taken for an empty log: a header in one sector is never torn, and the whole log would be dropped silently.
  if (kind != SEALED_VFS_NOTHING) { return wal_finding(file, kind, 0); }
  memcpy(file->state.wal.salts, header + HEADER_SALTS, WAL_SALTS_BYTES);
  file->state.wal.salts_known = true;
  return SQLITE_OK;
}

int wal_write_header(struct sealed_file *file, const uint8_t *bytes) {
  int code = main_identity_for_writing(file->main);
  if (code != SQLITE_OK) { return code; }
  // All of the log before this one has been written back, so the main file has at least this many pages until a
  // transaction of this log makes it shorter.
  sqlite3_int64 size = 0;
  code = forward_file_size(&file->main->sqlite, &size);
  if (code != SQLITE_OK) { return code; }
  uint32_t pages = file->main->page_size == 0 ? 0 : (uint32_t)(size / file->main->page_size);
  uint8_t header[WAL_HEADER_ON_DISK];
  memcpy(header, bytes, WAL_HEADER_BYTES);
  struct wal_state *wal = &file->state.wal;
  wal->assembling = wal->held = wal->highest_own = 0;
  memcpy(wal->salts, bytes + HEADER_SALTS, WAL_SALTS_BYTES);
  wal->salts_known = wal->is_uncommitted = true;
  struct seal_place place = {.sort = SORT_WAL_HEADER};
  seal_close_noting(file->main->keys, place, header, WAL_HEADER_BYTES, header + WAL_HEADER_BYTES, pages);
  return wal_real_write(file, header, sizeof header, 0);
}

// Whether the salts that this connection knows are those of the generation in force. The shared index names that
// generation: every process that reads frames through the index agrees on it, whatever the files on disk say.
static bool is_current(struct sealed_file *file) {
  struct wal_state *wal = &file->state.wal;
  const volatile uint8_t *index = file->main->wal_index;
  if (!wal->salts_known) { return false; }
  // A connection that has the log for itself keeps its index in private memory, and nobody else begins a generation.
  if (index == NULL) { return true; }
  uint8_t salts[WAL_SALTS_BYTES];
  for (int i = 0; i < WAL_SALTS_BYTES; i++) { salts[i] = index[INDEX_SALTS + i]; }
  bool is_in_force = memcmp(salts, wal->salts, WAL_SALTS_BYTES) == 0;
  if (is_in_force) { wal->is_uncommitted = false; }
  // The first generation of a log enters the index with its first commit.
  return is_in_force || wal->is_uncommitted;
}

// Learns the salts of the generation in force from the header on disk, once a generation: so it is also noticed when
// the header is missing or an earlier one.
static int learn_generation(struct sealed_file *file) {
  if (is_current(file)) { return SQLITE_OK; }
  file->state.wal.salts_known = false;
  uint8_t header[WAL_HEADER_ON_DISK];
  int code = wal_read_header(file, header);
  if (code == SQLITE_IOERR_SHORT_READ) { return wal_finding(file, SEALED_VFS_TRUNCATED, 0); }
  if (code != SQLITE_OK || is_current(file)) { return code; }
  file->state.wal.salts_known = false;
  return wal_finding(file, SEALED_VFS_DAMAGED, 0);
}

int wal_check_generation(struct sealed_file *file, uint64_t frame, const uint8_t salts[WAL_SALTS_BYTES]) {
  int code = learn_generation(file);
  if (code != SQLITE_OK) { return code; }
  // SQLite leaves out salts and checksums until the commit once it has written over a spilled page. After ROLLBACK TO
  // some versions (3.40) forget to fill them in, so readers see such frames, too.
  if (is_all_zero(salts, WAL_SALTS_BYTES)) { return SQLITE_OK; }
  bool is_current_frame = memcmp(salts, file->state.wal.salts, WAL_SALTS_BYTES) == 0;
  return is_current_frame ? SQLITE_OK : wal_finding(file, SEALED_VFS_DAMAGED, frame);
}

void wal_end_write(struct sealed_file *file) { file->state.wal.is_uncommitted = false; }
