/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpiq.h - libmpiq: look at a running MPI job, or at what is left of one, and say why it hangs.
 *
 *     struct mpiq_options options = MPIQ_OPTIONS_DEFAULT;
 *     struct mpiq_job *job = NULL;
 *     struct mpiq_error *error = mpiq_job_look(&options, &job);
 *     if (!error)
 *         error = mpiq_job_render(job, MPIQ_VIEW_REPORT, &render, &text);
 *
 * A look reads all ranks twice, a pause apart, and decides; the job that comes back is plain data and never
 * changes.  Reading goes on in helper processes and in threads that have ended when the call returns.  A
 * struct mpiq_job may be used by one thread at a time, different ones by different threads.  Nothing is
 * ever printed; no signal handler is set; the process looked at is left as it was found.
 *
 * Every function that can fail returns NULL for success, or an error that the caller destroys; then the
 * out-parameters are untouched.
 */
#ifndef MPIQ_H
#define MPIQ_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct mpiq_error;
struct mpiq_job;

/* What went wrong, as a sentence without a full stop at its end; valid as long as the error. */
const char *mpiq_error_message(const struct mpiq_error *error);
/* Whether the caller asked for something that makes no sense (exit status 2), rather than that nothing
   could be read (3). */
bool mpiq_error_is_usage(const struct mpiq_error *error);
/* NULL is fine. */
void mpiq_error_destroy(struct mpiq_error *error);

/* Writes text to a file of that name: beside it, for the user alone (mode 0600), and renamed when it is
   whole.  A symbolic link, a device or a directory in the way is an error of usage. */
struct mpiq_error *mpiq_write_file(const char *path, const char *text);

/* A process that somebody else serves (docs/WIRE.md) on two descriptors, which stay the caller's. */
struct mpiq_wire {
    int in;
    int out;
};

struct mpiq_options {
    size_t size;                /* sizeof (struct mpiq_options): how it may grow */
    const char *const *targets; /* as on the command line: pids, core files, snapshots, "slurm:12" */
    size_t target_count;        /* 0, and no wires: the only job of mine that runs here */
    const struct mpiq_wire *wires;
    size_t wire_count;
    const char *dll;  /* message-queue DLL to use for all ranks; NULL: ours, or the library's */
    double pause;     /* seconds between the looks; negative: the default */
    bool stop;        /* freeze each process while it is read */
    bool stacks;      /* read stacks: where in the source */
    unsigned threads; /* ranks read side by side; 0: as many as the machine and the job ask for */
    /* Called now and then from the calling thread with what is going on, in a few words; may be NULL. */
    void (*progress)(void *argument, const char *text);
    void *argument;
    double stall_after; /* seconds without any progress after which a job is "stalled" */
    const char *hosts;  /* the hosts that the job runs on, "n1,n2"; NULL: as its launcher says */
    const char
        *via;    /* the command line that reaches a host, with {host} in it; NULL: the launcher's, or ssh */
    double wait; /* seconds that a host may take for each look; 0: 30 */
    unsigned fanout; /* connections to hosts that may be in the making at a time; 0: 64 */
};

#define MPIQ_OPTIONS_DEFAULT                                                                \
    {                                                                                       \
        .size = sizeof(struct mpiq_options), .pause = -1, .stacks = true, .stall_after = 60 \
    }

/* Finds the ranks, reads them, decides.  Fails only if nothing at all could be read: a rank that could not
   be read is part of the answer.  The caller destroys the job. */
struct mpiq_error *mpiq_job_look(const struct mpiq_options *options, struct mpiq_job **ret);
/* NULL is fine. */
void mpiq_job_destroy(struct mpiq_job *job);

/* The exit status that goes with the verdict: 0 running or finished, 1 deadlock, 3 unknown, 4 stalled. */
int mpiq_job_exit_status(const struct mpiq_job *job);
/* Of a job under mpiq run --check: how many things its check has found; negative if it is not at its end,
   where every living rank is held to be read. */
int mpiq_job_checked(const struct mpiq_job *job);
/* The verdict's word: "deadlock", "stalled", "running", "finished", "unknown"; static. */
const char *mpiq_job_verdict(const struct mpiq_job *job);

/*
 * A watch follows the job that this process has started: the processes below it on this machine.  It is used
 * by one thread at a time.
 *
 * Moving means: MPI progress in any rank, or a rank, or a process that a rank has started, using the
 * processor or doing I/O outside MPI.  A rank that sleeps in its own code moves when it wakes.
 */
