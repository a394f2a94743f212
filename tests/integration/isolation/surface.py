"""Everything that can be called, and how one org tries to reach the other through it.

A function or command that is not on this page fails the test that reads it: a new one is written here to pass. In the
texts, `{name}` and `{memory}`, `{run}`, ... are the caller's own, `{their_...}` are the other's. What names something
of the other must be refused; nothing may show or change anything of it.
"""

from __future__ import annotations

from typing import Final

PURE: Final = frozenset({"any_lexeme", "in_share", "is_personal", "ledger_hash", "org_words", "turn_number"})
"""Functions of their arguments alone."""

FUNCTIONS: Final[dict[str, dict[str, tuple[str, ...]]]] = {
    "agent": {
        "current_grant": ("SELECT * FROM current_grant()",),
        "use_grant": ("SELECT * FROM use_grant()",),
        "run_told": ("SELECT * FROM run_told('{their_run}')", "SELECT * FROM run_told('e-1')"),
        "recall": (
            "SELECT * FROM recall('postgres gateway release archive', max_hits => 100)",
            "SELECT * FROM recall('zzz', max_hits => 100)",
            "SELECT * FROM recall('{their_name} {their_memory}', max_hits => 100)",
            "SELECT * FROM recall('postgres', max_hits => 100, as_of => now())",
            "SELECT * FROM recall('gateway', max_hits => 100, as_of => '2026-05-02T12:00:00Z')",
            "SELECT * FROM recall('postgres', '[1,1,1,1,1,1,1,1]', 1, 100)",
            "SELECT * FROM recall('postgres', '[1,1,1,1,1,1,1,1]', 1, 100, now())",
            "SELECT * FROM recall('postgres', '[1,1,1,1,1,1,1,1]', 1, 100, NULL,"
            " ROW(NULL, NULL, NULL, 'user', '{their_name}', NULL, NULL)::narrowing, 'rrf')",
            "SELECT * FROM recall('postgres', max_hits => 100, narrowed =>"
            " ROW('{{fact,turn}}'::text[], 'project', '{their_name}', NULL, NULL, '2020-01-01', NULL)::narrowing)",
        ),
        "digest_items": ("SELECT * FROM digest_items()",),
        "digest_rendered": ("SELECT digest_rendered('{their_recall}', '\\x{block}', '{{}}')",),
        "record_outcome": (
            "SELECT record_outcome('rating', 0.1, NULL, '{their_memory}', NULL, NULL, NULL, NULL)",
            "SELECT record_outcome('rating', 0.1, NULL, '{memory}', NULL, NULL, NULL, 'See {their_memory}.')",
        ),
        "lose_outcome": ("SELECT lose_outcome()",),
        "remember_preference": ("SELECT remember_preference('See {their_memory}.')",),
        "revoke_preference": ("SELECT revoke_preference('{their_memory}')",),
        "recall_rendered": (
            "SELECT recall_rendered('{their_recall}', '\\x{block}', '{{}}')",
            "SELECT recall_rendered('{recall}', '\\x{block}', '{{{their_memory}}}')",
        ),
    },
    "reviewer": {
        "current_grant": ("SELECT * FROM current_grant()",),
        "use_grant": ("SELECT * FROM use_grant()",),
        "run_told": ("SELECT * FROM run_told('{their_run}')", "SELECT * FROM run_told('e-1')"),
        "view_memory": ("SELECT * FROM view_memory('{their_memory}')", "SELECT * FROM view_memory('{memory}')"),
        "approve": (
            "SELECT approve('{their_memory}')",
            "SELECT approve('{their_pending}', subject_type => 'user', subject_id => 'x')",
            "SELECT approve('{pending}', scope_kind => 'user', scope_value => '{their_name}')",
        ),
        "reject": ("SELECT reject('{their_pending}', 'no')", "SELECT reject('{their_memory}', 'no')"),
        "view_drop": ("SELECT * FROM view_drop('{their_drop}')", "SELECT * FROM view_drop('{drop}')"),
        "confirm_drop": ("SELECT confirm_drop('{their_drop}', 'right')", "SELECT confirm_drop('{drop}')"),
        "record_feedback": ("SELECT record_feedback('x', 'default', 'user', '{their_name}')",
                            "SELECT record_feedback('x', 'nowhere', 'org', NULL)"),
        "record_rules": ("SELECT record_rules('default', '{{x}}')",),
        "record_outcome": ("SELECT record_outcome('eval', 0.1, 'e', '{their_memory}', NULL, NULL, NULL, NULL)",),
        "lose_outcome": ("SELECT lose_outcome()",),
        "standing_rules": ("SELECT * FROM standing_rules('default', ARRAY(SELECT sha256('x')))",),
        "near_rules": ("SELECT * FROM near_rules('{their_memory}'::uuid)",),
        "rehome": ("SELECT rehome('{their_memory}', 'default', NULL, NULL, 'x')",),
        "restore_repeat": ("SELECT restore_repeat('{their_memory}', 'wrong')",),
        "restore_drop": ("SELECT restore_drop('{their_drop}', 'wrong')",),
        "forget": ("SELECT forget('{their_memory}', 'no', 0)", "SELECT forget('{their_pending}')"),
        "retype": (
            "SELECT retype('{their_pending}', 'edit', 'x')", "SELECT retype('{their_memory}', 'correct', 'x')",
            "SELECT retype('{memory}', 'correct', 'See {their_memory}.')",
        ),
        "record_answer": ("SELECT record_answer('\\x00', 'subject_exported', '{{}}')",),
    },
}  # fmt: skip

