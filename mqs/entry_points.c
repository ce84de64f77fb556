/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdbool.h>
#include <string.h>

#include "callbacks.h"
#include "entry_points.h"
#include "error.h"

struct _mqs_image_info {
    const mqs_image_callbacks *callbacks;
};

mqs_process_info *entry_process(mqs_process *process)
{
    const mqs_basic_callbacks *basic = callbacks_basic();

    return basic == NULL || process == NULL ? NULL : basic->mqs_get_process_info_fp(process);
}

EXPORT void mqs_setup_basic_callbacks(const mqs_basic_callbacks *callbacks)
{
    callbacks_set(callbacks);
}

EXPORT int mqs_version_compatibility(void)
{
    return MQS_INTERFACE_COMPATIBILITY;
}

EXPORT int mqs_dll_taddr_width(void)
{
    return (int)sizeof(mqs_taddr_t);
}

EXPORT char *mqs_dll_error_string(int code)
{
    return (char *)error_text(code);
}

EXPORT int mqs_setup_image(mqs_image *image, const mqs_image_callbacks *callbacks)
{
    mqs_image_info *info;

    if (callbacks_basic() == NULL || image == NULL || callbacks == NULL) {
        return ERROR_ARGUMENT;
    }
    info = heap_allocate(1, sizeof *info);
    if (info == NULL) {
        return ERROR_NO_STORE;
    }
    info->callbacks = callbacks;
    callbacks_basic()->mqs_put_image_info_fp(image, info);
    return mqs_ok;
}

EXPORT void mqs_destroy_image_info(mqs_image_info *info)
{
    heap_free(info);
}

int entry_image_has(mqs_image *image, const char *const *variables, const char *none, char **message)
{
    const mqs_image_info *info;

    if (callbacks_basic() == NULL || image == NULL || message == NULL) {
        return ERROR_ARGUMENT;
    }
    *message = NULL;
    info = callbacks_basic()->mqs_get_image_info_fp(image);
    if (info == NULL) {
        return ERROR_ORDER;
    }
    for (; *variables != NULL; variables++) {
        mqs_taddr_t address = 0;

        if (info->callbacks->mqs_find_symbol_fp(image, (char *)*variables, &address) == mqs_ok) {
            return mqs_ok;
        }
    }
    *message = (char *)none;
    return mqs_no_information;
}

static bool sizes_are_sane(const mqs_target_type_sizes *sizes)
{
    return sizes->int_size == 4 && (sizes->pointer_size == 4 || sizes->pointer_size == 8) &&
           sizes->pointer_size <= (int)sizeof(mqs_taddr_t) && sizes->long_long_size == 8 &&
           (sizes->long_size == 4 || sizes->long_size == 8);
}

int entry_setup_process(mqs_process *process, const mqs_process_callbacks *callbacks, struct entry_setup *ret)
{
    const mqs_image_info *image_info;
    mqs_image *image;

    if (callbacks_basic() == NULL || process == NULL || callbacks == NULL) {
        return ERROR_ARGUMENT;
    }
    image = callbacks->mqs_get_image_fp(process);
    image_info = image == NULL ? NULL : callbacks_basic()->mqs_get_image_info_fp(image);
    if (image_info == NULL) {
        return ERROR_ORDER;
    }
    memset(ret, 0, sizeof *ret);
    image_info->callbacks->mqs_get_type_sizes_fp(process, &ret->sizes);
    if (!sizes_are_sane(&ret->sizes)) {
        return ERROR_SIZES;
    }
    /* Debuggers older than these two members leave them alone. */
    ret->sizes.bool_size = 1;
    ret->sizes.size_t_size = ret->sizes.pointer_size;
    ret->image = image;
    ret->image_callbacks = image_info->callbacks;
    return mqs_ok;
}
