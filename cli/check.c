/* SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* More ranks of one host are not waited for: they go on. */
enum { PAUSED_MAX = 65536 };

/* What a rank says first (recorder/check.c). */
struct hello {
    uint32_t job;
    uint32_t rank;
    uint32_t size;
};

struct paused {
    int descriptor;
    struct hello hello;
    bool greeted;
};

struct check {
    int listener;
    char directory[sizeof((struct sockaddr_un *)0)->sun_path - 8];
    struct sockaddr_un address;
    struct paused *paused;
    size_t count;
};

static struct check *fail(struct check *check)
{
    fprintf(stderr, "mpiq: cannot prepare the check: %s\n", strerror(errno));
    check_end(check);
    return NULL;
}

struct check *check_start(void)
{
    const char *folder = getenv("TMPDIR");
    struct check *check = calloc(1, sizeof *check);
    if (!check)
        return fail(NULL);
    check->listener = -1;
    int length = snprintf(check->directory, sizeof check->directory, "%s/mpiq-check-XXXXXX",
                          folder && folder[0] == '/' ? folder : "/tmp");
    if (length >= (int)sizeof check->directory) /* longer than a socket's name may be */
        snprintf(check->directory, sizeof check->directory, "/tmp/mpiq-check-XXXXXX");
    if (!mkdtemp(check->directory)) { /* mode 0700 */
        check->directory[0] = '\0';
        return fail(check);
    }
    check->address.sun_family = AF_UNIX;
    snprintf(check->address.sun_path, sizeof check->address.sun_path, "%s/rank", check->directory);
    check->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (check->listener < 0 ||
        bind(check->listener, (struct sockaddr *)&check->address, sizeof check->address) < 0 ||
        listen(check->listener, 4096) < 0)
        return fail(check);
    if (setenv("MPIQ_CHECK", check->address.sun_path, 1) < 0)
        return fail(check);
    return check;
}

/* ---- those who come and go ------------------------------------------------------------------------------
 */

static void drop(struct check *check, size_t index)
{
    close(check->paused[index].descriptor);
    check->paused[index] = check->paused[--check->count];
}

static void take_in(struct check *check)
{
    int descriptor;
    while ((descriptor = accept4(check->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
        struct paused *larger =
            check->count < PAUSED_MAX ? realloc(check->paused, (check->count + 1) * sizeof *larger) : NULL;
        if (!larger) {
            close(descriptor);
            continue;
        }
        check->paused = larger;
        check->paused[check->count++] = (struct paused){.descriptor = descriptor};
    }
}

static void listen_to(struct check *check)
{
    take_in(check);
    for (size_t i = check->count; i-- > 0;) {
        struct paused *paused = &check->paused[i];
        struct hello hello;
        ssize_t got = recv(paused->descriptor, &hello, sizeof hello, 0);
        if (got == sizeof hello && !paused->greeted) {
            paused->hello = hello;
            paused->greeted = true;
        } else if (got >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)) {
            drop(check, i); /* it has ended, or says what no rank says */
        }
    }
}

bool check_any(struct check *check)
{
    listen_to(check);
    return check->count > 0;
}

/* Whether as many different ranks of that one's world are there as it has. */
static bool is_whole(const struct check *check, const struct paused *one)
{
    size_t there = 0;
    for (size_t i = 0; i < check->count; i++)
        there += check->paused[i].greeted && check->paused[i].hello.job == one->hello.job;
    return one->greeted && there >= one->hello.size;
}

bool check_all(struct check *check)
{
    if (!check_any(check))
        return false;
    for (size_t i = 0; i < check->count; i++) {
        if (is_whole(check, &check->paused[i]))
            return true;
    }
    return false;
}

void check_release(struct check *check)
{
    while (check->count > 0)
        drop(check, check->count - 1);
}

void check_end(struct check *check)
{
    if (!check)
        return;
    check_release(check);
    free(check->paused);
    if (check->listener >= 0)
        close(check->listener);
    if (check->address.sun_path[0])
        unlink(check->address.sun_path);
    if (check->directory[0])
        rmdir(check->directory);
    free(check);
}
