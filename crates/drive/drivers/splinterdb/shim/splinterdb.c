/*
 * SplinterDB behind Assay's C interface: one source for every build since 2022.
 *
 * The public header changed its structs and argument lists many times; the macros HAS_*, which
 * `src/recipe.rs` probes with each build's own headers, mark the features of a build.
 */
#define _GNU_SOURCE
#define SPLINTERDB_PLATFORM_DIR platform_linux
#include "splinterdb/splinterdb.h"
#include "splinterdb/default_data_config.h"

#include "assay_engine.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef SPLINTERDB_MAX_KEY_SIZE
/* One byte less than configured: a longest key of all 0xff ends every scan. */
#define KEY_BYTES_MAX (SPLINTERDB_MAX_KEY_SIZE - 1)
#define KEY_BYTES_CONFIGURED SPLINTERDB_MAX_KEY_SIZE
#elif defined HAS_MAX_BRANCHES
/* A node of 4 KiB has room for keys of 102 or 103 bytes with the default fanout. */
#define KEY_BYTES_MAX 100
#define KEY_BYTES_CONFIGURED KEY_BYTES_MAX
#else
/* Source: [SplinterDB source] src/btree.h, MAX_INLINE_KEY_SIZE: an eighth of a page. */
#define KEY_BYTES_MAX 512
#define KEY_BYTES_CONFIGURED KEY_BYTES_MAX
#endif
/* Source: [SplinterDB source] src/btree.h, MAX_INLINE_MESSAGE_SIZE: 35 % of a page of 4 KiB. */
#define VALUE_BYTES_MAX 1433
#define PAGE_BYTES 4096
/* Threads that may be registered at one time, the engine's own included. */
#define THREADS_MAX 64

#ifdef HAS_OLD_RESULT
#define OLD_RESULT , NULL
#else
#define OLD_RESULT
#endif
#ifdef HAS_LOOKUP_FLAGS
#define LOOKUP_FLAGS SPLINTERDB_LOOKUP_VALUE,
#else
#define LOOKUP_FLAGS
#endif
/*
 * Iterators go downwards since July 2023. Until they could begin there, in April 2026, one that was
 * begun upwards lost the rows below where it crossed a page of the B-tree.
 */
#if defined HAS_COMPARISON_FIRST || defined HAS_COMPARISON_LAST
#define CAN_GO_DOWN
#endif
#if defined HAS_COMPARISON_FIRST
#define BEGIN(db, it, way, start) splinterdb_iterator_init(db, it, way, start)
#elif defined HAS_COMPARISON_LAST
#define BEGIN(db, it, way, start) splinterdb_iterator_init(db, it, start, way)
#else
#define BEGIN(db, it, way, start) splinterdb_iterator_init(db, it, start)
#endif

/* Not in the public header; there since 2023. */
extern void splinterdb_cache_flush(splinterdb *db) __attribute__((weak));

typedef struct engine {
    splinterdb *db;
    splinterdb_config config;
    char newer[256]; /* fields of a library newer than its headers: 0, the default */
    data_config data;
    size_t key_size; /* room of a node's keys: the longer, the fewer branches it holds */
    char path[4096];
    char log_path[4096];
    pthread_t opener;
    FILE *log;            /* the engine's stdout */
    FILE *statistics;     /* the engine's output while it prints statistics */
    pthread_mutex_t lock; /* of `statistics` and `text` */
    char *text;           /* the last statistics */
} engine;

typedef struct session {
    engine *engine;
    splinterdb_lookup_result result;
} session;

/* ---- failures ---- */

static int fail(assay_error *error, int result, const char *what, int code) {
    snprintf(error->text, sizeof error->text, "%s: %s", what, strerror(code));
    return result;
}

