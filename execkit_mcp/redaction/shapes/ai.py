"""Model providers."""

from execkit_mcp.redaction.shape import ALNUM, HEX, URLSAFE, TokenShape, fill, is_varied

AI: tuple[TokenShape, ...] = (
    TokenShape(
        kind="openai_key",
        keywords=("sk-",),
        pattern=r"sk-(?:proj|svcacct|admin|None|service)-[A-Za-z0-9_-]{20,250}|sk-[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}|sk-[A-Za-z0-9]{32,64}(?![A-Za-z0-9])",
        source="https://platform.openai.com/docs/api-reference/authentication",
        example=(
            "sk-proj-",
            fill(URLSAFE, 120),
        ),
        counter_example=("sk-learn-contrib",),
    ),
    TokenShape(
        kind="anthropic_key",
        keywords=("sk-ant-",),
        pattern=r"sk-ant-[A-Za-z0-9]{3,12}-[A-Za-z0-9_-]{32,200}",
        source="https://docs.anthropic.com/en/api/getting-started",
        example=(
            "sk-ant-api03-",
            fill(URLSAFE, 95),
        ),
        counter_example=("sk-ant-api03",),
    ),
    TokenShape(
        kind="openrouter_key",
        keywords=("sk-or-v1-",),
        pattern=r"sk-or-v1-[a-f0-9]{64}",
        source="https://openrouter.ai/docs/api-reference/authentication",
        example=(
            "sk-or-v1-",
            fill(HEX, 64),
        ),
        counter_example=("sk-or-v1-x",),
    ),
    TokenShape(
        kind="huggingface_token",
        keywords=(
            "hf_",
            "api_org_",
        ),
        pattern=r"(?:hf_[A-Za-z0-9]{30,40}|api_org_[A-Za-z]{34})(?![A-Za-z0-9])",
        source="https://huggingface.co/docs/hub/security-tokens",
        example=(
            "hf_",
            fill(ALNUM, 34),
        ),
        counter_example=("hf_hub_download",),
    ),
    TokenShape(
        kind="replicate_token",
        keywords=("r8_",),
        pattern=r"r8_[A-Za-z0-9]{37,40}(?![A-Za-z0-9])",
        source="https://replicate.com/docs/reference/http",
        example=(
            "r8_",
            fill(ALNUM, 37),
        ),
        counter_example=("r8_x",),
    ),
    TokenShape(
        kind="groq_key",
        keywords=("gsk_",),
        pattern=r"gsk_[A-Za-z0-9]{48,56}(?![A-Za-z0-9])",
        source="https://console.groq.com/docs/quickstart",
        example=(
            "gsk_",
            fill(ALNUM, 52),
        ),
        counter_example=("gsk_x",),
    ),
    TokenShape(
        kind="perplexity_key",
        keywords=("pplx-",),
        pattern=r"pplx-[A-Za-z0-9]{40,56}(?![A-Za-z0-9])",
        source="https://docs.perplexity.ai/guides/getting-started",
        example=(
            "pplx-",
            fill(ALNUM, 48),
        ),
        counter_example=("pplx-7b-online",),
    ),
    TokenShape(
        kind="xai_key",
        keywords=("xai-",),
        pattern=r"xai-[A-Za-z0-9]{70,90}(?![A-Za-z0-9])",
        source="https://docs.x.ai/docs/tutorial",
        example=(
            "xai-",
            fill(ALNUM, 80),
        ),
        counter_example=("xai-sdk",),
    ),
    TokenShape(
        kind="fireworks_key",
        keywords=("fw_",),
        pattern=r"fw_[A-Za-z0-9]{22,32}(?![A-Za-z0-9_])",
        source="https://docs.fireworks.ai/",
        example=(
            "fw_",
            fill(ALNUM, 24),
        ),
        counter_example=("fw_update_firmware_version_now",),
        check=is_varied,
    ),
    TokenShape(
        kind="langsmith_key",
        keywords=("lsv2_",),
        pattern=r"lsv2_(?:pt|sk)_[a-fA-F0-9]{32}_[a-fA-F0-9]{10}",
        source="https://docs.smith.langchain.com/",
        example=(
            "lsv2_pt_",
            fill(HEX, 32),
            "_",
            fill(HEX, 10),
        ),
        counter_example=("lsv2_pt_x",),
    ),
    TokenShape(
        kind="nvidia_key",
        keywords=("nvapi-",),
        pattern=r"nvapi-[A-Za-z0-9_-]{60,80}",
        source="https://docs.nvidia.com/nim/",
        example=(
            "nvapi-",
            fill(URLSAFE, 64),
        ),
        counter_example=("nvapi-x",),
    ),
    TokenShape(
        kind="tavily_key",
        keywords=("tvly-",),
        pattern=r"tvly-(?:dev-|prod-)?[A-Za-z0-9]{28,40}(?![A-Za-z0-9])",
        source="https://docs.tavily.com/",
        example=(
            "tvly-",
            fill(ALNUM, 32),
        ),
        counter_example=("tvly-x",),
    ),
)
