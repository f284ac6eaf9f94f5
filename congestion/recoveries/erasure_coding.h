// Redundant packets behind every block, so that a few losses cost no round trip.
#pragma once

#include <cstdint>

#include "congestion/recoveries/erasure_blocks.h"
#include "congestion/recoveries/selective_repeat.h"

namespace weft::congestion {

// Sources: Khalilov et al., SDR-RDMA, arXiv 2505.05366 (XOR and MDS codes over (k, m) blocks, selective
// repeat where a block can't be rebuilt); Bonato et al., Uno, SC'25 (blocks of 8 + 2). A block counts as
// acknowledged as soon as the acknowledged packets rebuild it, for both ends alike. A packet that is lost by
// the rule of SelectiveRepeat is given up; when what is left of its block doesn't rebuild that, the missing
// data packets are sent again. Uno's receiver asks for them after an estimated time; here the sender counts,
// and the timeout is for the rest. Memory: as SelectiveRepeat.
class ErasureCoding final : public SelectiveRepeat {
 public:
  struct Settings : SelectiveRepeat::Settings {
    Settings() = default;
    explicit Settings(const Parameters& parameters);
    ErasureCode code;
  };

  ErasureCoding(const RecoverySetup& setup, const Settings& settings)
      : SelectiveRepeat(setup, settings), code_(settings.code), blocks_again_(setup.signals) {}

  std::uint64_t packets_for(std::uint64_t bytes) const override {
    return code_.packets_for(Recovery::packets_for(bytes));
  }
  std::uint64_t payload_for(std::uint64_t bytes) const override;
  void append(std::uint64_t bytes) override;
  Outcome on_ack(const Answer& ack) override;
  Outcome on_nack(const Answer& nack) override;

 protected:
  void miss(std::uint32_t number, Outcome& outcome) override;

 private:
  using Block = ErasureCode::Block;
  Block block_of(std::uint32_t number) const {
    const ErasureMessages::Message message = messages_.of(number);
    return code_.block_of(message.first, message.packets, number);
  }
  bool is_acked(std::uint32_t number) {
    return number < first_ || (number < next_ && state(slot(number)) == kAcked);
  }
  // The last block of a message: its data packets, and the bytes of the last of them.
  struct Tail {
    std::uint64_t data = 0;
    std::uint32_t last_bytes = 0;
    std::uint32_t redundant = 0, redundant_bytes = 0;  // the packets behind them, and the bytes of each
  };
  Tail tail_of(std::uint64_t bytes) const;
  void skip_to(std::uint32_t number, Outcome& outcome);
  bool settle_rebuilt(const Block& block, Outcome& outcome);
  void send_needed(const Block& block);

  ErasureCode code_;
  ErasureMessages messages_;
  std::uint64_t* blocks_again_;
};

// Notes a whole block when what has come rebuilds it.
class ErasureReassembly final : public Reassembly {
 public:
  explicit ErasureReassembly(const ErasureCoding::Settings& settings) : code_(settings.code) {}
  void append(std::uint32_t packets, std::uint64_t /*bytes*/) override { messages_.append(packets); }
  Verdict on_packet(std::uint32_t number, Arrivals& arrivals) override;

 private:
  ErasureCode code_;
  ErasureMessages messages_;
};

RecoveryKind erasure_coding();

}  // namespace weft::congestion
