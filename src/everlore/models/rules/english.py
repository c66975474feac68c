"""How English says facts: what may stand between subject and verb, and which verbs say which predicate."""

import re
from typing import Final

from everlore.models.rules.grammar import Grammar, Rule, rules

_BE = r"(?:am|is|are|was|were|been|being|'m|'s|'re)"
HEAD: Final = re.compile(
    r"(?:^|(?<=\w\s)(?=(?:i|we)(?:\s|'(?:m|ve|re|d rather)\b))|[,;:—–(.!]\s{1,3}|\s[-–—]\s|\b(?:and|but|because|since"
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
    r"[,.;:!?()\"“”\n\x7f]|\s[-–—]|\s(?:and|but|or|because|cause|cuz|since|so|when|whenever|where|which|who|that|while"
        r"|if|though|although"
    r"|now|currently|anymore|these days|nowadays|lately|too|also|right now|at the moment|again|every|each|last|next|today"
    r"|yesterday|tomorrow|tonight|this|for|with|at|by|from|until|till|after|before|than|over|instead|ever|on|in|as|already"
    r"|actually|honestly|tbh|though|really|down here|over here|here|there|any day|all day|the most|by far|most of all"
        r"|a lot|so much|very much|more|rather|called|named|is|are|was|were|i|i'm|my|we|he|she|it|they|anyway|btw|haha|lol|just"
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
    r"(?:dog|cat|puppy|kitten|rabbit|bunny|hamster|guinea pig|parrot|horse|pony|turtle|tortoise|snake|lizard|gecko"
    r"|goldfish|fish"
    r"|ferret|canary|budgie|bird|chicken|goat|pig|mouse|rat|dogs|cats|rabbits|chickens|hens|parrots|puppies|kittens"
    r"|guinea pigs|horses|tarantula|iguana|axolotl|retriever|labrador|lab|poodle|terrier|beagle|bulldog|shepherd"
    r"|collie|corgi"
    r"|dachshund|husky|greyhound|tabby|siamese|cockatiel|hedgehog|chinchilla|gerbil|pug|spaniel|whippet)\b"
)
GROUP: Final = re.compile(
    r"\b(?:choir|band|club|team|league|society|association|group|orchestra|union|committee|board|party|gym|crew|squad)\b"
)

