"""For tests, ours and yours: scripted and failing models, and a model server on this machine with forty faults.

Nothing here is imported by the rest of the package.
"""

from llm_runtime.testing.faults import Fault
from llm_runtime.testing.loopback import LoopbackServer, Received
from llm_runtime.testing.models import ScriptedModel, faulty

__all__ = ["Fault", "LoopbackServer", "Received", "ScriptedModel", "faulty"]
