"""Values under telling names, as code, env files, JSON, YAML, XML and prose write them; and what is none."""

from __future__ import annotations

import pytest

from pipeline.redaction.detectors.assignment import Assignment
from pipeline.redaction.detectors.jwk import JsonWebKey
from pipeline.redaction.detectors.kubernetes import KubernetesSecret
from pipeline.redaction.detectors.spoken import Spoken
from pipeline.redaction.detectors.tokens import SELF_NAMED
from pipeline.redaction.placeholder import placeholder
from pipeline.redaction.span import Detector
from pipeline.redaction.wording import generated

TOKEN = "q7wE4rT1yU8iO2pA5sD9"
UUID = "6ba7b810-9dad-41d1-80b4-00c04fd430c8"


def found(text: str, detector: Detector | None = None) -> list[str]:
    return [text[s.start : s.end] for s in (detector or Assignment()).detect(text)]


@pytest.mark.parametrize(
    "frame",
    [
        'acme_token = "{}"',
        "acmeToken='{}'",
        "ACME_TOKEN={}",
        "export ACME_TOKEN={} && run",
        "acme_token: {}",
        'acme-token: "{}"',
        '{{"acme_token": "{}"}}',
        '{{\\"acme_token\\": \\"{}\\", \\"next\\": 1}}',
        '{{"config.ini": "ACME_TOKEN={}\\nBACKUP=true"}}',
        "<acmeToken>\n    {}\n</acmeToken>",
        '<add key="AcmeToken" value="{}"/>',
        '{{"name": "ACME_TOKEN", "value": "{}"}}',
        "- name: ACME_TOKEN\n  value: {}",
        'String acmeToken = "{}";',
        'var acmeToken string = "{}"',
        'let acme_token: &str = "{}";',
        "acmeToken := `{}`",
        '$acmeToken .= "{}"',
        '"acmeToken" => "{}"',
        "ACME_TOKEN ?= '{}'",
        'System.setProperty("ACME_TOKEN", "{}")',
        'client.setToken("{}")',
        "client.set_token(b'{}')",
        'secret_token = SecretStr("{}")',
        'os.environ["ACME_TOKEN"] = "{}"',
        "https://api.acme.dev/v1?token={}&page=2",
        "curl -H 'X-Auth-Token: {}' https://api.acme.dev",
        "--set acme.token={}",
        "The access token is {}.",
        "auth token {} was used",
        "&quot;token&quot;: &quot;{}&quot;",
        "密钥 token：{}。",
    ],
)
def test_a_token_is_found_however_it_is_written(frame: str) -> None:
    value = TOKEN + TOKEN[::-1]
    assert found(frame.format(value)) == [value]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('password = "hunter2"', "hunter2"),
        ("'password': 'qyxpuz'", "qyxpuz"),
        ("if password == 'S3cr-t!':", "S3cr-t!"),
        ("DB_PASSWORD=sunshine", "sunshine"),
        ("MYSQL_PASSWORD: sunshine", "sunshine"),
        ("spring.datasource.password=Tr0ub4dor-3", "Tr0ub4dor-3"),
        ("Server=db;User Id=app;Password=Tr0ub4dor-3;Encrypt=yes", "Tr0ub4dor-3"),
        ("The staging password is Tr0ub4dor-3.", "Tr0ub4dor-3"),
        ("das Passwort: Tr0ub4dor-3", "Tr0ub4dor-3"),
        ("la contraseña: Tr0ub4dor-3", "Tr0ub4dor-3"),
        ("<password>Tr0ub4dor-3</password>", "Tr0ub4dor-3"),
        ("# Default password: xkqvz", "xkqvz"),
        ("passwordConfirm: 'Tr0ub4dor-3'", "Tr0ub4dor-3"),
        (f'"api_key": "{TOKEN}"', TOKEN),
        (f'"access_token": "{UUID}"', UUID),
        (f"SECRET_KEY_BASE={TOKEN}", TOKEN),
        (f'client_secret="{TOKEN}"', TOKEN),
        (f'hubspotKey = "{UUID}"', UUID),
        (f'"Apitoken": "{{\\"name\\": \\"ops\\", \\"sig\\": \\"{TOKEN}\\"}}"', TOKEN),
        (f"oauth_token={TOKEN}&oauth_token_secret=", TOKEN),
    ],
)
def test_a_value_is_found_whole(text: str, value: str) -> None:
    assert found(text) == [value]


