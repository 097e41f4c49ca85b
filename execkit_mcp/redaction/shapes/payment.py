"""Payment and shops."""

from execkit_mcp.redaction.shape import ALNUM, BASE64, HEX, LOWER_ALNUM, URLSAFE, TokenShape, fill

PAYMENT: tuple[TokenShape, ...] = (
    TokenShape(
        kind="stripe_key",
        keywords=(
            "sk_live_",
            "sk_test_",
            "rk_live_",
            "rk_test_",
            "sk_org_",
        ),
        pattern=r"[rs]k_(?:live|test|prod|org_live|org_test)_[A-Za-z0-9]{16,250}",
        source="https://docs.stripe.com/keys",
        example=(
            "sk_live_",
            fill(ALNUM, 24),
        ),
        counter_example=(
            "pk_live_",
            fill(ALNUM, 24),
        ),
    ),
    TokenShape(
        kind="stripe_webhook_secret",
        keywords=("whsec_",),
        pattern=r"whsec_[A-Za-z0-9+/=]{32,80}",
        source="https://docs.stripe.com/webhooks",
        example=(
            "whsec_",
            fill(ALNUM, 32),
        ),
        counter_example=("whsec_x",),
    ),
    TokenShape(
        kind="square_token",
        keywords=(
            "sq0atp-",
            "sq0csp-",
            "eaaa",
        ),
        pattern=r"sq0(?:atp-[A-Za-z0-9_-]{22,43}|csp-[A-Za-z0-9_-]{43})|EAAA[A-Za-z0-9_-]{60}(?![A-Za-z0-9_-])",
        source="https://developer.squareup.com/docs/build-basics/access-tokens",
        example=(
            "sq0atp-",
            fill(URLSAFE, 22),
        ),
        counter_example=(
            "sq0idp-",
            fill(URLSAFE, 22),
        ),
    ),
    TokenShape(
        kind="shopify_token",
        keywords=(
            "shpat_",
            "shpca_",
            "shppa_",
            "shpss_",
            "shpua_",
            "shptka_",
        ),
        pattern=r"shp(?:at|ca|pa|ss|ua|tka)_[A-Fa-f0-9]{32}(?![A-Za-z0-9])",
        source="https://shopify.dev/docs/apps/build/authentication-authorization/access-tokens",
        example=(
            "shpat_",
            fill(HEX, 32),
        ),
        counter_example=("shpat_x",),
    ),
    TokenShape(
        kind="paypal_braintree_token",
        keywords=("access_token$",),
        pattern=r"access_token\$(?:production|sandbox)\$[a-z0-9]{16}\$[a-f0-9]{32}",
        source="https://developer.paypal.com/braintree/docs",
        example=(
            "access_token$production$",
            fill(LOWER_ALNUM, 16),
            "$",
            fill(HEX, 32),
        ),
        counter_example=("access_token$",),
    ),
    TokenShape(
        kind="adyen_key",
        keywords=("aqe",),
        pattern=r"AQE[a-z]h[A-Za-z0-9+/]{40,200}={0,2}-[A-Za-z0-9+/]{30,60}={0,2}-[^\s\"']{8,24}",
        source="https://docs.adyen.com/development-resources/api-credentials/",
        example=(
            "AQEyh",
            fill(BASE64, 80),
            "-",
            fill(BASE64, 43),
            "=-",
            fill(ALNUM, 16),
        ),
        counter_example=("AQEyh",),
    ),
    TokenShape(
        kind="razorpay_key",
        keywords=("rzp_live_",),
        pattern=r"rzp_live_[A-Za-z0-9]{14}(?![A-Za-z0-9])",
        source="https://razorpay.com/docs/payments/dashboard/account-settings/api-keys/",
        example=(
            "rzp_live_",
            fill(ALNUM, 14),
        ),
        counter_example=("rzp_live_x",),
    ),
    TokenShape(
        kind="flutterwave_key",
        keywords=(
            "flwseck-",
            "flwseck_test-",
        ),
        pattern=r"FLWSECK(?:_TEST)?-[A-Za-z0-9]{12,40}(?:-X)?",
        source="https://developer.flutterwave.com/docs",
        example=(
            "FLWSECK-",
            fill(HEX, 32),
            "-X",
        ),
        counter_example=(
            "FLWPUBK-",
            fill(HEX, 32),
            "-X",
        ),
    ),
)
