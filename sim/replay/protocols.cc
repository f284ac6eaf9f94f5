#include "sim/replay/protocols.h"

#include <algorithm>
#include <string>
#include <vector>

namespace weft::sim {
namespace {

// What a profile says of each parameter.
struct Defaults {
  const char* eager_limit;
  const char* rendezvous;
  const char* fragment;
  const char* pipeline_depth;
  const char* send_buffer;
  const char* rails;
  const char* answers;
};

ModuleInfo profile(const char* name, const char* summary, const char* source, const Defaults& defaults) {
  return {
      .name = name,
      .summary = summary,
      .source = source,
      .parameters = {
          {"eager_limit", ParameterType::kBytes, defaults.eager_limit,
           "Largest message that is sent at once, whether a receive waits for it or not; hosts.S, where "
           "given, counts instead."},
          {"first_fragment", ParameterType::kBytes, "0",
           "Bytes that go with the request of a larger one, no more than the eager limit.", at_most("1GiB")},
          {"rendezvous", ParameterType::kText, defaults.rendezvous,
           "What follows once the receiver is ready: put (the rest in one message), get (the receiver asks "
           "for it and tells when it is there) or pipeline (in fragments).",
           one_of({"put", "get", "pipeline"})},
          {"fragment", ParameterType::kBytes, defaults.fragment, "Size of a fragment of a pipeline.",
           at_least("1B")},
          {"pipeline_depth", ParameterType::kInteger, defaults.pipeline_depth,
           "Fragments of a message that the network has at a time.", from_to("1", "65535")},
          {"send_buffer", ParameterType::kBytes, defaults.send_buffer,
           "Bytes of a connection that a buffer of the sender's system takes: a send ends when no more "
           "are left; 0: when all were sent (RDMA)."},
          {"connections", ParameterType::kInteger, "1",
           "Connections between two ranks, which messages take in turn.", from_to("1", "65535")},
          {"rails", ParameterType::kInteger, defaults.rails,
           "NICs that a message is divided over where a rank has several of its own, in pieces of 16 KiB or "
           "more; network.*.nic_choice=library.",
           from_to("1", "255")},
          {"answers", ParameterType::kText, defaults.answers,
           "Which way what the receiver of a larger message answers goes: apart (on a connection of its own, "
           "as a NIC's requests to read pass the data that it sends) or in_order (behind the data that are "
           "to go to the same rank, as in a socket).",
           one_of({"apart", "in_order"})},
      }};
}

}  // namespace

std::span<const ModuleInfo> protocols() {
  // Where each number is from, and what could not be checked: PROTOCOLS.md.
  static const std::vector<ModuleInfo> kAll = {
      profile("ideal", "Eager up to the limit; larger messages wait for a clear and then go in one piece.",
              "LogGOPS: T. Hoefler, T. Schneider, A. Lumsdaine, LogGOPSim, LSAP 2010",
              {"65548", "put", "131072", "3", "0", "2", "apart"}),
      profile(
          "openmpi_tcp", "Open MPI over TCP: larger messages are put, once the receiver asks for them.",
          "Open MPI 4.1: ompi_info --param btl tcp --level 9; ompi/mca/pml/ob1; Linux: tcp_sndbuf_expand()",
          {"65480", "put", "131072", "3", "170000", "1", "in_order"}),
      profile("openmpi_ucx", "Open MPI over UCX on RDMA: larger messages are got by the receiver.",
              "OpenUCX: ucp/rndv, UCX_RNDV_SCHEME=get_zcopy, UCX_RNDV_THRESH=auto",
              {"16384", "get", "131072", "1", "0", "2", "apart"}),
      profile("mpich_ofi", "MPICH over libfabric's RxM: larger messages are got by the receiver.",
              "libfabric: fi_rxm(7), FI_OFI_RXM_SAR_LIMIT; rendezvous by RMA read",
              {"131072", "get", "131072", "1", "0", "1", "in_order"}),
  };
  return kAll;
}

void apply_protocol(const Parameters& parameters, HostConfig& hosts) {
  hosts.eager_limit_bytes = parameters.bytes("eager_limit");
  hosts.first_fragment_bytes = parameters.bytes("first_fragment");
  if (hosts.first_fragment_bytes > hosts.eager_limit_bytes) {
    parameters.fail("first_fragment", "it must be at most the eager limit");
  }
  const std::string& rendezvous = parameters.text("rendezvous");
  hosts.rendezvous = rendezvous == "get" ? Rendezvous::kGet : Rendezvous::kPut;
  const std::uint64_t fragment = parameters.bytes("fragment");
  const std::uint32_t depth = parameters.whole("pipeline_depth");
  const bool in_fragments = rendezvous == "pipeline";
  hosts.fragment_bytes = in_fragments ? fragment : UINT64_MAX;
  hosts.pipeline_depth = in_fragments ? depth : 1;
  hosts.connections_per_pair = parameters.whole("connections");
  hosts.rails = {.most = parameters.whole("rails"), .by_channel = true};
  hosts.answers_apart = parameters.text("answers") == "apart";
}

}  // namespace weft::sim
