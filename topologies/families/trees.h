// Folded Clos networks: switches in tiers, hosts at the bottom.
#pragma once

#include <vector>

#include "topologies/graph/topology.h"

namespace weft::topologies {

// All hosts on one switch: nothing but the hosts' own links can be contended.
Family single_switch();

// Two-level folded Clos: every leaf is linked to every spine. With R the links from a leaf up and H its
// hosts, the oversubscription is H·host_link : R·link. `uplinks` sets R where it is no multiple of the number
// of spines: leaf l's links then go on with the spine after that of leaf l-1's last. `cores` adds a third
// level: all spines' links up, as many as down, are dealt to the cores in turn, whatever the numbers (the
// tapered trees of the HammingMesh cost table). REQUIRES, for paths of four hops between all leaves: enough
// links up to reach all cores.
Family leaf_spine();

// The two-level fat tree of k-port switches: k leaves with k/2 hosts each and one link to each of k/2 spines.
Family fat_tree2();

// The three-level fat tree of k-port switches: k pods of k/2 edge and k/2 aggregation switches, and (k/2)²
// cores. Aggregation switch i of every pod is linked to cores i·k/2 … (i+1)·k/2 - 1. An edge switch has
// oversubscription·k/2 hosts and k/2 links up, so oversubscription 2 gives k hosts on each edge switch of
// radix 3k/2, k³/2 in all. Hosts are numbered by pod, then edge switch.
Family fat_tree();

// The k-ary n-tree: n levels of k^(n-1) switches, k^n hosts, every switch with k links down and, below the
// top, k up. Between switches of level 1 the diameter is 2(n - 1). Numbering: xgft().
Family k_ary_n_tree();

// The extended generalized fat tree XGFT(h; m_1 … m_h; w_1 … w_h): a switch of level i has m_i children, and
// what is on level i - 1 (hosts on level 0) has w_i parents. Level i has Π_{j>i} m_j · Π_{j≤i} w_j nodes,
// there are Π m_j hosts with w_1 links each. w_{i+1} below m_i tapers the tree above level i. Switches are
// numbered by level from below, then by subtree. The fat tree of k-port switches is
// m=(k/2)x(k/2)xk, w=1x(k/2)x(k/2).
Family xgft();

// Several planes of fat_tree2() for the same k²/2 hosts: NIC i of a host is on its leaf in plane i. With 8
// planes of 64-port switches 2,048 hosts of 8 NICs, which are 16,384 endpoints if each NIC serves one
// accelerator (scale_up). Leaves are numbered first, by plane.
Family multi_plane();

// Rail-optimized leaf-spine: units of `nodes` hosts with `rails` NICs; NIC r of all hosts of a unit is on the
// unit's leaf r. Leaves have as many links up as down, spread evenly over the spines. With leaves of 64 ports
// 1 to 4 units of 32 hosts and 8 rails have 4, 8, 16 and 16 spines.
Family rail_optimized();

// One pod of Alibaba HPN: segments of `nodes` hosts with `rails` NICs of two ports. Port p of NIC r is the
// host's link 2r + p, on the segment's leaf of rail r in plane p, which is linked to all aggregation switches
// of that plane. The core above, 15:1 oversubscribed, that joins pods is not built. 15 segments of 128 hosts
// with 8 accelerators each are 15,360.
Family hpn();

// All of the above, in the order of `weft list topology`.
std::vector<Family> tree_families();

}  // namespace weft::topologies
