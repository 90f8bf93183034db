// SPDX-License-Identifier: Apache-2.0
// The used part of libcurl's interface, declared here: the library is loaded when something is uploaded, and is needed
// neither for building nor for anything else. The numbers are part of its binary interface since version 7.62
// (curl/curl.h).
#ifndef CRASHPADCTL_CCURL_H
#define CRASHPADCTL_CCURL_H

#include <stddef.h>
#include <stdint.h>

// A CURL *, a CURLcode, a CURLoption, a CURLINFO.
typedef void *curl_handle;
typedef int curl_code;
typedef int curl_option;
typedef int curl_info;

struct curl_list;

// The functions that dlsym(3) finds.
typedef curl_code (*curl_global_init_function)(long flags);
typedef curl_handle _Nullable (*curl_easy_init_function)(void);
typedef void (*curl_easy_cleanup_function)(curl_handle _Nonnull);
typedef void (*curl_easy_reset_function)(curl_handle _Nonnull);
typedef curl_code (*curl_easy_perform_function)(curl_handle _Nonnull);
typedef const char *_Nonnull (*curl_easy_strerror_function)(curl_code);
typedef const char *_Nonnull (*curl_version_function)(void);
typedef struct curl_list *_Nullable (*curl_slist_append_function)(struct curl_list *_Nullable, const char *_Nonnull);
typedef void (*curl_slist_free_all_function)(struct curl_list *_Nullable);

// The types of the callbacks. All return the number of bytes that they took or gave.
typedef size_t (*curl_data_callback)(char *_Nonnull, size_t, size_t, void *_Nullable);
typedef int (*curl_seek_callback)(void *_Nullable, int64_t offset, int origin);
// The descriptor of a new connection; 0 for going on.
typedef int (*curl_socket_callback)(void *_Nullable, int descriptor, int purpose);
typedef int (*curl_progress_callback)(void *_Nullable, int64_t to_receive, int64_t received, int64_t to_send,
                                      int64_t sent);

// Swift calls no function with variable arguments: curl_easy_setopt and curl_easy_getinfo, as dlsym(3) gives them.
typedef void *curl_setopt;
typedef void *curl_getinfo;
typedef curl_code (*curl_setopt_function)(curl_handle _Nonnull, curl_option, ...);
typedef curl_code (*curl_getinfo_function)(curl_handle _Nonnull, curl_info, ...);

static inline curl_code curl_set_number(curl_setopt _Nonnull set, curl_handle _Nonnull handle, curl_option option,
                                        long value) {
  return ((curl_setopt_function)set)(handle, option, value);
}
static inline curl_code curl_set_large_number(curl_setopt _Nonnull set, curl_handle _Nonnull handle, curl_option option,
                                              int64_t value) {
  return ((curl_setopt_function)set)(handle, option, value);
}
static inline curl_code curl_set_text(curl_setopt _Nonnull set, curl_handle _Nonnull handle, curl_option option,
                                      const char *_Nullable value) {
  return ((curl_setopt_function)set)(handle, option, value);
}
static inline curl_code curl_set_pointer(curl_setopt _Nonnull set, curl_handle _Nonnull handle, curl_option option,
                                         void *_Nullable value) {
  return ((curl_setopt_function)set)(handle, option, value);
}
static inline curl_code curl_set_list(curl_setopt _Nonnull set, curl_handle _Nonnull handle, curl_option option,
                                      struct curl_list *_Nullable value) {
  return ((curl_setopt_function)set)(handle, option, value);
}
static inline curl_code curl_set_data_callback(curl_setopt _Nonnull set, curl_handle _Nonnull handle,
                                               curl_option option, curl_data_callback _Nonnull value) {
  return ((curl_setopt_function)set)(handle, option, value);
}
static inline curl_code curl_set_seek_callback(curl_setopt _Nonnull set, curl_handle _Nonnull handle,
                                               curl_option option, curl_seek_callback _Nonnull value) {
  return ((curl_setopt_function)set)(handle, option, value);
}
static inline curl_code curl_set_socket_callback(curl_setopt _Nonnull set, curl_handle _Nonnull handle,
                                                 curl_option option, curl_socket_callback _Nonnull value) {
  return ((curl_setopt_function)set)(handle, option, value);
}
static inline curl_code curl_set_progress_callback(curl_setopt _Nonnull set, curl_handle _Nonnull handle,
                                                   curl_option option, curl_progress_callback _Nonnull value) {
  return ((curl_setopt_function)set)(handle, option, value);
}
static inline curl_code curl_get_number(curl_getinfo _Nonnull get, curl_handle _Nonnull handle, curl_info info,
                                        long *_Nonnull value) {
  return ((curl_getinfo_function)get)(handle, info, value);
}
static inline curl_code curl_get_text(curl_getinfo _Nonnull get, curl_handle _Nonnull handle, curl_info info,
                                      const char *_Nullable *_Nonnull value) {
  return ((curl_getinfo_function)get)(handle, info, value);
}

static const long CURL_INIT_ALL = 3;

