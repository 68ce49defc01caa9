/* Fails, shortens or kills at the Nth call that changes a file below a directory.
 *
 * Preloaded into one process. Its settings are variables that Assay hands to no child, so a worker
 * that inherits LD_PRELOAD does nothing here.
 *
 * FAULT_BELOW   starts of the paths that count, absolute, separated by colons
 * FAULT_LOG     file to which each call that counts is appended: "NUMBER CALL PATH"
 * FAULT_AT      number of the call to act at, 0 for none
 * FAULT_KIND    kill: half of a write is done, then the process is killed
 *               io: EIO; what a close closes is closed
 *               full: ENOSPC, after half of a write, and from then on for all that needs space
 *               short: half of a write is done and reported
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* Whether a call needs space on the disk. */
enum space { FREES, NEEDS };

static const char *below, *kind;
static long at;
static int log_fd = -1;
static atomic_long calls;
static atomic_int is_full;

__attribute__((constructor)) static void read_settings(void)
{
    const char *log = getenv("FAULT_LOG"), *number = getenv("FAULT_AT");
    kind = getenv("FAULT_KIND");
    if (log == NULL || number == NULL || kind == NULL)
        return;
    at = atol(number);
    log_fd = (int)syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC,
                          0600);
    below = getenv("FAULT_BELOW");
}

static int is_kind(const char *name) { return strcmp(kind, name) == 0; }

static int counts(const char *path)
{
    for (const char *start = below; *start != 0;) {
        size_t length = strcspn(start, ":");
        if (strncmp(path, start, length) == 0)
            return 1;
        start += length + (start[length] == ':');
    }
    return 0;
}

/* The path of a descriptor. */
static void path_of(int fd, char path[PATH_MAX])
{
    char link[64];
    snprintf(link, sizeof link, fd == AT_FDCWD ? "/proc/self/cwd" : "/proc/self/fd/%d", fd);
    long length = syscall(SYS_readlinkat, AT_FDCWD, link, path, PATH_MAX - 1);
    path[length < 0 ? 0 : length] = 0;
}

/* The absolute form of a path relative to a descriptor. */
static void absolute(int dir, const char *relative, char path[PATH_MAX])
{
    path[0] = 0;
    size_t length = 0;
    if (relative[0] != '/') {
        path_of(dir, path);
        length = strlen(path);
    }
    snprintf(path + length, PATH_MAX - length, length == 0 ? "%s" : "/%s", relative);
}

static void die(void)
{
    syscall(SYS_kill, getpid(), SIGKILL);
    for (;;)
        pause();
}

/* Counts a call and returns its error, 0 for none; -1 asks for half of a write and then that. */
static int fault(const char *call, const char *path, enum space space, int is_write)
{
    int saved = errno;
    if (below == NULL || !counts(path))
        return 0;
    if (is_full && space == NEEDS)
        return ENOSPC;
    long number = ++calls;
    char line[PATH_MAX + 64];
    int length = snprintf(line, sizeof line, "%ld %s %s\n", number, call, path);
    syscall(SYS_write, log_fd, line, (size_t)length);
    errno = saved;
    if (number != at)
        return 0;
    if (is_kind("io"))
        return EIO;
    if (is_kind("full"))
        is_full = 1;
    if (is_write)
        return -1;
    if (is_kind("kill"))
        die();
    return is_kind("full") ? ENOSPC : 0;
}

static int fault_at(const char *call, int dir, const char *relative, enum space space)
{
    if (below == NULL)
        return 0;
    char path[PATH_MAX];
    absolute(dir, relative, path);
    return fault(call, path, space, 0);
}

static int fault_of(const char *call, int fd, enum space space, int is_write)
{
    if (below == NULL)
        return 0;
    char path[PATH_MAX];
    int saved = errno;
    path_of(fd, path);
    errno = saved;
    return fault(call, path, space, is_write);
}

static int failed(int error)
{
    errno = error;
    return -1;
}

