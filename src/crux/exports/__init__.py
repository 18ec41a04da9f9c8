"""A debate in other people's forms: JSON, Markdown, Argdown, AIF, CSV (CX28); a comparison too."""
