// Path models of plug-ins, whose answers are checked.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim/routing/routing.h"

namespace weft::routing {

// Gives what another model gives, and throws InputError, with the policy and the place, for what can't be:
// shares that are negative, no numbers, or don't make 1 together, channels that don't leave from there,
// states that there aren't, ways that don't hang together.
class CheckedPaths final : public PathModel {
 public:
  // `policy`: its name, for messages.
  CheckedPaths(std::unique_ptr<PathModel> base, std::string policy, const topologies::Topology& topology);

  void starts(std::uint32_t source, std::uint32_t destination, std::vector<PathStart>& starts) const override;
  void steps(topologies::Vertex at, PathState state, std::uint32_t host,
             std::vector<PathStep>& steps) const override;
  void ways(std::uint32_t source, std::uint32_t destination, std::vector<NamedWay>& ways) const override;
  double weight_of_entry(topologies::Vertex at, std::uint32_t host) const override;
  PathState behind_detour(PathState state) const override;
  bool detours_within_groups() const override { return base_->detours_within_groups(); }
  std::uint32_t states() const override { return states_; }
  std::uint32_t virtual_channels() const override { return base_->virtual_channels(); }
  std::string own_proof() const override { return base_->own_proof(); }
  std::uint32_t most_links() const override { return base_->most_links(); }
  bool tells_hosts_apart() const override { return base_->tells_hosts_apart(); }
  bool names_ways() const override { return base_->names_ways(); }
  bool all_minimal() const override { return base_->all_minimal(); }

  [[noreturn]] void fail(const std::string& what) const;

 private:
  // `where()` says it, for messages.
  template <typename Each, typename Where>
  void check_shares(const std::vector<Each>& all, std::size_t first, const Where& where) const;
  template <typename Where>
  void check_state(PathState state, const Where& where) const;
  std::string pair(std::uint32_t source, std::uint32_t destination) const;
  std::string place(topologies::Vertex at, std::uint32_t host) const;

  const std::unique_ptr<PathModel> base_;
  const std::string policy_;
  const topologies::Topology& topology_;
  const std::uint32_t states_;
};

// As paths_of(), with those of plug-ins checked: one that there isn't is an InputError as well.
std::unique_ptr<PathModel> checked_paths_of(const Policy& policy, const PlanSetup& setup);

// For who follows steps, and finds that packets to this host never leave a circle that they come into at
// `at`.
[[noreturn]] void fail_endless(const PathModel& model, const topologies::Topology& topology,
                               topologies::Vertex at, std::uint32_t host);

}  // namespace weft::routing
