// A VFS below the sealed one. It fails on demand, loses power, and looks into everything that is written.
#include "support.h"

struct faulty_file {
  sqlite3_file sqlite;
  sqlite3_file *real;
  sealed_vfs_file sort;
  char path[512];
};

// A write that has not been synced, with what was there before.
struct unsynced {
  struct unsynced *next;
  char path[512];
  sqlite3_int64 offset, old_size;
  int amount, old_amount;
  uint8_t old[];
};

struct faults faults;
static struct unsynced *log_head;
static sqlite3_vfs *base;

static struct faulty_file *self(sqlite3_file *file) { return (struct faulty_file *)(void *)file; }
static const sqlite3_io_methods *methods(sqlite3_file *file) { return self(file)->real->pMethods; }
static sqlite3_file *real(sqlite3_file *file) { return self(file)->real; }

static void forget(const char *path) {
  for (struct unsynced **link = &log_head; *link != NULL;) {
    struct unsynced *entry = *link;
    if (path == NULL || strcmp(entry->path, path) == 0) {
      *link = entry->next;
      free(entry);
    } else {
      link = &entry->next;
    }
  }
}

void faults_reset(void) {
  memset(&faults, 0, sizeof faults);
  faults.psow = true;
  forget(NULL);
}

// SQLITE_OK, or what this operation has to answer.
static int strike(enum operation operation) {
  if (faults.power_is_lost && operation != OP_LOCK && operation != OP_SHM_LOCK) { return SQLITE_IOERR; }
  if (faults.countdown <= 0 || faults.operation != operation) { return SQLITE_OK; }
  if (faults.countdown == 1 && faults.sticky) {
    faults.fired = true;
    return faults.code;
  }
  if (--faults.countdown == 0) {
    faults.fired = true;
    return faults.code;
  }
  return SQLITE_OK;
}

static void remember(sqlite3_file *file, int amount, sqlite3_int64 offset) {
  struct unsynced *entry = calloc(1, sizeof *entry + (size_t)amount);
  snprintf(entry->path, sizeof entry->path, "%s", self(file)->path);
  entry->offset = offset;
  entry->amount = amount;
  methods(file)->xFileSize(real(file), &entry->old_size);
  sqlite3_int64 there = entry->old_size - offset;
  entry->old_amount = there < 0 ? 0 : there < amount ? (int)there : amount;
  if (entry->old_amount > 0) { methods(file)->xRead(real(file), entry->old, entry->old_amount, offset); }
  entry->next = log_head;
  log_head = entry;
}

void power_return(struct dice *dice) {
  for (struct unsynced *entry = log_head; entry != NULL; entry = entry->next) {
    FILE *file = fopen(entry->path, "r+b");
    if (file == NULL) { continue; }
    for (int at = 0; at < entry->amount;) {
      int sector_end = (int)((entry->offset + at) / 512 * 512 + 512 - entry->offset);
      int end = sector_end < entry->amount ? sector_end : entry->amount;
      if (chance(dice, 50)) {
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
    // A file that grew may not have.
    if (entry->old_size <= entry->offset && chance(dice, 30)) {
      if (truncate(entry->path, entry->old_size) != 0) { fail(__FILE__, __LINE__, "truncate"); }
    }
  }
  faults_reset();
}

static int faulty_close(sqlite3_file *file) { return methods(file)->xClose(real(file)); }

static int faulty_read(sqlite3_file *file, void *bytes, int amount, sqlite3_int64 offset) {
  int code = strike(OP_READ);
  return code != SQLITE_OK ? code : methods(file)->xRead(real(file), bytes, amount, offset);
}

static int faulty_write(sqlite3_file *file, const void *bytes, int amount, sqlite3_int64 offset) {
  faults.writes[self(file)->sort]++;
  if (faults.canary != NULL && memmem(bytes, (size_t)amount, faults.canary, strlen(faults.canary)) != NULL) { faults.canary_hits++; }
  int code = strike(OP_WRITE);
  if (code != SQLITE_OK) {
    // It ends with a sector: what lies within one arrives, or does not.
    sqlite3_int64 end = (offset + amount / 2) / 512 * 512;
    if (faults.short_write && end > offset) { methods(file)->xWrite(real(file), bytes, (int)(end - offset), offset); }
    return code;
  }
  if (faults.writes_to_power_loss > 0) {
    remember(file, amount, offset);
    if (--faults.writes_to_power_loss == 0) { faults.power_is_lost = true; }
  }
  return methods(file)->xWrite(real(file), bytes, amount, offset);
}

static int faulty_truncate(sqlite3_file *file, sqlite3_int64 size) {
  int code = strike(OP_TRUNCATE);
  if (code != SQLITE_OK) { return code; }
  // A truncation that did not arrive is not modelled; so it must not be undone either.
  forget(self(file)->path);
  return methods(file)->xTruncate(real(file), size);
}

static int faulty_sync(sqlite3_file *file, int flags) {
  int code = strike(OP_SYNC);
  if (code == SQLITE_OK) { forget(self(file)->path); }
  (void)flags;  // the disk itself is not under test
  return code;
}

static int faulty_file_size(sqlite3_file *file, sqlite3_int64 *size) {
  int code = strike(OP_SIZE);
  return code != SQLITE_OK ? code : methods(file)->xFileSize(real(file), size);
}

static int faulty_lock(sqlite3_file *file, int level) {
  int code = strike(OP_LOCK);
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
  return faults.psow ? flags : flags & ~SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

static int faulty_shm_map(sqlite3_file *file, int region, int size, int extend, void volatile **memory) {
  int code = strike(OP_SHM_MAP);
  return code != SQLITE_OK ? code : methods(file)->xShmMap(real(file), region, size, extend, memory);
}

static int faulty_shm_lock(sqlite3_file *file, int offset, int count, int flags) {
  int code = (flags & SQLITE_SHM_LOCK) != 0 ? strike(OP_SHM_LOCK) : SQLITE_OK;
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
  int code = strike(OP_OPEN);
  if (code != SQLITE_OK) { return code; }
  code = base->xOpen(base, name, file->real, flags, out_flags);
  if (code != SQLITE_OK) { return code; }
  snprintf(file->path, sizeof file->path, "%s", name != NULL ? name : "");
  file->sort = (flags & SQLITE_OPEN_MAIN_DB) != 0         ? SEALED_VFS_FILE_MAIN
               : (flags & SQLITE_OPEN_WAL) != 0           ? SEALED_VFS_FILE_WAL
               : (flags & SQLITE_OPEN_MAIN_JOURNAL) != 0  ? SEALED_VFS_FILE_JOURNAL
               : (flags & SQLITE_OPEN_SUPER_JOURNAL) != 0 ? 0
                                                          : SEALED_VFS_FILE_TEMPORARY;
  file->sqlite.pMethods = &faulty_methods;
  return SQLITE_OK;
}

static int faulty_delete(sqlite3_vfs *vfs, const char *name, int sync) {
  (void)vfs;
  int code = strike(OP_DELETE);
  if (code != SQLITE_OK) { return code; }
  forget(name);
  return base->xDelete(base, name, sync);
}

int faulty_vfs_register(void) {
  static sqlite3_vfs vfs;
  base = sqlite3_vfs_find(NULL);
  vfs = *base;
  vfs.zName = "faulty";
  vfs.szOsFile = (int)sizeof(struct faulty_file) + base->szOsFile;
  vfs.xOpen = faulty_open;
  vfs.xDelete = faulty_delete;
  return sqlite3_vfs_register(&vfs, 0);
}
