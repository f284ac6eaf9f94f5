#include "goal/import/chakra/rank_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "goal/chakra/chakra.pb.h"
#include "goal/workload/compute/device.h"

namespace weft::goal {
namespace {

namespace pb = ChakraProtoMsg;
constexpr std::int64_t kMostCommSize = std::int64_t{1} << 60;

std::optional<CollectiveKind> kind_of(std::int64_t type) {
  switch (type) {
    case pb::ALL_REDUCE:
      return CollectiveKind::kAllreduce;
    case pb::REDUCE:
      return CollectiveKind::kReduce;
    case pb::ALL_GATHER:
      return CollectiveKind::kAllgather;
    case pb::GATHER:
      return CollectiveKind::kGather;
    case pb::SCATTER:
      return CollectiveKind::kScatter;
    case pb::BROADCAST:
      return CollectiveKind::kBcast;
    case pb::ALL_TO_ALL:
      return CollectiveKind::kAlltoall;
    case pb::REDUCE_SCATTER:
    case pb::REDUCE_SCATTER_BLOCK:
      return CollectiveKind::kReduceScatter;
    case pb::BARRIER:
      return CollectiveKind::kBarrier;
    default:
      return std::nullopt;
  }
}

// comm_size is what a rank puts in; of some kinds the graph has one rank's block.
std::uint64_t block_bytes(CollectiveKind kind, std::uint64_t input, std::uint32_t size) {
  switch (kind) {
    case CollectiveKind::kBarrier:
      return 0;
    case CollectiveKind::kReduceScatter:
    case CollectiveKind::kScatter:
    case CollectiveKind::kAlltoall:
      return (input + size - 1) / size;
    default:
      return input;
  }
}

// What a node says, or what stands for it where it says nothing.
std::int64_t in_range(const ChakraNode& node, const char* name, std::optional<std::int64_t> value,
                      std::int64_t absent, std::int64_t least, std::int64_t most,
                      const SourceLocation& where) {
  if (!value) return absent;
  if (*value >= least && *value <= most) return *value;
  throw InputError(where, fmt::format("node {} ('{}'): {} is {}, where a number from {} to {} is expected",
                                      node.id, node.name, name, *value, least, most));
}

}  // namespace

void ChakraNotes::add(const char* name, Severity severity, const std::string& sentence, std::uint64_t count) {
  for (Anomaly& anomaly : anomalies_) {
    if (anomaly.name != name) continue;
    anomaly.count += count;
    return;
  }
  anomalies_.push_back({name, severity, sentence, count});
}

void ChakraRankBuilder::add(const ChakraNode& node, const SourceLocation& where) {
  const std::uint16_t cpu = cpu_of(node, where);
  const auto nic = static_cast<std::uint8_t>(in_range(node, "nic", node.nic, 0, 0, 255, where));
  OpIndex op = 0;
  switch (node.type) {
    case pb::METADATA_NODE:
      op = builder_.add_calc(0, cpu);
      break;
    case pb::MEM_LOAD_NODE:
    case pb::MEM_STORE_NODE:
    case pb::COMP_NODE:
      op = compute(node, cpu);
      break;
    case pb::COMM_SEND_NODE:
    case pb::COMM_RECV_NODE:
      op = message(node, cpu, nic, where);
      break;
    case pb::COMM_COLL_NODE:
      op = collective(node, cpu, nic, where);
      break;
    default:
      throw InputError(where, fmt::format("node {} ('{}') is of type {}; known are 1 to 7", node.id,
                                          node.name, node.type));
  }
  if (!index_of_.emplace(node.id, op).second) {
    throw InputError(where, fmt::format("node {} ('{}') has the id of an earlier node", node.id, node.name));
  }
  ids_.push_back(node.id);
  const auto add_all = [&](std::vector<std::uint64_t> deps, bool control) {
    std::sort(deps.begin(), deps.end());
    deps.erase(std::unique(deps.begin(), deps.end()), deps.end());
    for (const std::uint64_t on : deps) dependencies_.push_back({op, false, control, on});
  };
  add_all(node.end_deps.value_or(node.data_deps), false);
  if (!node.ctrl_deps.empty() && deps_ != ChakraDeps::kData) {
    std::vector<std::uint64_t> only_control;
    for (const std::uint64_t on : node.ctrl_deps) {
      const auto& data = node.data_deps;
      if (std::find(data.begin(), data.end(), on) == data.end()) only_control.push_back(on);
    }
    add_all(std::move(only_control), true);
  }
  for (const std::uint64_t on : node.start_deps) dependencies_.push_back({op, true, false, on});
}

std::uint16_t ChakraRankBuilder::cpu_of(const ChakraNode& node, const SourceLocation& where) {
  if (node.cpu) {
    if (*node.cpu < 0 || *node.cpu > 0xFFFF) {
      throw InputError(where, fmt::format("node {} is on cpu {}; expected 0 to 65535", node.id, *node.cpu));
    }
    return static_cast<std::uint16_t>(*node.cpu);
  }
  // Where nodes don't say whether they are the host's, all are of one processor.
  if (node.is_cpu_op.value_or(!node.stream)) return 0;
  const std::int64_t stream = node.stream.value_or(0);
  const auto known = cpu_of_stream_.find(stream);
  if (known != cpu_of_stream_.end()) return known->second;
  if (cpu_of_stream_.size() >= 0xFFFF) throw InputError(where, "nodes of more than 65535 streams");
  const auto cpu = static_cast<std::uint16_t>(cpu_of_stream_.size() + 1);
  return cpu_of_stream_.emplace(stream, cpu).first->second;
}

OpIndex ChakraRankBuilder::compute(const ChakraNode& node, std::uint16_t cpu) {
  std::uint64_t ns = node.ns;
  if (ns == 0 && (node.num_ops.value_or(0) > 0 || node.tensor_size.value_or(0) > 0)) {
    ns = reckoned_ns(node);
  } else if (!node.tells_time) {
    notes_.add(
        "nodes_without_time", Severity::kWarning,
        "Compute nodes whose time is null or not there, without operations or bytes to reckon it from; they "
        "take none.");
  }
  if (node.type != pb::COMP_NODE) {
    notes_.add("memory_nodes", Severity::kInfo,
               "Loads and stores of memory, replayed as compute of their duration.");
  }
  return builder_.add_calc(ns, cpu);
}

std::uint64_t ChakraRankBuilder::reckoned_ns(const ChakraNode& node) {
  constexpr double kMostNs = 4e18;
  const std::int64_t num_ops = std::max<std::int64_t>(node.num_ops.value_or(0), 0);
  const auto ops = static_cast<double>(num_ops);
  if (reckoning_.gflops > 0 && num_ops > 0) {
    return static_cast<std::uint64_t>(std::min(std::ceil(ops / reckoning_.gflops), kMostNs));
  }
  if (reckoning_.device == nullptr) {
    notes_.add(
        "compute_without_time", Severity::kWarning,
        "Compute nodes with a number of operations or bytes and no time; they take none (--device h100 "
        "reckons them, or --gflops operations at a rate).");
    return 0;
  }
  notes_.add(
      "reckoned_computations", Severity::kWarning,
      "Compute nodes without a time, reckoned on the device from num_ops and tensor_size: as a product of "
      "square matrices in bf16, or as moving so many bytes if that takes longer or is all they say; shapes "
      "are not in the trace.");
  const auto size = std::max<std::int64_t>(node.tensor_size.value_or(0), 0);
  const auto [at, is_new] = reckoned_.try_emplace({num_ops, size});
  if (is_new) {
    const double edge = std::cbrt(reckoning_.multiply_adds ? ops : ops / 2);
    const auto side = static_cast<std::uint64_t>(std::max(std::llround(edge), 1LL));
    const double product = num_ops > 0 ? reckoning_.device->gemm_ns({.m = side, .n = side, .k = side}) : 0.0;
    const double ns = std::max(product, reckoning_.device->memory_ns(static_cast<double>(bytes_of(size))));
    at->second = static_cast<std::uint64_t>(std::llround(std::min(ns, kMostNs)));
  }
  return at->second;
}

std::uint64_t ChakraRankBuilder::bytes_of(std::int64_t size) const {
  return static_cast<std::uint64_t>(size) * reckoning_.element_bytes;
}

OpIndex ChakraRankBuilder::message(const ChakraNode& node, std::uint16_t cpu, std::uint8_t nic,
                                   const SourceLocation& where) {
  const bool send = node.type == pb::COMM_SEND_NODE;
  const std::optional<std::int64_t> peer = send ? node.comm_dst : node.comm_src;
  if (!peer || !node.comm_size || *node.comm_size < 0) {
    notes_.add("messages_without_peer", Severity::kWarning,
               "Send and receive nodes without comm_size and comm_dst or comm_src; their duration counts as "
               "compute.");
    return builder_.add_calc(node.ns, cpu);
  }
  if (*peer < 0 || *peer >= ranks_) {
    throw InputError(where, fmt::format("node {} {} rank {}, but there are {} ranks", node.id,
                                        send ? "sends to" : "receives from", *peer, ranks_));
  }
  if (copy_) {
    throw InputError(where,
                     fmt::format("node {} is a message to a single rank, so rank {}, which has no file, "
                                 "can't be taken to do the same",
                                 node.id, rank_));
  }
  const std::int64_t tag = node.comm_tag.value_or(0);
  if (tag < 0 || tag >= kAny) throw InputError(where, fmt::format("node {} has tag {}", node.id, tag));
  const ChakraGroup& group = group_of(node, where);
  const std::int64_t most =
      std::numeric_limits<std::int64_t>::max() / static_cast<std::int64_t>(reckoning_.element_bytes);
  const std::uint64_t bytes = bytes_of(in_range(node, "comm_size", node.comm_size, 0, 0, most, where));
  if (send) {
    return builder_.add({.kind = {OpKind::kSend, node.synchronous},
                         .nic = nic,
                         .cpu = cpu,
                         .peer = static_cast<std::uint32_t>(*peer),
                         .tag = static_cast<std::uint32_t>(tag),
                         .comm = group.number,
                         .value = bytes});
  }
  return builder_.add_recv(bytes, static_cast<Rank>(*peer), static_cast<std::uint32_t>(tag), cpu, nic,
                           group.number);
}

OpIndex ChakraRankBuilder::of_unknown_size(const ChakraNode& node, std::uint16_t cpu) {
  notes_.add("communication_of_unknown_size", Severity::kWarning,
             "Collectives without comm_type or comm_size; their duration counts as compute.");
  return builder_.add_calc(node.ns, cpu);
}

OpIndex ChakraRankBuilder::collective(const ChakraNode& node, std::uint16_t cpu, std::uint8_t nic,
                                      const SourceLocation& where) {
  if (!node.comm_type) {
    if (node.is_cpu_op.value_or(false)) {
      notes_.add("host_calls", Severity::kInfo,
                 "The host's calls of collectives, beside those that the GPU carries out; compute.");
      return builder_.add_calc(node.ns, cpu);
    }
    return of_unknown_size(node, cpu);
  }
  const auto kind = kind_of(*node.comm_type);
  if (!kind) {
    throw InputError(where, fmt::format("node {} ('{}') is a collective of type {}; known are 0 to 9",
                                        node.id, node.name, *node.comm_type));
  }
  if (!node.comm_size && *kind != CollectiveKind::kBarrier) return of_unknown_size(node, cpu);
  const ChakraGroup& group = group_of(node, where);
  const auto size = group.ranks.empty() ? ranks_ : static_cast<std::uint32_t>(group.ranks.size());
  if (!group.ranks.empty() && std::find(group.ranks.begin(), group.ranks.end(), rank_) == group.ranks.end()) {
    throw InputError(
        where, fmt::format("node {} of rank {} is a collective of group '{}', which it is not in", node.id,
                           rank_, node.pg_name));
  }
  Collective made{.kind = *kind, .comm = group.number, .algorithm = node.algorithm};
  const std::uint64_t input =
      bytes_of(in_range(node, "comm_size", node.comm_size, 0, 0, kMostCommSize, where));
  made.bytes = block_bytes(*kind, input, size);
  made.element_bytes =
      static_cast<std::uint32_t>(in_range(node, "element_bytes", node.element_bytes, 1, 1, 1 << 20, where));
  if (has_root(*kind)) {
    if (!node.root) {
      notes_.add("assumed_roots", Severity::kInfo,
                 "Collectives whose root the trace does not name; the group's first rank was taken.");
    }
    made.root = static_cast<std::uint32_t>(in_range(node, "root", node.root, 0, 0, size - 1, where));
  }
  if (node.v_form) {
    const bool fits = (node.counts.empty() || node.counts.size() == size) &&
                      (node.receive_counts.empty() || node.receive_counts.size() == size);
    if (!fits)
      throw InputError(where, fmt::format("node {} has not one count for each of {} ranks", node.id, size));
    made.v_form = *node.v_form;
    made.bytes = static_cast<std::uint64_t>(
        in_range(node, "block_bytes", node.block_bytes, 0, 0, kMostCommSize, where));
    made.counts = node.counts;
    made.receive_counts = node.receive_counts;
  }
  return builder_.add_collective(made, cpu, nic);
}

const ChakraGroup& ChakraRankBuilder::group_of(const ChakraNode& node, const SourceLocation& where) {
  static const ChakraGroup world;
  if (node.pg_name.empty()) {
    if (node.involves_part) {
      notes_.add("involved_dimensions", Severity::kWarning,
                 "Collectives of some dimensions of a machine (involved_dim) without a group; all ranks were "
                 "taken.");
    }
    return world;
  }
  const auto found = groups_.find(node.pg_name);
  if (found != groups_.end()) return found->second;
  if (node.pg_name == "0") return world;  // as ASTRA-sim has it
  if (have_groups_) {
    throw InputError(where, fmt::format("node {} names group '{}', which the file of groups lacks", node.id,
                                        node.pg_name));
  }
  notes_.add("assumed_groups", Severity::kWarning,
             "Nodes that name a communicator group, of which no file tells the ranks; all ranks were taken.");
  return world;
}

void ChakraRankBuilder::finish(const std::string& file) {
  const std::string circle = cycle(edges(true));
  bool control = true;
  if (!circle.empty()) {
    control = false;
    const std::string rest = deps_ == ChakraDeps::kAuto ? cycle(edges(false)) : circle;
    if (!rest.empty()) throw InputError({file}, "nodes wait for each other in a circle: " + rest);
  }
  for (const Dependency& dependency : dependencies_) {
    const auto found = index_of_.find(dependency.on);
    if (dependency.control && !control) {
      notes_.add("control_dependencies_left_out", Severity::kWarning,
                 "Control dependencies left out, as they and those of data make a circle: " + circle);
    } else if (found == index_of_.end()) {
      notes_.add("missing_dependencies", Severity::kInfo,
                 "Dependencies on nodes that the trace does not have (converters leave out what takes no "
                 "time); nothing waits for them.");
    } else {
      builder_.add_edge(found->second, dependency.node, dependency.on_start);
    }
  }
  builder_.end_rank();
}

ChakraRankBuilder::Edges ChakraRankBuilder::edges(bool with_control) const {
  Edges edges;
  edges.reserve(dependencies_.size());
  for (const Dependency& dependency : dependencies_) {
    const auto found = index_of_.find(dependency.on);
    if (found == index_of_.end() || (dependency.control && !with_control)) continue;
    edges.emplace_back(found->second, dependency.node);
  }
  return edges;
}

std::string ChakraRankBuilder::cycle(const Edges& edges) const {
  std::vector<std::uint32_t> waits(ids_.size()), begin(ids_.size() + 1), dependents(edges.size());
  for (const auto& [first, second] : edges) {
    ++waits[second];
    ++begin[first + 1];
  }
  for (std::size_t i = 1; i < begin.size(); ++i) begin[i] += begin[i - 1];
  std::vector<std::uint32_t> next = begin;
  for (const auto& [first, second] : edges) dependents[next[first]++] = second;
  std::vector<OpIndex> ready;
  for (OpIndex i = 0; i < ids_.size(); ++i) {
    if (waits[i] == 0) ready.push_back(i);
  }
  std::size_t done = 0;
  for (; done < ready.size(); ++done) {
    const OpIndex op = ready[done];
    for (std::uint32_t e = begin[op]; e < begin[op + 1]; ++e) {
      if (--waits[dependents[e]] == 0) ready.push_back(dependents[e]);
    }
  }
  if (done == ids_.size()) return "";
  // Who is left waits for one who is left: going back from any ends in a cycle.
  std::vector<OpIndex> before(ids_.size());
  for (const auto& [first, second] : edges) {
    if (waits[first] > 0) before[second] = first;
  }
  const auto left = std::find_if(waits.begin(), waits.end(), [](std::uint32_t n) { return n > 0; });
  auto at = static_cast<OpIndex>(left - waits.begin());
  for (std::size_t i = 0; i < ids_.size(); ++i) at = before[at];
  std::string text = fmt::format("node {}", ids_[at]);
  OpIndex other = before[at];
  for (int i = 0; i < 10 && other != at; ++i, other = before[other]) {
    text += fmt::format(" waits for {}, which", ids_[other]);
  }
  if (other != at) text += " waits for others, which";
  return fmt::format("{} waits for {} ({} nodes can never run)", text, ids_[at], ids_.size() - done);
}

}  // namespace weft::goal
