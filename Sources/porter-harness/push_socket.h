/* Where pushes reach the device: a Unix socket on which a notification server's local provider delivers them. */
#ifndef PORTER_PUSH_SOCKET_H
#define PORTER_PUSH_SOCKET_H

#include <stdbool.h>
#include <sys/select.h>

#include "json.h"

#define MAXIMUM_CONNECTIONS 16

/* APNs refuses payloads above this. */
#define MAXIMUM_PAYLOAD 4096

struct push {
  struct json *json; /* {"token","provider","type","priority","payload"} */
  char *payload;     /* the payload as one line */
  struct push *next;
};

struct push_socket {
  int listener;
  int connections[MAXIMUM_CONNECTIONS]; /* -1: free */
  struct text unread[MAXIMUM_CONNECTIONS];
  struct push *waiting; /* oldest first */
  const char *refusal;  /* the reason with which every push is answered with 410; NULL: none is */
  unsigned refused;     /* number of pushes refused */
};

/* False with errno. */
bool push_socket_open(struct push_socket *socket, const char *path);
void push_socket_close(struct push_socket *socket);

/* Adds the descriptors to wait for; returns the highest. */
int push_socket_watch(const struct push_socket *socket, fd_set *readable);

/* Accepts, reads, and answers each push as APNs would: {"status":200}, or 400 and 413 with a reason. Never waits. */
void push_socket_serve(struct push_socket *socket);

/* The oldest waiting push; NULL if there is none. Freed with push_free(). */
struct push *push_socket_take(struct push_socket *socket);
void push_free(struct push *push);

#endif
