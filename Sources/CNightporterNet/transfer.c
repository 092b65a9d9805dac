/* Sets up libcurl and interprets its results. */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "internal.h"

/* How long sent bytes may stay unacknowledged. The system's own patience is a quarter of an hour. */
static const unsigned patience_ms = 30000;

/* Child processes of the host must not inherit connections. */
static curl_socket_t open_socket(void *context, curlsocktype purpose, struct curl_sockaddr *address) {
  (void)context;
  (void)purpose;
  int made = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
  if (made >= 0 && address->socktype == SOCK_STREAM)
    setsockopt(made, IPPROTO_TCP, TCP_USER_TIMEOUT, &patience_ms, sizeof patience_ms);
  return made;
}

/* ------------------------------------------------------------------------------------------------ headers */

/* Not with strchr(), which finds a NUL as well. */
static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

/* Returns the value of a header line, if it has this name. Lines are not terminated. */
static const char *value_of(const char *line, size_t length, const char *name, size_t *value_length) {
  size_t name_length = strlen(name);
  if (length <= name_length || strncasecmp(line, name, name_length) != 0 || line[name_length] != ':') return NULL;
  const char *value = line + name_length + 1;
  const char *end = line + length;
  while (value < end && (*value == ' ' || *value == '\t')) value++;
  while (end > value && is_blank(end[-1])) end--;
  *value_length = (size_t)(end - value);
  return value;
}

static bool is_type(const char *value, size_t length, const char *type) {
  size_t wanted = strlen(type);
  return length >= wanted && strncasecmp(value, type, wanted) == 0 &&
         (length == wanted || value[wanted] == ';' || value[wanted] == ' ');
}

/* 1 to 300 seconds; a date or garbage counts as absent. */
static unsigned read_seconds(const char *value, size_t length) {
  unsigned seconds = 0;
  for (size_t index = 0; index < length; index++) {
    if (value[index] < '0' || value[index] > '9') return 0;
    seconds = seconds * 10 + (unsigned)(value[index] - '0');
    if (seconds > 300) seconds = 300;
  }
  return seconds;
}

static size_t take_header(char *line, size_t size, size_t count, void *context) {
  struct response *response = context;
  size_t length = size * count;
  size_t value_length;
  const char *value;
  if (length > 5 && strncasecmp(line, "HTTP/", 5) == 0) *response = (struct response){0};
  else if ((value = value_of(line, length, "retry-after", &value_length)) != NULL)
    response->retry_after = read_seconds(value, value_length);
  else if ((value = value_of(line, length, "porter-limit", &value_length)) != NULL)
    response->limits_mailbox = is_type(value, value_length, "mailbox");
  else if ((value = value_of(line, length, "content-type", &value_length)) != NULL) {
    response->is_bytes = is_type(value, value_length, "application/octet-stream");
    response->is_stream = is_type(value, value_length, "text/event-stream");
  }
  return length;
}

/* ------------------------------------------------------------------------------------------------ options */

/* Records a failure among many calls. */
struct setup {
  CURL *easy;
  CURLcode code;
};

#define SET(option, value) \
  do \
    if (setup.code == CURLE_OK) setup.code = curl_easy_setopt(setup.easy, option, value); \
  while (0)

static CURLcode set_security(CURL *easy, const struct settings *settings) {
  struct setup setup = {easy, CURLE_OK};
  SET(CURLOPT_PROTOCOLS_STR, "https");
  SET(CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_3);
  if (settings->pins != NULL) {
    /* The key is the relay's whole identity. libcurl would still read the system's authorities. */
    SET(CURLOPT_PINNEDPUBLICKEY, settings->pins);
    SET(CURLOPT_SSL_VERIFYPEER, 0L);
    SET(CURLOPT_SSL_VERIFYHOST, 0L);
    SET(CURLOPT_CAINFO, (char *)NULL);
    SET(CURLOPT_CAPATH, (char *)NULL);
  } else if (settings->ca_file != NULL) {
    SET(CURLOPT_CAINFO, settings->ca_file);
    SET(CURLOPT_CAPATH, (char *)NULL);
  }
  return setup.code;
}

