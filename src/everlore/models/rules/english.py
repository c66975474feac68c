"""How English says facts: what may stand between subject and verb, and which verbs say which predicate."""

import re
from typing import Final

from everlore.models.rules.grammar import Grammar, Rule, rules

# When it was, between a verb and what belongs to it: "started monday as a ...".
_WHEN = (
    r"(?:(?:back |only |just |early |late )?(?:in |on |last |this |next |since )?(?:january|february|march|april|may|june"
    r"|july|august|september|october|november|december|monday|tuesday|wednesday|thursday|friday|saturday|sunday|week|month"
    r"|year|spring|summer|autumn|winter|yesterday|today|recently|again|there|here|full.time|part.time) )?"
)
HEAD: Final = re.compile(
    r"(?:^|(?<=\w\s)(?=(?:i|we)(?:\s|'(?:m|ve|re|d rather)\b)|i(?:m|ve)\s)|[,;:—–(.!]\s{1,3}|\s[-–—]\s|\b(?:and|but"
    r"|because|since"
    r"|as|while|although|though|that|so|then|now|where|which|who|plus"
    r"|also|btw|yes|yeah|actually|fyi|remember|note|know|today|yesterday|recently),?\s)(?:btw |fyi |actually |and |so "
    r"|i mean |that |now |then |currently |today |nowadays |for the record |personally |honestly )?"
)
AUX: Final = re.compile(
    r"(?:(?:\s?(?:'m|'s|'re|'ve|'d|'ll)|\s(?:am|is|are|was|were|be|been|have|has|had|do|does|did|don't|dont|doesn't"
    r"|doesnt|didn't"
    r"|isn't|wasn't|aren't|ain't|won't|can't|cannot|couldn't|wouldn't|haven't|hasn't|hadn't|used to|no longer|not"
    r"|never|will|would"
    r"|could|can|should|may|might|must|shall|going to|gonna|currently|now|still|also|just|really|always|usually|often"
    r"|sometimes"
    r"|mostly|mainly|actually|already|recently|finally|only|both|definitely|absolutely|truly|officially|originally"
    r"|previously"
    r"|formerly|nowadays|presently|these days|personally|generally|normally|typically|secretly|happily|very much|quite"
    r"|pretty|super|so|even|all|one day|once))"
    r"(?![\w']))*"
)
NEGATIVE: Final = re.compile(r"n't|\b(?:not|never|dont|doesnt|cannot)\b")
ENDED: Final = re.compile(r"\b(?:used to|no longer|formerly|previously)\b")
AHEAD: Final = re.compile(
    r"'ll\b|'d\b|\b(?:will|would|could|can|can't|should|may|might|must|shall|going to|gonna|wo)\b"
)
HAVE: Final = re.compile(r"'ve\b|\b(?:have|has|haven't|hasn't)\b")
ANYMORE: Final = re.compile(r"\b(?:any ?more|any longer|no more|these days i don't)\b")
PAST: Final = re.compile(
    r"(?:lived|worked|studied|was|were|did|owned|used|played|spoke|liked|loved|hated|preferred|belonged|enjoyed|had"
    r"|volunteered"
    r"|attended|taught|sang|drove)\b"
)
STOP: Final = re.compile(
    r"[,.;:!?()\"“”\n\x7f]|\s[-–—]|\s(?:off|bc|cos|coz|til|w/|online|twice|once|well|professionally|regularly|outside"
        r"|btw|fyi|weekly|daily|back|via|since|like|and|but|or|because|cause|cuz|since|so|when|whenever|where|which"
        r"|who|that|while"
        r"|if|though|although"
    r"|now|currently|any ?more|these days|nowadays|lately|too|also|right now|at the moment|again|every|each|last|next|today"
    r"|yesterday|tomorrow|tonight|this|for|with|at|by|from|until|till|after|before|than|over|instead|ever|on|in|as|already"
    r"|actually|honestly|tbh|though|really|down here|over here|here|there|any day|all day|the most|by far|most of all"
        r"|a lot|so much|very much|more|rather|called|named|is|are|was|were|i|i'm|my|we|he|she|it|they|anyway|btw|haha"
            r"|lol|just"
        r"|even|almost|about"
    r"|recently|always|to|full.?time|part.?time|remotely|mostly|usually|unless|especially|except|without|during|near"
        r"|not)\b(?!-)"
)  # fmt: skip
LIST_JOINT: Final = re.compile(
    r"\s?(?:,\s?(?:and |or )?|\sand |\sor |\s?& )(?:also to |also |to |a little of |a bit of |some |a little )?"
)
ARTICLE: Final = re.compile(
    r"(?:(?:a|an|the|some|my|our|his|her|their|any|this big|these|those|all kinds of|all|lots of|a lot of|really|very)\s)+"
)

