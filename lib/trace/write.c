/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/write.h"

#include <stdlib.h>
#include <string.h>

#include "trace/write_private.h"

/* ---- regions --------------------------------------------------------------------------------------------
 */

/* Functions by name, file and line: the line is that of the call. */
static uint32_t region(struct mpiq_writing *writing, const char *name, const char *file, int32_t line,
                       bool mpi)
{
    uint32_t name_id = mpiq_write_string(writing, name);
    uint32_t file_id = file ? mpiq_write_string(writing, file) : MPIQ_NONE;
    for (uint32_t i = 0; i < writing->region_count; i++) {
        const struct mpiq_write_region *other = &writing->regions[i];
        if (other->name == name_id && other->file == file_id && other->line == line)
            return i;
    }
    if (!mpiq_array_reserve(&writing->regions, &writing->region_room, (size_t)writing->region_count + 1)) {
        writing->failed = true;
        return 0;
    }
    writing->regions[writing->region_count] = (struct mpiq_write_region){name_id, file_id, line, mpi};
    return writing->region_count++;
}

static uint32_t site_region(struct mpiq_writing *writing, uint32_t index)
{
    const struct mpiq_job_state *job = writing->job;
    const struct mpiq_site *site = index < job->site_count ? &job->sites[index] : NULL;
    const char *function = site ? mpiq_job_string(job, site->function) : NULL;
    const char *file = site ? mpiq_job_string(job, site->file) : NULL;
    return region(writing, function ? function : "(not known)", file, file ? site->line : 0, false);
}

/* ---- events ---------------------------------------------------------------------------------------------
 */

static uint64_t tick(struct mpiq_writing *writing, int64_t ns)
{
    uint64_t time = ns > 0 ? (uint64_t)ns : 0;
    if (time < writing->last) /* a location's times never go back */
        time = writing->last;
    writing->last = time;
    writing->first = time < writing->first ? time : writing->first;
    writing->end = time > writing->end ? time : writing->end;
    writing->events++;
    return time;
}

static void enter(struct mpiq_writing *writing, int64_t ns, uint32_t index)
{
    OTF2_EvtWriter_Enter(writing->writer, NULL, tick(writing, ns), index);
}

static void leave(struct mpiq_writing *writing, int64_t ns, uint32_t index)
{
    OTF2_EvtWriter_Leave(writing->writer, NULL, tick(writing, ns), index);
}

static void say(struct mpiq_writing *writing, enum mpiq_trace_attribute attribute, uint64_t value)
{
    OTF2_AttributeList_AddUint64(writing->list, (OTF2_AttributeRef)attribute, value);
}

/* What an operation waits for; the list is emptied by the event that takes it. */
static void say_envelope(struct mpiq_writing *writing, const struct mpiq_job_operation *operation)
{
    say(writing, MPIQ_TRACE_COMM, operation->comm);
    say(writing, MPIQ_TRACE_PEER,
        operation->any || operation->peer_local < 0 ? UINT64_MAX : (uint64_t)operation->peer_local);
    say(writing, MPIQ_TRACE_TAG, operation->tag_any ? UINT64_MAX : (uint64_t)operation->tag);
}

static void write_receive(struct mpiq_writing *writing, int64_t ns,
                          const struct mpiq_job_operation *operation)
{
    say_envelope(writing, operation);
    OTF2_EvtWriter_MpiIrecvRequest(writing->writer, writing->list, tick(writing, ns), operation->request);
}

static void write_send(struct mpiq_writing *writing, int64_t ns, const struct mpiq_job_operation *operation,
                       bool blocking)
{
    uint64_t bytes = operation->bytes < 0 ? 0 : (uint64_t)operation->bytes;
    if (blocking)
        OTF2_EvtWriter_MpiSend(writing->writer, NULL, tick(writing, ns), (uint32_t)operation->peer_local,
                               operation->comm, (uint32_t)operation->tag, bytes);
    else
        OTF2_EvtWriter_MpiIsend(writing->writer, NULL, tick(writing, ns), (uint32_t)operation->peer_local,
                                operation->comm, (uint32_t)operation->tag, bytes, operation->request);
}

/* ---- what is open ---------------------------------------------------------------------------------------
 */