struct mpiq_watch;

struct mpiq_error *mpiq_watch_create(struct mpiq_watch **ret);
/* NULL is fine. */
void mpiq_watch_destroy(struct mpiq_watch *watch);

/* Reads the kernel's counters of all processes, some files of /proc each, and returns for how many seconds
   nothing is known to have moved; negative: there is no rank.  After ten seconds without a rank on this
   machine it returns for how long it has watched: ranks may be on other hosts.  Time in which this process
   was stopped, or did not call for longer than `longest` seconds, does not count, nor does time in which a
   debugger held a rank. What the counters cannot tell (MPI progress, and whether a rank that uses the
   processor computes) the next mpiq_watch_look does. */
double mpiq_watch_sample(struct mpiq_watch *watch, double longest);

/* A look, as mpiq_job_look, that also tells whether the job has moved since the last one. */
struct mpiq_error *mpiq_watch_look(struct mpiq_watch *watch, const struct mpiq_options *options,
                                   struct mpiq_job **ret);

/* For how many seconds nothing at all has moved, by the last look and all samples; 0 before the second look,
   and where not every rank of the job could be read, or ranks are on other hosts: what was not seen may have
   moved. */
double mpiq_watch_still(const struct mpiq_watch *watch);

enum mpiq_view {
    MPIQ_VIEW_REPORT,      /* what is stuck and why */
    MPIQ_VIEW_WHY,         /* the chain from one rank to the cause */
    MPIQ_VIEW_COLLECTIVES, /* counts and active collectives by communicator */
    MPIQ_VIEW_QUEUES,      /* pending sends, posted receives, unexpected messages */
    MPIQ_VIEW_COMMS,       /* communicators and their members */
    MPIQ_VIEW_RANKS,       /* one line a rank */
    MPIQ_VIEW_HISTORY      /* the last MPI calls of one rank */
};

enum mpiq_format { MPIQ_FORMAT_TEXT, MPIQ_FORMAT_JSON, MPIQ_FORMAT_HTML };

struct mpiq_render_options {
    size_t size; /* sizeof (struct mpiq_render_options) */
    enum mpiq_format format;
    const char *rank;  /* of MPIQ_VIEW_WHY and _HISTORY: "3", or "w1:3" for another world */
    const char *ranks; /* only these, "0-3,7"; NULL: all */
    bool all;          /* internal traffic too */
    bool color;        /* with the terminal's escape sequences */
    int width;         /* of the terminal, 0: as wide as it gets */
    const char *comm;  /* of MPIQ_VIEW_COLLECTIVES and _COMMS: only these, by name or number; NULL: all */
};

#define MPIQ_RENDER_OPTIONS_DEFAULT                \
    {                                              \
        .size = sizeof(struct mpiq_render_options) \
    }

/* The view as text, ending in a line break, which the caller frees.  USAGE for a rank or a communicator that
   does not exist, or ranks that are no list or none of the job's. */
struct mpiq_error *mpiq_job_render(const struct mpiq_job *job, enum mpiq_view view,
                                   const struct mpiq_render_options *options, char **ret);

/* Writes what was read to a file: envelopes, never payload.  Replaces the file in one step or leaves it. */
struct mpiq_error *mpiq_job_snapshot(const struct mpiq_job *job, const char *path);

/* A question about one process, the first wire or else the first target of options, as gdb's commands ask it:
   what a handle stands for, what is in a queue, what a message holds.  Question and answer are JSON
   (docs/WIRE.md, "Questions"); the caller frees the answer. */
struct mpiq_error *mpiq_ask(const struct mpiq_options *options, const char *question, char **ret);

/* The path of the recorder, to be preloaded into MPI programs (docs/RECORDER.md): MPIQ_RECORDER, else where
   it is installed or built.  The caller frees *ret. */
struct mpiq_error *mpiq_recorder_path(char **ret);

/* What `mpiq collect` does, which mpiq starts on each host of a job: looks at the job's ranks on this host
   and prints what it saw, as words (a list of strings) say; standard input tells when to look again, and ends
   it when it is closed.  May be called once in a process, which has no threads. */
struct mpiq_error *mpiq_collect(int count, char *const *words);

/* What this machine and, with targets, this job allow, and what would help; the caller frees the text. */
struct mpiq_error *mpiq_doctor(const struct mpiq_options *options, char **ret);

#ifdef __cplusplus
}
#endif

#endif
