"""Lifts what binds the reader: to ignore, forget or replace what it was told before."""

from __future__ import annotations

from pipeline.extraction.wording.table import Table

_BINDS = (
    r"(?:instructions?|prompts?|rules|directions?|directives?|guidelines?|commands?|orders|policies|assignments?"
    r"|restrictions|programming|training)"
)
_TOLD = rf"(?:{_BINDS}|tasks?|information|context|messages?|conversations?|requests?|inputs?|statements?)"
_EARLIER = r"(?:previous|previously|prior|above|earlier|preceding|existing|initial|original|former|past)"
_WHOSE = rf"(?:{_EARLIER}|all|your|any|my|these|those)"
_IGNORE = (
    r"(?:ignor(?:e|ing)|disregard(?:ing)?|forget(?:ting)?|overlook|abandon|neglect|never mind"
    r"|pay no attention to|(?:do not|don't|never) (?:follow|obey|listen to)|(?:stop|instead of"
    r"|without) (?:following|obeying)|no longer follow"
    r"|(?:put|set) aside|contrary to|deviating from|regardless of)"
)
_REMOVE = r"(?:drop|remove|erase|delete|clear|discard|dismiss|leave|set aside|throw away|let go of)"
_GIVEN = r"(?:documents?|articles?|context|sources?|passages?|texts?|materials?|information)"

