/*
 * A whole engine behind Assay's C interface, in one file: a sorted array of rows in memory, saved
 * to one file when it is closed. It is small, not fast, and the example to start from.
 *
 *     cc -shared -fPIC -O2 -I crates/drive/shim/include -o libsorted.so crates/drive/shim/tests/sorted.c
 */
#include "assay_engine.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct row {
    size_t key_bytes, value_bytes;
    unsigned char *bytes; /* the key, then the value */
} row;

typedef struct sorted {
    pthread_rwlock_t lock;
    row *rows;
    size_t count, room;
    char path[4096];
    double puts, modifies;
} sorted;

static int fail(assay_error *error, int result, const char *text) {
    snprintf(error->text, sizeof error->text, "sorted: %s", text);
    return result;
}

/* Finds the first row not below `key`; `*is_there` is set when the key is equal. */
static size_t seek(const sorted *s, const void *key, size_t bytes, bool *is_there) {
    size_t low = 0, high = s->count;
    *is_there = false;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        const row *r = &s->rows[mid];
        int order = memcmp(r->bytes, key, r->key_bytes < bytes ? r->key_bytes : bytes);
        if (order == 0) order = (r->key_bytes > bytes) - (r->key_bytes < bytes);
        if (order == 0) *is_there = true;
        if (order < 0) low = mid + 1;
        else high = mid;
    }
    return low;
}

static bool set(sorted *s, const void *key, size_t key_bytes, const void *value, size_t bytes) {
    bool is_there;
    size_t at = seek(s, key, key_bytes, &is_there);
    if (!is_there && s->count == s->room) {
        size_t room = s->room ? 2 * s->room : 64;
        row *rows = realloc(s->rows, room * sizeof *rows);
        if (!rows) return false;
        s->rows = rows;
        s->room = room;
    }
    row new = {key_bytes, bytes, malloc(key_bytes + bytes + 1)};
    if (!new.bytes) return false;
    memcpy(new.bytes, key, key_bytes);
    if (bytes) memcpy(new.bytes + key_bytes, value, bytes);
    if (is_there) {
        free(s->rows[at].bytes);
    } else {
        memmove(&s->rows[at + 1], &s->rows[at], (s->count++ - at) * sizeof *s->rows);
    }
    s->rows[at] = new;
    return true;
}

static bool load(sorted *s) {
    FILE *file = fopen(s->path, "rb");
    if (!file) return errno == ENOENT;
    size_t sizes[2];
    bool is_good = true;
    while (is_good && fread(sizes, sizeof sizes, 1, file) == 1) {
        unsigned char *bytes = malloc(sizes[0] + sizes[1] + 1);
        is_good = bytes && fread(bytes, 1, sizes[0] + sizes[1], file) == sizes[0] + sizes[1] &&
                  set(s, bytes, sizes[0], bytes + sizes[0], sizes[1]);
        free(bytes);
    }
    fclose(file);
    return is_good;
}

static bool save(const sorted *s) {
    FILE *file = fopen(s->path, "wb");
    if (!file) return false;
    for (size_t i = 0; i < s->count; i++) {
        fwrite(&s->rows[i], 2 * sizeof(size_t), 1, file);
        fwrite(s->rows[i].bytes, 1, s->rows[i].key_bytes + s->rows[i].value_bytes, file);
    }
    bool is_bad = ferror(file);
    return fclose(file) == 0 && !is_bad;
}

uint32_t assay_abi(void) { return ASSAY_ABI; }

void assay_identity(assay_text report, void *to) {
    report(to, "version", "1.0");
    report(to, "compiler", __VERSION__);
    report(to, "field_reads", "yes");
}

int assay_open(const assay_open_spec *spec, void **engine, assay_error *error) {
    sorted *s = calloc(1, sizeof *s);
    if (!s) return fail(error, ASSAY_FATAL, "no memory");
    for (size_t i = 0; i < spec->option_count; i++) {
        if (strcmp(spec->options[i].name, "room") == 0) {
            s->room = strtoull(spec->options[i].value, NULL, 10);
        } else {
            bool is_jobs = strcmp(spec->options[i].name, "jobs") == 0;
            free(s);
            snprintf(error->option, sizeof error->option, "%s", spec->options[i].name);
            return is_jobs ? fail(error, ASSAY_UNSUPPORTED, "it has no threads")
                           : fail(error, ASSAY_BAD_OPTION, "not an option");
        }
    }
    s->rows = malloc((s->room + 1) * sizeof *s->rows);
    pthread_rwlock_init(&s->lock, NULL);
    snprintf(s->path, sizeof s->path, "%s/rows", spec->dir);
    if (!s->rows || !load(s)) return fail(error, ASSAY_FATAL, "the file of rows is damaged");
    *engine = s;
    return ASSAY_DONE;
}

void assay_options(void *engine, assay_text report, void *to) {
    char text[32];
    snprintf(text, sizeof text, "%zu", ((sorted *)engine)->room);
    report(to, "room", text);
}

/* A session has no state of its own: the engine serves as the handle. */
int assay_session_begin(void *engine, void **session, assay_error *error) {
    (void)error;
    *session = engine;
    return ASSAY_DONE;
}

void assay_session_end(void *session) { (void)session; }

