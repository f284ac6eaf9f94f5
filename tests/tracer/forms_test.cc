// Records of persistent collectives, collectives among neighbors and files: programs/forms.c under each MPI
// against what its source says.
#include <catch2/catch.hpp>
#include <utility>
#include <vector>

#include "tests/tracer/traced_run.h"

namespace weft::trace::test {
namespace {

using goal::TraceRecord;
using Bytes = std::vector<std::uint64_t>;
using Ranks = std::vector<std::int32_t>;

void check_init(const Trace& trace, Function function, std::uint64_t sent, std::uint64_t received, int root,
                const Bytes& send_bytes = {}, const Bytes& recv_bytes = {}) {
  const TraceRecord r = trace.only(function);
  INFO(r.function_name());
  CHECK(r.comm == kCommWorld);
  CHECK(r.bytes() == sent);
  CHECK(r.recv_posted_bytes() == received);
  CHECK(r.root == root);
  CHECK(r.send_bytes == send_bytes);
  CHECK(r.recv_bytes == recv_bytes);
  CHECK(r.request != 0);
}

void check_persistent(const Trace& t, int rank, bool scatters) {
  const Bytes four(4, 4);
  const bool first = rank == 0;
  const Bytes at_first = first ? four : Bytes{};
  check_init(t, Function::kBarrier_init, 0, 0, kUndefined);
  check_init(t, Function::kBcast_init, 8, 0, 1);
  check_init(t, Function::kGather_init, 12, rank == 2 ? 12 : 0, 2);
  check_init(t, Function::kGatherv_init, 4, 0, 0, {}, at_first);
  check_init(t, Function::kScatter_init, first ? 8 : 0, 8, 0);
  check_init(t, Function::kScatterv_init, 0, 4, 0, at_first);
  check_init(t, Function::kAllgather_init, 20, 20, kUndefined);
  check_init(t, Function::kAllgatherv_init, 4, 0, kUndefined, {}, four);
  check_init(t, Function::kAlltoall_init, 8, 8, kUndefined);
  check_init(t, Function::kAlltoallv_init, 0, 0, kUndefined, four, four);
  check_init(t, Function::kAlltoallw_init, 0, 0, kUndefined, four, four);
  check_init(t, Function::kReduce_init, 24, 0, 3);
  check_init(t, Function::kAllreduce_init, 28, 0, kUndefined);
  check_init(t, Function::kReduce_scatter_init, 16, 0, kUndefined, {}, four);
  check_init(t, Function::kReduce_scatter_block_init, 32, 8, kUndefined);
  check_init(t, Function::kScan_init, 32, 0, kUndefined);
  check_init(t, Function::kExscan_init, 36, 0, kUndefined);
  // Two rounds, and three of a persistent exchange in each of three topologies.
  CHECK(t.of(Function::kStart).size() == 2 * (scatters ? 17u : 16u) + 9);
  CHECK(t.completions(t.only(Function::kExscan_init).request).size() == 2);
}

// In the k-th topology.
void check_neighbors(const Trace& t, std::size_t k, const Ranks& to, const Ranks& from) {
  const Bytes out(to.size(), 4), in(from.size(), 4);
  const auto check = [&](Function function, std::uint64_t sent, std::uint64_t received,
                         const Bytes& send_bytes, const Bytes& recv_bytes) {
    const TraceRecord r = t.of(function).at(k);
    INFO(r.function_name());
    CHECK(r.destinations == to);
    CHECK(r.sources == from);
    CHECK(r.bytes() == sent);
    CHECK(r.recv_posted_bytes() == received);
    CHECK(r.send_bytes == send_bytes);
    CHECK(r.recv_bytes == recv_bytes);
  };
  check(Function::kNeighbor_allgather, 4, 4, {}, {});
  check(Function::kNeighbor_allgatherv, 4, 0, {}, in);
  check(Function::kNeighbor_alltoall, 8, 8, {}, {});
  check(Function::kNeighbor_alltoallv, 0, 0, out, in);
  check(Function::kNeighbor_alltoallw, 0, 0, out, in);
  check(Function::kIneighbor_alltoall, 12, 12, {}, {});
  check(Function::kIneighbor_allgatherv, 4, 0, {}, in);
  check(Function::kNeighbor_alltoall_init, 16, 16, {}, {});
  CHECK(t.completions(t.of(Function::kNeighbor_alltoall_init)[k].request).size() == 3);
}

// Over all ranks, of what each Start moves too.
void check_moved(const Run& all, bool scatters) {
  const std::vector<std::pair<Function, std::uint64_t>> moved = {
      // Two rounds on 4 ranks.
      {Function::kBarrier_init, 0},
      {Function::kBcast_init, 2 * 4 * 8},
      {Function::kGather_init, 2 * 4 * 12},
      {Function::kGatherv_init, 2 * 4 * 4},
      {Function::kScatter_init, scatters ? 2 * 8 : 0},
      {Function::kScatterv_init, 2 * 16},
      {Function::kAllgather_init, 2 * 4 * 20},
      {Function::kAlltoallv_init, 2 * 4 * 16},
      {Function::kAllreduce_init, 2 * 4 * 28},
      {Function::kExscan_init, 2 * 4 * 36},
      // A line has 6 ways to a neighbor, the ring and the pairs 4 each.
      {Function::kNeighbor_allgather, 14 * 4},
      {Function::kNeighbor_alltoall, 14 * 8},
      {Function::kNeighbor_alltoallv, 14 * 4},
      {Function::kNeighbor_alltoallw, 14 * 4},
      {Function::kIneighbor_alltoall, 14 * 12},
      {Function::kNeighbor_alltoall_init, 3 * 14 * 16},
      {Function::kFile_write_at, 4 * 80},
      {Function::kFile_iwrite, 4 * 72},
      {Function::kFile_write_all_begin, 4 * 64},
      {Function::kFile_read, 4 * 8}};
  for (const auto& [function, bytes] : moved) {
    INFO(function_info(function).name);
    CHECK(moved_bytes(all, function) == bytes);
  }
}

}  // namespace

TEST_CASE("persistent collectives, and those among neighbors of grids and graphs, and files") {
  for (const std::string& mpi : installed()) {
    INFO(mpi);
    const Run all = run(mpi, 4, "forms", "files");
    REQUIRE(all.status == 0);
    check_moved(all, mpi != "mpich");
    for (int rank = 0; rank < 4; ++rank) {
      INFO("rank " << rank);
      const Trace& t = all.ranks[static_cast<std::size_t>(rank)];
      CHECK(t.complete);
      check_persistent(t, rank, mpi != "mpich");
      const Ranks line = {rank == 0 ? kProcNull : rank - 1, rank == 3 ? kProcNull : rank + 1};
      check_neighbors(t, 0, line, line);
      check_neighbors(t, 1, {(rank + 1) % 4}, {(rank + 3) % 4});
      check_neighbors(t, 2, {rank ^ 1}, {rank ^ 1});
      CHECK(t.only(Function::kFile_write_at).bytes() == 80);
      CHECK(t.only(Function::kFile_iwrite).bytes() == 72);
      CHECK(t.completions(t.only(Function::kFile_iwrite).request).size() == 1);
      CHECK(t.only(Function::kFile_write_all_begin).bytes() == 64);
      CHECK(t.only(Function::kFile_read).bytes() == 8);
      CHECK(t.of(Function::kUndecoded).size() == 3);  // open, write_all_end, close
    }
  }
}

}  // namespace weft::trace::test
