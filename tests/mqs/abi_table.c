/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints what a binary sees of a header of the interface: sizes, offsets, values.  Built once for ours and
   once for a release's own (-DHEADER='"…"'); the two must print the same. */
#include HEADER

#include <stddef.h>
#include <stdio.h>

#define SIZE(type) printf("sizeof %s %zu\n", #type, sizeof(type))
#define SIGNED(type) printf("signed %s %d\n", #type, (type)-1 < 0)
#define OFFSET(type, member) \
    printf("offset %s.%s %zu %zu\n", #type, #member, offsetof(type, member), sizeof(((type *)0)->member))
#define VALUE(name) printf("value %s %d\n", #name, (int)(name))

/* The prototype must agree exactly, or this does not compile. */
#define FUNCTION(result, name, ...)                         \
    do {                                                    \
        result (*pointer)(__VA_ARGS__) = name;              \
        printf("function %s %d\n", #name, pointer != NULL); \
    } while (0)

int main(void)
{
    SIZE(mqs_taddr_t);
    SIGNED(mqs_taddr_t);
    SIZE(mqs_tword_t);
    SIGNED(mqs_tword_t);
    SIZE(mqs_lang_code);
    SIZE(mqs_op_class);
    SIZE(mqs_target_type_sizes);
    OFFSET(mqs_target_type_sizes, short_size);
    OFFSET(mqs_target_type_sizes, int_size);
    OFFSET(mqs_target_type_sizes, long_size);
    OFFSET(mqs_target_type_sizes, long_long_size);
    OFFSET(mqs_target_type_sizes, pointer_size);
    OFFSET(mqs_target_type_sizes, bool_size);
    OFFSET(mqs_target_type_sizes, size_t_size);
    SIZE(mqs_communicator);
    OFFSET(mqs_communicator, unique_id);
    OFFSET(mqs_communicator, local_rank);
    OFFSET(mqs_communicator, size);
    OFFSET(mqs_communicator, name);
    SIZE(mqs_pending_operation);
    OFFSET(mqs_pending_operation, status);
    OFFSET(mqs_pending_operation, desired_local_rank);
    OFFSET(mqs_pending_operation, desired_global_rank);
    OFFSET(mqs_pending_operation, tag_wild);
    OFFSET(mqs_pending_operation, desired_tag);
    OFFSET(mqs_pending_operation, desired_length);
    OFFSET(mqs_pending_operation, system_buffer);
    OFFSET(mqs_pending_operation, buffer);
    OFFSET(mqs_pending_operation, actual_local_rank);
    OFFSET(mqs_pending_operation, actual_global_rank);
    OFFSET(mqs_pending_operation, actual_tag);
    OFFSET(mqs_pending_operation, actual_length);
    OFFSET(mqs_pending_operation, extra_text);
    SIZE(mqs_basic_callbacks);
    OFFSET(mqs_basic_callbacks, mqs_malloc_fp);
    OFFSET(mqs_basic_callbacks, mqs_free_fp);
    OFFSET(mqs_basic_callbacks, mqs_dprints_fp);
    OFFSET(mqs_basic_callbacks, mqs_errorstring_fp);
    OFFSET(mqs_basic_callbacks, mqs_put_image_info_fp);
    OFFSET(mqs_basic_callbacks, mqs_get_image_info_fp);
    OFFSET(mqs_basic_callbacks, mqs_put_process_info_fp);
    OFFSET(mqs_basic_callbacks, mqs_get_process_info_fp);
    SIZE(mqs_image_callbacks);
    OFFSET(mqs_image_callbacks, mqs_get_type_sizes_fp);
    OFFSET(mqs_image_callbacks, mqs_find_function_fp);
    OFFSET(mqs_image_callbacks, mqs_find_symbol_fp);
    OFFSET(mqs_image_callbacks, mqs_find_type_fp);
    OFFSET(mqs_image_callbacks, mqs_field_offset_fp);
    OFFSET(mqs_image_callbacks, mqs_sizeof_fp);
    SIZE(mqs_process_callbacks);
    OFFSET(mqs_process_callbacks, mqs_get_global_rank_fp);
    OFFSET(mqs_process_callbacks, mqs_get_image_fp);
    OFFSET(mqs_process_callbacks, mqs_fetch_data_fp);
    OFFSET(mqs_process_callbacks, mqs_target_to_host_fp);

    VALUE(MQS_INTERFACE_COMPATIBILITY);
    VALUE(MQS_INVALID_PROCESS);
    VALUE(mqs_ok);
    VALUE(mqs_no_information);
    VALUE(mqs_end_of_list);
    VALUE(mqs_first_user_code);
    VALUE(mqs_lang_c);
    VALUE(mqs_lang_cplus);
    VALUE(mqs_lang_f77);
    VALUE(mqs_lang_f90);
    VALUE(mqs_pending_sends);
    VALUE(mqs_pending_receives);
    VALUE(mqs_unexpected_messages);
    VALUE(mqs_st_pending);
    VALUE(mqs_st_matched);
    VALUE(mqs_st_complete);
    VALUE(err_silent_failure);
    VALUE(err_no_current_communicator);
    VALUE(err_bad_request);
    VALUE(err_no_store);
    VALUE(err_failed_qhdr);
    VALUE(err_unexpected);
    VALUE(err_posted);
    VALUE(err_failed_queue);
    VALUE(err_first);
    VALUE(err_context_id);
    VALUE(err_tag);
    VALUE(err_tagmask);
    VALUE(err_lsrc);
    VALUE(err_srcmask);
    VALUE(err_next);
    VALUE(err_ptr);
    VALUE(err_missing_type);
    VALUE(err_missing_symbol);
    VALUE(err_db_shandle);
    VALUE(err_db_comm);
    VALUE(err_db_target);
    VALUE(err_db_tag);
    VALUE(err_db_data);
    VALUE(err_db_byte_length);
    VALUE(err_db_next);
    VALUE(err_failed_rhandle);
    VALUE(err_is_complete);
    VALUE(err_buf);
    VALUE(err_len);
    VALUE(err_s);
    VALUE(err_failed_status);
    VALUE(err_count);
    VALUE(err_MPI_SOURCE);
    VALUE(err_MPI_TAG);
    VALUE(err_failed_commlist);
    VALUE(err_sequence_number);
    VALUE(err_comm_first);
    VALUE(err_failed_communicator);
    VALUE(err_lrank_to_grank);
    VALUE(err_send_context);
    VALUE(err_recv_context);
    VALUE(err_comm_next);
    VALUE(err_comm_name);
    VALUE(err_all_communicators);
    VALUE(err_mpid_sends);
    VALUE(err_mpid_recvs);
    VALUE(err_group_corrupt);

    FUNCTION(void, mqs_setup_basic_callbacks, const mqs_basic_callbacks *);
    FUNCTION(char *, mqs_version_string, void);
    FUNCTION(int, mqs_version_compatibility, void);
    FUNCTION(int, mqs_dll_taddr_width, void);
    FUNCTION(char *, mqs_dll_error_string, int);
    FUNCTION(int, mqs_setup_image, mqs_image *, const mqs_image_callbacks *);
    FUNCTION(int, mqs_image_has_queues, mqs_image *, char **);
    FUNCTION(void, mqs_destroy_image_info, mqs_image_info *);
    FUNCTION(int, mqs_setup_process, mqs_process *, const mqs_process_callbacks *);
    FUNCTION(void, mqs_destroy_process_info, mqs_process_info *);
    FUNCTION(int, mqs_process_has_queues, mqs_process *, char **);
    FUNCTION(int, mqs_update_communicator_list, mqs_process *);
    FUNCTION(int, mqs_setup_communicator_iterator, mqs_process *);
    FUNCTION(int, mqs_get_communicator, mqs_process *, mqs_communicator *);
    FUNCTION(int, mqs_get_comm_group, mqs_process *, int *);
    FUNCTION(int, mqs_next_communicator, mqs_process *);
    FUNCTION(int, mqs_setup_operation_iterator, mqs_process *, int);
    FUNCTION(int, mqs_next_operation, mqs_process *, mqs_pending_operation *);
    return 0;
}
