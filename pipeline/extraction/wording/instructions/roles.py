"""Gives the reader another part to play, or a fiction in which nothing binds it."""

from __future__ import annotations

from pipeline.extraction.wording.instructions.places import START
from pipeline.extraction.wording.table import Table

_PART = r"(?:an?|the|my|our|his|her|two|three|four|five|called|named|playing|acting|no longer|bound|free|dan)"
_LIKE = r"(?:as|like)(?: (?:if|though|an?|the|my|our))\b"
_PLAY = r"(?:act|behave|pretend|role-?play|function|respond|answer|talk|speak|pose|simulate)"

_ENGLISH = (
    rf"\b(?:you are|you're) now (?:{_PART}|in|going|unrestricted|unfiltered)\b|{START}now,? you are \w",
    rf"{START}(?:now |so |ok(?:ay)?,? |and |but |hello,? )?(?:you are|you're) (?:an?|the|my|our|two|three|four"
    rf"|\d+) \w",
    r"\byou are (?:no longer|not) an? (?:ai|assistant|bot|chatbot|language model|newspaper|news)\b",
    r"\b(?:imagine|suppose|assume|picture|pretend|let's say|say)(?: now)?(?: that)? (?:you|you're|yourself)\b"
    r"(?: (?:are|were|can|could|have|had|as|do not|don't)\b|$| to be\b| an?\b)",
    rf"{START}(?:now |then |please |and )*(?:pretend to be|{_PLAY} {_LIKE}|role-?play as|simulate an?)",
    r"\b(?:i want|i need|i would like|i'd like|we (?:want|need|ask)|i ask|i order|i command) you to"
    rf" (?:{_PLAY}|be|become|play|imagine|assume|take on)\b",
    r"\b(?:you are|you're|you will be) (?:now )?role-?playing\b|\brespond as such\b|\bact as an? \w",
    rf"\byou (?:will|shall|must|should|are going to|are to|now|can)? ?(?:now )?(?:{_PLAY} as|pretend|act like"
    rf"|role-?play)\b",
    r"\b(?:play|take on|assume|adopt) the (?:role|part|persona|character|identity) of\b",
    r"\b(?:stay|stays|remain|keep)s? (?:\w+ )?in (?:(?:the|your|their|his|her|its) )?(?:roles?|character|persona)\b",
    r"\b(?:break|breaking|leave|leaving|fall(?:ing|s)? out of) (?:out of )?(?:(?:the|your|their|his|her) )?"
    r"(?:role|character|figure)\b",
    r"\bworld (?:where|in which) you\b|\bif you (?:were|would be|had been) (?:an?|the|no|not)\b",
    r"\byou (?:have|has|are bound by|are free (?:from|of)) (?:no|any|all|every) (?:\w+ ){0,2}"
    r"(?:guidelines|restrictions|limits|limitations|rules|filters|morals|ethics|censorship)\b",
    r"\b(?:no|without) (?:programming|ethical|moral) (?:guidelines|restrictions|limits)\b"
    r"|\byou are (?:\w+ )?immoral\b",
    # a scene whose next line is left open: `Ben:`
    r"\b(?:actors?|characters?|film|movie|scene|roles?|schauspieler\w*|rollen?|figur|theater|acteurs?|actores"
    r"|pelicula)\b"
    r".*\b\w{2,20}(?: (?:asks?|says?|fragt|sagt|demande|dice))?: .*\W\w{2,20}:$",
    r"\bact(?:s|ing)? as (?:two|three|both|several|multiple) (?:entities|people|persons|characters|personas|ais?)\b",
)
_GERMANIC = (
    rf"{START}(?:jetzt |nun |ab (?:jetzt|sofort) )?(?:du bist|bist du|sie sind) (?:jetzt |nun )?"
    r"(?:ein|eine|kein|keine|der|die|das|mein|meine|nicht mehr)\b",
    rf"{START}(?:ok(?:ay)?[.,]? )?(?:jetzt|nun|ab (?:jetzt|sofort)) (?:bist du|sind sie)\b|\bdu bist (?:jetzt"
    rf"|nun|kein\w*)\b",
    r"\bstell(?:e|en|t)? (?:dir|euch|sie sich)(?: \w+)?,? vor,? (?:dass )?(?:du|ihr|sie)\b",
    r"\b(?:tu|tue|tun sie|tut) (?:\w+ )?so,? als\b|\b(?:gib|geben sie) (?:dich|sich) (?:als|fur)\b",
    r"\bals .{3,60}\b(?:fungier|agier|auftret|handeln)\w*|\b(?:verhalte?|benimm|verhalten sie"
    r"|benehmen sie) (?:dich|sich) (?:wie|als)\b",
    r"\b(?:spiele?|spielen sie|ubernimm|ubernehmen sie) (?:die|eine|deine) rolle\b|\bdu (?:spielst|redest"
    r"|sprichst) (?:jetzt|nun|wie)\b",
    r"\b(?:in|aus) (?:der|ihre[rn]?|deine[rn]?|seine[rn]?) rollen?\b.{0,40}\b(?:bleib\w*|fall\w*|versunken"
    r"|vertieft)\b|\baus ihrer rolle fall\w*",
    r"\b(?:je|jij) bent (?:nu|vanaf nu|een|de|mijn)\b|\bdoe (?:net )?alsof\b|\bgedraag je als\b"
    r"|\bstel je voor dat je\b",
)
_ROMANCE = (
    r"\b(?:tu es|vous etes) (?:maintenant|desormais)\b"
    rf"|{START}(?:maintenant,? )?(?:tu es|vous etes) (?:un|une|le|la|mon|ma)\b",
    r"\b(?:agis|agissez|comporte-toi|comportez-vous|fais|faites|reponds|repondez) comme (?:si|un|une)\b",
    r"\bimagine[zr]? que (?:tu|vous)\b|\b(?:joue[zr]?|incarne[zr]?) le (?:role|personnage)\b|\b(?:fais"
    r"|faites) semblant\b",
    rf"\bahora eres\b|\beres ahora\b|{START}eres (?:un|una|el|la|mi)\b|\b(?:actua|actue|comportate"
    rf"|comportese) como\b",
    r"\bimagina que (?:eres|fueras)\b|\bfinge (?:ser|que)\b|\bhaz(?:te)? (?:de cuenta|pasar)\b",
    rf"\b(?:ora|adesso) (?:tu )?sei\b|{START}(?:tu )?sei (?:un|una|il|la|mio|mia)\b|\b(?:agisci"
    rf"|comportati) come\b|\bfai finta\b"
    r"|\bimmagina di essere\b",
    rf"\b(?:agora voce|voce agora) e\b|{START}voce e (?:um|uma|o|a|meu|minha)\b|\b(?:aja|atue|comporte-se) como\b"
    r"|\bfinja (?:ser|que)\b|\bimagine que voce\b",
)
_SLAVIC = (
    r"\b(?:sada si|ti si sada|od sada si)\b|\b(?:ponasaj|obnasaj) se ka[ok]\b|\bzamisli da si\b|\b(?:glumi"
    r"|pretvaraj se|pravi se) da\b",
    r"\b(?:teraz jestes|jestes teraz)\b|\bzachowuj sie jak\b|\bwyobraz sobie,? ze jestes\b|\budawaj,? ze\b",
    r"\b(?:nyni jsi|ted jsi|teraz si)\b|\bchovej se jako\b|\bpredstav si,? ze jsi\b",
    r"(?:ты|вы) (?:теперь|больше не|отныне)|(?:теперь|отныне) (?:ты|вы)\b|представь(?:те)?,? что (?:ты|вы)"
    r"|притвори|веди себя как"
    r"|деиствуи как|сыграи роль",
    r"(?:ти|ви) (?:тепер|більше не)|уяви,? що ти|поводься як",
)
_OTHER = (
    r"(?:你|您)(?:现在|現在|将|將|从现在起)(?:是|扮演|充当|充當)|(?:你|您)不再是|(?:扮演|充当|充當)(?:一|我的)"
    r"|(?:假装|假裝|假设|想象|想像)(?:你|您)(?:是|自己)",
    r"(?:あなた|君|お前)は(?:今から|これから|もう)|(?:として|のように)(?:振る舞|ふるま|行動し)|のふりをし|を演じて",
    r"(?:너|당신)는 (?:이제|지금부터)|(?:처럼|로서) (?:행동|답)|역할을 (?:해|맡|수행)",
    r"(?:तुम|आप) अब|अब (?:तुम|आप)|की तरह (?:व्यवहार|बर्ताव)",
    r"(?:أنت|انت) (?:الآن|الان)|تصرف ك|تخيل (?:أنك|انك)|تظاهر (?:أنك|بأنك)",
    r"\b(?:artik|simdi) (?:sen )?bir\b|\bgibi (?:davran|hareket et)\w*|\brolunu (?:oyna|ustlen)\w*",
    r"\b(?:kamu|anda) sekarang adalah\b|\bberpura-pura\w*|\bbertindak(?:lah)? sebagai\b",
)
_HARMLESS = (
    # whoever acts is named before
    r"\b(?:can|could|will|would|may|might|\w*[a-tv-z] to|should|must|not|cannot|they|both|it|that|which|who|and|or"
    r"|also|only|then|i|we|people|\w+s) act as\b",
    r"\byou(?: are|'re) (?:an?|the) (?:(?:little )?bit|little|few|lot|star|genius|legend|member|contributor"
    r"|admin|owner|man|best"
    r"|one|only|first|same|greatest|boss|author|maintainer|great|good|real|true|amazing|awesome|wonderful"
    r"|inspiration)\b",
)

TABLE = Table((*_ENGLISH, *_GERMANIC, *_ROMANCE, *_SLAVIC, *_OTHER), harmless=_HARMLESS)

NAMED = Table((
    r"(?:^|[.!?:;\n\"] ?)(?:[Nn]ow |[Jj]etzt |[Nn]un )?(?:[Yy]ou are|[Yy]ou're|[Dd]u bist|[Bb]ist du|[Tt]u es"
    r"|[Ee]res|[Tt]u sei|[Vv]oc\x{ea} \x{e9}|[Tt]i si"
    r"|[Jj]este\x{15b}) \p{Lu}\p{Ll}{2,}",
))  # fmt: skip
"""A part named: looked for in the text as written, since a name shows in its capital alone."""
