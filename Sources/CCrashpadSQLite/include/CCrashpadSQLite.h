// SPDX-License-Identifier: Apache-2.0
// The used part of SQLite's interface (sqlite3.h), declared here: a release build links its archive in where it finds one,
// and other builds load libsqlite3.so.0 when an index is opened. Numbers and functions are part of its stable interface.
#ifndef CRASHPADCTL_CSQLITE_H
#define CRASHPADCTL_CSQLITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A sqlite3 * and a sqlite3_stmt *.
typedef void *sqlite_connection;
typedef void *sqlite_statement;

// Loads the library if it is not linked in. Every other function needs that.
bool sqlite_load(void);

// All return a result code; SQLITE_OK is 0. `connection` becomes null only if there is no memory.
int sqlite_open(const char *_Nonnull path, sqlite_connection _Nullable *_Nonnull connection);
void sqlite_close(sqlite_connection _Nonnull connection);
int sqlite_prepare(sqlite_connection _Nonnull connection, const char *_Nonnull sql,
                   sqlite_statement _Nullable *_Nonnull statement);
int sqlite_execute(sqlite_connection _Nonnull connection, const char *_Nonnull sql);
void sqlite_finalize(sqlite_statement _Nonnull statement);
int sqlite_step(sqlite_statement _Nonnull statement);
int sqlite_reset(sqlite_statement _Nonnull statement);

// Parameters are counted from 1. The text is copied; a null one is NULL.
int sqlite_bind_number(sqlite_statement _Nonnull statement, int parameter, int64_t value);
int sqlite_bind_nothing(sqlite_statement _Nonnull statement, int parameter);
int sqlite_bind_string(sqlite_statement _Nonnull statement, int parameter, const char *_Nonnull bytes, int count);

// Columns are counted from 0.
bool sqlite_is_null(sqlite_statement _Nonnull statement, int column);
int64_t sqlite_number(sqlite_statement _Nonnull statement, int column);
const uint8_t *_Nullable sqlite_string(sqlite_statement _Nonnull statement, int column, int *_Nonnull count);

const char *_Nonnull sqlite_message(sqlite_connection _Nonnull connection);
// The errno of the last call that failed; 0 if there is none.
int sqlite_errno(sqlite_connection _Nonnull connection);

#endif
