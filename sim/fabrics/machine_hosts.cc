#include "sim/fabrics/machine_hosts.h"

#include <algorithm>
#include <array>

namespace weft::fabrics {
namespace {

constexpr HostCosts kInfiniBand = {
    .o = "700ns",
    .reduction_per_byte = "0.16",
    .reduction_from_memory = "0.45",
    .copy_per_byte = "0.03",
    .copy_from_memory = "0.15",
    .library = "Open MPI",
    .profile = "openmpi",
    .protocol = "openmpi_ucx",
    .source =
        "Fitted to collectives measured on Leonardo (Booster) and MareNostrum 5 (ACC) with Open MPI 4.1, "
        "HLC-Lab's pico; topologies/machines/RESULTS.md.",
    .doubt =
        "Nothing was measured on JUPITER, the GPP and the DCGP partition: library and costs are taken from "
        "the others. Jobs on 128 nodes and more took up to twice the time a message that those on 32 did. "
        "Vectors of 64 MiB and more cost 0.3 (MareNostrum) to 0.46 ns a byte (Leonardo) in allreduces; to "
        "copy them first, as reduce-scatters do, cost 0.1 (512 MiB) to 0.4 (64 MiB) more.",
};

// libfabric's CXI provider goes over to rendezvous at 16 KiB. Rings of large blocks reach 7 of 24 GB/s.
constexpr HostCosts kSlingshot = {
    .o = "1us",
    .O = "0.05",
    .reduction_per_byte = "0.25",
    .library = "Cray MPICH",
    .profile = "mpich",
    .protocol = "mpich_ofi:eager_limit=16384",
    .source =
        "Fitted to collectives measured on LUMI-G with Cray MPICH 8.1, HLC-Lab's pico; rendezvous from "
        "16 KiB on: libfabric, prov/cxi.",
    .doubt =
        "Nothing was measured on LUMI-C, Alps and Frontier. Why processors' memory gets no more than 7 "
        "GB/s out of a node of LUMI-G isn't known: O is taken where NICs are at the GPUs, as on Frontier, "
        "too. Three jobs on eight nodes within 20 minutes differed by up to 58%; Cray MPICH has rules of "
        "its own beside MPICH's, which are not public.",
};

constexpr HostCosts kSlingshotAtProcessors = [] {
  HostCosts costs = kSlingshot;
  costs.O = "0";
  return costs;
}();

constexpr HostCosts kTofu = {
    .o = "1us",
    .reduction_per_byte = "0.06",
    .copy_per_byte = "0.05",
    .library = "Fujitsu MPI",
    .profile = "openmpi",
    .protocol = "openmpi_ucx:rails=1,eager_limit=65536",
    .source =
        "Fitted to collectives measured on Fugaku with FJMPI 4.0.1 (quiet: 90th percentiles are 1.04 of "
        "10th), one rank a node, HLC-Lab's pico.",
    .doubt =
        "Profile and rendezvous are Open MPI's, from which Fujitsu's MPI was made: its own algorithms for "
        "the torus, which use up to six interfaces, are not public. Up to 64 KiB messages take as long as "
        "eager ones would.",
};

constexpr auto kMachines = std::to_array<MachineHosts>({
    {"leonardo", &kInfiniBand},
    {"leonardo_booster", &kInfiniBand},
    {"leonardo_dcgp", &kInfiniBand},
    {"lumi_c", &kSlingshotAtProcessors},
    {"lumi_g", &kSlingshot},
    {"alps", &kSlingshotAtProcessors},
    {"frontier", &kSlingshot},
    {"marenostrum5_gpp", &kInfiniBand},
    {"marenostrum5_acc", &kInfiniBand},
    {"jupiter", &kInfiniBand},
    {"fugaku", &kTofu},
});

}  // namespace

std::span<const MachineHosts> machine_hosts() { return kMachines; }

const HostCosts& processor_costs() { return kInfiniBand; }

const HostCosts* host_costs(std::string_view family) {
  const auto* const found = std::ranges::find(kMachines, family, &MachineHosts::family);
  return found == kMachines.end() ? nullptr : found->costs;
}

}  // namespace weft::fabrics
