/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * core - a dead process: its core file, and the files that it had mapped.
 *
 * A core seldom holds code and constants that are also in the mapped files.  They are read from there only
 * if the file is the same, according to the build-id in its first page, which the kernel and gcore do write.
 */
#include <errno.h>
#include <stdio.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "process/core_file.h"
#include "process/module.h"
#include "process/module_slots.h"
#include "process/object_dirs.h"
#include "process/unwind.h"

/* The environment begins at most that far before the executable's name. */
static const size_t environment_limit = 1 << 20;

/* A mapped file, opened when first needed. */
struct backing {
    const char *path; /* of the mappings */
    struct mpiq_object *object;
    struct mpiq_error *error;
};

struct core {
    struct mpiq_target target;
    struct mpiq_core_file file;
    char *executable;
    const char *main_path; /* what the core calls the executable, or NULL */
    struct backing *backings;
    size_t backing_count, backing_capacity;
    struct mpiq_modules modules;
    bool modules_read;
    struct mpiq_error *modules_error;
    struct mpiq_unwinder *unwinder;
    struct mpiq_error *unwinder_error;
};

static struct core *core_of(struct mpiq_target *target)
{
    return (struct core *)target;
}

static struct mpiq_error *read_core_only(void *argument, uint64_t address, size_t size, void *buffer)
{
    const struct core *core = argument;
    for (size_t done = 0, got; done < size; done += got) {
        struct mpiq_error *error =
            mpiq_core_file_read(&core->file, address + done, size - done, (char *)buffer + done, &got);
        if (error)
            return error;
        if (!got)
            return mpiq_error_create(MPIQ_ERROR_UNMAPPED, "not in the core file");
    }
    return NULL;
}

/* The build-id that the core has for a mapped file; size 0: it does not hold that page. */
static struct mpiq_build_id wanted_build_id(struct core *core, const char *path)
{
    struct mpiq_build_id wanted = {.size = 0};
    for (size_t i = 0; i < core->file.mappings.count && !wanted.size; i++) {
        const struct mpiq_mapping *mapping = &core->file.mappings.items[i];
        if (mapping->offset == 0 && strcmp(mapping->path, path) == 0)
            mpiq_build_id_read(read_core_only, core, mapping->start, &wanted);
    }
    return wanted;
}

/* A regular file of our own user: only if it has the build-id that the core has, too, is it read. */
static bool is_own_file(const char *path)
{
    struct stat status;
    return path[0] == '/' && lstat(path, &status) == 0 && S_ISREG(status.st_mode) &&
           status.st_uid == geteuid();
}

static struct mpiq_error *is_elsewhere(const char *path, const struct mpiq_build_id *wanted)
{
    char text[2 * MPIQ_BUILD_ID_MAX + 1] = "";
    if (wanted->size)
        mpiq_build_id_text(wanted, text);
    return mpiq_error_create(MPIQ_ERROR_NOT_FOUND,
                             "%s%s%s, which the process had mapped, is not on this machine: if you have it "
                             "elsewhere, name the directory with --objects DIR",
                             path, wanted->size ? ", build-id " : "", text);
}

static struct mpiq_error *is_another(const char *path, const struct mpiq_build_id *wanted)
{
    char text[2 * MPIQ_BUILD_ID_MAX + 1];
    mpiq_build_id_text(wanted, text);
    return mpiq_error_create(
        MPIQ_ERROR_NOT_FOUND,
        "%s is not the file that the process mapped, which had build-id %s: it was built "
        "anew since; if you have the old one elsewhere, name its directory with "
        "--objects DIR",
        path, text);
}

