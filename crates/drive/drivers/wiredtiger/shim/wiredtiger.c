/*
 * WiredTiger behind Assay's C interface: one table of raw bytes, one session and one cursor for
 * each client. Compiled against the header of the build it is for: methods are slots of structs
 * whose layout differs from build to build, even between builds of one version number.
 *
 * It is not an interface to transactions: each operation is a transaction of its own. Options come
 * under the engine's own names, dotted where they nest. Each goes to the method that accepts it,
 * wiredtiger_open or WT_SESSION.create; a name of both goes to the first, and with the prefix
 * "table." to the second.
 */
#define _GNU_SOURCE
#include <wiredtiger.h>

#include "assay_engine.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TABLE_URI "table:data"
#define FILE_STATISTICS "statistics:file:data.wt"
#define TABLE_PREFIX "table."
#define NAME_BYTES 128
/* Descriptors searched for the data file; a benchmark has far fewer. */
#define DESCRIPTORS 4096
/* Fixed settings: nothing is taken from the environment or from earlier opens. */
#define FIXED "create,config_base=false,use_environment=false"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- Error messages of the engine ---- */

/* Handler of one session or of the connection; stores the first message of a code. */
typedef struct error_handler {
    WT_EVENT_HANDLER handler; /* first, so that a pointer to it is one to the whole */
    atomic_int code;
    char text[768];
} error_handler;

/* Returns the text after time, thread, method and line: "..., __config_check, 194: text". */
static const char *text_of(const char *message) {
    for (const char *at = strchr(message, ','); at; at = strchr(at + 1, ',')) {
        char *end;
        if (at[1] == ' ' && strtol(at + 1, &end, 10) > 0 && end[0] == ':' && end[1] == ' ')
            return end + 2;
    }
    return message;
}

/*
 * Message of an engine panic, mostly received on one of its own threads, before any client; and of
 * its cause, the first failure of the disk, which the panic does not name.
 */
static char panic_text[768], cause_text[768];
static atomic_flag has_panicked = ATOMIC_FLAG_INIT, has_cause = ATOMIC_FLAG_INIT;

/* Returns whether the disk is full, read-only or broken, or the file as large as it may be. */
static bool is_of_disk(int code) {
    return code == ENOSPC || code == EDQUOT || code == EFBIG || code == EROFS || code == EIO;
}

static int on_error(WT_EVENT_HANDLER *handler, WT_SESSION *session, int code,
                      const char *message) {
    error_handler *v = (error_handler *)handler;
    int none = 0;
    (void)session;
    if (is_of_disk(code) && !atomic_flag_test_and_set(&has_cause))
        snprintf(cause_text, sizeof cause_text, "%s", text_of(message));
    if (code == WT_PANIC && !atomic_flag_test_and_set(&has_panicked))
        snprintf(panic_text, sizeof panic_text, "%s", text_of(message));
    if (atomic_compare_exchange_strong(&v->code, &none, code))
        snprintf(v->text, sizeof v->text, "%s", text_of(message));
    return 0;
}

static int on_message(WT_EVENT_HANDLER *handler, WT_SESSION *session, const char *message) {
    (void)handler, (void)session, (void)message;
    return 0;
}

static int on_progress(WT_EVENT_HANDLER *handler, WT_SESSION *session, const char *operation,
                         uint64_t progress) {
    (void)handler, (void)session, (void)operation, (void)progress;
    return 0;
}

static void error_handler_init(error_handler *v) {
    memset(v, 0, sizeof *v);
    v->handler.handle_error = on_error;
    v->handler.handle_message = on_message;
    v->handler.handle_progress = on_progress;
}

/* Takes the stored message of `code`, or the engine's text of the code. */
static void take_text(error_handler *v, int code, char *text, size_t bytes) {
    const char *found = atomic_load(&v->code) == code ? v->text : wiredtiger_strerror(code);
    if (code == WT_PANIC && panic_text[0]) found = panic_text;
    const char *cause = code == WT_PANIC ? cause_text : "";
    snprintf(text, bytes, "%s%s%s", cause, cause[0] ? "; " : "", found);
    atomic_store(&v->code, 0);
}

