// A VFS below the one under test. It fails on demand, loses power, and searches everything that is written.
#define _GNU_SOURCE
#include "faulty_vfs.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct faulty_file {
  sqlite3_file sqlite;
  sqlite3_file *real;
  enum faulty_sort sort;
  char path[512];
};

// An unsynced write, with the bytes it replaced.
struct unsynced {
  struct unsynced *next;
  char path[512];
  sqlite3_int64 offset, old_size;
  int amount, old_amount;
  uint8_t old[];
};

struct faults faults = {.psow = true};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct unsynced *log_head;
static sqlite3_vfs *base;
static uint64_t random_state;
static long full_for;  // the number of further writes that find the disk full
static int tally = -1;  // a file that gets a letter for each failed operation

static struct faulty_file *self(sqlite3_file *file) { return (struct faulty_file *)(void *)file; }
static const sqlite3_io_methods *methods(sqlite3_file *file) { return self(file)->real->pMethods; }
static sqlite3_file *real(sqlite3_file *file) { return self(file)->real; }

static bool is_touched(const char *path) {
  if (faults.path == NULL) { return true; }
  if (path == NULL) { return false; }
  size_t length = strlen(faults.path), whole = strlen(path);
  if (length == 0 || faults.path[length - 1] != '$') { return strstr(path, faults.path) != NULL; }
  length--;
  return whole >= length && strncmp(path + whole - length, faults.path, length) == 0;
}

// ---- Blocked writes ----

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t gate_moved = PTHREAD_COND_INITIALIZER;
static char held_path[512];  // empty: none
static long held;

void faults_hold_writes(const char *path) {
  pthread_mutex_lock(&gate);
  snprintf(held_path, sizeof held_path, "%s", path != NULL ? path : "");
  pthread_cond_broadcast(&gate_moved);
  pthread_mutex_unlock(&gate);
}

bool faults_hold_one(void) {
  pthread_mutex_lock(&gate);
  bool is_held = held > 0;
  pthread_mutex_unlock(&gate);
  return is_held;
}

static void pass_gate(const char *path) {
  pthread_mutex_lock(&gate);
  held++;
  while (held_path[0] != 0 && strstr(path, held_path) != NULL) { pthread_cond_wait(&gate_moved, &gate); }
  held--;
  pthread_mutex_unlock(&gate);
}

