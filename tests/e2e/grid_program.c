/* A program on a P x Q grid: halo exchange around rows and columns, collectives on rows, columns, every other
 * row (a split of a split), leaders of rows, oneself, and a duplicate of all; sizes by column in turn. */
#include <mpi.h>
#include <stdlib.h>

enum { kSteps = 5, kCells = 100, kMost = 64 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int rows = argc > 1 ? atoi(argv[1]) : 1, columns = argc > 2 ? atoi(argv[2]) : 1;
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size != rows * columns || columns > kMost) MPI_Abort(MPI_COMM_WORLD, 2);
  const int i = rank / columns, j = rank % columns;
  MPI_Comm row, column, every_other, leaders, all;
  MPI_Comm_dup(MPI_COMM_WORLD, &all);
  MPI_Comm_split(all, i, j, &row);
  MPI_Comm_split(all, j, i, &column);
  MPI_Comm_split(column, i % 2, i, &every_other);
  MPI_Comm_split(MPI_COMM_WORLD, j == 0 ? 0 : MPI_UNDEFINED, i, &leaders);
  double edge[4][kCells] = {{0}}, sum = rank, total = 0;
  int counts[kMost], starts[kMost], mine[kMost], gathered[kMost * 3];
  for (int c = 0; c < columns; ++c) {
    counts[c] = 1 + c % 2;
    starts[c] = c == 0 ? 0 : starts[c - 1] + counts[c - 1];
  }
  for (int c = 0; c < kMost; ++c) mine[c] = rank;
  for (int step = 0; step < kSteps; ++step) {
    const int left = i * columns + (j + columns - 1) % columns, right = i * columns + (j + 1) % columns;
    const int up = (i + rows - 1) % rows, down = (i + 1) % rows;
    MPI_Request requests[4];
    MPI_Irecv(edge[0], kCells, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(edge[1], kCells, MPI_DOUBLE, up, 2, column, &requests[1]);
    MPI_Isend(edge[2], kCells, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(edge[3], kCells, MPI_DOUBLE, down, 2, column, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    MPI_Allreduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, row);
    MPI_Allgatherv(mine, counts[j], MPI_INT, gathered, counts, starts, MPI_INT, row);
    MPI_Reduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, 0, column);
    MPI_Bcast(edge[0], kCells, MPI_DOUBLE, 0, every_other);
    if (leaders != MPI_COMM_NULL) MPI_Allreduce(&sum, &total, 1, MPI_DOUBLE, MPI_MAX, leaders);
    MPI_Gatherv(mine, counts[j], MPI_INT, gathered, counts, starts, MPI_INT, 0, row);
    MPI_Barrier(MPI_COMM_SELF);
    MPI_Barrier(all);
  }
  MPI_Finalize();
  return 0;
}
