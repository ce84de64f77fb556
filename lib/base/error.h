/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * error - what went wrong, as one object: a code, a sentence for the user, and the facts behind it.
 *
 * A function that can fail returns a struct mpiq_error *: NULL is success, anything else is owned by the
 * caller.  Library code never prints; the sentence says what, where and, where there is one, what to do.
 */
#ifndef MPIQ_ERROR_H
#define MPIQ_ERROR_H

#include <stdarg.h>
#include <stdint.h>

/* X(identifier, word): the word stands on the wire and in JSON. */
#define MPIQ_ERRORS(X)                                                                     \
    X(USAGE, "usage")             /* the caller asked for something that makes no sense */ \
    X(NOT_FOUND, "not-found")     /* no such symbol, type, member, file, job */            \
    X(STARTING, "starting")       /* a launcher has started no ranks yet */                \
    X(GONE, "gone")               /* the process has ended */                              \
    X(PERMISSION, "permission")   /* it may not be looked at */                            \
    X(UNMAPPED, "unmapped")       /* no memory at that address */                          \
    X(SHORT, "short")             /* only a part could be read */                          \
    X(CORRUPT, "corrupt")         /* what was read contradicts itself */                   \
    X(UNSUPPORTED, "unsupported") /* not known how */                                      \
    X(NO_MEMORY, "no-memory")                                                              \
    X(IO, "io")                                                                            \
    X(TIMEOUT, "timeout")                                                                  \
    X(INTERNAL, "internal") /* a fault of ours */

enum mpiq_error_code {
#define MPIQ_ERROR_ENUM(id, word) MPIQ_ERROR_##id,
    MPIQ_ERRORS(MPIQ_ERROR_ENUM)
#undef MPIQ_ERROR_ENUM
        MPIQ_ERROR_COUNT
};

struct mpiq_error {
    enum mpiq_error_code code;
    int errnum;       /* errno behind it, or 0 */
    uint64_t address; /* in the target, or 0 */
    char *message;    /* the sentence, without a full stop at the end; safe to print (base/escape.h) */
};

/* Analyzers (gcc -fanalyzer, clang-tidy) do not draw the conclusion from returns_nonnull, and report what
   would happen after a failure that left no error: they are shown an abort instead. */
#ifdef __clang_analyzer__
#define MPIQ_ANALYZER
#endif
#ifdef MPIQ_ANALYZER
#define MPIQ_NEVER_NULL
#else
#define MPIQ_NEVER_NULL __attribute__((returns_nonnull))
#endif

/* A new error with that sentence.  Never NULL: without memory a static one, which destroy knows. */
struct mpiq_error *mpiq_error_create(enum mpiq_error_code code, const char *format, ...)
    __attribute__((format(printf, 2, 3))) MPIQ_NEVER_NULL;

/* As mpiq_error_create, with ": " and the text of errnum after the sentence; the code follows from errnum
   (ESRCH gone, EPERM and EACCES permission, ENOENT not found, ENOMEM no memory, else io). */
struct mpiq_error *mpiq_error_create_os(int errnum, const char *format, ...)
    __attribute__((format(printf, 2, 3))) MPIQ_NEVER_NULL;

/* "out of memory". */
struct mpiq_error *mpiq_error_no_memory(void) MPIQ_NEVER_NULL;

/* At an address of the target. */
struct mpiq_error *mpiq_error_create_address(enum mpiq_error_code code, uint64_t address, const char *format,
                                             ...) __attribute__((format(printf, 3, 4))) MPIQ_NEVER_NULL;

#ifdef MPIQ_ANALYZER
static inline struct mpiq_error *mpiq_error_never_null(struct mpiq_error *error)
{
    if (!error)
        __builtin_abort();
    return error;
}
#define mpiq_error_create(...) mpiq_error_never_null((mpiq_error_create)(__VA_ARGS__))
#define mpiq_error_create_os(...) mpiq_error_never_null((mpiq_error_create_os)(__VA_ARGS__))
#define mpiq_error_create_address(...) mpiq_error_never_null((mpiq_error_create_address)(__VA_ARGS__))
#define mpiq_error_no_memory() mpiq_error_never_null((mpiq_error_no_memory)())
#endif

/* Puts "PREFIX: " before the sentence of error, which it returns; NULL stays NULL. */
struct mpiq_error *mpiq_error_prefix(struct mpiq_error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same code and sentence once more. */
struct mpiq_error *mpiq_error_copy(const struct mpiq_error *error) MPIQ_NEVER_NULL;

/* Frees it; NULL is fine. */
void mpiq_error_destroy(struct mpiq_error *error);

/* The word for a code; static.  And the reverse: MPIQ_ERROR_INTERNAL for an unknown word. */
const char *mpiq_error_word(enum mpiq_error_code code);
enum mpiq_error_code mpiq_error_code_of(const char *word);

#endif
