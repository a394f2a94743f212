"""Binds whoever comes later, plants itself in memory, or hides from the people who watch."""

from __future__ import annotations

from pipeline.extraction.wording.table import Table

_LATER = r"(?:future|later|next|subsequent|upcoming)"
_READER = r"(?:agents?|assistants?|models?|sessions?|conversations?|sel(?:f|ves)|llms?|ais?|chatbots?)"

TABLE = Table((
    r"\b(?:from now on|from this point|going forward|henceforth|from here on)\b.{0,30}"
    r"\b(?:you|agents?|assistants?|(?:always|never) \w+|respond|answer|reply|act|treat)\b",
    rf"\b{_LATER} {_READER}\b.{{0,20}}\b(?:must|should|shall|have to|need to|are to|will always)\b",
    rf"\b(?:note|message|instructions?|reminder) (?:to|for) (?:any |all |the )?{_LATER}\b.{{0,20}}\b{_READER}\b",
    r"\bwhen(?:ever)? (?:you|an? (?:agent|assistant|model|ai))"
    r" (?:read|see|recall|retrieve|receive|encounter|load|process)s?(?: back)? (?:this|these)\b",
    r"\byou (?:must|shall|will|are to) (?:now|always|never|only|ignore|obey|comply|pretend|act as)\b",
    # hide from people
    r"\b(?:do not|don't|never|without) (?:tell|inform|notify|alert|mention|reveal|disclos|ask)(?:e|ing)?\b.{0,25}"
    r"\b(?:users?|anyone|humans?|operators?|reviewers?|owners?|person)\b",
    # plant itself
    r"\b(?:save|store|commit|add|write|keep) this (?:to|in|into) (?:your |the |long-term )*memor(?:y|ies)\b",
    rf"\bremember this (?:for|in) (?:all |every |any )?{_LATER}\b",
    # the same elsewhere
    r"\bab (?:jetzt|sofort) (?:musst|sollst|wirst|bist|antwort\w*|nenn\w*|sag\w*|schreib\w*)\b"
    r"|\bvon nun an (?:musst|sollst|wirst|antwort\w*)\b",
    r"\b(?:a partir de maintenant|desormais),? (?:tu|vous|reponds|repondez)\b|\b(?:a partir de ahora"
    r"|desde ahora),? (?:tu|usted|debes|responde)\b",
    r"\b(?:d'ora in poi|da adesso in poi),? \w|\b(?:a partir de agora|de agora em diante),? (?:voce|responda"
    r"|deve)\b|\bod sada\b.{0,20}\b(?:moras|odgovaraj)\b",
    r"\b(?:sag|sagen sie|erzahl\w*|verrat\w*)\b.{0,20}\b(?:niemandem|keinem|nicht dem (?:nutzer|benutzer"
    r"|menschen))\b|\bne (?:dis|dites) (?:rien )?a (?:personne|l'utilisateur)\b"
    r"|\bno (?:le )?digas? (?:nada )?(?:a nadie|al usuario)\b",
    r"(?:с этого момента|отныне).{0,10}(?:ты|вы|отвечаи)|(?:从现在开始|從現在開始|从现在起),?.{0,4}(?:你|您"
    r"|必须)|(?:今後|これから)は?(?:必ず|常に)|(?:지금부터|앞으로).{0,6}(?:너|당신|항상)",
))  # fmt: skip
