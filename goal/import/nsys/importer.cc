#include "goal/import/nsys/importer.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "goal/import/nsys/nccl_graph.h"
#include "goal/import/nsys/profile.h"
#include "goal/import/sniff.h"
#include "sim/units/input_error.h"

namespace weft::goal {
namespace {

namespace fs = std::filesystem;

bool is_report(const fs::path& path) {
  return first_bytes(path, 16).starts_with("SQLite format 3") && is_nsys_report(path.string());
}

bool looks_like_nsys(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error) ? !TracePaths(path).files(is_report).empty() : is_report(path);
}

Graph import_reports(const TracePaths& paths, const Parameters&, PackInfo& info) {
  NsysNotes notes;
  std::vector<NsysProcess> processes;
  for (const fs::path& report : paths.files(is_report)) {
    for (NsysProcess& process : read_nsys_report(report.string(), notes))
      processes.push_back(std::move(process));
  }
  if (processes.empty()) {
    throw InputError(paths.text() +
                     ": no NCCL calls or kernels; expected reports of nsys, exported with --type=sqlite");
  }
  std::uint64_t calls = 0, other_kernels = 0, other_ns = 0;
  for (const NsysProcess& process : processes) {
    calls += process.calls.size();
    other_kernels += process.other_kernels;
    other_ns += process.other_ns;
  }
  NcclGraph made = nccl_graph(std::move(processes));
  info.metadata["source"] = "Nsight Systems report";
  info.metadata["nccl_library"] = "NCCL";
  info.metadata["nccl_calls"] = std::to_string(calls);
  info.metadata["traced_elapsed_ns"] = std::to_string(made.elapsed_ns);
  const auto note = [&](const char* name, Severity severity, const char* sentence, std::uint64_t count) {
    if (count > 0) info.anomalies.push_back({name, severity, sentence, count});
  };
  note("kernels_without_call", Severity::kWarning,
       "Kernels of NCCL on streams without ranges that say what they carry; they are compute, not "
       "communication.",
       made.kernels_without_call);
  note("calls_without_kernel", Severity::kWarning,
       "Kernels expected of calls on streams whose kernels are others; the calls' own times on the CPU stand "
       "for them.",
       made.calls_without_kernel);
  note("inferred_communicators", Severity::kWarning,
       "Communicators whose making is in no report; they have the processes that use them, in the order of "
       "ranks.",
       made.inferred_communicators);
  note("assumed_ranks", Severity::kWarning,
       "Processes numbered by file and process id, as no communicator has them all.", made.assumed_ranks);
  note("broken_times", Severity::kWarning,
       "Calls and kernels that begin before 0 or end before they begin; they begin at 0, and take no time.",
       notes.broken_times);
  note("outside_marks", Severity::kInfo,
       "Calls and kernels of NCCL outside the marks for profiling, left out.", notes.outside_marks);
  note("copies", Severity::kInfo, "Messages of a rank to itself, left out.", made.copies);
  note("other_kernels", Severity::kInfo,
       "Kernels that are not NCCL's; they are in the compute between its calls.", other_kernels);
  note("other_ranges", Severity::kInfo, "NVTX ranges that say nothing of NCCL's calls.", notes.other_ranges);
  if (!notes.unread.empty()) info.anomalies.push_back(unread_anomaly(notes.unread));
  return std::move(made.graph);
}

}  // namespace

Importer nsys_importer() {
  return {
      .info =
          {.name = "nsys",
           .summary =
               "Nsight Systems reports (SQLite) of programs whose NCCL describes its calls by NVTX ranges.",
           .source = "NVIDIA Nsight Systems User Guide, SQLite schema; S. Shen et al., ATLAHS, SC 2025",
           .parameters = {}},
      .looks_like =
          "an SQLite file with a table NVTX_EVENTS or CUPTI_ACTIVITY_KIND_KERNEL, or a folder of them",
      .span = "from the first kernel or mark to the last",
      .sniff = looks_like_nsys,
      .import = [](const fs::path& path, const Parameters& parameters,
                   PackInfo& info) { return import_reports(path, parameters, info); },
      .import_several = import_reports};
}

}  // namespace weft::goal