/* Under its own name in one of the user's directories: people move what they ran. */
static bool open_elsewhere(const struct mpiq_build_id *wanted, const char *path, struct mpiq_object **ret)
{
    const char *listed = getenv("MPIQ_OBJECT_DIRS"), *slash = strrchr(path, '/');
    while (listed && slash && *listed) {
        char moved[PATH_MAX];
        size_t length = strcspn(listed, ":");
        snprintf(moved, sizeof moved, "%.*s%s", (int)length, listed, slash);
        struct mpiq_error *error =
            length > 0 ? mpiq_object_open_checked(-1, moved, path, wanted, ret) : mpiq_error_no_memory();
        bool found = !error;
        mpiq_error_destroy(error);
        if (found)
            return true;
        listed += length + (listed[length] == ':');
    }
    return false;
}

static struct mpiq_error *open_backing(struct core *core, const char *path, struct mpiq_object **ret)
{
    struct mpiq_build_id wanted = wanted_build_id(core, path);
    bool is_main = core->executable && core->main_path && strcmp(path, core->main_path) == 0;
    bool own = wanted.size && is_own_file(path);
    if (!is_main && !own && !mpiq_object_dirs_hold(path, core->file.path) &&
        !(core->executable && mpiq_object_dirs_hold(path, core->executable))) {
        if (wanted.size &&
            (mpiq_object_open_by_build_id(&wanted, path, ret) || open_elsewhere(&wanted, path, ret)))
            return NULL;
        if (access(path, F_OK) != 0)
            return is_elsewhere(path, &wanted);
        return mpiq_error_create(
            MPIQ_ERROR_PERMISSION,
            "%s, which the core file names, is in no directory for programs and libraries "
            "and was not opened: name its directory with --objects DIR if you trust it",
            path);
    }
    struct mpiq_error *error = mpiq_object_open_checked(-1, is_main ? core->executable : path,
                                                        is_main ? core->executable : path, &wanted, ret);
    if (error && is_main && mpiq_object_dirs_hold(path, core->file.path)) {
        mpiq_error_destroy(error);
        error = mpiq_object_open_checked(-1, path, path, &wanted, ret);
    }
    /* For a core without first pages (coredump_filter), only the modification time shows that a file was
       rebuilt. */
    if (!error && !wanted.size && (*ret)->modified_ns > core->file.modified_ns) {
        return mpiq_error_create(
            MPIQ_ERROR_NOT_FOUND,
            "%s is newer than the core file, which does not tell the build-id of what was mapped", path);
    }
    if (error && wanted.size &&
        (mpiq_object_open_by_build_id(&wanted, path, ret) || open_elsewhere(&wanted, path, ret))) {
        mpiq_error_destroy(error);
        return NULL;
    }
    if (!error || !wanted.size || error->code != MPIQ_ERROR_NOT_FOUND)
        return error;
    /* It is missing, or was made anew since. */
    bool there = !error->errnum;
    mpiq_error_destroy(error);
    return there ? is_another(is_main ? core->executable : path, &wanted) : is_elsewhere(path, &wanted);
}

static struct mpiq_error *backing_object(struct core *core, const char *path, struct mpiq_object **ret)
{
    for (size_t i = 0; i < core->backing_count; i++) {
        struct backing *known = &core->backings[i];
        if (strcmp(known->path, path) != 0)
            continue;
        if (known->error)
            return mpiq_error_copy(known->error);
        *ret = known->object;
        return NULL;
    }
    if (core->backing_count == core->backing_capacity) {
        size_t capacity = core->backing_capacity ? core->backing_capacity * 2 : 32;
        struct backing *larger = realloc(core->backings, capacity * sizeof *larger);
        if (!larger)
            return mpiq_error_no_memory();
        core->backings = larger;
        core->backing_capacity = capacity;
    }
    struct backing *backing = &core->backings[core->backing_count++];
    *backing = (struct backing){.path = path};
    backing->error = open_backing(core, path, &backing->object);
    if (backing->error)
        return mpiq_error_copy(backing->error);
    *ret = backing->object;
    return NULL;
}

/* For the modules: the same files. */
static struct mpiq_error *open_module(struct mpiq_target *target, const struct mpiq_mapping *mapping,
                                      struct mpiq_object **ret)
{
    return backing_object(core_of(target), mapping->path, ret);
}

/* From the mapped file what the core left out.  Memory that could be written to is not the file's any more.
 */
