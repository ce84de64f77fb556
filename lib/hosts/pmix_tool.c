/* SPDX-License-Identifier: BSD-3-Clause */
#include "hosts/pmix_tool.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/debug.h"
#include "base/json_text.h"
#include "base/proc.h"
#include "hosts/launcher_process.h"
#include "hosts/pmix_abi.h"
#include "state/rank_set.h"

enum { ANSWER_MOST = 256 << 20, SECONDS = 20, REST_MS = 100, NAME_MOST = 255 };

/* ---- the process that asks
 * ----------------------------------------------------------------------------------- */

struct library {
    mpiq_pmix_tool_init *init;
    mpiq_pmix_tool_finalize *finalize;
    mpiq_pmix_query_info *query;
};

/* Of the tool that asks, where the launcher has no job. */
enum { EXIT_NO_RANKS = 2 };

/* The launcher's own, in which PMIx leaves word of how it is reached; "": not known. */
static char launcher_directory[PATH_MAX];

/* Ends the process that asks: its last words are the reason. */
__attribute__((noreturn, format(printf, 1, 2))) static void give_up(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    fflush(stdout);
    _exit(EXIT_FAILURE);
}

static struct library load(const char *path)
{
    struct library library;
    void *handle = dlopen(path, RTLD_NOW | RTLD_GLOBAL); /* its plug-ins look for it */
    if (!handle)
        give_up("%s", dlerror());
    library.init = (mpiq_pmix_tool_init *)dlsym(handle, "PMIx_tool_init");
    library.finalize = (mpiq_pmix_tool_finalize *)dlsym(handle, "PMIx_tool_finalize");
    library.query = (mpiq_pmix_query_info *)dlsym(handle, "PMIx_Query_info");
    if (!library.init || !library.finalize || !library.query)
        give_up("%s is older than PMIx 4", path);
    return library;
}

/* A launcher that shuts down removes its directory, and then joins PMIx's thread with PMIx's lock held
   (PMIx_server_finalize).  If that thread handles a query just then, it waits for the lock, and the launcher
   hangs for ever (request_help in PMIx 5's pmix_query.c).  So once the directory is gone, nothing is asked.
 */
static void check_goes_on(void)
{
    if (launcher_directory[0] && access(launcher_directory, F_OK) != 0)
        give_up("it is shutting down");
}

/* The result of a query with one key; NULL if there is none. */
static const struct mpiq_pmix_value *ask(const struct library *library, const char *key, const char *nspace)
{
    char *keys[] = {strdup(key), NULL};
    struct mpiq_pmix_info qualifier = {.key = MPIQ_PMIX_NAMESPACE, .value = {.type = MPIQ_PMIX_TYPE_STRING}};
    struct mpiq_pmix_query query = {.keys = keys};
    struct mpiq_pmix_info *results = NULL;
    size_t count = 0;
    if (nspace) {
        qualifier.value.data.string = strdup(nspace);
        query.qualifiers = &qualifier;
        query.qualifier_count = 1;
    }
    check_goes_on();
    return library->query(&query, 1, &results, &count) == 0 && count > 0 ? &results[0].value : NULL;
}

struct host {
    const char *name;
    struct mpiq_rank_set ranks;
};

struct hosts {
    struct host *items;
    size_t count;
    size_t last; /* the one that was found last */
};

/* Ranks are placed in blocks or in turn, so it is most often the host of the rank before, or the one after
   that. NULL: out of memory. */
static struct host *find_host(struct hosts *hosts, const char *name)
{
    for (size_t i = 0; i < hosts->count; i++) {
        size_t at = (hosts->last + i) % hosts->count;
        if (strcmp(hosts->items[at].name, name) == 0) {
            hosts->last = at;
            return &hosts->items[at];
        }
    }
    struct host *larger = mpiq_array_grown(hosts->items, hosts->count, sizeof *larger);
    if (!larger)
        return NULL;
    hosts->items = larger;
    hosts->last = hosts->count++;
    larger[hosts->last] = (struct host){.name = name};
    return &larger[hosts->last];
}

