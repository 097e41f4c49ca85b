"""Work tools and content services."""

from execkit_mcp.redaction.shape import ALNUM, HEX, URLSAFE, TokenShape, fill

SAAS: tuple[TokenShape, ...] = (
    TokenShape(
        kind="linear_key",
        keywords=(
            "lin_api_",
            "lin_oauth_",
        ),
        pattern=r"lin_(?:api|oauth)_[A-Za-z0-9]{32,64}",
        source="https://linear.app/developers",
        example=(
            "lin_api_",
            fill(ALNUM, 40),
        ),
        counter_example=("lin_api_x",),
    ),
    TokenShape(
        kind="notion_token",
        keywords=(
            "secret_",
            "ntn_",
        ),
        pattern=r"secret_[A-Za-z0-9]{43}(?![A-Za-z0-9])|ntn_[A-Za-z0-9]{40,60}(?![A-Za-z0-9])",
        source="https://developers.notion.com/reference/authentication",
        example=(
            "ntn_",
            fill(ALNUM, 46),
        ),
        counter_example=("secret_name",),
    ),
    TokenShape(
        kind="airtable_token",
        keywords=("pat",),
        pattern=r"pat[A-Za-z0-9]{14}\.[a-f0-9]{64}(?![A-Za-z0-9])",
        source="https://airtable.com/developers/web/guides/personal-access-tokens",
        example=(
            "pat",
            fill(ALNUM, 14),
            ".",
            fill(HEX, 64),
        ),
        counter_example=("pattern.match",),
    ),
    TokenShape(
        kind="figma_token",
        keywords=(
            "figd_",
            "figo_",
            "figu_",
        ),
        pattern=r"fig[dou]_[A-Za-z0-9_-]{36,60}",
        source="https://www.figma.com/developers/api#access-tokens",
        example=(
            "figd_",
            fill(URLSAFE, 40),
        ),
        counter_example=("figd_x",),
    ),
    TokenShape(
        kind="dropbox_token",
        keywords=("sl.",),
        pattern=r"sl\.(?:u\.)?[A-Za-z0-9_-]{100,2000}",
        source="https://developers.dropbox.com/oauth-guide",
        example=(
            "sl.",
            fill(URLSAFE, 136),
        ),
        counter_example=("sl.example.com",),
    ),
    TokenShape(
        kind="postman_key",
        keywords=("pmak-",),
        pattern=r"PMAK-[a-f0-9]{24}-[a-f0-9]{34}(?![A-Za-z0-9])",
        source="https://learning.postman.com/docs/developer/postman-api/authentication/",
        example=(
            "PMAK-",
            fill(HEX, 24),
            "-",
            fill(HEX, 34),
        ),
        counter_example=("PMAK-none",),
    ),
    TokenShape(
        kind="asana_token",
        keywords=tuple(f"{version}/{digit}" for version in "12" for digit in "123456789"),
        pattern=r"[12]/[1-9]\d{11,17}(?:/\d{12,18})?:[a-f0-9]{32}(?![A-Za-z0-9])",
        source="https://developers.asana.com/docs/personal-access-token",
        example=(
            "1/",
            fill("123456789", 16),
            ":",
            fill(HEX, 32),
        ),
        counter_example=("1/2",),
    ),
    TokenShape(
        kind="hubspot_token",
        keywords=(
            "pat-na1-",
            "pat-na2-",
            "pat-eu1-",
            "pat-na3-",
            "pat-ap1-",
        ),
        pattern=r"pat-(?:na|eu|ap)\d-[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12}",
        source="https://developers.hubspot.com/docs/api/private-apps",
        example=(
            "pat-na1-",
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
        counter_example=("pat-na1-x",),
    ),
    TokenShape(
        kind="contentful_token",
        keywords=("cfpat-",),
        pattern=r"CFPAT-[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])",
        source="https://www.contentful.com/developers/docs/references/authentication/",
        example=(
            "CFPAT-",
            fill(URLSAFE, 43),
        ),
        counter_example=("CFPAT-x",),
    ),
    TokenShape(
        kind="typeform_token",
        keywords=("tfp_",),
        pattern=r"tfp_[A-Za-z0-9_.=-]{40,70}",
        source="https://www.typeform.com/developers/get-started/personal-access-token/",
        example=(
            "tfp_",
            fill(ALNUM, 59),
        ),
        counter_example=("tfp_x",),
    ),
    TokenShape(
        kind="supabase_key",
        keywords=(
            "sb_secret_",
            "sbp_",
        ),
        pattern=r"sb_secret_[A-Za-z0-9_-]{22,60}|sbp_(?:v0_)?[a-z0-9]{40}",
        source="https://supabase.com/docs/guides/api/api-keys",
        example=(
            "sbp_",
            fill(HEX, 40),
        ),
        counter_example=(
            "sb_publishable_",
            fill(URLSAFE, 30),
        ),
    ),
    TokenShape(
        kind="planetscale_token",
        keywords=(
            "pscale_tkn_",
            "pscale_pw_",
            "pscale_oauth_",
        ),
        pattern=r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_=.-]{32,64}",
        source="https://planetscale.com/docs/concepts/service-tokens",
        example=(
            "pscale_pw_",
            fill(ALNUM, 43),
        ),
        counter_example=("pscale_pw_x",),
    ),
    TokenShape(
        kind="facebook_token",
        keywords=tuple(f"eaa{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"),
        pattern=r"EAA[A-Z](?!(?:[A-Za-z0-9]{0,20}?AA){3})[A-Za-z0-9]{80,400}",
        source="https://developers.facebook.com/docs/facebook-login/guides/access-tokens",
        example=(
            "EAAC",
            fill(ALNUM, 160),
        ),
        counter_example=("EAACx",),
    ),
    TokenShape(
        kind="mapbox_secret_token",
        keywords=("sk.eyj",),
        pattern=r"sk\.eyJ[A-Za-z0-9_-]{20,400}\.[A-Za-z0-9_-]{20,60}",
        source="https://docs.mapbox.com/help/getting-started/access-tokens/",
        example=(
            "sk.eyJ",
            fill(ALNUM, 80),
            ".",
            fill(URLSAFE, 22),
        ),
        counter_example=(
            "pk.eyJ",
            fill(ALNUM, 80),
            ".",
            fill(URLSAFE, 22),
        ),
    ),
    TokenShape(
        kind="sentry_token",
        keywords=(
            "sntryu_",
            "sntrys_",
            "sntrya_",
        ),
        pattern=r"sntry[usa]_[A-Za-z0-9+/=_-]{40,400}",
        source="https://docs.sentry.io/account/auth-tokens/",
        example=(
            "sntryu_",
            fill(HEX, 64),
        ),
        counter_example=("sntryu_x",),
    ),
)
