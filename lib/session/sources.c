/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/sources.h"

#include <ctype.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "session/discover.h"
#include "session/read_snapshot.h"
#include "session/read_trace.h"
#include "state/job_state.h"
#include "state/snapshot.h"

/* NULL: there is no memory. */
static struct mpiq_look_source *add_source(struct mpiq_look_sources *sources)
{
    if (!mpiq_array_reserve(&sources->items, &sources->capacity, sources->count + 1))
        return NULL;
    struct mpiq_look_source *source = &sources->items[sources->count++];
    *source = (struct mpiq_look_source){.rank = -1, .target_number = sources->target_number};
    return source;
}

/* A process counts once, however often it is named. */
static bool has_pid(const struct mpiq_look_sources *sources, pid_t pid)
{
    for (size_t i = 0; i < sources->count; i++) {
        if (sources->items[i].pid == pid)
            return true;
    }
    return false;
}

static struct mpiq_error *add_rank(struct mpiq_look_sources *sources, const struct mpiq_found_rank *found)
{
    struct mpiq_look_source *source = add_source(sources);
    if (!source)
        return mpiq_error_no_memory();
    source->pid = found->pid;
    source->rank = found->rank;
    source->nspace = found->nspace ? strdup(found->nspace) : NULL;
    source->gone = found->pid == 0;
    source->other = found->other;
    return NULL;
}

/* The only process of their program that has ended and is a child of the one that started all ranks; 0: there
   is none, or they are several. */
static pid_t only_zombie(const struct mpiq_process_table *table, const struct mpiq_found_job *job)
{
    enum { COMM = 15 }; /* characters that the kernel keeps of a program's name */
    const struct mpiq_process *first = mpiq_process_table_find(table, job->ranks[0].pid);
    pid_t found = 0;
    for (size_t i = 1; first && i < job->count; i++) {
        const struct mpiq_process *other = mpiq_process_table_find(table, job->ranks[i].pid);
        first = other && other->parent == first->parent ? first : NULL;
    }
    for (size_t i = 0; first && i < table->count; i++) {
        const struct mpiq_process *process = &table->processes[i];
        if (process->state != 'Z' || process->parent != first->parent ||
            strncmp(process->executable, first->executable, COMM) != 0)
            continue;
        if (found > 0)
            return 0;
        found = process->pid;
    }
    return found;
}

/* Where the launcher put the whole world on this machine, a rank without a process has ended; unless its
   process is there and does not say who it is. */
static struct mpiq_error *add_missing_ranks(struct mpiq_look_sources *sources,
                                            const struct mpiq_process_table *table,
                                            const struct mpiq_found_job *job)
{
    struct mpiq_error *error = NULL;
    struct mpiq_look_source *last = NULL;
    size_t next = 0, missing = 0;
    for (int rank = 0; job->whole && rank < job->world_size && !error; rank++) {
        while (next < job->count && job->ranks[next].rank < rank &&
               strcmp(job->ranks[next].nspace, job->ranks[0].nspace) == 0)
            next++;
        bool here = next < job->count && job->ranks[next].rank == rank &&
                    strcmp(job->ranks[next].nspace, job->ranks[0].nspace) == 0;
        if (here)
            continue;
        missing++;
        error = add_rank(sources, &(struct mpiq_found_rank){.rank = rank, .nspace = job->ranks[0].nspace});
        last = error ? NULL : &sources->items[sources->count - 1];
        if (last)
            last->stranger = job->stranger;
    }
    if (missing != 1 || !last)
        return error;
    if (job->stranger_count == 1 && mpiq_process_maps_mpi(job->stranger)) {
        last->pid = job->stranger;
        last->gone = false;
    } else if (job->stranger_count == 0) {
        last->zombie = only_zombie(table, job);
    }
    return error;
}