/* Does half of a write, then what the fault is. */
static ssize_t half(int fd, const char *bytes, size_t count, off_t offset)
{
    size_t part = count / 2;
    ssize_t written = (ssize_t)part;
    if (part > 0 && offset < 0)
        written = syscall(SYS_write, fd, bytes, part);
    else if (part > 0)
        written = syscall(SYS_pwrite64, fd, bytes, part, offset);
    if (is_kind("kill"))
        die();
    if (is_kind("full") && part == 0)
        return failed(ENOSPC);
    if (part == 0)
        return syscall(SYS_write, fd, bytes, count);
    return written;
}

static int open_below(int dir, const char *path, int flags, mode_t mode)
{
    int writes = (flags & O_ACCMODE) != O_RDONLY || (flags & O_CREAT);
    int error = writes ? fault_at("open", dir, path, flags & O_CREAT ? NEEDS : FREES) : 0;
    if (error > 0)
        return failed(error);
    return (int)syscall(SYS_openat, dir, path, flags, mode);
}

static mode_t mode_of(int flags, va_list arguments)
{
    int has_mode = (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE;
    return has_mode ? va_arg(arguments, mode_t) : 0;
}

int open64(const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = mode_of(flags, arguments);
    va_end(arguments);
    return open_below(AT_FDCWD, path, flags, mode);
}
int open(const char *path, int flags, ...) __attribute__((alias("open64")));

int openat64(int dir, const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = mode_of(flags, arguments);
    va_end(arguments);
    return open_below(dir, path, flags, mode);
}
int openat(int dir, const char *path, int flags, ...) __attribute__((alias("openat64")));

ssize_t write(int fd, const void *bytes, size_t count)
{
    int error = fault_of("write", fd, NEEDS, 1);
    if (error < 0)
        return half(fd, bytes, count, -1);
    return error > 0 ? failed(error) : syscall(SYS_write, fd, bytes, count);
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off_t offset)
{
    int error = fault_of("pwrite", fd, NEEDS, 1);
    if (error < 0)
        return half(fd, bytes, count, offset);
    return error > 0 ? failed(error) : syscall(SYS_pwrite64, fd, bytes, count, offset);
}
ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset)
    __attribute__((alias("pwrite64")));

ssize_t writev(int fd, const struct iovec *parts, int count)
{
    int error = fault_of("writev", fd, NEEDS, 1);
    if (error < 0)
        return half(fd, parts[0].iov_base, parts[0].iov_len, -1);
    return error > 0 ? failed(error) : syscall(SYS_writev, fd, parts, count);
}

int rename(const char *from, const char *to)
{
    int error = fault_at("rename", AT_FDCWD, to, NEEDS);
    if (error > 0)
        return failed(error);
    return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int mkdir(const char *path, mode_t mode)
{
    int error = fault_at("mkdir", AT_FDCWD, path, NEEDS);
    return error > 0 ? failed(error) : (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
}

int unlinkat(int dir, const char *path, int flags)
{
    int error = fault_at(flags & AT_REMOVEDIR ? "rmdir" : "unlink", dir, path, FREES);
    return error > 0 ? failed(error) : (int)syscall(SYS_unlinkat, dir, path, flags);
}
int unlink(const char *path) { return unlinkat(AT_FDCWD, path, 0); }
int rmdir(const char *path) { return unlinkat(AT_FDCWD, path, AT_REMOVEDIR); }

int fsync(int fd)
{
    int error = fault_of("fsync", fd, NEEDS, 0);
    return error > 0 ? failed(error) : (int)syscall(SYS_fsync, fd);
}

int fdatasync(int fd)
{
    int error = fault_of("fdatasync", fd, NEEDS, 0);
    return error > 0 ? failed(error) : (int)syscall(SYS_fdatasync, fd);
}

int ftruncate64(int fd, off_t length)
{
    int error = fault_of("ftruncate", fd, NEEDS, 0);
    return error > 0 ? failed(error) : (int)syscall(SYS_ftruncate, fd, length);
}
int ftruncate(int fd, off_t length) __attribute__((alias("ftruncate64")));

int close(int fd)
{
    int flags = below == NULL ? -1 : (int)syscall(SYS_fcntl, fd, F_GETFL);
    int writes = flags >= 0 && (flags & O_ACCMODE) != O_RDONLY;
    int error = writes ? fault_of("close", fd, FREES, 0) : 0;
    int closed = (int)syscall(SYS_close, fd);
    return error > 0 ? failed(error) : closed;
}
