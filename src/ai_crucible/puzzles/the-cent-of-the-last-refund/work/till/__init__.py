"""Prices orders, and refunds parts of them."""

from till.audit import audit
from till.ledger import Entry, Ledger, RefundError
from till.money import split
from till.order import Discount, Line, Order
from till.pricing import price
from till.text import OrderError, read_order

__all__ = ["Discount", "Entry", "Ledger", "Line", "Order", "OrderError", "RefundError", "audit", "price", "read_order", "split"]
