/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpiq.h - libmpiq: looks at a running MPI job, or at what is left of one, and says why it hangs.
 *
 *     struct mpiq_options options = MPIQ_OPTIONS_DEFAULT;
 *     struct mpiq_job *job = NULL;
 *     struct mpiq_error *error = mpiq_job_look(&options, &job);
 *     if (!error)
 *         error = mpiq_job_render(job, MPIQ_VIEW_REPORT, &render, &text);
 *
 * mpiq_job_look reads all ranks twice, with a pause between, and decides.  The job it returns is plain data
 * and never changes.  Reading is done by helper processes, and by threads that have ended when the call
 * returns.  Only one thread at a time may use a struct mpiq_job; different threads may use different jobs.
 * The library never prints and sets no signal handler.  It leaves the processes it reads as it found them.
 *
 * Every function that can fail returns NULL on success, or an error, which the caller destroys.  On error the
 * out-parameters are untouched.
 */
#ifndef MPIQ_H
#define MPIQ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct mpiq_error;
struct mpiq_job;

/* What went wrong, as a sentence without a final full stop; valid as long as the error. */
const char *mpiq_error_message(const struct mpiq_error *error);
/* Whether the request was invalid (exit status 2), as opposed to nothing being readable (3). */
bool mpiq_error_is_usage(const struct mpiq_error *error);
/* NULL is fine. */
void mpiq_error_destroy(struct mpiq_error *error);

/* Writes text to the file `path`: to a temporary file beside it with mode 0600, renamed when complete.  If a
   symbolic link, a device or a directory is in the way, that is a usage error. */
struct mpiq_error *mpiq_write_file(const char *path, const char *text);

/* A process that the caller serves (docs/WIRE.md) on two descriptors, which remain the caller's. */
struct mpiq_wire {
    int in;
    int out;
};

struct mpiq_options {
    size_t size;                /* sizeof (struct mpiq_options), so that it can grow */
    const char *const *targets; /* as on the command line: pids, core files, snapshots, "slurm:12" */
    size_t target_count;        /* 0, and no wires: the user's only job on this machine */
    const struct mpiq_wire *wires;
    size_t wire_count;
    const char *dll;  /* message-queue DLL for all ranks; NULL: ours, or the library's */
    double pause;     /* seconds between the looks; negative: the default */
    bool stop;        /* freeze each process while it is read */
    bool stacks;      /* read stacks, for source lines */
    unsigned threads; /* ranks read in parallel; 0: as many as suits the machine and the job */
    /* Called now and then, on the calling thread, with a few words about what is being done; may be NULL. */
    void (*progress)(void *argument, const char *text);
    void *argument;
    double stall_after; /* seconds without any progress after which a job is "stalled" */
    const char *hosts;  /* the job's hosts, "n1,n2"; NULL: as its launcher says */
    const char
        *via;    /* the command line that reaches a host, with {host} in it; NULL: the launcher's, or ssh */
    double wait; /* seconds that a host may take for each look; 0: 30 */
    unsigned fanout;  /* connections to hosts to set up at a time; 0: 64 */
    double at;        /* of a trace: seconds after its start to look at; negative: its end */
    bool all_threads; /* read the stacks of all threads, of those too that say nothing about MPI */
};

#define MPIQ_OPTIONS_DEFAULT                                                                          \
    {                                                                                                 \
        .size = sizeof(struct mpiq_options), .pause = -1, .stacks = true, .stall_after = 60, .at = -1 \
    }

/*
 * A session looks at one job as often as its caller likes.  What reads the ranks stays from look to look, so
 * that a further look costs less than the first.  Only one thread at a time may use it, and that thread's end
 * ends the readers.
 */
struct mpiq_session;

/* The options are copied; what they point to must outlive the session. */
struct mpiq_error *mpiq_session_create(const struct mpiq_options *options, struct mpiq_session **ret);
/* NULL is fine.  Jobs that it has returned stay. */
void mpiq_session_destroy(struct mpiq_session *session);
/* As mpiq_job_look.  Every further look is at the same job: ranks that have come since are read too, and
   those that have ended are gone.  If all have, or there are files alone, that is an error for which
   mpiq_error_is_gone holds. */
struct mpiq_error *mpiq_session_look(struct mpiq_session *session, struct mpiq_job **ret);
/* Seconds of processor time that the last look took, this process's and its readers' together. */
double mpiq_session_cost(const struct mpiq_session *session);
/* Whether a job that was there is not any more. */
bool mpiq_error_is_gone(const struct mpiq_error *error);

