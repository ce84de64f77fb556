/* SPDX-License-Identifier: BSD-3-Clause */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "made_up.h"
#include "suite.h"
#include "base/json_text.h"
#include "process/pipe.h"
#include "process/serve.h"
#include "process/wire.h"

/* ---- a made-up target, served by a thread ----------------------------------------------------------- */

static struct made_up made_up;
static int client_in, client_out, server_in, server_out;
static pthread_t server;
static char *others; /* lines that were none of the wire's */

static bool on_other(void *argument, const char *line)
{
    (void)argument;
    char *all = NULL;
    if (asprintf(&all, "%s%s|", others ? others : "", line) < 0)
        abort();
    free(others);
    others = all;
    return strcmp(line, "stop") != 0;
}

static void *serve(void *argument)
{
    struct mpiq_error *error =
        mpiq_target_serve(&made_up.target, server_in, server_out, argument ? on_other : NULL, NULL);
    close(server_in);
    close(server_out);
    return error;
}

static void connect_pipes(void)
{
    int there[2];
    int back[2];
    if (pipe(there) < 0 || pipe(back) < 0)
        abort();
    server_in = there[0];
    client_out = there[1];
    client_in = back[0];
    server_out = back[1];
}

static void connect_sockets(void)
{
    int sockets[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) < 0)
        abort();
    client_in = sockets[0];
    client_out = dup(sockets[0]);
    server_in = sockets[1];
    server_out = dup(sockets[1]);
}

static void start(void (*connect_both)(void), bool with_others)
{
    made_up_init(&made_up);
    free(others);
    others = NULL;
    connect_both();
    if (pthread_create(&server, NULL, serve, with_others ? &others : NULL) != 0)
        abort();
}

/* The error that the server ended with; NULL. */
static struct mpiq_error *stop(void)
{
    void *error = NULL;
    close(client_in);
    close(client_out);
    pthread_join(server, &error);
    return error;
}

#define FAILS(call, code_)                         \
    do {                                           \
        struct mpiq_error *failed_ = (call);       \
        CU_ASSERT_PTR_NOT_NULL(failed_);           \
        if (failed_)                               \
            CU_ASSERT_EQUAL(failed_->code, code_); \
        mpiq_error_destroy(failed_);               \
    } while (0)

#define WORKS(call)                             \
    do {                                        \
        struct mpiq_error *failed_ = (call);    \
        CU_ASSERT_PTR_NULL(failed_);            \
        if (failed_)                            \
            printf("\n%s\n", failed_->message); \
        mpiq_error_destroy(failed_);            \
    } while (0)

/* ---- the client and the server ---------------------------------------------------------------------- */