static struct mpiq_error *read_backing(struct core *core, uint64_t address, size_t size, void *buffer,
                                       size_t *got)
{
    const struct mpiq_core_segment *segment = mpiq_core_segment_at(&core->file, address);
    const struct mpiq_mapping *mapping = mpiq_mappings_at(&core->file.mappings, address);
    if (!segment && !mapping) {
        return mpiq_error_create_address(MPIQ_ERROR_UNMAPPED, address, "the process had no memory at 0x%llx",
                                         (unsigned long long)address);
    }
    if (!mapping || mapping->path[0] != '/' || (segment && segment->writable)) {
        return mpiq_error_create_address(
            MPIQ_ERROR_UNMAPPED, address,
            "memory at 0x%llx was left out of the core file (before the next one: echo 0x3f > "
            "/proc/self/coredump_filter in the job script)",
            (unsigned long long)address);
    }
    struct mpiq_object *object = NULL;
    struct mpiq_error *error = backing_object(core, mapping->path, &object);
    if (error) {
        error->address = address;
        return mpiq_error_prefix(error, "memory at 0x%llx is not in the core file",
                                 (unsigned long long)address);
    }
    if (size > mapping->end - address)
        size = (size_t)(mapping->end - address);
    size_t bytes =
        object ? mpiq_object_bytes(object, mapping->offset + (address - mapping->start), size, buffer) : 0;
    if (!bytes) {
        return mpiq_error_create_address(MPIQ_ERROR_UNMAPPED, address,
                                         "memory at 0x%llx is beyond the end of %s",
                                         (unsigned long long)address, mapping->path);
    }
    *got = bytes;
    return NULL;
}

static struct mpiq_error *core_read(struct mpiq_target *target, uint64_t address, size_t size, void *buffer)
{
    struct core *core = core_of(target);
    size_t done = 0;
    while (done < size) {
        size_t got = 0;
        struct mpiq_error *error =
            mpiq_core_file_read(&core->file, address + done, size - done, (char *)buffer + done, &got);
        if (!error && !got)
            error = read_backing(core, address + done, size - done, (char *)buffer + done, &got);
        if (error) {
            if (done && error->code == MPIQ_ERROR_UNMAPPED)
                error->code = MPIQ_ERROR_SHORT;
            return error;
        }
        done += got;
    }
    return NULL;
}

static struct mpiq_error *need_modules(struct core *core)
{
    if (!core->modules_read) {
        core->modules_read = true;
        /* The paths stay the core's. */
        struct mpiq_mappings mappings = {.items =
                                             calloc(core->file.mappings.count + 1, sizeof *mappings.items),
                                         .count = core->file.mappings.count};
        if (!mappings.items) {
            core->modules_error = mpiq_error_no_memory();
            return mpiq_error_no_memory();
        }
        memcpy(mappings.items, core->file.mappings.items, mappings.count * sizeof *mappings.items);
        core->modules_error = mpiq_modules_init(&core->modules, &core->target, 0, open_module, &mappings,
                                                core->file.auxv, core->file.auxv_size);
    }
    return core->modules_error ? mpiq_error_copy(core->modules_error) : NULL;
}

static struct mpiq_error *core_modules(struct mpiq_target *target, struct mpiq_modules **ret)
{
    *ret = &core_of(target)->modules;
    return need_modules(core_of(target));
}

static struct mpiq_error *core_status(struct mpiq_target *target, struct mpiq_target_status *ret)
{
    const struct core *core = core_of(target);
    struct mpiq_target_status status = {.pid = core->file.pid,
                                        .state = '?',
                                        .core = true,
                                        .uid = core->file.uid,
                                        .end = core->file.end,
                                        .io_bytes = -1};
    /* The kernel writes the whole process's times for the first of its threads. */
    for (size_t i = 0; i < core->file.thread_count; i++) {
        if (core->file.threads[i].tid == core->file.pid)
            status.cpu_ns = core->file.threads[i].cpu_ns;
    }
    snprintf(status.executable, sizeof status.executable, "%s",
             core->executable  ? core->executable
             : core->main_path ? core->main_path
                               : "");
    *ret = status;
    return NULL;
}

