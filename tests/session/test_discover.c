/* SPDX-License-Identifier: BSD-3-Clause */
/* discover on process tables written as literals; what the table says of processes that are there. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "names/variables.h"
#include "session/discover.h"
#include "suite.h"

enum { SHELL = 10, LAUNCHER = 100, OTHER_LAUNCHER = 200 };

#define SOME(pid_, parent_, name) \
    .pid = (pid_), .parent = (parent_), .executable = (name), .state = 'S', .rank = -1
#define RANK(pid_, parent_, name, nspace_, rank_)                                                \
    .pid = (pid_), .parent = (parent_), .executable = (name), .state = 'R', .nspace = (nspace_), \
    .rank = (rank_), .world_size = 2, .local_size = 2

/* Runs discover over rows that belong to this user unless they say otherwise; pids must ascend. */
static struct mpiq_error *discover(struct mpiq_process *rows, size_t count, pid_t pid,
                                   struct mpiq_found_job *ret)
{
    struct mpiq_process_table table = {rows, count};
    for (size_t i = 0; i < count; i++)
        rows[i].uid += geteuid();
    return mpiq_discover(&table, pid, ret);
}

#define DISCOVER(rows, pid, ret) discover(rows, sizeof(rows) / sizeof((rows)[0]), pid, ret)

static void assert_ranks(const struct mpiq_found_job *job, size_t count, const pid_t *pids)
{
    CU_ASSERT_EQUAL_FATAL(job->count, count);
    for (size_t i = 0; i < count; i++)
        CU_ASSERT_EQUAL(job->ranks[i].pid, pids[i]);
}

static void assert_error(struct mpiq_error *error, enum mpiq_error_code code, const char *part)
{
    CU_ASSERT_PTR_NOT_NULL_FATAL(error);
    CU_ASSERT_EQUAL(error->code, code);
    CU_ASSERT_PTR_NOT_NULL(strstr(error->message, part));
    mpiq_error_destroy(error);
}

static void the_same_job_from_launcher_rank_or_nothing(void)
{
    static const pid_t from[] = {LAUNCHER, 101, 102, 0};
    for (size_t i = 0; i < sizeof from / sizeof from[0]; i++) {
        struct mpiq_process rows[] = {
            {SOME(SHELL, 1, "bash")},
            {SOME(LAUNCHER, SHELL, "mpirun")},
            {RANK(101, LAUNCHER, "solver", "7", 1), .maps_mpi = true},
            {RANK(102, LAUNCHER, "solver", "7", 0), .maps_mpi = true},
        };
        struct mpiq_found_job job = {0};
        CU_ASSERT_PTR_NULL(DISCOVER(rows, from[i], &job));
        assert_ranks(&job, 2, (pid_t[]){102, 101});
        CU_ASSERT_TRUE(job.whole);
        CU_ASSERT_EQUAL(job.world_size, 2);
        mpiq_found_job_deinit(&job);
    }
}

static void a_wrapper_and_a_child_are_not_the_rank(void)
{
    struct mpiq_process rows[] = {
        {SOME(LAUNCHER, 1, "mpirun")},
        {RANK(101, LAUNCHER, "sh", "7", 0)},
        {RANK(102, 101, "solver", "7", 0), .maps_mpi = true},
        {RANK(103, 102, "solver", "7", 0), .maps_mpi = true},
        {RANK(104, 103, "gzip", "7", 0)},
    };
    struct mpiq_found_job job = {0};
    CU_ASSERT_PTR_NULL(DISCOVER(rows, 104, &job));
    assert_ranks(&job, 1, (pid_t[]){102});
    mpiq_found_job_deinit(&job);
}

/* It maps MPI and says that it is the rank; its parent is init, or who takes its place. */
static void a_daemon_that_a_rank_left_behind_is_not_the_rank(void)
{
    struct mpiq_process rows[] = {
        {SOME(1, 0, "init")},
        {SOME(50, 1, "systemd")},
        {SOME(LAUNCHER, 1, "mpirun")},
        {RANK(101, LAUNCHER, "solver", "7", 0), .maps_mpi = true},
        {RANK(102, LAUNCHER, "solver", "7", 1), .maps_mpi = true},
        {RANK(103, 50, "solver", "7", 0), .maps_mpi = true},
        {RANK(104, 1, "solver", "7", 1), .maps_mpi = true},
    };
    struct mpiq_found_job job = {0};
    CU_ASSERT_PTR_NULL(DISCOVER(rows, 101, &job));
    assert_ranks(&job, 2, (pid_t[]){101, 102});
    CU_ASSERT_EQUAL(job.ranks[0].other, 0);
    CU_ASSERT_EQUAL(job.ranks[1].other, 0);
    mpiq_found_job_deinit(&job);
}

