/* Reads addresses and options, once. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

#include "internal.h"

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
static const size_t longest = 2048;

bool random_token(char token[TOKEN_LENGTH + 1]) {
  uint8_t bytes[TOKEN_LENGTH];
  ssize_t count;
  do count = getrandom(bytes, sizeof bytes, 0);
  while (count < 0 && errno == EINTR);
  if (count != (ssize_t)sizeof bytes) return false;
  for (size_t index = 0; index < TOKEN_LENGTH; index++) token[index] = alphabet[bytes[index] & 63];
  /* 43 characters have two bits more than 32 bytes: these are 0. */
  token[TOKEN_LENGTH - 1] = alphabet[bytes[TOKEN_LENGTH - 1] & 60];
  token[TOKEN_LENGTH] = '\0';
  return true;
}

/* ------------------------------------------------------------------------------------------------ fingerprints */

/* Appends one fingerprint in libcurl's form, ordinary base64. */
static bool add_pin(char *pins, const char *text, size_t length) {
  if (length != TOKEN_LENGTH) return false;
  char *end = pins + strlen(pins);
  if (end != pins) *end++ = ';';
  memcpy(end, "sha256//", 8);
  end += 8;
  for (size_t index = 0; index < length; index++) {
    const char *found = memchr(alphabet, text[index], 64);
    if (found == NULL) return false;
    if (index == length - 1 && ((found - alphabet) & 3) != 0) return false;
    end[index] = text[index];
    if (text[index] == '-') end[index] = '+';
    else if (text[index] == '_') end[index] = '/';
  }
  memcpy(end + length, "=", 2);
  return true;
}

/* Reads one fingerprint, or two separated by a comma. */
static bool read_pins(const char *text, char **pins) {
  *pins = calloc(1, 2 * (8 + TOKEN_LENGTH + 2) + 1);
  if (*pins == NULL) return false;
  const char *comma = strchr(text, ',');
  if (comma == NULL) return add_pin(*pins, text, strlen(text));
  return add_pin(*pins, text, (size_t)(comma - text)) && add_pin(*pins, comma + 1, strlen(comma + 1));
}

/* ------------------------------------------------------------------------------------------------ addresses */

/* False for characters not allowed in an address: libcurl would accept some, and cut them off or encode them. */
static bool is_plain(const char *text) {
  size_t length = strnlen(text, longest + 1);
  if (length == 0 || length > longest) return false;
  for (size_t index = 0; index < length; index++)
    if (text[index] <= ' ' || text[index] > '~') return false;
  return true;
}

static char *part(CURLU *url, CURLUPart which) {
  char *text = NULL;
  return curl_url_get(url, which, &text, 0) == CURLUE_OK ? text : NULL;
}

static bool has_part(CURLU *url, CURLUPart which) {
  char *text = part(url, which);
  curl_free(text);
  return text != NULL;
}

/* Whether the address's `which` is `wanted`, ignoring case. */
static bool part_is(CURLU *url, CURLUPart which, const char *wanted) {
  char *text = part(url, which);
  bool is = text != NULL && strcasecmp(text, wanted) == 0;
  curl_free(text);
  return is;
}

static bool is_onion(CURLU *url) {
  char *host = part(url, CURLUPART_HOST);
  size_t length = host == NULL ? 0 : strlen(host);
  if (length > 0 && host[length - 1] == '.') host[--length] = '\0';
  bool is = length >= 6 && strcasecmp(host + length - 6, ".onion") == 0;
  curl_free(host);
  return is;
}

static char *url_with_path(CURLU *url, const char *path) {
  if (curl_url_set(url, CURLUPART_PATH, path, 0) != CURLUE_OK) return NULL;
  char *text = part(url, CURLUPART_URL);
  char *copy = text == NULL ? NULL : strdup(text);
  curl_free(text);
  return copy;
}

/* Whether it begins with `scheme`, in any case, and a host: libcurl takes one slash or three for two. */
static bool has_scheme(const char *text, const char *scheme) {
  size_t length = strlen(scheme);
  return strncasecmp(text, scheme, length) == 0 && strncmp(text + length, "://", 3) == 0 && text[length + 3] != '/';
}

/* libcurl encodes a name with '%' differently each time. A zone of an IPv6 address may have one. */
static bool has_plain_host(const char *text) { return strchr(text, '%') == NULL || strstr(text, "://[") != NULL; }

