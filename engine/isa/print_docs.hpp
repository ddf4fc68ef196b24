#pragma once
/// The catalogue as text: a signature for help, a Markdown page for the documentation.

#include "engine/isa/catalogue.hpp"

#include <string>

namespace pto::isa {

/// "pl.load(dst, src, offsets, *, order=None)"; register operations are written "vf.add(a, b, preg, mode=ZEROING)".
std::string signature(const OpRow& row);
/// "dst: tile in Vec or Mat, written": one line an operand, then one line a keyword. Empty when there are none.
std::string describe_arguments(const OpRow& row);
/// Where the row runs: "MTE2", "by path", "S".
std::string_view pipe_text(PipeRule rule);
/// Every advertised operation with its forms, by family, then the hidden names. The page docs/language.md.
std::string print_docs(const Catalogue& catalogue);

} // namespace pto::isa