static void ask_everything(void)
{
    struct mpiq_target *target = NULL;
    const struct mpiq_target_type *type = NULL;
    const struct mpiq_target_type *again = NULL;
    struct mpiq_target_sizes sizes;
    struct mpiq_target_status status;
    struct mpiq_target_thread *threads = NULL;
    struct mpiq_target_stack stack = {0};
    unsigned char bytes[MADE_UP_SIZE];
    uint64_t number = 0;
    size_t count = 0;
    char *value = NULL;

    WORKS(mpiq_target_wire_create(client_in, client_out, &target));
    CU_ASSERT_PTR_NOT_NULL_FATAL(target);
    WORKS(mpiq_target_read(target, MADE_UP_BASE, MADE_UP_SIZE, bytes));
    CU_ASSERT_EQUAL(memcmp(bytes, made_up.memory, MADE_UP_SIZE), 0);
    WORKS(mpiq_target_read(target, MADE_UP_BASE + 3, 1, bytes));
    CU_ASSERT_EQUAL(bytes[0], 21);
    struct mpiq_error *error = mpiq_target_read(target, 64, 8, bytes);
    CU_ASSERT_PTR_NOT_NULL_FATAL(error);
    CU_ASSERT_EQUAL(error->code, MPIQ_ERROR_UNMAPPED);
    CU_ASSERT_EQUAL(error->address, 64);
    CU_ASSERT_STRING_EQUAL(error->message, "nothing is mapped at 0x40");
    mpiq_error_destroy(error);

    WORKS(mpiq_target_find_symbol(target, "memory", &number));
    CU_ASSERT_EQUAL(number, MADE_UP_BASE);
    FAILS(mpiq_target_find_symbol(target, "no such", &number), MPIQ_ERROR_NOT_FOUND);
    FAILS(mpiq_target_find_symbol(target, "memory\nend", &number), MPIQ_ERROR_NOT_FOUND);
    WORKS(mpiq_target_find_type(target, "struct thing", &type));
    WORKS(mpiq_target_find_type(target, "struct thing", &again));
    CU_ASSERT_PTR_EQUAL(type, again);
    FAILS(mpiq_target_find_type(target, "struct nothing", &type), MPIQ_ERROR_NOT_FOUND);
    WORKS(mpiq_target_type_size(target, type, &number));
    CU_ASSERT_EQUAL(number, 24);
    WORKS(mpiq_target_field_offset(target, type, "part", &number));
    CU_ASSERT_EQUAL(number, 8);
    FAILS(mpiq_target_field_offset(target, type, "whole", &number), MPIQ_ERROR_NOT_FOUND);
    WORKS(mpiq_target_sizes(target, &sizes));
    CU_ASSERT_EQUAL(sizes.short_size + sizes.int_size + sizes.long_size, 14);
    CU_ASSERT_FALSE(sizes.big_endian);

    WORKS(mpiq_target_status(target, &status));
    CU_ASSERT_EQUAL(status.pid, 4711);
    CU_ASSERT_EQUAL(status.state, 'S');
    CU_ASSERT_TRUE(status.traced);
    CU_ASSERT_FALSE(status.core);
    CU_ASSERT_EQUAL(status.uid, (uid_t)-1);
    CU_ASSERT_STRING_EQUAL(status.executable, "/home/me/a.out");
    WORKS(mpiq_target_threads(target, &threads, &count));
    CU_ASSERT_EQUAL_FATAL(count, 2);
    CU_ASSERT_EQUAL(threads[1].tid, 4712);
    CU_ASSERT_EQUAL(threads[1].state, 'R');
    CU_ASSERT_STRING_EQUAL(threads[1].name, "helper");
    free(threads);
    WORKS(mpiq_target_stack(target, 4711, &stack));
    CU_ASSERT_EQUAL_FATAL(stack.count, 5);
    CU_ASSERT_EQUAL(stack.frames[3].line, 71);
    CU_ASSERT_STRING_EQUAL(stack.frames[3].file, "solver.c");
    CU_ASSERT_PTR_NULL(stack.frames[0].file);
    CU_ASSERT_TRUE(stack.truncated);
    CU_ASSERT_STRING_EQUAL(stack.why, "as a test");
    mpiq_target_stack_deinit(&stack);
    FAILS(mpiq_target_stack(target, 9, &stack), MPIQ_ERROR_GONE);
    WORKS(mpiq_target_environment(target, "RANK_NAME", &value));
    CU_ASSERT_STRING_EQUAL(value, "a\n\"b\"");
    free(value);
    FAILS(mpiq_target_environment(target, "HOME", &value), MPIQ_ERROR_NOT_FOUND);
    mpiq_target_forget(target);
    CU_ASSERT_EQUAL(made_up.forgotten, 1);
    mpiq_target_destroy(target);
}

static void all_of_a_target_comes_through_pipes(void)
{
    start(connect_pipes, false);
    ask_everything();
    WORKS(stop());
}

static void all_of_a_target_comes_through_a_socket(void)
{
    start(connect_sockets, false);
    ask_everything();
    WORKS(stop());
}

