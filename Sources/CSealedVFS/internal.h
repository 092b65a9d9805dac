// Declarations shared by the files of this folder, and not visible outside.
#ifndef SEALED_VFS_INTERNAL_H
#define SEALED_VFS_INTERNAL_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "sealed_vfs.h"

enum {
  KEY_BYTES = SEALED_VFS_KEY_BYTES,
  SALT_BYTES = SEALED_VFS_SALT_BYTES,
  TRAILER_BYTES = SEALED_VFS_RESERVED_BYTES,
  // Of new files. Files of version 1 keep theirs; see README.md for the differences.
  FORMAT_VERSION = 2,
  // Mark and salt of a file. A trailer is, with XChaCha20-Poly1305: label, nonce, tag (16 bytes); with AEGIS-256: mark,
  // nonce, tag (32 bytes). There the salt is in page 1 and in the headers of WAL and journal only.
  LABEL_BYTES = 24,
  MARK_BYTES = LABEL_BYTES - SALT_BYTES,
  NONCE_BYTES = 24,
  // Bytes 0..23 of the file stay a plain SQLite header (INC-02).
  CLEAR_BYTES = 24,
  HEADER_PAGE_SIZE = 16,
  HEADER_RESERVED = 20,
  WAL_SALTS_BYTES = 8, // of the log's header, repeated in each of its frames
  MIN_PAGE = 512,
  MAX_PAGE = 65536,
};

// ---- Seals (seal.c) ----

// The sort of a sealed part. Covered by the tag, so that no part passes for one of another sort.
enum seal_sort {
  SORT_PAGE = 1,
  SORT_WAL_HEADER = 2,
  SORT_WAL_FRAME = 3,
  SORT_JOURNAL_HEADER = 4,
  SORT_JOURNAL_RECORD = 5,
  SORT_TEMPORARY = 6,
};

// The keys of one file: guarded memory, owned by one open main or temporary file.
struct file_keys {
  uint8_t key[KEY_BYTES];
  uint8_t label[LABEL_BYTES];
};

// Nonces requested from the kernel together: a request takes as long as encrypting a page with AEGIS-256. They are used
// in one transaction, and the rest is dropped with its lock. So a forked process has none of them unless it continues
// its parent's transaction, and of a virtual machine that is resumed twice, only a transaction that was under way uses
// one twice.
enum { NONCES = 16 };
struct nonces {
  uint8_t bytes[NONCES][NONCE_BYTES];
  size_t left; // the first ones
};

// Where a part belongs, and what is authenticated with it but not encrypted.
struct seal_place {
  enum seal_sort sort;
  uint64_t number;
  const uint8_t *clear; // CLEAR_BYTES of page 1, or NULL
};

// The label of a new file, except for the check, which needs a key.
void seal_new_label(uint8_t label[LABEL_BYTES], sealed_vfs_cipher cipher, const uint8_t salt[SALT_BYTES],
                    bool is_passphrase);
// Derives the key of the file with this label. The check in `keys` is the key's.
void seal_file_keys(struct file_keys *keys, const uint8_t master[KEY_BYTES], const uint8_t label[LABEL_BYTES]);
// The chosen cipher of new files, and the fastest one.
sealed_vfs_cipher seal_chosen_cipher(void);
sealed_vfs_cipher seal_fastest_cipher(void);
// Encrypts `length` bytes in place, and fills the trailer. The nonce is the next of `drawn`, or if that is NULL, one of
// its own.
void seal_close(const struct file_keys *keys, struct nonces *drawn, struct seal_place place, uint8_t *text,
                size_t length, uint8_t *trailer);
// Like `seal_close`, with a number in the last bytes of the nonce. The other 20 are random.
void seal_close_noting(const struct file_keys *keys, struct seal_place place, uint8_t *text, size_t length,
                       uint8_t *trailer, uint32_t noted);
uint32_t seal_noted(const uint8_t *trailer);
// Decrypts in place. False, and no plaintext, unless it was sealed for this place in this file.
bool seal_open(const struct file_keys *keys, struct seal_place place, uint8_t *text, size_t length,
               const uint8_t *trailer);
// Whether a mark belongs to this format at all: SEALED_VFS_NOTHING, SEALED_VFS_CIPHER_UNAVAILABLE,
// SEALED_VFS_NEWER_FORMAT or SEALED_VFS_DAMAGED.
sealed_vfs_kind seal_mark_kind(const uint8_t mark[MARK_BYTES]);
uint8_t seal_mark_version(const uint8_t mark[MARK_BYTES]);
sealed_vfs_cipher seal_mark_cipher(const uint8_t mark[MARK_BYTES]);
bool seal_mark_is_passphrase(const uint8_t mark[MARK_BYTES]);
const uint8_t *seal_label_salt(const uint8_t label[LABEL_BYTES]);
// Number of salt bytes that page 1 and the headers have outside their trailers: 0 where the salt is in the trailer.
size_t seal_salt_beside(const uint8_t mark[MARK_BYTES]);

