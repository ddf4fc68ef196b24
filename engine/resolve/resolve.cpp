#include "engine/resolve/resolve.hpp"

#include "engine/resolve/target.hpp"

#include <algorithm>

namespace pto::resolve {

namespace {

/// Words that only the other project's language has under `pl`. Whoever pastes one of its files gets one sentence, not thirty.
std::optional<Span> other_dialect(const syntax::Function& f) {
    std::optional<Span> found;
    auto look = [&](const syntax::Expr& e) {
        if (found) return;
        if (e.kind == syntax::ExprKind::attribute && e.args[0].kind == syntax::ExprKind::name && e.args[0].text == "pl")
            for (std::string_view word : {"at", "Out", "InOut", "Level", "parallel", "incore", "spmd", "FunctionType", "auto_incore"})
                if (e.text == word) found = e.at;
        if (e.kind == syntax::ExprKind::call && e.args[0].dotted() == "pl.pipeline") found = e.args[0].at;
    };
    for (const syntax::Expr& d : f.decorators) syntax::walk(d, look);
    for (const syntax::Parameter& p : f.parameters) syntax::walk(p.annotation, look);
    syntax::walk(f.body, [&](const syntax::Stmt& s) {
        for (const syntax::Expr& t : s.targets) syntax::walk(t, look);
        syntax::walk(s.value, look);
    });
    return found;
}

void fill_specialised(Shared& shared) {
    const syntax::KernelOptions& options = shared.source.options;
    auto keep = [&](const std::string& name, Value v) {
        shared.key_storage.push_back(std::make_unique<std::string>(name));
        shared.specialised.emplace(*shared.key_storage.back(), std::move(v));
    };
    if (options.tiling_key)
        for (const syntax::KeyField& field : options.tiling_key->fields) {
            auto given = shared.options.tiling_key.find(field.name);
            if (given != shared.options.tiling_key.end()) keep(field.name, integer_value(given->second));
            else if (!field.values.empty()) keep(field.name, integer_value(field.values.front()));
        }
    for (const auto& [parameter, variable] : options.datatype) {
        auto given = shared.options.datatype.find(parameter);
        if (given == shared.options.datatype.end()) given = shared.options.datatype.find(variable);
        if (given == shared.options.datatype.end()) continue;
        Value v;
        v.kind = Kind::dtype;
        v.dtype = given->second;
        keep(variable, v);
    }
}

} // namespace

Result<Resolved> resolve(const syntax::KernelSource& source, syntax::Environment& names, SourceMap& sources, const ResolveOptions& options) {
    const isa::Catalogue& catalogue = options.catalogue ? *options.catalogue : isa::Catalogue::builtin();
    Shared shared{source, names, sources, options, catalogue, {}, {}, {}, {}, {}, {}, false, false};
    fill_specialised(shared);

    Resolved out;
    out.kernel.name = source.options.name.empty() ? source.function->name : source.options.name;
    out.kernel.auto_mutex = source.options.auto_mutex;
    out.kernel.at = source.function->name_at;

    Target vector(shared, isa::Core::vector);
    out.kernel.vector = vector.run();
    out.facts = vector.facts();
    Diagnostics vector_side = std::move(shared.diagnostics);
    shared.diagnostics.clear();
    bool has_vector = shared.sees_vector || !shared.sees_cube; // no section at all: both programs
    if (shared.sees_cube || !shared.sees_vector) {
        Target cube(shared, isa::Core::cube);
        out.kernel.cube = cube.run();
        out.facts = pipeline::merge(std::move(out.facts), cube.facts());
    }
    if (has_vector) shared.diagnostics.insert(shared.diagnostics.begin(), vector_side.begin(), vector_side.end());
    else out.kernel.vector.reset();
    out.kernel.params = std::move(shared.params);
    out.constants_used.assign(shared.constants_used.begin(), shared.constants_used.end());

    Result<Resolved> result;
    Diagnostics& found = shared.diagnostics;
    if (has_errors(found))
        if (auto at = other_dialect(*source.function)) {
            Diagnostic d = diagnose(Code::other_dialect, *at, "`" + std::string(sources.text(*at)) + "` belongs to the language of hw-native-sys/pypto, a different project");
            d.fix = Fix{"this kernel understands PyPTO Pro: tiles by pl.make_tile_group, outputs as plain pl.Tensor parameters, stages by @pl.pipeline.stage", {}};
            result.diagnostics.push_back(std::move(d));
            return result;
        }
    // Both programs read what stands outside sections, and a helper is read at each call: the same finding counts once.
    sort_by_position(found);
    for (Diagnostic& d : found) {
        bool again = std::any_of(result.diagnostics.begin(), result.diagnostics.end(),
                                 [&](const Diagnostic& o) {
                                     bool by_name = d.code == Code::undefined_name || d.code == Code::unknown_operation; // one missing name is one finding
                                     return o.code == d.code && o.message == d.message && (o.at == d.at || (by_name && o.at.file == d.at.file));
                                 });
        if (!again) result.diagnostics.push_back(std::move(d));
    }
    if (!has_errors(result.diagnostics)) result.value = std::move(out);
    return result;
}

} // namespace pto::resolve
