// From settings of a scenario to points of a sweep.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/scenario/scenario.h"
#include "tools/sweep/folder.h"
#include "tools/sweep/groups.h"
#include "tools/sweep/runner.h"
#include "topologies/cost/bill.h"
#include "topologies/cost/price_list.h"

namespace weft::cli {

class PointMaker {
 public:
  // `prices`: what networks cost; without, points have no price.
  PointMaker(std::vector<std::string> plugins, std::optional<topologies::PriceList> prices);

  // The run that `weft sim FILE` with these settings would be. Its text says all of it, and which version
  // and which files (by size and time of change) it is made with, so that results of others don't count.
  // Throws InputError for settings that don't fit together. `place`, if given, says where a file is that the
  // run reads.
  sweep::Point make(std::vector<std::string> values, const std::string& file,
                    std::vector<sim::Setting> settings, std::optional<std::uint64_t> seed,
                    const std::function<std::string(const std::string& path)>& place = nullptr);

  // Why jobs of the last point have no place for their ranks, each alone or, where they keep their hosts, all
  // together; "": they may have one. How many they are is known of graphs of moderate size and of traffic
  // that says so.
  const std::string& last_misfit() const { return last_misfit_; }

  // The bill of a network as the last point has it; empty where it has no topology or there are no prices.
  // What can't be priced is told once, on standard error.
  const std::optional<topologies::Bill>& last_bill() const { return *last_bill_; }

 private:
  struct Built {
    std::optional<topologies::Bill> bill;
    std::uint32_t hosts = 0;  // 0: not known
  };
  const Built& price(const ModuleChoice& network, sweep::Point& point);
  std::string misfit(const sim::Scenario& scenario, std::uint32_t all_hosts);
  // How many of the network's hosts have not failed.
  std::uint32_t working_hosts(const sim::Scenario& scenario, std::uint32_t hosts);
  std::uint32_t ranks_of(const sim::Job& job);

  std::vector<std::string> plugins_;
  sim::Registries registries_;
  std::optional<topologies::PriceList> prices_;
  std::map<std::string, Built> built_;                    // by topology, in short form
  std::map<std::string, std::uint32_t> ranks_of_graphs_;  // by path; 0: not known
  std::map<std::string, std::uint32_t> working_;          // hosts, by topology, seed and which have failed
  std::string last_misfit_;
  const std::optional<topologies::Bill>* last_bill_ = nullptr;
};

// This program's file.
std::string own_path();
// Runs what is not done, with a line about it on a terminal unless `quiet`. Returns the signal that ended it,
// or 0.
int run_told(const sweep::Folder& folder, sweep::Engine engine, std::optional<std::uint32_t> slots,
             bool quiet);
// Tells which points could not be run, and which did not come to their end; the exit status that follows.
int report_failures(const sweep::Folder& folder, const sweep::Outcomes& outcomes);

}  // namespace weft::cli