/* USAGE if the user has named a process of another job before. */
static struct mpiq_error *check_same_job(const struct mpiq_look_sources *sources,
                                         const struct mpiq_process_table *table,
                                         const struct mpiq_found_job *job)
{
    const struct mpiq_look_source *other = NULL;
    for (size_t i = 0; i < sources->count; i++) {
        const struct mpiq_look_source *source = &sources->items[i];
        for (size_t k = 0; k < job->count; k++) {
            if (source->pid > 0 && source->pid == job->ranks[k].pid)
                return NULL;
        }
        other = other || !source->nspace || source->pid == 0 ? other : source;
    }
    if (!other || job->count == 0 || !job->ranks[0].nspace)
        return NULL;
    size_t count = 0;
    for (size_t i = 0; i < sources->count; i++)
        count += sources->items[i].target_number == other->target_number;
    const struct mpiq_process *one = mpiq_process_table_find(table, other->pid);
    const struct mpiq_process *another = mpiq_process_table_find(table, job->ranks[0].pid);
    return mpiq_error_create(
        MPIQ_ERROR_USAGE,
        "%s (%s, %zu rank%s) and %s (%s, %zu rank%s) are different jobs: look at one of them", other->nspace,
        one ? one->executable : "?", count, count == 1 ? "" : "s", job->ranks[0].nspace,
        another ? another->executable : "?", job->count, job->count == 1 ? "" : "s");
}

static struct mpiq_error *add_process(struct mpiq_look_sources *sources,
                                      const struct mpiq_process_filter *filter, pid_t pid)
{
    struct mpiq_process_table table;
    struct mpiq_found_job job = {0};
    struct mpiq_error *error = mpiq_process_table_init_filtered(filter, &table);
    if (error)
        return error;
    error = mpiq_discover(&table, pid, &job);
    if (!error)
        error = check_same_job(sources, &table, &job);
    for (size_t i = 0; i < job.count && !error; i++) {
        if (has_pid(sources, job.ranks[i].pid))
            continue;
        error = add_rank(sources, &job.ranks[i]);
        if (!error && (!job.ranks[i].nspace || strcmp(job.ranks[i].nspace, job.ranks[0].nspace) != 0))
            sources->items[sources->count - 1].world = -1;
    }
    if (!error)
        error = add_missing_ranks(sources, &table, &job);
    /* Spawned worlds count too: more than the first one's size may be here, and still not all. */
    sources->partial = !error && !job.whole && job.ranks[0].nspace && job.world_size != (int)job.count;
    sources->world_size = job.world_size;
    mpiq_found_job_deinit(&job);
    mpiq_process_table_deinit(&table);
    return error;
}

/* How much memory the states of a snapshot may take: a file is compressed, and its ranks may be folded, but
   a file of a few hundred bytes cannot be a job of a million ranks. */
#define LEAST_ROOM (UINT64_C(64) << 20)
#define ROOM_RATIO 1024

struct mpiq_error *mpiq_sources_keep(struct mpiq_look_sources *sources, int look,
                                     struct mpiq_rank_state **state)
{
    if (!mpiq_array_reserve(&sources->snapshot_states, &sources->snapshot_state_capacity,
                            sources->snapshot_state_count + 1))
        return mpiq_error_no_memory();
    sources->snapshot_states[sources->snapshot_state_count++] =
        (struct mpiq_snapshot_state){look, sources->target_number, mpiq_steal(*state)};
    return NULL;
}

static struct mpiq_error *keep_state(void *context, int look, struct mpiq_rank_state **state)
{
    struct mpiq_look_sources *sources = context;
    if ((*state)->weight > sources->file_left)
        return mpiq_error_create(MPIQ_ERROR_CORRUPT, "it expands to more than a file of its size can hold");
    sources->file_left -= (*state)->weight;
    if (!mpiq_budget_take(&sources->budget, (*state)->weight))
        return mpiq_error_create(MPIQ_ERROR_CORRUPT,
                                 "the snapshots exceed the memory limit of all ranks together");
    return mpiq_sources_keep(sources, look, state);
}