// What a part says about the file it belongs to.
struct part_label {
  uint8_t bytes[LABEL_BYTES];
  bool has_salt; // else it only shows whether the part belongs to a known file
};

// `beside`: this part's salt where it is not in the trailer; NULL if the part then has none.
struct part_label seal_part_label(const uint8_t *trailer, const uint8_t *beside);
bool seal_is_of_file(const struct file_keys *keys, const struct part_label *label);
// What the plain header says about a file; not authenticated yet.
sealed_vfs_kind header_kind(const uint8_t header[CLEAR_BYTES]);
uint32_t header_page_size(const uint8_t *header);
bool is_page_size(int64_t size);
// The page with SQLite's lock bytes: it has no content, and is never written.
uint64_t lock_byte_page(uint32_t page_size);
bool is_all_zero(const uint8_t *bytes, size_t length);
uint32_t get_u32(const uint8_t *bytes);

// ---- Guarded memory (guarded.c) ----

// NULL if there is none. `guarded_free` wipes it, and ignores NULL.
void *guarded_allocate(size_t bytes);
void guarded_free(void *memory);

// ---- Registered keys (keys.c) ----

struct key_entry;

// Finds the key of a path and counts one more user; NULL if there is none.
struct key_entry *keys_retain(const char *path);
// For a user that no longer needs a key of it: it must not call `keys_for_file` again. It stays a user.
void keys_settle(struct key_entry *entry);
void keys_release(struct key_entry *entry, bool is_settled);
// Derives what this file needs from the entry. SEALED_VFS_NOTHING, SEALED_VFS_WRONG_KEY or SEALED_VFS_NO_MEMORY.
// `label`: the one found in the file, or NULL to create a new identity.
sealed_vfs_kind keys_for_file(struct key_entry *entry, const uint8_t *label, struct file_keys *keys);
// Guarded memory, or NULL.
struct file_keys *keys_allocate(void);
void keys_wipe(struct file_keys *keys);

// ---- Findings (report.c) ----

struct sealed_file;
void report(const struct sealed_file *file, sealed_vfs_kind kind, uint64_t page, uint64_t frame, int64_t offset);
// Like `report`, for a file that could not be opened.
void report_path(const char *path, sealed_vfs_kind kind);

// ---- Files ----

// How certain a main file's identity (the salt in its label) is.
enum identity {
  IDENTITY_NONE,        // nothing known: empty, or not read yet
  IDENTITY_PROVISIONAL, // from a read without a lock, from a journal, or invented for a file not created yet
  IDENTITY_FIRM,        // page 1 authenticated under a lock, or was written here
};

struct journal_state {
  uint8_t header[28];    // plaintext of the header last read or written
  int64_t header_offset; // -1: none
  int64_t last_header;   // where this handle wrote its last header; -1: none
  int64_t super_offset;  // from here on the name of a super-journal follows, plain; -1: none
  int64_t record_offset; // record in `buffer`: being assembled, or last read; -1: none
  uint32_t filled;       // bytes of it that have been written; 0 when it was read
  bool unsynced;         // something was written since the last sync
};

struct kept_header;
struct recovered;

struct wal_state {
  struct kept_header *kept; // headers of frames written in the current transaction, or NULL
  size_t kept_first;        // the first slot in use
  size_t kept_end;          // behind the last; equal to kept_first if none is
  struct recovered *recovered; // the last frames read by recovery, or NULL
  size_t plain_bytes;   // in front of the sealed header; determined anew for each operation
  size_t salt_bytes;    // behind it; likewise
  uint64_t assembling;  // frame being assembled in `buffer`; 0: none
  uint32_t filled;      // its bytes so far
  uint64_t held;        // frame whose plaintext is in `spare`, read whole; 0: none
  uint64_t highest_own; // highest frame this handle has written since the WAL's header was read or written
  uint8_t salts[WAL_SALTS_BYTES]; // of the generation this handle knows, if any
  bool salts_known;
  bool is_uncommitted; // this handle has begun it, in the current transaction
  uint8_t needing_salts[WAL_SALTS_BYTES]; // the generation that `needed_pages` is about
  uint32_t needed_pages;    // of the main file, or fewer
};

struct temporary_state {
  uint64_t block; // block in `buffer`, from 1; 0: none
  bool dirty;
  int64_t size;     // logical size
  uint8_t *written; // a bit for each block that was written to disk
  uint64_t written_bits;
};

