/*
 * Preloaded into a process, has each sync of a file wait as long as the file named by HANGING_DISK exists, as on a disk
 * that does not answer.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

static void wait_for_disk(void) {
  const char *path = getenv("HANGING_DISK");
  while (path != NULL && access(path, F_OK) == 0) usleep(10000);
}

int fsync(int file) {
  static int (*original)(int);
  if (original == NULL) *(void **)&original = dlsym(RTLD_NEXT, "fsync");
  wait_for_disk();
  return original(file);
}

int fdatasync(int file) {
  static int (*original)(int);
  if (original == NULL) *(void **)&original = dlsym(RTLD_NEXT, "fdatasync");
  wait_for_disk();
  return original(file);
}
