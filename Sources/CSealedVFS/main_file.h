// Declarations shared by the files of the main file.
#ifndef SEALED_VFS_MAIN_FILE_H
#define SEALED_VFS_MAIN_FILE_H

#include "internal.h"

// Reports a finding. Returns its SQLITE_... code.
int main_finding(struct sealed_file *file, sealed_vfs_kind kind, uint64_t page, int64_t offset);
// The lock that this connection holds, or that SQLite takes for granted.
int main_lock(const struct sealed_file *file);
// Seals a page and writes it.
int main_write_sealed(struct sealed_file *file, uint64_t number, const uint8_t *page);

// Handles a read behind the end of the file.
int main_read_behind_end(struct sealed_file *file, uint64_t number, uint8_t *page);
// Whether the main file has all the pages that page 1 counts. It need not while a WAL holds some of them. SQLite
// detects this too, but not which page is missing.
int main_check_size(struct sealed_file *file, const uint8_t *page);
// Fills the pages from the end of the file up to `start` with sealed zeros, before the range from `start` to `end` is
// written. A hole would read as zeros that no tag vouches for. SQLite leaves holes where it frees a page it has just
// added, and where it writes pages out of order.
int main_fill_gap(struct sealed_file *file, int64_t start, int64_t end);

#endif
