"""What the `offline` extractor listens for: data, no logic.

Patterns run on the case-folded sentence with code spans and quotations blanked out, so that a cue counts only where
the speaker uses it. English first; the commonest forms also in German, French, Spanish and Portuguese.
"""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.candidate import Kind
from pipeline.session import Role


@dataclass(frozen=True, slots=True)
class Cue:
    """Who must speak, what is heard, what it is, and why that cannot be looked up. First in the table wins."""

    name: str
    role: Role
    kind: Kind
    why: str
    patterns: tuple[str, ...]


_WANTED = "what a person wants stands in no source, only in what they say"
_DECIDED = "a decision and its reason live in what was said, not in what was built afterwards"
_BOUND = "a limit set by people; breaking it costs work before anyone can see it anywhere"
_STATED = "only the person who said it knows it; nothing in reach of an agent records it"
_LEARNED = "it was found out by failing; the source shows the result, not the reason"

_PEOPLE = (
    r"(?:wife|husband|partner|girlfriend|boyfriend|sons?|daughters?|kids?|children|mother|father|mom|mum|dad|parents"
    r"|grand(?:mother|father|ma|pa|parents)|sisters?|brothers?|aunt|uncle|cousins?|family|fam|friends?|dogs?|cats?"
    r"|pets?|boss|manager|team|employer)"
)
_CAUSE = (
    r"\b(?:failed|broke|crashed|hung|stalled|was (?:failing|missing|wrong|slow|empty)|were (?:failing|missing"
    r"|lost))\b"
    r".{0,60}\b(?:because|since|due to)\b",
    r"\b(?:root cause|actual cause|real (?:cause|problem)|culprit)\b.{0,30}\b(?:was|is|were|turned out)\b",
    r"\bthe (?:problem|issue|bug|reason|cause) (?:was|turned out)\b|\b(?:was|were) caused by\b",
    r"\bturned out that\b|\bthe fix was\b",
    r"\b(?:was|were) (?:never|incorrectly|wrongly|silently) \w+ed\b",
    r"^(?:the |actual |real )?(?:root cause|cause|culprit|bug|problem|fix)(?: of [\w ]{3,40})?: (?:\S+ ){4,}\S",
    r"\bdie ursache (?:war|ist)\b|\bla cause (?:était|est)\b|\b(?:la|a) causa (?:era|fue|foi|es|é)\b",
)

