/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/process_table.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/proc.h"
#include "names/objects.h"
#include "names/programs.h"
#include "names/variables.h"

enum { MAX_DEPTH = 4096 };

static int number(const char *text, int absent)
{
    char *end;
    errno = 0;
    long value = text ? strtol(text, &end, 10) : 0;
    return !text || end == text || *end || errno || value < 0 || value > INT_MAX ? absent : (int)value;
}

static bool read_stat(int directory, struct mpiq_process *process)
{
    size_t length;
    struct mpiq_proc_stat stat;
    _cleanup_free_ char *text = mpiq_proc_read_at(directory, "stat", &length);
    if (!text || !mpiq_proc_parse_stat(text, &stat))
        return false;
    process->state = stat.state;
    process->parent = stat.parent;
    snprintf(process->executable, sizeof process->executable, "%s", stat.name);
    return true;
}

static void read_executable(int directory, struct mpiq_process *process)
{
    char path[PATH_MAX];
    ssize_t length = readlinkat(directory, "exe", path, sizeof path - 1);
    if (length <= 0)
        return;
    path[length] = '\0';
    const char *slash = strrchr(path, '/');
    snprintf(process->executable, sizeof process->executable, "%.255s", slash ? slash + 1 : path);
}

/* The value of the first of these variables (ended by NULL) that is a number. */
static int first_number(const char *text, size_t length, const char *const *names, int absent)
{
    int value = -1;
    for (; *names && value < 0; names++)
        value = number(mpiq_proc_variable(text, length, *names), -1);
    return value < 0 ? absent : value;
}

static void read_sizes(struct mpiq_process *process, const char *text, size_t length)
{
    process->world_size = first_number(text, length, mpiq_size_variables, 0);
    process->local_size = first_number(text, length, mpiq_local_size_variables, 0);
}

/* Without a namespace: a step of Slurm's has a number, any other job gets its name in name_jobs. */
static void read_pmi(struct mpiq_process *process, const char *text, size_t length)
{
    int rank = first_number(text, length, mpiq_rank_variables, -1);
    int step_rank = number(mpiq_proc_variable(text, length, mpiq_slurm_rank_variable), -1);
    int job = number(mpiq_proc_variable(text, length, "SLURM_JOB_ID"), -1);
    int step =
        number(mpiq_proc_variable(text, length, "SLURM_STEP_ID"), -1); /* no number in a batch script */
    bool of_step = job >= 0 && step >= 0 && step_rank >= 0 && (rank < 0 || rank == step_rank);
    char name[64] = "pmi";
    if (rank < 0 && !of_step)
        return;
    if (of_step)
        snprintf(name, sizeof name, "slurm@%d.%d", job, step);
    process->nspace = strdup(name);
    process->rank = rank >= 0 ? rank : step_rank;
    process->by_pmi = true;
    read_sizes(process, text, length);
    if (!process->world_size && of_step)
        process->world_size = number(mpiq_proc_variable(text, length, mpiq_slurm_size_variable), 0);
}

/* Whether a process has a variable as "NAME=VALUE" says it, or as we have it. */
static bool has_variable(const char *text, size_t length, const char *match)
{
    const char *equals = strchr(match, '=');
    char name[256];
    size_t size = equals ? (size_t)(equals - match) : strlen(match);
    if (size >= sizeof name)
        return false;
    memcpy(name, match, size);
    name[size] = '\0';
    const char *wanted = equals ? equals + 1 : getenv(name);
    const char *value = mpiq_proc_variable(text, length, name);
    return wanted && value && strcmp(value, wanted) == 0;
}

static bool passes(const struct mpiq_process_filter *filter, const char *text, size_t length)
{
    for (size_t i = 0; filter && i < filter->match_count; i++) {
        if (!has_variable(text, length, filter->match[i]))
            return false;
    }
    return true;
}

/* Open MPI numbers the jobs of a launcher from 1 on; the lower half of what it calls a job says which it is.
 */
static int parent_job(const char *text, size_t length)
{
    const char *port = mpiq_proc_variable(text, length, mpiq_parent_variable);
    char *end = NULL;
    if (!port)
        return 0;
    unsigned long job = strtoul(port, &end, 10) & 0xffff;
    return end > port && *end == '.' && job > 0 ? (int)job : -1;
}

