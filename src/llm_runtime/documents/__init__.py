"""Documents as text, whatever program wrote them: PDF, DOCX, EPUB, spreadsheets, HTML, plain text.

Nothing is run, unpacked to disk or fetched; what cannot be read is refused with one line.
"""

from llm_runtime.documents.reading import Document, DocumentError, read_bytes, read_document

__all__ = ["Document", "DocumentError", "read_bytes", "read_document"]
