#pragma once

#include "sim/routing/routing.h"

namespace weft::routing {

// Source routes with path states, as multi-path RDMA NICs keep them (MRC): a connection has a profile of
// `paths` shortest ways, as many through each NIC of its host as through any other (a NIC stands for a
// plane), and `backups` more. Packets take the planes in turn, and the ways of a plane in turn:
//
// - good: it takes its turn.
// - skip: an ACK with a mark, or a trimmed packet, lets it miss its next turn; the plane's next way is taken.
// - assumed bad: a packet was lost without a word. A backup of the same plane takes its place; where there is
//   none left, the plane's other ways share what it had. A plane without any way is left out.
// - denied: by the user; such ways are never drawn.
//
// One way assumed bad of each plane is tried every `probe`, the one that waited longest. The probe is the
// next packet that is sent for the first time. If it is acknowledged, or another packet of the way, which was
// only late then, the way is good again, or a backup, and the next two are tried at once, so that a plane
// comes back within some round trips. Where all ways are
// assumed bad, packets take them in turn.
//
// A queue that trims tells congestion from failure: with others every drop is taken for a failed way. Marks
// count wherever they are set, those of the link to the destination too, where all ways meet: they only
// change the order of ways then. MRC leaves marking off there.
Policy srv6();

}  // namespace weft::routing
