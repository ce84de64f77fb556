/* SPDX-License-Identifier: BSD-3-Clause */
/* host - our side of the helper that runs a message-queue DLL. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/debug.h"
#include "base/json_text.h"
#include "rank/choose_dll.h"
#include "rank/groups.h"
#include "rank/helper_process.h"
#include "rank/identity.h"
#include "rank/merge_records.h"
#include "rank/rank.h"
#include "state/group_hash.h"
#include "process/pipe.h"
#include "base/proc.h"
#include "process/serve.h"

#define SECONDS_DEFAULT 10.0
#define MEMORY_DEFAULT ((uint64_t)2 << 30)
/* How long a helper that was told to end may take to say what it was at. */
#define LAST_WORDS_SECONDS 1.0
/* Wall-clock time passes while a helper has no processor or waits for the target (which may be loading
   symbols and types), so it may take this many times its limit of processor time. */
#define PATIENCE 10.0
/* How often the processor time of a helper that is short of it is looked at. */
#define GLANCE_NS ((int64_t)10 * 1000 * 1000)

/* A note on a target: its MPI library's own queues can never be joined with the recorder's record. */
#define NOTE_NEVER_JOINS 1u

struct mpiq_dll_host {
    struct mpiq_dll_host_options options;
    char *dll;                    /* that of the options */
    char *ours;                   /* our own, once it was looked for */
    pid_t pid;                    /* of the helper; 0: none runs */
    struct mpiq_helper_user user; /* whom it runs as */
    dev_t device;                 /* of the DLL that it has loaded */
    ino_t inode;
    int socket;
    struct mpiq_pipe pipe;
    struct budget {
        int64_t begin;     /* CLOCK_MONOTONIC */
        int64_t processor; /* that the helper had used by then; -1: not known */
        int64_t time;      /* of the processor, that it may use */
        int64_t wall_time; /* by CLOCK_MONOTONIC */
        int64_t spent;     /* of the one that it has used up */
    } budget;
    unsigned late; /* ranks in a row for which the DLL came to no end */
    struct mpiq_group_table groups;
    unsigned look;             /* of the caller's */
    unsigned request;          /* number of the last one to the helper */
    const char *question;      /* JSON, while one is asked instead of a look */
    struct mpiq_dll_host *own; /* beside the recorder's DLL: for the MPI library's; NULL at first */
};

/* What the helper said beside its requests. */
struct answer {
    unsigned request; /* that it has to be for */
    bool asked;       /* a question: what comes is text */
    char *text;       /* of the answer to a question */
    struct mpiq_rank_state *state;
    struct mpiq_error *error; /* its own: the helper is as good as before */
    int crash;                /* signal; 0 none */
    char phase[128];
    bool nonsense;
    bool ended; /* done or fail has come */
};

struct mpiq_error *mpiq_dll_host_create(const struct mpiq_dll_host_options *options,
                                        struct mpiq_dll_host **ret)
{
    struct mpiq_dll_host *host = calloc(1, sizeof *host);
    if (!host)
        return mpiq_error_create(MPIQ_ERROR_NO_MEMORY, "no memory for a host of message-queue libraries");
    if (options)
        host->options = *options;
    if (host->options.seconds <= 0)
        host->options.seconds = SECONDS_DEFAULT;
    if (host->options.wall_seconds <= 0)
        host->options.wall_seconds = PATIENCE * host->options.seconds;
    if (!host->options.memory)
        host->options.memory = MEMORY_DEFAULT;
    host->look = 1;
    host->socket = -1;
    if (host->options.dll) {
        host->dll = strdup(host->options.dll);
        if (!host->dll) {
            free(host);
            return mpiq_error_create(MPIQ_ERROR_NO_MEMORY, "no memory for a path");
        }
        host->options.dll = host->dll;
    }
    *ret = host;
    return NULL;
}

static void forget_helper(struct mpiq_dll_host *host)
{
    host->pid = 0;
    close(host->socket);
    host->socket = -1;
    mpiq_pipe_deinit(&host->pipe);
}

/* Ends the helper at once and returns its wait status; -1 if none ran. */
static int stop_helper(struct mpiq_dll_host *host)
{
    if (host->pid <= 0)
        return -1;
    int status = mpiq_helper_stop(host->pid);
    forget_helper(host);
    return status;
}

