/// A SQLite VFS whose connections can release every lock without being closed.
///
/// It wraps SQLite's own VFS for Unix, and another may be on top of it (`CSealedVFS`). README.md explains why what is
/// kept while dozing cannot be stale. A dozing connection has its files open, but no lock on any of them: SQLite itself
/// releases the locks and takes them again, by its own protocol, so processes without this VFS take part as usual.
///
/// A connection belongs to one thread at a time. Functions return a SQLite result code.
#ifndef DOZING_VFS_H
#define DOZING_VFS_H

#ifdef __cplusplus
extern "C" {
#endif

struct sqlite3;

/// The name it is registered under.
#define DOZING_VFS_NAME "dozing"

/// Registers the VFS over SQLite's default one. Repeating this changes nothing.
int dozing_vfs_register(void);

/// Releases all locks that the connection has on its main database, and drops its page cache. SQLITE_MISUSE while a
/// statement runs or a transaction is open; SQLITE_NOTFOUND for a connection that cannot doze: not opened through this
/// VFS, not in WAL mode, locked exclusively, its files already moved, or unsupported by the system. Then nothing has
/// changed. After a success each statement fails; only `dozing_vfs_wake` and closing are useful.
int dozing_vfs_doze(struct sqlite3 *database);

/// Takes the locks of an idle connection again. If that fails, the connection keeps dozing and must be closed:
/// SQLITE_BUSY, another process is changing the files as a whole; SQLITE_NOTFOUND, path or log now lead to other files,
/// or the database has left WAL mode. The schema may have changed: SQLite detects this by itself, as in any connection.
int dozing_vfs_wake(struct sqlite3 *database);

#ifdef __cplusplus
}
#endif

#endif