/* Of those without a rank's environment only what the launcher itself started, and what lives, may be a rank.
 */
static void a_process_without_a_name_may_be_a_rank(void)
{
    struct mpiq_process rows[] = {
        {SOME(SHELL, 1, "bash")},
        {SOME(50, SHELL, "sort")},
        {SOME(LAUNCHER, SHELL, "mpirun")},
        {RANK(101, LAUNCHER, "solver", "7", 0), .maps_mpi = true},
        {SOME(102, 101, "gzip")},
        {SOME(103, LAUNCHER, "ended")},
        {SOME(104, LAUNCHER, "hydra_pmi_proxy")},
        {SOME(105, LAUNCHER, "solver")},
        {SOME(106, 105, "gzip")},
        {SOME(107, LAUNCHER, "solver"), .left_out = true},
        {SOME(OTHER_LAUNCHER, SHELL, "mpirun")},
        {SOME(201, OTHER_LAUNCHER, "solver")},
    };
    struct mpiq_found_job job = {0};
    rows[5].state = 'Z';
    CU_ASSERT_PTR_NULL(DISCOVER(rows, LAUNCHER, &job));
    assert_ranks(&job, 1, (pid_t[]){101});
    CU_ASSERT_TRUE(job.whole);
    CU_ASSERT_EQUAL(job.stranger, 105);
    CU_ASSERT_EQUAL(job.stranger_count, 1);
    mpiq_found_job_deinit(&job);
}

/* Their launcher has ended: its place is taken by who is everybody's parent. */
static void an_orphan_without_a_name_may_be_a_rank(void)
{
    struct mpiq_process rows[] = {
        {SOME(1, 0, "init")},
        {SOME(50, 1, "daemon"), .uid = 1},
        {SOME(getpid(), 1, "test_discover")}, /* one of ours, without MPI */
        {RANK(1 << 22, 1, "solver", "7", 0), .maps_mpi = true},
        {SOME((1 << 22) + 1, 1, "solver")}, /* its maps cannot be read */
    };
    struct mpiq_found_job job = {0};
    CU_ASSERT_PTR_NULL(DISCOVER(rows, 1 << 22, &job));
    assert_ranks(&job, 1, (pid_t[]){1 << 22});
    CU_ASSERT_EQUAL(job.stranger, (1 << 22) + 1);
    CU_ASSERT_EQUAL(job.stranger_count, 1);
    mpiq_found_job_deinit(&job);
}

