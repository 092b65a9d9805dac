/// A SQLite VFS that seals every page: encrypts it, authenticates it, and binds it to its place and its file.
///
/// It wraps another VFS. Databases are opened through it by its name ("sealed"), in a URI (`file:x.db?vfs=sealed`) or
/// as the last argument of `sqlite3_open_v2`. The key never passes through SQLite: it is registered here for the
/// database's path before the database is opened. README.md describes the format, and what it hides and does not hide.
///
/// Every function may be called from any thread. Functions returning `int` return a SQLite result code. Strings are
/// UTF-8 and NUL-terminated. No argument is kept, unless the function says so.
#ifndef SEALED_VFS_H
#define SEALED_VFS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct sqlite3;

/// The default name it is registered under.
#define SEALED_VFS_NAME "sealed"

/// Sizes in bytes: of a key, of the salt, and of the room that the seal takes in each page.
#define SEALED_VFS_KEY_BYTES 32
#define SEALED_VFS_SALT_BYTES 16
#define SEALED_VFS_RESERVED_BYTES 64

/// The kinds of findings about a file.
typedef enum sealed_vfs_kind {
  SEALED_VFS_NOTHING = 0,
  /// No key is registered for the path (SQLITE_AUTH).
  SEALED_VFS_NO_KEY = 1,
  /// The file was sealed under another key (SQLITE_NOTADB).
  SEALED_VFS_WRONG_KEY = 2,
  /// A plain SQLite file, or one that something else encrypted (SQLITE_NOTADB).
  SEALED_VFS_NOT_SEALED = 3,
  /// Not a SQLite file at all (SQLITE_NOTADB).
  SEALED_VFS_NOT_A_DATABASE = 4,
  /// Sealed with a later version of this format, or with an unknown cipher (SQLITE_NOTADB).
  SEALED_VFS_NEWER_FORMAT = 5,
  /// A page, frame, header or record does not authenticate: changed, moved, or replaced (SQLITE_IOERR_DATA; page 1:
  /// SQLITE_NOTADB).
  SEALED_VFS_DAMAGED = 6,
  /// A part belongs to another file sealed with the same key (SQLITE_IOERR_DATA).
  SEALED_VFS_FOREIGN = 7,
  /// The file ends before a page that belongs to it (SQLITE_IOERR_DATA).
  SEALED_VFS_TRUNCATED = 8,
  /// A write that does not fit the format: no room for the seal, or another page size (SQLITE_READONLY).
  SEALED_VFS_UNSUITABLE = 9,
  /// Not an error: recovery of a log or a journal ended at a part that does not authenticate. A write torn by a power
  /// loss looks like this; what SQLite had promised to keep is not affected, unless the file was edited.
  SEALED_VFS_CUT = 10,
  /// Guarded memory, or the 64 MB that Argon2id needs, is not available (SQLITE_NOMEM).
  SEALED_VFS_NO_MEMORY = 11,
  /// Sealed with a cipher of this format that the linked libsodium lacks (SQLITE_NOTADB).
  SEALED_VFS_CIPHER_UNAVAILABLE = 12,
} sealed_vfs_kind;

/// The cipher of a file: a property of the file from its creation on.
typedef enum sealed_vfs_cipher {
  /// AEGIS-256 where libsodium has it and the processor has instructions for AES, else XChaCha20-Poly1305.
  SEALED_VFS_FASTEST = 0,
  SEALED_VFS_XCHACHA20_POLY1305 = 1,
  /// Needs libsodium 1.0.19. Slow on a processor without instructions for AES (0.1 ms a page).
  SEALED_VFS_AEGIS_256 = 2,
} sealed_vfs_cipher;

/// The file of a database that a finding is about.
typedef enum sealed_vfs_file {
  SEALED_VFS_FILE_MAIN = 1,
  SEALED_VFS_FILE_WAL = 2,
  SEALED_VFS_FILE_JOURNAL = 3,
  SEALED_VFS_FILE_TEMPORARY = 4,
} sealed_vfs_file;

/// One finding. It never contains page content or key material.
typedef struct sealed_vfs_report {
  sealed_vfs_kind kind;
  sealed_vfs_file file;
  /// Number of the page, from 1; 0 where unknown, since the frame that names it is sealed itself.
  uint64_t page;
  /// Number of the WAL frame, from 1; 0 elsewhere, and for the WAL's header.
  uint64_t frame;
  /// Offset of the part in the file on disk, in bytes.
  int64_t offset;
  /// Path of the database, cut at 511 bytes; empty for temporary files.
  char path[512];
} sealed_vfs_report;

/// Registers the VFS over `base` (NULL: SQLite's default VFS) under `name` (NULL: SEALED_VFS_NAME). Repeating this
/// changes nothing. From then on each new connection whose main database is opened through it reserves the seal's bytes
/// automatically.
int sealed_vfs_register(const char *name, const char *base);

