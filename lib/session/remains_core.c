/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/remains_core.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/cleanup.h"

/* Of the file's beginning: headers, then notes; the objects' first pages behind them. */
enum {
    OBJECTS_MOST = 1024,
    THREADS_MOST = 1024,
    PAGE = 4096,
    NOTES = PAGE * 64,
    PAGES = 2 << 20,
    PATH_MOST = 4096,
    STATUS_SIZE = 112 + 8 * MPIQ_RECORD_REGISTERS + 8
};
_Static_assert(PAGES + OBJECTS_MOST * PAGE <= MPIQ_RECORD_FILE_ROOT, "all is before the root");

#if defined __aarch64__
#define MACHINE EM_AARCH64
#else
#define MACHINE EM_X86_64
#endif

/* A core in the making. */
struct making {
    int file;
    const struct mpiq_record_root *root;
    const struct mpiq_record_loaded *loaded;
    uint32_t loaded_count;
    Elf64_Phdr segments[OBJECTS_MOST + 8];
    unsigned segment_count;
    struct mpiq_buffer notes;
};

static bool read_all(int file, void *to, size_t size, uint64_t offset)
{
    return pread(file, to, size, (off_t)offset) == (ssize_t)size;
}

static bool write_all(int file, const void *from, size_t size, uint64_t offset)
{
    return pwrite(file, from, size, (off_t)offset) == (ssize_t)size;
}

/* That part of the arena; false: it is not there. */
static bool read_arena(const struct making *making, uint64_t offset, void *to, size_t size)
{
    return offset >= 64 && size <= making->root->arena_used && offset <= making->root->arena_used - size &&
           read_all(making->file, to, size, MPIQ_RECORD_FILE_ARENA + offset);
}

bool mpiq_remains_root(int file, struct mpiq_record_root *ret)
{
    struct mpiq_record_root root;
    struct stat status;
    if (fstat(file, &status) < 0 || !S_ISREG(status.st_mode) || status.st_size < MPIQ_RECORD_FILE_ARENA ||
        !read_all(file, &root, sizeof root, MPIQ_RECORD_FILE_ROOT))
        return false;
    if (memcmp(root.magic, MPIQ_RECORD_MAGIC, sizeof root.magic) != 0 || root.pointer_size != 8 ||
        root.byte_order != MPIQ_RECORD_BYTE_ORDER || root.version_major != MPIQ_RECORD_VERSION_MAJOR ||
        root.size != sizeof root || root.arena_used < 64 ||
        root.arena_used > (uint64_t)status.st_size - MPIQ_RECORD_FILE_ARENA)
        return false;
    root.nspace[sizeof root.nspace - 1] = '\0';
    *ret = root;
    return true;
}

/* ---- segments --------------------------------------------------------------------------------------------
 */

static void add_segment(struct making *making, uint64_t address, uint64_t size, uint64_t offset,
                        uint32_t flags)
{
    if (size == 0 || address + size < address)
        return;
    making->segments[making->segment_count++] = (Elf64_Phdr){.p_type = PT_LOAD,
                                                             .p_flags = flags,
                                                             .p_vaddr = address,
                                                             .p_offset = offset,
                                                             .p_filesz = size,
                                                             .p_memsz = size,
                                                             .p_align = 1};
}

