// Declarations shared by the files of the write-ahead log.
#ifndef SEALED_VFS_WAL_FILE_H
#define SEALED_VFS_WAL_FILE_H

#include "internal.h"

enum {
  WAL_PLAIN_BYTES = 32, // none in a file of version 1
  WAL_HEADER_BYTES = 32,
  WAL_SEALED_HEADER = WAL_HEADER_BYTES + TRAILER_BYTES,
  FRAME_HEADER_BYTES = 24,
  FRAME_COMMIT = 4, // the database's pages after this frame, if a transaction ends with it; else 0
  FRAME_SALTS = 8,
  FRAME_CHECKSUM = 16,
};

// The log's header as SQLite wrote it; all zero if there is none.
struct wal_header {
  uint8_t bytes[WAL_HEADER_BYTES];
  uint32_t main_pages; // pages of the main file when this generation began
};

int wal_real_read(struct sealed_file *file, void *bytes, size_t amount, int64_t offset);
int wal_real_write(struct sealed_file *file, const void *bytes, size_t amount, int64_t offset);
int64_t wal_frame_offset(const struct sealed_file *file, uint64_t frame);
// Reports a finding; `frame` is 0 for the header. Returns its SQLITE_... code.
int wal_finding(struct sealed_file *file, sealed_vfs_kind kind, uint64_t frame);

// Determines the layout of the log's header on disk. Call before using any offset in it.
int wal_learn_layout(struct sealed_file *file);
// How much longer the log is on disk than to SQLite: all frames lie that much further.
size_t wal_added_bytes(const struct sealed_file *file);
// Reads and decrypts the header. Zeros left by a crash stay zeros, which SQLite takes for no log.
int wal_read_header(struct sealed_file *file, struct wal_header *header);
int wal_write_header(struct sealed_file *file, const uint8_t *bytes);
// Fails unless a frame with these salts belongs to the generation in force.
int wal_check_generation(struct sealed_file *file, uint64_t frame, const uint8_t salts[WAL_SALTS_BYTES]);
// Whether frames with these salts belong to the generation in force, as far as this connection knows it.
bool wal_is_in_force(struct sealed_file *file, const uint8_t salts[WAL_SALTS_BYTES]);
// Drops the kept headers of the frames that this connection has written.
void wal_forget_headers(struct sealed_file *file);
// Whether a frame with these salts belongs to a later generation than the header that was read last.
bool wal_is_later_generation(const struct sealed_file *file, const uint8_t salts[WAL_SALTS_BYTES]);

// wal_recovered.c: keeps a frame that recovery has read and authenticated until its page is read. SQLITE_OK or
// SQLITE_NOMEM.
int wal_keep_recovered(struct sealed_file *file, uint64_t frame, const uint8_t *text, size_t frame_bytes);
// Call when recovery has ended, under SQLite's lock for writing.
void wal_end_recovery(struct sealed_file *file);
// Returns the frame's page, once, if it is kept and still what the frame holds.
bool wal_take_recovered(struct sealed_file *file, uint64_t frame, uint8_t *page, size_t page_size);
void wal_forget_recovered(struct sealed_file *file);

#endif