static bool is_sendable(const struct mpiq_job_operation *operation)
{
    return operation->kind <= MPIQ_OPERATION_RSEND && operation->peer_local >= 0 &&
           operation->comm != MPIQ_NONE;
}

static bool is_open(const struct mpiq_job_operation *operation)
{
    return operation->status == MPIQ_STATUS_PENDING && !operation->inactive && !operation->internal &&
           operation->comm != MPIQ_NONE;
}

/* Whether the call that the thread is in made the operation itself. */
static bool is_own(const struct mpiq_job_state *job, const struct mpiq_job_rank *rank,
                   const struct mpiq_job_operation *operation)
{
    for (uint32_t i = 0; i < rank->thread_count; i++) {
        const struct mpiq_job_thread *thread = &job->threads[rank->first_thread + i];
        const struct mpiq_job_wait *wait =
            thread->wait_count > 0 ? &job->waits[thread->first_wait + thread->wait_count - 1] : NULL;
        if (!wait || (wait->kind != MPIQ_WAIT_SEND && wait->kind != MPIQ_WAIT_RECEIVE))
            continue;
        for (uint32_t j = 0; j < wait->operation_count; j++) {
            const struct mpiq_job_operation *own = &job->operations[wait->first_operation + j];
            if (own->request == operation->request && own->comm == operation->comm &&
                own->kind == operation->kind && own->peer_local == operation->peer_local)
                return true;
        }
    }
    return false;
}

/* Requests that are open, each in a call of its own, at the place where it was started. */
static void write_requests(struct mpiq_writing *writing, const struct mpiq_job_rank *rank, int64_t ns)
{
    const struct mpiq_job_state *job = writing->job;
    for (uint32_t i = 0; i < rank->operation_count; i++) {
        const struct mpiq_job_operation *operation = &job->operations[rank->first_operation + i];
        bool send = operation->queue == MPIQ_QUEUE_SENDS && is_sendable(operation);
        bool receive = operation->queue == MPIQ_QUEUE_RECEIVES && operation->kind == MPIQ_OPERATION_RECEIVE;
        if (!is_open(operation) || (!send && !receive) || is_own(job, rank, operation))
            continue;
        uint32_t site = site_region(writing, operation->started);
        uint32_t call = region(writing,
                               receive                                   ? "MPI_Irecv"
                               : operation->kind == MPIQ_OPERATION_SSEND ? "MPI_Issend"
                                                                         : "MPI_Isend",
                               NULL, 0, true);
        enter(writing, ns, site);
        enter(writing, ns, call);
        if (receive)
            write_receive(writing, ns, operation);
        else
            write_send(writing, ns, operation, false);
        leave(writing, ns, call);
        leave(writing, ns, site);
    }
}

/* What this rank sent, and whose send is over, but nobody has received. */
static void write_unreceived(struct mpiq_writing *writing, uint32_t process, int64_t ns)
{
    const struct mpiq_job_state *job = writing->job;
    for (uint32_t i = 0; i < job->rank_count; i++) {
        const struct mpiq_job_rank *to = &job->ranks[i];
        for (uint32_t j = 0; j < to->operation_count && to->process != MPIQ_NONE; j++) {
            const struct mpiq_job_operation *operation = &job->operations[to->first_operation + j];
            const struct mpiq_job_member *member =
                operation->queue == MPIQ_QUEUE_UNEXPECTED && operation->peer == process && operation->eager &&
                        !operation->internal && operation->comm != MPIQ_NONE
                    ? mpiq_job_member_of(job, i, operation->comm)
                    : NULL;
            if (!member || member->local_rank < 0)
                continue;
            struct mpiq_job_operation sent = *operation;
            sent.peer_local = member->local_rank;
            uint32_t call = region(writing, "MPI_Send", NULL, 0, true);
            uint32_t site = site_region(writing, MPIQ_NONE);
            enter(writing, ns, site);
            enter(writing, ns, call);
            write_send(writing, ns, &sent, true);
            leave(writing, ns, call);
            leave(writing, ns, site);
        }
    }
}

