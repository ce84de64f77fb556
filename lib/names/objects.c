/* SPDX-License-Identifier: BSD-3-Clause */
#include "names/objects.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/name_table.h"

/* In pairs, C and each Fortran compiler's spelling: a library that only wraps MPI has the first of a pair
   alone.  The last ones are alone. */
enum { PAIRS = 6, RECORDER_ROOT = 2 * PAIRS, CXX_LAYER };

const char *const mpiq_telling_symbols[MPIQ_TELLING_SYMBOLS] = {
    "MPI_Init",      "PMPI_Init",      "mpi_init_",        "pmpi_init_",     "mpi_init__",
    "pmpi_init__",   "MPI_INIT",       "PMPI_INIT",        "mpi_init",       "pmpi_init",
    "mpi_init_f08_", "pmpi_init_f08_", "mpiq_record_root", "_ZN3MPI4InitEv",
};

/* In everybody's stacks: C and C++ libraries, and what stands before them by interposition. */
static const char *const of_system[] = {
    "[vdso]",
    "ld-linux",
    "ld-linux-aarch64",
    "ld-linux-x86-64",
    "ld-musl-aarch64",
    "ld-musl-x86_64",
    "ld64",
    "libasan",
    "libatomic",
    "libc",
    "libc++",
    "libdarshan",
    "libdl",
    "libgcc_s",
    "libjemalloc",
    "liblsan",
    "libm",
    "libmimalloc",
    "libpthread",
    "libresolv",
    "librt",
    "libstdc++",
    "libtcmalloc",
    "libtcmalloc_minimal",
    "libtsan",
    "libubsan",
    "linux-gate",
    "linux-vdso",
};

/* Loaded by MPI libraries for devices and threads: they run what the program hands them, and programs load
   them in ways that no list of needs shows. */
static const char *const runs_others_code[] = {
    "libOpenCL", "libamdhip64", "libcuda", "libcudart", "libdispatch", "libgomp",      "libhsa-runtime64",
    "libiomp5",  "libnccl",     "libomp",  "librccl",   "libtbb",      "libze_loader",
};

/* An MPI library's own that older compiler wrappers link to every program. */
static const char *const mpis_alone[] = {"libmpl",      "libopa",      "libopen-pal",
                                         "libopen-rte", "libopen_mpi", "libprrte"};

/* Layers of languages without a function that tells; each needs an MPI library. */
static const char *const layers[] = {
    "libmpi_cxx",       "libmpi_java", "libmpi_mpifh", "libmpi_usempi", "libmpi_usempi_ignore_tkr",
    "libmpi_usempif08", "libmpichcxx", "libmpichfort", "libmpicxx",     "libmpifort",
};

/* Directories beside a library in which it keeps the components that it loads at run time. */
static const char *const component_directories[] = {
    "hcoll", "hwloc", "libfabric", "libibverbs", "openmpi", "openmpi3", "pmix", "pmix2", "prte", "ucc", "ucx",
};

/* Whole names, for objects of which nothing else is known. */
static const char *const known_mpi[] = {
    "libfmpich",
    "libmpi",
    "libmpi_abi",
    "libmpi_cray",
    "libmpi_cxx",
    "libmpi_gnu",
    "libmpi_intel",
    "libmpi_java",
    "libmpi_mpifh",
    "libmpi_usempi",
    "libmpi_usempi_ignore_tkr",
    "libmpi_usempif08",
    "libmpich",
    "libmpichcxx",
    "libmpichf90",
    "libmpichfort",
    "libmpicxx",
    "libmpifort",
    "libmpitrampoline",
    "libmpiwrapper",
    "libpmpi",
};
static const char *const known_parts[] = {
    "libefa",           "libevent",    "libevent_core", "libevent_pthreads",
    "libfabric",        "libhcoll",    "libhwloc",      "libibverbs",
    "libmca_common_sm", "libmpl",      "libopa",        "libopen-pal",
    "libopen-rte",      "libopen_mpi", "libpmi",        "libpmi2",
    "libpmix",          "libprrte",    "libpsm2",       "librdmacm",
    "libucc",           "libucm",      "libucp",        "libucs",
    "libuct",
};

static bool is_one(const char *name, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(name, list[i]) == 0)
            return true;
    }
    return false;
}
#define IS_ONE(name, list) is_one(name, list, sizeof(list) / sizeof *(list))

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

const char *mpiq_object_stem(const char *path, char *buffer, size_t size)
{
    const char *base = base_of(path), *end = strstr(base, ".so");
    size_t length = end ? (size_t)(end - base) : strlen(base);
    for (size_t i = 1; i + 1 < length; i++) { /* libc-2.31.so */
        if (base[i] == '-' && isdigit((unsigned char)base[i + 1]) && strchr(base + i, '.') < end)
            length = i;
    }
    length = length < size ? length : size - 1;
    memcpy(buffer, base, length);
    buffer[length] = '\0';
    return buffer;
}