static void read_environment(int directory, const struct mpiq_process_filter *filter,
                             struct mpiq_process *process)
{
    size_t length;
    _cleanup_free_ char *text = mpiq_proc_read_at(directory, "environ", &length);
    process->readable = text != NULL;
    process->left_out = text && !passes(filter, text, length);
    if (!text || process->left_out)
        return;
    const char *nspace = mpiq_proc_variable(text, length, mpiq_namespace_variable);
    int rank = number(mpiq_proc_variable(text, length, "PMIX_RANK"), -1);
    if (!nspace || rank < 0) {
        read_pmi(process, text, length);
        return;
    }
    process->nspace = strdup(nspace);
    process->rank = rank;
    process->parent_job = parent_job(text, length);
    read_sizes(process, text, length);
}

bool mpiq_process_maps_mpi(pid_t pid)
{
    size_t length;
    _cleanup_free_ char *text = mpiq_proc_read_of(pid, "maps", &length);
    return !text || mpiq_maps_mpi(text);
}

bool mpiq_process_world_is_here(pid_t pid)
{
    size_t length;
    _cleanup_free_ char *text = mpiq_proc_read_of(pid, "environ", &length);
    struct mpiq_process process = {0};
    if (text)
        read_sizes(&process, text, length);
    return process.world_size > 0 && process.local_size == process.world_size;
}

/* Whether a process starts ranks, and may belong to the launcher that one below it does (NULL: any): Hydra's
   mpiexec starts a proxy on each host, that one the ranks; Open MPI's mpirun may start Hydra's mpiexec. */
static bool is_launcher(const struct mpiq_process *process, const struct mpiq_process *below)
{
    unsigned what = process ? mpiq_program(process->executable) : 0;
    bool starts = what & (MPIQ_PROGRAM_LAUNCHER | MPIQ_PROGRAM_DAEMON);
    return starts && (!below || !((what ^ mpiq_program(below->executable)) & MPIQ_PROGRAM_HYDRA));
}

/* A job without a name is named after its outermost launcher here, whose number no other process has. */
static struct mpiq_error *name_jobs(struct mpiq_process_table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        struct mpiq_process *process = &table->processes[i];
        if (!process->by_pmi || strcmp(process->nspace, "pmi") != 0)
            continue;
        const struct mpiq_process *launcher = NULL;
        pid_t parent = process->parent;
        for (int depth = 0; parent > 0 && depth < MAX_DEPTH; depth++) {
            const struct mpiq_process *at = mpiq_process_table_find(table, parent);
            if (is_launcher(at, launcher))
                launcher = at;
            else if (launcher)
                break;
            parent = at ? at->parent : 0;
        }
        char name[64];
        snprintf(name, sizeof name, "pmi@%d", launcher ? (int)launcher->pid : 0);
        free(process->nspace);
        process->nspace = strdup(name);
        if (!process->nspace)
            return mpiq_error_no_memory();
    }
    return NULL;
}

static int by_name(const void *left, const void *right)
{
    const struct mpiq_process *a = *(struct mpiq_process *const *)left,
                              *b = *(struct mpiq_process *const *)right;
    int order = strcmp(a->nspace, b->nspace);
    return order ? order : (a->rank > b->rank) - (a->rank < b->rank);
}

/* A rank alone with its name is the rank, whatever it maps: the list of mappings, the dearest file of all, is
   read of those alone that share one (wrappers, children). */
static struct mpiq_error *tell_ranks_apart(struct mpiq_process_table *table)
{
    struct mpiq_process **ranks = calloc(table->count + 1, sizeof *ranks); /* NOLINT */
    size_t count = 0;
    if (!ranks)
        return mpiq_error_no_memory();
    for (size_t i = 0; i < table->count; i++) {
        if (table->processes[i].nspace)
            ranks[count++] = &table->processes[i];
    }
    if (count > 0)
        qsort(ranks, count, sizeof *ranks, by_name); /* NOLINT */
    for (size_t i = 0; i < count; i++) {
        bool alone = (i == 0 || by_name(&ranks[i - 1], &ranks[i]) != 0) &&
                     (i + 1 == count || by_name(&ranks[i], &ranks[i + 1]) != 0);
        /* Slurm gives its variables to everything in a step, of whatever kind. */
        bool sure = alone && !ranks[i]->by_pmi && !mpiq_program(ranks[i]->executable);
        ranks[i]->maps_mpi = sure || mpiq_process_maps_mpi(ranks[i]->pid);
    }
    free(ranks);
    return NULL;
}

