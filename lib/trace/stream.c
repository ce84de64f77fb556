/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/stream.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/debug.h"
#include "trace/cart.h"

/* Events of a location in memory at a time, if its reader stays open. */
enum { BATCH = 256, EXTRAS_MOST = 1 << 20 };

/* Else each batch costs another opening of the file: so much memory for all locations together, and so much
   for each. */
#define BATCHES_ALL ((uint64_t)48 << 20)
#define BATCHES_EACH ((uint64_t)40 << 10)

struct source {
    struct mpiq_trace_event *events; /* NULL: none yet */
    uint32_t count, next;
    uint64_t position; /* events read so far */
    uint64_t last;     /* time of the last one */
    uint8_t end;       /* enum mpiq_trace_end */
    bool undefined;    /* its own definitions cannot be read */
};

struct mpiq_trace_stream {
    OTF2_Reader *reader;
    OTF2_EvtReaderCallbacks *callbacks;
    OTF2_EvtReader *open; /* of location `current` */
    uint32_t current;
    struct mpiq_trace_definitions definitions;
    struct source *sources;
    uint32_t *heap; /* locations by the time of their next event */
    uint32_t heap_count;
    struct mpiq_trace_extra *extras;
    uint32_t extra_count, extra_room;
    uint64_t backwards;
    char *creator;
    bool failed;
    bool given;  /* an event was given that is still the first */
    bool single; /* every location has a reader, which stays open */
    uint32_t batch;
    OTF2_EvtReader **readers;
};

/* Readers stay open if all their buffers together are no larger: each has one of a chunk's size. */
#define BUFFERS_MOST ((uint64_t)64 << 20)

/* ---- events ---------------------------------------------------------------------------------------------
 */

static OTF2_CallbackCode add(struct mpiq_trace_stream *stream, uint64_t time,
                             const struct mpiq_trace_event *event)
{
    struct source *source = &stream->sources[stream->current];
    if (source->count >= stream->batch)
        return OTF2_CALLBACK_INTERRUPT;
    if (time < source->last)
        stream->backwards++;
    source->last = time;
    struct mpiq_trace_event *added = &source->events[source->count++];
    *added = *event;
    added->time = time;
    added->location = stream->current;
    return OTF2_CALLBACK_SUCCESS;
}

/* Our attributes of an event. */
static uint32_t extra_of(struct mpiq_trace_stream *stream, const OTF2_AttributeList *list)
{
    if (!list || OTF2_AttributeList_GetNumberOfElements(list) == 0 || stream->extra_count >= EXTRAS_MOST)
        return 0;
    struct mpiq_trace_extra extra = {0};
    for (int i = 0; i < MPIQ_TRACE_ATTRIBUTES; i++) {
        uint64_t value;
        if (stream->definitions.attributes[i] != MPIQ_TRACE_NONE &&
            OTF2_AttributeList_GetUint64(list, stream->definitions.attributes[i], &value) == OTF2_SUCCESS) {
            extra.set |= 1u << i;
            extra.values[i] = value;
        }
    }
    if (extra.set == 0)
        return 0;
    if (!mpiq_array_reserve(&stream->extras, &stream->extra_room, stream->extra_count + 1)) {
        stream->failed = true;
        return 0;
    }
    stream->extras[stream->extra_count++] = extra;
    return stream->extra_count;
}

#define ARGUMENTS \
    OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position, void *data, OTF2_AttributeList *list
#define EVENT(kind_, ...)                                                    \
    ({                                                                       \
        struct mpiq_trace_stream *stream_ = data;                            \
        (void)location, (void)position;                                      \
        const struct mpiq_trace_event event_ = {                             \
            .kind = (kind_), .extra = extra_of(stream_, list), __VA_ARGS__}; \
        add(stream_, time, &event_);                                         \
    })
#define DEFINITIONS (&((struct mpiq_trace_stream *)data)->definitions)

static OTF2_CallbackCode on_enter(ARGUMENTS, OTF2_RegionRef region)
{
    return EVENT(MPIQ_TRACE_ENTER, .subject = mpiq_trace_find_region(DEFINITIONS, region));
}

