#include "goal/pack/loops.h"

#include <algorithm>
#include <bit>
#include <unordered_map>

namespace weft::goal::pack {
namespace {

constexpr std::uint32_t kNone = 0xFFFFFFFFu;
constexpr std::uint32_t kNodeBit = 0x80000000u;
constexpr std::size_t kGram = 3;        // symbols compared to find where a sequence stood before
constexpr std::uint64_t kMinSaved = 3;  // symbols that a loop must spare
constexpr std::uint64_t kMaxBody = 1 << 20;
constexpr std::uint64_t kMaxWaste = 16;  // comparisons in vain, per symbol: keeps the time linear

class Nest {
 public:
  std::vector<std::uint32_t> reduce(const std::vector<std::uint32_t>& symbols) {
    std::vector<std::uint32_t> now = symbols, next;
    for (std::size_t depth = 0; depth < kMaxLoopDepth && pass(now, next); ++depth) now.swap(next);
    return now;
  }

  void unfold(const std::vector<std::uint32_t>& symbols, std::vector<std::uint32_t>& tokens) const {
    for (const std::uint32_t symbol : symbols) {
      if ((symbol & kNodeBit) == 0) {
        tokens.push_back(symbol);
        continue;
      }
      const Node& node = nodes_[symbol & ~kNodeBit];
      tokens.push_back(kLoop);
      tokens.push_back(node.rounds);
      unfold(node.body, tokens);
      tokens.push_back(kLoopEnd);
    }
  }

 private:
  struct Node {
    std::uint32_t rounds;
    std::uint64_t tokens;  // when written out
    std::vector<std::uint32_t> body;
  };
  using Symbols = std::vector<std::uint32_t>;

  static std::uint64_t gram(const Symbols& in, std::size_t at) {
    std::uint64_t hash = 0;
    for (std::size_t k = 0; k < kGram; ++k) hash = (hash + in[at + k] + 1) * 0x9E3779B97F4A7C15ULL;
    return hash;
  }

  // Copies `in` to `out` with loops of one level folded. Returns whether there was any.
  bool pass(const Symbols& in, Symbols& out) {
    out.clear();
    const int bits = std::clamp<int>(std::bit_width(in.size()), 8, 18);
    last_.assign(std::size_t{1} << bits, kNone);
    std::size_t fence = 0;  // nothing before this place can join a loop any more
    std::size_t failed_period = 0, failed_end = 0;
    std::uint64_t waste = kMaxWaste * in.size();
    bool any = false;
    for (std::size_t i = 0; i < in.size();) {
      if (i + kGram <= in.size()) {
        std::uint32_t& last = last_[gram(in, i) >> (64 - bits)];
        const std::size_t before = last;
        last = static_cast<std::uint32_t>(i);
        const bool worth_a_look = before != kNone && before >= fence &&
                                  !(i - before == failed_period && i < failed_end) && waste > 0;
        if (worth_a_look) {
          const std::size_t period = i - before;
          std::size_t end = i, begin = before;
          while (end < in.size() && in[end] == in[end - period]) ++end;
          while (begin > fence && in[begin - 1] == in[begin - 1 + period]) --begin;
          const std::size_t rounds = (end - begin) / period;
          if (rounds >= 2 && (rounds - 1) * period >= kMinSaved &&
              size(in, begin, begin + period) <= kMaxBody) {
            out.resize(out.size() - (i - begin));
            out.push_back(node(in, begin, period, static_cast<std::uint32_t>(rounds)));
            i = fence = begin + rounds * period;
            any = true;
            continue;
          }
          waste -= std::min<std::uint64_t>(waste, end - begin - period);
          failed_period = period;
          failed_end = end;
        }
      }
      out.push_back(in[i++]);
    }
    return any;
  }

  std::uint64_t size(const Symbols& in, std::size_t begin, std::size_t end) const {
    std::uint64_t tokens = 0;
    for (std::size_t i = begin; i < end; ++i) {
      tokens += (in[i] & kNodeBit) == 0 ? 1 : nodes_[in[i] & ~kNodeBit].tokens;
    }
    return tokens;
  }

  // The symbol of a loop; equal loops have the same.
  std::uint32_t node(const Symbols& in, std::size_t begin, std::size_t period, std::uint32_t rounds) {
    std::uint64_t hash = rounds;
    for (std::size_t i = begin; i < begin + period; ++i) hash = (hash ^ in[i]) * 0xBF58476D1CE4E5B9ULL;
    std::vector<std::uint32_t>& known = by_hash_[hash];
    const auto body_begin = in.begin() + static_cast<std::ptrdiff_t>(begin);
    for (const std::uint32_t index : known) {
      const Node& other = nodes_[index];
      if (other.rounds == rounds && other.body.size() == period &&
          std::equal(other.body.begin(), other.body.end(), body_begin)) {
        return index | kNodeBit;
      }
    }
    known.push_back(static_cast<std::uint32_t>(nodes_.size()));
    nodes_.push_back({rounds,
                      size(in, begin, begin + period) + 3,
                      {body_begin, body_begin + static_cast<std::ptrdiff_t>(period)}});
    return known.back() | kNodeBit;
  }

  std::vector<Node> nodes_;
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> by_hash_;  // only asked, never walked
  std::vector<std::uint32_t> last_;  // by the hash of a gram: where it was last seen
};

}  // namespace

void find_loops(const std::vector<std::uint32_t>& symbols, std::vector<std::uint32_t>& tokens) {
  Nest nest;
  tokens.clear();
  nest.unfold(nest.reduce(symbols), tokens);
}

}  // namespace weft::goal::pack
