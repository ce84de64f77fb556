/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lifetime - from MPI_Init to MPI_Finalize: the recorder starts with the first and stops after the last.  In
 * a process that never calls MPI_Init, the recorder's memory stays untouched.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "recorder.h"

bool recorder_active;

static void identify(void)
{
    struct mpiq_record_root *root = &mpiq_record_root;
    static const char *const namespaces[] = {"PMIX_NAMESPACE", "PMI_ID"};
    for (unsigned i = 0; i < 2 && !root->nspace[0]; i++) {
        const char *nspace = getenv(namespaces[i]);
        if (nspace)
            snprintf(root->nspace, sizeof root->nspace, "%s", nspace);
    }
    root->jobid = root->nspace[0] ? job_of(root->nspace) : 0;
}

/* A forked child is not the rank. */
static void after_fork(void)
{
    recorder_active = recorder_step = false;
    remains_forked();
    mpiq_record_root.phase = OMPI_MQS_PHASE_LOADED;
    memset(mpiq_record_root.magic, 0, sizeof mpiq_record_root.magic);
}

static bool list_functions(void)
{
    struct mpiq_record_function *list = arena_allocate(recorder_function_count * sizeof *list);
    if (!list)
        return false;
    void dispatch_describe(struct mpiq_record_function *);
    dispatch_describe(list);
    mpiq_record_root.functions = arena_offset(list);
    mpiq_record_root.function_count = recorder_function_count;
    return true;
}

static void add_op(unsigned *count, const char *name, uint64_t handle)
{
    struct mpiq_record_op *ops = arena_at(mpiq_record_root.ops);
    if (!handle || *count >= MPIQ_RECORD_MAX_OPS)
        return;
    ops[*count].handle = handle;
    snprintf(ops[*count].name, sizeof ops->name, "%s", name);
    ++*count;
}

/* Predefined operations, in the order of MPICH's handles.  MPI has no call that returns their names. */
static void list_ops(void)
{
    static const struct {
        char name[16];
        uint8_t standard; /* handle of the standard ABI */
    } predefined[] = {
        {"MPI_MAX", 0x23},     {"MPI_MIN", 0x22},   {"MPI_SUM", 0x21},    {"MPI_PROD", 0x24},
        {"MPI_LAND", 0x30},    {"MPI_BAND", 0x28},  {"MPI_LOR", 0x31},    {"MPI_BOR", 0x29},
        {"MPI_LXOR", 0x32},    {"MPI_BXOR", 0x2a},  {"MPI_MINLOC", 0x38}, {"MPI_MAXLOC", 0x39},
        {"MPI_REPLACE", 0x3c}, {"MPI_NO_OP", 0x3d},
    };
    uint64_t abi_open_mpi_op(const char *);
    unsigned count = 0;
    struct mpiq_record_op *ops = arena_allocate(MPIQ_RECORD_MAX_OPS * sizeof *ops);
    if (!ops)
        return;
    mpiq_record_root.ops = arena_offset(ops);
    for (unsigned i = 0; i < sizeof predefined / sizeof *predefined; i++) {
        const char *name = predefined[i].name;
        if (recorder_abi.kind == MPIQ_RECORD_ABI_MPICH)
            add_op(&count, name, 0x58000001u + i);
        else if (recorder_abi.kind == MPIQ_RECORD_ABI_OPEN_MPI)
            add_op(&count, name, abi_open_mpi_op(name + strlen("MPI_")));
        else
            add_op(&count, name, predefined[i].standard);
    }
}

/* Before the library is initialised; false: nothing will be recorded. */
static bool prepare(mpi_function *next)
{
    static bool tried;
    struct mpiq_record_root *root = &mpiq_record_root;
    const void *address;
    memcpy(&address, &next, sizeof address);
    if (tried || !abi_detect(address))
        return false;
    tried = true;
    recorder_strict = getenv("MPIQ_STRICT") != NULL;
    recorder_check = check_wanted();
    /* A patched library records all of this itself. */
    if (dlsym(RTLD_DEFAULT, "ompi_mqs_root") && !getenv("MPIQ_RECORD_ALWAYS") && !recorder_strict &&
        !recorder_check && !step_wanted())
        return false;
    void dispatch_init(void);
    dispatch_init();
    if (!arena_init() || !request_init() || !thread_init() || !list_functions())
        return false;
    struct mpiq_record_comm *process = arena_allocate(sizeof *process);
    root->process = arena_offset(process);
    root->byte_order = MPIQ_RECORD_BYTE_ORDER;
    root->version_major = MPIQ_RECORD_VERSION_MAJOR;
    root->version_minor = MPIQ_RECORD_VERSION_MINOR;
    root->size = sizeof *root;
    root->pointer_size = sizeof(void *);
    root->abi = recorder_abi.kind;
    root->handle_size = recorder_abi.handle_size;
    root->request_null = recorder_abi.request_null;
    root->request_empty = recorder_abi.request_empty;
    recorder_check = recorder_check && fact_init();
    root->flags = (recorder_strict ? MPIQ_RECORD_STRICT : 0) | (recorder_check ? MPIQ_RECORD_CHECK : 0);
    root->thread_level = -1;
    root->world_rank = -1;
    root->pid = (uint32_t)getpid();
    identify();
    clock_note(&root->first);
    root->last = root->first;
    pthread_atfork(NULL, NULL, after_fork);
    remains_begin();
    root->phase = OMPI_MQS_PHASE_INITIALIZING;
    memcpy(root->magic, MPIQ_RECORD_MAGIC, sizeof root->magic);
    return process != NULL;
}

