/* Put before a program by LD_PRELOAD: file systems, and a clock, that fail as real ones do.
 *
 * SYSTEM_FAULTS_UNDER=/folder  only what lies there is meant
 * SYSTEM_FAULTS_LOCKS=38       flock(2) answers with that number (errno)
 * SYSTEM_FAULTS_WRITES=122     write(2) and its kin do
 * SYSTEM_FAULTS_CREATES=28     making a file does
 * SYSTEM_FAULTS_CLOCK=28800    the time of day is so many seconds ahead
 * SYSTEM_FAULTS_WHILE=/file    only while that file is there; without it: always
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static int number(const char *name)
{
    const char *value = getenv(name), *file = getenv("SYSTEM_FAULTS_WHILE");
    int before = errno, is_on = !file || access(file, F_OK) == 0;
    errno = before;
    return value && is_on ? atoi(value) : 0;
}

static int is_under(const char *path)
{
    const char *folder = getenv("SYSTEM_FAULTS_UNDER");
    return folder && !strncmp(path, folder, strlen(folder));
}

static int is_meant(int descriptor)
{
    char link[64], path[PATH_MAX];
    int before = errno;
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, sizeof path - 1);
    errno = before;
    if (length < 0)
        return 0;
    path[length] = 0;
    return is_under(path);
}

int flock(int descriptor, int operation)
{
    static int (*real)(int, int);
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "flock");
    if (number("SYSTEM_FAULTS_LOCKS") && is_meant(descriptor)) {
        errno = number("SYSTEM_FAULTS_LOCKS");
        return -1;
    }
    return real(descriptor, operation);
}

int clock_gettime(clockid_t clock, struct timespec *found)
{
    static int (*real)(clockid_t, struct timespec *);
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(clock, found);
    if (clock == CLOCK_REALTIME)
        found->tv_sec += number("SYSTEM_FAULTS_CLOCK");
    return result;
}

#define WRITES(name, parameters, arguments)                                                        \
    ssize_t name parameters                                                                        \
    {                                                                                              \
        static ssize_t (*real) parameters;                                                         \
        if (!real)                                                                                 \
            *(void **)&real = dlsym(RTLD_NEXT, #name);                                             \
        if (number("SYSTEM_FAULTS_WRITES") && is_meant(descriptor)) {                                \
            errno = number("SYSTEM_FAULTS_WRITES");                                                  \
            return -1;                                                                             \
        }                                                                                          \
        return real arguments;                                                                     \
    }

WRITES(write, (int descriptor, const void *bytes, size_t count), (descriptor, bytes, count))
WRITES(writev, (int descriptor, const struct iovec *parts, int count), (descriptor, parts, count))
WRITES(pwrite, (int descriptor, const void *bytes, size_t count, off_t place),
       (descriptor, bytes, count, place))
WRITES(pwrite64, (int descriptor, const void *bytes, size_t count, off64_t place),
       (descriptor, bytes, count, place))

static int refuses(int folder, const char *path, int flags)
{
    char link[64], whole[2 * PATH_MAX] = "";
    int is_nameless = (flags & O_TMPFILE) == O_TMPFILE;
    if (!(flags & O_CREAT || is_nameless) || !number("SYSTEM_FAULTS_CREATES"))
        return 0;
    int before = errno;
    if (path[0] != '/') {
        snprintf(link, sizeof link, folder == AT_FDCWD ? "/proc/self/cwd" : "/proc/self/fd/%d", folder);
        ssize_t length = readlink(link, whole, PATH_MAX - 1);
        if (length > 0)
            snprintf(whole + length, sizeof whole - length, "/%s", path);
    } else
        snprintf(whole, sizeof whole, "%s", path);
    int is_there = !is_nameless && faccessat(folder, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
    errno = before;
    return !is_there && is_under(whole);
}

#define OPENS(name, parameters, folder, arguments)                                                 \
    int name parameters                                                                            \
    {                                                                                              \
        static int (*real) parameters;                                                             \
        va_list rest;                                                                              \
        va_start(rest, flags);                                                                     \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;                     \
        va_end(rest);                                                                              \
        if (!real)                                                                                 \
            *(void **)&real = dlsym(RTLD_NEXT, #name);                                             \
        if (refuses(folder, path, flags)) {                                                        \
            errno = number("SYSTEM_FAULTS_CREATES");                                                 \
            return -1;                                                                             \
        }                                                                                          \
        return real arguments;                                                                     \
    }

OPENS(open, (const char *path, int flags, ...), AT_FDCWD, (path, flags, mode))
OPENS(open64, (const char *path, int flags, ...), AT_FDCWD, (path, flags, mode))
OPENS(openat, (int folder, const char *path, int flags, ...), folder, (folder, path, flags, mode))
OPENS(openat64, (int folder, const char *path, int flags, ...), folder, (folder, path, flags, mode))
