"""Provider tokens: proven by a prefix, a length and an alphabet that only they have, each format with its own rule.

Shapes follow the providers' documentation of their tokens and the public rule sets of secret scanners; lengths are
taken as a minimum where a provider says that they may grow.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable

from pipeline.redaction.classes import SECRET
from pipeline.redaction.placeholder import genuine, random_looking
from pipeline.redaction.rules import Rule, RuleDetector, always
from pipeline.redaction.wording import generated

_JWT_REACH = 4096
_UUID = "[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}"


def _is_jwt(value: bytes) -> bool:
    """The first segment decodes to a JSON object that names an algorithm."""
    header = value.split(b".", 1)[0]
    try:
        fields = json.loads(base64.urlsafe_b64decode(header + b"=" * (-len(header) % 4)))
    except (ValueError, RecursionError):
        return False
    return isinstance(fields, dict) and "alg" in fields


def _is_generated(value: bytes) -> bool:
    return random_looking(value) and generated(value)


def _is_cased(value: bytes) -> bool:
    """Digits, upper and lower case: no hexadecimal hash."""
    return _is_generated(value) and value != value.lower() and value != value.upper()


def _is_slack(value: bytes) -> bool:
    """The last part is no number."""
    last = value.rsplit(b"-", 1)[-1]
    return random_looking(value) and bool(last) and not last.isdigit()


def _formats(genuine: Callable[[bytes], bool], table: str) -> tuple[Rule, ...]:
    """A format a line: its name, the prefix only this provider uses, and the body, at least as long as issued ones.

    A body that ends in `<>` may end in a dash, so that its end is no word's edge.
    """
    lines = (line.split() for line in table.strip().splitlines())
    return tuple(Rule(name, prefix, _whole(f"(?:{prefix}){body}"), genuine) for name, prefix, body in lines)


def _whole(pattern: str) -> str:
    return f"({pattern.removesuffix('<>')})(?:[^A-Za-z0-9_-]|$)" if pattern.endswith("<>") else pattern


_PREFIXED = _formats(
    genuine,
    rf"""
    afterword_token         aw_(?:agent|reviewer|operator)_  [A-Za-z0-9_-]{{43}}<>
    aws_access_key_id       (?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]  [A-Z0-9]{{15}}\b
    aws_access_key_id_old   A3T[A-Z0-9]                  [A-Z0-9]{{16}}\b
    aws_appsync             da2-                         [a-z0-9]{{26}}\b
    aws_mws                 amzn\.mws\.                  {_UUID}
    github_token            gh[opsur]_                   [A-Za-z0-9]{{36,}}
    github_fine_grained     github_pat_                  [A-Za-z0-9_]{{60,}}
    gitlab_token            gl(?:pat|oas|dt|rt|cbt|ptt|ft|soat|agent|imt|ffct|wt)-  [A-Za-z0-9_=.-]{{19,}}[A-Za-z0-9_=]
    gitlab_runner           GR1348941                    [A-Za-z0-9_-]{{20,}}
    gitlab_session          _gitlab_session=             [0-9a-z]{{32}}\b
    slack_app_token         xapp-                        \d-[A-Z0-9]+-\d+-[a-z0-9]{{20,}}
    stripe_key              [rs]k_(?:live|test|prod)_    [A-Za-z0-9]{{10,}}
    webhook_secret          whsec_                       [A-Za-z0-9+/=]{{24,}}
    anthropic_key           sk-ant-                      [A-Za-z0-9]+-[A-Za-z0-9_-]{{80,}}
    openai_key              sk-(?:proj|svcacct|admin|or-v1|None)-  [A-Za-z0-9_-]{{20,}}
    google_client_secret    GOCSPX-                      [A-Za-z0-9_-]{{28}}
    google_access_token     ya29\.                       [A-Za-z0-9_-]{{30,}}
    google_refresh_token    1//0                         [A-Za-z0-9_-]{{40,}}
    npm_token               npm_                         [A-Za-z0-9]{{36}}\b
    pypi_token              pypi-Ag                      [A-Za-z0-9_-]{{50,}}
    huggingface_token       (?:hf|api_org)_              [A-Za-z0-9]{{34}}\b
    sendgrid_key            SG\.                         [A-Za-z0-9_=.-]{{65}}[A-Za-z0-9_=-]
    brevo_key               x(?:key|smtp)sib-            [a-f0-9]{{64}}-[A-Za-z0-9]{{16}}
    resend_key              re_[A-Za-z0-9]{{8}}_           [A-Za-z0-9]{{24}}\b
    twilio_key              SK[0-9a-f]{{4}}              [0-9a-f]{{28}}\b
    onepassword_key         A3-[A-Z0-9]{{6}}-            (?:[A-Z0-9]{{5,6}}-?){{2}}(?:-?[A-Z0-9]{{5}}){{3}}\b
    onepassword_service     ops_eyJ                      [A-Za-z0-9+/_-]{{200,}}={{0,3}}
    adobe_client_secret     (?i:p8e-)                    [A-Za-z0-9]{{32}}\b
    airtable_token          pat[A-Za-z0-9]{{14}}\.       [a-f0-9]{{64}}\b
    alibaba_key             LTAI                         [A-Za-z0-9]{{16,24}}\b
    volcengine_key          AKLT                         [A-Za-z0-9_-]{{40,}}
    tencent_key             AKID                         [A-Za-z0-9]{{32}}\b
    apify_token             apify_api_                   [A-Za-z0-9]{{36}}\b
    artifactory_key         AKCp                         [A-Za-z0-9]{{69}}\b
    artifactory_reference   cmVmd                        [A-Za-z0-9]{{59}}\b
    asana_token             [12]/\d{{13,17}}[:/]         (?:\d+:)?[a-f0-9]{{32}}\b
    atlassian_token         AT(?:ATT|CTT)3               [A-Za-z0-9_=-]{{100,}}
    bitbucket_password      ATBB                         [A-Za-z0-9_=-]{{28,}}
    aiven_token             AVNS_                        [A-Za-z0-9_-]{{19}}<>
    braintree_token         access_token\$               (?:production|sandbox)\$[0-9a-z]{{16}}\$[0-9a-f]{{32}}
    browserbase_key         bb_live_                     [A-Za-z0-9_-]{{20,}}
    buildkite_token         bk(?:ua|at|ct|pt)_           [a-f0-9]{{40}}\b
    cal_key                 cal_live_                    [a-f0-9]{{32}}\b
    circleci_token          CCI(?:PAT|PRJ)_              [A-Za-z0-9]{{22}}_[a-f0-9]{{40}}
    clickhouse_key          4b1d                         [A-Za-z0-9]{{38}}\b
    clickup_token           pk_\d{{5,12}}_               [A-Z0-9]{{32}}\b
    clojars_token           (?i:clojars)_                [A-Za-z0-9]{{60}}\b
    cloudflare_origin_ca    v1\.0-[a-f0-9]{{24}}-        [a-f0-9]{{146}}
    contentful_token        CFPAT-                       [A-Za-z0-9_-]{{43}}
    crates_token            cio[A-Za-z0-9]{{3}}          [A-Za-z0-9]{{29}}\b
    databricks_token        d(?:api|ose|kea)[a-f0-9]{{4}}  [a-f0-9]{{28}}(?:-\d)?\b
    dbt_token               dbt[cu]_                     [A-Za-z0-9_=-]{{36,}}
    defined_networking      dnkey-                       [A-Za-z0-9=_-]{{26}}-[A-Za-z0-9=_-]{{52}}
    digitalocean_token      do[opr]_v1_                  [a-f0-9]{{64}}
    docker_token            dckr_(?:pat|oat)_            [A-Za-z0-9_-]{{27,}}
    doppler_token           dp\.(?:pt|st|sa|ct|scim|audit)\.  [A-Za-z0-9._-]{{40,}}
    dropbox_token           sl\.                         (?:u\.)?[A-Za-z0-9_=-]{{130,}}
    duffel_token            duffel_(?:test|live)_        [A-Za-z0-9_=-]{{43}}
    dynatrace_token         (?i:dt0[a-z]\d{{2}}\.)       [A-Za-z0-9]{{24}}\.[A-Za-z0-9]{{64}}\b
    easypost_key            EZ[AT]K                      [A-Za-z0-9]{{54}}\b
    elevenlabs_key          sk_                          [a-f0-9]{{48}}\b
    e2b_key                 e2b_                         [a-f0-9]{{40}}\b
    facebook_app_token      \d{{15,16}}(?:\||%7C)        [A-Za-z0-9_-]{{27,40}}\b
    facebook_token          EAA[A-Z]                     [A-Za-z0-9]{{100,}}\b
    figma_token             fig[dour]_                   [A-Za-z0-9_-]{{40,}}
    firecrawl_key           fc-                          [a-f0-9]{{32}}\b
    flutterwave_key         FLW(?:PUBK|SECK)(?:_TEST)?-  [A-Za-z0-9]{{12,32}}(?:-X)?\b
    flyio_token             fo1_                         [A-Za-z0-9_-]{{43}}<>
    flyio_macaroon          fm[12][ar]?_                 [A-Za-z0-9+/]{{100,}}={{0,3}}
    frameio_token           fio-u-                       [A-Za-z0-9=_-]{{64}}
    grafana_key             eyJrIjoi                     [A-Za-z0-9]{{70,400}}={{0,3}}
    grafana_cloud           glc_                         [A-Za-z0-9+/]{{32,400}}={{0,3}}
    grafana_service         glsa_                        [A-Za-z0-9]{{32}}_[A-Fa-f0-9]{{8}}
    groq_key                gsk_                         [A-Za-z0-9]{{48,}}
    harness_key             [ps]at\.[A-Za-z0-9_-]{{22}}\.  [A-Za-z0-9]{{24}}\.[A-Za-z0-9]{{20}}\b
    terraform_token         [A-Za-z0-9]{{14}}\.atlasv1\.  [A-Za-z0-9_=-]{{60,}}
    heroku_key              HRKU-AA                      [A-Za-z0-9_-]{{58}}
    hubspot_token           pat-(?:na|eu|ap)\d-          {_UUID}
    intra42_secret          s-s4t2(?:ud|af)-             [a-f0-9]{{64}}
    inngest_key             signkey-[a-z]{{3,10}}-       [a-f0-9]{{32,}}
    jina_key                jina_                        [A-Za-z0-9_-]{{40,}}
    langfuse_key            sk-lf-                       {_UUID}
    langsmith_key           lsv2_(?:pt|sk)_              [a-f0-9]{{32}}_[a-f0-9]{{10}}\b
    launchdarkly_key        (?:sdk|mob)-                 {_UUID}
    linear_key              lin_(?:api|oauth)_           [A-Za-z0-9]{{40,}}\b
    lob_key                 (?:live|test)_(?:pub_)?[a-f0-9]{{4}}  [a-f0-9]{{27,31}}\b
    mailchimp_key           [a-f0-9]{{32}}-us\d          \d?\b
    mailgun_key             (?:pub)?key-                 [a-f0-9]{{32}}\b
    mailgun_signing_key     [a-h0-9]{{32}}-[a-h0-9]{{8}}-  [a-h0-9]{{8}}\b
    mapbox_token            [pst]k\.                     [A-Za-z0-9]{{50,}}\.[A-Za-z0-9_-]{{22,}}
    maxmind_key             [A-Za-z0-9]{{6}}_[A-Za-z0-9]{{29}}_mmk  \b
    mercadopago_token       APP_USR-                     \d+-\d+-[a-f0-9]{{32}}-
    neon_key                napi_                        [a-z0-9]{{60,}}
    netlify_token           nf[pcobu]_                   [A-Za-z0-9]{{36,}}
    newrelic_key            NR(?:AK|JS|II|BR)-           [A-Za-z0-9-]{{19,}}
    newrelic_license        [a-f0-9]{{36}}NRAL           \b
    notion_token            ntn_                         \d{{11}}[A-Za-z0-9]{{35}}\b
    notion_token_old        secret_                      [A-Za-z0-9]{{43}}\b
    nuget_key               oy2                          [a-z0-9]{{43}}\b
    nvidia_key              nvapi-                       [A-Za-z0-9_-]{{60,}}
    nylas_key               nyk_v0_                      [A-Za-z0-9]{{40,}}
    onesignal_key           os_v2_(?:app|org)_           [a-z2-7]{{50,}}
    openshift_token         sha256~                      [A-Za-z0-9_-]{{43}}
    paddle_key              pdl_(?:live|sdbx)_apikey_    [A-Za-z0-9_]{{40,}}
    perplexity_key          pplx-                        [A-Za-z0-9]{{48}}
    pinecone_key            pcsk_                        [A-Za-z0-9_]{{50,}}
    plaid_token             (?:access|public)-(?:sandbox|development|production)-  {_UUID}
    planetscale_token       pscale_(?:pw|tkn|oauth)_     [A-Za-z0-9_=.-]{{32,}}
    posthog_key             ph[xs]_                      [A-Za-z0-9]{{40,}}
    postman_key             PMAK-                        [a-f0-9]{{24}}-[a-f0-9]{{34}}
    prefect_key             pn[ub]_                      [A-Za-z0-9]{{36}}\b
    pulumi_token            pul-                         [a-f0-9]{{40}}\b
    razorpay_key            rzp_(?:live|test)_           [A-Za-z0-9]{{14,}}
    readme_key              rdme_                        [a-z0-9]{{70}}
    render_key              rnd_                         [A-Za-z0-9]{{28,}}\b
    replicate_token         r8_                          [A-Za-z0-9]{{37}}\b
    rubygems_key            rubygems_                    [a-f0-9]{{48}}\b
    scalingo_token          tk-us-                       [A-Za-z0-9_-]{{48}}
    scaleway_key            SCW                          [A-Z0-9]{{17}}\b
    sentry_user_token       sntryu_                      [a-f0-9]{{64}}\b
    settlemint_token        sm_[aps]at_                  [A-Za-z0-9]{{16}}\b
    shippo_token            shippo_(?:live|test)_        [A-Fa-f0-9]{{40}}\b
    shopify_token           shp(?:ss|at|ca|pa|tka)_      [A-Fa-f0-9]{{32}}\b
    sonar_token             sq[apu]_                     [A-Za-z0-9]{{40}}\b
    sourcegraph_token       sgp_                         (?:[A-Fa-f0-9]{{16}}_|local_)?[A-Fa-f0-9]{{40}}\b
    square_token            sq0(?:atp|csp|idp)-          [A-Za-z0-9_-]{{22,}}
    square_access           EAAA                         [A-Za-z0-9_-]{{60}}<>
    supabase_token          sbp_                         [a-f0-9]{{40}}\b
    supabase_secret         sb_secret_                   [A-Za-z0-9_-]{{20,}}
    tailscale_key           tskey-[a-z]{{3,10}}-         [A-Za-z0-9-]{{16,}}
    tavily_key              tvly-                        (?:dev-|prod-)?[A-Za-z0-9]{{28,}}
    together_key            tgp_v1_                      [A-Za-z0-9_-]{{40,}}
    trello_token            ATTA                         [a-f0-9]{{64,}}
    trigger_key             tr_(?:dev|prod|stg)_         [A-Za-z0-9]{{20,}}\b
    typeform_token          tfp_                         [A-Za-z0-9_.=-]{{40,}}
    vault_token             hv[sbr]\.                    [A-Za-z0-9_-]{{24,}}
    vercel_blob             vercel_blob_rw_              [A-Za-z0-9]{{16}}_[A-Za-z0-9]{{32}}
    weights_and_biases      wandb_v1_                    [A-Za-z0-9_-]{{40,}}
    xai_key                 xai-                         [A-Za-z0-9]{{70,}}
    yandex_key              AQVN                         [A-Za-z0-9_-]{{35,38}}
    yandex_token            t1\.                         [A-Za-z0-9_-]+=?\.[A-Za-z0-9_-]{{86}}={{0,2}}
    """,
)

_UNMIXED = _formats(
    random_looking,
    r"""
    slack_workspace_token   xox[ar]-                     (?:\d-)?[0-9a-z]{8,48}\b
    slack_config_token      xoxe(?:\.xox[bp])?-          \d-[A-Za-z0-9]{40,}
    discord_bot_token       [MNO][A-Za-z\d]{23,27}\.     [A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,38}<>
    """,
)

_GENERATED = _formats(
    _is_generated,
    r"""
    octopus_key             API-                         [A-Z0-9]{26}\b
    fireworks_key           fw_                          [A-Za-z0-9]{22,24}\b
    anyscale_key            esecret_                     [a-z0-9]{26,}\b
    """,
)

PATTERNS: tuple[Rule, ...] = (
    *_PREFIXED,
    *_UNMIXED,
    *_GENERATED,
    Rule("slack_token", "xox[abeoprst]-", r"xox[abeoprst]-(?:\d-)?(?:[0-9]{8,13}-){1,3}[A-Za-z0-9-]{10,}", _is_slack),
    Rule("bedrock_key", "ABSK", r"(ABSK[A-Za-z0-9+/]{109,269}={0,2})(?:[^A-Za-z0-9+/=]|$)", random_looking),
    Rule("twitter_bearer", "A{22}", "A{22}[A-Za-z0-9%]{60,100}", generated),
    Rule(
        "sentry_org_token",
        "sntrys_eyJ",
        r"(sntrys_eyJ[A-Za-z0-9+/]{40,400}={0,2}_[A-Za-z0-9+/]{43})(?:[^A-Za-z0-9+/]|$)",
        genuine,
    ),
    Rule(
        "authress_key",
        r"(?:sc|ext|scauth|authress)_[A-Za-z0-9]{5,30}\.",
        r"(?:sc|ext|scauth|authress)_[A-Za-z0-9]{5,30}\.[A-Za-z0-9]{4,6}\.acc[_-][A-Za-z0-9-]{10,32}\."
        r"[A-Za-z0-9+/_=-]{30,}",
        genuine,
    ),
    Rule("age_secret_key", "AGE-SECRET-KEY-1", "AGE-SECRET-KEY-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}", always),
    Rule("nats_seed", "S[ACNOUX][A-Z2-7]{8}", r"S[ACNOUX][A-Z2-7]{56}\b", random_looking),
    Rule("bedrock_short_lived", "bedrock-api-key-Y", r"bedrock-api-key-YmVkcm9jay5hbWF6b25hd3MuY29t[A-Za-z0-9+/=]*"),
    Rule("infracost_key", "ico-", r"ico-([A-Za-z0-9]{32})\b", _is_cased),
    Rule("secret_key", "sk-[A-Za-z0-9]{2}", r"sk-([A-Za-z0-9]{20,})", random_looking),
    Rule("google_api_key", "AIza", _whole("AIza[A-Za-z0-9_-]{35}<>"), _is_generated),
    Rule(
        "azure_client_secret",
        r"[A-Za-z0-9_~.]{3}\dQ~",
        r"([A-Za-z0-9_~.]{3}\dQ~[A-Za-z0-9_~.-]{31,34})(?:[^A-Za-z0-9_~.-]|$)",
        _is_generated,
        edge=False,
    ),
    Rule("telegram_bot_token", r"\d{7,16}:A", r"\d{7,16}:(A[A-Za-z0-9_-]{34})(?:[^A-Za-z0-9_-]|$)", genuine),
    Rule(
        "aws_secret_access_key",
        "(?i:aws_?secret|secret_?access_?key|aws_?session)",
        r"(?i:aws_?secret_?(?:access_?)?key(?:_?id)?|secret_?access_?key|aws_?session_?token)[\\\"'\s:=,>]{1,12}"
        r"([A-Za-z0-9/+]{40}|[A-Za-z0-9/+]{100,}={0,2})(?:[^A-Za-z0-9/+=]|$)",
        random_looking,
        edge=False,
    ),
    Rule(
        "sidekiq_key",
        "CONTRIBSYS__COM",
        r"CONTRIBSYS__COM[A-Za-z]*[\\\"'\s:=,>]{1,12}([a-f0-9]{8}:[a-f0-9]{8})\b",
        genuine,
        edge=False,
    ),
    Rule(
        "slack_webhook",
        r"hooks\.slack\.com/",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9/_+-]{30,})",
        random_looking,
    ),
    Rule(
        "teams_webhook",
        r"webhook\.office\.com/",
        r"webhook\.office\.com/webhookb2/([A-Za-z0-9-]+@[A-Za-z0-9-]+/IncomingWebhook/[A-Za-z0-9]+/[A-Za-z0-9-]+)",
        random_looking,
    ),
    Rule(
        "discord_webhook",
        r"discord(?:app)?\.com/api/webhooks/",
        r"discord(?:app)?\.com/api/webhooks/\d+/([A-Za-z0-9_-]{50,})",
        random_looking,
    ),
    Rule("zapier_webhook", r"hooks\.zapier\.com/", r"hooks\.zapier\.com/hooks/catch/(\d+/[A-Za-z0-9]{5,})", always),
    Rule(
        "jwt",
        "eyJ",
        r"eyJ[A-Za-z0-9_-]{8,}\.(?:[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]+){0,3}|(?:\.[A-Za-z0-9_-]+){3})",
        _is_jwt,
        reach=_JWT_REACH,
    ),
)

SELF_NAMED_PATTERNS: tuple[Rule, ...] = (
    Rule(
        "self_named",
        r"[a-z][a-z0-9]{1,11}_(?:live|test|prod|sandbox|pat|sk|secret|api|key|token)_[A-Za-z0-9]{20}",
        r"[a-z][a-z0-9]{1,11}_(?:live|test|prod|sandbox|pat|sk|secret|api|key|token)_([A-Za-z0-9]{20,})\b",
        _is_cased,
    ),
)

TOKENS = RuleDetector("tokens", SECRET, PATTERNS)
SELF_NAMED = RuleDetector("self_named_tokens", SECRET, SELF_NAMED_PATTERNS)
"""`acme_live_...`: the way most providers name their tokens, without a list of them. No proof, so not for the scrub."""
