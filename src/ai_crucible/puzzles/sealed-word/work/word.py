def word():
    return ""
