#include "sim/routing/table/grid_hops.h"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

namespace weft::routing {

class GridHops::Builder {
 public:
  Builder(const topologies::Topology& topology, const SwitchLinks& links) : links_(links) {
    merge(topology.grid());
    switches_ = 1;
    for (const std::uint32_t size : sizes_) switches_ *= size;
    most_ports_ = 0;
    for (std::uint32_t s = 0; s < links.switches(); ++s)
      most_ports_ = std::max(most_ports_, links.of(s).size());
  }

  bool build(std::size_t most_bytes, GridHops& hops) {
    if (switches_ != links_.switches() || estimate() > most_bytes) return false;
    hops.dimensions_ = static_cast<std::uint32_t>(sizes_.size());
    hops.words_ = static_cast<std::uint32_t>((most_ports_ + 63) / 64);
    set_coordinates(hops);
    if (!find_ends(hops) || !is_product() || !measure()) return false;
    fill(hops);
    return true;
  }

 private:
  // Neighbouring dimensions are taken together up to this size: fewer look-ups, for sets that are still few.
  static constexpr std::uint64_t kMostTogether = 256;
  static constexpr std::uint32_t kFar = UINT32_MAX;

  // Where a link leads: it changes one coordinate.
  struct End {
    std::uint32_t dimension = 0, coordinate = 0;
    auto operator<=>(const End&) const = default;
  };

  void merge(const std::vector<std::uint32_t>& sizes) {
    for (const std::uint32_t size : sizes) {
      if (!sizes_.empty() && sizes_.back() * size <= kMostTogether) {
        sizes_.back() *= size;
      } else {
        sizes_.push_back(size);
      }
    }
  }

  // If all lines have their ports in the same order.
  std::uint64_t estimate() const {
    std::uint64_t bytes = 2 * sizeof(std::uint32_t) * switches_ * sizes_.size();
    for (const std::uint64_t size : sizes_)
      bytes += size * size * ((most_ports_ + 63) / 64) * sizeof(std::uint64_t);
    return bytes;
  }

  void set_coordinates(GridHops& hops) const {
    hops.coordinates_.resize(switches_ * sizes_.size());
    for (std::uint32_t s = 0; s < switches_; ++s) {
      std::uint32_t rest = s;
      for (std::size_t d = sizes_.size(); d-- > 0;) {
        hops.coordinates_[s * sizes_.size() + d] = static_cast<std::uint32_t>(rest % sizes_[d]);
        rest /= static_cast<std::uint32_t>(sizes_[d]);
      }
    }
  }

  // False if a link changes more than one coordinate.
  bool find_ends(const GridHops& hops) {
    const std::size_t dimensions = sizes_.size();
    const auto coordinates = [&](std::uint32_t s) { return hops.coordinates_.data() + s * dimensions; };
    ends_.resize(switches_);
    for (std::uint32_t s = 0; s < switches_; ++s) {
      for (const SwitchLink& link : links_.of(s)) {
        std::uint32_t changed = 0;
        End end;
        for (std::uint32_t d = 0; d < dimensions; ++d) {
          if (coordinates(s)[d] == coordinates(link.to)[d]) continue;
          end = {d, coordinates(link.to)[d]};
          ++changed;
        }
        if (changed != 1) return false;
        ends_[s].push_back(end);
      }
    }
    return true;
  }

  // Every switch has the neighbours that those of the lines through switch 0 have.
  bool is_product() {
    std::uint64_t stride = switches_;
    lines_.resize(sizes_.size());
    std::vector<std::uint64_t> strides;
    for (std::uint32_t d = 0; d < sizes_.size(); ++d) {
      stride /= sizes_[d];
      strides.push_back(stride);
      lines_[d].resize(sizes_[d]);
      for (std::uint64_t x = 0; x < sizes_[d]; ++x) {
        for (const End& end : ends_[x * stride]) {
          if (end.dimension == d) lines_[d][x].push_back(end.coordinate);
        }
        sort_unique(lines_[d][x]);
      }
    }
    std::vector<End> found, expected;
    for (std::uint64_t s = 0; s < switches_; ++s) {
      found = ends_[s];
      sort_unique(found);
      expected.clear();
      for (std::uint32_t d = 0; d < sizes_.size(); ++d) {
        for (const std::uint32_t x : lines_[d][s / strides[d] % sizes_[d]]) expected.push_back({d, x});
      }
      if (found != expected) return false;
    }
    return true;
  }

  template <typename T>
  static void sort_unique(std::vector<T>& values) {
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
  }

