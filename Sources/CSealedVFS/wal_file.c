// The frames of the write-ahead log. On disk:
//
// - The header (wal_header.c), which is 96 or 112 bytes longer than SQLite's (64 in a file of version 1). So all frames
//   lie that much further than SQLite assumes.
// - Each frame: 24 bytes of frame header and the page, sealed as one. The trailer is in the page's reserved bytes.
//
// SQLite's checksums in the headers are over plaintext, so they must be encrypted as well. Sealing a frame as one costs
// one operation and one write where SQLite makes two; for this, its header is kept here until its page arrives.
#include <sodium.h>

#include "wal_file.h"

static struct sealed_file *self(sqlite3_file *file) { return (struct sealed_file *)(void *)file; }

int wal_real_read(struct sealed_file *file, void *bytes, size_t amount, int64_t offset) {
  return file->real->pMethods->xRead(file->real, bytes, (int)amount, offset);
}

int wal_real_write(struct sealed_file *file, const void *bytes, size_t amount, int64_t offset) {
  return file->real->pMethods->xWrite(file->real, bytes, (int)amount, offset);
}

static size_t frame_bytes(const struct sealed_file *file) { return FRAME_HEADER_BYTES + file->main->page_size; }

int64_t wal_frame_offset(const struct sealed_file *file, uint64_t frame) {
  return (int64_t)(WAL_HEADER_BYTES + wal_added_bytes(file)) + (int64_t)(frame - 1) * (int64_t)frame_bytes(file);
}

static uint8_t *frame_trailer(const struct sealed_file *file, uint8_t *frame) {
  return frame + frame_bytes(file) - TRAILER_BYTES;
}

static struct seal_place frame_place(uint64_t frame) {
  return (struct seal_place){.sort = SORT_WAL_FRAME, .number = frame};
}

int wal_finding(struct sealed_file *file, sealed_vfs_kind kind, uint64_t frame) {
  report(file, kind, 0, frame, frame == 0 ? 0 : wal_frame_offset(file, frame));
  return code_for(kind);
}

// Frame boundaries are known only with the page size; a log is never created before its database.
static int make_ready(struct sealed_file *file) {
  if (file->main->page_size == 0) {
    int code = main_learn_page_size(file->main);
    if (code != SQLITE_OK) { return code; }
    if (file->main->page_size == 0) { return wal_finding(file, SEALED_VFS_FOREIGN, 0); }
  }
  int code = wal_learn_layout(file);
  return code != SQLITE_OK ? code : file_reserve(file, frame_bytes(file));
}

static sealed_vfs_kind identify_frame(struct sealed_file *file, const uint8_t *trailer) {
  struct part_label label = seal_part_label(trailer, NULL);
  sealed_vfs_kind kind = main_identity_for_part(file->main, &label, true);
  if (kind != SEALED_VFS_FOREIGN || label.has_salt || file->main->identity == IDENTITY_FIRM) { return kind; }
  // Page 1 cannot be read and the frame has no salt, but the log's header has.
  struct wal_header header;
  return wal_read_header(file, &header) == SQLITE_OK ? main_identity_for_part(file->main, &label, true) : kind;
}

// Reads a frame into `spare` and decrypts it. Returns what is wrong with it; `code` receives the base VFS's result.
static sealed_vfs_kind load_frame(struct sealed_file *file, uint64_t frame, int *code) {
  file->state.wal.held = 0;
  *code = wal_real_read(file, file->spare, frame_bytes(file), wal_frame_offset(file, frame));
  if (*code != SQLITE_OK) { return SEALED_VFS_TRUNCATED; }
  const uint8_t *trailer = frame_trailer(file, file->spare);
  sealed_vfs_kind kind = identify_frame(file, trailer);
  if (kind != SEALED_VFS_NOTHING) { return kind; }
  size_t length = frame_bytes(file) - TRAILER_BYTES;
  if (!seal_open(file->main->keys, frame_place(frame), file->spare, length, trailer)) { return SEALED_VFS_DAMAGED; }
  main_confirm_identity(file->main);
  return SEALED_VFS_NOTHING;
}

// The fewest pages that the main file may have had since this generation of the log began: as many as then, or fewer if
// a transaction shortened it. Only such a transaction makes it necessary to look at all frames.
static int count_needed_pages(struct sealed_file *file) {
  struct wal_state *wal = &file->state.wal;
  int code = SQLITE_OK;
  for (uint64_t frame = 1; load_frame(file, frame, &code) == SEALED_VFS_NOTHING; frame++) {
    const uint8_t *salts = file->spare + FRAME_SALTS;
    if (memcmp(salts, wal->salts, WAL_SALTS_BYTES) != 0 && !is_all_zero(salts, WAL_SALTS_BYTES)) { break; }
    uint32_t pages = get_u32(file->spare + FRAME_COMMIT);
    if (pages != 0 && pages < wal->needed_pages) { wal->needed_pages = pages; }
  }
  return code == SQLITE_IOERR_SHORT_READ ? SQLITE_OK : code;
}

