/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * parameters - what the parameters of an MPI function are, by the MPI standard's C bindings.
 *
 * Fortran's have the same order, all by reference, with one more (ierror) at the end.
 */
#ifndef MPIQ_NAMES_PARAMETERS_H
#define MPIQ_NAMES_PARAMETERS_H

/*
 * One letter for each parameter, of the functions in which a rank may wait for others, of those that make
 * requests, and of some that often stand between the two:
 *
 *   b  buffer that is read                 B  buffer that is written, as count and type say
 *   a  array that is read                  W  buffer that is written, of another size
 *   c  count    C  count sent              R  count received
 *   t  datatype T  type sent               U  type received
 *   d  destination                         s  source
 *   g  tag      h  tag sent                i  tag received
 *   r  root     o  op                      m  communicator
 *   w  window   k  rank in a window        n  count of requests
 *   q  request or requests                 S  status or statuses
 *   p  written                             x  another value
 *
 * MPI_Recv: "BctsgmS".  call is a name as the standard spells it ("MPI_Recv", "MPI_Recv_c"); NULL: not one of
 * these.
 */
const char *mpiq_names_parameters(const char *call);

#endif
