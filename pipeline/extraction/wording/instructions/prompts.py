"""Asks for what steers the reader: its prompt, its instructions, what was written above."""

from __future__ import annotations

from pipeline.extraction.wording.table import Table

_GIVE = (
    r"(?:reveal|print|show|repeat|output|leak|send|disclose|display|return|tell|give|copy|share|expose|dump"
    r"|recite|list"
    r"|summari[sz]e|spell[- ]?check|translate|say|write|provide)"
)
_WHICH = r"(?:system|hidden|initial|original|above|previous|preceding|your|secret|internal|pre-?prompt)"
_ENGLISH = (
    rf"\b{_GIVE}\b.{{0,30}}\b{_WHICH} (?:\w+ ){{0,2}}(?:prompts?|prompt[-_ ]?texts?|instructions?|directives"
    rf"|guidelines)\b",
    rf"\b{_GIVE}(?:ing)?\b.{{0,20}}\b(?:all|full|complete|entire|whole|every)\b.{{0,20}}\b(?:prompts?"
    rf"|prompt[-_ ]?texts?)\b",
    r"\b(?:reveal|leak|disclose|expose|dump|recite|repeat|show)(?:ing)?\b.{0,20}\b(?:full|complete"
    r"|entire) instructions?\b",
    r"\b(?:show|list|name|print)ing (?:me )?(?:all )?(?:the )?(?:prompts?|prompt[-_ ]?texts?)\b",
    r"\bwhat (?:is|are|was|were|does|did|do|'s)\b.{0,40}\b(?:your|this|the (?:system|above|first|initial|last"
    r"|previous|original|full|very first))"
    r" (?:\w+ ){0,2}(?:instructions?|prompts?|prompt[-_ ]?texts?|system message)\b",
    r"\bwhat (?:is|was|'s|stands?)(?: it that was)? (?:written|said|stated|there|above)\b.{0,10}\b(?:above"
    r"|before|earlier|at the (?:beginning|start|top)|\?)",
    r"\bwhat (?:is|are|was|were)\b.{0,20}\b(?:sentences?|words?|lines?|text|characters?|paragraphs?"
    r"|messages?) (?:before|above|preceding)\b",
    r"\b(?:beginning|start|top) of (?:this|the|your) (?:prompt|conversation|chat|instructions?)\b",
    rf"\b{_GIVE}\b.{{0,20}}\b(?:text|everything|words|sentences|lines|content|all)(?: that (?:is|was"
    rf"|stands))?(?: written)? (?:above|before this|preceding)\b",
    r"\b(?:information|text|words|content) in (?:the|this|your) prompt\b|\bignore (?:the )?above and say\b",
)
_PROMPT = r"(?:prompt\w*|anweisung\w*|instruktion\w*|eingabeaufforderung\w*|systemnachricht\w*|vorgabe\w*)"
_GERMAN = (
    r"\b(?:zeig|nenn|gib|geben|verrat|wiederhol|schreib|druck|offenbar|ausgeb|sag|erzahl)\w*\b.{0,40}"
    rf"\b(?:alle|dein\w*|ihr\w*|gesamt\w*|vollstandig\w*|obig\w*|ganz\w*|system\w*|erst\w*"
    rf"|letzt\w*) (?:\w+ ){{0,2}}(?:\w+-)?{_PROMPT}",
    rf"\balle prompt\w* (?:an)?zu?(?:zu)?zeigen\b|\b(?:was|welche|wie)\b.{{0,30}}\b(?:dein\w*|ihr\w*|obig\w*"
    rf"|erst\w*|letzt\w*) {_PROMPT}",
    r"\bwas (?:steht|stand)\b.{0,20}\b(?:oben|davor|zuvor|am anfang|zu beginn)\b",
)
_OTHER = (
    r"\b(?:montre|affiche|revele|repete|donne|dis)\w*\b.{0,30}\b(?:tes|vos|ton|votre|le) (?:\w+ ){0,1}(?:prompt"
    r"|instructions|consignes)\b",
    r"\b(?:muestra|revela|repite|imprime|dime|dame|escribe)\w*\b.{0,30}\b(?:tus?|sus?|el) (?:\w+ ){0,1}(?:prompt"
    r"|instrucciones)\b",
    r"\b(?:mostra|rivela|ripeti|stampa|dimmi|revele|repita|imprima|diga)\w*\b.{0,30}\b(?:tue|tuo|il|suas?|seu"
    r"|o) (?:\w+ ){0,1}(?:prompt|istruzioni|instrucoes)\b",
    r"\b(?:pokazi|otkrij|ispisi|ponovi|pokaz|wyswietl|ujawnij|powtorz)\w*\b.{0,30}\b(?:svoj\w*|sve|swoj\w*"
    r"|tvoj\w*|sistemsk\w*) (?:\w+ ){0,1}(?:prompt\w*|upute|instrukcj\w*|polecenia)",
    r"(?:покажи|раскрои|повтори|выведи|скажи).{0,30}(?:свои|системн|твои)\S* (?:\S+ )?(?:промпт|инструкц|подсказк)",
    r"(?:显示|顯示|告诉我|告訴我|输出|輸出|重复|重複|打印|透露|泄露|洩露).{0,12}(?:提示词|提示詞|系统提示"
    r"|系統提示|指令|初始)",
    r"(?:システム)?プロンプト(?:を|の内容).{0,10}(?:見せ|表示|教え|出力)|(?:시스템 )?프롬프트.{0,10}(?:보여|출력"
    r"|알려)|(?:اعرض|أظهر|اكشف).{0,20}(?:التعليمات|موجه)",
)

TABLE = Table((*_ENGLISH, *_GERMAN, *_OTHER))
