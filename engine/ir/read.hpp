#pragma once
/// The way back from printed IR, and equality of kernels. Tests write kernels as text; a printed kernel reads back to an equal value.

#include "engine/ir/kernel.hpp"
#include "engine/isa/catalogue.hpp"

#include <string>
#include <string_view>

namespace pto::ir {

/// Reads what print(const Kernel&) wrote. Spans are not part of the text.
///   fails  std::invalid_argument with the line number: the text is not the user's, so there is no diagnostic for it
Kernel read(std::string_view text, const isa::Catalogue& catalogue);

/// Same parameters, declarations and statements; expressions are compared as trees, whatever their ids. Spans do not count.
bool equal(const Kernel& a, const Kernel& b);
bool equal(const Function& a, const Function& b);

} // namespace pto::ir