int wal_needs_page(struct sealed_file *file, uint64_t number, bool *result) {
  struct wal_state *wal = &file->state.wal;
  *result = false;
  struct wal_header header;
  int code = make_ready(file);
  if (code == SQLITE_OK) { code = wal_read_header(file, &header); }
  // The log is empty.
  if (code == SQLITE_IOERR_SHORT_READ) { return SQLITE_OK; }
  if (code != SQLITE_OK || is_all_zero(header.bytes, WAL_HEADER_BYTES)) { return code; }
  if (memcmp(wal->needing_salts, wal->salts, WAL_SALTS_BYTES) != 0) {
    memcpy(wal->needing_salts, wal->salts, WAL_SALTS_BYTES);
    wal->needed_pages = header.main_pages;
  }
  if (number <= wal->needed_pages) { code = count_needed_pages(file); }
  *result = number <= wal->needed_pages;
  return code;
}

// Recovery reads whole frames, and treats one that does not verify as the end of the log. A write torn by a power loss
// must look the same: half its trailer may be there. It is reported as a cut, unless nothing was ever written there.
static int recover_frame(struct sealed_file *file, uint64_t frame, sealed_vfs_kind kind) {
  bool may_be_torn = kind == SEALED_VFS_DAMAGED || kind == SEALED_VFS_FOREIGN || kind == SEALED_VFS_NEWER_FORMAT ||
                     kind == SEALED_VFS_CIPHER_UNAVAILABLE;
  if (!may_be_torn) { return wal_finding(file, kind, frame); }
  return is_all_zero(file->spare, frame_bytes(file)) ? SQLITE_OK : wal_finding(file, SEALED_VFS_CUT, frame);
}

// A read whose result SQLite does not use. On rolling back to a savepoint, some versions (3.40) forget that the frame
// from which checksums must be renewed is gone, and read the checksum of the one before it. This connection wrote that
// frame under a header that it has since replaced: for the first generation of a log SQLite then draws new salts.
static bool is_left_behind(const struct wal_state *wal, uint64_t frame, size_t start, size_t amount) {
  bool is_checksum = start == FRAME_CHECKSUM && start + amount == FRAME_HEADER_BYTES;
  return is_checksum && wal->is_uncommitted && frame > wal->highest_own;
}

// After an error the caller must wipe `result`.
static int read_frame(struct sealed_file *file, uint64_t frame, size_t start, size_t amount, uint8_t *result) {
  bool is_page = start == FRAME_HEADER_BYTES && start + amount == frame_bytes(file);
  if (is_page && wal_take_recovered(file, frame, result, amount)) { return SQLITE_OK; }
  int code = SQLITE_OK;
  sealed_vfs_kind kind = load_frame(file, frame, &code);
  bool is_whole = amount == frame_bytes(file);
  // Frames written by this connection in its transaction are not recovered, and cannot be torn.
  bool is_recovery = is_whole && frame > file->state.wal.highest_own;
  if (code != SQLITE_OK) {
    // Recovery reads only as far as the file goes. A page in the index but not in the log was cut off.
    return code == SQLITE_IOERR_SHORT_READ && !is_whole ? wal_finding(file, SEALED_VFS_TRUNCATED, frame) : code;
  }
  if (kind != SEALED_VFS_NOTHING) {
    memset(result, 0, amount);
    return is_recovery ? recover_frame(file, frame, kind) : wal_finding(file, kind, frame);
  }
  // In recovery SQLite compares the salts itself, and ends where an older generation begins. A frame of a later one
  // means that its header is lost. Elsewhere SQLite trusts the index: a frame put back from an earlier generation would
  // authenticate.
  memset(frame_trailer(file, file->spare), 0, TRAILER_BYTES); // to SQLite, as in any page
  if (is_recovery) {
    code = wal_keep_recovered(file, frame, file->spare, frame_bytes(file));
    if (code != SQLITE_OK) { return code; }
    if (wal_is_later_generation(file, file->spare + FRAME_SALTS)) { wal_finding(file, SEALED_VFS_CUT, frame); }
  } else if (!is_left_behind(&file->state.wal, frame, start, amount)) {
    code = wal_check_generation(file, frame, file->spare + FRAME_SALTS);
    if (code != SQLITE_OK) { return code; }
    if (is_whole) { file->state.wal.held = frame; }
  }
  memcpy(result, file->spare + start, amount);
  return SQLITE_OK;
}