static int result_of(int code) {
    switch (code) {
    case 0: return ASSAY_DONE;
    case WT_NOTFOUND: return ASSAY_NOT_FOUND;
    case WT_ROLLBACK:
    case EBUSY: return ASSAY_CONFLICT;
    case ETIMEDOUT: return ASSAY_TIMEOUT;
    case ENOTSUP: return ASSAY_UNSUPPORTED;
    default: return ASSAY_FATAL;
    }
}

__attribute__((cold, noinline)) static int fail(error_handler *v, int code, assay_error *error) {
    take_text(v, code, error->text, sizeof error->text);
    return result_of(code);
}

__attribute__((format(printf, 3, 4))) static int refuse(assay_error *error, int result,
                                                        const char *format, ...) {
    va_list parts;
    va_start(parts, format);
    vsnprintf(error->text, sizeof error->text, format, parts);
    va_end(parts);
    return result;
}

/* Refuses an option that needs another build. */
static int lacks(assay_error *error, const char *option, const char *text) {
    snprintf(error->option, sizeof error->option, "%s", option);
    return refuse(error, ASSAY_UNSUPPORTED, "%s", text);
}

/* ---- Configuration strings ---- */

/* Returns whether two names agree in their first `bytes` and end or nest there. */
static bool is_same_part(const char *a, const char *b, size_t bytes) {
    return strncmp(a, b, bytes) == 0 && (a[bytes] == '.' || a[bytes] == '\0');
}

/* Writes the options that begin with `prefix` as one configuration string, nested. */
static void write_nested(FILE *out, const assay_option *options, size_t count, const char *prefix) {
    size_t skip = strlen(prefix);
    const char *separator = skip ? "" : ",";
    for (size_t i = 0; i < count; i++) {
        if (strncmp(options[i].name, prefix, skip) != 0) continue;
        const char *name = options[i].name + skip;
        size_t part = strcspn(name, ".");
        bool is_written = false;
        for (size_t j = 0; j < i; j++)
            is_written |= is_same_part(options[j].name, options[i].name, skip + part);
        if (is_written) continue;
        fprintf(out, "%s%.*s=", separator, (int)part, name);
        separator = ",";
        if (name[part] == '\0') {
            fputs(options[i].value, out);
        } else {
            char inner[NAME_BYTES];
            snprintf(inner, sizeof inner, "%.*s.", (int)(skip + part), options[i].name);
            fputc('(', out);
            write_nested(out, options, count, inner);
            fputc(')', out);
        }
    }
}

/* Returns options as one configuration string behind `head`, to be freed. */
static char *composed(const char *head, const assay_option *options, size_t count) {
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    if (!out) return NULL;
    fputs(head, out);
    write_nested(out, options, count, "");
    fclose(out);
    return text;
}

/* Returns whether a method accepts a configuration; `v` receives the error. */
static bool accepts(error_handler *v, const char *method, const char *config) {
    error_handler_init(v);
    return wiredtiger_config_validate(NULL, &v->handler, method, config) == 0;
}

/* Options by the method they belong to; both lists are as long as all of them. */
typedef struct placed {
    assay_option *connection, *table;
    size_t connection_count, table_count;
} placed;

/* Assigns one option to the method that accepts it. */
static int place(placed *to, const assay_option *option, assay_error *error) {
    assay_option own = *option;
    bool is_table = strncmp(own.name, TABLE_PREFIX, strlen(TABLE_PREFIX)) == 0;
    if (is_table) own.name += strlen(TABLE_PREFIX);
    char *text = composed("", &own, 1);
    if (!text) return refuse(error, ASSAY_FATAL, "no memory for the configuration");
    error_handler open, create;
    bool is_open = !is_table && accepts(&open, "wiredtiger_open", text);
    bool is_create = !is_open && accepts(&create, "WT_SESSION.create", text);
    free(text);
    if (is_open) {
        to->connection[to->connection_count++] = own;
    } else if (is_create) {
        to->table[to->table_count++] = own;
    } else {
        /* The error of the method that knows the name is the more specific one. */
        bool is_known = !is_table && !strstr(open.text, "unknown configuration key");
        snprintf(error->text, sizeof error->text, "%s", (is_known ? open : create).text);
        snprintf(error->option, sizeof error->option, "%s", option->name);
        return ASSAY_BAD_OPTION;
    }
    return ASSAY_DONE;
}

