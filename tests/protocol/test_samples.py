"""The samples of jupyter_kernel_test: completion, is_complete, inspection, pager, streams, errors, displays, history."""
from __future__ import annotations

import os
import shutil
import tempfile

import jupyter_kernel_test

import conftest  # noqa: F401  sets JUPYTER_PATH before the kernel is looked up


class KernelSamples(jupyter_kernel_test.KernelTests):
    kernel_name = "xpto"
    language_name = "python"
    file_extension = ".py"
    code_hello_world = "print('hello, world')"
    code_stderr = "import sys; print('test', file=sys.stderr)"
    completion_samples = [
        {"text": "zi", "matches": {"zip"}},
        {"text": "%pto_con", "matches": {"%pto_config"}},
        {"text": "%%pto_kernel prel", "matches": {"preload="}},
        {"text": "%%pto_kernel preload=2\nimport pypto_pro.language as pl\npl.matmul_a", "matches": {"matmul_acc"}},
    ]
    complete_code_samples = ["1", "print('hello')", "def f():\n    x = 1\n\n", "%%pto_kernel\nx = 1\n\n"]
    incomplete_code_samples = ["for i in range(10):", "f(", "'''open", "%%pto_kernel\nx = 1"]
    invalid_code_samples = ["import = 7q"]
    code_inspect_sample = "zip"
    code_page_something = "zip?"
    code_generate_error = "raise ValueError('x')"
    code_execute_result = [{"code": "1+2", "result": "3"}, {"code": "'a' 'b'", "result": "'ab'"}]
    code_display_data = [
        {"code": "from IPython.display import HTML, display; display(HTML('<b>x</b>'))", "mime": "text/html"},
        {"code": "from IPython.display import Math, display; display(Math('x'))", "mime": "text/latex"},
    ]
    code_clear_output = "from IPython.display import clear_output; clear_output()"
    code_history_pattern = "1?2*"
    supported_history_operations = ("tail", "search", "range")

    @classmethod
    def setUpClass(cls) -> None:
        cls._folder = tempfile.mkdtemp(prefix="xpto-ipython-")
        cls._previous = os.environ.get("IPYTHONDIR")
        os.environ["IPYTHONDIR"] = cls._folder
        super().setUpClass()

    @classmethod
    def tearDownClass(cls) -> None:
        super().tearDownClass()
        if cls._previous is None:
            del os.environ["IPYTHONDIR"]
        else:
            os.environ["IPYTHONDIR"] = cls._previous
        shutil.rmtree(cls._folder, ignore_errors=True)


del jupyter_kernel_test  # pytest would collect the base class as well