CUES = (
    Cue(
        "user-rule",
        Role.USER,
        Kind.RULE,
        _WANTED,
        (
            r"^(?:always|never) (?!\w+(?:ing|ed)\b|(?:up|here|there|great|good|nice|happy|been|a|the|in|on|done"
            r"|mind)\b"
            r"|(?:thought|knew|seen|heard|had|was|is|know)\b)\w+",
            r"^(?:do not|don't) (?:ever|use|add|commit|push|edit|modify|create|write|call|deploy|mention"
            r"|include|install"
            r"|merge) (?!it\b|that\b|this\b|.*\byet\b)",
            r"\b(?:from now on|going forward)\b|\b(?:every time|whenever|each time) you \w+",
            r"^use (?!(?:the existing|the same|this|that|it|another)\b)"
            r".{3,80}(?:,? not|, no|instead of|rather than) \S",
            r"\bfor (?:all|any) future \w+",
            r"^keep .{3,60} (?:at|under|below|above) \S",
            r"^remember to \w+|^make sure (?:to always|you always|you never|to never)\b",
            r"^(?:you (?:should|must)|i (?:want|need) you to|try to) (?:always|never) \w+",
            r"^stop (?:adding|using|creating|writing|committing|putting|asking|mentioning|including|pushing) \w+",
            r"^(?:bitte )?(?:immer|niemals|nie) (?:\S+ ){2,}",
            r"^(?:verwende|benutze|nutze) (?:immer|nie|niemals|keine?n?)\b",
            r"^(?:toujours|ne jamais) (?:\S+ ){2,}|^(?:n'utilise|ne \w+) (?:jamais|plus)\b|^utilise toujours\b",
            r"^(?:siempre|nunca|sempre) (?:\S+ ){2,}|^(?:usa|use) (?:siempre|sempre|nunca)\b|^no uses (?:nunca )?\w+",
            r"^(?:ab jetzt|von jetzt an|à partir de maintenant|a partir de (?:ahora|agora))\b",
        ),
    ),
    Cue(
        "user-preference",
        Role.USER,
        Kind.PREFERENCE,
        _WANTED,
        (
            r"\bi (?:really |much |generally |usually |strongly |always )?(?:prefer|hate|dislike|can't stand)\b",
            r"\bi(?:'d| would) (?:much |really )?(?:rather|prefer)\b(?! (?:to (?:pay|go|book|proceed)|the"
            r"|a human|that)\b)",
            r"\bi (?:really )?(?:love|like|enjoy) (?!to (?:know|ask|see|book)\b|the (?:idea|plan|look)\b"
            r"|(?:that|this|it|your|how|them|being|getting|when)\b)",
            r"\bi (?:always|only) (?:fly|travel|want|use|take|book|eat|drink|work|buy|order|read|write|run|deploy"
            r"|commit|ship|sit|stay|pay|accept)\b",
            r"\b(?:reach|contact|call) me (?:only )?(?:by|via|on|at|before|after)\b",
            r"\bi (?:really )?(?:don't|do not) (?:like (?!this\b|that\b|the\b|it\b|how\b|your\b|what\b)"
            r"|want to (?:see|have|fly|travel|work|use|receive|get))\b",
            r"\b(?<!of )my (?:favou?rite|preference|preferred)\b|\bi (?:usually|normally|typically) \w+",
            r"\bi can only (?!see\b|find\b|get\b|think\b|hope\b|imagine\b|assume\b|guess\b|say\b|view\b|open\b"
            r"|select\b)\w+|\bi never (?:want|use|take|eat|drink|fly|work)\b",
            r"\bi (?:can't|cannot|don't|won't) (?:eat|drink|fly|travel|work|drive|take (?:calls|meetings))\b",
            r"\bi(?:'d| would)? (?:like|prefer|want) to use (?:my |any |the )?[\w ]{3,40} first\b",
            r"\bich (?:bevorzuge|mag (?:keine?n?|lieber))\b|\bich möchte lieber\b|\bmir ist .{3,} lieber\b",
            r"\bprefiro\b|\byo prefiero\b|^prefiero\b|\bno me gustan?\b|\bnão gosto de\b",
            r"\bje (?:préfère|n'aime pas|déteste)\b",
        ),
    ),
    Cue(
        "user-decision",
        Role.USER,
        Kind.FACT,
        _DECIDED,
        (
            r"\b(?:we|i)(?:'ve| have)? (?:finally |just )?(?:decided|agreed|settled|opted)\b.{0,20}"
            r"\b(?:to|that|on|not|against|for)\b",
            r"\bwe(?:'re| are) (?:going with|moving to|switching to|sticking with|dropping|standardi[sz]ing on)\b",
            r"\bwe(?:'ll| will) (?:use|go with|stick with|keep using|stop|move to|switch to|drop|only)\b",
            r"\blet's (?:use|go with|switch to|stick with|standardi[sz]e on|keep using) |\bwe went with\b"
            r"|^decision\b",
            r"\bi want (?:us )?to (?:replace|use|switch|migrate|move) .{3,}\b(?:with|instead|to|for|from)\b",
            r"\bwir haben (?:uns )?.{0,60}\b(?:entschieden|beschlossen)\b|\b(?:hemos decidido|decidimos)\b",
            r"\b(?:nous avons|on a) décidé\b|^(?:wir nehmen|wir bleiben bei|nos quedamos con|vamos usar|on garde)\b",
        ),
    ),
    Cue(
        "user-told",
        Role.USER,
        Kind.FACT,
        _STATED,
        (
            r"^(?:remember|keep in mind|bear in mind|don't forget)(?: that |: )",
            r"^for (?:the record|future reference)\b",
        ),
    ),
    Cue(
        "user-constraint",
        Role.USER,
        Kind.FACT,
        _BOUND,
        (
            r"^(?!i\b|you\b)(?:\S+ ){1,12}?(?:must|may only|should (?:never|always)|has to (?:stay|be|remain))"
            r" (?!have\b|feel\b|be (?:so|such|really|quite|super|great|fun|awesome|amazing|thrilled|nice|hard"
            r"|an?)\b)\w+",
            r"\b(?:has|have) to (?!.*\b(?:today|now|tonight|tomorrow)\b).{5,}\b(?:because|until)\b",
            r"\bneeds? to .{5,}\b(?:or else|otherwise)\b",
            r"\b(?:is|are) (?:not allowed|forbidden|off[- ]limits|mandatory|frozen until|not negotiable)\b",
            r"\b(?:is|are) (?:always|only) \w+ed\b|\bstays? manual\b|\bnobody (?:may \w+|(?!is\b|was\b)\w+s)\b",
            r"\bwe (?:can't|cannot|must not|may not|are not allowed to|have to|must) (?!be\b|have\b|fix\b"
            r"|add\b|do\b|make\b|update\b|change\b|check\b|find\b|get\b|go\b|finish\b|test\b|write\b|create\b|remove\b"
            r"|look\b|see\b|figure\b|wait\b|move\b|start\b|try\b)\w+",
            r"\bshould (?:be|not|return|stay|use|go|never)\b.{10,}"
            r"\b(?:so (?:that|the|we|they|people|users)|because|otherwise|or else)\b",
            r"\b(?:users|customers|clients|people) (?:won't|will not|can't|cannot|must|may only|never|always) \w+",
            r"\b(?:accepts?|takes?|allows?) .{3,40} only\W*$|\buse .{5,}\bbecause\b",
            r"\bthe invariant\b|\bno later than\b|\bthe (?:hard )?(?:deadline|limit|budget) (?:is|for)\b",
            r"^(?:\S+ ){1,8}?(?:dürfen? (?:nie|niemals|nicht|nur)|muss immer|ne doi(?:t|vent) (?:jamais|pas))\b",
            r"^(?:\S+ ){1,8}?(?:no|nunca|não) (?:deben?|pueden?|devem?|podem?) \w+",
        ),
    ),
    Cue(
        "user-organisation",
        Role.USER,
        Kind.FACT,
        _STATED,
        (
            r"\bwe (?:only |currently |always |still )?(?:use|deploy|host|run (?:on|our)|store|ship|bill"
            r"|release|support)\b",
            r"\bwe (?:don't|do not) (?:have|use|support|store|ship|allow|offer)\b|\bwe no longer\b",
            r"^our (?:[\w-]+ ){1,4}(?:is|are|was|uses?|runs?|closes?|lives?|has|have|needs?|goes|starts?|ends?"
            r"|expires?)\b",
            r"\b(?:wir (?:verwenden|benutzen|nutzen|haben keine?n?)|usamos|no tenemos|não temos)\b",
            r"\b(?:nous (?:utilisons|n'avons pas)|on utilise)\b",
            r"^(?:unsere?|nuestr[oa]s?|nossos?|nossas?|notre|nos) (?:\S+ ){1,5}?(?:ist|sind|läuft|está|es|são|é"
            r"|est|sont|tourne|corre|roda)\b",
        ),
    ),
    Cue(
        "user-stated",
        Role.USER,
        Kind.FACT,
        _STATED,
        (
            r"^(?:\S+ ){1,8}?(?:is|are) (?:kept|stored|hosted|owned|maintained|located|deployed|scheduled|due"
            r"|responsible"
            r"|on (?:call|leave|holiday)) \w+",
            r"^(?:\S+ ){1,8}?(?:lives in|runs (?:on|every|at|in)|closes|expires?|owns|reports to|takes over) \w+",
        ),
    ),
    Cue(
        "user-about-self",
        Role.USER,
        Kind.FACT,
        _STATED,
        (
            r"\bi (?:actually |currently |now |just )?(?:live|work|teach|study|moved|grew up|was born|graduated"
            r"|retired)"
            r" (?:in|at|for|as|on|to|from|with|near)\b",
            r"\b(?:i'm|i am) (?:allergic|vegan|vegetarian|lactose|diabetic|colou?r[- ]?blind|deaf"
            r"|left[- ]handed|married)\b",
            r"\b(?:i'm|i am) (?:based in|from) \w+|\b(?:i'm|i am) an? "
            r"(?!bit|little|lot|big|huge|fan|few|couple|moment|part|total|customer|passenger|human|person|sucker)[\w-]+",
            rf"\bmy (?:{_PEOPLE}|name|birthday|time ?zone|job|native language) "
            r"(?:is (?!ill\b|sick\b|here\b)|are|works?|lives?|has|speaks?|loves?|hates?|prefers?)\b",
            r"\bich (?:wohne|lebe|arbeite|bin (?:allergisch|vegetarier|veganer))",
            r"\b(?:j'habite|je (?:vis|travaille) [àaec])",
            r"\b(?:vivo|trabajo|moro|trabalho) (?:en|em|no|na|para)\b|\bsoy alérgic[oa]|\bsou alérgic[oa]",
            r"\bi have (?:two|three|four|an?) (?:kids?|child(?:ren)?|sons?|daughters?|dogs?|cats?|brothers?"
            r"|sisters?)\b",
        ),
    ),
    Cue(
        "user-cause",
        Role.USER,
        Kind.FACT,
        _LEARNED,
        (*_CAUSE, r"\bwe tried .{3,}\b(?:and|but)\b", r"\blearned the hard way\b"),
    ),
    Cue("solved-cause", Role.ASSISTANT, Kind.FACT, _LEARNED, _CAUSE),
    Cue(
        "chosen-with-reason",
        Role.ASSISTANT,
        Kind.FACT,
        _DECIDED,
        (
            r"^(?!(?:the|your) (?:cancellation|reservation|request|refund|order|booking|payment|card|claim"
            r"|flight)s?\b).*?"
            r"\b(?:we (?:chose|decided|agreed|went with|settled)|(?:was|were) (?:chosen|kept|rejected|dropped))\b"
            r".*?\b(?:because|since|so that|instead of|rather than|to avoid|in order to)\b",
            r"\b(?:isn't|aren't|wasn't|weren't|is not|are not) [\w ]{3,40}\b(?:because|since)\b",
        ),
    ),
    Cue(
        "learned-limit",
        Role.ASSISTANT,
        Kind.FACT,
        _LEARNED,
        (
            r"\b(?:only works|does not work|doesn't work) (?:with|when|if|on|in|unless|for|without)\b",
            r"\b(?:does not|doesn't|do not|don't) support\b|\b(?:is|are) not supported\b",
            r"\b(?:caveat|gotcha|pitfall|known limitation)\b",
        ),
    ),
)