/* Jobs 1 and 2 are of two prun; 3 was spawned by 1, and 4 by 3. */
static void a_prte_has_many_jobs(void)
{
    static const struct {
        pid_t pid;
        size_t count;
        pid_t pids[3];
        const char *error;
    } rows[] = {
        {101, 3, {101, 103, 104}, NULL},
        {104, 3, {101, 103, 104}, NULL},
        {102, 1, {102}, NULL},
        {LAUNCHER, 0, {0}, "say which one: mpiq 101 (solver, 3 ranks), mpiq 102 (solver, 1 rank)"},
        {0, 0, {0}, "several MPI jobs run here"},
        {50, 0, {0}, "several MPI jobs run here"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct mpiq_process processes[] = {
            {SOME(50, SHELL, "prun")},
            {SOME(LAUNCHER, 1, "prte")},
            {RANK(101, LAUNCHER, "solver", "prte-n-7@1", 0), .maps_mpi = true},
            {RANK(102, LAUNCHER, "solver", "prte-n-7@2", 0), .maps_mpi = true},
            {RANK(103, LAUNCHER, "solver", "prte-n-7@3", 0), .maps_mpi = true, .parent_job = 1},
            {RANK(104, LAUNCHER, "solver", "prte-n-7@4", 0), .maps_mpi = true, .parent_job = 3},
        };
        struct mpiq_found_job job = {0};
        struct mpiq_error *error = DISCOVER(processes, rows[i].pid, &job);
        if (rows[i].error) {
            assert_error(error, MPIQ_ERROR_USAGE, rows[i].error);
            continue;
        }
        CU_ASSERT_PTR_NULL(error);
        assert_ranks(&job, rows[i].count, rows[i].pids);
        mpiq_found_job_deinit(&job);
    }
}

/* Whose ranks are not below it, nor is their prte. */
static void a_prun_stands_for_the_only_job(void)
{
    struct mpiq_process rows[] = {
        {SOME(50, SHELL, "prun")},
        {SOME(LAUNCHER, 1, "prte")},
        {RANK(101, LAUNCHER, "solver", "prte-n-7@4", 0), .maps_mpi = true},
        {RANK(102, LAUNCHER, "solver", "prte-n-7@5", 0), .maps_mpi = true, .parent_job = -1},
    };
    struct mpiq_found_job job = {0};
    CU_ASSERT_PTR_NULL(DISCOVER(rows, 50, &job));
    assert_ranks(&job, 2, (pid_t[]){101, 102});
    mpiq_found_job_deinit(&job);
    assert_error(discover(rows, 2, 50, &job), MPIQ_ERROR_NOT_FOUND,
                 "has no MPI processes on this machine (yet)");
}

static void a_spawned_world_belongs_to_the_job(void)
{
    struct mpiq_process rows[] = {
        {SOME(LAUNCHER, 1, "prterun")},
        {RANK(101, LAUNCHER, "parent", "prterun-n1-100@1", 0), .maps_mpi = true},
        {RANK(102, LAUNCHER, "child", "prterun-n1-100@2", 0), .maps_mpi = true},
        {RANK(103, LAUNCHER, "parent", "prterun-n1-100@1", 1), .maps_mpi = true},
    };
    struct mpiq_found_job job = {0};
    CU_ASSERT_PTR_NULL(DISCOVER(rows, 102, &job));
    assert_ranks(&job, 3, (pid_t[]){101, 103, 102});
    mpiq_found_job_deinit(&job);
}

static void one_namespace_under_two_daemons_is_one_job(void)
{
    struct mpiq_process rows[] = {
        {SOME(LAUNCHER, 1, "orted")},
        {RANK(101, LAUNCHER, "solver", "7", 0), .maps_mpi = true},
        {SOME(OTHER_LAUNCHER, 1, "orted")},
        {RANK(201, OTHER_LAUNCHER, "solver", "7", 1), .maps_mpi = true},
    };
    struct mpiq_found_job job = {0};
    CU_ASSERT_PTR_NULL(DISCOVER(rows, 0, &job));
    assert_ranks(&job, 2, (pid_t[]){101, 201});
    mpiq_found_job_deinit(&job);
}

static void two_jobs_are_a_question(void)
{
    struct mpiq_process rows[] = {
        {SOME(SHELL, 1, "bash")},
        {SOME(LAUNCHER, SHELL, "mpirun")},
        {RANK(101, LAUNCHER, "solver", "7", 0), .maps_mpi = true},
        {SOME(OTHER_LAUNCHER, SHELL, "mpirun")},
        {RANK(201, OTHER_LAUNCHER, "mixer", "8", 0), .maps_mpi = true},
    };
    struct mpiq_process again[sizeof rows / sizeof rows[0]];
    memcpy(again, rows, sizeof rows);
    struct mpiq_found_job job = {0};
    assert_error(DISCOVER(rows, 0, &job), MPIQ_ERROR_USAGE,
                 "mpiq 100 (solver, 1 rank), mpiq 200 (mixer, 1 rank)");
    assert_error(DISCOVER(again, SHELL, &job), MPIQ_ERROR_USAGE, "several MPI jobs");
}

static void the_job_of_another_user_is_not_mine(void)
{
    struct mpiq_process rows[] = {
        {SOME(LAUNCHER, 1, "mpirun")},
        {RANK(101, LAUNCHER, "mine", "7", 0), .maps_mpi = true},
        {SOME(OTHER_LAUNCHER, 1, "mpirun")},
        {RANK(201, OTHER_LAUNCHER, "theirs", "8", 0), .maps_mpi = true, .uid = 1},
    };
    struct mpiq_found_job job = {0};
    CU_ASSERT_PTR_NULL(DISCOVER(rows, 0, &job));
    assert_ranks(&job, 1, (pid_t[]){101});
    mpiq_found_job_deinit(&job);
}

/* Under no launcher's name, or another user's: it takes nobody's place, and is no job's rank. */
static void a_copied_namespace_displaces_nobody(void)
{
    for (uid_t other = 0; other < 2; other++) {
        struct mpiq_process rows[] = {
            {SOME(SHELL, 1, "bash")},
            {RANK(50, SHELL, "impostor", "7", 1), .maps_mpi = true, .uid = other},
            {SOME(LAUNCHER, 1, "mpirun")},
            {RANK(101, LAUNCHER, "solver", "7", 0), .maps_mpi = true},
            {RANK(102, LAUNCHER, "solver", "7", 1), .maps_mpi = true},
        };
        struct mpiq_found_job job = {0};
        CU_ASSERT_PTR_NULL(DISCOVER(rows, LAUNCHER, &job));
        assert_ranks(&job, 2, (pid_t[]){101, 102});
        mpiq_found_job_deinit(&job);
    }
}

static void of_two_with_one_name_neither_is_read(void)
{
    struct mpiq_process rows[] = {
        {SOME(LAUNCHER, 1, "mpirun")},
        {RANK(101, LAUNCHER, "solver", "7", 0), .maps_mpi = true},
        {RANK(102, LAUNCHER, "solver", "7", 1), .maps_mpi = true},
        {RANK(103, LAUNCHER, "solver", "7", 1), .maps_mpi = true},
    };
    struct mpiq_found_job job = {0};
    CU_ASSERT_PTR_NULL(DISCOVER(rows, LAUNCHER, &job));
    CU_ASSERT_EQUAL_FATAL(job.count, 2);
    CU_ASSERT_EQUAL(job.ranks[0].other, 0);
    CU_ASSERT_EQUAL(job.ranks[1].rank, 1);
    CU_ASSERT_EQUAL(job.ranks[1].pid, 102);
    CU_ASSERT_EQUAL(job.ranks[1].other, 103);
    mpiq_found_job_deinit(&job);
}

/* Each rank can write its own environment: one that does changes nothing for the others. */
static void one_ranks_word_is_not_the_worlds_size(void)
{
    struct mpiq_process rows[] = {
        {SOME(LAUNCHER, 1, "mpirun")},
        {RANK(101, LAUNCHER, "solver", "7", 0), .maps_mpi = true},
        {RANK(102, LAUNCHER, "solver", "7", 1), .maps_mpi = true},
        {RANK(103, LAUNCHER, "solver", "7", 2), .maps_mpi = true},
    };
    rows[1].world_size = rows[1].local_size = 2000000000;
    struct mpiq_found_job job = {0};
    CU_ASSERT_PTR_NULL(DISCOVER(rows, LAUNCHER, &job));
    CU_ASSERT_EQUAL(job.world_size, 2);
    mpiq_found_job_deinit(&job);

    struct mpiq_process alone[] = {
        {SOME(LAUNCHER, 1, "mpirun")},
        {RANK(101, LAUNCHER, "solver", "7", 0), .maps_mpi = true},
    };
    alone[1].world_size = alone[1].local_size = 2000000000;
    CU_ASSERT_PTR_NULL(DISCOVER(alone, LAUNCHER, &job));
    CU_ASSERT_FALSE(job.whole);
    mpiq_found_job_deinit(&job);
}

static void a_process_without_launcher_is_a_job_of_one(void)
{
    struct mpiq_process rows[] = {{SOME(SHELL, 1, "bash")}, {SOME(11, SHELL, "solver")}};
    struct mpiq_found_job job = {0};
    CU_ASSERT_PTR_NULL(DISCOVER(rows, 11, &job));
    assert_ranks(&job, 1, (pid_t[]){11});
    CU_ASSERT_EQUAL(job.ranks[0].rank, -1);
    CU_ASSERT_PTR_NULL(job.ranks[0].nspace);
    mpiq_found_job_deinit(&job);
}

static void what_is_not_there_is_said(void)
{
    struct mpiq_process rows[] = {{SOME(LAUNCHER, 1, "mpirun")}};
    struct mpiq_found_job job = {0};
    assert_error(DISCOVER(rows, 0, &job), MPIQ_ERROR_NOT_FOUND, "no MPI job");
    assert_error(DISCOVER(rows, 99, &job), MPIQ_ERROR_NOT_FOUND, "no process has the pid 99");
    assert_error(DISCOVER(rows, LAUNCHER, &job), MPIQ_ERROR_NOT_FOUND,
                 "has no MPI processes on this machine");
}

static void this_process_is_in_the_table(void)
{
    struct mpiq_process_table table;
    CU_ASSERT_PTR_NULL_FATAL(mpiq_process_table_init(&table));
    const struct mpiq_process *self = mpiq_process_table_find(&table, getpid());
    CU_ASSERT_PTR_NOT_NULL_FATAL(self);
    CU_ASSERT_EQUAL(self->parent, getppid());
    CU_ASSERT_EQUAL(self->uid, geteuid());
    CU_ASSERT_STRING_EQUAL(self->executable, "test_discover");
    CU_ASSERT_TRUE(mpiq_process_table_descends(&table, getpid(), getppid()));
    CU_ASSERT_FALSE(mpiq_process_table_descends(&table, getppid(), getpid()));
    CU_ASSERT_PTR_NULL(mpiq_process_table_find(&table, 0));
    mpiq_process_table_deinit(&table);
}

/* A launcher's file, a copy of the shell, that starts one rank with that variable; *command ends both. */
static pid_t start_rank(const char *launcher, const char *variable, FILE **command)
{
    char line[512], file[] = "/tmp/mpiq-rank-XXXXXX";
    int pid = 0, descriptor = mkstemp(file);
    CU_ASSERT_FATAL(descriptor >= 0);
    close(descriptor);
    snprintf(line, sizeof line, "%s -c '%s=3 sleep 1000 & echo $! > %s; read end; kill $!'", launcher,
             variable, file);
    *command = popen(line, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(*command);
    while (pid == 0) {
        FILE *answer = fopen(file, "r");
        CU_ASSERT_PTR_NOT_NULL_FATAL(answer);
        if (fscanf(answer, "%d\n", &pid) != 1)
            usleep(1000);
        fclose(answer);
    }
    unlink(file);
    return pid;
}

/* Whether a process is no longer the copy of its launcher; amid execve() it has no environment. */
static bool has_begun(pid_t pid)
{
    char path[64], text[256], byte;
    snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
    ssize_t length = readlink(path, text, sizeof text - 1);
    if (length <= 0)
        return false;
    text[length] = '\0';
    snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
    FILE *environment = fopen(path, "r");
    bool has = environment && fread(&byte, 1, 1, environment) == 1;
    if (environment)
        fclose(environment);
    return has && !strstr(text, "prterun");
}

/* The name of its job; the caller frees it. */
static char *job_of(pid_t pid)
{
    struct mpiq_process_table table;
    while (!has_begun(pid))
        usleep(1000);
    CU_ASSERT_PTR_NULL_FATAL(mpiq_process_table_init(&table));
    const struct mpiq_process *rank = mpiq_process_table_find(&table, pid);
    CU_ASSERT_PTR_NOT_NULL_FATAL(rank);
    CU_ASSERT_EQUAL(rank->rank, 3);
    char *name = strdup(rank->nspace ? rank->nspace : "");
    mpiq_process_table_deinit(&table);
    return name;
}

/* Whatever variable of the list says the rank, it is one; and each launcher's ranks are a job of their own.
 */
static void each_launcher_tells_its_ranks(void)
{
    char directory[] = "/tmp/mpiq-launcher-XXXXXX", launcher[64], copy[128];
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(directory));
    snprintf(launcher, sizeof launcher, "%s/prterun", directory);
    snprintf(copy, sizeof copy, "cp -L /bin/sh %s", launcher);
    CU_ASSERT_EQUAL_FATAL(system(copy), 0); /* NOLINT(cert-env33-c) */
    for (const char *const *variable = mpiq_rank_variables; *variable; variable++) {
        FILE *commands[2];
        char *names[2];
        for (int i = 0; i < 2; i++)
            names[i] = job_of(start_rank(launcher, *variable, &commands[i]));
        CU_ASSERT_STRING_NOT_EQUAL(names[0], names[1]);
        for (int i = 0; i < 2; i++) {
            free(names[i]);
            pclose(commands[i]);
        }
    }
    unlink(launcher);
    rmdir(directory);
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"the same job from launcher, rank or nothing", the_same_job_from_launcher_rank_or_nothing},
        {"a wrapper and a child are not the rank", a_wrapper_and_a_child_are_not_the_rank},
        {"a daemon that a rank left behind is not the rank",
         a_daemon_that_a_rank_left_behind_is_not_the_rank},
        {"a process without a name may be a rank", a_process_without_a_name_may_be_a_rank},
        {"an orphan without a name may be a rank", an_orphan_without_a_name_may_be_a_rank},
        {"a spawned world belongs to the job", a_spawned_world_belongs_to_the_job},
        {"a prte has many jobs", a_prte_has_many_jobs},
        {"a prun stands for the only job", a_prun_stands_for_the_only_job},
        {"one namespace under two daemons is one job", one_namespace_under_two_daemons_is_one_job},
        {"with two jobs, the user must choose", two_jobs_are_a_question},
        {"the job of another user is not mine", the_job_of_another_user_is_not_mine},
        {"a copied namespace displaces no rank", a_copied_namespace_displaces_nobody},
        {"of two processes with one name neither is read", of_two_with_one_name_neither_is_read},
        {"one rank alone does not determine the world's size", one_ranks_word_is_not_the_worlds_size},
        {"a process without a launcher is a job of one", a_process_without_launcher_is_a_job_of_one},
        {"a missing job or process is an error that says so", what_is_not_there_is_said},
        {"this process is in the table", this_process_is_in_the_table},
        {"each launcher tells its ranks", each_launcher_tells_its_ranks},
        CU_TEST_INFO_NULL,
    };
    return suite_run("discover", tests);
}