/* Error of the engine; for an oversized row, with the limit. */
static int failed(assay_error *error, const char *what, int code, size_t key, size_t value) {
    if (key > KEY_BYTES_MAX) {
        snprintf(error->text, sizeof error->text,
                 "%s: a key of %zu bytes; this build takes %d at most", what, key, KEY_BYTES_MAX);
        return ASSAY_UNSUPPORTED;
    }
#ifndef HAS_BLOBS
    if (value > VALUE_BYTES_MAX) {
        snprintf(error->text, sizeof error->text,
                 "%s: a value of %zu bytes; this build takes %d at most", what, value,
                 VALUE_BYTES_MAX);
        return ASSAY_UNSUPPORTED;
    }
#endif
    (void)value;
    return fail(error, ASSAY_FATAL, what, code);
}

/* ---- options ---- */

/* An integer of the configuration, by its name. */
typedef struct field {
    const char *name;
    size_t offset, bytes;
} field;

#define FIELD(name) {#name, offsetof(splinterdb_config, name), sizeof ((splinterdb_config *)0)->name}

static const field FIELDS[] = {
    FIELD(cache_size),
    FIELD(disk_size),
    FIELD(memtable_capacity),
    FIELD(fanout),
    FIELD(btree_rough_count_height),
    FIELD(reclaim_threshold),
    FIELD(io_async_queue_depth),
    FIELD(use_log),
    FIELD(use_stats),
    FIELD(cache_use_stats),
#ifdef HAS_MAX_BRANCHES
    FIELD(max_branches_per_node),
#endif
#ifdef HAS_FILTER_REMAINDER
    FIELD(filter_remainder_size),
    FIELD(filter_index_size),
#endif
#ifdef HAS_FILTER_HASH
    FIELD(filter_hash_size),
    FIELD(filter_log_index_size),
#endif
#ifdef HAS_BACKGROUND_THREADS
    FIELD(num_memtable_bg_threads),
    FIELD(num_normal_bg_threads),
#endif
#ifdef HAS_QUEUE_SCALE
    FIELD(queue_scale_percent),
#endif
#ifdef HAS_PREFETCH_BUDGET
    FIELD(prefetch_budget),
#endif
};
#define FIELD_COUNT (sizeof FIELDS / sizeof *FIELDS)
#define IO_FLAGS "io_flags"
#define DIRECT "O_RDWR|O_CREAT|O_DIRECT"
#define KEY_SIZE "key_size"
#ifdef HAS_KEY_SIZE
#define OPTIONS KEY_SIZE
#else
#define OPTIONS ""
#endif

static void store(splinterdb_config *config, const field *f, uint64_t value) {
    unsigned char *at = (unsigned char *)config + f->offset;
    uint8_t byte = (uint8_t)value;
    uint32_t word = (uint32_t)value;
    if (f->bytes == sizeof byte) memcpy(at, &byte, sizeof byte);
    else if (f->bytes == sizeof word) memcpy(at, &word, sizeof word);
    else memcpy(at, &value, sizeof value);
}

static uint64_t stored(const splinterdb_config *config, const field *f) {
    const unsigned char *at = (const unsigned char *)config + f->offset;
    uint64_t value = 0;
    memcpy(&value, at, f->bytes); /* little endian */
    return value;
}

static int refused(assay_error *error, const char *name, const char *text) {
    snprintf(error->option, sizeof error->option, "%s", name);
    snprintf(error->text, sizeof error->text, "%s", text);
    return ASSAY_BAD_OPTION;
}

static int number(const assay_option *option, uint64_t *value) {
    char *end;
    errno = 0;
    *value = strtoull(option->value, &end, 10);
    return !errno && end != option->value && !*end;
}

static int set_option(engine *e, const assay_option *option, assay_error *error) {
#ifdef HAS_KEY_SIZE
    if (strcmp(option->name, KEY_SIZE) == 0) {
        uint64_t value;
        if (!number(option, &value) || value < 1 || value > KEY_BYTES_CONFIGURED) {
            return refused(error, KEY_SIZE, "not a length this build takes");
        }
        e->key_size = value;
        return ASSAY_DONE;
    }
#endif
    if (strcmp(option->name, IO_FLAGS) == 0) {
        if (strcmp(option->value, DIRECT) != 0) return refused(error, IO_FLAGS, "only " DIRECT);
        e->config.io_flags = O_RDWR | O_CREAT | O_DIRECT;
        return ASSAY_DONE;
    }
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        if (strcmp(FIELDS[i].name, option->name) != 0) continue;
        uint64_t value;
        if (!number(option, &value)) return refused(error, option->name, "not a number");
        store(&e->config, &FIELDS[i], value);
        return ASSAY_DONE;
    }
    return refused(error, option->name, "this build has no such option");
}