static const struct mpiq_job_call *active_call(const struct mpiq_job_state *job,
                                               const struct mpiq_job_member *member, int32_t tid)
{
    for (uint32_t i = 0; i < member->call_count; i++) {
        const struct mpiq_job_call *call = &job->calls[member->first_call + i];
        if (!call->done && call->request == 0 && (tid < 0 || call->tid == tid))
            return call;
    }
    return NULL;
}

/* Communicators with the number of ordered collectives that the rank has ended on each. */
static void write_communicators(struct mpiq_writing *writing, const struct mpiq_job_rank *rank, int64_t ns)
{
    const struct mpiq_job_state *job = writing->job;
    for (uint32_t i = 0; i < rank->member_count; i++) {
        const struct mpiq_job_member *member = &job->members[job->member_order[rank->first_member + i]];
        if (member->freed || job->communicators[member->comm].user != member->comm)
            continue;
        const struct mpiq_job_call *call = active_call(job, member, -1);
        bool inside = call && job->shapes[call->shape].number == member->ordered;
        if (member->ordered >= 0)
            say(writing, MPIQ_TRACE_NUMBER, (uint64_t)(member->ordered - inside));
        OTF2_EvtWriter_CommCreate(writing->writer, writing->list, tick(writing, ns), member->comm);
    }
}

/* The records inside of a call that has not returned. */
static void write_open_call(struct mpiq_writing *writing, const struct mpiq_job_rank *rank,
                            const struct mpiq_job_thread *thread, int64_t ns)
{
    const struct mpiq_job_state *job = writing->job;
    const struct mpiq_job_wait *wait =
        thread->wait_count > 0 ? &job->waits[thread->first_wait + thread->wait_count - 1] : NULL;
    if (!wait)
        return;
    if (wait->collective >= 0 && wait->collective_comm != MPIQ_NONE) {
        const struct mpiq_job_member *member =
            mpiq_job_member_of(job, (uint32_t)(rank - job->ranks), wait->collective_comm);
        const struct mpiq_job_call *call = member ? active_call(job, member, thread->tid) : NULL;
        say(writing, MPIQ_TRACE_COMM, wait->collective_comm);
        if (call && job->shapes[call->shape].root >= 0)
            say(writing, MPIQ_TRACE_ROOT, (uint64_t)job->shapes[call->shape].root);
        OTF2_EvtWriter_MpiCollectiveBegin(writing->writer, writing->list, tick(writing, ns));
        return;
    }
    for (uint32_t i = 0; i < wait->operation_count; i++) {
        const struct mpiq_job_operation *operation = &job->operations[wait->first_operation + i];
        if (wait->kind == MPIQ_WAIT_SEND && is_sendable(operation)) {
            write_send(writing, ns, operation, true);
        } else if (wait->kind == MPIQ_WAIT_RECEIVE && operation->comm != MPIQ_NONE) {
            write_receive(writing, ns, operation);
        } else if (operation->request) {
            say(writing, MPIQ_TRACE_OPEN, 1);
            OTF2_EvtWriter_MpiRequestTest(writing->writer, writing->list, tick(writing, ns),
                                          operation->request);
        }
    }
}

/* ---- a thread -------------------------------------------------------------------------------------------
 */

static void write_past(struct mpiq_writing *writing, const struct mpiq_job_past_call *past)
{
    const char *name = mpiq_job_string(writing->job, past->call);
    uint32_t site = site_region(writing, past->site);
    uint32_t call = region(writing, name ? name : "MPI", NULL, 0, true);
    enter(writing, past->begin_ns, site);
    enter(writing, past->begin_ns, call);
    leave(writing, past->end_ns, call);
    leave(writing, past->end_ns, site);
}

/* Where a thread is now: in a call that has not returned, or in the program's own code. */
static void write_now(struct mpiq_writing *writing, const struct mpiq_job_rank *rank,
                      const struct mpiq_job_thread *thread)
{
    const struct mpiq_job_state *job = writing->job;
    const struct mpiq_job_wait *wait =
        thread->wait_count > 0 ? &job->waits[thread->first_wait + thread->wait_count - 1] : NULL;
    const char *name = mpiq_job_string(job, thread->call);
    int64_t begin = wait && wait->begin_ns > 0 ? wait->begin_ns : rank->taken_ns;
    enter(writing, begin, site_region(writing, thread->site != MPIQ_NONE ? thread->site : thread->innermost));
    if (!thread->in_mpi || !name)
        return;
    enter(writing, begin, region(writing, name, NULL, 0, true));
    write_open_call(writing, rank, thread, begin);
}

