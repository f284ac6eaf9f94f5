#include "topologies/slurm/slurm.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "sim/units/brackets.h"
#include "topologies/families/cabling.h"
#include "topologies/import/readers.h"
#include "topologies/slurm/configuration.h"
#include "topologies/slurm/hostlist.h"
#include "topologies/slurm/names.h"
#include "topologies/slurm/tree.h"

namespace weft::topologies {
namespace {

constexpr std::uint64_t kMostLinks = std::uint64_t{1} << 24;
constexpr std::uint32_t kMostNics = 64;

const ModuleInfo& info() {
  static const ModuleInfo info = {
      .name = "slurm",
      .summary =
          "A machine as Slurm knows it: topology.conf or topology.yaml (tree, block), or what `scontrol show "
          "topology` prints.",
      .source =
          "topology.conf(5) of Slurm, https://slurm.schedmd.com/topology.conf.html, and topology.yaml(5)",
      .parameters = with_cabling({
          {"file", ParameterType::kFile, "", "The file's path; [in brackets] if it has a comma."},
          {"topology", ParameterType::kText, "auto",
           "Which of those in topology.yaml; auto: the one with cluster_default, else the first."},
          {"hosts", ParameterType::kText, "all",
           "The nodes to build, as Slurm's hostlist [in brackets]: [lrdn[0001-0360]]; all: every one. "
           "Switches "
           "without any are left out."},
          {"nics", ParameterType::kInteger, "1", "Links of a host to each of its switches, 1 to 64."},
          {"oversubscription", ParameterType::kReal, "1",
           "Where `uplinks` is auto: what a switch can take from below, through what its links up carry.",
           above("0").up_to("1000000")},
          {"uplinks", ParameterType::kInteger, "auto",
           "Links from a switch to each switch above it; auto: as many as `oversubscription` asks for."},
          {"top", ParameterType::kText, "switch",
           "What the top of the tree is: switch, as the file has it, or mesh: no switch, but links between "
           "every two of those below it (or between all tops), as in a dragonfly.",
           one_of({"switch", "mesh"})},
          {"links_per_pair", ParameterType::kInteger, "auto",
           "With top=mesh: links between every two; auto: as many as their links up would be, shared out."},
      }),
      .about =
          "Slurm tells who is below whom, and nothing of cables, rates and NICs: these are parameters here. "
          "A "
          "switch with others below it often stands for many (a cell's spines, a fat tree's cores); it is "
          "built as "
          "one that has the ports of all, so distances count it once, and its links are shared without "
          "conflicts inside.",
  };
  return info;
}

// The short form, which can be read back even if the path or the hosts have a comma.
std::string short_form(const Parameters& parameters, const std::string& file) {
  std::map<std::string, std::string> given(parameters.values().begin(), parameters.values().end());
  for (const auto& [name, value] : {std::pair("file", file), std::pair("hosts", parameters.text("hosts"))}) {
    const std::string bare(without_brackets(value));
    if (bare.find(',') != std::string::npos || bare.find('[') != std::string::npos)
      given[name] = "[" + bare + "]";
  }
  return to_short_form(info().name, Parameters(info(), given));
}

SlurmTopology read(const Parameters& parameters, const std::string& file) {
  const std::string text = read_whole_file(file), &which = parameters.text("topology");
  if (is_slurm_yaml(text, file)) return read_slurm_yaml(text, file, which);
  if (which != "auto")
    parameters.fail("topology", "it is for topology.yaml, which this file is not; leave it out");
  return read_slurm(text, file);
}

class Builder {
 public:
  Builder(const Parameters& parameters, const std::string& file)
      : parameters_(parameters), cabling_(read_cabling(parameters)), read_(read(parameters, file)) {
    read_parameters();
    tree_ =
        resolve_tree(read_, [this](const std::string& node) { return all_hosts_ || wanted_.contains(node); });
    check_hosts();
    if (mesh_) remove_top();
    if (!mesh_) check_joined();
  }

  Topology build(const std::string& name) {
    Topology topology(name);
    add_nodes(topology);
    add_links(topology);
    if (mesh_) add_mesh(topology);
    add_notes(topology);
    topology.finish();
    return topology;
  }

