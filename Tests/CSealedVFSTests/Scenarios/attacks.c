// Somebody who knows how it works: files cut, mixed and damaged so that what is missing or foreign could pass for content.
#include "support.h"

enum { PAGE = 4096, ROWS = 40 };

// A block that could not be written, as the disk was full for a moment, is not forgotten.
static void full_temporary_files(struct dice *dice) {
  (void)dice;
  sqlite3_vfs *vfs = sqlite3_vfs_find("sealed-faulty");
  sqlite3_file *file = calloc(1, (size_t)vfs->szOsFile);
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_TEMP_DB | SQLITE_OPEN_DELETEONCLOSE;
  uint8_t bytes[4096], read[4096];
  CHECK_EQUAL(vfs->xOpen(vfs, NULL, file, flags, NULL), SQLITE_OK);
  const sqlite3_io_methods *methods = file->pMethods;
  for (int turn = 1; turn < 4; turn++) {
    memset(bytes, turn, sizeof bytes);
    for (int block = 0; block < 3; block++) { CHECK_EQUAL(methods->xWrite(file, bytes, 4096, block * 4096), SQLITE_OK); }
    // The last of them is still held. Reading another one puts it out, and fails.
    faults.operation = OP_WRITE;
    faults.countdown = 1;
    faults.short_write = turn == 3;
    faults.code = SQLITE_FULL;
    CHECK_EQUAL(methods->xRead(file, read, 4096, 0), SQLITE_FULL);
    faults_reset();
    CHECK_EQUAL(methods->xRead(file, read, 4096, 2 * 4096), SQLITE_OK);
    CHECK(memcmp(read, bytes, 4096) == 0, "turn %d: what was written is not there", turn);
    CHECK_EQUAL(methods->xRead(file, read, 4096, 0), SQLITE_OK);
    CHECK_EQUAL(methods->xRead(file, read, 4096, 2 * 4096), SQLITE_OK);
    CHECK(memcmp(read, bytes, 4096) == 0, "turn %d: what was written is not there", turn);
  }
  CHECK_EQUAL(methods->xClose(file), SQLITE_OK);
  free(file);
}

const struct scenario attack_scenarios[] = {
    {"full-temporary-files", full_temporary_files}, {NULL, NULL},
};
