/* SPDX-License-Identifier: BSD-3-Clause */
#include "children.h"

#include <ctype.h>
#include <dirent.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { STEP_MS = 50, STEPS_A_SECOND = 1000 / STEP_MS, ASKED_MOST = 4096 };

void children_adopt(void)
{
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

/* The name before the last ')' may hold anything. */
static bool is_child(const char *pid)
{
    char path[64], text[512];
    char state;
    int parent;
    snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[length] = '\0';
    const char *rest = strrchr(text, ')');
    return rest && sscanf(rest + 1, " %c %d", &state, &parent) == 2 && parent == (int)getpid() &&
           state != 'Z';
}

struct asked {
    pid_t pids[ASKED_MOST];
    size_t count;
};

/* A launcher that is asked a second time gives up on ending its ranks in good order. */
static void ask_once(struct asked *asked, pid_t pid)
{
    for (size_t i = 0; i < asked->count; i++)
        if (asked->pids[i] == pid)
            return;
    if (asked->count == ASKED_MOST)
        return;
    asked->pids[asked->count++] = pid;
    kill(pid, SIGTERM);
}

/* Asks each child to end, or kills it; how many there are. */
static size_t end_children(struct asked *asked, bool kill_now)
{
    size_t count = 0;
    DIR *proc = opendir("/proc");
    struct dirent *entry;
    while (proc && (entry = readdir(proc))) {
        if (!isdigit((unsigned char)entry->d_name[0]) || !is_child(entry->d_name))
            continue;
        pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
        count++;
        if (kill_now)
            kill(pid, SIGKILL);
        else
            ask_once(asked, pid);
    }
    if (proc)
        closedir(proc);
    return count;
}

void children_end(int grace_seconds)
{
    const struct timespec step = {.tv_nsec = STEP_MS * 1000000L};
    struct asked asked = {.count = 0};
    for (int i = 0; i < 2 * grace_seconds * STEPS_A_SECOND; i++) {
        while (waitpid(-1, NULL, WNOHANG) > 0)
            ;
        if (end_children(&asked, i >= grace_seconds * STEPS_A_SECOND) == 0)
            return;
        nanosleep(&step, NULL);
    }
}
