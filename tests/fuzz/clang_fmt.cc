// The system's libfmt is built by GCC, and Clang calls this function by another name.
#include <fmt/format.h>

template void fmt::detail::vformat_to<char>(
    fmt::detail::buffer<char>&, fmt::string_view,
    fmt::basic_format_args<FMT_BUFFER_CONTEXT(fmt::type_identity_t<char>)>, fmt::detail::locale_ref);