static bool print_hosts(const struct hosts *hosts, size_t size, const char *nspace)
{
    struct mpiq_text text = {0};
    char *out = NULL;
    mpiq_text_open(&text, '{');
    mpiq_text_key(&text, "size");
    mpiq_text_unsigned(&text, size);
    mpiq_text_key(&text, "nspace");
    mpiq_text_string(&text, nspace, strlen(nspace));
    mpiq_text_key(&text, "hosts");
    mpiq_text_open(&text, '[');
    for (size_t i = 0; i < hosts->count; i++) {
        const struct host *host = &hosts->items[i];
        char *ranks = mpiq_rank_set_text(&host->ranks, 0);
        if (!ranks)
            return false;
        mpiq_text_open(&text, '{');
        mpiq_text_key(&text, "host");
        mpiq_text_string(&text, host->name, strlen(host->name));
        mpiq_text_key(&text, "ranks");
        mpiq_text_string(&text, ranks, strlen(ranks));
        mpiq_text_close(&text, '}');
    }
    mpiq_text_close(&text, ']');
    mpiq_text_close(&text, '}');
    struct mpiq_error *error = mpiq_text_end(&text, &out);
    return !error && fputs(out, stdout) >= 0 && fflush(stdout) == 0;
}

/* Whether that job has ranks; then they have been printed. */
static bool print_job(const struct library *library, const char *nspace)
{
    const struct mpiq_pmix_value *value = ask(library, MPIQ_PMIX_QUERY_TABLE, nspace);
    const struct mpiq_pmix_array *array =
        value && value->type == MPIQ_PMIX_TYPE_ARRAY ? value->data.array : NULL;
    if (!array || array->type != MPIQ_PMIX_TYPE_PROC_INFO || array->size == 0)
        return false;
    const struct mpiq_pmix_proc_info *procs = array->array;
    struct hosts hosts = {0};
    for (size_t i = 0; i < array->size; i++) {
        struct host *host = find_host(&hosts, procs[i].hostname ? procs[i].hostname : "");
        if (!host || !mpiq_rank_set_add(&host->ranks, 0, procs[i].proc.rank))
            return false;
    }
    return print_hosts(&hosts, array->size, nspace);
}

static bool print_first_job(const struct library *library)
{
    const struct mpiq_pmix_value *value = ask(library, MPIQ_PMIX_QUERY_NAMESPACES, NULL);
    if (!value || value->type != MPIQ_PMIX_TYPE_STRING || !value->data.string)
        give_up("the launcher does not say which jobs it has");
    for (char *rest = value->data.string, *one; (one = strsep(&rest, ","));) {
        if (print_job(library, one))
            return true;
    }
    return false;
}

/* PMIx searches everything below TMPDIR for the launcher's contact file; in a full /tmp that takes longer
   than we wait.  So it gets the launcher's own directory as TMPDIR, if that can be determined
   (prte/src/util/session_dir.c). */
static void narrow_search(pid_t launcher)
{
    const char *below = getenv("TMPDIR");
    char pattern[PATH_MAX];
    glob_t found;
    struct stat status;
    snprintf(pattern, sizeof pattern, "%s/prterun.*.%d.%u", below ? below : "/tmp", (int)launcher,
             (unsigned)geteuid());
    if (glob(pattern, GLOB_NOSORT, NULL, &found) != 0)
        return;
    if (found.gl_pathc == 1 && lstat(found.gl_pathv[0], &status) == 0 && S_ISDIR(status.st_mode) &&
        status.st_uid == geteuid()) {
        snprintf(launcher_directory, sizeof launcher_directory, "%s", found.gl_pathv[0]);
        setenv("TMPDIR", launcher_directory, 1);
    }
    globfree(&found);
}

__attribute__((noreturn)) static void be_tool(pid_t launcher, const char *path, const char *nspace)
{
    struct mpiq_pmix_proc me;
    struct mpiq_pmix_info server = {.key = MPIQ_PMIX_SERVER_PID,
                                    .value = {.type = MPIQ_PMIX_TYPE_PID, .data.pid = launcher}};
    /* Where the launcher leaves word of how it is reached. */
    char *directory = mpiq_launcher_process_variable(launcher, "TMPDIR");
    if (directory)
        setenv("TMPDIR", directory, 1);
    else
        unsetenv("TMPDIR");
    narrow_search(launcher);
    const struct library library = load(path);
    int status = library.init(&me, &server, 1);
    if (status != 0)
        give_up("it cannot be reached through PMIx (error %d)", status);
    if (!(nspace ? print_job(&library, nspace) : print_first_job(&library)))
        _exit(EXIT_NO_RANKS);
    library.finalize();
    _exit(EXIT_SUCCESS);
}

/* ---- the process that wants to know
 * --------------------------------------------------------------------------- */

/* A file that the launcher has mapped and nobody but root and we can have written. */
static bool is_safe(const char *path)
{
    struct stat status;
    return path[0] == '/' && stat(path, &status) == 0 && S_ISREG(status.st_mode) &&
           (status.st_uid == 0 || status.st_uid == geteuid()) && !(status.st_mode & S_IWOTH);
}

