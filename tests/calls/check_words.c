/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * check-words PROGRAM - runs a program whose calls of given.c's functions say what they were given, and holds
 * what can be told from outside against it.
 * check-words --cores - the same of processes whose core files its standard input names, each line one of
 * them, and behind a tab what the call said.
 *
 * Prints a line for each word that is told wrongly, and at the end "KIND KNOWN of WORDS" for each kind of
 * argument, and "CALLS calls, WORDS words, KNOWN known, WRONG wrong"; exits 1 if any was wrong.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process/object.h"
#include "process/target.h"

enum { WORDS_MOST = 12, LINE_MOST = 8192 };

enum kind { INT, LONG, POINTER, PEER, TAG, COUNT, TYPE, COMM, BUFFER, STATUS, KINDS };
static const char *const kind_names[KINDS] = {"int",   "long", "pointer", "peer",   "tag",
                                              "count", "type", "comm",    "buffer", "status"};

/* A function of given.c: its arguments.  Of an int the calling convention says nothing about the upper half.
 */
struct shape {
    const char *function;
    int count;
    enum kind kinds[WORDS_MOST];
    bool is_int[WORDS_MOST];
};

static const struct shape shapes[] = {
    {"given",
     12,
     {POINTER, INT, LONG, INT, INT, POINTER, INT, LONG, INT, INT, LONG, POINTER},
     {[1] = true, [3] = true, [4] = true, [6] = true, [8] = true, [9] = true}},
    {"message", 7, {BUFFER, COUNT, TYPE, PEER, TAG, COMM, STATUS}, {[1] = true, [3] = true, [4] = true}},
    {"message_", 8, {BUFFER, COUNT, TYPE, PEER, TAG, COMM, STATUS, STATUS}, {false}},
};

struct sums {
    uint64_t calls, words, known, wrong;
    uint64_t words_of[KINDS], known_of[KINDS];
};

/* What a call says that it was given, and by how many numbers those are which function; NULL: that of none.
 */
static const struct shape *read_truth(char *line, uint64_t truth[WORDS_MOST])
{
    int count = 0;
    for (char *rest = line + strspn(line, " "); *rest && *rest != '\n' && count < WORDS_MOST;
         rest += strspn(rest, " "), count++) {
        if (strncmp(rest, "(nil)", 5) == 0) {
            truth[count] = 0;
            rest += 5;
            continue;
        }
        truth[count] = rest[0] == '-' ? (uint64_t)strtoll(rest, &rest, 0) : strtoull(rest, &rest, 0);
    }
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        if (shapes[i].count == count)
            return &shapes[i];
    }
    return NULL;
}

static size_t callee_of(const struct mpiq_target_stack *stack, const char *function)
{
    for (size_t i = 0; i < stack->count; i++) {
        if (stack->frames[i].function && strcmp(stack->frames[i].function, function) == 0)
            return (size_t)stack->frames[i].own;
    }
    return SIZE_MAX;
}

static void compare(const struct mpiq_call_word *words, const struct shape *shape, const uint64_t *truth,
                    const char *place, struct sums *sums)
{
    sums->calls++;
    for (int i = 0; i < shape->count; i++) {
        sums->words++;
        sums->words_of[shape->kinds[i]]++;
        if (!words[i].known || (words[i].narrow && !shape->is_int[i]))
            continue;
        sums->known++;
        sums->known_of[shape->kinds[i]]++;
        bool same =
            shape->is_int[i] ? (uint32_t)words[i].value == (uint32_t)truth[i] : words[i].value == truth[i];
        if (same)
            continue;
        sums->wrong++;
        printf("wrong: %s, word %d is 0x%" PRIx64 ", not 0x%" PRIx64 "\n", place, i, words[i].value,
               truth[i]);
    }
}