static void write_thread(struct mpiq_writing *writing, const struct mpiq_job_rank *rank, uint32_t index)
{
    const struct mpiq_job_state *job = writing->job;
    const struct mpiq_job_thread *thread =
        index < rank->thread_count ? &job->threads[rank->first_thread + index] : NULL;
    for (uint32_t i = 0; i < rank->past_count; i++) {
        const struct mpiq_job_past_call *past = &job->past_calls[rank->first_past + i];
        if (past->begin_ns > 0 && past->end_ns > 0 && (!thread || past->tid == thread->tid))
            write_past(writing, past);
    }
    if (thread && !rank->gone && rank->phase != MPIQ_PHASE_FINALIZED)
        write_now(writing, rank, thread);
}

static void write_beginning(struct mpiq_writing *writing, const struct mpiq_job_rank *rank)
{
    int64_t ns = writing->start_ns;
    uint32_t init = region(writing, rank->thread_level >= 3 ? "MPI_Init_thread" : "MPI_Init", NULL, 0, true);
    const char *program = mpiq_job_string(writing->job, rank->executable);
    OTF2_EvtWriter_ProgramBegin(writing->writer, NULL, tick(writing, ns),
                                mpiq_write_string(writing, program ? program : "?"), 0, NULL);
    if (rank->phase == MPIQ_PHASE_INITIALIZING || rank->phase == MPIQ_PHASE_LOADED)
        return;
    enter(writing, ns, init);
    write_communicators(writing, rank, ns);
    leave(writing, ns, init);
    write_unreceived(writing, rank->process, ns);
    write_requests(writing, rank, ns);
}

static void write_end(struct mpiq_writing *writing, const struct mpiq_job_rank *rank)
{
    uint32_t call = region(writing, "MPI_Finalize", NULL, 0, true);
    if (!rank->gone && rank->phase != MPIQ_PHASE_FINALIZED)
        return;
    enter(writing, rank->taken_ns, call);
    leave(writing, rank->taken_ns, call);
    OTF2_EvtWriter_ProgramEnd(writing->writer, NULL, tick(writing, rank->taken_ns), 0);
}

/* The thread that speaks for the rank is its first location: one that is in MPI, else the first. */
static uint32_t main_thread(const struct mpiq_job_state *job, const struct mpiq_job_rank *rank)
{
    uint32_t found = 0;
    for (uint32_t i = rank->thread_count; i-- > 0;) {
        const struct mpiq_job_thread *thread = &job->threads[rank->first_thread + i];
        if (!thread->helper && (thread->tid == rank->pid || (thread->in_mpi && found == 0)))
            found = i;
    }
    return found;
}

static void add_location(struct mpiq_writing *writing, uint64_t id, uint32_t process)
{
    if (!mpiq_array_reserve(&writing->locations, &writing->location_room,
                            (size_t)writing->location_count + 1)) {
        writing->failed = true;
        return;
    }
    writing->locations[writing->location_count++] =
        (struct mpiq_write_location){.id = id, .events = writing->events, .process = process};
}

static void write_location(struct mpiq_writing *writing, const struct mpiq_job_rank *rank, uint32_t process,
                           uint64_t id, uint32_t thread, bool main)
{
    writing->writer = OTF2_Archive_GetEvtWriter(writing->archive, id);
    writing->last = 0;
    writing->events = 0;
    if (!writing->writer) {
        writing->failed = true;
        return;
    }
    if (rank && main)
        write_beginning(writing, rank);
    if (rank)
        write_thread(writing, rank, thread);
    if (rank && main)
        write_end(writing, rank);
    OTF2_Archive_CloseEvtWriter(writing->archive, writing->writer);
    add_location(writing, id, process);
}

