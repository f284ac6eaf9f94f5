#include <fmt/core.h>

#include "sim/placement/policies/built_in.h"
#include "sim/placement/policies/named_places.h"
#include "sim/placement/policies/rank_list.h"

namespace weft::placement {
namespace {

Outcome place_by_rank_file(const Setup& setup) {
  const std::string path = setup.parameters.file("file");
  if (path.empty()) setup.parameters.fail("file", "a file is needed: rank_file:file=PATH");
  std::uint64_t left_over = 0;
  const std::uint32_t ranks = setup.request.ranks;
  Outcome outcome =
      place_by_names(setup, path, read_rank_list(read_small_file(path), path, ranks, &left_over));
  if (left_over > 0) {
    outcome.remark = fmt::format("{} has places for {} rank{} more than the job's {}; they are left over",
                                 path, left_over, left_over == 1 ? "" : "s", ranks);
  }
  return outcome;
}

}  // namespace

Policy rank_file() {
  return {
      .info = {.name = "rank_file",
               .summary = "As a file says: a rankfile or hostfile of Open MPI, a hostfile of Slurm or LSF.",
               .source =
                   "mpirun(1) of Open MPI 4.1, rankfiles; srun(1) of Slurm, --distribution=arbitrary; LSF, "
                   "LSB_MCPU_HOSTS",
               .parameters =
                   {{"file", ParameterType::kFile, "",
                     "Lines `rank 3=HOST` or `3 HOST`, `HOST slots=4` or `HOST 4`, or hosts: HOST, HOST:4, "
                     "HOST*4, node[01-16]; a host is its name, or its number."}},
               .about = "Hosts have the names that the network gives them (`weft topo info`, \"host 3\" in "
                        "quotes) or numbers from 0: 3, h3, +n3."},
      .place = place_by_rank_file};
}

}  // namespace weft::placement
