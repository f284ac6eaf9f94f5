// The communicators of this process: their numbers in the trace, their identity across ranks, their members.
#pragma once

#include <cstdint>

#include "tracer/mpi/real.h"
#include "tracer/mpi/writer.h"

namespace weft::trace {

struct Comm {
  std::uint64_t handle = 0;
  std::uint32_t id = 0;
  std::uint64_t key = 0;  // the same at all members
  int rank = 0;           // of this process in it
  bool inter = false;
  // World ranks of the members; of an intercommunicator also of the other group, which its ranks mean.
  int size = 0, remote_size = 0;
  int* ranks = nullptr;
  int* remote_ranks = nullptr;
  // Ranks in the communicator: first those sent to, then those received from. Null until find_neighbors().
  int* neighbors = nullptr;
  int destinations = 0, sources = 0;
  bool grid = false;             // they are those of MPI_Cart_create: two for each dimension
  std::uint32_t references = 0;  // the handle's, and that of each pending request
  Comm* next = nullptr;

  int peers() const { return inter ? remote_size : size; }
  // World rank, or a negative constant of the format, of what an MPI call names as a source or destination.
  std::int32_t world_rank(int rank_in_comm) const;
};

// Not thread-safe: the tracer holds its lock.
class Communicators {
 public:
  // Defines MPI_COMM_WORLD and MPI_COMM_SELF by what the library says of them (REQUIRES: MPI_Init has been
  // called), or by the group of all processes, where only Sessions have been begun.
  bool start(Writer& writer, MPI_Group world, bool sessions_only);
  // Another handle of the group of all processes; groups live no longer than what they came from.
  void set_world(MPI_Group world) { world_group_ = world; }
  void free_world() { real.PMPI_Group_free(&world_group_); }
  // The communicator behind a handle. One that an undecoded call made is defined now if `define` is set,
  // which asks MPI about it; null where that is not wanted or fails.
  Comm* find(MPI_Comm handle, bool define);
  // Writes the definition of a new communicator; null if out of memory. `label`: where there is no parent,
  // tells it from others of the same members.
  Comm* define(MPI_Comm handle, const Comm* parent, std::uint64_t label = 0);
  // For MPI_Comm_idup: the new one has its parent's members, and its handle is known later.
  Comm* define_duplicate(const Comm* parent);
  void set_handle(Comm* comm, MPI_Comm handle);
  // The handle is gone; the members stay until the last request is.
  void forget(Comm* comm);
  static void release(Comm* comm);
  // Asks MPI once for the neighbors in the process topology. False if there is none, or no memory.
  static bool find_neighbors(MPI_Comm handle, Comm* comm);
  // World ranks of a group's members, to be freed by the caller; null if out of memory.
  int* world_ranks(MPI_Group group, int* size) const;

 private:
  static constexpr unsigned kBuckets = 1024;
  std::uint64_t ordinal(std::uint64_t lineage);
  void write(const Comm& comm, std::uint32_t parent);
  bool read_members(MPI_Comm handle, Comm* comm);
  Comm* define_group(MPI_Comm handle, MPI_Group group);
  void number(Comm* comm, MPI_Comm handle, const Comm* parent, std::uint64_t label);
  Comm** bucket(std::uint64_t handle);

  Writer* writer_ = nullptr;
  MPI_Group world_group_;
  Comm* buckets_[kBuckets] = {};
  Comm* last_ = nullptr;  // found: most programs use one communicator many times
  std::uint32_t next_id_ = 0;
  // How many communicators of each lineage (parent and members) there were: open addressing, 0 is free.
  struct Count {
    std::uint64_t lineage, count;
  };
  Count* counts_ = nullptr;
  std::uint64_t counts_size_ = 0, counts_used_ = 0;
};

// Has another MPI program started this one, by MPI_Comm_spawn? After MPI_Init.
bool was_spawned();

}  // namespace weft::trace
