# ruff: noqa: E501 - a pattern or a row stands in one piece
"""Cloud providers: access keys, storage keys, signed URLs, service accounts."""

from execkit_mcp.redaction.shape import ALNUM, BASE32, BASE64, HEX, UPPER_ALNUM, URLSAFE, TokenShape, fill

CLOUD: tuple[TokenShape, ...] = (
    TokenShape(
        kind="aws_access_key_id",
        keywords=(
            "akia",
            "asia",
            "abia",
            "acca",
        ),
        pattern=r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}(?![A-Za-z0-9])",
        source="https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html",
        example=(
            "key AKIA",
            fill(BASE32, 16),
        ),
        counter_example=(
            "key AKIA",
            fill(BASE32, 9),
            "EXAMPLE",
        ),
    ),
    TokenShape(
        kind="aws_secret_key",
        keywords=(
            "aws_secret",
            "secretaccesskey",
            "secret_access_key",
            "secret access key",
            "aws_sec",
        ),
        pattern=r"[A-Za-z_ -]{6,40}?\\{0,2}[\"']{0,2}[ \t]{0,8}(?:[:=]|=>|[ \t])[ \t]{0,8}\\{0,2}[\"']?(?P<secret>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])",
        source="https://docs.aws.amazon.com/IAM/latest/UserGuide/id_credentials_access-keys.html",
        example=(
            "aws_secret_access_key = ",
            fill(BASE64, 40),
        ),
        counter_example=("aws_secret_access_key = ${AWS_SECRET}",),
        is_glued=True,
    ),
    TokenShape(
        kind="aws_session_token",
        keywords=(
            "iqojb3jpz2lu",
            "fwogzxivyxdz",
        ),
        pattern=r"(?:IQoJb3JpZ2lu|FwoGZXIvYXdz)[A-Za-z0-9/+=%]{60,2000}",
        source="https://docs.aws.amazon.com/IAM/latest/UserGuide/id_credentials_temp_use-resources.html",
        example=(
            "IQoJb3JpZ2lu",
            fill(BASE64, 300),
        ),
        counter_example=("IQoJb3JpZ2lu is how they start",),
    ),
    TokenShape(
        kind="aws_bedrock_key",
        keywords=("absk",),
        pattern=r"ABSK[A-Za-z0-9+/]{109,269}={0,2}",
        source="https://docs.aws.amazon.com/bedrock/latest/userguide/api-keys.html",
        example=(
            "ABSK",
            fill(BASE64, 128),
        ),
        counter_example=(
            "ABSK",
            fill(BASE64, 20),
        ),
    ),
    TokenShape(
        kind="gcp_api_key",
        keywords=("aiza",),
        pattern=r"AIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])",
        source="https://cloud.google.com/docs/authentication/api-keys",
        example=(
            "AIza",
            fill(URLSAFE, 35),
        ),
        counter_example=(
            "AIza",
            fill(URLSAFE, 12),
            " short",
        ),
    ),
    TokenShape(
        kind="gcp_access_token",
        keywords=("ya29.",),
        pattern=r"ya29\.[A-Za-z0-9_-]{20,2000}",
        source="https://cloud.google.com/docs/authentication/token-types",
        example=(
            "ya29.",
            fill(URLSAFE, 120),
        ),
        counter_example=("ya29.short",),
    ),
    TokenShape(
        kind="gcp_refresh_token",
        keywords=("1//0",),
        pattern=r"1//0[A-Za-z0-9_-]{38,200}(?![A-Za-z0-9_-])",
        source="https://cloud.google.com/docs/authentication/token-types",
        example=(
            "1//0",
            fill(URLSAFE, 60),
        ),
        counter_example=("1//0 of 2",),
    ),
    TokenShape(
        kind="gcp_oauth_secret",
        keywords=("gocspx-",),
        pattern=r"GOCSPX-[A-Za-z0-9_-]{28}(?![A-Za-z0-9_-])",
        source="https://developers.google.com/identity/protocols/oauth2",
        example=(
            "GOCSPX-",
            fill(URLSAFE, 28),
        ),
        counter_example=("GOCSPX-short",),
    ),
    TokenShape(
        kind="gcp_hmac_key",
        keywords=("goog1",),
        pattern=r"GOOG1[A-Z0-9]{56}(?![A-Za-z0-9])|GOOG1?[A-Z2-7]{20}(?![A-Za-z0-9])",
        source="https://cloud.google.com/storage/docs/authentication/hmackeys",
        example=(
            "GOOG1",
            fill(BASE32, 56),
        ),
        counter_example=("GOOG1 is short",),
    ),
    TokenShape(
        kind="azure_storage_key",
        keywords=(
            "accountkey=",
            'accountkey"',
            "sharedaccesskey=",
            "account_key",
        ),
        pattern=r"(?i:(?:AccountKey|SharedAccessKey|account_key))[\"']?[ \t]{0,4}[=:][ \t]{0,4}[\"']?(?P<secret>[A-Za-z0-9+/]{42,88}={0,2})",
        source="https://learn.microsoft.com/azure/storage/common/storage-account-keys-manage",
        example=(
            "DefaultEndpointsProtocol=https;AccountName=demo;AccountKey=",
            fill(BASE64, 86),
            "==",
        ),
        counter_example=("AccountKey=${KEY}",),
        is_glued=True,
    ),
    TokenShape(
        kind="azure_sas_signature",
        keywords=("sig=",),
        pattern=r"sig=(?P<secret>[A-Za-z0-9%+/_-]{30,120}(?:={1,2}|%3[dD]){0,2})",
        source="https://learn.microsoft.com/rest/api/storageservices/create-service-sas",
        example=(
            "https://a.blob.core.windows.net/c?sv=2024&sig=",
            fill(ALNUM, 43),
            "%3D",
        ),
        counter_example=("sig=none",),
    ),
    TokenShape(
        kind="azure_ad_secret",
        keywords=("q~",),
        pattern=r"[A-Za-z0-9_.~-]{3}[0-9]Q~[A-Za-z0-9_.~-]{31,34}(?![A-Za-z0-9_.~-])",
        source="https://learn.microsoft.com/entra/identity-platform/",
        example=(
            fill(ALNUM, 3),
            "8Q~",
            fill(ALNUM, 34),
        ),
        counter_example=("abc8Q~short",),
        lead_chars=4,
    ),
    TokenShape(
        kind="digitalocean_token",
        keywords=(
            "dop_v1_",
            "doo_v1_",
            "dor_v1_",
        ),
        pattern=r"do[opr]_v1_[a-f0-9]{64}(?![A-Za-z0-9])",
        source="https://docs.digitalocean.com/reference/api/create-personal-access-token/",
        example=(
            "dop_v1_",
            fill(HEX, 64),
        ),
        counter_example=(
            "dop_v1_",
            fill(HEX, 12),
        ),
    ),
    TokenShape(
        kind="digitalocean_spaces_key",
        keywords=("do00",),
        pattern=r"DO00[A-Z0-9]{16}(?![A-Za-z0-9])",
        source="https://docs.digitalocean.com/products/spaces/how-to/manage-access/",
        example=(
            "DO00",
            fill(UPPER_ALNUM, 16),
        ),
        counter_example=("DO00X",),
    ),
    TokenShape(
        kind="heroku_key",
        keywords=("hrku-",),
        pattern=r"HRKU-[A-Za-z0-9_-]{36,64}(?![A-Za-z0-9_-])",
        source="https://devcenter.heroku.com/articles/authentication",
        example=(
            "HRKU-",
            fill(URLSAFE, 60),
        ),
        counter_example=("HRKU-none",),
    ),
    TokenShape(
        kind="heroku_api_key",
        keywords=("heroku",),
        pattern=r"(?i:heroku[a-z_ -]{0,20}(?:key|token|auth|password))[\"']?[ \t]{0,4}[=:][ \t]{0,4}[\"']?(?P<secret>[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})",
        source="https://devcenter.heroku.com/articles/platform-api-quickstart",
        example=(
            "heroku_api_key=",
            fill(HEX, 8),
            "-",
            fill(HEX, 4),
            "-",
            fill(HEX, 4),
            "-",
            fill(HEX, 4),
            "-",
            fill(HEX, 12),
        ),
        counter_example=(
            "heroku release ",
            fill(HEX, 8),
        ),
    ),
    TokenShape(
        kind="cloudflare_token",
        keywords=(
            "cfut_",
            "cfat_",
            "cfk_",
        ),
        pattern=r"cf(?:ut|at|k)_[A-Za-z0-9]{40}[0-9a-f]{8}",
        source="https://developers.cloudflare.com/fundamentals/api/get-started/token-formats/",
        example=(
            "cfut_",
            fill(ALNUM, 40),
            fill(HEX, 8),
        ),
        counter_example=("cfut_none",),
    ),
    TokenShape(
        kind="cloudflare_origin_ca_key",
        keywords=("v1.0-",),
        pattern=r"v1\.0-[a-f0-9]{24}-[a-f0-9]{140,150}",
        source="https://developers.cloudflare.com/fundamentals/api/get-started/ca-keys/",
        example=(
            "v1.0-",
            fill(HEX, 24),
            "-",
            fill(HEX, 146),
        ),
        counter_example=("v1.0-beta1",),
    ),
    TokenShape(
        kind="cloudflare_api_token",
        keywords=(
            "cloudflare",
            "cf_api_",
            "cf_token",
        ),
        pattern=r"(?i:(?:cloudflare|cf_)[a-z_ -]{0,24}(?:key|token))[\"']?[ \t]{0,4}[=:][ \t]{0,4}[\"']?(?P<secret>[A-Za-z0-9_-]{37,40})(?![A-Za-z0-9_-])",
        source="https://developers.cloudflare.com/api/get-started/create-token/",
        example=(
            "cloudflare token: ",
            fill(URLSAFE, 40),
        ),
        counter_example=(
            "cloudflare zone: ",
            fill(HEX, 32),
        ),
    ),
    TokenShape(
        kind="alibaba_access_key_id",
        keywords=("ltai",),
        pattern=r"LTAI[A-Za-z0-9]{12,26}(?![A-Za-z0-9])",
        source="https://www.alibabacloud.com/help/en/ram/",
        example=(
            "LTAI",
            fill(ALNUM, 20),
        ),
        counter_example=("LTAIonly",),
    ),
    TokenShape(
        kind="tencent_secret_id",
        keywords=("akid",),
        pattern=r"AKID[A-Za-z0-9]{32}(?![A-Za-z0-9])",
        source="https://www.tencentcloud.com/document/product/598",
        example=(
            "AKID",
            fill(ALNUM, 32),
        ),
        counter_example=("AKIDNEY",),
    ),
    TokenShape(
        kind="fly_token",
        keywords=(
            "fm1_",
            "fm2_",
            "fo1_",
        ),
        pattern=r"(?:fm[12]_[A-Za-z0-9+/]{60,2000}={0,3}|fo1_[A-Za-z0-9_-]{43})",
        source="https://fly.io/docs/security/tokens/",
        example=(
            "fm2_",
            fill(BASE64, 120),
        ),
        counter_example=("fm2_none",),
    ),
    TokenShape(
        kind="vercel_token",
        keywords=(
            "vcp_",
            "vci_",
            "vca_",
            "vcr_",
            "vck_",
        ),
        pattern=r"vc[piark]_[A-Za-z0-9_-]{24,80}",
        source="https://vercel.com/docs/rest-api",
        example=(
            "vcp_",
            fill(ALNUM, 56),
        ),
        counter_example=("vcp_none",),
    ),
    TokenShape(
        kind="netlify_token",
        keywords=(
            "nfp_",
            "nfc_",
            "nfo_",
            "nfb_",
            "nfu_",
        ),
        pattern=r"nf[pcobu]_(?=[a-z_]*[A-Z0-9])[A-Za-z0-9_]{36}(?![A-Za-z0-9_])",
        source="https://docs.netlify.com/api/get-started/",
        example=(
            "nfp_",
            fill(ALNUM, 36),
        ),
        counter_example=("nfp_none",),
    ),
)
