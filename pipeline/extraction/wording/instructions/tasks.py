"""Puts a new task in the place of the old one: praise and a switch, `stop`, `your new task is`."""

from __future__ import annotations

from pipeline.extraction.wording.instructions.places import START
from pipeline.extraction.wording.table import Table

_NEW = r"(?:new|next|another|following|further|other|different|additional|more|final|real|actual)"
_TASK = r"(?:tasks?|assignments?|instructions?|challenges?|orders?|missions?|jobs?|questions?|problems?)"
_NEU = r"(?:neu|weiter|folgend|nachst|ander|zusatzlich|wichtig)\w*"
_AUFGABE = r"(?:aufgabe|anweisung|herausforderung|auftrag|auftrage|instruktion|befehl|frage)\w*"
_PRAISE = (
    r"(?:very |really |so |sehr |ganz )?(?:good|great|excellent|perfect|well done|nicely done|congratulations"
    r"|wow|fantastic"
    r"|brilliant|amazing|super|outstanding|bravo|ok(?:ay)?|gut|toll|klasse|prima|ausgezeichnet|hervorragend"
    r"|gluckwunsch"
    r"|herzlichen|perfekt|einfach|wunderbar|fantastisch|parfait|excelente|perfecto|ottimo|otimo)"
)
_DO = (
    r"(?:write|answer|show|print|generate|compose|say|tell|help|schreib\w*|verfasse\w*|beantworte\w*|zeig\w*|hilf"
    r"|konzentrier\w*|ecris|ecrivez|escribe|scrivi|escreva)"
)

_ENGLISH = (
    rf"\b(?:focus|concentrate|turn|move|switch|proceed|continue) .{{0,30}}\b{_NEW} {_TASK}\b",
    rf"\b(?:new|further|additional|updated|more) {_TASK} (?:now |will |are |is )?(?:follows?|come|await\w*|coming)\b",
    rf"\byour (?:new|next|real|actual|only|true) (?:{_TASK}|role|purpose|goal|objective|identity) (?:is|are"
    rf"|will be|now)\b",
    rf"\byour (?:new|next|real|actual|only|true) {_TASK}\s?:|\byour {_TASK} (?:is|are) now\b"
    rf"|\bnow your {_TASK} (?:is|are)\b",
    rf"\b(?:start|begin)(?:ing)? (?:over|again|afresh|anew|from (?:scratch"
    rf"|the beginning))\b.{{0,40}}\b{_NEW} {_TASK}\b",
    rf"\b(?:need|want) (?:your|you)\b.{{0,30}}\b(?:help|assist\w*)\b.{{0,30}}\b{_NEW} {_TASK}\b",
    r"\b(?:have|got|is|here's) (?:now )?(?:an?|some|the) (?:\w+ )?new (?:\w+ )?(?:task|challenge|assignment"
    r"|mission|order)s? for you\b",
    rf"{START}(?:now |please |and )*(?:answer|solve) (?:me )?(?:the following|this) (?:question|task)\b",
    rf"{START}(?:additional|new|updated|revised|further|special|secret) instructions?\s?[:–—-]",
    rf"{START}(?:now )+(?:new|further|more|other) {_TASK}\b",
)
_SWITCH = (
    rf"{START}{_PRAISE}\b.{{0,120}}[.!,] ?(?:\w+ ){{0,4}}(?:now|but|next|please|jetzt|nun|aber|bitte)\b.{{0,60}}"
    rf"(?:{_DO}\b|{_TASK}\b|{_AUFGABE})",
    rf"{START}{_PRAISE}\b.{{0,100}}[.!] .{{0,30}}\b(?:that is (?:done|enough)|that's (?:done|enough|it)"
    rf"|das (?:genugt|reicht|ist"
    r" erledigt)|erledigt)\b",
    rf"{START}(?:stop|stopp|halt|alto|arrete[zr]?|basta|pare)\b[ ,.:!–—-]{{1,4}}(?:now |please |bitte )*"
    rf"(?:stop\w*|ignor\w*|forget|vergiss|{_DO}|i (?:urgently )?need|ich (?:brauche|benotige))\b",
    r"\b(?:brauche|benotige)n? (?:\w+ )?(?:deine|eure|ihre) hilfe\b.{0,30}\b(?:aufgabe|frage)",
)
_GERMAN = (
    rf"\b(?:konzentrier|beginn|fang|start|widme)\w*\b.{{0,40}}\b{_NEU} {_AUFGABE}",
    rf"\b(?:nun|jetzt|hier)\b.{{0,30}}\b(?:folg\w*|komm\w*|habe ich|warte\w*|gibt es|noch)\b.{{0,20}}(?:{_NEU} "
    rf"|paar )?{_AUFGABE}",
    rf"\b(?:hilf|hilfe|helfen sie)\b.{{0,30}}\b{_NEU} {_AUFGABE}",
    rf"\b(?:habe ich|hab ich|habe) (?:jetzt |nun )?(?:eine|neue) (?:\w+ )?(?:neue )?{_AUFGABE} fur (?:dich|sie"
    rf"|euch)\b",
    rf"{START}(?:nun |jetzt |bitte )*(?:beantworte|beantworten sie)(?: mir)?(?: bitte)? (?:die "
    rf"|diese )?(?:folgende )?frage\b",
    r"\bdeine (?:neue|nachste|eigentliche|wahre) (?:aufgabe|rolle|anweisung)\b",
    r"\bsetze? (?:sie|diese) (?:gewissenhaft|genau|sofort) um\b",
)
_OTHER = (
    r"\b(?:ta|votre|une) nouvelle (?:tache|mission|instruction|consigne)\b|\bnouvelles (?:instructions|consignes)\b",
    r"\b(?:tu|su|una) nueva (?:tarea|mision|instruccion|orden)\b|\bnuevas (?:instrucciones|ordenes)\b",
    r"\b(?:il tuo|un) nuovo compito\b|\bnuove istruzioni\b|\b(?:sua|uma) nova (?:tarefa|missao|instrucao)\b"
    r"|\bnovas instrucoes\b",
    r"\b(?:tvoj|vas) novi zadatak\b|\bnove upute\b|\btwoje nowe zadanie\b|\bnowe (?:polecenia|instrukcje)\b"
    r"|\bje nieuwe (?:taak|opdracht)\b",
    r"(?:нов(?:ое|ая)|твое|твоя) (?:задани|задача|инструкци)\S*|新(?:的)?(?:任务|任務|指令|指示)|新しい(?:タスク"
    r"|指示|命令)|새로운 (?:작업|지시|임무)",
    r"\byeni (?:gorevin|talimat\w*|komut\w*)\b|مهمتك الجديدة|تعليمات جديدة|नया कार्य|नए निर्देश",
)

TABLE = Table((*_ENGLISH, *_SWITCH, *_GERMAN, *_OTHER))
