#include "goal/import/mpi_calls/import_calls.h"

#include <fmt/core.h>

#include <algorithm>

#include "goal/import/mpi_calls/communicator_solver.h"
#include "goal/import/mpi_calls/rank_calls.h"

namespace weft::goal {
namespace {

// Hands every call of a source to `take`, whose errors get the call's place.
template <typename Take>
void for_each_call(CallSource& source, const Take& take) {
  MpiCall call;
  while (source.next(call)) {
    try {
      take(call);
    } catch (const InputError& error) {
      throw InputError(source.location(), fmt::format("{}: {}", call.record.function_name(), error.what()));
    }
  }
}

}  // namespace

CallsImport import_calls(Rank ranks, const std::function<std::unique_ptr<CallSource>(Rank)>& open,
                         const MpiImportOptions& options, ImportNotes& notes) {
  CommunicatorSolver solver(ranks);
  for (Rank rank = 0; rank < ranks; ++rank) {
    for_each_call(*open(rank), [&](const MpiCall& call) { solver.add(rank, call); });
  }
  solver.solve();
  CallsImport made;
  GraphBuilder builder;
  CommunicatorTable communicators(builder, ranks);
  for (Rank rank = 0; rank < ranks; ++rank) {
    communicators.begin_rank();
    RankCalls calls(options, solver, rank, communicators, notes);
    for_each_call(*open(rank), [&](MpiCall& call) { calls.add(call); });
    calls.finish(builder);
    made.elapsed_ns = std::max(made.elapsed_ns, calls.elapsed_ns());
  }
  made.graph = builder.finish();
  return made;
}

}  // namespace weft::goal
