#include "engine/driver/compile.hpp"

#include "engine/base/usual_fix.hpp"
#include "engine/check/check.hpp"
#include "engine/driver/chip_file.hpp"
#include "engine/ir/walk.hpp"
#include "engine/resolve/pipeline/analyse.hpp"
#include "engine/schedule/plan_schedule.hpp"
#include "engine/sync/plan_sync.hpp"
#include "engine/syntax/module_environment.hpp"

#include <algorithm>

namespace pto::driver {
namespace {

/// Moves what is said about the generated text to the user's places.
Diagnostic mapped(Diagnostic d, const rewrite::Generated& generated, FileId file) {
    auto move = [&](Span s) {
        if (s.file != file) return s;
        Span origin = generated.origin(s.begin, s.end);
        return origin.valid() ? origin : s;
    };
    d.at = move(d.at);
    for (Label& l : d.labels) l.at = move(l.at);
    if (d.fix && std::any_of(d.fix->edits.begin(), d.fix->edits.end(), [&](const Edit& e) { return e.at.file == file; })) d.fix.reset();
    return d;
}

class Pass {
  public:
    Pass(Compiled& c, Clock clock) : m_compiled(c), m_clock(clock), m_begin(clock ? clock() : 0) {}
    double since() const { return m_clock ? m_clock() - m_begin : 0; }

    /// Keeps a stage's value and everything said; false when the next stage cannot run.
    template <class T> bool take(std::optional<T>& slot, Result<T> result) {
        add(std::move(result.diagnostics));
        slot = std::move(result.value);
        return slot.has_value();
    }
    void add(Diagnostics list) {
        for (Diagnostic& d : list) {
            if (m_compiled.generated) d = mapped(std::move(d), *m_compiled.generated, m_compiled.generated_file);
            bool said = std::any_of(m_compiled.diagnostics.begin(), m_compiled.diagnostics.end(), [&](const Diagnostic& o) {
                return o.code == d.code && o.at == d.at && o.message == d.message;
            });
            if (!said) m_compiled.diagnostics.push_back(std::move(d));
        }
    }