VERBS: Final = rules(
    # --- where and what somebody is
    Rule("live lives lived living", r"\w+ (?:here |just |right |out |over |full.time |alone )?in (?:the (?:city|town"
        r"|village) of )?", "lives_in", "place", past="ended"),
    Rule("based located", r"\w+ (?:out of|in) ", "lives_in", "place", needs_be=True),
    Rule("moved relocated", r"\w+ (?:back |here |over |away )?(?:from (?P<left>[\w .'-]{2,40}?) )?(?:back |down |up "
        r"|over )?to ", "lives_in", "place", past="same", left="lives_in"),
    Rule("settled", r"settled (?:down )?in ", "lives_in", "place", past="same"),
    Rule("moved", r"moved (?:out of|away from|from|out from) ", "lives_in", "place", past="same", ends=True),
    Rule("left", r"left (?:my (?:job|position|role) (?:at|with) )", "works_at", "org", past="same", ends=True),
    Rule("left quit", r"\w+ (?=[^\W\d_])", "works_at", "named", past="same", ends=True, confidence=0.6),
    Rule("quit resigned retired fired laid stopped finished", r"(?:quit (?:my )?(?:job|working|position)(?: (?:at|for"
        r"|with))?|resigned from|retired from|(?:fired|laid off) (?:from|by)|stopped working (?:at|for)"
        r"|finished (?:working )?at) (?:my (?:job|position) at )?", "works_at", "org", past="same", ends=True),
    Rule("got been was were", r"(?:got|was|were|been) (?:just )?(?:fired|laid off|let go) (?:from|by) ", "works_at",
        "org", past="same", ends=True),
    Rule("work works worked working", r"\w+ (?:(?:full|part)[ -]?time |remotely |mostly |there "
        r"|now )?(?:as (?:a|an|the) (?P<role>[a-z][a-z '-]{2,40}?) )?(?:at|for) ", "works_at", "org", past="ended",
            role=True),
    Rule("work works worked working", r"\w+ (?:(?:full|part)[ -]?time |remotely |now |freelance )?as (?:an? |the "
        r"|our )", "works_as", "job", past="ended"),
    Rule("work works working", r"\w+ on ", "works_on", "named"),
    Rule("building developing", r"\w+ (?:an? |the |my )?(?:[a-z-]+ ){0,4}?(?:called|named) ", "works_on", "named"),
    Rule("employed", r"employed (?:at|by) ", "works_at", "org", needs_be=True),
    Rule("started start begin began starting", r"\w+ (?:my |a |the )?(?:new )?(?:job |position |role |internship "
        r"|working |work )?(?:as an? (?P<role>[a-z][a-z '-]{2,40}?) )?(?:at|with|for) ", "works_at", "org", past="same",
            role=True),
    Rule("joined", r"joined ", "works_at", "org", past="same", group=True),
    Rule("got landed accepted took", r"\w+ (?:myself )?(?:hired|(?:a|the|my)(?: [a-z-]+){0,2} (?:job|position|role"
        r"|offer|internship)(?: as an? (?P<role>[a-z][a-z '-]{2,40}?))?) (?:at|by|with|from) ", "works_at", "org",
            past="same", role=True),
    Rule("got became", r"(?:got promoted to|became) (?:an? |the )?", "works_as", "role", past="same"),
    Rule("promoted", r"promoted to (?:an? |the )?", "works_as", "role", past="same"),
    Rule("run runs own owns manage manages", r"\w+ (?:an? |the |my own |my )(?=(?:[a-z-]+ ){0,2}(?:bakery|shop|store"
        r"|restaurant|café|cafe|bar|studio|company|business|farm|salon|gallery|bookshop|bookstore|brewery|agency"
        r"|startup))", "owns", "thing", only="own owns"),
    Rule("a an the", r"(?:an?|the) ", "works_as", "role", needs_be=True, past="ended", role_at=True),
    Rule("study studies studied studying", r"\w+ (?!at |in |for |with |on |to |hard|abroad|every|all|together|a lot"
        r"|there|here|now)", "studies", "thing", past="ended", then=(r" at ", "studies_at", "org")),
    Rule("study studies studied studying", r"\w+ at ", "studies_at", "org", past="ended"),
    Rule("majoring majored", r"\w+ in ", "studies", "thing", then=(r" at ", "studies_at", "org"), past="ended"),
    Rule("doing pursuing finishing getting started starting", r"\w+ (?:an?|my|the) (?:[a-z-]+ )?(?:master'?s?|masters"
        r"|phd|degree|bachelor'?s?|doctorate|mba|minor|major)(?: degree)? in ", "studies", "thing", then=(
            r" at ", "studies_at", "org"), past="same"),
    Rule("doing pursuing", r"\w+ (?:an?|my|the) (?:[a-z-]+ )?(?:master'?s?|phd|degree|bachelor'?s?|doctorate"
        r"|mba)(?: degree)? at ", "studies_at", "org"),
    Rule("graduated", r"graduated from ", "studies_at", "org", past="same", ends=True),
    Rule("student", r"student at ", "studies_at", "org", needs_be=True),
    Rule("born", r"born (?:and raised )?in ", "born_in", "place", past="same", then=(r",? on (?:the )?", "born_on", "date")),
    Rule("born", r"born (?:on |in )?(?=[\w ,]{0,20}\d)", "born_on", "date", past="same", then=(r" in ", "born_in", "place")),
    # --- people
    Rule("married", r"married (?:to )?", "married_to", "person", past="same"),
    Rule("engaged", r"engaged to ", "engaged_to", "person", past="same"),
    Rule("got", r"got (?:re)?married to ", "married_to", "person", past="same"),
    Rule("got", r"got engaged to ", "engaged_to", "person", past="same"),
    Rule("divorced", r"divorced (?:from )?", "married_to", "person", past="same", ends=True),
    Rule("dating seeing", r"\w+ ", "partner_of", "person"),
    # --- what somebody has
    Rule("have has had got adopted bought got", rf"\w+ (?:got )?(?:an?|two|three|four|\d|our|my|this"
        rf"|the)(?: [\w'’-]+){{0,3}}? {_PETS},? ?(?:(?:who is |that is |that's |who's )?(?:called|named)"
        rf"|whose names? (?:is|are)|:|-|\(|(?<=,)) ?", "has_pet", "names", past="pet", many=True),
    Rule("have has adopted got", rf"\w+ (?:got )?(?=(?:an?|two|three|four|five|\d) {_ADJ}{_PETS})", "has_pet", "thing",
        past="same", confidence=0.65),
    Rule("adopted", r"\w+ (?:an?|two|three|\d+|our|another) (?!child|baby|boy|girl|son|daughter|new|policy|habit"
        r"|approach|style|diet|son)", "has_pet", "thing", past="same", confidence=0.7),
    Rule("own owns", r"\w+ (?:an?|the|my own|two|three|\d+) ", "owns", "thing", past="ended"),
    Rule("bought purchased", r"\w+ (?:myself |ourselves )?(?:an?|the|my first|our first) (?!house party|coffee|gift"
        r"|present|ticket|lunch|dinner|drink|round|few|lot|bunch|couple)", "owns", "thing", past="same", confidence=0.6),
    Rule("drive drives", r"\w+ (?:an?) (?=[^ ]*[a-z0-9])", "owns", "named", confidence=0.6),
    # --- tastes
    Rule("prefer prefers preferred", r"\w+ (?!not |to not|that |if |when )(?:to )?", "prefers", "taste", past="ended"),
    Rule("like likes love loves enjoy enjoys adore adores liked loved",
        r"\w+ (?:to )?(?!it\b|that\b|this\b|you\b|your\b|them\b|him\b|her\b|how\b|when\b|what\b|the way\b|the idea\b"
            r"|these\b|those\b|all of\b|being able|seeing\b|hearing\b|everything\b|every\b|watching you|the sound"
            r"|myself|each|both)", "likes", "taste", past="ended", many=True),
    Rule("into", r"into (?!it\b|this\b|that\b|a |the |trouble)", "likes", "taste", needs_be=True, past="ended", many=True),
    Rule("a huge crazy fond obsessed big", r"(?:a (?:huge |big |massive |real )?(?:fan|lover) of|crazy about|fond of"
        r"|obsessed with|keen on) ", "likes", "taste", needs_be=True, past="ended", many=True),
    Rule("hate hates dislike dislikes detest detests loathe loathes despise despises hated",
        r"\w+ (?:to )?(?!it\b|that\b|this\b|you\b|how\b|when\b|what\b|them\b|him\b|her\b|these\b|those\b|the way\b"
            r"|the fact\b|being\b|having to\b)", "dislikes", "taste", past="ended", many=True),
    Rule("stand bear", r"(?:stand|bear) (?!it\b|that\b|this\b|how\b|when\b|them\b|him\b|her\b)", "dislikes", "taste",
        needs_not=True, many=True),
    Rule("rather", r"rather (?:have|take|drink|eat|use|go with|go for|be in) ", "prefers", "taste"),
    Rule("allergic", r"allergic to ", "allergic_to", "taste", needs_be=True, past="ended", many=True),
    Rule("have has", r"(?:have|has) (?:an? |really bad )(?:[a-z-]+ )?(?P<what>[a-z -]{3,20}) allergy", "allergic_to", "what"),
    # --- what somebody does
    Rule("speak speaks speaking", r"\w+ (?:(?:fluent|some|a (?:bit|little)(?: of)?|native|basic"
        r"|conversational) )?(?=[^ ]+)", "speaks", "language", past="skip", many=True),
    Rule("fluent", r"fluent in ", "speaks", "language", needs_be=True, many=True),
    Rule("play plays played playing", r"\w+ (?:the |some |a bit of )?(?!with\b|it\b|that\b|this\b|at\b|against\b|in\b"
        r"|on\b|for\b|a \b|around\b|well\b|together\b|there\b|here\b|games?\b|again\b|outside\b|music\b)", "plays",
            "thing", past="ended", many=True),
    Rule("play plays sing sings", r"\w+ (?:[a-z]+ )?(?:for|in|with) (?=.{0,40}\b(?:choir|band|club|team|league"
        r"|orchestra|quartet|ensemble)\b)", "member_of", "org", past="ended"),
    Rule("belong belongs", r"belongs? to (?!me\b|my\b|you\b|him\b|her\b|us\b|them\b)", "member_of", "org", past="ended"),
    Rule("a the on", r"(?:(?:a|the) (?:proud |founding |active |new )?(?:member|part) of|on) (?=.{0,50}\b(?:choir|band"
        r"|club|team|league|orchestra|association|board|society|union|committee|party|group)\b)", "member_of", "org",
            needs_be=True, past="ended"),
    Rule("visited toured explored", r"\w+ ", "has_visited", "place", past="same", many=True),
    Rule("went been travelled traveled flew", r"\w+ (?:[a-z]+ )?to ", "has_visited", "place", past="same", many=True,
        confidence=0.6),
    Rule("got returned back", r"(?:got back|returned|back) (?:home )?from ", "has_visited", "place", past="same",
        confidence=0.6),
    Rule("stopped quit gave", r"(?:stopped|quit|gave up) playing (?:the )?", "plays", "thing", past="same", ends=True),
    Rule("use uses using used", r"\w+ ", "uses", "tool", past="ended", many=True),
    Rule("switched migrated switching moved converted",
        r"\w+ (?:over )?(?:[\w' ]{1,30} )?(?:over )?from (?P<left>[\w .+#'-]{2,40}?) to ", "uses", "tool", past="same",
            left="uses"),
    Rule("switched upgraded", r"\w+ (?:over )?to ", "uses", "tool", past="same"),
)  # fmt: skip