/* A session of one look: finds the ranks, reads them and decides.  Fails only if nothing at all could be
   read: an unreadable rank is part of the answer.  The caller destroys the job. */
struct mpiq_error *mpiq_job_look(const struct mpiq_options *options, struct mpiq_job **ret);
/* NULL is fine. */
void mpiq_job_destroy(struct mpiq_job *job);

/* How many ranks it has, read or not. */
size_t mpiq_job_ranks(const struct mpiq_job *job);
/* When the last of them was read, in seconds since the epoch; of a trace, the time that was looked at.  0:
   not known. */
double mpiq_job_time(const struct mpiq_job *job);
/* The exit status that goes with the verdict: 0 running or finished, 1 deadlock, 3 unknown, 4 stalled. */
int mpiq_job_exit_status(const struct mpiq_job *job);
/* For a job under mpiq run --check: the number of problems its check has found; negative if the job is not
   yet at its end, where every living rank is paused to be read. */
int mpiq_job_checked(const struct mpiq_job *job);
/* How many of these are objects that were never freed. */
int mpiq_job_leaks(const struct mpiq_job *job);
/* What the check looked at: "4 ranks, 3 communicators, 1204 collective calls".  The caller frees *ret. */
struct mpiq_error *mpiq_job_check_summary(const struct mpiq_job *job, char **ret);
/* The verdict's word: "deadlock", "stalled", "running", "finished", "unknown"; static. */
const char *mpiq_job_verdict(const struct mpiq_job *job);

/*
 * A watch follows the job that this process has started: its descendants on this machine.  Only one thread at
 * a time may use it.
 *
 * The job moves if any rank makes progress in MPI, or if a rank, or a process started by a rank, uses the
 * processor or does I/O outside MPI.  A rank that sleeps in its own code moves when it wakes.
 */
struct mpiq_watch;

struct mpiq_error *mpiq_watch_create(struct mpiq_watch **ret);
/* NULL is fine. */
void mpiq_watch_destroy(struct mpiq_watch *watch);

/* Reads the kernel's counters of all processes (a few files in /proc each) and returns for how many seconds
   nothing is known to have moved; negative: there is no rank.  After ten seconds without a rank on this
   machine it returns how long it has watched, because ranks may be on other hosts.  Not counted is time in
   which this process was stopped, did not call this for longer than `longest` seconds, or a debugger held a
   rank.  The counters do not show MPI progress, nor whether a rank that uses the processor computes; the
   next mpiq_watch_look does. */
double mpiq_watch_sample(struct mpiq_watch *watch, double longest);

/* Looks as mpiq_job_look does, and also determines whether the job has moved since the last look. */
struct mpiq_error *mpiq_watch_look(struct mpiq_watch *watch, const struct mpiq_options *options,
                                   struct mpiq_job **ret);

/* For how many seconds nothing at all has moved, according to the last look and all samples.  0 before the
   second look, or if some rank could not be read or is on another host, because what was not seen may have
   moved. */
double mpiq_watch_still(const struct mpiq_watch *watch);

/* Ranks under the recorder that have been in one and the same MPI call for at least so many seconds. */
struct mpiq_waiting_ranks {
    size_t all;     /* ranks on this machine */
    size_t waiting; /* of them */
    uint64_t mark;  /* changes with who they are, and which call it is */
};

/* Cheaper than mpiq_watch_sample, which says who the ranks are: a few counters are read out of each rank.  A
   hint when a look may find something, never a proof. */
struct mpiq_waiting_ranks mpiq_watch_waiting(struct mpiq_watch *watch, double seconds);

/* For how many seconds MPI has made no progress in any rank, whatever else moves; 0 as for mpiq_watch_still.
 */
double mpiq_watch_mpi_still(const struct mpiq_watch *watch);

/* What moved last outside MPI: "process 4711 (solver) used the processor"; "" if nothing did. */
const char *mpiq_watch_mover(const struct mpiq_watch *watch);

/*
 * What is left of ranks that have ended: their records, in memory shared with the recorder of each, and how
 * they ended.  Ranks on this machine whose environment has MPIQ_REMAINS=mpiq_remains_address(remains).
 */
struct mpiq_remains;

