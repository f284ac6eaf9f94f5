#include "sim/packet/queues/phantom.h"

#include "sim/packet/queues/marking.h"

namespace weft::sim::packet {
namespace {

QueueRule rule(const Parameters& parameters, const QueueSite& site) {
  QueueRule rule = marking_rule(parameters, site);
  const double slowdown = parameters.real("slowdown");
  if (!(slowdown > 0 && slowdown <= 1)) parameters.fail("slowdown", "it must be above 0, and 1 at most");
  if (site.in_node) return rule;
  rule.phantom_stretch = 1 + slowdown;
  rule.phantom_capacity_bytes = parameters.automatic("phantom_capacity")
                                    ? 4 * rule.capacity_bytes
                                    : parameters.bytes("phantom_capacity");
  const auto share = [&](const char* name) {
    const double value = parameters.real(name);
    if (!(value >= 0 && value <= 1)) parameters.fail(name, "it must be from 0 to 1");
    return static_cast<std::uint64_t>(value * static_cast<double>(rule.phantom_capacity_bytes));
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
            "How much longer than the link the virtual queue takes for a byte, as a share."},
           {"phantom_capacity", ParameterType::kBytes, "auto",
            "The most it counts; auto: four times the capacity."},
           {"phantom_kmin", ParameterType::kReal, "0.02",
            "Share of phantom_capacity from which packets may be marked."},
           {"phantom_kmax", ParameterType::kReal, "0.6", "Share from which all are marked."}}) {
    discipline.info.parameters.push_back(parameter);
  }
  return discipline;
}

}  // namespace weft::sim::packet
