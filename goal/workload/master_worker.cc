#include "goal/workload/master_worker.h"

#include <algorithm>

#include "goal/workload/message_graph.h"
#include "goal/workload/phases.h"

namespace weft::goal {
namespace {

constexpr Rank kMaster = 0;
constexpr std::uint32_t kTask = 0, kResult = 1;  // tags

struct Tasks {
  std::uint32_t count = 0;
  std::uint32_t ahead = 0;  // given to workers before the first result
  std::uint64_t task_bytes = 0, result_bytes = 0;
};

// One phase, in which a result waits for the one before, and a further task for a result. Nothing waits for
// tasks to be sent: a worker who is to get one above the eager limit may itself wait for its result to be
// taken.
void run_master(const Tasks& tasks, std::uint32_t workers, Phases& phases) {
  const auto send = [&](std::uint32_t task) {
    return phases.send(tasks.task_bytes, 1 + task % workers, kTask);
  };
  for (std::uint32_t task = 0; task < tasks.ahead; ++task) send(task);
  OpIndex last = 0;
  for (std::uint32_t result = 0; result < tasks.count; ++result) {
    const OpIndex taken = phases.recv(tasks.result_bytes, kAny, kResult);
    if (result > 0) phases.edge(last, taken);
    last = taken;
    if (tasks.count - result > tasks.ahead) phases.edge(taken, send(tasks.ahead + result));
  }
}

void run_worker(const Tasks& tasks, std::uint32_t workers, Rank r, std::uint64_t compute_ns, Phases& phases) {
  for (std::uint64_t task = r - 1; task < tasks.count; task += workers) {
    phases.recv(tasks.task_bytes, kMaster, kTask);
    phases.then(compute_ns);
    phases.send(tasks.result_bytes, kMaster, kResult);
    phases.then();
  }
}

Graph generate_master_worker(const Parameters& parameters, std::uint32_t ranks, std::uint64_t) {
  require_ranks(parameters, ranks, 2);
  const std::uint32_t workers = ranks - 1;
  const Repetition repeat = repetition(parameters);
  Tasks tasks{.count = parameters.whole("tasks"),
              .task_bytes = parameters.bytes("task"),
              .result_bytes = parameters.bytes("result")};
  const std::uint32_t prefetch = parameters.whole("prefetch");
  tasks.ahead =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(tasks.count, std::uint64_t{workers} * prefetch));
  return phased_graph(parameters, ranks, [&](Rank r, Phases& phases) {
    phases.repeat({repeat.iterations}, [&](std::uint32_t) {
      if (r == kMaster) {
        run_master(tasks, workers, phases);
      } else {
        run_worker(tasks, workers, r, repeat.compute_ns, phases);
      }
    });
  });
}

}  // namespace

Workload master_worker_workload() {
  return {
      {"master_worker",
       "Rank 0 sends tasks to the others in turn, a further one for each result, which it takes from any of "
       "them.",
       "W. Gropp, E. Lusk, A. Skjellum, Using MPI, 3rd edition, 2014, section 3.6",
       {{"tasks", ParameterType::kInteger, "1000", "Number of tasks; task t goes to rank 1 + t mod (n - 1).",
         from_to("1", "2147483647")},
        {"task", ParameterType::kBytes, "1KB", "Bytes of a task."},
        {"result", ParameterType::kBytes, "1KB", "Bytes of a result."},
        {"prefetch", ParameterType::kInteger, "1", "Tasks each worker is given before the first result.",
         from_to("1", "2147483647")},
        iterations_parameter(),
        compute_parameter("100us", "Compute of a worker for each task."),
        ranks_parameter()}},
      generate_master_worker};
}

}  // namespace weft::goal
