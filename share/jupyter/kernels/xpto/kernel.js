// Classic notebook only: cells that begin with %%pto_kernel are highlighted as Python, also below the magic's line.
define(['base/js/namespace', 'notebook/js/codecell'], function (Jupyter, codecell) {
  'use strict';
  return {
    onload: function () {
      codecell.CodeCell.options_default.highlight_modes['magic_python'] = { reg: [/^%%pto_kernel/] };
      // cells that were there before this file was loaded
      Jupyter.notebook.get_cells().forEach(function (cell) {
        if (cell.cell_type === 'code') { cell.auto_highlight(); }
      });
    }
  };
});
