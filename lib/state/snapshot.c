/* SPDX-License-Identifier: BSD-3-Clause */
#include "state/snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "base/cleanup.h"
#include "base/new_file.h"
#include "state/state_lines.h"

#define MAGIC "mpiq snapshot "
enum {
    VERSION = 1,
    FOLDED_VERSION = 2, /* its lines may be folded */
    HEADER = 24,        /* bytes in which the first line must end */
    COMPRESSION = 3,
    WINDOW_LOG_MOST = 23, /* 8 MiB to decompress with; our own files need 2 */
    MOST_LINE = 1 << 28,  /* of one rank state: more is not believed */
    /* What a file may come to: so many bytes, and so many more for each of its own. */
    LEAST_BYTES = 16 << 20,
    MOST_RATIO = 256
};

struct mpiq_snapshot_writer {
    struct mpiq_new_file file; /* unless in_memory */
    bool in_memory;
    FILE *stream;
    char *bytes; /* what is in memory, once the stream is closed */
    size_t size;
    ZSTD_CCtx *context;
    char *buffer;
    size_t buffer_size;
};

void mpiq_snapshot_abandon(struct mpiq_snapshot_writer *writer)
{
    if (!writer)
        return;
    if (writer->in_memory && writer->stream)
        fclose(writer->stream);
    mpiq_new_file_abandon(&writer->file);
    ZSTD_freeCCtx(writer->context);
    free(writer->buffer);
    free(writer->bytes);
    free(writer);
}

static struct mpiq_error *cannot_write(const struct mpiq_snapshot_writer *writer, int errnum)
{
    return mpiq_error_create_os(errnum, "the snapshot %s cannot be written",
                                writer->file.path ? writer->file.path : "in memory");
}

static struct mpiq_error *open_stream(struct mpiq_snapshot_writer *writer, const char *path)
{
    struct mpiq_error *error = NULL;
    if (path)
        error = mpiq_error_prefix(mpiq_new_file_create(path, &writer->file), "the snapshot");
    if (!error)
        writer->stream = path ? writer->file.stream : open_memstream(&writer->bytes, &writer->size);
    return error || writer->stream ? error : mpiq_error_no_memory();
}

/* path NULL: into memory. */
static struct mpiq_error *create(const char *path, struct mpiq_snapshot_writer **ret)
{
    struct mpiq_snapshot_writer *writer = calloc(1, sizeof *writer);
    if (!writer)
        return mpiq_error_no_memory();
    writer->in_memory = !path;
    writer->context = ZSTD_createCCtx();
    writer->buffer_size = ZSTD_CStreamOutSize();
    writer->buffer = malloc(writer->buffer_size);
    struct mpiq_error *error =
        !writer->context || !writer->buffer ? mpiq_error_no_memory() : open_stream(writer, path);
    if (!error && fprintf(writer->stream, MAGIC "%d\n", path ? VERSION : FOLDED_VERSION) < 0)
        error = cannot_write(writer, errno);
    if (error) {
        mpiq_snapshot_abandon(writer);
        return error;
    }
    ZSTD_CCtx_setParameter(writer->context, ZSTD_c_compressionLevel, COMPRESSION);
    ZSTD_CCtx_setParameter(writer->context, ZSTD_c_checksumFlag, 1);
    *ret = writer;
    return NULL;
}

struct mpiq_error *mpiq_snapshot_create(const char *path, struct mpiq_snapshot_writer **ret)
{
    return create(path, ret);
}

struct mpiq_error *mpiq_snapshot_create_memory(struct mpiq_snapshot_writer **ret)
{
    return create(NULL, ret);
}

static struct mpiq_error *compress(struct mpiq_snapshot_writer *writer, const char *bytes, size_t length,
                                   bool end)
{
    ZSTD_inBuffer in = {.src = bytes, .size = length};
    for (bool more = true; more;) {
        ZSTD_outBuffer out = {.dst = writer->buffer, .size = writer->buffer_size};
        size_t left = ZSTD_compressStream2(writer->context, &out, &in, end ? ZSTD_e_end : ZSTD_e_continue);
        if (ZSTD_isError(left))
            return mpiq_error_create(MPIQ_ERROR_INTERNAL, "the snapshot cannot be compressed: %s",
                                     ZSTD_getErrorName(left));
        if (fwrite(writer->buffer, 1, out.pos, writer->stream) != out.pos)
            return cannot_write(writer, errno);
        more = end ? left > 0 : in.pos < in.size;
    }
    return NULL;
}

