"""How Spanish says facts. Verbs carry their person: a form of the first needs no subject, one of the third needs one."""

import re
from typing import Final

from everlore.models.rules.grammar import Grammar, Rule, rules

HEAD: Final = re.compile(
    r"(?:^|[,;:—–(.!]\s{1,3}|\s[-–—]\s|\b(?:y|e|pero|porque|ya que|desde que|mientras|aunque|que|así que|entonces"
    r"|además|ahora|hoy|ayer"
    r"|como|donde|también|actualmente),?\s)(?:además |también |ahora |y |pues |actualmente |de hecho )?"
)
AUX: Final = re.compile(
    r"(?:(?:^|(?<=\s)|\s)(?:ya|no|nunca|jamás|siempre|también|tampoco|ahora|antes|actualmente|todavía|aún|solo|sólo"
    r"|realmente|me|nos|se|le|les"
    r"|lo|la|he|ha|hemos|han|había|estoy|está|estamos|están|sigo|sigue|(?:llevo|lleva|llevamos)(?: (?:ya |casi "
    r"|más de )?[\wà-ÿ]{1,12} (?:años|meses|semanas|días))?|acabo de|acaba de|acabamos de|voy a"
    r"|va a|vamos a|suelo|suele|solía"
    r"|solíamos|mucho|muy|normalmente|recientemente|hace poco|por fin|finalmente|dejé de|dejó de|he dejado de|puedo"
    r"|quiero|quería|quisiera"
    r"|debo|tengo que|hay que|pienso|espero|casi)(?=\s))*\s?"
)
NEGATIVE: Final = re.compile(r"\b(?:no|nunca|jamás|tampoco)\b")
ENDED: Final = re.compile(r"\b(?:ya no|antes|solía|solíamos|dejé de|dejó de|he dejado de)\b")
AHEAD: Final = re.compile(
    r"\b(?:voy a|va a|vamos a|puedo|quiero|quería|quisiera|debo|tengo que|hay que|pienso|espero)\b"
)
HAVE: Final = re.compile(r"\b(?:he|ha|hemos|han)\b")
ANYMORE: Final = re.compile(r"(?!)")
PAST: Final = re.compile(
    r"(?:vivía|vivíamos|viví|vivió|trabajaba|trabajé|trabajó|trabajábamos|estudiaba|estudié|estudió|era|fui"
    r"|tenía|usaba|usábamos"
    r"|jugaba|tocaba|prefería|odiaba|gustaba|gustaban)\b"
)
STOP: Final = re.compile(
    r"[,.;:!?()\"“”«»\n\x7f]|\s[-–—]|\s(?:y|e|o|pero|porque|ya|desde|cuando|donde|que|quien|mientras|si|aunque|ahora"
    r"|actualmente|también"
    r"|cada|hoy|ayer|mañana|esta|este|de (?:profesión|oficio|formación)|aunque|pero|entre|bajo|tras|vía|tanto|tan|que"
    r"|porfa|eh|para|con|por|hasta|después|antes|sobre|en|como|mucho|muchísimo|más|a|al|es|son"
    r"|era|mi|yo|todos|todas"
    r"|casi|hace|siempre|nunca|últimamente|durante|sin|junto|cerca|llamad[oa]|no|ni)\b(?!-)"
)
LIST_JOINT: Final = re.compile(
    r"\s?(?:,\s?(?:y |e |o )?|\sy (?:a )?|\se |\so |\sni )(?:también |un poco de |algo de |además )?"
)
ARTICLE: Final = re.compile(
    r"(?:(?:el|la|los|las|un|una|unos|unas|lo|mi|mis|nuestro|nuestra|al|a la|a los|a las|del|mucho|muchos|algo de"
    r"|todo tipo de|todos los|todas las"
    r"|muy|a)\s)+"
)

_PETS = (
    r"(?:perr[oa]s?|gat[oa]s?|conejos?|hámsters?|loros?|caballos?|tortugas?|peces|pez|periquitos?|cachorros?"
    r"|gatit[oa]s?|perrit[oa]s?|canarios?"
    r"|cobayas?|hurones?|gallinas?|iguanas?)\b"
)
GROUP: Final = re.compile(
    r"\b(?:coro|banda|club|equipo|asociación|grupo|orquesta|sindicato|comité|partido|peña)\b"
)

