/*
 * The C interface through which Assay drives an engine. Version 1.
 *
 * A library that exports these functions is an engine: `assay engine add NAME LIBRARY`.
 *
 * A shim is one C file, compiled against an engine's own header for one build of that engine, that
 * exports these functions and nothing else. Assay loads it, and with it the engine's library. So
 * the compiler handles structs whose layout changes from build to build.
 *
 * Rules for every function: it neither writes to stdout nor ends the process on purpose. One engine
 * is open at a time. Sessions belong to the thread that began them; the other functions are called
 * from any thread, also while sessions work. What is returned through a callback is copied before
 * the callback returns. Texts are UTF-8 and end with a zero byte.
 */
#ifndef ASSAY_ENGINE_H
#define ASSAY_ENGINE_H

#include <stddef.h>
#include <stdint.h>

#define ASSAY_ABI 1
#define ASSAY_EXPORT __attribute__((visibility("default")))
/* A function that a library may leave out. */
#define ASSAY_OPTIONAL ASSAY_EXPORT

/* Result of a call. Everything from ASSAY_CONFLICT on is a failure and fills assay_error. */
enum assay_result {
    ASSAY_DONE = 0,
    ASSAY_NOT_FOUND = 1,   /* a get or a scan that found no row; no failure */
    ASSAY_CONFLICT = 2,    /* with another client: retry is legal */
    ASSAY_TIMEOUT = 3,     /* the engine's own timeout expired */
    ASSAY_UNSUPPORTED = 4, /* not supported by this build */
    ASSAY_BAD_OPTION = 5,  /* `option` names the one that was refused */
    ASSAY_FATAL = 6,       /* the engine cannot continue */
};

/* Error of a call, with the engine's own message; truncated to fit. Written only on failure. */
typedef struct assay_error {
    char text[1024];
    char option[128]; /* empty unless ASSAY_BAD_OPTION, or an option is ASSAY_UNSUPPORTED */
} assay_error;

typedef struct assay_option {
    const char *name;
    const char *value;
} assay_option;

/* What an engine is opened with; all pointers live until the call returns. */
typedef struct assay_open_spec {
    const char *dir;             /* exists; empty for fresh data */
    const assay_option *options; /* refuse each that is unknown: ASSAY_BAD_OPTION, without a list */
    size_t option_count;
} assay_open_spec;

/* Takes one row that was read. */
typedef void (*assay_row)(void *rows, const void *key, size_t key_bytes, const void *value,
                          size_t value_bytes);
/* Takes one named text. */
typedef void (*assay_text)(void *to, const char *name, const char *text);
/* Takes one named number. */
typedef void (*assay_count)(void *to, const char *name, double value);

/* Work between steps; see `assay_maintain`. */
enum assay_work {
    ASSAY_FLUSH = 0,          /* write buffered data to disk and sync */
    ASSAY_COMPACT_LEVEL0 = 1, /* move level 0 to the next level that is not empty */
    ASSAY_COMPACT_ALL = 2,    /* compact everything */
};

/* Returns ASSAY_ABI. */
ASSAY_EXPORT uint32_t assay_abi(void);

/*
 * Reports `version` and build facts by name; called before anything is opened. Of an engine without
 * a driver in Assay these facts are its capabilities, each with its meaning when absent:
 *
 *   durability       classes offered, of "none os sync" (none); of several the one requested comes
 *                    as the option `assay.durability`
 *   settings         of "cache direct_io compression background_jobs" those taken (none), as the
 *                    options `assay.cache` (bytes), `assay.direct_io` (1), and so on
 *   key_bytes_max, value_bytes_max   longest key and value (no limit)
 *   reverse_scans    "no" when scans go upwards only (yes)
 *   field_reads      "yes" when assay_get passes values where they lie, without a copy (no)
 */
ASSAY_EXPORT void assay_identity(assay_text report, void *to);

/* Opens the data in `spec->dir`, creating it when the directory is empty. */
ASSAY_EXPORT int assay_open(const assay_open_spec *spec, void **engine, assay_error *error);

/* Reports the configuration in force, under the engine's own names. */
ASSAY_EXPORT void assay_options(void *engine, assay_text report, void *to);

/* Begins a session on the calling thread. */
ASSAY_EXPORT int assay_session_begin(void *engine, void **session, assay_error *error);
ASSAY_EXPORT void assay_session_end(void *session);

/*
 * Operations. Hot path: no clock, no lock and no allocation of the shim's own.
 *
 * assay_get and assay_scan return ASSAY_DONE after at least one row, and ASSAY_NOT_FOUND without
 * one. assay_put and assay_delete return ASSAY_DONE, also for a key that is absent.
 */
ASSAY_EXPORT int assay_get(void *session, const void *key, size_t key_bytes, assay_row row,
                           void *rows, assay_error *error);
ASSAY_EXPORT int assay_put(void *session, const void *key, size_t key_bytes, const void *value,
                           size_t value_bytes, assay_error *error);
ASSAY_EXPORT int assay_delete(void *session, const void *key, size_t key_bytes,
                              assay_error *error);
/* Reads at most `limit` rows from `start` on, upwards or, with `is_reverse`, downwards. */
ASSAY_EXPORT int assay_scan(void *session, const void *start, size_t start_bytes, uint32_t limit,
                            int is_reverse, assay_row row, void *rows, assay_error *error);

/*
 * Changes a part of a value, atomically: replaces `count` bytes from `offset` on or, with
 * `is_append`, adds them at its end. ASSAY_NOT_FOUND without the row, and ASSAY_UNSUPPORTED when
 * the bytes to replace end beyond the value; neither writes. Left out, Assay reads and writes the
 * whole value, as with the option `assay.value_changes` = read-modify-write, which is Assay's own.
 */
ASSAY_OPTIONAL int assay_modify(void *session, const void *key, size_t key_bytes, uint32_t offset,
                                int is_append, const void *bytes, size_t count,
                                assay_error *error);

/* Starts `work`; `*is_done` is 0 when the engine has no such work to do. May block. */
ASSAY_EXPORT int assay_maintain(void *engine, int work, int *is_done, assay_error *error);

/*
 * Reports the engine's current state; called once a second. Names of Assay's glossary
 * (`engine_...`, `log_bytes`) are its metrics in their units, cumulative where those are counters;
 * `tree_height` and `is_idle` (0 or 1) are state; any other is a counter under the engine's own
 * name.
 */
ASSAY_EXPORT void assay_state(void *engine, assay_count count, void *to);

/* Reports the engine's own statistics for the archive, each with a title and a text. */
ASSAY_EXPORT void assay_statistics(void *engine, assay_text report, void *to);

/*
 * Closes cleanly; `engine` is freed, also on failure. In every durability class, `none` too, the
 * next assay_open of the directory finds every row: the class states what survives without a close.
 */
ASSAY_EXPORT int assay_close(void *engine, assay_error *error);

#endif
