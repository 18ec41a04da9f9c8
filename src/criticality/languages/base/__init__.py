"""What languages share: expressions and tests that are typed, grammars, toolchains, the files of a folder."""
