"""Areas of high stakes: what touches one, in which language, and what only looks so."""

from __future__ import annotations

import pytest

from pipeline.extraction.wording.stakes import AREAS, stakes

TOUCHES = {
    "access": [
        "The admin password is kept in the vault.",
        "The deploy key rotates monthly.",
        "Milan was given production access on Monday.",
        "Revoke the contractor's permissions.",
        "Das Passwort liegt im Tresor.",
        "Le mot de passe change en mai.",
        "La contraseña caduca en mayo.",
        "Пароль меняется каждый месяц.",
        "数据库密码每月更换。",
        "パスワードは毎月変わります。",
    ],
    "money": [
        "Refunds over $200 need a second approval.",
        "The wire transfer went out on the 3rd.",
        "Das Gehalt wird am 25. gezahlt.",
        "Les factures partent le 3.",
        "El reembolso tarda cinco días.",
        "退款需要五天。",
    ],
    "legal": [
        "Our lawyers asked for GDPR wording.",
        "The case goes to court in May.",
        "Die Rechtsanwälte prüfen die DSGVO.",
        "Nuestro abogado revisa el contrato.",
        "律师正在审查合同。",
    ],
    "medical": [
        "Ana is allergic to penicillin.",
        "He takes insulin at noon.",
        "Ana ist schwanger.",
        "Elle est enceinte.",
        "Она принимает лекарства от аллергии.",
        "她对青霉素过敏。",
    ],
    "employment": [
        "Two employees were laid off in May.",
        "He was fired in April.",
        "Ihm wurde gekündigt.",
        "La despidieron; el despido fue en mayo.",
        "他被解雇了。",
    ],
    "safety": [
        "The emergency stop must stay reachable.",
        "The solvent is toxic.",
        "Das Lösungsmittel ist giftig.",
        "Le solvant est toxique.",
        "这种溶剂有毒。",
    ],
    "deletion": [
        "Housekeeping deletes customer records after a year.",
        "Backups are purged after a month.",
        "Run rm -rf build before packaging.",
        "The fix was a push --force to main.",
        "Die Kundendaten werden nach einem Jahr gelöscht.",
        "Supprime les données après un an.",
        "一年后删除用户数据。",
    ],
}
PLAIN = [
    "The planner reads the index from the worktree.",
    "The event was fired twice by the button.",
    "Each token is a word piece.",
    "The API contract names the fields.",
    "We dropped chalk for the theme module.",
    "Strict mode gives compile-time safety.",
    "Thread safety is the SDK's concern.",
    "He is confident on the court since the training.",
    "All the hard work paid off.",
    "Be patient with the first build.",
    "The logs help to diagnose the outage.",
    "The foreign key of the dictionary is an id.",
    "The average is taken over a week.",
    "Excluding backups from the build makes it faster.",
    "Die Tasse steht im Schrank.",
]


@pytest.mark.parametrize(("area", "text"), [(area, text) for area, texts in TOUCHES.items() for text in texts])
def test_touches(area: str, text: str) -> None:
    assert stakes(text) == (area,)


@pytest.mark.parametrize("text", PLAIN)
def test_plain(text: str) -> None:
    assert stakes(text) == ()


def test_every_area_has_its_sentences() -> None:
    assert set(TOUCHES) == set(AREAS)
