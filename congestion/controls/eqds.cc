#include "congestion/controls/eqds.h"

#include "congestion/controls/pulled.h"

namespace weft::congestion {
namespace {

class EqdsSender final : public PulledSender {
 public:
  struct Settings {
    explicit Settings(const Parameters& parameters) : credit(credit_settings(parameters)) {}
    CreditAccount::Settings credit;
  };
  EqdsSender(const FlowInfo& flow, const Settings& settings) : PulledSender(flow, settings.credit) {}
};

std::unique_ptr<ReceiverFactory> make_eqds_receivers(const Parameters& parameters) {
  return pull_receivers(pull_settings(parameters, true));
}

}  // namespace

const Control& eqds() {
  static const Control control{
      .info =
          {.name = "eqds",
           .summary = "Receivers pull packets one by one, in turn; queues stay at the edge, at the senders.",
           .source =
               "V. Olteanu et al., An edge-queued datagram service for all datacenter traffic, NSDI 2022",
           .parameters =
               join(credit_parameters("1",
                                      "Sent before the first answer, and the most that is asked for "
                                      "ahead, in bandwidth-delay products of the path."),
                    pull_parameters("1", "0.99", true)),
           .about =
               "Goes by what senders say they want: the receiver's NIC grants a packet at a time, in turn, a "
               "little below its link's rate, and unasked while nobody wants any. A flow starts with one "
               "bandwidth-delay product of its own, which is trimmed where it doesn't fit. Good: short "
               "queues, even "
               "and full last links in incasts of any size; no state in the network. Bad: a credit packet "
               "for "
               "each data packet; blind to congestion within the network, so oversubscribed networks trim "
               "without "
               "end. Needs trimming, and precedence for credits."},
      .needs = kPulledNeeds,
      .hears = kPulledHears,
      .make_factory = SenderFactoryFor<EqdsSender>::make,
      .make_receivers = make_eqds_receivers,
      .queue_settings = kPulledQueueSettings};
  return control;
}

}  // namespace weft::congestion