/* Returns the end of a value: the next comma outside of brackets and quotes. */
static const char *value_end(const char *at) {
    int depth = 0;
    for (; *at; at++) {
        if (*at == '"') {
            const char *close = strchr(at + 1, '"');
            if (!close) return at + strlen(at);
            at = close;
        } else if (*at == '(' || *at == '[') {
            depth++;
        } else if (*at == ')' || *at == ']') {
            if (depth-- == 0) return at;
        } else if (*at == ',' && depth == 0) {
            return at;
        }
    }
    return at;
}

/* Reports every value of a configuration string under its dotted name. */
static void report_flat(const char *text, const char *prefix, assay_text report, void *to) {
    while (*text && *text != ')') {
        size_t part = strcspn(text, "=,()");
        char name[2 * NAME_BYTES], value[1024];
        snprintf(name, sizeof name, "%s%.*s", prefix, (int)part, text);
        text += part;
        if (*text == '=' && text[1] == '(') {
            char inner[2 * NAME_BYTES + 1];
            snprintf(inner, sizeof inner, "%s.", name);
            report_flat(text + 2, inner, report, to);
            text = value_end(text + 1);
        } else if (*text == '=') {
            const char *end = value_end(++text);
            snprintf(value, sizeof value, "%.*s", (int)(end - text), text);
            report(to, name, value);
            text = end;
        } else if (part > 0) {
            report(to, name, "true");
        } else {
            return; /* no configuration string */
        }
        text += *text == ',';
    }
}

/* ---- Opening and closing ---- */

typedef struct wt_engine {
    error_handler errors;
    WT_CONNECTION *connection;
    char *dir;
    char *config;            /* what the connection was opened with */
    bool is_lsm;
    _Atomic int64_t written; /* bytes of pages written at the last state */
} wt_engine;

static void release(wt_engine *e) {
    free(e->dir);
    free(e->config);
    free(e);
}

uint32_t assay_abi(void) { return ASSAY_ABI; }

void assay_identity(assay_text report, void *to) {
    int major, minor, patch;
    char version[64];
    error_handler v;
    report(to, "version_string", wiredtiger_version(&major, &minor, &patch));
    snprintf(version, sizeof version, "%d.%d.%d", major, minor, patch);
    report(to, "version", version);
    report(to, "header", WIREDTIGER_VERSION_STRING);
    report(to, "lsm", accepts(&v, "WT_SESSION.create", "lsm=(chunk_size=10MB)") ? "yes" : "no");
    /* Version 12 still accepts the option, and opens files without the flag. */
    report(to, "direct_io", major < 12 ? "yes" : "no");
}

static const char *value_of(const assay_option *options, size_t count, const char *name) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(options[i].name, name) == 0) return options[i].value;
    return NULL;
}

/* Returns whether a file in `dir` is open with direct IO. */
static bool is_direct(const char *dir) {
    char link[64], path[4096], real[4096];
    if (!realpath(dir, real)) return false;
    for (int fd = 0; fd < DESCRIPTORS; fd++) {
        int flags = fcntl(fd, F_GETFL);
        if (flags < 0 || !(flags & O_DIRECT)) continue;
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        ssize_t bytes = readlink(link, path, sizeof path - 1);
        if (bytes > 0 && (path[bytes] = '\0', strncmp(path, real, strlen(real)) == 0)) return true;
    }
    return false;
}

static int make_table(wt_engine *e, const placed *options, assay_error *error) {
    WT_SESSION *session;
    error_handler v;
    error_handler_init(&v);
    char *config = composed("key_format=u,value_format=u", options->table, options->table_count);
    if (!config) return refuse(error, ASSAY_FATAL, "no memory for the configuration");
    int code = e->connection->open_session(e->connection, &v.handler, NULL, &session);
    if (code == 0) {
        code = session->create(session, TABLE_URI, config);
        int closed = session->close(session, NULL);
        if (code == 0) code = closed;
    }
    free(config);
    return code ? fail(&v, code, error) : ASSAY_DONE;
}

