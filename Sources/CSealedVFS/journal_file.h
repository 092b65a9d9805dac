// Declarations shared by the files of the rollback journal.
#ifndef SEALED_VFS_JOURNAL_FILE_H
#define SEALED_VFS_JOURNAL_FILE_H

#include "internal.h"

enum {
  JOURNAL_HEADER_BYTES = 28,
  JOURNAL_COUNT = 8,
  JOURNAL_PAGES = 16,
  JOURNAL_SECTOR = 20,
  JOURNAL_PAGE_SIZE = 24,
  JOURNAL_NUMBER_BYTES = 4, // of a record: its page's number
};

// What a read found where a header may be.
enum journal_found { FOUND_HEADER, FOUND_NOTHING, FOUND_OTHER };

int journal_real_read(struct sealed_file *file, void *bytes, size_t amount, int64_t offset);
int journal_real_write(struct sealed_file *file, const void *bytes, size_t amount, int64_t offset);
// Reports a finding; `page` is 0 where unknown. Returns its SQLITE_... code.
int journal_finding(struct sealed_file *file, sealed_vfs_kind kind, uint64_t page, int64_t offset);
// Whether a record's number announces the name of a super-journal.
bool journal_is_super_number(const struct sealed_file *file, const uint8_t *number);

// Loads the header at `offset` into the state, which is unchanged if there is none.
int journal_load_header(struct sealed_file *file, int64_t offset, enum journal_found *found, sealed_vfs_kind *kind);
// Loads the header that this handle wrote last.
int journal_load_last_header(struct sealed_file *file);
// Reads the first bytes at a place where a header may be: is the journal hot, is there another segment?
int journal_read_header_start(struct sealed_file *file, uint8_t *result, size_t amount, int64_t offset);
int journal_write_header(struct sealed_file *file, const uint8_t *bytes, size_t amount, int64_t offset);
// Writes the magic number and the number of records over a header once the records are complete.
int journal_put_count(struct sealed_file *file, const uint8_t *bytes, int64_t offset);
// Erases a header: at the end of a transaction (journal_mode=PERSIST), or one that an older journal left behind this
// one.
int journal_erase_header(struct sealed_file *file, int64_t offset);

#endif
