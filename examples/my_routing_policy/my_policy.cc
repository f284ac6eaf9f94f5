// A routing policy of one's own: a flow keeps its port as long as little waits there, and then takes the less
// loaded of two drawn at random (the power of two choices: M. Mitzenmacher, IEEE TPDS 12(10), 2001).
#include <memory>
#include <vector>

#include "sim/plugins/plugin.h"

namespace {

using weft::ParameterType;
using weft::Time;
using namespace weft::routing;

// One for each switch. It sees its own switch and the packet, and nothing else.
class Sticky final : public SwitchPolicy {
 public:
  explicit Sticky(Time patience) : patience_(patience), port_(kFlows, kNone) {}

  // `minimal`: the ports on shortest paths, at least two.
  Output choose(const PacketView& packet, RouteNote&, std::span<const std::uint32_t> minimal,
                ActiveSwitch& here) override {
    std::uint16_t& port = port_[(packet.flow.identity() * 0x9E3779B97F4A7C15ULL) >> 52];
    // Ports differ from destination to destination, and fewer are left when links fail.
    const bool known = std::find(minimal.begin(), minimal.end(), port) != minimal.end();
    if (!known || here.held(port) || here.backlog(port) > patience_) {
      const std::uint32_t pair[] = {minimal[here.random().below(minimal.size())],
                                    minimal[here.random().below(minimal.size())]};
      const std::uint32_t better = here.least_loaded(pair);
      moves_ += known && better != port;
      port = static_cast<std::uint16_t>(better);
    }
    return {.port = port};
  }
  // Counted up over all switches, it stands in the results.
  weft::Signals signals() const override { return {{"move", moves_}}; }

 private:
  static constexpr std::size_t kFlows = 1 << 12;  // flows of one hash share an entry
  static constexpr std::uint16_t kNone = UINT16_MAX;

  const Time patience_;
  std::vector<std::uint16_t> port_;  // by hash of the flow
  std::uint64_t moves_ = 0;
};

// Called once per run: parameters are read here.
std::unique_ptr<SwitchPlan> make_plan(const PlanSetup& setup) {
  const Time patience = setup.parameters.time("patience");
  return each_switch([patience](std::uint32_t, auto) { return std::make_unique<Sticky>(patience); });
}

Policy sticky() {
  return {
      .info = {.name = "sticky",
               .summary = "Flows keep their port until much waits there, then draw two and take the better.",
               .source = "after M. Mitzenmacher, IEEE TPDS 12(10), 2001",
               .parameters = {{"patience", ParameterType::kTime, "1us",
                               "How long what waits at a port may take to send.", weft::at_least("0")}}},
      .make_plan = make_plan,
      .asks = {.control = false},  // ACKs take the built-in rule
      .order = KeepsOrder::kNo};   // so loss recovery is patient with gaps
}

}  // namespace

WEFT_PLUGIN(plugin) { plugin.policies.push_back(sticky()); }
