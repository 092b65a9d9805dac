/// A SQLite VFS that seals every page: encrypted, authenticated, bound to its place and to its file.
///
/// It wraps another VFS. Databases are opened through it by its name ("sealed"), in a URI (`file:x.db?vfs=sealed`) or
/// as the last argument of `sqlite3_open_v2`. The key never travels through SQLite: it is registered here for the path
/// of the database, before the database is opened. README.md beside this file describes the format, and what it hides
/// and does not.
///
/// Every function may be called from any thread. Functions that return `int` answer with a SQLite result code.
/// Strings are UTF-8 and NUL-terminated. Nothing is kept of what is passed in, unless the function says so.
#ifndef SEALED_VFS_H
#define SEALED_VFS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct sqlite3;

/// The name it is registered under, unless another is asked for.
#define SEALED_VFS_NAME "sealed"

/// Bytes of a key, of the salt, and of each page that the seal takes.
#define SEALED_VFS_KEY_BYTES 32
#define SEALED_VFS_SALT_BYTES 16
#define SEALED_VFS_RESERVED_BYTES 64

/// What was found wrong with a file.
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
  /// Sealed by a later version of this format, or with a cipher that is not known here (SQLITE_NOTADB).
  SEALED_VFS_NEWER_FORMAT = 5,
  /// A page, frame, header or record does not authenticate: changed, moved, or replaced (SQLITE_IOERR_DATA; page 1:
  /// SQLITE_NOTADB).
  SEALED_VFS_DAMAGED = 6,
  /// A part belongs to another sealed file under the same key (SQLITE_IOERR_DATA).
  SEALED_VFS_FOREIGN = 7,
  /// The file ends before a page that belongs to it (SQLITE_IOERR_DATA).
  SEALED_VFS_TRUNCATED = 8,
  /// A write that would not fit the format: no room for the seal, or another page size (SQLITE_READONLY).
  SEALED_VFS_UNSUITABLE = 9,
  /// Not an error: recovery of a log or a journal ended at a part that does not authenticate. This is what a write torn
  /// by a loss of power looks like; what SQLite had promised to keep is not affected, unless the file was edited.
  SEALED_VFS_CUT = 10,
  /// Guarded memory, or the 64 MB that Argon2id needs, could not be had (SQLITE_NOMEM).
  SEALED_VFS_NO_MEMORY = 11,
  /// Sealed with a cipher of this format that the linked libsodium does not have (SQLITE_NOTADB).
  SEALED_VFS_CIPHER_UNAVAILABLE = 12,
} sealed_vfs_kind;

/// What a file is sealed with: a property of the file, from its creation on.
typedef enum sealed_vfs_cipher {
  /// AEGIS-256 where libsodium has it and the processor has instructions for AES, else XChaCha20-Poly1305.
  SEALED_VFS_FASTEST = 0,
  SEALED_VFS_XCHACHA20_POLY1305 = 1,
  /// Needs libsodium 1.0.19. Slow on a processor without instructions for AES (0.1 ms a page).
  SEALED_VFS_AEGIS_256 = 2,
} sealed_vfs_cipher;

/// Which file of a database it was found in.
typedef enum sealed_vfs_file {
  SEALED_VFS_FILE_MAIN = 1,
  SEALED_VFS_FILE_WAL = 2,
  SEALED_VFS_FILE_JOURNAL = 3,
  SEALED_VFS_FILE_TEMPORARY = 4,
} sealed_vfs_file;

/// One finding. It never holds content of a page, or anything of a key.
typedef struct sealed_vfs_report {
  sealed_vfs_kind kind;
  sealed_vfs_file file;
  /// Number of the page, from 1; 0 where it is not known, since the frame that would tell is sealed itself.
  uint64_t page;
  /// Number of the WAL frame, from 1; 0 elsewhere, and for the WAL's header.
  uint64_t frame;
  /// Where the part begins in the file on disk, in bytes.
  int64_t offset;
  /// Path of the database, cut at 511 bytes; empty for temporary files.
  char path[512];
} sealed_vfs_report;

/// Registers the VFS over `base` (NULL: SQLite's default VFS) under `name` (NULL: SEALED_VFS_NAME). Doing it again
/// changes nothing. From then on each new connection whose main database is opened through it reserves the seal's bytes
/// by itself.
int sealed_vfs_register(const char *name, const char *base);

/// Makes room for the seal in a database that does not exist yet: `sqlite3_file_control` with
/// SQLITE_FCNTL_RESERVE_BYTES. Needed only for databases that are created by ATTACH; before the first write. `schema`
/// is the attached name.
int sealed_vfs_prepare(struct sqlite3 *database, const char *schema);