static struct mpiq_error *find_library(pid_t launcher, char **ret)
{
    char name[64];
    snprintf(name, sizeof name, "/proc/%d/maps", (int)launcher);
    _cleanup_fclose_ FILE *maps = fopen(name, "re");
    _cleanup_free_ char *line = NULL;
    size_t room = 0;
    while (maps && getline(&line, &room, maps) > 0) {
        char *path = strchr(line, '/');
        const char *base = path ? strrchr(path, '/') : NULL;
        if (!base || strncmp(base, "/libpmix.so", strlen("/libpmix.so")) != 0)
            continue;
        path[strcspn(path, "\n")] = '\0';
        if (!is_safe(path))
            continue;
        *ret = strdup(path);
        return *ret ? NULL : mpiq_error_no_memory();
    }
    return mpiq_error_create(MPIQ_ERROR_UNSUPPORTED,
                             "it has loaded no PMIx library that mpiq could load as well");
}

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* All that the tool says until it closes; *late if that took too long, or the launcher has ended. */
static struct mpiq_error *read_all(int fd, pid_t launcher, char **ret, bool *late)
{
    int64_t end = now_ms() + (int64_t)SECONDS * 1000;
    size_t used = 0, room = 0;
    char *text = NULL;
    for (;;) {
        struct pollfd ready = {.fd = fd, .events = POLLIN};
        if (!mpiq_array_reserve(&text, &room, used + PATH_MAX))
            break;
        *late = now_ms() > end || used > ANSWER_MOST || mpiq_proc_has_ended(launcher);
        if (!*late && poll(&ready, 1, REST_MS) <= 0)
            continue;
        ssize_t got = *late ? 0 : read(fd, text + used, room - used - 1);
        if (got < 0 && errno == EINTR)
            continue;
        used += got > 0 ? (size_t)got : 0;
        if (got > 0)
            continue;
        text[used] = '\0';
        *ret = text;
        return NULL;
    }
    free(text);
    return mpiq_error_no_memory();
}

/* Starts the tool with its output in *output. */
static struct mpiq_error *start_tool(pid_t launcher, const char *path, const char *nspace, pid_t *tool,
                                     int *output)
{
    int ends[2];
    pid_t parent = getpid();
    if (pipe2(ends, O_CLOEXEC) < 0)
        return mpiq_error_create_os(errno, "cannot make a pipe");
    *tool = fork();
    if (*tool == 0) {
        int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent || nothing < 0)
            _exit(EXIT_FAILURE);
        dup2(nothing, STDIN_FILENO);
        dup2(nothing, STDERR_FILENO);
        dup2(ends[1], STDOUT_FILENO);
        be_tool(launcher, path, nspace);
    }
    int errnum = errno;
    close(ends[1]);
    if (*tool > 0) {
        *output = ends[0];
        return NULL;
    }
    close(ends[0]);
    return mpiq_error_create_os(errnum, "cannot start a process");
}

struct mpiq_error *mpiq_pmix_table(pid_t launcher, const char *nspace, char **ret)
{
    _cleanup_free_ char *path = NULL;
    _cleanup_close_ int output = -1;
    pid_t tool = 0;
    bool late = false;
    int status = 0;
    struct mpiq_error *error = find_library(launcher, &path);
    if (!error)
        mpiq_debug("hosts", "mpirun %d is asked through PMIx where its ranks are", (int)launcher);
    if (!error)
        error = start_tool(launcher, path, nspace, &tool, &output);
    if (error)
        return error;
    _cleanup_free_ char *said = NULL;
    error = read_all(output, launcher, &said, &late);
    if (error || late)
        kill(tool, SIGKILL);
    while (waitpid(tool, &status, 0) < 0 && errno == EINTR)
        ;
    if (error)
        return error;
    if (late && mpiq_proc_has_ended(launcher))
        return mpiq_error_create(MPIQ_ERROR_GONE, "it has ended");
    if (late)
        return mpiq_error_create(MPIQ_ERROR_TIMEOUT, "it did not answer through PMIx within %d s",
                                 (int)SECONDS);
    if (WIFSIGNALED(status))
        return mpiq_error_create(MPIQ_ERROR_UNSUPPORTED, "its PMIx library crashed when asked (signal %d)",
                                 WTERMSIG(status));
    if (WEXITSTATUS(status) == EXIT_NO_RANKS)
        return mpiq_error_create(MPIQ_ERROR_STARTING, "it has started no ranks yet");
    if (WEXITSTATUS(status) != 0)
        return mpiq_error_create(MPIQ_ERROR_NOT_FOUND, "%.*s", (int)NAME_MOST, said);
    *ret = mpiq_steal(said);
    return NULL;
}