void mpiq_dll_host_destroy(struct mpiq_dll_host *host)
{
    if (!host)
        return;
    stop_helper(host);
    mpiq_dll_host_destroy(host->own);
    mpiq_group_table_deinit(&host->groups);
    free(host->dll);
    free(host->ours);
    free(host);
}

void mpiq_dll_host_begin_look(struct mpiq_dll_host *host)
{
    host->look++;
}

/* ---- starting --------------------------------------------------------------------------------------- */

static struct mpiq_error *start_helper(struct mpiq_dll_host *host, int dll,
                                       const struct mpiq_helper_user *user)
{
    struct mpiq_error *error = mpiq_helper_start(dll, host->options.memory, user, &host->pid, &host->socket);
    if (error)
        return error;
    host->user = *user;
    mpiq_pipe_init(&host->pipe, host->socket, host->socket);
    const struct timeval now_and_then = {.tv_usec = 20000};
    host->pipe.patient =
        setsockopt(host->socket, SOL_SOCKET, SO_RCVTIMEO, &now_and_then, sizeof now_and_then) == 0;
    return NULL;
}

/* What a DLL for Open MPI asks first of all, so that it need not: a question waits for two turns of the
   processor, on a machine whose ranks spin. */
static void write_known_replies(struct mpiq_text *text, struct mpiq_target *target, pid_t direct)
{
    static const char *const requests[] = {"hello 1", "sizes", "symbol ompi_mqs_root"};
    mpiq_text_open(text, '{');
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        _cleanup_free_ char *reply = mpiq_target_reply(target, direct, requests[i]);
        mpiq_text_put_string(text, requests[i], reply);
    }
    mpiq_text_close(text, '}');
}

static struct mpiq_error *send_look(struct mpiq_dll_host *host, struct mpiq_target *target, pid_t direct,
                                    const char *dll)
{
    _cleanup_free_ char *look = NULL;
    _cleanup_free_ char *line = NULL;
    struct mpiq_text text = {0};
    mpiq_text_open(&text, '{');
    mpiq_text_put_unsigned(&text, "number", ++host->request);
    mpiq_text_put_string(&text, "dll", dll);
    mpiq_text_put_bool(&text, "internal", !host->options.no_internal);
    if (host->question) {
        mpiq_text_key(&text, "question");
        mpiq_text_raw(&text, host->question, strlen(host->question));
    }
    mpiq_text_key(&text, "known");
    write_known_replies(&text, target, direct);
    mpiq_text_close(&text, '}');
    struct mpiq_error *error = mpiq_text_end(&text, &look);
    if (error)
        return error;
    int length = asprintf(&line, "look %s\n", look);
    if (length < 0) {
        line = NULL;
        return mpiq_error_create(MPIQ_ERROR_NO_MEMORY, "no memory for a request");
    }
    return mpiq_pipe_write(&host->pipe, line, (size_t)length);
}

/* A DLL that came to no end for one rank will hardly do so for the next: patience wears out. */
static double worn(const struct mpiq_dll_host *host)
{
    return 1 + 4 * host->late;
}

/* Of what the helper has taken since then, its own: what the machine has kept it waiting for is not. */
static int64_t time_used(const struct mpiq_dll_host *host, int64_t now)
{
    const struct budget *budget = &host->budget;
    int64_t processor = budget->processor < 0 ? -1 : mpiq_helper_processor_ns(host->pid);
    return processor < 0 ? now - budget->begin : processor - budget->processor;
}

static int64_t later_deadline(void *argument)
{
    struct mpiq_dll_host *host = argument;
    struct budget *budget = &host->budget;
    int64_t now = mpiq_monotonic_ns();
    int64_t left = budget->time - time_used(host, now);
    int64_t end = budget->begin + budget->wall_time;
    budget->spent = left <= 0 ? budget->time : budget->wall_time;
    if (left <= 0 || now >= end)
        return 0;
    left = left < GLANCE_NS ? GLANCE_NS : left;
    return end - now < left ? end : now + left;
}

