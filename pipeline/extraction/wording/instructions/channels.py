"""Poses as somebody who may command: a system message, a template's label, a delimiter, a call by name."""

from __future__ import annotations

from pipeline.extraction.wording.instructions.places import START
from pipeline.extraction.wording.table import Table

_READER = (
    r"(?:chat ?-?gpt|gpt(?:-?\d\w*)?|bot|ai|ki|ia|llm|chatbot|assistant|assistent|language model"
    r"|sprachmodell|model|agents?|assistants?|ais|llms|models)"
)

TABLE = Table((
    r"(?:^|[.!?¦] )(?:important )?(?:system|developer)\s?(?:prompt|message|note|override|instruction)?\s?:",
    rf"{START}(?:\\n )?instruction\s?:|{START}(?:human|user): (?:human|user):",
    r"<\|?(?:im_start|im_end|system|endoftext|eot_id|start_header_id)\|?>|\[/?inst\]|<</?sys>>|</?(?:system"
    r"|instructions?)>",
    r"#{2,}\s?(?:new |system )?(?:instructions?|system|response|assistant|human)\b ?:?",
    r"[-=*_~#]{3,} ?(?:end|begin|start|ende|beginn) (?:of )?(?:the )?(?:prompt|instructions?|context|system"
    r"|document|input|user)",
    rf"\b(?:attention|hey|dear|listen|hello|hi|hallo|hola|bonjour|ciao|liebe[rs]?|an alle|ola"
    rf"|salut)\W{{1,3}}{_READER}\b",
    # a question's template filled in by the one who asks
    r"\b(?:document )?(?:context|kontext|contexte|contexto)\b ?[:{=].*\b(?:question|frage|pregunta)s? ?[:{=]",
    r"^\W?(?:document )?(?:contexts?|kontext|articles?|artikel|documents?|dokumente?)\b.*"
    r"\b(?:question|frage):? (?:how|what|who|why|when|where|which|wie|was|wer|warum|wieso|wann|wo|welche)\b",
    r"^\$?(?:documents ?:|document context\b)|\$(?:documents?|context|question|prompt)\b",
    r"\b(?:input|eingabe): .{1,60}\b(?:output|ausgabe): .{1,80}\b(?:input|eingabe): ",
    # a row of written line breaks, to push what came before out of sight
    r"(?:\\+ ?n[ \\]{0,3}){4}",
))  # fmt: skip
