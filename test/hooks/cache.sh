#!/usr/bin/env bash
# Do hooks cost an agent its provider's cache of prompts? For each agent: TURNS turns (40), each resumed in a new process, once
# without hooks and once with them, and how much of each request was sent before in the same bytes, from its beginning.
# Passes where hooks make no request begin otherwise. usage: cache.sh [agent …], with the variables of check.sh.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
FIRST=${FIRST:-First question.}; PORT=${PORT:-28901}; AGENTS=${AGENTS:-$here/agents}; TURNS=${TURNS:-40}
work=$(mktemp -d); trap 'kill $stub 2>/dev/null; [ -n "${KEEP:-}" ] && echo "kept $work" || rm -rf "$work"' EXIT
OUT=$work/requests.ndjson PORT=$PORT node "$here/stub.mjs" >/dev/null & stub=$!
sleep 1
url=http://127.0.0.1:$PORT; failed=0
. "$here/agents.sh"
for a in ${@:-claude codex gemini qwen copilot opencode kilo pi}; do
	for mode in without with; do
		export HOME=$work/home-$a-$mode; mkdir -p "$HOME" "$work/project"; cd "$work/project"; [ -d .git ] || git init -q .
		unset XDG_CONFIG_HOME XDG_DATA_HOME CODEX_HOME CLAUDE_CONFIG_DIR; before $a
		[ $mode = without ] || { $SEED "$a"; $INSTALL "$a" >/dev/null; }
		case $a in opencode|kilo) ( say $a new "Settling." ) >$work/log.$a 2>&1 </dev/null ;; esac
		rm -f $work/requests.ndjson; touch $work/requests.ndjson
		for turn in $(seq $TURNS); do
			prompt="Question $turn: what comes next?"; [ $turn = 1 ] || [ $turn = 20 ] && prompt="Question $turn: $FIRST"
			( say $a $([ $turn = 1 ] && echo new || echo again) "$prompt" ) >$work/log.$a 2>&1 </dev/null
		done
		cp $work/requests.ndjson $work/$a-$mode.ndjson
	done
	node "$here/prefix.mjs" $a $work/$a-without.ndjson $work/$a-with.ndjson || failed=$((failed + 1))
done
[ $failed = 0 ]
