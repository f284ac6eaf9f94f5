// Wrappers of Wait, Test, Request_get_status, Start, Request_free and Cancel.
#pragma once

#include "tracer/mpi/tracer.h"

namespace weft::trace {

int wait(MPI_Request* request, MPI_Status* status);
int waitall(int n, MPI_Request requests[], MPI_Status statuses[]);
int waitany(int n, MPI_Request requests[], int* index, MPI_Status* status);
int waitsome(int n, MPI_Request requests[], int* done, int indices[], MPI_Status statuses[]);
int test(MPI_Request* request, int* flag, MPI_Status* status);
int testall(int n, MPI_Request requests[], int* flag, MPI_Status statuses[]);
int testany(int n, MPI_Request requests[], int* index, int* flag, MPI_Status* status);
int testsome(int n, MPI_Request requests[], int* done, int indices[], MPI_Status statuses[]);
int start_request(MPI_Request* request);
int startall(int n, MPI_Request requests[]);
int request_free(MPI_Request* request);
int cancel(MPI_Request* request);
int request_get_status(MPI_Request request, int* flag, MPI_Status* status);

}  // namespace weft::trace