enum mpiq_object_owner mpiq_owner_by_file(const char *path)
{
    char stem[64];
    if (!path || !*path)
        return MPIQ_OWNER_UNKNOWN;
    mpiq_object_stem(path, stem, sizeof stem);
    if (IS_ONE(stem, of_system))
        return MPIQ_OWNER_SYSTEM;
    if (strcmp(stem, "libmpiq_record") == 0)
        return MPIQ_OWNER_RECORDER;
    if (IS_ONE(stem, known_mpi))
        return MPIQ_OWNER_MPI;
    bool component = strncmp(stem, "mca_", 4) == 0 || strncmp(stem, "pmix_mca_", 9) == 0;
    return component || IS_ONE(stem, known_parts) ? MPIQ_OWNER_PART : MPIQ_OWNER_USER;
}

bool mpiq_is_package_file(const char *path)
{
    if (strstr(path, "/site-packages/") || strstr(path, "/dist-packages/"))
        return true;
    static const char library[] = "/lib/python";
    for (const char *at = path; (at = strstr(at, library)); at++) {
        if (isdigit((unsigned char)at[sizeof library - 1]))
            return true;
    }
    return false;
}

bool mpiq_is_python(const char *path)
{
    static const char *const names[] = {"python", "libpython"};
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t length = strlen(names[i]);
        if (strncmp(name, names[i], length) == 0 && (!name[length] || isdigit((unsigned char)name[length])))
            return true;
    }
    return false;
}

bool mpiq_is_interpreter(const char *function, const char *object)
{
    return (object && mpiq_is_python(object)) ||
           (function && strcmp(function, "_PyEval_EvalFrameDefault") == 0);
}

bool mpiq_maps_mpi(const char *maps)
{
    char path[4096];
    for (const char *line = maps; *line;) {
        size_t length = strcspn(line, "\n");
        const char *at = memchr(line, '/', length);
        size_t size = at ? length - (size_t)(at - line) : 0;
        if (size > 0 && size < sizeof path) {
            memcpy(path, at, size);
            path[size] = '\0';
            if (mpiq_owner_by_file(path) == MPIQ_OWNER_MPI)
                return true;
        }
        line += length + (line[length] == '\n');
    }
    return false;
}

/* ---- a process's objects together ---------------------------------------------------------------------- */

/* More objects than any process has: one with more wants to keep us busy. */
enum { OBJECTS_MAX = 4096 };

struct loaded {
    const struct mpiq_loaded_object *objects;
    size_t count;
    uint8_t *owners;
    struct mpiq_name_table by_soname; /* index of the first object of that name */
};

/* The object that one needs under that name; count: none. */
static size_t find(const struct loaded *loaded, const char *soname)
{
    uint64_t index = loaded->count;
    mpiq_name_table_get(&loaded->by_soname, soname, &index);
    return (size_t)index;
}

/* Whether path lies in a directory of components beside the object at `owner`: LIB/openmpi/mca_pml_ob1.so. */
static bool is_component(const char *path, const char *owner)
{
    const char *slash = strrchr(owner, '/'), *base = base_of(path);
    size_t length = slash ? (size_t)(slash - owner) + 1 : 0;
    if (!length || strncmp(path, owner, length) != 0 || base <= path + length + 1)
        return false;
    const char *directory = path + length;
    size_t size = (size_t)(base - directory) - 1;
    for (size_t i = 0; i < sizeof component_directories / sizeof *component_directories; i++) {
        const char *name = component_directories[i];
        if (strlen(name) == size && strncmp(directory, name, size) == 0)
            return true;
        /* Debian's link to LIB/openmpi/lib/openmpi3 is followed before the kernel names the file. */
        static const char between[] = "openmpi/lib/";
        size_t more = sizeof between - 1;
        if (size == more + strlen(name) && strncmp(directory, between, more) == 0 &&
            strncmp(directory + more, name, size - more) == 0)
            return true;
    }
    return false;
}

/* What an object is by itself; UNKNOWN: the others decide. */
static uint8_t by_itself(const struct mpiq_loaded_object *object)
{
    char stem[64];
    if (object->program)
        return MPIQ_OWNER_PROGRAM;
    if (IS_ONE(mpiq_object_stem(object->path, stem, sizeof stem), of_system))
        return MPIQ_OWNER_SYSTEM;
    if (object->unread)
        return (uint8_t)mpiq_owner_by_file(object->path);
    if (object->defines & UINT32_C(1) << RECORDER_ROOT)
        return MPIQ_OWNER_RECORDER;
    for (int i = 0; i < PAIRS; i++) {
        uint32_t pair = UINT32_C(3) << (2 * i);
        if ((object->defines & pair) == pair)
            return MPIQ_OWNER_MPI;
    }
    return MPIQ_OWNER_UNKNOWN;
}

