/* SPDX-License-Identifier: BSD-3-Clause */
#include "process/core_file.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"

/* More threads, mapped files or bytes of notes than any process has. */
enum { THREAD_LIMIT = 1 << 20, FILE_LIMIT = 1 << 22, SEGMENT_LIMIT = 1 << 22 };
static const uint64_t notes_limit = (uint64_t)1 << 30;

static struct mpiq_error *corrupt(const struct mpiq_core_file *core, const char *what)
{
    return mpiq_error_create(MPIQ_ERROR_CORRUPT, "%s: %s", core->path, what);
}

/* elf_prstatus: signal information, pid, times, registers. */
static struct mpiq_error *take_prstatus(struct mpiq_core_file *core, const unsigned char *bytes, size_t size)
{
    bool wide = core->words.size == 8;
    const struct mpiq_register_layout *layout = mpiq_register_layout(core->machine);
    size_t pid_at = wide ? 32 : 24, times_at = wide ? 48 : 40, word = (size_t)core->words.size;
    size_t registers_at = layout ? layout->prstatus_registers : wide ? 112 : 72;
    if (size < registers_at)
        return corrupt(core, "a thread's state (NT_PRSTATUS) is too short");
    if (core->thread_count == core->thread_capacity) {
        size_t capacity = core->thread_capacity ? core->thread_capacity * 2 : 8;
        struct mpiq_core_thread *larger =
            capacity <= THREAD_LIMIT ? realloc(core->threads, capacity * sizeof *larger) : NULL;
        if (!larger)
            return mpiq_error_no_memory();
        core->threads = larger;
        core->thread_capacity = capacity;
    }
    struct mpiq_core_thread *thread = &core->threads[core->thread_count++];
    *thread = (struct mpiq_core_thread){.tid = (pid_t)mpiq_word_sized(&core->words, bytes + pid_at, 4)};
    /* User and system time, each as seconds and microseconds. */
    for (size_t i = 0; i < 2; i++) {
        thread->cpu_ns += mpiq_word(&core->words, bytes + times_at + 2 * i * word) * 1000000000u;
        thread->cpu_ns += mpiq_word(&core->words, bytes + times_at + (2 * i + 1) * word) * 1000u;
    }
    size_t room = size - registers_at;
    if (room > sizeof thread->registers.bytes)
        room = sizeof thread->registers.bytes;
    if (layout && room > layout->size)
        room = layout->size;
    memcpy(thread->registers.bytes, bytes + registers_at, room);
    thread->registers.size = room;
    return NULL;
}

/* elf_prpsinfo: who the process was. */
static void take_prpsinfo(struct mpiq_core_file *core, const unsigned char *bytes, size_t size)
{
    bool wide = core->words.size == 8;
    size_t name_at = wide ? 40 : 28;
    if (size < name_at + 16)
        return;
    core->uid = (uid_t)mpiq_word_sized(&core->words, bytes + (wide ? 16 : 8), wide ? 4 : 2);
    core->pid = (pid_t)mpiq_word_sized(&core->words, bytes + (wide ? 24 : 12), 4);
    memcpy(core->name, bytes + name_at, 16);
}

static void take_end(struct mpiq_core_file *core, const unsigned char *bytes, size_t size)
{
    struct mpiq_core_end end;
    if (size != sizeof end)
        return;
    memcpy(&end, bytes, sizeof end);
    if (end.kind < MPIQ_CORE_END_COUNT)
        core->end = end;
}

/* NT_FILE: count, page size, then start, end and page offset of each, then their names. */
static struct mpiq_error *take_files(struct mpiq_core_file *core, const unsigned char *bytes, size_t size)
{
    static const char makes_no_sense[] = "its list of mapped files (NT_FILE) is malformed";
    size_t word = (size_t)core->words.size;
    if (core->mappings.items)
        return NULL;
    if (size < 2 * word)
        return corrupt(core, makes_no_sense);
    uint64_t count = mpiq_word(&core->words, bytes), page = mpiq_word(&core->words, bytes + word);
    if (count > FILE_LIMIT || count * 3 * word > size - 2 * word)
        return corrupt(core, makes_no_sense);
    const unsigned char *entry = bytes + 2 * word;
    size_t names_size = size - 2 * word - count * 3 * word;
    char *names = malloc(names_size + 1);
    struct mpiq_mapping *items = calloc(count + 1, sizeof *items); /* one more for the vdso */
    if (!names || !items) {
        free(names);
        free(items);
        return mpiq_error_no_memory();
    }
    memcpy(names, entry + count * 3 * word, names_size);
    names[names_size] = '\0';
    core->mappings = (struct mpiq_mappings){.items = items, .text = names};
    for (char *name = names; core->mappings.count < count; entry += 3 * word) {
        if (name > names + names_size)
            return corrupt(core, makes_no_sense);
        char *next = name + strlen(name) + 1;
        struct mpiq_mapping *mapping = &items[core->mappings.count++];
        mapping->start = mpiq_word(&core->words, entry);
        mapping->end = mpiq_word(&core->words, entry + word);
        mapping->offset = mpiq_word(&core->words, entry + 2 * word) * page;
        if (mapping->end < mapping->start)
            return corrupt(core, makes_no_sense);
        mpiq_mapping_set_path(mapping, name);
        name = next;
    }
    return NULL;
}