void assay_options(void *of, assay_text report, void *to) {
    engine *e = of;
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        uint64_t value = stored(&e->config, &FIELDS[i]);
        char text[32];
        snprintf(text, sizeof text, "%llu", (unsigned long long)value);
        report(to, FIELDS[i].name, text);
    }
#ifdef HAS_KEY_SIZE
    char text[32];
    snprintf(text, sizeof text, "%zu", e->key_size);
    report(to, KEY_SIZE, text);
#endif
    report(to, IO_FLAGS, e->config.io_flags & O_DIRECT ? DIRECT : "O_RDWR|O_CREAT");
}

/* ---- identity ---- */

uint32_t assay_abi(void) { return ASSAY_ABI; }

static void report_number(assay_text report, void *to, const char *name, long value) {
    char text[32];
    snprintf(text, sizeof text, "%ld", value);
    report(to, name, text);
}

void assay_identity(assay_text report, void *to) {
    static const char PREFIX[] = "splinterdb_build_version ";
    const char *version = splinterdb_get_version();
    if (strncmp(version, PREFIX, sizeof PREFIX - 1) == 0) version += sizeof PREFIX - 1;
    /* A library built from a source archive knows no commit. */
    report(to, "version", *version ? version : ASSAY_BUILD);
    report_number(report, to, "key_bytes_max", KEY_BYTES_MAX);
#ifndef HAS_BLOBS
    report_number(report, to, "value_bytes_max", VALUE_BYTES_MAX);
#endif
#ifdef CAN_GO_DOWN
    report(to, "reverse_scans", "yes");
#else
    report(to, "reverse_scans", "no");
#endif
    char names[1024] = OPTIONS;
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", used ? " " : "", FIELDS[i].name);
    }
    report(to, "options", names);
}

/* ---- threads: each must be registered once while it works with the engine ---- */

static __thread unsigned entered;
static atomic_uint registered;

#ifdef HAS_BACKGROUND_THREADS
#define BACKGROUND(e) ((e)->config.num_memtable_bg_threads + (e)->config.num_normal_bg_threads)
#else
#define BACKGROUND(e) ((void)(e), 0)
#endif

/* Counts the calling thread, unless counted; 0 when the limit is reached. */
static int count_in(engine *e) {
    if (entered == 0 && atomic_fetch_add(&registered, 1) + BACKGROUND(e) >= THREADS_MAX) {
        atomic_fetch_sub(&registered, 1);
        return 0;
    }
    return 1;
}

static int enter(engine *e, assay_error *error) {
    if (!count_in(e)) {
        snprintf(error->text, sizeof error->text,
                 "SplinterDB takes %d threads at most, its own and the opening one included",
                 THREADS_MAX);
        return ASSAY_FATAL;
    }
    if (entered++ == 0) {
#ifdef HAS_ENGINE_REGISTER
        splinterdb_register_thread(e->db);
#else
        platform_register_thread();
#endif
    }
    return ASSAY_DONE;
}

static void leave(engine *e) {
    if (--entered > 0) return;
    atomic_fetch_sub(&registered, 1);
#ifdef HAS_ENGINE_REGISTER
    splinterdb_deregister_thread(e->db);
#else
    (void)e;
    platform_deregister_thread();
#endif
}

/* With HAS_ENGINE_REGISTER the engine registers the opening thread. */
static void enter_to_open(engine *e) {
    count_in(e);
#ifndef HAS_ENGINE_REGISTER
    if (entered == 0) platform_register_thread();
#endif
    entered++;
    e->opener = pthread_self();
}

static void leave_after_close(engine *e) {
    if (!pthread_equal(e->opener, pthread_self()) || --entered > 0) return;
    atomic_fetch_sub(&registered, 1);
#ifndef HAS_ENGINE_REGISTER
    platform_deregister_thread();
#endif
}

