#include "goal/transform/extrapolate.h"

#include <fmt/core.h>

#include <map>
#include <set>
#include <utility>

#include "goal/transform/copy.h"
#include "goal/transform/extrapolation.h"
#include "goal/transform/ideal_schedule.h"
#include "goal/transform/layout.h"
#include "goal/transform/new_grid.h"
#include "goal/transform/recognize.h"
#include "goal/transform/references.h"
#include "sim/units/input_error.h"

namespace weft::goal {
namespace {

// Larger programs are not run to see whether they come to an end.
constexpr std::uint64_t kMostScheduled = 8u << 20;

[[noreturn]] void refuse(const std::string& reason) { throw InputError("extrapolate: " + reason); }

// An extrapolation, and what it is made of.
class Extrapolated : public RankSource {
 public:
  Extrapolated(std::unique_ptr<const Graph> graph, std::unique_ptr<const Layout> layout, const RankGrid& grid,
               bool share_alltoalls)
      : graph_(std::move(graph)),
        layout_(std::move(layout)),
        ranks_(*graph_, *layout_, grid, share_alltoalls) {}
  Rank ranks() const override { return ranks_.ranks(); }
  std::uint64_t ops() const override { return ranks_.ops(); }
  std::uint64_t edges() const override { return ranks_.edges(); }
  const std::vector<Communicator>& communicators() const override { return ranks_.communicators(); }
  const std::vector<Collective>& collectives() const override { return ranks_.collectives(); }
  RankView rank(Rank rank) override { return ranks_.rank(rank); }
  const Channels::Balance& balance() const { return ranks_.balance(); }

