#include "goal/import/mpi/request_table.h"

#include "goal/import/mpi/left_out.h"

namespace weft::goal {

OpenOperation* RequestTable::find(std::uint64_t number) {
  const auto found = requests_.find(number);
  return found == requests_.end() ? nullptr : &found->second;
}

void RequestTable::free(std::uint64_t number) {
  if (OpenOperation* request = find(number)) drop_if_cancelled(*request);
  requests_.erase(number);
  partitioned_.free(number);
}

void RequestTable::ask_to_cancel(std::uint64_t number) {
  OpenOperation* request = find(number);
  if (request != nullptr) request->cancel_asked = request->op != RankProgram::kNone;
}

// A receive that the program gave up is taken for cancelled; a send goes out all the same.
void RequestTable::drop_if_cancelled(OpenOperation& request) {
  if (!request.cancel_asked || program_.op(request.op).kind != OpKind::kRecv) return;
  notes_.add(Note::kCancelled);
  program_.erase(request.op);
  request.cancel_asked = false;
}

void RequestTable::finish() {
  // tidy: order because what becomes of one does not depend on the others.
  for (auto& [number, request] : requests_) drop_if_cancelled(request);
}

bool RequestTable::waits_for_left_out(const TraceRecord& record) {
  bool some = false, others = false;
  for (const TraceCompletion& completion : record.completions) {
    const OpenOperation* request = find(completion.request);
    const bool from_outside = completion.message.valid && is_outside(completion.message.source);
    if (request == nullptr || request->left_out || from_outside) {
      some = true;
    } else {
      others = others || request->op != RankProgram::kNone || request->send != RankProgram::kNone ||
               partitioned_.has(completion.request);
    }
  }
  if (some && others) notes_.add(Note::kMixedWaitsNs, record.inside_ns);
  return some && !others;
}

void RequestTable::settle(const TraceRecord& record) {
  for (const TraceCompletion& completion : record.completions) {
    OpenOperation* request = find(completion.request);
    if (request == nullptr) {
      notes_.add(Note::kUnknownCompletions);
      continue;
    }
    if (request->op != RankProgram::kNone) program_.erase(request->op);  // took a message from outside
    request->op = RankProgram::kNone;
    request->cancel_asked = false;
    if (!request->persistent) requests_.erase(completion.request);
  }
}

}  // namespace weft::goal
