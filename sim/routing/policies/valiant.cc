#include "sim/routing/policies/valiant.h"

#include <memory>

#include "sim/routing/parts/detour_routes.h"
#include "sim/routing/path_draws.h"

namespace weft::routing {
namespace {

struct ValiantRules {
  bool by_group = false, per_flow = false;
};

ValiantRules valiant_rules_of(const PlanSetup& setup) {
  const std::string &intermediate = setup.parameters.text("intermediate"),
                    &per = setup.parameters.text("per");
  if (intermediate == "group" && !setup.topology.linked_groups()) {
    setup.parameters.fail("intermediate", "it must be switch: " + setup.topology.name() +
                                              " has no groups that are linked as in a dragonfly");
  }
  return {.by_group = intermediate == "group", .per_flow = per == "flow"};
}

class Valiant final : public DetourPolicy {
 public:
  Valiant(const DetourRoutes& routes, std::uint32_t switch_index, ValiantRules rules, std::uint64_t salt)
      : DetourPolicy(routes, switch_index), rules_(rules), salt_(salt), port_salt_(sim::mix64(salt)) {
    if (rules.by_group) end_detours_in_group();
  }

 private:
  Decision decide(const PacketView& packet, const RouteNote&, std::span<const std::uint32_t>,
                  ActiveSwitch& here) override {
    const std::uint32_t via = draw(packet, salt_, routes_.hosts());
    if (routes_.cabled(index_, via)) return {};
    const auto ports = routes_.next(here, index_, via, detour_ports_);
    if (ports.empty()) return {};
    return {.phase = kDetour, .via = via, .port = pick(packet, ports, here)};
  }
  std::uint32_t pick(const PacketView& packet, std::span<const std::uint32_t> ports, ActiveSwitch&) override {
    if (ports.size() == 1) return ports.front();
    return ports[draw(packet, port_salt_, static_cast<std::uint32_t>(ports.size()))];
  }
  std::uint32_t draw(const PacketView& packet, std::uint64_t salt, std::uint32_t count) const {
    const std::uint32_t drawn = rules_.per_flow ? hash_word(packet.entropy, salt) : packet_draw(packet, salt);
    return static_cast<std::uint32_t>(std::uint64_t{drawn} * count >> 32);
  }

  const ValiantRules rules_;
  // Two draws at one switch: of `via`, and of a port on the way there. Salts that follow from each other by
  // less than a mix (~salt) give draws that do, too, and some links more than their share.
  const std::uint64_t salt_, port_salt_;
};

class ValiantPlan final : public SwitchPlan {
 public:
  explicit ValiantPlan(const PlanSetup& setup)
      : rules_(valiant_rules_of(setup)), routes_(setup), seed_(setup.seed) {
    DetourRoutes::check(setup.topology);
  }
  std::unique_ptr<SwitchPolicy> make(std::uint32_t switch_index, sim::RandomStream) const override {
    return std::make_unique<Valiant>(routes_, switch_index, rules_, switch_salt(seed_, switch_index));
  }
  void reconverge(const std::vector<bool>& down_links) override { routes_.rebuild(down_links); }
  Lookup lookup() const override { return routes_.lookup(); }

 private:
  const ValiantRules rules_;
  DetourRoutes routes_;
  const std::uint64_t seed_;
};

}  // namespace

Policy valiant() {
  return {
      .info = {.name = "valiant",
               .summary = "Each packet goes by a switch drawn at random.",
               .source = "L. G. Valiant, A scheme for fast parallel communication, SIAM J. Comput. 11(2), "
                         "1982; J. Kim, W. J. Dally, S. Scott, D. Abts, ISCA 2008",
               .parameters = {{"intermediate", ParameterType::kText, "switch",
                               "What a packet goes by: the switch of a host, or any switch of its group.",
                               one_of({"switch", "group"})},
                              {"per", ParameterType::kText, "packet",
                               "What is drawn for: packet, or flow, which then keeps its order.",
                               one_of({"packet", "flow"})}}},
      .make_plan = [](const PlanSetup& setup) -> std::unique_ptr<SwitchPlan> {
        return std::make_unique<ValiantPlan>(setup);
      },
      .make_paths = [](const PlanSetup& setup) -> std::unique_ptr<PathModel> {
        (void)valiant_rules_of(setup);
        return std::make_unique<DetourPaths>(setup, DetourPaths::Rules{});
      },
      .fluid = FluidPaths::kModel,
      .asks = {.control = false,
               .single = true,
               .own_ports = true,
               .ahead = true,
               .foresees = true,
               .notes = true},
      .order = KeepsOrder::kNo,
      .longest_path = 2,
      .paths_remark = "with intermediate=group the first part may end earlier"};
}

}  // namespace weft::routing
