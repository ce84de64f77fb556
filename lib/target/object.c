/* SPDX-License-Identifier: BSD-3-Clause */
#include "target/object.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "target/debug_file.h"
#include "target/lines.h"
#include "target/pipe.h"
#include "target/symbols.h"
#include "target/types.h"

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

/* Reads what the ELF header and the program headers say.  NULL or the reason why it is no object of ours. */
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
            return "its program headers make no sense";
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
    struct mpiq_object *object = calloc(1, sizeof *object);
    if (!object)
        return NULL;
    object->fd = object->debug_fd = -1;
    object->path = strdup(name);
    if (!object->path) {
        free(object);
        return NULL;
    }
    return object;
}

static void destroy(struct mpiq_object *object)
{
    mpiq_symbols_destroy(object->symbols);
    mpiq_types_destroy(object->types);
    mpiq_lines_destroy(object->lines);
    dwarf_end(object->dwarf);
    elf_end(object->debug_elf);
    elf_end(object->elf);
    if (object->fd >= 0)
        close(object->fd);
    if (object->debug_fd >= 0)
        close(object->debug_fd);
    mpiq_error_destroy(object->error);
    free(object->image);
    free(object->path);
    free(object);
}

/* A copy of the error that the object keeps. */
static struct mpiq_error *result(struct mpiq_object *object, struct mpiq_object **ret)
{
    if (object->error)
        return mpiq_error_create(object->error->code, "%s", object->error->message);
    *ret = object;
    return NULL;
}

static struct mpiq_object *find(const struct stat *file)
{
    uint64_t modified = (uint64_t)file->st_mtim.tv_sec * 1000000000u + (uint64_t)file->st_mtim.tv_nsec;
    for (struct mpiq_object *object = registry; object; object = object->next) {
        if (object->inode == file->st_ino && object->device == file->st_dev &&
            object->size == (uint64_t)file->st_size && object->modified_ns == modified) {
            object->seen_ns = mpiq_monotonic_ns();
            return object;
        }
    }
    return NULL;
}

/* The ranks of a look map the same files: they are not looked at anew for each. */
static const int64_t moment_ns = 1000000000;

struct mpiq_object *mpiq_object_mapped(uint64_t device, uint64_t inode, const char *path)
{
    int64_t now = mpiq_monotonic_ns();
    mpiq_object_lock();
    struct mpiq_object *object = registry;
    while (object && (object->inode != inode || object->device != device || object->error ||
                      now - object->seen_ns > moment_ns || strcmp(object->path, path) != 0))
        object = object->next;
    mpiq_object_unlock();
    return inode ? object : NULL;
}

static struct mpiq_error *open_new(const char *path, const char *name, struct mpiq_object **ret)
{
    /* O_NONBLOCK: a path that has just become a FIFO must not hold us. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return mpiq_error_create_os(errno, "cannot open %s", name);
    struct stat file;
    struct mpiq_object *object = NULL;
    if (fstat(fd, &file) != 0 || !S_ISREG(file.st_mode)) {
        close(fd);
        return mpiq_error_create(MPIQ_ERROR_CORRUPT, "%s is not a regular file", name);
    }
    object = create(name);
    if (!object) {
        close(fd);
        return mpiq_error_create(MPIQ_ERROR_NO_MEMORY, "out of memory");
    }
    object->fd = fd;
    object->seen_ns = mpiq_monotonic_ns();
    object->device = file.st_dev;
    object->inode = file.st_ino;
    object->size = (uint64_t)file.st_size;
    object->modified_ns = (uint64_t)file.st_mtim.tv_sec * 1000000000u + (uint64_t)file.st_mtim.tv_nsec;
    object->elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    const char *reason = read_headers(object);
    if (reason)
        object->error = mpiq_error_create(MPIQ_ERROR_CORRUPT, "%s cannot be used: %s", name, reason);
    object->next = registry;
    registry = object;
    return result(object, ret);
}

struct mpiq_error *mpiq_object_open(const char *path, const char *name, struct mpiq_object **ret)
{
    struct stat file;
    if (stat(path, &file) != 0)
        return mpiq_error_create_os(errno, "cannot find %s", name);
    if (!S_ISREG(file.st_mode)) /* before it is opened: opening a device may do something */
        return mpiq_error_create(MPIQ_ERROR_CORRUPT, "%s is not a regular file", name);
    mpiq_object_lock();
    elf_version(EV_CURRENT);
    struct mpiq_object *object = find(&file);
    struct mpiq_error *error = object ? result(object, ret) : open_new(path, name, ret);
    mpiq_object_unlock();
    return error;
}

struct mpiq_error *mpiq_object_open_checked(const char *path, const char *name,
                                            const struct mpiq_build_id *wanted, struct mpiq_object **ret)
{
    struct mpiq_object *object = NULL;
    struct mpiq_error *error = mpiq_object_open(path, name, &object);
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
    struct mpiq_error *error = mpiq_object_open_checked(path, name, wanted, ret);
    mpiq_error_destroy(error);
    return !error;
}

/* An object out of memory that is the same file: by build-id. */
static struct mpiq_object *find_image(const struct mpiq_object *like)
{
    for (struct mpiq_object *object = registry; object; object = object->next) {
        if (object->image && like->build_id.size && mpiq_build_id_equal(&object->build_id, &like->build_id))
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
        return mpiq_error_create(MPIQ_ERROR_NO_MEMORY, "out of memory");
    }
    object->image = image;
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
        object->debug_fd = mpiq_debug_file_find(object);
        if (object->debug_fd >= 0)
            object->debug_elf = elf_begin(object->debug_fd, ELF_C_READ_MMAP, NULL);
    }
    return object->debug_elf;
}

Dwarf *mpiq_object_dwarf(struct mpiq_object *object)
{
    if (!object->dwarf_tried) {
        object->dwarf_tried = true;
        object->dwarf = dwarf_begin_elf(object->elf, DWARF_C_READ, NULL);
        Elf *debug = object->dwarf ? NULL : mpiq_object_debug_elf(object);
        if (debug)
            object->dwarf = dwarf_begin_elf(debug, DWARF_C_READ, NULL);
    }
    return object->dwarf;
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
