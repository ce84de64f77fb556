/* SPDX-License-Identifier: BSD-3-Clause */
/* wire - a target served by another process: the client's side of docs/WIRE.md. */
#include "process/wire.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "base/cleanup.h"
#include "process/wire_cache.h"
#include "process/target.h"
#include "process/wire_json.h"

/* One read on the wire; a larger one is made of several. */
#define READ_MAX ((size_t)1 << 20)
#define NAME_MAX_BYTES 4096

struct mpiq_target_type {
    struct mpiq_target_type *next;
    uint64_t id;
    uint64_t size;
};

struct wire {
    struct mpiq_target target;
    struct mpiq_pipe own;
    struct mpiq_pipe *pipe;    /* own, or the creator's */
    struct mpiq_error *broken; /* why nothing more can be asked */
    pid_t direct;              /* 0: memory comes over the wire, too */
    struct mpiq_target_type *types;
    struct mpiq_wire_cache cache;
    bool still; /* the other side holds the process still: its memory may be kept */
};

static struct wire *wire_of(struct mpiq_target *target)
{
    return (struct wire *)target;
}

/* The connection is of no more use: what was said now is said again to all who ask. */
static struct mpiq_error *give_up(struct wire *wire, struct mpiq_error *error)
{
    if (!wire->broken)
        wire->broken = mpiq_error_copy(error);
    return error;
}

static struct mpiq_error *nonsense(struct wire *wire, const char *asked)
{
    return give_up(wire, mpiq_error_create(MPIQ_ERROR_CORRUPT, "the wire: malformed reply to \"%.*s\"",
                                           (int)strcspn(asked, "\n"), asked));
}

/* ---- asking ----------------------------------------------------------------------------------------- */

