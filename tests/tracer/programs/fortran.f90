! The calls a Fortran program makes, with the constants that Fortran bindings treat apart, on 4 ranks.
! Compiled twice: with MODULE defined as mpi and as mpi_f08.
program calls
  use MODULE
  implicit none
#ifdef F08
  type(MPI_Comm) :: half
  type(MPI_Request) :: r(3), p(2)
  type(MPI_Status) :: status
#else
  integer :: half, r(3), p(2), status(MPI_STATUS_SIZE)
#endif
  integer :: rank, n, left, right, error, i
  double precision :: in(10), out(10)

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, n, error)
  left = mod(rank + 3, 4)
  right = mod(rank + 1, 4)
  out = rank
  call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), -rank, half, error)
  call MPI_Comm_rank(half, i, error)
  if (i == 0) call MPI_Send(out, 3, MPI_DOUBLE_PRECISION, 1, 11, half, error)
  if (i == 1) call MPI_Recv(in, 10, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, MPI_ANY_TAG, half, MPI_STATUS_IGNORE, error)
  call MPI_Irecv(in, 2, MPI_DOUBLE_PRECISION, left, 21, MPI_COMM_WORLD, r(1), error)
  r(2) = MPI_REQUEST_NULL
  call MPI_Isend(out, 2, MPI_DOUBLE_PRECISION, right, 21, MPI_COMM_WORLD, r(3), error)
  call MPI_Waitall(3, r, MPI_STATUSES_IGNORE, error)
  call MPI_Allreduce(MPI_IN_PLACE, in, 7, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
  call MPI_Sendrecv(out, 3, MPI_DOUBLE_PRECISION, right, 41, in, 8, MPI_DOUBLE_PRECISION, left, 41, &
                    MPI_COMM_WORLD, status, error)
  call MPI_Recv_init(in, 1, MPI_DOUBLE_PRECISION, left, 31, MPI_COMM_WORLD, p(1), error)
  call MPI_Send_init(out, 1, MPI_DOUBLE_PRECISION, right, 31, MPI_COMM_WORLD, p(2), error)
  do i = 1, 2
    call MPI_Startall(2, p, error)
    call MPI_Waitall(2, p, MPI_STATUSES_IGNORE, error)
  end do
  call MPI_Request_free(p(1), error)
  call MPI_Request_free(p(2), error)
  call MPI_Barrier(half, error)
  call MPI_Comm_free(half, error)
  call MPI_Finalize(error)
end program calls
