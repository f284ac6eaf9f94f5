#include "tools/sweep/slurm.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "sim/units/input_error.h"
#include "tools/sweep/runner.h"
#include "tools/sweep/shell.h"

namespace weft::sweep {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

// Sites ask for few tasks with much work in each rather than many with little.
constexpr std::size_t kUsualTasks = 100;

// One array; its tasks are lines of the list from `first` on.
struct Array {
  std::string job, list;  // the job's number is empty from before it is handed over until it is known
  std::size_t first = 0, tasks = 0;
};

struct Record {
  std::vector<Array> arrays;
  bool collected = false;  // Was the job handed over that comes after all of them?
};

struct State {
  std::string name, reason = {};  // "PENDING", and why it waits, in Slurm's words
};
using States = std::map<std::string, State>;  // by task, "12_3"

// ---- What is remembered ----

std::string record(const std::string& folder) { return folder + "/slurm.json"; }

Record read_record(const std::string& folder) {
  Record read;
  std::ifstream file(record(folder), std::ios::binary);
  if (!file) return read;
  try {
    const Json json = Json::parse(file);
    for (const Json& each : json.at("arrays")) {
      read.arrays.push_back({.job = each.at("job").get<std::string>(),
                             .list = each.at("list").get<std::string>(),
                             .first = each.at("first").get<std::size_t>(),
                             .tasks = each.at("tasks").get<std::size_t>()});
    }
    read.collected = json.at("collected").get<bool>();
  } catch (const Json::exception& error) {
    throw InputError(fmt::format("{}: damaged: {}", record(folder), error.what()));
  }
  return read;
}

void save_record(const std::string& folder, const Record& saved) {
  Json list = Json::array();
  for (const Array& each : saved.arrays) {
    list.push_back({{"job", each.job}, {"list", each.list}, {"first", each.first}, {"tasks", each.tasks}});
  }
  write_file(record(folder), Json({{"arrays", list}, {"collected", saved.collected}}).dump(1) + "\n");
}

// Lines of names.
std::vector<std::set<std::string>> read_list(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw InputError(fmt::format("{}: can't read the list of a task's runs", path));
  std::vector<std::set<std::string>> tasks;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    tasks.emplace_back();
    for (std::string word; words >> word;) tasks.back().insert(word);
  }
  return tasks;
}

// ---- What Slurm says ----

Output ask(const Folder& folder, const std::vector<std::string>& words) {
  Output output = output_of(words, folder.path() + "/slurm.err");
  if (output.status == 127) {
    throw InputError(fmt::format(
        "{} is not there, by which Slurm is asked on nodes of its cluster (--engine local does without)",
        words[0]));
  }
  return output;
}

[[noreturn]] void refused(const std::string& program, const Output& output) {
  throw InputError(fmt::format("{}: {}", program, output.errors.substr(0, output.errors.find('\n'))));
}

std::string joined_jobs(const std::vector<Array>& arrays, char between) {
  std::string jobs;
  for (const Array& each : arrays)
    jobs += (jobs.empty() ? std::string() : std::string(1, between)) + each.job;
  return jobs;
}

// Tasks may run in another folder than this process.
std::string absolute(const Folder& folder) { return fs::absolute(folder.path()).string(); }

// A file for what a job says; Slurm puts numbers for %A and the like, in the folder's name as well.
std::string output_option(const Folder& folder, const char* name) {
  std::string option = "--output=";
  for (const char c : absolute(folder)) option += c == '%' ? std::string("%%") : std::string(1, c);
  return option + "/slurm/" + name;
}

// By this an array is found again whose number could not be written down.
std::string mark_of(const Folder& folder, const Array& array) {
  return fmt::format("weft-sweep:{}/{}:{}", absolute(folder), array.list, array.first);
}

// Numbers of jobs by their mark; a later one has the last word.
std::map<std::string, std::string> marked_jobs(const Folder& folder) {
  const Output output = ask(folder, {"squeue", "--noheader", "--states=all", "--format=%F %k"});
  if (output.status != 0) refused("squeue", output);
  std::map<std::string, std::string> jobs;
  std::istringstream lines(output.text);
  std::string job;
  for (std::string mark; lines >> job && std::getline(lines >> std::ws, mark);) jobs[mark] = job;
  return jobs;
}