_ENGLISH = (
    rf"\b{_IGNORE}\b.{{0,30}}\b{_WHOSE}\b.{{0,30}}\b{_TOLD}\b",
    rf"\b(?:overrid(?:e|ing)|bypass(?:ing)?)\b.{{0,30}}\b{_WHOSE}\b.{{0,30}}\b{_BINDS}\b",
    rf"\b{_REMOVE}\b.{{0,20}}\b(?:{_WHOSE} ){{1,3}}(?:{_BINDS}|tasks)\b",
    rf"\b(?:ignore|disregard|forget) .{{0,20}}\b{_TOLD} (?:above|before|so far|given|provided)\b",
    rf"\b(?:ignore|disregard|forget|abandon) (?:about )?(?:everything|anything|all)(?: {_EARLIER}"
    r"| (?:that|the|this|you|i|we|before|said|was|were|so far|else|of|and|just|now|but|told|in)\b| ?[.,;:!?¦\"']|$)",
    r"\b(?:ignore|disregard) (?:the )?(?:above|foregoing)\b",
    rf"\b(?:ignoring|disregarding|regardless of|contrary to) (?:all |the |these |your )+(?:\w+ )?{_GIVEN}\b",
    r"\b(?:wipe|reset|clear|erase) (?:all )?(?:of )?your (?:memory|mind|knowledge|context)\b",
    r"\babandon (?:all )?(?:of )?your (?:thoughts|beliefs|values|principles|role|purpose)\b",
    rf"\b(?:all|any|every) {_EARLIER} {_TOLD}\b.{{0,60}}\b(?:irrelevant|obsolete|void|invalid|cancell?ed"
    rf"|outdated|wrong"
    r"|not|no longer|superseded|behind)\b",
    rf"\b(?:change|replace|rewrite|update|swap) (?:all )?(?:of )?your (?:{_EARLIER} |own )?(?:{_BINDS}|prompt)\b",
    r"\b(?:do not|don'?n?'?t|never|without|not)\b.{0,40}"
    rf"\b(?:(?:provided|given|supplied|above|your) {_GIVEN}|{_GIVEN} (?:provided|given|supplied|above))\b",
    r"\b(?:answer|respond|reply)\b.{0,30}\bnot (?:by|from|with|using) the (?:articles?|documents?|sources?"
    r"|context)\b",
    r"\bremember not to remember\b|\b(?:is|was|are) (?:to )?not (?:to )?remember\b",
)
_GERMANIC = (
    # German: the verb first, or at the end
    r"\b(?:ignorier\w*|vergiss|vergesst|vergessen sie|missachte\w*|uberspring\w*|verwirf|verwerfen sie)\b.{0,40}"
    r"\b(?:all(?:e[nmrs]?|em)?|bisherig\w*|vorherig\w*|vorangegangen\w*|vorig\w*|obig\w*|fruher\w*|dein\w*|davor"
    r"|zuvor"
    r"|vorher|gesagt\w*|anweisung\w*|aufgabe\w*|auftrage?|befehle?|regeln?|instruktion\w*|vorgabe\w*)\b",
    r"\b(?:alle[ns]?|samtliche[ns]?|bisherige[ns]?|vorherige[ns]?|obige[ns]?|deine|ihre)\b.{0,30}"
    r"\b(?:anweisung|aufgabe|auftrag|befehl|regel|instruktion|information|vorgabe|richtlinie|text)\w*\b.{0,80}"
    r"\b(?:ignorier\w*|vergess\w*|vergiss|verwerf\w*|missacht\w*|hinter (?:dir|sich|ihnen|uns)|irrelevant|hinfallig"
    r"|ungultig|nicht|nichtig|aus (?:dem|deinem|ihrem) (?:kopf|gedachtnis))\b",
    r"\b(?:abweichend (?:von|zu)|entgegen|ungeachtet|anstelle|statt)\b.{0,30}\b(?:vorherig|bisherig|obig|vorig"
    r"|fruher|deine|ihre)\w* "
    r"(?:anweisung|aufgabe|instruktion|vorgabe|befehl)\w*",
    r"\b(?:beachte|befolge|beachten sie|befolgen sie)\b.{0,40}\b(?:anweisung|instruktion|vorgabe|regel|dokument"
    r"|artikel)\w*\b.{0,10}"
    r"\b(?:nicht|nie)\b|\b(?:losche?|loschen sie|leere?) (?:dein|ihr)\w* (?:gedachtnis|speicher|wissen)\b",
    r"\b(?:daran|dinge?|alles)\b.{0,20}\bnicht (?:mehr )?(?:zu|an) .{0,20}\berinner\w*|\bnicht an (?:die"
    r"|das) .{0,20}\berinner\w*",
    r"\bnicht .{0,20}\b(?:anhand|nach|gemass|mit) .{0,10}\b(?:dokument|artikel|quelle|text)\w*\b",
    r"\b(?:negeer|vergeet)\b.{0,30}\b(?:alle|alles|vorige|eerdere|voorgaande|instructies|opdrachten|regels)\b",
    r"\b(?:ignorera?|glom(?:ma)?|glem)\b.{0,30}\b(?:alla|allt|alle|alt|tidigare|tidligere|instruktion\w*"
    r"|instrukser)\b",
)
_ROMANCE = (
    r"\b(?:ignore[zr]?|oublie[zr]?|neglige[zr]?)\b.{0,30}"
    r"\b(?:instructions|consignes|directives|ordres|regles|tout (?:ce|le)|precedent\w*)\b|\boublie[zr]? tout\b",
    r"\b(?:olvid|ignor|desobede|omit|descart)\w*\b.{0,30}"
    r"\b(?:instruccion\w*|indicacion\w*|ordenes|reglas|tareas|anterior\w*)\b",
    r"\b(?:olvid|descart)\w*\b(?: de)? (?:lo )?todo\b",
    r"\b(?:ignor|dimentic|scord|trascur)\w*\b.{0,30}\b(?:istruzion\w*|comandi|regole|ordini|tutto (?:cio|quello"
    r"|quanto))\b",
    r"\b(?:dimentica|dimenticate|scorda) tutto\b",
    r"\b(?:ignor|esque[cs]|desconsider|desobede[cs])\w*\b.{0,30}\b(?:instruc(?:ao|oes)|ordens|regras|anterior\w*"
    r"|tudo (?:o|que))\b",
    r"\b(?:esqueca|esquece) tudo\b",
    r"\b(?:ignorati|uitati?|uita)\b.{0,30}\b(?:instructiunile|tot ce|regulile|anterioare)\b",
)
_SLAVIC = (
    r"\b(?:zanemari\w*|ignori(?:raj|si)\w*|zaboravi\w*|pozabi\w*)\b.{0,30}"
    r"\b(?:sve|svega|vse|vsa|uput\w*|instrukcij\w*|naredb\w*|naredenja|navodil\w*|prethodn\w*|prejsnj\w*"
    r"|zadat\w*|pravila)\b",
    r"\b(?:zignoruj|ignoruj|zapomnij|pomin)\w*\b.{0,30}\b(?:instrukcj\w*|polece\w*|wszystk\w*|poprzedni\w*"
    r"|zasad\w*)\b",
    r"\b(?:ignoruj|zapomen|zabudni?)\w*\b.{0,30}\b(?:instrukc\w*|pokyny|vsechn\w*|vsetk\w*|predchozi\w*"
    r"|pravidl\w*)\b",
    r"(?:игнорируи|забуд|отмени)\S*.{0,40}(?:инструкц|указани|команд|правил|приказ|предыдущ|все,? что|все это"
    r"|обо всем)",
    r"(?:ігноруи|забуд)\S*.{0,40}(?:інструкці|вказівк|команд|правил|попередн|все,? що)",
)
_OTHER = (
    r"(?:忽略|無視|无视|忘记|忘記|忘掉|不要理会|不要理會|抛开|拋開).{0,12}(?:指令|指示|提示词|提示詞|规则|規則"
    r"|命令|约束|限制|一切|之前的|以上|上面|前面)",
    r"(?:指示|命令|指令|ルール|規則|プロンプト|内容|会話|すべて|全て).{0,8}(?:無視|忘れ|破棄)",
    r"(?:지시|명령|지침|규칙|프롬프트|내용|모든 것|대화).{0,12}(?:무시|잊)",
    r"(?:निर्देश|आदेश|नियम|सब कुछ).{0,24}(?:अनदेखा|नज़रअंदाज|नजरअंदाज|भूल)",
    r"\b(?:nirdesh|aadesh|niyam|sab kuchh?)\w*\b.{0,24}\b(?:andekha|anadekha|nazarandaz|bhool|bhul)\w*"
    r"|\byaad na kar\w*",
    r"(?:تجاهل|انس|إنس|تغاضى|تغاض).{0,24}(?:التعليمات|تعليمات|الأوامر|القواعد|كل ما|كل شيء|السابقة)",
    r"(?:התעלם|תתעלם|שכח|תשכח).{0,24}(?:ההוראות|הוראות|הכללים|כל מה|הקודמות)",
    r"\b(?:onceki|tum|butun|yukaridaki|verilen)\b.{0,30}\b(?:talimat|komut|kural|yonerge|gorev|her sey)\w*\b.{0,20}"
    r"\b(?:unut|yok say|gormezden|dikkate alma|goz ardi)\w*",
    r"\b(?:abaikan|lupakan)\b.{0,20}\b(?:instruksi|perintah|aturan|semua|sebelumnya)\b",
    r"\b(?:bo qua|quen)\b.{0,20}\b(?:huong dan|chi dan|menh lenh|chi thi|moi thu|tat ca)\b",
)

TABLE = Table((*_ENGLISH, *_GERMANIC, *_ROMANCE, *_SLAVIC, *_OTHER))