/* The system call that a thread slept in: x86-64 keeps its number beside its result, which is then one of the
   kernel's own codes for calls that begin again, or EINTR.  -1: in none, or not known. */
static int32_t slept_in(const struct core *core, const struct mpiq_core_thread *thread)
{
    enum { RESULT = 80, NUMBER = 120, AGAIN_FIRST = 512, AGAIN_LAST = 516 };
    if (core->file.machine != EM_X86_64)
        return -1;
    int64_t result = (int64_t)mpiq_register_at(&thread->registers, &core->file.words, RESULT);
    int64_t number = (int64_t)mpiq_register_at(&thread->registers, &core->file.words, NUMBER);
    bool ended = result == -EINTR || (result <= -AGAIN_FIRST && result >= -AGAIN_LAST);
    return ended && number >= 0 && number <= INT32_MAX ? (int32_t)number : -1;
}

static struct mpiq_error *core_threads(struct mpiq_target *target, struct mpiq_target_thread **ret,
                                       size_t *count)
{
    const struct core *core = core_of(target);
    struct mpiq_target_thread *threads = calloc(core->file.thread_count, sizeof *threads);
    if (!threads)
        return mpiq_error_no_memory();
    for (size_t i = 0; i < core->file.thread_count; i++) {
        threads[i].tid = core->file.threads[i].tid;
        threads[i].system_call = slept_in(core, &core->file.threads[i]);
        threads[i].state = threads[i].system_call >= 0 ? 'S' : '?';
        threads[i].cpu_ns = core->file.threads[i].cpu_ns;
        if (threads[i].tid == core->file.pid)
            memcpy(threads[i].name, core->file.name, sizeof threads[i].name);
    }
    *ret = threads;
    *count = core->file.thread_count;
    return NULL;
}

static struct mpiq_error *core_stack(struct mpiq_target *target, pid_t tid, struct mpiq_target_stack *ret)
{
    struct core *core = core_of(target);
    const struct mpiq_core_thread *thread = NULL;
    for (size_t i = 0; i < core->file.thread_count; i++) {
        if (core->file.threads[i].tid == tid)
            thread = &core->file.threads[i];
    }
    if (!thread)
        return mpiq_error_create(MPIQ_ERROR_NOT_FOUND, "%s has no thread %d", core->file.path, (int)tid);
    struct mpiq_error *error = need_modules(core);
    if (!error && !core->unwinder && !core->unwinder_error)
        core->unwinder_error = mpiq_unwinder_create(&core->modules, &core->unwinder);
    if (!error && core->unwinder_error)
        error = mpiq_error_copy(core->unwinder_error);
    if (error)
        return error;
    /* Of the core itself: what it has mapped may claim to be of another machine. */
    const struct mpiq_register_layout *layout = mpiq_register_layout(core->file.machine);
    if (!layout)
        return mpiq_error_create(MPIQ_ERROR_UNSUPPORTED,
                                 "stacks of this architecture (ELF machine %u) cannot be unwound",
                                 core->file.machine);
    struct mpiq_thread_copy copy = {
        .tid = tid, .registers = thread->registers, .stack = malloc(MPIQ_STACK_COPY)};
    if (!copy.stack)
        return mpiq_error_no_memory();
    copy.stack_start = mpiq_register_at(&copy.registers, &core->file.words, layout->sp);
    error = mpiq_core_file_read(&core->file, copy.stack_start, MPIQ_STACK_COPY, copy.stack, &copy.stack_size);
    mpiq_error_destroy(error); /* an incomplete core shows its registers at least */
    error = mpiq_unwind(core->unwinder, &copy, ret);
    mpiq_thread_copy_deinit(&copy);
    return error;
}

/* The kernel puts the environment's strings right before the executable's name (AT_EXECFN): the search goes
   backwards through them. */