static OTF2_CallbackCode on_leave(ARGUMENTS, OTF2_RegionRef region)
{
    return EVENT(MPIQ_TRACE_LEAVE, .subject = mpiq_trace_find_region(DEFINITIONS, region));
}

static OTF2_CallbackCode on_send(ARGUMENTS, uint32_t peer, OTF2_CommRef comm, uint32_t tag, uint64_t bytes)
{
    return EVENT(MPIQ_TRACE_MPI_SEND, .peer = peer, .subject = mpiq_trace_find_comm(DEFINITIONS, comm),
                 .tag = tag, .bytes = bytes);
}

static OTF2_CallbackCode on_isend(ARGUMENTS, uint32_t peer, OTF2_CommRef comm, uint32_t tag, uint64_t bytes,
                                  uint64_t request)
{
    return EVENT(MPIQ_TRACE_MPI_ISEND, .peer = peer, .subject = mpiq_trace_find_comm(DEFINITIONS, comm),
                 .tag = tag, .bytes = bytes, .request = request);
}

static OTF2_CallbackCode on_isend_complete(ARGUMENTS, uint64_t request)
{
    return EVENT(MPIQ_TRACE_MPI_ISEND_COMPLETE, .request = request);
}

static OTF2_CallbackCode on_recv(ARGUMENTS, uint32_t peer, OTF2_CommRef comm, uint32_t tag, uint64_t bytes)
{
    return EVENT(MPIQ_TRACE_MPI_RECV, .peer = peer, .subject = mpiq_trace_find_comm(DEFINITIONS, comm),
                 .tag = tag, .bytes = bytes);
}

static OTF2_CallbackCode on_irecv_request(ARGUMENTS, uint64_t request)
{
    return EVENT(MPIQ_TRACE_MPI_IRECV_REQUEST, .request = request, .subject = MPIQ_TRACE_NONE);
}

static OTF2_CallbackCode on_irecv(ARGUMENTS, uint32_t peer, OTF2_CommRef comm, uint32_t tag, uint64_t bytes,
                                  uint64_t request)
{
    return EVENT(MPIQ_TRACE_MPI_IRECV, .peer = peer, .subject = mpiq_trace_find_comm(DEFINITIONS, comm),
                 .tag = tag, .bytes = bytes, .request = request);
}

static OTF2_CallbackCode on_test(ARGUMENTS, uint64_t request)
{
    return EVENT(MPIQ_TRACE_MPI_REQUEST_TEST, .request = request);
}

static OTF2_CallbackCode on_cancelled(ARGUMENTS, uint64_t request)
{
    return EVENT(MPIQ_TRACE_MPI_REQUEST_CANCELLED, .request = request);
}

static OTF2_CallbackCode on_collective_begin(ARGUMENTS)
{
    return EVENT(MPIQ_TRACE_MPI_COLLECTIVE_BEGIN, .subject = MPIQ_TRACE_NONE);
}

static OTF2_CallbackCode on_collective_end(ARGUMENTS, OTF2_CollectiveOp operation, OTF2_CommRef comm,
                                           uint32_t root, uint64_t sent, uint64_t received)
{
    (void)received;
    return EVENT(MPIQ_TRACE_MPI_COLLECTIVE_END, .subject = mpiq_trace_find_comm(DEFINITIONS, comm),
                 .peer = root, .bytes = sent, .operation = operation);
}

static OTF2_CallbackCode on_nbc_request(ARGUMENTS, uint64_t request)
{
    return EVENT(MPIQ_TRACE_MPI_NBC_REQUEST, .request = request, .subject = MPIQ_TRACE_NONE);
}

static OTF2_CallbackCode on_nbc_complete(ARGUMENTS, OTF2_CollectiveOp operation, OTF2_CommRef comm,
                                         uint32_t root, uint64_t sent, uint64_t received, uint64_t request)
{
    (void)received;
    return EVENT(MPIQ_TRACE_MPI_NBC_COMPLETE, .subject = mpiq_trace_find_comm(DEFINITIONS, comm),
                 .peer = root, .bytes = sent, .operation = operation, .request = request);
}

