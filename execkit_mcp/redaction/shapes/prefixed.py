# ruff: noqa: E501 - a row stands in one piece
"""Tokens with a beginning that their vendor reserved: one line each.

A row is kind, beginnings, alphabet, least and most characters after the beginning, and where the format is
published. Longer structures are spelled out with ``shaped``.
"""

import base64

from execkit_mcp.model.regex import lazy_regex
from execkit_mcp.redaction.shape import (
    ALNUM,
    BASE32,
    BASE64,
    BECH32,
    HEX,
    LOWER_ALNUM,
    UPPER_ALNUM,
    URLSAFE,
    UUID,
    TokenShape,
    fill,
    is_mixed,
    is_varied,
    prefixed,
    shaped,
)

_H, _A, _L, _U, _S, _B = HEX, ALNUM, LOWER_ALNUM, UPPER_ALNUM, URLSAFE, BASE64
_UUID = "[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"


def _armor(kind: str) -> str:
    """How a private key of ``kind`` begins in base64: what Kubernetes and kubeconfig files hold."""
    head = f"-----BEGIN {kind}PRIVATE".encode()
    return base64.b64encode(head[: len(head) // 3 * 3]).decode()


_ARMORED = tuple(_armor(kind) for kind in ("", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED ", "DSA ", "PGP "))

_LOGIN = lazy_regex(rb"://[^\s/@:]{0,200}:[^\s/@]{1,400}@")
_LOGIN_EXAMPLE = base64.b64encode(b"postgres://app:Maple-stone42@db.example.com/app").decode()


def _head(scheme: bytes) -> str:
    """How what begins with ``scheme`` begins in base64."""
    return base64.b64encode(scheme[: len(scheme) // 3 * 3]).decode()


_LOGIN_HEADS = tuple(
    map(
        _head,
        (
            b"postgres",
            b"mysql://",
            b"mysql+",
            b"mariadb:/",
            b"mongodb",
            b"redis://",
            b"rediss://",
            b"amqp://",
            b"amqps://",
            b"https://",
            b"http://",
        ),
    )
)


def _is_login(secret: str) -> bool:
    """Whether ``secret`` is the base64 of an address with a password in it."""
    return _LOGIN.search(base64.b64decode(secret + "=" * (-len(secret) % 4))) is not None


# fmt: off
PREFIXED: tuple[TokenShape, ...] = (
    # model providers and what is built on them
    prefixed("cerebras_key", "csk-", _L, 48, 48, "Cerebras Inference docs, authentication"),
    prefixed("elevenlabs_key", "sk_", _H, 48, 48, "ElevenLabs API reference, authentication"),
    prefixed("cartesia_key", "sk_car_", _S, 20, 64, "Cartesia API reference, authentication"),
    shaped("pinecone_key", ("pcsk_",), r"pcsk_[A-Za-z0-9]{5,6}_[A-Za-z0-9]{60,65}(?![A-Za-z0-9])", ("pcsk_", fill(_A, 6), "_", fill(_A, 63)), ("pcsk_id_here",), "Pinecone docs, API keys"),
    shaped("langfuse_secret_key", ("sk-lf-",), rf"sk-lf-{_UUID}", ("sk-lf-", *UUID), ("sk-lf-none",), "Langfuse docs, API keys"),
    prefixed("mem0_key", "m0-", _A, 40, 40, "Mem0 platform docs, API keys", check=is_varied),
    prefixed("voyage_key", "pa-", _S, 43, 43, "Voyage AI docs, API keys", check=is_varied),
    prefixed("jina_key", "jina_", _S, 60, 64, "Jina AI docs, API keys"),
    prefixed("together_key", "tgp_v1_", _S, 43, 43, "Together AI docs, API keys"),
    prefixed("gemini_key", "AQ.Ab8RN6", _S, 40, 60, "Gemini API docs, API keys"),
    prefixed("runpod_key", "rpa_", _A, 30, 48, "RunPod and redirect.pizza docs, API keys", check=is_mixed),
    prefixed("firecrawl_key", "fc-", _H, 32, 32, "Firecrawl docs, authentication"),
    prefixed("browserbase_key", ("bb_live_", "bb_test_"), _S, 24, 48, "Browserbase docs, API keys"),
    prefixed("cursor_key", "key_", _H, 60, 64, "Cursor docs, API keys"),
    prefixed("devin_key", ("apk_user_", "apk_", "cog_"), _A, 52, 160, "Devin docs, API keys"),
    prefixed("minimax_key", "sk-api-", _S, 80, 160, "MiniMax platform docs, API keys"),
    prefixed("wandb_key", "wandb_v1_", _S + "_", 60, 90, "Weights & Biases docs, API keys"),
    prefixed("helicone_key", "sk-helicone-", _L + "-", 20, 60, "Helicone docs, API keys"),
    prefixed("friendli_token", "flp_", _A, 40, 60, "Friendli docs, personal access tokens"),
    prefixed("anyscale_key", "esecret_", _A, 20, 40, "Anyscale docs, API keys"),
    prefixed("modal_token", ("ak-", "as-"), _A, 22, 22, "Modal docs, tokens", check=is_varied),
    prefixed("brave_search_key", "BSA", _S, 24, 28, "Brave Search API docs, authentication", check=is_varied),
    prefixed("apify_token", "apify_api_", _A, 34, 40, "Apify docs, API tokens"),
    prefixed("dify_key", ("app-", "dataset-"), _A, 24, 24, "Dify docs, API access", check=is_varied),
    prefixed("coze_token", ("pat_", "sat_"), _A, 64, 64, "Coze docs, personal access tokens"),
    prefixed("kaggle_token", "KGAT_", _H, 32, 32, "Kaggle API docs, tokens"),
    prefixed("llamacloud_key", "llx-", _A, 44, 56, "LlamaCloud docs, API keys"),
    prefixed("promptlayer_key", "pl_", _H, 32, 32, "PromptLayer docs, API keys"),
    prefixed("e2b_key", ("e2b_", "sk_e2b_"), _H, 40, 40, "E2B docs, API keys"),
    prefixed("daytona_key", "dtn_", _H, 64, 64, "Daytona docs, API keys"),
    prefixed("novita_key", "sk_", _S, 43, 43, "Novita AI docs, API keys", check=is_varied),

    # ourselves
    shaped("execkit_token", ("ekt_",), r"ekt_[0-9a-f]{8}_[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])", ("ekt_", fill(_H, 8), "_", fill(_S, 43)), ("ekt_0123abcd_short",), "guides/http.md"),

    # cloud, platforms, databases
    shaped("akamai_token", ("akab-",), r"akab-[a-z0-9]{16}-[a-z0-9]{16}(?![a-z0-9])", ("akab-", fill(_L, 16), "-", fill(_L, 16)), ("akab-host",), "Akamai EdgeGrid authentication"),
    prefixed("scaleway_access_key", "SCW", _U, 17, 17, "Scaleway docs, API keys", check=is_mixed),
    prefixed("exoscale_key", "EXO", _A, 24, 30, "Exoscale docs, API keys", check=is_mixed),
    prefixed("upcloud_token", "ucat_", _A, 26, 30, "UpCloud docs, API tokens"),
    prefixed("yandex_api_key", "AQVN", _S, 35, 38, "Yandex Cloud docs, API keys"),
    prefixed("yandex_oauth_token", ("y0_", "y1_", "y2_", "y3_"), _S, 50, 70, "Yandex OAuth docs, token"),
    shaped("yandex_iam_token", ("t1.",), r"t1\.[A-Za-z0-9_-]{8,200}={0,2}\.[A-Za-z0-9_-]{86}={0,2}", ("t1.", fill(_S, 40), ".", fill(_S, 86)), ("t1.micro",), "Yandex Cloud docs, IAM tokens"),
    prefixed("alibaba_sts_key_id", "STS.", _A, 20, 30, "Alibaba Cloud docs, STS", check=is_varied),
    prefixed("volcengine_access_key", "AKLT", _A, 40, 60, "Volcengine docs, access keys"),
    prefixed("baidu_api_key", "bce-v3/ALTAK-", _A + "/", 40, 80, "Baidu Qianfan docs, API keys"),
    prefixed("render_key", "rnd_", _A, 24, 40, "Render docs, API keys", check=is_mixed),
    prefixed("neon_key", "napi_", _A, 50, 70, "Neon docs, API keys"),
    prefixed("neon_password", "npg_", _A, 12, 24, "Neon docs, connection strings"),
    shaped("cockroach_key", ("ccdb1_",), r"CCDB1_[A-Za-z0-9]{22}_[A-Za-z0-9]{40}", ("CCDB1_", fill(_A, 22), "_", fill(_A, 40)), ("CCDB1_x",), "CockroachDB Cloud docs, API access"),
    prefixed("mongodb_atlas_secret", "mdb_sa_sk_", _S, 38, 44, "MongoDB Atlas docs, service accounts"),
    shaped("astra_token", ("astracs:",), r"AstraCS:[A-Za-z0-9]{20,40}(?::[a-f0-9]{64})?(?![A-Za-z0-9])", ("AstraCS:", fill(_A, 24), ":", fill(_H, 64)), ("AstraCS: none",), "DataStax Astra docs, application tokens"),
    shaped("elastic_cloud_key", ("essu_",), r"essu_[A-Za-z0-9+/]{40,120}={0,3}", ("essu_", fill(_B, 78), "=="), ("essu_x",), "Elastic Cloud docs, API keys"),
    prefixed("clickhouse_secret", "4b1d", _A, 38, 38, "ClickHouse Cloud docs, API keys", check=is_varied),
    prefixed("confluent_secret", "cflt", _B, 60, 60, "Confluent Cloud docs, API keys"),
    prefixed("aiven_password", "AVNS_", _S, 15, 24, "Aiven docs, service users"),
    prefixed("databento_key", "db-", _A, 29, 29, "Databento docs, API keys", check=is_varied),
    prefixed("dbt_token", ("dbtc_", "dbtu_", "dbts_"), _S, 32, 64, "dbt Cloud docs, tokens"),
    prefixed("deno_token", ("ddp_", "ddo_"), _A, 36, 40, "Deno Deploy docs, access tokens"),
    prefixed("backblaze_key", "K00", _B, 28, 28, "Backblaze B2 docs, application keys", check=is_varied),
    prefixed("infracost_key", "ico-", _A, 32, 32, "Infracost docs, API keys"),
    prefixed("openshift_token", "sha256~", _S, 43, 43, "OpenShift docs, OAuth access tokens"),
    prefixed("docker_swarm_unlock_key", "SWMKEY-1-", _B, 43, 43, "Docker docs, swarm autolock"),
    shaped("harness_token", ("pat.", "sat."), r"[ps]at\.[A-Za-z0-9_-]{22}\.[a-f0-9]{24}\.[A-Za-z0-9]{20}", ("pat.", fill(_S, 22), ".", fill(_H, 24), ".", fill(_A, 20)), ("pat.match",), "Harness docs, API keys"),
    prefixed("octopus_key", "API-", _U, 25, 36, "Octopus Deploy docs, API keys", check=is_mixed),
    shaped("azure_devops_token", ("azdo",), r"[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}(?![A-Za-z0-9])", (fill(_A, 76), "AZDO", fill(_A, 4)), ("AZDO board",), "Azure DevOps docs, personal access tokens", lead_chars=76),
    shaped("azure_account_key", ("+ast", "acdb", "+aba", "+amc", "+acr"), r"[A-Za-z0-9+/]{76}(?:\+ASt|ACDb|\+ABa|\+AMC)[A-Za-z0-9+/]{5,6}={1,2}", (fill(_B, 76), "ACDb", fill(_B, 6), "=="), ("ACDb + ASt",), "Microsoft Learn, Azure keys that identify themselves", lead_chars=76),
    shaped("azure_function_key", ("azfu",), r"[A-Za-z0-9_-]{44}AzFu[A-Za-z0-9_-]{4,6}={0,2}", (fill(_S, 44), "AzFu", fill(_A, 4), "=="), ("AzFu",), "Microsoft Learn, function access keys", lead_chars=44),
    shaped("azure_search_key", ("azse",), r"[A-Za-z0-9]{42}AzSe[A-Za-z0-9]{5,6}", (fill(_A, 42), "AzSe", fill(_A, 6)), ("AzSe",), "Microsoft Learn, AI Search keys", lead_chars=42),
    shaped("azure_ai_key", ("jqqj99",), r"[A-Za-z0-9]{46}JQQJ99[A-Za-z0-9]{32}", (fill(_A, 46), "JQQJ99", fill(_A, 32)), ("JQQJ99",), "Microsoft Learn, Azure AI services keys", lead_chars=46),
    shaped("fcm_server_key", (":apa91b",), r":(?P<secret>APA91b[A-Za-z0-9_-]{120,180})", ("AAAA", fill(_S, 7), ":APA91b", fill(_S, 134)), ("AAAA:APA91b",), "Firebase Cloud Messaging docs, server keys", is_glued=True),
    shaped("aws_mws_key", ("amzn.mws.",), rf"amzn\.mws\.{_UUID}", ("amzn.mws.", *UUID), ("amzn.mws.none",), "Amazon MWS docs, auth tokens"),
    prefixed("amazon_oauth_secret", "amzn1.oa2-cs.v1.", _H, 64, 64, "Login with Amazon docs, client secrets"),
    prefixed("amazon_oauth_token", ("Atza|", "Atzr|"), _S, 60, 600, "Login with Amazon docs, tokens"),
    prefixed("aws_bedrock_short_key", "bedrock-api-key-", _B, 24, 4000, "Amazon Bedrock docs, API keys"),
    shaped("convex_deploy_key", ("prod:", "preview:", "dev:"), r"(?:prod|preview|dev):[a-z0-9:-]{3,80}\|(?P<secret>[A-Za-z0-9+/=_-]{40,300})", ("prod:happy-animal-123|", fill(_A, 80)), ("prod: web|db",), "Convex docs, deploy keys"),
    prefixed("tinybird_token", "p.eyJ", _S + ".", 60, 400, "Tinybird docs, tokens"),
    prefixed("turnstile_secret", "0x4AAAAAA", _S, 24, 30, "Cloudflare Turnstile docs, secret keys"),
    prefixed("scalingo_token", "tk-us-", _S, 40, 60, "Scalingo docs, API tokens"),
    shaped("ngrok_authtoken", ("ngrok", "authtoken"), r"(?:ngrok[^\n]{0,60})?authtoken[\"']?[ \t:=]{1,4}[\"']?(?P<secret>[A-Za-z0-9]{20,30}_[A-Za-z0-9]{15,30})", ("ngrok config add-authtoken ", fill(_A, 27), "_", fill(_A, 21)), ("ngrok http 80",), "ngrok docs, authtokens", is_glued=True),

    # watching, flags, incidents
    prefixed("honeycomb_key", ("hcaik_", "hcbik_", "hccik_", "hcxik_", "hcamk_"), _L, 32, 64, "Honeycomb docs, API keys"),
    shaped("axiom_token", ("xaat-", "xapt-", "xait-"), rf"xa[api]t-{_UUID}", ("xaat-", *UUID), ("xaat-none",), "Axiom docs, tokens"),
    prefixed("checkly_key", "cu_", _H, 32, 32, "Checkly docs, API keys"),
    prefixed("statsig_secret", "secret-", _A, 40, 60, "Statsig docs, server secret keys", check=is_varied),
    shaped("launchdarkly_key", ("sdk-", "api-"), rf"(?:sdk|api)-{_UUID}", ("sdk-", *UUID), ("sdk-manager",), "LaunchDarkly docs, keys"),
    shaped("configcat_key", ("configcat-sdk-",), r"configcat-sdk-\d/(?P<secret>[A-Za-z0-9_-]{22}/[A-Za-z0-9_-]{22})", ("configcat-sdk-1/", fill(_S, 22), "/", fill(_S, 22)), ("configcat-sdk-python",), "ConfigCat docs, SDK keys"),
    prefixed("devcycle_key", "dvc_server_", _A + "_", 20, 80, "DevCycle docs, SDK keys", check=is_mixed),
    prefixed("posthog_personal_key", "phx_", _A, 40, 60, "PostHog docs, personal API keys"),
    shaped("unleash_token", (":development.", ":production.", ":default."), r":(?:development|production|default)\.(?P<secret>[a-f0-9]{50,64})(?![a-f0-9])", ("*:production.", fill(_H, 56)), ("*:production.web",), "Unleash docs, API tokens", is_glued=True),
    prefixed("rootly_key", "rootly_", _H, 64, 64, "Rootly docs, API keys"),
    prefixed("firehydrant_key", "fhb-", _H, 32, 64, "FireHydrant docs, bot tokens"),
    prefixed("grafana_legacy_key", "eyJrIjoi", _B, 40, 400, "Grafana docs, API keys"),

    # security and identity
    prefixed("sonarqube_token", ("sqp_", "sqa_", "squ_"), _H, 40, 40, "SonarQube docs, tokens"),
    prefixed("snyk_token", ("snyk_uat.", "snyk_sat."), _S + ".", 40, 400, "Snyk docs, service accounts"),
    prefixed("aikido_token", ("AIK_CI_", "AIK_RUNTIME_"), _A + "_", 20, 80, "Aikido docs, CI tokens"),
    prefixed("aikido_secret", "AIK_SECRET_", _A, 32, 80, "Aikido docs, API clients"),
    prefixed("endor_key", "endr+", _A, 16, 32, "Endor Labs docs, API keys"),
    shaped("stackhawk_key", ("hawk.",), r"hawk\.[A-Za-z0-9_-]{20}\.[A-Za-z0-9_-]{20}", ("hawk.", fill(_S, 20), ".", fill(_S, 20)), ("hawk.scan",), "StackHawk docs, API keys"),
    prefixed("socket_key", ("sktsec_",), _S, 30, 80, "Socket docs, API tokens"),
    prefixed("stytch_secret", ("secret-live-", "secret-test-"), _S, 30, 60, "Stytch docs, API keys"),
    shaped("authress_key", ("sc_", "ext_", "scauth_", "authress_"), r"(?:sc|ext|scauth|authress)_[A-Za-z0-9]{5,30}\.[A-Za-z0-9]{4,6}\.acc[_-][A-Za-z0-9-]{10,32}\.(?P<secret>[A-Za-z0-9+/_=-]{30,120})", ("sc_", fill(_L, 10), ".", fill(_L, 4), ".acc-", fill(_L, 16), ".", fill(_S, 40)), ("sc_one.two",), "Authress docs, service clients"),
    prefixed("ory_token", ("ory_pat_", "ory_at_", "ory_rt_", "ory_ac_", "ory_wak_", "ory_apikey_"), _S + ".", 30, 120, "Ory docs, tokens"),
    prefixed("unkey_key", "unkey_", _A, 20, 40, "Unkey docs, root keys", check=is_varied),
    prefixed("pangea_token", ("pts_", "pcl_"), _L, 32, 32, "Pangea docs, tokens"),
    prefixed("permit_key", "permit_key_", _A, 40, 120, "Permit.io docs, API keys"),
    prefixed("netbird_token", ("nbp_", "nbs_"), _A, 36, 40, "NetBird docs, personal access tokens"),
    prefixed("defined_networking_token", "dnkey-", _A + "-", 40, 120, "Defined Networking docs, API keys"),
    prefixed("boundary_token", "at_", _A + "_", 40, 300, "HashiCorp Boundary docs, auth tokens", check=is_varied),
    shaped("otpauth_secret", ("otpauth://",), r"otpauth://[a-z]{4}/[^\s?]{0,200}\?(?:[^\s&]{1,100}&){0,6}secret=(?P<secret>[A-Z2-7a-z]{12,128}={0,6})", ("otpauth://totp/Example:alice?secret=", fill(BASE32, 32), "&issuer=Example"), ("otpauth://totp/Example",), "Google Authenticator, key URI format"),
    shaped("ansible_vault_password", ("vault_pass",), r"vault_pass(?:word)?[\"']?[ \t]{0,4}[:=][ \t]{0,4}[\"']?(?P<secret>[^\s\"'{$/]{6,200})", ("ansible_vault_password: ", fill(_A, 20)), ("vault_password_file: ~/.vault",), "Ansible docs, vault", is_glued=True),
    shaped("laravel_app_key", ("app_key",), r"APP_KEY[ \t]{0,4}=[ \t]{0,4}[\"']?(?P<secret>base64:[A-Za-z0-9+/]{43}=)", ("APP_KEY=base64:", fill(_B, 43), "="), ("APP_KEY=",), "Laravel docs, encryption"),

    prefixed("yandex_iam_token", "t1.", _S + ".=", 80, 400, "Yandex Cloud docs, IAM tokens", check=is_varied),
    prefixed("django_secret_key", "django-insecure-", _L + "!@#$%^&*(-_=+)", 50, 50, "Django docs, SECRET_KEY"),
    shaped("url_in_base64", tuple(map(str.lower, _LOGIN_HEADS)), rf"(?:{'|'.join(_LOGIN_HEADS)})[A-Za-z0-9+/]{{12,2000}}={{0,2}}", (_LOGIN_EXAMPLE,), (_LOGIN_HEADS[0], "and more"), "RFC 3986, userinfo; Kubernetes docs, Opaque secrets", check=_is_login),
    prefixed("private_key", _ARMORED, _B + "=", 40, 65_535, "RFC 7468, textual encodings; Kubernetes docs, TLS secrets"),

    # money
    shaped("paddle_key", ("pdl_",), r"pdl_(?:live|sdbx)_apikey_[a-z0-9]{26}_[A-Za-z0-9]{10,30}(?:_[A-Za-z0-9]{3})?", ("pdl_live_apikey_", fill(_L, 26), "_", fill(_A, 22), "_", fill(_A, 3)), ("pdl_live_apikey",), "Paddle docs, API keys"),
    shaped("checkout_key", ("sk_",), rf"sk_(?:test_|sbox_)?(?:{_UUID}|[a-z0-9]{{26}}[a-z0-9*#$=]{{1,2}})(?![A-Za-z0-9-])", ("sk_", *UUID), ("sk_buff",), "Checkout.com docs, API keys", check=is_mixed),
    prefixed("live_key", "live_", _A, 30, 64, "Mollie, GoCardless, Lob and Chargebee docs, API keys", check=is_mixed),
    shaped("plaid_token", ("access-",), rf"access-(?:production|sandbox|development)-{_UUID}", ("access-production-", *UUID), ("access-production-x",), "Plaid docs, access tokens"),
    prefixed("easypost_key", ("EZAK", "EZTK"), _A, 54, 54, "EasyPost docs, API keys"),
    prefixed("shippo_token", ("shippo_live_", "shippo_test_"), _H + "ABCDEF", 40, 40, "Shippo docs, API tokens"),
    prefixed("duffel_token", ("duffel_live_", "duffel_test_"), _S + "=", 40, 60, "Duffel docs, access tokens"),
    prefixed("razorpay_test_key", "rzp_test_", _A, 14, 24, "Razorpay docs, API keys"),
    prefixed("xendit_key", ("xnd_production_", "xnd_development_"), _A, 40, 90, "Xendit docs, API keys"),
    prefixed("midtrans_key", ("Mid-server-", "SB-Mid-server-"), _S, 12, 40, "Midtrans docs, access keys"),
    prefixed("mercury_token", ("mercury_production_", "mercury_sandbox_"), _A + "_", 30, 120, "Mercury docs, API tokens"),
    prefixed("ramp_secret", ("ramp_sec_", "ramp_tok_"), _A, 40, 60, "Ramp developer docs, OAuth"),
    prefixed("brex_token", "bxt_", _A, 36, 60, "Brex developer docs, user tokens"),
    prefixed("polar_token", ("polar_oat_", "polar_at_", "polar_pat_", "polar_rt_", "polar_whs_", "polar_cs_"), _A + "_", 20, 80, "Polar docs, access tokens"),
    prefixed("mercadopago_token", ("APP_USR-", "TEST-"), _H + "-", 50, 90, "Mercado Pago docs, credentials", check=lambda v: v.count("-") >= 3),  # noqa: PLR2004 - four numbers
    shaped("asaas_token", ("$aact_",), r"\$aact_(?:prod|hmlg)_(?P<secret>[A-Za-z0-9=]{16,300}(?:::[A-Za-z0-9:$_=-]{1,200})?)", ("$aact_prod_", fill(_A, 140)), ("$aact_prod",), "Asaas docs, authentication", is_glued=True),
    prefixed("klarna_key", ("klarna_live_api_", "klarna_test_api_"), _S, 30, 200, "Klarna docs, API keys"),
    prefixed("paystack_key", ("sk_live_", "sk_test_"), _H, 40, 40, "Paystack docs, API keys"),
    prefixed("rainforest_key", "apikey_", _H, 60, 64, "Rainforest docs, API keys"),
    prefixed("woocommerce_secret", ("cs_", "ck_"), _H, 40, 40, "WooCommerce REST API docs, authentication"),
    prefixed("onfido_token", ("api_live.", "api_live_us.", "api_live_ca.", "api_sandbox.", "api_sandbox_us.", "api_sandbox_ca."), _S + ".", 20, 60, "Onfido docs, API tokens"),
    prefixed("persona_key", ("persona_production_", "persona_sandbox_"), _S, 20, 80, "Persona docs, API keys", check=is_mixed),
    prefixed("canadian_notify_key", "gcntfy-", _S, 60, 120, "GC Notify docs, API keys"),
    shaped("extended_private_key", ("xprv", "yprv", "zprv", "tprv"), r"[xyzt]prv[1-9A-HJ-NP-Za-km-z]{107}(?![A-Za-z0-9])", ("xprv", fill("123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz", 107)), ("xprv key",), "BIP 32, serialization format"),
    prefixed("nostr_secret_key", "nsec1", BECH32.lower(), 58, 58, "NIP-19, bech32-encoded entities"),

    # messages and customers
    shaped("resend_key", ("re_",), r"re_[A-Za-z0-9]{8}_[A-Za-z0-9]{24}(?![A-Za-z0-9])", ("re_", fill(_A, 8), "_", fill(_A, 24)), ("re_compile_pattern",), "Resend docs, API keys"),
    prefixed("mailersend_token", "mlsn.", _A, 30, 64, "MailerSend docs, API tokens"),
    prefixed("mandrill_key", "md-", _S, 22, 22, "Mailchimp Transactional docs, API keys", check=is_varied),
    shaped("telnyx_key", tuple(f"key{digit}" for digit in _H), r"KEY[0-9A-F]{32}_[A-Za-z0-9]{22}(?![A-Za-z0-9])", ("KEY", fill("0123456789ABCDEF", 32), "_", fill(_A, 22)), ("KEY_NAME",), "Telnyx docs, API keys"),
    prefixed("intercom_token", "dG9rO", _B, 50, 60, "Intercom docs, access tokens"),
    prefixed("onesignal_key", ("os_v2_app_", "os_v2_org_"), _L, 90, 110, "OneSignal docs, API keys"),
    shaped("klaviyo_key", ("pk_",), r"pk_[a-f0-9]{34}(?![A-Za-z0-9])", ("pk_", fill(_H, 34)), ("pk_id",), "Klaviyo docs, private API keys"),
    prefixed("calcom_key", ("cal_live_", "cal_test_"), _H, 32, 32, "Cal.com docs, API keys"),
    shaped("dingtalk_secret", tuple(f"sec{digit}" for digit in _H), r"SEC[a-f0-9]{64}(?![a-f0-9])", ("SEC", fill(_H, 64)), ("SECADDED",), "DingTalk docs, robot security"),
    shaped("salesforce_token", ("00d",), r"00D[A-Za-z0-9]{12}(?:[A-Za-z0-9]{3})?!(?P<secret>[A-Za-z0-9._]{80,130})", ("00D", fill(_A, 12), "!", fill(_A, 96)), ("00D12 of 3",), "Salesforce docs, session ids"),
    prefixed("slack_config_token", ("xoxe-", "xoxe.xoxp-", "xoxe.xoxb-"), _S, 100, 220, "Slack docs, token types"),
    prefixed("courier_key", ("pk_prod_", "pk_test_"), _U, 28, 32, "Courier docs, authentication"),
    prefixed("knock_key", ("sk_prod_", "sk_stage_"), _S, 30, 60, "Knock, Liveblocks and Trigger.dev docs, secret keys"),
    prefixed("crossmint_key", ("sk_production_", "sk_staging_", "sk_development_"), _A, 60, 260, "Crossmint docs, API keys"),
    prefixed("trigger_dev_key", ("tr_prod_", "tr_dev_", "tr_stg_", "tr_preview_", "tr_pat_"), _A, 18, 48, "Trigger.dev docs, API keys"),
    prefixed("inngest_key", ("signkey-prod-", "signkey-test-", "signkey-branch-"), _H, 32, 64, "Inngest docs, signing keys"),

    # code, packages, builds, documents
    prefixed("atlassian_token", "ATAT", _S + "=", 100, 240, "Atlassian docs, API tokens"),
    prefixed("trello_token", "ATTA", _H, 64, 76, "Trello docs, authorization"),
    prefixed("bitbucket_server_token", "BBDC-", _B, 32, 50, "Bitbucket Data Center docs, HTTP access tokens"),
    prefixed("cloudsmith_key", "csa_", _A, 36, 44, "Cloudsmith docs, API keys"),
    prefixed("packagist_token", ("packagist_uut_", "packagist_oat_", "packagist_out_", "packagist_org_"), _H, 60, 70, "Private Packagist docs, tokens"),
    prefixed("thunderstore_token", "tss_", _A, 20, 60, "Thunderstore docs, service accounts"),
    prefixed("jsr_token", ("jsrp_", "jsrd_", "jsrw_"), _A, 30, 60, "JSR docs, tokens"),
    prefixed("val_town_token", "vtwn_", _A, 20, 60, "Val Town docs, API tokens"),
    prefixed("codesandbox_token", "csb_v1_", _S, 40, 60, "CodeSandbox docs, API tokens"),
    prefixed("gitpod_token", "gitpod_pat_", _S + ".", 36, 200, "Gitpod docs, personal access tokens"),
    prefixed("readme_key", ("rdme_",), _L, 60, 80, "ReadMe docs, API keys"),
    prefixed("chromatic_token", "chpt_", _H, 12, 20, "Chromatic docs, project tokens"),
    prefixed("ionic_token", "ion_", _A, 42, 42, "Ionic Appflow docs, personal access tokens", check=is_varied),
    prefixed("mergify_key", "mergify_application_key_", _S, 40, 60, "Mergify docs, application keys"),
    prefixed("deepsource_token", ("dsp_", "dsn_"), _A, 36, 60, "DeepSource docs, access tokens"),
    shaped("clickup_token", ("pk_",), r"pk_\d{5,12}_[A-Za-z0-9]{32}(?![A-Za-z0-9])", ("pk_", fill("123456789", 8), "_", fill(_U, 32)), ("pk_1_a",), "ClickUp docs, personal API tokens"),
    prefixed("canva_secret", "cnvca", _S, 40, 60, "Canva docs, client secrets"),
    prefixed("frameio_token", "fio-u-", _S, 60, 70, "Frame.io docs, developer tokens"),
    prefixed("retool_key", ("retool_01", "retool_wk_"), _A, 20, 64, "Retool docs, API keys"),
    prefixed("workato_token", ("wrka-", "wrkatr-", "wrkaus-"), _S + ".", 60, 900, "Workato docs, API clients"),
    prefixed("prefect_key", ("pnu_", "pnb_"), _A, 36, 36, "Prefect docs, API keys"),
    prefixed("lightdash_token", "ldpat_", _A, 32, 64, "Lightdash docs, personal access tokens"),
    prefixed("hex_token", ("hxtp_", "hxtw_"), _H, 64, 140, "Hex docs, API tokens"),
    prefixed("metabase_key", "mb_", _B + "=", 40, 50, "Metabase docs, API keys", check=is_varied),
    shaped("maxmind_key", ("_mmk",), r"[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk(?![A-Za-z0-9])", (fill(_A, 6), "_", fill(_A, 29), "_mmk"), ("a_mmk",), "MaxMind docs, license keys", lead_chars=36),
    shaped("ghost_admin_key", ("ghost",), r"(?i:ghost)[^\n]{0,40}?[\"' :=](?P<secret>[a-f0-9]{24}:[a-f0-9]{64})(?![a-f0-9])", ("GHOST_ADMIN_API_KEY=", fill(_H, 24), ":", fill(_H, 64)), ("ghost 5.0",), "Ghost docs, Admin API keys", is_glued=True),
    shaped("wordpress_app_password", ("application password", "app_password", "application_password"), r"(?i:app(?:lication)?[ _]password)[\"']?[ \t]{0,4}[:=][ \t]{0,4}[\"']?(?P<secret>(?:[A-Za-z0-9]{4} ){5}[A-Za-z0-9]{4})", ("application password: ", *(part for _ in range(5) for part in (fill(_A, 4), " ")), fill(_A, 4)), ("application password: none",), "WordPress docs, application passwords", is_glued=True),
    prefixed("adafruit_key", "aio_", _A, 28, 28, "Adafruit IO docs, keys"),
    prefixed("samsara_token", "samsara_api_", _A, 24, 60, "Samsara docs, API tokens"),
    prefixed("ubidots_token", "BBFF-", _A, 30, 40, "Ubidots docs, tokens"),
    shaped("wakatime_key", ("waka_",), rf"waka_(?:{_UUID}|[a-zA-Z0-9]{{32,40}})", ("waka_", *UUID), ("waka_time",), "WakaTime docs, API keys"),
    prefixed("pinterest_token", "pina_", _A, 20, 120, "Pinterest docs, access tokens"),
    prefixed("instagram_token", ("IGQVJ", "IGQWR", "IGAA"), _S, 100, 300, "Instagram platform docs, access tokens"),
    prefixed("tiktok_token", "act.", _A + "!*", 60, 120, "TikTok for Developers docs, tokens", check=is_varied),
    prefixed("twitter_bearer_token", "AAAAAAAAAAAAAAAAAAAAA", _A + "%", 70, 120, "X developer docs, bearer tokens"),
    shaped("lichess_token", ("lip_",), r"lip_[A-Za-z0-9]{20,28}(?![A-Za-z0-9])", ("lip_", fill(_A, 20)), ("lip_sync",), "Lichess API docs, personal tokens"),
    prefixed("nylas_key", "nyk_", _A + "_", 48, 90, "Nylas docs, API keys"),
    prefixed("adobe_client_secret", "p8e-", _L + "-", 32, 36, "Adobe Developer docs, OAuth credentials", check=is_mixed),
    prefixed("segment_token", "sgp_", _A, 60, 68, "Segment docs, Public API tokens"),
    prefixed("miro_token", "eyJtaXJv", _S, 24, 80, "Miro developer docs, access tokens"),
    prefixed("zuplo_key", ("zpka_",), _A + "_", 32, 70, "Zuplo docs, API keys"),
    prefixed("proof_key", "prf_", _A, 20, 60, "Proof docs, API keys"),
    prefixed("settlemint_token", ("sm_pat_", "sm_aat_", "sm_sat_"), _A, 16, 40, "SettleMint docs, access tokens"),
    shaped("intra42_secret", ("s-s4t2",), r"s-s4t2(?:ud|af)-[a-f0-9]{64}", ("s-s4t2af-", fill(_H, 64)), ("s-s4t2ud",), "42 API docs, applications"),
    shaped("ebay_secret", ("prd-", "sbx-"), r"(?:PRD|SBX)-[a-f0-9]{8,12}(?:-[a-f0-9]{4}){3}(?:-[a-f0-9]{4})?(?![a-f0-9-])", ("PRD-", fill(_H, 12), "-", fill(_H, 4), "-", fill(_H, 4), "-", fill(_H, 4), "-", fill(_H, 4)), ("PRD-none",), "eBay developers program, credentials"),
    shaped("zoho_token", ("1000.", "1001."), r"100[01]\.[a-f0-9]{32}\.[a-f0-9]{32}(?![a-f0-9])", ("1000.", fill(_H, 32), ".", fill(_H, 32)), ("1000.5",), "Zoho docs, OAuth tokens"),
    # vendors whose tokens were added later
    prefixed("adobe_client_secret", "p8e-", _A, 32, 32, "Adobe Developer Console, service account credentials", check=is_mixed),
    shaped("defined_networking_key", ("dnkey-",), r"dnkey-[A-Za-z0-9=_-]{26}-[A-Za-z0-9=_-]{52}", ("dnkey-", fill(_A, 26), "-", fill(_A, 52)), ("dnkey-name",), "Defined Networking docs, API"),
    prefixed("huggingface_org_token", "api_org_", _A, 34, 34, "Hugging Face docs, organization tokens", check=is_mixed),
    prefixed("new_relic_insert_key", "NRII-", _S, 32, 32, "New Relic docs, API keys"),
    prefixed("gitea_token", "gta_", _H, 40, 40, "Gitea docs, API usage"),
    shaped("vault_legacy_token", ("s.",), r"s\.(?P<secret>[A-Za-z0-9]{24})(?![A-Za-z0-9.(])", ("s.", "aB3", fill(_A, 21)), ("s.example.com",), "Vault docs, tokens before 1.10", check=is_varied),
    shaped("github_app_token", ("v1.",), r"v1\.(?P<secret>[0-9a-f]{40})(?![0-9a-f])", ("v1.", fill(_H, 40)), ("v1.2.3",), "GitHub docs, installation tokens of old"),
    shaped("infisical_token", ("st.",), r"st\.[0-9a-f]{24}\.[0-9a-f]{32}\.[0-9a-f]{32}", ("st.", fill(_H, 24), ".", fill(_H, 32), ".", fill(_H, 32)), ("st.example",), "Infisical docs, service tokens"),
    shaped("k3s_token", ("k10",), r"K10[0-9a-f]{48,64}::[\w.-]{1,64}:[\w-]{16,64}", ("K10", fill(_H, 64), "::server:", fill(_H, 32)), ("K10 peak",), "K3s docs, cluster tokens"),
    shaped("teamcity_token", ("eyj0exaioiaivenwmij9.",), r"eyJ0eXAiOiAiVENWMiJ9\.[A-Za-z0-9_-]{36}\.[A-Za-z0-9_-]{48}", ("eyJ0eXAiOiAi", "VENWMiJ9.", fill(_A, 36), ".", fill(_A, 48)), ("eyJ0eXAiOiAi and more",), "TeamCity docs, access tokens"),
    prefixed("twitch_oauth_token", "oauth:", _L, 30, 30, "Twitch developers, chat authentication", check=is_mixed),
    prefixed("cohere_key", "co_", _A, 40, 40, "Cohere docs, API keys", check=is_varied),
    prefixed("yandex_secret_key", "YC", _S, 38, 38, "Yandex Cloud docs, static access keys", check=is_varied),
    prefixed("sanity_token", "sk", _A, 178, 182, "Sanity docs, API tokens", check=is_varied),
)
