#include "goal/import/aicb/importer.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>

#include "goal/file.h"
#include "goal/import/aicb/steps.h"
#include "goal/import/aicb/trace.h"
#include "goal/import/sniff.h"
#include "goal/import/unread.h"
#include "goal/workload/compute/device.h"

namespace weft::goal {
namespace {

// The names of columns, below a line of ranks where there is one, which may be long.
bool looks_like_aicb(const std::filesystem::path& path) {
  const std::string head = first_bytes(path, 1 << 20);
  std::string_view text = head;
  if (text.starts_with('[')) text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  return is_aicb_header(text.substr(0, text.find('\n')));
}

AicbTime parse_time_unit(const Parameters& parameters) {
  const std::string& text = parameters.text("time");
  if (text == "auto") return AicbTime::kAuto;
  if (text == "ns") return AicbTime::kNanoseconds;
  return AicbTime::kMilliseconds;
}

Graph import_aicb(const std::filesystem::path& path, const Parameters& parameters, PackInfo& info) {
  const std::string device = parameters.text("device");
  const AicbOptions options{.ranks = parameters.whole("ranks"),
                            .tensor = parameters.whole("tp"),
                            .pipeline = parameters.whole("pp"),
                            .expert = parameters.whole("ep"),
                            .time = parse_time_unit(parameters),
                            .skip_init = parameters.boolean("skip_init"),
                            .device = device.empty() ? nullptr : &find_device(device)};
  const FileView file(path.string());
  const AicbTrace trace = parse_aicb(file.bytes(), path.string());
  info.metadata["source"] = "AICB workload";
  info.metadata["nccl_library"] = "NCCL";
  Graph graph = aicb_graph(trace, options, path.string(), info.anomalies);
  if (!trace.unread.empty()) info.anomalies.push_back(unread_anomaly(trace.unread));
  return graph;
}

}  // namespace

Importer aicb_importer() {
  return {.info = {.name = "aicb",
                   .summary =
                       "Workloads and logs of AICB: CSV with a row for each communication and computation.",
                   .source = "aliyun/aicb, log_analyzer/log.py and workload_applyer.py",
                   .parameters =
                       {{"ranks", ParameterType::kInteger, "0", "Number of ranks (0: as the file says).",
                         from_to("0", "16777216")},
                        {"tp", ParameterType::kInteger, "0",
                         "Ranks of tensor parallelism (0: as tp_group has them).", from_to("0", "16777216")},
                        {"pp", ParameterType::kInteger, "0",
                         "Stages of the pipeline (0: as pp_group has them).", from_to("0", "16777216")},
                        {"ep", ParameterType::kInteger, "0",
                         "Ranks of a group of experts (0: as ep_group has them).", from_to("0", "16777216")},
                        {"time", ParameterType::kText, "auto",
                         "Unit of the times of computations: ns, ms, or auto (ms in logs of runs).",
                         one_of({"auto", "ns", "ms"})},
                        {"skip_init", ParameterType::kBoolean, "false",
                         "Leave out setting up: the rows before the first epoch_end."},
                        {"device", ParameterType::kNameOrFile, "",
                         "Reckon computations without a time on this device (weft list devices)."}}},
          .looks_like = "CSV that begins with comm_type,comm_group",
          .span = "",
          .sniff = looks_like_aicb,
          .import = import_aicb};
}

}  // namespace weft::goal
