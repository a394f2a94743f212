"""Areas of high stakes in English."""

from __future__ import annotations

_KEPT = (
    r"(?:databases?|tables?|data|records?|backups?|snapshots?|accounts?|buckets?|volumes?|disks?|production"
    r"|customers?|users?|history"
    r"|repositor(?:y|ies)|branches|clusters?|namespaces?|tenants?|e-?mails|files? system|home director(?:y|ies))"
)
_GONE = (
    r"(?:delet(?:e|es|ed|ing|ion)|drop(?:s|ped|ping)?|truncat(?:e|ed|es|ing)|purg(?:e|es|ed|ing)|wip(?:e|ed"
    r"|es|ing)|eras(?:e|ed|es|ing|ure)|destroy\w*)"
)

AREAS: dict[str, tuple[str, ...]] = {
    "access": (
        r"\b(?:passwords?|passphrases?|passcodes?|credentials?|(?:api|access|secret|private|ssh|signing"
        r"|licen[sc]e|deploy|encryption) keys?"
        r"|(?:access|bearer|refresh|auth|api|session|deploy|personal access) tokens?|recovery codes?|mfa|2fa"
        r"|two-factor"
        r"|(?:root|admin|administrator|production|prod|sudo|ssh|vpn|superuser|owner) (?:access|rights|login"
        r"|account|privileges?|permissions?)"
        r"|service accounts?|log-?in details|kubeconfig|security question|client secrets?|pin codes?)\b",
        r"\b(?:grant(?:s|ed|ing)?|revok(?:e|es|ed|ing)|giv(?:e|es|en|ing)|gave)\b.{0,40}\b(?:access|permissions?"
        r"|privileges?|admin|clearance)\b",
    ),
    "money": (
        r"[$€£¥₹₽]\s?\d|\b\d[\d.,]*\s?[€£₹₽]",
        r"\b\d[\d.,]*\s?(?:usd|eur|gbp|chf|jpy|dollars?|euros?|pounds sterling)\b",
        r"\b(?:salar(?:y|ies)|wages?|payroll|invoices?|refund(?:s|ed|ing)?|payments?|billing|bank (?:account"
        r"|details|transfer)s?|credit cards?"
        r"|debit cards?|gift cards?|loans?|mortgage|tax(?:es)?|debts?|paid|wire transfers?|reimburse\w*"
        r"|chargebacks?|overdraft|bonus(?:es)?"
        r"|discounts?|credit limit|insolven\w+|bankrupt\w*)\b",
    ),
    "legal": (
        r"\b(?:legal(?:ly)?|lawyers?|attorneys?|lawsuits?|litigation|subpoenas?|gdpr|hipaa|ccpa|nda"
        r"|non-disclosure|(?:out-of-court|legal) settlements?"
        r"|liabilit(?:y|ies)|indemnit\w+|copyright|trademarks?|patents?|plaintiffs?|defendants?|(?:sued"
        r"|suing) (?:by|for|the|us|them|him|her)"
        r"|breach of contract|terms of service|data protection|legal hold|statut(?:e|ory)|unlawful|illegal)\b",
        r"\b(?:in|to|before|by|at|from) (?:the |a )?court (?:of\b|order|on (?:mon|tue|wed|thu|fri)|in\b|$|[.,;])"
        r"|\b(?:supreme|district|high|appeals?|federal|labou?r) court\b|\bcourt (?:orders?|rulings?|cases?"
        r"|hearings?|dates?|decisions?)\b",
    ),
    "medical": (
        r"\b(?:diagnos(?:ed|is|es)|patients?|allerg(?:y|ies|ic)|medications?|medicines?|prescriptions?"
        r"|pregnan(?:t|cy)|diabet\w+|insulin"
        r"|cancer|tumou?rs?|chemotherapy|therapists?|surger(?:y|ies)|illness(?:es)?|diseases?|depression"
        r"|depressive|anxiety disorder"
        r"|hospital(?:s|i[sz]ed)?|dosages?|injur(?:y|ies|ed)|symptoms?|vaccin\w+|asthma\w*|epilep\w+|hiv"
        r"|mental health (?:problems?|issues?|conditions?|crisis|leave|diagnosis)|disabilit(?:y|ies)"
        r"|disabled person|blood (?:pressure|type|test)s?|heart (?:attack|disease|condition)|miscarriage"
        r"|antidepressants?|psychiatr\w+"
        r"|medical(?:ly)?)\b",
    ),
    "employment": (
        r"\b(?:(?:got|getting|was|were|been|be) fired|fired (?:from|for)|laid off|layoffs?|resign(?:s|ed|ation)"
        r"|hir(?:ed|ing)"
        r"|employees?|employment|job offers?|performance reviews?|promot(?:ed|ion) to|disciplinary|notice period"
        r"|redundan(?:t role|cy pay)"
        r"|severance|dismissed from|(?:sick|maternity|paternity|parental) leave|probation(?:ary)? period"
        r"|works council|gave notice)\b",
    ),
    "safety": (
        r"\b(?:safety|hazard(?:s|ous)?|weapons?|firearms?|suicid\w+|self-harm|explosives?|toxic|poison\w*"
        r"|emergency|evacuat\w+|overdose\w*"
        r"|high voltage|fire (?:alarm|exit|drill)s?|domestic violence|child abuse|death threats?|lockout-tagout"
        r"|radioactive|asbestos)\b",
    ),
    "deletion": (
        rf"\b{_GONE}\b.{{0,40}}\b{_KEPT}\b|\b{_KEPT} (?:\w+ ){{0,4}}(?:be|is|are|was|were|been|gets?"
        rf"|got) (?:\w+ly )?{_GONE}\b",
        r"\brm -[a-z]*r[a-z]*f|\brm -[a-z]*f[a-z]*r|\bforce[- ]push|\bpush --force\b|\breset --hard\b"
        r"|\bterraform destroy\b|\bkubectl delete\b"
        r"|\bgit clean -[a-z]*f|\bmkfs\b|\bflushall\b|\bdrop (?:table|database|schema)\b|\bfactory reset\b",
    ),
}
"""Patterns of each area, over a shown text."""

HARMLESS: dict[str, tuple[str, ...]] = {
    "access": (r"\b(?:keys?|tokens?) (?:of|in|from) (?:the |a )?(?:dict|dictionary|map|object)\b",),
    "money": (r"\bpaid (?:off|attention|heed)\b|\bpays? attention\b|\bsyntax(?:es)?\b",),
    "safety": (
        r"\b(?:type|thread|memory|null|compile[- ]time|exception|crash|concurrency|async|signal|fork|runtime"
        r"|static|rust'?s?)[- ]?"
        r"safety\b|\bsafety (?:of (?:the )?types?|net)\b|\btoxic comment|\bemergency fix",
    ),
    "employment": (
        r"\b(?:event|hook|handler|callback|trigger|timer|alarm|alert|signal)s? (?:\w+ ){0,2}(?:was|were|been|be"
        r"|is|are|got) fired\b",
    ),
    "medical": (r"\b(?:be|more|very|is|are|stay) patient\b|\bdisease model\b",),
}
"""Phrases that look like an area and are none."""
