#include "net_relay.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "nightporter_net.h"
#include "text.h"

#define SONAME(abi) "libnightporter-net.so." #abi
#define SONAME_OF_ABI(abi) SONAME(abi)

/* A statically linked program can contain the library. */
#pragma weak np_net_relay
#pragma weak np_net_relay_free

static np_error (*make_relay)(const char *, const np_net_options *, np_relay *);
static void (*free_relay)(np_relay *);

bool net_relay_is_address(const char *text) { return text != NULL && strncmp(text, "https://", 8) == 0; }

/* ------------------------------------------------------------------------------------------------ the library */

static void *open_beside_program(void) {
  char program[4096];
  ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
  if (length <= 0) return NULL;
  program[length] = '\0';
  char *slash = strrchr(program, '/');
  if (slash == NULL) return NULL;
  *slash = '\0';
  struct text path = {0};
  text_format(&path, "%s/libnightporter-net.so", program);
  void *library = dlopen(text_string(&path), RTLD_NOW | RTLD_LOCAL);
  text_free(&path);
  return library;
}

static void *open_library(void) {
  /* A program without a loader cannot load libcurl. */
  if (getauxval(AT_BASE) == 0) {
    fputs("porter-harness: this program is linked statically, and cannot load libnightporter-net\n", stderr);
    return NULL;
  }
  const char *chosen = getenv("NIGHTPORTER_NET_LIBRARY");
  void *library = chosen != NULL && *chosen != '\0' ? dlopen(chosen, RTLD_NOW | RTLD_LOCAL) : open_beside_program();
  if (library == NULL && (chosen == NULL || *chosen == '\0'))
    library = dlopen(SONAME_OF_ABI(NP_ABI_VERSION), RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) fprintf(stderr, "porter-harness: %s\n", dlerror());
  return library;
}

static void load(void) {
  if (np_net_relay != NULL) {
    make_relay = np_net_relay;
    free_relay = np_net_relay_free;
    return;
  }
  void *library = open_library();
  if (library == NULL) return;
  void *make = dlsym(library, "np_net_relay");
  void *release = dlsym(library, "np_net_relay_free");
  if (make == NULL || release == NULL) return;
  memcpy(&make_relay, &make, sizeof make);
  memcpy(&free_relay, &release, sizeof release);
}

/* ------------------------------------------------------------------------------------------------ the transport */

np_error net_relay_make(const char *url, chat_ctrl listener, np_relay *relay) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, load);
  if (make_relay == NULL) return NP_ERROR_SYSTEM;
  np_net_options options = {.size = sizeof options};
  if (listener != NULL) {
    options.ready = np_relay_ready;
    options.ready_context = listener;
  }
  np_error error = make_relay(url, &options, relay);
  if (error != NP_OK) fprintf(stderr, "porter-harness: this relay's address: %s\n", np_error_name((int)error));
  return error;
}

void net_relay_free(np_relay *relay) {
  if (free_relay != NULL) free_relay(relay);
}