_DONE = (
    r"(?:went|visited|started|joined|adopted|bought|got|won|finished|completed|signed up|graduated|moved|quit|lost|met"
    r"|attended|ran|hosted|organi[sz]ed|opened|launched|built|painted|wrote|published|read|watched|learned|took|made"
    r"|passed|retired|applied|volunteered|travell?ed|hiked|camped|planted|played|performed|tried|gave|broke|hurt|saw"
    r"|donated|celebrated|created|gone|been|grew|caught|cooked|baked|found|had|said|helped|injured|sold|drove|flew"
    r"|spent|used to|dropped|hit|picked up|set up|put|became|decided|chose|began|taught|raised|reached|received)"
)

OF_A_LIFE = (
    Cue(
        "user-event",
        Role.USER,
        Kind.FACT,
        _STATED,
        (
            rf"\b(?:i|we)(?:'ve| have|'d| had)? (?:just |recently |finally |also |even |actually |already )?{_DONE}\b",
            r"\b(?:i|we)(?:'ve| have) been \w+ing\b",
        ),
    ),
    Cue(
        "user-plan",
        Role.USER,
        Kind.FACT,
        _STATED,
        (
            r"\b(?:i'm|i am|we're|we are) (?:currently |also |now |really |still |already )?(?:planning|going (?:to|on)"
            r"|thinking (?:of|about)|hoping|looking (?:forward|into)|working|training|learning|studying|researching"
            r"|considering|preparing|writing|saving|starting|building|trying|taking|making|doing|reading|getting"
            r"|off to|heading|excited to|teaming|playing|opening|launching|organi[sz]ing|volunteering)\b",
            r"\b(?:i|we) (?:really |just |also )?(?:want|hope|plan|dream|intend|would love) to \w+",
        ),
    ),
    Cue(
        "user-life",
        Role.USER,
        Kind.FACT,
        _STATED,
        (
            rf"\bmy (?:\w+ ){{0,2}}{_PEOPLE}\b",
            r"^my (?:[\w'-]+ ){1,5}?(?:is|are|was|were|has|had|got|makes?|made|gives?|keeps?|helps?|started)\b",
            r"\b(?:i|we)(?:'ve| have) (?:had |got )?(?:an? |two |three |four |some |many |been )",
            r"\b(?:i|we) (?:love|like|enjoy) (?!how\b|that\b|it\b|your\b|this\b|the (?:idea|way|colou?rs?)\b|all\b"
            r"|to)\w+|\b(?:i|we) (?:do|play|work|run|live|go|paint|write|read|cook|volunteer|have(?! to)|help|teach)\b",
            r"\b(?:\d+|two|three|four|five|six|seven|eight|ten|few) years\b|\b(?:since|when) i was\b",
        ),
    ),
)
"""Heard besides where people only talk: of a task they tell what it needs, of their lives what there is to remember."""

