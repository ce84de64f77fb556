/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * module - a process's loaded objects in link-map order, and where each begins.
 *
 * Works for any process whose memory can be read through its target and whose mappings are known (live and
 * core).  The order comes from the dynamic linker's own list (DT_DEBUG, r_debug), which a symbol search must
 * follow; if there is none (static, not started yet, list damaged) the executable comes first, then the
 * others by address.
 *
 * An object is opened when it is first needed, and only if it is what the process mapped: its build-id is
 * compared with the one in memory.  A file that was replaced or deleted since is read from
 * /proc/PID/map_files, /proc/PID/exe or, as a last resort, from the process's memory.
 */
#ifndef MPIQ_MODULE_H
#define MPIQ_MODULE_H

#include "process/link_map.h"
#include "process/object.h"
#include "process/mappings.h"
#include "process/target.h"

struct mpiq_module {
    uint64_t start;                     /* of the mapping that holds the file's beginning */
    uint64_t end;                       /* after the last mapping of the file that belongs here */
    uint64_t bias;                      /* what to add to the object's own addresses */
    const struct mpiq_mapping *mapping; /* the first one; of the list's mappings */
    struct mpiq_object *object;         /* NULL until opened */
    struct mpiq_error *error;           /* why it could not be; tried once */
    bool main;                          /* the executable */
};

/* Opens the file of a mapping, in place of what is done for a live process. */
typedef struct mpiq_error *mpiq_module_opener(struct mpiq_target *target, const struct mpiq_mapping *mapping,
                                              struct mpiq_object **ret);

struct mpiq_modules {
    struct mpiq_target *target; /* reads memory */
    pid_t pid;                  /* of a process of this machine, or 0 */
    mpiq_module_opener *open;   /* instead of the files of process pid, or NULL */
    bool root_known;
    int root;                      /* where the paths of process pid begin (file_map.h), once that is known */
    struct mpiq_mappings mappings; /* those of the modules, in their order */
    struct mpiq_module *items;     /* in link-map order */
    size_t count;
    struct mpiq_module **by_address;
    struct mpiq_link *links; /* the dynamic linker's list, or NULL: the order is that of addresses */
    size_t link_count;
    uint64_t phdr, phnum; /* AT_PHDR, AT_PHNUM */
    int word_size;
    bool big_endian;
    unsigned machine;
};

/* Finds the modules.  mappings is taken over; open may be NULL for a live process.  auxv is the process's
   auxiliary vector as raw bytes in its own word size and order, or NULL. */
struct mpiq_error *mpiq_modules_init(struct mpiq_modules *modules, struct mpiq_target *target, pid_t pid,
                                     mpiq_module_opener *open, struct mpiq_mappings *mappings,
                                     const void *auxv, size_t auxv_size);
void mpiq_modules_deinit(struct mpiq_modules *modules);

/* Whether the dynamic linker's list is still the one that these modules were made from. */
bool mpiq_modules_current(const struct mpiq_modules *modules);

/* The module whose mappings hold address, or NULL. */
struct mpiq_module *mpiq_modules_at(struct mpiq_modules *modules, uint64_t address);

/* Its object, opened now if need be; NULL if that failed: module->error says why. */
struct mpiq_object *mpiq_module_object(struct mpiq_modules *modules, struct mpiq_module *module);

/* What the target's slots of the same name promise. */
struct mpiq_error *mpiq_modules_find_symbol(struct mpiq_modules *modules, const char *name, uint64_t *ret);
struct mpiq_error *mpiq_modules_find_type(struct mpiq_modules *modules, const char *name,
                                          const struct mpiq_target_type **ret);
struct mpiq_error *mpiq_modules_file_at(struct mpiq_modules *modules, uint64_t address, char **ret);
struct mpiq_error *mpiq_modules_sizes(const struct mpiq_modules *modules, struct mpiq_target_sizes *ret);

#endif
