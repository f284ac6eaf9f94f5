#include "goal/import/simai/workload_file.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <utility>

#include "goal/workload/line_reader.h"

namespace weft::goal {
namespace {

constexpr std::uint64_t kMostNs = 1'000'000'000'000'000'000;
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 60;
constexpr std::uint64_t kMostRanks = 1 << 24;
constexpr std::uint64_t kMostLayers = 1u << 24;

constexpr std::array<std::pair<std::string_view, SimaiLoop>, 11> kLoops = {{
    {"DATA", SimaiLoop::kData},
    {"MODEL", SimaiLoop::kModel},
    {"HYBRID_DATA_MODEL", SimaiLoop::kDataModel},
    {"HYBRID_MODEL_DATA", SimaiLoop::kModelData},
    {"HYBRID_CUSTOMIZED", SimaiLoop::kCustomized},
    {"HYBRID_TRANSFORMER", SimaiLoop::kTransformer},
    {"HYBRID_TRANSFORMER_FWD_IN_BCKWD", SimaiLoop::kTransformerForwardInBackward},
    {"HYBRID_DLRM", SimaiLoop::kDlrm},
    {"HYBRID_DLRM_ENHANCED", SimaiLoop::kDlrmEnhanced},
    {"DISTRIBUTED_INFERENCE", SimaiLoop::kInference},
    {"MICRO", SimaiLoop::kMicro},
}};

constexpr std::array<std::pair<std::string_view, CollectiveKind>, 5> kKinds = {{
    {"ALLREDUCE", CollectiveKind::kAllreduce},
    {"ALLGATHER", CollectiveKind::kAllgather},
    {"REDUCESCATTER", CollectiveKind::kReduceScatter},
    {"ALLTOALL", CollectiveKind::kAlltoall},
    {"BROADCAST", CollectiveKind::kBcast},
}};

bool is_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

// The words of the first line: what is known, as "key: value" or "key value", and what is not.
class Header {
 public:
  Header(LineReader& lines, SimaiWorkload& workload) : lines_(lines), workload_(workload) {}

  void read() {
    const Word first = lines_.next_word();
    const auto loop = simai_loop(first.text);
    if (!loop) first.fail_expected("a kind of parallelism, such as DATA or HYBRID_TRANSFORMER_FWD_IN_BCKWD");
    workload_.loop = *loop;
    const bool dlrm = *loop == SimaiLoop::kDlrm || *loop == SimaiLoop::kDlrmEnhanced;
    for (next(); !word_.text.empty();) {
      if (dlrm && is_number(word_.text)) {
        workload_.last_bottom_layer = word_.whole("the last bottom layer", 0, kMostLayers);
        has_last_bottom_ = true;
        next();
      } else {
        entry();
      }
    }
    if (dlrm && !has_last_bottom_) word_.fail_expected("the number of the last bottom layer");
  }
  std::vector<Word> checkpoints, recomputing;

 private:
  void next() { word_ = lines_.next_word(); }

  void entry() {
    std::string_view key = word_.text;
    if (key.ends_with(':')) key.remove_suffix(1);
    const std::string name(key);
    next();
    if (name == "checkpoints") return list(checkpoints);
    if (name == "checkpoint_initiates") return list(recomputing);
    if (std::uint64_t* value = field(name)) {
      *value = word_.whole(name, 1, kMostRanks);
      return next();
    }
    if (name == "DLRM_LAST_BOTTOM_LAYER") {
      workload_.last_bottom_layer = word_.whole(name, 0, kMostLayers);
      has_last_bottom_ = true;
      return next();
    }
    // 0 bytes between stages are as good as none.
    if (!(name == "pp_comm" && (word_.text == "0" || word_.text == "0.0")))
      count_unread(workload_.unread, name);
    while (is_number(word_.text)) next();
  }

  std::uint64_t* field(const std::string& name) {
    if (name == "model_parallel_NPU_group") return &workload_.tensor;
    if (name == "ep" || name == "expert_parallel_npu_group") return &workload_.expert;
    if (name == "pp") return &workload_.pipeline;
    if (name == "all_gpus") return &workload_.gpus;
    return nullptr;
  }

  void list(std::vector<Word>& to) {
    const std::uint64_t count = word_.whole("how many layers follow", 0, kMostLayers);
    for (next(); to.size() < count; next()) {
      word_.whole("the number of a layer", 0, kMostLayers);
      to.push_back(word_);
    }
  }

