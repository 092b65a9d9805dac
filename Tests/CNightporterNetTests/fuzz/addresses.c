/* Addresses and proxies as a user may enter them: what is accepted is what Include/nightporter_net.h allows, and leads
   where it says. The first byte has the options, the first line is the address, the rest is the proxy. */
#include <stdio.h>

#include "../../../Sources/CNightporterNet/settings.c"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

/* On the heap, so that an access one byte too far is detected. */
static char *text_of(const uint8_t *bytes, size_t length) {
  char *text = malloc(length + 1);
  if (text == NULL) abort();
  if (length > 0) memcpy(text, bytes, length);
  text[length] = '\0';
  return text;
}

static bool is_visible(const char *text) {
  for (; *text != '\0'; text++)
    if (*text <= ' ' || *text > '~') return false;
  return true;
}

/* 43 characters of base64url, which are 32 bytes: the last one has two bits that are 0. */
static bool is_fingerprint(const char *text, size_t length) {
  static const char last[] = "AEIMQUYcgkosw048";
  if (length != 43 || strchr(last, text[42]) == NULL) return false;
  for (size_t index = 0; index < length; index++)
    if (memchr(alphabet, text[index], 64) == NULL) return false;
  return true;
}

static bool are_fingerprints(const char *text) {
  const char *comma = strchr(text, ',');
  if (comma == NULL) return is_fingerprint(text, strlen(text));
  return is_fingerprint(text, (size_t)(comma - text)) && is_fingerprint(comma + 1, strlen(comma + 1));
}

static bool begins(const char *text, const char *start) { return strncasecmp(text, start, strlen(start)) == 0; }

static bool ends(const char *text, const char *end) {
  size_t length = strlen(text), count = strlen(end);
  return length >= count && strcmp(text + length - count, end) == 0;
}

/* libcurl's form of a fingerprint, for each of them. */
static bool are_pins(const char *pins, const char *fingerprints) {
  size_t count = strchr(fingerprints, ',') == NULL ? 1 : 2;
  if (strlen(pins) != count * 52 + count - 1) return false;
  for (size_t index = 0; index < count; index++) {
    const char *pin = pins + 53 * index, *given = fingerprints + 44 * index;
    if (strncmp(pin, "sha256//", 8) != 0 || pin[51] != '=') return false;
    for (size_t place = 0; place < 43; place++) {
      char wanted = given[place] == '-' ? '+' : given[place] == '_' ? '/' : given[place];
      if (pin[8 + place] != wanted) return false;
    }
  }
  return true;
}

static void require(bool condition, const char *what, const char *address, const char *proxy) {
  if (condition) return;
  fprintf(stderr, "%s: '%s' through '%s'\n", what, address, proxy);
  abort();
}

static void check(const struct settings *found, const char *address, const char *proxy, const np_net_options *options) {
  require(is_visible(address) && begins(address, "https://") && address[8] != '/', "another kind of address", address, proxy);
  require(begins(found->exchange_url, "https://") && ends(found->exchange_url, "/v1/exchange"), "leads elsewhere", address, proxy);
  require(begins(found->news_url, "https://") && ends(found->news_url, "/v1/news"), "leads elsewhere", address, proxy);
  require(strpbrk(found->exchange_url, "?#@") == NULL, "has more than a host", address, proxy);
  /* Both to the same host, without anything between it and the path. */
  size_t host = strlen(found->exchange_url) - strlen("/v1/exchange");
  require(host > 8 && strlen(found->news_url) == host + strlen("/v1/news"), "two hosts", address, proxy);
  require(strncmp(found->exchange_url, found->news_url, host) == 0, "two hosts", address, proxy);
  require(memchr(found->exchange_url + 8, '/', host - 8) == NULL, "has a path", address, proxy);
  const char *fragment = strchr(address, '#');
  require((fragment == NULL) == (found->pins == NULL), "a fingerprint is ignored", address, proxy);
  if (fragment != NULL) {
    require(are_fingerprints(fragment + 1), "no fingerprint", address, proxy);
    require(are_pins(found->pins, fragment + 1), "another fingerprint", address, proxy);
  }
  bool is_socks = found->proxy != NULL && begins(found->proxy, "socks5h://");
  if (found->proxy != NULL) {
    require(is_visible(found->proxy) && strcmp(found->proxy, proxy) == 0, "another proxy", address, proxy);
    require(!begins(found->proxy, "socks5://") && !begins(found->proxy, "https://"), "another kind of proxy", address, proxy);
  }
  if (options->isolate != 0) require(is_socks && found->proxy_user != NULL && found->proxy_password != NULL, "not isolated", address, proxy);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
  if (length < 1) return 0;
  const uint8_t *end = memchr(bytes + 1, '\n', length - 1);
  size_t count = end == NULL ? length - 1 : (size_t)(end - bytes) - 1;
  char *address = text_of(bytes + 1, count);
  char *proxy = end == NULL ? text_of(bytes, 0) : text_of(end + 1, length - count - 2);
  np_net_options options = {.size = sizeof options, .proxy = proxy, .isolate = bytes[0] & 1};
  if (bytes[0] & 2) options.ca_file = "/etc/ssl/certs/ca-certificates.crt";
  if (bytes[0] & 4) options.connect_timeout_ms = (int)bytes[0] * 300;
  struct settings found = {0};
  np_error error = settings_read(&found, address, &options);
  if (error == NP_OK) check(&found, address, proxy, &options);
  else if (error != NP_ERROR_ARGUMENT) abort();
  settings_free(&found);
  free(address);
  free(proxy);
  return 0;
}