static struct mpiq_error *take_auxv(struct mpiq_core_file *core, const unsigned char *bytes, size_t size)
{
    if (core->auxv || size == 0)
        return NULL;
    core->auxv = malloc(size);
    if (!core->auxv)
        return mpiq_error_no_memory();
    memcpy(core->auxv, bytes, size);
    core->auxv_size = size;
    return NULL;
}

static struct mpiq_error *read_notes(struct mpiq_core_file *core, Elf *elf, const GElf_Phdr *segment)
{
    if (segment->p_filesz == 0)
        return NULL;
    if (segment->p_offset > core->size || segment->p_filesz > core->size - segment->p_offset ||
        segment->p_filesz > notes_limit)
        return corrupt(core, "its notes are cut off: the file is incomplete");
    Elf_Data *data = elf_getdata_rawchunk(elf, (int64_t)segment->p_offset, segment->p_filesz,
                                          segment->p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
    if (!data || !data->d_buf)
        return corrupt(core, "its notes cannot be read");
    GElf_Nhdr note;
    size_t offset = 0, name_at, bytes_at;
    struct mpiq_error *error = NULL;
    while (!error && (offset = gelf_getnote(data, offset, &note, &name_at, &bytes_at)) > 0) {
        const unsigned char *bytes = (const unsigned char *)data->d_buf + bytes_at;
        if (note.n_namesz == sizeof MPIQ_CORE_NOTE && note.n_type == MPIQ_CORE_NOTE_END &&
            memcmp((const char *)data->d_buf + name_at, MPIQ_CORE_NOTE, sizeof MPIQ_CORE_NOTE) == 0) {
            take_end(core, bytes, note.n_descsz);
            continue;
        }
        if (note.n_namesz != sizeof "CORE" ||
            memcmp((const char *)data->d_buf + name_at, "CORE", sizeof "CORE") != 0)
            continue;
        if (note.n_type == NT_PRSTATUS)
            error = take_prstatus(core, bytes, note.n_descsz);
        else if (note.n_type == NT_PRPSINFO)
            take_prpsinfo(core, bytes, note.n_descsz);
        else if (note.n_type == NT_FILE)
            error = take_files(core, bytes, note.n_descsz);
        else if (note.n_type == NT_AUXV)
            error = take_auxv(core, bytes, note.n_descsz);
    }
    return error;
}

static int compare_segments(const void *a, const void *b)
{
    const struct mpiq_core_segment *left = a, *right = b;
    return left->start < right->start ? -1 : left->start > right->start;
}

static struct mpiq_error *read_elf(struct mpiq_core_file *core, Elf *elf)
{
    GElf_Ehdr header;
    size_t count;
    if (!elf || elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &header) || header.e_type != ET_CORE)
        return corrupt(core, "this is not a core file");
    core->words.size = header.e_ident[EI_CLASS] == ELFCLASS32 ? 4 : 8;
    core->words.big_endian = header.e_ident[EI_DATA] == ELFDATA2MSB;
    core->machine = header.e_machine;
    if (elf_getphdrnum(elf, &count) != 0 || count > SEGMENT_LIMIT)
        return corrupt(core, "its program headers cannot be read");
    core->segments = calloc(count + 1, sizeof *core->segments);
    if (!core->segments)
        return mpiq_error_no_memory();
    struct mpiq_error *error = NULL;
    for (size_t i = 0; i < count && !error; i++) {
        GElf_Phdr segment;
        if (!gelf_getphdr(elf, (int)i, &segment))
            return corrupt(core, "its program headers cannot be read");
        if (segment.p_type == PT_NOTE)
            error = read_notes(core, elf, &segment);
        if (segment.p_type != PT_LOAD || segment.p_memsz == 0 ||
            segment.p_vaddr + segment.p_memsz < segment.p_vaddr)
            continue;
        core->segments[core->segment_count++] = (struct mpiq_core_segment){
            .start = segment.p_vaddr,
            .size = segment.p_memsz,
            .offset = segment.p_offset,
            .present = segment.p_filesz < segment.p_memsz ? segment.p_filesz : segment.p_memsz,
            .writable = segment.p_flags & PF_W,
        };
    }
    qsort(core->segments, core->segment_count, sizeof *core->segments, compare_segments);
    return error;
}