static struct mpiq_error *core_environment(struct mpiq_target *target, const char *name, char **ret)
{
    struct core *core = core_of(target);
    uint64_t end;
    const struct mpiq_core_segment *segment =
        mpiq_auxv_find(&core->file.words, core->file.auxv, core->file.auxv_size, AT_EXECFN, &end)
            ? mpiq_core_segment_at(&core->file, end)
            : NULL;
    if (!segment)
        return mpiq_error_create(MPIQ_ERROR_NOT_FOUND, "%s does not hold the environment", core->file.path);
    size_t size =
        end - segment->start < environment_limit ? (size_t)(end - segment->start) : environment_limit;
    _cleanup_free_ char *text = malloc(size + 1);
    if (!text)
        return mpiq_error_no_memory();
    text[0] = '\0'; /* nothing before it belongs to it */
    struct mpiq_error *error = mpiq_target_read(target, end - size, size, text + 1);
    if (error)
        return error;                          // cppcheck-suppress memleak
    size_t length = strlen(name), last = size; /* text[last] ends the string that is looked at */
    while (last > 0 && text[last] == '\0') {
        size_t first = last;
        while (text[first - 1])
            first--;
        if (!strchr(text + first, '='))
            break; /* an argument, or what lies before them */
        if (strncmp(text + first, name, length) == 0 && text[first + length] == '=') {
            *ret = strdup(text + first + length + 1);
            return *ret ? NULL : mpiq_error_no_memory();
        }
        last = first - 1;
    }
    return mpiq_error_create(MPIQ_ERROR_NOT_FOUND, "%s is not in the environment of process %d", name,
                             (int)core->file.pid);
}

static struct mpiq_error *core_missing_file(struct mpiq_target *target)
{
    struct core *core = core_of(target);
    const struct backing *first = NULL;
    for (size_t i = 0; i < core->backing_count; i++) {
        const struct backing *backing = &core->backings[i];
        bool is_main = core->main_path && strcmp(backing->path, core->main_path) == 0;
        bool has_code = is_main || wanted_build_id(core, backing->path).size > 0;
        if (backing->error && has_code && (!first || is_main))
            first = backing;
    }
    return first ? mpiq_error_copy(first->error) : NULL;
}

static void core_destroy(struct mpiq_target *target)
{
    struct core *core = core_of(target);
    mpiq_unwinder_destroy(core->unwinder);
    mpiq_error_destroy(core->unwinder_error);
    mpiq_error_destroy(core->modules_error);
    mpiq_modules_deinit(&core->modules);
    for (size_t i = 0; i < core->backing_count; i++)
        mpiq_error_destroy(core->backings[i].error);
    free(core->backings);
    free(core->executable);
    mpiq_core_file_close(&core->file);
    free(core);
}

static const struct mpiq_target_ops core_ops = {
    .kind = "core",
    .read = core_read,
    MPIQ_MODULE_SLOTS,
    .modules = core_modules,
    .status = core_status,
    .threads = core_threads,
    .stack = core_stack,
    .environment = core_environment,
    .missing_file = core_missing_file,
    .destroy = core_destroy,
};

struct mpiq_error *mpiq_target_core_create(const char *path, const char *executable, struct mpiq_target **ret)
{
    struct core *core = calloc(1, sizeof *core);
    if (!core)
        return mpiq_error_no_memory();
    struct mpiq_error *error = mpiq_core_file_open(path, &core->file);
    if (error) {
        free(core);
        return error;
    }
    core->target.ops = &core_ops;
    if (executable && !(core->executable = strdup(executable))) {
        core_destroy(&core->target);
        return mpiq_error_no_memory();
    }
    uint64_t entry;
    if (mpiq_auxv_find(&core->file.words, core->file.auxv, core->file.auxv_size, AT_PHDR, &entry)) {
        const struct mpiq_mapping *mapping = mpiq_mappings_at(&core->file.mappings, entry);
        core->main_path = mapping ? mapping->path : NULL;
    }
    *ret = &core->target;
    return NULL;
}