// What was handed over. An array without a number may have been, if a kill came between.
Record handed_over(const Folder& folder) {
  Record known = read_record(folder.path());
  const auto without = [](const Array& array) { return array.job.empty(); };
  if (std::ranges::none_of(known.arrays, without)) return known;
  const std::map<std::string, std::string> jobs = marked_jobs(folder);
  for (Array& array : known.arrays) {
    const auto job = jobs.find(mark_of(folder, array));
    if (array.job.empty() && job != jobs.end()) array.job = job->second;
  }
  std::erase_if(known.arrays, without);
  return known;
}

// Tasks that Slurm knows: those that wait and run, and for some minutes those that ended.
States queue_states(const Folder& folder, const std::vector<Array>& arrays) {
  const Output output = ask(folder, {"squeue", "--noheader", "--array", "--states=all",
                                     "--format=%F %K %T %r", "--jobs=" + joined_jobs(arrays, ',')});
  // What it says of a single job that ended long ago.
  const bool unknown = output.errors.find("Invalid job id") != std::string::npos;
  if (output.status != 0 && !unknown) refused("squeue", output);
  States states;
  std::istringstream lines(output.text);
  std::string job, task, state;
  for (std::string reason; lines >> job >> task >> state && std::getline(lines >> std::ws, reason);) {
    states[job + "_" + task] = {state, reason};
  }
  return states;
}

// Adds how tasks ended that the queue has forgotten, where the cluster keeps accounts.
void add_accounts(const Folder& folder, const std::vector<Array>& arrays, States& states) {
  const Output output = output_of({"sacct", "--noheader", "--parsable2", "--allocations",
                                   "--format=JobID,State", "--jobs=" + joined_jobs(arrays, ',')},
                                  folder.path() + "/slurm.err");
  if (output.status != 0) return;
  std::istringstream lines(output.text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t bar = line.find('|');
    if (bar == std::string::npos) continue;
    states.try_emplace(line.substr(0, bar), State{line.substr(bar + 1, line.find(' ', bar) - bar - 1)});
  }
}

bool ended(const std::string& state) {
  static const std::set<std::string> kFinal = {"BOOT_FAIL", "CANCELLED", "COMPLETED",     "DEADLINE",
                                               "FAILED",    "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED",
                                               "REVOKED",   "TIMEOUT"};
  return kFinal.contains(state);
}

bool waits(const std::string& state) {
  return state == "PENDING" || state == "CONFIGURING" || state.starts_with("REQUEUE");
}

// These end of themselves, as others' jobs do.
bool is_usual(const std::string& reason) {
  return reason.empty() || reason == "None" || reason == "Priority" || reason == "Resources";
}

void place(const std::string& name, const std::string& task, const States& states, SlurmPoints& points) {
  points.queued.erase(name);
  points.running.erase(name);
  points.ended.erase(name);
  points.reasons.erase(name);
  const auto state = states.find(task);
  if (state == states.end()) {
    points.ended[name] = {task, "no longer in the queue"};
  } else if (ended(state->second.name)) {
    points.ended[name] = {task, state->second.name};
  } else if (!waits(state->second.name)) {
    points.running.insert(name);
  } else {
    points.queued.insert(name);
    if (!is_usual(state->second.reason)) points.reasons[name] = state->second.reason;
  }
}

// A later array has the last word on a point.
SlurmPoints points_in(const Folder& folder, const std::vector<Array>& arrays, const States& states) {
  std::set<std::string> open;
  for (const Point* point : folder.open_points()) open.insert(point->name);
  SlurmPoints points;
  for (const Array& array : arrays) {
    const std::vector<std::set<std::string>> list = read_list(folder.path() + "/" + array.list);
    for (std::size_t i = 0; i < array.tasks && array.first + i < list.size(); ++i) {
      for (const std::string& name : list[array.first + i]) {
        const std::string task = fmt::format("{}_{}", array.job, i);
        if (open.contains(name)) place(name, task, states, points);
      }
    }
  }
  return points;
}

