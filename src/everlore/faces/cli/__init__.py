"""The command line: the verbs of a workspace for people, and for scripts with `--json`.

`main` puts the commands together and is the one place where errors become sentences; `call` is one run: its global options
and the memory it opens; `output` is all that reaches the terminal. Every other module holds one group of commands.
"""
