#include "pushes.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "push_socket.h"

const char pushes_usage[] =
    "porter-harness pushes SOCKET\n"
    "  Listens where a server's local provider delivers pushes, accepts each, and prints it as a line of JSON. Ends\n"
    "  with standard input.\n";

static void print_waiting(struct push_socket *socket) {
  for (struct push *push = push_socket_take(socket); push != NULL; push = push_socket_take(socket)) {
    struct text line = {0};
    json_write(&line, push->json);
    puts(text_string(&line));
    text_free(&line);
    push_free(push);
  }
  fflush(stdout);
}

int pushes_main(int argument_count, char **arguments) {
  struct push_socket socket;
  if (argument_count != 1 || !push_socket_open(&socket, arguments[0])) {
    const char *problem = argument_count == 1 ? strerror(errno) : "one socket is needed";
    fprintf(stderr, "porter-harness: %s\n%s", problem, pushes_usage);
    return 2;
  }
  signal(SIGPIPE, SIG_IGN);
  puts("{\"listening\":true}");
  fflush(stdout);
  for (;;) {
    fd_set readable;
    char ignored[256];
    FD_ZERO(&readable);
    FD_SET(0, &readable);
    int highest = push_socket_watch(&socket, &readable);
    if (select(highest + 1, &readable, NULL, NULL, NULL) < 0) {
      if (errno == EINTR) continue;
      break;
    }
    push_socket_serve(&socket);
    print_waiting(&socket);
    if (FD_ISSET(0, &readable) && read(0, ignored, sizeof ignored) <= 0) break;
  }
  push_socket_close(&socket);
  unlink(arguments[0]);
  return 0;
}