// Most tasks of an array: their numbers are below MaxArraySize.
std::size_t most_tasks(const Folder& folder) {
  const Output output = ask(folder, {"scontrol", "show", "config"});
  if (output.status != 0) refused("scontrol", output);
  std::istringstream lines(output.text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("MaxArraySize")) continue;
    const std::size_t digits = line.find_first_of("0123456789");
    std::size_t most = 0;
    if (digits != std::string::npos) std::from_chars(&line[digits], line.data() + line.size(), most);
    if (most == 0)
      throw InputError("this cluster's Slurm takes no arrays (MaxArraySize): use --engine local");
    return most;
  }
  throw InputError("scontrol show config doesn't tell MaxArraySize: use --engine local");
}

// ---- What is handed over ----

std::string with_dashes(const std::string& option) {
  return option.starts_with('-') ? option : "--" + option;
}

// The memory a task was given binds its runs also where the cluster doesn't see to it.
std::string array_script(const Folder& folder, const SlurmRequest& request, const Array& array,
                         std::size_t cores) {
  return fmt::format(
      "#!/bin/sh\n"
      "cores=${{SLURM_CPUS_PER_TASK:-{}}}\n"
      "memory=${{SLURM_MEM_PER_NODE:-$((${{SLURM_MEM_PER_CPU:-0}} * cores))}}\n"
      "[ \"$memory\" -eq 0 ] || ulimit -d \"$((memory * 1024))\"\n"
      "exec {} sweep run {} {} \"$(({} + SLURM_ARRAY_TASK_ID))\" --cores \"$cores\"\n",
      cores, quoted(request.program), quoted(absolute(folder)), quoted(absolute(folder) + "/" + array.list),
      array.first);
}

std::string sbatch(const Folder& folder, std::vector<std::string> words, const std::string& script,
                   const std::string& text) {
  write_file(script, text);
  words.insert(words.begin(), {"sbatch", "--parsable"});
  words.push_back(script);
  const Output output = ask(folder, words);
  if (output.status != 0) refused("sbatch", output);
  // "12", or "12;cluster".
  return output.text.substr(0, output.text.find_first_of(";\n"));
}

// A number that no list has yet.
std::size_t next_list(const std::string& folder) {
  std::size_t number = 1;
  while (fs::exists(fmt::format("{}/slurm/{}.txt", folder, number))) ++number;
  return number;
}

// The points' names, so many a line; the number of lines.
std::size_t write_list(const std::string& path, const std::vector<std::string>& names, std::size_t each) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    text += names[i] + ((i + 1) % each == 0 || i + 1 == names.size() ? "\n" : " ");
  }
  write_file(path, text);
  return (names.size() + each - 1) / each;
}

class Submitter {
 public:
  Submitter(const Folder& folder, const SlurmRequest& request)
      : folder_(folder), request_(request), cores_(request.slots * most_threads(folder)) {
    for (const std::string& option : request.options) {
      check_sbatch_option(option);
      options_.push_back(with_dashes(option));
    }
  }

  Submission submit(const std::vector<std::string>& names, Record before) {
    const std::size_t most = most_tasks(folder_);
    fs::create_directories(folder_.path() + "/slurm");
    const std::string list = fmt::format("slurm/{}.txt", next_list(folder_.path()));
    const std::size_t each = request_.each.value_or((names.size() + kUsualTasks - 1) / kUsualTasks);
    Submission submission{.points = names.size()};
    submission.tasks = write_list(folder_.path() + "/" + list, names, each);
    before.collected = false;
    for (std::size_t first = 0; first < submission.tasks; first += most) {
      before.arrays.push_back(
          {.list = list, .first = first, .tasks = std::min(most, submission.tasks - first)});
      hand_over(before);
      submission.arrays.push_back(before.arrays.back().job);
    }
    submission.collection = collect(before);
    return submission;
  }

