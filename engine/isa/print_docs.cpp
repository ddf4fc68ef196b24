#include "engine/isa/print_docs.hpp"

#include <array>

namespace pto::isa {
namespace {

std::string join(const std::vector<std::string>& words, std::string_view last) {
    std::string text;
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (i > 0) text += i + 1 == words.size() ? std::string(last) : ", ";
        text += words[i];
    }
    return text;
}

std::string_view kind_text(OperandKind kind) {
    switch (kind) {
    case OperandKind::tile: return "tile";
    case OperandKind::tensor: return "tensor";
    case OperandKind::tile_or_tensor: return "tile or tensor";
    case OperandKind::tile_or_scalar: return "tile or scalar";
    case OperandKind::tile_or_group: return "tile or tile group";
    case OperandKind::scalar: return "scalar";
    case OperandKind::scalar_list: return "list of scalars";
    case OperandKind::structure: return "struct";
    case OperandKind::text: return "literal text";
    case OperandKind::scalars: return "any number of scalars";
    case OperandKind::list: return "list of tiles and tensors";
    case OperandKind::memory: return "tile, or tile + offset";
    case OperandKind::reg: return "register";
    case OperandKind::mask: return "mask";
    case OperandKind::reg_or_scalar: return "register or scalar";
    case OperandKind::reg_or_mask: return "register or mask";
    case OperandKind::unaligned: return "unaligned-access register";
    case OperandKind::offset: return "offset: number, [row, column] or address register";
    case OperandKind::memory_or_reg: return "tile or register";
    case OperandKind::value: return "value known while parsing";
    }
    return "";
}

std::string_view role_text(Role role) {
    switch (role) {
    case Role::none: return "";
    case Role::read: return "read";
    case Role::write: return "written";
    case Role::read_write: return "read and written";
    }
    return "";
}

std::string types_text(std::uint32_t set) {
    std::vector<std::string> names;
    for (int i = 0; i < dtype_count; ++i)
        if (DType t = DType(i); (set >> i & 1u) && !language_name(t).empty()) names.emplace_back(language_name(t).substr(3));
    return join(names, ", ");
}

std::string memories_text(std::uint32_t set) {
    std::vector<std::string> names;
    for (int i = 0; i < 10; ++i)
        if (set >> i & 1u) names.emplace_back(name(MemorySpace(i)));
    return join(names, " or ");
}

std::string_view keyword_type(const Keyword& k) {
    switch (k.kind) {
    case KeywordKind::enumeration: return name(k.enumeration);
    case KeywordKind::integer: return "constant integer";
    case KeywordKind::boolean: return "constant bool";
    case KeywordKind::real: return "constant number";
    case KeywordKind::dtype: return "dtype";
    case KeywordKind::scalar: return "value";
    case KeywordKind::integer_list: return "list of constant integers";
    case KeywordKind::scale: return "number, scalar or tile";
    case KeywordKind::text: return "literal text";
    case KeywordKind::tensor: return "tensor";
    case KeywordKind::scalar_or_list: return "value or tuple";
    }
    return "";
}

bool in_tile_memory(OperandKind k) { return k == OperandKind::tile || k == OperandKind::tile_or_scalar || k == OperandKind::tile_or_tensor; }

struct Family {
    std::string_view key, title, text;
};
constexpr std::array<Family, 8> families{{
    {"constructs", "Words of the language", "Decorators, declarations, control flow and queries."},
    {"movement", "Data movement", "Global memory, on-chip memories and the shared scalar buffer."},
    {"cube", "Matrix unit", "Products on the cube core."},
    {"vector", "Vector work on tiles", "Work of pipe V on whole tiles: the valid region of the destination is processed."},
    {"registers", "Vector functions", "Register operations inside a `@pl.vector_function`; `vf` needs no import there. The mask comes last, keywords may follow by position."},
    {"scalar", "Scalar unit", "Element access and descriptors."},
    {"sync", "Synchronisation", "Flags, barriers, cross-core counters and locks."},
    {"debug", "Debugging", "Printing and checking inside a kernel."},
}};

void print_row(std::string& text, const OpRow& row) {
    text += "#### `" + signature(row) + "`\n\n";
    text += std::string(row.doc) + "\n";
    std::string arguments = describe_arguments(row);
    if (!arguments.empty()) text += "\n" + arguments;
    text += "\n";
    if (!row.construct) text += "Pipe " + std::string(pipe_text(row.pipe)) + ". ";
    text += "Source: " + std::string(row.source) + ".\n\n";
}

} // namespace

