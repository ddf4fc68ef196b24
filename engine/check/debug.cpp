/// printf, pto_assert and dump_data. Source: language 6.
#include "engine/check/context.hpp"

#include <string_view>

namespace pto::check {
namespace {

using isa::DType;
using isa::Semantics;

struct Conversion {
    std::string spec; // as written, "%08.3f"
    char letter = 0;
};

/// The conversions of a format string; nothing when the text breaks a rule, which is reported.
std::optional<std::vector<Conversion>> conversions(Context& c, Span at, std::string_view format) {
    std::vector<Conversion> found;
    for (std::size_t i = 0; i < format.size(); ++i) {
        if (format[i] != '%') continue;
        std::size_t end = i + 1;
        auto skip = [&](std::string_view set) {
            while (end < format.size() && set.find(format[end]) != std::string_view::npos) ++end;
        };
        skip("-+ #0");
        skip("123456789");
        skip("0123456789");
        bool point = end < format.size() && format[end] == '.';
        std::size_t digits = end + 1;
        if (point) {
            ++end;
            skip("0123456789");
        }
        std::string spec(format.substr(i, std::min(end + 1, format.size()) - i));
        auto refuse = [&](const std::string& why, const std::string& instead = {}) {
            Diagnostic& d = c.report(Code::format_string, at, ticked(spec) + " " + why);
            if (!instead.empty() && d.advice.empty()) d.advice.push_back(instead);
        };
        if (end >= format.size()) {
            refuse("is no whole conversion: the text ends in it", "finish it with one of d i u x f p");
            return std::nullopt;
        }
        char letter = format[end];
        if (point && end == digits) {
            refuse("has a point without digits behind it", "write the precision, as in %.3f");
            return std::nullopt;
        }
        if (std::string_view("diuxfp").find(letter) == std::string_view::npos) {
            if (letter == '%') refuse("is not available; the device prints no percent sign", "leave it out");
            else if (std::string_view("lhjztLq").find(letter) != std::string_view::npos) refuse("has a length modifier; the type of the argument gives the length", "write %d, %u or %x");
            else refuse("is no conversion of the device; there are d i u x f p", letter == 'e' || letter == 'g' ? "use %f" : letter == 'X' || letter == 'o' ? "use %x" : "");
            return std::nullopt;
        }
        found.push_back({spec, letter});
        i = end;
    }
    return found;
}

bool fits(char letter, DType t, bool pointer) {
    if (pointer || letter == 'p') return pointer && letter == 'p';
    switch (letter) {
    case 'f': return t == DType::fp32;
    case 'u': return t == DType::boolean || t == DType::index || isa::is_unsigned_int(t);
    case 'x': return t == DType::index || isa::is_unsigned_int(t);
    default: return t == DType::boolean || t == DType::index || isa::is_signed_int(t);
    }
}

bool is_pointer(const Context& c, ir::ExprId id) {
    if (!id.valid()) return false;
    const ir::Expr& e = c.f[id];
    if (e.op == ir::ExprOp::address) return true;
    if (e.op == ir::ExprOp::var) return e.var.valid() && c.f[e.var].is_pointer;
    return (e.op == ir::ExprOp::add || e.op == ir::ExprOp::select) && (is_pointer(c, e.a) || is_pointer(c, e.b));
}

std::string suggestion(DType t, bool pointer) {
    if (pointer) return "%p";
    if (t == DType::fp32) return "%f";
    if (isa::is_float(t)) return "%f with a cast to DT_FP32";
    return isa::is_unsigned_int(t) ? "%u" : "%d";
}

void format(Context& c, const ir::Op& op, const ir::Stmt& stmt, std::size_t text_at) {
    std::vector<std::size_t> arguments;
    for (std::size_t i = text_at + 1; i < op.operands.size(); ++i)
        if (std::holds_alternative<ir::ExprId>(op.operands[i])) arguments.push_back(i);
    const auto* text = text_at < op.operands.size() ? std::get_if<std::string>(&op.operands[text_at]) : nullptr;
    if (!text) return;
    auto found = conversions(c, c.at(op, stmt, text_at), *text);
    if (!found) return;
    if (found->size() != arguments.size()) {
        c.report(Code::format_argument, stmt.at,
                 "the text has " + std::to_string(found->size()) + (found->size() == 1 ? " conversion" : " conversions") + ", the call " + std::to_string(arguments.size()) +
                     (arguments.size() == 1 ? " argument" : " arguments"));
        return;
    }
    for (std::size_t k = 0; k < found->size(); ++k) {
        const ir::Expr& e = c.f[std::get<ir::ExprId>(op.operands[arguments[k]])];
        bool pointer = is_pointer(c, std::get<ir::ExprId>(op.operands[arguments[k]]));
        if (fits((*found)[k].letter, e.dtype, pointer)) continue;
        std::string type = pointer ? "a pointer" : std::string(language_name(e.dtype));
        if (type.empty()) type = std::string(isa::name(e.dtype));
        Diagnostic& d = c.report(Code::format_argument, c.at(op, stmt, arguments[k]), ticked((*found)[k].spec) + " does not print " + type);
        if (d.advice.empty()) d.advice.push_back("use " + suggestion(e.dtype, pointer));
    }
}

void assertion(Context& c, const ir::Op& op, const ir::Stmt& stmt) {
    const auto* cond = op.operands.empty() ? nullptr : std::get_if<ir::ExprId>(&op.operands[0]);
    if (cond && cond->valid() && c.f[*cond].dtype != DType::boolean) {
        Diagnostic& d = c.report(Code::assert_condition, c.at(op, stmt, 0), "the condition has type " + std::string(isa::name(c.f[*cond].dtype)) + "; pto_assert takes a BOOL");
        if (d.advice.empty()) d.advice.push_back("compare it: " + std::string("... != 0"));
    }
    format(c, op, stmt, 1);
}

void dump(Context& c, const ir::Op& op, const ir::Stmt& stmt) {
    const ir::TileVar* tile = c.tile(op, 0);
    const ir::Tensor* tensor = c.tensor(op, 0);
    if (!tile && !tensor) return;
    auto say = [&](Span at, const std::string& text) -> Diagnostic& { return c.report(Code::dump_rule, at, text); };
    const ir::ExprList *offsets = c.list(op, 1), *shapes = c.list(op, 2);
    std::string who = ticked(tile ? tile->name : tensor->name);
    if ((offsets != nullptr) != (shapes != nullptr))
        say(stmt.at, std::string(offsets ? "offsets" : "shapes") + " without " + (offsets ? "shapes" : "offsets") + ": a window has both, or there is none");
    std::size_t rank = tile ? 2 : tensor->dims.size();
    for (std::size_t k = 1; k <= 2; ++k) {
        const ir::ExprList* list = c.list(op, k);
        if (!list) continue;
        if (list->size() != rank) {
            say(c.at(op, stmt, k), std::to_string(list->size()) + (k == 1 ? " offsets for " : " sizes for ") + who + ", which has " + std::to_string(rank) + " axes");
            return;
        }
    }
    for (std::size_t axis = 0; shapes && axis < shapes->size(); ++axis) {
        auto size = c.constant((*shapes)[axis]);
        auto from = offsets && axis < offsets->size() ? c.constant((*offsets)[axis]) : std::nullopt;
        if (size && *size <= 0) say(c.at(op, stmt, 2), "a window of size " + std::to_string(*size) + " on axis " + std::to_string(axis));
        std::optional<std::int64_t> limit;
        if (tile) limit = tile->type.shape[axis];
        else if (!tensor->dims[axis].dynamic) limit = tensor->dims[axis].size;
        if (size && from && limit && (*from < 0 || *from + *size > *limit))
            say(c.at(op, stmt, 1), "the window ends at " + std::to_string(*from + *size) + " on axis " + std::to_string(axis) + " of " + who + ", which has size " + std::to_string(*limit));
    }
    const auto* workspace = c.attribute(op, "workspace");
    const auto* room = workspace ? std::get_if<ir::TensorId>(workspace) : nullptr;
    if (tensor) {
        if (room) say(stmt.at, "workspace= is for tiles in Acc; " + who + " is global memory");
        return;
    }
    bool acc = tile->type.memory == isa::MemorySpace::acc, vec = tile->type.memory == isa::MemorySpace::vec;
    if (vec && c.f.core != isa::Core::vector) say(c.at(op, stmt, 0), who + " lies in Vec; only a vector section dumps it");
    if (!acc) return;
    if (c.f.core != isa::Core::cube) say(c.at(op, stmt, 0), who + " lies in Acc; only a cube section dumps it");
    if (!room || !room->valid()) {
        say(stmt.at, who + " lies in Acc and is printed through global memory: workspace= is missing").advice.push_back("pass a tensor of the same dtype with room for the whole tile");
        return;
    }
    const ir::Tensor& w = c.f[*room];
    if (w.dtype != tile->type.dtype)
        say(stmt.at, "workspace " + ticked(w.name) + " has dtype " + std::string(language_name(w.dtype)) + ", " + who + " has " + std::string(language_name(tile->type.dtype)));
    std::int64_t elements = 1, need = std::int64_t(tile->type.shape[0]) * tile->type.shape[1];
    for (const ir::Dim& d : w.dims) elements = d.dynamic ? -1 : elements < 0 ? -1 : elements * d.size;
    if (elements >= 0 && elements < need)
        say(stmt.at, "workspace " + ticked(w.name) + " has room for " + std::to_string(elements) + " elements, " + who + " has " + std::to_string(need));
}

} // namespace

void check_debug(Context& c) {
    ir::for_each_statement(c.f.body, [&](const ir::Stmt& s) {
        const auto* op = std::get_if<ir::Op>(&s.what);
        if (!op) return;
        switch (op->row->semantics) {
        case Semantics::print: format(c, *op, s, 0); break;
        case Semantics::assertion: assertion(c, *op, s); break;
        case Semantics::dump: dump(c, *op, s); break;
        default: break;
        }
    });
}

} // namespace pto::check
