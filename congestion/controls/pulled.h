// Controls that a receiver drives, of one family: their senders, settings and parameters.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "congestion/controls/credit_account.h"
#include "congestion/controls/pull_receiver.h"

namespace weft::congestion {

constexpr std::uint32_t kPulledHears = kMessages | kSends | kCredits | kTimer;
constexpr CapabilityNeeds kPulledNeeds{.required = Capability::kTrim | Capability::kCredit};
// Receivers see to their own links, so marks of these would only mislead. Source: ultraethernet/uet-htsim,
// whose switches don't mark towards hosts where receivers are in control.
inline const std::vector<std::pair<std::string, std::string>> kPulledQueueSettings = {
    {"mark_to_hosts", "false"}};

// Parameters that all of them have: `window`, with what is said of it, and `patience`.
std::vector<ParameterSpec> credit_parameters(const std::string& window, const std::string& help);
CreditAccount::Settings credit_settings(const Parameters& parameters);
// The receiver has these: `packets_per_pull`, `pull_rate` and, where pulls are granted unasked,
// `unasked_window`.
std::vector<ParameterSpec> pull_parameters(const std::string& packets, const std::string& rate, bool unasked);
PullReceiver::Settings pull_settings(const Parameters& parameters, bool unasked);
std::vector<ParameterSpec> network_rate_parameters();
NetworkRate::Settings network_rate_settings(const Parameters& parameters);
// `first` and what follows it.
std::vector<ParameterSpec> join(std::vector<ParameterSpec> first, const std::vector<ParameterSpec>& second);

// What is the same for all of them: the account is told, and from time to time asked whether it waits in
// vain.
class PulledSender : public Sender {
 public:
  PulledSender(const FlowInfo& flow, const CreditAccount::Settings& settings) : account_(flow, settings) {
    allowed_.window_bytes = CreditAccount::kNoWindow;
    allowed_.credit_bytes = 0;
  }

  void start(Time) override {}
  void on_ack(const Ack& ack) override {
    account_.acknowledge(ack.now, ack.bytes);
    account_.speak_up(ack.now, ack.in_flight);
    allow();
  }
  void on_trim(const Loss& loss) override {
    if (loss.returned) {
      account_.come_back(loss.now, loss.bytes);
    } else {
      account_.trim(loss.now, loss.bytes);
    }
    account_.speak_up(loss.now, loss.in_flight);
    allow();
  }
  void on_loss(const Loss& loss) override {
    account_.lose(loss.now, loss.bytes);
    allow();
  }
  void on_timeout(const Loss& loss) override { on_loss(loss); }
  void on_message(Time now, std::uint64_t bytes, std::uint64_t) override {
    account_.add(now, bytes);
    if (wake_at_ == Time::max()) wake_at_ = account_.wake_at();
    allow();
  }
  void on_spared(std::uint64_t bytes) override {
    account_.spare(bytes);
    allow();
  }
  void on_send(const Sent& sent) override {
    account_.sent(sent.bytes);
    allow();
    account_.told(wanted_credit_);
  }
  void on_credit(Time now, std::uint64_t total) override {
    account_.grant(now, total);
    allow();
  }
  void on_timer(Time now) override {
    account_.time_out(now);
    wake_at_ = account_.wake_at();
    allow();
  }

 protected:
  void allow() {
    allowed_.credit_bytes = account_.credit();
    wanted_credit_ = account_.wanted(allowed_.window_bytes);
  }

  CreditAccount account_;
};

}  // namespace weft::congestion