static void memory_of_a_live_process_needs_no_wire(void)
{
    struct mpiq_target *live = NULL;
    struct mpiq_target *target = NULL;
    static const char text[] = "what we have ourselves";
    char copy[sizeof text];

    WORKS(mpiq_target_live_create(getpid(), false, &live));
    CU_ASSERT_PTR_NOT_NULL_FATAL(live);
    connect_sockets();
    struct mpiq_pipe pipe;
    char *line = NULL;
    size_t length = 0;
    mpiq_pipe_init(&pipe, client_in, client_out);
    WORKS(mpiq_pipe_write(&pipe, "hello 1\nend\n", 12));
    WORKS(mpiq_target_serve(live, server_in, server_out, NULL, NULL));
    WORKS(mpiq_pipe_read(&pipe, &line, &length));
    char expected[32];
    snprintf(expected, sizeof expected, "ok 1 %d", (int)getpid());
    CU_ASSERT_STRING_EQUAL(line, expected);
    WORKS(mpiq_pipe_read(&pipe, &line, &length));
    CU_ASSERT_STRING_EQUAL(line, "ok");
    mpiq_pipe_deinit(&pipe);

    /* A server that could not answer at all: the bytes come by themselves. */
    dprintf(server_out, "ok 1 %d\n", (int)getpid());
    WORKS(mpiq_target_wire_create(client_in, client_out, &target));
    CU_ASSERT_PTR_NOT_NULL_FATAL(target);
    WORKS(mpiq_target_read(target, (uint64_t)(uintptr_t)text, sizeof text, copy));
    CU_ASSERT_STRING_EQUAL(copy, text);
    mpiq_target_destroy(target);
    mpiq_target_destroy(live);
    close(client_in);
    close(client_out);
    close(server_in);
    close(server_out);
}

/* ---- the server against a client that is none
 * -------------------------------------------------------------- */

/* What comes back for a text, as one string with | for line ends, until the server ends or `lines` came. */
static void answers(const char *text, size_t length, int lines, const char *expected)
{
    char back[512] = "";
    size_t used = 0;
    start(connect_sockets, true);
    CU_ASSERT_EQUAL(write(client_out, text, length), (ssize_t)length);
    while (lines > 0 && used < sizeof back - 1) {
        ssize_t got = read(client_in, back + used, 1);
        if (got <= 0)
            break;
        lines -= back[used] == '\n';
        back[used] = back[used] == '\n' ? '|' : back[used];
        used++;
    }
    back[used] = '\0';
    CU_ASSERT_STRING_EQUAL(back, expected);
    if (strcmp(back, expected) != 0)
        printf("\nis:  %s\nnot: %s\n", back, expected);
}

