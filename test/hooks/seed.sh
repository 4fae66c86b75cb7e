#!/usr/bin/env bash
# Fills the store of a home for the folder that it is called in: what the first prompt of check.sh asks for, and behind it
# an open request.
set -euo pipefail
unset SCROLLBACK_DATA
"$HOOK" run --model offline "When does the lease of the Liebherr crane on quay 7 end? We were told MARK-PROMPT: 2027-03-01, renewal declined." >/dev/null
"$HOOK" run --model offline "Please fix the timeout of the tide gauge importer next, MARK-START." >/dev/null