static OTF2_CallbackCode on_rma_begin(ARGUMENTS)
{
    return EVENT(MPIQ_TRACE_RMA_COLLECTIVE_BEGIN, .subject = MPIQ_TRACE_NONE);
}

static OTF2_CallbackCode on_rma_end(ARGUMENTS, OTF2_CollectiveOp operation, OTF2_RmaSyncLevel level,
                                    OTF2_RmaWinRef window, uint32_t root, uint64_t sent, uint64_t received)
{
    (void)level, (void)received, (void)sent;
    return EVENT(MPIQ_TRACE_RMA_COLLECTIVE_END, .subject = mpiq_trace_find_window(DEFINITIONS, window),
                 .peer = root, .operation = operation);
}

static OTF2_CallbackCode on_comm_create(ARGUMENTS, OTF2_CommRef comm)
{
    return EVENT(MPIQ_TRACE_COMM_CREATE, .subject = mpiq_trace_find_comm(DEFINITIONS, comm));
}

static OTF2_CallbackCode on_comm_destroy(ARGUMENTS, OTF2_CommRef comm)
{
    return EVENT(MPIQ_TRACE_COMM_DESTROY, .subject = mpiq_trace_find_comm(DEFINITIONS, comm));
}

static OTF2_CallbackCode on_program_begin(ARGUMENTS, OTF2_StringRef name, uint32_t count,
                                          const OTF2_StringRef *arguments)
{
    (void)count, (void)arguments;
    return EVENT(MPIQ_TRACE_PROGRAM_BEGIN, .subject = name);
}

static OTF2_CallbackCode on_program_end(ARGUMENTS, int64_t status)
{
    (void)status;
    return EVENT(MPIQ_TRACE_PROGRAM_END, .subject = MPIQ_TRACE_NONE);
}

static OTF2_EvtReaderCallbacks *event_callbacks(void)
{
    OTF2_EvtReaderCallbacks *callbacks = OTF2_EvtReaderCallbacks_New();
    if (!callbacks)
        return NULL;
    OTF2_EvtReaderCallbacks_SetEnterCallback(callbacks, on_enter);
    OTF2_EvtReaderCallbacks_SetLeaveCallback(callbacks, on_leave);
    OTF2_EvtReaderCallbacks_SetMpiSendCallback(callbacks, on_send);
    OTF2_EvtReaderCallbacks_SetMpiIsendCallback(callbacks, on_isend);
    OTF2_EvtReaderCallbacks_SetMpiIsendCompleteCallback(callbacks, on_isend_complete);
    OTF2_EvtReaderCallbacks_SetMpiRecvCallback(callbacks, on_recv);
    OTF2_EvtReaderCallbacks_SetMpiIrecvRequestCallback(callbacks, on_irecv_request);
    OTF2_EvtReaderCallbacks_SetMpiIrecvCallback(callbacks, on_irecv);
    OTF2_EvtReaderCallbacks_SetMpiRequestTestCallback(callbacks, on_test);
    OTF2_EvtReaderCallbacks_SetMpiRequestCancelledCallback(callbacks, on_cancelled);
    OTF2_EvtReaderCallbacks_SetMpiCollectiveBeginCallback(callbacks, on_collective_begin);
    OTF2_EvtReaderCallbacks_SetMpiCollectiveEndCallback(callbacks, on_collective_end);
    OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveRequestCallback(callbacks, on_nbc_request);
    OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveCompleteCallback(callbacks, on_nbc_complete);
    OTF2_EvtReaderCallbacks_SetRmaCollectiveBeginCallback(callbacks, on_rma_begin);
    OTF2_EvtReaderCallbacks_SetRmaCollectiveEndCallback(callbacks, on_rma_end);
    OTF2_EvtReaderCallbacks_SetCommCreateCallback(callbacks, on_comm_create);
    OTF2_EvtReaderCallbacks_SetCommDestroyCallback(callbacks, on_comm_destroy);
    OTF2_EvtReaderCallbacks_SetProgramBeginCallback(callbacks, on_program_begin);
    OTF2_EvtReaderCallbacks_SetProgramEndCallback(callbacks, on_program_end);
    return callbacks;
}

