/* SPDX-License-Identifier: BSD-3-Clause */
#include "process/module.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/debug.h"
#include "process/image.h"
#include "process/link_map.h"

/* The vdso has two pages or four. */
static const size_t vdso_limit = 1 << 20;

static bool same_file(const struct mpiq_mapping *a, const struct mpiq_mapping *b)
{
    return a->inode == b->inode && a->device == b->device && strcmp(a->path, b->path) == 0;
}

static bool is_file(const struct mpiq_mapping *mapping)
{
    return mapping->path[0] == '/';
}

static bool is_vdso(const struct mpiq_mapping *mapping)
{
    return strcmp(mapping->path, "[vdso]") == 0;
}

/* Fills in a module from any mapping of its file: the one that holds the file's beginning, and its end. */
static void frame_module(const struct mpiq_modules *modules, const struct mpiq_mapping *inside,
                         struct mpiq_module *module)
{
    const struct mpiq_mapping *items = modules->mappings.items, *first = inside, *last = inside;
    const struct mpiq_mapping *end = items + modules->mappings.count;
    /* Other mappings may lie between those of one object (its bss, another's in a gap). */
    for (const struct mpiq_mapping *at = inside; first->offset && at > items && inside - at < 16; at--) {
        if (same_file(at - 1, inside) && at[-1].offset <= first->offset)
            first = at - 1;
    }
    for (const struct mpiq_mapping *at = last + 1; at < end && same_file(at, inside) && at->offset; at++)
        last = at;
    module->mapping = first;
    module->start = first->start;
    module->end = last->end;
}

/* Word size and byte order, from the first ELF header in memory. */
static struct mpiq_error *find_words(struct mpiq_modules *modules)
{
    struct mpiq_error *first_error = NULL;
    for (size_t i = 0; i < modules->mappings.count; i++) {
        unsigned char header[20];
        const struct mpiq_mapping *mapping = &modules->mappings.items[i];
        if (mapping->offset || (!is_file(mapping) && !is_vdso(mapping)))
            continue;
        struct mpiq_error *error = mpiq_target_read(modules->target, mapping->start, sizeof header, header);
        if (error) {
            if (first_error)
                mpiq_error_destroy(error);
            else
                first_error = error;
            continue;
        }
        if (memcmp(header, ELFMAG, SELFMAG) != 0)
            continue;
        modules->word_size = header[EI_CLASS] == ELFCLASS32 ? 4 : 8;
        modules->big_endian = header[EI_DATA] == ELFDATA2MSB;
        struct mpiq_words words = {.size = modules->word_size, .big_endian = modules->big_endian};
        modules->machine = (unsigned)mpiq_word_sized(&words, header + 18, 2);
        mpiq_error_destroy(first_error);
        return NULL;
    }
    if (first_error)
        return first_error;
    return mpiq_error_create(MPIQ_ERROR_NOT_FOUND,
                             "no executable is mapped (a kernel thread, or a process that ended)");
}

static struct mpiq_words words_of(const struct mpiq_modules *modules)
{
    return (struct mpiq_words){.size = modules->word_size, .big_endian = modules->big_endian};
}

static struct mpiq_error *from_links(struct mpiq_modules *modules)
{
    struct mpiq_words words = words_of(modules);
    _cleanup_free_ struct mpiq_link *links = NULL;
    size_t count = 0;
    struct mpiq_error *error =
        mpiq_link_map_read(modules->target, &words, modules->phdr, modules->phnum, &links, &count);
    if (error)
        return error;
    modules->items = calloc(count, sizeof *modules->items);
    if (!modules->items)
        return mpiq_error_no_memory();
    for (size_t i = 0; i < count; i++) {
        const struct mpiq_mapping *inside = mpiq_mappings_at(&modules->mappings, links[i].dynamic);
        if (!inside || (!is_file(inside) && !is_vdso(inside)))
            continue;
        struct mpiq_module *module = &modules->items[modules->count++];
        frame_module(modules, inside, module);
        module->bias = links[i].bias;
        module->main = i == 0;
    }
    if (!modules->count) {
        free(mpiq_steal(modules->items));
        return mpiq_error_create(MPIQ_ERROR_CORRUPT, "the dynamic linker's list names no mapped object");
    }
    modules->links = mpiq_steal(links);
    modules->link_count = count;
    return NULL;
}

bool mpiq_modules_current(const struct mpiq_modules *modules)
{
    struct mpiq_words words = words_of(modules);
    return modules->links &&
           mpiq_link_is_last(modules->target, &words, &modules->links[modules->link_count - 1]);
}

static int main_first(const void *a, const void *b)
{
    const struct mpiq_module *left = a, *right = b;
    if (left->main != right->main)
        return left->main ? -1 : 1;
    return left->start < right->start ? -1 : left->start > right->start;
}

