"""Which language a message is in, by its small words. Good enough to choose patterns; it claims nothing more."""

import re
from typing import Literal, TypeAlias

from everlore.text.sentences import word_set

Language: TypeAlias = Literal["en", "es", "other"]

_WORD = re.compile(r"[^\W\d_]+(?:'[a-z]{1,2})?")
_ACCENTED = re.compile(r"(?<!\w)[a-zñ]*[áíóúñ][a-záéíóúñ]*(?!\w)")  # a name may have accents in any language
_LOOK_AT = 600  # characters; small words are dense, more tell no more

_ENGLISH = word_set(
    """
    i i'm i've i'll i'd the and is are was my we our you your he she they it it's of to for with at this that have
    has had don't not be been will would can can't just but about from now there what when how if she's he's love
    live work because im ive dont cant didnt doesnt on by me no a as or so not up out all get got like moved went back last
    week day days month year today tonight night home us has make makes made need want good new one two three who where
    why after before every always never been into over old more than then still had did do does am him her them
    us off only here gone going used use too very really also took took left found own her friday monday tuesday
    wednesday thursday saturday sunday january february march april june july august september october november
    december which while their some any were said yes please lol btw gotta wanna
    """
)
_SPANISH = word_set(
    """
    yo el la los las un una y es soy estoy está mi mis me nos nuestro nuestra tu que de en con para por no se lo le
    al del ya muy más pero como cuando desde hace tengo tiene este esta mañana ayer hoy su sus fue era he ha hemos
    también vivo trabajo trabaja odio prefiero quiero hablo nací somos hermano hermana mejor favorito favorita todos
    todas hay perdona perdón quise decir estudio ahora uno dos tres sin sobre son están cada hasta gusta gustan
    suelo llevo curro soltera soltero estaba tenía vivía ella ellos ni si sí eso ese esa esos ahí aquí allí algo nada
    todo toda esto mía mío tu tus quien donde qué q porque aunque entonces luego después antes lunes martes miércoles
    jueves viernes sábado domingo enero febrero marzo mayo junio julio agosto septiembre octubre noviembre diciembre
    abril semana mes año años día días casa trabajar vivir piso tarde noche voy vamos vas va hago hace hacer salgo como
    ceno toca toco juego leo escribo hijos padres tía tío primo prima abuela abuelo amigo amiga jefe jefa me he a no
    encanta mucho mucha nunca siempre buscando madre padre novia novio marido mujer hijo hija perro gato
    """
)
_OTHERS = word_set(
    """
    ich bin der das und ist nicht mein meine wir ein eine einen zu mit für auf im am habe hat von wohne jag är och
    att det inte mitt på som har je suis j'ai les des est mon nous dans avec chez du au et une pas sur eu sou não
    meu minha uma um moro io sono il che di mio gli ho ik het een mijn niet op onze wij à lebt wohnt arbeitet
    arbeite heißt heiße sind seit bruder schwester vater mutter frau mann kein keine mag morgen gestern wie geht
    frère soeur mère père habite travaille elle demain meus minhas trabalho gosto
    """
)


def language_of(text: str) -> Language:
    """English where nothing else is clearly more: short messages without small words are mostly that."""
    words = _WORD.findall(text[:_LOOK_AT].lower().replace("’", "'"))
    english = sum(word in _ENGLISH for word in words)
    spanish = sum(word in _SPANISH for word in words) + (
        2 if "ñ" in text or "¿" in text or "¡" in text else 0
    )
    spanish += len(_ACCENTED.findall(text[:_LOOK_AT])[:3])
    others = sum(word in _OTHERS for word in words) + (1 if "ß" in text or "ø" in text or "ã" in text else 0)
    if spanish > english and spanish >= others:
        return "es"
    if others > english and others > spanish:
        return "other"
    return "en" if english or all(ord(one) < 0x250 for one in text[:_LOOK_AT] if one.isalpha()) else "other"
