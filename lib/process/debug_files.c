/* SPDX-License-Identifier: BSD-3-Clause */
#include "process/debug_files.h"

#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/debug.h"
#include "process/build_id.h"
#include "process/debug_file.h"
#include "process/debug_info.h"
#include "process/die.h"
#include "process/elf_open.h"
#include "process/file_map.h"

/* Split files of one object, at most; and the address space for them. */
enum { FILE_LIMIT = 65536 };

struct referred {
    struct mpiq_file_map *map;
    Elf *elf;
    struct mpiq_debug_info *info;
};

struct mpiq_debug_files {
    int root;
    char *path;             /* of the file with the debug information */
    char *object_path;      /* of the program or library */
    struct referred common; /* dwz's */
    struct referred *split;
    size_t split_count, split_capacity;
    struct mpiq_debug_info *package; /* of one of split */
    bool package_tried;
};

static void close_referred(struct referred *file)
{
    mpiq_debug_info_destroy(file->info);
    elf_end(file->elf);
    mpiq_file_map_destroy(file->map);
}

/* Opens the file at path if it has that build-id (NULL: any) and debug information. */
static bool open_referred(const struct mpiq_debug_files *files, const char *path,
                          const struct mpiq_build_id *wanted, struct referred *ret)
{
    _cleanup_close_ int fd = mpiq_file_open(files->root, path, NULL);
    struct referred file = {.map = fd >= 0 ? mpiq_file_map_create(fd) : NULL};
    if (!file.map)
        return false;
    file.elf = mpiq_elf_open(file.map);
    if (file.elf && elf_kind(file.elf) == ELF_K_ELF && (!wanted || mpiq_elf_has_build_id(file.elf, wanted)))
        file.info = mpiq_debug_info_create(file.elf);
    if (!file.info) {
        mpiq_debug("dwarf", "%s is not what was looked for", path);
        close_referred(&file);
        return false;
    }
    *ret = file;
    return true;
}

/* ---- dwz's common file ---- */

/* .gnu_debugaltlink: a name, a zero, a build-id. */
static bool read_link(Elf *elf, const char **name, struct mpiq_build_id *id)
{
    size_t names;
    Elf_Scn *section = NULL;
    if (elf_getshdrstrndx(elf, &names) != 0)
        return false;
    while ((section = elf_nextscn(elf, section))) {
        GElf_Shdr header;
        const char *title = gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
        if (!title || strcmp(title, ".gnu_debugaltlink") != 0 || header.sh_type == SHT_NOBITS)
            continue;
        Elf_Data *data = elf_rawdata(section, NULL);
        const char *bytes = data ? data->d_buf : NULL;
        const char *end = bytes ? memchr(bytes, '\0', data->d_size) : NULL;
        size_t length = end ? (size_t)(end - bytes) + 1 : 0;
        if (!end || end == bytes || data->d_size <= length || data->d_size - length > MPIQ_BUILD_ID_MAX)
            return false;
        *name = bytes;
        id->size = data->d_size - length;
        memcpy(id->bytes, bytes + length, id->size);
        return true;
    }
    return false;
}

/* directory of from, or "" */
static int directory_length(const char *from)
{
    const char *slash = strrchr(from, '/');
    return slash ? (int)(slash - from) + 1 : 0;
}

static void find_common(struct mpiq_debug_info *info, struct mpiq_debug_files *files, Elf *elf)
{
    const char *name;
    struct mpiq_build_id id;
    char path[PATH_MAX];
    if (!read_link(elf, &name, &id))
        return;
    int length = name[0] == '/' ? snprintf(path, sizeof path, "%s", name)
                                : snprintf(path, sizeof path, "%.*s%s", directory_length(files->path),
                                           files->path, name);
    if ((length > 0 && length < (int)sizeof path && open_referred(files, path, &id, &files->common)) ||
        (mpiq_debug_file_path(&id, ".debug", path, sizeof path) &&
         open_referred(files, path, &id, &files->common)))
        info->alternate = files->common.info;
}

/* ---- split units ---- */

/* The unit with that id.  DWARF 4 has it in the first entry. */
static struct mpiq_debug_unit *unit_of(struct mpiq_debug_info *info, uint64_t id)
{
    for (size_t i = 0; i < info->info_count; i++) {
        struct mpiq_debug_unit *unit = &info->units[i];
        if (unit->version < 5)
            mpiq_debug_unit_prepare(unit);
        if (unit->signature == id && unit->kind != DW_UT_split_type && unit->kind != DW_UT_type)
            return unit;
    }
    return NULL;
}