static int open_placed(wt_engine *e, const assay_open_spec *spec, const placed *options,
                       assay_error *error) {
    const char *type = value_of(options->table, options->table_count, "type");
    e->is_lsm = type && strcmp(type, "lsm") == 0;
    e->config = composed(FIXED, options->connection, options->connection_count);
    e->dir = strdup(spec->dir);
    if (!e->config || !e->dir) return refuse(error, ASSAY_FATAL, "no memory to open with");
    int code = wiredtiger_open(spec->dir, &e->errors.handler, e->config, &e->connection);
    if (code) {
        e->connection = NULL;
        return fail(&e->errors, code, error);
    }
    int result = make_table(e, options, error);
    if (result != ASSAY_DONE && strstr(error->text, "unknown compressor"))
        return lacks(error, "block_compressor",
                     "this build does not have the compressor built in, and its extension is not "
                     "installed: name it with extensions = [\"PATH/libwiredtiger_NAME.so\"]");
    const char *direct = value_of(options->connection, options->connection_count, "direct_io");
    if (result == ASSAY_DONE && direct && strstr(direct, "data") && !is_direct(spec->dir))
        return lacks(error, "direct_io",
                     "this build accepts the option and reads through the page cache");
    return result;
}

int assay_open(const assay_open_spec *spec, void **engine, assay_error *error) {
    const char *version = wiredtiger_version(NULL, NULL, NULL);
    if (strcmp(version, WIREDTIGER_VERSION_STRING) != 0)
        return refuse(error, ASSAY_UNSUPPORTED,
                      "the shim was compiled against the header of \"%s\", the library is "
                      "\"%s\": add the build again with its own headers",
                      WIREDTIGER_VERSION_STRING, version);
    size_t room = spec->option_count + 1;
    wt_engine *e = calloc(1, sizeof *e);
    placed options = {calloc(room, sizeof(assay_option)), calloc(room, sizeof(assay_option)), 0, 0};
    int result = e && options.connection && options.table
                     ? ASSAY_DONE
                     : refuse(error, ASSAY_FATAL, "no memory to open with");
    for (size_t i = 0; i < spec->option_count && result == ASSAY_DONE; i++)
        result = place(&options, &spec->options[i], error);
    if (result == ASSAY_DONE) {
        error_handler_init(&e->errors);
        result = open_placed(e, spec, &options, error);
        if (result != ASSAY_DONE && e->connection) e->connection->close(e->connection, NULL);
    }
    free(options.connection);
    free(options.table);
    if (result == ASSAY_DONE) {
        *engine = e;
    } else if (e) {
        release(e);
    }
    return result;
}

int assay_close(void *engine, assay_error *error) {
    wt_engine *e = engine;
    /* It includes a checkpoint. */
    int code = e->connection->close(e->connection, NULL);
    int result = code ? fail(&e->errors, code, error) : ASSAY_DONE;
    release(e);
    return result;
}

/* ---- Clients ---- */

typedef struct client {
    WT_CURSOR *cursor; /* first: what an operation needs */
    WT_SESSION *session;
    bool is_lsm;
    error_handler errors;
} client;

int assay_session_begin(void *engine, void **session, assay_error *error) {
    wt_engine *e = engine;
    client *c = calloc(1, sizeof *c);
    if (!c) return refuse(error, ASSAY_FATAL, "no memory for a session");
    error_handler_init(&c->errors);
    c->is_lsm = e->is_lsm;
    int code = e->connection->open_session(e->connection, &c->errors.handler, NULL, &c->session);
    if (code == 0) {
        code = c->session->open_cursor(c->session, TABLE_URI, NULL, "overwrite=true", &c->cursor);
        if (code) c->session->close(c->session, NULL);
    }
    if (code) {
        int result = fail(&c->errors, code, error);
        free(c);
        return result;
    }
    *session = c;
    return ASSAY_DONE;
}