/* ---- one location ---------------------------------------------------------------------------------------
 */

static OTF2_EvtReader *reader_of(struct mpiq_trace_stream *stream, uint32_t location)
{
    OTF2_EvtReader **reader = &stream->readers[stream->single ? location : 0];
    OTF2_EvtReader *open = *reader;
    if (open)
        return open;
    *reader = OTF2_Reader_GetEvtReader(stream->reader, stream->definitions.locations[location].id);
    if (*reader &&
        OTF2_Reader_RegisterEvtCallbacks(stream->reader, *reader, stream->callbacks, stream) != OTF2_SUCCESS)
        return NULL;
    uint64_t position = stream->sources[location].position;
    /* libotf2 counts events from 1. */
    if (*reader && position > 0 && OTF2_EvtReader_Seek(*reader, position + 1) != OTF2_SUCCESS)
        return NULL;
    return *reader;
}

/* The next batch of a location's events; none are left if source->next is source->count afterwards. */
static void fill(struct mpiq_trace_stream *stream, uint32_t location)
{
    struct source *source = &stream->sources[location];
    source->count = source->next = 0;
    if (source->end != MPIQ_TRACE_READING)
        return;
    stream->current = location;
    if (!source->events)
        source->events = malloc(stream->batch * sizeof *source->events);
    if (!source->events) {
        stream->failed = true;
        return;
    }
    OTF2_EvtReader *reader = reader_of(stream, location);
    uint64_t read = 0;
    OTF2_ErrorCode code = OTF2_ERROR_INVALID;
    /* Records without a callback of ours fill no room: a batch may be empty and not the last. */
    do {
        read = 0;
        code = reader ? OTF2_Reader_ReadLocalEvents(stream->reader, reader, stream->batch, &read)
                      : OTF2_ERROR_INVALID;
        source->position += read;
    } while (code == OTF2_SUCCESS && read == stream->batch && source->count == 0);
    if (!reader)
        source->end = source->position == 0 ? MPIQ_TRACE_MISSING : MPIQ_TRACE_CUT;
    else if (code != OTF2_SUCCESS || read < stream->batch)
        source->end =
            source->position < stream->definitions.locations[location].events || code != OTF2_SUCCESS
                ? MPIQ_TRACE_CUT
                : MPIQ_TRACE_WHOLE;
    if (!stream->single && stream->readers[0]) {
        OTF2_Reader_CloseEvtReader(stream->reader, stream->readers[0]);
        stream->readers[0] = NULL;
    }
    if (source->end != MPIQ_TRACE_READING && source->count == 0) {
        free(source->events);
        source->events = NULL;
    }
}

/* ---- the merge ------------------------------------------------------------------------------------------
 */

static bool is_before(const struct mpiq_trace_stream *stream, uint32_t a, uint32_t b)
{
    const struct source *left = &stream->sources[a];
    const struct source *right = &stream->sources[b];
    uint64_t first = left->events[left->next].time;
    uint64_t second = right->events[right->next].time;
    return first != second ? first < second : a < b;
}

static void sift(struct mpiq_trace_stream *stream, uint32_t at)
{
    for (;;) {
        uint32_t least = at;
        for (uint32_t child = 2 * at + 1; child <= 2 * at + 2 && child < stream->heap_count; child++) {
            if (is_before(stream, stream->heap[child], stream->heap[least]))
                least = child;
        }
        if (least == at)
            return;
        uint32_t other = stream->heap[at];
        stream->heap[at] = stream->heap[least];
        stream->heap[least] = other;
        at = least;
    }
}

static void begin(struct mpiq_trace_stream *stream)
{
    for (uint32_t i = 0; i < stream->definitions.location_count; i++) {
        if (stream->definitions.locations[i].rank == MPIQ_TRACE_NONE)
            continue;
        fill(stream, i);
        if (stream->sources[i].count > 0)
            stream->heap[stream->heap_count++] = i;
    }
    for (uint32_t i = stream->heap_count / 2 + 1; i-- > 0;)
        sift(stream, i);
}