/// Wipes what has been decrypted in the buffers of an open database and its log. Nothing else changes. For a connection
/// that will not be used for some time. SQLite's own page cache is not these: `sqlite3_db_release_memory` drops it,
/// without wiping. SQLITE_NOTFOUND if the database is not sealed.
int sealed_vfs_wipe(struct sqlite3 *database, const char *schema);

/// Chooses the cipher of the databases that this process creates from now on, also by `VACUUM INTO`; those that exist
/// keep theirs. Until it is called: SEALED_VFS_FASTEST. SQLITE_NOTFOUND if libsodium does not have it; then nothing is
/// changed.
int sealed_vfs_prefer_cipher(sealed_vfs_cipher cipher);

/// Reads from a database's first page what it is sealed with, without a key. Answers as `sealed_vfs_read_salt`.
int sealed_vfs_read_cipher(const char *path, sealed_vfs_cipher *cipher);

/// Flags for the key functions.
enum {
  /// Keep the key after the last connection to the database is closed, until `sealed_vfs_forget_key`.
  SEALED_VFS_KEEP_KEY = 1,
};

/// Registers a raw key for the database at `path`. A key given before is replaced; open connections go on with theirs.
/// The key is held in guarded memory, and wiped when the last connection is closed, or after `sealed_vfs_forget_key` as
/// soon as each connection has read the database's first page: what it then has is the file's own key, from which this
/// one cannot be found.
int sealed_vfs_set_key(const char *path, const uint8_t key[SEALED_VFS_KEY_BYTES], unsigned flags);

/// Registers a passphrase. The key is derived when the salt is known: when the file is opened, or when it is created,
/// with a random salt. So two processes that create it at the same time agree on one database. Takes 64 MB and some
/// 0.1 s at the first open.
int sealed_vfs_set_passphrase(const char *path, const char *passphrase, size_t length, unsigned flags);

/// Takes back a key or a passphrase: no connection can be opened any more. Wiped as soon as no open connection needs
/// it, which is when it has read the first page of a database that was committed. SQLITE_NOTFOUND if there is none.
int sealed_vfs_forget_key(const char *path);

/// Reads the salt of an existing database from its first page, without a key. SQLITE_NOTFOUND if the file is missing or
/// empty; SQLITE_NOTADB if it is not a sealed database. `is_passphrase` (may be NULL) tells whether it was created with
/// a passphrase.
int sealed_vfs_read_salt(const char *path, uint8_t salt[SEALED_VFS_SALT_BYTES], int *is_passphrase);

/// Tells what the main database of a connection is, without a key; the connection may have been opened through any VFS:
/// SEALED_VFS_NOTHING if the database is sealed, SEALED_VFS_CIPHER_UNAVAILABLE if it is, with a cipher that libsodium
/// does not have, SEALED_VFS_NEWER_FORMAT or SEALED_VFS_DAMAGED if it seems to be, else SEALED_VFS_NOT_SEALED. Call it
/// before the first statement: one that a plain connection runs may destroy a sealed database (README.md, "Plain SQLite
/// on a sealed database"). A few short reads.
sealed_vfs_kind sealed_vfs_inspect(struct sqlite3 *database);

/// Argon2id, version 1.3, libsodium's interactive limits (2 passes, 64 MB): what a passphrase is to a database with
/// this salt. A process that cannot afford the memory is given this key by one that can. SQLITE_NOMEM if the memory is
/// not to be had.
int sealed_vfs_derive_key(const char *passphrase, size_t length, const uint8_t salt[SEALED_VFS_SALT_BYTES],
                          uint8_t key[SEALED_VFS_KEY_BYTES]);

/// Called on the thread that found something, while SQLite is inside a file operation: it must not call SQLite. Other
/// threads that find something wait for it. The report is valid during the call.
typedef void (*sealed_vfs_observer)(void *context, const sealed_vfs_report *report);

/// Sets the one observer of the process (NULL: none). When it returns, the former observer is not called any more. An
/// observer may call it to replace or remove itself.
void sealed_vfs_observe(sealed_vfs_observer observer, void *context);

/// The last finding on the calling thread; its kind is SEALED_VFS_NOTHING if there was none since
/// `sealed_vfs_clear_report`.
void sealed_vfs_last_report(sealed_vfs_report *report);
void sealed_vfs_clear_report(void);

/// A short English name of a kind, for logs. Never NULL.
const char *sealed_vfs_kind_name(sealed_vfs_kind kind);

#ifdef __cplusplus
}
#endif

#endif
