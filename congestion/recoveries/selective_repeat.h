// Selective repeat: loss found by counting what was sent later and has come, on all paths or on each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "congestion/recoveries/scoreboard.h"

namespace weft::congestion {

// Sources: RFC 2018 and RFC 6675 (selective acknowledgements, a threshold of three), with transmissions
// counted in the place of numbers, so that a lost retransmission is found in the same way; RFC 6298. With
// per_path only transmissions over the same path are compared, which stay in order where paths are queues
// (as in STrack and MRC). Memory: 24 bytes per packet under way; with per_path 80 more per path.
class SelectiveRepeat : public Scoreboard {
 public:
  struct Settings {
    Settings() = default;
    explicit Settings(const Parameters& parameters);
    std::uint32_t duplicates = 0;  // 0: what suits the network
    bool per_path = false;
    bool by_count = true;
  };
  // On one path, what was sent so many transmissions before the newest that has come is lost.
  static constexpr std::uint32_t kDuplicates = 3;

  SelectiveRepeat(const RecoverySetup& setup, const Settings& settings);
  ~SelectiveRepeat() override { pool_->give_back(std::move(trace_)); }

  std::uint32_t duplicates() const { return duplicates_; }

  void on_path(std::uint32_t entropy) override { entropy_ = per_path_ ? entropy : 0; }
  void on_send(std::uint32_t number, Time at) override;
  Outcome on_ack(const Answer& ack) override;
  void rest() override;

 protected:
  // So many sent later have come, and it hasn't. REQUIRES: it is in flight.
  virtual void miss(std::uint32_t number, Outcome& outcome) { declare_lost(number, outcome); }

 private:
  // Transmissions over one path, oldest first.
  class Line {
   public:
    struct Entry {
      std::uint32_t number, turn;
    };
    explicit Line(std::uint32_t first_turn = 0) : turn_(first_turn) {}
    std::uint32_t send(std::uint32_t number);
    std::uint32_t next_turn() const { return turn_; }
    bool empty() const { return first_ == entries_.size(); }
    const Entry& oldest() const { return entries_[first_]; }
    void pop();

    std::int64_t newest_acked = -1;  // turn

   private:
    std::uint32_t turn_;
    std::vector<Entry> entries_;  // from first_ on
    std::size_t first_ = 0;
  };
  // Beside each packet: its newest transmission's turn, and below it its path.
  std::uint64_t& trace(std::uint32_t number) { return trace_[number & (trace_.size() - 1)]; }
  void widen_trace();
  void find_overtaken(Line& line, Outcome& outcome);

  RingPool* pool_;
  RingPool::Ring trace_;
  std::uint32_t duplicates_;
  std::uint32_t entropy_ = 0;
  // From which on lines count that begin anew: what is heard late of one that was over is of lower turns.
  std::uint32_t first_turn_ = 0;
  bool per_path_;
  bool by_count_;
  Line line_;                                      // of all packets
  std::unordered_map<std::uint32_t, Line> lines_;  // per_path: by entropy, those with something under way
};

// Lists the parameters of SelectiveRepeat::Settings.
std::vector<ParameterSpec> selective_repeat_parameters();
RecoveryKind selective_repeat();

}  // namespace weft::congestion
