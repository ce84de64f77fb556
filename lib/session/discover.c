/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/discover.h"

#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "names/programs.h"

/* Ranks of one world on one machine: whoever says that there are more is not believed. */
enum { WORLD_HERE_MAX = 1 << 16 };

/* A rank's process with the job it was found to belong to. */
struct candidate {
    const struct mpiq_process *process;
    pid_t launcher; /* nearest ancestor that is no part of the job */
    bool launched;  /* that is a launcher by its name, or is not seen */
    size_t job;     /* index of the first candidate of the same job */
};

struct candidates {
    struct candidate *items;
    size_t count;
};

static bool starts_ranks(const struct mpiq_process *process)
{
    return mpiq_program_starts_ranks(process->executable) && !(process->nspace && process->maps_mpi);
}

static bool same_rank(const struct mpiq_process *a, const struct mpiq_process *b)
{
    return a->uid == b->uid && a->rank == b->rank && a->nspace && b->nspace &&
           strcmp(a->nspace, b->nspace) == 0;
}

/* Launchers and their daemons, unless they map MPI: then it is a program of the user's that is called so.  A
   look by another mpiq, or our own, may run in a step of the same job. */
static bool is_none(const struct mpiq_process *process)
{
    unsigned what = mpiq_program(process->executable);
    return (what & MPIQ_PROGRAM_OURS) || (what && !process->maps_mpi);
}

/* The nearest ancestor that is no part of the job; NULL: it is not seen. */
static const struct mpiq_process *launcher_of(const struct mpiq_process_table *table,
                                              const struct mpiq_process *process)
{
    const struct mpiq_process *parent = mpiq_process_table_find(table, process->parent);
    while (parent && parent->nspace && !starts_ranks(parent))
        parent = mpiq_process_table_find(table, parent->parent);
    return parent;
}

/* Whether a rank left that process behind, a daemon that has its environment still: the rank itself is below
   a launcher. */
static bool is_left_behind(const struct mpiq_process_table *table, const struct mpiq_process *process)
{
    const struct mpiq_process *launcher = launcher_of(table, process);
    if (!launcher || starts_ranks(launcher))
        return false;
    for (size_t i = 0; i < table->count; i++) {
        const struct mpiq_process *other = &table->processes[i];
        if (other == process || !same_rank(other, process) || other->maps_mpi < process->maps_mpi)
            continue;
        launcher = launcher_of(table, other);
        if (launcher && starts_ranks(launcher))
            return true;
    }
    return false;
}

/* Wrappers lead to the rank and its children inherit the environment: the rank is the outermost process
   with that environment that maps MPI, or the outermost at all where none does. */
static bool is_rank(const struct mpiq_process_table *table, const struct mpiq_process *process)
{
    if (!process->nspace || is_none(process) || is_left_behind(table, process))
        return false;
    const struct mpiq_process *parent = mpiq_process_table_find(table, process->parent);
    for (; parent && same_rank(parent, process); parent = mpiq_process_table_find(table, parent->parent)) {
        if (parent->maps_mpi || !process->maps_mpi)
            return false;
    }
    if (process->maps_mpi)
        return true;
    for (size_t i = 0; i < table->count; i++) {
        const struct mpiq_process *other = &table->processes[i];
        if (other->maps_mpi && same_rank(other, process) &&
            mpiq_process_table_descends(table, other->pid, process->pid))
            return false;
    }
    return true;
}

static struct candidate candidate_of(const struct mpiq_process_table *table,
                                     const struct mpiq_process *process)
{
    const struct mpiq_process *launcher = launcher_of(table, process);
    return (struct candidate){
        .process = process,
        .launcher = launcher ? launcher->pid : 0,
        .launched = !launcher || launcher->pid == 1 || starts_ranks(launcher),
    };
}

/* Which job of a prte a namespace is, of "prte-node1-1234@2" the second; 0: any other launcher's, which runs
   one job. */