struct mpiq_error *mpiq_remains_create(struct mpiq_remains **ret);
/* NULL is fine. */
void mpiq_remains_destroy(struct mpiq_remains *remains);
const char *mpiq_remains_address(const struct mpiq_remains *remains);
/* Readable when mpiq_remains_take has something to do, which waits for nothing. */
int mpiq_remains_descriptor(const struct mpiq_remains *remains);
void mpiq_remains_take(struct mpiq_remains *remains);
/* Says how the job ended whose ranks ended last other than by MPI_Finalize.  An error if there is none. */
struct mpiq_error *mpiq_remains_look(struct mpiq_remains *remains, const struct mpiq_options *options,
                                     struct mpiq_job **ret);

/* USAGE if the text is no list of ranks. */
struct mpiq_error *mpiq_check_ranks(const char *text);
/* USAGE if the options name a message-queue library that is not there. */
struct mpiq_error *mpiq_check_dll(const struct mpiq_options *options);

/* Writes nothing, but an error now is better than one when there is something to write: as of
 * mpiq_write_file. */
struct mpiq_error *mpiq_check_output(const char *path);

enum mpiq_view {
    MPIQ_VIEW_REPORT,      /* what is stuck and why */
    MPIQ_VIEW_WHY,         /* the chain from one rank to the cause */
    MPIQ_VIEW_COLLECTIVES, /* counts and active collectives of each communicator */
    MPIQ_VIEW_QUEUES,      /* pending sends, posted receives, unexpected messages */
    MPIQ_VIEW_COMMS,       /* communicators and their members */
    MPIQ_VIEW_RANKS,       /* one line per rank */
    MPIQ_VIEW_HISTORY,     /* the last MPI calls of some ranks */
    MPIQ_VIEW_STACKS,      /* the stacks of all ranks as one tree */
    MPIQ_VIEW_SCREEN,      /* as text: a cell a rank, who waits for whom, communicators */
    MPIQ_VIEW_LINE         /* as text: the look in one line */
};

enum mpiq_format { MPIQ_FORMAT_TEXT, MPIQ_FORMAT_JSON, MPIQ_FORMAT_HTML };

struct mpiq_render_options {
    size_t size; /* sizeof (struct mpiq_render_options) */
    enum mpiq_format format;
    const char *rank;  /* for MPIQ_VIEW_WHY: "3", or "w1:3" for another world; _HISTORY: "0-3,7", too */
    const char *ranks; /* only these, "0-3,7"; NULL: all */
    bool all;          /* include internal traffic */
    bool color;        /* with terminal escape sequences */
    int width;         /* of the terminal; 0: unlimited */
    const char *comm;  /* for MPIQ_VIEW_COLLECTIVES and _COMMS: only these, by name or number; NULL: all */
    int height;        /* for MPIQ_VIEW_SCREEN: lines to fill; 0: as many as it takes */
    const struct mpiq_job *before; /* an earlier look at the job, for calls a second; NULL */
    bool all_threads;              /* for MPIQ_VIEW_STACKS: all threads of each rank that were read */
    bool utf8;                     /* text may have characters beyond ASCII */
};

#define MPIQ_RENDER_OPTIONS_DEFAULT                \
    {                                              \
        .size = sizeof(struct mpiq_render_options) \
    }

/* Renders the view as text that ends in a newline; the caller frees it.  It is a usage error if the rank or
   communicator does not exist, or if `ranks` is not a list of ranks or names none of the job's. */
struct mpiq_error *mpiq_job_render(const struct mpiq_job *job, enum mpiq_view view,
                                   const struct mpiq_render_options *options, char **ret);

/*
 * The step mode: ranks whose environment has MPIQ_STEP are held before each MPI call, and let go by these
 * orders, through the memory of `remains`.  It has one selected row, a rank or one of its threads.
 */
struct mpiq_stepper;

enum mpiq_step_how {
    MPIQ_STEP_NEXT,  /* to the next call */
    MPIQ_STEP_RUN,   /* to the next breakpoint */
    MPIQ_STEP_OTHER, /* past all calls that are equal to this one */
};

/* remains has to outlive it. */
struct mpiq_error *mpiq_stepper_create(struct mpiq_remains *remains, struct mpiq_stepper **ret);
/* NULL is fine. */
void mpiq_stepper_destroy(struct mpiq_stepper *stepper);
/* Reads what all ranks do now; what it says afterwards, and orders, are about that.  Has to be called several
   times a second, also after mpiq_stepper_end: ranks that come later are greeted here. */
