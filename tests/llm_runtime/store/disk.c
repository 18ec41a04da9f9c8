/* A disk that fails: preloaded in front of libc, it counts the writes and flushes of files whose path holds a word,
   and at one of them fails as it is told. `arm` is called through ctypes; nothing is counted before. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

enum { FULL = 1, FAILS, TORN, CUT };
static int kind, at, count;
static char word[256];
#define FILES 4096
static off_t flushed;

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

void arm(const char *of, int what, int when) {
    strncpy(word, of, sizeof word - 1);
    kind = what;
    at = when;
    count = 0;
    flushed = 0;
}

int counted(void) { return count; }

static int path_of(int fd, char *path) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t size = readlink(link, path, PATH_MAX - 1);
    if (size < 0) return 0;
    path[size] = 0;
    return 1;
}

static int ours(int fd) {
    char path[PATH_MAX];
    return word[0] && path_of(fd, path) && strstr(path, word) && !strstr(path, "-shm");
}

/* The power goes: of the log of late writes only what was flushed is there. */
static void cut(void) {
    char path[PATH_MAX];
    for (int fd = 0; fd < FILES; fd++)
        if (path_of(fd, path) && strstr(path, word) && strstr(path, "-wal")) REAL(ftruncate)(fd, flushed);
    _exit(137);
}

/* Say what this write or flush comes to: 0 it goes on, else an errno. */
static int fault(int fd, const void *data, size_t size, off_t where) {
    if (!ours(fd)) return 0;
    count++;
    if (kind == FULL && count >= at && data) return ENOSPC;
    if (count != at) return 0;
    if (kind == FAILS) return EIO;
    if (kind == TORN) {
        if (data) REAL(pwrite)(fd, data, size / 2, where);
        _exit(137);
    }
    if (kind == CUT) cut();
    return 0;
}

static int flush_of(int fd, int (*real)(int)) {
    int error = fault(fd, 0, 0, 0);
    if (error) { errno = error; return -1; }
    int done = real(fd);
    char path[PATH_MAX];
    struct stat now;
    if (!done && ours(fd) && path_of(fd, path) && strstr(path, "-wal") && !fstat(fd, &now)) flushed = now.st_size;
    return done;
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t where) {
    int error = fault(fd, data, size, where);
    if (error) { errno = error; return -1; }
    return REAL(pwrite)(fd, data, size, where);
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t where) {
    int error = fault(fd, data, size, where);
    if (error) { errno = error; return -1; }
    return REAL(pwrite64)(fd, data, size, where);
}

ssize_t write(int fd, const void *data, size_t size) {
    int error = word[0] ? fault(fd, data, size, lseek(fd, 0, SEEK_CUR)) : 0;
    if (error) { errno = error; return -1; }
    return REAL(write)(fd, data, size);
}

int fsync(int fd) { return flush_of(fd, REAL(fsync)); }
int fdatasync(int fd) { return flush_of(fd, REAL(fdatasync)); }
