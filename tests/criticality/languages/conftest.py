"""Load what the tests of all languages share."""

import importlib.util
import sys
from pathlib import Path

for _name in ("account_system", "every_value", "tiny_trees", "tools_here"):
    _found = importlib.util.spec_from_file_location(_name, Path(__file__).with_name(f"{_name}.py"))
    assert _found is not None and _found.loader is not None
    _module = importlib.util.module_from_spec(_found)
    sys.modules[_name] = _module
    _found.loader.exec_module(_module)