  LineReader& lines_;
  SimaiWorkload& workload_;
  Word word_;
  bool has_last_bottom_ = false;
};

SimaiCollective parse_collective(LineReader& lines, const char* of) {
  SimaiCollective made;
  const Word word = lines.next_word();
  std::string_view rest = word.text;
  for (const auto& [name, kind] : kKinds) {
    if (!rest.starts_with(name)) continue;
    made.kind = kind;
    rest.remove_prefix(name.size());
    break;
  }
  if (made.empty() ? rest != "NONE" : !rest.empty() && rest != "_EP" && rest != "_DP_EP") {
    word.fail_expected(
        fmt::format("the collective of {}: NONE, ALLREDUCE, ALLGATHER, REDUCESCATTER, ALLTOALL or BROADCAST, "
                    "with _EP or _DP_EP behind it for groups of experts",
                    of));
  }
  if (rest == "_EP") made.group = SimaiGroup::kExpert;
  if (rest == "_DP_EP") made.group = SimaiGroup::kExpertData;
  made.bytes = lines.next_word().whole(fmt::format("bytes of the collective of {}", of), 0, kMostBytes);
  return made;
}

// What a file says of collectives that there are not.
void count_unused(const SimaiLayer& layer, Unread& unread) {
  bool any = false;
  for (const SimaiPass* pass : {&layer.forward, &layer.input_gradients, &layer.weight_gradients}) {
    const SimaiCollective& collective = pass->collective;
    any = any || !collective.empty();
    if (collective.empty() && collective.bytes > 0) count_unread(unread, "bytes of NONE");
  }
  if (!any && layer.update_ns > 0) count_unread(unread, "update time without a collective");
}

SimaiPass parse_pass(LineReader& lines, const char* name) {
  SimaiPass pass;
  pass.ns = lines.next_word().whole(fmt::format("nanoseconds of {}", name), 0, kMostNs);
  pass.collective = parse_collective(lines, name);
  return pass;
}

SimaiLayer parse_layer(LineReader& lines, SimaiWorkload& workload) {
  SimaiLayer layer;
  lines.next_word();  // the name
  const Word dependency = lines.next_word();
  if (!is_number(dependency.text)) dependency.fail_expected("the layer that this one depends on, or -1");
  if (dependency.text != "-1") count_unread(workload.unread, "dependency");
  layer.forward = parse_pass(lines, "forward");
  layer.input_gradients = parse_pass(lines, "input gradients");
  layer.weight_gradients = parse_pass(lines, "weight gradients");
  layer.update_ns = lines.next_word().whole("nanoseconds of the update", 0, kMostNs);
  layer.loop = workload.loop;
  if (workload.loop == SimaiLoop::kCustomized) {
    const Word word = lines.next_word();
    const auto loop = simai_loop(word.text);
    if (!loop || *loop > SimaiLoop::kModelData) {
      word.fail_expected("the layer's parallelism: DATA, MODEL, HYBRID_DATA_MODEL or HYBRID_MODEL_DATA");
    }
    layer.loop = *loop;
  }
  lines.expect_end_of_line("a layer's time of update");
  count_unused(layer, workload.unread);
  return layer;
}

// Marks the layers that are numbered.
template <typename Mark>
void mark(const std::vector<Word>& numbers, SimaiWorkload& workload, const Mark& mark) {
  for (const Word& word : numbers) {
    mark(workload.layers[word.whole("the number of a layer", 0, workload.layers.size() - 1)]);
  }
}

// Recomputation begins at a checkpoint below the layer, and goes through no more layers than a file may have.
void check_recomputation(const std::vector<Word>& recomputing, const SimaiWorkload& workload) {
  constexpr std::uint64_t kNone = ~std::uint64_t{0};
  std::vector<std::uint64_t> checkpoints;  // the last one up to each layer
  std::uint64_t last = kNone, repeated = 0;
  for (std::uint64_t layer = 0; layer < workload.layers.size() && !recomputing.empty(); ++layer) {
    if (workload.layers[layer].checkpoint) last = layer;
    checkpoints.push_back(last);
  }
  for (const Word& word : recomputing) {
    const auto layer = word.whole("the number of a layer", 0, workload.layers.size() - 1);
    const std::uint64_t from = checkpoints[layer];
    if (from == layer) word.fail("this layer is a checkpoint itself; nothing would be recomputed");
    if (from == kNone) word.fail("no layer before this one is a checkpoint");
    repeated += layer - from;
    if (repeated > kMostLayers)
      word.fail(fmt::format("more than {} layers would be recomputed", kMostLayers));
  }
}

}  // namespace

std::optional<SimaiLoop> simai_loop(std::string_view word) {
  for (const auto& [name, loop] : kLoops) {
    if (word == name) return loop;
  }
  return std::nullopt;
}

SimaiWorkload parse_simai(std::string_view text, const std::string& file_name) {
  SimaiWorkload workload;
  LineReader lines(text, file_name);
  if (!lines.next_line()) lines.end_of_file().fail_expected("a kind of parallelism, such as DATA");
  Header header(lines, workload);
  header.read();
  if (!lines.next_line()) lines.end_of_file().fail_expected("the number of layers");
  const Word count_word = lines.next_word();
  const std::uint64_t count = count_word.whole("the number of layers", 1, kMostLayers);
  lines.expect_end_of_line("the number of layers");
  while (lines.next_line()) {
    if (workload.layers.size() == count) {
      lines.next_word().fail(fmt::format("there are more than the {} layers that line {} tells", count,
                                         count_word.location.line));
    }
    workload.layers.push_back(parse_layer(lines, workload));
  }
  if (workload.layers.size() < count) {
    lines.end_of_file().fail(fmt::format("the file ends behind {} layers, and line {} tells of {}",
                                         workload.layers.size(), count_word.location.line, count));
  }
  mark(header.checkpoints, workload, [](SimaiLayer& layer) { layer.checkpoint = true; });
  mark(header.recomputing, workload, [](SimaiLayer& layer) { layer.recomputes = true; });
  check_recomputation(header.recomputing, workload);
  return workload;
}

}  // namespace weft::goal
