#include "goal/collectives/nccl/bundle.h"

#include <algorithm>
#include <bit>

#include "goal/collectives/nccl/places.h"
#include "goal/collectives/nccl/work.h"

namespace weft::goal::nccl {
namespace {

struct Sizes {
  explicit Sizes(const CollectiveCall& call)
      : channels(call.options->channels),
        heads(std::min(call.size, call.options->ranks_per_node)),
        nodes(call.options->on_nodes().nodes_of(call.size)),
        chunk(static_cast<double>(chunk_bytes(nodes > 1 ? Shape::kNvlsTree : Shape::kNvls, call))) {
    const auto share = static_cast<double>(ChannelShares({0, call.collective->bytes}, call, 2).most_bytes());
    turns = std::max(1.0, share / (chunk * heads));
  }
  double channels, heads;
  std::uint32_t nodes;
  double chunk, turns = 0;
};

bool is_nvls(const CollectiveAlgorithm& algorithm) {
  return algorithm.kind == CollectiveKind::kAllreduce && algorithm.kernels == GpuKernels::kSwitches;
}

// How many rings there are that differ: inside a node with switches, and through nodes with one rank, all
// channels go the same way; else as many as enter a node at another place.
std::uint32_t different_ways(const CollectiveCall& call) {
  const bool inside = call.options->on_nodes().nodes_of(call.size) == 1;
  if (call.options->in_pairs && inside) return rings_in_pairs(call.size);
  const std::uint32_t rings = nccl::different_rings(*call.options);
  if (!inside && call.options->first_node > 0) return rings;
  const std::uint32_t places = inside ? 1 : call.options->ranks_per_node;
  return rings % places == 0 ? places : rings;
}

std::uint32_t ring_bundle(const CollectiveCall& call, std::uint32_t asked) {
  const std::uint32_t channels = call.options->channels, different = different_ways(call);
  if (channels % different != 0) return 1;
  const bool inside = call.options->on_nodes().nodes_of(call.size) == 1;
  if (asked == 0 && !inside && ring_messages(call) <= kManyMessages) return 1;
  if (asked == 0 && ring_unevenness(call) > kBundleError) return 1;
  const std::uint32_t most = asked == 0 ? channels : asked;
  std::uint32_t best = 1;
  for (std::uint32_t bundle = 2; bundle <= most && bundle <= channels / different; ++bundle) {
    if (channels / different % bundle == 0) best = bundle;
  }
  return best;
}

// Both trees of nodes have as many bundles, and two are left, one of which is at work while the other waits.
bool divides(std::uint32_t channels, std::uint32_t bundle) {
  return channels % bundle == 0 && channels / bundle % 2 == 0;
}

// The node as its messages find it where a GPU has no more than this.
Node behind_links(Node node, double gpu_gbs) {
  if (gpu_gbs <= 0) return node;
  node.nvlink_gbs = node.nvlink_gbs > 0 ? std::min(node.nvlink_gbs, gpu_gbs) : gpu_gbs;
  node.nic_gbs = std::min(node.nic_gbs, gpu_gbs * node.gpus / node.nics);
  return node;
}

}  // namespace

std::uint32_t parse_bundle(const Parameters& parameters) {
  if (parameters.automatic("bundle")) return 0;
  return parameters.whole("bundle");
}

double messages_of(const CollectiveCall& call) {
  const Sizes sizes(call);
  const double of_a_rank = 2 * (sizes.heads - 1) + 2 * (sizes.nodes - 1.0) / sizes.nodes;
  return sizes.channels * sizes.turns * call.size * of_a_rank;
}

double ring_unevenness(const CollectiveCall& call) {
  const auto bytes = static_cast<double>(call.collective->bytes);
  if (bytes <= 0) return 0;
  const bool both = call.collective->kind == CollectiveKind::kAllreduce;
  const ChannelShares shares({0, call.collective->bytes}, call, both ? 2 : call.size);
  return static_cast<double>(shares.most_bytes()) * call.options->channels / bytes - 1;
}

double bundle_error(const CollectiveCall& call, const Node& node, std::uint32_t bundle, double gpu_gbs) {
  const Sizes sizes(call);
  const Node seen = behind_links(node, gpu_gbs);
  // In ns, as GB/s are bytes per ns. In a node: a chunk of each head, by the links of a GPU.
  const double in_node = sizes.chunk * (sizes.heads + 1) * 100 / call.options->efficiency;
  const double turns = sizes.channels * sizes.turns, inside = in_node / seen.nvlink_gbs;
  double least = turns * inside, longer = 2 * inside;
  if (sizes.nodes > 1) {
    // In the one tree a node is a leaf, in the other it has two children: two chunks go out for each channel.
    const double between = sizes.chunk / (seen.nics * seen.nic_gbs / seen.gpus);
    const double turn =
        std::max(between, seen.gpu.channels[static_cast<int>(Protocol::kSimple)].proxy_us * 1e3);
    least = std::max(least, 2 * turns * turn);
    longer += 2 * (std::bit_width(sizes.nodes) - 1) * between;
  }
  return (bundle - 1) * longer / least;
}

std::uint32_t bundle_of(const CollectiveAlgorithm& algorithm, const CollectiveCall& call, const Node& node,
                        std::uint32_t asked, double gpu_gbs) {
  if (is_ring(algorithm, call)) return ring_bundle(call, asked);
  if (!is_nvls(algorithm)) return 1;
  const std::uint32_t channels = call.options->channels;
  const double messages = messages_of(call);
  const auto is_enough = [&](std::uint32_t best, std::uint32_t bundle) {
    return messages / best <= kManyMessages || bundle_error(call, node, bundle, gpu_gbs) > kBundleError;
  };
  std::uint32_t best = 1;
  for (std::uint32_t bundle = 2; bundle <= channels; ++bundle) {
    if (!divides(channels, bundle)) continue;
    if (asked != 0 && bundle > asked) break;
    if (asked == 0 && is_enough(best, bundle)) break;
    best = bundle;
  }
  return best;
}

}  // namespace weft::goal::nccl