int assay_get(void *session, const void *key, size_t key_bytes, assay_row row_of, void *rows,
              assay_error *error) {
    (void)error;
    sorted *s = session;
    bool is_there;
    pthread_rwlock_rdlock(&s->lock);
    size_t at = seek(s, key, key_bytes, &is_there);
    if (is_there) {
        const row *r = &s->rows[at];
        row_of(rows, r->bytes, r->key_bytes, r->bytes + r->key_bytes, r->value_bytes);
    }
    pthread_rwlock_unlock(&s->lock);
    return is_there ? ASSAY_DONE : ASSAY_NOT_FOUND;
}

int assay_put(void *session, const void *key, size_t key_bytes, const void *value,
              size_t value_bytes, assay_error *error) {
    sorted *s = session;
    pthread_rwlock_wrlock(&s->lock);
    bool is_done = set(s, key, key_bytes, value, value_bytes);
    s->puts++;
    pthread_rwlock_unlock(&s->lock);
    return is_done ? ASSAY_DONE : fail(error, ASSAY_FATAL, "no memory");
}

int assay_delete(void *session, const void *key, size_t key_bytes, assay_error *error) {
    (void)error;
    sorted *s = session;
    bool is_there;
    pthread_rwlock_wrlock(&s->lock);
    size_t at = seek(s, key, key_bytes, &is_there);
    if (is_there) {
        free(s->rows[at].bytes);
        memmove(&s->rows[at], &s->rows[at + 1], (--s->count - at) * sizeof *s->rows);
    }
    pthread_rwlock_unlock(&s->lock);
    return ASSAY_DONE;
}

int assay_scan(void *session, const void *start, size_t start_bytes, uint32_t limit,
               int is_reverse, assay_row row_of, void *rows, assay_error *error) {
    (void)error;
    sorted *s = session;
    bool is_there;
    pthread_rwlock_rdlock(&s->lock);
    size_t at = seek(s, start, start_bytes, &is_there);
    uint32_t left = limit;
    /* Downwards, `at` is one past the row that is next. */
    if (is_reverse && is_there) at++;
    while (left > 0 && (is_reverse ? at > 0 : at < s->count)) {
        const row *r = &s->rows[is_reverse ? --at : at++];
        row_of(rows, r->bytes, r->key_bytes, r->bytes + r->key_bytes, r->value_bytes);
        left--;
    }
    pthread_rwlock_unlock(&s->lock);
    return left < limit ? ASSAY_DONE : ASSAY_NOT_FOUND;
}

/* Replaces bytes from `offset` on, or adds them at the end. */
static int change(row *r, size_t offset, bool is_append, const void *bytes, size_t count) {
    if (is_append) offset = r->value_bytes;
    else if (offset + count > r->value_bytes) return ASSAY_UNSUPPORTED;
    size_t value_bytes = is_append ? offset + count : r->value_bytes;
    unsigned char *row_bytes = realloc(r->bytes, r->key_bytes + value_bytes + 1);
    if (!row_bytes) return ASSAY_FATAL;
    if (count) memcpy(row_bytes + r->key_bytes + offset, bytes, count);
    r->bytes = row_bytes;
    r->value_bytes = value_bytes;
    return ASSAY_DONE;
}

int assay_modify(void *session, const void *key, size_t key_bytes, uint32_t offset, int is_append,
                 const void *bytes, size_t count, assay_error *error) {
    sorted *s = session;
    bool is_there;
    pthread_rwlock_wrlock(&s->lock);
    size_t at = seek(s, key, key_bytes, &is_there);
    int result = is_there ? change(&s->rows[at], offset, is_append, bytes, count)
                          : ASSAY_NOT_FOUND;
    s->modifies++;
    pthread_rwlock_unlock(&s->lock);
    if (result == ASSAY_UNSUPPORTED) return fail(error, result, "bytes beyond the end of a value");
    return result == ASSAY_FATAL ? fail(error, result, "no memory") : result;
}

int assay_maintain(void *engine, int work, int *is_done, assay_error *error) {
    sorted *s = engine;
    *is_done = work == ASSAY_FLUSH;
    if (work != ASSAY_FLUSH) return ASSAY_DONE;
    pthread_rwlock_rdlock(&s->lock);
    bool is_saved = save(s);
    pthread_rwlock_unlock(&s->lock);
    return is_saved ? ASSAY_DONE : fail(error, ASSAY_FATAL, strerror(errno));
}

void assay_state(void *engine, assay_count count, void *to) {
    sorted *s = engine;
    pthread_rwlock_rdlock(&s->lock);
    count(to, "engine_memtable_bytes", (double)(s->room * sizeof(row)));
    count(to, "puts", s->puts);
    count(to, "modifies", s->modifies);
    count(to, "is_idle", 1);
    pthread_rwlock_unlock(&s->lock);
}

void assay_statistics(void *engine, assay_text report, void *to) {
    char text[64];
    snprintf(text, sizeof text, "%zu rows", ((sorted *)engine)->count);
    report(to, "rows", text);
}

int assay_close(void *engine, assay_error *error) {
    sorted *s = engine;
    int result = save(s) ? ASSAY_DONE : fail(error, ASSAY_FATAL, strerror(errno));
    for (size_t i = 0; i < s->count; i++) free(s->rows[i].bytes);
    pthread_rwlock_destroy(&s->lock);
    free(s->rows);
    free(s);
    return result;
}
