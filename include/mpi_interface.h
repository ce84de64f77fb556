/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpi_interface.h - between a debugger and the message-queue DLL of an MPI library.
 *
 * The first part is the MPI Forum's message-queue interface as every debugger in the field uses it: names,
 * types, sizes and values are fixed by the existing binaries, and tests/mqs/test_abi.py compares them with
 * Open MPI's own header.  The second part is the collective extension.  The extension table is in
 * mqs_extensions.h.
 *
 * The debugger calls the mqs_ functions declared here; the DLL calls back through the three tables it was
 * given.  The DLL's only global state is its pointer to the basic callbacks; everything else is attached to
 * the debugger's images and processes.  A DLL never prints, accesses the process only through
 * mqs_fetch_data_fp, and is called by one thread at a time.
 *
 * Sources: MPI Forum, "The MPI Message Queue Dumping Interface, version 1.0"; Open MPI
 * ompi/debuggers/msgq_interface.h (the two members bool_size and size_t_size); the "MPI collective
 * debugger extension proposal".
 */
#ifndef _MPI_INTERFACE_INCLUDED
#define _MPI_INTERFACE_INCLUDED

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Part 1: the Forum's interface ------------------------------------------------------------------- */

/* What mqs_version_compatibility() returns; a debugger refuses a DLL with another value. */
enum { MQS_INTERFACE_COMPATIBILITY = 2 };

/* The DLL's own records: opaque to the debugger, which stores the pointers. */
typedef struct _mqs_image_info mqs_image_info;
typedef struct _mqs_process_info mqs_process_info;

/* The debugger's own records: opaque to the DLL. */
typedef struct mqs_image_ mqs_image;     /* an executable and the libraries it loads */
typedef struct mqs_process_ mqs_process; /* one running (or dead) instance of an image */
typedef struct mqs_type_ mqs_type;

/* Wide enough for an address and for a word of any target the debugger handles. */
typedef unsigned long mqs_taddr_t;
typedef long mqs_tword_t;

/* Sizes of the target's basic types, in bytes. */
typedef struct {
    int short_size;
    int int_size;
    int long_size;
    int long_long_size;
    int pointer_size;
    int bool_size;
    int size_t_size;
} mqs_target_type_sizes;

/* Return codes of the functions on both sides.  Values from mqs_first_user_code upwards belong to the side
   that was called, and its error-string function explains them. */
enum { mqs_ok = 0, mqs_no_information, mqs_end_of_list, mqs_first_user_code = 100 };

typedef enum { mqs_lang_c = 'c', mqs_lang_cplus = 'C', mqs_lang_f77 = 'f', mqs_lang_f90 = 'F' } mqs_lang_code;

typedef enum { mqs_pending_sends, mqs_pending_receives, mqs_unexpected_messages } mqs_op_class;

/* In place of a rank in MPI_COMM_WORLD: a wildcard, or a process that is not in this world. */
enum { MQS_INVALID_PROCESS = -1 };

enum mqs_status { mqs_st_pending, mqs_st_matched, mqs_st_complete };

/* The codes that existing DLLs use above mqs_first_user_code.  A debugger shows them through
   mqs_dll_error_string and does not need to distinguish them. */
enum {
    err_silent_failure = mqs_first_user_code,

    err_no_current_communicator,
    err_bad_request,
    err_no_store,

    err_failed_qhdr,
    err_unexpected,
    err_posted,

    err_failed_queue,
    err_first,

    err_context_id,
    err_tag,
    err_tagmask,
    err_lsrc,
    err_srcmask,
    err_next,
    err_ptr,

    err_missing_type,
    err_missing_symbol,

    err_db_shandle,
    err_db_comm,
    err_db_target,
    err_db_tag,
    err_db_data,
    err_db_byte_length,
    err_db_next,

    err_failed_rhandle,
    err_is_complete,
    err_buf,
    err_len,
    err_s,

    err_failed_status,
    err_count,
    err_MPI_SOURCE,
    err_MPI_TAG,