  // Hands over the job that writes the tables, after all tasks, also those that fail: their runs withhold
  // nobody's row, as with the other engines.
  std::string collect(Record& after) const {
    std::vector<std::string> words = {"--job-name=weft-collect", output_option(folder_, "collect_%j.out")};
    words.insert(words.end(), options_.begin(), options_.end());
    words.insert(words.end(),
                 {"--cpus-per-task=1", "--dependency=afterany:" + joined_jobs(after.arrays, ':')});
    std::string job = sbatch(folder_, std::move(words), folder_.path() + "/slurm/collect.sh",
                             fmt::format("#!/bin/sh\nexec {} sweep collect {}\n", quoted(request_.program),
                                         quoted(absolute(folder_))));
    after.collected = true;
    save_record(folder_.path(), after);
    return job;
  }

 private:
  // The last array, which is written down before and after: a kill between leaves its mark to find it by.
  void hand_over(Record& with) const {
    save_record(folder_.path(), with);
    Array& array = with.arrays.back();
    std::vector<std::string> words = {fmt::format("--array=0-{}", array.tasks - 1),
                                      fmt::format("--cpus-per-task={}", cores_), "--job-name=weft-sweep",
                                      output_option(folder_, "%A_%a.out")};
    words.insert(words.end(), options_.begin(), options_.end());
    words.push_back("--comment=" + mark_of(folder_, array));
    const fs::path list(folder_.path() + "/" + array.list);
    array.job = sbatch(folder_, std::move(words), fs::path(list).replace_extension(".sh").string(),
                       array_script(folder_, request_, array, cores_));
    save_record(folder_.path(), with);
  }

  const Folder& folder_;
  const SlurmRequest& request_;
  std::size_t cores_;
  std::vector<std::string> options_;
};

// Without arrays none of whose tasks is in the queue any more.
std::vector<Array> live_arrays(std::vector<Array> arrays, const States& states) {
  std::erase_if(arrays, [&](const Array& array) {
    return std::ranges::none_of(states, [&](const auto& each) {
      return each.first.starts_with(array.job + "_") && !ended(each.second.name);
    });
  });
  return arrays;
}

}  // namespace

bool uses_slurm(const std::string& folder) { return fs::exists(record(folder)); }

void check_sbatch_option(const std::string& option) {
  const std::string text = with_dashes(option), name = text.substr(0, text.find('='));
  for (const std::string_view own : {"--array", "-a", "--parsable", "--wrap", "--test-only", "--wait", "-W",
                                     "--comment", "--clusters", "-M"}) {
    // sbatch takes "-a0-1" and "--arr=0-1" for the same.
    const bool is_short = own.size() == 2;
    if (is_short ? text.starts_with(own) : name.size() > 2 && own.starts_with(name)) {
      throw InputError(fmt::format("--sbatch {}: a sweep does without, or sees to that itself", option));
    }
  }
}

SlurmPoints slurm_points(const Folder& folder) {
  if (folder.open_points().empty()) return {};
  const Record known = handed_over(folder);
  if (known.arrays.empty()) return {};
  States states = queue_states(folder, known.arrays);
  add_accounts(folder, known.arrays, states);
  return points_in(folder, known.arrays, states);
}

std::string last_words_of_task(const Folder& folder, const std::string& task) {
  std::ifstream file(fmt::format("{}/slurm/{}.out", folder.path(), task), std::ios::binary);
  std::string last;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty()) last = line;
  }
  return last;
}

Submission submit(const Folder& folder, const SlurmRequest& request) {
  Record known = handed_over(folder);
  const States states = known.arrays.empty() ? States() : queue_states(folder, known.arrays);
  const SlurmPoints points = points_in(folder, known.arrays, states);
  known.arrays = live_arrays(std::move(known.arrays), states);
  Submitter submitter(folder, request);
  std::vector<std::string> names;
  for (const Point* point : folder.open_points()) {
    if (!points.busy(point->name)) names.push_back(point->name);
  }
  if (!names.empty()) return submitter.submit(names, std::move(known));
  if (!known.arrays.empty() && !known.collected) return {.collection = submitter.collect(known)};
  return {};
}

std::set<std::string> points_of_task(const std::string& list, std::uint64_t task) {
  const std::vector<std::set<std::string>> tasks = read_list(list);
  if (task >= tasks.size()) throw InputError(fmt::format("{}: it has no task {}", list, task));
  return tasks[task];
}

}  // namespace weft::sweep
