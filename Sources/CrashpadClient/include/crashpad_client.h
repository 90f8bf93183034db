/* SPDX-License-Identifier: Apache-2.0 */
/* Crashpad's client for programs in C and C++: link with libcrashpad_client.so or libcrashpad_client.a, for which there
 * are files for pkg-config and CMake, or with the Swift library CrashpadClient.
 *
 * Programs that must not depend on the Swift runtime can use CCrashCapture.h and libcrashpad_handler.so, which write the
 * same dumps; `crashpadctl process` makes reports from them.
 *
 * Functions with an int result return 0, or an errno value: ESRCH if the handler was not started. All may be called from
 * any thread. A list of annotations contains names and values in turn, ended by NULL; NULL is an empty list. */
#ifndef CRASHPAD_CLIENT_H
#define CRASHPAD_CLIENT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Starts the handler: from now on a crash of this process leaves a dump in the database.
 *
 * database: its directory, which is made if it is missing, but not its parents.
 * url: the address for uploads of reports; NULL for none.
 * program_id: identifies the program's dumps; must not begin with a dot. NULL for the name of the executable.
 * message: receives a sentence about a failure; may be NULL. */
int crashpad_start(const char *database, const char *url, const char *program_id, const char *const *annotations,
                   char *message, size_t message_size);

/* Writes a dump of this process, which goes on, and makes a pending report from it. Waits for the disk. */
int crashpad_dump_without_crash(void);
/* Writes a dump of this process, from which crashpad_process_intermediate_dumps makes a report. */
int crashpad_dump_without_crash_and_defer_processing(void);
/* Writes a dump of this process to a path that does not exist yet, for crashpad_process_intermediate_dump. */
int crashpad_dump_without_crash_and_defer_processing_at_path(const char *path);

/* Makes reports from at most 20 pending dumps. Takes milliseconds for each: not for the main thread. */
int crashpad_process_intermediate_dumps(const char *const *annotations);
/* Makes a report from one dump, which moves into the database. */
int crashpad_process_intermediate_dump(const char *file, const char *const *annotations);
/* Begins to upload pending reports on another thread, and checks again every 15 minutes. If the settings do not allow
 * uploads, as in a new database, reports without a requested upload become completed ones. */
int crashpad_start_processing_pending_reports(void);
/* Stores whether reports may be uploaded, for all programs that use the database. */
int crashpad_set_uploads_enabled(int is_enabled);
/* 1 if reports may be uploaded; 0 if not, or if that was never set. */
int crashpad_uploads_enabled(void);

/* 1 if the last run of this program crashed. */
int crashpad_crashed_last_run(void);
/* The number of successive runs, up to the last one, that crashed within ten seconds of their start. */
int crashpad_start_crashes(void);

/* Passes the crashes of earlier runs of this program to `send`, each as events for analytics: lines of text that end with
 * a line feed, the crash first and then the end of the session that it interrupted. Each crash is passed once, whichever
 * run does it. Waits for the disk, and takes milliseconds for each dump: not for the main thread.
 *
 * form: "seed", "sensors", "otel", "ecs" or "sentry-session", which crashpadctl-events(5) describes; NULL for "seed".
 * send: stores or sends the events of one crash, `size` bytes in front of a NUL, and returns 0. Another value ends the
 * function, which returns it; the next call passes the crash again, with the same ids. It must not call this function. */
int crashpad_send_crash_events(const char *form, int (*send)(const char *lines, size_t size, void *context),
                               void *context);

/* Sets a text that every dump contains; a value of NULL removes it. Copies both. E2BIG if the name has more than 255
 * bytes, the value more than 4095, or there are 64 already. */
int crashpad_set_annotation(const char *name, const char *value);

/* Makes a text annotation for values that change often: setting it takes a copy and an atomic store. Never freed. */
void *crashpad_string_annotation(const char *name, size_t maximum_length);
/* NULL for no value. */
void crashpad_string_annotation_set(void *annotation, const char *value);

/* Makes an annotation that keeps the last items pushed to it, in the layout of Crashpad's
 * length_delimited_ring_buffer.h. Never freed. */
void *crashpad_ring_buffer_annotation(const char *name, uint16_t user_type, size_t capacity);
/* EAGAIN if the item is empty or too large, or if another thread is pushing; EINVAL for NULL. */
int crashpad_ring_buffer_annotation_push(void *annotation, const void *item, size_t size);

/* Adds memory to the contents of dumps: at most 128 ranges of 1 MiB. E2BIG for more; EINVAL for NULL. */
int crashpad_add_memory(const void *address, size_t size);
void crashpad_remove_memory(const void *address);

/* Gives the calling thread an alternate signal stack, so that an overflow of its own stack is captured. */
int crashpad_prepare_thread(void);

#ifdef __cplusplus
}
#endif
#endif
