"""Sessions on other machines over SSH; the only folder that knows asyncssh. ``transport`` is where to begin reading."""
