#include "sim/routing/policies.h"

#include "sim/routing/bitmap.h"
#include "sim/routing/ecmp.h"
#include "sim/routing/flowbender.h"
#include "sim/routing/plb.h"
#include "sim/routing/reps.h"
#include "sim/routing/spray.h"
#include "sim/routing/srv6.h"

namespace weft::routing {

std::span<const Policy> policies() {
  static const Policy list[] = {
      ecmp(), spray(), bitmap(), reps(), plb(), flowbender(), srv6(),
  };
  return list;
}

}  // namespace weft::routing
