"""The errors that end a debate, a reading or a comparison: every further question would meet the same."""

from llm_runtime.errors import AuthenticationFailed, BudgetExceeded, DeadlineExceeded, PaymentRequired

FATAL = (AuthenticationFailed, PaymentRequired)
"""Failed calls that every further call would repeat: they end a debate instead of skipping a turn."""
OVER = (BudgetExceeded, DeadlineExceeded, *FATAL)
