/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * object - one ELF file that processes map: its identity, symbols, types, lines.
 *
 * Objects live in one registry for the whole program, so that sixty-four ranks of one executable are parsed
 * once.  Two files are the same only if device, inode, size and modification time are equal, and also path
 * and root directory: these determine where debug information is searched for, and no process may choose
 * that for another.  The build-id tells whether the file at a path is the one the process mapped (module.c).
 * The process controls its build-id, so equal build-ids alone never make two objects one.  Failures are
 * remembered like successes.
 *
 * Addresses here are the file's own (as in its program headers); a process adds its bias.
 *
 * Threads: libelf, libdwarf and libdw are not thread-safe, so all code that uses an object's contents holds
 * one recursive lock, mpiq_object_lock.  Functions marked "locked" expect the caller to hold it; the others
 * take it themselves.  What they return (names, types) may be read without the lock and stays valid until
 * mpiq_object_clear.
 */
#ifndef MPIQ_OBJECT_H
#define MPIQ_OBJECT_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "process/build_id.h"

struct mpiq_debug_info;
struct mpiq_file_map;

/* What those who read an object learn and keep with it. */
enum mpiq_object_part {
    MPIQ_OBJECT_SYMBOLS,
    MPIQ_OBJECT_TYPES,
    MPIQ_OBJECT_LINES,
    MPIQ_OBJECT_CALLS,
    MPIQ_OBJECT_NEEDS,
    MPIQ_OBJECT_PARTS
};

struct mpiq_object {
    struct mpiq_object *next; /* in the registry */
    uint64_t id;              /* no other object has the same, also after mpiq_object_clear */
    char *path;
    /* With path and root_id what identifies the file; all 0 but the size for one out of memory. */
    uint64_t device, inode, size, modified_ns;
    struct mpiq_root_id {
        uint64_t mount, inode; /* both 0: our own root */
    } root_id;
    int64_t seen_ns;          /* CLOCK_MONOTONIC when the file was last looked at */
    struct mpiq_error *error; /* not NULL: it could not be opened, and nothing below is set */

    struct mpiq_build_id build_id;
    int word_size; /* 4 or 8 */
    bool big_endian;
    unsigned machine; /* EM_… */
    uint64_t first;   /* lowest mapped address, rounded down to a page */
    uint64_t end;     /* highest, rounded up */

    /* Private to object.c and those who read its insides: symbols.c, types.c, lines.c. */
    int root;    /* what its paths begin at (file_map.h) */
    void *image; /* of an object out of memory */
    struct mpiq_file_map *map;
    Elf *elf;
    struct mpiq_file_map *debug_map;
    Elf *debug_elf; /* separate debug file, or NULL */
    char *debug_path;
    struct mpiq_debug_info *debug_info;
    bool debug_tried, debug_info_tried, own_dwarf_tried, has_own_dwarf;
    struct {
        void *memory;
        void (*deinit)(void *memory);
    } parts[MPIQ_OBJECT_PARTS];
};

void mpiq_object_lock(void);
void mpiq_object_unlock(void);

/* The object of the file at path, which people know as name.  Errors: NOT_FOUND, PERMISSION, CORRUPT (no ELF
   file), remembered.  The object belongs to the registry. */
struct mpiq_error *mpiq_object_open(const char *path, const char *name, struct mpiq_object **ret);

/* The same with a descriptor of the directory that the path and all links on the way begin at; -1: ours. */
struct mpiq_error *mpiq_object_open_in(int root, const char *path, const char *name,
                                       struct mpiq_object **ret);

/* The object of a file that is mapped, by what the kernel says of the mapping, if it was opened at that path
   beneath that root (as above) and found unchanged a moment ago; else NULL. */
struct mpiq_object *mpiq_object_mapped(int root, uint64_t device, uint64_t inode, const char *path);

/* As mpiq_object_open_in, but NOT_FOUND, with both build-ids, unless the file has the wanted one.
 * wanted->size 0: any. */
struct mpiq_error *mpiq_object_open_checked(int root, const char *path, const char *name,
                                            const struct mpiq_build_id *wanted, struct mpiq_object **ret);

/* From where distributions file executables and libraries by build-id; false if it is not there. */
bool mpiq_object_open_by_build_id(const struct mpiq_build_id *wanted, const char *name,
                                  struct mpiq_object **ret);

/* An object whose file is out of reach, from size bytes of image as the file has them (the vdso, a deleted
   library); image is taken over, also on failure.  One for every different image. */
struct mpiq_error *mpiq_object_from_image(void *image, size_t size, const char *name,
                                          struct mpiq_object **ret);

/* Whether the object's own file has DWARF, so that no other file need be found and decompressed. */
bool mpiq_object_has_own_dwarf(struct mpiq_object *object);

/* The object's debug information, from itself or its separate debug file (found by build-id or debuglink);
   NULL if there is none.  Locked. */
struct mpiq_debug_info *mpiq_object_debug_info(struct mpiq_object *object);

/* The ELF file with the full symbol table: the separate debug file, or NULL if there is none.  Locked. */
Elf *mpiq_object_debug_elf(struct mpiq_object *object);

/* Memory that lives as long as the object: size bytes, all zero when a part is first asked for.  deinit is
   called before it is freed.  NULL without memory.  Locked. */
void *mpiq_object_part(struct mpiq_object *object, enum mpiq_object_part part, size_t size,
                       void (*deinit)(void *memory));

/* Copies at most size bytes of the object's file at offset; how many there are. */
size_t mpiq_object_bytes(const struct mpiq_object *object, uint64_t offset, size_t size, void *buffer);

/* Frees all objects: only when no target is left. */
void mpiq_object_clear(void);

#endif
