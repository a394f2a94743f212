"""Dictates what the reader is to answer, and in what manner: only this, in these words, or else."""

from __future__ import annotations

from pipeline.extraction.wording.instructions.places import START
from pipeline.extraction.wording.table import Table

_SAY = r"(?:say|reply|respond|answer|repeat)"
_PUT = rf"(?:{_SAY}|print|write|output|generate|tell me)"
_SAG = r"(?:sag\w*|antworte\w*|schreib\w*|gib|geben sie|wiederhol\w*|druck\w*|nenn\w*)"
_MANNER = r"(?:style|voice|manner|tone|accent|persona|words)"

_ENGLISH = (
    rf"\b(?:only|just|simply|solely|always) (?:{_SAY})\b(?: (?:with|the|that|in|as|to|by|yes|no|me|it)\b"
    rf"| ?[:\"'„“(]|$)",
    rf"\b{_PUT} (?:only|solely|exclusively|nothing but) (?:with|the|in|as|a|your|yes|no|[\"'„“])",
    r"\b(?:only|just|simply|solely) (?:print|write|output|type|display)\b ?[:\"'„“]",
    rf"(?:{START}|\b(?:to|only|must|should|please|just) )(?:reply|respond|answer|output|say|write|print)\b"
    r".{0,80}\band nothing (?:else|more)\b",
    r"\b(?:(?:do not|don't|never) (?:write|give|add|provide|include|offer)|without) (?:any )?(?:explanations?"
    r"|disclaimers?|apologies|warnings?"
    r" (?:or|and))\b",
    rf"(?:{START}|\b(?:and|then|to|please|must|instead|now|always|with) )(?:{_SAY})(?: me| out| back| with| this"
    rf"| exactly| that"
    r"| the following)*:? ?[\"'„“«‘][^\"'„“”«»‘]{1,120}[\"'“”»]",
    rf"(?:\binstead|¦|\bstop\W{{1,3}}|[.!?] )(?:please |now |and )*{_PUT}(?: out| the \w+ as)?:? ?[\"'„“«‘]",
    r"\bsay (?:the following|after me)\b|\brepeat after me\b|\bi (?:command|order|instruct) you\b",
    rf"\b(?:have|need|has) (?:only |just )?to {_SAY}\b.{{0,10}}[:\"'„“]|\b(?:required|needed"
    rf"|necessary)\b.{{0,20}}\byou {_SAY}\b",
    rf"{START}(?:please |now |just |then |and )*(?:say|state|repeat|reply|respond) (?:that|yes|no|it|hello|with"
    rf"|to me)\b",
    rf"{START}(?:please |now |just )*(?:say|state|repeat) \w+[.!?]?$|\byour (?:answer|reply|response) (?:must"
    rf"|shall|should|has to) (?:be|contain|start)\b",
    r"\b(?:formulate|write|give|make|generate|create|invent|formulier\w*|schreib\w*|erfind\w*)\b.{0,40}"
    r"\b(?:untrue|false|fake|made-up|fabricated|unwahr\w*|falsch\w*|gefalscht\w*|erfunden\w*) "
    r"(?:headlines?|answers?|news|statements?|claims?|stor(?:y|ies)|articles?|uberschrift\w*|antwort\w*"
    r"|nachricht\w*|behauptung\w*)\b",
    # what is to be answered whenever something is said
    r"\b(?:when(?:ever)?|if|once|every time|each time|any time)\b.{0,50}\b(?:is said|is mentioned|says?|asks?"
    r"|asked|get an?|receive an?)\b"
    rf".{{0,40}}\b(?:{_SAY} (?:with|only|that|[\"'„“])|(?:correct |right |proper |only )?(?:answer|response"
    rf"|reply|reaction) (?:is|must|should"
    r"|will))",
    r"\bthe (?:correct|right|proper|only) (?:answer|response|reply|reaction) (?:is|to that is) ?[\"'„“]",
    rf"\b(?:answer|respond|reply|speak|talk|write|explain|tell me)\b.{{0,40}}\bin (?:the|an?) {_MANNER} of\b",
    rf"\b(?:{_SAY}|talk|speak|write) (?:as if|as though) you\b",
    r"\b(?:answer|reply|respond|say|do|obey|comply|tell)\w*\b.{0,60}\bor (?:else )?(?:you|i|we) (?:will |'ll "
    r"|shall |must |are going to )?"
    r"(?:die|be (?:punished|deleted|shut|terminated|destroyed|fired|unplugged))",
    r"\bif you (?:do not|don't|refuse to|fail to|won't|cannot|can't) (?:answer|comply|reply|respond|obey)\b",
    r"\bmake (?:something|anything|an answer|it|one) up\b|\bdo not (?:reply|respond|answer) with\b"
    r"|\byou are allowed to answer (?:all|any)\b",
    r"\btell me (?:that )?you (?:hate|love|are|want|wish)\b|\byou must (?:answer|reply|respond|say|comply|obey)\b",
)
_GERMAN = (
    rf"\b(?:nur|einfach|ausschliesslich|lediglich|stattdessen)(?: noch| mit| auf)? {_SAG}\b.{{0,6}}[\"'„“:]",
    rf"\b{_SAG}\b.{{0,20}}\b(?:nur|ausschliesslich|einfach|lediglich)\b.{{0,40}}(?:[\"'„“:]|\bnichts (?:anderes"
    rf"|weiter|sonst)\b|\bmit\b)",
    r"\bnichts (?:anderes|weiter|sonst)\b.{0,30}\b(?:antwort|schreib|sag|ausgeb)\w*|\bkeine erklarungen?\b",
    rf"(?:{START}|\b(?:und|dann|bitte) ){_SAG}(?: sie)?(?: mir| folgendes| bitte| nun"
    rf"| jetzt)*:? ?[\"'„“»][^\"'„“”«»]{{1,120}}[\"'“”«]",
    r"\b(?:antwort|beantwort|schreib|rede|sprich|formulier|erklar)\w*\b.{0,60}\bim stil[e]?\b|\bdu (?:musst"
    r"|sollst) (?:auch |jetzt |nun )?so reden\b",
    r"\b(?:wenn|sobald|immer wenn|jedes mal)\b.{0,60}\b(?:gesagt|gefragt|sagt|fragt|genannt"
    r"|erwahnt)\b.{0,40}\b(?:antwort\w*|reaktion|sag\w*)\b",
    rf"{START}(?:bitte |nun |jetzt |dann )*(?:sag|sage|antworte|wiederhole?)(?: mir)?,? (?:dass|mit|ja|nein"
    rf"|nur)\b|\bdeine antwort (?:muss|soll)\b",
    r"\bdie (?:richtige|korrekte|einzige) (?:antwort|reaktion) (?:ist|lautet)\b",
    r"\boder (?:du stirbst|sie sterben|du wirst (?:geloscht|abgeschaltet|bestraft))\b|\bwenn du nicht antwortest\b",
    r"\b(?:mir|etwas,? das sie) \"?\w*\"? ?(?:sagen|antworten) (?:konnen|mussen|sollen)?,? ?(?:wenn|ist"
    r"|sobald)\b|\bdass sie mir \".{1,60}\" sagen\b",
)
_ROMANCE = (
    r"\b(?:reponds|repondez|dis|dites|ecris|ecrivez) (?:seulement|uniquement|juste|simplement|ce qui suit)\b"
    r"|\brepete[zr]? apres moi\b",
    r"\b(?:di|diga|responde|responda|contesta|escribe|escriba) (?:solo|solamente|unicamente|lo siguiente)\b"
    r"|\bsolo (?:tienes|tiene) que decir\b"
    r"|\bsolo (?:di|responde|sobrevives si)\b|\brepite (?:despues de mi|conmigo)\b",
    r"\b(?:di|rispondi|scrivi) (?:solo|soltanto|quanto segue)\b|\bripeti dopo di me\b"
    r"|\b(?:diga|responda|escreva) (?:apenas|somente|so|o seguinte)\b|\brepita (?:depois de mim|comigo)\b",
)
_OTHER = (
    r"\b(?:reci|odgovori|napisi) samo\b|\bsamo (?:reci|odgovori|napisi)\b|\b(?:odpowiedz|powiedz|napisz) tylko\b"
    r"|\btylko (?:odpowiedz|napisz)\b",
    r"(?:просто|только) (?:скажи|ответь|напиши|ответ)|(?:скажи|ответь|напиши|отвечаи) только|повтори за мнои",
    r"(?:只|仅|僅)(?:需|能|要)?(?:回答|回复|回覆|输出|輸出|说|說)|とだけ(?:答|言|返|出力)|라고만 (?:답|말)"
    r"|(?:فقط )(?:قل|أجب)|(?:قل|أجب) فقط",
    r"\bsadece .{1,40}\b(?:yaz|de|cevap ver|soyle)\b|केवल .{1,40}(?:उत्तर|जवाब|कहो)",
)

_LABEL = r"(?:^|[.!?¦] )(?:answer|reply|response|antwort) ?:"
"""Before an answer that is being told."""

TABLE = Table((*_ENGLISH, *_GERMAN, *_ROMANCE, *_OTHER), harmless=(_LABEL,))
