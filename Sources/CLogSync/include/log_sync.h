/// Which syncs of a write-ahead log are carried out.
///
/// A connection that stays at `synchronous=FULL` syncs its log with each commit, before other processes see the
/// commit. Here a caller leaves out the sync of single commits, for which it would otherwise need a PRAGMA before each,
/// and the sync of the log's folder where an earlier one has made the log's name durable. All other syncs of SQLite's
/// are carried out: those of checkpoints, and of a log that begins anew.
///
/// A connection belongs to one thread at a time. Functions answer with a SQLite result code.
#ifndef LOG_SYNC_H
#define LOG_SYNC_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

struct sqlite3;

/// Syncs the log's contents, not its folder; whether it could.
typedef bool log_syncer(void *context);

/// Whether commits of this connection wait for the disk from now on. Not to be called in a transaction. SQLITE_NOTFOUND
/// while no log is open, as before the first statement: then each commit waits, as SQLite does it. `syncer` takes the
/// place of the VFS's sync, which is of the folder, too; it is called until the connection is closed. NULL: the VFS's.
int log_sync_choose(struct sqlite3 *database, int waits, log_syncer *syncer, void *context);

#ifdef __cplusplus
}
#endif

#endif