static void requests_that_are_none_get_an_error(void)
{
    static const struct {
        const char *text;
        const char *answer;
    } rows[] = {
        {"hello 1\n", "ok 1 0|"},
        {"hello\n", "err usage the wire: the request needs an argument|"},
        {"hello x\n", "err usage the wire: hello without a version|"},
        {"read 0x10000 4\n", "ok 00070e15|"},
        {"read 0x10000 0\n", "ok |"},
        {"read 0x10000\n", "err usage the wire: read needs an address and a size of at most 1 MiB|"},
        {"read 0x10000 1048577\n", "err usage the wire: read needs an address and a size of at most 1 MiB|"},
        {"read -1 4\n", "err usage the wire: read needs an address and a size of at most 1 MiB|"},
        {"read 0xffffffffffffffff1 4\n",
         "err usage the wire: read needs an address and a size of at most 1 MiB|"},
        {"symbol memory\n", "ok 0x10000|"},
        {"symbol \n", "err usage the wire: the request needs an argument|"},
        {"field 0 part\n", "err usage the wire: field without a type that was given out|"},
        {"stack 99999999999\n", "err usage the wire: stack without a thread's id|"},
        {"sizes\n", "ok 2 4 8 8 8 1 8 little|"},
        {"environment RANK_NAME\n", "ok \"a\\u000a\\\"b\\\"\"|"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        answers(rows[i].text, strlen(rows[i].text), 1, rows[i].answer);
        WORKS(stop());
        CU_ASSERT_PTR_NULL(others);
    }
    answers("type struct thing\nfield 0 part\ntype struct thing\nend\n", 54, 4, "ok 0 24|ok 8|ok 0 24|ok|");
    WORKS(stop());
}

static void other_lines_are_the_callers(void)
{
    answers("done {\"a\": 1}\nsizes\nreader\nstop\nsizes\n", 39, 2, "ok 2 4 8 8 8 1 8 little|");
    WORKS(stop()); /* the thread that fills others */
    CU_ASSERT_STRING_EQUAL(others, "done {\"a\": 1}|reader|stop|");
}

static void without_a_caller_other_lines_are_refused(void)
{
    struct mpiq_pipe pipe;
    char *line = NULL;
    size_t length = 0;
    start(connect_pipes, false);
    mpiq_pipe_init(&pipe, client_in, client_out);
    WORKS(mpiq_pipe_write(&pipe, "dance\n", 6));
    WORKS(mpiq_pipe_read(&pipe, &line, &length));
    CU_ASSERT_EQUAL(strncmp(line, "err unsupported ", 16), 0);
    mpiq_pipe_deinit(&pipe);
    WORKS(stop());
}

static void a_zero_byte_or_half_a_line_ends_it(void)
{
    answers("sizes\0\n", 7, 1, "");
    FAILS(stop(), MPIQ_ERROR_CORRUPT);
    answers("siz", 3, 0, "");
    FAILS(stop(), MPIQ_ERROR_CORRUPT);
    answers("", 0, 0, "");
    WORKS(stop());
}

/* ---- the client against a server that is none
 * -------------------------------------------------------------- */

/* The client gets these bytes, whatever it asks. */
static struct mpiq_target *client_of(const char *replies)
{
    struct mpiq_target *target = NULL;
    connect_pipes();
    CU_ASSERT_EQUAL(write(server_out, replies, strlen(replies)), (ssize_t)strlen(replies));
    close(server_out);
    WORKS(mpiq_target_wire_create(client_in, client_out, &target));
    CU_ASSERT_PTR_NOT_NULL_FATAL(target);
    return target;
}

static void close_client(struct mpiq_target *target)
{
    mpiq_target_destroy(target);
    close(client_in);
    close(client_out);
    close(server_in);
}

static void replies_that_are_none_are_seen(void)
{
    static const struct {
        const char *text;
        enum mpiq_error_code code;
    } replies[] = {
        {"", MPIQ_ERROR_GONE},
        {"ok 0011\n", MPIQ_ERROR_CORRUPT},
        {"ok 001122zz\n", MPIQ_ERROR_CORRUPT},
        {"ok 00112233 \n", MPIQ_ERROR_CORRUPT},
        {"maybe\n", MPIQ_ERROR_CORRUPT},
        {"err\n", MPIQ_ERROR_CORRUPT},
        {"\n", MPIQ_ERROR_CORRUPT},
        {"ok\n", MPIQ_ERROR_CORRUPT},
        {"okay 00112233\n", MPIQ_ERROR_CORRUPT},
        {"ok 0011223", MPIQ_ERROR_CORRUPT}, /* the pipe ends within a line */
    };
    for (size_t i = 0; i < sizeof replies / sizeof *replies; i++) {
        char both[64];
        char bytes[4];
        snprintf(both, sizeof both, "ok 1 0\n%s", replies[i].text);
        struct mpiq_target *target = client_of(both);
        struct mpiq_error *first = mpiq_target_read(target, 0x10000, 4, bytes);
        CU_ASSERT_PTR_NOT_NULL_FATAL(first);
        CU_ASSERT_EQUAL(first->code, replies[i].code);
        /* What was broken once stays so, in the same words. */
        struct mpiq_error *second = mpiq_target_read(target, 0x10000, 4, bytes);
        CU_ASSERT_PTR_NOT_NULL_FATAL(second);
        CU_ASSERT_STRING_EQUAL(first->message, second->message);
        mpiq_error_destroy(first);
        mpiq_error_destroy(second);
        close_client(target);
    }
}

static void json_that_is_none_is_seen(void)
{
    struct mpiq_target_status status;
    struct mpiq_target_stack stack = {0};
    struct mpiq_target *target = client_of("ok 1 0\nok []\n");
    FAILS(mpiq_target_status(target, &status), MPIQ_ERROR_CORRUPT);
    close_client(target);

    /* Of a sensible object, what makes no sense is not known. */
    target = client_of(
        "ok 1 0\nok {\"pid\":\"x\",\"state\":\"\",\"uid\":-7,\"host\":3,\"executable\":\"a\\ud834b\"}\n"
        "ok {\"frames\":[{\"pc\":-1,\"line\":\"x\"},7],\"truncated\":true}\n");
    WORKS(mpiq_target_status(target, &status));
    CU_ASSERT_EQUAL(status.pid, 0);
    CU_ASSERT_EQUAL(status.state, '?');
    CU_ASSERT_EQUAL(status.uid, (uid_t)-1);
    CU_ASSERT_STRING_EQUAL(status.host, "");
    CU_ASSERT_STRING_EQUAL(status.executable, "a\xef\xbf\xbd\x62");
    WORKS(mpiq_target_stack(target, 1, &stack));
    CU_ASSERT_EQUAL(stack.count, 2);
    CU_ASSERT_EQUAL(stack.frames[0].line, 0);
    mpiq_target_stack_deinit(&stack);
    close_client(target);
}

/* "ok " and a page of bytes 7. */
static void say_page(char *to)
{
    strcpy(to, "ok ");
    for (int i = 0; i < 4096; i++)
        strcat(to + 2 * i, "07");
    strcat(to, "\n");
}

static void what_stands_still_is_asked_once(void)
{
    static char replies[32768];
    uint64_t address = 0;
    unsigned char bytes[16] = {0};
    strcpy(replies, "ok 1 0\nok 0x10\n");
    say_page(replies + strlen(replies));
    strcat(replies, "ok\nok 0x20\nerr unmapped it has gone\nok 0909\n");
    struct mpiq_target *target = client_of(replies);
    for (int i = 0; i < 3; i++)
        WORKS(mpiq_target_find_symbol(target, "here", &address));
    CU_ASSERT_EQUAL(address, 0x10);
    WORKS(mpiq_target_read(target, 0x5004, sizeof bytes, bytes));
    WORKS(mpiq_target_read(target, 0x5ff0, sizeof bytes, bytes));
    CU_ASSERT_EQUAL(bytes[15], 7);
    /* All of that may have changed; and where a page is not to be had, its bytes may be. */
    mpiq_target_forget(target);
    WORKS(mpiq_target_find_symbol(target, "here", &address));
    CU_ASSERT_EQUAL(address, 0x20);
    WORKS(mpiq_target_read(target, 0x5004, 2, bytes));
    CU_ASSERT_EQUAL(bytes[1], 9);
    /* There is no reply any more. */
    FAILS(mpiq_target_find_symbol(target, "there", &address), MPIQ_ERROR_GONE);
    close_client(target);
}

static void what_is_known_is_not_asked(void)
{
    struct mpiq_target *target = NULL;
    struct mpiq_target_sizes sizes = {0};
    struct mpiq_pipe pipe;
    struct mpiq_text text = {0};
    char *known = NULL;
    made_up_init(&made_up);
    mpiq_text_open(&text, '{');
    static const char *const requests[] = {"hello 1", "sizes", "symbol nobody", "read 0x1000 4"};
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        char *reply = mpiq_target_reply(&made_up.target, 0, requests[i]);
        CU_ASSERT_EQUAL(reply != NULL, i < 2); /* no error, and no memory */
        mpiq_text_put_string(&text, requests[i], reply);
        free(reply);
    }
    mpiq_text_close(&text, '}');
    WORKS(mpiq_text_end(&text, &known));
    connect_pipes();
    close(server_out);
    mpiq_pipe_init(&pipe, client_in, client_out);
    WORKS(mpiq_target_wire_pipe_create(&pipe, known, &target));
    CU_ASSERT_PTR_NOT_NULL_FATAL(target);
    WORKS(mpiq_target_sizes(target, &sizes));
    CU_ASSERT_EQUAL(sizes.pointer_size, 8);
    free(known);
    close_client(target);
    mpiq_pipe_deinit(&pipe);
}