std::string_view pipe_text(PipeRule rule) {
    switch (rule) {
    case PipeRule::s: return "S";
    case PipeRule::v: return "V";
    case PipeRule::m: return "M";
    case PipeRule::mte1: return "MTE1";
    case PipeRule::mte2: return "MTE2";
    case PipeRule::mte3: return "MTE3";
    case PipeRule::fix: return "FIX";
    case PipeRule::by_path: return "by path (MTE1, MTE3, FIX or V)";
    case PipeRule::by_source: return "FIX from Acc, MTE3 from Vec";
    case PipeRule::by_keyword: return "as named by its keyword";
    case PipeRule::all: return "all";
    case PipeRule::in_vector: return "V, as part of its vector function";
    }
    return "";
}

std::string signature(const OpRow& row) {
    bool register_op = row.pipe == PipeRule::in_vector;
    std::string text = (register_op ? "" : "pl.") + std::string(row.call_name()) + "(";
    std::vector<std::string> parts;
    for (const Operand& o : row.operands) {
        std::string part = o.kind == OperandKind::scalars ? "*" + std::string(o.name) : std::string(o.name);
        if (o.optional && o.kind != OperandKind::scalars) part += "=None";
        parts.push_back(std::move(part));
    }
    if (!row.keywords.empty() && !row.positional_keywords && (row.operands.empty() || row.operands.back().kind != OperandKind::scalars)) parts.push_back("*");
    for (const Keyword& k : row.keywords) {
        std::string part(k.name);
        if (!k.required) part += "=" + (k.fallback.empty() ? std::string("None") : std::string(k.fallback));
        parts.push_back(std::move(part));
    }
    return text + join(parts, ", ") + ")";
}

std::string describe_arguments(const OpRow& row) {
    std::string text;
    for (const Operand& o : row.operands) {
        text += "- `" + std::string(o.name) + "`: " + std::string(kind_text(o.kind));
        if (in_tile_memory(o.kind) && o.memories != any_set) text += " in " + memories_text(o.memories);
        if (o.dtypes != any_set) text += " of " + types_text(o.dtypes);
        if (!role_text(o.role).empty() && (in_tile_memory(o.kind) || o.kind == OperandKind::tensor || o.kind == OperandKind::memory))
            text += ", " + std::string(role_text(o.role));
        if (o.optional) text += ", optional";
        text += "\n";
    }
    for (const Keyword& k : row.keywords) {
        text += "- `" + std::string(k.name) + "=`: " + std::string(keyword_type(k));
        if (k.required) text += ", required";
        text += "\n";
    }
    return text;
}

std::string print_docs(const Catalogue& catalogue) {
    std::string text = "# Operations\n\n"
                       "Generated from the op catalogue (`engine/isa`) by `xpto_language_page`; do not edit. Sources name the sections of the language and\n"
                       "code generation notes that the rows follow.\n\n";
    for (const Family& f : families) {
        text += "## " + std::string(f.title) + "\n\n" + std::string(f.text) + "\n\n";
        for (const OpRow& row : catalogue.rows())
            if (row.family == f.key && row.hidden_for.empty()) print_row(text, row);
    }
    text += "## Accepted, not advertised\n\nOlder or internal names that existing kernels use.\n\n| name | write instead | what it does |\n|---|---|---|\n";
    for (const OpRow& row : catalogue.rows())
        if (!row.hidden_for.empty()) text += "| `" + signature(row) + "` | `" + std::string(row.hidden_for) + "` | " + std::string(row.doc) + " |\n";
    return text;
}

} // namespace pto::isa
