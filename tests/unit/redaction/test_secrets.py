"""Private keys and tokens: what is found, exactly, and what stands in a secret's place without being one."""

from __future__ import annotations

import base64
import time

import pytest

from pipeline.redaction.detectors.assignment import Assignment
from pipeline.redaction.detectors.credentials import CREDENTIALS, FLAGS
from pipeline.redaction.detectors.kubernetes import KubernetesSecret
from pipeline.redaction.detectors.private_key import PrivateKey
from pipeline.redaction.detectors.tokens import TOKENS
from pipeline.redaction.scrub import scrub
from pipeline.redaction.span import resolve

# Joined at run time, so that no scanner takes this file for a leak.
BODY = "Q7wE4rT1yU8iO2pA5sD9fG3hJ6kL0zX"
LONG = (BODY * 4)[:93]


DETECTORS = (TOKENS, CREDENTIALS, FLAGS)


def b64(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


JWT = ".".join([b64('{"alg":"HS256","typ":"JWT"}'), b64('{"sub":"1","scope":"all"}'), BODY])
TOKEN_CASES = {
    "aws": "AKIA" + "QYLPMN5HHHFPZAM2",
    "aws_sample": "AKIAIOSFODNN7EXAMPLE",
    "aws_temporary": "ASIA" + "QYLPMN5HHHFPZAM2",
    "github": "ghp_" + LONG[:36],
    "github_oauth": "gho_" + LONG[:36],
    "github_server": "ghs_" + LONG[:36],
    "github_fine_grained": "github_pat_" + LONG[:22] + "_" + LONG[:59],
    "gitlab": "glpat-" + LONG[:20],
    "slack": "xoxb-" + "2345678901-2345678901-" + LONG[:24],
    "stripe": "sk_live_" + LONG[:24],
    "stripe_restricted": "rk_live_" + LONG[:24],
    "openai": "sk-proj-" + LONG[:48],
    "anthropic": "sk-ant-" + "api03-" + LONG,
    "google": "AIza" + LONG[:35],
    "npm": "npm_" + LONG[:36],
    "pypi": "pypi-Ag" + LONG[:80],
    "huggingface": "hf_" + LONG[:34],
    "sendgrid": "SG." + LONG[:22] + "." + LONG[:43],
    "twilio": "SK" + "0123456789abcdef" * 2,
    "jwt": JWT,
}


@pytest.mark.parametrize("token", TOKEN_CASES.values(), ids=TOKEN_CASES)
def test_the_scrub_masks_every_token(token: str) -> None:
    assert scrub(f"The key is {token}.").masks


def found(text: str) -> list[str]:
    return [text[s.start : s.end] for s in resolve(span for d in DETECTORS for span in d.detect(text))]


@pytest.mark.parametrize("token", TOKEN_CASES.values(), ids=TOKEN_CASES)
@pytest.mark.parametrize(
    "frame",
    [
        "{}",
        "the key is {}.",
        'KEY="{}"',
        "密钥{}。",
        "ключ:{}, да",
        "مفتاح {}",
        '{{"a":"x\\n{}"}}',
        "?key={}&x=1",
        "\x1b[32m{}\x1b[0m",
    ],
    ids=["bare", "prose", "quoted", "chinese", "russian", "arabic", "json escape", "url", "terminal colour"],
)
def test_a_token_is_found_whole_wherever_it_stands(token: str, frame: str) -> None:
    text = frame.format(token)
    assert token in found(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (
            "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
            "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        ),
        ('{"SecretAccessKey": "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"}', "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
        ("postgres://app:hunter22@db.internal:5432/app", "hunter22"),
        ("redis://:s3cr3t-one@cache:6379/0", "s3cr3t-one"),
        ("mongodb+srv://u:p@ss9@cluster0.net/x", "p@ss9"),
        ("Authorization: Bearer " + BODY, BODY),
        ("-H 'authorization: token " + BODY + "'", BODY),
        ('curl -H \\"Authorization: Bearer ' + BODY + '\\"', BODY),
        ("Authorization: Basic YW5hOmh1bnRlcjIy", "YW5hOmh1bnRlcjIy"),
        ("curl -u elastic:P@ssw0rd$1 https://localhost:9200", "elastic:P@ssw0rd$1"),
        ("curl -X POST \\\n  --user 'johns:h0pk1ns~21s' $URL", "johns:h0pk1ns~21s"),
        ("sshpass -p Hunter-22 ssh app@db", "Hunter-22"),
        ("mysql -h db -u app -pHunter-22 shop", "Hunter-22"),
        ("openssl req -passin pass:hunter22 -new", "hunter22"),
        ("docker login -u app -p Hunter-22 registry.internal", "Hunter-22"),
        ("CREATE USER app IDENTIFIED BY 'Hunter-22'", "Hunter-22"),
        ("ALTER ROLE app WITH PASSWORD 'Hunter-22'", "Hunter-22"),
        ("machine api.internal login app password Hunter-22", "Hunter-22"),
        ("bot 123456789:AA" + LONG[:33], "AA" + LONG[:33]),
    ],
)
def test_only_the_value_is_taken_where_context_proves_it(text: str, value: str) -> None:
    assert found(text) == [value]


@pytest.mark.parametrize(
    "text",
    [
        "ghp_" + "x" * 36,
        "sk-ant-" + "api03-" + "XXXX" * 10,
        "sk-your-openai-api-key-goes-right-here",
        "OPENAI_API_KEY=<your-key-here>",
        "sk-learn and risk-free, task-1234567890abcdef12345",
        "Authorization: Bearer ${GITHUB_TOKEN}",
        "Authorization: Bearer <token>",
        "Authorization: Bearer YOUR_ACCESS_TOKEN_GOES_HERE",
        'headers = {"Authorization": f"Bearer {token}"}',
        "postgres://user:password@localhost/db",
        "postgres://${USER}:${PASS}@host/db",
        "postgres://user:<password>@host/db",
        "http://localhost:8080/path?mail=a@b.org",
        "Basic authentication is a scheme",
        'curl -u "${USER}:${PASSWORD}" https://host/',
        "curl --user username:password https://host/",
        "mysql -u root -p shop",
        "docker run -p 8080:80 nginx",
        "mkdir -p build/out && ssh -p 2222 host",
        "CREATE USER app WITH PASSWORD 'mypassword'",
        "the bearer of this letter, bearer token authentication",
        "commit 3f786850e387550fdab836ed7e6dc881de23001b",
        "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
        "550e8400-e29b-41d4-a716-446655440000",
        "hf_hub_download(repo_id) and npm_config_cache, SG.core.utils",
        "eyJub3QiOiJhIGhlYWRlciJ9.eyJzdWIiOiIxIn0.abc",
        "eyJmZmZmZmZmZmZm.notjson.atall",
    ],
)
def test_what_is_no_secret(text: str) -> None:
    assert found(text) == []


def pem(label: str, body: str, end: bool = True) -> str:
    return f"-----BEGIN {label}-----\n{body}\n" + (f"-----END {label}-----" if end else "")


KEY_LINES = "\n".join(["MIIEpAIBAAKCAQEA" + LONG[:48], LONG[:64], LONG[:40] + "=="])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (pem("RSA PRIVATE KEY", KEY_LINES), pem("RSA PRIVATE KEY", KEY_LINES)),
        (f"see\n{pem('OPENSSH PRIVATE KEY', KEY_LINES)}\nend", pem("OPENSSH PRIVATE KEY", KEY_LINES)),
        (pem("PGP PRIVATE KEY BLOCK", KEY_LINES), pem("PGP PRIVATE KEY BLOCK", KEY_LINES)),
        (pem("EC PRIVATE KEY", KEY_LINES, end=False), pem("EC PRIVATE KEY", KEY_LINES, end=False).strip()),
        (pem("PRIVATE KEY", KEY_LINES).replace("\n", "\\n"), pem("PRIVATE KEY", KEY_LINES).replace("\n", "\\n")),
        (f"{KEY_LINES}\n-----END PRIVATE KEY-----\nok", f"{KEY_LINES}\n-----END PRIVATE KEY-----"),
    ],
    ids=["whole", "openssh", "pgp", "no end", "json escapes", "no begin"],
)
def test_private_keys(text: str, expected: str) -> None:
    assert [text[s.start : s.end] for s in PrivateKey().detect(text)] == [expected]


