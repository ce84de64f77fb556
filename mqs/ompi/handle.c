/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "callbacks.h"
#include "entry_points.h"
#include "error.h"
#include "handle.h"
#include "operation.h"
#include "process.h"

static const struct {
    enum symbol symbol;
    const char *name;
} fixed[] = {
    {SYMBOL_ompi_mpi_comm_null, "MPI_COMM_NULL"},
    {SYMBOL_ompi_mpi_group_null, "MPI_GROUP_NULL"},
    {SYMBOL_ompi_mpi_group_empty, "MPI_GROUP_EMPTY"},
    {SYMBOL_ompi_mpi_datatype_null, "MPI_DATATYPE_NULL"},
    {SYMBOL_ompi_request_null, "MPI_REQUEST_NULL"},
    {SYMBOL_ompi_request_empty, "a complete request without a message"},
};

/* Whether the object at a handle claims a class whose name ends like that; most values that are not handles
   do not.  True if the library's class objects cannot be read. */
static bool is_object(struct memory *memory, mqs_taddr_t handle, const char *ending)
{
    unsigned char bytes[LAYOUT_MAX_STRUCT];
    char name[64];
    mqs_taddr_t class_;
    size_t length;

    if (!layout_has(&memory->layout, AT_OBJECT_CLASS) || !layout_has(&memory->layout, AT_CLASS_NAME)) {
        return true;
    }
    if (fetch_structure(memory, handle, AT_OBJECT, bytes) != mqs_ok) {
        return false;
    }
    class_ = (mqs_taddr_t)field_unsigned(memory, bytes, AT_OBJECT_CLASS);
    if (class_ == 0 || fetch_structure(memory, class_, AT_CLASS, bytes) != mqs_ok ||
        fetch_string(&memory->fetch, (mqs_taddr_t)field_unsigned(memory, bytes, AT_CLASS_NAME), name,
                     sizeof name) != mqs_ok) {
        return false;
    }
    length = strlen(name);
    return length >= strlen(ending) && strcmp(name + length - strlen(ending), ending) == 0;
}

int handle_name(mqs_process *process, mqs_taddr_t handle, char name[64])
{
    mqs_process_info *info;
    mqs_taddr_t address;
    int code = entry_begin(process, &info);

    if (code != mqs_ok || name == NULL) {
        return name == NULL ? ERROR_ARGUMENT : code;
    }
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++) {
        if (symbol_find(&info->library.memory.symbols, fixed[i].symbol, &address) && address == handle) {
            snprintf(name, 64, "%s", fixed[i].name);
            return mqs_ok;
        }
    }
    return mqs_no_information;
}

int handle_request(mqs_process *process, mqs_taddr_t handle, mqs_pending_operation *ret)
{
    mqs_process_info *info;
    int code = entry_begin(process, &info);

    if (code != mqs_ok || ret == NULL) {
        return ret == NULL ? ERROR_ARGUMENT : code;
    }
    info->details_valid = false;
    if (!layout_has(&info->library.memory.layout, AT_REQUEST)) {
        return ERROR_LAYOUT;
    }
    if (!is_object(&info->library.memory, handle, "request_t")) {
        return ERROR_HANDLE;
    }
    code = operation_of_address(&info->library, handle, -1, 0, ret, &info->details);
    info->details_valid = code == mqs_ok;
    return code;
}

int handle_group(mqs_process *process, mqs_taddr_t handle, int room, mqs_process_name *names, int *size)
{
    mqs_process_info *info;
    mqs_process_name *members;
    int count;
    int code = entry_begin(process, &info);

    if (code != mqs_ok || size == NULL || room < 0 || (room > 0 && names == NULL)) {
        return code != mqs_ok ? code : ERROR_ARGUMENT;
    }
    if (!is_object(&info->library.memory, handle, "group_t")) {
        return ERROR_HANDLE;
    }
    code = group_size(&info->library.memory, handle, &count);
    if (code == mqs_ok && count > 0) {
        code = group_check(&info->library.groups, handle, count);
    }
    if (code != mqs_ok) {
        return code;
    }
    *size = count;
    if (room == 0 || count == 0) {
        return mqs_ok;
    }
    members = heap_allocate((size_t)count, sizeof *members);
    if (members == NULL) {
        return ERROR_NO_STORE;
    }
    code = group_members(&info->library.groups, handle, count, members);
    if (code == mqs_ok) {
        memcpy(names, members, (size_t)(count < room ? count : room) * sizeof *names);
    }
    heap_free(members);
    return code;
}

int handle_status(mqs_process *process, mqs_taddr_t address, mqs_status_details *ret)
{
    unsigned char bytes[LAYOUT_MAX_STRUCT];
    mqs_process_info *info;
    int code = entry_begin(process, &info);

    if (code != mqs_ok || ret == NULL) {
        return ret == NULL ? ERROR_ARGUMENT : code;
    }
    if (!layout_has(&info->library.memory.layout, AT_STATUS) ||
        !layout_has(&info->library.memory.layout, AT_STATUS_TAG)) {
        return ERROR_LAYOUT;
    }
    code = fetch_structure(&info->library.memory, address, AT_STATUS, bytes);
    if (code != mqs_ok) {
        return code;
    }
    ret->source = (int)field_signed(&info->library.memory, bytes, AT_STATUS_SOURCE);
    ret->tag = (int)field_signed(&info->library.memory, bytes, AT_STATUS_TAG);
    ret->error = layout_has(&info->library.memory.layout, AT_STATUS_ERROR)
                     ? (int)field_signed(&info->library.memory, bytes, AT_STATUS_ERROR)
                     : -1;
    ret->cancelled = layout_has(&info->library.memory.layout, AT_STATUS_CANCELLED) &&
                     field_signed(&info->library.memory, bytes, AT_STATUS_CANCELLED) != 0;
    ret->bytes = layout_has(&info->library.memory.layout, AT_STATUS_BYTES)
                     ? field_signed(&info->library.memory, bytes, AT_STATUS_BYTES)
                     : -1;
    return mqs_ok;
}

int handle_setup_datatype_iterator(mqs_process *process, mqs_taddr_t handle, mqs_datatype_details *ret)
{
    mqs_process_info *info;
    int code = entry_begin(process, &info);

    if (code != mqs_ok || ret == NULL) {
        return ret == NULL ? ERROR_ARGUMENT : code;
    }
    return is_object(&info->library.memory, handle, "datatype_t")
               ? datatype_map_set_up(&info->datatype_map, &info->library.datatypes, handle, ret)
               : ERROR_HANDLE;
}

int handle_next_datatype_block(mqs_process *process, mqs_datatype_block *ret)
{
    mqs_process_info *info = entry_process(process);

    return info == NULL || ret == NULL ? ERROR_ARGUMENT : datatype_map_next(&info->datatype_map, ret);
}
