/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * target - the bytes, symbols, types, threads and stacks of one process, wherever they come from.
 *
 * A target is a table of callbacks: live (a running process), core (a dead one), wire (a target served at
 * the other end of a pipe), made-up (for tests).  Callers use the functions below, which check arguments and
 * slots; fillers write a struct mpiq_target_ops and put struct mpiq_target first in their own record.
 *
 * It leaves to others: what the bytes mean.  Nothing here knows MPI.
 */
#ifndef MPIQ_TARGET_H
#define MPIQ_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "process/core_end.h"

struct mpiq_modules;

struct mpiq_target;

/* Sizes in bytes of the target's basic types, its byte order and machine. */
struct mpiq_target_sizes {
    int short_size;
    int int_size;
    int long_size;
    int long_long_size;
    int pointer_size;
    int bool_size;
    int size_t_size;
    bool big_endian;
    unsigned machine; /* EM_…; 0 not known */
};

/* A type that was found; valid as long as its target. */
struct mpiq_target_type;

/* Who the process is and how it is doing, as the system tells it. */
struct mpiq_target_status {
    pid_t pid;
    char state;               /* as /proc/PID/stat: R S D T t Z X; '?' where nobody knows (core, remote) */
    bool core;                /* it is dead: nothing will ever change */
    bool traced;              /* somebody else traces it */
    pid_t tracer;             /* who that is; 0 none, or not known */
    char tracer_name[17];     /* by the kernel; "" not known */
    bool frozen;              /* the freezer of a control group holds it */
    char freezer[512];        /* the file that thaws it, see process/freezer.h; "" not known */
    uid_t uid;                /* owner; (uid_t)-1 if not known */
    struct mpiq_core_end end; /* kind NONE: it is not known to have ended */
    uint64_t cpu_ns;          /* user and system time of all its threads; 0 if not known */
    /* Processor time of the programs that it has started, those that have ended included; 0 if not known. */
    uint64_t children_cpu_ns;
    int64_t io_bytes;      /* read and written by it and by those; -1 if not known */
    char host[65];         /* "" if not known (core, a host name of the process's own) */
    char executable[4096]; /* "" if not known */
    char command[512];     /* the words it was started with, a blank between them; "" if not known */
};

/* In which system call a thread sleeps. */
enum mpiq_target_sleep {
    MPIQ_TARGET_SLEEP_UNKNOWN,
    MPIQ_TARGET_SLEEP_PRIVATE_FUTEX, /* without a timeout: only its own process can wake it */
    MPIQ_TARGET_SLEEP_TIMED_FUTEX,   /* or any wait with a timeout that goes on after a stop */
    MPIQ_TARGET_SLEEP_OTHER,
    MPIQ_TARGET_SLEEP_SIGNAL_FUTEX, /* private, in a process with a signal handler that may wake it */
    MPIQ_TARGET_SLEEP_LOCK, /* for a lock that lock_holder alone can release, and nothing interrupts it */
    MPIQ_TARGET_SLEEP_COUNT
};

struct mpiq_target_thread {
    pid_t tid;
    pid_t inner;         /* as the process itself numbers it, in a container; 0: likewise */
    char state;          /* as above */
    uint8_t sleep;       /* enum mpiq_target_sleep */
    int32_t system_call; /* its number; -1: in none, or not known */
    uint64_t cpu_ns;
    char name[17];
    char file[256];    /* that it sleeps on: reads, opens, or wants a lock of; "" not known */
    pid_t lock_holder; /* the process that has that lock; 0 not known */
    pid_t partner;     /* the process that it waits for, see process/partner.h; 0 none, or not known */
    char partner_name[17];
    char partner_state; /* as above */
    uint64_t futex;     /* address of the word that it sleeps on; 0: none, or not known */
};

/* One frame of a stack, innermost first; an inlined function is a frame of its own with the same pc. */
struct mpiq_target_frame {
    uint64_t pc;
    char *function; /* NULL if not known */
    char *file;     /* source file, NULL if not known */
    int line;       /* 0 if not known */
    char *object;   /* path of the mapped file, NULL if none */
    bool inlined;
    int32_t
        own; /* index in the stack's registers, inlined frames have that of the function around them; -1 */
};