static np_error read_address(struct settings *settings, const char *text, CURLU *url) {
  if (!is_plain(text) || !has_scheme(text, "https") || !has_plain_host(text) || strchr(text, '?') != NULL ||
      curl_url_set(url, CURLUPART_URL, text, 0) != CURLUE_OK || has_part(url, CURLUPART_USER) ||
      has_part(url, CURLUPART_PASSWORD) || !part_is(url, CURLUPART_PATH, "/"))
    return NP_ERROR_ARGUMENT;
  /* An empty fragment would look like a fingerprint without being one. */
  const char *fragment = strchr(text, '#');
  if (fragment != NULL && !read_pins(fragment + 1, &settings->pins))
    return settings->pins == NULL ? NP_ERROR_SYSTEM : NP_ERROR_ARGUMENT;
  if (curl_url_set(url, CURLUPART_FRAGMENT, NULL, 0) != CURLUE_OK) return NP_ERROR_SYSTEM;
  settings->exchange_url = url_with_path(url, "/v1/exchange");
  settings->news_url = url_with_path(url, "/v1/news");
  return settings->exchange_url == NULL || settings->news_url == NULL ? NP_ERROR_SYSTEM : NP_OK;
}

/* ------------------------------------------------------------------------------------------------ options */

static bool is_given(const char *text) { return text != NULL && *text != '\0'; }

static bool copy_option(char **copy, const char *text) {
  *copy = is_given(text) ? strdup(text) : NULL;
  return *copy != NULL || !is_given(text);
}

static np_error isolate(struct settings *settings, bool has_user) {
  if (has_user) return NP_ERROR_ARGUMENT;
  char token[TOKEN_LENGTH + 1];
  if (!random_token(token)) return NP_ERROR_SYSTEM;
  settings->proxy_user = strndup(token, 20);
  settings->proxy_password = strdup(token + 20);
  return settings->proxy_user == NULL || settings->proxy_password == NULL ? NP_ERROR_SYSTEM : NP_OK;
}

static np_error read_proxy(struct settings *settings, const np_net_options *options, CURLU *relay, CURLU *proxy) {
  if (!is_given(options->proxy)) return options->isolate != 0 || is_onion(relay) ? NP_ERROR_ARGUMENT : NP_OK;
  if (!is_plain(options->proxy) ||
      curl_url_set(proxy, CURLUPART_URL, options->proxy, CURLU_NON_SUPPORT_SCHEME) != CURLUE_OK)
    return NP_ERROR_ARGUMENT;
  bool is_socks = has_scheme(options->proxy, "socks5h");
  if (!is_socks && !has_scheme(options->proxy, "http")) return NP_ERROR_ARGUMENT;
  if (!has_part(proxy, CURLUPART_PORT)) return NP_ERROR_ARGUMENT;
  if (!is_socks && (options->isolate != 0 || is_onion(relay))) return NP_ERROR_ARGUMENT;
  if (!copy_option(&settings->proxy, options->proxy)) return NP_ERROR_SYSTEM;
  return options->isolate == 0 ? NP_OK : isolate(settings, has_part(proxy, CURLUPART_USER));
}

np_error settings_read(struct settings *settings, const char *text, const np_net_options *options) {
  CURLU *relay = curl_url();
  CURLU *proxy = curl_url();
  np_error error = relay == NULL || proxy == NULL ? NP_ERROR_SYSTEM : read_address(settings, text, relay);
  if (error == NP_OK) error = read_proxy(settings, options, relay, proxy);
  if (error == NP_OK && !copy_option(&settings->ca_file, options->ca_file)) error = NP_ERROR_SYSTEM;
  if (options->connect_timeout_ms < 0 || options->connect_timeout_ms > 60000) error = NP_ERROR_ARGUMENT;
  settings->connect_timeout_ms = options->connect_timeout_ms == 0 ? 10000 : options->connect_timeout_ms;
  curl_url_cleanup(relay);
  curl_url_cleanup(proxy);
  return error;
}

void settings_free(struct settings *settings) {
  free(settings->exchange_url);
  free(settings->news_url);
  free(settings->pins);
  free(settings->proxy);
  free(settings->proxy_user);
  free(settings->proxy_password);
  free(settings->ca_file);
  *settings = (struct settings){0};
}