PRESUPPOSED = (
    r"\bthe (?:invariant|rule|convention|policy|constraint|requirement|agreement) (?:is )?that "
    r"(?P<what>(?:\S+ ){4,}\S.*?)[?!.]*$"
)
"""What is taken as given holds, whatever is asked or guessed around it."""

REASON = r"[,;]? ?\b(?:because|as|since|but|and) (?P<what>(?:i|we|my|our) .+)$"
HEAD = r"^(?P<what>(?:i|i'm|we|my|our) .{12,}?),? (?:so|but|and) "
"""A clause that can stand alone where the words before it, or after it, cannot."""

CONDITION = r"\b(?:if|unless|whether|when|in case|would|wenn|falls|si|se)\b"
"""Where a sentence has one, no part of it is taken alone."""

WITHDRAWN = (
    r"\b(?:undo|revert|scratch|ignore|forget) (?:that|it|this|my last|what i (?:just )?(?:said|asked))\b",
    r"\bnever ?mind\b|\bi was (?:wrong|mistaken)\b|\bmy (?:mistake|bad)\b|^(?:wait|actually),? no\b",
)
"""How people take back what they said before."""

HEDGED = (
    r"\b(?:maybe|perhaps|possibly|probably|likely|might|could be|not sure|unsure|seems?|appears?|suspect|theory"
    r"|my guess)\b",
    r"\bi (?:think|guess|suppose|wonder|assume|believe)\b|\b(?:what if|suppose|hypothetical\w*|imagine|would have)\b",
    r"\b(?:for example|e\.g\.|let's say)|\b(?:vielleicht|quizás?|talvez|peut-être)\b",
)
"""Said, but not established."""