VERBS: Final = rules(
    Rule("vivo vivimos vivía viví vivíamos viviendo resido residimos resido residía",
        r"\w+ (?:aquí |sola |solo )?en (?:la ciudad de )?", "lives_in",
        "place", past="ended", person=1),
    Rule("vive viven vivió reside residen", r"\w+ (?:aquí |sola |solo )?en (?:la ciudad de )?", "lives_in", "place",
        past="ended", person=3),
    Rule("mudé mudamos mudado trasladé trasladado trasladamos mudar mudarme mudarnos trasladarme instalé instalado instalamos",
        r"\w+ (?:otra vez |de nuevo |ya |por fin )?(?:(?:de |desde )"
         r"(?P<left>[\w .'-]{2,30}?) )?(?:a|en) ", "lives_in", "place",
        past="same", left="lives_in", person=1),
    Rule("mudó mudaron trasladó", r"\w+ (?:otra vez |de nuevo |ya |por fin )?(?:(?:de |desde )"
         r"(?P<left>[\w .'-]{2,30}?) )?a ", "lives_in", "place",
        past="same", left="lives_in", person=3),
    Rule("trabajo trabajamos trabajaba trabajé trabajando curro curramos curraba currando", r"\w+ (?:de "
        r"|como (?:una? )?)(?P<role>[a-zà-ÿ ]{3,40}?) (?:en|para) ", "works_at", "org", past="ended", role=True, person=1),
    Rule("trabaja trabajan trabajó curra", r"\w+ (?:de |como (?:una? )?)(?P<role>[a-zà-ÿ ]{3,40}?) (?:en|para) ", "works_at",
        "org", past="ended", role=True, person=3),
    Rule("trabajo trabajamos trabajaba trabajé trabajando curro curramos curraba currando",
        r"\w+ (?:ahora |desde casa |aquí )?(?:en|para) (?!casa\b|remoto\b|ello\b|mí\b)",
        "works_at", "org", past="ended", person=1),
    Rule("trabaja trabajan trabajó curra", r"\w+ (?:en|para) (?!casa\b|remoto\b)", "works_at", "org", past="ended", person=3),
    Rule("trabajo trabajaba trabajé trabajando curro curraba", r"\w+ (?:como|de) (?:una? )?", "works_as", "role",
        past="ended", person=1),
    Rule("trabaja trabajó curra", r"\w+ (?:como|de) (?:una? )?", "works_as", "role", past="ended", person=3),
    Rule("dejé dejado", r"\w+ (?:mi (?:trabajo|empleo|puesto) en|de trabajar (?:en|para)) ", "works_at", "org",
        past="same", ends=True, person=1),
    Rule("trabajar", r"trabajar (?:en|para) ", "works_at", "org", past="same", person=1),
    Rule("empecé empezado comencé entré empiezo entrado comienzo",
        r"\w+ (?:a trabajar )?(?:como (?P<role>[a-zà-ÿ ]{3,40}?) )?en ", "works_at",
        "org", past="same", role=True, person=1),
    Rule("soy", r"soy (?:una? |el |la )?(?!de\b|muy\b)", "works_as", "role", person=1, role_at=True),
    Rule("es", r"es (?:una? |el |la )?(?!de\b|muy\b)", "works_as", "role", person=3, role_at=True),
    Rule("alérgico alérgica", r"\w+ (?:al |a )", "allergic_to", "taste", person=1, many=True),
    Rule("soy", r"soy (?:muy )?alérgic[oa] (?:al |a )", "allergic_to", "taste", person=1, many=True),
    Rule("es", r"es alérgic[oa] (?:al |a )", "allergic_to", "taste", person=3, many=True),
    Rule("tengo", r"tengo (?:mucha )?alergia (?:al |a )", "allergic_to", "taste", person=1, many=True),
    Rule("estudio estudiaba estudié estudiando estudiamos", r"\w+ (?!en\b|para\b|con\b|por\b|mucho\b|cada\b)",
        "studies", "thing", past="ended", person=1, then=(
        r" en ", "studies_at", "org")),
    Rule("estudia estudió", r"\w+ (?!en\b|para\b|con\b|por\b|mucho\b|cada\b)", "studies", "thing", past="ended",
        person=3, then=(
        r" en ", "studies_at", "org")),
    Rule("estudio estudiaba estudié", r"\w+ en ", "studies_at", "org", past="ended", person=1),
    Rule("estudia estudió", r"\w+ en ", "studies_at", "org", past="ended", person=3),
    Rule("nací", r"nací en ", "born_in", "place", past="same", person=1),
    Rule("nació", r"nació en ", "born_in", "place", past="same", person=3),
    Rule("nací", r"nací (?:el |en )(?=.{0,20}\d)", "born_on", "date", past="same", person=1),
    Rule("nació", r"nació (?:el |en )(?=.{0,20}\d)", "born_on", "date", past="same", person=3),
    Rule("casado casada casé casamos", r"\w+ con ", "married_to", "person", past="same", person=1),
    Rule("casó", r"casó con ", "married_to", "person", past="same", person=3),
    Rule("prometido prometida", r"\w+ con ", "engaged_to", "person", past="same", person=1),
    Rule("tengo tenemos adopté adoptamos adoptado", rf"\w+ (?:una? |dos "
        rf"|tres )?(?:[\wà-ÿ]+ )?{_PETS},? ?(?:(?:que se llaman?|llamad[oa]s?)|:|\(|(?<=,)) ?", "has_pet", "names",
            past="pet", many=True, person=1),
    Rule("tengo tenemos adopté adoptamos adoptado", rf"\w+ (?=(?:una?|dos|tres|cuatro) (?:[\wà-ÿ]+ )?{_PETS})",
        "has_pet", "thing", past="same", confidence=0.65, person=1),
    Rule("compré comprado compramos", r"\w+ (?:una?|el|la) (?!café\b|entrada\b|regalo\b|billete\b|vuelo\b)", "owns",
        "thing", past="same", confidence=0.6, person=1),
    Rule("prefiero preferimos", r"\w+ (?!que\b|no\b)", "prefers", "taste", person=1),
    Rule("gusta gustan encanta encantan fascina fascinan apasiona apasionan gustaba gustaban"
        " chifla chiflan flipa flipan mola molan priva privan pirra pirran entusiasma entusiasman va pone",
        r"\w+ (?:mucho |muchísimo |tanto )?(?!que\b|cuando\b|cómo\b|esto\b|eso\b|mucho\b|la idea\b|esa\b|ese\b|tu\b)",
            "likes", "taste", past="ended", many=True),
    Rule("soporto aguanto soportamos", r"\w+ (?!que\b|más\b|esto\b|eso\b)", "dislikes", "taste", person=1, many=True,
        needs_not=True),
    Rule("odio detesto aborrezco", r"\w+ (?!que\b|cuando\b|cómo\b|esto\b|eso\b|tener que\b)",
        "dislikes", "taste", person=1, many=True),
    Rule("odia detesta", r"\w+ (?!que\b|cuando\b)", "dislikes", "taste", person=3, many=True),
    Rule("hablo", r"hablo (?:un poco de |algo de |bastante )?", "speaks", "language", person=1, many=True),
    Rule("habla", r"habla (?:un poco de )?", "speaks", "language", person=3, many=True),
    Rule("toco tocaba", r"\w+ (?!con\b|en\b|el tema\b)", "plays", "thing", past="ended", person=1, many=True),
    Rule("toca", r"toca (?!con\b|en\b|ir\b)", "plays", "thing", person=3, many=True),
    Rule("juego jugaba", r"\w+ (?:al |a la |a )", "plays", "thing", past="ended", person=1, many=True),
    Rule("juega", r"juega (?:al |a la |a )", "plays", "thing", person=3, many=True),
    Rule("fui fuimos ido", r"\w+ (?:el .{3,20} |de vacaciones |de viaje )?a ", "has_visited", "place", past="same",
        person=1, many=True, confidence=0.6),
    Rule("vuelvo volvemos volví volvimos vuelto volver", r"\w+ (?:hoy |ayer )?de ", "has_visited", "place", past="same",
        person=1, confidence=0.6),
    Rule("visité visitamos visitado", r"\w+ ", "has_visited", "place", past="same", person=1, many=True),
    Rule("estado estuve estuvimos", r"\w+ en ", "has_visited", "place", past="same", person=1, many=True, confidence=0.6),
    Rule("viajé viajamos viajado", r"\w+ (?:el .{3,20} )?a ", "has_visited", "place", past="same", person=1, many=True,
        confidence=0.6),
    Rule("uso usamos usaba", r"\w+ ", "uses", "tool", past="ended", person=1, many=True),
    Rule("canto toco juego cantamos", r"\w+ en (?=.{0,40}\b(?:coro|banda|equipo|orquesta|grupo)\b)", "member_of", "org",
        person=1),
    Rule("soy", r"soy (?:socio|socia|miembro|parte) (?:de |del )", "member_of", "org", person=1),
)  # fmt: skip

