#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "story.h"

/* ------------------------------------------------------------------------------------------------ apps */

/* The device listens as long as it is on; the server may come and go. */
static bool listen_for_pushes(struct device *device, const char *socket) {
  if (device->pushes.listener >= 0 || push_socket_open(&device->pushes, socket)) return true;
  return device_fail(device, "the push socket opens", strerror(errno));
}

static void tell_network(struct device *device) {
  struct text fields = {0};
  struct text said = {0};
  bool separate = network_is_separate(&device->network);
  text_format(&fields, "\"namespaces\":%s,\"address\":\"%s\",\"obstacle\":", separate ? "true" : "false",
              device->network.address);
  json_write_string(&fields, text_string(&device->network.obstacle));
  if (separate)
    text_add_string(&said, "makes four networks: two phones, a server and a relay, with links to the relay alone");
  else
    text_format(&said, "has no network namespaces (%s): all are at the loopback address",
                text_string(&device->network.obstacle));
  timeline_tell(&device->timeline, "device", "network", text_string(&fields), text_string(&said));
  text_free(&fields);
  text_free(&said);
}

/* With its own certificate: the others know only the fingerprint in its address. */
static bool start_relay(struct device *device) {
  network_open(&device->network);
  tell_network(device);
  char *data = device_path(device, "relay");
  struct text program = {0};
  struct text listen = {0};
  text_format(&program, "%s/porter-relay", device->options.network);
  text_format(&listen, "%s:0", device->network.address);
  char *arguments[] = {program.bytes, "serve", "--config", "/dev/null", "--data", data, "--listen", listen.bytes,
                       "--operators", "127.0.0.1:0", NULL};
  bool started = device_start(device, &device->relay_server, "relay", arguments, NULL);
  if (!started) device_fail(device, "the relay starts", strerror(errno));
  device->relay = started ? device_line(device, &device->relay_server, deadline_after(10000)) : NULL;
  const char *wanted = "the relay's first line is its address, https://…#…";
  if (started && device->relay == NULL) device_fail_silent(device, &device->relay_server, "relay", wanted);
  else if (started && strncmp(device->relay, "https://", 8) != 0) device_fail(device, wanted, device->relay);
  else if (started) story_tell(device, "relay", "relayStarted", "is running, and reached over TLS by its fingerprint");
  text_free(&program);
  text_free(&listen);
  free(data);
  return device->expected.length == 0;
}

static bool start_server(struct device *device, char *socket) {
  char *state = device_path(device, "server");
  bool embedded = device->options.network == NULL;
  char *arguments[16] = {device->server_program};
  size_t count = 1;
  if (!embedded) {
    arguments[count++] = "serve";
    arguments[count++] = "--config";
    arguments[count++] = "/dev/null";
    arguments[count++] = "--operators";
    arguments[count++] = "127.0.0.1:0";
  }
  arguments[count++] = "--relay";
  arguments[count++] = device->relay;
  arguments[count++] = "--state";
  arguments[count++] = state;
  arguments[count++] = "--local-socket";
  arguments[count++] = socket;
  if (device->options.log && embedded) arguments[count++] = "--verbose";
  if (device->options.log && !embedded) {
    arguments[count++] = "--log-level";
    arguments[count++] = "debug";
  }
  bool started = device_start(device, &device->server, "server", arguments, NULL);
  free(state);
  return started || device_fail(device, "the server starts", strerror(errno));
}

bool story_start_server(struct device *device) {
  if (device->options.network != NULL && device->relay == NULL && !start_relay(device)) return false;
  char *socket = device_path(device, "push.socket");
  bool started = listen_for_pushes(device, socket) && start_server(device, socket);
  char *link = started ? device_line(device, &device->server, deadline_after(10000)) : NULL;
  const char *wanted = "the server's first line is its link, ntf:…";
  if (started && link == NULL) started = device_fail_silent(device, &device->server, "server", wanted);
  else if (started && strncmp(link, "ntf:", 4) != 0) started = device_fail(device, wanted, link);
  device->server_link = link;
  if (started)
    story_tell(device, "server", "serverStarted",
               device->options.network == NULL ? "is running, and reached through the embedded relay"
                                               : "is running, and reached through the relay on the network");
  free(socket);
  return started;
}

static bool start_app(struct device *device, struct host *host, const char *name) {
  struct text text = {0};
  if (!host_start(device, host, name)) return false;
  text_format(&text, "/_create user {\"profile\":{\"displayName\":\"%s\",\"fullName\":\"\"}}", name);
  struct json *user = host_command(device, host, text_string(&text), "activeUser");
  host->user_id = json_integer_at(user, "result.result.user.userId", 0);
  json_free(user);

  text_clear(&text);
  text_add_string(&text, "/_network {");
  if (device->options.network == NULL) {
    text_add_string(&text, "\"relay\":");
    json_write_string(&text, device->relay);
    text_add_string(&text, ",");
  }
  text_add_string(&text, "\"ntfServer\":");
  json_write_string(&text, device->server_link);
  text_add_string(&text, "}");
  bool started = user != NULL && story_command(device, host, text_string(&text), "cmdOk") &&
                 story_command(device, host, "/_start", "chatStarted");
  text_free(&text);
  if (started) story_tell(device, name, "appStarted", "starts the app and has a profile");
  return started;
}

