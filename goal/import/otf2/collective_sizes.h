// Sizes of collectives, from the sums that Score-P records.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "goal/import/mpi/trace_reader.h"
#include "goal/import/otf2/location_calls.h"

namespace weft::goal {

// The function of a collective event; kUndecoded for those that are none of MPI's data or barrier.
trace::Function otf2_collective(std::uint8_t op, bool nonblocking);
// Is it of a v form, of which each rank has only its own sums?
bool otf2_of_v_form(std::uint8_t op);

// What every rank has in each v-form collective, in the order of each communicator.
class Otf2Shares {
 public:
  // `rank_in` and `size`: of the communicator.
  void add(const Otf2Event& event, std::uint32_t rank_in, std::uint32_t size);
  // All ranks' shares of the next one of that rank on that communicator. Null if not all ranks have it.
  const std::vector<std::uint64_t>* next(std::uint32_t comm, std::uint32_t rank_in);
  void rewind() { at_.clear(); }

 private:
  std::map<std::uint32_t, std::vector<std::vector<std::uint64_t>>> shares_;  // by communicator
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> at_;
};

// Fills the sizes of a collective's record. `shares`: of a v form, what next() returned; null: unknown, and
// then what is known is spread evenly.
void set_otf2_sizes(TraceRecord& record, const Otf2Event& event, std::uint32_t rank_in, std::uint32_t size,
                    const std::vector<std::uint64_t>* shares);

}  // namespace weft::goal