/* Registers of a frame by DWARF number, as they were at its call and will be when that returns. */
#define MPIQ_FRAME_REGISTERS 32

struct mpiq_frame_registers {
    uint64_t pc;    /* where the call returns to */
    uint32_t known; /* bit n: value[n] is known */
    uint64_t value[MPIQ_FRAME_REGISTERS];
};

/* Memory that a word was computed from. */
struct mpiq_word_origin {
    uint64_t address;
    uint32_t size;
};

#define MPIQ_WORD_ORIGINS 4

struct mpiq_call_word {
    bool known;
    bool narrow; /* only the lower 32 bits are certain */
    uint64_t value;
    struct mpiq_word_origin origins[MPIQ_WORD_ORIGINS];
    size_t origin_count;
};

/* MPI_Rget_accumulate and MPI_Isendrecv have so many. */
#define MPIQ_CALL_WORDS 13

/* What a called function does to memory through its arguments. */
struct mpiq_call_effect {
    bool known;       /* it writes nothing but what follows; false: whatever it may know the address of */
    bool again;       /* it may return a second time, after anything: setjmp */
    bool later;       /* and, for as long as the process lives, what it has been given to write into before */
    size_t arguments; /* how many it has, if that is known */
    int made; /* the argument that points to the word that it makes, by which it is found again; -1: none */
    uint8_t made_size;
    uint64_t writes[MPIQ_CALL_WORDS]; /* bytes behind each argument; UINT64_MAX: nobody knows how many */
};

/* Says it of the function at an address; words are the arguments as far as they are plain numbers. */
typedef void mpiq_call_effect_of(void *argument, uint64_t function,
                                 const struct mpiq_call_word words[MPIQ_CALL_WORDS],
                                 struct mpiq_call_effect *ret);

/* A call that has returned. */
struct mpiq_earlier_call {
    uint64_t function; /* what was called; 0: not known */
    uint64_t back;     /* where it returned to */
    struct mpiq_call_word words[MPIQ_CALL_WORDS];
};

/* Which earlier calls of the same function may have made words of an array in memory. */
enum { MPIQ_MAKERS_MOST = 6 };

struct mpiq_array_makers {
    uint64_t start, size; /* of the array, in bytes */
    struct mpiq_maker {
        uint64_t function; /* what was called */
        uint64_t back;     /* where it returned to */
    } calls[MPIQ_MAKERS_MOST];
    size_t count; /* 0: nothing is known */
    bool others;  /* something else may have made some, too */
};

struct mpiq_target_stack {
    struct mpiq_target_frame *frames;
    size_t count;
    struct mpiq_frame_registers *registers; /* of each frame that is no inlined one, innermost first; NULL:
                                               not known */
    size_t register_count;
    bool truncated; /* the unwinder stopped early: `why` says why, or the depth limit was reached */
    char *why;
};

/* One loaded object.  Strings belong to the target, until it is told to forget or destroyed. */
struct mpiq_target_object {
    uint64_t id;              /* of what was read: no other file has the same; 0: unread, or not known */
    const char *path;         /* as frames call it */
    const char *soname;       /* NULL: none */
    const char *const *needs; /* sonames of what it loads (DT_NEEDED) */
    size_t need_count;
    uint32_t defines; /* bit i: it defines symbols[i] */
    bool program;     /* the executable */
    bool unread;      /* its file could not be read: only its path is known */
};

/*
 * The slots.  A slot may be NULL only where it says so; the function of the same name then returns
 * MPIQ_ERROR_UNSUPPORTED.  All out-parameters are untouched on failure.
 */
struct mpiq_target_ops {
    /* "live", "core", "wire", "made-up"; static. */
    const char *kind;

    /* Copies size bytes at address; all of them or an error (GONE, PERMISSION, UNMAPPED, SHORT with the
       first missing address). */
    struct mpiq_error *(*read)(struct mpiq_target *target, uint64_t address, size_t size, void *buffer);

