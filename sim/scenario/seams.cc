#include "sim/scenario/seams.h"

#include <algorithm>
#include <string>

namespace weft::sim {
namespace {

template <auto kList>
std::vector<const ModuleInfo*> infos_of(const Registries& registries) {
  std::vector<const ModuleInfo*> all;
  for (const auto& module : registries.*kList) all.push_back(&module.info);
  return all;
}

}  // namespace

std::span<const Seam> seams() {
  static constexpr Seam kSeams[] = {
      {"network", "network model", infos_of<&Registries::networks>, &RunSettings::network},
      {"topology", "topology", infos_of<&Registries::topologies>, &RunSettings::topology},
      {"routing", "routing policy", infos_of<&Registries::routing>, &RunSettings::routing},
      {"congestion", "congestion control", infos_of<&Registries::congestion>, &RunSettings::congestion},
      {"recovery", "loss recovery", infos_of<&Registries::recoveries>, &RunSettings::recovery},
      {"queue", "queue discipline", infos_of<&Registries::queues>, &RunSettings::queue},
  };
  return kSeams;
}

const Seam& placement_seam() {
  static constexpr Seam kSeam = {"placement", "placement", infos_of<&Registries::placements>, nullptr};
  return kSeam;
}

const Seam& scheduler_seam() {
  static constexpr Seam kSeam = {"scheduler", "scheduler", infos_of<&Registries::schedulers>,
                                 &RunSettings::scheduler};
  return kSeam;
}

const Seam& traffic_seam() {
  static constexpr Seam kSeam = {"traffic", "traffic pattern", infos_of<&Registries::traffic>, nullptr};
  return kSeam;
}

const ModuleInfo& find_info(const Seam& seam, const Registries& registries, const ModuleChoice& choice) {
  std::vector<std::string> known;
  for (const ModuleInfo* info : seam.modules(registries)) {
    if (info->name == choice.name) return *info;
    known.push_back(info->name);
  }
  fail_unknown_name(seam.word, choice.name, known, choice.location);
}

const ModuleInfo& hosts_section() {
  static const ModuleInfo info = {
      .name = "hosts",
      .summary =
          "What hosts cost, the same for all; a network model's parameter of the same name counts instead.",
      .source = "T. Hoefler, T. Schneider, A. Lumsdaine, LogGOPSim, LSAP 2010",
      .parameters = {
          {"o", ParameterType::kTime, "1500ns", "Cpu time to send or to receive a message."},
          {"O", ParameterType::kReal, "0", "Cpu time per byte sent or received, in ns per byte.",
           from_to("0", "1000000")},
          {"S", ParameterType::kBytes, "auto",
           "Largest eager message; larger ones use rendezvous. auto: the protocol's eager limit; of "
           "generated "
           "traffic all is eager."},
          {"collective_S", ParameterType::kBytes, "auto",
           "The same of collectives in rounds, if it is less: MPI libraries exchange them by blocking calls, "
           "which end when the data have gone. auto: S; of generated traffic ideal's eager limit if no S is "
           "given."},
          {"protocol", ParameterType::kText, "auto",
           "How messages are sent: a protocol and its parameters, see weft list protocol. auto: that of the "
           "MPI "
           "library which the graph is of, else ideal."},
          {"reduction_per_byte", ParameterType::kReal, "0",
           "Cpu time to combine a byte of received data inside a collective, in ns per byte.",
           from_to("0", "1000000")},
          {"reduction_from_memory", ParameterType::kReal, "0",
           "The same of collectives whose vector is larger than the cache; 0: reduction_per_byte.",
           from_to("0", "1000000")},
          {"copy_per_byte", ParameterType::kReal, "0",
           "Cpu time to copy a byte inside a rank, in ns per byte, where an algorithm of a collective moves "
           "blocks (Bruck's) or adds up in a copy of what it was given (reduce-scatters), and of eager "
           "messages at both ends, into and out of buffers.",
           from_to("0", "1000000")},
          {"copy_from_memory", ParameterType::kReal, "0",
           "The same of collectives whose vector is larger than the cache; 0: copy_per_byte.",
           from_to("0", "1000000")},
          {"cache", ParameterType::kBytes, "32MiB",
           "What a core keeps of a vector that it adds up or copies."},
          {"ranks_per_host", ParameterType::kInteger, "1", "Rank r runs on host r / ranks_per_host.",
           from_to("1", "4294967295")},
      }};
  return info;
}

const ModuleInfo& fault_section() {
  static const ModuleInfo info = {
      .name = "fault",
      .summary = "Links that fail, flap, run at a reduced rate or have bit errors.",
      .source = "",
      .parameters = {
          {"link", ParameterType::kText, "",
           "The cables with this name, both directions: 'edge 0.0 / core *', ends as in links.csv; * for "
           "all. 'core * -> edge 0.0': this direction alone, which may be slow or have errors, not be down."},
          {"switch", ParameterType::kText, "", "Or all cables of the switches with this name."},
          {"random_links", ParameterType::kText, "0",
           "Or so many cables, or such a share of them (5%, rounded to one or more), which the seed draws."},
          {"between", ParameterType::kText, "",
           "Where random_links are drawn: cables with this name, * for all; auto: all but those that are a "
           "host's "
           "only one."},
          {"at", ParameterType::kTime, "0s",
           "When it begins; at 0s it was so before the run, and routes go by it."},
          {"until", ParameterType::kTime, "auto", "When it ends, later than `at`; auto: never."},
          {"rate", ParameterType::kReal, "0",
           "What is left of the rate, 0 (down) to 1; by default 1 where bit_error_rate is given."},
          {"bit_error_rate", ParameterType::kReal, "0",
           "Probability that a bit is wrong, which loses its packet; below 1."},
          {"scale_queue", ParameterType::kBoolean, "false",
           "Capacity and marking thresholds of the queue in front of it shrink with the rate, as where they "
           "are "
           "set by port speed, to a full packet at least; false: they stay as they are, in bytes."},
          {"period", ParameterType::kTime, "0s",
           "It comes again after this time, at least until - at; 0: once."},
          {"times", ParameterType::kInteger, "1", "How often it comes in all."},
      }};
  return info;
}

ModuleInfo collectives_section(const Registries& registries) {
  ModuleInfo info{
      .name = "collectives",
      .summary =
          "The algorithm that each kind of collective operation uses: the one named here. auto: the one "
          "that the graph asks for, or the table or the profile chooses, or the first.",
      .source = "",
      .parameters = {}};
  if (!registries.profiles.empty()) {
    std::string known;
    for (const ModuleInfo& profile : registries.profiles) known += (known.empty() ? "" : ", ") + profile.name;
    info.parameters.push_back({"profile", ParameterType::kText, std::string(kByRules),
                               "Whose rules choose by kind, ranks and size. One of: " + known +
                                   ". auto: those of the library which the graph is of (NCCL's where there "
                                   "is a topology); of a graph "
                                   "that names none nccl on nodes of GPUs, else mpich."});
    info.parameters.push_back(
        {"table", ParameterType::kFile, "", "Path of a file of rules that come before the profile's."});
  }
  for (const RegisteredAlgorithm& algorithm : registries.algorithms) {
    const auto same = [&](const ParameterSpec& spec) { return spec.name == algorithm.collective; };
    const auto found = std::find_if(info.parameters.begin(), info.parameters.end(), same);
    if (found == info.parameters.end()) {
      const std::string by_default(registries.profiles.empty() ? algorithm.info.name : kByRules);
      info.parameters.push_back(
          {algorithm.collective, ParameterType::kText, by_default, "One of: " + algorithm.info.name});
    } else {
      found->help += ", " + algorithm.info.name;
    }
  }
  return info;
}

}  // namespace weft::sim