 private:
  std::unique_ptr<const Graph> graph_;
  std::unique_ptr<const Layout> layout_;
  Extrapolation ranks_;
};

// Communicators whose members are the root in turn. There would be more turns with more members.
std::uint64_t roots_in_turn(const Graph& graph) {
  std::map<std::uint32_t, std::set<std::uint32_t>> roots;
  for (const Collective& collective : graph.collectives()) {
    if (has_root(collective.kind)) roots[collective.comm].insert(collective.root);
  }
  std::uint64_t count = 0;
  for (const auto& [comm, of_comm] : roots)
    count += of_comm.size() > 1 && of_comm.size() == graph.communicator_size(comm);
  return count;
}

std::uint64_t alltoalls(const Graph& graph) {
  std::uint64_t count = 0;
  for (Rank r = 0; r < graph.ranks(); ++r) {
    const RankView rank = graph.rank(r);
    for (OpIndex i = 0; i < rank.ops(); ++i) {
      count += rank.kind(i) == OpKind::kCollective && rank.collective(i).kind == CollectiveKind::kAlltoall;
    }
  }
  return count;
}

Graph whole(RankSource& source) {
  GraphBuilder builder;
  for (std::uint32_t c = 1; c < source.communicators().size(); ++c) {
    add_own_communicator(builder, source.communicators()[c], c);
  }
  builder.reserve(source.ops(), source.edges());
  for (Rank r = 0; r < source.ranks(); ++r) {
    copy_rank(source.rank(r), source.collectives(), builder, [](OpIndex, Op&) {});
  }
  return builder.finish();
}

// Ranks that do the same in different orders never wait for each other in the old program; in other
// neighbourhoods they might. Returns whether that was looked at.
bool require_end(RankSource& source) {
  if (source.ops() > kMostScheduled) return false;
  const std::uint64_t unfinished = ideal_schedule(whole(source)).unfinished;
  if (unfinished == 0) return true;
  refuse(fmt::format(
      "ranks that lie alike act in different orders, and on the new grid they would wait for each "
      "other for ever ({} of {} operations)",
      unfinished, source.ops()));
}

double percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

void report(const Graph& graph, const Layout& layout, const Channels::Balance& balance,
            const ExtrapolateOptions& options, bool grows, std::vector<Anomaly>& anomalies) {
  const auto add = [&](const char* name, Severity severity, std::string sentence, std::uint64_t count) {
    if (count > 0) anomalies.push_back({name, severity, std::move(sentence), count});
  };
  add("grid_unconfirmed", Severity::kWarning,
      "No two ranks lie alike, so nothing in the program shows that ranks that do would do alike; a trace of "
      "more ranks could.",
      layout.confirmed ? 0 : 1);
  add("sizes_varied", Severity::kWarning,
      fmt::format("Messages and collectives whose sizes differ between ranks that lie alike ({:.1f}% of "
                  "operations, {:.1f}% of bytes): each new rank has those of one of them, in turn.",
                  percent(layout.sizes_varied, layout.sizes_compared),
                  percent(layout.bytes_varied, layout.bytes_compared)),
      layout.sizes_varied);
  add("orders_varied", Severity::kInfo,
      "Ranks that call the same as others that lie alike, but in another order or with other waits between; "
      "each new rank does as one of them.",
      layout.ranks_varied);
  add("messages_varied", Severity::kWarning,
      fmt::format(
          "Messages that not all ranks send or receive that lie alike ({:.2f}%): they depend on data.",
          percent(layout.messages_varied, layout.messages)),
      layout.messages_varied);
  add("messages_left_out", Severity::kWarning,
      fmt::format("Messages of the new program that one side would send and the other, which does as a rank "
                  "elsewhere, would not expect ({:.2f}%): left out.",
                  percent(balance.left_out, balance.sent)),
      balance.left_out);
  if (!grows) return;
  add("roots_in_turn", Severity::kWarning,
      "Communicators in which each member is the root of a collective in turn: with more members there are "
      "as "
      "many turns as before, while the program itself may have more.",
      roots_in_turn(graph));
  add("alltoall_blocks_kept", Severity::kInfo,
      "Alltoalls whose blocks stay as large as they are, so that a rank sends more in all where there are "
      "more; the option to share what it sends keeps the whole instead.",
      options.share_alltoalls ? 0 : alltoalls(graph));
}

}  // namespace

std::unique_ptr<RankSource> extrapolated_ranks(const Graph& graph, const ExtrapolateOptions& options,
                                               std::string* pattern, std::vector<Anomaly>* anomalies) {
  if (graph.ranks() < 2 || options.ranks < 2) refuse("there must be at least 2 ranks, before and after");
  require_references(graph, "extrapolate");
  auto recognized = std::make_unique<const Graph>(recognize_collectives(graph, anomalies));
  LayoutFinder finder(*recognized);
  std::unique_ptr<Layout> layout = finder.find(
      [&](const RankGrid& grid) { return new_grid(grid, options.ranks, options.dims).has_value(); });
  if (layout == nullptr) {
    layout = finder.find([](const RankGrid&) { return true; });
    if (layout != nullptr) refuse(why_not(layout->grid, options.ranks, options.dims));
    refuse("the ranks make no line, ring, grid or torus on which all that lie alike do alike; " +
           finder.nearest());
  }
  if (recognized->has_wildcards() && layout->sizes_varied > 0) {
    refuse(
        "there are receives from any source, and the sizes of messages differ between ranks that lie alike");
  }
  const RankGrid grid = *new_grid(layout->grid, options.ranks, options.dims);
  if (pattern != nullptr) {
    const bool plain = !finder.has_messages() && layout->shapes->count() == 1 && grid.dims.size() == 1;
    *pattern = plain ? "the same on all ranks"
                     : (finder.has_messages() ? "messages on a " : "collectives on a ") +
                           layout->grid.text() + ", made a " + grid.text();
  }
  const bool grows = grid.dims != layout->grid.dims;
  const Graph& old = *recognized;
  const Layout& found = *layout;
  auto result =
      std::make_unique<Extrapolated>(std::move(recognized), std::move(layout), grid, options.share_alltoalls);
  const Channels::Balance& balance = result->balance();
  if (static_cast<double>(balance.left_out) > kMostMissing * static_cast<double>(balance.sent)) {
    refuse(fmt::format(
        "ranks that lie alike send so different messages that {:.1f}% of them would find no receive on a {}",
        percent(balance.left_out, balance.sent), grid.text()));
  }
  if (anomalies != nullptr) report(old, found, balance, options, grows, *anomalies);
  if (found.ranks_varied > 0 && grows && !require_end(*result) && anomalies != nullptr) {
    anomalies->push_back({"end_unchecked", Severity::kWarning,
                          "Ranks that lie alike act in different orders, and the new program is too large to "
                          "see beforehand whether they come to wait for each other for ever; a replay tells.",
                          1});
  }
  return result;
}

Graph extrapolate(const Graph& graph, const ExtrapolateOptions& options, std::string* pattern,
                  std::vector<Anomaly>* anomalies) {
  return whole(*extrapolated_ranks(graph, options, pattern, anomalies));
}

}  // namespace weft::goal