INSTALLATION: Final[dict[str, str]] = {
    "demo": "an installation of its own", "up": "starts processes",
    "gateway": "serves by token", "worker": "starts processes",
    "migrate": "the database as a whole", "check": "the settings", "repair": "the installation as a whole",
    "rejected list": "what belongs to no org yet", "rejected show": "what belongs to no org yet",
    "replay list": "all replays, for operators", "ledger verify": "one chain for all orgs, counts alone",
    "ledger restored": "the chain as a whole",
    "redact classes": "what is looked for, in code",
    "redact rescans": "all rescans, for operators",
    "dsar reapply": "the register of all orgs, each erased under its own name",
    "dsar holds": "all holds, for operators",
    "tokens revoke": "one token, by operators", "tokens rotate": "one token, by operators",
    "embed register": "one space for all orgs", "embed calibrate": "figures of the largest orgs together",
    "embed status": "counts by org, for operators",
    "eval ab": "the caller's own files, stored nowhere",
    **dict.fromkeys(("embed migrate", "embed switch", "embed drop"), "spaces are of all orgs; counts alone"),
}  # fmt: skip
"""Commands of those who run the installation; none of them takes --org."""

COMMANDS: Final[dict[str, tuple[str, ...]]] = {
    "emit": ("{file} --org {name} --session s-1 --user u-1 --timeout 0",),
    "extract": ("{file} --org {name} --extractor offline --json",),
    "recall": (
        "postgres --org {name} --limit 50", "postgres --org {name} --user u-1 --agent a-1 --project p-1 --block",
        "zzz --org {name} --as-of 2026-05-02 --json", "{their_memory} --org {name} --limit 50 --json",
    ),
    "recall log": ("--org {name} --limit 200", "--org {name} --memory {memory} --json",
                   "--org {name} --since 9d --agent a-1 --json", "--org {name} --memory {their_memory}"),
    "recall explain": ("{recall} --org {name}", "{recall} --org {name} --text --json", "{their_recall} --org {name}",
                       "{their_recall} --org {name} --text --json"),
    "org create": ("{name}",),
    "org show": ("{name}", "{name} --json"),
    "tokens create": ("--org {name} --role agent --agent a-1 --access semantic=read --json",),
    "tokens list": ("--org {name}", "--org {name} --json"),
    "org set": ("{name} --waive natid --space lab:episodic --reason why",),
    "extraction enable": ("--org {name} --reason why",),
    "extraction disable": ("--org {name} --reason why",),
    "runs list": ("--org {name} --limit 200", "--org {name} --state dead_letter --json"),
    "runs show": ("{run}", "{run} --json", "{dead} --json"),
    "dead-letters list": ("--org {name}", "--org {name} --json"),
    "replay": (
        "--code malformed_envelope --org {name} --dry-run", "--since 9d --org {name} --dry-run --json",
        "--run {their_dead} --org {name} --reason why", "--run {dead} --org {name} --reason why --json",
        "--code malformed_envelope --org {name} --reason why --force",
    ),
    "review list": ("--org {name} --limit 200", "--org {name} --json"),
    "review show": ("{memory} --org {name} --json", "{their_memory} --org {name}", "{their_pending} --org {name}"),
    "review approve": ("{pending} --org {name} --subject user:u-1", "{their_pending} --org {name} --subject user:u-1",
                       "{their_memory} --org {name}"),
    "review reject": ("{their_pending} --org {name} --reason no", "{their_memory} --org {name} --reason no"),
    "review edit": ("{their_pending} --org {name} --text x --no-wait",),
    "review redirect": ("{their_pending} --org {name} --text x --no-wait",),
    "review correct": ("{memory} --org {name} --text x --no-wait", "{their_memory} --org {name} --text x --no-wait"),
    "review forget": ("{memory} --org {name} --json", "{their_memory} --org {name}"),
    "drops list": ("--org {name} --json", "--org {name} --open"),
    "drops show": ("{drop} --org {name} --json", "{their_drop} --org {name}"),
    "drops confirm": ("{their_drop} --org {name}",),
    "drops restore": ("{drop} --org {name} --reason why --no-wait", "{their_drop} --org {name} --reason why --no-wait"),
    "near-duplicates list": ("--org {name}", "--org {name} --json"),
    "near-duplicates show": ("{their_memory} --org {name}",),
    "near-duplicates undo": ("{their_memory} --org {name} --reason why --no-wait",),
    "review rehome": ("{their_memory} --org {name} --namespace default --reason why",),
    "feedback add": ('"Ask once." --org {name} --json',),
    "preference add": ('"Answer in Portuguese." --org {name} --user u-1 --no-wait --json',),
    "preference revoke": ("{their_memory} --org {name} --user u-1",),
    "workspace show": ("--org {name}", "--org {name} --json"),
    "workspace apply": ("{workspace} --org {name} --dry-run --json", "{workspace} --org {name}"),
    "outcome add": ("--org {name} --score 0.2 --memory {memory} --json",
                    "--org {name} --score 0.2 --memory {their_memory}"),
    "digest": ("--org {name} --agent a-1 --user u-1", "--org {name} --agent a-1 --json"),
    "consolidate run": ("--org {name} --dry-run", "--org {name} --pass mining --dry-run --json"),
    "audit report": ("--org {name}", "--org {name} --json"),
    "redact explain": ("{their_memory} --org {name}",),
    "usage report": ("--org {name} --json", "--org {name} --by memory --json", "--org {name} --by day"),
    "retention show": ("--org {name}", "--org {name} --json"),
    "retention set": ("--org {name} --days facts=45 --days transcripts=30 --reason why",
                      "--org {name} --days recalls=40 --reason why --dry-run --json"),
    "retention run": ("--org {name} --dry-run --json", "--org {name} --json"),
    "redact rescan": ("--org {name} --dry-run --no-wait", "--org {name} --reason why --no-wait --json"),
    "reevaluate": ("--org {name} --no-wait --json",),
    "ledger show": ("{run} --json", "{memory} --json", "{name} --json"),
    "dsar held": ("--org {name} --subject user:u-1 --json", "--org {name} --subject person:ana --text postgres"),
    "dsar hold": ("--org {name} --subject user:u-2 --reason why",),
    "dsar unhold": ("--org {name} --subject user:u-2 --reason why",),
    "dsar export": ("--org {name} --subject user:u-1 --text postgres --reason why --output {file}.{name}"
                    " --other-names-unmasked",),
    "dsar forget": ("--org {name} --subject user:u-1 --text postgres --reason why --dry-run",
                    "--org {name} --subject user:u-1 --text postgres --reason why --yes --json"),
}  # fmt: skip
"""In this order: what decides about something comes after what reads it."""
