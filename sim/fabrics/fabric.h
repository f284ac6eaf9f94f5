// A fabric: settings that belong together, as networks of that kind have them. A scenario that names one, or
// is given one for its topology, has these where it leaves them open.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/units/module.h"

namespace weft::fabrics {

// The policy that is meant by this word is the one that is recommended for the topology's family, and takes
// its ways packet by packet where it can (per=packet): the fabric's recovery may not want order.
inline constexpr std::string_view kRecommended = "recommended";
// The word for no fabric: each setting has its own default.
inline constexpr std::string_view kNone = "none";

// Which way packets take on networks of some families.
struct FabricRouting {
  std::vector<std::string> families = {};  // empty: all
  std::string policy = {};                 // short form, or kRecommended
  std::string why = {};                    // a clause that follows "of fabric infiniband, "; may be empty
  std::string recovery = {}, queue = {};   // short form, in the place of the fabric's own; "": that
  bool only_own = false;  // it counts only where another policy than plain ECMP is recommended for the family
};

// Settings are in short form, as users write them: "pfc:kmin=150kB". An empty one is left open.
struct Fabric {
  ModuleInfo info;                          // without parameters
  std::vector<std::string> doubts = {};     // what is from memory, stands in, or is left out: sentences
  std::vector<FabricRouting> routing = {};  // the first whose families hold the topology's counts
  std::string congestion = {}, recovery = {}, queue = {};
  // Parameters of network models, "mtu=4096,header=82"; each model has those that it knows.
  std::string network = {};
};

// What is recommended for families without a routing of their own.
inline constexpr std::string_view kPlainRouting = "ecmp";

// What counts for networks of this family, for which this routing policy is recommended; null: the fabric
// leaves routing open.
const FabricRouting* routing_for(const Fabric& fabric, std::string_view family, std::string_view recommended);

// The policy that it means where `recommended` is recommended for the family, with what it sets of it.
// `has_packets`: there are some to choose for.
ModuleChoice policy_of(const FabricRouting& routing, const ModuleInfo& recommended, bool has_packets);

// Why this routing: "of fabric uet", or "of fabric lossless_hpc, recommended for torus" with that in the end.
std::string reason_of(const Fabric& fabric, const FabricRouting& routing, std::string_view recommended);

}  // namespace weft::fabrics
