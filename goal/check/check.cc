#include "goal/check/check.h"

#include <algorithm>

#include "goal/check/check_program.h"
#include "goal/check/collectives.h"
#include "goal/check/recorder.h"
#include "goal/compute_times.h"
#include "goal/file.h"
#include "goal/pack/packed_file.h"
#include "goal/read_graph.h"
#include "goal/text/text.h"

namespace weft::goal {
namespace checks {

namespace {

constexpr std::uint32_t kOpsAtOnce = 4096;
// Lists of counts are as long as a communicator is large: of an operation so much is told.
constexpr std::size_t kMostText = 160;

}  // namespace

Op Recorder::read(Rank rank, OpIndex op, OpBlock& block) const {
  const auto cursor = source_.open(rank);
  while (cursor->next(block, kOpsAtOnce) && op - block.first >= block.ops.size()) {
  }
  return block.ops[op - block.first];
}

std::string Recorder::describe(Rank rank, OpIndex index) const {
  OpBlock block;
  const Op op = read(rank, index, block);
  const std::string label = block.labels.empty() ? "" : block.labels[index - block.first];
  std::string text = "operation " + std::to_string(index) + " of rank " + std::to_string(rank) + " (";
  if (!label.empty()) (text += "'").append(label).append("': ");
  const Collective* collective = op.kind == OpKind::kCollective ? &source_.collectives()[op.peer] : nullptr;
  std::string what = op_to_text(op, collective);
  if (what.size() > kMostText) what = what.substr(0, kMostText) + " …";
  return text + what + ")";
}

std::string Recorder::communicator(std::uint32_t comm) const {
  const std::string& name = source_.communicators()[comm].name;
  return "communicator " + std::to_string(comm) + (name.empty() ? "" : " '" + name + "'");
}

Report Recorder::finish() {
  std::stable_sort(report_.findings.begin(), report_.findings.end(), [](const Finding& a, const Finding& b) {
    return std::pair(a.kind, a.rank) < std::pair(b.kind, b.rank);
  });
  report_.ranks = source_.ranks();
  report_.ops = source_.ops();
  return std::move(report_);
}

}  // namespace checks

std::string_view name(FindingKind kind) {
  static constexpr std::string_view kNames[kFindingKinds] = {
      "cycle",         "out_of_range",        "not_member",         "unmatched_send",  "unmatched_receive",
      "short_receive", "collective_mismatch", "collective_missing", "duplicate_label", "partial_element"};
  return kNames[static_cast<std::size_t>(kind)];
}

Severity severity(FindingKind kind) {
  switch (kind) {
    case FindingKind::kShortReceive:    // a replay takes the bytes of the send, so it hints at a wrong trace
    case FindingKind::kPartialElement:  // likewise
    case FindingKind::kDuplicateLabel:
      return Severity::kWarning;
    default:
      return Severity::kError;
  }
}

bool Report::has_errors() const {
  return std::any_of(findings.begin(), findings.end(),
                     [](const Finding& finding) { return severity(finding.kind) == Severity::kError; });
}

namespace {

Report check_source(checks::OpSource& source, const CheckOptions& options) {
  const CommunicatorPlaces members(source.ranks(), source.communicators());
  checks::Recorder recorder(source, options);
  checks::check_ranks(recorder, members);
  checks::check_messages(recorder, members);
  return recorder.finish();
}

}  // namespace

Report check(const Graph& graph, const CheckOptions& options) {
  return check_source(*checks::source_of(graph), options);
}

namespace {

// `each(rank, visit)` calls visit(index, op) for every collective of a rank, in order: readers are quickest
// at it in ways of their own.
template <typename Each>
Report check_collectives_of(checks::OpSource& source, const CheckOptions& options, Each&& each) {
  checks::Recorder recorder(source, options);
  if (source.collectives().empty()) return recorder.finish();
  const CommunicatorPlaces members(source.ranks(), source.communicators());
  checks::CollectiveCheck collectives(recorder, members);
  for (Rank rank = 0; rank < source.ranks(); ++rank) {
    each(rank, [&](OpIndex index, const Op& op) { collectives.add(rank, index, op); });
    collectives.end_rank(rank);
  }
  collectives.finish();
  return recorder.finish();
}

}  // namespace

Report check_collectives(const Graph& graph, const CheckOptions& options) {
  return check_collectives_of(*checks::source_of(graph), options, [&](Rank rank, const auto& visit) {
    const RankView view = graph.rank(rank);
    for (OpIndex i = 0; i < view.ops(); ++i) {
      if (view.kind(i) == OpKind::kCollective) visit(i, view.op(i));
    }
  });
}

Report check_collectives(const Program& program, const CheckOptions& options) {
  if (program.graph() != nullptr) return check_collectives(*program.graph(), options);
  const auto file = program.packed()->open(1);
  OpBlock block;
  return check_collectives_of(*checks::source_of(*file), options, [&](Rank rank, const auto& visit) {
    RankReader reader = file->rank(rank, {.labels = false, .values = false});
    while (reader.next(block, checks::kOpsAtOnce)) {
      for (std::uint32_t k = 0; k < block.ops.size(); ++k) {
        if (block.ops[k].kind == OpKind::kCollective) visit(block.first + k, block.ops[k]);
      }
    }
  });
}

std::vector<Anomaly> collective_anomalies(const Graph& graph) {
  const Report report = check_collectives(graph, {.examples = 1});
  std::vector<Anomaly> anomalies;
  for (const Finding& finding : report.findings) {
    const bool disagree = finding.kind == FindingKind::kCollectiveMismatch;
    anomalies.push_back(
        {std::string(name(finding.kind)), Severity::kWarning,
         (disagree ? "Collectives that ranks call with other kinds, roots or sizes than the rest, each "
                     "rank's first: "
                   : "As goal check tells: ") +
             finding.sentence + ".",
         report.counts[static_cast<std::size_t>(finding.kind)]});
  }
  return anomalies;
}

std::vector<Anomaly> message_anomalies(const Graph& graph) {
  const CheckOptions options{.examples = 1};
  const auto source = checks::source_of(graph);
  checks::Recorder recorder(*source, options);
  checks::check_messages(recorder, CommunicatorPlaces(source->ranks(), source->communicators()));
  const Report report = recorder.finish();
  std::vector<Anomaly> anomalies;
  for (const Finding& finding : report.findings) {
    anomalies.push_back({std::string(name(finding.kind)), Severity::kWarning,
                         "As goal check tells: " + finding.sentence + ".",
                         report.counts[static_cast<std::size_t>(finding.kind)]});
  }
  return anomalies;
}

Report check_file(const std::string& path, const CheckOptions& options) {
  const FileView file(path);
  PackInfo info;
  Report report;
  if (PackedFile::is_one(file.bytes())) {
    PackedFile packed(file.bytes(), path, {});
    report = check_source(*checks::source_of(packed), options);
    info = packed.info();
  } else {
    report = check(parse_graph(file.bytes(), path, &info), options);
  }
  report.not_replayed = std::move(info.not_replayed);
  report.compute_times_warnings = compute_times_warnings(info.anomalies);
  return report;
}

}  // namespace weft::goal