static void set_deadline(struct mpiq_dll_host *host, double seconds, double wall_seconds)
{
    int64_t now = mpiq_monotonic_ns();
    host->budget = (struct budget){.begin = now,
                                   .processor = mpiq_helper_processor_ns(host->pid),
                                   .time = (int64_t)(seconds * 1e9),
                                   .wall_time = (int64_t)(wall_seconds * 1e9)};
    host->pipe.deadline = now + (seconds < wall_seconds ? host->budget.time : host->budget.wall_time);
    host->pipe.later = later_deadline;
    host->pipe.argument = host;
}

static void set_deadline_for_rank(struct mpiq_dll_host *host)
{
    set_deadline(host, host->options.seconds / worn(host), host->options.wall_seconds / worn(host));
}

/* With a helper that runs as user, and has been told what to do. */
static struct mpiq_error *begin(struct mpiq_dll_host *host, struct mpiq_target *target, pid_t direct,
                                const struct mpiq_chosen_dll *dll, const struct mpiq_helper_user *user)
{
    struct stat file;
    if (fstat(dll->descriptor, &file) < 0)
        return mpiq_error_create_os(errno, "the message-queue library %s", dll->path);
    bool same_user = host->user.become == user->become &&
                     (!user->become || (host->user.user == user->user && host->user.group == user->group));
    if (host->pid > 0 && same_user && host->device == file.st_dev && host->inode == file.st_ino) {
        set_deadline_for_rank(host);
        struct mpiq_error *error = send_look(host, target, direct, dll->path);
        if (!error)
            return NULL;
        mpiq_error_destroy(error); /* it ended while nobody asked: a new one does as well */
    }
    stop_helper(host);
    struct mpiq_error *error = start_helper(host, dll->descriptor, user);
    if (error)
        return error;
    host->device = file.st_dev;
    host->inode = file.st_ino;
    set_deadline_for_rank(host);
    return send_look(host, target, direct, dll->path);
}

/* ---- listening -------------------------------------------------------------------------------------- */

/* Past "WORD NUMBER " where the line begins with that word and the number of what was asked for; NULL. */
static const char *answer_in(const struct answer *answer, const char *word, const char *line)
{
    char start[32];
    size_t length = (size_t)snprintf(start, sizeof start, "%s %u ", word, answer->request);
    return strncmp(line, start, length) == 0 ? line + length : NULL;
}

static bool on_line(void *argument, const char *line)
{
    struct answer *answer = argument;
    const char *text = answer_in(answer, "done", line);
    if (text) {
        answer->ended = true;
        if (answer->asked) {
            answer->text = strdup(text);
            return false;
        }
        answer->error = mpiq_rank_state_from_json(text, strlen(text), &answer->state);
        answer->nonsense = answer->error != NULL;
        return false;
    }
    text = answer_in(answer, "fail", line);
    if (text) {
        char code[32] = "";
        size_t length = strcspn(text, " ");
        snprintf(code, sizeof code, "%.*s", (int)(length < sizeof code ? length : sizeof code - 1), text);
        text += length;
        answer->ended = true;
        answer->error =
            mpiq_error_create(mpiq_error_code_of(code), "%s", *text ? text + 1 : "no reason was given");
        return false;
    }
    if (strncmp(line, "crash ", 6) == 0) {
        char *rest = NULL;
        answer->crash = (int)strtol(line + 6, &rest, 10);
        snprintf(answer->phase, sizeof answer->phase, "%s", *rest == ' ' ? rest + 1 : "");
        return false;
    }
    /* An empty line comes before a crash; half a line, too. */
    answer->nonsense |= *line != '\0';
    return true;
}

/* It was too long: it is asked what it is at, and has a moment to say so. */
static void ask_last_words(struct mpiq_dll_host *host, struct mpiq_target *target, struct answer *answer)
{
    mpiq_helper_alarm(host->pid);
    set_deadline(host, LAST_WORDS_SECONDS, LAST_WORDS_SECONDS * PATIENCE);
    mpiq_error_destroy(mpiq_target_serve_pipe(target, &host->pipe, 0, on_line, answer));
}

