/*
 * A network for a relay, a notification server and two phones: four network namespaces, each host's with a link only to
 * the relay's. They have no names, so that they end with the processes in them.
 */
#ifndef PORTER_NETWORK_H
#define PORTER_NETWORK_H

#include <stdbool.h>
#include <sys/types.h>

#include "text.h"

enum place { PLACE_ALICE, PLACE_BOB, PLACE_SERVER, PLACE_RELAY, PLACES };

struct network {
  int namespaces[PLACES]; /* descriptors; -1: this process's own network, with all at the loopback address */
  const char *address;    /* of the relay, as each of them reaches it */
  struct text obstacle;   /* why there are no namespaces; "" if there are */
};

/*
 * Makes the namespaces, the last of which becomes this process's, which therefore may have only one thread. Where the
 * system does not allow that, only the loopback address remains.
 */
void network_open(struct network *network);
void network_close(struct network *network);

bool network_is_separate(const struct network *network);

/* The place of a process of the device. */
enum place network_place(const char *actor);

/* The number of a process's TCP connections; -1 with errno if the system does not report them. */
int network_connections(pid_t pid);

#endif
