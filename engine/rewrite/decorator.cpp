/// Removes `pipeline=...` from the kernel's decorator, so that reading the text again does not transform again.

#include "engine/rewrite/kernel_text.hpp"

namespace pto::rewrite {

void remove_pipeline_keyword(KernelEdits& k) {
    const std::string& all = k.text.all;
    for (const syntax::Expr& d : k.model.source.function->decorators)
        for (const syntax::Keyword& kw : d.keywords) {
            if (kw.name != "pipeline" || kw.value.empty()) continue;
            std::int32_t begin = kw.name_at.begin, end = kw.value.front().at.end;
            while (end < d.at.end && (all[std::size_t(end)] == ' ' || all[std::size_t(end)] == '\n')) ++end;
            std::int32_t before = begin;
            while (before > d.at.begin && (all[std::size_t(before - 1)] == ' ' || all[std::size_t(before - 1)] == '\n' || all[std::size_t(before - 1)] == '\t')) --before;
            if (all[std::size_t(before - 1)] == ',') {
                end = kw.value.front().at.end;
                begin = before - 1;
            } else if (all[std::size_t(end)] == ',') {
                ++end;
                while (end < d.at.end && all[std::size_t(end)] == ' ') ++end;
            } else {
                end = kw.value.front().at.end;
            }
            k.add(begin, end, "", kw.name_at);
        }
}

} // namespace pto::rewrite