static CURLcode set_proxy(CURL *easy, const struct settings *settings) {
  struct setup setup = {easy, CURLE_OK};
  /* An empty proxy, with no exceptions, keeps libcurl from looking into the environment. */
  SET(CURLOPT_PROXY, settings->proxy == NULL ? "" : settings->proxy);
  SET(CURLOPT_NOPROXY, "");
  SET(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  SET(CURLOPT_SOCKS5_AUTH, (long)CURLAUTH_BASIC);
  if (settings->proxy_user != NULL) {
    SET(CURLOPT_PROXYUSERNAME, settings->proxy_user);
    SET(CURLOPT_PROXYPASSWORD, settings->proxy_password);
  }
  return setup.code;
}

bool transfer_prepare(CURL *easy, const struct settings *settings, struct response *response) {
  struct setup setup = {easy, CURLE_OK};
  SET(CURLOPT_NOSIGNAL, 1L);
  SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
  SET(CURLOPT_FOLLOWLOCATION, 0L);
  SET(CURLOPT_CONNECTTIMEOUT_MS, settings->connect_timeout_ms);
  /* Hanging name resolution is left to end by itself. */
  SET(CURLOPT_QUICK_EXIT, 1L);
  SET(CURLOPT_TCP_KEEPALIVE, 1L);
  SET(CURLOPT_OPENSOCKETFUNCTION, open_socket);
  SET(CURLOPT_HEADERFUNCTION, take_header);
  SET(CURLOPT_HEADERDATA, response);
  SET(CURLOPT_UPLOAD_BUFFERSIZE, 16384L);
  if (setup.code == CURLE_OK) setup.code = set_security(easy, settings);
  if (setup.code == CURLE_OK) setup.code = set_proxy(easy, settings);
  return setup.code == CURLE_OK;
}

/* ------------------------------------------------------------------------------------------------ results */

bool transfer_broke(CURLcode code) {
  return code == CURLE_SEND_ERROR || code == CURLE_RECV_ERROR || code == CURLE_GOT_NOTHING || code == CURLE_HTTP2 ||
         code == CURLE_HTTP2_STREAM || code == CURLE_PARTIAL_FILE;
}

np_net_failure transfer_failure(CURL *easy, CURLcode code, bool has_proxy) {
  long connect_status = 0;
  curl_easy_getinfo(easy, CURLINFO_HTTP_CONNECTCODE, &connect_status);
  switch (code) {
    case CURLE_OK: return NP_NET_NONE;
    case CURLE_PROXY:
    case CURLE_COULDNT_RESOLVE_PROXY: return NP_NET_PROXY;
    case CURLE_COULDNT_CONNECT: return has_proxy ? NP_NET_PROXY : NP_NET_UNREACHABLE;
    case CURLE_SSL_PINNEDPUBKEYNOTMATCH: return NP_NET_FINGERPRINT;
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_ISSUER_ERROR: return NP_NET_CERTIFICATE;
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_USE_SSL_FAILED: return NP_NET_TLS;
    case CURLE_OUT_OF_MEMORY:
    case CURLE_FAILED_INIT: return NP_NET_SYSTEM;
    case CURLE_WRITE_ERROR:
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_BAD_CONTENT_ENCODING: return NP_NET_ANSWER;
    default: return connect_status != 0 && connect_status / 100 != 2 ? NP_NET_PROXY : NP_NET_UNREACHABLE;
  }
}

np_net_failure response_failure(const struct response *response) {
  if (response->status == 200) return response->is_bytes ? NP_NET_NONE : NP_NET_ANSWER;
  return response->status == 429 || response->status / 100 == 5 ? NP_NET_BUSY : NP_NET_REFUSED;
}
