/* Publishes messages of 1,000 bytes to a stream as fast as they are acknowledged, like `nats bench --js`, over libnats:
   nats-publish URL STREAM REPLICAS COUNT WINDOW. Creates the stream and deletes it. Prints one JSON object. */

#include <nats/nats.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void check(natsStatus status, const char *what) {
  if (status == NATS_OK) return;
  fprintf(stderr, "nats-publish: %s: %s\n", what, natsStatus_GetText(status));
  exit(1);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

int main(int argc, char **argv) {
  if (argc != 6) {
    fprintf(stderr, "usage: nats-publish URL STREAM REPLICAS COUNT WINDOW\n");
    return 2;
  }
  const char *subjects[] = {argv[2]};
  long count = strtol(argv[4], NULL, 10);
  natsConnection *connection = NULL;
  check(natsConnection_ConnectTo(&connection, argv[1]), "connect");
  jsOptions options;
  check(jsOptions_Init(&options), "options");
  options.PublishAsync.MaxPending = strtol(argv[5], NULL, 10);
  jsCtx *context = NULL;
  check(natsConnection_JetStream(&context, connection, &options), "context");
  jsStreamConfig stream;
  check(jsStreamConfig_Init(&stream), "stream");
  stream.Name = argv[2];
  stream.Subjects = subjects;
  stream.SubjectsLen = 1;
  stream.Replicas = strtol(argv[3], NULL, 10);
  check(js_AddStream(NULL, context, &stream, NULL, NULL), "stream");
  char body[1000];
  memset(body, 7, sizeof body);
  double began = now();
  for (long number = 0; number < count; number++) {
    check(js_PublishAsync(context, argv[2], body, (int)sizeof body, NULL), "publish");
  }
  check(js_PublishAsyncComplete(context, NULL), "acknowledgements");
  double seconds = now() - began;
  printf("{\"count\":%ld,\"perSecond\":%ld}\n", count, (long)((double)count / seconds));
  check(js_DeleteStream(context, argv[2], NULL, NULL), "delete");
  jsCtx_Destroy(context);
  natsConnection_Destroy(connection);
  nats_Close();
  return 0;
}
