#include <catch2/catch.hpp>

#include "tests/goal/collectives/cases.h"

namespace weft::goal {

// One test case per kind, so that they can be run apart: data_test "*: reduce".
TEST_CASE("every algorithm does what its collective promises: barrier") {
  check_every_algorithm(CollectiveKind::kBarrier);
}
TEST_CASE("every algorithm does what its collective promises: bcast", "[rooted]") {
  check_every_algorithm(CollectiveKind::kBcast);
}
TEST_CASE("every algorithm does what its collective promises: reduce", "[rooted]") {
  check_every_algorithm(CollectiveKind::kReduce);
}
TEST_CASE("every algorithm does what its collective promises: allreduce") {
  check_every_algorithm(CollectiveKind::kAllreduce);
}
TEST_CASE("every algorithm does what its collective promises: reduce_scatter", "[blocks]") {
  check_every_algorithm(CollectiveKind::kReduceScatter);
}
TEST_CASE("every algorithm does what its collective promises: allgather", "[blocks]") {
  check_every_algorithm(CollectiveKind::kAllgather);
}
TEST_CASE("every algorithm does what its collective promises: gather", "[rooted]") {
  check_every_algorithm(CollectiveKind::kGather);
}
TEST_CASE("every algorithm does what its collective promises: scatter", "[rooted]") {
  check_every_algorithm(CollectiveKind::kScatter);
}
TEST_CASE("every algorithm does what its collective promises: alltoall") {
  check_every_algorithm(CollectiveKind::kAlltoall);
}
TEST_CASE("every algorithm does what its collective promises: scan") {
  check_every_algorithm(CollectiveKind::kScan);
}
TEST_CASE("every algorithm does what its collective promises: exscan") {
  check_every_algorithm(CollectiveKind::kExscan);
}

}  // namespace weft::goal