static struct mpiq_error *add_file(struct mpiq_look_sources *sources, const char *path)
{
    unsigned char start[EI_NIDENT + 2] = {0};
    struct stat status;
    /* What is opened for reading may wait for a writer for ever, or do something. */
    if (stat(path, &status) < 0)
        return mpiq_error_create_os(errno, "cannot open %s", path);
    if (!S_ISREG(status.st_mode))
        return mpiq_error_create(MPIQ_ERROR_USAGE, "%s is not a file: name a pid, core files or snapshots",
                                 path);
    sources->file_left = LEAST_ROOM + ROOM_RATIO * (uint64_t)status.st_size;
    /* An archive's anchor file says nothing of its size: the budget of all states is the limit. */
    if (mpiq_is_trace(path)) {
        sources->file_left = UINT64_MAX;
        return mpiq_read_trace(path, sources->at_ns, keep_state, sources);
    }
    if (mpiq_is_snapshot(path))
        return mpiq_read_snapshot(sources->snapshot_reader, path, keep_state, sources);
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    _cleanup_fclose_ FILE *file = fd >= 0 ? fdopen(fd, "r") : NULL;
    if (!file)
        return mpiq_error_create_os(errno, "cannot open %s", path);
    size_t got = fread(start, 1, sizeof start, file);
    bool elf = got == sizeof start && memcmp(start, ELFMAG, SELFMAG) == 0;
    bool big = start[EI_DATA] == ELFDATA2MSB;
    int type =
        big ? start[EI_NIDENT] << 8 | start[EI_NIDENT + 1] : start[EI_NIDENT + 1] << 8 | start[EI_NIDENT];
    if (!elf || type != ET_CORE)
        return mpiq_error_create(
            MPIQ_ERROR_USAGE,
            "%s is neither a core file, an mpiq snapshot nor an OTF2 trace%s: name a pid, core files, "
            "snapshots or a trace",
            path, elf ? " (it is a program)" : "");
    struct mpiq_look_source *source = add_source(sources);
    if (!source)
        return mpiq_error_no_memory();
    /* Who reads it has another directory; a file without a name is found by its descriptor alone. */
    source->path = strncmp(path, "/proc/", 6) == 0 ? strdup(path) : realpath(path, NULL);
    return source->path ? NULL : mpiq_error_create_os(errno, "cannot open %s", path);
}

static struct mpiq_error *add_target(struct mpiq_look_sources *sources, const char *word)
{
    size_t digits = strspn(word, "0123456789");
    errno = 0;
    long pid = word[digits] == '\0' && digits > 0 ? strtol(word, NULL, 10) : 0;
    if (digits == 0 || word[digits] != '\0')
        return add_file(sources, word);
    if (errno || pid <= 0 || pid > INT_MAX)
        return mpiq_error_create(MPIQ_ERROR_USAGE, "%s is not a pid", word);
    return add_process(sources, NULL, (pid_t)pid);
}

static struct mpiq_error *add_wire(struct mpiq_look_sources *sources, const struct mpiq_wire *wire)
{
    struct mpiq_target *target = NULL;
    struct mpiq_target_status status = {0};
    struct mpiq_error *error = mpiq_target_wire_create(wire->in, wire->out, &target);
    if (!error)
        error = mpiq_target_status(target, &status);
    if (error) {
        mpiq_target_destroy(target);
        return mpiq_error_prefix(error, "the wire does not answer");
    }
    /* The debugger behind the wire has the process: it is read there, not twice. */
    struct mpiq_look_source *source = NULL;
    for (size_t i = 0; i < sources->count && !status.core; i++) {
        if (status.pid > 0 && sources->items[i].pid == status.pid)
            source = &sources->items[i];
    }
    if (!source)
        source = add_source(sources);
    if (!source) {
        mpiq_target_destroy(target);
        return mpiq_error_no_memory();
    }
    source->wire = wire;
    source->target = target;
    return NULL;
}

static struct mpiq_error *init_around(const struct mpiq_process_filter *filter, pid_t pid,
                                      struct mpiq_look_sources *ret)
{
    struct mpiq_look_sources sources = {0};
    struct mpiq_error *error = add_process(&sources, filter, pid);
    if (error)
        mpiq_sources_deinit(&sources);
    else
        *ret = sources;
    return error;
}

struct mpiq_error *mpiq_sources_init_filtered(const struct mpiq_process_filter *filter,
                                              struct mpiq_look_sources *ret)
{
    return init_around(filter, 0, ret);
}

struct mpiq_error *mpiq_sources_init_around(pid_t pid, struct mpiq_look_sources *ret)
{
    return init_around(NULL, pid, ret);
}

