from draft import Draft


def play(beginning, calls):
    """What each call answers, and the text and the mark after it."""
    try:
        draft = Draft(*beginning)
    except ValueError:
        return "ValueError"
    seen = [[draft.text, draft.dirty]]
    for name, *arguments in calls:
        try:
            answer = getattr(draft, name)(*arguments)
        except IndexError:
            answer = "IndexError"
        seen.append([answer if name in ("undo", "redo") or answer == "IndexError" else None, draft.text, draft.dirty])
    return seen