_ADJ = r"(?:[a-z'-]+ ){0,3}?"
_PETS = (
    r"(?:(?:dog|cat|rabbit|hamster|guinea pig|parrot|horse|turtle|tortoise|snake|lizard|gecko|ferret|bird|chicken|goat"
    r"|pig|rat"
    r"|hen|retriever|labrador|lab|poodle|terrier|beagle|bulldog|shepherd|collie|corgi|dachshund|greyhound|cockatiel|hedgehog"
    r"|chinchilla|gerbil|pug|spaniel|whippet|duck|donkey|llama|alpaca|sheepdog|mutt|rescue|newt|axolotl|iguana|tarantula"
    r"|parakeet|cockatoo|kitten|lurcher|setter|pointer|tomcat|kelpie|mongrel)s?|puppy|puppies|bunny|bunnies|pony|ponies"
    r"|goldfish|fish|canary|canaries|budgies?|mouse|mice|husky|huskies|tabby|siamese|geese|goose|pup|pups|kitty)\b"
)
GROUP: Final = re.compile(
    r"\b(?:choir|band|club|team|league|society|association|group|orchestra|union|committee|board|party|gym|crew|squad"
    r"|ringers|runners|rowers|hikers|ramblers|swimmers|players|singers|dancers|climbers|cyclists|knitters|fc"
    r"|ensemble)\b"
)