 private:
  void read_parameters() {
    nics_ = count_parameter(parameters_, "nics", kMostNics);
    oversubscription_ = parameters_.real("oversubscription");
    if (!parameters_.automatic("uplinks")) {
      uplinks_ = count_parameter(parameters_, "uplinks", kMostLinks);
      if (oversubscription_ != 1) {
        parameters_.fail("oversubscription", "uplinks tells the links up already; leave one of them out");
      }
    }
    mesh_ = parameters_.text("top") == "mesh";
    if (!mesh_ && !parameters_.automatic("links_per_pair")) {
      parameters_.fail("links_per_pair", "it is for top=mesh; leave it out");
    }
    const std::string hosts(without_brackets(parameters_.text("hosts")));
    all_hosts_ = hosts == "all" || hosts.empty();
    if (all_hosts_) return;
    try {
      for (std::string& each : expand_hostlist(hosts, kMostSlurmNames)) wanted_.insert(std::move(each));
    } catch (const InputError& error) {
      parameters_.fail("hosts", fmt::format("it must be a hostlist: {}", error.what()));
    }
  }

  void check_hosts() const {
    if (tree_.hosts.size() < wanted_.size()) {
      const std::unordered_set<std::string> known(tree_.hosts.begin(), tree_.hosts.end());
      std::vector<std::string> missing;
      for (const std::string& name : wanted_) {
        if (!known.contains(name)) missing.push_back(name);
      }
      parameters_.fail(
          "hosts", fmt::format("{} has no node '{}'{}", read_.file, missing[0],
                               missing.size() == 1 ? "" : fmt::format(" and {} more", missing.size() - 1)));
    }
    if (tree_.hosts.empty()) throw InputError({.file = read_.file}, "no switch has a node");
    if (tree_.hosts.size() > kMostHosts) {
      throw InputError({.file = read_.file},
                       fmt::format("{} nodes are more than {}, the most a network may have",
                                   tree_.hosts.size(), kMostHosts));
    }
  }

  // The file's one top is no switch then; it is the last, as all others are below it.
  void remove_top() {
    if (tree_.tops.size() == 1) {
      const TreeSwitch& top = tree_.switches[tree_.tops[0]];
      if (!top.hosts.empty() || top.children.size() < 2) {
        parameters_.fail("top",
                         fmt::format("with mesh, '{}' must have switches below it, two or more, and no "
                                     "nodes of its own",
                                     top.name));
      }
      removed_ = top.name;
      tree_.tops = top.children;
      for (const std::uint32_t child : tree_.tops)
        std::erase(tree_.switches[child].parents, tree_.switches.size() - 1);
      tree_.switches.pop_back();
    }
    const bool other_parents = std::any_of(tree_.tops.begin(), tree_.tops.end(), [&](std::uint32_t s) {
      return !tree_.switches[s].parents.empty();
    });
    if (other_parents)
      parameters_.fail("top", "with mesh, what is below the top may not be below another switch too");
  }

  // Several tops may share what is below them, as the spines of a fat tree do.
  void check_joined() const {
    const std::size_t switches = tree_.switches.size();
    std::vector<std::size_t> part(switches + tree_.hosts.size());
    std::iota(part.begin(), part.end(), std::size_t{0});
    const auto find = [&](std::size_t node) {
      while (part[node] != node) node = part[node] = part[part[node]];
      return node;
    };
    for (std::size_t s = 0; s < switches; ++s) {
      for (const std::uint32_t child : tree_.switches[s].children) part[find(child)] = find(s);
      for (const std::uint32_t host : tree_.switches[s].hosts) part[find(switches + host)] = find(s);
    }
    for (const std::uint32_t top : tree_.tops) {
      if (find(top) == find(tree_.tops[0])) continue;
      throw InputError(
          {.file = read_.file},
          fmt::format(
              "nothing joins '{0}' and '{1}'; add a line like SwitchName=top Switches={0},{1}, or give "
              "top=mesh for links between every two of the {2} tops",
              tree_.switches[tree_.tops[0]].name, tree_.switches[top].name, tree_.tops.size()));
    }
  }

  void add_nodes(Topology& topology) {
    std::vector<std::uint32_t> group(tree_.hosts.size(), 0);
    for (auto each = tree_.switches.rbegin(); each != tree_.switches.rend(); ++each) {
      for (const std::uint32_t host : each->hosts) group[host] = each->group;
    }
    for (std::uint32_t h = 0; h < tree_.hosts.size(); ++h)
      hosts_.push_back(topology.add_host(tree_.hosts[h], group[h]));
    for (const TreeSwitch& each : tree_.switches) {
      switches_.push_back(topology.add_switch(each.name, each.tier, each.group, cabling_.switch_latency));
    }
  }

  void add(Topology& topology, Vertex a, Vertex b, const Link& link, std::uint64_t count) {
    links_ += count;
    if (links_ > kMostLinks) {
      parameters_.fail(mesh_ ? "links_per_pair" : "uplinks",
                       fmt::format("there are more than {} links then", kMostLinks));
    }
    for (std::uint64_t i = 0; i < count; ++i) topology.add_link(a, b, link);
  }