// Options with a number.
static const curl_option CURL_OPTION_POST = 47;
static const curl_option CURL_OPTION_HTTPGET = 80;
static const curl_option CURL_OPTION_TIMEOUT_MS = 155;
static const curl_option CURL_OPTION_BUFFERSIZE = 98;
static const curl_option CURL_OPTION_NOPROGRESS = 43;
static const curl_option CURL_OPTION_UPLOAD_BUFFERSIZE = 280;
static const curl_option CURL_OPTION_LOW_SPEED_LIMIT = 19;
static const curl_option CURL_OPTION_LOW_SPEED_TIME = 20;
static const curl_option CURL_OPTION_CONNECTTIMEOUT_MS = 156;
static const curl_option CURL_OPTION_NOSIGNAL = 99;
static const curl_option CURL_OPTION_HTTP_VERSION = 84;
static const curl_option CURL_OPTION_TCP_NODELAY = 121;
static const curl_option CURL_OPTION_EXPECT_100_TIMEOUT_MS = 227;
// A mask of 1 (HTTP) and 2 (HTTPS).
static const curl_option CURL_OPTION_PROTOCOLS = 181;
static const curl_option CURL_OPTION_SSLVERSION = 32;
// With a number of 64 bits.
static const curl_option CURL_OPTION_POSTFIELDSIZE_LARGE = 30120;
// With an object.
static const curl_option CURL_OPTION_WRITEDATA = 10001;
static const curl_option CURL_OPTION_URL = 10002;
static const curl_option CURL_OPTION_PROXY = 10004;
static const curl_option CURL_OPTION_READDATA = 10009;
static const curl_option CURL_OPTION_ERRORBUFFER = 10010;
static const curl_option CURL_OPTION_USERAGENT = 10018;
static const curl_option CURL_OPTION_HTTPHEADER = 10023;
static const curl_option CURL_OPTION_HEADERDATA = 10029;
static const curl_option CURL_OPTION_XFERINFODATA = 10057;
static const curl_option CURL_OPTION_CAINFO = 10065;
static const curl_option CURL_OPTION_CAPATH = 10097;
static const curl_option CURL_OPTION_SEEKDATA = 10168;
static const curl_option CURL_OPTION_SOCKOPTDATA = 10149;
static const curl_option CURL_OPTION_NOPROXY = 10177;
static const curl_option CURL_OPTION_PROXY_CAINFO = 10246;
static const curl_option CURL_OPTION_PROXY_CAPATH = 10247;
// With a function.
static const curl_option CURL_OPTION_WRITEFUNCTION = 20011;
static const curl_option CURL_OPTION_READFUNCTION = 20012;
static const curl_option CURL_OPTION_HEADERFUNCTION = 20079;
static const curl_option CURL_OPTION_SOCKOPTFUNCTION = 20148;
static const curl_option CURL_OPTION_SEEKFUNCTION = 20167;
static const curl_option CURL_OPTION_XFERINFOFUNCTION = 20219;

static const long CURL_VERSION_HTTP_1_1 = 2;
static const long CURL_TLS_1_2 = 6;
static const size_t CURL_READ_ABORT = 0x10000000;
static const int CURL_SEEK_OK = 0;
static const int CURL_SEEK_FAIL = 1;
static const int CURL_ERROR_SIZE = 256;

static const curl_info CURL_INFO_RESPONSE_CODE = 0x200000 + 2;
static const curl_info CURL_INFO_HTTP_CONNECTCODE = 0x200000 + 22;
// The port of the other end, which is a proxy's if there is one.
static const curl_info CURL_INFO_PRIMARY_PORT = 0x200000 + 40;
// The address to which the answer redirects.
static const curl_info CURL_INFO_REDIRECT_URL = 0x100000 + 31;
// The address of the other end; empty without a connection.
static const curl_info CURL_INFO_PRIMARY_IP = 0x100000 + 32;
// Since version 7.84.
static const curl_info CURL_INFO_CAINFO = 0x100000 + 61;

// The results that are told apart.
static const curl_code CURL_UNSUPPORTED_PROTOCOL = 1;
static const curl_code CURL_URL_MALFORMAT = 3;
static const curl_code CURL_COULDNT_RESOLVE_PROXY = 5;
static const curl_code CURL_COULDNT_RESOLVE_HOST = 6;
static const curl_code CURL_COULDNT_CONNECT = 7;
static const curl_code CURL_WEIRD_SERVER_REPLY = 8;
static const curl_code CURL_PARTIAL_FILE = 18;
static const curl_code CURL_READ_ERROR = 26;
static const curl_code CURL_OUT_OF_MEMORY = 27;
static const curl_code CURL_OPERATION_TIMEDOUT = 28;
static const curl_code CURL_SSL_CONNECT_ERROR = 35;
static const curl_code CURL_ABORTED_BY_CALLBACK = 42;
static const curl_code CURL_GOT_NOTHING = 52;
static const curl_code CURL_SEND_ERROR = 55;
static const curl_code CURL_RECV_ERROR = 56;
static const curl_code CURL_SSL_CERTPROBLEM = 58;
static const curl_code CURL_PEER_FAILED_VERIFICATION = 60;
static const curl_code CURL_SSL_CACERT_BADFILE = 77;
static const curl_code CURL_PROXY = 97;
static const curl_code CURL_TOO_LARGE = 100;

#endif