/* The first page of a mapped object, as far as a reader needs it: what it is, and its build-id. */
static bool add_first_page(struct making *making, const struct mpiq_record_loaded *loaded, uint32_t index)
{
    struct {
        Elf64_Ehdr header;
        Elf64_Phdr note;
        Elf64_Nhdr note_header;
        char owner[4];
        unsigned char build_id[MPIQ_RECORD_BUILD_ID];
        unsigned char rest[PAGE - sizeof(Elf64_Ehdr) - sizeof(Elf64_Phdr) - sizeof(Elf64_Nhdr) - 4 -
                           MPIQ_RECORD_BUILD_ID];
    } page = {.header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                         .e_type = ET_DYN,
                         .e_machine = MACHINE,
                         .e_version = EV_CURRENT,
                         .e_phoff = sizeof(Elf64_Ehdr),
                         .e_ehsize = sizeof(Elf64_Ehdr),
                         .e_phentsize = sizeof(Elf64_Phdr),
                         .e_phnum = 1},
              .note = {.p_type = PT_NOTE, .p_offset = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr), .p_align = 4},
              .note_header = {.n_namesz = 4, .n_descsz = loaded->build_id_size, .n_type = NT_GNU_BUILD_ID},
              .owner = "GNU"};
    uint64_t offset = PAGES + (uint64_t)index * PAGE;
    _Static_assert(sizeof page == PAGE, "it is a page");
    if (loaded->build_id_size > MPIQ_RECORD_BUILD_ID)
        return true;
    memcpy(page.build_id, loaded->build_id, loaded->build_id_size);
    page.note.p_filesz = page.note.p_memsz = sizeof page.note_header + 4 + loaded->build_id_size;
    add_segment(making, loaded->start, PAGE, offset, PF_R);
    return write_all(making->file, &page, sizeof page, offset);
}

/* ---- notes -----------------------------------------------------------------------------------------------
 */

static void add_note(struct making *making, const char *owner, uint32_t type, const void *bytes, size_t size)
{
    static const char zeros[4];
    size_t length = strlen(owner) + 1;
    const Elf64_Nhdr header = {.n_namesz = (uint32_t)length, .n_descsz = (uint32_t)size, .n_type = type};
    mpiq_buffer_add(&making->notes, (const char *)&header, sizeof header);
    mpiq_buffer_add(&making->notes, owner, length);
    mpiq_buffer_add(&making->notes, zeros, -length & 3);
    mpiq_buffer_add(&making->notes, bytes, size);
    mpiq_buffer_add(&making->notes, zeros, -size & 3);
}

/* The thread that ended it has registers, others are but known to have been. */
static void add_thread(struct making *making, uint32_t tid)
{
    const struct mpiq_record_end *end = &making->root->end;
    unsigned char status[STATUS_SIZE] = {0};
    int32_t number = (int32_t)tid;
    memcpy(status + 32, &number, sizeof number);
    if (end->kind > MPIQ_RECORD_END_BUSY && end->tid == tid)
        memcpy(status + 112, end->registers, sizeof end->registers);
    add_note(making, "CORE", NT_PRSTATUS, status, sizeof status);
}

static void add_threads(struct making *making)
{
    const struct mpiq_record_end *end = &making->root->end;
    uint32_t head[2], offset = making->root->threads; /* its members next and tid */
    bool ended = end->kind > MPIQ_RECORD_END_BUSY && end->tid != 0;
    if (ended)
        add_thread(making, end->tid);
    if (!ended || end->tid != making->root->pid)
        add_thread(making, making->root->pid);
    for (int i = 0; i < THREADS_MOST && read_arena(making, offset, head, sizeof head); i++) {
        if (head[1] != 0 && head[1] != making->root->pid && !(ended && head[1] == end->tid))
            add_thread(making, head[1]);
        offset = head[0];
    }
}

static void add_files(struct making *making)
{
    struct mpiq_buffer names = mpiq_buffer_part(&making->notes), rows = mpiq_buffer_part(&making->notes);
    uint64_t count = 0;
    for (uint32_t i = 0; i < making->loaded_count; i++) {
        const struct mpiq_record_loaded *loaded = &making->loaded[i];
        char path[PATH_MOST];
        uint64_t rest = making->root->arena_used - loaded->path;
        size_t size = rest < sizeof path ? (size_t)rest : sizeof path;
        if (loaded->end <= loaded->start || loaded->path >= making->root->arena_used ||
            !read_arena(making, loaded->path, path, size) || path[0] != '/' || !memchr(path, '\0', size))
            continue;
        const uint64_t row[] = {loaded->start, loaded->end, 0};
        mpiq_buffer_add(&rows, (const char *)row, sizeof row);
        mpiq_buffer_add(&names, path, strlen(path) + 1);
        count++;
    }
    const uint64_t head[] = {count, 1};
    struct mpiq_buffer all = mpiq_buffer_part(&making->notes);
    mpiq_buffer_add(&all, (const char *)head, sizeof head);
    mpiq_buffer_add(&all, rows.bytes, rows.length);
    mpiq_buffer_add(&all, names.bytes, names.length);
    add_note(making, "CORE", NT_FILE, all.bytes, all.length);
    mpiq_buffer_deinit(&all);
    mpiq_buffer_deinit(&rows);
    mpiq_buffer_deinit(&names);
}