/* The event given last is done with. */
static void advance(struct mpiq_trace_stream *stream)
{
    uint32_t location = stream->heap[0];
    struct source *source = &stream->sources[location];
    if (++source->next == source->count)
        fill(stream, location);
    if (source->next == source->count)
        stream->heap[0] = stream->heap[--stream->heap_count];
    sift(stream, 0);
}

bool mpiq_trace_stream_next(struct mpiq_trace_stream *stream, const struct mpiq_trace_event **ret,
                            bool *failed)
{
    if (stream->given && stream->heap_count > 0)
        advance(stream);
    stream->given = true;
    *failed = stream->failed;
    if (stream->heap_count == 0 || stream->failed)
        return false;
    const struct source *source = &stream->sources[stream->heap[0]];
    *ret = &source->events[source->next];
    return true;
}

/* ---- the archive ----------------------------------------------------------------------------------------
 */

static OTF2_ErrorCode quiet(void *data, const char *file, uint64_t line, const char *function,
                            OTF2_ErrorCode code, const char *format, va_list arguments)
{
    (void)data, (void)format, (void)arguments;
    mpiq_debug("trace", "libotf2: %s (%s:%llu %s)", OTF2_Error_GetDescription(code), file,
               (unsigned long long)line, function);
    return code;
}

static struct mpiq_error *read_definitions(struct mpiq_trace_stream *stream)
{
    uint64_t read = 0;
    OTF2_GlobalDefReader *reader = OTF2_Reader_GetGlobalDefReader(stream->reader);
    OTF2_GlobalDefReaderCallbacks *callbacks = mpiq_trace_definition_callbacks();
    bool good = reader && callbacks &&
                OTF2_Reader_RegisterGlobalDefCallbacks(stream->reader, reader, callbacks,
                                                       &stream->definitions) == OTF2_SUCCESS &&
                OTF2_Reader_ReadAllGlobalDefinitions(stream->reader, reader, &read) == OTF2_SUCCESS;
    OTF2_GlobalDefReaderCallbacks_Delete(callbacks);
    if (reader)
        OTF2_Reader_CloseGlobalDefReader(stream->reader, reader);
    if (stream->definitions.failed)
        return mpiq_error_no_memory();
    if (!good && stream->definitions.location_count == 0)
        return mpiq_error_create(MPIQ_ERROR_CORRUPT, "its definitions cannot be read");
    stream->definitions.broken |= !good;
    struct mpiq_error *error = mpiq_trace_definitions_finish(&stream->definitions);
    if (!error)
        mpiq_trace_cart_find(&stream->definitions);
    return error;
}

static bool read_definitions_of(struct mpiq_trace_stream *stream, uint32_t location)
{
    uint64_t read = 0;
    OTF2_DefReader *reader =
        OTF2_Reader_GetDefReader(stream->reader, stream->definitions.locations[location].id);
    if (!reader)
        return false;
    bool good = OTF2_Reader_ReadAllLocalDefinitions(stream->reader, reader, &read) == OTF2_SUCCESS;
    OTF2_Reader_CloseDefReader(stream->reader, reader);
    return good;
}

/* Mapping tables and clock offsets: without its own, a location's events name anything.  An archive may do
   without for all locations. */
static void read_local_definitions(struct mpiq_trace_stream *stream)
{
    bool any = false;
    if (OTF2_Reader_OpenDefFiles(stream->reader) != OTF2_SUCCESS)
        return;
    for (uint32_t i = 0; i < stream->definitions.location_count; i++) {
        stream->sources[i].undefined = !read_definitions_of(stream, i);
        any = any || !stream->sources[i].undefined;
    }
    for (uint32_t i = 0; i < stream->definitions.location_count; i++) {
        stream->sources[i].undefined = stream->sources[i].undefined && any;
        if (stream->sources[i].undefined)
            stream->sources[i].end = MPIQ_TRACE_UNDEFINED;
    }
    OTF2_Reader_CloseDefFiles(stream->reader);
}