def test_a_key_behind_line_numbers_leaves_no_line_in_sight() -> None:
    lines = pem("PRIVATE KEY", KEY_LINES, end=False).strip().splitlines()
    text = "\n".join(f"    {number}→{line}" for number, line in enumerate(lines, 1))
    [span] = PrivateKey().detect(text)
    assert not any(line in text[span.end :] for line in lines)


@pytest.mark.parametrize(
    "text",
    [
        'if line == "-----BEGIN RSA PRIVATE KEY-----": raise ValueError',
        "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
        pem("PUBLIC KEY", KEY_LINES),
        pem("CERTIFICATE", KEY_LINES),
    ],
)
def test_what_is_no_private_key(text: str) -> None:
    assert PrivateKey().detect(text) == []


@pytest.mark.parametrize(
    "piece",
    [
        "sk-",
        "eyJ-",
        "eyJa",
        "AKIA",
        "Bearer ",
        "a://b:c",
        "-----BEGIN PRIVATE KEY-----",
        "xoxb-1-",
        "password=",
        'token: "',
        "kind: Secret\n",
        "curl -u a",
        "a" * 60 + ".",
    ],
)
def test_a_text_full_of_beginnings_is_read_in_bounded_time(piece: str) -> None:
    text = piece * (200_000 // len(piece))
    begun = time.perf_counter()
    for detector in (*DETECTORS, PrivateKey(), Assignment(), KubernetesSecret()):
        detector.detect(text)
    assert time.perf_counter() - begun < 5
