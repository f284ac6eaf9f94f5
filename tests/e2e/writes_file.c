/* A program most of whose calls are of MPI files, which no replay has. */
#include <mpi.h>
#include <unistd.h>

int main(int argc, char** argv) {
  char block[64] = {0};
  int rank;
  MPI_File file;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_open(MPI_COMM_WORLD, "written", MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
  for (int i = 0; i < 5; ++i)
    MPI_File_write_at(file, 64 * (5 * rank + i), block, 64, MPI_BYTE, MPI_STATUS_IGNORE);
  MPI_File_close(&file);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