/* Without the linker's list: every ELF file that is mapped from its beginning. */
static struct mpiq_error *from_mappings(struct mpiq_modules *modules)
{
    uint64_t phdr = modules->phdr;
    size_t capacity = 0;
    for (size_t i = 0; i < modules->mappings.count; i++) {
        const struct mpiq_mapping *mapping = &modules->mappings.items[i];
        unsigned char magic[SELFMAG];
        if (mapping->offset || (!is_file(mapping) && !is_vdso(mapping)))
            continue;
        /* The executable is listed even if nothing of it can be read: then its absence has a reason. */
        bool holds_phdr = phdr >= mapping->start && phdr < mapping->end;
        struct mpiq_error *error = mpiq_target_read(modules->target, mapping->start, sizeof magic, magic);
        bool is_elf = !error && memcmp(magic, ELFMAG, SELFMAG) == 0;
        mpiq_error_destroy(error);
        if (!is_elf && !holds_phdr)
            continue;
        if (modules->count == capacity) {
            capacity = capacity ? capacity * 2 : 32;
            struct mpiq_module *larger = realloc(modules->items, capacity * sizeof *larger);
            if (!larger)
                return mpiq_error_no_memory();
            modules->items = larger;
        }
        struct mpiq_module *module = &modules->items[modules->count++];
        *module = (struct mpiq_module){0};
        frame_module(modules, mapping, module);
        struct mpiq_object *object = mpiq_module_object(modules, module);
        module->bias = module->start - (object ? object->first : 0);
        module->main = phdr >= module->start && phdr < module->end;
    }
    if (modules->count)
        qsort(modules->items, modules->count, sizeof *modules->items, main_first);
    return NULL;
}

static int by_start(const void *a, const void *b)
{
    const struct mpiq_module *left = *(struct mpiq_module *const *)a,
                             *right = *(struct mpiq_module *const *)b;
    return left->start < right->start ? -1 : left->start > right->start;
}

/* Of all mappings only those that modules begin with: a process has hundreds, and a look hundreds of
 * processes. */
static struct mpiq_error *keep_mappings(struct mpiq_modules *modules)
{
    size_t size = 1;
    for (size_t i = 0; i < modules->count; i++)
        size += strlen(modules->items[i].mapping->path) + 1;
    struct mpiq_mappings kept = {.items = calloc(modules->count + 1, sizeof *kept.items),
                                 .text = malloc(size)};
    if (!kept.items || !kept.text) {
        mpiq_mappings_deinit(&kept);
        return mpiq_error_no_memory();
    }
    char *path = kept.text;
    for (size_t i = 0; i < modules->count; i++) {
        kept.items[i] = *modules->items[i].mapping;
        size_t length = strlen(kept.items[i].path) + 1;
        kept.items[i].path = memcpy(path, kept.items[i].path, length);
        path += length;
        modules->items[i].mapping = &kept.items[i];
    }
    kept.count = modules->count;
    mpiq_mappings_deinit(&modules->mappings);
    modules->mappings = kept;
    return NULL;
}

struct mpiq_error *mpiq_modules_init(struct mpiq_modules *ret, struct mpiq_target *target, pid_t pid,
                                     mpiq_module_opener *open, struct mpiq_mappings *mappings,
                                     const void *auxv, size_t auxv_size)
{
    struct mpiq_modules modules = {.target = target, .pid = pid, .open = open, .mappings = *mappings};
    *mappings = (struct mpiq_mappings){0};
    struct mpiq_error *error = find_words(&modules);
    if (error) {
        mpiq_modules_deinit(&modules);
        return error;
    }
    struct mpiq_words words = words_of(&modules);
    if (mpiq_auxv_find(&words, auxv, auxv_size, AT_PHDR, &modules.phdr) &&
        mpiq_auxv_find(&words, auxv, auxv_size, AT_PHNUM, &modules.phnum))
        error = from_links(&modules);
    if (error || !modules.count) {
        if (error)
            mpiq_debug("target", "modules in the order of addresses: %s", error->message);
        mpiq_error_destroy(error);
        error = from_mappings(&modules);
    }
    if (!error)
        error = keep_mappings(&modules);
    if (!error && modules.count) {
        modules.by_address = calloc(modules.count, sizeof *modules.by_address); /* NOLINT */
        if (!modules.by_address)
            error = mpiq_error_no_memory();
    }
    if (error) {
        mpiq_modules_deinit(&modules);
        return error;
    }
    for (size_t i = 0; i < modules.count && modules.by_address; i++)
        modules.by_address[i] = &modules.items[i];
    if (modules.by_address)
        qsort(modules.by_address, modules.count, sizeof *modules.by_address, by_start); /* NOLINT */
    *ret = modules;
    return NULL;
}

void mpiq_modules_deinit(struct mpiq_modules *modules)
{
    if (modules->root_known && modules->root >= 0)
        close(modules->root);
    for (size_t i = 0; i < modules->count; i++)
        mpiq_error_destroy(modules->items[i].error);
    free(modules->items);
    free(modules->by_address);
    free(modules->links);
    mpiq_mappings_deinit(&modules->mappings);
    *modules = (struct mpiq_modules){0};
}