static int number_of(const struct mpiq_process *process)
{
    const char *at = process->by_pmi ? NULL : strrchr(process->nspace, '@');
    int number = at ? atoi(at + 1) : 0;
    return strncmp(process->nspace, "prte-", strlen("prte-")) == 0 && number > 0 ? number : 0;
}

/* Whether two namespaces under one launcher may be worlds of one job: a prte runs jobs of many prun, and each
   may spawn more. */
static bool may_belong(const struct mpiq_process *a, const struct mpiq_process *b)
{
    const int one = number_of(a), other = number_of(b);
    if (one == 0 || other == 0 || one == other || a->parent_job < 0 || b->parent_job < 0)
        return true;
    return a->parent_job == other || b->parent_job == one ||
           (a->parent_job > 0 && a->parent_job == b->parent_job);
}

/*
 * Namespaces of one user under one launcher are one job (spawned worlds), and so are ranks of one user and
 * one namespace under several daemons.  Any other process with that namespace has copied it.
 */
static bool same_job(const struct candidate *a, const struct candidate *b)
{
    if (a->process->uid != b->process->uid)
        return false;
    if (a->launcher > 1 && a->launcher == b->launcher)
        return may_belong(a->process, b->process);
    bool launched = a->launched && b->launched;
    return strcmp(a->process->nspace, b->process->nspace) == 0 && (launched || a->launcher == b->launcher);
}

static void join_jobs(struct candidates *all)
{
    for (size_t i = 0; i < all->count; i++) {
        all->items[i].job = i;
        for (size_t k = 0; k < i; k++) {
            size_t mine = all->items[i].job, other = all->items[k].job;
            if (mine == other || !same_job(&all->items[i], &all->items[k]))
                continue;
            size_t first = mine < other ? mine : other;
            for (size_t m = 0; m <= i; m++) {
                if (all->items[m].job == mine || all->items[m].job == other)
                    all->items[m].job = first;
            }
        }
    }
}

static struct mpiq_error *collect(const struct mpiq_process_table *table, struct candidates *ret)
{
    ret->items = calloc(table->count ? table->count : 1, sizeof *ret->items);
    if (!ret->items)
        return mpiq_error_no_memory();
    for (size_t i = 0; i < table->count; i++) {
        const struct mpiq_process *process = &table->processes[i];
        if (is_rank(table, process))
            ret->items[ret->count++] = candidate_of(table, process);
    }
    join_jobs(ret);
    return NULL;
}

static int by_namespace_and_rank(const void *left, const void *right)
{
    const struct mpiq_found_rank *a = left, *b = right;
    int order = a->nspace && b->nspace ? strverscmp(a->nspace, b->nspace) : 0;
    if (order == 0)
        order = (a->rank > b->rank) - (a->rank < b->rank);
    return order ? order : (a->pid > b->pid) - (a->pid < b->pid);
}

/* Which of two processes of one name is the rank, nobody can tell: it is neither, and the name says why. */
static void merge_doubles(struct mpiq_found_job *job)
{
    size_t kept = 0;
    for (size_t i = 0; i < job->count; i++) {
        struct mpiq_found_rank *rank = &job->ranks[i];
        struct mpiq_found_rank *last = kept > 0 ? &job->ranks[kept - 1] : NULL;
        if (last && rank->rank == last->rank && strcmp(rank->nspace, last->nspace) == 0) {
            last->other = last->other ? last->other : rank->pid;
            free(rank->nspace);
        } else {
            job->ranks[kept++] = *rank;
        }
    }
    job->count = kept;
}

/* What the launcher told the ranks of the first namespace: the word of most of them, as each can change its
   own. */