void assay_session_end(void *session) {
    client *c = session;
    c->session->close(c->session, NULL); /* and its cursor */
    free(c);
}

/* The engine uses the pointer until the operation ends, and copies nothing. */
static inline void set_key(WT_CURSOR *cursor, const void *key, size_t bytes) {
    WT_ITEM item = {.data = key, .size = bytes};
    cursor->set_key(cursor, &item);
}

/*
 * Reads of an LSM are explicit transactions. Without, the conformance battery finds that reads of
 * 11.3 miss commits of other sessions (cause unknown). 3.2.1 does not need it, but makes the same
 * calls, so that a comparison of builds is one of engines.
 */
static inline int begin_read(client *c) {
    return c->is_lsm ? c->session->begin_transaction(c->session, NULL) : 0;
}

/* Ends a read, failed or not; returns `code` unless the end fails. */
static inline int end_read(client *c, int code) {
    int ended = c->cursor->reset(c->cursor); /* or the page stays pinned */
    if (c->is_lsm) {
        int committed = c->session->commit_transaction(c->session, NULL);
        if (ended == 0) ended = committed;
    }
    return ended ? ended : code;
}

int assay_get(void *session, const void *key, size_t key_bytes, assay_row row, void *rows,
              assay_error *error) {
    client *c = session;
    WT_CURSOR *cursor = c->cursor;
    WT_ITEM value;
    int code = begin_read(c);
    if (code) return fail(&c->errors, code, error);
    set_key(cursor, key, key_bytes);
    code = cursor->search(cursor);
    if (code == 0) code = cursor->get_value(cursor, &value);
    if (code == 0) row(rows, key, key_bytes, value.data, value.size);
    code = end_read(c, code);
    if (code == 0) return ASSAY_DONE;
    return code == WT_NOTFOUND ? ASSAY_NOT_FOUND : fail(&c->errors, code, error);
}

int assay_put(void *session, const void *key, size_t key_bytes, const void *value,
              size_t value_bytes, assay_error *error) {
    client *c = session;
    WT_CURSOR *cursor = c->cursor;
    WT_ITEM item = {.data = value, .size = value_bytes};
    set_key(cursor, key, key_bytes);
    cursor->set_value(cursor, &item);
    int code = cursor->insert(cursor);
    return code ? fail(&c->errors, code, error) : ASSAY_DONE;
}

int assay_delete(void *session, const void *key, size_t key_bytes, assay_error *error) {
    client *c = session;
    set_key(c->cursor, key, key_bytes);
    int code = c->cursor->remove(c->cursor);
    return code && code != WT_NOTFOUND ? fail(&c->errors, code, error) : ASSAY_DONE;
}

#if WIREDTIGER_VERSION_MAJOR > 2
/* Tries of a change that conflicts (our choice): the engine itself repeats a put without end. */
#define TRIES 1000

/* A part of a value: from an offset on, or at its end. */
typedef struct part {
    const void *bytes;
    size_t count, offset;
    bool is_append;
} part;

/*
 * A change record goes to the cache and the log, not the value. The engine takes it only in a
 * transaction with snapshot isolation, and pads a value that is too short: so the value is found,
 * and its length checked, in the same transaction. ERANGE beyond the end.
 */
static int modify_once(client *c, const void *key, size_t key_bytes, const part *part,
                       size_t *value_bytes) {
    WT_CURSOR *cursor = c->cursor;
    WT_ITEM value;
    int code = c->session->begin_transaction(c->session, "isolation=snapshot");
    if (code) return code;
    set_key(cursor, key, key_bytes);
    code = cursor->search(cursor);
    if (code == 0) code = cursor->get_value(cursor, &value);
    if (code == 0) {
        *value_bytes = value.size;
        if (!part->is_append && part->offset + part->count > value.size) code = ERANGE;
    }
    if (code == 0) {
        WT_MODIFY change = {.data = {.data = part->bytes, .size = part->count},
                            .offset = part->is_append ? value.size : part->offset,
                            .size = part->is_append ? 0 : part->count};
        code = cursor->modify(cursor, &change, 1);
    }
    if (code == 0) return c->session->commit_transaction(c->session, NULL);
    int ended = c->session->rollback_transaction(c->session, NULL);
    return ended ? ended : code;
}