FAVOURITE: Final = re.compile(
    r"\b(?P<whose>mi|nuestro|nuestra) (?P<thing>[a-zà-ÿ]{3,20}(?: de [a-zà-ÿ]{3,20})?) (?:preferid"
    r"|favorit)[oa](?P<was> era)?(?: siempre)? ?(?:ha sido|es|son|sigue siendo|:) "
)
BIRTHDAY: Final = re.compile(r"\b(?P<mine>mi) cumpleaños es (?P<name>)|\b(?P<mine2>cumplo años) ")
# Favourite things go by their English names, so that one question finds both.
THINGS: Final = {
    "peli": "film", "canción": "song", "cole": "school", "color": "colour", "comida": "food", "película": "film",
        "libro": "book", "plato": "dish",
        "bebida": "drink",
    "ciudad": "city", "deporte": "sport", "equipo": "team", "grupo": "band", "cantante": "singer", "animal": "animal",
    "número": "number", "serie": "series", "autor": "author", "autora": "author", "escritor": "writer", "escritora": "writer",
    "fruta": "fruit", "postre": "dessert", "estación": "season", "restaurante": "restaurant", "flor": "flower",
        "juego": "game",
    "actor": "actor", "actriz": "actress", "helado": "ice cream", "lugar": "place", "asignatura": "subject", "banda": "band",
    "movie": "film", "colour": "colour", "flavor": "flavour", "té": "tea", "cerveza": "beer", "vino": "wine",
}  # fmt: skip
GRAMMAR: Final = Grammar(
    HEAD, AUX, NEGATIVE, ENDED, AHEAD, HAVE, ANYMORE, PAST, STOP, LIST_JOINT, ARTICLE, VERBS
)
