#include "sim/routing/policies.h"

#include "sim/routing/ecmp.h"
#include "sim/routing/spray.h"

namespace weft::routing {

std::span<const Policy> policies() {
  static const Policy list[] = {
      ecmp(),
      spray(),
  };
  return list;
}

}  // namespace weft::routing