static int compare_mappings(const void *a, const void *b)
{
    const struct mpiq_mapping *left = a, *right = b;
    return left->start < right->start ? -1 : left->start > right->start;
}

/* The kernel's own object has a segment, but no file. */
static struct mpiq_error *add_vdso(struct mpiq_core_file *core)
{
    uint64_t address;
    const struct mpiq_core_segment *segment;
    if (!core->mappings.items && !(core->mappings.items = calloc(1, sizeof *core->mappings.items)))
        return mpiq_error_no_memory();
    if (mpiq_auxv_find(&core->words, core->auxv, core->auxv_size, AT_SYSINFO_EHDR, &address) &&
        (segment = mpiq_core_segment_at(core, address))) {
        core->mappings.items[core->mappings.count++] =
            (struct mpiq_mapping){.start = segment->start,
                                  .end = segment->start + segment->size,
                                  .path = "[vdso]",
                                  .executable = true};
    }
    qsort(core->mappings.items, core->mappings.count, sizeof *core->mappings.items, compare_mappings);
    return NULL;
}

struct mpiq_error *mpiq_core_file_open(const char *path, struct mpiq_core_file *ret)
{
    struct mpiq_core_file core = {.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), .uid = (uid_t)-1};
    struct stat file = {0};
    if (core.fd < 0)
        return mpiq_error_create_os(errno, "cannot open %s", path);
    struct mpiq_error *error = NULL;
    core.path = strdup(path);
    if (!core.path)
        error = mpiq_error_no_memory();
    else if (fstat(core.fd, &file) != 0 || !S_ISREG(file.st_mode))
        error = corrupt(&core, "this is not a core file");
    if (!error) {
        core.size = (uint64_t)file.st_size;
        core.modified_ns = (uint64_t)file.st_mtim.tv_sec * 1000000000u + (uint64_t)file.st_mtim.tv_nsec;
        elf_version(EV_CURRENT);
        Elf *elf = elf_begin(core.fd, ELF_C_READ, NULL);
        error = read_elf(&core, elf);
        elf_end(elf);
    }
    if (!error && (!core.threads || !core.thread_count))
        error = corrupt(&core, "it has no threads");
    if (!error)
        error = add_vdso(&core);
    if (error) {
        mpiq_core_file_close(&core);
        return error;
    }
    if (!core.pid && core.threads)
        core.pid = core.threads[0].tid;
    *ret = core;
    return NULL;
}

void mpiq_core_file_close(struct mpiq_core_file *core)
{
    if (core->fd >= 0)
        close(core->fd);
    free(core->path);
    free(core->segments);
    free(core->threads);
    free(core->auxv);
    mpiq_mappings_deinit(&core->mappings);
    *core = (struct mpiq_core_file){.fd = -1};
}

const struct mpiq_core_segment *mpiq_core_segment_at(const struct mpiq_core_file *core, uint64_t address)
{
    size_t low = 0, high = core->segment_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (core->segments[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    const struct mpiq_core_segment *segment = low ? &core->segments[low - 1] : NULL;
    return segment && address - segment->start < segment->size ? segment : NULL;
}

struct mpiq_error *mpiq_core_file_read(const struct mpiq_core_file *core, uint64_t address, size_t size,
                                       void *buffer, size_t *got)
{
    const struct mpiq_core_segment *segment = mpiq_core_segment_at(core, address);
    *got = 0;
    if (!segment || address - segment->start >= segment->present)
        return NULL;
    uint64_t inside = address - segment->start, rest = segment->present - inside;
    if (size > rest)
        size = (size_t)rest;
    uint64_t offset = segment->offset + inside;
    if (offset >= core->size || offset < segment->offset) {
        return mpiq_error_create_address(
            MPIQ_ERROR_SHORT, address,
            "%s is incomplete: memory at 0x%llx should be in it, but it ends after %llu "
            "bytes (no room on the disk, or a limit: ulimit -c)",
            core->path, (unsigned long long)address, (unsigned long long)core->size);
    }
    if (size > core->size - offset)
        size = (size_t)(core->size - offset);
    ssize_t bytes = pread(core->fd, buffer, size, (off_t)offset);
    if (bytes <= 0)
        return mpiq_error_create_os(bytes < 0 ? errno : EIO, "cannot read %s", core->path);
    *got = (size_t)bytes;
    return NULL;
}
