#include "tracer/mpi/communicators.h"

#include <stdlib.h>
#include <string.h>

#include "tracer/mpi/hash.h"

namespace weft::trace {

namespace {

int* translate(MPI_Group group, MPI_Group world, int* size) {
  *size = 0;
  real.PMPI_Group_size(group, size);
  const auto n = static_cast<std::size_t>(*size);
  auto* ranks = static_cast<int*>(malloc((2 * n + 1) * sizeof(int)));
  if (ranks == nullptr) return nullptr;
  int* own = ranks + n;
  for (int i = 0; i < *size; ++i) own[i] = i;
  if (n > 0) real.PMPI_Group_translate_ranks(group, *size, own, world, ranks);
  for (int i = 0; i < *size; ++i) {
    if (ranks[i] < 0) ranks[i] = kOutsideWorld;
  }
  return ranks;
}

int* copy_ranks(const int* ranks, int size) {
  auto* copy = static_cast<int*>(malloc((static_cast<std::size_t>(size) + 1) * sizeof(int)));
  if (copy != nullptr && size > 0) memcpy(copy, ranks, static_cast<std::size_t>(size) * sizeof(int));
  return copy;
}

std::uint64_t hash_ranks(const int* ranks, int size) {
  std::uint64_t hash = mix(static_cast<std::uint64_t>(size));
  for (int i = 0; i < size; ++i) hash = combine(hash, static_cast<std::uint32_t>(ranks[i]));
  return hash;
}

// Members are written as arithmetic progressions, of which most communicators are a few.
void put_ranks(Writer& writer, const int* ranks, int size) {
  if (!writer.reserve(kMaxVarintBytes + static_cast<std::size_t>(size) * 3 * kMaxVarintBytes)) return;
  writer.number(static_cast<std::uint64_t>(size));
  for (int i = 0; i < size;) {
    const int stride = i + 1 < size ? ranks[i + 1] - ranks[i] : 0;
    int run = i + 1 < size ? 2 : 1;
    while (i + run < size && ranks[i + run] - ranks[i + run - 1] == stride) ++run;
    writer.number(static_cast<std::uint64_t>(run));
    writer.signed_number(ranks[i]);
    writer.signed_number(stride);
    i += run;
  }
}

}  // namespace

std::int32_t Comm::world_rank(int rank_in_comm) const {
  if (rank_in_comm == MPI_PROC_NULL) return kProcNull;
  if (rank_in_comm == MPI_ANY_SOURCE) return kAnySource;
  if (rank_in_comm < 0 || rank_in_comm >= peers()) return kUndefined;
  return inter ? remote_ranks[rank_in_comm] : ranks[rank_in_comm];
}

bool Communicators::start(Writer& writer, MPI_Group world, bool sessions_only) {
  writer_ = &writer;
  world_group_ = world;
  if (!sessions_only)
    return define(comm_world(), nullptr) != nullptr && define(comm_self(), nullptr) != nullptr;
  MPI_Group self;
  int rank = 0;
  real.PMPI_Group_rank(world, &rank);
  if (define_group(comm_world(), world) == nullptr ||
      real.PMPI_Group_incl(world, 1, &rank, &self) != MPI_SUCCESS) {
    return false;
  }
  const bool defined = define_group(comm_self(), self) != nullptr;
  real.PMPI_Group_free(&self);
  return defined;
}

// A communicator that MPI must not be asked about yet.
Comm* Communicators::define_group(MPI_Comm handle, MPI_Group group) {
  auto* comm = static_cast<Comm*>(calloc(1, sizeof(Comm)));
  if (comm == nullptr) return nullptr;
  comm->ranks = translate(group, world_group_, &comm->size);
  if (comm->ranks == nullptr) {
    release(comm);
    return nullptr;
  }
  real.PMPI_Group_rank(group, &comm->rank);
  number(comm, handle, nullptr, 0);
  return comm;
}

Comm** Communicators::bucket(std::uint64_t handle) { return &buckets_[mix(handle) % kBuckets]; }

Comm* Communicators::find(MPI_Comm handle, bool define_it) {
  const std::uint64_t wanted = bits(handle);
  if (last_ != nullptr && last_->handle == wanted) return last_;
  for (Comm* comm = *bucket(wanted); comm != nullptr; comm = comm->next) {
    if (comm->handle == wanted) return last_ = comm;
  }
  if (!define_it || handle == comm_null()) return nullptr;
  return define(handle, nullptr);
}

bool Communicators::find_neighbors(MPI_Comm handle, Comm* comm) {
  if (comm->neighbors != nullptr) return true;
  int kind = MPI_UNDEFINED, out = 0, in = 0, weighted = 0;
  real.PMPI_Topo_test(handle, &kind);
  if (kind == MPI_CART) {
    real.PMPI_Cartdim_get(handle, &out);
    in = out *= 2;
  } else if (kind == MPI_GRAPH) {
    real.PMPI_Graph_neighbors_count(handle, comm->rank, &out);
    in = out;
  } else if (kind == MPI_DIST_GRAPH) {
    real.PMPI_Dist_graph_neighbors_count(handle, &in, &out, &weighted);
  } else {
    return false;
  }
  const auto n = static_cast<std::size_t>(out) + static_cast<std::size_t>(in);
  auto* ranks = static_cast<int*>(malloc((2 * n + 1) * sizeof(int)));
  if (ranks == nullptr) return false;
  int* const sources = ranks + out;
  int* const weights = sources + in;
  if (kind == MPI_CART) {
    for (int i = 0; i < out / 2; ++i) real.PMPI_Cart_shift(handle, i, 1, &ranks[2 * i], &ranks[2 * i + 1]);
  } else if (kind == MPI_GRAPH) {
    real.PMPI_Graph_neighbors(handle, comm->rank, out, ranks);
  } else {
    real.PMPI_Dist_graph_neighbors(handle, in, sources, weights, out, ranks, weights + in);
  }
  if (kind != MPI_DIST_GRAPH && out > 0) memcpy(sources, ranks, static_cast<std::size_t>(out) * sizeof(int));
  comm->neighbors = ranks;
  comm->grid = kind == MPI_CART;
  comm->destinations = out;
  comm->sources = in;
  return true;
}

int* Communicators::world_ranks(MPI_Group group, int* size) const {
  return translate(group, world_group_, size);
}

bool Communicators::read_members(MPI_Comm handle, Comm* comm) {
  MPI_Group group;
  if (real.PMPI_Comm_group(handle, &group) != MPI_SUCCESS) return false;
  comm->ranks = translate(group, world_group_, &comm->size);
  real.PMPI_Group_free(&group);
  int inter = 0;
  real.PMPI_Comm_test_inter(handle, &inter);
  real.PMPI_Comm_rank(handle, &comm->rank);
  comm->inter = inter != 0;
  if (comm->inter) {
    if (real.PMPI_Comm_remote_group(handle, &group) != MPI_SUCCESS) return false;
    comm->remote_ranks = translate(group, world_group_, &comm->remote_size);
    real.PMPI_Group_free(&group);
  }
  return comm->ranks != nullptr && (!comm->inter || comm->remote_ranks != nullptr);
}

Comm* Communicators::define(MPI_Comm handle, const Comm* parent, std::uint64_t label) {
  auto* comm = static_cast<Comm*>(calloc(1, sizeof(Comm)));
  if (comm == nullptr) return nullptr;
  if (!read_members(handle, comm)) {
    release(comm);
    return nullptr;
  }
  number(comm, handle, parent, label);
  return comm;
}

void Communicators::number(Comm* comm, MPI_Comm handle, const Comm* parent, std::uint64_t label) {
  comm->id = next_id_++;
  const std::uint64_t local = hash_ranks(comm->ranks, comm->size);
  if (comm->inter) {
    // The two sides have different parents, and see the groups the other way round.
    const std::uint64_t remote = hash_ranks(comm->remote_ranks, comm->remote_size);
    const std::uint64_t lineage =
        combine(combine(0x1c, local < remote ? local : remote), local < remote ? remote : local);
    comm->key = combine(lineage, ordinal(lineage));
  } else {
    const std::uint64_t from = parent == nullptr ? label
                               : label == 0      ? parent->key
                                                 : combine(parent->key, label);
    const std::uint64_t lineage = combine(from, local);
    comm->key = combine(lineage, ordinal(lineage));
  }
  write(*comm, parent != nullptr ? parent->id : kNoComm);
  set_handle(comm, handle);
}

Comm* Communicators::define_duplicate(const Comm* parent) {
  auto* comm = static_cast<Comm*>(calloc(1, sizeof(Comm)));
  if (comm == nullptr) return nullptr;
  *comm = *parent;
  comm->next = nullptr;
  comm->neighbors = nullptr;
  comm->references = 0;
  comm->handle = 0;
  comm->ranks = copy_ranks(parent->ranks, parent->size);
  comm->remote_ranks = parent->inter ? copy_ranks(parent->remote_ranks, parent->remote_size) : nullptr;
  if (comm->ranks == nullptr || (comm->inter && comm->remote_ranks == nullptr)) {
    release(comm);
    return nullptr;
  }
  comm->id = next_id_++;
  const std::uint64_t lineage = combine(parent->key, hash_ranks(comm->ranks, comm->size));
  // Both sides of an intercommunicator share the parent's key, so the parent alone is its lineage.
  const std::uint64_t own = comm->inter ? combine(parent->key, 0x1d) : lineage;
  comm->key = combine(own, ordinal(own));
  comm->references = 1;
  write(*comm, parent->id);
  return comm;
}

void Communicators::set_handle(Comm* comm, MPI_Comm handle) {
  comm->handle = bits(handle);
  comm->references = comm->references == 0 ? 1 : comm->references;
  Comm** first = bucket(comm->handle);
  comm->next = *first;
  *first = comm;
  if (!writer_->reserve(64)) return;
  writer_->byte(static_cast<std::uint8_t>(Meta::kHandle));
  writer_->number(comm->id);
  writer_->number(comm->handle);
}

void Communicators::forget(Comm* comm) {
  if (last_ == comm) last_ = nullptr;
  for (Comm** at = bucket(comm->handle); *at != nullptr; at = &(*at)->next) {
    if (*at == comm) {
      *at = comm->next;
      break;
    }
  }
  release(comm);
}

void Communicators::release(Comm* comm) {
  if (comm->references > 1) {
    --comm->references;
    return;
  }
  free(comm->ranks);
  free(comm->remote_ranks);
  free(comm->neighbors);
  free(comm);
}

std::uint64_t Communicators::ordinal(std::uint64_t lineage) {
  if (lineage == 0) lineage = 1;
  if (2 * (counts_used_ + 1) > counts_size_) {
    const std::uint64_t size = counts_size_ == 0 ? 64 : 2 * counts_size_;
    auto* counts = static_cast<Count*>(calloc(size, sizeof(Count)));
    if (counts == nullptr) return 0;
    for (std::uint64_t i = 0; i < counts_size_; ++i) {
      if (counts_[i].lineage == 0) continue;
      std::uint64_t slot = mix(counts_[i].lineage) & (size - 1);
      while (counts[slot].lineage != 0) slot = (slot + 1) & (size - 1);
      counts[slot] = counts_[i];
    }
    free(counts_);
    counts_ = counts;
    counts_size_ = size;
  }
  std::uint64_t slot = mix(lineage) & (counts_size_ - 1);
  while (counts_[slot].lineage != 0 && counts_[slot].lineage != lineage) {
    slot = (slot + 1) & (counts_size_ - 1);
  }
  if (counts_[slot].lineage == 0) {
    counts_[slot].lineage = lineage;
    ++counts_used_;
  }
  return counts_[slot].count++;
}

void Communicators::write(const Comm& comm, std::uint32_t parent) {
  if (!writer_->reserve(64)) return;
  writer_->byte(static_cast<std::uint8_t>(Meta::kCommunicator));
  writer_->number(comm.id);
  writer_->number(comm.key);
  writer_->number(parent == kNoComm ? 0 : static_cast<std::uint64_t>(parent) + 1);
  writer_->number(comm.inter ? 1 : 0);
  put_ranks(*writer_, comm.ranks, comm.size);
  if (comm.inter) put_ranks(*writer_, comm.remote_ranks, comm.remote_size);
}

bool was_spawned() {
  MPI_Comm parent = comm_null();
  return real.PMPI_Comm_get_parent != nullptr && real.PMPI_Comm_get_parent(&parent) == MPI_SUCCESS &&
         parent != comm_null();
}

}  // namespace weft::trace