    /* Address of a data or function symbol, in link-map order, executable first (which is what copy
       relocations need).  NOT_FOUND is remembered. */
    struct mpiq_error *(*find_symbol)(struct mpiq_target *target, const char *name, uint64_t *ret);

    /* A struct, union, enum, typedef or base type by its C name ("struct foo" and "foo" are both tried). */
    struct mpiq_error *(*find_type)(struct mpiq_target *target, const char *name,
                                    const struct mpiq_target_type **ret);
    /* Byte offset of a member, through anonymous members, and "a.b" through named ones. */
    struct mpiq_error *(*field_offset)(struct mpiq_target *target, const struct mpiq_target_type *type,
                                       const char *member, uint64_t *ret);
    struct mpiq_error *(*type_size)(struct mpiq_target *target, const struct mpiq_target_type *type,
                                    uint64_t *ret);

    struct mpiq_error *(*sizes)(struct mpiq_target *target, struct mpiq_target_sizes *ret);
    struct mpiq_error *(*status)(struct mpiq_target *target, struct mpiq_target_status *ret);

    /* May be NULL.  An array of *count, which the caller frees with free(). */
    struct mpiq_error *(*threads)(struct mpiq_target *target, struct mpiq_target_thread **ret, size_t *count);

    /* May be NULL.  The stack of a thread; a live one stands still only while its registers and stack are
       copied.  The caller calls mpiq_target_stack_deinit. */
    struct mpiq_error *(*stack)(struct mpiq_target *target, pid_t tid, struct mpiq_target_stack *ret);

    /* May be NULL.  What a call that returns to that address was made from: the function, and those that it
       was inlined into, innermost first; no frame where nothing is mapped.  The caller calls
       mpiq_target_stack_deinit. */
    struct mpiq_error *(*place)(struct mpiq_target *target, uint64_t address, struct mpiq_target_stack *ret);

    /* May be NULL.  The first `count` words that a call was given which has not returned: the call of the
       function whose frame's registers are stack->registers[callee].  What cannot be told is not known. */
    void (*call_words)(struct mpiq_target *target, const struct mpiq_target_stack *stack, size_t callee,
                       size_t count, struct mpiq_call_word words[MPIQ_CALL_WORDS]);

    /* May be NULL.  For each of `count` words in memory: the earlier call of the same function that made it
       (call_history.h), and of the array, whose start and size are given, the calls that may have made some
       of its words. */
    void (*earlier_calls)(struct mpiq_target *target, const struct mpiq_target_stack *stack, size_t callee,
                          mpiq_call_effect_of *effect_of, void *argument, const uint64_t *addresses,
                          size_t count, struct mpiq_earlier_call *ret, struct mpiq_array_makers *array);

    /* May be NULL.  Environment variable of the process at its start; the caller frees it. */
    struct mpiq_error *(*environment)(struct mpiq_target *target, const char *name, char **ret);

    /* May be NULL.  Path of the file that is mapped at an address, as the system calls it; the caller frees
       it. */
    struct mpiq_error *(*file_at)(struct mpiq_target *target, uint64_t address, char **ret);

    /* May be NULL.  Why a file that the process had mapped could not be used so far, the program first; NULL:
       there is none. */
    struct mpiq_error *(*missing_file)(struct mpiq_target *target);

    /* May be NULL.  The loaded objects, and which of these symbols (32 at most, ended by NULL) each defines.
       An array of *count, which the caller frees with free(). */
    struct mpiq_error *(*objects)(struct mpiq_target *target, const char *const *symbols,
                                  struct mpiq_target_object **ret, size_t *count);

    /* Only of targets whose slots are those of module_slots.h: the process's modules, which stay the
     * target's. */
    struct mpiq_error *(*modules)(struct mpiq_target *target, struct mpiq_modules **ret);

    /* May be NULL: nothing is cached.  Drops what the process may have changed since (memory, mappings,
       threads); symbols and types of unchanged files stay. */
    void (*forget)(struct mpiq_target *target);

    /* Ends the use; whatever was stopped runs on. */
    void (*destroy)(struct mpiq_target *target);
};

struct mpiq_target {
    const struct mpiq_target_ops *ops;
    unsigned notes; /* bits that its user keeps about this process; 0 at first */
};

