#include "sim/routing/policies/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sim/routing/parts/user_tables.h"
#include "sim/routing/path_draws.h"

namespace weft::routing {
namespace {

using topologies::Vertex;

class TablesPlan;

class ByTables final : public SwitchPolicy {
 public:
  ByTables(const TablesPlan& plan, std::uint32_t s, std::uint64_t salt)
      : plan_(plan), switch_(s), salt_(salt) {}
  Output choose(const PacketView& packet, RouteNote&, std::span<const std::uint32_t> minimal,
                ActiveSwitch& here) override;

 private:
  const TablesPlan& plan_;
  const std::uint32_t switch_;
  const std::uint64_t salt_;
};

class TablesPlan final : public SwitchPlan {
 public:
  explicit TablesPlan(const PlanSetup& setup)
      : setup_(setup), given_(setup), now_(std::make_unique<UserTables>(given_)) {}
  std::unique_ptr<SwitchPolicy> make(std::uint32_t s, sim::RandomStream) const override {
    return std::make_unique<ByTables>(*this, s, switch_salt(setup_.seed, s));
  }
  void reconverge(const std::vector<bool>& down_links) override {
    if (repaired_ == nullptr) repaired_ = std::make_unique<RoutingTable>(setup_.table);
    repaired_->repair(setup_.topology, down_links);
    now_ = std::make_unique<UserTables>(given_);
    now_->leave_out(down_links, *repaired_);
  }
  const UserTables& tables() const { return *now_; }

 private:
  const PlanSetup setup_;
  const UserTables given_;
  std::unique_ptr<RoutingTable> repaired_;
  std::unique_ptr<UserTables> now_;
};

Output ByTables::choose(const PacketView& packet, RouteNote&, std::span<const std::uint32_t> minimal,
                        ActiveSwitch& here) {
  const auto next = plan_.tables().next(switch_, packet.destination);
  if (next.empty()) {
    if (minimal.empty()) minimal = here.minimal(packet.destination);
    if (minimal.empty()) return {.port = Output::kNowhere};
    return {.port = minimal.size() == 1 ? minimal.front()
                                        : minimal[hash_choice(packet.entropy, salt_, minimal.size())]};
  }
  if (next.size() == 1) return {.port = next.front().port};
  const std::uint32_t draw = hash_word(packet.entropy, salt_);
  const auto found =
      std::ranges::find_if(next, [&](const UserTables::Next& each) { return draw < each.up_to; });
  if (here.all_up() || here.is_up(found->port)) return {.port = found->port};
  // Those that are up take over.
  const auto up =
      std::ranges::find_if(next, [&](const UserTables::Next& each) { return here.is_up(each.port); });
  return {.port = up == next.end() ? found->port : up->port};
}

class TablesPaths final : public PathModel {
 public:
  explicit TablesPaths(const PlanSetup& setup)
      : topology_(setup.topology), tables_(setup), minimal_(setup.table) {
    if (!setup.table.down_links().empty()) tables_.leave_out(setup.table.down_links(), setup.table);
  }
  void starts(std::uint32_t, std::uint32_t, std::vector<PathStart>& starts) const override {
    starts.push_back({});
  }
  void steps(Vertex at, PathState state, std::uint32_t host, std::vector<PathStep>& steps) const override {
    const auto next = tables_.next(topology_.node(at).index, host);
    if (next.empty()) return minimal_.steps(at, state, host, steps);
    std::uint64_t before = 0;
    for (const UserTables::Next& each : next) {
      steps.push_back({.channel = each.channel,
                       .share = static_cast<double>(each.up_to - before) / 4294967296.0,
                       .state = state});
      before = each.up_to;
    }
  }

 private:
  const topologies::Topology& topology_;
  UserTables tables_;
  const MinimalPaths minimal_;
};

std::string tables_remark(const PlanSetup& setup) {
  const UserTables tables(setup);
  if (tables.told() == 1) return "";
  return fmt::format(
      "{} says the whole way of {:.4g}% of the pairs of hosts that share no switch, and something of "
      "that of {:.4g}%; where it says nothing packets go by shortest paths",
      setup.parameters.file("file"), 100 * tables.told(), 100 * tables.told_in_part());
}

}  // namespace

Policy tables() {
  return {
      .info = {.name = "tables",
               .summary = "What tables in a file say; shortest paths where they say nothing. Each flow keeps "
                          "its path.",
               .source = "InfiniBand Architecture Specification, volume 1: forwarding tables of switches",
               .parameters = {{"file", ParameterType::kFile, "",
                               "Lines 'SWITCH DESTINATION NEXT[=WEIGHT] …': names as weft topo has them, in "
                               "quotes if they have blanks, or s0, h0; a destination is a host, or a switch "
                               "for all of its hosts; # begins a comment."}}},
      .make_plan = [](const PlanSetup& setup) -> std::unique_ptr<SwitchPlan> {
        return std::make_unique<TablesPlan>(setup);
      },
      .make_paths = [](const PlanSetup& setup) -> std::unique_ptr<PathModel> {
        return std::make_unique<TablesPaths>(setup);
      },
      .fluid = FluidPaths::kModel,
      .asks = {.single = true, .own_ports = true, .ahead = true, .no_detours = true},
      .order = KeepsOrder::kYes,
      .longest_path = 2,
      .leads_to_hosts = true,
      .remark = tables_remark};
}

}  // namespace weft::routing