    err_failed_commlist,
    err_sequence_number,
    err_comm_first,

    err_failed_communicator,
    err_lrank_to_grank,
    err_send_context,
    err_recv_context,
    err_comm_next,
    err_comm_name,

    err_all_communicators,
    err_mpid_sends,
    err_mpid_recvs,
    err_group_corrupt
};

typedef struct {
    mqs_taddr_t unique_id;  /* the same on all members */
    mqs_tword_t local_rank; /* of this process in the communicator */
    mqs_tword_t size;       /* of the local group */
    char name[64];          /* zero-terminated */
} mqs_communicator;

/* One message as seen by one side.  Lengths are in bytes; local ranks are ranks in the communicator. */
typedef struct {
    int status;                      /* enum mqs_status */
    mqs_tword_t desired_local_rank;  /* of the other side; -1 for any */
    mqs_tword_t desired_global_rank; /* the same in MPI_COMM_WORLD, or MQS_INVALID_PROCESS */
    int tag_wild;                    /* 1: any tag matches, and desired_tag is meaningless */
    mqs_tword_t desired_tag;
    mqs_tword_t desired_length;
    int system_buffer; /* 1: the library's buffer, not the user's */
    mqs_taddr_t buffer;

    /* Valid for sends, and once the status is matched or complete. */
    mqs_tword_t actual_local_rank;
    mqs_tword_t actual_global_rank;
    mqs_tword_t actual_tag;
    mqs_tword_t actual_length;

    char extra_text[5][64]; /* for people to read; each zero-terminated, "" if unused */
} mqs_pending_operation;

/* Types of all callbacks, and the basic ones, which need no image and no process.  All slots are filled. */
typedef void (*mqs_put_image_info_ft)(mqs_image *, mqs_image_info *);
typedef mqs_image_info *(*mqs_get_image_info_ft)(mqs_image *);
typedef mqs_image *(*mqs_get_image_ft)(mqs_process *);
typedef int (*mqs_get_global_rank_ft)(mqs_process *);
typedef int (*mqs_find_function_ft)(mqs_image *, char *, mqs_lang_code, mqs_taddr_t *);
typedef int (*mqs_find_symbol_ft)(mqs_image *, char *, mqs_taddr_t *);
typedef void (*mqs_put_process_info_ft)(mqs_process *, mqs_process_info *);
typedef mqs_process_info *(*mqs_get_process_info_ft)(mqs_process *);
typedef void *(*mqs_malloc_ft)(size_t);
typedef void (*mqs_free_ft)(void *);
typedef mqs_type *(*mqs_find_type_ft)(mqs_image *, char *, mqs_lang_code); /* NULL: no such type */
typedef int (*mqs_field_offset_ft)(mqs_type *, char *);                    /* bytes; -1: no such member */
typedef int (*mqs_sizeof_ft)(mqs_type *);
typedef void (*mqs_get_type_sizes_ft)(mqs_process *, mqs_target_type_sizes *);
typedef int (*mqs_fetch_data_ft)(mqs_process *, mqs_taddr_t, int, void *); /* mqs_ok: all bytes were read */
typedef void (*mqs_target_to_host_ft)(mqs_process *, const void *, void *, int); /* byte order of one item */
typedef void (*mqs_dprints_ft)(const char *);
typedef char *(*mqs_errorstring_ft)(int);

typedef struct mqs_basic_callbacks {
    mqs_malloc_ft mqs_malloc_fp;
    mqs_free_ft mqs_free_fp;
    mqs_dprints_ft mqs_dprints_fp;
    mqs_errorstring_ft mqs_errorstring_fp;
    mqs_put_image_info_ft mqs_put_image_info_fp;
    mqs_get_image_info_ft mqs_get_image_info_fp;
    mqs_put_process_info_ft mqs_put_process_info_fp;
    mqs_get_process_info_ft mqs_get_process_info_fp;
} mqs_basic_callbacks;

