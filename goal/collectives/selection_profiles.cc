#include "goal/collectives/selection_profiles.h"

#include <algorithm>
#include <string>
#include <vector>

#include "goal/collectives/nccl/node.h"

namespace weft::goal {
namespace {

std::string_view table_of(std::string_view profile) {
  const auto all = profile_texts();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const ProfileText& text) { return text.name == profile; });
  return found == all.end() ? std::string_view() : found->text;
}

std::vector<ParameterSpec> nccl_parameters() {
  std::string known;
  for (const nccl::NodePreset& preset : nccl::node_presets()) {
    known += (known.empty() ? "" : ", ") + std::string(preset.name);
  }
  std::string gpus;
  for (const nccl::GpuPreset& preset : nccl::gpu_presets()) {
    gpus += (gpus.empty() ? "" : ", ") + std::string(preset.name);
  }
  std::vector<ParameterSpec> all = {
      {"node", ParameterType::kText, nccl::kUsualNode, "Kind of node. One of: " + known + "."},
      {"gpus_per_node", ParameterType::kInteger, "auto",
       "Consecutive ranks of a node; auto: as many as it has.", from_to("1", "1024")},
      {"nics_per_node", ParameterType::kInteger, "auto", "NICs of a node; auto: as many a GPU as the node's.",
       from_to("1", "1024")},
      {"in_pairs", ParameterType::kBoolean, "auto",
       "Each GPU of a node has links to each other one instead of switches; auto: the node's."},
      {"nic_rate", ParameterType::kBandwidth, "auto", "Of each NIC; auto: the node's."},
      {"algo", ParameterType::kText, "", "As NCCL_ALGO; a list stands in brackets: [ring,tree]."},
      {"proto", ParameterType::kText, "", "As NCCL_PROTO: simple, ll, ll128."},
      {"min_channels", ParameterType::kInteger, "auto", "As NCCL_MIN_NCHANNELS.", from_to("1", "64")},
      {"max_channels", ParameterType::kInteger, "auto", "As NCCL_MAX_NCHANNELS.", from_to("1", "64")},
      {"threads", ParameterType::kInteger, "auto", "As NCCL_NTHREADS.", from_to("1", "512")},
      {"version", ParameterType::kText, "auto",
       "Of NCCL, whose tables and chunks: 2.19, 2.20 or 2.30; auto: the node's, mostly 2.30."},
      {"gpu", ParameterType::kText, "auto",
       "What channels cost, also of algorithms that a graph or the user names; auto: the node's. One of: " +
           gpus + "."},
      {"bundle", ParameterType::kInteger, "auto",
       "Channels of an allreduce with NVLS that go as one, the same way at the same time; 1: each on its "
       "own. "
       "auto: at flow level, where hosts.o is 0, in collectives of very many messages, as many as leave "
       "times "
       "within 1%.",
       from_to("1", "64")},
  };
  for (ParameterSpec& spec : nccl::gpu_parameters()) all.push_back(std::move(spec));
  return all;
}

std::vector<SelectionProfile> list_profiles() {
  std::vector<SelectionProfile> all = {
      {{"default", "The first algorithm of each kind, whatever the size.", "Weft", {}}, {}},
      {{"openmpi",
        "The fixed decision rules of Open MPI 4.1 for commutative operations.",
        "Open MPI 4.1, ompi/mca/coll/tuned/coll_tuned_decision_fixed.c",
        {}},
       {},
       "Open MPI"},
      {{"mpich",
        "The default rules of MPICH 4, with one process a node.",
        "MPICH 4, src/mpi/coll/coll_selection.json",
        {}},
       {},
       "MPICH"},
      {{std::string(kNcclProfile),
        "What NCCL would choose by its estimates, for ranks that are GPUs; see weft nccl explain.",
        "NCCL 2.19, 2.20 and 2.30, src/graph/tuning.cc", nccl_parameters()},
       {}},
  };
  for (SelectionProfile& profile : all) profile.table = table_of(profile.info.name);
  return all;
}

}  // namespace

const SelectionProfile* profile_of_library(std::string_view version) {
  const auto found = std::ranges::find_if(selection_profiles(), [&](const SelectionProfile& profile) {
    return !profile.library.empty() && version.starts_with(profile.library);
  });
  return found == selection_profiles().end() ? nullptr : &*found;
}

std::string_view profile_name_of_library(std::string_view version) {
  const SelectionProfile* const known = profile_of_library(version);
  return known == nullptr ? kUsualProfile : std::string_view(known->info.name);
}

std::span<const SelectionProfile> selection_profiles() {
  static const std::vector<SelectionProfile> kAll = list_profiles();
  return kAll;
}

}  // namespace weft::goal