int assay_modify(void *session, const void *key, size_t key_bytes, uint32_t offset, int is_append,
                 const void *bytes, size_t count, assay_error *error) {
    client *c = session;
    part part = {bytes, count, offset, is_append};
    size_t value_bytes = 0;
    int code = modify_once(c, key, key_bytes, &part, &value_bytes);
    for (int tries = 1; code == WT_ROLLBACK && tries < TRIES; tries++) {
        atomic_store(&c->errors.code, 0);
        sched_yield(); /* the other client may wait for this CPU */
        code = modify_once(c, key, key_bytes, &part, &value_bytes);
    }
    switch (code) {
    case 0: return ASSAY_DONE;
    case WT_NOTFOUND: return ASSAY_NOT_FOUND;
    case ERANGE:
        return refuse(error, ASSAY_UNSUPPORTED,
                      "%zu bytes from byte %zu on: they end beyond a value of %zu bytes", count,
                      part.offset, value_bytes);
    default: return fail(&c->errors, code, error);
    }
}
#endif

int assay_scan(void *session, const void *start, size_t start_bytes, uint32_t limit, int is_reverse,
               assay_row row, void *rows, assay_error *error) {
    client *c = session;
    WT_CURSOR *cursor = c->cursor;
    uint32_t found = 0;
    int side, code = begin_read(c);
    if (code) return fail(&c->errors, code, error);
    set_key(cursor, start, start_bytes);
    code = cursor->search_near(cursor, &side);
    if (code == 0 && (is_reverse ? side > 0 : side < 0))
        code = is_reverse ? cursor->prev(cursor) : cursor->next(cursor);
    while (code == 0 && found < limit) {
        WT_ITEM key, value;
        code = cursor->get_key(cursor, &key);
        if (code == 0) code = cursor->get_value(cursor, &value);
        if (code) break;
        row(rows, key.data, key.size, value.data, value.size);
        if (++found < limit) code = is_reverse ? cursor->prev(cursor) : cursor->next(cursor);
    }
    code = end_read(c, code);
    if (code && code != WT_NOTFOUND) return fail(&c->errors, code, error);
    return found ? ASSAY_DONE : ASSAY_NOT_FOUND;
}

/* ---- Maintenance and state; each call has its own session ---- */

int assay_maintain(void *engine, int work, int *is_done, assay_error *error) {
    wt_engine *e = engine;
    WT_SESSION *session;
    error_handler v;
    *is_done = 0;
    if (work == ASSAY_COMPACT_LEVEL0) return ASSAY_DONE; /* there are no levels */
    error_handler_init(&v);
    int code = e->connection->open_session(e->connection, &v.handler, NULL, &session);
    if (code) return fail(&v, code, error);
    code = session->checkpoint(session, NULL);
    /* It frees space that no checkpoint holds, so it follows one. */
    if (code == 0 && work == ASSAY_COMPACT_ALL)
        code = session->compact(session, TABLE_URI, "timeout=0");
    int result = code ? fail(&v, code, error) : ASSAY_DONE;
    session->close(session, NULL);
    *is_done = result == ASSAY_DONE;
    return result;
}

void assay_options(void *engine, assay_text report, void *to) {
    wt_engine *e = engine;
    WT_SESSION *session;
    WT_CURSOR *cursor;
    error_handler v;
    const char *config;
    report_flat(e->config, "", report, to);
    error_handler_init(&v);
    if (e->connection->open_session(e->connection, &v.handler, NULL, &session)) return;
    if (session->open_cursor(session, "metadata:create", NULL, NULL, &cursor) == 0) {
        cursor->set_key(cursor, TABLE_URI);
        if (cursor->search(cursor) == 0 && cursor->get_value(cursor, &config) == 0) {
            /* The table's options in force, with the prefix where both methods know the name. */
            for (const char *at = config; *at;) {
                const char *equals = strchr(at, '='), *end = equals ? value_end(equals + 1) : at;
                if (end == at) break;
                char *one = strndup(at, (size_t)(end - at));
                if (one) report_flat(one, accepts(&v, "wiredtiger_open", one) ? TABLE_PREFIX : "",
                                     report, to);
                free(one);
                at = end + (*end == ',');
            }
        }
    }
    session->close(session, NULL);
}