@pytest.mark.parametrize(
    "text",
    [
        # references, calls, types
        "password = password",
        "token=token,",
        "token = get_token()",
        "secret = os.environ['APP_SECRET']",
        'secret = os.environ.get("APP_WEBHOOK_SECRET")',
        'token = request.headers.get("X-Auth-Token2")',
        'password = password.encode("latin1")',
        "password = args[1]",
        "password: string;",
        "password: str = Field(min_length=8)",
        "api_key: Optional[str] = None",
        "DB_PASSWORD=${DB_PASSWORD}",
        "DB_PASSWORD: {{ .Values.db.password }}",
        "PASSWORD=$(pass show db/prod)",
        "password = var.db_password",
        'password = "${aws_db_instance.default.password}"',
        "api_key=%(api_key)s",
        # words
        '"password": "Password"',
        'password: "Contraseña"',
        '"forgot_password": "Forgot your password?"',
        'error.password = "auth.errors.password-too-short"',
        'password = "changeme"',
        'password = "test123"',
        'token = "your-token-here"',
        'api_key: "xxxxxxxxxxxxxxxx"',
        '"token": "<TOKEN>"',
        'autocomplete="current-password"',
        "The password is required.",
        "the token is invalid",
        "a token is eight characters",
        "pass `event_stream=` to the agent",
        "--- PASS: TestShellCompletion/zsh (0.00s)",
        # other names
        f'"cache_key": "{TOKEN}"',
        f"public_key = '{TOKEN}'",
        f'csrf_token = "{TOKEN}"',
        f'"next_page_token": "{TOKEN}"',
        f'"tool_use_id": "toolu_{TOKEN}"',
        f"credentialsId: '{UUID}'",
        f'"kms_key_id": "{UUID}"',
        '"input_tokens": 120934, "cache_read_input_tokens": 884312',
        'const keyStr = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"',
        "key_length = X25519.key_length",
        "SYS_ADD_KEY = 4280",
        "monkey: q7wE4rT1yU8iO2pA5sD9",
        "lists = ['PKPaymentToken', 'PKPushCredentials', 'PKPush64Payload9']",
        # hashes, identifiers, blobs
        "commit 3f786850e387550fdab836ed7e6dc881de23001b",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        '"integrity": "sha512-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFUq7wE4rT1yU8iO2pA5sD9=="',
        f'"requestId": "{UUID}"',
        f"signature: {TOKEN * 4}",
        "<img src='data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk'>",
        "ssh_key: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIE4rT1yU8iO2pA5sD9",
        'tls_key = "/etc/ssl/private/server1.key"',
        "key=ENC[AES256_GCM,data:W3PiZ6lD6bpfAdI=,iv:2qF98ZkchgfWF4tZo8fok6zY0ZLN]",
    ],
)
def test_what_is_no_secret(text: str) -> None:
    assert found(text) == []


def test_a_telling_name_asks_for_the_providers_form() -> None:
    token = "12345678:A" + (TOKEN * 2)[:34]
    assert found(f'telegram_token = "{token}"') == [token]
    assert found(f'telegram_token = "{token}q"') == []


MANIFEST = """apiVersion: v1
kind: {kind}
metadata:
  name: shop
{data}:
  # how it is made
  user: {value}
  tls.crt: |
    {value}
spec:
  other: {value}
---
kind: ConfigMap
data:
  plain: {value}
"""
ENCODED = "VHIwdWI0ZG9yLTM="


@pytest.mark.parametrize("data", ["data", "stringData"])
def test_the_values_of_a_kubernetes_secret_and_no_others(data: str) -> None:
    text = MANIFEST.format(kind="Secret", data=data, value=ENCODED)
    assert found(text, KubernetesSecret()) == [ENCODED, ENCODED]


@pytest.mark.parametrize("kind", ["ConfigMap", "ExternalSecret", "SecretStore"])
def test_other_kinds_hold_none(kind: str) -> None:
    assert found(MANIFEST.format(kind=kind, data="data", value=ENCODED), KubernetesSecret()) == []


