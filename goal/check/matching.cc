#include "goal/check/matching.h"

#include <algorithm>
#include <utility>

namespace weft::goal::checks {
namespace {

constexpr std::uint32_t kNone = 0xFFFFFFFFu;

class Matcher {
 public:
  Matcher(std::vector<MessageClass>& sends, std::vector<MessageClass>& receives)
      : sends_(sends), receives_(receives), links_of_receive_(receives.size()) {
    first_link_.reserve(sends.size() + 1);
    for (std::uint32_t s = 0; s < sends.size(); ++s) {
      first_link_.push_back(static_cast<std::uint32_t>(links_.size()));
      add_links(s);
    }
    first_link_.push_back(static_cast<std::uint32_t>(links_.size()));
  }

  void run() {
    // A receive that names both can be served by one class only, and one that takes anything by all: serving
    // the former first and the latter last is never wrong, and most often right for those between.
    for (int wildcards = 0; wildcards <= 2; ++wildcards) {
      for (Link& link : links_) {
        const MessageClass& receive = receives_[link.receive];
        if ((receive.source == kAny) + (receive.tag == kAny) == wildcards) push(link, kAll);
      }
    }
    send_done_.assign(sends_.size(), false);
    receive_done_.assign(receives_.size(), false);
    for (std::uint32_t s = 0; s < sends_.size(); ++s) {
      while (sends_[s].count > 0 && augment(s)) {
      }
    }
  }

 private:
  static constexpr std::uint64_t kAll = ~0ULL;

  struct Link {
    std::uint32_t send, receive;
    std::uint64_t flow;
  };

  void add_links(std::uint32_t s) {
    const MessageClass& send = sends_[s];
    const auto link = [&](std::uint32_t r) {
      links_of_receive_[r].push_back(static_cast<std::uint32_t>(links_.size()));
      links_.push_back({s, r, 0});
    };
    if (send.tag == kAny) {  // fits every tag
      for (std::uint32_t r = 0; r < receives_.size(); ++r) {
        if (receives_[r].source == send.source || receives_[r].source == kAny) link(r);
      }
      return;
    }
    for (const std::uint32_t source : {send.source, kAny}) {
      for (const std::uint32_t tag : {send.tag, kAny}) {
        const auto found =
            std::lower_bound(receives_.begin(), receives_.end(), std::pair(source, tag),
                             [](const MessageClass& a, const std::pair<std::uint32_t, std::uint32_t>& b) {
                               return std::pair(a.source, a.tag) < b;
                             });
        if (found != receives_.end() && found->source == source && found->tag == tag) {
          link(static_cast<std::uint32_t>(found - receives_.begin()));
        }
      }
    }
  }

  void push(Link& link, std::uint64_t most) {
    const std::uint64_t amount = std::min({most, sends_[link.send].count, receives_[link.receive].count});
    sends_[link.send].count -= amount;
    receives_[link.receive].count -= amount;
    link.flow += amount;
  }

  // Serves more of send class `root` by moving others to receives that have room. Returns whether it could.
  // Classes that a search without success has reached can't be of use to a later one either, and are left out
  // from then on.
  bool augment(std::uint32_t root) {
    if (send_done_[root]) return false;
    std::vector<std::uint32_t> queue{root};
    std::vector<std::uint32_t> reached_receives;
    came_by_.resize(receives_.size(), kNone);  // link from a send to this receive
    freed_by_.resize(sends_.size(), kNone);    // link whose flow this send could give up
    std::uint32_t free_receive = kNone;
    for (std::size_t head = 0; head < queue.size() && free_receive == kNone; ++head) {
      const std::uint32_t send = queue[head];
      for (std::uint32_t l = first_link_[send]; l < first_link_[send + 1] && free_receive == kNone; ++l) {
        const std::uint32_t receive = links_[l].receive;
        if (receive_done_[receive] || came_by_[receive] != kNone) continue;
        came_by_[receive] = l;
        reached_receives.push_back(receive);
        if (receives_[receive].count > 0) free_receive = receive;
        for (const std::uint32_t back : links_of_receive_[receive]) {
          const std::uint32_t other = links_[back].send;
          if (links_[back].flow == 0 || other == root || send_done_[other] || freed_by_[other] != kNone)
            continue;
          freed_by_[other] = back;
          queue.push_back(other);
        }
      }
    }
    if (free_receive != kNone) move_along(root, free_receive);
    for (const std::uint32_t send : queue) {
      if (free_receive == kNone) send_done_[send] = true;
      freed_by_[send] = kNone;
    }
    for (const std::uint32_t receive : reached_receives) {
      if (free_receive == kNone) receive_done_[receive] = true;
      came_by_[receive] = kNone;
    }
    return free_receive != kNone;
  }

  void move_along(std::uint32_t root, std::uint32_t free_receive) {
    std::uint64_t amount = std::min(sends_[root].count, receives_[free_receive].count);
    for (std::uint32_t at = links_[came_by_[free_receive]].send; at != root;) {
      const Link& back = links_[freed_by_[at]];
      amount = std::min(amount, back.flow);
      at = links_[came_by_[back.receive]].send;
    }
    receives_[free_receive].count -= amount;
    sends_[root].count -= amount;
    for (std::uint32_t receive = free_receive;;) {
      Link& forward = links_[came_by_[receive]];
      forward.flow += amount;
      if (forward.send == root) return;
      Link& back = links_[freed_by_[forward.send]];
      back.flow -= amount;
      receive = back.receive;
    }
  }

  std::vector<MessageClass>& sends_;
  std::vector<MessageClass>& receives_;
  std::vector<Link> links_;                // by send
  std::vector<std::uint32_t> first_link_;  // of each send, and one more
  std::vector<std::vector<std::uint32_t>> links_of_receive_;
  std::vector<bool> send_done_, receive_done_;
  std::vector<std::uint32_t> came_by_, freed_by_;
};

}  // namespace

void match_classes(std::vector<MessageClass>& sends, std::vector<MessageClass>& receives) {
  Matcher(sends, receives).run();
}

}  // namespace weft::goal::checks