struct mpiq_error *mpiq_target_read(struct mpiq_target *target, uint64_t address, size_t size, void *buffer);
struct mpiq_error *mpiq_target_find_symbol(struct mpiq_target *target, const char *name, uint64_t *ret);
struct mpiq_error *mpiq_target_find_type(struct mpiq_target *target, const char *name,
                                         const struct mpiq_target_type **ret);
struct mpiq_error *mpiq_target_field_offset(struct mpiq_target *target, const struct mpiq_target_type *type,
                                            const char *member, uint64_t *ret);
struct mpiq_error *mpiq_target_type_size(struct mpiq_target *target, const struct mpiq_target_type *type,
                                         uint64_t *ret);
struct mpiq_error *mpiq_target_sizes(struct mpiq_target *target, struct mpiq_target_sizes *ret);
struct mpiq_error *mpiq_target_status(struct mpiq_target *target, struct mpiq_target_status *ret);
struct mpiq_error *mpiq_target_threads(struct mpiq_target *target, struct mpiq_target_thread **ret,
                                       size_t *count);
struct mpiq_error *mpiq_target_stack(struct mpiq_target *target, pid_t tid, struct mpiq_target_stack *ret);
struct mpiq_error *mpiq_target_place(struct mpiq_target *target, uint64_t address,
                                     struct mpiq_target_stack *ret);
/* None is known where the target cannot tell. */
void mpiq_target_call_words(struct mpiq_target *target, const struct mpiq_target_stack *stack, size_t callee,
                            size_t count, struct mpiq_call_word words[MPIQ_CALL_WORDS]);
/* Likewise. */
void mpiq_target_earlier_calls(struct mpiq_target *target, const struct mpiq_target_stack *stack,
                               size_t callee, mpiq_call_effect_of *effect_of, void *argument,
                               const uint64_t *addresses, size_t count, struct mpiq_earlier_call *ret,
                               struct mpiq_array_makers *array);
struct mpiq_error *mpiq_target_environment(struct mpiq_target *target, const char *name, char **ret);
struct mpiq_error *mpiq_target_file_at(struct mpiq_target *target, uint64_t address, char **ret);
struct mpiq_error *mpiq_target_objects(struct mpiq_target *target, const char *const *symbols,
                                       struct mpiq_target_object **ret, size_t *count);
void mpiq_target_forget(struct mpiq_target *target);

/* NULL is fine. */
void mpiq_target_destroy(struct mpiq_target *target);
void mpiq_target_stack_deinit(struct mpiq_target_stack *stack);

/*
 * The fillers' constructors.
 *
 * live: a process of this machine by pid.  stop: freeze all its threads, those born meanwhile too, until
 * destroy.  A zombie or a process that may not be looked at opens: its status can be told, its reads fail
 * with the sentence that says why and the remedy.
 * core: a core file; executable may be NULL (taken from NT_FILE / the auxiliary vector).
 * wire: a target served at the other end of two descriptors (docs/WIRE.md), which stay the caller's.
 */
struct mpiq_error *mpiq_target_live_create(pid_t pid, bool stop, struct mpiq_target **ret);
/* Why a live process that was to be frozen is not: it is read all the same.  NULL if it is, or nobody asked
   for it. */
const struct mpiq_error *mpiq_target_live_not_frozen(struct mpiq_target *target);

/* How a process of this machine ended that nobody has waited for yet; kind NONE: it is not known, or it ended
   well. */
struct mpiq_core_end mpiq_target_live_end(pid_t pid);
struct mpiq_error *mpiq_target_core_create(const char *path, const char *executable,
                                           struct mpiq_target **ret);
struct mpiq_error *mpiq_target_wire_create(int in, int out, struct mpiq_target **ret);

/* Serves target on two descriptors until the other side says "end" or closes.  Lines that are not part of
   the protocol go to `other`, if given; it returns true to continue serving, false to stop. */
struct mpiq_error *mpiq_target_serve(struct mpiq_target *target, int in, int out,
                                     bool (*other)(void *argument, const char *line), void *argument);

#endif
