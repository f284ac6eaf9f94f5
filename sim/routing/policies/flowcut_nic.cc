#include "sim/routing/policies/flowcut_nic.h"

#include <algorithm>
#include <memory>

#include "sim/routing/parts/random_route.h"
#include "sim/routing/source_route.h"

namespace weft::routing {
namespace {

class FlowcutNic final : public PathSelector {
 public:
  FlowcutNic(const topologies::Topology& topology, const RoutingTable& table, const FlowcutSettings& settings,
             const PathSetup& setup)
      : topology_(topology), table_(table), settings_(settings), setup_(setup), random_(setup.random) {
    if (settings.idle > Time()) setup_.packet_lifetime = settings.idle;
  }

  Time held_until(const HoldQuestion& question) override {
    if (question.unacknowledged == 0) return Time();
    if (lost_way_) {
      // All that was sent is lost, or will be there by then.
      const Time free = last_sent_ + setup_.packet_lifetime + Time::ps(1);
      return question.now < free ? free : Time();
    }
    return draining_ && !question.again ? Time::max() : Time();
  }
  Path next(const PathRequest& request) override {
    const bool expired = lost_way_ && request.now > last_sent_ + setup_.packet_lifetime;
    if (request.unacknowledged == 0 || expired) begin(expired);
    last_sent_ = request.now;
    return path_;
  }
  void on_ack(const PathNews& news) override {
    const auto rtt = static_cast<float>(news.rtt.ps());
    least_ = least_ == 0 ? rtt : std::min(least_, rtt);
    mean_ = mean_ == 0 ? rtt : mean_ + settings_.gain * (rtt - mean_);
    if (settings_.drain == FlowcutDrain::kNone || draining_ || drawn_.only) return;
    if (mean_ <= settings_.max_ratio * least_) return;
    draining_ = true;
    ++setup_.signals[1];
  }
  void on_timeout(Time) override { lost_way_ = !drawn_.only; }

 private:
  void begin(bool expired) {
    ++setup_.signals[0];
    if (expired) ++setup_.signals[2];
    drawn_ = {};
    const topologies::Vertex host = topology_.host(setup_.source);
    const Candidates nics = table_.candidates(host, setup_.destination);
    const std::uint32_t nic = nics[nics.size() == 1 ? 0 : random_.below(nics.size())];
    path_.nic = Path::kAnyNic;
    if (topology_.out_channels(host).size() > 1) {
      path_.nic = static_cast<std::uint8_t>(port_of(topology_, nic));
    }
    drawn_.only = nics.size() == 1;
    draw_route(topology_, table_, topology_.channels()[nic].to, setup_.destination, random_, drawn_);
    path_.entropy = static_cast<std::uint32_t>(random_.next());
    path_.route = &drawn_.route;
    path_.route_checked = true;
    mean_ = 0;
    draining_ = lost_way_ = false;
  }

  const topologies::Topology& topology_;
  const RoutingTable& table_;
  const FlowcutSettings settings_;
  PathSetup setup_;
  sim::RandomStream random_;
  DrawnRoute drawn_;
  Path path_;
  Time last_sent_;
  float least_ = 0, mean_ = 0;  // round trips, ps
  bool draining_ = false;       // nothing new until all is acknowledged
  bool lost_way_ = false;       // nothing came back for a timeout
};

}  // namespace

PathSelectorMaker flowcut_selectors(const PlanSetup& setup, const FlowcutSettings& settings) {
  return [&topology = setup.topology, &table = setup.table, settings](const PathSetup& path) {
    return std::make_unique<FlowcutNic>(topology, table, settings, path);
  };
}

}  // namespace weft::routing