/* ---- opening and closing ---- */

static void log_to(FILE *stream) {
#ifdef HAS_LOG_STREAMS
    platform_set_log_streams(stream, stderr);
#else
    Platform_default_log_handle = stream;
    Platform_error_log_handle = stderr;
#endif
}

static void release(engine *e) {
    if (e->log) fclose(e->log);
    if (e->statistics) fclose(e->statistics);
    free(e->text);
    pthread_mutex_destroy(&e->lock);
    free(e);
}

static int open_log(engine *e, assay_error *error) {
    e->log = fopen(e->log_path, "a");
    e->statistics = e->config.use_stats ? tmpfile() : NULL;
    if (!e->log) return fail(error, ASSAY_FATAL, "splinterdb.log", errno);
    if (e->config.use_stats && !e->statistics) return fail(error, ASSAY_FATAL, "tmpfile", errno);
    setvbuf(e->log, NULL, _IOLBF, 0);
    log_to(e->log);
    return ASSAY_DONE;
}

int assay_open(const assay_open_spec *spec, void **opened, assay_error *error) {
    engine *e = calloc(1, sizeof *e);
    if (!e) return fail(error, ASSAY_FATAL, "open", ENOMEM);
    pthread_mutex_init(&e->lock, NULL);
    snprintf(e->path, sizeof e->path, "%s/data.splinterdb", spec->dir);
    snprintf(e->log_path, sizeof e->log_path, "%s/splinterdb.log", spec->dir);
    e->key_size = KEY_BYTES_CONFIGURED;
    e->config.filename = e->path;
    e->config.data_cfg = &e->data;
    int result = ASSAY_DONE;
    for (size_t i = 0; i < spec->option_count && result == ASSAY_DONE; i++) {
        result = set_option(e, &spec->options[i], error);
    }
#ifdef HAS_KEY_SIZE
    default_data_config_init(e->key_size, &e->data);
#else
    default_data_config_init(&e->data);
#endif
    if (result == ASSAY_DONE) result = open_log(e, error);
    if (result == ASSAY_DONE) {
        int is_there = access(e->path, F_OK) == 0;
        enter_to_open(e);
        int code = (is_there ? splinterdb_open : splinterdb_create)(&e->config, &e->db);
        if (code) {
            const char *what = is_there ? "splinterdb_open" : "splinterdb_create";
            result = fail(error, ASSAY_FATAL, what, code);
            leave_after_close(e);
        }
    }
    if (result != ASSAY_DONE) {
        log_to(stderr);
        release(e);
        return result;
    }
    *opened = e;
    return ASSAY_DONE;
}

int assay_close(void *of, assay_error *error) {
    engine *e = of;
    int is_opener = pthread_equal(e->opener, pthread_self());
    int result = is_opener ? ASSAY_DONE : enter(e, error);
    if (result != ASSAY_DONE) return result;
    splinterdb_close(&e->db);
    leave_after_close(e);
    /* The engine never syncs, and a clean close must. */
    int fd = open(e->path, O_RDONLY);
    if (fd < 0 || fsync(fd)) result = fail(error, ASSAY_FATAL, "sync on close", errno);
    if (fd >= 0) close(fd);
    log_to(stderr);
    release(e);
    return result;
}

int assay_session_begin(void *of, void **begun, assay_error *error) {
    engine *e = of;
    session *s = calloc(1, sizeof *s);
    if (!s) return fail(error, ASSAY_FATAL, "session", ENOMEM);
    int result = enter(e, error);
    if (result != ASSAY_DONE) {
        free(s);
        return result;
    }
    s->engine = e;
    splinterdb_lookup_result_init(e->db, &s->result, LOOKUP_FLAGS 0, NULL);
    *begun = s;
    return ASSAY_DONE;
}

void assay_session_end(void *of) {
    session *s = of;
    splinterdb_lookup_result_deinit(&s->result);
    leave(s->engine);
    free(s);
}

/* ---- operations ---- */

