import re


def values(buffer, end):
    return re.findall('="(.+?)"', buffer[:end])


def page(html, behind):
    return values(html + behind, len(html))