static void agree_on_size(const struct candidates *all, struct mpiq_found_job *job)
{
    size_t best = 0;
    for (size_t i = 0; i < all->count; i++) {
        const struct mpiq_process *process = all->items[i].process;
        if (all->items[i].job != job->index || strcmp(process->nspace, job->ranks[0].nspace) != 0)
            continue;
        size_t votes = 0;
        for (size_t k = 0; k < all->count; k++) {
            const struct mpiq_process *other = all->items[k].process;
            votes += all->items[k].job == job->index && other->world_size == process->world_size &&
                     other->local_size == process->local_size && strcmp(other->nspace, process->nspace) == 0;
        }
        if (votes <= best)
            continue;
        best = votes;
        job->world_size = process->world_size;
        job->whole = process->world_size > 0 && process->world_size <= WORLD_HERE_MAX &&
                     process->local_size == process->world_size;
    }
}

/* Whether that process, 0 where it is not seen, is the launcher of any of the job's ranks. */
static bool starts_job(const struct candidates *all, size_t index, pid_t pid)
{
    for (size_t i = 0; i < all->count; i++) {
        if (all->items[i].job == index && all->items[i].launcher == pid)
            return true;
    }
    return false;
}

static bool misses_ranks(const struct mpiq_found_job *job)
{
    size_t first = 0;
    while (first < job->count && strcmp(job->ranks[first].nspace, job->ranks[0].nspace) == 0)
        first++;
    return job->whole && first < (size_t)job->world_size;
}

/* Only a process that is seen to have ended is no rank any more: what has no name may be one.  Of ranks whose
   launcher has ended the parent is that of any daemon: there, it is one of the user's that maps MPI. */
static void find_strangers(const struct mpiq_process_table *table, const struct candidates *all,
                           struct mpiq_found_job *job)
{
    const struct mpiq_process *first = mpiq_process_table_find(table, job->ranks[0].pid);
    for (size_t i = 0; misses_ranks(job) && i < table->count; i++) {
        const struct mpiq_process *process = &table->processes[i];
        const struct mpiq_process *parent = mpiq_process_table_find(table, process->parent);
        if (process->nspace || process->left_out || process->state == 'Z' || process->state == 'X' ||
            is_none(process) || !starts_job(all, job->index, parent ? parent->pid : 0) ||
            !((parent && starts_ranks(parent)) ||
              (process->uid == first->uid && mpiq_process_maps_mpi(process->pid))))
            continue;
        job->stranger = job->stranger_count++ == 0 ? process->pid : job->stranger;
    }
}

static struct mpiq_error *take_job(const struct mpiq_process_table *table, const struct candidates *all,
                                   size_t index, struct mpiq_found_job *ret)
{
    struct mpiq_found_job job = {.ranks = calloc(all->count, sizeof *job.ranks), .index = index};
    if (!job.ranks)
        return mpiq_error_no_memory();
    for (size_t i = 0; i < all->count; i++) {
        const struct mpiq_process *process = all->items[i].process;
        if (all->items[i].job != index)
            continue;
        job.ranks[job.count] = (struct mpiq_found_rank){
            .pid = process->pid, .rank = process->rank, .nspace = strdup(process->nspace)};
        if (!job.ranks[job.count++].nspace) {
            mpiq_found_job_deinit(&job);
            return mpiq_error_no_memory();
        }
    }
    qsort(job.ranks, job.count, sizeof *job.ranks, by_namespace_and_rank);
    merge_doubles(&job);
    agree_on_size(all, &job);
    find_strangers(table, all, &job);
    *ret = job;
    return NULL;
}

static struct mpiq_error *take_single(const struct mpiq_process *process, struct mpiq_found_job *ret)
{
    struct mpiq_found_job job = {.ranks = calloc(1, sizeof *job.ranks), .count = 1};
    if (!job.ranks)
        return mpiq_error_no_memory();
    job.ranks[0] = (struct mpiq_found_rank){.pid = process->pid, .rank = -1};
    *ret = job;
    return NULL;
}

