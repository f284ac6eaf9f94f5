// An MPI call as formats record it that keep the arguments of the program: handles of communicators and
// requests, ranks of communicators.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "goal/graph/graph.h"
#include "goal/import/mpi/trace_reader.h"
#include "sim/units/input_error.h"

namespace weft::goal {

// Handles of communicators that need no other; formats with a handle of their own for them use these.
inline constexpr std::uint64_t kNoHandle = UINT64_MAX;
inline constexpr std::uint64_t kWorldHandle = UINT64_MAX - 1;
inline constexpr std::uint64_t kSelfHandle = UINT64_MAX - 2;

// How a call makes a communicator, as far as its arguments say.
struct CommCreation {
  enum class How : std::uint8_t {
    kUnknown,  // the arguments don't tell who is in it
    kSame,     // all of the parent, in its order
    kSplit,    // those of one color, by key and then in the parent's order; a negative color: none
    kGrid,     // the first of the parent, as many as `dims` have points, in rows
    kSubgrid,  // those of a grid that differ only in the dimensions `keep` names
    kGroup,    // `members`
  };
  How how = How::kUnknown;
  std::int64_t color = 0, key = 0;
  std::vector<std::uint32_t> dims;
  std::vector<std::uint32_t> keep;  // one number a dimension; 0: not kept
  std::vector<Rank> members;        // world ranks
  bool operator==(const CommCreation&) const = default;
};

struct MpiCall {
  // What differs from a record of our own trace: comm and new_comm are not set; peers, sources and the root
  // are ranks of the communicator; requests are handles. Which side of a collective counts need not be told:
  // counts that MPI does not look at may be anything. A kUndecoded one has `name`.
  TraceRecord record;
  std::uint64_t comm = kNoHandle, new_comm = kNoHandle;
  // Formats that say with each communicator who calls, and how many there are, set these; else they are 0.
  std::uint32_t comm_rank = 0, comm_size = 0;
  CommCreation creation;  // of calls that make a communicator
  std::string name;       // that record.name points to

  void clear() {
    record = {};
    comm = new_comm = kNoHandle;
    comm_rank = comm_size = 0;
    creation = {};
  }
};

// The calls of one rank, in the order in which they returned.
class CallSource {
 public:
  virtual ~CallSource() = default;
  // False after the last. Throws InputError for what makes no sense.
  virtual bool next(MpiCall& call) = 0;
  // Where the last call stands, for errors about it.
  virtual SourceLocation location() const = 0;
};

// Does a function of which only the name is known ("MPI_Put") move data or hold ranks together, so that a
// replay without it lacks something?
bool is_communication(std::string_view name);
// The function of that name; kUndecoded if importers decode none of that name.
trace::Function function_of(std::string_view name);

}  // namespace weft::goal
