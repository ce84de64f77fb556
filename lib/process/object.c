/* SPDX-License-Identifier: BSD-3-Clause */
#include "process/object.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/proc.h"
#include "process/debug_files.h"
#include "process/debug_file.h"
#include "process/debug_info.h"
#include "process/elf_open.h"
#include "process/file_map.h"
#include "process/pipe.h"

static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static struct mpiq_object *registry;

void mpiq_object_lock(void)
{
    pthread_mutex_lock(&lock);
}

void mpiq_object_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

static void read_build_id(struct mpiq_object *object, const GElf_Phdr *segment)
{
    Elf_Data *notes =
        elf_getdata_rawchunk(object->elf, (int64_t)segment->p_offset, segment->p_filesz, ELF_T_BYTE);
    if (notes && notes->d_buf)
        mpiq_build_id_in_notes(notes->d_buf, notes->d_size, object->big_endian, &object->build_id);
}

/* Reads what the ELF header and the program headers say.  NULL, or the reason why we cannot use the object.
 */
static const char *read_headers(struct mpiq_object *object)
{
    GElf_Ehdr header;
    if (!object->elf || elf_kind(object->elf) != ELF_K_ELF || !gelf_getehdr(object->elf, &header))
        return "it is not an ELF file";
    if (header.e_type != ET_EXEC && header.e_type != ET_DYN)
        return "it is neither an executable nor a shared library";
    object->word_size = header.e_ident[EI_CLASS] == ELFCLASS32 ? 4 : 8;
    object->big_endian = header.e_ident[EI_DATA] == ELFDATA2MSB;
    object->machine = header.e_machine;
    size_t count;
    if (elf_getphdrnum(object->elf, &count) != 0)
        return "its program headers cannot be read";
    uint64_t first = UINT64_MAX, end = 0;
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr segment;
        if (!gelf_getphdr(object->elf, (int)i, &segment))
            return "its program headers cannot be read";
        if (segment.p_type == PT_NOTE && !object->build_id.size)
            read_build_id(object, &segment);
        if (segment.p_type != PT_LOAD || segment.p_memsz == 0)
            continue;
        if (segment.p_vaddr + segment.p_memsz < segment.p_vaddr)
            return "its program headers are malformed";
        if (segment.p_vaddr < first)
            first = segment.p_vaddr;
        if (segment.p_vaddr + segment.p_memsz > end)
            end = segment.p_vaddr + segment.p_memsz;
    }
    if (!end)
        return "it has nothing to load";
    object->first = first & ~(uint64_t)4095;
    object->end = end > UINT64_MAX - 4095 ? UINT64_MAX : (end + 4095) & ~(uint64_t)4095;
    return NULL;
}

static struct mpiq_object *create(const char *name)
{
    static uint64_t last;
    struct mpiq_object *object = calloc(1, sizeof *object);
    if (!object)
        return NULL;
    object->id = ++last;
    object->root = -1;
    object->path = strdup(name);
    if (!object->path) {
        free(object);
        return NULL;
    }
    return object;
}

static void destroy(struct mpiq_object *object)
{
    for (size_t i = 0; i < MPIQ_OBJECT_PARTS; i++) {
        if (object->parts[i].memory)
            object->parts[i].deinit(object->parts[i].memory);
        free(object->parts[i].memory);
    }
    if (object->debug_info)
        mpiq_debug_files_destroy(object->debug_info->files);
    mpiq_debug_info_destroy(object->debug_info);
    elf_end(object->debug_elf);
    elf_end(object->elf);
    mpiq_file_map_destroy(object->debug_map);
    mpiq_file_map_destroy(object->map);
    if (object->root >= 0)
        close(object->root);
    free(object->debug_path);
    mpiq_error_destroy(object->error);
    free(object->image);
    free(object->path);
    free(object);
}

/* A copy of the error that the object keeps. */
static struct mpiq_error *result(struct mpiq_object *object, struct mpiq_object **ret)
{
    if (object->error)
        return mpiq_error_copy(object->error);
    *ret = object;
    return NULL;
}

/* Inodes are equal where one directory is mounted twice; the mount is of one namespace alone. */
static struct mpiq_root_id identify_root(int root)
{
    static atomic_uint_fast64_t strangers; /* never equal */
    struct mpiq_root_id id = {0, 0};
    struct stat directory;
    char path[64], text[256] = "";
    if (root < 0)
        return id;
    snprintf(path, sizeof path, "/proc/self/fdinfo/%d", root);
    mpiq_error_destroy(mpiq_proc_read_line(path, text, sizeof text));
    const char *mount = strstr(text, "mnt_id:");
    if (!mount || fstat(root, &directory) != 0)
        return (struct mpiq_root_id){UINT64_MAX, atomic_fetch_add(&strangers, 1)};
    id.mount = strtoull(mount + strlen("mnt_id:"), NULL, 10);
    id.inode = directory.st_ino;
    return id;
}

static bool same_root(const struct mpiq_object *object, const struct mpiq_root_id *id)
{
    return object->root_id.mount == id->mount && object->root_id.inode == id->inode;
}

