#include "goal/import/mpi_calls/call.h"

#include <algorithm>
#include <map>

namespace weft::goal {

bool is_communication(std::string_view name) {
  const trace::Function function = function_of(name);
  const trace::Shape shape = trace::function_info(function).shape;
  if (function != trace::Function::kUndecoded) {
    return shape != trace::Shape::kPlain && shape != trace::Shape::kComm && shape != trace::Shape::kRequest;
  }
  static constexpr std::string_view kBeginnings[] = {
      "MPI_Put",       "MPI_Rput",         "MPI_Rget",        "MPI_Accumulate",  "MPI_Raccumulate",
      "MPI_Get_acc",   "MPI_Fetch_and_op", "MPI_Compare_and", "MPI_Win_",        "MPI_File_",
      "MPI_Neighbor_", "MPI_Ineighbor_",   "MPI_Comm_spawn",  "MPI_Comm_accept", "MPI_Comm_connect",
      "MPI_Comm_join", "MPI_Psend_",       "MPI_Precv_",      "MPI_Isendrecv",   "MPI_Sendrecv"};
  return name == "MPI_Get" || std::any_of(std::begin(kBeginnings), std::end(kBeginnings),
                                          [&](std::string_view begin) { return name.starts_with(begin); });
}

trace::Function function_of(std::string_view name) {
  static const std::map<std::string_view, trace::Function> kFunctions = {
#define WEFT_TRACE_X(number, word, shape) {"MPI_" #word, trace::Function::k##word},
      WEFT_TRACE_FUNCTIONS(WEFT_TRACE_X)
#undef WEFT_TRACE_X
  };
  const auto found = kFunctions.find(name);
  return found == kFunctions.end() ? trace::Function::kUndecoded : found->second;
}

}  // namespace weft::goal