struct mpiq_error *mpiq_sources_add_known(struct mpiq_look_sources *sources,
                                          const struct mpiq_look_source *rank)
{
    struct mpiq_look_source *source = add_source(sources);
    if (!source)
        return mpiq_error_no_memory();
    source->pid = rank->pid;
    source->rank = rank->rank;
    source->world = rank->world;
    source->gone = rank->gone;
    source->nspace = rank->nspace ? strdup(rank->nspace) : NULL;
    return source->nspace || !rank->nspace ? NULL : mpiq_error_no_memory();
}

struct mpiq_error *mpiq_sources_hand_over(struct mpiq_look_sources *from, struct mpiq_look_sources *ret)
{
    struct mpiq_look_sources sources = {.count = from->count, .partial = from->partial};
    sources.items = calloc(from->count + 1, sizeof *sources.items);
    if (!sources.items)
        return mpiq_error_no_memory();
    for (size_t i = 0; i < from->count; i++) {
        struct mpiq_look_source *own = &from->items[i], *copy = &sources.items[i];
        *copy = (struct mpiq_look_source){.pid = own->pid,
                                          .rank = own->rank,
                                          .target_number = own->target_number,
                                          .world = own->world,
                                          .gone = own->gone,
                                          .other = own->other};
        memcpy(copy->looks, own->looks, sizeof copy->looks);
        memset(own->looks, 0, sizeof own->looks);
    }
    sources.snapshot_states = mpiq_steal(from->snapshot_states);
    sources.snapshot_state_count = from->snapshot_state_count;
    from->snapshot_state_count = from->snapshot_state_capacity = 0;
    from->budget = (struct mpiq_budget){0};
    sources.capacity = sources.count;
    sources.world_size = from->world_size;
    *ret = sources;
    return NULL;
}

/* Files are read at once, processes later. */
static void tell(const struct mpiq_options *options, const char *target)
{
    char text[160];
    if (!options->progress || access(target, F_OK) != 0)
        return;
    snprintf(text, sizeof text, "reading %s", target);
    options->progress(options->argument, text);
}

struct mpiq_error *mpiq_sources_init(const struct mpiq_options *options, struct mpiq_look_sources *ret)
{
    struct mpiq_snapshot_reader snapshot_reader = {.process.socket = -1};
    struct mpiq_look_sources sources = {
        .snapshot_reader = &snapshot_reader,
        .at_ns = options->at >= 0 ? (int64_t)(options->at * 1e9) : -1,
    };
    struct mpiq_error *error = NULL;
    for (size_t i = 0; i < options->target_count && !error; i++) {
        sources.target_number = i;
        tell(options, options->targets[i]);
        error = add_target(&sources, options->targets[i]);
    }
    if (options->target_count == 0 && options->wire_count == 0 && !error)
        error = add_process(&sources, NULL, 0);
    mpiq_snapshot_reader_deinit(&snapshot_reader);
    sources.snapshot_reader = NULL;
    for (size_t i = 0; i < options->wire_count && !error; i++)
        error = add_wire(&sources, &options->wires[i]);
    if (error)
        mpiq_sources_deinit(&sources);
    else
        *ret = sources;
    return error;
}

void mpiq_sources_drop_looks(struct mpiq_look_sources *sources)
{
    for (size_t i = 0; i < sources->count; i++) {
        mpiq_rank_state_destroy(mpiq_steal(sources->items[i].looks[0]));
        mpiq_rank_state_destroy(mpiq_steal(sources->items[i].looks[1]));
    }
    sources->budget = (struct mpiq_budget){0};
}

void mpiq_sources_deinit(struct mpiq_look_sources *sources)
{
    mpiq_sources_drop_looks(sources);
    for (size_t i = 0; i < sources->count; i++) {
        struct mpiq_look_source *source = &sources->items[i];
        mpiq_target_destroy(source->target);
        free(source->path);
        free(source->nspace);
    }
    for (size_t i = 0; i < sources->snapshot_state_count; i++)
        mpiq_rank_state_destroy(sources->snapshot_states[i].state);
    free(sources->items);
    free(sources->snapshot_states);
    *sources = (struct mpiq_look_sources){0};
}