static struct mpiq_object *find(const struct stat *file, const struct mpiq_root_id *root, const char *name)
{
    uint64_t modified = (uint64_t)file->st_mtim.tv_sec * 1000000000u + (uint64_t)file->st_mtim.tv_nsec;
    for (struct mpiq_object *object = registry; object; object = object->next) {
        if (!object->image && object->inode == file->st_ino && object->device == file->st_dev &&
            object->size == (uint64_t)file->st_size && object->modified_ns == modified &&
            same_root(object, root) && strcmp(object->path, name) == 0) {
            object->seen_ns = mpiq_monotonic_ns();
            return object;
        }
    }
    return NULL;
}

/* The ranks of a look map the same files: they are not looked at anew for each. */
static const int64_t moment_ns = 1000000000;

struct mpiq_object *mpiq_object_mapped(int root, uint64_t device, uint64_t inode, const char *path)
{
    int64_t now = mpiq_monotonic_ns();
    const struct mpiq_root_id id = identify_root(root);
    mpiq_object_lock();
    struct mpiq_object *object = registry;
    while (object &&
           (object->inode != inode || object->device != device || object->error ||
            now - object->seen_ns > moment_ns || !same_root(object, &id) || strcmp(object->path, path) != 0))
        object = object->next;
    mpiq_object_unlock();
    return inode ? object : NULL;
}

/* A file that has become shorter since it was opened is none that the processes map any more. */
static struct mpiq_error *open_new(int fd, const struct stat *file, int root, const struct mpiq_root_id *id,
                                   const char *name, struct mpiq_object **ret)
{
    struct mpiq_object *object = create(name);
    if (!object)
        return mpiq_error_no_memory();
    object->root = root < 0 ? -1 : fcntl(root, F_DUPFD_CLOEXEC, 0);
    object->root_id = *id;
    object->seen_ns = mpiq_monotonic_ns();
    object->device = file->st_dev;
    object->inode = file->st_ino;
    object->size = (uint64_t)file->st_size;
    object->modified_ns = (uint64_t)file->st_mtim.tv_sec * 1000000000u + (uint64_t)file->st_mtim.tv_nsec;
    object->map = mpiq_file_map_create(fd);
    if (object->map)
        object->elf = mpiq_elf_open(object->map);
    errno = 0;
    const char *reason = read_headers(object);
    if (errno == ENOMEM)
        mpiq_memory_miss();
    if (mpiq_file_map_torn(object->map))
        reason = "it was truncated while it was read";
    if (reason)
        object->error = mpiq_error_create(MPIQ_ERROR_CORRUPT, "%s cannot be used: %s", name, reason);
    object->next = registry;
    registry = object;
    return result(object, ret);
}

static struct mpiq_error *refused(int errnum, const char *name)
{
    return errnum == EINVAL ? mpiq_error_create(MPIQ_ERROR_CORRUPT, "%s is not a regular file", name)
                            : mpiq_error_create_os(errnum, "cannot open %s", name);
}

struct mpiq_error *mpiq_object_open_in(int root, const char *path, const char *name, struct mpiq_object **ret)
{
    struct stat file;
    struct mpiq_object *object = NULL;
    const struct mpiq_root_id id = identify_root(root);
    mpiq_object_lock();
    elf_version(EV_CURRENT);
    /* Most are known: then it need not be opened. */
    if (root < 0 && stat(path, &file) == 0 && S_ISREG(file.st_mode))
        object = find(&file, &id, name);
    if (object) {
        struct mpiq_error *known = result(object, ret);
        mpiq_object_unlock();
        return known;
    }
    _cleanup_close_ int fd = mpiq_file_open(root, path, &file);
    struct mpiq_error *error;
    if (fd < 0)
        error = refused(errno, name);
    else if ((object = find(&file, &id, name)))
        error = result(object, ret);
    else
        error = open_new(fd, &file, root, &id, name, ret);
    mpiq_object_unlock();
    return error;
}

struct mpiq_error *mpiq_object_open(const char *path, const char *name, struct mpiq_object **ret)
{
    return mpiq_object_open_in(-1, path, name, ret);
}

struct mpiq_error *mpiq_object_open_checked(int root, const char *path, const char *name,
                                            const struct mpiq_build_id *wanted, struct mpiq_object **ret)
{
    struct mpiq_object *object = NULL;
    struct mpiq_error *error = mpiq_object_open_in(root, path, name, &object);
    if (error || !object)
        return error;
    if (wanted->size && !mpiq_build_id_equal(wanted, &object->build_id)) {
        char ours[2 * MPIQ_BUILD_ID_MAX + 1], theirs[2 * MPIQ_BUILD_ID_MAX + 1];
        mpiq_build_id_text(wanted, theirs);
        mpiq_build_id_text(&object->build_id, ours);
        return mpiq_error_create(MPIQ_ERROR_NOT_FOUND,
                                 "%s is not the file that the process mapped: build-id %s there, %s here",
                                 name, theirs, ours[0] ? ours : "none");
    }
    *ret = object;
    return NULL;
}