static uint64_t roll(uint64_t *state) {
  uint64_t z = (*state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

static bool chance(uint64_t *state, unsigned percent) { return roll(state) % 100 < percent; }

static void forget(const char *path) {
  pthread_mutex_lock(&lock);
  for (struct unsynced **link = &log_head; *link != NULL;) {
    struct unsynced *entry = *link;
    if (path == NULL || strcmp(entry->path, path) == 0) {
      *link = entry->next;
      free(entry);
    } else {
      link = &entry->next;
    }
  }
  pthread_mutex_unlock(&lock);
}

void faults_reset(void) {
  pthread_mutex_lock(&lock);
  memset(&faults, 0, sizeof faults);
  faults.psow = true;
  full_for = 0;
  pthread_mutex_unlock(&lock);
  forget(NULL);
}

// The result of an operation that fails at random. A lock held elsewhere is not a failure; SQLite then waits or reports
// busy.
static int random_code(enum operation operation) {
  switch (operation) {
    case OP_READ: return SQLITE_IOERR_READ;
    case OP_WRITE:
      if (roll(&random_state) % 3 == 0) { full_for = (long)(roll(&random_state) % 40); }
      faults.short_write = chance(&random_state, 50);
      return roll(&random_state) % 2 == 0 ? SQLITE_FULL : SQLITE_IOERR_WRITE;
    case OP_SYNC: return SQLITE_IOERR_FSYNC;
    case OP_TRUNCATE: return SQLITE_IOERR_TRUNCATE;
    case OP_SIZE: return SQLITE_IOERR_FSTAT;
    case OP_OPEN: return SQLITE_CANTOPEN;
    case OP_DELETE: return SQLITE_IOERR_DELETE;
    case OP_LOCK: return roll(&random_state) % 2 == 0 ? SQLITE_BUSY : SQLITE_IOERR_LOCK;
    case OP_SHM_LOCK: return roll(&random_state) % 2 == 0 ? SQLITE_BUSY : SQLITE_IOERR_SHMLOCK;
    case OP_SHM_MAP: return SQLITE_IOERR_SHMMAP;
    case OP_COUNT: break;
  }
  return SQLITE_IOERR;
}

static int strike_now(enum operation operation) {
  if (faults.power_is_lost && operation != OP_LOCK && operation != OP_SHM_LOCK) { return SQLITE_IOERR; }
  if (operation == OP_WRITE && full_for > 0) {
    full_for--;
    faults.short_write = false;
    return SQLITE_FULL;
  }
  if (faults.chance > 0 && roll(&random_state) % 1000000 < faults.chance) { return random_code(operation); }
  if (faults.countdown <= 0 || faults.operation != operation) { return SQLITE_OK; }
  if (faults.countdown == 1 && faults.sticky) { return faults.code; }
  return --faults.countdown == 0 ? faults.code : SQLITE_OK;
}

// SQLITE_OK, or the code that this operation must return.
static int strike(enum operation operation, const char *path) {
  if (!is_touched(path)) { return SQLITE_OK; }
  pthread_mutex_lock(&lock);
  int code = strike_now(operation);
  if (code != SQLITE_OK && !faults.power_is_lost) {
    faults.fired = true;
    faults.struck++;
    // Immediately, one letter at a time: the process may be killed at any moment.
    static const char letters[OP_COUNT + 1] = "rwstzodlhm";
    if (tally >= 0 && write(tally, &letters[operation], 1) != 1) { abort(); }
  }
  pthread_mutex_unlock(&lock);
  return code;
}

static void remember(sqlite3_file *file, int amount, sqlite3_int64 offset) {
  struct unsynced *entry = calloc(1, sizeof *entry + (size_t)amount);
  if (entry == NULL) { abort(); }
  snprintf(entry->path, sizeof entry->path, "%s", self(file)->path);
  entry->offset = offset;
  entry->amount = amount;
  methods(file)->xFileSize(real(file), &entry->old_size);
  sqlite3_int64 there = entry->old_size - offset;
  entry->old_amount = there < 0 ? 0 : there < amount ? (int)there : amount;
  if (entry->old_amount > 0) { methods(file)->xRead(real(file), entry->old, entry->old_amount, offset); }
  pthread_mutex_lock(&lock);
  entry->next = log_head;
  log_head = entry;
  pthread_mutex_unlock(&lock);
}

void faults_return_power(uint64_t *state) {
  for (struct unsynced *entry = log_head; entry != NULL; entry = entry->next) {
    FILE *file = fopen(entry->path, "r+b");
    if (file == NULL) { continue; }
    for (int at = 0; at < entry->amount;) {
      int sector_end = (int)((entry->offset + at) / 512 * 512 + 512 - entry->offset);
      int end = sector_end < entry->amount ? sector_end : entry->amount;
      if (chance(state, 50)) {
        uint8_t zeros[512] = {0};
        const uint8_t *old = at < entry->old_amount ? entry->old + at : zeros;
        int amount = at < entry->old_amount && end > entry->old_amount ? entry->old_amount - at : end - at;
        fseek(file, (long)entry->offset + at, SEEK_SET);
        fwrite(old, 1, (size_t)amount, file);
        if (amount < end - at) { fwrite(zeros, 1, (size_t)(end - at - amount), file); }
      }
      at = end;
    }
    fclose(file);
    // The growth of a file may be lost.
    if (entry->old_size <= entry->offset && chance(state, 30)) {
      if (truncate(entry->path, entry->old_size) != 0) { abort(); }
    }
  }
  faults_reset();
}

static int faulty_close(sqlite3_file *file) { return methods(file)->xClose(real(file)); }

static int faulty_read(sqlite3_file *file, void *bytes, int amount, sqlite3_int64 offset) {
  int code = strike(OP_READ, self(file)->path);
  return code != SQLITE_OK ? code : methods(file)->xRead(real(file), bytes, amount, offset);
}

static int faulty_write(sqlite3_file *file, const void *bytes, int amount, sqlite3_int64 offset) {
  bool touched = is_touched(self(file)->path);
  pass_gate(self(file)->path);
  faults.writes[self(file)->sort]++;
  if (faults.canary != NULL && memmem(bytes, (size_t)amount, faults.canary, strlen(faults.canary)) != NULL) { faults.canary_hits++; }
  int code = strike(OP_WRITE, self(file)->path);
  if (code != SQLITE_OK) {
    // It ends on a sector boundary: writes within a sector arrive or do not.
    sqlite3_int64 end = (offset + amount / 2) / 512 * 512;
    if (faults.short_write && end > offset) { methods(file)->xWrite(real(file), bytes, (int)(end - offset), offset); }
    return code;
  }
  if (touched && faults.writes_to_power_loss > 0) {
    remember(file, amount, offset);
    if (--faults.writes_to_power_loss == 0) { faults.power_is_lost = true; }
  }
  return methods(file)->xWrite(real(file), bytes, amount, offset);
}

static int faulty_truncate(sqlite3_file *file, sqlite3_int64 size) {
  int code = strike(OP_TRUNCATE, self(file)->path);
  if (code != SQLITE_OK) { return code; }
  // A lost truncation is not modelled, so it must not be undone either.
  forget(self(file)->path);
  return methods(file)->xTruncate(real(file), size);
}

static int faulty_sync(sqlite3_file *file, int flags) {
  int code = strike(OP_SYNC, self(file)->path);
  if (code == SQLITE_OK && !faults.loses_syncs) { forget(self(file)->path); }
  (void)flags;  // the disk itself is not under test
  return code;
}

static int faulty_file_size(sqlite3_file *file, sqlite3_int64 *size) {
  int code = strike(OP_SIZE, self(file)->path);
  return code != SQLITE_OK ? code : methods(file)->xFileSize(real(file), size);
}

static int faulty_lock(sqlite3_file *file, int level) {
  int code = strike(OP_LOCK, self(file)->path);
  return code != SQLITE_OK ? code : methods(file)->xLock(real(file), level);
}

static int faulty_unlock(sqlite3_file *file, int level) { return methods(file)->xUnlock(real(file), level); }

static int faulty_check_reserved_lock(sqlite3_file *file, int *result) { return methods(file)->xCheckReservedLock(real(file), result); }

static int faulty_file_control(sqlite3_file *file, int operation, void *argument) {
  if (operation == SQLITE_FCNTL_POWERSAFE_OVERWRITE) { return SQLITE_NOTFOUND; }
  return methods(file)->xFileControl(real(file), operation, argument);
}

static int faulty_sector_size(sqlite3_file *file) { return methods(file)->xSectorSize(real(file)); }

static int faulty_device_characteristics(sqlite3_file *file) {
  int flags = methods(file)->xDeviceCharacteristics(real(file));
  if (faults.immutable) { flags |= SQLITE_IOCAP_IMMUTABLE; }
  return faults.psow ? flags : flags & ~SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

static int faulty_shm_map(sqlite3_file *file, int region, int size, int extend, void volatile **memory) {
  int code = strike(OP_SHM_MAP, self(file)->path);
  return code != SQLITE_OK ? code : methods(file)->xShmMap(real(file), region, size, extend, memory);
}

static int faulty_shm_lock(sqlite3_file *file, int offset, int count, int flags) {
  int code = (flags & SQLITE_SHM_LOCK) != 0 ? strike(OP_SHM_LOCK, self(file)->path) : SQLITE_OK;
  return code != SQLITE_OK ? code : methods(file)->xShmLock(real(file), offset, count, flags);
}

static void faulty_shm_barrier(sqlite3_file *file) { methods(file)->xShmBarrier(real(file)); }

static int faulty_shm_unmap(sqlite3_file *file, int delete_flag) { return methods(file)->xShmUnmap(real(file), delete_flag); }

static const sqlite3_io_methods faulty_methods = {
    .iVersion = 2,
    .xClose = faulty_close,
    .xRead = faulty_read,
    .xWrite = faulty_write,
    .xTruncate = faulty_truncate,
    .xSync = faulty_sync,
    .xFileSize = faulty_file_size,
    .xLock = faulty_lock,
    .xUnlock = faulty_unlock,
    .xCheckReservedLock = faulty_check_reserved_lock,
    .xFileControl = faulty_file_control,
    .xSectorSize = faulty_sector_size,
    .xDeviceCharacteristics = faulty_device_characteristics,
    .xShmMap = faulty_shm_map,
    .xShmLock = faulty_shm_lock,
    .xShmBarrier = faulty_shm_barrier,
    .xShmUnmap = faulty_shm_unmap,
};

static int faulty_open(sqlite3_vfs *vfs, sqlite3_filename name, sqlite3_file *result, int flags, int *out_flags) {
  (void)vfs;
  struct faulty_file *file = self(result);
  memset(file, 0, sizeof *file + (size_t)base->szOsFile);
  file->real = (sqlite3_file *)(void *)(file + 1);
  int code = strike(OP_OPEN, name);
  if (code != SQLITE_OK) { return code; }
  code = base->xOpen(base, name, file->real, flags, out_flags);
  if (code != SQLITE_OK) { return code; }
  snprintf(file->path, sizeof file->path, "%s", name != NULL ? name : "");
  file->sort = (flags & SQLITE_OPEN_MAIN_DB) != 0         ? FAULTY_MAIN
               : (flags & SQLITE_OPEN_WAL) != 0           ? FAULTY_WAL
               : (flags & SQLITE_OPEN_MAIN_JOURNAL) != 0  ? FAULTY_JOURNAL
               : (flags & SQLITE_OPEN_SUPER_JOURNAL) != 0 ? FAULTY_SUPER_JOURNAL
                                                          : FAULTY_TEMPORARY;
  file->sqlite.pMethods = &faulty_methods;
  return SQLITE_OK;
}

static int faulty_delete(sqlite3_vfs *vfs, const char *name, int sync) {
  (void)vfs;
  int code = strike(OP_DELETE, name);
  if (code != SQLITE_OK) { return code; }
  forget(name);
  return base->xDelete(base, name, sync);
}

int faulty_vfs_register(bool is_default) {
  static sqlite3_vfs vfs;
  sqlite3_initialize();
  if (base == NULL) {
    base = sqlite3_vfs_find(NULL);
    vfs = *base;
    vfs.zName = "faulty";
    vfs.szOsFile = (int)sizeof(struct faulty_file) + base->szOsFile;
    vfs.xOpen = faulty_open;
    vfs.xDelete = faulty_delete;
  }
  return sqlite3_vfs_register(&vfs, is_default);
}

// ---- For Swift ----

static void set_path(const char *path) {
  static char copy[512];
  snprintf(copy, sizeof copy, "%s", path != NULL ? path : "");
  faults.path = path != NULL ? copy : NULL;
}

void faults_arm(enum operation operation, long nth, bool sticky, bool short_write, int code, const char *path) {
  faults_reset();
  set_path(path);
  faults.sticky = sticky;
  faults.short_write = short_write;
  faults.code = code;
  faults.operation = operation;
  faults.countdown = nth;
}

void faults_arm_power(long writes, bool loses_syncs, const char *path) {
  faults_reset();
  set_path(path);
  faults.loses_syncs = loses_syncs;
  faults.writes_to_power_loss = writes;
}

void faults_arm_chance(unsigned millionths, uint64_t seed, const char *path) {
  faults_reset();
  set_path(path);
  random_state = seed;
  faults.chance = millionths;
}

bool faults_fired(void) { return faults.fired || faults.power_is_lost; }
long faults_struck(void) { return faults.struck; }
void faults_cut_power(void) { faults.power_is_lost = true; }

// ---- For whole processes ----

// A process that preloads this library (LD_PRELOAD) uses the VFS from its start. PORTER_FAULTS says how:
//
//   "chance MILLIONTHS SEED PATH"       each operation fails with this chance
//   "nth OPERATION N STICKY PATH"       the Nth of these fails (numbers as in the enum), and all that follow if STICKY
//   "broken OPERATION N STICKY PATH"    the same, but a lock is not busy: requesting it fails
//
// where PATH is part of the paths of the files that fail. Its syncs all report success and do nothing.
// PORTER_FAULTS_TALLY names the file that gets a letter for each failure.
static bool arm(const char *told) {
  unsigned millionths = 0;
  unsigned long long seed = 0;
  int operation = 0, sticky = 0;
  long nth = 0;
  char path[400];
  if (sscanf(told, "chance %u %llu %399s", &millionths, &seed, path) == 3) {
    faults_arm_chance(millionths, seed, path);
    return true;
  }
  bool is_broken = strncmp(told, "broken ", 7) == 0;
  const char *numbers = told + (is_broken ? 7 : 4);
  if (!is_broken && strncmp(told, "nth ", 4) != 0) { return false; }
  if (sscanf(numbers, "%d %ld %d %399s", &operation, &nth, &sticky, path) != 4) { return false; }
  if (operation < 0 || operation >= OP_COUNT) { return false; }
  static const int codes[OP_COUNT] = {
      SQLITE_IOERR_READ, SQLITE_FULL,         SQLITE_IOERR_FSYNC, SQLITE_IOERR_TRUNCATE, SQLITE_IOERR_FSTAT,
      SQLITE_CANTOPEN,   SQLITE_IOERR_DELETE, SQLITE_BUSY,        SQLITE_BUSY,           SQLITE_IOERR_SHMMAP,
  };
  int code = codes[operation];
  if (is_broken && operation == OP_LOCK) { code = SQLITE_IOERR_LOCK; }
  if (is_broken && operation == OP_SHM_LOCK) { code = SQLITE_IOERR_SHMLOCK; }
  faults_arm((enum operation)operation, nth, sticky != 0, nth % 2 == 0, code, path);
  return true;
}

__attribute__((constructor)) static void begin(void) {
  const char *told = getenv("PORTER_FAULTS");
  if (told == NULL) { return; }
  const char *file = getenv("PORTER_FAULTS_TALLY");
  if (file != NULL) { tally = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600); }
  if (!arm(told) || (file != NULL && tally < 0) || faulty_vfs_register(true) != SQLITE_OK) { abort(); }
}
