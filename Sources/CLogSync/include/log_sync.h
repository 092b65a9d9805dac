/// Chooses which syncs of a write-ahead log are carried out.
///
/// A connection that stays at `synchronous=FULL` syncs its log with each commit, before other processes see the
/// commit. With these functions a caller can omit the sync of single commits, for which it would otherwise need a
/// PRAGMA before each, and the sync of the log's folder where an earlier one has made the log's name durable. All other
/// syncs by SQLite are carried out: those of checkpoints, and of a log that starts over.
///
/// A connection belongs to one thread at a time. Functions return a SQLite result code.
#ifndef LOG_SYNC_H
#define LOG_SYNC_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

struct sqlite3;

/// Syncs the log's contents, not its folder; returns whether it succeeded.
typedef bool log_syncer(void *context);

/// Chooses whether commits of this connection wait for the disk from now on. Do not call it in a transaction.
/// SQLITE_NOTFOUND while no log is open, as before the first statement: then each commit waits, as in plain SQLite.
/// `syncer` replaces the VFS's sync, which also syncs the folder; it is called until the connection is closed. NULL:
/// the VFS's.
int log_sync_choose(struct sqlite3 *database, int waits, log_syncer *syncer, void *context);

#ifdef __cplusplus
}
#endif

#endif