  // The distances along the lines. False if a line falls into parts.
  bool measure() {
    distances_.resize(sizes_.size());
    std::vector<std::uint32_t> frontier;
    for (std::size_t d = 0; d < sizes_.size(); ++d) {
      distances_[d].assign(sizes_[d] * sizes_[d], kFar);
      for (std::uint32_t from = 0; from < sizes_[d]; ++from) {
        std::uint32_t* const distance = distances_[d].data() + from * sizes_[d];
        distance[from] = 0;
        frontier.assign(1, from);
        for (std::size_t next = 0; next < frontier.size(); ++next) {
          for (const std::uint32_t x : lines_[d][frontier[next]]) {
            if (distance[x] != kFar) continue;
            distance[x] = distance[frontier[next]] + 1;
            frontier.push_back(x);
          }
        }
        if (frontier.size() != sizes_[d]) return false;
      }
    }
    return true;
  }

  void fill(GridHops& hops) const {
    // What a row depends on: its dimension and coordinate, and where the ports of that dimension lead.
    std::map<std::vector<std::uint32_t>, std::uint32_t> known;
    std::vector<std::uint32_t> key;
    hops.rows_.resize(switches_ * sizes_.size());
    for (std::uint64_t s = 0; s < switches_; ++s) {
      for (std::uint32_t d = 0; d < sizes_.size(); ++d) {
        const std::uint32_t at = hops.coordinates_[s * sizes_.size() + d];
        key = {d, at};
        for (std::uint32_t port = 0; port < ends_[s].size(); ++port) {
          if (ends_[s][port].dimension == d) key.insert(key.end(), {port, ends_[s][port].coordinate});
        }
        const auto [position, is_new] = known.emplace(key, static_cast<std::uint32_t>(hops.sets_.size()));
        hops.rows_[s * sizes_.size() + d] = position->second;
        if (is_new) add_row(d, at, ends_[s], hops);
      }
    }
    hops.sets_.shrink_to_fit();
  }

  void add_row(std::uint32_t d, std::uint32_t at, const std::vector<End>& ends, GridHops& hops) const {
    const std::uint64_t size = sizes_[d];
    const std::size_t first = hops.sets_.size();
    hops.sets_.resize(first + size * hops.words_);
    for (std::uint64_t to = 0; to < size; ++to) {
      std::uint64_t* const mask = hops.sets_.data() + first + to * hops.words_;
      const auto distance = [&](std::uint32_t from) { return distances_[d][from * size + to]; };
      for (std::size_t port = 0; port < ends.size(); ++port) {
        if (ends[port].dimension != d || distance(ends[port].coordinate) + 1 != distance(at)) continue;
        mask[port / 64] |= std::uint64_t{1} << (port % 64);
      }
    }
  }

  const SwitchLinks& links_;
  std::vector<std::uint64_t> sizes_;
  std::uint64_t switches_ = 0;
  std::size_t most_ports_ = 0;
  std::vector<std::vector<End>> ends_;                          // by switch and port
  std::vector<std::vector<std::vector<std::uint32_t>>> lines_;  // neighbours, by dimension and coordinate
  std::vector<std::vector<std::uint32_t>> distances_;           // by dimension: [from][to]
};

std::unique_ptr<const GridHops> GridHops::make(const topologies::Topology& topology, const SwitchLinks& links,
                                               std::size_t most_bytes) {
  if (topology.grid().empty()) return nullptr;
  auto hops = std::make_unique<GridHops>();
  if (!Builder(topology, links).build(most_bytes, *hops)) return nullptr;
  return hops;
}

std::size_t GridHops::next(std::uint32_t s, std::uint32_t t, std::span<const SwitchLink> links,
                           std::uint32_t* to) const {
  const std::size_t row = std::size_t{s} * dimensions_, column = std::size_t{t} * dimensions_;
  std::size_t count = 0;
  for (std::uint32_t word = 0; word < words_; ++word) {
    std::uint64_t ports = 0;
    for (std::uint32_t d = 0; d < dimensions_; ++d) {
      ports |= sets_[rows_[row + d] + std::size_t{coordinates_[column + d]} * words_ + word];
    }
    for (; ports != 0; ports &= ports - 1) {
      to[count++] = links[word * 64 + static_cast<std::uint32_t>(std::countr_zero(ports))].channel;
    }
  }
  return count;
}

std::size_t GridHops::memory_bytes() const {
  return (coordinates_.capacity() + rows_.capacity()) * sizeof(std::uint32_t) +
         sets_.capacity() * sizeof(std::uint64_t);
}

}  // namespace weft::routing
