def allowed(members):
    return [name for name, kind, target in members if not name.startswith("../")]