void mpiq_stepper_take(struct mpiq_stepper *stepper);
/* Whether a look would tell the source line of a call that a rank is held before. */
bool mpiq_stepper_wants_look(const struct mpiq_stepper *stepper);
/* A number that stays the same while each rank stays before, or in, the same call; of this process only. */
uint64_t mpiq_stepper_motion(const struct mpiq_stepper *stepper);
void mpiq_stepper_learn(struct mpiq_stepper *stepper, const struct mpiq_job *job);
/* Lets the selected one, or all, go on.  Whether it was held, or how many were. */
bool mpiq_stepper_go_one(struct mpiq_stepper *stepper, enum mpiq_step_how how);
size_t mpiq_stepper_go_all(struct mpiq_stepper *stepper, enum mpiq_step_how how);
/* Holds ranks that run to a breakpoint before their next calls. */
void mpiq_stepper_pause(struct mpiq_stepper *stepper);
/* Lets all go on for good. */
void mpiq_stepper_end(struct mpiq_stepper *stepper);
/* Selects the row so many further down. */
void mpiq_stepper_select(struct mpiq_stepper *stepper, int rows);
/* Selects a rank, or the first of its threads, by the name in its row: "3", "w1:3".  False: there is none. */
bool mpiq_stepper_choose(struct mpiq_stepper *stepper, const char *name);
/* Whether all ranks of the job have come, as far as they run on this host; some: whether any has. */
bool mpiq_stepper_complete(const struct mpiq_stepper *stepper, bool *some);
/* Adds a breakpoint: "MPI_Bcast", "ring.c:20", "comm=rows", "rank=3", or several of these with commas between.
   USAGE with a sentence if it is none.  Removes that number: false, there is none. */
struct mpiq_error *mpiq_stepper_break(struct mpiq_stepper *stepper, const char *text);
bool mpiq_stepper_unbreak(struct mpiq_stepper *stepper, unsigned number);
struct mpiq_error *mpiq_check_break(const char *text);
/* A row for each rank, below a few lines on the whole; job is the last look or NULL.  The caller frees it.
   *line is that of the selected row. */
struct mpiq_error *mpiq_stepper_text(const struct mpiq_stepper *stepper, const struct mpiq_job *job,
                                     const struct mpiq_render_options *options, size_t *line, char **ret);

/* Writes what was read to a file: envelopes, never payload.  Replaces the file in one step, or not at all. */
struct mpiq_error *mpiq_job_snapshot(const struct mpiq_job *job, const char *path);

/* Whether the file is a snapshot, as its first bytes say. */
bool mpiq_is_snapshot_file(const char *path);
/* Whether the path is that of an OTF2 trace, by its name. */
bool mpiq_is_trace_file(const char *path);

/* Writes what was read as an OTF2 archive, directory/traces.otf2: the last calls of all ranks and what they
   wait for.  The directory must not exist. */
struct mpiq_error *mpiq_job_otf2(const struct mpiq_job *job, const char *directory);

/* Asks a question about one process (the first wire, or else the first target, of options), as gdb's commands
   do: what a handle stands for, what is in a queue, what a message contains.  Question and answer are JSON
   (docs/WIRE.md, "Questions"); the caller frees the answer. */
struct mpiq_error *mpiq_ask(const struct mpiq_options *options, const char *question, char **ret);

/* The path of the recorder to preload into MPI programs (docs/RECORDER.md): MPIQ_RECORDER, or else where it
   is installed or built.  The caller frees *ret. */
struct mpiq_error *mpiq_recorder_path(char **ret);

/* Implements `mpiq collect`, which mpiq starts on each host of a job: looks at the job's ranks on this host
   and prints what it saw, as instructed by `words`, a list of strings.  Standard input says when to look
   again; closing it ends the call.  May be called only once in a process, which must have no threads. */
struct mpiq_error *mpiq_collect(int count, char *const *words);

/* Reads the OTF2 trace that options name as their only target and renders, as text, JSON or a page, where its
   ranks lost time waiting for each other and who was late (docs/TRACES.md); the caller frees the text. */
struct mpiq_error *mpiq_late(const struct mpiq_options *options, const struct mpiq_render_options *render,
                             char **ret);

/* What this machine and, with targets, this job allow mpiq to read, and what would help; the caller frees the
   text. */
struct mpiq_error *mpiq_doctor(const struct mpiq_options *options, char **ret);

#ifdef __cplusplus
}
#endif

#endif
