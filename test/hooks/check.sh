#!/usr/bin/env bash
# Do hooks reach the model of real agents, and does removing them leave no trace?
# usage: check.sh [agent …]     needs Node 22 (for pi, gemini, qwen) and npm; AGENTS=dir with installed programs
#   HOOK       the program that is wired in, by its absolute path
#   SEED       a command that fills what HOOK remembers, called with the agent's name, HOME set, in the project's folder:
#              MARK-START in what a new session is told there (an open request), MARK-PROMPT in an original that FIRST asks for
#   FIRST      the first prompt (default: "First question.")
#   INSTALL    a command that wires it, called with the agent's name and HOME set
#   UNINSTALL  the same for removing it
# For each agent: in an empty home, wire, run a new session, run it again resumed, remove. Passes when the first
# request has both marks once, no request of the resumed run has the start mark more often than it may, and the
# home's own files are byte for byte what they were.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
FIRST=${FIRST:-First question.}; PORT=${PORT:-28900}; AGENTS=${AGENTS:-$here/agents}
work=$(mktemp -d); export HOOKLOG=$work/hooks.log; touch "$HOOKLOG"
trap 'kill $stub 2>/dev/null; [ -n "${KEEP:-}" ] && echo "kept $work" || rm -rf "$work"' EXIT
OUT=$work/requests.ndjson PORT=$PORT node "$here/stub.mjs" >/dev/null & stub=$!
sleep 1
url=http://127.0.0.1:$PORT; passed=0; failed=0
. "$here/agents.sh"
wire() { $INSTALL "$1"; }
unwire() { $UNINSTALL "$1"; }
most() { awk '{n = gsub(/MARK-/, "MARK-"); if (n >= best) {best = n; line = $0}} END {print line}'; }
count() { grep -o "$1" <<<"$2" | wc -l; }
for a in ${@:-claude codex gemini qwen copilot opencode kilo pi cline}; do
	export HOME=$work/home-$a; mkdir -p "$HOME" "$work/project"; cd "$work/project"; [ -d .git ] || git init -q .
	unset XDG_CONFIG_HOME XDG_DATA_HOME CODEX_HOME CLAUDE_CONFIG_DIR; before $a
	[ -z "${SEED:-}" ] || $SEED "$a" || { echo "FAIL $a: SEED"; failed=$((failed + 1)); continue; }
	# Some rewrite their own settings on the first start; that is not ours to answer for.
	case $a in opencode|kilo) ( say $a new "Settling." ) >$work/log.$a 2>&1 </dev/null ;; esac
	sum=$([ -n "$own" ] && sha256sum <"$HOME/$own"); wire $a; why=
	: >$work/requests.ndjson; ( say $a new "$FIRST" ) >$work/log.$a 2>&1 </dev/null
	# Titles and the like are asked for beside it: the request of the turn is the one with the most marks.
	first=$(grep -F "$FIRST" $work/requests.ndjson | most)
	[ -n "$first" ] || why="no request arrived: $(tail -3 $work/log.$a | tr '\n' ' ' | cut -c1-200)"
	[ -n "$why" ] || [ $(count MARK-START "$first") = 1 ] || why="start mark $(count MARK-START "$first") times in the first request"
	[ -n "$why" ] || [ $(count MARK-PROMPT "$first") = 1 ] || why="prompt mark $(count MARK-PROMPT "$first") times in the first request"
	if [ -z "$why" ] && [ $a != cline ]; then
		: >$work/requests.ndjson; ( say $a again "Second question." ) >$work/log.$a 2>&1 </dev/null
		second=$(grep -F 'Second question.' $work/requests.ndjson | grep -F 'The stub has answered.' | most)
		if [ -z "$second" ]; then why="not resumed: $(tail -3 $work/log.$a | tr '\n' ' ' | cut -c1-200)"
		else again=$(count MARK-START "$second"); fi
	fi
	unwire $a
	[ -z "$own" ] || [ "$(sha256sum <"$HOME/$own")" = "$sum" ] || why="${why:+$why; }$own was changed"
	left=$(grep -rlF "$HOOK" "$HOME" --include='*.json' --include='*.jsonc' --include='*.toml' --include='*.js' --include='*.ts' --include='*.yaml' 2>/dev/null | grep -vE '/(projects|sessions|session-state|chats|tmp|logs|history|cache)/' | head -3)
	[ -z "$left" ] || why="${why:+$why; }left behind in $left"
	if [ -z "$why" ]; then passed=$((passed + 1)); echo "ok   $a: start and prompt reached the model; on resume the start text is there ${again:-?} time(s)"
	else failed=$((failed + 1)); echo "FAIL $a: $why"; fi
	again=
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