// A file as SQLite sees it. The base VFS's own file follows it in memory.
struct sealed_file {
  sqlite3_file sqlite;      // must be first: SQLite's view
  sqlite3_file *real;       // the base VFS's file
  sqlite3_vfs *base;
  struct sealed_file *main; // the main file of a journal or WAL, and of a main file itself
  struct sealed_file *next; // main only: in the list of open ones
  struct sealed_file *journal, *log; // main only: this connection's, while they are open; else NULL
  const char *path;         // of the main file; SQLite keeps it as long as the file is open. NULL for temporary files
  sealed_vfs_file sort;
  struct key_entry *entry;        // main only
  bool is_settled;                // main only: the identity is final, and the entry's secrets are not needed
  struct file_keys *keys;         // main and temporary only
  enum identity identity;         // main only
  bool is_creating;               // main only: there are pages of the size below, perhaps not page 1 yet
  uint32_t page_size;             // main only; 0: not known
  int lock;                       // main only: SQLITE_LOCK_...
  int granted;                    // main only: the lock that SQLite takes for granted (`nolock`, `immutable`)
  const volatile void *wal_index; // main only: the start of the shared WAL index while it is mapped, or NULL
  volatile uint32_t *index_guard; // main only: the start of the index's file, if the index begins elsewhere in it
  int index_region;               // main only: where it begins
  struct nonces drawn;            // main only: for this file and its WAL
  uint8_t *buffer;                // room for one part on its way to or from disk
  size_t buffer_bytes;
  uint8_t *spare; // WAL only: a second one, as large, behind it
  union {
    struct journal_state journal;
    struct wal_state wal;
    struct temporary_state temporary;
  } state;
};

// File controls that ask whether a main file is sealed, and that wipe plaintext, through any VFS on top. The numbers
// are our own: SQLite uses those below 100.
enum { CONTROL_IS_SEALED = 0x5ea1ed, CONTROL_WIPE = 0x5ea1ee };

// For a main file being closed: from now on no journal or WAL finds it.
void main_unlist(struct sealed_file *file);
// Grows `buffer` (and `spare` of a WAL) to hold `bytes`. SQLITE_OK or SQLITE_NOMEM.
int file_reserve(struct sealed_file *file, size_t bytes);
// Drops the nonces that are left, when a lock is released or a file synced.
void file_drop_nonces(struct sealed_file *main);
// Wipes `buffer` (and `spare` of a WAL).
void file_wipe(struct sealed_file *file);

// main_file.c
extern const sqlite3_io_methods main_methods;
// Ensures that the identity is known before a part of the file is written; creates one for an empty file.
int main_identity_for_writing(struct sealed_file *main);
// Determines the identity for reading a part of a journal or WAL: page 1's, or the part's own if page 1 cannot be read.
// `is_committed`: the part shows that the database's creation was committed, as a WAL does.
sealed_vfs_kind main_identity_for_part(struct sealed_file *main, const struct part_label *label, bool is_committed);
// Reads the page size from the plain header. It stays 0 if the file is empty.
int main_learn_page_size(struct sealed_file *main);
// Call when a log has authenticated under this identity although page 1 could not be read: from now on no part of
// another file is taken for one of this.
void main_confirm_identity(struct sealed_file *main);
// The SQLITE_... code for a finding.
int code_for(sealed_vfs_kind kind);

// wal_file.c, journal_file.c, temporary_file.c
extern const sqlite3_io_methods wal_methods;
// Whether a page must be in the main file, however much of the log has been written back. Other pages in use are in the
// log.
int wal_needs_page(struct sealed_file *log, uint64_t number, bool *result);
// Call when the connection gives up SQLite's lock for writing to the log.
void wal_end_write(struct sealed_file *log);
// Wipes all plaintext: the buffers, and what is kept outside them. Call between two SQLite operations.
void wal_wipe(struct sealed_file *log);
// Wipes and frees what is kept outside the buffers. For a log being closed.
void wal_free(struct sealed_file *log);
// Whether a page was in the main file when the journal began.
bool journal_needs_page(const struct sealed_file *journal, uint64_t number);
extern const sqlite3_io_methods journal_methods;
extern const sqlite3_io_methods temporary_methods;

// ---- Operations passed to the base VFS (forward.c) ----

int forward_close(sqlite3_file *file);
int forward_truncate(sqlite3_file *file, sqlite3_int64 size);
int forward_sync(sqlite3_file *file, int flags);
int forward_file_size(sqlite3_file *file, sqlite3_int64 *size);
int forward_lock(sqlite3_file *file, int level);
int forward_unlock(sqlite3_file *file, int level);
int forward_check_reserved_lock(sqlite3_file *file, int *result);
int forward_file_control(sqlite3_file *file, int operation, void *argument);
int forward_sector_size(sqlite3_file *file);
int forward_device_characteristics(sqlite3_file *file);

// ---- The shared index of the log (wal_index.c) ----

int wal_index_map(sqlite3_file *file, int region, int size, int extend, void volatile **memory);
int wal_index_lock(sqlite3_file *file, int offset, int count, int flags);
void wal_index_barrier(sqlite3_file *file);
int wal_index_unmap(sqlite3_file *file, int delete_flag);

#endif
