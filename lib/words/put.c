/* SPDX-License-Identifier: BSD-3-Clause */
#include "words/put.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "words/nouns.h"
#include "words/quantities.h"

void mpiq_put_escaped(struct mpiq_buffer *buffer, enum mpiq_escape format, const char *string)
{
    if (string)
        mpiq_buffer_escaped(buffer, format, string, strlen(string));
}

void mpiq_put_plain(struct mpiq_buffer *buffer, const char *string)
{
    mpiq_put_escaped(buffer, MPIQ_ESCAPE_TEXT, string);
}

void mpiq_put_full_stop(struct mpiq_buffer *buffer)
{
    if (buffer->length > 0 && !strchr(".:!?", buffer->bytes[buffer->length - 1]))
        mpiq_buffer_char(buffer, '.');
}

void mpiq_put_sentence(struct mpiq_buffer *buffer, const char *text)
{
    /* Of a name ("a.c:7", "main") the first letter stays as it is. */
    size_t word = text ? strspn(text, "abcdefghijklmnopqrstuvwxyz") : 0;
    if (!text || !*text)
        return;
    bool begins = word > 0 && (text[word] == ' ' || text[word] == ',');
    mpiq_buffer_char(buffer, begins ? (char)toupper((unsigned char)*text) : *text);
    mpiq_buffer_string(buffer, text + 1);
    mpiq_put_full_stop(buffer);
}

void mpiq_put_communicator(const struct mpiq_job_state *job, struct mpiq_buffer *buffer, uint32_t comm)
{
    char *words _cleanup_free_ = mpiq_job_communicator_words(job, comm);
    if (words)
        mpiq_buffer_string(buffer, words);
    else
        mpiq_buffer_fail(buffer);
}

void mpiq_put_on(const struct mpiq_job_state *job, struct mpiq_buffer *buffer, uint32_t comm)
{
    if (comm == MPIQ_NONE || (comm == 0 && job->communicators[comm].flags & MPIQ_COMM_WORLD))
        return;
    mpiq_buffer_string(buffer, " on ");
    mpiq_put_communicator(job, buffer, comm);
}

void mpiq_put_duration(struct mpiq_buffer *buffer, double seconds)
{
    char text[MPIQ_DURATION_ROOM];
    mpiq_buffer_string(buffer, mpiq_duration_text(seconds, text));
}

void mpiq_put_last_call(struct mpiq_buffer *buffer, const struct mpiq_last_call *last)
{
    if (!last->known)
        return;
    mpiq_buffer_string(buffer, last->collective ? "last collective call " : "last MPI call ");
    mpiq_buffer_string(buffer, last->call ? last->call : "up to");
    mpiq_buffer_string(buffer, last->call ? ", " : " ");
    mpiq_put_duration(buffer, last->ago);
    mpiq_buffer_string(buffer, " ago");
}

void mpiq_put_ranks(struct mpiq_buffer *buffer, const struct mpiq_rank_set *set, uint32_t most)
{
    char *text _cleanup_free_ = mpiq_rank_set_text(set, most);
    if (!text)
        mpiq_buffer_fail(buffer);
    mpiq_put_plain(buffer, text);
}

void mpiq_put_who(struct mpiq_buffer *buffer, const struct mpiq_rank_set *set, uint32_t most)
{
    mpiq_buffer_string(buffer, set->size == 1 ? "rank " : "ranks ");
    mpiq_put_ranks(buffer, set, most);
}

void mpiq_put_size(struct mpiq_buffer *buffer, int64_t bytes)
{
    mpiq_buffer_string(buffer, mpiq_size_text(bytes, (char[MPIQ_SIZE_ROOM]){0}));
}

void mpiq_put_ranks_named(struct mpiq_buffer *buffer, const struct mpiq_ranks *ranks)
{
    enum { MOST_AWAITED = 6 };
    struct mpiq_rank_set set = mpiq_borrowed_set(ranks);
    const struct mpiq_rank_range *range = ranks->ranges;
    if (set.size == 2 && range[0].world == 0 && range[set.count - 1].world == 0) {
        mpiq_buffer_printf(buffer, "ranks %" PRIu32 " and %" PRIu32, range[0].first,
                           range[set.count - 1].last);
        return;
    }
    mpiq_put_who(buffer, &set, MOST_AWAITED);
}

void mpiq_put_process(const struct mpiq_job_state *job, struct mpiq_buffer *buffer, uint32_t process)
{
    struct mpiq_world_rank name = mpiq_job_world_rank(job, process);
    if (name.world > 0) {
        mpiq_buffer_char(buffer, 'w');
        mpiq_buffer_unsigned(buffer, name.world);
        mpiq_buffer_char(buffer, ':');
    }
    mpiq_buffer_unsigned(buffer, name.rank);
}