static void another_version_is_refused(void)
{
    struct mpiq_target *target = NULL;
    connect_pipes();
    dprintf(server_out, "ok 2 0\n");
    FAILS(mpiq_target_wire_create(client_in, client_out, &target), MPIQ_ERROR_UNSUPPORTED);
    close_client(NULL);
    close(server_out);
}

static void a_side_that_has_closed_sends_no_signal(void)
{
    struct mpiq_pipe pipe;
    struct sigaction before;
    sigaction(SIGPIPE, NULL, &before);
    CU_ASSERT_PTR_EQUAL(before.sa_handler, SIG_DFL);
    connect_pipes();
    close(server_in);
    mpiq_pipe_init(&pipe, client_in, client_out);
    FAILS(mpiq_pipe_write(&pipe, "sizes\n", 6), MPIQ_ERROR_GONE);
    pipe.deadline = INT64_MAX; /* another way into the kernel, and no time to miss */
    FAILS(mpiq_pipe_write(&pipe, "sizes\n", 6), MPIQ_ERROR_GONE);
    close(client_in);
    close(client_out);
    close(server_out);
    connect_sockets();
    close(server_in);
    close(server_out);
    mpiq_pipe_init(&pipe, client_in, client_out);
    FAILS(mpiq_pipe_write(&pipe, "sizes\n", 6), MPIQ_ERROR_GONE);
    close(client_in);
    close(client_out);
}