static bool read_process(int proc, const struct mpiq_process_filter *filter, const char *name,
                         struct mpiq_process *process)
{
    *process = (struct mpiq_process){.pid = number(name, 0), .rank = -1};
    _cleanup_close_ int directory = openat(proc, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct stat status;
    if (directory < 0 || fstat(directory, &status) < 0 || !read_stat(directory, process))
        return false;
    process->uid = status.st_uid;
    read_executable(directory, process);
    read_environment(directory, filter, process);
    return true;
}

static int by_pid(const void *left, const void *right)
{
    const struct mpiq_process *a = left, *b = right;
    return (a->pid > b->pid) - (a->pid < b->pid);
}

/* Whether the process has that argument on its command line. */
static bool has_argument(pid_t pid, const char *wanted)
{
    size_t length;
    _cleanup_free_ char *text = mpiq_proc_read_of(pid, "cmdline", &length);
    for (const char *at = text; text && at < text + length; at += strlen(at) + 1) {
        if (strcmp(at, wanted) == 0)
            return true;
    }
    return false;
}

static bool is_below(const struct mpiq_process_table *table, const struct mpiq_process *process,
                     const char *argument)
{
    for (int depth = 0; process && depth < MAX_DEPTH; depth++) {
        process = mpiq_process_table_find(table, process->parent);
        if (process && has_argument(process->pid, argument))
            return true;
    }
    return false;
}

/* What the filter asks of more than the environment. */
static struct mpiq_error *filter_jobs(const struct mpiq_process_filter *filter,
                                      struct mpiq_process_table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        struct mpiq_process *process = &table->processes[i];
        bool out = process->nspace && filter->below && !is_below(table, process, filter->below);
        bool renamed = process->nspace && !out && filter->nspace && process->by_pmi;
        if (!out && !renamed)
            continue;
        process->left_out = out;
        free(process->nspace);
        process->nspace = renamed ? strdup(filter->nspace) : NULL;
        if (renamed && !process->nspace)
            return mpiq_error_no_memory();
    }
    return NULL;
}

struct mpiq_error *mpiq_process_table_init(struct mpiq_process_table *ret)
{
    return mpiq_process_table_init_filtered(NULL, ret);
}

struct mpiq_error *mpiq_process_table_init_filtered(const struct mpiq_process_filter *filter,
                                                    struct mpiq_process_table *ret)
{
    struct mpiq_process_table table = {0};
    size_t room = 0;
    DIR *proc = opendir("/proc");
    if (!proc)
        return mpiq_error_create_os(errno, "cannot list the processes in /proc");
    struct dirent *entry;
    while ((entry = readdir(proc))) {
        if (!isdigit((unsigned char)entry->d_name[0]))
            continue;
        if (table.count == room) {
            room = room ? room * 2 : 256;
            struct mpiq_process *larger = realloc(table.processes, room * sizeof *larger);
            if (!larger) {
                closedir(proc);
                mpiq_process_table_deinit(&table);
                return mpiq_error_no_memory();
            }
            table.processes = larger;
        }
        table.count += read_process(dirfd(proc), filter, entry->d_name, &table.processes[table.count]);
    }
    closedir(proc);
    if (table.count > 0)
        qsort(table.processes, table.count, sizeof *table.processes, by_pid);
    struct mpiq_error *error = name_jobs(&table);
    if (!error && filter)
        error = filter_jobs(filter, &table);
    if (!error)
        error = tell_ranks_apart(&table);
    if (error)
        mpiq_process_table_deinit(&table);
    else
        *ret = table;
    return error;
}

void mpiq_process_table_deinit(struct mpiq_process_table *table)
{
    for (size_t i = 0; i < table->count; i++)
        free(table->processes[i].nspace);
    free(table->processes);
    *table = (struct mpiq_process_table){0};
}

const struct mpiq_process *mpiq_process_table_find(const struct mpiq_process_table *table, pid_t pid)
{
    struct mpiq_process key = {.pid = pid};
    return table->count ? bsearch(&key, table->processes, table->count, sizeof key, by_pid) : NULL;
}

bool mpiq_process_table_descends(const struct mpiq_process_table *table, pid_t pid, pid_t ancestor)
{
    for (int depth = 0; pid > 0 && depth < MAX_DEPTH; depth++) {
        if (pid == ancestor)
            return true;
        const struct mpiq_process *process = mpiq_process_table_find(table, pid);
        pid = process ? process->parent : 0;
    }
    return false;
}
