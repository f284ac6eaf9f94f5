// Links between routers that change their ends in pairs: a–b and c–d become a–d and c–b. No router's number
// of links changes, so any network of the same degrees can be reached. The basis of all random networks here.
// Sources: R. Taylor, "Constrained switchings in graphs", Combinatorial Mathematics VIII, 1981; C.
// Gkantsidis, M. Mihail, E. Zegura, "The Markov chain simulation method for generating connected power law
// random graphs", ALENEX 2003.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/units/random.h"
#include "topologies/families/router_network.h"

namespace weft::topologies {

class LinkSwaps {
 public:
  // `links` may have links of a router to itself, and several between the same two. With `parallel` swaps may
  // make the latter.
  LinkSwaps(std::uint32_t routers, RouterLinks links, bool parallel);

  const RouterLinks& links() const { return links_; }
  // Links i = a–b and j = c–d become a–d and c–b, if no router is then linked to itself or, unless
  // `parallel`, twice to another. Returns whether that was so. Takes as many steps as a router has links.
  bool swap(std::size_t i, std::size_t j);
  // Swaps each link of a router to itself, and each second one between two routers, with others drawn from
  // `random` until there is none. Returns false if that is not to be done in a reasonable number of draws.
  bool make_simple(RandomStream& random);
  // Draws `draws` pairs of those links of which `among` has the numbers, and swaps them where that is
  // possible. With `turning` links are turned round at random, or else the first end of one stays the first
  // end of one.
  void shuffle(const std::vector<std::uint32_t>& among, std::uint64_t draws, bool turning,
               RandomStream& random);
  // Into how many parts that do not reach each other the routers fall, leaving out those without links.
  std::size_t parts() const;
  // Swaps links of which `among` has the numbers until there are `parts` or fewer. Returns false if it finds
  // no way; some may have been swapped then.
  bool join_parts(std::size_t parts, const std::vector<std::uint32_t>& among);

 private:
  void turn(std::size_t i) { std::swap(links_[i].first, links_[i].second); }
  bool linked(std::uint32_t a, std::uint32_t b) const;
  void replace_neighbour(std::uint32_t router, std::uint32_t old, std::uint32_t now);

  bool parallel_;
  RouterLinks links_;
  std::vector<std::uint32_t> begin_;       // of a router's neighbours
  std::vector<std::uint32_t> neighbours_;  // a router linked to itself is there twice
};

}  // namespace weft::topologies
