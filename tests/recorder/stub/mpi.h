/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi.h of the stub library: what threads.c needs, with the handles and constants of MPICH. */
#ifndef STUB_MPI_H
#define STUB_MPI_H

typedef int MPI_Comm, MPI_Group, MPI_Request, MPI_Datatype, MPI_Op, MPI_Win, MPI_Info;
typedef struct {
    int count_lo, count_hi_and_cancelled, MPI_SOURCE, MPI_TAG, MPI_ERROR;
} MPI_Status;

#define MPI_COMM_SELF 0x44000001
#define MPI_REQUEST_NULL 0x2c000000
#define MPI_INFO_NULL 0x1c000000
#define MPI_MODE_NOSUCCEED 16384
#define MPI_INT 0x4c000405
#define MPI_SUM 0x58000003
#define MPI_ANY_SOURCE (-2)
#define MPI_STATUS_IGNORE ((MPI_Status *)1)
#define MPI_STATUSES_IGNORE ((MPI_Status *)1)
#define MPI_THREAD_MULTIPLE 3

int MPI_Init_thread(int *, char ***, int, int *);
int MPI_Comm_dup(MPI_Comm, MPI_Comm *);
int MPI_Comm_set_name(MPI_Comm, const char *);
int MPI_Isend(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
int MPI_Irecv(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
int MPI_Wait(MPI_Request *, MPI_Status *);
int MPI_Waitall(int, MPI_Request *, MPI_Status *);
int MPI_Testall(int, MPI_Request *, int *, MPI_Status *);
int MPI_Iprobe(int, int, MPI_Comm, int *, MPI_Status *);
int MPI_Barrier(MPI_Comm);
int MPI_Allreduce_init(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Info, MPI_Request *);
int MPI_Start(MPI_Request *);
int MPI_Request_free(MPI_Request *);
int MPI_Neighbor_allgather(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm);
int MPI_Ineighbor_allgather(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm,
                            MPI_Request *);
int MPI_Win_create(void *, long, int, MPI_Info, MPI_Comm, MPI_Win *);
int MPI_Win_fence(int, MPI_Win);
int MPI_Win_free(MPI_Win *);
int MPI_Allreduce(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm);

#endif
