/*
 * A network for a relay, a notification server and two phones: four network namespaces, each host's with a link to the
 * relay's and to no other. They have no names, so that they end with the processes that are in them.
 */
#ifndef PORTER_NETWORK_H
#define PORTER_NETWORK_H

#include <stdbool.h>
#include <sys/types.h>

#include "text.h"

enum place { PLACE_ALICE, PLACE_BOB, PLACE_SERVER, PLACE_RELAY, PLACES };

struct network {
  int namespaces[PLACES]; /* descriptors; -1: this process's own network, on which all are at the loopback address */
  const char *address;    /* of the relay, as each of them reaches it */
  struct text obstacle;   /* why there are no namespaces; "" if there are */
};

/*
 * Makes the namespaces, the last of which becomes this process's, so that it may have one thread only. Where the system
 * does not allow that, all that remains is the loopback address.
 */
void network_open(struct network *network);
void network_close(struct network *network);

bool network_is_separate(const struct network *network);

/* Where a process of the device is. */
enum place network_place(const char *actor);

/* The TCP connections that a process has; -1 with errno when the system does not report them. */
int network_connections(pid_t pid);

#endif
