/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "wire_process.h"

struct mqs_type_ {
    struct mqs_process_ *process;
    unsigned long id;
    int size;
    struct mqs_type_ *next;
};

struct mqs_image_ {
    mqs_image_info *info;
    struct mqs_process_ *process;
};

struct mqs_process_ {
    struct mqs_image_ image;
    mqs_process_info *info;
    FILE *to;
    FILE *from;
    pid_t server;
    pid_t direct; /* read its memory ourselves; 0: through the server */
    mqs_target_type_sizes sizes;
    int big;
    struct mqs_type_ *types;
    struct wire_counts counts;
    int stripped;
    FILE *transcript;
    char **asked; /* requests that are in the transcript */
    size_t asked_count;
    char *line;
    size_t line_size;
};

static void die(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    fprintf(stderr, "mqs_client: ");
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\n");
    va_end(arguments);
    exit(2);
}

void wire_process_record(mqs_process *process, const char *path)
{
    process->transcript = fopen(path, "w");
    if (process->transcript == NULL) {
        die("%s cannot be written", path);
    }
    process->direct = 0;
    fprintf(process->transcript,
            "/* SPDX-License-Identifier: BSD-3-Clause */\n\"sizes\\n\"\n\"ok 2 4 %d 8 %d 1 %d %s\\n\"\n",
            process->sizes.long_size, process->sizes.pointer_size, process->sizes.size_t_size,
            process->big ? "big" : "little");
}

void wire_process_strip(mqs_process *process)
{
    process->stripped = 1;
}

/* Whether the transcript has the answer to this request already; it has from now on. */
static int is_recorded(struct mqs_process_ *process, const char *request)
{
    for (size_t i = 0; i < process->asked_count; i++) {
        if (strcmp(process->asked[i], request) == 0) {
            return 1;
        }
    }
    process->asked = realloc(process->asked, (process->asked_count + 1) * sizeof *process->asked);
    if (process->asked == NULL) {
        die("out of memory");
    }
    process->asked[process->asked_count++] = strdup(request);
    return 0;
}

/* What follows "ok", or NULL for an error. */
__attribute__((format(printf, 2, 3))) static char *ask(struct mqs_process_ *process, const char *format, ...)
{
    char request[512];
    va_list arguments;
    ssize_t length;

    va_start(arguments, format);
    vsnprintf(request, sizeof request, format, arguments);
    va_end(arguments);
    fprintf(process->to, "%s\n", request);
    fflush(process->to);
    length = getline(&process->line, &process->line_size, process->from);
    if (length <= 0) {
        die("the server went away");
    }
    process->line[length - 1] = '\0';
    if (process->transcript != NULL && !is_recorded(process, request)) {
        fprintf(process->transcript, "\"%s\\n\"\n\"%s\\n\"\n", request,
                strncmp(process->line, "ok", 2) == 0 ? process->line : "err");
    }
    if (strncmp(process->line, "ok", 2) == 0) {
        return process->line[2] == ' ' ? process->line + 3 : process->line + 2;
    }
    if (strncmp(process->line, "err ", 4) != 0) {
        die("the server said something that is no reply: %s", process->line);
    }
    return NULL;
}

