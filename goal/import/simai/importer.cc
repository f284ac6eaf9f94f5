#include "goal/import/simai/importer.h"

#include <filesystem>
#include <string>

#include "goal/file.h"
#include "goal/import/simai/steps.h"
#include "goal/import/simai/workload_file.h"
#include "goal/import/sniff.h"
#include "goal/import/unread.h"
#include "goal/workload/line_reader.h"

namespace weft::goal {
namespace {

// A kind of parallelism as the first word, and a number alone on the next line.
bool looks_like_simai(const std::filesystem::path& path) {
  const std::string head = first_bytes(path);
  LineReader lines(head, "");
  if (!lines.next_line() || !simai_loop(lines.next_word().text) || !lines.next_line()) return false;
  const std::string_view count = lines.next_word().text;
  return count.find_first_not_of("0123456789") == std::string_view::npos && lines.next_word().text.empty();
}

GatheredBytes parse_gathered(const Parameters& parameters) {
  const std::string& text = parameters.text("gathered");
  if (text == "auto") return GatheredBytes::kAuto;
  if (text == "total") return GatheredBytes::kTotal;
  return GatheredBytes::kBlock;
}

Graph import_simai(const std::filesystem::path& path, const Parameters& parameters, PackInfo& info) {
  const SimaiOptions options{.ranks = parameters.whole("ranks"),
                             .passes = parameters.whole("passes"),
                             .first_dimension = parameters.whole("first_dimension"),
                             .gathered = parse_gathered(parameters)};
  const FileView file(path.string());
  const SimaiWorkload workload = parse_simai(file.bytes(), path.string());
  info.metadata["source"] = "SimAI or ASTRA-sim 1.0 workload";
  info.metadata["nccl_library"] = "NCCL";
  Graph graph = simai_graph(workload, options, path.string(), info.anomalies);
  if (!workload.unread.empty()) info.anomalies.push_back(unread_anomaly(workload.unread));
  return graph;
}

}  // namespace

Importer simai_importer() {
  return {
      .info = {.name = "simai",
               .summary = "Workloads of SimAI, AICB and ASTRA-sim 1.0: text with a line for each layer.",
               .source = "aliyun/SimAI and astra-sim 1.0, astra-sim/workload/Workload.cc",
               .parameters = {{"ranks", ParameterType::kInteger, "0",
                               "Number of ranks (0: all_gpus of the file).", from_to("0", "16777216")},
                              {"passes", ParameterType::kInteger, "1",
                               "How often all layers run, forward and backward.", from_to("1", "16777216")},
                              {"first_dimension", ParameterType::kInteger, "0",
                               "Ranks in the first dimension of the machine, for HYBRID_DATA_MODEL, "
                               "HYBRID_MODEL_DATA and HYBRID_CUSTOMIZED.",
                               from_to("0", "16777216")},
                              {"gathered", ParameterType::kText, "auto",
                               "What the bytes of ALLGATHER are: block (each rank's), total, or auto (as "
                               "AICB or ASTRA-sim have it, by the kind of file).",
                               one_of({"auto", "total", "block"})}}},
      .looks_like = "text that begins with a parallelism such as HYBRID_TRANSFORMER and a number of layers",
      .span = "",
      .sniff = looks_like_simai,
      .import = import_simai};
}

}  // namespace weft::goal