static bool take_split(struct mpiq_debug_unit *skeleton, struct mpiq_debug_info *info)
{
    struct mpiq_debug_unit *unit = unit_of(info, skeleton->signature);
    if (!unit)
        return false;
    unit->prepared = true;
    unit->low_pc = skeleton->low_pc;
    unit->address_base = skeleton->address_base;
    unit->ranges_base = skeleton->ranges_base;
    unit->range_lists_base = 0; /* of its own file: see ranges.c */
    unit->has_split = false;
    skeleton->split = info;
    skeleton->split_unit = unit;
    return true;
}

/* Opens path as a split file and keeps it. */
static struct mpiq_debug_info *add_split(struct mpiq_debug_info *main, const char *path)
{
    struct mpiq_debug_files *files = main->files;
    if (files->split_count == FILE_LIMIT ||
        !mpiq_array_reserve(&files->split, &files->split_capacity, files->split_count + 1))
        return NULL;
    if (!open_referred(files, path, NULL, &files->split[files->split_count]))
        return NULL;
    struct mpiq_debug_info *info = files->split[files->split_count++].info;
    info->main = main;
    return info;
}

static bool find_in_package(struct mpiq_debug_info *info, struct mpiq_debug_unit *unit)
{
    struct mpiq_debug_files *files = info->files;
    if (!files->package_tried) {
        char path[PATH_MAX];
        files->package_tried = true;
        if (snprintf(path, sizeof path, "%s.dwp", files->object_path) < (int)sizeof path)
            files->package = add_split(info, path);
    }
    return files->package && take_split(unit, files->package);
}

/* Where the compiler wrote it; and beside the object, under its own name, where people move it. */
static bool find_file(struct mpiq_debug_info *info, struct mpiq_debug_unit *unit)
{
    const struct mpiq_debug_files *files = info->files;
    _cleanup_die_ Dwarf_Die die = mpiq_die_first(unit);
    if (!die)
        return false;
    const char *name = mpiq_die_string(unit, die, DW_AT_dwo_name);
    if (!name)
        name = mpiq_die_string(unit, die, DW_AT_GNU_dwo_name);
    const char *directory = mpiq_die_string(unit, die, DW_AT_comp_dir);
    if (!name || !*name)
        return false;
    char paths[3][PATH_MAX];
    int lengths[3] = {0};
    lengths[0] = name[0] == '/' || !directory ? snprintf(paths[0], PATH_MAX, "%s", name)
                                              : snprintf(paths[0], PATH_MAX, "%s/%s", directory, name);
    int here = directory_length(files->object_path);
    lengths[1] = snprintf(paths[1], PATH_MAX, "%.*s%s", here, files->object_path, name);
    lengths[2] =
        snprintf(paths[2], PATH_MAX, "%.*s%s", here, files->object_path, name + directory_length(name));
    for (size_t i = 0; i < 3; i++) {
        struct mpiq_debug_info *split =
            lengths[i] > 0 && lengths[i] < PATH_MAX && paths[i][0] == '/' ? add_split(info, paths[i]) : NULL;
        if (split && take_split(unit, split))
            return true;
    }
    return false;
}

bool mpiq_debug_split(struct mpiq_debug_info *info, struct mpiq_debug_unit *unit)
{
    if (unit->split_tried || info->main || !info->files)
        return unit->split != NULL;
    unit->split_tried = true;
    mpiq_debug_unit_prepare(unit);
    return unit->has_split && (find_in_package(info, unit) || find_file(info, unit));
}

/* ---- both ---- */

void mpiq_debug_files_init(struct mpiq_debug_info *info, Elf *elf, int root, const char *path,
                           const char *object_path)
{
    struct mpiq_debug_files *files = calloc(1, sizeof *files);
    if (!files)
        return;
    files->root = root < 0 ? -1 : fcntl(root, F_DUPFD_CLOEXEC, 0);
    files->path = strdup(path);
    files->object_path = strdup(object_path);
    if (!files->path || !files->object_path || (root >= 0 && files->root < 0)) {
        mpiq_debug_files_destroy(files);
        return;
    }
    info->files = files;
    find_common(info, files, elf);
}

void mpiq_debug_files_destroy(struct mpiq_debug_files *files)
{
    if (!files)
        return;
    for (size_t i = 0; i < files->split_count; i++)
        close_referred(&files->split[i]);
    close_referred(&files->common);
    if (files->root >= 0)
        close(files->root);
    free(files->split);
    free(files->path);
    free(files->object_path);
    free(files);
}
