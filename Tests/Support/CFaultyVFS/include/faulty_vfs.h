/// A SQLite VFS for tests: it fails on demand or at random, loses power, and searches everything that is written.
///
/// It wraps SQLite's own VFS and is registered as "faulty". While nothing is armed it passes everything on. All
/// functions may be called from any thread; `faults` itself only while no connection is open.
#ifndef FAULTY_VFS_H
#define FAULTY_VFS_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum operation {
  OP_READ, OP_WRITE, OP_SYNC, OP_TRUNCATE, OP_SIZE, OP_OPEN, OP_DELETE, OP_LOCK, OP_SHM_LOCK, OP_SHM_MAP, OP_COUNT
};

/// The sorts of files, as counted by `faults.writes`; the values are those of `sealed_vfs_file`.
enum faulty_sort { FAULTY_SUPER_JOURNAL = 0, FAULTY_MAIN = 1, FAULTY_WAL = 2, FAULTY_JOURNAL = 3, FAULTY_TEMPORARY = 4 };

struct faults {
  enum operation operation;
  long countdown;    // the nth operation of that sort fails; 0: none
  bool sticky;       // and all later ones
  bool short_write;  // half of it arrives
  int code;          // the result
  bool fired;
  // Any operation after the power loss fails.
  long writes_to_power_loss;
  bool power_is_lost;
  // Each sync reports success and does nothing.
  bool loses_syncs;
  // Each operation fails with this chance, in millionths; now and then the disk stays full for a while.
  unsigned chance;
  // Affects only files whose path contains this or, if it ends with a "$", whose path ends with it; NULL: all.
  const char *path;
  // Writes are searched for this.
  const char *canary;
  long canary_hits;
  long writes[5];  // by sort
  long struck;     // number of operations that failed
  bool immutable;  // whether the files are reported to be on a read-only medium
  bool psow;       // whether power-safe overwrites are promised (SQLite pads the log where they are not)
};
extern struct faults faults;

/// Nothing fails any longer; unsynced writes count as synced.
void faults_reset(void);

/// Registers "faulty"; with `is_default`, connections that name no VFS go through it. May be called again.
int faulty_vfs_register(bool is_default);

/// Undoes a random part of the writes since the last sync, by sectors, and resets. All connections must be closed.
/// `state` is a generator's (splitmix64).
void faults_return_power(uint64_t *state);

/// Writes to files whose path contains this wait until this is called again with NULL.
void faults_hold_writes(const char *path);
/// Whether a write is waiting now.
bool faults_hold_one(void);

/// For Swift, which does not access C globals. The nth operation fails, and all later ones if `sticky`.
void faults_arm(enum operation operation, long nth, bool sticky, bool short_write, int code, const char *path);
void faults_arm_power(long writes, bool loses_syncs, const char *path);
void faults_arm_chance(unsigned millionths, uint64_t seed, const char *path);
bool faults_fired(void);
long faults_struck(void);
void faults_cut_power(void);

#ifdef __cplusplus
}
#endif

#endif