static void mark_layers(const struct loaded *loaded)
{
    char stem[64];
    for (size_t i = 0; i < loaded->count; i++) {
        const struct mpiq_loaded_object *object = &loaded->objects[i];
        if (loaded->owners[i] != MPIQ_OWNER_UNKNOWN ||
            (!(object->defines & UINT32_C(1) << CXX_LAYER) &&
             !IS_ONE(mpiq_object_stem(object->path, stem, sizeof stem), layers)))
            continue;
        for (size_t j = 0; j < object->need_count; j++) {
            size_t other = find(loaded, object->needs[j]);
            if (other < loaded->count && loaded->owners[other] == MPIQ_OWNER_MPI)
                loaded->owners[i] = MPIQ_OWNER_MPI;
        }
    }
}

/* What an MPI library and its parts load is a part. */
static void spread_parts(const struct loaded *loaded, size_t *queue, size_t queued)
{
    for (size_t next = 0; next < queued; next++) {
        const struct mpiq_loaded_object *object = &loaded->objects[queue[next]];
        for (size_t j = 0; j < object->need_count; j++) {
            size_t i = find(loaded, object->needs[j]);
            if (i < loaded->count && loaded->owners[i] == MPIQ_OWNER_UNKNOWN) {
                loaded->owners[i] = MPIQ_OWNER_PART;
                queue[queued++] = i;
            }
        }
        for (size_t i = 0; i < loaded->count; i++) {
            if (loaded->owners[i] == MPIQ_OWNER_UNKNOWN &&
                is_component(loaded->objects[i].path, object->path)) {
                loaded->owners[i] = MPIQ_OWNER_PART;
                queue[queued++] = i;
            }
        }
    }
}

/* A part that the program or one of its libraries loads, too, is shared with it, and so is what that loads.
 */
static void spread_shared(const struct loaded *loaded, size_t *queue, size_t queued)
{
    char stem[64];
    for (size_t next = 0; next < queued; next++) {
        const struct mpiq_loaded_object *object = &loaded->objects[queue[next]];
        for (size_t j = 0; j < object->need_count; j++) {
            size_t i = find(loaded, object->needs[j]);
            if (i < loaded->count && loaded->owners[i] == MPIQ_OWNER_PART &&
                !IS_ONE(mpiq_object_stem(loaded->objects[i].path, stem, sizeof stem), mpis_alone)) {
                loaded->owners[i] = MPIQ_OWNER_SHARED;
                queue[queued++] = i;
            }
        }
    }
}

static bool tell(struct loaded *loaded, size_t *queue)
{
    char stem[64];
    size_t queued = 0;
    for (size_t i = 0; i < loaded->count; i++) {
        const struct mpiq_loaded_object *object = &loaded->objects[i];
        if (!mpiq_name_table_add(&loaded->by_soname, object->soname ? object->soname : base_of(object->path),
                                 i))
            return false;
        loaded->owners[i] = by_itself(object);
    }
    mark_layers(loaded);
    for (size_t i = 0; i < loaded->count; i++) {
        if (loaded->owners[i] == MPIQ_OWNER_MPI)
            queue[queued++] = i;
    }
    spread_parts(loaded, queue, queued);
    queued = 0;
    for (size_t i = 0; i < loaded->count; i++) {
        uint8_t *owner = &loaded->owners[i];
        if (*owner == MPIQ_OWNER_UNKNOWN)
            *owner = MPIQ_OWNER_USER;
        if (*owner == MPIQ_OWNER_USER || *owner == MPIQ_OWNER_PROGRAM)
            queue[queued++] = i;
        else if (*owner == MPIQ_OWNER_PART &&
                 IS_ONE(mpiq_object_stem(loaded->objects[i].path, stem, sizeof stem), runs_others_code))
            *owner = MPIQ_OWNER_SHARED;
    }
    spread_shared(loaded, queue, queued);
    return true;
}

bool mpiq_tell_owners(const struct mpiq_loaded_object *objects, size_t count, uint8_t *owners)
{
    struct loaded loaded = {.objects = objects, .count = count, .owners = owners};
    if (count > OBJECTS_MAX) {
        for (size_t i = 0; i < count; i++)
            owners[i] =
                (uint8_t)(objects[i].program ? MPIQ_OWNER_PROGRAM : mpiq_owner_by_file(objects[i].path));
        return true;
    }
    size_t *queue = calloc(count + 1, sizeof *queue);
    bool good = queue && tell(&loaded, queue);
    mpiq_name_table_deinit(&loaded.by_soname);
    free(queue);
    return good;
}
