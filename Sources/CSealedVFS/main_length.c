// The length of the main file: pages that must be there, pages that may be missing, and filling the holes SQLite
// leaves.
#include "main_file.h"

// Whether the current transaction may have added the page. Without a WAL that takes a lock, and SQLite has compared the
// file's size with page 1. With a WAL the committed size is in the shared index: the word at offset 20, see
// https://sqlite.org/walformat.html#the_wal_index_header (0: the WAL is empty, so the file's own size is in force). A
// connection that has the WAL to itself keeps that index from us.
static int may_be_new(struct sealed_file *file, uint64_t number, bool *result) {
  int code = SQLITE_OK;
  if (file->wal_index != NULL) {
    *result = number > ((const volatile uint32_t *)file->wal_index)[5];
  } else {
    bool is_needed = false;
    if (file->log != NULL) { code = wal_needs_page(file->log, number, &is_needed); }
    *result = main_lock(file) >= SQLITE_LOCK_RESERVED && !is_needed;
  }
  return code;
}

int main_read_behind_end(struct sealed_file *file, uint64_t number, uint8_t *page) {
  sqlite3_int64 size = 0;
  int code = forward_file_size(&file->sqlite, &size);
  if (code != SQLITE_OK) { return code; }
  int64_t offset = (int64_t)(number - 1) * file->page_size;
  bool is_empty = size == 0 && number == 1 && file->identity != IDENTITY_FIRM;
  // A writer may return to a page that it has just added and that was never written.
  bool is_new = false;
  if (size > 0 && size <= offset) { code = may_be_new(file, number, &is_new); }
  if (code != SQLITE_OK) { return code; }
  if (is_empty || is_new) {
    memset(page, 0, file->page_size);
    return SQLITE_IOERR_SHORT_READ;
  }
  return main_finding(file, SEALED_VFS_TRUNCATED, number, offset);
}

int main_check_size(struct sealed_file *file, const uint8_t *page) {
  enum { CHANGES = 24, PAGES = 28, CHANGES_OF_PAGES = 92 };
  if (get_u32(page + CHANGES) != get_u32(page + CHANGES_OF_PAGES)) { return SQLITE_OK; }
  int has_log = 0;
  int code = SQLITE_OK;
  if (file->wal_index != NULL) {
    has_log = ((const volatile uint32_t *)file->wal_index)[5] != 0;
  } else {
    code = file->base->xAccess(file->base, sqlite3_filename_wal(file->path), SQLITE_ACCESS_EXISTS, &has_log);
  }
  sqlite3_int64 size = 0;
  if (code == SQLITE_OK && !has_log) { code = forward_file_size(&file->sqlite, &size); }
  if (code != SQLITE_OK || has_log || size >= (int64_t)get_u32(page + PAGES) * file->page_size) { return code; }
  uint64_t missing = (uint64_t)(size / file->page_size) + 1;
  return main_finding(file, SEALED_VFS_TRUNCATED, missing, (int64_t)(missing - 1) * file->page_size);
}

// The file is about to grow beyond `size`: checks that the pages it had before are there. Otherwise it was cut off, and
// whatever we or SQLite's rollback filled in for them would pass for their content.
static int check_not_cut(struct sealed_file *file, int64_t size) {
  uint64_t missing = (uint64_t)(size / file->page_size) + 1;
  bool is_needed = false;
  int code = SQLITE_OK;
  if (file->log != NULL) {
    code = wal_needs_page(file->log, missing, &is_needed);
  } else if (file->journal != NULL) {
    // SQLite counted a partial page as one.
    if (size % file->page_size != 0) { missing++; }
    is_needed = journal_needs_page(file->journal, missing);
  }
  if (code != SQLITE_OK || !is_needed) { return code; }
  return main_finding(file, SEALED_VFS_TRUNCATED, missing, (int64_t)(missing - 1) * file->page_size);
}

int main_fill_gap(struct sealed_file *file, int64_t start, int64_t end) {
  const uint64_t lock_page = lock_byte_page(file->page_size); // never written
  sqlite3_int64 size = 0;
  int code = forward_file_size(&file->sqlite, &size);
  // Pages from a log are the missing ones, if none is skipped.
  if (code == SQLITE_OK && size < (file->log != NULL ? start : end)) { code = check_not_cut(file, size); }
  if (code != SQLITE_OK || size >= start) { return code; }
  uint8_t *zeros = sqlite3_malloc((int)file->page_size);
  if (zeros == NULL) { return SQLITE_NOMEM; }
  memset(zeros, 0, file->page_size);
  // From the last whole page on: a page left partial by a failed write is rewritten.
  for (int64_t at = size / file->page_size * file->page_size; code == SQLITE_OK && at < start; at += file->page_size) {
    uint64_t number = (uint64_t)(at / file->page_size) + 1;
    if (number != lock_page) { code = main_write_sealed(file, number, zeros); }
  }
  sqlite3_free(zeros);
  return code;
}