bool mpiq_object_open_by_build_id(const struct mpiq_build_id *wanted, const char *name,
                                  struct mpiq_object **ret)
{
    char path[PATH_MAX];
    if (!mpiq_debug_file_path(wanted, "", path, sizeof path))
        return false;
    struct mpiq_error *error = mpiq_object_open_checked(-1, path, name, wanted, ret);
    mpiq_error_destroy(error);
    return !error;
}

/* An object out of memory with the same bytes. */
static struct mpiq_object *find_image(const struct mpiq_object *like)
{
    for (struct mpiq_object *object = registry; object; object = object->next) {
        if (object->image && object->size == like->size && strcmp(object->path, like->path) == 0 &&
            memcmp(object->image, like->image, like->size) == 0)
            return object;
    }
    return NULL;
}

struct mpiq_error *mpiq_object_from_image(void *image, size_t size, const char *name,
                                          struct mpiq_object **ret)
{
    mpiq_object_lock();
    elf_version(EV_CURRENT);
    struct mpiq_object *object = create(name);
    if (!object) {
        free(image);
        mpiq_object_unlock();
        return mpiq_error_no_memory();
    }
    object->image = image;
    object->size = size;
    object->elf = elf_memory(image, size);
    const char *reason = read_headers(object);
    struct mpiq_object *known = reason ? NULL : find_image(object);
    struct mpiq_error *error = NULL;
    if (reason) {
        error = mpiq_error_create(MPIQ_ERROR_CORRUPT, "%s cannot be used: %s", name, reason);
        destroy(object);
    } else if (known) {
        destroy(object);
        *ret = known;
    } else {
        object->next = registry;
        registry = object;
        *ret = object;
    }
    mpiq_object_unlock();
    return error;
}

bool mpiq_object_has_own_dwarf(struct mpiq_object *object)
{
    mpiq_object_lock();
    size_t names;
    if (!object->own_dwarf_tried && elf_getshdrstrndx(object->elf, &names) == 0) {
        Elf_Scn *section = NULL;
        while ((section = elf_nextscn(object->elf, section)) && !object->has_own_dwarf) {
            GElf_Shdr header;
            const char *name =
                gelf_getshdr(section, &header) ? elf_strptr(object->elf, names, header.sh_name) : NULL;
            object->has_own_dwarf =
                name && (strcmp(name, ".debug_info") == 0 || strcmp(name, ".zdebug_info") == 0);
        }
    }
    object->own_dwarf_tried = true;
    mpiq_object_unlock();
    return object->has_own_dwarf;
}

Elf *mpiq_object_debug_elf(struct mpiq_object *object)
{
    if (!object->debug_tried) {
        object->debug_tried = true;
        const struct mpiq_debug_file_search search = {.elf = object->elf,
                                                      .build_id = &object->build_id,
                                                      .root = object->root,
                                                      .path = object->path,
                                                      .ask_servers = object->map != NULL};
        _cleanup_close_ int fd = mpiq_debug_file_find(&search, &object->debug_path);
        if (fd >= 0)
            object->debug_map = mpiq_file_map_create(fd);
        if (object->debug_map)
            object->debug_elf = mpiq_elf_open(object->debug_map);
    }
    return object->debug_elf;
}

struct mpiq_debug_info *mpiq_object_debug_info(struct mpiq_object *object)
{
    if (object->debug_info_tried)
        return object->debug_info;
    object->debug_info_tried = true;
    Elf *elf = object->elf;
    const char *path = object->path;
    object->debug_info = mpiq_object_has_own_dwarf(object) ? mpiq_debug_info_create(elf) : NULL;
    if (!object->debug_info && (elf = mpiq_object_debug_elf(object))) {
        object->debug_info = mpiq_debug_info_create(elf);
        path = object->debug_path;
    }
    if (object->debug_info)
        mpiq_debug_files_init(object->debug_info, elf, object->root, path, object->path);
    return object->debug_info;
}

void *mpiq_object_part(struct mpiq_object *object, enum mpiq_object_part part, size_t size,
                       void (*deinit)(void *memory))
{
    if (!object->parts[part].memory) {
        object->parts[part].memory = mpiq_memory_checked(calloc(1, size));
        object->parts[part].deinit = deinit;
    }
    return object->parts[part].memory;
}

size_t mpiq_object_bytes(const struct mpiq_object *object, uint64_t offset, size_t size, void *buffer)
{
    size_t whole = object->map ? mpiq_file_map_size(object->map) : 0;
    if (offset >= whole)
        return 0;
    if (size > whole - offset)
        size = whole - (size_t)offset;
    memcpy(buffer, (const char *)mpiq_file_map_bytes(object->map) + offset, size);
    return mpiq_file_map_torn(object->map) ? 0 : size;
}

void mpiq_object_clear(void)
{
    mpiq_object_lock();
    while (registry) {
        struct mpiq_object *object = registry;
        registry = object->next;
        destroy(object);
    }
    mpiq_object_unlock();
}
