/* SPDX-License-Identifier: BSD-3-Clause */
#include "process/file_map.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/memory.h"
#include "process/open_beneath.h"

/* Maps stay in the list for ever and are used again: the signal handler walks it without a lock. */
struct mpiq_file_map {
    struct mpiq_file_map *next;
    atomic_bool used;
    _Atomic uintptr_t start, end;
    atomic_bool torn;
    size_t size;
};

static struct mpiq_file_map *_Atomic maps;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct sigaction previous;

int mpiq_file_open(int root, const char *path, struct stat *ret)
{
    /* Opening a device or a FIFO may do something or wait: first a descriptor that only names the file. */
    _cleanup_close_ int name = root < 0 ? open(path, O_PATH | O_CLOEXEC) : mpiq_open_beneath(root, path);
    struct stat file;
    if (name < 0 || fstat(name, &file) != 0)
        return -1;
    if (!S_ISREG(file.st_mode)) {
        errno = EINVAL;
        return -1;
    }
    char self[64];
    snprintf(self, sizeof self, "/proc/self/fd/%d", name);
    int fd = open(self, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd >= 0 && ret)
        *ret = file;
    return fd;
}

/* A page of one of our maps that the file no longer has becomes zeros; all other faults take their usual
   course. */
static void on_bus_error(int number, siginfo_t *information, void *context)
{
    (void)context;
    uintptr_t address = (uintptr_t)information->si_addr;
    uintptr_t page = address & ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);
    for (struct mpiq_file_map *map = atomic_load(&maps); map; map = map->next) {
        if (!atomic_load(&map->used) || address < atomic_load(&map->start) ||
            address >= atomic_load(&map->end))
            continue;
        atomic_store(&map->torn, true);
        if (mmap((void *)page, (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE, /* NOLINT */
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED)
            return;
        break;
    }
    sigaction(number, &previous, NULL); /* the access is made again, and fails for good */
}

static void install(void)
{
    struct sigaction action = {.sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, &previous);
}

struct mpiq_file_map *mpiq_file_map_create(int fd)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct stat file;
    if (fstat(fd, &file) != 0)
        return NULL;
    if (file.st_size <= 0 || (uint64_t)file.st_size > SIZE_MAX / 2) {
        errno = EINVAL;
        return NULL;
    }
    size_t size = (size_t)file.st_size, page = (size_t)sysconf(_SC_PAGESIZE);
    pthread_once(&once, install);
    /* Writable, for us alone: libelf notes in section headers what it has decompressed. */
    void *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    if (bytes == MAP_FAILED) {
        if (errno == ENOMEM)
            mpiq_memory_miss();
        return NULL;
    }
    pthread_mutex_lock(&lock);
    struct mpiq_file_map *map = atomic_load(&maps);
    while (map && atomic_load(&map->used))
        map = map->next;
    if (!map && (map = mpiq_memory_checked(calloc(1, sizeof *map)))) {
        map->next = atomic_load(&maps);
        atomic_store(&maps, map);
    }
    if (map) {
        map->size = size;
        atomic_store(&map->torn, false);
        atomic_store(&map->start, (uintptr_t)bytes);
        atomic_store(&map->end, (uintptr_t)bytes + ((size + page - 1) & ~(page - 1)));
        atomic_store(&map->used, true);
    }
    pthread_mutex_unlock(&lock);
    if (!map)
        munmap(bytes, size);
    return map;
}

void mpiq_file_map_destroy(struct mpiq_file_map *map)
{
    if (!map)
        return;
    munmap(mpiq_file_map_bytes(map), map->size);
    atomic_store(&map->used, false);
}

void *mpiq_file_map_bytes(const struct mpiq_file_map *map)
{
    return (void *)atomic_load(&map->start); /* NOLINT */
}

size_t mpiq_file_map_size(const struct mpiq_file_map *map)
{
    return map->size;
}

bool mpiq_file_map_torn(const struct mpiq_file_map *map)
{
    return map && atomic_load(&map->torn);
}
