// Text in XML and HTML.
#pragma once

#include <string>
#include <string_view>

namespace weft {

// The text with &, <, >, " and ' as XML writes them in content and attributes; what is no UTF-8, and
// characters that XML 1.0 has no form for, become '?'.
std::string xml_text(std::string_view text);
// Is there nothing in it that becomes '?'?
bool fits_xml(std::string_view text);

}  // namespace weft
