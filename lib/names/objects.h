/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * objects - whose a loaded object is: the user's, the MPI library's, a part of it, the system's.
 *
 * Decided by what the objects of one process define and load, never by a part of a file's name.  An MPI
 * library defines MPI's functions under both of their names, in C or in Fortran's spelling.  Its parts are
 * what it loads: the objects that it needs, its components, and what those need.  All else is the user's.
 *
 * It leaves to others: reading objects (lib/process), and what follows from the answer.
 */
#ifndef MPIQ_NAMES_OBJECTS_H
#define MPIQ_NAMES_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* X(identifier, word in JSON) */
#define MPIQ_OWNERS(X)                                                                            \
    X(UNKNOWN, "unknown")                                                                         \
    X(USER, "user")       /* of the program's, or of a tool's */                                  \
    X(PROGRAM, "program") /* the executable, also one that an MPI library is linked into */       \
    X(MPI, "mpi")         /* defines MPI's functions, or is a language's layer above one */       \
    X(PART, "mpi-part")   /* loaded by an MPI library, and by nobody else */                      \
    X(SHARED, "shared")   /* loaded by an MPI library, but its threads may run the user's code */ \
    X(SYSTEM, "system")   /* the C library and the like: in everybody's stacks */                 \
    X(RECORDER, "recorder")

enum mpiq_object_owner {
#define MPIQ_ENUM(id, word) MPIQ_OWNER_##id,
    MPIQ_OWNERS(MPIQ_ENUM)
#undef MPIQ_ENUM
};

/* The symbols that tell what an object is: struct mpiq_loaded_object.defines has bit i for number i. */
#define MPIQ_TELLING_SYMBOLS 16
extern const char *const mpiq_telling_symbols[MPIQ_TELLING_SYMBOLS];

/* One object of a process. */
struct mpiq_loaded_object {
    const char *path;         /* as stacks call it */
    const char *soname;       /* NULL: none */
    const char *const *needs; /* sonames of what it loads (DT_NEEDED) */
    size_t need_count;
    uint32_t defines; /* bits of mpiq_telling_symbols */
    bool program;     /* the executable */
    bool unread;      /* its file could not be read: only its path is known */
};

/* Whose each of the objects of one process is: owners[count] is filled.  False without memory. */
bool mpiq_tell_owners(const struct mpiq_loaded_object *objects, size_t count, uint8_t *owners);

/* Whose an object is if nothing but its path is known (a core without its files, gdb, an old snapshot): by
   its whole name, as the releases of MPI libraries and their parts have it. */
enum mpiq_object_owner mpiq_owner_by_file(const char *path);

/* Whether a Python source file is of an installed package or of the standard library, and not the user's own.
 */
bool mpiq_is_package_file(const char *path);

/* Whether a program or library is a Python interpreter. */
bool mpiq_is_python(const char *path);

/* Whether a frame of that function in that object (NULL: not known) is of CPython's interpreter: of its
   library or executable, or, where a program has it inside, of its main function.  That one alone does not
   do: compilers split it, and the parts have no names. */
bool mpiq_is_interpreter(const char *function, const char *object);

/* Whether a process that has these mappings (the text of /proc/PID/maps) has an MPI library among them, by
   whole names. */
bool mpiq_maps_mpi(const char *maps);

/* The base name of an object up to ".so" and without a version before it: "libmpi" of
   /usr/lib/libmpi.so.40.30.4, "libc" of libc-2.31.so.  At most size - 1 bytes go to buffer; returns it. */
const char *mpiq_object_stem(const char *path, char *buffer, size_t size);

/* Whether a stack frame of an object with that owner may be the user's own code. */
static inline bool mpiq_owner_is_user(uint8_t owner)
{
    return owner == MPIQ_OWNER_USER || owner == MPIQ_OWNER_PROGRAM || owner == MPIQ_OWNER_UNKNOWN;
}

#endif