/* Statistics that are metrics of Assay's glossary. */
static const struct {
    int key;
    const char *name;
} METRICS[] = {
    {WT_STAT_CONN_BLOCK_BYTE_WRITE, "engine_page_write_bytes"},
    {WT_STAT_CONN_LOG_BYTES_WRITTEN, "engine_wal_write_bytes"},
    {WT_STAT_CONN_FSYNC_IO, "engine_fsyncs"},
    {WT_STAT_CONN_CACHE_BYTES_INUSE, "engine_cache_bytes"},
    {WT_STAT_CONN_CACHE_READ, "engine_cache_misses"},
    {WT_STAT_CONN_CACHE_READ_APP_COUNT, "engine_block_reads"},
    {WT_STAT_CONN_CACHE_PAGES_REQUESTED, "engine_block_lookups"},
};

/* Statistics reported every second under the engine's descriptions; the text has all others. */
static const int OWN[] = {
    WT_STAT_CONN_BLOCK_BYTE_READ,
    WT_STAT_CONN_BLOCK_BYTE_WRITE_CHECKPOINT,
    WT_STAT_CONN_CACHE_EVICTION_DIRTY,
    WT_STAT_CONN_READ_IO,
    WT_STAT_CONN_WRITE_IO,
    WT_STAT_CONN_LOG_WRITES,
    WT_STAT_CONN_LOG_SYNC,
    WT_STAT_CONN_TXN_ROLLBACK,
#ifdef WT_STAT_CONN_LSM_ROWS_MERGED
    WT_STAT_CONN_LSM_ROWS_MERGED,
    WT_STAT_CONN_LSM_WORK_UNITS_DONE,
#endif
};

/* Times in us that clients waited: for room in the cache, and for the LSM's own threads. */
static const int STALLS[] = {
    WT_STAT_CONN_APPLICATION_CACHE_TIME,
#ifdef WT_STAT_CONN_LSM_ROWS_MERGED
    WT_STAT_CONN_LSM_CHECKPOINT_THROTTLE,
    WT_STAT_CONN_LSM_MERGE_THROTTLE,
#endif
};

/* Background work, running or queued. */
static const int JOBS[] = {
#ifdef WT_STAT_CONN_TXN_CHECKPOINT_RUNNING
    WT_STAT_CONN_TXN_CHECKPOINT_RUNNING,
#endif
#ifdef WT_STAT_CONN_LSM_ROWS_MERGED
    WT_STAT_CONN_LSM_WORK_QUEUE_APP,
    WT_STAT_CONN_LSM_WORK_QUEUE_MANAGER,
    WT_STAT_CONN_LSM_WORK_QUEUE_SWITCH,
#endif
#ifdef WT_STAT_CONN_CHECKPOINT_STATE
    WT_STAT_CONN_CHECKPOINT_STATE, /* 0 unless one runs */
#endif
};

static bool statistic(WT_CURSOR *cursor, int key, const char **name, int64_t *value) {
    const char *printed;
    cursor->set_key(cursor, key);
    return cursor->search(cursor) == 0 && cursor->get_value(cursor, name, &printed, value) == 0;
}

static double sum_of(WT_CURSOR *cursor, const int *keys, size_t count) {
    double sum = 0;
    const char *name;
    int64_t value;
    for (size_t i = 0; i < count; i++)
        if (statistic(cursor, keys[i], &name, &value)) sum += (double)value;
    return sum;
}