static void a_deadline_ends_the_waiting(void)
{
    static char much[1 << 20];
    for (int i = 0; i < 2; i++) {
        struct mpiq_pipe pipe;
        char *line = NULL;
        size_t length = 0;
        if (i == 0)
            connect_pipes();
        else
            connect_sockets();
        mpiq_pipe_init(&pipe, client_in, client_out);
        pipe.deadline = mpiq_monotonic_ns() + 20000000;
        FAILS(mpiq_pipe_read(&pipe, &line, &length), MPIQ_ERROR_TIMEOUT);
        pipe.deadline = mpiq_monotonic_ns() + 20000000;
        FAILS(mpiq_pipe_write(&pipe, much, sizeof much), MPIQ_ERROR_TIMEOUT);
        mpiq_pipe_deinit(&pipe);
        close_client(NULL);
        close(server_out);
    }
}

static void a_line_has_a_longest_length(void)
{
    struct mpiq_pipe pipe;
    char *line = NULL;
    size_t length = 0;
    static char long_line[200000];
    memset(long_line, 'x', sizeof long_line);
    connect_sockets();
    int room = 1 << 20;
    setsockopt(client_out, SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    CU_ASSERT_EQUAL(write(client_out, long_line, sizeof long_line), (ssize_t)sizeof long_line);
    mpiq_pipe_init(&pipe, server_in, server_out);
    pipe.limit = 100000;
    FAILS(mpiq_pipe_read(&pipe, &line, &length), MPIQ_ERROR_CORRUPT);
    mpiq_pipe_deinit(&pipe);
    close_client(NULL);
    close(server_out);
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"a whole target is read through pipes", all_of_a_target_comes_through_pipes},
        {"a whole target is read through a socket", all_of_a_target_comes_through_a_socket},
        {"memory of a live process needs no wire", memory_of_a_live_process_needs_no_wire},
        {"malformed requests get an error", requests_that_are_none_get_an_error},
        {"other lines go to the caller", other_lines_are_the_callers},
        {"without a caller other lines are refused", without_a_caller_other_lines_are_refused},
        {"a zero byte or half a line closes the wire", a_zero_byte_or_half_a_line_ends_it},
        {"malformed replies are detected", replies_that_are_none_are_seen},
        {"malformed JSON is detected", json_that_is_none_is_seen},
        {"a process that stands still is asked only once", what_stands_still_is_asked_once},
        {"known replies are not asked for", what_is_known_is_not_asked},
        {"another version is refused", another_version_is_refused},
        {"writing to a closed side raises no signal", a_side_that_has_closed_sends_no_signal},
        {"a deadline ends the waiting", a_deadline_ends_the_waiting},
        {"too long a line is refused", a_line_has_a_longest_length},
        CU_TEST_INFO_NULL,
    };
    return suite_run("wire", tests);
}
