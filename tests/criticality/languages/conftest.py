"""Loads the example that all languages share."""

import importlib.util
import sys
from pathlib import Path

_found = importlib.util.spec_from_file_location("account_system", Path(__file__).with_name("account_system.py"))
assert _found is not None and _found.loader is not None
_module = importlib.util.module_from_spec(_found)
sys.modules["account_system"] = _module
_found.loader.exec_module(_module)