static void count_connection(wt_engine *e, WT_CURSOR *cursor, assay_count count, void *to) {
    const char *name;
    int64_t value, requested = 0, read = 0, written = 0;
    for (size_t i = 0; i < COUNT(METRICS); i++)
        if (statistic(cursor, METRICS[i].key, &name, &value))
            count(to, METRICS[i].name, (double)value);
    for (size_t i = 0; i < COUNT(OWN); i++)
        if (statistic(cursor, OWN[i], &name, &value)) count(to, name, (double)value);
    count(to, "engine_stall_us", sum_of(cursor, STALLS, COUNT(STALLS)));
    if (statistic(cursor, WT_STAT_CONN_CACHE_PAGES_REQUESTED, &name, &requested) &&
        statistic(cursor, WT_STAT_CONN_CACHE_READ, &name, &read))
        count(to, "engine_cache_hits", requested > read ? (double)(requested - read) : 0);
    double jobs = sum_of(cursor, JOBS, COUNT(JOBS));
    statistic(cursor, WT_STAT_CONN_BLOCK_BYTE_WRITE, &name, &written);
    /* The engine reports no jobs of eviction and merges: their writes show them. */
    if (atomic_exchange(&e->written, written) != written) jobs += 1;
    count(to, "engine_background_jobs", jobs);
    count(to, "is_idle", jobs == 0);
}

/* Returns the bytes of log files, preallocated ones included; or -1. */
static double log_bytes(const char *dir) {
    DIR *files = opendir(dir);
    if (!files) return -1;
    double sum = 0;
    for (struct dirent *file; (file = readdir(files));) {
        struct stat found;
        bool is_log = strncmp(file->d_name, "WiredTigerLog.", 14) == 0 ||
                      strncmp(file->d_name, "WiredTigerPreplog.", 18) == 0 ||
                      strncmp(file->d_name, "WiredTigerTmplog.", 17) == 0;
        if (is_log && fstatat(dirfd(files), file->d_name, &found, 0) == 0)
            sum += 512.0 * (double)found.st_blocks;
    }
    closedir(files);
    return sum;
}

void assay_state(void *engine, assay_count count, void *to) {
    wt_engine *e = engine;
    WT_SESSION *session;
    WT_CURSOR *cursor;
    error_handler v;
    const char *name;
    int64_t value;
    double logs = log_bytes(e->dir);
    if (logs >= 0) count(to, "log_bytes", logs);
    error_handler_init(&v);
    if (e->connection->open_session(e->connection, &v.handler, NULL, &session)) return;
    if (session->open_cursor(session, "statistics:", NULL, "statistics=(fast)", &cursor) == 0)
        count_connection(e, cursor, count, to);
    /* Only a B-tree has such a file. */
    if (session->open_cursor(session, FILE_STATISTICS, NULL, "statistics=(fast)", &cursor) == 0) {
        if (statistic(cursor, WT_STAT_DSRC_BLOCK_SIZE, &name, &value))
            count(to, "engine_disk_bytes", (double)value);
        if (statistic(cursor, WT_STAT_DSRC_BTREE_MAXIMUM_DEPTH, &name, &value) && value > 0)
            count(to, "tree_height", (double)value);
    }
    session->close(session, NULL);
}

static void report_all(WT_SESSION *session, const char *uri, assay_text report, void *to) {
    WT_CURSOR *cursor;
    const char *name, *printed;
    int64_t value;
    char *text = NULL;
    size_t bytes;
    if (session->open_cursor(session, uri, NULL, "statistics=(fast)", &cursor)) return;
    FILE *out = open_memstream(&text, &bytes);
    if (!out) return;
    while (cursor->next(cursor) == 0 && cursor->get_value(cursor, &name, &printed, &value) == 0)
        fprintf(out, "%s=%lld\n", name, (long long)value);
    fclose(out);
    report(to, uri, text);
    free(text);
}

void assay_statistics(void *engine, assay_text report, void *to) {
    wt_engine *e = engine;
    WT_SESSION *session;
    error_handler v;
    error_handler_init(&v);
    if (e->connection->open_session(e->connection, &v.handler, NULL, &session)) return;
    report_all(session, "statistics:", report, to);
    report_all(session, "statistics:" TABLE_URI, report, to);
    session->close(session, NULL);
}