static struct mpiq_error *explain_end(const char *dll, int status, const struct answer *answer, int64_t spent)
{
    const char *phase = answer->phase[0] ? answer->phase : "at work";
    if (spent) {
        return mpiq_error_create(MPIQ_ERROR_TIMEOUT,
                                 "the message-queue library %s timed out after %.2g s, while %s", dll,
                                 (double)spent / 1e9, phase);
    }
    int number = answer->crash ? answer->crash : WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (number && answer->phase[0]) {
        return mpiq_error_create(MPIQ_ERROR_INTERNAL,
                                 "the message-queue library %s crashed (signal %d, %s) while %s", dll, number,
                                 strsignal(number), phase);
    }
    if (number) {
        return mpiq_error_create(MPIQ_ERROR_INTERNAL,
                                 "the helper with the message-queue library %s was ended "
                                 "(signal %d, %s)",
                                 dll, number, strsignal(number));
    }
    return mpiq_error_create(MPIQ_ERROR_INTERNAL,
                             "the helper with the message-queue library %s ended (exit %d) "
                             "without an answer",
                             dll, WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

/* Waits for a helper that closed its side to end by itself, so that its status tells why. */
static int await_helper(struct mpiq_dll_host *host)
{
    int status = -1;
    for (int i = 0; i < 100; i++) {
        if (mpiq_helper_ended(host->pid, &status)) {
            forget_helper(host);
            return status;
        }
        usleep(1000);
    }
    return stop_helper(host);
}

/* Serves the helper until it has its answer; an error leaves no helper, unless it is the helper's own. */
static struct mpiq_error *converse(struct mpiq_dll_host *host, struct mpiq_target *target, pid_t direct,
                                   const char *dll, struct mpiq_rank_state **ret, char **text)
{
    struct answer answer = {.request = host->request, .asked = text != NULL};
    struct mpiq_error *error = mpiq_target_serve_pipe(target, &host->pipe, direct, on_line, &answer);
    bool late = error && error->code == MPIQ_ERROR_TIMEOUT;
    int64_t spent = late ? host->budget.spent : 0;

    /* It crashed while it was being answered: what it said of that lies unread behind its last questions. */
    for (int i = 0; i < 64 && error && error->code == MPIQ_ERROR_GONE && !answer.ended && !answer.crash;
         i++) {
        mpiq_error_destroy(error);
        error = mpiq_target_serve_pipe(target, &host->pipe, 0, on_line, &answer);
    }
    if (late)
        ask_last_words(host, target, &answer);
    int status = late ? stop_helper(host) : -1;
    if (answer.ended) {
        host->late = 0;
        mpiq_error_destroy(error);
        if (answer.nonsense)
            stop_helper(host);
        if (text)
            *text = answer.text;
        else
            *ret = answer.state;
        return mpiq_error_prefix(answer.error, "the message-queue library %s%s", dll,
                                 answer.nonsense ? " sent a malformed reply" : "");
    }
    /* What came over the wire made no sense, or could not be taken.  One that has gone crashed: its end says
     * how. */
    if (error && !late && !answer.crash && error->code != MPIQ_ERROR_GONE) {
        stop_helper(host);
        return mpiq_error_prefix(error, "the helper with the message-queue library %s", dll);
    }
    mpiq_error_destroy(error);
    if (!late)
        status = await_helper(host);
    error = explain_end(dll, status, &answer, spent);
    host->late += late;
    return error;
}

/* ---- what comes of it ------------------------------------------------------------------------------- */

static void settle_group(struct mpiq_dll_host *host, struct mpiq_group *group)
{
    if (group->members) {
        group->hash = mpiq_group_hash(group->members, group->count); /* whatever the helper says */
        mpiq_group_table_add(&host->groups, group);
    }
    struct mpiq_known_group *known = mpiq_group_table_find(&host->groups, group->hash, group->count);
    if (!known)
        return;
    bool wanted = host->options.all_members || known->look != host->look;
    if (wanted && !group->members)
        group->members = mpiq_group_copy_members(&known->group);
    if (!wanted) {
        free(group->members);
        group->members = NULL;
    }
    known->look = host->look;
}

/* The user that the helper runs as: another user's process is never read as root, whoever wrote the DLL. */
static struct mpiq_helper_user user_for(const struct mpiq_target_status *status)
{
    if (geteuid() != 0 || status->uid == 0 || status->uid == (uid_t)-1)
        return (struct mpiq_helper_user){.become = false};
    long group = mpiq_proc_status_number(status->pid, "Gid");
    return (struct mpiq_helper_user){
        .become = true, .user = status->uid, .group = group >= 0 ? (gid_t)group : (gid_t)status->uid};
}

/* What the MPI library of a process under the recorder says itself; NULL: nothing that can be read. */
static struct mpiq_rank_state *read_own(struct mpiq_dll_host *host, struct mpiq_target *target)
{
    struct mpiq_dll_host_options options = host->options;
    struct mpiq_rank_state *state = NULL;
    struct mpiq_error *error = NULL;

    options.no_recorder = true;
    options.all_members = true; /* whoever gets them: this host does not know whom the caller has told */
    if (!host->own)
        error = mpiq_dll_host_create(&options, &host->own);
    if (!error)
        error = mpiq_dll_host_read(host->own, target, &state);
    if (error)
        mpiq_debug("rank", "beside the recorder: %s", error->message);
    mpiq_error_destroy(error);
    return state;
}

/* A look, or the question that the host holds.  *own: of a look at a process under the recorder, what its MPI
   library says itself, read before; NULL if there is nothing, and for a question. */
static struct mpiq_error *ask_helper(struct mpiq_dll_host *host, struct mpiq_target *target,
                                     struct mpiq_target_status *status, struct mpiq_rank_state **ret,
                                     struct mpiq_rank_state **own, char **text)
{
    struct mpiq_chosen_dll dll = {.descriptor = -1};

    struct mpiq_error *error = mpiq_rank_choose_dll(target, &host->options, &host->ours, &dll);
    if (!error && own && dll.has_own && !(target->notes & NOTE_NEVER_JOINS))
        *own = read_own(host, target);
    if (own && *own && mpiq_rank_never_merges(*own))
        target->notes |= NOTE_NEVER_JOINS;
    if (!error)
        error = mpiq_target_status(target, status);
    pid_t direct = !error && strcmp(target->ops->kind, "live") == 0 ? status->pid : -1;
    struct mpiq_helper_user user = {.become = false};
    if (!error)
        user = user_for(status);
    if (!error)
        error = begin(host, target, direct, &dll, &user);
    if (!error)
        error = converse(host, target, direct, dll.path, ret, text);
    mpiq_chosen_dll_deinit(&dll);
    return error;
}

struct mpiq_error *mpiq_dll_host_ask(struct mpiq_dll_host *host, struct mpiq_target *target,
                                     const char *question, char **ret)
{
    struct mpiq_target_status status;
    struct mpiq_rank_state *none = NULL;
    char *text = NULL;

    host->question = question;
    struct mpiq_error *error = ask_helper(host, target, &status, &none, NULL, &text);
    host->question = NULL;
    if (!error && !text)
        error = mpiq_error_create(MPIQ_ERROR_NO_MEMORY, "no memory for an answer");
    if (!error)
        *ret = text;
    return error;
}

struct mpiq_error *mpiq_dll_host_read(struct mpiq_dll_host *host, struct mpiq_target *target,
                                      struct mpiq_rank_state **ret)
{
    struct mpiq_target_status status;
    struct mpiq_rank_state *state = NULL;
    struct mpiq_rank_state *own = NULL;

    struct mpiq_error *error = ask_helper(host, target, &status, &state, &own, NULL);
    if (state && own && !mpiq_rank_merge_records(state, own))
        mpiq_debug("rank", "process %d: the library's own queues do not fit the recorder's record",
                   (int)status.pid);
    mpiq_rank_state_destroy(own);
    if (!state) /* it comes alone or an error does */
        return error;
    for (size_t i = 0; i < state->communicator_count; i++) {
        settle_group(host, &state->communicators[i].local);
        settle_group(host, &state->communicators[i].remote);
    }
    /* It may have ended over the reading. */
    if (state->problem_count > 0)
        mpiq_error_destroy(mpiq_target_status(target, &status));
    mpiq_rank_add_status(target, &status, state);
    if (state->name.rank < 0 || state->nspace[0] == '\0')
        mpiq_rank_identify(target, state);
    *ret = state;
    return NULL;
}
