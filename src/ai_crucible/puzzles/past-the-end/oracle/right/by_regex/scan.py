import re

VALUE = re.compile(r'="([^"]*)"')


def values(buffer, end):
    return VALUE.findall(buffer[:end])


def page(html, behind):
    return values(html + behind, len(html))
