#include "sim/packet/queues/phantom.h"

#include "sim/packet/queues/marking.h"

namespace weft::sim::packet {
namespace {

QueueRule rule(const Parameters& parameters, const QueueSite& site) {
  QueueRule rule = marking_rule(parameters, site);
  const double slowdown = parameters.real("slowdown");
  if (site.in_node) return rule;
  rule.phantom_stretch = 1 + slowdown;
  rule.phantom_capacity_bytes = parameters.automatic("phantom_capacity")
                                    ? 4 * rule.capacity_bytes
                                    : parameters.bytes("phantom_capacity");
  const auto share = [&](const char* name) {
    return static_cast<std::uint64_t>(parameters.real(name) *
                                      static_cast<double>(rule.phantom_capacity_bytes));
  };
  rule.phantom_mark_from_bytes = share("phantom_kmin");
  rule.phantom_mark_all_bytes = share("phantom_kmax");
  if (rule.phantom_mark_from_bytes > rule.phantom_mark_all_bytes) {
    parameters.fail("phantom_kmax", "it must not be below phantom_kmin");
  }
  return rule;
}

}  // namespace

Discipline phantom() {
  Discipline discipline{
      .info = {.name = "phantom",
               .summary = "ecn, and marks by a virtual queue too that drains more slowly than the link.",
               .source = "Alizadeh et al., NSDI 2012; Bonato et al., SC 2025"},
      .offers = {.always = Capability::kMark | Capability::kCutThrough},
      .rule = rule};
  discipline.info.parameters = marking_parameters();
  for (const ParameterSpec& parameter : std::vector<ParameterSpec>{
           {"slowdown", ParameterType::kReal, "0.05",
            "How much longer than the link the virtual queue takes for a byte, as a share.",
            above("0").up_to("1")},
           {"phantom_capacity", ParameterType::kBytes, "auto",
            "The most it counts; auto: four times the capacity."},
           {"phantom_kmin", ParameterType::kReal, "0.02",
            "Share of phantom_capacity from which packets may be marked.", from_to("0", "1")},
           {"phantom_kmax", ParameterType::kReal, "0.6", "Share from which all are marked.",
            from_to("0", "1")}}) {
    discipline.info.parameters.push_back(parameter);
  }
  return discipline;
}

}  // namespace weft::sim::packet
