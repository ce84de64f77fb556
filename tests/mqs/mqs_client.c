/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mqs_client - a debugger in little: hosts any message-queue DLL, walks all that the interface gives, and
 * prints it as JSON.  It knows the DLL by mpi_interface.h and mqs_extensions.h alone, and reaches the process
 * over the wire.
 *
 *     mqs_client [--internal] [--forum] [--stripped] [--force] [--looks N] [--between COMMAND]
 *                [--record FILE] DLL SERVER [ARGUMENT…]
 *
 * --forum leaves out what the DLL has beyond the Forum's functions; --stripped knows no types; --force prints
 * what the DLL says with each of its built-in layouts in turn (force_layout.h).  COMMAND is run between two
 * looks; FILE gets what was asked and answered (tests/mqs/made_up.h).  SERVER speaks the wire on its standard
 * input and output.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client_dll.h"
#include "client_out.h"
#include "client_print.h"
#include "wire_process.h"

/* What the DLL says of a process that is set up: why it can say nothing, or so many looks. */
static void print_looks(mqs_process *process, int internal, int looks, const char *between)
{
    char *message = NULL;
    int code = dll.mqs_process_has_queues(process, &message);

    if (code != mqs_ok) {
        print_failure("process_error", code);
    }
    if (message != NULL) {
        out_text("process_message", message);
    }
    if (code != mqs_ok) {
        return;
    }
    if (internal && dll.more != NULL) {
        dll.more->set_option(process, mqs_option_internal, 1);
    }
    out_open("looks", '[');
    for (int i = 0; i < looks; i++) {
        print_look(process);
        wire_process_forget(process);
        if (between != NULL && i + 1 < looks && system(between) != 0) {
            fprintf(stderr, "mqs_client: %s failed\n", between);
            exit(2);
        }
    }
    out_close(']');
}

static void print_process(mqs_process *process, int internal, int looks, const char *between)
{
    int code = dll.mqs_setup_process(process, &wire_process_callbacks);

    if (code != mqs_ok) {
        print_failure("process_error", code);
        return;
    }
    print_looks(process, internal, looks, between);
    dll.mqs_destroy_process_info(wire_basic_callbacks.mqs_get_process_info_fp(process));
}

/* With each layout of the DLL for tests in turn. */
static void print_forced(mqs_process *process, const char *path, int internal)
{
    const char *name;

    out_open("forced", '[');
    for (size_t i = 0; (name = client_dll_force_layout(path, i)) != NULL; i++) {
        out_open(NULL, '{');
        out_text("name", name);
        print_process(process, internal, 1, NULL);
        out_close('}');
        wire_process_forget(process);
    }
    out_close(']');
}

int main(int argc, char **argv)
{
    char *message = NULL;
    mqs_process *process;
    mqs_image *image;
    const char *between = NULL;
    const char *transcript = NULL;
    int internal = 0;
    int forum = 0;
    int stripped = 0;
    int looks = 1;
    int force = 0;
    int code;

    argv++;
    for (; argc > 1 && strncmp(argv[0], "--", 2) == 0; argv++, argc--) {
        if (strcmp(argv[0], "--internal") == 0) {
            internal = 1;
        } else if (strcmp(argv[0], "--forum") == 0) {
            forum = 1;
        } else if (strcmp(argv[0], "--stripped") == 0) {
            stripped = 1;
        } else if (strcmp(argv[0], "--looks") == 0 && argc > 2) {
            looks = atoi(argv[1]);
            argv++;
            argc--;
        } else if (strcmp(argv[0], "--force") == 0) {
            force = 1;
        } else if (strcmp(argv[0], "--between") == 0 && argc > 2) {
            between = argv[1];
            argv++;
            argc--;
        } else if (strcmp(argv[0], "--record") == 0 && argc > 2) {
            transcript = argv[1];
            argv++;
            argc--;
        } else {
            break;
        }
    }
    if (argc < 3) {
        fprintf(stderr, "usage: mqs_client [--internal] [--forum] [--stripped] [--force] [--looks N] "
                        "[--between COMMAND] "
                        "[--record FILE] DLL SERVER [ARGUMENT...]\n");
        return 2;
    }
    client_dll_load(argv[0]);
    if (forum) {
        dll.mqs_get_comm_coll_state = NULL;
        dll.more = NULL;
    }
    process = wire_process_start(argv + 1);
    image = wire_process_image(process);
    if (transcript != NULL) {
        wire_process_record(process, transcript);
    }
    if (stripped) {
        wire_process_strip(process);
    }

    out_open(NULL, '{');
    dll.mqs_setup_basic_callbacks(&wire_basic_callbacks);
    out_text("version", dll.mqs_version_string());
    out_number("compatibility", dll.mqs_version_compatibility());
    out_number("width", dll.mqs_dll_taddr_width());
    code = dll.mqs_setup_image(image, &wire_image_callbacks);
    if (code == mqs_ok) {
        code = dll.mqs_image_has_queues(image, &message);
    }
    if (code != mqs_ok) {
        print_failure("image_error", code);
    }
    if (message != NULL) {
        out_text("image_message", message);
    }
    if (code == mqs_ok && force) {
        print_forced(process, argv[0], internal);
    } else if (code == mqs_ok) {
        print_process(process, internal, looks, between);
    }
    out_close('}');
    putchar('\n');
    dll.mqs_destroy_image_info(wire_basic_callbacks.mqs_get_image_info_fp(image));
    wire_process_end(process);
    return 0;
}