/* The pid by which a job is asked for: its launcher's, unless that runs others too. */
static pid_t pid_of(const struct candidates *all, const struct candidate *first)
{
    for (size_t i = 0; i < all->count; i++) {
        if (all->items[i].launcher == first->launcher && all->items[i].job != first->job)
            return first->process->pid;
    }
    return first->launcher > 1 ? first->launcher : first->process->pid;
}

static struct mpiq_error *several(const struct candidates *all, uid_t uid)
{
    char text[1024] = "";
    size_t used = 0;
    size_t unsaid = 0;
    for (size_t i = 0; i < all->count; i++) {
        const struct candidate *first = &all->items[i];
        if (first->job != i || (uid != (uid_t)-1 && first->process->uid != uid))
            continue;
        if (used > sizeof text / 2) {
            unsaid++;
            continue;
        }
        size_t ranks = 0;
        for (size_t k = 0; k < all->count; k++)
            ranks += all->items[k].job == i;
        int wrote =
            snprintf(text + used, sizeof text - used, "%s mpiq %d (%s, %zu rank%s)", used ? "," : "",
                     (int)pid_of(all, first), first->process->executable, ranks, ranks == 1 ? "" : "s");
        used += wrote > 0 ? (size_t)wrote : 0;
    }
    if (unsaid)
        snprintf(text + used, sizeof text - used, ", and %zu more", unsaid);
    return mpiq_error_create(MPIQ_ERROR_USAGE, "several MPI jobs run here; say which one:%s", text);
}

/* Whose launcher runs where none of ours does, or whose process it is that we may not look at: what to do. */
static struct mpiq_error *not_ours(const struct mpiq_process *process)
{
    char buffer[1024], name[64];
    struct passwd entry, *found = NULL;
    if (getpwuid_r(process->uid, &entry, buffer, sizeof buffer, &found) == 0 && found)
        snprintf(name, sizeof name, "%s", entry.pw_name);
    else
        snprintf(name, sizeof name, "user %u", (unsigned)process->uid);
    if (process->uid == 0)
        return mpiq_error_create(MPIQ_ERROR_PERMISSION, "process %d (%s) belongs to root: run mpiq as root",
                                 (int)process->pid, process->executable);
    return mpiq_error_create(MPIQ_ERROR_PERMISSION,
                             "process %d (%s) belongs to %s: run mpiq as %s or as root", (int)process->pid,
                             process->executable, name, name);
}

static bool is_foreign(const struct mpiq_process *process)
{
    return geteuid() != 0 && process->uid != geteuid();
}

/* It has asked a prte for ranks, which are not below it: which of that one's jobs is its own is not seen. */
static bool is_prun(const struct mpiq_process *process)
{
    return strcmp(process->executable, "prun") == 0;
}

/* The only job that has ranks of that user ((uid_t)-1: of any), and of a prte if that is asked for: a rank of
   it, the count if there is none.  Several: which there are, as an error. */
static struct mpiq_error *find_only(const struct candidates *all, uid_t uid, bool of_prte, size_t *ret)
{
    *ret = all->count;
    for (size_t i = 0; i < all->count; i++) {
        const struct mpiq_process *process = all->items[i].process;
        if ((uid != (uid_t)-1 && process->uid != uid) || (of_prte && number_of(process) == 0))
            continue;
        if (*ret != all->count && all->items[*ret].job != all->items[i].job)
            return several(all, uid);
        if (*ret == all->count)
            *ret = i;
    }
    return NULL;
}

