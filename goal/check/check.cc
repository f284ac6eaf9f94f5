#include "goal/check/check.h"

#include <algorithm>

#include "goal/check/recorder.h"

namespace weft::goal {
namespace checks {

Members::Members(const Graph& graph) : ranks_(graph.ranks()), sorted_(graph.communicators().size()) {
  for (std::size_t comm = 0; comm < sorted_.size(); ++comm) {
    const std::vector<Rank>& ranks = graph.communicators()[comm].ranks;
    for (std::uint32_t i = 0; i < ranks.size(); ++i) sorted_[comm].emplace_back(ranks[i], i);
    std::sort(sorted_[comm].begin(), sorted_[comm].end());
  }
}

std::uint32_t Members::position(std::uint32_t comm, Rank rank) const {
  const auto& sorted = sorted_[comm];
  if (sorted.empty()) return rank < ranks_ ? rank : kAny;
  const auto found = std::lower_bound(sorted.begin(), sorted.end(), std::pair<Rank, std::uint32_t>(rank, 0));
  return found != sorted.end() && found->first == rank ? found->second : kAny;
}

std::string Recorder::describe(Rank rank, OpIndex op) const {
  const std::string_view label = graph_.rank(rank).label(op);
  std::string text = "operation " + std::to_string(op) + " of rank " + std::to_string(rank) + " (";
  if (!label.empty()) (text += "'").append(label).append("': ");
  return text + op_to_text(graph_, rank, op) + ")";
}

std::string Recorder::communicator(std::uint32_t comm) const {
  const std::string& name = graph_.communicators()[comm].name;
  return "communicator " + std::to_string(comm) + (name.empty() ? "" : " '" + name + "'");
}

Report Recorder::finish() {
  std::stable_sort(report_.findings.begin(), report_.findings.end(), [](const Finding& a, const Finding& b) {
    return std::pair(a.kind, a.rank) < std::pair(b.kind, b.rank);
  });
  return std::move(report_);
}

}  // namespace checks

std::string_view name(FindingKind kind) {
  static constexpr std::string_view kNames[kFindingKinds] = {
      "cycle",         "out_of_range",        "not_member",         "unmatched_send", "unmatched_receive",
      "short_receive", "collective_mismatch", "collective_missing", "duplicate_label"};
  return kNames[static_cast<std::size_t>(kind)];
}

Severity severity(FindingKind kind) {
  // A replay takes the bytes of the send, so a short receive only hints at a wrong trace.
  return kind == FindingKind::kShortReceive || kind == FindingKind::kDuplicateLabel ? Severity::kWarning
                                                                                    : Severity::kError;
}

bool Report::has_errors() const {
  return std::any_of(findings.begin(), findings.end(),
                     [](const Finding& finding) { return severity(finding.kind) == Severity::kError; });
}

Report check(const Graph& graph, const CheckOptions& options) {
  const checks::Members members(graph);
  checks::Recorder recorder(graph, options);
  checks::check_ranks(recorder);
  checks::check_messages(recorder, members);
  checks::check_collectives(recorder, members);
  return recorder.finish();
}

}  // namespace weft::goal