  // Links of the rate between switches that carry so much, 1 or more.
  std::uint64_t links_for(double bps) const {
    constexpr double kRounding = 1e-9;
    const double exact = bps / (oversubscription_ * static_cast<double>(cabling_.fabric.rate.bps()));
    return std::max<std::uint64_t>(1,
                                   static_cast<std::uint64_t>(std::ceil(std::min(exact, 1e9) - kRounding)));
  }

  void add_links(Topology& topology) {
    from_below_.assign(tree_.switches.size(), 0);
    for (std::uint32_t s = 0; s < tree_.switches.size(); ++s) {
      const TreeSwitch& each = tree_.switches[s];
      for (const std::uint32_t host : each.hosts)
        add(topology, hosts_[host], switches_[s], cabling_.host, nics_);
      from_below_[s] +=
          static_cast<double>(each.hosts.size()) * nics_ * static_cast<double>(cabling_.host.rate.bps());
      const std::uint64_t all = links_for(from_below_[s]), parents = each.parents.size();
      for (std::uint64_t p = 0; p < parents; ++p) {
        const std::uint64_t dealt = std::max<std::uint64_t>(1, all / parents + (p < all % parents ? 1 : 0));
        const std::uint64_t count = uplinks_ > 0 ? uplinks_ : dealt;
        add(topology, switches_[s], switches_[each.parents[p]], cabling_.fabric, count);
        from_below_[each.parents[p]] +=
            static_cast<double>(count) * static_cast<double>(cabling_.fabric.rate.bps());
      }
    }
  }

  void add_mesh(Topology& topology) {
    const std::size_t tops = tree_.tops.size();
    for (std::size_t a = 0; a < tops; ++a) {
      for (std::size_t b = a + 1; b < tops; ++b) {
        std::uint64_t count = 0;
        if (parameters_.automatic("links_per_pair")) {
          const double least = std::min(from_below_[tree_.tops[a]], from_below_[tree_.tops[b]]);
          count = uplinks_ > 0 ? uplinks_ : links_for(least / static_cast<double>(tops - 1));
        } else {
          count = count_parameter(parameters_, "links_per_pair", kMostLinks);
        }
        add(topology, switches_[tree_.tops[a]], switches_[tree_.tops[b]], cabling_.fabric, count);
      }
    }
    if (tops > 1) topology.set_linked_groups();
  }

  void add_notes(Topology& topology) const {
    for (const std::string& note : read_.notes) topology.add_note(note);
    const auto note = [&](const std::string& text) { topology.add_note(read_.file + ": " + text); };
    std::string links = uplinks_ > 0 ? fmt::format("uplinks={}", uplinks_)
                                     : fmt::format("oversubscription={:g}", oversubscription_);
    if (!parameters_.automatic("links_per_pair")) {
      links += " and links_per_pair=" + parameters_.text("links_per_pair");
    }
    note(fmt::format(
        "it doesn't tell cables, NICs and rates; assumed are nics={}, links between switches by {}, and the "
        "rates and latencies of the topology's parameters",
        nics_, links));
    if (!removed_.empty()) note(fmt::format("'{}', the top, is not built: top=mesh", removed_));
    if (tree_.several_leaves == 1) note("1 host hangs on several switches");
    if (tree_.several_leaves > 1)
      note(fmt::format("{} hosts hang on several switches", tree_.several_leaves));
    if (tree_.empty_switches == 1) note("1 switch is left out, as no host is below it");
    if (tree_.empty_switches > 1) {
      note(fmt::format("{} switches are left out, as no host is below them", tree_.empty_switches));
    }
  }

  const Parameters& parameters_;
  Cabling cabling_;
  SlurmTopology read_;
  SlurmTree tree_;
  std::set<std::string> wanted_;
  bool all_hosts_ = true, mesh_ = false;
  std::uint32_t nics_ = 1;
  std::uint64_t uplinks_ = 0, links_ = 0;  // uplinks_ 0: from oversubscription_
  double oversubscription_ = 1;
  std::string removed_;
  std::vector<Vertex> hosts_, switches_;
  std::vector<double> from_below_;  // of each switch, bit/s
};

Topology build(const Parameters& parameters) {
  const std::string file = parameters.file("file");
  if (file.empty()) parameters.fail("file", "it must be the path of a file, like topology.conf");
  return Builder(parameters, file).build(short_form(parameters, file));
}

}  // namespace

Family slurm_family() { return {info(), build}; }

}  // namespace weft::topologies