/// Makes room for the seal in a database that does not exist yet: `sqlite3_file_control` with
/// SQLITE_FCNTL_RESERVE_BYTES. Needed only for databases created by ATTACH, before the first write. `schema` is the
/// attached name.
int sealed_vfs_prepare(struct sqlite3 *database, const char *schema);

/// Wipes plaintext from the buffers of an open database and its log. Nothing else changes. For a connection that will
/// not be used for some time. This does not include SQLite's own page cache: `sqlite3_db_release_memory` drops that,
/// without wiping. SQLITE_NOTFOUND if the database is not sealed.
int sealed_vfs_wipe(struct sqlite3 *database, const char *schema);

/// Chooses the cipher of the databases that this process creates from now on, including by `VACUUM INTO`; existing ones
/// keep theirs. The default is SEALED_VFS_FASTEST. SQLITE_NOTFOUND, without effect, if libsodium lacks the cipher.
int sealed_vfs_prefer_cipher(sealed_vfs_cipher cipher);

/// Reads a database's cipher from its first page, without a key. Returns the same codes as `sealed_vfs_read_salt`.
int sealed_vfs_read_cipher(const char *path, sealed_vfs_cipher *cipher);

/// Flags for the key functions.
enum {
  /// Keep the key after the last connection to the database is closed, until `sealed_vfs_forget_key`.
  SEALED_VFS_KEEP_KEY = 1,
};

/// Registers a raw key for the database at `path`. Replaces an earlier key; open connections continue with theirs. The
/// key is held in guarded memory, and wiped when the last connection is closed, or after `sealed_vfs_forget_key` as
/// soon as each connection has read the database's first page: from then on a connection has the file's own key, from
/// which this one cannot be recovered.
int sealed_vfs_set_key(const char *path, const uint8_t key[SEALED_VFS_KEY_BYTES], unsigned flags);

/// Registers a passphrase. The key is derived when the salt is known: when the file is opened, or created with a random
/// salt. So two processes that create it at the same time agree on one database. Takes 64 MB and about 0.1 s at the
/// first open.
int sealed_vfs_set_passphrase(const char *path, const char *passphrase, size_t length, unsigned flags);

/// Unregisters a key or a passphrase: connections can no longer be opened. It is wiped as soon as no open connection
/// needs it; a connection no longer does once it has read the first page of a database that was committed.
/// SQLITE_NOTFOUND if there is none.
int sealed_vfs_forget_key(const char *path);

/// Reads the salt of an existing database from its first page, without a key. SQLITE_NOTFOUND if the file is missing or
/// empty; SQLITE_NOTADB if it is not a sealed database. `is_passphrase` (may be NULL) receives whether it was created
/// with a passphrase.
int sealed_vfs_read_salt(const char *path, uint8_t salt[SEALED_VFS_SALT_BYTES], int *is_passphrase);

/// Determines, without a key, whether a connection's main database is sealed; the connection may have been opened
/// through any VFS. SEALED_VFS_NOTHING if it is sealed, SEALED_VFS_CIPHER_UNAVAILABLE if it is, with a cipher that
/// libsodium lacks, SEALED_VFS_NEWER_FORMAT or SEALED_VFS_DAMAGED if it seems to be, else SEALED_VFS_NOT_SEALED. Call
/// it before the first statement: a statement on a plain connection may destroy a sealed database (README.md, "Plain
/// SQLite on a sealed database"). Makes a few short reads.
sealed_vfs_kind sealed_vfs_inspect(struct sqlite3 *database);

/// Derives the key of a database with this salt from a passphrase: Argon2id, version 1.3, libsodium's interactive
/// limits (2 passes, 64 MB). A process that cannot afford the memory gets the key from one that can. SQLITE_NOMEM if
/// the memory is not available.
int sealed_vfs_derive_key(const char *passphrase, size_t length, const uint8_t salt[SEALED_VFS_SALT_BYTES],
                          uint8_t key[SEALED_VFS_KEY_BYTES]);

/// Called on the thread that found something, while SQLite is inside a file operation: it must not call SQLite. Other
/// threads with findings wait for it. The report is valid during the call.
typedef void (*sealed_vfs_observer)(void *context, const sealed_vfs_report *report);

/// Sets the one observer of the process (NULL: none). Once it returns, the previous observer is no longer called. An
/// observer may call it to replace or remove itself.
void sealed_vfs_observe(sealed_vfs_observer observer, void *context);

/// Returns the calling thread's last finding; its kind is SEALED_VFS_NOTHING if there was none since
/// `sealed_vfs_clear_report`.
void sealed_vfs_last_report(sealed_vfs_report *report);
void sealed_vfs_clear_report(void);

/// A short English name of a kind, for logs. Never NULL.
const char *sealed_vfs_kind_name(sealed_vfs_kind kind);

#ifdef __cplusplus
}
#endif

#endif