struct mpiq_error *mpiq_snapshot_add(struct mpiq_snapshot_writer *writer, int look,
                                     const struct mpiq_rank_state *state)
{
    char *json _cleanup_free_ = NULL;
    struct mpiq_error *error = mpiq_rank_state_to_json(state, &json);
    if (error)
        return error;
    error = compress(writer, look == 1 ? "1 " : "2 ", 2, false);
    if (!error)
        error = compress(writer, json, strlen(json), false);
    return error ? error : compress(writer, "\n", 1, false);
}

static struct mpiq_error *add_lines(void *context, const char *lines, size_t length)
{
    return compress(context, lines, length, false);
}

struct mpiq_error *mpiq_snapshot_add_folded(struct mpiq_snapshot_writer *writer, int look,
                                            const struct mpiq_rank_state *const *states, size_t count)
{
    return mpiq_state_lines_write(look, states, count, add_lines, writer);
}

struct mpiq_error *mpiq_snapshot_finish(struct mpiq_snapshot_writer *writer)
{
    struct mpiq_error *error = compress(writer, NULL, 0, true);
    if (!error)
        error = mpiq_error_prefix(mpiq_new_file_finish(&writer->file), "the snapshot");
    mpiq_snapshot_abandon(writer);
    return error;
}

struct mpiq_error *mpiq_snapshot_finish_memory(struct mpiq_snapshot_writer *writer, char **ret, size_t *size)
{
    struct mpiq_error *error = compress(writer, NULL, 0, true);
    if (!error && fclose(mpiq_steal(writer->stream)) != 0)
        error = mpiq_error_no_memory();
    if (!error) {
        *ret = mpiq_steal(writer->bytes);
        *size = writer->size;
    }
    mpiq_snapshot_abandon(writer);
    return error;
}

/* The version of a file that starts like a snapshot; 0 of one that does not. */
static int read_version(FILE *file)
{
    char line[HEADER] = "";
    if (!fgets(line, sizeof line, file) || strncmp(line, MAGIC, strlen(MAGIC)) != 0)
        return 0;
    char *end;
    long version = strtol(line + strlen(MAGIC), &end, 10);
    return *end == '\n' && version > 0 && version < 1000 ? (int)version : 0;
}

/* Regular files alone: any other may wait for ever, or do something.  NULL with errno. */
static FILE *open_file(const char *path)
{
    struct stat status;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode)) {
        close(fd);
        errno = EINVAL;
        return NULL;
    }
    FILE *file = fdopen(fd, "r");
    if (!file)
        close(fd);
    return file;
}

bool mpiq_is_snapshot(const char *path)
{
    FILE *file _cleanup_fclose_ = open_file(path);
    return file && read_version(file) > 0;
}

struct reader {
    const char *path;
    struct mpiq_state_lines lines;
    mpiq_snapshot_callback *callback;           /* NULL */
    mpiq_snapshot_line_callback *line_callback; /* NULL */
    void *context;
    char *line; /* the part of a line that has come so far */
    size_t length;
    size_t room;
    uint64_t bytes_left; /* that it may still come to */
};

static struct mpiq_error *corrupt(const struct reader *reader, const char *what)
{
    return mpiq_error_create(MPIQ_ERROR_CORRUPT, "the snapshot %s is damaged after %llu ranks: %s",
                             reader->path, (unsigned long long)reader->lines.states, what);
}

static struct mpiq_error *take_line(struct reader *reader)
{
    struct mpiq_error *error = mpiq_state_lines_take(&reader->lines, reader->line, reader->length,
                                                     reader->callback, reader->context);
    if (!error && reader->line_callback)
        error = reader->line_callback(reader->context, reader->line, reader->length);
    reader->length = 0;
    if (reader->lines.refused)
        return mpiq_error_prefix(error, "the snapshot %s", reader->path);
    return mpiq_error_prefix(error, "the snapshot %s is damaged after %llu ranks", reader->path,
                             (unsigned long long)reader->lines.states);
}

static struct mpiq_error *take(struct reader *reader, const char *bytes, size_t count)
{
    if (count > reader->bytes_left)
        return corrupt(reader, "it expands to more than a file of its size can hold");
    reader->bytes_left -= count;
    while (count > 0) {
        const char *end = memchr(bytes, '\n', count);
        size_t part = end ? (size_t)(end - bytes) : count;
        if (reader->length + part > MOST_LINE)
            return corrupt(reader, "a line is too long");
        if (!reader->line || reader->length + part > reader->room) {
            size_t room = 2 * (reader->length + part) + 1;
            char *line = realloc(reader->line, room);
            if (!line)
                return mpiq_error_no_memory();
            reader->line = line;
            reader->room = room;
        }
        memcpy(reader->line + reader->length, bytes, part);
        reader->length += part;
        if (!end)
            return NULL;
        struct mpiq_error *error = take_line(reader);
        if (error)
            return error;
        bytes = end + 1;
        count -= part + 1;
    }
    return NULL;
}