static bool look(pid_t pid, const struct shape *shape, const uint64_t *truth, struct mpiq_target *target,
                 struct sums *sums)
{
    struct mpiq_target_stack stack = {0};
    struct mpiq_error *error = mpiq_target_stack(target, pid, &stack);
    if (error) {
        fprintf(stderr, "%s\n", error->message);
        mpiq_error_destroy(error);
        return false;
    }
    size_t callee = callee_of(&stack, shape->function);
    if (callee != SIZE_MAX) {
        struct mpiq_call_word words[MPIQ_CALL_WORDS];
        char place[64] = "?";
        for (size_t i = 0; i < stack.count; i++) {
            if (stack.frames[i].own == (int32_t)callee + 1)
                snprintf(place, sizeof place, "pc 0x%" PRIx64 " (%s:%d)", stack.frames[i].pc,
                         stack.frames[i].function ? stack.frames[i].function : "?", stack.frames[i].line);
        }
        mpiq_target_call_words(target, &stack, callee, (size_t)shape->count, words);
        compare(words, shape, truth, place, sums);
    }
    if (callee == SIZE_MAX)
        fprintf(stderr, "%s is in none of %zu frames: %s\n", shape->function, stack.count,
                stack.why ? stack.why : "the stack ends");
    mpiq_target_stack_deinit(&stack);
    mpiq_target_forget(target);
    return callee != SIZE_MAX;
}

/* Of a process that runs here. */
static bool look_at_program(char *program, struct sums *sums)
{
    int to[2], from[2];
    if (pipe(to) != 0 || pipe(from) != 0)
        return false;
    pid_t pid = fork();
    if (pid == 0) {
        dup2(to[0], 0);
        dup2(from[1], 1);
        close(to[1]);
        close(from[0]);
        execl(program, program, (char *)NULL);
        _exit(127);
    }
    close(to[0]);
    close(from[1]);
    FILE *said = fdopen(from[0], "r");
    struct mpiq_target *target = NULL;
    uint64_t truth[WORDS_MOST];
    const struct shape *shape;
    char line[LINE_MOST];
    bool good = said != NULL;
    while (good && fgets(line, sizeof line, said) && (shape = read_truth(line, truth))) {
        struct mpiq_error *error = target ? NULL : mpiq_target_live_create(pid, false, &target);
        good = !error && look(pid, shape, truth, target, sums);
        mpiq_error_destroy(error);
        if (write(to[1], "\n", 1) != 1)
            break;
    }
    mpiq_target_destroy(target);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    if (said)
        fclose(said);
    return good;
}

/* Of a process that has left a core file. */
static bool look_at_core(const char *path, const struct shape *shape, const uint64_t *truth,
                         struct sums *sums)
{
    struct mpiq_target *target = NULL;
    struct mpiq_target_thread *threads = NULL;
    size_t count = 0;
    struct mpiq_error *error = mpiq_target_core_create(path, NULL, &target);
    if (!error)
        error = mpiq_target_threads(target, &threads, &count);
    if (error)
        fprintf(stderr, "%s: %s\n", path, error->message);
    bool good = !error && count > 0 && look(threads[0].tid, shape, truth, target, sums);
    mpiq_error_destroy(error);
    mpiq_target_destroy(target);
    free(threads);
    return good;
}

static bool look_at_cores(struct sums *sums)
{
    char line[LINE_MOST];
    uint64_t truth[WORDS_MOST];
    bool good = true;
    while (good && fgets(line, sizeof line, stdin)) {
        char *tab = strchr(line, '\t');
        const struct shape *shape = tab ? read_truth(tab + 1, truth) : NULL;
        if (tab)
            *tab = '\0';
        good = shape && look_at_core(line, shape, truth, sums);
        puts("seen");
        fflush(stdout);
    }
    return good;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: check-words PROGRAM | --cores\n");
        return 2;
    }
    struct sums sums = {0};
    bool good = strcmp(argv[1], "--cores") == 0 ? look_at_cores(&sums) : look_at_program(argv[1], &sums);
    mpiq_object_clear();
    for (int i = 0; i < KINDS; i++)
        printf("%s %" PRIu64 " of %" PRIu64 "\n", kind_names[i], sums.known_of[i], sums.words_of[i]);
    printf("%" PRIu64 " calls, %" PRIu64 " words, %" PRIu64 " known, %" PRIu64 " wrong\n", sums.calls,
           sums.words, sums.known, sums.wrong);
    return !good || sums.wrong || !sums.calls;
}
