/// The sweep of preloads with what each needs, under the plan.

#include "kernel/views/views.hpp"

namespace xpto::views {

using namespace pto::report;

nl::json mime_bundle(const Advice& a, const ViewOptions& options) {
    const auto cells = sweep_cells(a, options.language);
    std::string html = "<b>" + escape(options.language == Language::zh ? "建议" : "Advice") + "</b>: " + escape(headline(a, options.language)) + "<br>\n" +
                       table(cells.front(), {cells.begin() + 1, cells.end()});
    for (const std::string& h : hints(a, options.language)) html += escape(h) + "<br>\n";
    return bundle(to_text(a, options.language), html);
}

} // namespace xpto::views