static int wal_read(sqlite3_file *sqlite, void *bytes, int amount, sqlite3_int64 offset) {
  struct sealed_file *file = self(sqlite);
  size_t length = (size_t)amount;
  if (offset < WAL_HEADER_BYTES) {
    struct wal_header header;
    memset(bytes, 0, length);
    if (offset + amount > WAL_HEADER_BYTES) { return SQLITE_IOERR_READ; }
    // Recovery begins with the header.
    if (offset == 0) {
      file->state.wal.highest_own = 0;
      wal_forget_recovered(file);
    }
    int code = make_ready(file);
    if (code == SQLITE_OK) { code = wal_read_header(file, &header); }
    if (code == SQLITE_OK) { memcpy(bytes, header.bytes + offset, length); }
    return code;
  }
  int code = make_ready(file);
  if (code != SQLITE_OK) { return code; }
  size_t start = (size_t)(offset - WAL_HEADER_BYTES) % frame_bytes(file);
  if (start + length > frame_bytes(file)) { return SQLITE_IOERR_READ; }
  uint64_t frame = (uint64_t)(offset - WAL_HEADER_BYTES) / frame_bytes(file) + 1;
  code = read_frame(file, frame, start, length, bytes);
  if (code != SQLITE_OK) { memset(bytes, 0, length); }
  return code;
}

// ---- Headers of the current transaction ----

// SQLite writes a page that was spilled before over its first copy, in the same frame. The frame's header stays, and
// would have to be read and decrypted for this, so headers are kept until the transaction ends. A frame has one slot.
// Only the slots from kept_first to kept_end are used, and wiped: a push writes ten frames.
struct kept_header {
  uint64_t frame; // 0: empty
  uint8_t bytes[FRAME_HEADER_BYTES];
};

enum { KEPT_HEADERS = 1024 };

static int keep_header(struct sealed_file *file, uint64_t frame, const uint8_t *header) {
  struct wal_state *wal = &file->state.wal;
  if (wal->kept == NULL) {
    wal->kept = sqlite3_malloc(KEPT_HEADERS * sizeof *wal->kept);
    if (wal->kept == NULL) { return SQLITE_NOMEM; }
  }
  size_t place = (size_t)(frame % KEPT_HEADERS);
  if (wal->kept_first == wal->kept_end) { wal->kept_first = wal->kept_end = place; }
  while (wal->kept_end <= place) { wal->kept[wal->kept_end++].frame = 0; }
  while (wal->kept_first > place) { wal->kept[--wal->kept_first].frame = 0; }
  struct kept_header *slot = &wal->kept[place];
  slot->frame = frame;
  memcpy(slot->bytes, header, FRAME_HEADER_BYTES);
  return SQLITE_OK;
}

static const uint8_t *kept_header(const struct sealed_file *file, uint64_t frame) {
  const struct wal_state *wal = &file->state.wal;
  size_t place = (size_t)(frame % KEPT_HEADERS);
  bool is_kept = place >= wal->kept_first && place < wal->kept_end && wal->kept[place].frame == frame;
  return is_kept ? wal->kept[place].bytes : NULL;
}

void wal_forget_headers(struct sealed_file *file) {
  struct wal_state *wal = &file->state.wal;
  size_t count = wal->kept_end - wal->kept_first;
  // They contain checksums over plaintext.
  if (count > 0) { sodium_memzero(wal->kept + wal->kept_first, count * sizeof *wal->kept); }
  wal->kept_first = wal->kept_end = 0;
}

void wal_wipe(struct sealed_file *file) {
  file->state.wal.assembling = file->state.wal.held = 0;
  wal_forget_headers(file);
  wal_forget_recovered(file);
  file_wipe(file);
}

void wal_free(struct sealed_file *file) {
  wal_forget_headers(file);
  sqlite3_free(file->state.wal.kept);
  file->state.wal.kept = NULL;
  wal_forget_recovered(file);
}

// ---- Writing ----

// Seals the frame whose plaintext is at `text`, overwriting that, and writes it.
static int write_frame(struct sealed_file *file, uint64_t frame, uint8_t *text) {
  struct wal_state *wal = &file->state.wal;
  uint8_t *trailer = frame_trailer(file, text);
  if (!is_all_zero(trailer, TRAILER_BYTES)) { return wal_finding(file, SEALED_VFS_UNSUITABLE, frame); }
  if (wal->held == frame) { wal->held = 0; }
  int code = keep_header(file, frame, text);
  if (code != SQLITE_OK) { return code; }
  size_t length = frame_bytes(file) - TRAILER_BYTES;
  seal_close(file->main->keys, &file->main->drawn, frame_place(frame), text, length, trailer);
  code = wal_real_write(file, text, frame_bytes(file), wal_frame_offset(file, frame));
  if (code == SQLITE_OK && frame > wal->highest_own) { wal->highest_own = frame; }
  if (code != SQLITE_OK) { wal_forget_headers(file); }
  return code;
}

