/// Scalar access to global memory goes through the core's data cache, copies go past it: the two meet only through dcci.
/// Source: language 3.10, 8.3.
#include "engine/check/context.hpp"

#include <map>

namespace pto::check {
namespace {

using isa::Semantics;

/// What one program does with one kernel parameter.
struct Uses {
    const ir::Stmt *element_read = nullptr, *element_write = nullptr, *copy_in = nullptr, *copy_out = nullptr;
};

struct Program {
    std::map<std::int32_t, Uses> of; // by parameter
    bool cleans = false;             // has a dcci
};

Program uses(const ir::Function& f) {
    Program p;
    ir::for_each_statement(f.body, [&](const ir::Stmt& s) {
        const auto* op = std::get_if<ir::Op>(&s.what);
        if (!op) return;
        p.cleans = p.cleans || op->row->semantics == Semantics::cache;
        for (const ir::OperandValue& operand : op->operands) {
            const auto* t = std::get_if<ir::TensorId>(&operand);
            if (!t || !t->valid() || !f[*t].is_parameter()) continue;
            Uses& u = p.of[f[*t].param.index];
            const ir::Stmt** place = op->row->semantics == Semantics::getval   ? &u.element_read
                                     : op->row->semantics == Semantics::setval ? &u.element_write
                                     : op->row->semantics == Semantics::load   ? &u.copy_in
                                     : op->row->semantics == Semantics::store  ? &u.copy_out
                                                                               : nullptr;
            if (place && !*place) *place = &s;
        }
    });
    return p;
}

} // namespace

void check_scalar_cache(Context& c) {
    Program own = uses(c.f), other;
    const auto& across = c.f.core == isa::Core::cube ? c.kernel.vector : c.kernel.cube;
    if (across) other = uses(*across);
    auto say = [&](const ir::Stmt& at, const std::string& message, const ir::Stmt& second, const char* label, const char* advice) {
        Diagnostic& d = c.report(Code::stale_scalar, at.at, message);
        if (d.labels.empty()) d.labels.push_back({second.at, label});
        if (d.advice.empty()) d.advice.push_back(advice);
    };
    for (const auto& [param, u] : own.of) {
        if (own.cleans) continue;
        std::string who = ticked(c.kernel.params[std::size_t(param)].name);
        auto there = other.of.find(param);
        const ir::Stmt* reader = u.copy_in;
        if (!reader && there != other.of.end()) reader = there->second.copy_in ? there->second.copy_in : there->second.element_read;
        if (u.element_write && reader)
            say(*u.element_write, "this element of " + who + " may still be in the core's data cache when it is read from global memory; nothing writes the cache back",
                *reader, "read here", "pl.system.dcci(...) on the tensor after the last element is written");
        const ir::Stmt* writer = u.copy_out;
        if (!writer && there != other.of.end()) writer = there->second.copy_out ? there->second.copy_out : there->second.element_write;
        if (u.element_read && writer)
            say(*u.element_read, "this element of " + who + " may come from the core's data cache, as it was before global memory was written; nothing invalidates the cache",
                *writer, "written here", "pl.system.dcci(...) on the tensor after the write has been awaited, before the element is read");
    }
}

} // namespace pto::check