struct mpiq_module *mpiq_modules_at(struct mpiq_modules *modules, uint64_t address)
{
    size_t low = 0, high = modules->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (modules->by_address[middle]->start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low && address < modules->by_address[low - 1]->end ? modules->by_address[low - 1] : NULL;
}

static struct mpiq_error *read_memory(void *argument, uint64_t address, size_t size, void *buffer)
{
    return mpiq_target_read(argument, address, size, buffer);
}

/* Opens path and keeps it if it is the file that the process mapped.  certain: nothing else can be there. */
static bool try_path(struct mpiq_modules *modules, struct mpiq_module *module, int root, const char *path,
                     const struct mpiq_build_id *wanted, bool certain)
{
    static const struct mpiq_build_id any = {.size = 0};
    struct mpiq_object *object = NULL;
    struct mpiq_error *error =
        mpiq_object_open_checked(root, path, module->mapping->path, certain ? &any : wanted, &object);
    if (!error && !certain && !wanted->size && object->inode != module->mapping->inode) {
        error = mpiq_error_create(MPIQ_ERROR_NOT_FOUND,
                                  "%s is not the file that process %d mapped: it has been replaced since",
                                  module->mapping->path, (int)modules->pid);
    }
    if (!error) {
        module->object = object;
        mpiq_error_destroy(mpiq_steal(module->error));
        return true;
    }
    if (module->error)
        mpiq_error_destroy(error); /* the first one says most */
    else
        module->error = error;
    return false;
}

static void open_vdso(struct mpiq_modules *modules, struct mpiq_module *module)
{
    size_t size = module->end - module->start;
    void *image = size <= vdso_limit ? malloc(size) : NULL;
    if (!image) {
        module->error = mpiq_error_no_memory();
        return;
    }
    module->error = mpiq_target_read(modules->target, module->start, size, image);
    if (module->error)
        free(image);
    else
        module->error = mpiq_object_from_image(image, size, "[vdso]", &module->object);
}

/* A descriptor of the process's root directory if it sees other mounts than we do; else -1: the kernel spells
   paths of mappings as we see them, those of a process in a chroot, too. */
static int foreign_root(struct mpiq_modules *modules)
{
    char path[64];
    struct stat its, ours;
    if (modules->root_known)
        return modules->root;
    modules->root_known = true;
    modules->root = -1;
    snprintf(path, sizeof path, "/proc/%d/ns/mnt", (int)modules->pid);
    if (stat(path, &its) == 0 && stat("/proc/self/ns/mnt", &ours) == 0 && its.st_ino == ours.st_ino)
        return -1;
    snprintf(path, sizeof path, "/proc/%d/root", (int)modules->pid);
    return modules->root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static void open_file(struct mpiq_modules *modules, struct mpiq_module *module)
{
    const struct mpiq_mapping *mapping = module->mapping;
    struct mpiq_build_id wanted = {.size = 0};
    /* In a container its path leads elsewhere from here: there it is looked up beneath the process's own
     * root. */
    int root = foreign_root(modules);
    module->object =
        mapping->deleted ? NULL : mpiq_object_mapped(root, mapping->device, mapping->inode, mapping->path);
    if (module->object)
        return;
    bool known = mpiq_build_id_read(read_memory, modules->target, module->start, &wanted);
    if (!mapping->deleted && root < 0 && try_path(modules, module, -1, mapping->path, &wanted, false))
        return;
    if (!mapping->deleted && root >= 0 && try_path(modules, module, root, mapping->path, &wanted, !known))
        return;
    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "/proc/%d/map_files/%llx-%llx", (int)modules->pid,
             (unsigned long long)mapping->start, (unsigned long long)mapping->end);
    if (try_path(modules, module, -1, path, &wanted, true))
        return;
    if (module->main) {
        snprintf(path, sizeof path, "/proc/%d/exe", (int)modules->pid);
        if (try_path(modules, module, -1, path, &wanted, true))
            return;
    }
    /* Last: what is loaded of it. */
    struct mpiq_words words = words_of(modules);
    void *image;
    size_t size;
    struct mpiq_error *error = mpiq_image_read(modules->target, &words, module->start, &image, &size);
    if (!error)
        error = mpiq_object_from_image(image, size, mapping->path, &module->object);
    if (!error)
        mpiq_error_destroy(mpiq_steal(module->error));
    mpiq_error_destroy(error); /* the reason kept is why the file cannot be had */
}

struct mpiq_object *mpiq_module_object(struct mpiq_modules *modules, struct mpiq_module *module)
{
    if (module->object || module->error)
        return module->object;
    if (is_vdso(module->mapping))
        open_vdso(modules, module);
    else if (modules->open)
        module->error = modules->open(modules->target, module->mapping, &module->object);
    else
        open_file(modules, module);
    if (!module->object && !module->error)
        module->error = mpiq_error_create(MPIQ_ERROR_NOT_FOUND, "%s was deleted", module->mapping->path);
    if (module->error)
        mpiq_debug("target", "%s", module->error->message);
    return module->object;
}