/* Threads that are in MPI beside the main one have locations of their own. */
static void write_process(struct mpiq_writing *writing, uint32_t process)
{
    const struct mpiq_job_state *job = writing->job;
    const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, process);
    uint32_t first = rank ? main_thread(job, rank) : 0;
    write_location(writing, rank, process, process, first, true);
    for (uint32_t i = 0; rank && !rank->gone && i < rank->thread_count; i++) {
        if (i != first && job->threads[rank->first_thread + i].in_mpi)
            write_location(writing, rank, process, ((uint64_t)(i + 1) << 32) + process, i, false);
    }
}

/* ---- the archive ----------------------------------------------------------------------------------------
 */

static OTF2_FlushType on_flush(void *data, OTF2_FileType type, OTF2_LocationRef location, void *caller,
                               bool final)
{
    (void)data, (void)type, (void)location, (void)caller, (void) final;
    return OTF2_FLUSH;
}

static struct mpiq_error *fail(const char *directory)
{
    return mpiq_error_create(MPIQ_ERROR_IO, "cannot write an archive to %s", directory);
}

static struct mpiq_error *write_archive(struct mpiq_writing *writing, const char *directory)
{
    static const OTF2_FlushCallbacks flush = {on_flush, NULL};
    const struct mpiq_job_state *job = writing->job;
    writing->archive = OTF2_Archive_Open(directory, "traces", OTF2_FILEMODE_WRITE, 1024 * 1024,
                                         4 * 1024 * 1024, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    if (!writing->archive)
        return fail(directory);
    OTF2_Archive_SetFlushCallbacks(writing->archive, &flush, NULL);
    OTF2_Archive_SetSerialCollectiveCallbacks(writing->archive);
    OTF2_Archive_SetCreator(writing->archive, "mpiq " MPIQ_VERSION);
    if (OTF2_Archive_OpenEvtFiles(writing->archive) != OTF2_SUCCESS)
        return fail(directory);
    for (uint32_t i = 0; i < job->process_count; i++)
        write_process(writing, i);
    OTF2_Archive_CloseEvtFiles(writing->archive);
    OTF2_Archive_OpenDefFiles(writing->archive);
    for (uint32_t i = 0; i < writing->location_count; i++)
        OTF2_Archive_CloseDefWriter(writing->archive,
                                    OTF2_Archive_GetDefWriter(writing->archive, writing->locations[i].id));
    OTF2_Archive_CloseDefFiles(writing->archive);
    mpiq_write_definitions(writing);
    OTF2_ErrorCode code = OTF2_Archive_Close(writing->archive);
    return writing->failed ? mpiq_error_no_memory() : code == OTF2_SUCCESS ? NULL : fail(directory);
}

/* Just before the first call that is known. */
static int64_t start_of(const struct mpiq_job_state *job)
{
    int64_t start = INT64_MAX;
    for (uint32_t i = 0; i < job->past_call_count; i++) {
        if (job->past_calls[i].begin_ns > 0 && job->past_calls[i].begin_ns < start)
            start = job->past_calls[i].begin_ns;
    }
    for (uint32_t i = 0; i < job->wait_count; i++) {
        if (job->waits[i].begin_ns > 0 && job->waits[i].begin_ns < start)
            start = job->waits[i].begin_ns;
    }
    for (uint32_t i = 0; i < job->rank_count; i++) {
        if (job->ranks[i].taken_ns > 0 && job->ranks[i].taken_ns < start)
            start = job->ranks[i].taken_ns;
    }
    return start == INT64_MAX || start < 1000 ? 1000 : start - 1000;
}

struct mpiq_error *mpiq_trace_write(const struct mpiq_job_state *job, const char *directory)
{
    struct mpiq_writing writing = {.job = job, .first = UINT64_MAX, .start_ns = start_of(job)};
    for (uint32_t i = 0; i < job->rank_count; i++) {
        int64_t taken = job->ranks[i].taken_ns;
        if (taken > 0 && (uint64_t)taken > writing.end)
            writing.end = (uint64_t)taken;
    }
    writing.list = OTF2_AttributeList_New();
    struct mpiq_error *error = writing.list ? write_archive(&writing, directory) : mpiq_error_no_memory();
    OTF2_AttributeList_Delete(writing.list);
    for (uint32_t i = 0; i < writing.string_count; i++)
        free(writing.strings[i]);
    mpiq_hash_table_deinit(&writing.string_table);
    free(writing.strings);
    free(writing.regions);
    free(writing.locations);
    return error;
}