/* ---- an attribute of MPI_COMM_SELF: the first to be set, so the last to be deleted in MPI_Finalize -- */

bool recorder_sees_end;
static bool finalizing;

static int do_not_copy(word comm, int key, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)key, (void)extra, (void)in, (void)out;
    *flag = 0;
    return 0;
}

static int at_last(word comm, int key, void *attribute, void *extra)
{
    (void)comm, (void)key, (void)attribute, (void)extra;
    if (finalizing)
        mpiq_record_root.phase = OMPI_MQS_PHASE_FINALIZING;
    recorder_self.finalize = NULL;
    if (recorder_ending)
        check_wait();
    return 0;
}

static void watch_end(void)
{
    static int key;
    recorder_sees_end = ASK(Comm_create_keyval, (word)do_not_copy, (word)at_last, (word)&key, 0) == 0 &&
                        ASK(Comm_set_attr, recorder_abi.comm_self, (word)key, (word)&finalizing) == 0;
}

void lifetime_finalizing(void)
{
    finalizing = true;
    if (!recorder_sees_end)
        mpiq_record_root.phase = OMPI_MQS_PHASE_FINALIZING;
}

/* Records what the library answers only once it is initialised. */
static void begin(void)
{
    struct mpiq_record_root *root = &mpiq_record_root;
    int level = -1;
    int length = 0;
    static char version[8192]; /* MPI_MAX_LIBRARY_VERSION_STRING of any ABI */
    type_init();
    list_ops();
    clock_note(&root->last);
    if (ASK(Query_thread, (word)&level) == 0) {
        static const int levels[2][4] = {{0, 1, 2, 3}, {0, 1024, 2048, 4096}};
        const int *own = levels[recorder_abi.kind == MPIQ_RECORD_ABI_STANDARD];
        for (int i = 0; i < 4; i++)
            root->thread_level = level == own[i] ? i : root->thread_level;
    }
    recorder_multiple = root->thread_level < 0 || root->thread_level == 3;
    if (ASK(Get_library_version, (word)version, (word)&length) == 0) {
        const char *open = strncmp(version, "Open MPI v", 10) == 0 ? version + 10 : NULL;
        const char *mpich = strncmp(version, "MPICH Version:", 14) == 0 ? version + 14 : NULL;
        const char *text = open ? open : mpich ? mpich : version;
        text += strspn(text, " \t");
        size_t prefix = 0;
        if (open || mpich) {
            memcpy(root->library, open ? "Open MPI " : "MPICH ", open ? 10 : 7);
            prefix = strlen(root->library);
        }
        size_t end = strcspn(text, open || mpich ? ", \t\r\n" : "\r\n");
        if (end > sizeof root->library - 1 - prefix)
            end = sizeof root->library - 1 - prefix;
        memcpy(root->library + prefix, text, end);
    }
    comm_init();
    watch_end();
    if (recorder_check)
        check_begin();
    if (recorder_strict)
        compare_begin();
    remains_objects();
    remains_watch_signals();
    root->phase = OMPI_MQS_PHASE_RUNNING;
    step_begin();
}

word lifetime_init(const struct function *function, unsigned index, mpi_function *next, word *arguments,
                   word caller)
{
    struct self *self = &recorder_self;
    (void)function;
    if (!prepare(next))
        return go(next, arguments);
    recorder_active = true;
    word result = dispatch(index, next, arguments, caller);
    if ((int)result == 0 && self->record) {
        self->depth = 1;
        begin();
        self->depth = 0;
    } else {
        recorder_active = false;
    }
    return result;
}