def test_templates_in_a_kubernetes_secret_are_none() -> None:
    assert found(MANIFEST.format(kind="Secret", data="data", value="{{ password }}"), KubernetesSecret()) == []


@pytest.mark.parametrize(
    "word", ["production", "my-app-staging", "ApiToken", "sha256", "getUserName", "localhost", "DOC_Vector_5"]
)
def test_what_reads_like_words(word: str) -> None:
    assert not generated(word.encode())


@pytest.mark.parametrize("value", [TOKEN, UUID, "qyxpuz", "kwfnas6411s", "UulakqEfCuawyiXb", "7986267049372020"])
def test_what_was_generated(value: str) -> None:
    assert generated(value.encode())


@pytest.mark.parametrize(
    "value", ["", "aaaa", "xxxx-xxxx", "<key>", "${KEY}", "my_password1", "SECRET", "***", "{{ key }}"]
)
def test_placeholders(value: str) -> None:
    assert placeholder(value.encode())


@pytest.mark.parametrize(
    "text",
    [
        "The password for the staging database is Tr0ub4dor&3.",
        "Use Tr0ub4dor&3 as the password for staging.",
        "das Passwort für Staging lautet Tr0ub4dor&3",
        "la contraseña de staging es Tr0ub4dor&3",
        "le mot de passe de la base est Tr0ub4dor&3",
        "密码是Tr0ub4dor&3。",
        "パスワードは Tr0ub4dor&3 です",
        "пароль от базы — Tr0ub4dor&3",
        "비밀번호는 Tr0ub4dor&3 입니다",
        "كلمة المرور هي Tr0ub4dor&3",
        "şifre: Tr0ub4dor&3",
    ],
)
def test_a_password_told_in_a_sentence(text: str) -> None:
    assert found(text, Spoken()) == ["Tr0ub4dor&3"]


@pytest.mark.parametrize(
    "text",
    [
        "The password policy is NIST-800-63b",
        "the token is sent to https://auth.acme.dev/v2/token?id=1",
        "an empty secret is passed to crypto.pbkdf2",
        "the token was b64encode(user)",
        "приватный ключ PKCS#8",
        "the secret of ops_eyJzaWdu..",
        "密码长度是8到16位",
    ],
)
def test_a_sentence_that_tells_no_password(text: str) -> None:
    assert found(text, Spoken()) == []


JWK = '{{"kty": "{kty}", "crv": "P-256", "x": "{value}", "{member}": "{value}", "kid": "{value}"}}'
MATERIAL = (TOKEN * 3)[:43]


@pytest.mark.parametrize(("kty", "member"), [("EC", "d"), ("oct", "k"), ("RSA", "dp"), ("OKP", "d")])
def test_the_private_member_of_a_key_and_no_other(kty: str, member: str) -> None:
    text = JWK.format(kty=kty, member=member, value=MATERIAL)
    [span] = JsonWebKey().detect(text)
    assert text[: span.start].endswith(f'"{member}": "')
    assert found(text.replace('"', '\\"'), JsonWebKey()) == [MATERIAL]


@pytest.mark.parametrize(
    "text", [JWK.format(kty="EC", member="y", value=MATERIAL), f'{{"d": "{MATERIAL}"}} {{"kty": "EC"}}']
)
def test_a_public_key_has_no_private_member(text: str) -> None:
    assert found(text, JsonWebKey()) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("acme_live_8sK2mPq9LxT4vN7rB1wZ3yC6", ["8sK2mPq9LxT4vN7rB1wZ3yC6"]),
        ("acme_pat_8sK2mPq9LxT4vN7rB1wZ3yC6", ["8sK2mPq9LxT4vN7rB1wZ3yC6"]),
        ("acme_key_9f86d081884c7d659a2feaa0c55ad015", []),
        ("test_api_ReturnsTheListOfAllUsers", []),
        ("my_test_TestShellCompletionTarget1", []),
    ],
)
def test_a_token_that_names_its_issuer(text: str, expected: list[str]) -> None:
    assert found(text, SELF_NAMED) == expected
