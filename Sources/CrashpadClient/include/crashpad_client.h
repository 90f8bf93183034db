/* SPDX-License-Identifier: Apache-2.0 */
/* Crashpad's client for programs in C and C++: link with libcrashpad_client.so, or with the Swift library
 * CrashpadClient.
 *
 * Where no Swift runtime may be needed, CCrashCapture.h and libcrashpad_handler.so write the same dumps; `crashpadctl
 * process` makes reports of them.
 *
 * Functions that return int return 0, or an errno value: ESRCH if the handler was not started. All may be called from
 * any thread. Lists of annotations are names and values in turn, ended by NULL; NULL is an empty list. */
#ifndef CRASHPAD_CLIENT_H
#define CRASHPAD_CLIENT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Starts the handler: from now on a crash of this process leaves a dump in the database.
 *
 * database: its directory, which is made if it is missing, but not the directories above it.
 * url: where reports are to be uploaded to; NULL for nowhere.
 * program_id: whose dumps these are, without a dot in front; NULL for the name of the executable.
 * message: gets a sentence if it fails; may be NULL. */
int crashpad_start(const char *database, const char *url, const char *program_id, const char *const *annotations,
                   char *message, size_t message_size);

/* Writes a dump of this process, which goes on, and makes a pending report of it. Waits for the disk. */
int crashpad_dump_without_crash(void);
/* Writes a dump of this process, of which crashpad_process_intermediate_dumps makes a report. */
int crashpad_dump_without_crash_and_defer_processing(void);
/* Writes a dump of this process to a path where nothing is yet, for crashpad_process_intermediate_dump. */
int crashpad_dump_without_crash_and_defer_processing_at_path(const char *path);

/* Makes reports of at most 20 pending dumps. Takes milliseconds for each: not for the main thread. */
int crashpad_process_intermediate_dumps(const char *const *annotations);
/* Makes a report of one dump, which moves into the database. */
int crashpad_process_intermediate_dump(const char *file, const char *const *annotations);
/* Begins to upload pending reports on another thread, and looks again every 15 minutes. Where the settings do not allow
 * uploads, as in a new database, reports that nobody asked for become completed ones. */
int crashpad_start_processing_pending_reports(void);
/* Writes down whether reports may be uploaded, for all programs that use the database. */
int crashpad_set_uploads_enabled(int is_enabled);
/* 1 if they may; 0 if not, and if nobody said so. */
int crashpad_uploads_enabled(void);

/* 1 if the last run of this program crashed. */
int crashpad_crashed_last_run(void);
/* How many runs in a row, up to the last one, crashed within ten seconds of their start. */
int crashpad_start_crashes(void);

/* Sets a text that every dump has; a value of NULL removes it. Copies both. E2BIG if the name has more than 255 bytes,
 * the value more than 4095, or there are 64. */
int crashpad_set_annotation(const char *name, const char *value);

/* A text for what changes often: setting it is a copy and an atomic store. Never freed. */
void *crashpad_string_annotation(const char *name, size_t maximum_length);
/* NULL for no value. */
void crashpad_string_annotation_set(void *annotation, const char *value);

/* The last items of what is put into it, in the layout of Crashpad's length_delimited_ring_buffer.h. Never freed. */
void *crashpad_ring_buffer_annotation(const char *name, uint16_t user_type, size_t capacity);
/* EAGAIN if the item is empty or too large, or if another thread stands in the middle of this; EINVAL for NULL. */
int crashpad_ring_buffer_annotation_push(void *annotation, const void *item, size_t size);

/* Memory that dumps have beside what they have anyway: at most 128 ranges of 1 MiB. E2BIG if there is more; EINVAL for
 * NULL. */
int crashpad_add_memory(const void *address, size_t size);
void crashpad_remove_memory(const void *address);

/* Gives the calling thread what it needs so that the overflow of its own stack is captured. */
int crashpad_prepare_thread(void);

#ifdef __cplusplus
}
#endif
#endif