int assay_get(void *of, const void *key, size_t key_bytes, assay_row row, void *rows,
              assay_error *error) {
    session *s = of;
    slice value;
    int code = splinterdb_lookup(s->engine->db, slice_create(key_bytes, key), &s->result);
    if (code) return failed(error, "splinterdb_lookup", code, key_bytes, 0);
    if (!splinterdb_lookup_found(&s->result)) return ASSAY_NOT_FOUND;
    code = splinterdb_lookup_result_value(&s->result, &value);
    if (code) return failed(error, "splinterdb_lookup_result_value", code, key_bytes, 0);
    row(rows, key, key_bytes, slice_data(value), slice_length(value));
    return ASSAY_DONE;
}

int assay_put(void *of, const void *key, size_t key_bytes, const void *value, size_t value_bytes,
              assay_error *error) {
    session *s = of;
    int code = splinterdb_insert(s->engine->db, slice_create(key_bytes, key),
                                 slice_create(value_bytes, value) OLD_RESULT);
    if (code) return failed(error, "splinterdb_insert", code, key_bytes, value_bytes);
    return ASSAY_DONE;
}

int assay_delete(void *of, const void *key, size_t key_bytes, assay_error *error) {
    session *s = of;
    int code = splinterdb_delete(s->engine->db, slice_create(key_bytes, key) OLD_RESULT);
    if (code) return failed(error, "splinterdb_delete", code, key_bytes, 0);
    return ASSAY_DONE;
}

/* Passes on the current row; 0 when its value could not be read. */
static int pass_row(splinterdb_iterator *it, assay_row row, void *rows) {
    slice key, value;
    splinterdb_iterator_get_current(it, &key, &value);
#ifdef HAS_BLOBS
    if (splinterdb_iterator_status(it)) return 0;
#endif
    row(rows, slice_data(key), slice_length(key), slice_data(value), slice_length(value));
    return 1;
}

/* Creates an iterator at the last key not above `start`. */
static int begin_down(splinterdb *db, splinterdb_iterator **it, slice start) {
#ifdef CAN_GO_DOWN
    return BEGIN(db, it, less_than_or_equal, start);
#else
    (void)db, (void)it, (void)start;
    return ENOTSUP;
#endif
}

static void step(splinterdb_iterator *it, int is_reverse) {
#ifdef CAN_GO_DOWN
    if (is_reverse) {
        splinterdb_iterator_prev(it);
        return;
    }
#endif
    (void)is_reverse;
    splinterdb_iterator_next(it);
}

int assay_scan(void *of, const void *start, size_t start_bytes, uint32_t limit, int is_reverse,
               assay_row row, void *rows, assay_error *error) {
    session *s = of;
    splinterdb *db = s->engine->db;
    splinterdb_iterator *it = NULL;
    slice from = slice_create(start_bytes, start);
    int code = is_reverse ? begin_down(db, &it, from)
                          : BEGIN(db, &it, greater_than_or_equal, from);
    if (code == ENOTSUP && is_reverse) {
        snprintf(error->text, sizeof error->text,
                 "reverse scans: this build cannot scan in descending order");
        return ASSAY_UNSUPPORTED;
    }
    if (code) return failed(error, "splinterdb_iterator_init", code, start_bytes, 0);
    uint32_t left = limit;
    while (left > 0 && splinterdb_iterator_valid(it) && pass_row(it, row, rows)) {
        if (--left > 0) step(it, is_reverse);
    }
    code = left > 0 ? splinterdb_iterator_status(it) : 0;
    splinterdb_iterator_deinit(it);
    if (code) return failed(error, "splinterdb_iterator_status", code, start_bytes, 0);
    return left < limit ? ASSAY_DONE : ASSAY_NOT_FOUND;
}

/* ---- maintenance ---- */

static int flush(engine *e, int *is_done, assay_error *error) {
    if (!splinterdb_cache_flush) return ASSAY_DONE;
    splinterdb_cache_flush(e->db);
    int fd = open(e->path, O_RDONLY);
    int result = fd < 0 || fsync(fd) ? fail(error, ASSAY_FATAL, "flush", errno) : ASSAY_DONE;
    if (fd >= 0) close(fd);
    *is_done = 1;
    return result;
}