bool story_start_alice(struct device *device) { return start_app(device, &device->alice, "alice"); }
bool story_start_bob(struct device *device) { return start_app(device, &device->bob, "bob"); }

static bool take_contact(struct device *device, struct host *host) {
  struct json *event = host_event(device, host, "contactConnected", 15000);
  host->contact_id = json_integer_at(event, "result.result.contact.contactId", 0);
  bool known = event != NULL && host->contact_id > 0;
  if (event != NULL && !known) device_fail(device, "contactConnected carries a contact", "none");
  json_free(event);
  if (known) story_tell(device, host->name, "connected", "is connected");
  return known;
}

bool story_connect_both(struct device *device) {
  struct text text = {0};
  text_format(&text, "/_connect %lld", device->alice.user_id);
  struct json *answer = host_command(device, &device->alice, text_string(&text), "invitation");
  const char *link = json_string_at(answer, "result.result.connLinkInvitation.connFullLink");
  bool good = link != NULL;
  if (answer != NULL && !good) device_fail(device, "an invitation has a connFullLink", "none");
  if (good) {
    story_tell(device, "alice", "invitation", "makes an invitation");
    text_clear(&text);
    text_format(&text, "/connect %s", link);
    struct json *connecting = host_command(device, &device->bob, text_string(&text), NULL);
    const char *type = json_string_at(connecting, "result.result.type");
    good = connecting != NULL &&
           (type != NULL || device_fail(device, "/connect is answered with a result", "an error"));
    json_free(connecting);
  }
  json_free(answer);
  text_free(&text);
  return good && take_contact(device, &device->bob) && take_contact(device, &device->alice);
}

/* ------------------------------------------------------------------------------------------------ the token */

static bool make_token(struct device *device) {
  unsigned char bytes[32];
  FILE *random = fopen("/dev/urandom", "re");
  bool good = random != NULL && fread(bytes, sizeof bytes, 1, random) == 1;
  if (random != NULL) fclose(random);
  if (!good) return device_fail(device, "the system has random bytes", strerror(errno));
  for (size_t index = 0; index < sizeof bytes; index++)
    snprintf(device->token + 2 * index, 3, "%02x", (unsigned)bytes[index]);
  return true;
}

static bool check_status(struct device *device, const struct json *answer, const char *status) {
  const char *came = json_string_at(answer, "result.result.status");
  if (answer == NULL) return false;
  if (came != NULL && strcmp(came, status) == 0) return true;
  struct text expected = {0};
  text_format(&expected, "the token is %s", status);
  device_fail(device, text_string(&expected), came == NULL ? "no status" : came);
  text_free(&expected);
  return false;
}

bool story_register_token(struct device *device) {
  struct text text = {0};
  if (!make_token(device)) return false;
  text_format(&text, "/_ntf register apns_test %s INSTANT", device->token);
  struct json *answer = host_command(device, &device->alice, text_string(&text), "ntfTokenStatus");
  bool good = check_status(device, answer, "REGISTERED");
  if (good) story_tell(device, "alice", "tokenRegistered", "registers the device's token: REGISTERED");
  json_free(answer);
  text_free(&text);
  return good;
}

bool story_verify_token(struct device *device) {
  struct push *push = device_push(device, deadline_after(15000));
  if (push == NULL) return device_fail(device, "a verification push comes", "none within 15 s");
  story_tell_push(device, push);
  const char *nonce = json_string_at(push->json, "payload.notificationData.nonce");
  const char *code = json_string_at(push->json, "payload.notificationData.verification");
  bool good = nonce != NULL && code != NULL;
  if (good) {
    struct text text = {0};
    text_format(&text, "/_ntf verify apns_test %s %s %s", device->token, nonce, code);
    good = story_command(device, &device->alice, text_string(&text), "cmdOk");
    text_free(&text);
  } else {
    device_fail(device, "the first push has nonce and verification", push->payload);
  }
  push_free(push);
  return good;
}

bool story_activate_token(struct device *device) {
  struct text text = {0};
  text_format(&text, "/_ntf check apns_test %s", device->token);
  struct json *answer = host_command(device, &device->alice, text_string(&text), "ntfTokenStatus");
  bool good = check_status(device, answer, "ACTIVE");
  if (good) story_tell(device, "alice", "tokenActive", "the verification push was opened: the token is ACTIVE");
  json_free(answer);
  text_free(&text);
  return good;
}