static struct mpiq_error *around(const struct mpiq_process_table *table, const struct candidates *all,
                                 pid_t pid, struct mpiq_found_job *ret)
{
    const struct mpiq_process *process = mpiq_process_table_find(table, pid);
    if (!process)
        return mpiq_error_create(MPIQ_ERROR_NOT_FOUND, "no process has the pid %d on this machine", (int)pid);
    size_t found = all->count;
    for (size_t i = 0; i < all->count; i++) {
        const struct mpiq_process *rank = all->items[i].process;
        if (rank->pid == pid || same_rank(rank, process))
            return take_job(table, all, all->items[i].job, ret);
        if (!mpiq_process_table_descends(table, rank->pid, pid))
            continue;
        if (found != all->count && all->items[found].job != all->items[i].job)
            return several(all, (uid_t)-1);
        found = i;
    }
    if (found != all->count)
        return take_job(table, all, all->items[found].job, ret);
    if (is_foreign(process))
        return not_ours(process);
    struct mpiq_error *error = is_prun(process) ? find_only(all, (uid_t)-1, true, &found) : NULL;
    if (error || found != all->count)
        return error ? error : take_job(table, all, all->items[found].job, ret);
    if (starts_ranks(process) || is_prun(process))
        return mpiq_error_create(MPIQ_ERROR_NOT_FOUND,
                                 "process %d (%s) has no MPI processes on this machine (yet): if they run on "
                                 "other hosts, run mpiq snapshot there and mpiq report on the files here",
                                 (int)pid, process->executable);
    return take_single(process, ret);
}

static struct mpiq_error *only_one(const struct mpiq_process_table *table, const struct candidates *all,
                                   uid_t uid, struct mpiq_found_job *ret)
{
    size_t found;
    struct mpiq_error *many = find_only(all, uid, false, &found);
    if (many)
        return many;
    for (size_t i = 0; i < table->count && found == all->count; i++) {
        if (!is_foreign(&table->processes[i]) || !starts_ranks(&table->processes[i]))
            continue;
        struct mpiq_error *whose = not_ours(&table->processes[i]);
        struct mpiq_error *error = mpiq_error_create(
            MPIQ_ERROR_NOT_FOUND, "no MPI job of yours runs on this machine; %s", whose->message);
        mpiq_error_destroy(whose);
        return error;
    }
    if (found == all->count)
        return mpiq_error_create(MPIQ_ERROR_NOT_FOUND,
                                 "no MPI job %s on this machine: name a launcher's or a rank's pid, core "
                                 "files or snapshots",
                                 uid == (uid_t)-1 ? "runs" : "of yours runs");
    return take_job(table, all, all->items[found].job, ret);
}

struct mpiq_error *mpiq_discover(const struct mpiq_process_table *table, pid_t pid,
                                 struct mpiq_found_job *ret)
{
    struct candidates all = {0};
    struct mpiq_error *error = collect(table, &all);
    if (!error && pid > 0)
        error = around(table, &all, pid, ret);
    else if (!error) {
        error = only_one(table, &all, geteuid(), ret);
        if (error && error->code == MPIQ_ERROR_NOT_FOUND && geteuid() == 0) {
            mpiq_error_destroy(error);
            error = only_one(table, &all, (uid_t)-1, ret);
        }
    }
    free(all.items);
    return error;
}

static bool has_launcher_above(const struct mpiq_process_table *table, const struct mpiq_process *process)
{
    const struct mpiq_process *above = mpiq_process_table_find(table, process->parent);
    for (size_t depth = 0; above && depth < table->count; depth++) {
        if (starts_ranks(above))
            return true;
        above = mpiq_process_table_find(table, above->parent);
    }
    return false;
}

pid_t mpiq_discover_launcher(const struct mpiq_process_table *table)
{
    pid_t found = 0;
    for (size_t i = 0; i < table->count; i++) {
        const struct mpiq_process *process = &table->processes[i];
        bool mine = process->uid == geteuid() || geteuid() == 0;
        if (!mine || !starts_ranks(process) || has_launcher_above(table, process))
            continue;
        if (found)
            return 0;
        found = process->pid;
    }
    return found;
}

void mpiq_found_job_deinit(struct mpiq_found_job *job)
{
    for (size_t i = 0; i < job->count; i++)
        free(job->ranks[i].nspace);
    free(job->ranks);
    *job = (struct mpiq_found_job){0};
}
