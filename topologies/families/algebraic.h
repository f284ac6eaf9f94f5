// Networks from algebra: few hops between many routers, close to what a degree and a diameter allow at most
// (the Moore bound).
#pragma once

#include <vector>

#include "topologies/graph/topology.h"

namespace weft::topologies {

// Slim Fly: the McKay–Miller–Širáň graphs (algebraic_graphs.h). q = 4w + δ a prime power from 3 on, δ in
// {-1, 0, 1}: 2q² routers of degree (3q - δ)/2, diameter 2, balanced with ⌈degree/2⌉ hosts on each. Routers
// (s, a, b) are numbered s·q² + a·q + b; a subgroup (s, a) is a group, the subgroups (0, a) and (1, a) make
// rack a.
Family slim_fly();

// PolarFly: the Erdős–Rényi polarity graph of PG(2, q), q a prime power: q² + q + 1 routers of degree q + 1
// (the q + 1 quadrics: q), diameter 2, exactly one path of two links between any two, balanced with
// ⌊(q + 1)/2⌋ hosts. Numbered by cluster, and each cluster is a group and a rack: cluster 0 are the quadrics;
// the others have a neighbour of quadric 0 in the middle, which comes first, and its neighbours around it.
// For odd q these are q clusters of q. For even q one neighbour of quadric 0, that of all quadrics, joins
// cluster 0, which leaves q - 1 clusters of q + 1.
Family polarfly();

// PolarStar: the star product of the polarity graph of PG(2, q) and the Paley graph of GF(q2), q2 ≡ 1 mod 4:
// (q² + q + 1)·q2 routers of degree q + 1 + (q2 - 1)/2 (a few have one less), diameter 3. Router x of
// supernode u is number u·q2 + x; a supernode is a group. A third as many hosts as links by default.
Family polarstar();

// BundleFly: the star product of the McKay–Miller–Širáň graph of q1 and the Paley graph of GF(q2), q2 ≡ 1
// mod 4: 2·q1²·q2 routers of degree (3·q1 - δ)/2 + (q2 - 1)/2, diameter 3 or less. Router x of bundle u is
// number u·q2 + x; a bundle is a group. A third as many hosts as links by default.
Family bundlefly();

// OFT, the two-level orthogonal fat tree, of the projective plane PG(2, k - 1), k - 1 a prime power: each of
// its N = k² - k + 1 lines is a router of level 0 and one of level 2, each point one of level 1, which is
// linked to the lines through it. Levels 0 and 2 (numbers 0 to 2N - 1, tier 1) have k links and, balanced, k
// hosts; level 1 (tier 2) has 2k links. Two links between all routers with hosts; k shortest paths between
// the two of one line, which are a group, else one.
Family oft();

// MLFM, the multi-layer full mesh: h layers of h + 1 local routers, each with h links and, balanced, h hosts,
// and a global router for each two places of a layer, linked to both in every layer (2h links). Two links
// between all local routers. Routers with hosts are numbered by layer, then place; a layer is a group.
Family mlfm();

// SpectralFly: the Ramanujan graphs of Lubotzky, Phillips and Sarnak for odd primes p and q, q > 2√p: a
// Cayley graph of PGL(2, q) (q³ - q routers, bipartite) if p is no square mod q, else of PSL(2, q) (half as
// many), of degree p + 1. No eigenvalue but ±degree is above 2√p. Numbered as found from the identity in
// breadth; p - 1 hosts by default.
Family spectralfly();

// The Kautz graph, its arcs taken as links: routers are the words of n letters out of b + 1 in which no
// letter follows itself, in alphabetic order; a word is linked to those that drop its first letter and add a
// last one. (b + 1)·b^(n-1) routers of degree 2b or, where two arcs coincide, 2b - 1; diameter n. b hosts by
// default.
Family kautz();

// Delorme's polarity graph of the generalized quadrangle W(q), for q = 2, 8 or 32: (q + 1)(q² + 1) routers,
// the points of PG(3, q), of degree q + 1 (the q² + 1 absolute points: q), diameter 3. (q + 1)/3 hosts by
// default.
Family delorme();

// The arrangement graph A(n, k): routers are the ordered choices of k out of n symbols, in alphabetic order,
// linked where they differ in one place. n!/(n - k)! routers of degree k(n - k), diameter ⌊3k/2⌋. n + 1 hosts
// by default.
Family arrangement();

// All of the above, in the order of `weft list topology`.
std::vector<Family> algebraic_families();

}  // namespace weft::topologies
