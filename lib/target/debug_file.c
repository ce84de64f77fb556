/* SPDX-License-Identifier: BSD-3-Clause */
#include "target/debug_file.h"

#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"

static const char debug_root[] = "/usr/lib/debug";

/* Whether the file has that build-id; one without any is not taken. */
static bool same_build_id(int fd, const struct mpiq_build_id *wanted)
{
    Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    const void *bytes;
    ssize_t size = elf ? dwelf_elf_gnu_build_id(elf, &bytes) : -1;
    bool same = size > 0 && (size_t)size == wanted->size && memcmp(bytes, wanted->bytes, wanted->size) == 0;
    elf_end(elf);
    return same;
}

static int open_checked(const char *path, const struct mpiq_build_id *wanted)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd >= 0 && wanted->size && !same_build_id(fd, wanted)) {
        close(fd);
        return -1;
    }
    return fd;
}

bool mpiq_debug_file_path(const struct mpiq_build_id *build_id, const char *suffix, char *path, size_t size)
{
    if (build_id->size < 2)
        return false;
    char id[2 * MPIQ_BUILD_ID_MAX + 1];
    mpiq_build_id_text(build_id, id);
    return snprintf(path, size, "%s/.build-id/%.2s/%s%s", debug_root, id, id + 2, suffix) < (int)size;
}

static int by_build_id(const struct mpiq_object *object)
{
    char path[PATH_MAX];
    return mpiq_debug_file_path(&object->build_id, ".debug", path, sizeof path)
               ? open_checked(path, &object->build_id)
               : -1;
}

/* gdb's three places: beside the object, in .debug there, and under the debug root. */
static int by_debuglink(const struct mpiq_object *object)
{
    GElf_Word crc;
    const char *link = dwelf_elf_gnu_debuglink(object->elf, &crc);
    const char *slash = strrchr(object->path, '/');
    if (!link || !*link || strchr(link, '/') || !slash)
        return -1;
    static const char *const places[][2] = {{"", ""}, {"", "/.debug"}, {debug_root, ""}};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        _cleanup_free_ char *path = NULL;
        if (asprintf(&path, "%s%.*s%s/%s", places[i][0], (int)(slash - object->path), object->path,
                     places[i][1], link) < 0)
            return -1;
        if (strcmp(path, object->path) == 0)
            continue;
        int fd = open_checked(path, &object->build_id);
        if (fd >= 0)
            return fd;
    }
    return -1;
}

/* From the servers that DEBUGINFOD_URLS names: libdwfl asks them (and looks in places of its own). */
static int by_debuginfod(struct mpiq_object *object)
{
    const char *urls = getenv("DEBUGINFOD_URLS");
    if (!urls || !*urls || object->fd < 0 || !object->build_id.size)
        return -1;
    static const Dwfl_Callbacks callbacks = {.find_elf = dwfl_build_id_find_elf,
                                             .find_debuginfo = dwfl_standard_find_debuginfo,
                                             .section_address = dwfl_offline_section_address};
    Dwfl *dwfl = dwfl_begin(&callbacks);
    int own = dwfl ? fcntl(object->fd, F_DUPFD_CLOEXEC, 0) : -1, fd = -1;
    if (own >= 0) {
        Dwfl_Module *module = dwfl_report_elf(dwfl, object->path, object->path, own, 0, true);
        char *name = NULL;
        void *userdata = NULL;
        dwfl_report_end(dwfl, NULL, NULL);
        if (module)
            fd = dwfl_standard_find_debuginfo(module, &userdata, object->path, 0, object->path, NULL, 0,
                                              &name);
        else
            close(own);
        free(name);
    }
    dwfl_end(dwfl);
    if (fd >= 0 && !same_build_id(fd, &object->build_id)) {
        close(fd);
        return -1;
    }
    return fd;
}

int mpiq_debug_file_find(struct mpiq_object *object)
{
    int fd = by_build_id(object);
    if (fd < 0)
        fd = by_debuglink(object);
    return fd >= 0 ? fd : by_debuginfod(object);
}
