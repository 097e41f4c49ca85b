"""Source hosting, package registries and build services."""

from execkit_mcp.redaction.shape import ALNUM, BECH32, HEX, LOWER_ALNUM, URLSAFE, TokenShape, fill, is_varied

SOURCE_CODE: tuple[TokenShape, ...] = (
    TokenShape(
        kind="github_token",
        keywords=(
            "ghp_",
            "gho_",
            "ghu_",
            "ghs_",
            "ghr_",
        ),
        pattern=r"gh[pousr]_[A-Za-z0-9_]{36,255}",
        source="https://github.blog/engineering/behind-githubs-new-authentication-token-formats/",
        example=(
            "ghp_",
            fill(ALNUM, 36),
        ),
        counter_example=(
            "ghp_",
            fill(ALNUM, 8),
        ),
    ),
    TokenShape(
        kind="github_fine_grained_token",
        keywords=("github_pat_",),
        pattern=r"github_pat_[A-Za-z0-9_]{50,255}",
        source="https://docs.github.com/authentication/keeping-your-account-and-data-secure/managing-your-personal-access-tokens",
        example=(
            "github_pat_",
            fill(ALNUM, 22),
            "_",
            fill(ALNUM, 59),
        ),
        counter_example=("github_pat_docs",),
    ),
    TokenShape(
        kind="gitlab_token",
        keywords=(
            "glpat-",
            "gldt-",
            "glrt-",
            "glptt-",
            "glft-",
            "glimt-",
            "glagent-",
            "gloas-",
            "glsoat-",
            "glcbt-",
            "glffct-",
            "glrtr-",
        ),
        pattern=r"gl(?:pat|dt|rt|rtr|ptt|ft|imt|agent|oas|soat|cbt|ffct)-[A-Za-z0-9_=.-]{20,300}",
        source="https://docs.gitlab.com/security/tokens/#token-prefixes",
        example=(
            "glpat-",
            fill(URLSAFE, 19),
            "x",
        ),
        counter_example=("glpat-short",),
    ),
    TokenShape(
        kind="gitlab_runner_token",
        keywords=("gr1348941",),
        pattern=r"GR1348941[A-Za-z0-9_-]{20}",
        source="https://docs.gitlab.com/security/tokens/#token-prefixes",
        example=(
            "GR1348941",
            fill(ALNUM, 20),
        ),
        counter_example=("GR1348941",),
    ),
    TokenShape(
        kind="bitbucket_token",
        keywords=(
            "atctt3",
            "atbb",
            "atatt3",
        ),
        pattern=r"(?:ATCTT3|ATATT3)[A-Za-z0-9_=-]{50,300}|ATBB[A-Za-z0-9]{32}(?![A-Za-z0-9])",
        source="https://support.atlassian.com/atlassian-account/docs/manage-api-tokens-for-your-atlassian-account/",
        example=(
            "ATBB",
            fill(ALNUM, 32),
        ),
        counter_example=("ATBB one",),
    ),
    TokenShape(
        kind="npm_token",
        keywords=("npm_",),
        pattern=r"npm_[A-Za-z0-9]{36}(?![A-Za-z0-9])",
        source="https://github.blog/changelog/2021-09-23-npm-has-a-new-access-token-format/",
        example=(
            "npm_",
            fill(ALNUM, 36),
        ),
        counter_example=("npm_config_registry=https://registry.example.com",),
    ),
    TokenShape(
        kind="pypi_token",
        keywords=(
            "pypi-ageichlwas5vcmc",
            "pypi-agenddgvzdc5wexbplm9yz",
        ),
        pattern=r"pypi-[A-Za-z0-9_-]{70,500}",
        source="Python Package Index help, API tokens",
        example=(
            "pypi-AgEIcHlwaS5vcmc",
            fill(URLSAFE, 100),
        ),
        counter_example=("pypi-server",),
    ),
    TokenShape(
        kind="docker_token",
        keywords=(
            "dckr_pat_",
            "dckr_oat_",
        ),
        pattern=r"dckr_[po]at_[A-Za-z0-9_-]{27,60}",
        source="https://docs.docker.com/security/access-tokens/",
        example=(
            "dckr_pat_",
            fill(URLSAFE, 27),
        ),
        counter_example=("dckr_pat_x",),
    ),
    TokenShape(
        kind="rubygems_token",
        keywords=("rubygems_",),
        pattern=r"rubygems_[a-f0-9]{48}(?![a-f0-9])",
        source="RubyGems guides, API key scopes",
        example=(
            "rubygems_",
            fill(HEX, 48),
        ),
        counter_example=("rubygems_version",),
    ),
    TokenShape(
        kind="crates_token",
        keywords=("cio",),
        pattern=r"cio[A-Za-z0-9]{32}(?![A-Za-z0-9])",
        source="The Cargo Book, cargo login",
        example=(
            "cio",
            fill(ALNUM, 32),
        ),
        counter_example=("ciocaro",),
        check=is_varied,
    ),
    TokenShape(
        kind="nuget_key",
        keywords=("oy2",),
        pattern=r"oy2[a-z0-9]{43}(?![A-Za-z0-9])",
        source="https://learn.microsoft.com/nuget/nuget-org/publish-a-package",
        example=(
            "oy2",
            fill(LOWER_ALNUM, 43),
        ),
        counter_example=("oy2 test",),
    ),
    TokenShape(
        kind="clojars_token",
        keywords=("clojars_",),
        pattern=r"CLOJARS_[a-z0-9]{60}(?![a-z0-9])",
        source="https://github.com/clojars/clojars-web/wiki/Deploy-Tokens",
        example=(
            "CLOJARS_",
            fill(LOWER_ALNUM, 60),
        ),
        counter_example=("CLOJARS_USERNAME",),
    ),
    TokenShape(
        kind="artifactory_token",
        keywords=(
            "akcp",
            "cmvmdgtu",
        ),
        pattern=r"AKCp[A-Za-z0-9]{68,70}|cmVmdGtu[A-Za-z0-9]{56}",
        source="https://jfrog.com/help/r/jfrog-platform-administration-documentation/access-tokens",
        example=(
            "AKCp8",
            fill(ALNUM, 68),
        ),
        counter_example=("AKCp8short",),
    ),
    TokenShape(
        kind="circleci_token",
        keywords=(
            "ccipat_",
            "cciprj_",
        ),
        pattern=r"CCI(?:PAT|PRJ)_[A-Za-z0-9]{16,30}_[A-Za-z0-9]{40}",
        source="https://circleci.com/docs/managing-api-tokens/",
        example=(
            "CCIPAT_",
            fill(ALNUM, 22),
            "_",
            fill(HEX, 40),
        ),
        counter_example=("CCIPAT_none",),
    ),
    TokenShape(
        kind="buildkite_token",
        keywords=(
            "bkua_",
            "bkat_",
            "bkct_",
            "bkaj_",
        ),
        pattern=r"bk(?:ua|at|ct|aj)_[A-Za-z0-9]{38,80}",
        source="https://buildkite.com/docs/apis/managing-api-tokens",
        example=(
            "bkua_",
            fill(HEX, 40),
        ),
        counter_example=("bkua_x",),
    ),
    TokenShape(
        kind="sourcegraph_token",
        keywords=("sgp_",),
        pattern=r"sgp_(?:[a-fA-F0-9]{16}_|local_)?[a-fA-F0-9]{40}",
        source="https://sourcegraph.com/docs/cli/how-tos/creating_an_access_token",
        example=(
            "sgp_",
            fill(HEX, 40),
        ),
        counter_example=("sgp_none",),
    ),
    TokenShape(
        kind="jwt",
        keywords=("eyj",),
        pattern=r"eyJ[A-Za-z0-9_-]{8,4000}\.eyJ?[A-Za-z0-9_-]{4,8000}(?:\.[A-Za-z0-9_-]{8,4000})?|eyJ[A-Za-z0-9_-]{16,2000}\.[A-Za-z0-9_-]{0,2000}\.[A-Za-z0-9_-]{8,200}\.[A-Za-z0-9_-]{8,8000}\.[A-Za-z0-9_-]{8,200}",
        source="https://www.rfc-editor.org/rfc/rfc7519",
        example=(
            "eyJ",
            fill(ALNUM, 30),
            ".eyJ",
            fill(URLSAFE, 80),
            ".",
            fill(URLSAFE, 43),
        ),
        counter_example=("eyJ1c2VyIjoxfQ",),
    ),
    TokenShape(
        kind="age_secret_key",
        keywords=(
            "age-secret-key-1",
            "age-plugin-",
        ),
        pattern=r"AGE-SECRET-KEY-1[A-Z0-9]{50,80}|AGE-PLUGIN-[A-Z0-9-]{4,32}-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{20,200}",
        source="https://age-encryption.org/v1",
        example=(
            "AGE-SECRET-KEY-1",
            fill(BECH32, 58),
        ),
        counter_example=("AGE-SECRET-KEY-1 starts it",),
    ),
)