/* A function without what compilers append to the names of parts of it: "main" for "main._omp_fn.0". */
static void put_function(struct mpiq_buffer *buffer, const char *function)
{
    static const char *const parts[] = {"._omp_fn.", ".constprop.",   ".isra.",
                                        ".part.",    ".omp_outlined", ".lto_priv."};
    char name[256];
    const char *end = NULL;
    for (const char *at = function && *function ? strchr(function + 1, '.') : NULL; at && !end;
         at = strchr(at + 1, '.')) {
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
            end = strncmp(at, parts[i], strlen(parts[i])) == 0 ? at : end;
    }
    if (!end || (size_t)(end - function) >= sizeof name) {
        mpiq_put_plain(buffer, function);
        return;
    }
    memcpy(name, function, (size_t)(end - function));
    name[end - function] = '\0';
    mpiq_put_plain(buffer, name);
}

void mpiq_put_place(struct mpiq_buffer *buffer, const char *file, int32_t line, const char *function,
                    const char *object)
{
    if (file) {
        mpiq_put_plain(buffer, mpiq_job_base_name(file));
        if (line > 0)
            mpiq_buffer_printf(buffer, ":%" PRId32, line);
        if (function)
            mpiq_buffer_char(buffer, ' ');
    }
    put_function(buffer, function);
    if (!file && object) {
        mpiq_buffer_string(buffer, function ? " in " : "in ");
        mpiq_put_plain(buffer, mpiq_job_base_name(object));
    }
}

void mpiq_put_site(const struct mpiq_job_state *job, struct mpiq_buffer *buffer, uint32_t site)
{
    if (site >= job->site_count)
        return;
    const struct mpiq_site *place = &job->sites[site];
    mpiq_put_place(buffer, mpiq_job_string(job, place->file), place->line,
                   mpiq_job_string(job, place->function), mpiq_job_string(job, place->object));
    if (place->called_at) {
        mpiq_buffer_string(buffer, ", called at ");
        mpiq_put_site(job, buffer, place->called_at - 1);
    }
}

void mpiq_put_context(struct mpiq_buffer *buffer, const struct mpiq_job_communicator *comm)
{
    if (comm->context[0] > 0)
        mpiq_buffer_printf(buffer, "%" PRIu64 ":", comm->context[0]);
    mpiq_buffer_unsigned(buffer, comm->context[1]);
}

void mpiq_put_numbered(const struct mpiq_job_state *job, struct mpiq_buffer *buffer, const char *call,
                       int64_t number, uint32_t comm)
{
    const char *communicator = mpiq_job_communicator_name(job, comm);
    bool world = !*communicator || strcmp(communicator, "MPI_COMM_WORLD") == 0;
    mpiq_buffer_string(buffer, call);
    if (number > 0)
        mpiq_buffer_printf(buffer, " (collective %" PRId64, number);
    if (!world) {
        mpiq_buffer_string(buffer, " on ");
        mpiq_put_communicator(job, buffer, comm);
    }
    mpiq_buffer_string(buffer, number > 0 ? ")" : "");
}

void mpiq_put_call(const struct mpiq_job_state *job, struct mpiq_buffer *buffer,
                   const struct mpiq_rank_diagnosis *rank)
{
    if (!rank->call) {
        mpiq_buffer_string(buffer, rank->library_call);
        return;
    }
    mpiq_put_numbered(job, buffer, rank->call, rank->number, rank->comm);
    if (rank->library_call)
        mpiq_buffer_printf(buffer, " in %s", rank->library_call);
}

void mpiq_put_count(struct mpiq_buffer *buffer, uint64_t count, const char *noun)
{
    mpiq_buffer_unsigned(buffer, count);
    mpiq_buffer_char(buffer, ' ');
    mpiq_buffer_string(buffer, noun);
    if (count != 1)
        mpiq_buffer_char(buffer, 's');
}

const char *mpiq_operation_kind_word(uint8_t kind)
{
    static const char *const words[] = {
#define WORD(id, word) [MPIQ_OPERATION_##id] = (word),
        MPIQ_OPERATION_KINDS(WORD)
#undef WORD
    };
    return words[kind];
}

const char *mpiq_operation_status_word(uint8_t status)
{
    static const char *const words[] = {
#define WORD(id, word) [MPIQ_STATUS_##id] = (word),
        MPIQ_OPERATION_STATUSES(WORD)
#undef WORD
    };
    return words[status];
}

const char *mpiq_source_word(enum mpiq_source source)
{
    static const char *const words[] = {
#define WORD(id, word) [MPIQ_SOURCE_##id] = (word),
        MPIQ_SOURCES(WORD)
#undef WORD
    };
    return words[source];
}

const char *mpiq_lock_type_word(uint8_t type)
{
    static const char *const words[] = {
#define WORD(id, word) [MPIQ_LOCK_##id] = (word),
        MPIQ_LOCK_TYPES(WORD)
#undef WORD
    };
    return words[type];
}

const char *mpiq_window_exposure_word(uint8_t exposure)
{
    static const char *const words[] = {
#define WORD(id, word) [MPIQ_EXPOSURE_##id] = (word),
        MPIQ_WINDOW_EXPOSURES(WORD)
#undef WORD
    };
    return words[exposure];
}

const char *mpiq_window_access_word(uint8_t access)
{
    static const char *const words[] = {
#define WORD(id, word) [MPIQ_ACCESS_##id] = (word),
        MPIQ_WINDOW_ACCESSES(WORD)
#undef WORD
    };
    return words[access];
}