static bool fits_open(const struct mpiq_trace_stream *stream)
{
    uint64_t chunk = 0, definitions = 0;
    return OTF2_Reader_GetChunkSize(stream->reader, &chunk, &definitions) == OTF2_SUCCESS &&
           chunk <= BUFFERS_MOST && stream->definitions.location_count * chunk <= BUFFERS_MOST;
}

static struct mpiq_error *open_archive(struct mpiq_trace_stream *stream, const char *path)
{
    OTF2_Error_RegisterCallback(quiet, NULL);
    stream->reader = OTF2_Reader_Open(path);
    if (!stream->reader)
        return mpiq_error_create(MPIQ_ERROR_CORRUPT, "its anchor file cannot be read");
    OTF2_Reader_SetSerialCollectiveCallbacks(stream->reader);
    OTF2_Reader_GetCreator(stream->reader, &stream->creator);
    struct mpiq_error *error = read_definitions(stream);
    if (error)
        return error;
    uint32_t count = stream->definitions.location_count;
    for (uint32_t i = 0; i < count; i++)
        OTF2_Reader_SelectLocation(stream->reader, stream->definitions.locations[i].id);
    stream->single = fits_open(stream);
    uint64_t bytes = BATCHES_ALL / (count + 1) + BATCHES_EACH;
    stream->batch = stream->single ? BATCH : (uint32_t)(bytes / sizeof(struct mpiq_trace_event));
    stream->sources = calloc((size_t)count + 1, sizeof *stream->sources);
    stream->heap = calloc((size_t)count + 1, sizeof *stream->heap);
    stream->readers = calloc((size_t)count + 1, sizeof *stream->readers);
    stream->callbacks = event_callbacks();
    if (!stream->sources || !stream->heap || !stream->readers || !stream->callbacks)
        return mpiq_error_no_memory();
    read_local_definitions(stream);
    if (OTF2_Reader_OpenEvtFiles(stream->reader) != OTF2_SUCCESS)
        return mpiq_error_create(MPIQ_ERROR_CORRUPT, "its event files cannot be opened");
    begin(stream);
    return stream->failed ? mpiq_error_no_memory() : NULL;
}

struct mpiq_error *mpiq_trace_stream_create(const char *path, struct mpiq_trace_stream **ret)
{
    struct mpiq_trace_stream *stream = calloc(1, sizeof *stream);
    if (!stream)
        return mpiq_error_no_memory();
    for (int i = 0; i < MPIQ_TRACE_ATTRIBUTES; i++)
        stream->definitions.attributes[i] = MPIQ_TRACE_NONE;
    struct mpiq_error *error = open_archive(stream, path);
    if (error)
        mpiq_trace_stream_destroy(stream);
    else
        *ret = stream;
    return error;
}

void mpiq_trace_stream_destroy(struct mpiq_trace_stream *stream)
{
    if (!stream)
        return;
    if (stream->reader)
        OTF2_Reader_Close(stream->reader);
    OTF2_EvtReaderCallbacks_Delete(stream->callbacks);
    for (uint32_t i = 0; stream->sources && i < stream->definitions.location_count; i++)
        free(stream->sources[i].events);
    free(stream->sources);
    free(stream->heap);
    free(stream->readers);
    free(stream->extras);
    free(stream->creator);
    mpiq_trace_definitions_deinit(&stream->definitions);
    free(stream);
}

const struct mpiq_trace_definitions *mpiq_trace_stream_definitions(const struct mpiq_trace_stream *stream)
{
    return &stream->definitions;
}

const char *mpiq_trace_stream_creator(const struct mpiq_trace_stream *stream)
{
    return stream->creator ? stream->creator : "";
}

const struct mpiq_trace_extra *mpiq_trace_stream_extra(const struct mpiq_trace_stream *stream,
                                                       const struct mpiq_trace_event *event)
{
    return event->extra ? &stream->extras[event->extra - 1] : NULL;
}

enum mpiq_trace_end mpiq_trace_stream_end(const struct mpiq_trace_stream *stream, uint32_t location,
                                          uint64_t *events)
{
    *events = stream->sources[location].position;
    return stream->sources[location].end;
}

uint64_t mpiq_trace_stream_backwards(const struct mpiq_trace_stream *stream)
{
    return stream->backwards;
}
