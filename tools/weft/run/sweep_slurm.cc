#include "tools/weft/run/sweep_slurm.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <memory>

#include "sim/units/input_error.h"
#include "sim/units/printable.h"
#include "tools/sweep/runner.h"
#include "tools/weft/cli/log.h"
#include "tools/weft/cli/memory_limit.h"
#include "tools/weft/cli/standard_output.h"
#include "tools/weft/cli/subcommand.h"
#include "tools/weft/run/sweep_points.h"

namespace weft::cli {
namespace {

struct Task {
  std::string folder, list;
  std::uint64_t number = 0;
  std::uint32_t cores = 1;
};

// Runs the points of one task; exit status 2 where one has no results, so that Slurm counts it as failed.
int run_task(const Task& task) {
  const sweep::Folder folder = sweep::Folder::read(task.folder);
  sweep::RunRequest request{.program = own_path(),
                            .slots = std::max<std::size_t>(1, task.cores / sweep::most_threads(folder)),
                            .only = sweep::points_of_task(task.list, task.number)};
  lift_memory_limit();
  const int signal = sweep::run_points(folder, request);
  if (signal != 0) return 128 + signal;
  int status = kOk;
  for (const sweep::Point* point : folder.open_points()) {
    if (!request.only.contains(point->name)) continue;
    log::error(fmt::format("{}: {}", point->name, folder.last_words(*point)));
    status = kBadInput;
  }
  return status;
}

}  // namespace

void refuse_beside_slurm(const sweep::Folder& folder, const std::vector<sweep::Point>& next, bool by_slurm) {
  if (!sweep::uses_slurm(folder.path())) return;
  const sweep::SlurmPoints tasks = sweep::slurm_points(sweep::Folder::read(folder.path()));
  if (!by_slurm && tasks.any_busy()) {
    throw InputError(fmt::format("{}: tasks of Slurm are at work there (weft sweep status {})", folder.path(),
                                 folder.path()));
  }
  for (const sweep::Point& point : next) {
    if (const std::string name = folder.others(point); tasks.busy(name)) {
      throw InputError(
          fmt::format("{}: a task of Slurm runs {} with other settings or files; wait for it, or scancel it",
                      folder.path(), name));
    }
  }
}

bool submit_told(const sweep::Folder& folder, const sweep::SlurmRequest& request, bool quiet) {
  if (folder.open_points().empty()) return false;
  const sweep::Submission submission = sweep::submit(folder, request);
  if (quiet) return true;
  if (submission.points == 0) {
    print_text(
        submission.collection.empty()
            ? "Slurm has them already\n"
            : fmt::format("Slurm has them already; job {} writes the tables\n", submission.collection));
  } else {
    print_text(fmt::format("Slurm: {} runs in {} tasks of job{} {}; job {} writes the tables\n",
                           submission.points, submission.tasks, submission.arrays.size() > 1 ? "s" : "",
                           fmt::join(submission.arrays, ", "), submission.collection));
  }
  print_text(fmt::format("weft sweep status {} tells how far they are\n", folder.path()));
  return true;
}

std::string slurm_status(const sweep::Folder& folder) {
  if (!sweep::uses_slurm(folder.path())) return "";
  const sweep::SlurmPoints tasks = sweep::slurm_points(folder);
  const std::size_t with_slurm = tasks.queued.size() + tasks.running.size() + tasks.ended.size();
  std::string text =
      fmt::format("Slurm: {} queued, {} running, {} failed, {} not handed over\n", tasks.queued.size(),
                  tasks.running.size(), tasks.ended.size(), folder.open_points().size() - with_slurm);
  std::map<std::string, std::size_t> reasons;
  for (const auto& [name, reason] : tasks.reasons) ++reasons[reason];
  for (const auto& [reason, runs] : reasons)
    text += fmt::format("  {} queued: {}\n", runs, printable(reason));
  for (const sweep::Point* point : folder.open_points()) {
    const auto ended = tasks.ended.find(point->name);
    if (ended == tasks.ended.end()) continue;
    const auto& [task, state] = ended->second;
    std::string words = folder.last_words(*point);
    // Where the task came to no end, its point may not even have begun.
    if (words.empty()) words = printable(sweep::last_words_of_task(folder, task));
    text += fmt::format("  {}: task {}: {}{}\n", point->name, task, state, words.empty() ? "" : "; " + words);
  }
  if (!tasks.ended.empty()) text += "the same command runs what failed again\n";
  return text;
}

void add_sweep_task(Command& parent, int& exit_code) {
  const auto task = std::make_shared<Task>();
  Command command = parent.add_subcommand("run", "Run some points of a sweep: what a task of Slurm does");
  command.hide();
  command.add_option("DIR", task->folder, "The folder of a sweep").required();
  command.add_option("LIST", task->list, "File with the names of a task's points in each line").required();
  command.add_option("TASK", task->number, "Which line, from 0 on").required();
  command.add_option("--cores", task->cores, "Cores that the task has").range(1, 4096).with_default();
  command.footer("Example: weft sweep run SWEEP SWEEP/slurm/1.txt 0 --cores 4");
  command.callback([task, &exit_code] { exit_code = run_task(*task); });
}

}  // namespace weft::cli