  private:
    Compiled& m_compiled;
    Clock m_clock;
    double m_begin;
};

void choose_target(Compiled& c, const CompileOptions& options) {
    std::string name;
    if (!options.target.empty()) name = options.target, c.target_origin = "target=";
    else if (!c.source.options.arch.empty()) name = c.source.options.arch, c.target_origin = "arch=";
    else name = options.default_target, c.target_origin = options.default_origin;
    if (is_chip_file(name)) {
        c.own_chip = chip_of_file(name, c.diagnostics);
        c.chip = c.own_chip.get();
        return;
    }
    c.chip = machine::find_chip(name);
    if (!c.chip) {
        std::string known;
        for (const std::string& n : machine::chip_names()) known += (known.empty() ? "" : ", ") + n;
        Diagnostic d = diagnose(Code::unknown_target, {}, "no chip is called '" + name + "' (" + c.target_origin + ")");
        d.advice.push_back("one of " + known + ", or a chip file of your own: FILE.json");
        c.diagnostics.push_back(std::move(d));
    }
}

/// The pipeline transform, from the model to the generated text read back. False when it was refused.
bool pipeline_passes(Compiled& c, Pass& pass, const CompileOptions& options, syntax::Environment& names, syntax::SourceReader& reader,
                     SourceMap& sources) {
    pipeline::AnalyseOptions analyse = pipeline::options_of(c.source.options);
    c.preload_origin = "decorator";
    if (options.preload) {
        analyse.preload = *options.preload;
        analyse.preload_is_sequence = options.preload_is_sequence;
        c.preload_origin = "override";
    }
    analyse.ops = options.specialisation.catalogue;
    analyse.sources = &sources;
    static const pipeline::Facts unknown;
    // Stricter rules accompany a value: in warn mode the kernel goes on, marked.
    auto lowered = [&](Diagnostics& list, bool has_value) {
        if (options.strictness == Strictness::warn && has_value)
            for (Diagnostic& d : list) d.severity = std::min(d.severity, Severity::warning);
    };
    Result<pipeline::Model> model = pipeline::analyse(c.source, names, c.serial ? c.serial->facts : unknown, analyse);
    lowered(model.diagnostics, model.value.has_value() && !pipeline::blocks(model.diagnostics));
    if (!pass.take(c.model, std::move(model)) || !c.serial) return false;
    sync::SyncLimits limits = sync_limits(*c.chip, c.source.options.auto_mutex);
    limits.unchecked = options.unchecked;
    if (!pass.take(c.schedule, schedule::plan_schedule(*c.model))) return false;
    for (const schedule::LoopSchedule& s : c.schedule->loops) c.preload.push_back(s.preload);
    Result<sync::SyncPlan> plan = sync::plan_sync(*c.model, *c.schedule, limits);
    lowered(plan.diagnostics, plan.value.has_value() && !pipeline::blocks(plan.diagnostics));
    if (!pass.take(c.plan, std::move(plan))) return false;
    if (!pass.take(c.generated, rewrite::rewrite(sources, names, *c.model, *c.schedule, *c.plan))) return false;

    // read again through the same door
    c.generated_file = sources.add(c.generated->file_name, c.generated->text);
    Result<syntax::Module> module = reader.read(sources, c.generated_file);
    if (!module) throw InternalError{"the generated text does not parse: " + (module.diagnostics.empty() ? "" : module.diagnostics[0].message)};
    std::shared_ptr<const syntax::Function> function = module->function(c.source.function->name);
    if (!function) throw InternalError{"the generated text defines no " + c.source.function->name};
    syntax::KernelSource again{function, syntax::ModuleEnvironment::module_scope, c.source.options};
    again.options.has_pipeline = false;
    syntax::ModuleEnvironment environment(std::move(*module.value), &names, c.source.scope);
    return pass.take(c.piped, resolve::resolve(again, environment, sources, options.specialisation));
}

/// What is left when the kernel's form is known: needs neither names nor texts.
void check_and_prove(Compiled& c, Pass& pass, Strictness strictness) {
    pass.add(check::check(*c.kernel(), *c.chip));
    if (!has_errors(c.diagnostics)) {
        c.program = program::assemble(*c.kernel(), *c.chip);
        double begin = pass.since();
        c.verdict = verify::verify(*c.program, *c.chip, {});
        c.timings.verify_s = pass.since() - begin;
        Diagnostics findings = verify::diagnostics(*c.verdict);
        // Hand-written synchronisation: a credit left at the end harms the next launch at most, and what was found while values of
        // the launch were guessed (a branch or a trip count) has no witness. Both are warnings; the launch itself is checked on the
        // real values. A plan of ours balances and guesses nothing, so there they are errors.
        if (!c.model)
            for (Diagnostic& d : findings)
                if (d.code == Code::verify_left || !c.verdict->reason.empty()) d.severity = std::min(d.severity, Severity::warning);
        if (strictness == Strictness::warn)
            for (Diagnostic& d : findings) d.severity = std::min(d.severity, Severity::warning);
        pass.add(std::move(findings));
    }
}

} // namespace

Compiled compile(const syntax::KernelSource& source, syntax::Environment& names, syntax::SourceReader& reader, SourceMap& sources,
                 const CompileOptions& options, Clock clock) {
    Compiled c;
    c.name = source.options.name;
    c.source = source;
    c.strictness = options.strictness;
    Pass pass(c, clock);
    choose_target(c, options);
    if (!c.chip) return c;

    bool resolved = pass.take(c.serial, resolve::resolve(source, names, sources, options.specialisation));
    bool go_on = resolved;
    if (source.options.has_pipeline) {
        Diagnostics before = std::move(c.diagnostics);
        c.diagnostics.clear();
        go_on = pipeline_passes(c, pass, options, names, reader, sources);
        // a rule of the pipeline says more than what the probe stumbled over in the same kernel
        if (!(has_errors(c.diagnostics) && has_errors(before))) c.diagnostics.insert(c.diagnostics.begin(), before.begin(), before.end());
    } else if (options.preload) {
        Diagnostic d = diagnose(Code::preload_without_pipeline, source.function->name_at,
                                source.options.name + " has no pipeline= option, so preload has nothing to act on");
        d.advice.push_back("add pipeline=pl.pipeline.PipelineConfig(preload=...) to its decorator");
        pass.add({d});
    }
    c.timings.frontend_s = pass.since();
    if (go_on && c.kernel() && !has_errors(c.diagnostics)) {
        const std::function<void()> prove = [&] { check_and_prove(c, pass, options.strictness); };
        options.apart ? options.apart(prove) : prove();
    }
    sort_by_position(c.diagnostics);
    complete(c.diagnostics);
    c.timings.total_s = pass.since();
    return c;
}

std::vector<bool> written_parameters(const ir::Kernel& kernel) {
    std::vector<bool> written(kernel.params.size(), false);
    for (const std::optional<ir::Function>* side : {&kernel.cube, &kernel.vector}) {
        if (!*side) continue;
        const ir::Function& f = **side;
        bool views = false; // a tensor made from an address: any pointer or tensor parameter may be behind it
        auto write = [&](ir::TensorId t) {
            if (f[t].param.valid()) written[std::size_t(f[t].param.index)] = true;
            else views = true;
        };
        ir::for_each_statement(f.body, [&](const ir::Stmt& s) {
            if (const auto* op = std::get_if<ir::Op>(&s.what))
                for (std::size_t i = 0; i < op->operands.size() && i < op->row->operands.size(); ++i)
                    if (const auto* t = std::get_if<ir::TensorId>(&op->operands[i]); t && isa::writes(op->row->operands[i].role)) write(*t);
            if (const auto* launch = std::get_if<ir::SimtLaunch>(&s.what))
                for (const ir::OperandValue& o : launch->arguments)
                    if (const auto* t = std::get_if<ir::TensorId>(&o)) write(*t);
        });
        if (views) std::fill(written.begin(), written.end(), true);
    }
    return written;
}

sync::SyncLimits sync_limits(const machine::Chip& chip, bool auto_mutex) {
    sync::SyncLimits out;
    out.event_ids = chip.cross_core_ids;
    out.max_pending = chip.cross_core_limit;
    out.auto_mutex = auto_mutex;
    out.wait_stops_core = chip.wait_stops_all_pipes;
    out.vec_bytes = chip.of(isa::MemorySpace::vec).bytes;
    out.mat_bytes = chip.of(isa::MemorySpace::mat).bytes;
    return out;
}

} // namespace pto::driver
