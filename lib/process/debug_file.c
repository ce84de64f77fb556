/* SPDX-License-Identifier: BSD-3-Clause */
#include "process/debug_file.h"

#include <dlfcn.h>
#include <elfutils/libdwelf.h>
#include <gelf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "process/elf_open.h"
#include "process/file_map.h"

static const char debug_root[] = "/usr/lib/debug";

bool mpiq_elf_has_build_id(Elf *elf, const struct mpiq_build_id *wanted)
{
    Elf_Scn *section = NULL;
    GElf_Ehdr header;
    if (!gelf_getehdr(elf, &header))
        return false;
    while ((section = elf_nextscn(elf, section))) {
        GElf_Shdr section_header;
        struct mpiq_build_id found = {.size = 0};
        if (!gelf_getshdr(section, &section_header) || section_header.sh_type != SHT_NOTE)
            continue;
        Elf_Data *data = elf_rawdata(section, NULL);
        if (data && data->d_buf &&
            mpiq_build_id_in_notes(data->d_buf, data->d_size, header.e_ident[EI_DATA] == ELFDATA2MSB, &found))
            return mpiq_build_id_equal(&found, wanted);
    }
    return false;
}

static bool same_build_id(int fd, const struct mpiq_build_id *wanted)
{
    struct mpiq_file_map *map = mpiq_file_map_create(fd);
    Elf *elf = map ? mpiq_elf_open(map) : NULL;
    errno = 0;
    bool same = elf && mpiq_elf_has_build_id(elf, wanted);
    if (!same && errno == ENOMEM)
        mpiq_memory_miss();
    elf_end(elf);
    mpiq_file_map_destroy(map);
    return same;
}

/* The descriptor, and a copy of the path that the caller frees. */
static int open_checked(int root, const char *path, const struct mpiq_build_id *wanted, char **ret)
{
    int fd = mpiq_file_open(root, path, NULL);
    if (fd >= 0 &&
        ((wanted->size && !same_build_id(fd, wanted)) || !(*ret = mpiq_memory_checked(strdup(path))))) {
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

static int by_build_id(const struct mpiq_debug_file_search *search, char **ret)
{
    char path[PATH_MAX];
    return mpiq_debug_file_path(search->build_id, ".debug", path, sizeof path)
               ? open_checked(search->root, path, search->build_id, ret)
               : -1;
}

/* gdb's three places: beside the object, in .debug there, and under the debug root. */
static int by_debuglink(const struct mpiq_debug_file_search *search, char **ret)
{
    GElf_Word crc;
    const char *link = dwelf_elf_gnu_debuglink(search->elf, &crc);
    const char *slash = strrchr(search->path, '/');
    if (!link || !*link || strchr(link, '/') || !slash)
        return -1;
    static const char *const places[][2] = {{"", ""}, {"", "/.debug"}, {debug_root, ""}};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        _cleanup_free_ char *path = NULL;
        if (asprintf(&path, "%s%.*s%s/%s", places[i][0], (int)(slash - search->path), search->path,
                     places[i][1], link) < 0)
            return -1;
        if (strcmp(path, search->path) == 0)
            continue;
        int fd = open_checked(search->root, path, search->build_id, ret);
        if (fd >= 0)
            return fd;
    }
    return -1;
}

/* From the servers that DEBUGINFOD_URLS names, or what their client has of them. */
static int by_debuginfod(const struct mpiq_debug_file_search *search, char **ret)
{
    const char *urls = getenv("DEBUGINFOD_URLS");
    if (!urls || !*urls || !search->ask_servers || !search->build_id->size)
        return -1;
    void *library = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return -1;
    void *(*begin)(void) = (void *(*)(void))dlsym(library, "debuginfod_begin");
    int (*find)(void *, const unsigned char *, int, char **) =
        (int (*)(void *, const unsigned char *, int, char **))dlsym(library, "debuginfod_find_debuginfo");
    void (*end)(void *) = (void (*)(void *))dlsym(library, "debuginfod_end");
    void *client = begin && find && end ? begin() : NULL;
    int fd = client ? find(client, search->build_id->bytes, (int)search->build_id->size, ret) : -1;
    if (client)
        end(client);
    dlclose(library);
    if (fd >= 0 && same_build_id(fd, search->build_id))
        return fd;
    if (fd >= 0) {
        close(fd);
        free(mpiq_steal(*ret));
    }
    return -1;
}

int mpiq_debug_file_find(const struct mpiq_debug_file_search *search, char **path)
{
    int fd = by_build_id(search, path);
    if (fd < 0)
        fd = by_debuglink(search, path);
    return fd >= 0 ? fd : by_debuginfod(search, path);
}