VERBS: Final = rules(
    # --- where and what somebody is
    Rule("live lives lived living", r"\w+ (?:here |just |right |out |over |full.time |alone )?in (?:the (?:city|town"
        r"|village) of )?", "lives_in", "place", past="ended"),
    Rule("based located", r"\w+ (?:out of|in) ", "lives_in", "place", needs_be=True),
    Rule("moved relocated emigrated transferred", r"\w+ (?:all the way |back |here |over |away |house |in together "
        r"|home )?(?:from (?P<left>[\w .'-]{2,40}?) )?" + _WHEN + r"(?:back |down |up "
        r"|over |out |across )?to ", "lives_in", "place", past="same", left="lives_in"),
    Rule("settled", r"settled (?:down |back |ourselves |myself )?in ", "lives_in", "place", past="same"),
    Rule("made", r"made (?:the|a|our|my) (?:big )?move (?:back |over |down |up |out )?to ", "lives_in", "place", past="same"),
    Rule("got", r"got settled (?:down )?in ", "lives_in", "place", past="same"),
    Rule("ended", r"ended up (?:living |settling )?in ", "lives_in", "place", past="same", confidence=0.6),
    Rule("back home", r"(?:back(?: home)?|home) in (?!\d)", "lives_in", "place", needs_be=True, past="same", confidence=0.6),
    Rule("rent renting rented", r"\w+ (?:an?|our|my|this) (?:[\w-]+ ){0,3}?(?:flat|house|apartment|place|room"
        r"|studio) in ", "lives_in",
        "place", past="ended", confidence=0.6),
    Rule("hired poached", r"(?:hired|poached) by ", "works_at", "org", past="same"),
    Rule("with at", r"(?:with|at) (?=[^,.!?]{2,40}?\b(?:now|since|for (?:about |over |nearly |almost |like )?(?:\w+"
        r"|\d+) (?:years?|months?|yrs)|these days"
        r"|full.time)\b)", "works_at", "named", needs_be=True, past="same", confidence=0.65),
    Rule("teach teaches taught teaching lecture lectures lecturing nurse intern interning interned temp temping apprenticing",
        r"\w+ (?:[\w' ]{1,30}? )?(?:at|for) ",
        "works_at", "org", past="ended"),
    Rule("lead leads manage manages head heads run runs handle handles coordinate coordinates",
        r"\w+ (?:the |all the |all )?[\w' -]{2,30}? at (?=[^\W\d_])",
        "works_at", "named", confidence=0.6),
    Rule("handed gave submitted", r"(?:handed in|gave|submitted) (?:in )?my (?:notice|resignation"
        r"|two weeks'? notice) (?:at|to|with) ", "works_at",
        "org", past="same", ends=True),
    Rule("signed", r"signed (?:on |up )?(?:(?:a|the|my) contract )?with (?!my\b|the\b|our\b)", "works_at", "named",
        past="same", confidence=0.6),
    Rule("moved", r"moved (?:out of|away from|from|out from) ", "lives_in", "place", past="same", ends=True),
    Rule("left", r"left (?:my (?:job|position|role) (?:at|with) )", "works_at", "org", past="same", ends=True),
    Rule("left", r"left (?P<left>[\w .&'-]{2,30}?) for ", "works_at", "named", past="same", left="works_at", confidence=0.6),
    Rule("left quit", r"\w+ (?=[^\W\d_])", "works_at", "named", past="same", ends=True, confidence=0.6),
    Rule("quit resigned retired fired laid stopped finished", r"(?:quit (?:my )?(?:job|working|position)(?: (?:at|for"
        r"|with))?|resigned from|retired from|(?:fired|laid off) (?:from|by)|stopped working (?:at|for)"
        r"|finished (?:working )?at) (?:my (?:job|position) at )?", "works_at", "org", past="same", ends=True),
    Rule("got been was were", r"(?:got|was|were|been) (?:just )?(?:fired|laid off|let go) (?:from|by) ", "works_at",
        "org", past="same", ends=True),
    Rule("work works worked working", r"\w+ (?:(?:full|part)[ -]?time |remotely |mostly |there "
        r"|now |nights |weekends )?(?:as (?:a|an|the) (?P<role>[a-z][a-z '-]{2,40}?) )?(?:over |down |up )?(?:at|for) ",
            "works_at", "org", past="ended",
            role=True),
    Rule("work works worked working", r"\w+ (?:(?:full|part)[ -]?time |remotely |now |freelance )?as (?:an? |the "
        r"|our )", "works_as", "job", past="ended"),
    Rule("work works working hacking tinkering contributing contribute",
        r"(?:\w+ on|tinkering with|contribut\w+ to) (?=[^\W\d_])", "works_on", "named"),
    Rule("building developing", r"\w+ (?:an? |the |my )?(?:[a-z-]+ ){0,4}?(?:called|named) ", "works_on", "named"),
    Rule("employed", r"employed (?:as an? (?P<role>[a-z][a-z '-]{2,40}?) )?(?:at|by|with) ", "works_at", "org",
        needs_be=True, role=True),
    Rule("started start begin began starting", r"\w+ (?:my |a |the )?(?:new )?(?:job |position |role |internship "
        r"|working |work )?" + _WHEN + r"(?:as an? (?P<role>[a-z][a-z '-]{2,40}?) )?(?:at|with|for) ", "works_at",
            "org", past="same",
            role=True),
    Rule("joined", r"joined " + _WHEN, "works_at", "org", past="same", group=True),
    Rule("got landed accepted took", r"\w+ (?:myself )?(?:hired|(?:a|the|my)(?: [a-z-]+){0,2} (?:job|position|role"
        r"|offer|internship)(?: as an? (?P<role>[a-z][a-z '-]{2,40}?))?) (?:at|by|with|from) ", "works_at", "org",
            past="same", role=True),
    Rule("got became", r"(?:got promoted to|became) (?:an? |the )?", "works_as", "role", past="same"),
    Rule("make makes made", r"\w+ (?:my|a|his|her) living as an? ", "works_as", "job", past="ended"),
    Rule("freelance freelancing moonlight moonlighting training trained retrained qualified",
        r"\w+ as an? ", "works_as", "job", past="same", confidence=0.65),
    Rule("promoted", r"promoted to (?:an? |the )?", "works_as", "role", past="same"),
    Rule("run runs own owns opened have got", r"\w+ (?:an? |the |my own |my |our own "
        r"|our )(?=(?:[a-z-]+ ){0,2}(?:bakery|shop|store"
        r"|restaurant|café|cafe|bar|studio|company|business|farm|salon|gallery|bookshop|bookstore|brewery|agency"
        r"|startup|pub|bike shop|nursery|vineyard|hostel)\b)", "owns", "thing"),
    Rule("a an", r"an? (?:(?:first|second|third|fourth|final|last)[ -]year |phd |master'?s |grad(?:uate)? |part-time "
        r"|mature |undergrad(?:uate)? )*"
        r"(?P<what>(?!exchange|phd|college|university|uni|school|grad|mature)[a-z]+(?: science| engineering| history"
            r"| therapy)?) student\b", "studies", "what", needs_be=True, past="ended",
            then=(r" student (?:at|in) ", "studies_at", "org")),
    Rule("a an", r"an? (?:[\w-]+ ){0,3}?student at ", "studies_at", "org", needs_be=True, past="ended"),
    Rule("a an the", r"(?:an?|the) ", "works_as", "role", needs_be=True, past="ended", role_at=True),
    Rule("study studies studied studying", r"\w+ (?!at |in |for |with |on |to |hard|abroad|every|all|together|a lot"
        r"|there|here|now)", "studies", "thing", past="ended", then=(r" at ", "studies_at", "org")),
    Rule("study studies studied studying", r"\w+ at ", "studies_at", "org", past="ended"),
    Rule("enrolled", r"enrolled (?:in|on) (?:an? |the )?(?:course in |degree in |master'?s in |programme in )?",
        "studies", "thing", past="same", then=(
        r" at ", "studies_at",
        "org")),
    Rule("enrolled enrolling", r"\w+ at ", "studies_at", "org", past="same"),
    Rule("doing", r"doing (?=[a-z ]{0,20}(?:ology|ics|istry|law|history|nursing|medicine|engineering|science|design"
        r"|philosophy|maths|geography|literature|art) at )", "studies", "thing", then=(r" at ", "studies_at", "org")),
    Rule("reading", r"reading (?=[a-z ]{3,25} at )", "studies", "thing", needs_be=True, then=(r" at ", "studies_at", "org")),
    Rule("majoring majored major", r"\w+ in ", "studies", "thing", then=(r" at ", "studies_at", "org"), past="ended"),
    Rule("doing pursuing finishing getting started starting", r"\w+ (?:an?|my|the) (?:[a-z-]+ )?(?:master'?s?|masters"
        r"|phd|degree|bachelor'?s?|doctorate|mba|minor|major)(?: degree)? in ", "studies", "thing", then=(
            r" at ", "studies_at", "org"), past="same"),
    Rule("doing pursuing", r"\w+ (?:an?|my|the) (?:[a-z-]+ )?(?:master'?s?|phd|degree|bachelor'?s?|doctorate"
        r"|mba)(?: degree)? at ", "studies_at", "org"),
    Rule("graduated", r"graduated from ", "studies_at", "org", past="same", ends=True),
    Rule("student", r"student at ", "studies_at", "org", needs_be=True),
    Rule("born", r"born (?:and (?:raised|bred) )?in ", "born_in", "place", past="same", then=(
        r",? on (?:the )?", "born_on", "date")),
    Rule("born", r"born (?:on |in )?(?=[\w ,]{0,20}\d)", "born_on", "date", past="same", then=(r" in ", "born_in", "place")),
    # --- people
    Rule("married", r"married (?:to )?", "married_to", "person", past="same"),
    Rule("engaged", r"engaged to ", "engaged_to", "person", past="same"),
    Rule("got", r"got hitched (?:to|with) ", "married_to", "person", past="same"),
    Rule("tied", r"tied the knot with ", "married_to", "person", past="same"),
    Rule("proposed", r"proposed to ", "engaged_to", "person", past="same", confidence=0.6),
    Rule("going", r"(?:going )?out with ", "partner_of", "person", needs_be=True, confidence=0.6),
    Rule("together", r"together with ", "partner_of", "person", needs_be=True, confidence=0.6),
    Rule("broke split", r"(?:broke|split) up with ", "partner_of", "person", past="same", ends=True),
    Rule("got", r"got (?:re)?married to ", "married_to", "person", past="same"),
    Rule("got", r"got engaged to ", "engaged_to", "person", past="same"),
    Rule("divorced", r"divorced (?:from )?", "married_to", "person", past="same", ends=True),
    Rule("dating", r"dating ", "partner_of", "person", needs_be=True),
    Rule("seeing", r"seeing (?=[\w'-]+(?:$|[,.!] ?| for| since| again| these days))", "partner_of", "person",
        needs_be=True, confidence=0.6),
    # --- what somebody has
    Rule("have has had got adopted bought rescued fostered picked", rf"\w+ (?:got )?(?:an?|two|three|four|\d|our|my|this"
        rf"|the)(?: [\w'’-]+){{0,3}}? {_PETS}(?: btw| now| at home| today| yesterday| last week| fyi"
            rf"| these days)?,? ?(?:(?:who is |that is |that's |who's )?(?:called|named)"
        rf"|whose names? (?:is|are)|we call|:|-|–|—|\(|(?<=,)|(?<=, )) ?", "has_pet", "names", past="pet", many=True),
    Rule("have has adopted got", rf"\w+ (?:got )?(?=(?:an?|two|three|four|five|\d) {_ADJ}{_PETS})", "has_pet", "thing",
        past="same", confidence=0.65),
    Rule("adopted", r"\w+ (?:an?|two|three|\d+|our|another) (?!child|baby|boy|girl|son|daughter|new|policy|habit"
        r"|approach|style|diet|son)", "has_pet", "thing", past="same", confidence=0.7),
    Rule("sold", r"sold (?:my|our) (?:old |beloved |trusty )?", "owns", "thing", past="same", ends=True, confidence=0.6),
    Rule("got", r"got (?:myself |ourselves )?(?:an?|my) (?:brand )?new (?!job|role|boss|position|haircut|tattoo|idea"
        r"|contract|puppy|kitten|dog|cat|manager)", "owns", "thing", past="same",
        confidence=0.55),
    Rule("have has got", r"(?:have|has|got) (?:got )?an? (?=(?:[a-z-]+ ){0,2}(?:boat|car|van|motorbike|motorcycle|bike"
        r"|bicycle|caravan|campervan|cabin|cottage|farm|allotment|piano|telescope|kayak|canoe|drone|loom|kiln"
        r"|greenhouse|tractor|scooter|sailboat|yacht|truck|camper|sauna|workshop)\b)",
        "owns", "thing", past="ended", confidence=0.65),
    Rule("own owns", r"\w+ (?:an?|the|my own|two|three|\d+) ", "owns", "thing", past="ended"),
    Rule("bought purchased", r"\w+ (?:myself |ourselves )?(?:an?|the|my first|our first) (?!house party|coffee|gift"
        r"|present|ticket|lunch|dinner|drink|round|few|lot|bunch|couple)", "owns", "thing", past="same", confidence=0.6),
    Rule("drive drives ride rides", r"\w+ (?:an?) (?!lot|bit|bus|taxi|train|tram|truck|van for|cab|lorry)", "owns",
        "thing", confidence=0.6),
    Rule("got bought treated", r"(?:got|bought|treated) (?:myself|ourselves)(?: to)? (?:an?|the) (?!coffee|gift|ticket"
        r"|lunch|dinner|drink|round|few|lot|bunch|couple|treat|break)", "owns", "thing", past="same",
        confidence=0.6),
    # --- tastes
    Rule("prefer prefers preferred", r"\w+ (?!not |to not|that |if |when )(?:to )?", "prefers", "taste", past="ended"),
    Rule("like likes love loves enjoy enjoys adore adores liked loved",
        r"\w+ (?:to )?(?!it\b|that\b|this\b|you\b|your\b|them\b|him\b|her\b|my\b|how\b|when\b|what\b|the way\b|the idea\b"
            r"|these\b|those\b|all of\b|being able|seeing\b|hearing\b|everything\b|every\b|watching you|the sound"
            r"|myself|each|both)", "likes", "taste", past="ended", many=True),
    Rule("not", r"not (?:really |much of |exactly )?(?:(?:a |an )?(?:big |huge |great )?(?:fan of|into|keen on|fond of"
        r"|big on)) ", "dislikes", "taste", needs_be=True,
        needs_not=True, many=True),
    Rule("get", r"get enough of ", "likes", "taste", many=True, past="same", needs_not=True),
    Rule("into", r"into (?!it\b|this\b|that\b|a |the |trouble)", "likes", "taste", needs_be=True, past="ended", many=True),
    Rule("a huge crazy fond obsessed big massive mad nuts hooked addicted keen partial such",
        r"(?:(?:such )?(?:a |an )?(?:huge |big |massive |real |lifelong |avid |total )*(?:fan|lover) of"
        r"|(?:crazy|mad|nuts) about|fond of|obsessed with|keen on|hooked on|addicted to|partial to) ", "likes", "taste",
            needs_be=True, past="ended", many=True),
    Rule("hate hates dislike dislikes detest detests loathe loathes despise despises hated",
        r"\w+ (?:to )?(?!it\b|that\b|this\b|you\b|how\b|when\b|what\b|them\b|him\b|her\b|these\b|those\b|the way\b"
            r"|the fact\b|being\b|having to\b)", "dislikes", "taste", past="ended", many=True),
    Rule("stand bear", r"(?:stand|bear) (?!it\b|that\b|this\b|how\b|when\b|them\b|him\b|her\b)", "dislikes", "taste",
        needs_not=True, many=True),
    Rule("rather", r"rather (?:have|take|drink|eat|use|go with|go for|be in) ", "prefers", "taste"),
    Rule("allergic", r"allergic to ", "allergic_to", "taste", needs_be=True, past="ended", many=True),
    Rule("have has got", r"(?:have|has|got) (?:got )?(?:an? |this )?(?:really )?(?:bad |severe |serious |mild |nasty "
        r"|horrible )?(?P<what>[a-z -]{3,20}) allergy", "allergic_to", "what"),
    # --- what somebody does
    Rule("speak speaks speaking", r"\w+ (?:(?:fluent|some|a (?:bit|little)(?: of)?|native|basic"
        r"|conversational) )?(?=[^ ]+)", "speaks", "language", past="skip", many=True),
    Rule("native", r"native (?=\w+ speaker)", "speaks", "language", needs_be=True),
    Rule("a", r"a native (?=\w+ speaker)", "speaks", "language", needs_be=True),
    Rule("fluent", r"fluent in ", "speaks", "language", needs_be=True, many=True),
    Rule("picked took", r"(?:picked|took) (?:up )?the (?=[a-z]+ (?:back )?up\b|(?<=up the )[a-z]+)", "plays",
        "instrument", past="same", confidence=0.65),
    Rule("learning practising practicing practise practice", r"\w+ (?:to play )?(?:the |my )?", "plays", "instrument",
        past="same", confidence=0.65),
    Rule("play plays played playing", r"\w+ (?:the |some |a bit of )?(?!with\b|it\b|that\b|this\b|at\b|against\b|in\b"
        r"|on\b|for\b|a \b|around\b|well\b|together\b|there\b|here\b|games?\b|again\b|outside\b|music\b)", "plays",
            "thing", past="ended", many=True),
    Rule("play plays sing sings row rows swim swims run runs ride rides sail sails act acts dance dances climb"
        " train trains volunteer volunteers",
        r"\w+ (?:[a-z]+ )?(?:for|in|with|at) (?=.{0,40}\b(?:choir|band|club|team|league"
        r"|orchestra|quartet|ensemble)\b)", "member_of", "org", past="ended"),
    Rule("signed", r"signed up (?:with|for|to) (?:the )?(?=.{0,40}\b(?:choir|band|club|team|league|orchestra"
        r"|association|society)\b)", "member_of", "org", past="same"),
    Rule("belong belongs", r"belongs? to (?!me\b|my\b|you\b|him\b|her\b|us\b|them\b)", "member_of", "org", past="ended"),
    Rule("a the on", r"(?:(?:an?|the) (?:proud |founding |active |new |longtime |lifelong )?(?:member|part) of"
        r"|on) (?:the )?(?=.{0,50}\b(?:choir|band"
        r"|club|team|league|orchestra|association|board|society|union|committee|party|group)\b)", "member_of", "org",
            needs_be=True, past="ended"),
    Rule("a an", r"an? (?:[a-z]+ )?member (?:of|at) (?:the )?", "member_of", "named", needs_be=True, past="ended"),
    Rule("spent", r"spent .{3,30}? in ", "has_visited", "place", past="same", confidence=0.6),
    Rule("run runs running", r"\w+ (?=[^,.]{2,30}? on (?:my|our|the|a|an|both) )", "uses", "tool", confidence=0.6),
    Rule("do keep track write take manage store", r"\w+ (?:all )?(?:of )?(?:my|our) (?:(?!shopping|running|training"
        r"|hiking|skiing|climbing|swimming|cycling|walking|living)[a-z]+ing|accounts|accounting|taxes|books|notes|code"
        r"|tasks|todos|to-dos|docs|budget|photos|music|diary|journal|files|recipes|passwords) (?:in|with|on|using) ", "uses",
        "named", confidence=0.65),
    Rule("visited toured explored", r"\w+ ", "has_visited", "place", past="same", many=True),
    Rule("went been travelled traveled flew", r"\w+ (?:back |over |up |down |out |away |once |twice |camping |hiking "
        r"|skiing )?to ", "has_visited", "place", past="same", many=True,
        confidence=0.6),
    Rule("got returned back came come", r"(?:got back|came back|come back|returned|back) (?:home )?(?:yesterday "
        r"|today |last night )?from ", "has_visited", "place", past="same",
        confidence=0.6),
    Rule("stopped quit gave", r"(?:stopped|quit|gave up) playing (?:the )?", "plays", "thing", past="same", ends=True),
    Rule("use uses using used", r"\w+ ", "uses", "tool", past="ended", many=True),
    Rule("switched migrated switching moved converted",
        r"\w+ (?:over )?(?:[\w' ]{1,30} )?(?:over )?from (?P<left>[\w .+#'-]{2,40}?) to ", "uses", "tool", past="same",
            left="uses"),
    Rule("switched upgraded", r"\w+ (?:over )?to ", "uses", "tool", past="same"),
)  # fmt: skip

