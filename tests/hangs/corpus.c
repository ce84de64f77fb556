/* SPDX-License-Identifier: BSD-3-Clause */
#include "corpus.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>

/* A job that lost its runner ends itself. */
#define LONGEST_LIFE_S 600

#define PROGRESS_SLOTS 64
#define OWN_STATUS 7

/* Longer than --stall-after. */
#define LONG_WORK_S 75

int rank, size;
int large[LARGE], large_received[LARGE];
int small[SMALL], small_received[SMALL];
int counts[16], offsets[16];

static struct corpus_case *cases;
static int runner = STDOUT_FILENO;
static volatile long *progress;
static pthread_mutex_t word = PTHREAD_MUTEX_INITIALIZER;
static bool said_ready;
static int status;

void corpus_register(struct corpus_case *added)
{
    added->next = cases;
    cases = added;
}

int rank_by_environment(void)
{
    const char *text = getenv("OMPI_COMM_WORLD_RANK");

    if (!text)
        text = getenv("PMI_RANK");
    return text ? atoi(text) : 0;
}

static void say(const char *what)
{
    char line[64];
    int length = snprintf(line, sizeof line, "%s %d %d\n", what, rank_by_environment(), (int)getpid());

    if (write(runner, line, length) != length)
        abort();
}

void wait_for_nobody(int peer)
{
    MPI_Recv(small_received, 1, MPI_INT, peer, NOBODY, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

void ready(void)
{
    pthread_mutex_lock(&word);
    if (!said_ready)
        say("ready");
    said_ready = true;
    pthread_mutex_unlock(&word);
}

static double now_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1e6 + now.tv_nsec / 1e3;
}

/* Where MPIQ_CORPUS_SECONDS is set, the job ends itself after so many, with a status of its own. */
static bool is_time_over(void)
{
    static double end;

    if (end == 0) {
        const char *seconds = getenv("MPIQ_CORPUS_SECONDS");
        end = seconds ? now_us() + atof(seconds) * 1e6 : -1;
    }
    return end > 0 && now_us() > end;
}

void count_progress(void)
{
    if (progress)
        __atomic_add_fetch(&progress[rank_by_environment() % PROGRESS_SLOTS], 1, __ATOMIC_RELAXED);
}

void wait_for_count_of(int other)
{
    while (progress && !__atomic_load_n(&progress[other], __ATOMIC_RELAXED))
        sched_yield();
}

void advance(void)
{
    count_progress();
    if (is_time_over())
        MPI_Abort(MPI_COMM_WORLD, OWN_STATUS);
}

bool goes_on(void)
{
    int over = is_time_over();

    MPI_Bcast(&over, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (over)
        status = OWN_STATUS;
    return !over;
}

double work_seconds(void)
{
    const char *seconds = getenv("MPIQ_CORPUS_SECONDS");

    return seconds ? atof(seconds) : LONG_WORK_S;
}

void compute_us(double microseconds)
{
    double end = now_us() + microseconds;
    volatile double value = 1;

    while (now_us() < end)
        for (int i = 0; i < 100; i++)
            value = value * 0.999 + 0.001;
}

void compute_for_ever(void)
{
    for (volatile long i = 0;; i++)
        ;
}

void sleep_for_ever(void)
{
    for (;;)
        pause();
}

static void open_runner(void)
{
    const char *ready_path = getenv("MPIQ_CORPUS_READY");
    const char *progress_path = getenv("MPIQ_CORPUS_PROGRESS");

    if (ready_path)
        runner = open(ready_path, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (runner < 0) {
        perror(ready_path);
        exit(1);
    }
    if (progress_path) {
        int file = open(progress_path, O_RDWR | O_CLOEXEC);
        void *map =
            mmap(NULL, PROGRESS_SLOTS * sizeof *progress, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);

        if (map == MAP_FAILED) {
            perror(progress_path);
            exit(1);
        }
        close(file);
        progress = map;
    }
}

int main(int argc, char **argv)
{
    struct corpus_case *chosen = cases;
    int provided;

    while (chosen && (argc < 2 || strcmp(chosen->name, argv[1]) != 0))
        chosen = chosen->next;
    if (!chosen) {
        for (chosen = cases; chosen; chosen = chosen->next)
            puts(chosen->name);
        return argc < 2 ? 0 : 2;
    }
    alarm(LONGEST_LIFE_S);
    open_runner();
    for (int i = 0; i < 16; i++) {
        counts[i] = 1;
        offsets[i] = i;
    }
    if (chosen->when == CORPUS_NO_INIT) {
        chosen->run();
        say("through");
        return 0;
    }
    MPI_Init_thread(&argc, &argv, chosen->when == CORPUS_THREADS ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
                    &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    chosen->run();
    say("through");
    MPI_Finalize();
    return status;
}
