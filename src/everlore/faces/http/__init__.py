"""The HTTP face: the verbs of a workspace as JSON over HTTP, for programs on the same machine.

`server` puts it together and runs it, `routes` makes an address of each verb, `models` what goes in and out, `errors` the one
shape of every refusal, `guard` what keeps web pages of strangers and oversized requests out.
"""
