def word():
    return "qmzvtkhwpxrlbndsgjcf"