static struct mpiq_error *decompress(struct reader *reader, FILE *file, ZSTD_DCtx *context, char *input,
                                     char *output)
{
    size_t left = 1; /* 0 at the end of the stream */
    for (;;) {
        size_t got = fread(input, 1, ZSTD_DStreamInSize(), file);
        if (got == 0)
            break;
        if (left == 0)
            return corrupt(reader, "something follows its end");
        ZSTD_inBuffer in = {.src = input, .size = got};
        /* What is buffered may fill several outputs: one that is not full is the last of this input. */
        for (bool more = true; more;) {
            ZSTD_outBuffer out = {.dst = output, .size = ZSTD_DStreamOutSize()};
            left = ZSTD_decompressStream(context, &out, &in);
            if (ZSTD_isError(left))
                return corrupt(reader, ZSTD_getErrorName(left));
            struct mpiq_error *error = take(reader, output, out.pos);
            if (error)
                return error;
            if (left == 0 && in.pos < in.size)
                return corrupt(reader, "something follows its end");
            more = left > 0 && (in.pos < in.size || out.pos == out.size);
        }
    }
    if (ferror(file))
        return mpiq_error_create_os(errno, "%s cannot be read", reader->path);
    if (left > 0)
        return corrupt(reader, "it ends too early, so it was cut short or never finished");
    return reader->length > 0 ? corrupt(reader, "its last line is cut off") : NULL;
}

static struct mpiq_error *read_all(struct reader *reader, FILE *file)
{
    ZSTD_DCtx *context = ZSTD_createDCtx();
    char *input _cleanup_free_ = malloc(ZSTD_DStreamInSize());
    char *output _cleanup_free_ = malloc(ZSTD_DStreamOutSize());
    struct mpiq_error *error = NULL;
    if (!context || !input || !output ||
        ZSTD_isError(ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, WINDOW_LOG_MOST)))
        error = mpiq_error_no_memory();
    else
        error = decompress(reader, file, context, input, output);
    ZSTD_freeDCtx(context);
    return error;
}

/* size: how many bytes there are. */
static struct mpiq_error *read_stream(struct reader *reader, FILE *file, uint64_t size)
{
    int version = read_version(file);
    if (version == 0)
        return mpiq_error_create(MPIQ_ERROR_CORRUPT, "%s is not an mpiq snapshot", reader->path);
    if (version > FOLDED_VERSION)
        return mpiq_error_create(
            MPIQ_ERROR_UNSUPPORTED,
            "%s is a snapshot of version %d, made by a later mpiq: this one reads up to %d", reader->path,
            version, FOLDED_VERSION);
    reader->bytes_left = LEAST_BYTES + MOST_RATIO * size;
    struct mpiq_error *error = read_all(reader, file);
    free(reader->line);
    mpiq_state_lines_deinit(&reader->lines);
    return error;
}

static struct mpiq_error *read_file(struct reader *reader)
{
    FILE *file _cleanup_fclose_ = open_file(reader->path);
    struct stat status;
    if (!file || fstat(fileno(file), &status) < 0)
        return mpiq_error_create_os(errno, "%s cannot be read", reader->path);
    return read_stream(reader, file, (uint64_t)status.st_size);
}

struct mpiq_error *mpiq_snapshot_each(const char *path, mpiq_snapshot_callback *callback, void *context)
{
    struct reader reader = {.path = path, .callback = callback, .context = context};
    return read_file(&reader);
}

struct mpiq_error *mpiq_snapshot_each_line(const char *path, mpiq_snapshot_line_callback *callback,
                                           void *context)
{
    struct reader reader = {.path = path, .line_callback = callback, .context = context};
    return read_file(&reader);
}

struct mpiq_error *mpiq_snapshot_each_line_of(const char *name, void *bytes, size_t size,
                                              mpiq_snapshot_line_callback *callback, void *context)
{
    struct reader reader = {.path = name, .line_callback = callback, .context = context};
    if (size == 0)
        return mpiq_error_create(MPIQ_ERROR_CORRUPT, "%s is not an mpiq snapshot", name);
    FILE *file _cleanup_fclose_ = fmemopen(bytes, size, "r");
    return file ? read_stream(&reader, file, size) : mpiq_error_no_memory();
}
