from urllib.parse import unquote


def resolve(path):
    if ".." in path.split("/"):
        return None
    path = unquote(unquote(path))
    return "/site/" + "/".join(part for part in path.split("/") if part not in ("", "."))