/* Asks, and gives what stands after "ok" (at most one space dropped), valid until the next request. */
static struct mpiq_error *ask(struct wire *wire, char **ret, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static struct mpiq_error *ask(struct wire *wire, char **ret, const char *format, ...)
{
    if (wire->broken)
        return mpiq_error_create(wire->broken->code, "%s", wire->broken->message);
    _cleanup_free_ char *request = NULL;
    char *line = NULL;
    size_t length = 0;
    va_list args;
    va_start(args, format);
    int asked = vasprintf(&request, format, args);
    va_end(args);
    if (asked < 0) {
        request = NULL; /* where it failed, it may have left anything */
        return mpiq_error_create(MPIQ_ERROR_NO_MEMORY, "no memory for a request");
    }
    struct mpiq_error *error = mpiq_pipe_write(wire->pipe, request, (size_t)asked);
    if (!error)
        error = mpiq_pipe_read(wire->pipe, &line, &length);
    if (!error && !line)
        error = mpiq_error_create(MPIQ_ERROR_GONE, "the other side of the wire has closed it");
    if (error)
        return give_up(wire, error);

    char *word = mpiq_pipe_word(&line);
    if (word && strcmp(word, "ok") == 0) {
        *ret = line ? line : word + 2;
        return NULL;
    }
    char *code = word && strcmp(word, "err") == 0 ? mpiq_pipe_word(&line) : NULL;
    if (!code)
        return nonsense(wire, request);
    return mpiq_error_create(mpiq_error_code_of(code), "%s", line && *line ? line : "no reason was given");
}

/* The same for what does not change until the target is told to forget: asked once.  The request goes without
   its line end. */
static struct mpiq_error *ask_once(struct wire *wire, char **ret, const char *request)
{
    *ret = mpiq_wire_cache_reply(&wire->cache, request);
    if (*ret)
        return NULL;
    struct mpiq_error *error = ask(wire, ret, "%s\n", request);
    if (!error)
        mpiq_wire_cache_add_reply(&wire->cache, request, *ret);
    return error;
}

static struct mpiq_error *ask_once_about(struct wire *wire, char **ret, const char *what, const char *name)
{
    _cleanup_free_ char *request = NULL;
    if (asprintf(&request, "%s %s", what, name) < 0)
        return mpiq_error_create(MPIQ_ERROR_NO_MEMORY, "no memory for a request");
    return ask_once(wire, ret, request);
}

/* ---- memory ----------------------------------------------------------------------------------------- */

static int digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

static struct mpiq_error *read_piece(struct wire *wire, uint64_t address, size_t size, unsigned char *bytes)
{
    char *hex = NULL;
    struct mpiq_error *error = ask(wire, &hex, "read 0x%" PRIx64 " %zu\n", address, size);
    if (error) {
        if (error->code == MPIQ_ERROR_UNMAPPED || error->code == MPIQ_ERROR_SHORT)
            error->address = address;
        return error;
    }
    if (strlen(hex) != 2 * size)
        return nonsense(wire, "read");
    for (size_t i = 0; i < size; i++) {
        int high = digit(hex[2 * i]);
        int low = digit(hex[2 * i + 1]);
        if (high < 0 || low < 0)
            return nonsense(wire, "read");
        bytes[i] = (unsigned char)(high << 4 | low);
    }
    return NULL;
}

/* A round trip costs the same however long the reply, so whole pages are requested, and kept.  False: this
   memory cannot be read that way. */
static bool read_page(struct wire *wire, uint64_t address, size_t size, unsigned char *bytes)
{
    uint64_t start = address & ~((uint64_t)MPIQ_WIRE_CACHE_PAGE - 1);
    if (!wire->still || address - start + size > MPIQ_WIRE_CACHE_PAGE)
        return false;
    const unsigned char *page = mpiq_wire_cache_page(&wire->cache, start);
    if (!page) {
        unsigned char *fresh = malloc(MPIQ_WIRE_CACHE_PAGE);
        struct mpiq_error *error = fresh ? read_piece(wire, start, MPIQ_WIRE_CACHE_PAGE, fresh) : NULL;
        if (error || !fresh) {
            mpiq_error_destroy(error);
            free(fresh);
            return false;
        }
        page = mpiq_wire_cache_add_page(&wire->cache, start, fresh);
    }
    memcpy(bytes, page + (address - start), size);
    return true;
}

static struct mpiq_error *missing(pid_t pid, uint64_t address, size_t got)
{
    return mpiq_error_create_address(got > 0 ? MPIQ_ERROR_SHORT : MPIQ_ERROR_UNMAPPED, address + got,
                                     "process %d has no memory at 0x%" PRIx64, (int)pid, address + got);
}

static struct mpiq_error *wire_read(struct mpiq_target *target, uint64_t address, size_t size, void *buffer)
{
    struct wire *wire = wire_of(target);
    if (wire->direct) {
        struct iovec local = {.iov_base = buffer, .iov_len = size};
        struct iovec remote = {.iov_base = (void *)(uintptr_t)address, .iov_len = size}; /* NOLINT */
        ssize_t got = process_vm_readv(wire->direct, &local, 1, &remote, 1, 0);
        if (got == (ssize_t)size)
            return NULL;
        if (got >= 0 || errno == EFAULT)
            return missing(wire->direct, address, got > 0 ? (size_t)got : 0);
        /* Not allowed, or gone: the other side can, or knows what to say. */
        wire->direct = 0;
    }
    if (read_page(wire, address, size, buffer))
        return NULL;
    for (size_t done = 0; done < size;) {
        size_t piece = size - done < READ_MAX ? size - done : READ_MAX;
        struct mpiq_error *error = read_piece(wire, address + done, piece, (unsigned char *)buffer + done);
        if (error)
            return error;
        done += piece;
    }
    return NULL;
}

/* ---- symbols and types ------------------------------------------------------------------------------ */

/* A name goes to the end of its line; a longer one than anything has is no name. */
static struct mpiq_error *check_name(const char *name)
{
    if (strnlen(name, NAME_MAX_BYTES) == NAME_MAX_BYTES)
        return mpiq_error_create(MPIQ_ERROR_NOT_FOUND, "a name of more than %d bytes", NAME_MAX_BYTES);
    return strpbrk(name, "\r\n") ? mpiq_error_create(MPIQ_ERROR_NOT_FOUND, "a name with a line break") : NULL;
}

static struct mpiq_error *wire_find_symbol(struct mpiq_target *target, const char *name, uint64_t *ret)
{
    struct wire *wire = wire_of(target);
    char *reply = NULL;
    struct mpiq_error *error = check_name(name);
    if (!error)
        error = ask_once_about(wire, &reply, "symbol", name);
    if (!error && !mpiq_pipe_number(mpiq_pipe_word(&reply), ret))
        error = nonsense(wire, "symbol");
    return error;
}

static struct mpiq_error *wire_find_type(struct mpiq_target *target, const char *name,
                                         const struct mpiq_target_type **ret)
{
    struct wire *wire = wire_of(target);
    char *reply = NULL;
    uint64_t id = 0;
    uint64_t size = 0;

    struct mpiq_error *error = check_name(name);
    if (!error)
        error = ask_once_about(wire, &reply, "type", name);
    if (error)
        return error;
    if (!mpiq_pipe_number(mpiq_pipe_word(&reply), &id) || !mpiq_pipe_number(mpiq_pipe_word(&reply), &size))
        return nonsense(wire, "type");
    struct mpiq_target_type *type = wire->types;
    while (type && type->id != id)
        type = type->next;
    if (!type) {
        type = malloc(sizeof *type);
        if (!type)
            return mpiq_error_create(MPIQ_ERROR_NO_MEMORY, "no memory for a type");
        *type = (struct mpiq_target_type){.next = wire->types, .id = id, .size = size};
        wire->types = type;
    }
    *ret = type;
    return NULL;
}

static struct mpiq_error *wire_field_offset(struct mpiq_target *target, const struct mpiq_target_type *type,
                                            const char *member, uint64_t *ret)
{
    struct wire *wire = wire_of(target);
    char *reply = NULL;
    char what[32];
    snprintf(what, sizeof what, "field %" PRIu64, type->id);
    struct mpiq_error *error = check_name(member);
    if (!error)
        error = ask_once_about(wire, &reply, what, member);
    if (!error && !mpiq_pipe_number(mpiq_pipe_word(&reply), ret))
        error = nonsense(wire, "field");
    return error;
}

static struct mpiq_error *wire_type_size(struct mpiq_target *target, const struct mpiq_target_type *type,
                                         uint64_t *ret)
{
    (void)target;
    *ret = type->size;
    return NULL;
}

static struct mpiq_error *wire_sizes(struct mpiq_target *target, struct mpiq_target_sizes *ret)
{
    struct wire *wire = wire_of(target);
    char *reply = NULL;
    int sizes[7];

    struct mpiq_error *error = ask_once(wire, &reply, "sizes");
    if (error)
        return error;
    for (int i = 0; i < 7; i++) {
        uint64_t size = 0;
        if (!mpiq_pipe_number(mpiq_pipe_word(&reply), &size) || size < 1 || size > 16)
            return nonsense(wire, "sizes");
        sizes[i] = (int)size;
    }
    const char *order = mpiq_pipe_word(&reply);
    if (!order || (strcmp(order, "little") != 0 && strcmp(order, "big") != 0))
        return nonsense(wire, "sizes");
    *ret = (struct mpiq_target_sizes){sizes[0], sizes[1], sizes[2], sizes[3],
                                      sizes[4], sizes[5], sizes[6], strcmp(order, "big") == 0};
    return NULL;
}

/* ---- what comes as JSON ----------------------------------------------------------------------------- */

/* A reply that its reader could not make sense of ends the connection; without memory, it is as good as
 * before. */
static struct mpiq_error *check_json(struct wire *wire, struct mpiq_error *error, const char *request)
{
    if (!error || error->code == MPIQ_ERROR_NO_MEMORY)
        return error;
    mpiq_error_destroy(error);
    return nonsense(wire, request);
}

static struct mpiq_error *wire_status(struct mpiq_target *target, struct mpiq_target_status *ret)
{
    struct wire *wire = wire_of(target);
    char *reply = NULL;
    struct mpiq_error *error = ask(wire, &reply, "status\n");
    return error ? error : check_json(wire, mpiq_wire_read_status(reply, ret), "status");
}

static struct mpiq_error *wire_threads(struct mpiq_target *target, struct mpiq_target_thread **ret,
                                       size_t *count)
{
    struct wire *wire = wire_of(target);
    char *reply = NULL;
    struct mpiq_error *error = ask(wire, &reply, "threads\n");
    return error ? error : check_json(wire, mpiq_wire_read_threads(reply, ret, count), "threads");
}

static struct mpiq_error *wire_stack(struct mpiq_target *target, pid_t tid, struct mpiq_target_stack *ret)
{
    struct wire *wire = wire_of(target);
    char *reply = NULL;
    struct mpiq_error *error = ask(wire, &reply, "stack %d\n", (int)tid);
    return error ? error : check_json(wire, mpiq_wire_read_stack(reply, ret), "stack");
}

static struct mpiq_error *wire_place(struct mpiq_target *target, uint64_t address,
                                     struct mpiq_target_stack *ret)
{
    struct wire *wire = wire_of(target);
    char *reply = NULL;
    struct mpiq_error *error = ask(wire, &reply, "place 0x%" PRIx64 "\n", address);
    return error ? error : check_json(wire, mpiq_wire_read_stack(reply, ret), "place");
}

static struct mpiq_error *wire_environment(struct mpiq_target *target, const char *name, char **ret)
{
    struct wire *wire = wire_of(target);
    char *reply = NULL;
    struct mpiq_error *error = check_name(name);
    if (!error)
        error = ask(wire, &reply, "environment %s\n", name);
    return error ? error : check_json(wire, mpiq_wire_read_string(reply, ret), "environment");
}

/* ---- the end and the beginning ---------------------------------------------------------------------- */

static void wire_forget(struct mpiq_target *target)
{
    struct wire *wire = wire_of(target);
    char *reply = NULL;
    mpiq_wire_cache_clear(&wire->cache);
    mpiq_error_destroy(ask(wire, &reply, "forget\n"));
}

static void wire_destroy(struct mpiq_target *target)
{
    struct wire *wire = wire_of(target);
    while (wire->types) {
        struct mpiq_target_type *type = wire->types;
        wire->types = type->next;
        free(type);
    }
    mpiq_wire_cache_clear(&wire->cache);
    mpiq_error_destroy(wire->broken);
    mpiq_pipe_deinit(&wire->own);
    free(wire);
}

static const struct mpiq_target_ops ops = {
    .kind = "wire",
    .read = wire_read,
    .find_symbol = wire_find_symbol,
    .find_type = wire_find_type,
    .field_offset = wire_field_offset,
    .type_size = wire_type_size,
    .sizes = wire_sizes,
    .status = wire_status,
    .threads = wire_threads,
    .stack = wire_stack,
    .place = wire_place,
    .environment = wire_environment,
    .forget = wire_forget,
    .destroy = wire_destroy,
};

pid_t mpiq_target_wire_direct(struct mpiq_target *target)
{
    return target->ops == &ops ? wire_of(target)->direct : 0;
}

static struct mpiq_error *say_hello(struct wire *wire)
{
    char *reply = NULL;
    uint64_t version = 0;
    uint64_t direct = 0;

    struct mpiq_error *error = ask_once(wire, &reply, "hello 1");
    if (error)
        return mpiq_error_prefix(error, "cannot begin on the wire");
    if (!mpiq_pipe_number(mpiq_pipe_word(&reply), &version) ||
        !mpiq_pipe_number(mpiq_pipe_word(&reply), &direct) || direct > INT32_MAX)
        return nonsense(wire, "hello 1");
    if (version != 1)
        return mpiq_error_create(MPIQ_ERROR_UNSUPPORTED,
                                 "the wire's other side speaks version %" PRIu64 ", not 1", version);
    wire->direct = (pid_t)direct;
    /* Whose memory the client may not read itself is a core file, or held still by a debugger. */
    wire->still = !direct;
    return NULL;
}

static bool take_known(void *argument, const char *request, const char *reply)
{
    struct wire *wire = argument;
    mpiq_wire_cache_add_reply(&wire->cache, request, reply);
    return true;
}

/* pipe NULL: one of its own, over two descriptors. */
static struct mpiq_error *create(struct mpiq_pipe *pipe, int in, int out, const char *known,
                                 struct mpiq_target **ret)
{
    struct wire *wire = calloc(1, sizeof *wire);
    if (!wire)
        return mpiq_error_create(MPIQ_ERROR_NO_MEMORY, "no memory for a target");
    wire->target.ops = &ops;
    mpiq_pipe_init(&wire->own, in, out);
    wire->pipe = pipe ? pipe : &wire->own;
    struct mpiq_error *error = known ? mpiq_wire_read_strings(known, take_known, wire) : NULL;
    if (!error)
        error = say_hello(wire);
    if (error)
        wire_destroy(&wire->target);
    else
        *ret = &wire->target;
    return error;
}

struct mpiq_error *mpiq_target_wire_pipe_create(struct mpiq_pipe *pipe, const char *known,
                                                struct mpiq_target **ret)
{
    return create(pipe, -1, -1, known, ret);
}

struct mpiq_error *mpiq_target_wire_create(int in, int out, struct mpiq_target **ret)
{
    return create(NULL, in, out, NULL, ret);
}