FAVOURITE: Final = re.compile(
    r"(?:^|\b)(?P<whose>my|our|(?:(?<=^)|(?<=[,:] )|(?<=and )|(?<=but ))(?=fav)"
    r"|(?P<name>[^\W\d_][\w'’ -]{1,30}?)'s)? ?(?:(?:all.time|absolute|current|new"
    r"|personal|second) )?(?:favou?rite|fave?) (?P<thing>[a-z][a-z -]{1,30}?)(?: ever| of all time| right now"
    r"| these days| at the moment| currently| so far)?"
    r"(?: (?P<was>was|used to be)| (?:ever )?(?:is|are|has to be|has always been|would be|of all time is|has become"
    r"|will always be)|'s|:)(?: (?:now|definitely|still|probably|actually|always|called|by far))? "
)
IS_FAVOURITE: Final = re.compile(
    r"(?: (?:is|are)|'s)(?: definitely| still| by far| now)? my (?:(?:all.time|absolute"
    r"|new) )?favou?rite (?P<thing>[a-z][a-z ]{1,30}?)(?= of all| by far| because| ever|[.,!;)]|$| and| now)"
)
BIRTHDAY: Final = re.compile(
    r"\b(?:(?P<mine>my)|(?P<name>[^\W\d_]\w+)'s) birthday(?:'s| is| falls)?(?: on| always on)? "
)
GRAMMAR: Final = Grammar(
    HEAD, AUX, NEGATIVE, ENDED, AHEAD, HAVE, ANYMORE, PAST, STOP, LIST_JOINT, ARTICLE, VERBS
)
