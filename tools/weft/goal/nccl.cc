#include "tools/weft/goal/nccl.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "goal/collectives/nccl/send_recv.h"
#include "goal/collectives/nccl/topology_xml.h"
#include "goal/collectives/nccl/tuner.h"
#include "goal/file.h"
#include "sim/units/input_error.h"
#include "sim/units/module.h"
#include "sim/units/quantity.h"
#include "tools/weft/cli/standard_output.h"

namespace weft::cli {
namespace {

using Json = nlohmann::ordered_json;
using goal::CollectiveKind;
namespace nccl = goal::nccl;

struct NcclOptions {
  std::string collective = "allreduce", bytes, topology_file, algorithms, protocols;
  std::string version = "auto", nic_rate;
  std::optional<std::string> node;
  std::uint32_t ranks = 0;
  std::optional<std::uint32_t> gpus_per_node, nics_per_node, min_channels, max_channels, threads,
      ll128_threads;
  bool json = false;
};

CollectiveKind kind_of(const std::string& text) {
  struct Word {
    const char* word;
    CollectiveKind kind;
  };
  constexpr Word kWords[] = {{"allreduce", CollectiveKind::kAllreduce},
                             {"allgather", CollectiveKind::kAllgather},
                             {"reduce_scatter", CollectiveKind::kReduceScatter},
                             {"reducescatter", CollectiveKind::kReduceScatter},
                             {"broadcast", CollectiveKind::kBcast},
                             {"bcast", CollectiveKind::kBcast},
                             {"reduce", CollectiveKind::kReduce}};
  std::vector<std::string> known = {"send_recv"};
  for (const Word& each : kWords) {
    if (text == each.word) return each.kind;
    known.emplace_back(each.word);
  }
  fail_unknown_name("collective that NCCL tunes", text, known);
}

// As elsewhere, and "64M" as NCCL's own tests write 64 MiB.
std::uint64_t bytes_of(const std::string& text) {
  const bool short_unit =
      text.size() > 1 && std::string_view("KMG").find(text.back()) != std::string_view::npos;
  if (short_unit) return parse_bytes(text + "iB");
  const bool bare = !text.empty() && std::isdigit(static_cast<unsigned char>(text.back()));
  return parse_bytes(bare ? text + "B" : text);
}

nccl::NodeFromXml node_of(const NcclOptions& options) {
  nccl::NodeFromXml result;
  if (options.topology_file.empty()) {
    result.node = nccl::node_preset(options.node.value_or(nccl::kUsualNode));
  } else {
    result = nccl::read_topology(goal::FileView(options.topology_file).bytes(), options.topology_file,
                                 options.node ? &nccl::node_preset(*options.node) : nullptr);
  }
  if (options.gpus_per_node) result.node = with_gpus(result.node, *options.gpus_per_node);
  if (options.nics_per_node) result.node.nics = *options.nics_per_node;
  if (!options.nic_rate.empty()) {
    result.node.nic_gbs = static_cast<double>(parse_bandwidth(options.nic_rate).bps()) / 8e9;
  }
  return result;
}

nccl::Version version_of(const NcclOptions& options, const nccl::Node& node) {
  return options.version == "auto" ? node.version : nccl::parse_version(options.version);
}

nccl::Settings settings_of(const NcclOptions& options, const nccl::Node& node) {
  return {.version = version_of(options, node),
          .algorithms = nccl::Allowed::algorithms(options.algorithms),
          .protocols = nccl::Allowed::protocols(options.protocols),
          .min_channels = options.min_channels,
          .max_channels = options.max_channels,
          .threads = options.threads,
          .ll128_threads = options.ll128_threads};
}

// The runner-up, and by how much it is later.
std::string why(const nccl::Choice& choice) {
  const nccl::Candidate* next = nullptr;
  int usable = 0;
  for (const nccl::Candidate& one : choice.candidates) {
    if (!one.why_not.empty()) continue;
    ++usable;
    const bool is_best = one.algorithm == choice.best.algorithm && one.protocol == choice.best.protocol;
    if (!is_best && (next == nullptr || one.estimate_us < next->estimate_us)) next = &one;
  }
  if (next == nullptr) return "the only one that can be used";
  return fmt::format("the least of {} estimates; next is {} with {}, {:.1f}% later", usable,
                     name(next->algorithm), name(next->protocol),
                     100 * (next->estimate_us / choice.best.estimate_us - 1));
}

Json json_of(const NcclOptions& options, const nccl::Tuner& tuner, const nccl::Choice& choice,
             const std::vector<std::string>& remarks) {
  const nccl::Node& node = tuner.node();
  const nccl::Rings rings = tuner.rings(options.ranks);
  Json json = {{"collective", options.collective},
               {"bytes", choice.bytes},
               {"ranks", options.ranks},
               {"gpus_per_node", node.gpus},
               {"nics_per_node", node.nics},
               {"nic_gbs", node.nic_for_messages_gbs()},
               {"nccl", name(version_of(options, node))},
               {"node", node.label},
               {"algorithm", name(choice.best.algorithm)},
               {"protocol", name(choice.best.protocol)},
               {"channels", choice.channels},
               {"most_channels", choice.most_channels},
               {"threads", choice.threads},
               {"least_chunk", choice.least_chunk_bytes},
               {"chunk_grain", choice.chunk_grain_bytes},
               {"time_us", choice.best.time_us},
               {"wire_us", choice.best.wire_us},
               {"why", why(choice)},
               {"rings",
                {{"found", rings.channels},
                 {"used", rings.used_channels},
                 {"inside_gbs", rings.inside_gbs},
                 {"between_gbs", rings.between_gbs}}}};
  json["candidates"] = Json::array();
  for (const nccl::Candidate& one : choice.candidates) {
    Json entry = {{"algorithm", name(one.algorithm)}, {"protocol", name(one.protocol)}};
    if (one.why_not.empty()) {
      entry["time_us"] = one.time_us;
      entry["estimate_us"] = one.estimate_us;
      entry["wire_us"] = one.wire_us;
      entry["latency_us"] = one.latency_us;
      entry["bandwidth_gbs"] = one.bandwidth_gbs;
    } else {
      entry["time_us"] = nullptr;
      entry["why_not"] = one.why_not;
    }
    json["candidates"].push_back(std::move(entry));
  }
  json["remarks"] = remarks;
  return json;
}

void print_choice(const NcclOptions& options, const nccl::Tuner& tuner, const nccl::Choice& choice,
                  const std::vector<std::string>& remarks) {
  const nccl::Node& node = tuner.node();
  const nccl::Rings rings = tuner.rings(options.ranks);
  print_text(fmt::format("{} of {} bytes on {} ranks, {} a node ({}), NCCL {}\n\n", options.collective,
                         choice.bytes, options.ranks, node.gpus, node.label,
                         name(version_of(options, node))));
  fmt::print("  algorithm  {}\n  protocol   {}\n  channels   {} of {}, {} threads each\n",
             name(choice.best.algorithm), name(choice.best.protocol), choice.channels, choice.most_channels,
             choice.threads);
  fmt::print("  time       {:.1f} us\n  why        {}\n", choice.best.time_us, why(choice));
  if (choice.best.wire_us > 0) {
    fmt::print("  wire       {:.1f} us at least, through {} NICs a node of {:g} GB/s each{}\n",
               choice.best.wire_us, node.nics, node.nic_for_messages_gbs(),
               rings.used_channels < rings.channels
                   ? fmt::format(" ({} of {} rings are used, and what they have of the NICs)",
                                 rings.used_channels, rings.channels)
                   : "");
  }
  fmt::print("  rings      {} found, {:g} GB/s each in a node{}\n\n", rings.channels, rings.inside_gbs,
             options.ranks > node.gpus ? fmt::format(" and {:g} GB/s between nodes", rings.between_gbs) : "");
  fmt::print("  {:<14} {:<7} {:>12} {:>12} {:>11} {:>9}\n", "algorithm", "proto", "time us", "estimate us",
             "latency us", "GB/s");
  for (const nccl::Candidate& one : choice.candidates) {
    fmt::print("  {:<14} {:<7} ", name(one.algorithm), name(one.protocol));
    if (one.why_not.empty()) {
      fmt::print("{:>12.1f} {:>12.1f} {:>11.1f} {:>9.2f}\n", one.time_us, one.estimate_us, one.latency_us,
                 one.bandwidth_gbs);
    } else {
      fmt::print("{}\n", one.why_not);
    }
  }
  for (const std::string& remark : remarks) print_text(fmt::format("\n  Remark: {}.\n", remark));
}

// From the first rank to the last.
void explain_send_recv(const NcclOptions& options, std::uint64_t bytes) {
  const nccl::NodeFromXml from = node_of(options);
  const nccl::Node& node = from.node;
  const bool between = options.ranks > node.gpus;
  const nccl::SendRecv sent = send_recv(node, version_of(options, node), bytes, between);
  if (options.json) {
    const Json json = {{"collective", "send_recv"},
                       {"bytes", bytes},
                       {"ranks", options.ranks},
                       {"gpus_per_node", node.gpus},
                       {"nics_per_node", node.nics},
                       {"nccl", name(version_of(options, node))},
                       {"node", node.label},
                       {"between_nodes", between},
                       {"protocol", name(sent.protocol)},
                       {"channels", sent.channels},
                       {"latency_us", sent.latency_us},
                       {"bandwidth_gbs", sent.gbs},
                       {"time_us", sent.time_us},
                       {"remarks", from.remarks}};
    fmt::print("{}\n", json.dump(2));
    return;
  }
  print_text(fmt::format("send of {} bytes from rank 0 to {}, {} a node ({}), NCCL {}\n\n", bytes,
                         options.ranks - 1, node.gpus, node.label, name(version_of(options, node))));
  fmt::print("  way        {}\n  protocol   {}\n  channels   {}\n  time       {:.1f} us\n",
             between ? "to another node" : "inside a node", name(sent.protocol), sent.channels, sent.time_us);
  fmt::print("  latency    {:.1f} us\n  rate       {:.1f} GB/s\n", sent.latency_us, sent.gbs);
  for (const std::string& remark : from.remarks) print_text(fmt::format("\n  Remark: {}.\n", remark));
}

void explain(const NcclOptions& options) {
  const std::uint64_t bytes = bytes_of(options.bytes);
  if (options.ranks < 2) throw InputError("--ranks must be 2 or more: alone, a rank has nobody to talk to");
  const bool is_send = options.collective == "send_recv" || options.collective == "sendrecv";
  if (is_send) return explain_send_recv(options, bytes);
  const CollectiveKind kind = kind_of(options.collective);
  nccl::NodeFromXml node = node_of(options);
  const nccl::Tuner tuner(node.node, settings_of(options, node.node));
  const nccl::Choice choice = tuner.choose(kind, bytes, options.ranks);
  const std::uint64_t most = node.node.correction.most_bytes;
  if (most > 0 && choice.bytes > most) {
    node.remarks.push_back(fmt::format(
        "the measured allreduces that the times of {} are fitted to end at {:.0f} MB; beyond, times are "
        "drawn to NCCL's own figures, which they are from {:.0f} MB on",
        node.node.label, static_cast<double>(most) * 1e-6,
        std::exp2(nccl::Correction::kBeyond) * static_cast<double>(most) * 1e-6));
  }
  if (options.json) {
    fmt::print("{}\n", json_of(options, tuner, choice, node.remarks)
                           .dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
  } else {
    print_choice(options, tuner, choice, node.remarks);
  }
}

void add_explain(Command parent) {
  Command command = parent.add_subcommand("explain", "What NCCL would choose for a collective, and why");
  auto options = std::make_shared<NcclOptions>();
  command
      .add_option("--collective", options->collective,
                  "allreduce, allgather, reduce_scatter, broadcast or reduce; send_recv: from the first rank "
                  "to the last")
      .with_default();
  command
      .add_option("--bytes", options->bytes,
                  "the vector of allreduce, broadcast and reduce; one rank's block of the others: 64M, 1GiB")
      .required();
  command.add_option("--ranks", options->ranks, "GPUs; consecutive ones share a node").required();
  command.add_option("--gpus-per-node", options->gpus_per_node, "instead of as many as the kind of node has");
  std::string known;
  for (const nccl::NodePreset& preset : nccl::node_presets()) {
    known += fmt::format("{}{}", known.empty() ? "" : ", ", preset.name);
  }
  command.add_option(
      "--node", options->node,
      "kind of node, dgx_h100 if none is given; with a file: of what that leaves open. One of: " + known);
  command.add_option("--topology-file", options->topology_file, "NCCL's topology XML of a node");
  command.add_option("--nics-per-node", options->nics_per_node,
                     "instead of as many for each GPU as the kind of node has");
  command.add_option("--nic-rate", options->nic_rate, "of each NIC, like 400Gbps, instead of the node's");
  command.add_option("--algo", options->algorithms,
                     "as NCCL_ALGO: ring,tree or ^tree or allreduce:tree;broadcast:ring");
  command.add_option("--proto", options->protocols, "as NCCL_PROTO: simple, ll, ll128");
  command.add_option("--min-channels", options->min_channels, "as NCCL_MIN_NCHANNELS");
  command.add_option("--max-channels", options->max_channels, "as NCCL_MAX_NCHANNELS");
  command.add_option("--threads", options->threads, "as NCCL_NTHREADS");
  command.add_option("--ll128-threads", options->ll128_threads, "as NCCL_LL128_NTHREADS");
  command
      .add_option("--nccl-version", options->version,
                  "whose tables and chunks: 2.19, 2.20 or 2.30; auto: the node's, mostly 2.30")
      .with_default();
  command.add_flag("--json", options->json, "as JSON");
  command.footer(
      "Examples:\n  weft nccl explain --collective allreduce --bytes 64M --ranks 128 --gpus-per-node 8\n"
      "  weft nccl explain --bytes 8M --ranks 32 --topology-file node.xml --nic-rate 200Gbps --json");
  command.callback([options] { explain(*options); });
}

}  // namespace

void add_nccl(Command& command, int&) {
  command.require_subcommand();
  command.footer(
      "Example:\n  weft nccl explain --collective allreduce --bytes 64MB --ranks 128 --gpus-per-node 8");
  add_explain(command);
}

}  // namespace weft::cli
