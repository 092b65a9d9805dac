#include "push_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

bool push_socket_open(struct push_socket *push_socket, const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  *push_socket = (struct push_socket){.listener = -1};
  for (int index = 0; index < MAXIMUM_CONNECTIONS; index++) push_socket->connections[index] = -1;
  if (strlen(path) >= sizeof address.sun_path) {
    errno = ENAMETOOLONG;
    return false;
  }
  strcpy(address.sun_path, path);
  int listener = socket(AF_UNIX, SOCK_STREAM, 0);
  if (listener < 0) return false;
  fcntl(listener, F_SETFD, FD_CLOEXEC);
  fcntl(listener, F_SETFL, O_NONBLOCK);
  if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0 || listen(listener, 8) != 0) {
    int error = errno;
    close(listener);
    errno = error;
    return false;
  }
  push_socket->listener = listener;
  return true;
}

static void drop(struct push_socket *socket, int index) {
  close(socket->connections[index]);
  socket->connections[index] = -1;
  text_free(&socket->unread[index]);
}

void push_socket_close(struct push_socket *socket) {
  for (int index = 0; index < MAXIMUM_CONNECTIONS; index++)
    if (socket->connections[index] >= 0) drop(socket, index);
  if (socket->listener >= 0) close(socket->listener);
  socket->listener = -1;
  for (struct push *push = push_socket_take(socket); push != NULL; push = push_socket_take(socket)) push_free(push);
}

int push_socket_watch(const struct push_socket *socket, fd_set *readable) {
  int highest = socket->listener;
  if (highest >= 0) FD_SET(highest, readable);
  for (int index = 0; index < MAXIMUM_CONNECTIONS; index++) {
    int connection = socket->connections[index];
    if (connection >= 0) FD_SET(connection, readable);
    if (connection > highest) highest = connection;
  }
  return highest;
}

/* ------------------------------------------------------------------------------------------------ pushes */

/* Keeps a push, and returns what APNs would answer. */
static const char *take_in(struct push_socket *socket, const char *line, size_t length) {
  struct json *json = json_parse(line, length);
  const struct json *payload = json == NULL ? NULL : json_at(json, "payload");
  if (payload == NULL || payload->kind != JSON_OBJECT || json_string_at(json, "token") == NULL) {
    json_free(json);
    return "{\"status\":400,\"reason\":\"PayloadEmpty\"}\n";
  }
  struct text text = {0};
  json_write(&text, payload);
  if (text.length > MAXIMUM_PAYLOAD) {
    text_free(&text);
    json_free(json);
    return "{\"status\":413,\"reason\":\"PayloadTooLarge\"}\n";
  }
  struct push *push = allocate(sizeof *push);
  push->json = json;
  push->payload = text.bytes;
  struct push **last = &socket->waiting;
  while (*last != NULL) last = &(*last)->next;
  *last = push;
  return "{\"status\":200}\n";
}

/* Answers are short: a peer that does not read them is dropped instead of waited for. */
static bool serve_lines(struct push_socket *socket, int index) {
  struct text *unread = &socket->unread[index];
  for (;;) {
    char *end = unread->length == 0 ? NULL : memchr(unread->bytes, '\n', unread->length);
    if (end == NULL) return true;
    size_t length = (size_t)(end - unread->bytes);
    char refused[128];
    snprintf(refused, sizeof refused, "{\"status\":410,\"reason\":\"%s\"}\n",
             socket->refusal == NULL ? "" : socket->refusal);
    const char *answer = socket->refusal == NULL ? take_in(socket, unread->bytes, length) : refused;
    if (socket->refusal != NULL) socket->refused++;
    memmove(unread->bytes, end + 1, unread->length - length);
    unread->length -= length + 1;
    if (write(socket->connections[index], answer, strlen(answer)) != (ssize_t)strlen(answer)) return false;
  }
}

static void serve_connection(struct push_socket *socket, int index) {
  char bytes[8192];
  for (;;) {
    ssize_t count = read(socket->connections[index], bytes, sizeof bytes);
    if (count > 0) {
      text_add(&socket->unread[index], bytes, (size_t)count);
      if (serve_lines(socket, index)) continue;
    } else if (count < 0 && errno == EINTR) {
      continue;
    } else if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      return;
    }
    drop(socket, index);
    return;
  }
}

void push_socket_serve(struct push_socket *socket) {
  for (int connection = accept(socket->listener, NULL, NULL); connection >= 0;
       connection = accept(socket->listener, NULL, NULL)) {
    int index = 0;
    while (index < MAXIMUM_CONNECTIONS && socket->connections[index] >= 0) index++;
    if (index == MAXIMUM_CONNECTIONS) {
      close(connection);
      continue;
    }
    fcntl(connection, F_SETFD, FD_CLOEXEC);
    fcntl(connection, F_SETFL, O_NONBLOCK);
    socket->connections[index] = connection;
  }
  for (int index = 0; index < MAXIMUM_CONNECTIONS; index++)
    if (socket->connections[index] >= 0) serve_connection(socket, index);
}

struct push *push_socket_take(struct push_socket *socket) {
  struct push *push = socket->waiting;
  if (push != NULL) socket->waiting = push->next;
  return push;
}

void push_free(struct push *push) {
  json_free(push->json);
  free(push->payload);
  free(push);
}