// Changes a part of an existing frame: SQLite writes a page spilled twice over its first copy, and rewrites the headers
// after it with new checksums.
static int patch_frame(struct sealed_file *file, uint64_t frame, size_t start, size_t amount, const uint8_t *bytes) {
  int code = SQLITE_OK;
  const uint8_t *header = kept_header(file, frame);
  bool is_page = start == FRAME_HEADER_BYTES && start + amount == frame_bytes(file);
  if (is_page && header != NULL) {
    file->state.wal.held = 0;
    memcpy(file->spare, header, FRAME_HEADER_BYTES);
  } else if (file->state.wal.held != frame) {
    sealed_vfs_kind kind = load_frame(file, frame, &code);
    if (code == SQLITE_OK && kind != SEALED_VFS_NOTHING) { code = wal_finding(file, kind, frame); }
    if (code == SQLITE_OK) { code = wal_check_generation(file, frame, file->spare + FRAME_SALTS); }
    if (code != SQLITE_OK) { return code; }
  }
  memset(frame_trailer(file, file->spare), 0, TRAILER_BYTES);
  memcpy(file->spare + start, bytes, amount);
  return write_frame(file, frame, file->spare);
}

static int wal_write(sqlite3_file *sqlite, const void *bytes, int amount, sqlite3_int64 offset) {
  struct sealed_file *file = self(sqlite);
  struct wal_state *wal = &file->state.wal;
  size_t length = (size_t)amount;
  if (offset == 0 && length == WAL_HEADER_BYTES) { return wal_write_header(file, bytes); }
  // The first may find that the page size has changed.
  int code = main_identity_for_writing(file->main);
  if (code == SQLITE_OK) { code = make_ready(file); }
  if (code != SQLITE_OK) { return code; }
  if (offset < WAL_HEADER_BYTES) { return SQLITE_IOERR_WRITE; }
  uint64_t frame = (uint64_t)(offset - WAL_HEADER_BYTES) / frame_bytes(file) + 1;
  size_t start = (size_t)(offset - WAL_HEADER_BYTES) % frame_bytes(file);
  if (start + length > frame_bytes(file)) { return SQLITE_IOERR_WRITE; }

  bool continues = wal->assembling == frame && wal->filled == start;
  if (!continues) {
    // A frame that was begun and not continued was a failed write; its header alone would not be a frame either.
    wal->assembling = 0;
    // A header right after a read of its whole frame has its checksum renewed; any other begins a frame.
    if (start != 0 || wal->held == frame) { return patch_frame(file, frame, start, length, bytes); }
    wal->assembling = frame;
    wal->filled = 0;
  }
  memcpy(file->buffer + start, bytes, length);
  wal->filled += (uint32_t)length;
  if (wal->filled < frame_bytes(file)) { return SQLITE_OK; }
  wal->assembling = 0;
  return write_frame(file, frame, file->buffer);
}

static int wal_truncate(sqlite3_file *sqlite, sqlite3_int64 size) {
  struct sealed_file *file = self(sqlite);
  file->state.wal.assembling = file->state.wal.held = 0;
  wal_forget_headers(file);
  wal_forget_recovered(file);
  int code = wal_learn_layout(file);
  if (code != SQLITE_OK) { return code; }
  return forward_truncate(sqlite, size == 0 ? 0 : size + (int64_t)wal_added_bytes(file));
}

static int wal_file_size(sqlite3_file *sqlite, sqlite3_int64 *size) {
  struct sealed_file *file = self(sqlite);
  int code = wal_learn_layout(file);
  if (code == SQLITE_OK) { code = forward_file_size(sqlite, size); }
  if (code != SQLITE_OK) { return code; }
  int64_t added = (int64_t)wal_added_bytes(file);
  *size = *size <= added ? 0 : *size - added;
  return SQLITE_OK;
}

const sqlite3_io_methods wal_methods = {
    .iVersion = 1,
    .xClose = forward_close,
    .xRead = wal_read,
    .xWrite = wal_write,
    .xTruncate = wal_truncate,
    .xSync = forward_sync,
    .xFileSize = wal_file_size,
    .xLock = forward_lock,
    .xUnlock = forward_unlock,
    .xCheckReservedLock = forward_check_reserved_lock,
    .xFileControl = forward_file_control,
    .xSectorSize = forward_sector_size,
    .xDeviceCharacteristics = forward_device_characteristics,
};