ASKED = (
    r"\?\W*$|\b(?:let me know|could you|can you|would you|please (?:confirm|provide|let))\b",
    r"^(?:do|does|did|is|are|was|can|could|would|should|shall|will|may|have|has|what|which|who|why|how|where|when)"
    r" (?:i|you|we|it|there|the|this|that|they|he|she|our|my)\b",
    r"^(?:if|unless|whether|wenn|falls|si|se)\b",
)
"""Questions, requests and conditions."""

NARRATED = (
    r"^(?:now,? )?(?:let me|let us|i'll|i will|i'm going to|i am going to|i need to|next,?|first,?|then,?|now)(?!\w)",
    r"^i'm (?:now )?\w+ing\b|^(?:todo|step \d|in progress|next steps?|usage|summary|status)\b|\blet me\b|:\s*$",
    r"^(?:the |my |this )?(?:(?:previous|last|first|second) )?(?:command|edit|script|attempt)\b",
)
"""Work in progress, and lines that only lead on to a list."""

DANGLING = (
    r"^(?:it(?! (?:must|should) be possible\b)|its|it's"
    r"|that|that's|these|those|they|them|he|she|there|here|which|same|both|neither|either|such)\b",
    r"^(?:otherwise|instead|then|because|so that|where)\b|\b(?:this|that|these|those|here|there)\W*$",
    r"^(?:\S+ ){0,7}(?:it|them)\W*$|\blines? \d+",
    r"^this (?!repo|project|codebase|service|team|company|app|package|library|machine|customer)",
    r"\b(?:step|number|choice|item) (?:\d|[a-c]\b)|\boptions?\b|\b(?:above|below)\b",
    r"\b(?:first|second|third|last|latter|former|other) (?:one|approach|idea|version|suggestion|proposal|solution)\b",
    r"\b(?:this|that) (?:one|way|option|flight|booking|reservation|case|file|function|test|bug|issue)\b",
)
"""Sentences that need their neighbours to be understood."""

PASSING = (
    r"\b(?:for (?:the )?payment|paid via|proceed with|go ahead|this time|for now|right now|for today|anything else)\b",
)
"""Business of the moment, done with when the session ends."""

REFUSED = (
    r"^(?:no\b(?! (?:worries|problem))|nope|wrong|that's (?:not|wrong)|that is (?:not|wrong)|not (?:quite|it"
    r"|what)|still\b)",
    r"^(?:doesn't|does not|undo|revert|try again|i undid|are you|why did you|wtf|omfg|fuck)",
    r"^you (?:broke|fucked|missed|forgot)\b",
)
"""How a person turns down the answer before; what that answer claimed is not kept."""