static int compact(engine *e, int *is_done, assay_error *error) {
#ifdef HAS_OPTIMIZE
    splinterdb_notification done;
    splinterdb_notification_init_blocking(&done);
    int code = splinterdb_optimize(e->db, NULL_SLICE, NULL_SLICE, 1, &done);
    splinterdb_notification_deinit(&done);
    if (code) return fail(error, ASSAY_FATAL, "splinterdb_optimize", code);
    *is_done = 1;
#else
    (void)e, (void)is_done, (void)error;
#endif
    return ASSAY_DONE;
}

int assay_maintain(void *of, int work, int *is_done, assay_error *error) {
    engine *e = of;
    *is_done = 0;
    int result = enter(e, error);
    if (result != ASSAY_DONE) return result;
    if (work == ASSAY_FLUSH) result = flush(e, is_done, error);
    if (work == ASSAY_COMPACT_ALL) result = compact(e, is_done, error);
    leave(e);
    return result;
}

/* ---- statistics ---- */

#ifdef HAS_STATISTICS
/* Returns the engine's printed statistics; the text is valid until the next call. */
static const char *printed(engine *e, int is_whole) {
    assay_error none;
    if (!e->statistics || enter(e, &none) != ASSAY_DONE) return NULL;
    rewind(e->statistics);
    log_to(e->statistics);
    if (is_whole) splinterdb_stats_print_insertion(e->db);
    splinterdb_stats_print_lookup(e->db);
    log_to(e->log);
    fflush(e->statistics);
    leave(e);
    long bytes = ftell(e->statistics);
    char *text = bytes < 0 ? NULL : realloc(e->text, (size_t)bytes + 1);
    if (!text) return NULL;
    e->text = text;
    ssize_t got = pread(fileno(e->statistics), text, (size_t)bytes, 0);
    text[got < 0 ? 0 : got] = 0;
    return text;
}

/* Reports a row of the table of page types and returns its sum: "pages written | 1 | 2 | 3 |". */
static double report_pages(const char *text, const char *title, assay_count count, void *to) {
    static const char HEAD[] = "\npage type";
    char wanted[64];
    snprintf(wanted, sizeof wanted, "\n%s ", title);
    const char *type = strstr(text, HEAD), *cell = strstr(text, wanted);
    double sum = 0;
    while (type && cell && (type = strchr(type, '|')) && (cell = strchr(cell, '|'))) {
        char name[16], whole[96], *end;
        double pages = strtod(++cell, &end);
        if (sscanf(++type, " %15[a-z]", name) != 1 || end == cell) break;
        snprintf(whole, sizeof whole, "%s: %s", title, name);
        count(to, whole, pages);
        sum += pages;
    }
    return sum;
}
#endif

void assay_state(void *of, assay_count count, void *to) {
    engine *e = of;
    if (BACKGROUND(e) == 0) count(to, "is_idle", 1);
#ifdef HAS_STATISTICS
    pthread_mutex_lock(&e->lock);
    const char *text = printed(e, 0);
    if (text && strstr(text, "\npages written")) {
        count(to, "engine_cache_hits", report_pages(text, "cache hits", count, to));
        count(to, "engine_cache_misses", report_pages(text, "cache misses", count, to));
        double pages = report_pages(text, "pages written", count, to);
        count(to, "engine_page_write_bytes", pages * PAGE_BYTES);
        if (!e->config.use_log) count(to, "engine_wal_write_bytes", 0);
        report_pages(text, "pages read", count, to);
    }
    pthread_mutex_unlock(&e->lock);
#endif
}

void assay_statistics(void *of, assay_text report, void *to) {
#ifdef HAS_STATISTICS
    engine *e = of;
    pthread_mutex_lock(&e->lock);
    const char *text = printed(e, 1);
    if (text) report(to, "splinterdb_stats_print_insertion and _lookup", text);
    pthread_mutex_unlock(&e->lock);
#else
    (void)of, (void)report, (void)to;
#endif
}
