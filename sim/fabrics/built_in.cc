// One table of networks as they are built, so that they can be read side by side. Bytes of headers are all
// that a data packet adds on the wire, preamble and gap of Ethernet included.
#include "sim/fabrics/built_in.h"

namespace weft::fabrics {
namespace {

constexpr const char* kUltraEthernet =
    "Ultra Ethernet Specification 1.0.1; constants of ultraethernet/uet-htsim";
// Made for packets on many ways, which Swift is not: one delay is not the other's. A target of a whole round
// trip is for switches that don't trim.
constexpr const char* kManyPaths = "nscc:target_share=1";
// Where nothing is lost but by broken links, packets that overtake others are no sign of loss.
constexpr const char* kAnyOrder = "selective_repeat:detection=timeout";
constexpr const char* kUetBytes =
    "Header and ACK bytes are those of IPv4 and UDP with the first packet's 44 bytes of semantics; later "
    "packets "
    "have 28 fewer.";
constexpr const char* kMessageRate = "The rate of messages of a NIC is not limited.";
constexpr const char* kSwitchLatency =
    "What a switch takes is the topology's switch_latency, which the fabric leaves alone.";
constexpr const char* kFirstHeader = "First packets of a message have longer headers, which are left out.";
constexpr const char* kPoolThresholds =
    "Real thresholds of PFC follow what is free of a pool of the whole switch; here each port has 2 MB.";
constexpr const char* kCutThrough =
    "Real switches cut through; lossless queues are store-and-forward here, which adds a packet's time per "
    "hop.";

std::string delays(const std::string& each) { return ",send_delay=" + each + ",receive_delay=" + each; }

// Ultra Ethernet leaves the choice of paths open: recycled entropies where paths are equal, and where
// shortest paths alone won't do, what the family's authors recommend.
Fabric uet() {
  return {
      .info = {.name = "uet",
               .summary = "Ultra Ethernet: packets sprayed, switches trim, windows by marks and delay.",
               .source = kUltraEthernet,
               .parameters = {},
               .about =
                   "Paths: entropies that came back unmarked are used again (REPS), which the specification "
                   "leaves open; networks of families with a routing of their own keep that."},
      .doubts = {kUetBytes, kMessageRate, kSwitchLatency,
                 "500 ns in each NIC are from memory; the specification acknowledges every 16 KB, or marks."},
      .routing = {{.policy = std::string(kRecommended), .only_own = true}, {.policy = "reps"}},
      .congestion = "nscc",
      .recovery = "trim_nack",
      .queue = "composite",
      .network = "mtu=4096,header=122,ack=114,ack_every=4" + delays("500ns")};
}

Fabric uet_lossy() {
  return {.info = {.name = "uet_lossy",
                   .summary = "Ultra Ethernet over switches that mark and drop, but don't trim.",
                   .source = kUltraEthernet,
                   .parameters = {}},
          .doubts = {kUetBytes, kMessageRate, kSwitchLatency, "500 ns in each NIC are from memory.",
                     "Loss recovery is as in htsim's model of it."},
          .routing = {{.policy = std::string(kRecommended), .only_own = true}, {.policy = "reps"}},
          .congestion = kManyPaths,
          .recovery = "sleek",
          .queue = "ecn:bdps=5",
          .network = "mtu=4096,header=122,ack=114,ack_every=4" + delays("500ns")};
}

Fabric roce() {
  return {
      .info =
          {.name = "roce",
           .summary = "RoCEv2 with DCQCN over PFC: one path a flow, lossless, go-back-N.",
           .source = "Zhu et al., SIGCOMM 2015; ConnectX defaults; thresholds of NVIDIA Cumulus Linux 5",
           .parameters = {},
           .about =
               "As adapters come from the factory: 5 Mb/s steps every 300 us after the first cut, so rates "
               "take long to come back; operators tune that."},
      .doubts =
          {"Thresholds of 150 kB and 1500 kB are a reading of one vendor's manual; the probability of 5% is "
           "SONiC's.",
           kPoolThresholds, kFirstHeader, kMessageRate, kSwitchLatency,
           "The hyper step, 600 ns in each NIC and 1 us to make a notification are from memory."},
      .routing = {{.policy = "ecmp"}},
      .congestion = "dcqcn:variant=vendor,step=5Mbps,hyper_step=50Mbps,cnp_delay=1us",
      .recovery = "go_back_n",
      .queue = "pfc:xoff=2MB,kmin=150kB,kmax=1500kB,pmax=0.05",
      .network = "mtu=4096,header=82,ack=86,ack_every=4" + delays("600ns")};
}

Fabric spectrum_x() {
  return {
      .info = {.name = "spectrum_x",
               .summary =
                   "RoCE over switches that route each packet by the queues, as NVIDIA's Spectrum-X does.",
               .source = "NVIDIA, Spectrum-X (configuration of its NICs in nic-configuration-operator)",
               .parameters = {}},
      .doubts = {"Its congestion control goes by probes of the round trip, and is not published: Ultra "
                 "Ethernet's stands in.",
                 "Switches there know their neighbours' state, too.", kFirstHeader, kMessageRate,
                 kSwitchLatency, "600 ns in each NIC are from memory."},
      .routing = {{.policy = "minimal_adaptive"}},
      .congestion = kManyPaths,
      .recovery = kAnyOrder,
      .queue = "pfc",
      .network = "mtu=4096,header=82,ack=86,ack_every=4" + delays("600ns")};
}

Fabric infiniband() {
  return {
      .info =
          {.name = "infiniband",
           .summary = "InfiniBand: credits, no congestion control; D-mod-k on trees, else adaptive.",
           .source =
               "InfiniBand Architecture Specification, volume 1; linux-rdma/opensm; E. Zahavi et al., 2010; "
               "A. Shpiner et al., HiPINEB 2017",
           .parameters = {},
           .about =
               "On trees the subnet manager's one path for a destination, in order. Elsewhere adaptive "
               "routing, with NICs that take packets out of order; on Dragonflies packets may decide again "
               "in "
               "the source's group. Congestion control is off, as opensm leaves it: incasts fill the buffers "
               "of others."},
      .doubts = {kCutThrough, "Packets that head a queue for too long are dropped there, and never here.",
                 "A window of 100 packets stands for what a queue pair may have under way.", kFirstHeader,
                 kMessageRate, kSwitchLatency, "300 ns in each NIC are from memory."},
      .routing = {{.families = tree_families(), .policy = "d_mod_k"},
                  {.families = dragonfly_families(),
                   .policy = "par",
                   .why = "which routes adaptively off trees",
                   .recovery = kAnyOrder},
                  {.policy = "minimal_adaptive",
                   .why = "which routes adaptively off trees",
                   .recovery = kAnyOrder}},
      .congestion = "fixed_window",
      .recovery = "go_back_n",
      .queue = "credit",
      .network = "mtu=4096,header=26,ack=30,ack_every=16" + delays("300ns")};
}

Fabric slingshot() {
  return {
      .info =
          {.name = "slingshot",
           .summary =
               "Slingshot: credits, two minimal ways and two detours a packet, control per pair of hosts.",
           .source = "D. De Sensi et al., An in-depth analysis of the Slingshot interconnect, SC 2020",
           .parameters = {}},
      .doubts = {"Its control per pair of hosts is not published: Ultra Ethernet's stands in.", kCutThrough,
                 "Header bytes are those of RoCE on it, not verified; 300 ns in each NIC are from memory.",
                 kMessageRate, kSwitchLatency},
      .routing = {{.families = dragonfly_families(), .policy = "slingshot"},
                  {.families = tree_families(),
                   .policy = "minimal_adaptive",
                   .why = "whose detours trees don't have"},
                  {.policy = std::string(kRecommended), .why = "whose own routing is for Dragonflies"}},
      .congestion = kManyPaths,
      .recovery = kAnyOrder,
      .queue = "credit",
      .network = "mtu=4096,header=62,ack=64" + delays("300ns")};
}

Fabric mrc() {
  return {
      .info =
          {.name = "mrc",
           .summary =
               "Multi-path Reliable Connection: each packet names its way over planes and switches (SRv6).",
           .source = "OCP Multi-path Reliable Connection, 2026; RFC 8986",
           .parameters = {}},
      .doubts = {"With one NIC a host its ways are those of that NIC, and no planes.",
                 "That ports to hosts don't mark is from memory.", kMessageRate, kSwitchLatency,
                 "500 ns in each NIC are from memory."},
      .routing = {{.policy = "srv6"}},
      .congestion = "nscc",
      .recovery = "trim_nack",
      .queue = "composite:mark_to_hosts=false",
      .network = "mtu=4096,header=118,ack=114,ack_every=4" + delays("500ns")};
}

Fabric tcp() {
  return {
      .info = {.name = "tcp",
               .summary = "Data center TCP: DCTCP in the kernel, a path a flow, switches that mark and drop.",
               .source = "RFC 8257; RFC 8985; defaults of Linux",
               .parameters = {},
               .about = "Starts with ten packets and doubles that each round trip. Hosts take 10 us a side."},
      .doubts =
          {"10 us a side and the least timeout of 5 ms are usual values from memory; hosts' cores are not a "
           "limit.",
           kSwitchLatency},
      .routing = {{.policy = "ecmp"}},
      .congestion = "dctcp:initial_window=10,slow_start=true",
      .recovery = "rack",
      .queue = "ecn",
      .network = "mtu=1448,header=90,ack=90,ack_every=2,min_timeout=5ms" + delays("10us")};
}

Fabric lossless_hpc() {
  return {
      .info =
          {.name = "lossless_hpc",
           .summary =
               "A supercomputer's network: credits, the family's own routing, NICs that take any order.",
           .source = "W. Dally, B. Towles, Principles and Practices of Interconnection Networks, 2004",
           .parameters = {},
           .about =
               "No product: what the authors of tori, Dragonflies, Slim Flies and the like take for granted. "
               "Routing is what they recommend; a control by marks and delay keeps queues short. On grids "
               "links go to the oldest packet, as in Cray's tori (D. Abts, D. Weisser, SC 2007): by "
               "arrival, who is near to a busy link would take most of it."},
      .doubts = {"Ultra Ethernet's control stands in: such machines have their own, or none.", kCutThrough,
                 "Header bytes and 300 ns in each NIC are usual sizes, no machine's.", kMessageRate,
                 kSwitchLatency},
      .routing = {{.families = grid_families(),
                   .policy = std::string(kRecommended),
                   .queue = "credit:arbitration=age"},
                  {.policy = std::string(kRecommended)}},
      .congestion = kManyPaths,
      .recovery = kAnyOrder,
      .queue = "credit",
      .network = "mtu=4096,header=64,ack=64" + delays("300ns")};
}

Fabric omni_path() {
  return {.info = {.name = "omni_path",
                   .summary = "Omni-Path: credits, large packets, one ACK for 64 of them.",
                   .source = "Cornelis Networks, CN5000 documentation; ofiwg/libfabric, provider opx",
                   .parameters = {}},
          .doubts = {"Header and ACK bytes are guesses; links carry 64 of 66 bits, so give their net rate.",
                     "Receivers pace incasts there, and not here.", kCutThrough, kMessageRate, kSwitchLatency,
                     "300 ns in each NIC are from memory."},
          .routing = {{.families = tree_families(), .policy = "d_mod_k"},
                      {.policy = "minimal_adaptive", .why = "which routes adaptively off trees"}},
          .congestion = "fixed_window",
          .recovery = kAnyOrder,
          .queue = "credit",
          .network = "mtu=8192,header=64,ack=64,ack_every=64" + delays("300ns")};
}

Fabric tofu_d() {
  return {.info = {.name = "tofu_d",
                   .summary = "Tofu-D: credits, dimension order, short packets.",
                   .source = "Y. Ajima et al., The Tofu Interconnect D, CLUSTER 2018",
                   .parameters = {}},
          .doubts = {"Header bytes are such that 6.35 of a link's 6.8 GB/s are data, as measured; ACK bytes "
                     "are guesses, and 200 ns in each NIC are from memory.",
                     kCutThrough, kMessageRate, kSwitchLatency,
                     "Which packet goes first is not published: the oldest does here, as in Cray's tori."},
          .routing = {{.families = grid_families(), .policy = "dimension_order"},
                      {.policy = std::string(kRecommended),
                       .why = "whose own routing is for grids",
                       .recovery = kAnyOrder}},
          .congestion = "fixed_window",
          .recovery = "go_back_n",
          .queue = "credit:arbitration=age",
          .network = "mtu=1920,header=136,ack=32,nic_choice=near" + delays("200ns")};
}

Fabric efa() {
  return {.info = {.name = "efa",
                   .summary = "EFA: Scalable Reliable Datagrams sprayed over 64 paths of a lossy Ethernet.",
                   .source = "ofiwg/libfabric, provider efa; L. Shalev et al., IEEE Micro 40(6), 2020",
                   .parameters = {}},
          .doubts = {"Its control is not published: Swift stands in.",
                     "Header and ACK bytes and 4 us in each NIC are guesses.", kMessageRate, kSwitchLatency},
          .routing = {{.policy = "spray:paths=64"}},
          .congestion = "swift",
          .recovery = "rack",
          .queue = "droptail",
          .network = "mtu=8192,header=100,ack=64,ack_every=4" + delays("4us")};
}

Fabric falcon() {
  return {
      .info = {.name = "falcon",
               .summary = "Falcon: Swift's windows, a path a flow that changes when it is congested (PLB).",
               .source = "OCP Falcon specification 0.9; Falcon, SIGCOMM 2025",
               .parameters = {}},
      .doubts = {"Falcon's PLB goes by delay, the one here by marks, so its queues mark.",
                 "The window for the receiver's buffer is left out.",
                 "The specification gives no constants; 1 us in each NIC is a guess.", kMessageRate,
                 kSwitchLatency},
      .routing = {{.policy = "plb"}},
      .congestion = "swift",
      .recovery = "rack",
      .queue = "ecn",
      .network = "mtu=4096,header=150,ack=150,ack_every=2" + delays("1us")};
}

Fabric ttpoe() {
  return {
      .info = {.name = "ttpoe",
               .summary =
                   "Tesla's transport over Ethernet: 1 KB packets, an ACK each, no congestion control.",
               .source = "Tesla, TTPoE specification 1.6",
               .parameters = {}},
      .doubts = {"A window of 100 packets and 500 ns in each NIC are guesses.",
                 "Receivers without room refuse packets there, and not here.", kMessageRate, kSwitchLatency},
      .routing = {{.policy = "ecmp"}},
      .congestion = "fixed_window",
      .recovery = "go_back_n",
      .queue = "droptail",
      .network = "mtu=1024,header=88,ack=88" + delays("500ns")};
}

}  // namespace

std::vector<Fabric> built_in_fabrics() {
  return {uet(), uet_lossy(),    roce(),      spectrum_x(), infiniband(), slingshot(), mrc(),
          tcp(), lossless_hpc(), omni_path(), tofu_d(),     efa(),        falcon(),    ttpoe()};
}

}  // namespace weft::fabrics
