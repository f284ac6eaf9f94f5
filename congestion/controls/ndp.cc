#include "congestion/controls/ndp.h"

#include "congestion/controls/pulled.h"

namespace weft::congestion {
namespace {

class NdpSender final : public PulledSender {
 public:
  struct Settings {
    explicit Settings(const Parameters& parameters) : credit(credit_settings(parameters)) {
      credit.asks_ahead = true;
      credit.keeps_rest = true;
    }
    CreditAccount::Settings credit;
  };
  NdpSender(const FlowInfo& flow, const Settings& settings) : PulledSender(flow, settings.credit) {}
};

std::unique_ptr<ReceiverFactory> make_ndp_receivers(const Parameters& parameters) {
  PullReceiver::Settings settings = pull_settings(parameters, false);
  settings.per_arrival = true;
  return pull_receivers(settings);
}

}  // namespace

const Control& ndp() {
  static const Control control{
      .info =
          {.name = "ndp",
           .summary =
               "The first window at once, then a packet for each that has come, whole or as a header, at "
               "the pace of the receiver's link.",
           .source =
               "M. Handley et al., Re-architecting datacenter networks and stacks for low latency and high "
               "performance (NDP), SIGCOMM 2017",
           .parameters = join(credit_parameters("1",
                                                "Sent before the first pull, in bandwidth-delay products of "
                                                "the path."),
                              pull_parameters("1", "1", false)),
           .about = "Goes by what arrives: for each packet, whole or trimmed to its header, the receiver's "
                    "NIC puts a "
                    "pull in a queue that all its senders share, and lets pulls out in turn at its link's "
                    "rate; a pull "
                    "sends one packet, lost ones first. Flows start with a bandwidth-delay product. Good: "
                    "the fastest "
                    "start, and full last links in any incast, with queues of eight packets. Bad: the number "
                    "in flight "
                    "never shrinks, so a congested network trims without end. Needs trimming, and precedence "
                    "for pulls; "
                    "made for packets that are sprayed."},
      .needs = {.required = kPulledNeeds.required, .used = Capability::kBackToSender},
      .hears = kPulledHears,
      .make_factory = SenderFactoryFor<NdpSender>::make,
      .make_receivers = make_ndp_receivers,
      .queue_settings = kPulledQueueSettings};
  return control;
}

}  // namespace weft::congestion
