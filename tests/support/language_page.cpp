/// Writes docs/language.md, the page of all operations, from the op catalogue: xpto_language_page docs/language.md
#include "engine/isa/print_docs.hpp"

#include <fstream>
#include <iostream>

int main(int argc, char** argv) {
    std::string page = pto::isa::print_docs(pto::isa::Catalogue::builtin());
    if (argc < 2) {
        std::cout << page;
        return 0;
    }
    std::ofstream file(argv[1], std::ios::binary);
    file << page;
    if (!file) {
        std::cerr << "cannot write " << argv[1] << "\n";
        return 1;
    }
    return 0;
}