mqs_process *wire_process_start(char **command)
{
    struct mqs_process_ *process = calloc(1, sizeof *process);
    char order[16] = "";
    int in[2];
    int out[2];
    char *answer;
    int version = 0;
    int direct = 0;

    if (process == NULL || pipe(in) != 0 || pipe(out) != 0) {
        die("no pipes");
    }
    process->server = fork();
    if (process->server == 0) {
        dup2(in[0], 0);
        dup2(out[1], 1);
        close(in[0]);
        close(in[1]);
        close(out[0]);
        close(out[1]);
        execvp(command[0], command);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    process->to = fdopen(in[1], "w");
    process->from = fdopen(out[0], "r");
    process->image.process = process;

    answer = ask(process, "hello 1");
    if (answer == NULL || sscanf(answer, "%d %d", &version, &direct) != 2 || version != 1) {
        die("the server does not speak version 1");
    }
    process->direct = direct;
    answer = ask(process, "sizes");
    if (answer == NULL ||
        sscanf(answer, "%d %d %d %d %d %d %d %15s", &process->sizes.short_size, &process->sizes.int_size,
               &process->sizes.long_size, &process->sizes.long_long_size, &process->sizes.pointer_size,
               &process->sizes.bool_size, &process->sizes.size_t_size, order) != 8) {
        die("the server does not tell the sizes of basic types");
    }
    process->big = strcmp(order, "big") == 0;
    return process;
}

mqs_image *wire_process_image(mqs_process *process)
{
    return &process->image;
}

struct wire_counts *wire_process_counts(mqs_process *process)
{
    return &process->counts;
}

void wire_process_forget(mqs_process *process)
{
    ask(process, "forget");
}

void wire_process_end(mqs_process *process)
{
    while (process->types != NULL) {
        struct mqs_type_ *next = process->types->next;

        free(process->types);
        process->types = next;
    }
    ask(process, "end");
    if (process->transcript != NULL) {
        fclose(process->transcript);
    }
    while (process->asked_count > 0) {
        free(process->asked[--process->asked_count]);
    }
    free(process->asked);
    fclose(process->to);
    fclose(process->from);
    waitpid(process->server, NULL, 0);
    free(process->line);
    free(process);
}

/* ---- the callbacks ---- */

static void put_image_info(mqs_image *image, mqs_image_info *info)
{
    image->info = info;
}

static mqs_image_info *get_image_info(mqs_image *image)
{
    return image->info;
}

static void put_process_info(mqs_process *process, mqs_process_info *info)
{
    process->info = info;
}

static mqs_process_info *get_process_info(mqs_process *process)
{
    return process->info;
}

static void print(const char *text)
{
    fprintf(stderr, "DLL: %s\n", text);
}

static char *error_string(int code)
{
    return code == mqs_ok ? "no error" : "the client could not";
}

static mqs_image *get_image(mqs_process *process)
{
    return &process->image;
}

static int get_rank(mqs_process *process)
{
    char *answer = ask(process, "environment OMPI_COMM_WORLD_RANK");

    return answer == NULL || answer[0] != '"' ? -1 : atoi(answer + 1);
}

static int find_symbol(mqs_image *image, char *name, mqs_taddr_t *address)
{
    char *answer;

    image->process->counts.symbols++;
    answer = ask(image->process, "symbol %s", name);
    if (answer == NULL) {
        return mqs_no_information;
    }
    if (address != NULL) { /* one that asks only whether it is there passes none */
        *address = strtoul(answer, NULL, 0);
    }
    return mqs_ok;
}

static int find_function(mqs_image *image, char *name, mqs_lang_code language, mqs_taddr_t *address)
{
    (void)language;
    return find_symbol(image, name, address);
}

static mqs_type *find_type(mqs_image *image, char *name, mqs_lang_code language)
{
    struct mqs_type_ *type;
    char *answer;

    (void)language;
    image->process->counts.types++;
    answer = image->process->stripped ? NULL : ask(image->process, "type %s", name);
    type = answer == NULL ? NULL : calloc(1, sizeof *type);
    if (type != NULL && sscanf(answer, "%lu %d", &type->id, &type->size) != 2) {
        die("the server does not tell a type: %s", answer);
    }
    if (type != NULL) {
        type->process = image->process;
        type->next = image->process->types;
        image->process->types = type;
    }
    return type;
}

static int field_offset(mqs_type *type, char *member)
{
    char *answer;

    if (type == NULL) {
        return -1;
    }
    answer = ask(type->process, "field %lu %s", type->id, member);
    return answer == NULL ? -1 : atoi(answer);
}

static int size_of(mqs_type *type)
{
    return type == NULL ? -1 : type->size;
}

static void get_type_sizes(mqs_process *process, mqs_target_type_sizes *sizes)
{
    *sizes = process->sizes;
}

static int fetch_data(mqs_process *process, mqs_taddr_t address, int size, void *buffer)
{
    unsigned char *bytes = buffer;
    char *answer;

    if (process->transcript != NULL && size % 4096 == 0 && address % 4096 == 0) {
        return mqs_no_information;
    }
    process->counts.fetches++;
    process->counts.bytes += (unsigned long)size;
    if (process->direct != 0) {
        struct iovec here = {buffer, (size_t)size};
        struct iovec there = {(void *)address, (size_t)size};

        return process_vm_readv(process->direct, &here, 1, &there, 1, 0) == size ? mqs_ok
                                                                                 : mqs_no_information;
    }
    while (size > 0) {
        int part = size > 1 << 20 ? 1 << 20 : size;

        answer = ask(process, "read 0x%lx %d", address, part);
        if (answer == NULL) {
            return mqs_no_information;
        }
        if (strlen(answer) != 2 * (size_t)part) {
            die("the server sent too few bytes");
        }
        for (int i = 0; i < part; i++) {
            char digits[3] = {answer[2 * i], answer[2 * i + 1], '\0'};

            *bytes++ = (unsigned char)strtoul(digits, NULL, 16);
        }
        address += (mqs_taddr_t)part;
        size -= part;
    }
    return mqs_ok;
}

static void target_to_host(mqs_process *process, const void *from, void *to, int size)
{
    const unsigned char *in = from;
    unsigned char *out = to;
    const int one = 1;
    int host_big = *(const char *)&one == 0;

    for (int i = 0; i < size; i++) {
        out[process->big == host_big ? i : size - 1 - i] = in[i];
    }
}

const mqs_basic_callbacks wire_basic_callbacks = {
    malloc, free, print, error_string, put_image_info, get_image_info, put_process_info, get_process_info,
};

const mqs_image_callbacks wire_image_callbacks = {
    get_type_sizes, find_function, find_symbol, find_type, field_offset, size_of,
};

const mqs_process_callbacks wire_process_callbacks = {
    get_rank,
    get_image,
    fetch_data,
    target_to_host,
};
