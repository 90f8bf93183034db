// SPDX-License-Identifier: Apache-2.0
#include "CCrashpadSQLite.h"

#include <dlfcn.h>

// Text that SQLite has to copy (SQLITE_TRANSIENT).
#define COPIED ((void (*)(void *))-1)

// Name, result, parameters.
#define FUNCTIONS(F)                                                                        \
  F(sqlite3_open_v2, int, (const char *, void **, int, const char *))                       \
  F(sqlite3_close_v2, int, (void *))                                                        \
  F(sqlite3_extended_result_codes, int, (void *, int))                                      \
  F(sqlite3_busy_timeout, int, (void *, int))                                               \
  F(sqlite3_prepare_v2, int, (void *, const char *, int, void **, const char **))           \
  F(sqlite3_exec, int, (void *, const char *, void *, void *, char **))                     \
  F(sqlite3_finalize, int, (void *))                                                        \
  F(sqlite3_step, int, (void *))                                                            \
  F(sqlite3_reset, int, (void *))                                                           \
  F(sqlite3_bind_int64, int, (void *, int, int64_t))                                        \
  F(sqlite3_bind_null, int, (void *, int))                                                  \
  F(sqlite3_bind_text, int, (void *, int, const char *, int, void (*)(void *)))             \
  F(sqlite3_column_type, int, (void *, int))                                                \
  F(sqlite3_column_int64, int64_t, (void *, int))                                           \
  F(sqlite3_column_text, const uint8_t *, (void *, int))                                    \
  F(sqlite3_column_bytes, int, (void *, int))                                               \
  F(sqlite3_errmsg, const char *, (void *))                                                 \
  F(sqlite3_system_errno, int, (void *))

#define DECLARE(name, result, parameters) extern result name parameters __attribute__((weak));
FUNCTIONS(DECLARE)

#define MEMBER(name, result, parameters) result(*name) parameters;
static struct { FUNCTIONS(MEMBER) } library;

bool sqlite_load(void) {
  // The last one found is the mark that all are there.
  if (library.sqlite3_system_errno != NULL) return true;
  void *handle = sqlite3_open_v2 == NULL ? dlopen("libsqlite3.so.0", RTLD_NOW | RTLD_LOCAL) : NULL;
  if (sqlite3_open_v2 == NULL && handle == NULL) return false;
#define FIND(name, result, parameters)                                      \
  library.name = handle == NULL ? name : (result(*) parameters)dlsym(handle, #name); \
  if (library.name == NULL) return false;
  FUNCTIONS(FIND)
  return true;
}

int sqlite_open(const char *path, sqlite_connection *connection) {
  enum { kReadWrite = 2, kCreate = 4, kNoMutex = 0x8000, kWait = 60000 };
  *connection = NULL;
  int result = library.sqlite3_open_v2(path, connection, kReadWrite | kCreate | kNoMutex, NULL);
  if (*connection != NULL) {
    library.sqlite3_extended_result_codes(*connection, 1);
    library.sqlite3_busy_timeout(*connection, kWait);
  }
  return result;
}

void sqlite_close(sqlite_connection connection) { library.sqlite3_close_v2(connection); }

int sqlite_prepare(sqlite_connection connection, const char *sql, sqlite_statement *statement) {
  *statement = NULL;
  return library.sqlite3_prepare_v2(connection, sql, -1, statement, NULL);
}

int sqlite_execute(sqlite_connection connection, const char *sql) {
  return library.sqlite3_exec(connection, sql, NULL, NULL, NULL);
}

void sqlite_finalize(sqlite_statement statement) { library.sqlite3_finalize(statement); }
int sqlite_step(sqlite_statement statement) { return library.sqlite3_step(statement); }
int sqlite_reset(sqlite_statement statement) { return library.sqlite3_reset(statement); }

int sqlite_bind_number(sqlite_statement statement, int parameter, int64_t value) {
  return library.sqlite3_bind_int64(statement, parameter, value);
}

int sqlite_bind_nothing(sqlite_statement statement, int parameter) {
  return library.sqlite3_bind_null(statement, parameter);
}

int sqlite_bind_string(sqlite_statement statement, int parameter, const char *bytes, int count) {
  return library.sqlite3_bind_text(statement, parameter, bytes, count, COPIED);
}

bool sqlite_is_null(sqlite_statement statement, int column) {
  enum { kNull = 5 };
  return library.sqlite3_column_type(statement, column) == kNull;
}

int64_t sqlite_number(sqlite_statement statement, int column) {
  return library.sqlite3_column_int64(statement, column);
}

const uint8_t *sqlite_string(sqlite_statement statement, int column, int *count) {
  const uint8_t *bytes = library.sqlite3_column_text(statement, column);
  *count = bytes == NULL ? 0 : library.sqlite3_column_bytes(statement, column);
  return bytes;
}

const char *sqlite_message(sqlite_connection connection) { return library.sqlite3_errmsg(connection); }
int sqlite_errno(sqlite_connection connection) { return library.sqlite3_system_errno(connection); }
