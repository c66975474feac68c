"""A window read by the parser (prototype of the driver)."""
import re
from everlore.models.parsed.clauses import clauses
from everlore.models.parsed.pipeline import parsed
from everlore.models.parsed.scene import Scene, person_of
from everlore.models.parsed.wording import Refused, worded
from everlore.models.parsed.worth import weigh, Worth
from everlore.text.dates import read_dates
from everlore.text.languages import language_of
from everlore.text.sentences import sentences

_CUT = re.compile(r"\s+[-–—]+\s+|\.{2,}|…|\s*[;:]\s|:\)|:\(|\s[:;]-?[)D(]")
_LEAD = re.compile(r"^(?:(?:oh|wow|hey|hi|hello|yeah|yep|yes|yup|no|nope|nah|ok|okay|well|so|thanks|thank you|thx|aww+|ah|hmm+|um|uh|haha\w*|lol|omg|btw|by the way|anyway|anyways|sure|great|cool|nice|congrats|true|right|fyi|p\.?s\.?|also|and|but|honestly|tbh|actually|oops|sorry|wait)\b[ ,!.]*)+", re.I)
_RELATIVE = re.compile(r"\b(?:yesterday|today|tonight|tomorrow|last|next|this|ago|mon|tue|tues|wed|thu|thur|thurs|fri|sat|sun|monday|tuesday|wednesday|thursday|friday|saturday|sunday|weekend|now|past|coming|few)\b", re.I)
_WAS = {"day": "{0.day} {0:%B %Y}", "month": "{0:%B %Y}", "year": "{0:%Y}"}

def pieces(text):
    for s in sentences(text):
        if s.text.rstrip("\"' )*").endswith("?"):
            continue
        start = s.start
        last = 0
        for m in list(_CUT.finditer(s.text)) + [None]:
            stop = m.start() if m else len(s.text)
            part = s.text[last:stop]
            if len(part.split()) >= 3 and language_of(part) == "en":
                yield start + last, part
            if m: last = m.end()

def clean(part, names):
    out = part.replace("’", "'")
    m = _LEAD.match(out)
    if m: out = " " * m.end() + out[m.end():]
    for n in names:
        out = re.sub(rf"(?:^\s*|,\s*){re.escape(n)}(?=\s*[,!.]|$)", lambda m: " " * len(m[0]), out, flags=re.I)
    out = re.sub(r"\bi\b", "I", out)
    out = re.sub(r"^(\s*)[,!.]", lambda m: m[1] + " ", out)
    return out

def said_date(d):
    s = d.start
    g = str(d.grain)
    if "day" in g or "hour" in g or "minute" in g or 'moment' in g: return f"{s.day} {s:%B %Y}", "on"
    if "week" in g: return f"the week of {s.day} {s:%B %Y}", "in"
    if "month" in g: return f"{s:%B %Y}", "in"
    if "year" in g: return f"{s:%Y}", "in"
    return f"{s.day} {s:%B %Y}", "around"

def dates_of(doc, text, at):
    out, moments = {}, {}
    for d in read_dates(text, at):
        span = text[d.begin:d.stop]
        toks = [t for t in doc if t.idx >= d.begin and t.idx < d.stop]
        if not toks: continue
        moments[toks[0].i] = d.start
        if not _RELATIVE.search(span): continue
        first = toks[0]
        said, prep = said_date(d)
        before = doc[first.i-1] if first.i else None
        if before is not None and before.dep_ == "prep" and before.lower_ in {"on","in","since","until","till","by","from","for","at","during","before","after"}:
            lead = "" 
        else: lead = prep + " "
        out[first.i] = (lead + said, frozenset(t.i for t in toks))
    return out, moments

def read(messages, known=()):
    """messages: list of (speaker, listener, at, text); yields (message index, clause, wording, worth)"""
    jobs = []
    for n, (speaker, listener, at, text) in enumerate(messages):
        names = [x for x in (speaker, listener) if x and x.lower() not in {"user","assistant"}]
        names += [x[:3] for x in names if len(x) > 4]
        for start, part in pieces(text):
            c = clean(part, names)
            if len(c.split()) >= 3: jobs.append((n, start, c))
    people, genders = [], {}
    for (n, start, c), doc in zip(jobs, parsed([j[2] for j in jobs])):
        speaker, listener, at, text = messages[n]
        scene = Scene(speaker, listener, known, people, genders)
        dates, _ = dates_of(doc, c, at)
        for sent in doc.sents:
            for clause in clauses(sent):
                try:
                    w = worded(clause, scene, dates)
                except Refused as r:
                    yield n, clause, None, str(r)
                else:
                    dated = any(i in {t.i for t in clause.words} for i in dates) or any(t.ent_type_ in {"DATE","TIME"} for t in clause.words)
                    yield n, clause, w, weigh(clause, w, scene, dated)
                for t in clause.words:
                    p = person_of(t, scene, scene.author)
                    if p: scene.note(p)
        people = scene.people