static void add_notes(struct making *making, const struct mpiq_core_end *end)
{
    unsigned char information[136] = {0}; /* elf_prpsinfo */
    uint32_t uid = geteuid();
    memcpy(information + 16, &uid, sizeof uid);
    memcpy(information + 24, &making->root->pid, sizeof making->root->pid);
    add_threads(making);
    add_note(making, "CORE", NT_PRPSINFO, information, sizeof information);
    add_note(making, MPIQ_CORE_NOTE, MPIQ_CORE_NOTE_END, end, sizeof *end);
    if (making->loaded_count > 0) {
        const uint64_t vector[] = {AT_PHDR, making->loaded[0].start + sizeof(Elf64_Ehdr), AT_NULL, 0};
        add_note(making, "CORE", NT_AUXV, vector, sizeof vector);
    }
    add_files(making);
}

/* ---- all of it -------------------------------------------------------------------------------------------
 */

static bool write_core(struct making *making, const struct mpiq_core_end *end)
{
    const struct mpiq_record_root *root = making->root;
    bool good = true;
    add_segment(making, root->address, sizeof *root, MPIQ_RECORD_FILE_ROOT, PF_R | PF_W);
    add_segment(making, root->arena, root->arena_used, MPIQ_RECORD_FILE_ARENA, PF_R | PF_W);
    if (root->end.stack >= 64 && root->end.stack_size <= root->arena_used &&
        root->end.stack <= root->arena_used - root->end.stack_size)
        add_segment(making, root->end.stack_address, root->end.stack_size,
                    MPIQ_RECORD_FILE_ARENA + root->end.stack, PF_R | PF_W);
    for (uint32_t i = 0; i < making->loaded_count && good; i++)
        good = add_first_page(making, &making->loaded[i], i);
    add_notes(making, end);
    making->segments[making->segment_count++] = (Elf64_Phdr){.p_type = PT_NOTE,
                                                             .p_offset = NOTES,
                                                             .p_filesz = making->notes.length,
                                                             .p_memsz = making->notes.length,
                                                             .p_align = 4};
    const Elf64_Ehdr header = {
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
        .e_type = ET_CORE,
        .e_machine = MACHINE,
        .e_version = EV_CURRENT,
        .e_phoff = sizeof header,
        .e_ehsize = sizeof header,
        .e_phentsize = sizeof(Elf64_Phdr),
        .e_phnum = (uint16_t)making->segment_count};
    return good && !making->notes.failed && making->notes.length <= PAGES - NOTES &&
           write_all(making->file, making->notes.bytes, making->notes.length, NOTES) &&
           write_all(making->file, making->segments, making->segment_count * sizeof *making->segments,
                     sizeof header) &&
           write_all(making->file, &header, sizeof header, 0);
}

struct mpiq_error *mpiq_remains_make_core(int file, const struct mpiq_record_root *root,
                                          const struct mpiq_core_end *end)
{
    struct making *making = calloc(1, sizeof *making);
    if (!making)
        return mpiq_error_no_memory();
    making->file = file;
    making->root = root;
    uint32_t count = root->loaded_count < OBJECTS_MOST ? root->loaded_count : OBJECTS_MOST;
    struct mpiq_record_loaded *loaded _cleanup_free_ = calloc((size_t)count + 1, sizeof *loaded);
    if (loaded && read_arena(making, root->loaded, loaded, count * sizeof *loaded))
        making->loaded_count = count;
    making->loaded = loaded;
    bool good = loaded && write_core(making, end);
    mpiq_buffer_deinit(&making->notes);
    free(making);
    return good ? NULL : mpiq_error_create(MPIQ_ERROR_IO, "the records of process %u are lost", root->pid);
}