FAVOURITE: Final = re.compile(
    r"\b(?P<whose>my|our|(?P<name>[^\W\d_][\w'’ -]{1,30}?)'s) (?:(?:all.time|absolute|current|new"
    r"|personal) )?favou?rite (?P<thing>[a-z][a-z -]{1,30}?)"
    r"(?: (?P<was>was|used to be)| (?:ever )?(?:is|are|has to be|has always been|would be|of all time is|has become"
    r"|will always be)|'s|:)(?: (?:now|definitely|still|probably|actually|always|called|by far))? "
)
IS_FAVOURITE: Final = re.compile(
    r" (?:is|are)(?: definitely| still| by far| now)? my (?:(?:all.time|absolute"
    r"|new) )?favou?rite (?P<thing>[a-z][a-z ]{1,30}?)(?= of all| by far| because| ever|[.,!;)]|$| and| now)"
)
BIRTHDAY: Final = re.compile(
    r"\b(?:(?P<mine>my)|(?P<name>[^\W\d_]\w+)'s) birthday(?:'s| is| falls)?(?: on| always on)? "
)
GRAMMAR: Final = Grammar(
    HEAD, AUX, NEGATIVE, ENDED, AHEAD, HAVE, ANYMORE, PAST, STOP, LIST_JOINT, ARTICLE, VERBS
)