typedef struct mqs_image_callbacks {
    mqs_get_type_sizes_ft mqs_get_type_sizes_fp;
    mqs_find_function_ft mqs_find_function_fp;
    mqs_find_symbol_ft mqs_find_symbol_fp;
    mqs_find_type_ft mqs_find_type_fp;
    mqs_field_offset_ft mqs_field_offset_fp;
    mqs_sizeof_ft mqs_sizeof_fp;
} mqs_image_callbacks;

typedef struct mqs_process_callbacks {
    mqs_get_global_rank_ft mqs_get_global_rank_fp;
    mqs_get_image_ft mqs_get_image_fp;
    mqs_fetch_data_ft mqs_fetch_data_fp;
    mqs_target_to_host_ft mqs_target_to_host_fp;
} mqs_process_callbacks;

/* The DLL's functions.  Order of calls: setup_basic_callbacks once; setup_image and image_has_queues per
   image; setup_process and process_has_queues per process; then, for each look, update_communicator_list,
   the communicator iterator, and for a communicator the operation iterators. */

extern void mqs_setup_basic_callbacks(const mqs_basic_callbacks *); /* the table must outlive the DLL */
extern char *mqs_version_string(void);                              /* static */
extern int mqs_version_compatibility(void);                         /* MQS_INTERFACE_COMPATIBILITY */
extern int mqs_dll_taddr_width(void);                               /* sizeof (mqs_taddr_t) in the DLL */
extern char *mqs_dll_error_string(int);                             /* static, never NULL */

extern int mqs_setup_image(mqs_image *, const mqs_image_callbacks *);
/* The message is NULL, or text for the user with one %s for the image's name; valid until the image
   information (for mqs_process_has_queues: the process information) is destroyed. */
extern int mqs_image_has_queues(mqs_image *, char **);
extern void mqs_destroy_image_info(mqs_image_info *); /* NULL is fine */

extern int mqs_setup_process(mqs_process *, const mqs_process_callbacks *);
extern void mqs_destroy_process_info(mqs_process_info *); /* NULL is fine */
extern int mqs_process_has_queues(mqs_process *, char **);

extern int mqs_update_communicator_list(mqs_process *); /* once per look; drops everything read before */
extern int mqs_setup_communicator_iterator(mqs_process *);
extern int mqs_get_communicator(mqs_process *, mqs_communicator *);
extern int mqs_get_comm_group(mqs_process *, int *); /* mqs_communicator.size world ranks, caller's array */
extern int mqs_next_communicator(mqs_process *);     /* mqs_end_of_list after the last */

extern int mqs_setup_operation_iterator(mqs_process *, int); /* mqs_op_class, on the current communicator */
extern int mqs_next_operation(mqs_process *, mqs_pending_operation *);

/* ---- Part 2: the collective extension ---------------------------------------------------------------- */

/* Values 0 to 13 are the proposal's.  Later values are ours, numbered as OMPI_MQS_COLLECTIVES in
   ompi_mqs.h; mqs_extensions.coll_name returns their names. */
typedef enum {
    mqs_comm_barrier,
    mqs_comm_broadcast,
    mqs_comm_allgather,
    mqs_comm_allgatherv,
    mqs_comm_allreduce,
    mqs_comm_alltoall,
    mqs_comm_alltoallv,
    mqs_comm_reduce_scatter,
    mqs_comm_reduce,
    mqs_comm_gather,
    mqs_comm_gatherv,
    mqs_comm_scan,
    mqs_comm_scatter,
    mqs_comm_scatterv
} mqs_comm_class;

/*
 * How often this process has called one collective on the current communicator, and whether it is in one.
 *
 * class:  mqs_comm_class, or one of ours.
 * count:  receives the number of calls made so far by this process, including an active one.
 * active: receives 1 while such a call (a non-blocking one: its request) has not ended, else 0.
 * Returns mqs_ok, or mqs_no_information if the library does not keep the count or does not know the class;
 * then neither output is touched.
 */
extern int mqs_get_comm_coll_state(mqs_process *, int class_, int *count, int *active);

#ifdef __cplusplus
}
#endif

#endif
